//! Why a change is what it is.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_model::address::Address;
use pushplan_model::kinds::remote::Coming;
use serde::{Deserialize, Serialize};

use super::{Likeness, RemoteThing};

/// Why a change is what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A segment that it names gets another id, or has got one before.
    Repoint {
        to: Vec<Address>,
        /// The ids of earlier versions that it still points at, by the keys of their segments.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        outdated: BTreeMap<String, String>,
    },
    /// The API cannot change it in place.
    NotInPlace,
    /// The API can neither change nor remove it: this has to be done in the dashboard, and why.
    InDashboard { old: Option<String> },
    /// The service has an unmanaged resource of this name.
    Collision { ids: Vec<String> },
    /// An earlier run lost the answer to its creation, and its result is unknown.
    InDoubt { since: Timestamp, candidates: Vec<String> },
    /// An earlier run lost the answer to its deletion: it was deleted before its time, or it was sent, or will be. Nothing shows
    /// which.
    DeletedOrSent { since: Timestamp, id: String, due: Timestamp },
    /// The ledger was restored from a backup, and this may have been created by a record that is lost: after `since`, and before
    /// a person accepted that.
    UnknownSinceGap { since: Option<Timestamp>, accepted: Timestamp },
    /// An earlier run's answer was lost; the thing was found.
    Recovered { id: String },
    /// The time it was made for has come, or the first of its times: the rest is still to come.
    Went {
        at: Option<Timestamp>,
        edited: bool,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rest: Vec<Coming>,
    },
    /// Its time has passed or is too near: it will not be made.
    TooLate { at: Timestamp },
    /// An old version is deleted that something else replaces.
    Retired {
        id: String,
        /// The ids of the segments that it names, by their keys.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        refs: BTreeMap<String, String>,
    },
    /// Its deletion waits: these still point at it.
    StillUsed { id: String, by: Vec<RemoteThing> },
    /// It waits for these, which are not made by this plan.
    Blocked { by: Vec<Address> },
    /// The service does not have it any more, and it is never made a second time by itself.
    NeverTwice,
    /// From now on it can be deleted.
    Unprotected,
    /// The ledger knows it by another address so far.
    Renamed { from: Address },
    /// It is declared under another address from now on, which has the thing itself.
    HandedOver { to: Address },
    /// `renamed_from` names an address under which the ledger knows nothing.
    NothingRenamed { from: Address },
    /// Nobody declares it, and the target asks for the deletion of what nobody does.
    Pruned { made: Option<Timestamp> },
    /// What is no longer declared says the same, or has its name. Where that cannot be deleted, this waits for a person; also
    /// where nobody knows whether that is there.
    LooksRenamed {
        from: Address,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        in_doubt: bool,
        /// That has had its time: it says the same, perhaps at another time.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        past: bool,
        /// What both have in common, if that is not all: this may be that one, edited.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        similar: Vec<Likeness>,
    },
}

impl Reason {
    /// Whether it is a change of its own, also where the service keeps what it has.
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Unprotected | Self::Renamed { .. })
    }
}
