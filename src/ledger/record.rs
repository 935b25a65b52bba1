//! What the ledger is made of: records, each of them written once and never changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::checkout::Checkout;
use super::home::Home;
use super::lease::Lease;
use super::state::Ledger;
use crate::address::Address;
use crate::digest::Digest;
use crate::node::Shared;

/// The place of a record in its log. The first has 1; 0 is before all of them.
pub type Seq = u64;

/// A record with what is known of every one of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub seq: Seq,
    pub at: Timestamp,
    /// Who appended it, in words for people: `ada on build-7`.
    pub actor: String,
    pub record: Record,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Record {
    /// A run begins. Nobody else's run goes on after it.
    Begin(Begin),
    /// A run is still at work, and had nothing else to write for a while.
    Alive { run: String },
    /// The application that the ledger is about, and the project, written before anything else by a command that is not a run.
    About {
        app: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        home: Option<Box<Home>>,
    },
    /// What is about to be done. Nothing is created before this is written.
    Intents(Vec<Intent>),
    /// What became of it.
    Outcomes(Vec<Outcome>),
    /// Things that existed already are ours from now on, untouched.
    Adopt(Vec<Adopted>),
    /// These are let go; the service keeps them.
    Forget(Vec<Address>),
    /// A resource has another key from now on, and so have its parts. Whoever names it does so by that key.
    Move { from: Address, to: Address },
    /// A person says what became of something.
    Resolve { address: Address, found: Resolution },
    /// A run ends.
    End { run: String, ended: Ended },
    /// The ledger goes on in another place. Nothing is appended here any more.
    Moved { to: String },
    /// The ledger was restored from a backup: what was done after the record before this one is not known. `since` is the time
    /// of that record, and `upto` the newest record that was seen before.
    Gap { since: Option<Timestamp>, upto: Seq },
    /// A person has looked at everything that may have been done in a gap.
    GapClosed,
    /// All that came before, in one piece.
    Checkpoint(Box<Ledger>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// Tells one run from another.
    pub run: String,
    pub plan: Digest,
    /// The fingerprint of the application that the plan is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub app: String,
    /// The version of pushplan.
    pub tool: String,
    /// How many changes of each action the plan has.
    pub changes: BTreeMap<String, usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// The project that it is of, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<Box<Home>>,
    /// The commit that its files are, where that is known and the files contain what was applied before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Box<Checkout>>,
}

/// What a step does to the service, or to the ledger alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    Create,
    Update,
    Delete,
    /// The ledger takes up what the service has.
    Adopt,
    /// The ledger lets go of what the service no longer has, or of what will not be looked at again.
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
    /// Whether it was done is not known.
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
    /// It is somebody else's and taken up to be deleted: ours it never is, also where the deletion fails.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    Done,
    /// Something failed, or is not known.
    Partly,
    Interrupted,
}

impl Record {
    /// Everything that it says something about. A checkpoint says nothing new.
    pub fn addresses(&self) -> Vec<&Address> {
        match self {
            Self::Intents(intents) => intents.iter().map(|intent| &intent.address).collect(),
            Self::Outcomes(outcomes) => outcomes.iter().map(|outcome| &outcome.address).collect(),
            Self::Adopt(all) => all.iter().map(|adopted| &adopted.address).collect(),
            Self::Forget(addresses) => addresses.iter().collect(),
            Self::Move { from, to } => vec![from, to],
            Self::Resolve { address, .. } => vec![address],
            Self::Begin(_)
            | Self::About { .. }
            | Self::Alive { .. }
            | Self::End { .. }
            | Self::Moved { .. }
            | Self::Gap { .. }
            | Self::GapClosed
            | Self::Checkpoint(_) => Vec::new(),
        }
    }
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
            Done::Unknown { why } => write!(f, "perhaps {verb}: {address}: {why}"),
        }
    }
}
