//! The parts of records: intents and their outcomes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;
use pushplan_model::address::Address;
use pushplan_model::node::Shared;
use serde::{Deserialize, Serialize};

/// The number of a record in its log. The first is 1; 0 is before all of them.
pub type Seq = u64;

/// What a step does to the service, or only to the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    Create,
    Update,
    Delete,
    /// Adds a resource that the service already has to the ledger.
    Adopt,
    /// Removes a resource from the ledger that the service no longer has, or that pushplan will not look up again.
    Forget,
    /// Changes the address of a resource in the ledger.
    Move,
}

/// A request that is about to be sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    pub address: Address,
    pub verb: Verb,
    /// The id of the resource; `None` for a creation.
    pub id: Option<String>,
    /// The new content, with segments by key.
    pub spec: Option<Shared>,
    /// The ids of the segments that the content names, by key.
    pub refs: BTreeMap<String, String>,
    /// The ids of resources with the same name that existed before. A resource found afterwards that is none of these
    /// was created by this request.
    pub seen: BTreeSet<String>,
    /// The request is not sent after this time.
    pub deadline: Timestamp,
    pub protect: bool,
    /// The time zone of the resource's times, if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// The result of an intent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    pub address: Address,
    pub verb: Verb,
    pub result: Done,
    /// Until when an earlier attempt, whose answer was lost, may still take effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Done {
    /// It was done. For a creation, with the id of the new resource.
    Done {
        id: Option<String>,
        /// The ids of the pushes that the resource sends, if the answer contains them: the service reports under these
        /// ids.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        push_ids: Vec<String>,
    },
    /// It was definitely not done.
    Not { why: String },
    /// Whether it was done is unknown.
    Unknown { why: String },
}

/// A resource that is adopted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adopted {
    pub address: Address,
    pub id: String,
    /// Its content, with segments by key.
    pub spec: Shared,
    pub refs: BTreeMap<String, String>,
    pub stamp: Option<String>,
    pub protect: bool,
    /// Its time has passed. It is remembered so that it is never created again.
    pub past: bool,
    /// The ids of the pushes that it sends, if the service reports them. If there are none, the known ones are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub push_ids: Vec<String>,
    /// The time zone of its times, if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// It is not managed and only recorded to be deleted: it never becomes managed, even if the deletion fails.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pruned: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Resolution {
    /// It was created, with this id.
    Created { id: String },
    /// It does not exist.
    Absent,
}

impl Verb {
    /// Returns the verb in the past tense.
    pub fn done(self) -> &'static str {
        match self {
            Self::Create => "created",
            Self::Update => "updated",
            Self::Delete => "deleted",
            Self::Adopt => "adopted",
            Self::Forget => "forgotten",
            Self::Move => "moved",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, verb) = (&self.address, self.verb.done());
        match &self.result {
            Done::Done { id: Some(id), .. } => write!(f, "{verb}: {address}, id {id}"),
            Done::Done { id: None, .. } => write!(f, "{verb}: {address}"),
            Done::Not { why } => write!(f, "not {verb}: {address}: {why}"),
            Done::Unknown { why } => write!(f, "unconfirmed, {verb}: {address}: {why}"),
        }
    }
}
