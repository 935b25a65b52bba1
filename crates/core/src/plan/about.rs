//! The target and the inputs of a plan.

use pushplan_ledger::Position;
use pushplan_model::digest::Digest;
use pushplan_model::nouns::level::Level;

use super::{Aim, Choice};

/// The target and the inputs of a plan.
#[derive(Clone, Debug)]
pub struct About {
    pub target: String,
    pub origin: String,
    /// The fingerprint of the application.
    pub app: String,
    pub level: Level,
    pub manifests: Digest,
    pub ledger: Position,
    pub aim: Aim,
    pub choice: Choice,
    pub min_lead_seconds: i64,
}

impl About {
    /// A plan of all manifests for a target of the documented level, before anything was applied. The other facts can be set
    /// afterwards.
    pub fn new(target: &str, origin: &str) -> Self {
        Self {
            target: target.to_owned(),
            origin: origin.to_owned(),
            app: String::new(),
            level: Level::Documented,
            manifests: Digest::of(b""),
            ledger: Position::default(),
            aim: Aim::Manifests,
            choice: Choice::default(),
            min_lead_seconds: 300,
        }
    }
}
