//! The plan: every change and the ordered steps that make them. It is data: it can be saved, shown, approved and
//! applied.

mod about;
mod annotations;
mod approval;
mod basis;
mod likeness;
mod manual;
mod meant;
mod overwritten;
mod people;
mod place;
mod reach;
mod reason;
mod saved;
mod since;
mod thing;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
pub use pushplan_ledger::Position;
use pushplan_ledger::Verb;
use pushplan_model::address::Address;
use pushplan_model::digest::Digest;
use pushplan_model::exchange::Method;
use pushplan_model::kinds;
use pushplan_model::kinds::remote::Coming;
use pushplan_model::node::Shared;
use pushplan_model::nouns::level::Level;
use pushplan_model::nouns::on_drift::OnDrift;
use serde::{Deserialize, Serialize};

pub use about::About;
pub use annotations::{
    Annotation, Annotations, DeclarationWarning, FilledVariable, Loosened, NotPromoted, NothingDeclared, QuietMessage,
    TightenedQuiet, Unmanaged, Why, WrittenValue,
};
pub use approval::{Approval, Approved, Difference, moved};
pub use basis::Basis;
pub use likeness::Likeness;
pub use overwritten::Overwritten;
pub use people::{DevicePart, LockScreen, MessagePeople, People, ReplayedDevice};
pub use place::DeclaredAt;
pub use reach::{Reach, ReachChange};
pub use reason::Reason;
pub use saved::NoPlan;
pub use thing::RemoteThing;

/// The format of a saved plan. Other formats are refused.
pub const FORMAT: u32 = 1;

/// A plan: the changes, the steps, and their basis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub format: u32,
    /// The version of pushplan that made it.
    pub tool: String,
    pub target: String,
    /// Scheme, host and port of the service.
    pub origin: String,
    /// The fingerprint of the application.
    pub app: String,
    pub level: Level,
    pub made: Timestamp,
    /// The time until which it can be applied.
    pub expires: Timestamp,
    /// The digest of the manifests.
    pub manifests: Digest,
    /// The position of the ledger.
    pub ledger: Position,
    /// The state with which the manifests were compared.
    #[serde(default, skip_serializing_if = "Basis::is_service")]
    pub basis: Basis,
    #[serde(default)]
    pub aim: Aim,
    /// The requested part of it.
    #[serde(default, skip_serializing_if = "Choice::is_all")]
    pub choice: Choice,
    /// Whether it may revert changes made on the service.
    #[serde(default = "OnDrift::usual", skip_serializing_if = "OnDrift::is_usual")]
    pub on_drift: OnDrift,
    /// The minimal time until a new push is sent.
    pub min_lead_seconds: i64,
    /// All changes, in the order of addresses.
    pub changes: Vec<Change>,
    /// The ordered steps: each follows all of its dependencies.
    pub steps: Vec<Step>,
    /// The addresses that `--only` and `--except` exclude.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Address>,
    /// Facts for readers only.
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub told: Annotations,
}

/// Patterns of the addresses of a plan, such as `segments/*` or `scheduled_pushes/sale`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
}

impl Choice {
    /// Whether nothing is excluded.
    pub fn is_all(&self) -> bool {
        self.only.is_empty() && self.except.is_empty()
    }
}

/// The aim of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// The state that the manifests declare.
    #[default]
    Manifests,
    /// No managed resource at all.
    Nothing,
    /// The state before a run of the history.
    Before(usize),
    /// The applied state of another target.
    Promoted(String),
}

/// The action for a resource, or for a separately applied part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Keep,
    Create,
    Update,
    Replace,
    Delete,
    Adopt,
    Forget,
    ByHand,
    Past,
}

impl Action {
    pub const ALL: [Self; 9] = [
        Self::Keep,
        Self::Create,
        Self::Update,
        Self::Replace,
        Self::Delete,
        Self::Adopt,
        Self::Forget,
        Self::ByHand,
        Self::Past,
    ];

