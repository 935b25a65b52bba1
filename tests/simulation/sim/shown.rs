//! The shown plan of a process: the parts that are checked when a request leaves.

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::kinds;
use pushplan::ledger::Verb;
use pushplan::node::Shared;
use pushplan::plan::{Action, Change, Plan, ShownRequest};

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
    pub request: Option<ShownRequest>,
    /// The first send time of the created resource.
    pub first: Option<Timestamp>,
    /// The created resource replaces an existing one.
    pub replaces: bool,
    /// It deletes an undeclared resource, and the plan shows that.
    pub prunes: bool,
    /// The content of the created or deleted resource.
    pub spec: Option<Shared>,
}

impl ShownPlan {
    pub fn of(plan: &Plan) -> Self {
        let is_shown = |address: &Address, is: fn(&Change) -> bool| {
            plan.changes.iter().find(|change| change.address == *address).is_some_and(is)
        };
        let steps = plan.steps.iter().map(|step| ShownStep {
            address: step.address.clone(),
            verb: step.verb,
            after: step.after.clone(),
            request: step.request.clone(),
            first: step.spec.as_ref().and_then(|spec| kinds::api(&step.address).runs(spec)).and_then(|runs| runs.first),
            replaces: is_shown(&step.address, |change| change.action == Action::Replace),
            prunes: is_shown(&step.address, Change::is_pruned),
            spec: step.spec.clone(),
        });
        Self { steps: steps.collect(), min_lead_seconds: plan.min_lead_seconds }
    }
}
