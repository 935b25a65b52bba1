//! The plan: every change and the ordered steps that carry them out. It is data: it can be saved, shown, signed off, applied.

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
    Annotation, Annotations, FilledVariable, Loosened, NotPromoted, NothingDeclared, QuietMessage, TightenedQuiet,
    Unmanaged, Why, WrittenValue,
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

/// The form of a saved plan. One of another form is refused.
pub const FORMAT: u32 = 1;

/// What would be done, to what, and what it was worked out from.
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
    /// It is not applied after this.
    pub expires: Timestamp,
    /// What the manifests said.
    pub manifests: Digest,
    /// Where the ledger stood.
    pub ledger: Position,
    /// What the manifests were held against.
    #[serde(default, skip_serializing_if = "Basis::is_service")]
    pub basis: Basis,
    #[serde(default)]
    pub aim: Aim,
    /// Which part of it was asked for.
    #[serde(default, skip_serializing_if = "Choice::is_all")]
    pub choice: Choice,
    /// Whether it may undo what someone did on the service.
    #[serde(default = "OnDrift::usual", skip_serializing_if = "OnDrift::is_usual")]
    pub on_drift: OnDrift,
    /// How near the time of a new push may be.
    pub min_lead_seconds: i64,
    /// What the whole plan is about, in the order of addresses.
    pub changes: Vec<Change>,
    /// How it is done. A step stands behind all that it waits for.
    pub steps: Vec<Step>,
    /// What `--only` and `--except` left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Address>,
    /// What its readers should know beside.
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub told: Annotations,
}

/// Which addresses a plan is about, by patterns such as `segments/*` or `scheduled_pushes/sale`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
}

impl Choice {
    /// Whether nothing is left out.
    pub fn is_all(&self) -> bool {
        self.only.is_empty() && self.except.is_empty()
    }
}

/// What a plan brings about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// What the manifests say.
    #[default]
    Manifests,
    /// That nothing of ours is left.
    Nothing,
    /// What was there before a deed of the history.
    Before(usize),
    /// What is applied to another target.
    Promoted(String),
}

/// What happens to a resource, or to a part that is applied by itself.
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

    /// The sign that stands before a change.
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
            Self::ByHand => "by hand",
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
    /// File and line where it is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<DeclaredAt>,
    /// The thing on the service that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What the manifests say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<Shared>,
    /// What the service has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Shared>,
    /// The last applied state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Shared>,
    /// Which side moved since the last apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// Why it comes to this, where the action alone does not say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// Messages that it causes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sends: Vec<CausedSend>,
    /// Its deletion is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protect: bool,
    /// It may address everybody.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broadcast: bool,
    /// What may not be touched, by its paths, and is as the service has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// Which side moved since the last apply.
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

/// A message that a change sets off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CausedSend {
    /// What sends it.
    pub by: RemoteThing,
    /// The tag that sets it off, where one does.
    pub tag: Option<String>,
    /// The tag sets it off by being removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
    /// How long after; no time at all: it is sent at once.
    #[serde(default)]
    pub after_seconds: i64,
    /// The audience, in words.
    pub to: String,
}

/// One request, and what the ledger learns from its answer. Steps that change the ledger alone have no request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its place in the plan, from 0.
    pub number: usize,
    pub address: Address,
    pub verb: Verb,
    /// The address that it had, where it gets another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Address>,
    /// The thing it is done to; `None` for one that is to be created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it is to be, segments by their keys; for a deletion what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<Shared>,
    /// What it was, where it is changed: segments by their keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Shared>,
    /// The ids of segments that it names, by their keys, where they are known. Others are made by an earlier step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refs: BTreeMap<String, String>,
    /// Things of the same name that are there already.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub seen: BTreeSet<String>,
    /// The steps that it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
    /// What the service has under its id, as the ledger is to remember it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub protect: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub past: bool,
    /// The ids of the pushes that it sends, as the ledger is to remember them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub push_ids: Vec<String>,
    /// The time zone that its times are written in, if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The ledger takes it up to have it deleted, and for nothing else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pruned: bool,
    /// How it is shown: the method, and the path with `(new id)` for an id that is unknown yet.
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

    /// Whether it takes something from every device, whoever gave it to them.
    pub fn empties_devices(&self) -> bool {
        let spec = self.spec.as_ref().filter(|_| self.verb == Verb::Delete);
        spec.is_some_and(|spec| kinds::api(&self.address).leaves_devices(spec))
    }
}

