//! The parts of records: what is about to be done, and what became of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;
use pushplan_model::address::Address;
use pushplan_model::node::Shared;
use serde::{Deserialize, Serialize};

/// The place of a record in its log. The first has 1; 0 is before all of them.
pub type Seq = u64;

/// What a step does to the service, or to the ledger alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    Create,
    Update,
    Delete,
    /// The ledger takes up what the service has.
    Adopt,
    /// Removes from the ledger what the service no longer has, or what will not be looked at again.
    Forget,
    /// The ledger knows it by another address.
    Move,
}

/// What is about to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    pub address: Address,
    pub verb: Verb,
    /// The thing it is done to; `None` for one that is to be created.
    pub id: Option<String>,
    /// What it is to be, segments by their keys.
    pub spec: Option<Shared>,
    /// The ids of the segments that it will name, by their keys.
    pub refs: BTreeMap<String, String>,
    /// Things of the same name that were there before: what is found afterwards and is none of these is ours.
    pub seen: BTreeSet<String>,
    /// The request does not leave after this.
    pub deadline: Timestamp,
    pub protect: bool,
    /// The time zone that its times are written in, if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// What became of an intent.
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
    /// It was done. A creation has the id of what was made.
    Done {
        id: Option<String>,
        /// The ids of the pushes that it sends, where the answer tells: the service reports under them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        push_ids: Vec<String>,
    },
    /// It was definitely not done.
    Not { why: String },
    /// Whether it was done is unknown.
    Unknown { why: String },
}

/// A thing that is taken over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adopted {
    pub address: Address,
    pub id: String,
    /// What it is, segments by their keys.
    pub spec: Shared,
    pub refs: BTreeMap<String, String>,
    pub stamp: Option<String>,
    pub protect: bool,
    /// It has had its time: it is remembered so that it is never made again.
    pub past: bool,
    /// The ids of the pushes that it sends, where the service tells. None: what was known of them holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub push_ids: Vec<String>,
    /// The time zone that its times were written in, if there is only one.
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
    /// It is not there.
    Absent,
}

impl Verb {
    /// What was done, in a word.
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
