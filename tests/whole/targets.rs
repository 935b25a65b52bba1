//! The parts of `benches/targets`, with few targets: their times are not judged.

#[path = "../../benches/targets/applications.rs"]
mod applications;
#[path = "../../benches/targets/applies.rs"]
mod applies;
#[path = "../../benches/service/binary.rs"]
mod binary;
#[path = "../../benches/targets/connections.rs"]
mod connections;
#[path = "../../benches/targets/plans.rs"]
mod plans;

use std::time::Duration;

#[test]
fn plans_of_many_targets_and_of_one_are_measured_in_turns() {
    let times = plans::measure(3, 4, 2);
    let all = [&times.many, &times.one, &times.validate_all, &times.validate_one];
    assert!(all.iter().all(|times| times.len() == 2), "{times:?}");
}

#[test]
fn applies_are_measured_with_a_new_service_each() {
    let times = applies::measure(2, 4, Duration::from_millis(1), 2);
    assert_eq!((times.sequential.len(), times.parallel.len()), (2, 2));
}

/// More targets than are applied at the same time: they are applied in two waves.
#[test]
fn connections_over_ssh_are_few_for_more_targets_than_are_applied_at_the_same_time() {
    let targets = applies::PARALLEL + 4;
    let Some(counted) = connections::count(targets, 2, 1) else { return };
    let connections::Connections { first_plan, apply, batches, clone_plan } = &counted;
    for plan in [first_plan, clone_plan] {
        assert!(plan.len() == 1 && (1.0..=3.0).contains(&plan[0]), "{counted:?}");
    }
    // The ledgers are read before the first batch.
    assert!(batches[0] > 2.0 && apply[0] > 1.0 && apply[0] <= 2.0 * batches[0] + 3.0, "{counted:?}");
}
