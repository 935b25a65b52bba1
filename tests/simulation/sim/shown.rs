//! What a process has shown before it applies it: as much of its plan as is looked at when something leaves.

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::kinds;
use pushplan::ledger::Verb;
use pushplan::plan::{Action, Plan, Shown};

#[derive(Debug, Default)]
pub struct ShownPlan {
    pub steps: Vec<ShownStep>,
    pub min_lead_seconds: i64,
}

#[derive(Debug)]
pub struct ShownStep {
    pub address: Address,
    pub verb: Verb,
    pub after: Vec<usize>,
    pub request: Option<Shown>,
    /// When what it makes first messages people.
    pub first: Option<Timestamp>,
    /// What it makes takes the place of one that is there.
    pub replaces: bool,
}

impl ShownPlan {
    pub fn of(plan: &Plan) -> Self {
        let replaces = |address: &Address| {
            let change = plan.changes.iter().find(|change| change.address == *address);
            change.is_some_and(|change| change.action == Action::Replace)
        };
        let steps = plan.steps.iter().map(|step| ShownStep {
            address: step.address.clone(),
            verb: step.verb,
            after: step.after.clone(),
            request: step.request.clone(),
            first: step.spec.as_ref().and_then(|spec| kinds::api(&step.address).runs(spec)).and_then(|runs| runs.first),
            replaces: replaces(&step.address),
        });
        Self { steps: steps.collect(), min_lead_seconds: plan.min_lead_seconds }
    }
}
