//! Facts about a plan for reviewers, computed only from its data: audiences and their changes, and specs as resources.
//! All output forms show the same facts.

mod audience;
mod departed;
pub mod fields;
mod impact;
mod members;
mod messages;
mod outdated;
mod pairs;
pub mod prose;
mod renamed;
mod times;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem;
use std::sync::OnceLock;

use pushplan_model::audience::{Audience, Relation};
use pushplan_model::cores;
use pushplan_model::kinds::{self, Resource, Segment, Spec, of_kind, remote};
use pushplan_model::node::{At, Shared};
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_project::timing::Times;
use serde_json::Value;

use crate::plan::{Action, Change, Plan};

use departed::Departed;
use members::Regroupings;
use outdated::EarlierVersion;

pub use audience::{Mark, Marked, Who};
pub use impact::{
    AudienceChange, ChangedRecipients, CountedAudience, EACH_DEVICE, FieldChange, MessageCause, MessageChange,
    MessageClass, MessageFate, MessageGroup, NewHost, Recipients, TextChange, VariantShares, VerdictSentence,
};
pub use pairs::{Pair, pairs};
pub use renamed::{RenamedVariable, renamed_variables, with_renamed};
pub use times::BothTimes;

/// The state before or after a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Before,
    After,
}

/// A plan with its specs as resources.
#[derive(Debug)]
pub struct Review<'p> {
    pub plan: &'p Plan,
    /// The indexes of the changes of all segments, by key.
    segments: HashMap<&'p str, Sides<usize>>,
    /// The indexes of earlier versions of segments, by id. Some resources still refer to them.
    outdated: HashMap<&'p str, usize>,
    /// Those to which excluded resources still refer.
    earlier: HashMap<&'p str, EarlierVersion<'p>>,
    /// Managed segments, by id.
    ids: BTreeMap<&'p str, &'p Change>,
    /// The changes whose audiences name a segment before or after, by its key.
    users: BTreeMap<&'p str, Vec<&'p Change>>,
    /// The segments whose members change, or may change: directly, or through a segment that they name.
    moved: BTreeSet<&'p str>,
    /// The tags and channels that the plan adds or removes.
    regroupings: Regroupings<'p>,
    /// The criteria of segments whose members change because of that.
    regrouped: HashMap<&'p str, At<Selector>>,
    /// The channels that the plan installs or uninstalls.
    departed: Vec<Departed<'p>>,
    /// Facts about changes, by index.
    known: All,
    impact: OnceLock<Vec<MessageChange>>,
    used_hosts: impact::UsedHosts,
}

/// A value for each side, if it exists.
#[derive(Debug)]
struct Sides<T> {
    before: Option<T>,
    after: Option<T>,
}

impl<T> Default for Sides<T> {
    fn default() -> Self {
        Self { before: None, after: None }
    }
}

impl<T> Sides<T> {
    fn of(&self, side: Side) -> Option<&T> {
        match side {
            Side::Before => self.before.as_ref(),
            Side::After => self.after.as_ref(),
        }
    }
}

/// Cached facts about a change, which are slow to compute and used by several forms.
#[derive(Debug, Default)]
struct ChangeFacts {
    before: OfSide,
    after: OfSide,
    effects: OnceLock<Vec<Option<Relation>>>,
    who: OnceLock<Vec<Who>>,
}

/// The facts about all changes. Freeing their memory is slow too.
#[derive(Debug, Default)]
struct All(Vec<ChangeFacts>);

impl Drop for All {
    fn drop(&mut self) {
        cores::let_go(mem::take(&mut self.0));
    }
}

/// Cached facts about one side of a change.
#[derive(Debug, Default)]
struct OfSide {
    resource: OnceLock<Option<Box<dyn Spec>>>,
    times: OnceLock<Vec<Times>>,
    /// The members of a segment, also in words, shared by all its users.
    audience: OnceLock<Option<Audience>>,
    words: OnceLock<String>,
}

impl ChangeFacts {
    fn of(&self, side: Side) -> &OfSide {
        match side {
            Side::Before => &self.before,
            Side::After => &self.after,
        }
    }
}

