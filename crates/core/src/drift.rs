//! Changes on the service since the last apply: the ledger compared with the live state.
//!
//! Pure. Manifests only say which fields are left to the dashboard.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::{Ledger, Owned, Verb};
use pushplan_model::address::{Address, KindKey};
use pushplan_model::kinds::{self, Kind, LegacyTag, Resource, Runs};
use pushplan_model::node::Shared;

use crate::arrange::matches;
use crate::compare::{self, Names, Unit, ignoring};
use crate::live::{Live, LiveState};
use crate::plan::{Action, Change, Choice};
use crate::unmanaged::channel_tags;

/// The inputs of a comparison for drift.
#[derive(Debug)]
pub struct Situation<'s> {
    pub ledger: &'s Ledger,
    pub live: &'s Live,
    pub now: Timestamp,
    /// How far the service's clock is ahead of the ledger's.
    pub ahead: SignedDuration,
    /// The declared units, as far as the files can be read: for fields that are left to the dashboard, and for
    /// positions.
    pub declared: &'s BTreeMap<Address, Unit>,
    /// Addresses of an apply that is running.
    pub under_way: &'s BTreeSet<Address>,
    pub choice: &'s Choice,
}

/// The changes that people made on the service.
#[derive(Clone, Debug, Default)]
pub struct Drift {
    /// All managed resources, each as a change from its applied to its live state: update if it was edited, delete if
    /// it was removed, otherwise keep.
    pub changes: Vec<Change>,
    /// When those were changed, if the service shows it.
    pub edited: BTreeMap<Address, Timestamp>,
    /// Changed resources whose files differ as well.
    pub disputed: BTreeSet<Address>,
    /// Objects that someone created since, the newest first.
    pub added: Vec<Added>,
    /// The number of unmanaged objects of unknown age, by kind.
    pub undated: BTreeMap<&'static str, usize>,
    /// Managed resources, or parts of them, that the service does not show.
    untold: BTreeSet<Address>,
    /// Resources that an earlier run may have created: `plan` finds out whether they exist.
    pub in_doubt: Vec<Address>,
    /// Managed resources, or parts of them, that were not read.
    unasked: BTreeSet<Address>,
    /// When a plan was last applied or, if none ever was, a resource was last adopted.
    pub since: Option<Timestamp>,
    /// Whether something was ever applied.
    pub was_applied: bool,
    /// Patterns of the choice that match nothing.
    pub idle: Vec<String>,
}

/// An unmanaged object.
#[derive(Clone, Debug)]
pub struct Added {
    pub kind: &'static Kind,
    pub id: String,
    /// Its name on the service.
    pub name: String,
    pub made: Timestamp,
    pub used: Option<Timestamp>,
}

/// The state of a managed resource on the service, in the order of importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum DriftState {
    Kept,
    Unasked,
    Untold,
    Removed,
    Changed,
}

impl DriftState {
    /// The state of a resource with parts in both states. A resource that lost only some of its parts is changed.
    fn and(self, other: Self) -> Self {
        match self.max(other) {
            Self::Removed if self != other => Self::Changed,
            both => both,
        }
    }
}

impl Drift {
    /// The number of managed resources that were edited, or lost a part.
    pub fn changed(&self) -> usize {
        self.count(DriftState::Changed)
    }

    pub fn removed(&self) -> usize {
        self.count(DriftState::Removed)
    }

    /// The number of managed resources that were read and are unchanged.
    pub fn kept(&self) -> usize {
        self.count(DriftState::Kept)
    }

    /// The number of managed resources that the service does not show.
    pub fn untold(&self) -> usize {
        self.count(DriftState::Untold)
    }

    /// The number of managed resources that were not read.
    pub fn unasked(&self) -> usize {
        self.count(DriftState::Unasked)
    }

    /// Counts each resource once, with all of its parts.
    fn count(&self, wanted: DriftState) -> usize {
        let mut resources: HashMap<(KindKey, &str), DriftState> = HashMap::new();
        for Change { address, action, .. } in &self.changes {
            let seen = match action {
                Action::Update => DriftState::Changed,
                Action::Delete => DriftState::Removed,
                _ if self.untold.contains(address) => DriftState::Untold,
                _ if self.unasked.contains(address) => DriftState::Unasked,
                _ => DriftState::Kept,
            };
            resources.entry(address.whole()).and_modify(|known| *known = known.and(seen)).or_insert(seen);
        }
        resources.into_values().filter(|seen| *seen == wanted).count()
    }

    /// The number of differences in fields that are left to the dashboard.
    pub fn ignored(&self) -> usize {
        self.changes.iter().map(|change| change.ignored.len()).sum()
    }

    /// Whether there is no drift.
    pub fn is_none(&self) -> bool {
        self.changed() + self.removed() + self.added.len() == 0
    }
}

