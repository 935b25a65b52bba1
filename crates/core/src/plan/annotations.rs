//! What a plan's readers should know beside what it does. None of it decides anything, so it is no part of the plan's digest.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_ledger::{Checkout, Descent, Gap, Home, Safeguards};
use pushplan_model::address::Address;
use pushplan_model::nouns::quiet::Quiet;
use serde::{Deserialize, Serialize};

use super::{DeclaredAt, People, Reach};

/// Facts for readers alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotations {
    /// What the project calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Which project it is, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<Home>,
    /// The project that something was last applied from, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_home: Option<Home>,
    /// The commit that its files are, for the ledger to remember. Left out where it must not take the place of what is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Checkout>,
    /// How its files relate to what was applied last, where they do not contain that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descent: Option<Descent>,
    /// What the ledger does not know, because it was restored from a backup, as long as nobody has checked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_gap: Option<Gap>,
    /// The safety settings that it was planned with, for the ledger to remember.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safeguards: Option<Safeguards>,
    /// The safety settings that are looser than when something was last applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loosened: Vec<Loosened>,
    /// Quiet hours that are longer than when something was last applied, if a message is in them only by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tightened_quiet: Option<TightenedQuiet>,
    /// The quiet hours, in recipients' local time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Quiet>,
    /// How near to each other two messages to one person may be; `None` where nobody asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart_seconds: Option<i64>,
    /// The values of the target's variables that messages are written with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, FilledVariable>,
    /// When something was last applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_apply: Option<Timestamp>,
    /// Who is applying something just now, in a sentence. What they are about is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_work: Option<String>,
    /// How much of each kind the service has that is neither in git nor in this plan.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unmanaged: BTreeMap<String, Unmanaged>,
    /// Kinds that nothing here is of and whose lists could not be had, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unlisted: BTreeMap<String, String>,
    /// That the files declare nothing, which deletes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nothing_declared: Option<NothingDeclared>,
    /// How many devices the messages that change reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// What single devices receive before and after, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<People>,
    /// What is not promoted, and stays as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<NotPromoted>,
    /// By address.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub of: BTreeMap<Address, Annotation>,
}

impl Annotations {
    /// What readers have to know first: that the files do not contain what was applied last, or that the ledger does not.
    pub fn notice(&self) -> Option<String> {
        let said = [self.descent.as_ref().and_then(Descent::words), self.open_gap.as_ref().and_then(Gap::words)];
        let said: Vec<String> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// How much of what another target has is not promoted.
    pub fn left(&self) -> usize {
        self.held.iter().filter(|held| held.why.is_left()).count()
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A safety setting that is looser than it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loosened {
    /// The resource that it is a setting of; `None` for the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// `lifecycle.broadcast`, `quiet_hours`.
    pub setting: String,
    /// The code of the check that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What changed, and what that is about.
    pub words: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<DeclaredAt>,
    /// What the setting would have refused or reported before, and does not any more. `None` if a plan does not show that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lets_through: Option<Vec<Address>>,
}

/// Quiet hours that are longer than they were.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TightenedQuiet {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Quiet>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<DeclaredAt>,
    /// The messages that are in them only by that.
    pub messages: Vec<QuietMessage>,
}

/// A message in quiet hours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietMessage {
    pub address: Address,
    /// A clock that shows quiet hours when it is sent: `Sydney 01:00 Sat`.
    pub clock: String,
}

/// What becomes of everything where the files declare nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NothingDeclared {
    /// The number of managed resources that stay on the service.
    pub stays: usize,
    /// The kinds of which the target asks for the deletion of what nobody declares, which is not done then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_pruned: Vec<String>,
}

/// Something that is not promoted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotPromoted {
    pub address: Address,
    pub why: Why,
}

/// Why something is not promoted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// What git says of it is not applied to the other target.
    NotYet,
    /// The version in git is not applied to the other target; the version that the other target has is promoted.
    Newer,
    /// The version in git is not applied to the other target; this target already has the version of the other target.
    Older,
    /// Git has gone on since it was applied to the other target, and this field of it is the other target's own.
    OfTarget(String),
    /// The other target has it, and git has it no more.
    NotInGit,
    /// Git does not have it any more, and the other target still does.
    NotGoneYet,
    /// The other target is not meant to have it.
    NotThere,
    /// Nobody knows whether the other target has it.
    InDoubt,
    /// It names this one, which is not promoted.
    Waits(Address),
}

impl Why {
    /// Whether the other target may have something that is not promoted.
    pub fn is_left(&self) -> bool {
        match self {
            Self::OfTarget(_) | Self::NotInGit | Self::InDoubt | Self::Waits(_) => true,
            Self::NotYet | Self::Newer | Self::Older | Self::NotGoneYet | Self::NotThere => false,
        }
    }

    /// In words, where the other target has this name.
    pub fn words(&self, from: &str) -> String {
        match self {
            Self::NotYet => format!("not on {from} yet"),
            Self::Newer => format!("your latest version is not on {from} yet; the version on {from} is promoted"),
            Self::Older => format!("your latest version is not on {from} yet; the version on {from} is already here"),
            Self::OfTarget(path) => {
                let what = if path.is_empty() { "what it says" } else { path };
                format!(
                    "blocked: your files have changed since it was applied to {from}, and {what} may be for {from} \
                        only; apply it to {from} first"
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

/// How many things of a kind are not in git.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmanaged {
    pub number: usize,
    /// The service may have more of them than it lists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub or_more: bool,
}

impl Unmanaged {
    pub fn new(or_more: bool) -> Self {
        Self { number: 0, or_more }
    }
}

/// What a variable of the target is filled in with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilledVariable {
    pub value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<DeclaredAt>,
}

/// A value that is not written in the declaration of its resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenValue {
    /// Its field, without places in lists: `push.notification.alert`.
    pub path: String,
    /// Where it is written: `var.discount`, `defaults.segments`, `overlays.eu` or the file of a body.
    pub origin: String,
    /// What a variable is filled in with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled: Option<String>,
    /// Nothing for a body, whose file is its origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<DeclaredAt>,
}

/// What is to be known of one address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// The time zone that its author wrote its times in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The zone of each of its times, where they are in several, by the moment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub zones: BTreeMap<Timestamp, String>,
    /// The time zone that its times were written in when it was last applied, if there was only one and the ledger knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_zone: Option<String>,
    /// When the service last used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
    /// Where it is declared, where what is applied of it are its parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<DeclaredAt>,
    /// The variables of the target that its messages are written with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// Its values that are written elsewhere. Nothing of what stays as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<WrittenValue>,
    /// The keys of the templates that its messages come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<String>,
    /// Sample values for its variables, by the name of the sample.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub previews: BTreeMap<String, BTreeMap<String, String>>,
}
