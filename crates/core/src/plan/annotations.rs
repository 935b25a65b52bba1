//! Facts for the readers of a plan. They decide nothing, so they are not part of the plan's digest.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_ledger::{Checkout, Descent, Gap, Home, Retired, Safeguards};
use pushplan_model::address::Address;
use pushplan_model::nouns::quiet::Quiet;
use serde::{Deserialize, Serialize};

use super::{DeclaredAt, People, Reach};

/// Facts for readers only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotations {
    /// The name of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The identity of the project, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<Home>,
    /// The project of the last apply, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_home: Option<Home>,
    /// The commit of the files, to be recorded in the ledger. `None` if it must not replace the known one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Checkout>,
    /// How the files relate to the last applied ones, if they do not contain these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descent: Option<Descent>,
    /// What the ledger does not know, because it was restored from a backup and nobody has checked the gap yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_gap: Option<Gap>,
    /// The safety settings of the plan, to be recorded in the ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safeguards: Option<Safeguards>,
    /// The safety settings that are looser than at the last apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loosened: Vec<Loosened>,
    /// Quiet hours that were extended since the last apply, if a message is in them only for that reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tightened_quiet: Option<TightenedQuiet>,
    /// The quiet hours, in recipients' local time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Quiet>,
    /// The minimal time between two messages to one person; `None` if there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart_seconds: Option<i64>,
    /// The values of the target's variables in the texts of messages.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, FilledVariable>,
    /// The time of the last apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_apply: Option<Timestamp>,
    /// A sentence about the running apply, whose addresses are excluded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_work: Option<String>,
    /// The number of unmanaged resources on the service that are not part of this plan, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unmanaged: BTreeMap<String, Unmanaged>,
    /// Kinds without any declared or managed resource whose lists could not be read, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unlisted: BTreeMap<String, String>,
    /// Set if the files declare nothing, which deletes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nothing_declared: Option<NothingDeclared>,
    /// How many devices the changed messages reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// What single devices receive before and after, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<People>,
    /// Resources that are not promoted and not changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<NotPromoted>,
    /// Earlier versions of segments to which excluded resources still refer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Retired>,
    /// Facts by address.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub of: BTreeMap<Address, Annotation>,
}

impl Annotations {
    /// The most important notice: the files, or the ledger, do not contain the last apply.
    pub fn notice(&self) -> Option<String> {
        let said = [self.descent.as_ref().and_then(Descent::words), self.open_gap.as_ref().and_then(Gap::words)];
        let said: Vec<String> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// How many resources of the other target are not promoted.
    pub fn left(&self) -> usize {
        self.held.iter().filter(|held| held.why.is_left()).count()
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A safety setting that was loosened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loosened {
    /// The resource with the setting; `None` for the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// Its name: `lifecycle.broadcast`, `quiet_hours`.
    pub setting: String,
    /// The code of the check that it turns off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The change of the setting, in words.
    pub words: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<DeclaredAt>,
    /// The changes that the setting would have refused or reported before and now allows. `None` if a plan does not
    /// show them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lets_through: Option<Vec<Address>>,
}

/// Quiet hours that were extended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TightenedQuiet {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Quiet>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<DeclaredAt>,
    /// The messages that are in them only for that reason.
    pub messages: Vec<QuietMessage>,
}

/// A message in quiet hours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietMessage {
    pub address: Address,
    /// The time in a zone when it is sent: `Sydney 01:00 Sat`.
    pub clock: String,
}

/// The consequences of files that declare nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NothingDeclared {
    /// The number of managed resources that are kept on the service.
    pub stays: usize,
    /// The kinds whose unmanaged resources the target would delete, which are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_pruned: Vec<String>,
}

/// A resource that is not promoted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotPromoted {
    pub address: Address,
    pub why: Why,
}

/// Why a resource is not promoted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It is in git, and not applied to the other target yet.
    NotYet,
    /// The version in git is not applied to the other target; the version that the other target has is promoted.
    Newer,
    /// The version in git is not applied to the other target; this target already has the version of the other target.
    Older,
    /// Git has changed since the apply to the other target, and this field is specific to that target.
    OfTarget(String),
    /// The other target has it, and git no longer does.
    NotInGit,
    /// Git no longer has it, and the other target still does.
    NotGoneYet,
    /// The other target is not supposed to have it.
    NotThere,
    /// Whether the other target has it is unknown.
    InDoubt,
    /// It refers to this resource, which is not promoted.
    Waits(Address),
}

impl Why {
    /// Whether the other target may have a resource that is not promoted.
    pub fn is_left(&self) -> bool {
        match self {
            Self::OfTarget(_) | Self::NotInGit | Self::InDoubt | Self::Waits(_) => true,
            Self::NotYet | Self::Newer | Self::Older | Self::NotGoneYet | Self::NotThere => false,
        }
    }

    /// The reason in words, for another target with this name.
    pub fn words(&self, from: &str) -> String {
        match self {
            Self::NotYet => format!("not on {from} yet"),
            Self::Newer => format!("your latest version is not on {from} yet; the version on {from} is promoted"),
            Self::Older => {
                format!("your latest version is not on {from} yet; the version on {from} is already on this target")
            }
            Self::OfTarget(path) => {
                let what = if path.is_empty() { "its content" } else { path };
                format!(
                    "blocked: {what} on {from} may be for {from} only, and your files have changed since, so pushplan \
                     cannot check that; apply it to {from} first"
                )
            }
            Self::NotInGit => format!("blocked: {from} has it, but your files no longer do; apply {from} first"),
            Self::NotGoneYet => format!("its removal is not on {from} yet"),
            Self::NotThere => format!("not for {from}: apply it separately"),
            Self::InDoubt => format!("whether it is on {from} is unknown"),
            Self::Waits(by) => format!("blocked by {by}, which is not promoted"),
        }
    }
}

/// The number of unmanaged resources of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmanaged {
    pub number: usize,
    /// Whether the service may have more of them than it lists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub or_more: bool,
}

impl Unmanaged {
    pub fn new(or_more: bool) -> Self {
        Self { number: 0, or_more }
    }
}

/// The value of a target's variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilledVariable {
    pub value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<DeclaredAt>,
}

/// A value that is not in the declaration of its resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenValue {
    /// Its field, without positions in lists: `push.notification.alert`. A localization has its locale:
    /// `push.localizations[de]`.
    pub path: String,
    /// The origin of the value: `var.discount`, `defaults.segments`, `overlays.eu`, or the file of a body or a catalogue.
    pub origin: String,
    /// The value of a variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled: Option<String>,
    /// `None` for a body, whose file is its origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<DeclaredAt>,
}

/// A warning of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclarationWarning {
    pub code: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<DeclaredAt>,
}

/// Facts about one address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// The time zone in which its author wrote its times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The zone of each of its times, by moment, if there are several zones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub zones: BTreeMap<Timestamp, String>,
    /// The time zone of its times at the last apply, if there was only one and the ledger has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_zone: Option<String>,
    /// When the service last used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
    /// The position of the declaration, if it is applied in parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<DeclaredAt>,
    /// The ids of earlier versions of segments to which it refers, by key, if it is excluded from the plan.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub earlier: BTreeMap<String, String>,
    /// The warnings of checks about its declaration. Empty for a resource without changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<DeclarationWarning>,
    /// The target's variables in the texts of its messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// Its values from other places. Empty for a resource without changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<WrittenValue>,
    /// The keys of the templates of its messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<String>,
    /// Sample values for its variables, by the name of the sample.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub previews: BTreeMap<String, BTreeMap<String, String>>,
}
