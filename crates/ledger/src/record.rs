//! What the ledger is made of: records, each of them written once and never changed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_model::address::Address;
use pushplan_model::digest::Digest;
use serde::{Deserialize, Serialize};

use super::checkout::Checkout;
use super::home::Home;
use super::intent::{Adopted, Intent, Outcome, Resolution, Seq};
use super::lease::Lease;
use super::safeguards::Safeguards;
use super::state::Ledger;

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
    /// A run begins. No other run continues after it.
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
    /// These are removed from the ledger; the service keeps them.
    Forget(Vec<Address>),
    /// A resource has another key from now on, and so have its parts. References use that key.
    Move { from: Address, to: Address },
    /// A person says what became of something.
    Resolve { address: Address, found: Resolution },
    /// An apply of everything found nothing to do: from now on, its files are what was applied last.
    Unchanged {
        checkout: Box<Checkout>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        safeguards: Option<Box<Safeguards>>,
    },
    /// A run ends.
    End { run: String, ended: Ended },
    /// The ledger continues in another place. Nothing more is appended here.
    Moved { to: String },
    /// The ledger was restored from a backup: what was done after the record before this one is unknown. `since` is the
    /// time of that record, and `upto` the newest record that was seen before.
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
    /// The safety settings that it was planned with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safeguards: Option<Box<Safeguards>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    Done,
    /// Something failed, or is unknown.
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
            | Self::Unchanged { .. }
            | Self::End { .. }
            | Self::Moved { .. }
            | Self::Gap { .. }
            | Self::GapClosed
            | Self::Checkpoint(_) => Vec::new(),
        }
    }
}
