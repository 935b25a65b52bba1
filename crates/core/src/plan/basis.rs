//! The basis of a plan that was not compared with the service.

use pushplan_io::git::Revision;
use serde::{Deserialize, Serialize};

/// The state with which the manifests were compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The live state. Only such a plan can be applied.
    #[default]
    Service,
    /// The last applied state, from the ledger.
    Ledger,
    /// The manifests of a commit, as if they had been applied and nothing else existed.
    Commit {
        commit: Revision,
        /// The commit of the compared manifests; `None` for the files in the work tree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        manifests: Option<Revision>,
        /// Whether that commit does not have this target, or this project.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_new: bool,
    },
}

impl Basis {
    pub fn is_service(&self) -> bool {
        *self == Self::Service
    }

    /// Describes the basis and its limits; `None` for the service. `last` is the ledger's last record, 0 if it has
    /// none; without `is_one`, the text covers several ledgers and does not name it.
    pub fn words(&self, last: u64, is_one: bool) -> Option<String> {
        let record = if is_one { format!(" (record {last})") } else { String::new() };
        match self {
            Self::Service => None,
            Self::Ledger if last == 0 => Some(
                "Compared with the ledger, not with the service. The ledger is empty, so everything is new.".to_owned(),
            ),
            Self::Ledger => Some(format!(
                "Compared with the ledger{record}, not with the service: changes made there since are not seen."
            )),
            Self::Commit { commit, manifests, is_new } => {
                let what = match manifests {
                    Some(own) => {
                        format!("The manifests of {own}, compared with those of {commit}. The service was not asked")
                    }
                    None => format!("Compared with the manifests of {commit}. The service was not asked"),
                };
                Some(match is_new {
                    true => format!("{what}. This target is not in that commit, so everything is new."),
                    false => format!("{what}; the plan assumes that {} is applied.", commit.name),
                })
            }
        }
    }
}
