//! The approved part of a plan: all of its effects, but not its time, the unchanged resources, or the position of the
//! ledger.
//!
//! Two plans with the same digest have the same effects on the same resources in the same state, for the same people. A
//! plan that is made again after a merge is therefore the reviewed one if its digest is the same, whatever else was
//! merged and applied since.

use std::collections::BTreeMap;

use pushplan_ledger::Verb;
use pushplan_model::address::Address;
use pushplan_model::cores;
use pushplan_model::digest::{Digest, Keyed, Listed};
use pushplan_model::node::Shared;

use super::meant::{Meant, named};
use super::{Action, Change, News, Plan, Reason};

/// The number of digits in the digest of a change, and of one side of it.
const WHOLE: usize = 16;
const SIDE: usize = 8;

/// The content of an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    pub digest: Digest,
    /// The digest of the plan without its changes: target, application, part of the project.
    pub about: String,
    /// The changes, in the order of their addresses.
    pub changes: Vec<Approved>,
}

/// One change as it was reviewed, by its digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approved {
    pub address: Address,
    pub action: Action,
    /// The digest of the whole change.
    pub whole: String,
    /// The digest of the desired state.
    pub files: String,
    /// The digest of the live state and the id.
    pub service: String,
}

impl Approved {
    /// The concatenated digests, which [`Approved::read`] splits again.
    pub fn word(&self) -> String {
        format!("{}{}{}", self.whole, self.files, self.service)
    }

    /// Creates a change from its address, the symbol of its action, and its concatenated digests.
    pub fn read(address: &str, sign: &str, word: &str) -> Option<Self> {
        let is_word = word.len() == WHOLE + 2 * SIDE && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (whole, sides) = word.split_at_checked(WHOLE).filter(|_| is_word)?;
        let (files, service) = sides.split_at_checked(SIDE)?;
        Some(Self {
            address: Address::try_from(address.to_owned()).ok()?,
            action: Action::ALL.into_iter().find(|action| action.symbol() == sign)?,
            whole: whole.to_owned(),
            files: files.to_owned(),
            service: service.to_owned(),
        })
    }

    /// The difference to a later version of the change; `None` if it is the same.
    fn moved(&self, now: &Self) -> Option<Difference> {
        match self == now {
            true => None,
            false if self.service != now.service => Some(Difference::Service),
            false if self.files != now.files => Some(Difference::Files),
            false => Some(Difference::Other(vec![self.action], vec![now.action])),
        }
    }
}

/// The difference of one address between a reviewed plan and the current one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Someone changed it on the service.
    Service,
    /// The desired state differs.
    Files,
    /// The plan for it differs, with the actions before and now.
    Other(Vec<Action>, Vec<Action>),
    /// It was not part of the review.
    New(Vec<Action>),
    /// It has no change now.
    Gone(Vec<Action>),
    /// It has no change now, because its time has passed.
    Late(Vec<Action>),
    /// A run created it since, and it was deleted again.
    Removed,
    /// A run changed it since, and it was changed back.
    Back,
}

impl Difference {
    /// Formats it as a sentence, such as `segments/a was changed on the service`.
    pub fn words(&self, address: &Address) -> String {
        match self {
            Self::Service => format!("{address} was changed on the service"),
            Self::Files => format!("{address} changed in the files"),
            Self::Other(before, now) if before == now => format!("{address} is planned differently now"),
            Self::Other(before, now) => {
                format!("{address} is planned differently now: {} instead of {}", words(now), words(before))
            }
            Self::New(now) => format!("{address} is new: {}", words(now)),
            Self::Gone(before) => format!("{address} is no longer in the plan: it was {}", words(before)),
            Self::Late(before) => format!("the time of {address} has passed: it was {}", words(before)),
            Self::Removed => format!("{address} was created by an apply, and removed again"),
            Self::Back => format!("{address} was changed by an apply, and changed back"),
        }
    }
}

