//! Objects that a plan names without changing them.

use std::fmt;

use pushplan_model::address::Address;
use pushplan_model::kinds;
use pushplan_model::text::quoted;
use serde::{Deserialize, Serialize};

/// An object on the service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RemoteThing {
    Ours(Address),
    /// It is unmanaged: in no ledger of this project.
    Other {
        kind: String,
        id: String,
        name: String,
    },
}

impl RemoteThing {
    /// An unmanaged object in a list.
    pub fn other(kind: &str, found: &kinds::Found) -> Self {
        Self::Other { kind: kind.to_owned(), id: found.id.clone(), name: found.name.clone() }
    }
}

impl From<Address> for RemoteThing {
    fn from(address: Address) -> Self {
        Self::Ours(address)
    }
}

/// Formats it as `pipelines/remind`, or `unmanaged pipeline "Remind" (4d01)`.
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