/// Computes the changes on the service since the last apply.
pub fn drift(situation: &Situation) -> Drift {
    let Situation { ledger, live, .. } = situation;
    let names = Names::new(ledger);
    let adopted = || ledger.owned.values().map(|owned| owned.applied).max();
    let since = ledger.applied.or_else(adopted);
    let mut drift = Drift { since, was_applied: ledger.applied.is_some(), ..Drift::default() };
    let declared = compare::by_key(situation.declared, ledger);
    for (address, owned) in &ledger.owned {
        let seen = live.of(address);
        let mut change = change(situation, address, owned);
        if is_chosen(situation.choice, address) && !situation.under_way.contains(address) {
            if *seen == LiveState::Untold {
                drift.untold.insert(address.clone());
            }
            situation.hold(seen, owned, &names, &mut change);
            let stamp = if let LiveState::There(found) = seen { found.stamp.as_deref() } else { None };
            let at = stamp.and_then(|stamp| kinds::api(address).stamped(stamp));
            if let Some(at) = at.filter(|_| change.action == Action::Update) {
                drift.edited.insert(address.clone(), at);
            }
            let in_git = declared.get(address).is_some_and(|unit| unit.spec != owned.spec);
            if change.action == Action::Update && in_git {
                drift.disputed.insert(address.clone());
            }
        } else {
            drift.unasked.insert(address.clone());
        }
        drift.changes.push(change);
    }
    let made = |(_, open): &(&Address, &pushplan_ledger::Unconfirmed)| open.intent.verb == Verb::Create;
    drift.in_doubt = ledger.open.iter().filter(made).map(|(address, _)| address.clone()).collect();
    situation.others(&mut drift);
    let known: Vec<&Address> = ledger.owned.keys().collect();
    let choice = situation.choice;
    let idle = |pattern: &&String| {
        let kinds = kinds::KINDS.iter().map(|kind| Address::new(kind.key, "*"));
        !known.iter().any(|address| matches(pattern, address))
            && !kinds.into_iter().any(|all| all.to_string() == **pattern)
    };
    drift.idle = choice.only.iter().chain(&choice.except).filter(idle).cloned().collect();
    drift
}

fn is_chosen(choice: &Choice, address: &Address) -> bool {
    let is = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, address));
    (choice.only.is_empty() || is(&choice.only)) && !is(&choice.except)
}

/// A managed resource without a change.
fn change(situation: &Situation, address: &Address, owned: &Owned) -> Change {
    Change {
        address: address.clone(),
        action: Action::Keep,
        name: kinds::api(address).name(&owned.spec),
        place: situation.declared.get(address).and_then(|unit| unit.place.clone()),
        id: Some(owned.id.clone()),
        desired: Some(owned.spec.clone()),
        live: Some(owned.spec.clone()),
        ledger: None,
        moved: None,
        reasons: Vec::new(),
        sends: Vec::new(),
        protect: owned.protect,
        broadcast: false,
        ignored: Vec::new(),
    }
}

impl Situation<'_> {
    /// Compares a managed resource with its live state.
    fn hold(&self, seen: &LiveState, owned: &Owned, names: &Names, change: &mut Change) {
        let api = kinds::api(&change.address);
        let intent = self.ledger.open.get(&change.address).map(|open| &open.intent);
        match seen {
            LiveState::Untold => {}
            LiveState::Absent => {
                // A push may be gone because its time has passed, or because an earlier run was about to delete it.
                let over = |runs: Runs| runs.has_begun(self.now) && runs.is_done(self.now, SignedDuration::ZERO);
                let over = api.runs(&owned.spec).map_or(owned.past, over);
                let by_us = intent.is_some_and(|intent| intent.verb == Verb::Delete);
                if !over && !by_us {
                    change.action = Action::Delete;
                    change.desired = None;
                }
            }
            LiveState::There(found) => {
                let desired = self.declared.get(&change.address).map(|unit| &unit.spec);
                let keyed = |spec| names.by_key_of(api, spec, owned, desired);
                let Some(theirs) = found.spec.as_ref().map(keyed) else { return };
                let is_ours = |spec: &Shared| *spec == theirs;
                if intent.is_some_and(|intent| intent.spec.as_ref().is_some_and(is_ours)) {
                    return;
                }
                let none = Vec::new();
                let ignore = self.declared.get(&change.address).map_or(&none, |unit| &unit.ignore);
                let (ours, ignored) = ignoring(&owned.spec, &theirs, ignore);
                change.ignored = ignored;
                if *ours != theirs {
                    change.action = Action::Update;
                    change.live = Some(ours.into_owned().into());
                    change.desired = Some(theirs);
                }
            }
        }
    }

    /// Finds listed objects that are not managed: those created since the last apply, and those of unknown age.
    fn others(&self, drift: &mut Drift) {
        let Some(since) = drift.since.and_then(|at| at.checked_add(self.ahead).ok()) else { return };
        let ours = self.ledger.ids();
        let intended: BTreeSet<(&str, String)> = drift
            .in_doubt
            .iter()
            .filter_map(|address| {
                let spec = self.ledger.open.get(address)?.intent.spec.as_ref()?;
                Some((&*address.kind, kinds::api(address).name(spec)))
            })
            .collect();
        let chosen = |kind: &Kind, id: &str| is_chosen(self.choice, &Address::new(kind.key, id));
        let tags = channel_tags(self.ledger, self.declared);
        for (kind, found) in self.live.listed() {
            let is_of_channel = kind.key == LegacyTag::KEY && tags.contains(found.id.as_str());
            let is_ours = is_of_channel || ours.contains(&(kind.key, found.id.as_str()));
            if is_ours || intended.contains(&(kind.key, found.name.clone())) || !chosen(kind, &found.id) {
                continue;
            }
            match found.made {
                None => *drift.undated.entry(kind.key).or_default() += 1,
                Some(made) if made > since => drift.added.push(Added {
                    kind,
                    id: found.id.clone(),
                    name: found.name.clone(),
                    made,
                    used: found.used,
                }),
                Some(_) => {}
            }
        }
        drift.added.sort_by(|a, b| (b.made, a.kind.key, &a.id).cmp(&(a.made, b.kind.key, &b.id)));
    }
}
