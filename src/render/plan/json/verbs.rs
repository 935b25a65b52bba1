//! The words of a plan in the JSON form.

use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::{Action, Moved};
use crate::render::plan;

/// The action.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    Keep,
    Create,
    Update,
    Replace,
    Delete,
    Adopt,
    Forget,
    ByHand,
    Past,
}

/// Why a reader should look at a change, the most pressing first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// It causes messages.
    Sends,
    /// It waits for a decision.
    Waits,
    /// The created resource can be neither changed nor removed.
    NoWayBack,
    Deletes,
    /// It needs a manual step.
    ByHand,
    /// The recipients of a message change.
    Audience,
    /// It is sent at another time.
    Time,
    /// Its text changes.
    Text,
    None,
}

/// Where it was changed since the last apply.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MovedSide {
    Git,
    Service,
    Both,
    /// The service no longer has it.
    Removed,
}

impl From<Action> for Verb {
    fn from(action: Action) -> Self {
        match action {
            Action::Keep => Self::Keep,
            Action::Create => Self::Create,
            Action::Update => Self::Update,
            Action::Replace => Self::Replace,
            Action::Delete => Self::Delete,
            Action::Adopt => Self::Adopt,
            Action::Forget => Self::Forget,
            Action::ByHand => Self::ByHand,
            Action::Past => Self::Past,
        }
    }
}

impl From<plan::Risk> for Risk {
    fn from(risk: plan::Risk) -> Self {
        match risk {
            plan::Risk::Sends => Self::Sends,
            plan::Risk::Stuck => Self::Waits,
            plan::Risk::NoWayBack => Self::NoWayBack,
            plan::Risk::Deletes => Self::Deletes,
            plan::Risk::ByHand => Self::ByHand,
            plan::Risk::Audience => Self::Audience,
            plan::Risk::Time => Self::Time,
            plan::Risk::Text => Self::Text,
            plan::Risk::None => Self::None,
        }
    }
}

impl From<Moved> for MovedSide {
    fn from(moved: Moved) -> Self {
        match moved {
            Moved::Git => Self::Git,
            Moved::Service => Self::Service,
            Moved::Both => Self::Both,
            Moved::Removed => Self::Removed,
        }
    }
}
