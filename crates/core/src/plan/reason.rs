//! The reasons for a change.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_model::address::Address;
use pushplan_model::kinds::remote::Coming;
use serde::{Deserialize, Serialize};

use super::{Likeness, RemoteThing};

/// A reason for a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A segment that it names gets another id, or got one before.
    Repoint {
        to: Vec<Address>,
        /// The ids of earlier versions that it still refers to, by the keys of their segments.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        outdated: BTreeMap<String, String>,
    },
    /// It refers to earlier versions of segments that its new content does not name: their ids, by their keys.
    RefersToEarlier { refs: BTreeMap<String, String> },
    /// The API cannot change it in place.
    NotInPlace,
    /// The API can neither change nor delete it, so this is a manual step in the dashboard.
    InDashboard { old: Option<String> },
    /// The service has an unmanaged resource with this name.
    Collision { ids: Vec<String> },
    /// An earlier run lost the answer to its creation, and its result is unknown.
    InDoubt { since: Timestamp, candidates: Vec<String> },
    /// An earlier run lost the answer to its deletion: it was deleted before its time, was sent, or will be sent.
    /// Nothing shows which.
    DeletedOrSent { since: Timestamp, id: String, due: Timestamp },
    /// The ledger was restored from a backup, and this may have been created by a lost record: after `since`, and
    /// before a person accepted the gap.
    UnknownSinceGap { since: Option<Timestamp>, accepted: Timestamp },
    /// The answer of an earlier run was lost, and the object was found.
    Recovered { id: String },
    /// Its time, or the first of its times, has passed; `rest` has the remaining ones.
    Went {
        at: Option<Timestamp>,
        edited: bool,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rest: Vec<Coming>,
    },
    /// Its time has passed or is too near: it will not be created.
    TooLate { at: Timestamp },
    /// An old version that was replaced is deleted.
    Retired {
        id: String,
        /// The ids of the segments that it names, by their keys.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        refs: BTreeMap<String, String>,
    },
    /// Its deletion waits, because these still refer to it.
    StillUsed { id: String, by: Vec<RemoteThing> },
    /// It depends on these, which this plan does not create.
    Blocked { by: Vec<Address> },
    /// The service no longer has it, and pushplan will not create it again.
    NeverTwice,
    /// It is no longer protected from deletion.
    Unprotected,
    /// The ledger has it under another address until now.
    Renamed { from: Address },
    /// Its object is now declared under another address.
    HandedOver { to: Address },
    /// `renamed_from` has an address that is not in the ledger.
    NothingRenamed { from: Address },
    /// It is not declared, and the target prunes its kind.
    Pruned { made: Option<Timestamp> },
    /// A resource that is no longer declared has the same content, or its name. If that one cannot be deleted, or its
    /// state is unknown, this one waits for a person.
    LooksRenamed {
        from: Address,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        in_doubt: bool,
        /// The old one is past: it has the same content, possibly at another time.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        past: bool,
        /// The similarities, if not everything is the same: this may be the old one, edited.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        similar: Vec<Likeness>,
    },
}

impl Reason {
    /// Whether it is a change by itself, even if the service is not changed.
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Unprotected | Self::Renamed { .. })
    }
}