    /// The symbol before a change.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Keep => " ",
            Self::Create => "+",
            Self::Update => "~",
            Self::Replace => "±",
            Self::Delete => "-",
            Self::Adopt => "<",
            Self::Forget => ".",
            Self::ByHand => "!",
            Self::Past => "·",
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Create => "create",
            Self::Update => "update",
            Self::Replace => "replace",
            Self::Delete => "delete",
            Self::Adopt => "adopt",
            Self::Forget => "forget",
            Self::ByHand => "manual",
            Self::Past => "past",
        }
    }
}

/// Desired, live and ledger of one address, compared, with an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub address: Address,
    pub action: Action,
    /// Its name on the service.
    pub name: String,
    /// The file and line of its declaration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<DeclaredAt>,
    /// The id of its object on the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The desired state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<Shared>,
    /// The live state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Shared>,
    /// The last applied state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Shared>,
    /// Which side moved since the last apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// Why it has this action, if that is not obvious.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// Messages that it causes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sends: Vec<CausedSend>,
    /// Whether its deletion is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protect: bool,
    /// Whether it may reach everybody.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broadcast: bool,
    /// Paths of fields that are left to the dashboard and keep their live values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// The side that changed since the last apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moved {
    Git,
    /// Drift: someone changed it on the service.
    Service,
    Both,
    /// Drift: it is no longer on the service.
    Removed,
}

/// A message that a change triggers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CausedSend {
    /// The resource that sends it.
    pub by: RemoteThing,
    /// The tag that triggers it, if there is one.
    pub tag: Option<String>,
    /// Whether removing the tag triggers it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
    /// The delay; zero: it is sent at once.
    #[serde(default)]
    pub after_seconds: i64,
    /// The audience, in words.
    pub to: String,
}

/// One request, and the record of its answer in the ledger. Steps that only change the ledger have no request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its number in the plan, from 0.
    pub number: usize,
    pub address: Address,
    pub verb: Verb,
    /// The previous address of a moved resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Address>,
    /// The id of its object; `None` for a creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The new state, with keys of segments; for a deletion, the state before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<Shared>,
    /// The state before an update, with keys of segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Shared>,
    /// The ids of the segments that it names, by key, if they are known. Others are created by an earlier step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refs: BTreeMap<String, String>,
    /// The ids of existing objects with the same name.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub seen: BTreeSet<String>,
    /// The steps that it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
    /// The version stamp to record for its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protect: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub past: bool,
    /// The ids of its pushes to record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub push_ids: Vec<String>,
    /// The time zone that its times are written in, if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Whether it adopts a resource only to delete it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pruned: bool,
    /// The shown request: the method, and the path with `(new id)` for an unknown id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<ShownRequest>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownRequest {
    pub method: Method,
    pub path: String,
}

impl Step {
    pub fn digest(&self) -> Digest {
        Digest::of_data(self)
    }

    /// Whether it removes something from every device, also if another user added it.
    pub fn empties_devices(&self) -> bool {
        let spec = self.spec.as_ref().filter(|_| self.verb == Verb::Delete);
        spec.is_some_and(|spec| kinds::api(&self.address).leaves_devices(spec))
    }
}

/// The steps that users see as changes. Records of a version stamp, a protection or a passed time are not, and neither
/// are records that prepare another step.
#[derive(Debug)]
pub struct News(BTreeSet<Address>);

impl News {
    pub fn of(plan: &Plan) -> Self {
        let is_one = |change: &&Change| {
            matches!(change.shown(), Action::Adopt | Action::Forget) || change.reasons.iter().any(Reason::is_change)
        };
        Self(plan.changes.iter().filter(is_one).map(|change| change.address.clone()).collect())
    }

    /// Whether a step of this address is such a change.
    pub fn has(&self, address: &Address, verb: Verb) -> bool {
        match verb {
            Verb::Create | Verb::Update | Verb::Delete | Verb::Move => true,
            Verb::Adopt | Verb::Forget => self.0.contains(address),
        }
    }
}

