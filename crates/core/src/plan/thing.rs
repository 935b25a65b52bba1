//! What a plan names that it is not about.

use std::fmt;

use pushplan_model::address::Address;
use pushplan_model::kinds;
use pushplan_model::text::quoted;
use serde::{Deserialize, Serialize};

/// Something on the service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RemoteThing {
    Ours(Address),
    /// Nobody made it from here: it is in no ledger of this project.
    Other {
        kind: String,
        id: String,
        name: String,
    },
}

impl RemoteThing {
    /// Something in a list that is not ours.
    pub fn other(kind: &str, found: &kinds::Found) -> Self {
        Self::Other { kind: kind.to_owned(), id: found.id.clone(), name: found.name.clone() }
    }
}

impl From<Address> for RemoteThing {
    fn from(address: Address) -> Self {
        Self::Ours(address)
    }
}

/// In words: `pipelines/remind`, or `unmanaged pipeline "Remind" (4d01)`.
impl fmt::Display for RemoteThing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ours(address) => address.fmt(f),
            Self::Other { kind, id, name } => {
                let noun = kinds::kind(kind).map_or("thing", |kind| kind.noun);
                if name.is_empty() {
                    return write!(f, "unmanaged {noun} {id}");
                }
                write!(f, "unmanaged {noun} {} ({id})", quoted(name))
            }
        }
    }
}