impl<'p> Review<'p> {
    /// Creates a review without facts: for a plan without changes, which is shown without any audience.
    pub fn unread(plan: &'p Plan) -> Self {
        let (segments, ids, users) = (HashMap::new(), BTreeMap::new(), BTreeMap::new());
        Self {
            plan,
            segments,
            outdated: HashMap::new(),
            earlier: HashMap::new(),
            ids,
            users,
            moved: BTreeSet::new(),
            regroupings: Regroupings::default(),
            regrouped: HashMap::new(),
            departed: Vec::new(),
            known: All::default(),
            impact: OnceLock::new(),
            used_hosts: impact::UsedHosts::default(),
        }
    }

    pub fn of(plan: &'p Plan) -> Self {
        let mut review = Self::as_declared(plan);
        review.regroup();
        review.departed = Departed::all(plan);
        review.moved = review.moved();
        review
    }

    /// Reads a plan without its changes to tags and channels of people: audiences have the meaning of their text.
    pub fn as_declared(plan: &'p Plan) -> Self {
        let known: Vec<ChangeFacts> = plan.changes.iter().map(|_| ChangeFacts::default()).collect();
        let is_segment = |change: &&Change| *change.address.kind == *Segment::KEY;
        let places = plan.changes.iter().enumerate().filter(|(_, change)| is_segment(change));
        let read = cores::each_of(places.collect(), |(place, change)| {
            let is_there = |side| known[place].of(side).read(change, side).is_some();
            (place, change, is_there(Side::Before), is_there(Side::After))
        });
        let mut segments: HashMap<&str, Sides<usize>> = HashMap::with_capacity(read.len());
        let mut outdated: HashMap<&str, usize> = HashMap::new();
        for (place, change, before, after) in read {
            if let Some(id) = change.id.as_deref().filter(|_| change.is_outdated()) {
                outdated.insert(id, place);
                continue;
            }
            let sides = segments.entry(&change.address.key).or_default();
            sides.before = before.then_some(place).or(sides.before);
            sides.after = after.then_some(place).or(sides.after);
        }
        for place in outdated.values() {
            let key = &*plan.changes[*place].address.key;
            segments.entry(key).or_insert(Sides { before: Some(*place), after: None });
        }
        let mut users: BTreeMap<&str, Vec<&Change>> = BTreeMap::new();
        let named = cores::each_of(plan.changes.iter().collect(), |change: &Change| {
            let audiences = kinds::api(&change.address).audiences();
            let specs = start(change).into_iter().chain(change.desired.as_ref());
            let specs = specs.filter(|spec| remote::may_name(audiences, spec));
            let mut named: Vec<&str> = specs.flat_map(|spec| remote::segments(audiences, spec)).collect();
            named.sort_unstable();
            named.dedup();
            named
        });
        for (change, named) in plan.changes.iter().zip(named) {
            named.into_iter().for_each(|key| users.entry(key).or_default().push(change));
        }
        let ids = plan.changes.iter().filter(is_segment).filter_map(|change| Some((change.id.as_deref()?, change)));
        let ids = ids.collect();
        let earlier = EarlierVersion::all(plan);
        Self { segments, outdated, earlier, ids, users, known: All(known), ..Self::unread(plan) }
    }