impl Change {
    /// Whether it is deleted because it is not declared.
    pub fn is_pruned(&self) -> bool {
        self.reasons.iter().any(|reason| matches!(reason, Reason::Pruned { .. }))
    }

    /// Whether it is about an earlier version that was replaced.
    pub fn is_outdated(&self) -> bool {
        self.reasons.iter().any(|reason| matches!(reason, Reason::Retired { .. }))
    }

    /// The keys of segments whose earlier versions it still refers to, with their ids.
    pub fn outdated(&self) -> Option<&BTreeMap<String, String>> {
        self.reasons.iter().find_map(|reason| match reason {
            Reason::Repoint { outdated: refs, .. } | Reason::RefersToEarlier { refs } if !refs.is_empty() => Some(refs),
            _ => None,
        })
    }

    /// The ids of the earlier versions of segments that it names as it is, by the keys of their segments.
    pub fn outdated_refs(&self) -> Option<&BTreeMap<String, String>> {
        let retired = || {
            self.reasons.iter().find_map(|reason| match reason {
                Reason::Retired { refs, .. } if !refs.is_empty() => Some(refs),
                _ => None,
            })
        };
        self.outdated().or_else(retired)
    }

    /// The remaining times of a push that has begun, which are sent whatever is edited; empty if the plan cancels them.
    pub fn rest(&self) -> &[Coming] {
        let went = self.reasons.iter().find_map(|reason| match reason {
            Reason::Went { rest, .. } if self.action != Action::Delete => Some(rest.as_slice()),
            _ => None,
        });
        went.unwrap_or_default()
    }

    /// The action as shown to users: a recovered resource is shown as adopted.
    pub fn shown(&self) -> Action {
        let recovered = || self.reasons.iter().any(|reason| matches!(reason, Reason::Recovered { .. }));
        if self.action == Action::Keep && recovered() { Action::Adopt } else { self.action }
    }
}

/// How long a saved plan can be applied.
const LIFE: jiff::SignedDuration = jiff::SignedDuration::from_hours(72);

impl Plan {
    pub fn new(about: About, changes: Vec<Change>, steps: Vec<Step>, left_out: Vec<Address>, now: Timestamp) -> Self {
        let About { target, origin, app, level, manifests, ledger, aim, choice, min_lead_seconds } = about;
        Self {
            format: FORMAT,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            target,
            origin,
            app,
            level,
            made: now,
            expires: now.checked_add(LIFE).unwrap_or(Timestamp::MAX),
            manifests,
            ledger,
            basis: Basis::Service,
            aim,
            choice,
            on_drift: OnDrift::usual(),
            min_lead_seconds,
            changes,
            steps,
            left_out,
            told: Annotations::default(),
        }
    }

    /// The basis of its comparison, in words; `None` if that was the service.
    pub fn compared_with(&self) -> Option<String> {
        self.basis.words(self.ledger.seq, true)
    }

    /// The number of changes with an action.
    pub fn count(&self, action: Action) -> usize {
        self.changes.iter().filter(|change| change.action == action).count()
    }

    /// Whether users see one of its steps as a change.
    pub fn has_news(&self) -> bool {
        let news = News::of(self);
        self.steps.iter().any(|step| news.has(&step.address, step.verb))
    }

    /// Whether there is nothing to change. Excluded resources are not considered.
    pub fn is_empty(&self) -> bool {
        self.changes.iter().all(|change| {
            matches!(change.action, Action::Keep | Action::Past) && !change.reasons.iter().any(Reason::is_change)
        })
    }

    /// Whether it excludes addresses of a running apply, whose changes are unknown until that ends.
    pub fn is_beside_others(&self) -> bool {
        self.told.at_work.is_some() && !self.left_out.is_empty()
    }

    /// Whether the service and the manifests agree. They do not if nothing is declared and a managed resource exists.
    pub fn is_in_sync(&self) -> bool {
        let stays = self.told.nothing_declared.as_ref().is_some_and(|nothing| nothing.stays > 0);
        self.is_empty() && self.left_out.is_empty() && !stays
    }
}
