//! The records of the ledger. Each is written once and never changed.

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

/// A record with its number, time and author.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub seq: Seq,
    pub at: Timestamp,
    /// The user who appended it, for display: `ada on build-7`.
    pub actor: String,
    pub record: Record,
}

/// An event in the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Record {
    /// A run begins. No other run continues after it.
    Begin(Begin),
    /// A run is in progress, and had nothing else to write for a while.
    Alive { run: String },
    /// The application and the project of the ledger. A command that is not a run writes this before any other record.
    About {
        app: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        home: Option<Box<Home>>,
    },
    /// Requests that are about to be sent. No request is sent before its intent is written.
    Intents(Vec<Intent>),
    /// The results of intents.
    Outcomes(Vec<Outcome>),
    /// Existing resources are managed from now on. The service keeps them unchanged.
    Adopt(Vec<Adopted>),
    /// These are removed from the ledger; the service keeps them.
    Forget(Vec<Address>),
    /// A resource and its parts have another key from now on. References use that key.
    Move { from: Address, to: Address },
    /// A person reports whether a resource was created or exists.
    Resolve { address: Address, found: Resolution },
    /// A complete apply found nothing to change: from now on, its files count as the last applied ones.
    Unchanged {
        checkout: Box<Checkout>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        safeguards: Option<Box<Safeguards>>,
    },
    /// A run ends.
    End { run: String, ended: Ended },
    /// The ledger continues in another place. Nothing more is appended here.
    Moved { to: String },
    /// The ledger was restored from a backup: changes after the previous record are unknown. `since` is the time of
    /// that record, and `upto` the newest record that was seen before.
    Gap { since: Option<Timestamp>, upto: Seq },
    /// A person has checked everything that may have been done in a gap.
    GapClosed,
    /// The whole state so far, in one record.
    Checkpoint(Box<Ledger>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// Identifies the run.
    pub run: String,
    pub plan: Digest,
    /// The fingerprint of the application that the plan is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub app: String,
    /// The version of pushplan.
    pub tool: String,
    /// The number of changes per action in the plan.
    pub changes: BTreeMap<String, usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// The project of the run, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<Box<Home>>,
    /// The commit of the run's files, if it is known and the files contain what was applied before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Box<Checkout>>,
    /// The safety settings that the plan was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safeguards: Option<Box<Safeguards>>,
    /// The number of the run in the history that this run reverts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverts: Option<usize>,
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
    /// Returns the addresses that the record affects. A checkpoint affects none.
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
