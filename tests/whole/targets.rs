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

#[test]
fn connections_over_ssh_are_counted() {
    let Some(counted) = connections::count(3, 2, 1) else { return };
    let all = [&counted.first_plan, &counted.apply, &counted.batches, &counted.clone_plan];
    assert!(all.iter().all(|numbers| numbers.len() == 1 && numbers[0] >= 1.0), "{counted:?}");
}
