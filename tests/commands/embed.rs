//! The example that plans and applies without the command line.

use pushplan::apply::Ending;
use pushplan::ledger::Verb;
use pushplan_testing::shop;

#[path = "../../examples/embed.rs"]
#[expect(dead_code, reason = "its own `main` is for the command line")]
mod example;

#[test]
fn a_project_is_planned_and_applied_without_the_command_line() {
    let folder = shop();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let apply = || runtime.block_on(example::plan_and_apply(folder.path())).expect("it is applied");
    let first = apply();
    assert_eq!(first.ending, Ending::Done);
    assert!(first.steps.iter().filter(|step| step.verb == Verb::Create).count() > 5, "{first:?}");
    let second = apply();
    assert!(second.steps.iter().all(|step| step.verb == Verb::Adopt), "nothing is left to do: {second:?}");
}