    /// Computes the meaning of the conditions in segments after the plan has changed tags and channels.
    fn regroup(&mut self) {
        let regroupings = Regroupings::of(self.plan);
        if regroupings.is_empty() {
            return;
        }
        let rewritten = |key: &'p str| {
            let (_, criteria) = self.known_segment(Side::After, key)?;
            Some((key, At::new(regroupings.rewritten(&criteria.value)?, criteria.span)))
        };
        self.regrouped = self.segments.keys().copied().filter_map(rewritten).collect();
        self.regroupings = regroupings;
    }

    fn moved(&self) -> BTreeSet<&'p str> {
        let keys = self.segments.keys().copied();
        let meant = |side: Side, key: &str| self.meaning_of(side, key).map(|(_, criteria)| &criteria.value);
        let mut open: Vec<&str> = keys.filter(|key| meant(Side::Before, key) != meant(Side::After, key)).collect();
        let mut moved = BTreeSet::new();
        while let Some(key) = open.pop() {
            if moved.insert(key) {
                let holds = |user: &&&Change| self.holds_old(user, key);
                let users = self.users(key).iter().filter(|user| *user.address.kind == *Segment::KEY && !holds(user));
                open.extend(users.map(|user| user.address.key.as_str()));
            }
        }
        moved
    }

    /// Whether a change still refers to the old version of a segment that the plan replaces.
    fn holds_old(&self, change: &Change, segment: &str) -> bool {
        let place = self.segments.get(segment).and_then(|sides| sides.of(Side::After));
        change.action == Action::Keep && place.is_some_and(|place| self.plan.changes[*place].action == Action::Replace)
    }

    /// The facts about a change of this plan.
    fn known(&self, change: &Change) -> Option<&ChangeFacts> {
        self.known.0.get(self.plan.changes.element_offset(change)?)
    }

    /// Calls a function with one side of a change as a resource, if it exists. It is parsed only once.
    fn of_resource<T>(&self, change: &Change, side: Side, tell: impl FnOnce(&dyn Spec) -> T) -> Option<T> {
        match self.known(change) {
            Some(known) => known.of(side).read(change, side).map(tell),
            None => resource(change, side).as_deref().map(tell),
        }
    }

    /// The changes whose audiences name a segment, before or after.
    pub fn users(&self, segment: &str) -> &[&'p Change] {
        self.users.get(segment).map(Vec::as_slice).unwrap_or_default()
    }

    /// The criteria of a segment in the plan.
    pub fn segment(&self, side: Side, reference: &SegmentRef) -> Option<&Selector> {
        let (side, key) = self.meant_by(side, reference)?;
        self.meaning_of(side, key).map(|(_, criteria)| &criteria.value)
    }

    /// The side and the key of the segment of a reference.
    fn meant_by<'r>(&'r self, side: Side, reference: &'r SegmentRef) -> Option<(Side, &'r str)> {
        match reference {
            SegmentRef::Key(key) => Some((side, key.as_str())),
            SegmentRef::Id(id) => {
                let change = self.ids.get(id.as_str())?;
                // A replaced one has another id after the plan.
                let kept = change.action != Action::Replace;
                Some((if kept { side } else { Side::Before }, change.address.key.as_str()))
            }
        }
    }

    /// The criteria of a segment, as declared.
    fn criteria(&self, side: Side, key: &str) -> Option<&Selector> {
        self.known_segment(side, key).map(|(_, criteria)| &criteria.value)
    }

    /// The facts about one side of a segment, and its effective criteria on that side.
    fn meaning_of(&self, side: Side, key: &str) -> Option<(&OfSide, &At<Selector>)> {
        let (known, criteria) = self.known_segment(side, key)?;
        Some((known, self.regrouped.get(key).filter(|_| side == Side::After).unwrap_or(criteria)))
    }

    /// The facts about one side of a segment, and its criteria.
    fn known_segment(&self, side: Side, key: &str) -> Option<(&OfSide, &At<Selector>)> {
        let place = *self.segments.get(key)?.of(side)?;
        let known = self.known.0[place].of(side);
        let segment = of_kind::<Segment>(known.read(&self.plan.changes[place], side)?)?;
        Some((known, &segment.criteria))
    }
}

impl OfSide {
    /// The resource, if it exists.
    fn read(&self, change: &Change, side: Side) -> Option<&dyn Spec> {
        self.resource.get_or_init(|| resource(change, side)).as_deref()
    }
}

/// The state before a change: the live state, or the applied state if the service does not show it. Empty for a
/// creation, even a repeated one.
pub fn before(change: &Change) -> Option<&Value> {
    start(change).map(|spec| &**spec)
}

pub fn start(change: &Change) -> Option<&Shared> {
    let remembered = change.ledger.as_ref().filter(|_| change.action != Action::Create);
    change.live.as_ref().or(remembered)
}

/// Whether a change is a creation that was excluded from the plan.
pub(crate) fn is_new_and_left_out(change: &Change) -> bool {
    change.action == Action::Keep && start(change).is_none()
}

/// The state after a change.
pub fn after(change: &Change) -> Option<&Value> {
    end(change).map(|spec| &**spec)
}

pub fn end(change: &Change) -> Option<&Shared> {
    match change.action {
        Action::Delete => None,
        // An excluded change leaves the state as it is, whatever the files declare.
        Action::Keep => start(change).or(change.desired.as_ref()),
        _ if change.is_held() => start(change),
        _ => change.desired.as_ref(),
    }
}

/// One side of a change as a resource; `None` if it does not exist, or is only a part of a resource.
pub fn resource(change: &Change, side: Side) -> Option<Box<dyn Spec>> {
    let spec = match side {
        Side::Before => before(change),
        Side::After => after(change),
    };
    // A part is no resource of its kind, and parsing it to find that out is slow.
    if change.address.part().is_some() {
        return None;
    }
    kinds::api(&change.address).read(spec?)
}