/// The actions in words: `to delete`, `by hand`.
fn words(actions: &[Action]) -> String {
    let word = |action: &Action| match action {
        Action::ByHand | Action::Keep | Action::Past => action.word().to_owned(),
        action => format!("to {}", action.word()),
    };
    actions.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// The effect of a step: its verb, its object and its previous address.
type Done<'c> = (Verb, Option<&'c str>, Option<&'c Address>);

impl Change {
    /// Whether it is reported to users. A past push is no change any more.
    pub fn is_told(&self) -> bool {
        match self.action {
            Action::Keep => !self.reasons.is_empty() || !self.sends.is_empty(),
            Action::Past => false,
            _ => true,
        }
    }

    /// Whether the desired state cannot be reached, because its time has passed.
    fn is_late(&self) -> bool {
        let is_late = |reason: &Reason| matches!(reason, Reason::TooLate { .. } | Reason::Went { edited: true, .. });
        match self.action {
            Action::Past => self.reasons.iter().any(is_late),
            // It is no longer declared, and was sent before it could be deleted.
            Action::Keep => !self.is_told() && self.desired.is_none() && self.ledger.is_some(),
            _ => false,
        }
    }
}

impl Plan {
    /// The approval of this plan.
    pub fn approval(&self) -> Approval {
        let (about, told) = (self.about(), self.told_digests());
        let approved = |(change, whole): &(&Change, Digest)| Approved {
            address: change.address.clone(),
            action: change.shown(),
            whole: first(whole, WHOLE),
            files: first(&Digest::of_sorted(&change.desired), SIDE),
            service: first(&Digest::of_sorted(&(&change.id, &change.live)), SIDE),
        };
        let changes = told.iter().map(approved).collect();
        Approval { about: first(&about.clone().digest(), WHOLE), digest: whole(about, &told), changes }
    }

    /// The digest of the effects: two plans with the same changes have the same digest, whenever they were made.
    pub fn digest(&self) -> Digest {
        whole(self.about(), &self.told_digests())
    }

    /// Whether a change is not made because its time has passed.
    pub fn has_late(&self) -> bool {
        self.changes.iter().any(Change::is_late)
    }

    /// The reviewed changes whose time has passed before they could be made.
    pub fn late(&self, seen: &[Approved]) -> BTreeMap<Address, Difference> {
        let late = self.changes.iter().filter(|change| change.is_late()).map(|change| &change.address);
        let seen = by_address(seen);
        let of_it = |address: &Address| Some((address.clone(), Difference::Late(actions(seen.get(address)?))));
        late.filter_map(of_it).collect()
    }

    /// The digest of the plan without its changes.
    fn about(&self) -> Listed {
        let Self { target, origin, app, level, aim, choice, .. } = self;
        let about = Listed::default().sorted(target).sorted(origin).sorted(app).sorted(level).sorted(aim).item(choice);
        // An approval of a plan without the service must not approve one with it.
        if self.basis.is_service() { about } else { about.item(&self.basis) }
    }

    /// The reported changes, with digests of everything that a reviewer decides on.
    fn told_digests(&self) -> Vec<(&Change, Digest)> {
        let news = News::of(self);
        let mut steps: BTreeMap<&Address, Vec<Done>> = BTreeMap::new();
        for step in self.steps.iter().filter(|step| news.has(&step.address, step.verb)) {
            let done = (step.verb, step.id.as_deref(), step.from.as_ref());
            steps.entry(&step.address).or_default().push(done);
        }
        let spec = |keyed: Keyed, key: &str, spec: &Option<Shared>| match spec.as_ref().and_then(Shared::written) {
            Some(text) => keyed.text(key, text),
            None => keyed.sorted(key, spec),
        };
        let told: Vec<&Change> = self.changes.iter().filter(|change| change.is_told()).collect();
        let named: Vec<(&Change, Vec<&str>)> = cores::each_of(told, |change: &Change| (change, named(change)));
        let meant = Meant::of(self, named.iter().flat_map(|(_, named)| named.iter().copied()));
        let digest = |change: &Change, named: &[&str]| {
            let decided = Keyed::default()
                .sorted("action", &change.shown())
                .sorted("address", &change.address)
                .sorted("broadcast", &change.broadcast);
            let decided = spec(decided, "desired", &change.desired).sorted("id", &change.id);
            let decided = spec(decided, "live", &change.live);
            let behind = meant.behind(named);
            let decided = if behind.is_empty() { decided } else { decided.sorted("meant", &behind) };
            let decided = decided
                .sorted("protect", &change.protect)
                .field("reasons", &decided_on(change))
                .field("sends", &change.sends)
                .sorted("steps", &steps.get(&change.address).map_or(&[][..], Vec::as_slice));
            decided.digest()
        };
        cores::each_of(named, |(change, named)| (change, digest(change, &named)))
    }
}

/// The reasons for a change that a reviewer decides on. Facts that depend on the time are left out: the remaining
/// times, and a possible previous name, which disappears once that resource is deleted.
fn decided_on(change: &Change) -> Vec<Reason> {
    let of_all_times = |reason: &Reason| match reason {
        Reason::LooksRenamed { .. } => None,
        Reason::Went { at, edited, .. } => Some(Reason::Went { at: *at, edited: *edited, rest: Vec::new() }),
        reason => Some(reason.clone()),
    };
    change.reasons.iter().filter_map(of_all_times).collect()
}

fn whole(about: Listed, told: &[(&Change, Digest)]) -> Digest {
    let digests: Vec<&Digest> = told.iter().map(|(_, digest)| digest).collect();
    about.items(&digests).digest()
}

fn first(digest: &Digest, digits: usize) -> String {
    digest.as_str().chars().take(digits).collect()
}

/// The differences between the reviewed changes and the current ones.
pub fn moved(seen: &[Approved], now: &[Approved]) -> BTreeMap<Address, Difference> {
    let (seen, now) = (by_address(seen), by_address(now));
    let mut moved = BTreeMap::new();
    for (address, now) in &now {
        let difference = match (seen.get(address).map(Vec::as_slice), now.as_slice()) {
            (None, now) => Some(Difference::New(actions(now))),
            (Some([seen]), [now]) => seen.moved(now),
            (Some(seen), now) if seen == now => None,
            (Some(seen), now) => Some(Difference::Other(actions(seen), actions(now))),
        };
        moved.extend(difference.map(|difference| (Address::clone(address), difference)));
    }
    let gone = seen.iter().filter(|(address, _)| !now.contains_key(*address));
    moved.extend(gone.map(|(address, seen)| (Address::clone(address), Difference::Gone(actions(seen)))));
    moved
}

fn actions(changes: &[&Approved]) -> Vec<Action> {
    changes.iter().map(|change| change.action).collect()
}

fn by_address(changes: &[Approved]) -> BTreeMap<&Address, Vec<&Approved>> {
    let mut by: BTreeMap<&Address, Vec<&Approved>> = BTreeMap::new();
    for change in changes {
        by.entry(&change.address).or_default().push(change);
    }
    by
}

#[cfg(test)]
mod tests {

    use serde_json::json;

    use super::*;
    use crate::plan::{About, Basis, Position};

    fn change(key: &str, action: Action, tag: &str) -> Change {
        Change {
            address: Address::new("segments", key),
            action,
            name: key.to_owned(),
            place: None,
            id: Some(format!("id-{key}")),
            desired: (action != Action::Delete).then(|| json!({"tag": tag}).into()),
            live: Some(json!({"tag": "live"}).into()),
            ledger: None,
            moved: None,
            reasons: vec![],
            sends: vec![],
            protect: false,
            broadcast: false,
            ignored: vec![],
        }
    }

    fn plan(changes: Vec<Change>) -> Plan {
        let about = About {
            ledger: Position { lineage: "l".into(), seq: 7 },
            ..About::new("production", "https://messaging.example")
        };
        Plan::new(about, changes, Vec::new(), Vec::new(), "2030-01-01T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn what_others_did_meanwhile_is_no_other_plan() {
        let made = plan(vec![change("a", Action::Update, "x")]);
        let mut later = plan(vec![change("a", Action::Update, "x"), change("b", Action::Keep, "y")]);
        later.changes.push(change("c", Action::Past, "z"));
        later.changes[0].place = Some(super::super::DeclaredAt { file: "a.yaml".into(), line: 7 });
        later.ledger.seq = 12;
        later.manifests = Digest::of(b"b");
        later.made = "2031-01-01T00:00:00Z".parse().unwrap();
        later.left_out = vec![Address::new("segments", "d")];
        assert_eq!(made.digest(), later.digest());
    }

    #[test]
    fn whatever_is_done_otherwise_is_another_plan() {
        let made = || plan(vec![change("a", Action::Update, "x")]);
        let other = |edit: &dyn Fn(&mut Plan)| {
            let mut other = made();
            edit(&mut other);
            assert_ne!(other.digest(), made().digest());
            let moved = moved(&made().approval().changes, &other.approval().changes);
            moved.iter().map(|(address, difference)| difference.words(address)).collect::<Vec<_>>()
        };
        assert_eq!(other(&|plan| plan.target = "staging".into()), Vec::<String>::new());
        assert_eq!(other(&|plan| plan.choice.only = vec!["segments/a".into()]), Vec::<String>::new());
        assert_eq!(other(&|plan| plan.basis = Basis::Ledger), Vec::<String>::new());
        let desired = json!({"tag": "y"});
        assert_eq!(
            other(&|plan| plan.changes[0].desired = Some(desired.clone().into())),
            ["segments/a changed in the files"]
        );
        assert_eq!(
            other(&|plan| plan.changes[0].live = Some(desired.clone().into())),
            ["segments/a was changed on the service"]
        );
        assert_eq!(other(&|plan| plan.changes[0].id = None), ["segments/a was changed on the service"]);
        assert_eq!(
            other(&|plan| plan.changes[0].action = Action::Replace),
            ["segments/a is planned differently now: to replace instead of to update"]
        );
        assert_eq!(other(&|plan| plan.changes[0].broadcast = true), ["segments/a is planned differently now"]);
        assert_eq!(other(&|plan| plan.changes.push(change("b", Action::Delete, ""))), ["segments/b is new: to delete"]);
        assert_eq!(other(&|plan| plan.changes.clear()), ["segments/a is no longer in the plan: it was to update"]);
    }

    #[test]
    fn a_change_is_read_as_it_was_written() {
        let [one] = &plan(vec![change("a", Action::Replace, "x")]).approval().changes[..] else { panic!("one change") };
        let read = |word: &str| Approved::read("segments/a", "±", word);
        assert_eq!(read(&one.word()).as_ref(), Some(one));
        assert_eq!(read(&one.word()[1..]), None);
        assert_eq!(read(&one.word().replace(|c: char| c.is_ascii_digit(), "é")), None);
        assert_eq!(Approved::read("segments/a", "?", &one.word()), None);
    }
}
