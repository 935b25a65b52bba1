//! The totals of a plan: the number of changes of each kind, its steps, and the reasons for a refusal.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::guard::Refused;
use crate::plan::{self, Action, Plan};
use crate::render::plan::PlanView;

/// Why a plan would not be applied.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Refusal {
    /// sends, broadcast, deletes, other_project, protect, too_late, drift, collision or in_doubt.
    pub guard: String,
    pub message: String,
    /// What to do about it, or the option that allows it.
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

/// Something that is not promoted.
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

/// How many changes there are of each kind.
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
    /// Those that --only and --except left out.
    pub left_out: usize,
    /// Those that set off messages, at once or later.
    pub sending: usize,
    /// Those that wait for a person's decision.
    pub waiting: usize,
    /// Those that revert a change made on the service.
    pub undoing: usize,
    /// Differences in fields of lifecycle.ignore.
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
            left_out: view.plan.left_out.len(),
            sending: view.sending(),
            waiting: view.stuck(),
            undoing: view.undoing(),
            ignored: view.ignored(),
        }
    }
}

/// One request, or something that the ledger alone learns.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanStep {
    /// Its place in the plan, from 0.
    pub number: usize,
    pub address: String,
    /// create, update, delete, adopt, forget or move.
    pub verb: String,
    /// The thing it is done to. Null for one that is to be created.
    pub id: Option<String>,
    /// The method of the request. Null where nothing is sent.
    pub method: Option<String>,
    /// The path, with (new id) for an id that is unknown yet, and (id) for one that only the service knows.
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