/// Which steps are changes to people. That the ledger takes note of a version stamp, a protection or a time that has
/// come is none, and neither is what it forgets or takes up before something is changed.
#[derive(Debug)]
pub struct News(BTreeSet<Address>);

impl News {
    pub fn of(plan: &Plan) -> Self {
        let is_one = |change: &&Change| {
            matches!(change.shown(), Action::Adopt | Action::Forget) || change.reasons.iter().any(Reason::is_change)
        };
        Self(plan.changes.iter().filter(is_one).map(|change| change.address.clone()).collect())
    }

    /// Whether a step of this address is one.
    pub fn has(&self, address: &Address, verb: Verb) -> bool {
        match verb {
            Verb::Create | Verb::Update | Verb::Delete | Verb::Move => true,
            Verb::Adopt | Verb::Forget => self.0.contains(address),
        }
    }
}

impl Change {
    /// Whether it goes because nobody declares it.
    pub fn is_pruned(&self) -> bool {
        self.reasons.iter().any(|reason| matches!(reason, Reason::Pruned { .. }))
    }

    /// Whether it is about an earlier version, which something new replaces.
    pub fn is_outdated(&self) -> bool {
        self.reasons.iter().any(|reason| matches!(reason, Reason::Retired { .. }))
    }

    /// The keys and the ids of the earlier versions of segments that it still points at.
    pub fn outdated(&self) -> Option<&BTreeMap<String, String>> {
        self.reasons.iter().find_map(|reason| match reason {
            Reason::Repoint { outdated, .. } if !outdated.is_empty() => Some(outdated),
            _ => None,
        })
    }

    /// The times at which something that has begun still is sent as it is, whatever is edited; none where the plan
    /// calls it off.
    pub fn rest(&self) -> &[Coming] {
        let went = self.reasons.iter().find_map(|reason| match reason {
            Reason::Went { rest, .. } if self.action != Action::Delete => Some(rest.as_slice()),
            _ => None,
        });
        went.unwrap_or_default()
    }

    /// What people call what happens: what was found again is taken up.
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

    /// What it was compared with, in words; nothing where that was the service.
    pub fn compared_with(&self) -> Option<String> {
        self.basis.words(self.ledger.seq, true)
    }

    /// How many changes there are of an action.
    pub fn count(&self, action: Action) -> usize {
        self.changes.iter().filter(|change| change.action == action).count()
    }

    /// Whether a step of it is a change to people.
    pub fn has_news(&self) -> bool {
        let news = News::of(self);
        self.steps.iter().any(|step| news.has(&step.address, step.verb))
    }

    /// Whether there is nothing to change. That says nothing of what was left out.
    pub fn is_empty(&self) -> bool {
        self.changes.iter().all(|change| {
            matches!(change.action, Action::Keep | Action::Past) && !change.reasons.iter().any(Reason::is_change)
        })
    }

    /// Whether someone changes something just now that is left out here: what is to be done about that is unknown yet.
    pub fn is_beside_others(&self) -> bool {
        self.told.at_work.is_some() && !self.left_out.is_empty()
    }

    /// Whether the service and the manifests agree. They do not where nothing is declared and something of ours is there.
    pub fn is_in_sync(&self) -> bool {
        let stays = self.told.nothing_declared.as_ref().is_some_and(|nothing| nothing.stays > 0);
        self.is_empty() && self.left_out.is_empty() && !stays
    }
}
