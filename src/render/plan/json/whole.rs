//! The totals of a plan: the number of changes of each kind, its steps, and the reasons for a refusal.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::guard::Refused;
use crate::plan::{self, Action, Plan};
use crate::render::plan::PlanView;

/// A reason for which a plan would be refused.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Refusal {
    /// sends, broadcast, deletes, other_project, protect, too_late, drift, collision or in_doubt.
    pub guard: String,
    pub message: String,
    /// How to proceed.
    pub help: String,
    pub addresses: Vec<String>,
}

impl Refusal {
    pub(super) fn new(refused: &Refused) -> Self {
        let Refused { guard, message, help, addresses } = refused;
        Self {
            guard: guard.word().to_owned(),
            message: message.clone(),
            help: help.clone(),
            addresses: addresses.iter().map(ToString::to_string).collect(),
        }
    }
}

/// The source of a promotion.
pub(super) fn promoted_from(plan: &Plan) -> Option<&str> {
    match &plan.aim {
        plan::Aim::Promoted(from) => Some(from),
        _ => None,
    }
}

/// A resource that is not promoted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotPromotedJson {
    pub address: String,
    /// Why, in words.
    pub why: String,
}

impl NotPromotedJson {
    pub(super) fn all(plan: &Plan) -> Option<Vec<Self>> {
        let plan::Aim::Promoted(from) = &plan.aim else { return None };
        let held = plan.told.held.iter();
        Some(held.map(|held| Self { address: held.address.to_string(), why: held.why.words(from) }).collect())
    }
}

/// The number of resources for each action. A resource that is applied in parts counts once; `by_hand` counts manual steps.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ActionCounts {
    pub create: usize,
    pub update: usize,
    pub replace: usize,
    pub delete: usize,
    pub adopt: usize,
    pub forget: usize,
    pub by_hand: usize,
    pub past: usize,
    pub unchanged: usize,
    /// Resources that `--only` and `--except` left out.
    pub left_out: usize,
    /// Resources whose changes cause messages, at once or later.
    pub sending: usize,
    /// Changes that wait for a decision.
    pub waiting: usize,
    /// Resources of which a change made on the service is reverted.
    pub undoing: usize,
    /// Differences in fields of `lifecycle.ignore`.
    pub ignored: usize,
}

impl ActionCounts {
    pub(super) fn new(view: &PlanView) -> Self {
        let count = |action| view.count(action);
        Self {
            create: count(Action::Create),
            update: count(Action::Update),
            replace: count(Action::Replace),
            delete: count(Action::Delete),
            adopt: count(Action::Adopt),
            forget: count(Action::Forget),
            by_hand: count(Action::ByHand),
            past: count(Action::Past),
            unchanged: count(Action::Keep),
            left_out: view.left_out(),
            sending: view.sending(),
            waiting: view.stuck(),
            undoing: view.undoing(),
            ignored: view.ignored(),
        }
    }
}

/// One request, or one change to the ledger only.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanStep {
    /// Its position in the plan, from 0.
    pub number: usize,
    pub address: String,
    /// create, update, delete, adopt, forget or move.
    pub verb: String,
    /// The id on the service. Null for a creation.
    pub id: Option<String>,
    /// The method of the request. Null if nothing is sent.
    pub method: Option<String>,
    /// The path, with `(new id)` for an id that the service has not chosen yet, and `(id)` for one that only the service knows.
    pub path: Option<String>,
    /// The numbers of the steps that it waits for.
    pub after: Vec<usize>,
    /// The identity of the step.
    pub digest: String,
}

impl PlanStep {
    pub(super) fn new(step: &plan::Step) -> Self {
        Self {
            number: step.number,
            address: step.address.to_string(),
            verb: word(&step.verb),
            id: step.id.clone(),
            method: step.request.as_ref().map(|request| request.method.word().to_owned()),
            path: step.request.as_ref().map(|request| request.path.clone()),
            after: step.after.clone(),
            digest: step.digest().to_string(),
        }
    }
}

/// The JSON word for a value.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}
