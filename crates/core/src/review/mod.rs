//! What people should know of a plan, worked out from its data alone: who is meant and how that changes, and what a spec
//! says as the resource that it is. Every output form shows the same facts.

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

pub use audience::{Mark, Marked, Who};
pub use impact::{
    AudienceChange, ChangedRecipients, CountedAudience, EACH_DEVICE, FieldChange, MessageCause, MessageChange,
    MessageClass, MessageFate, MessageGroup, NewHost, Recipients, TextChange, VerdictSentence,
};
pub use pairs::{Pair, pairs};
pub use renamed::{RenamedVariable, renamed_variables, with_renamed};
pub use times::BothTimes;

/// What the service has, or what it will have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Before,
    After,
}

/// A plan with its specs as resources.
#[derive(Debug)]
pub struct Review<'p> {
    pub plan: &'p Plan,
    /// By the keys of all segments: the places of their changes in the plan.
    segments: HashMap<&'p str, Sides<usize>>,
    /// The places of earlier versions of segments by their ids. Some resources still point at them.
    outdated: HashMap<&'p str, usize>,
    /// Segments of ours by their ids.
    ids: BTreeMap<&'p str, &'p Change>,
    /// By the key of a segment: the changes whose audiences name it, before or after.
    users: BTreeMap<&'p str, Vec<&'p Change>>,
    /// The segments that others are in than before, or may be: by themselves, or through one that they name.
    moved: BTreeSet<&'p str>,
    /// The tags and channels that the plan gives or takes.
    regroupings: Regroupings<'p>,
    /// The criteria of segments that mean other people after the plan, because of that.
    regrouped: HashMap<&'p str, At<Selector>>,
    /// The channels that the plan installs or uninstalls.
    departed: Vec<Departed<'p>>,
    /// By the place of a change in the plan.
    known: All,
    impact: OnceLock<Vec<MessageChange>>,
    used_hosts: impact::UsedHosts,
}

/// What there may be of each side.
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

/// What was found out of a change. Several forms and parts of them ask for it, and it takes a while.
#[derive(Debug, Default)]
struct ChangeFacts {
    before: OfSide,
    after: OfSide,
    effects: OnceLock<Vec<Option<Relation>>>,
    who: OnceLock<Vec<Who>>,
}

/// What was found out of all changes. To let go of that takes a while too.
#[derive(Debug, Default)]
struct All(Vec<ChangeFacts>);

impl Drop for All {
    fn drop(&mut self) {
        cores::let_go(mem::take(&mut self.0));
    }
}

/// What was found out of a side of a change.
#[derive(Debug, Default)]
struct OfSide {
    resource: OnceLock<Option<Box<dyn Spec>>>,
    times: OnceLock<Vec<Times>>,
    /// Who is in a segment, and that in words. Whoever names it asks for the same.
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
    /// For whoever asks nothing of it: a plan that changes nothing is shown without a look at who is meant.
    pub fn unread(plan: &'p Plan) -> Self {
        let (segments, ids, users) = (HashMap::new(), BTreeMap::new(), BTreeMap::new());
        Self {
            plan,
            segments,
            outdated: HashMap::new(),
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

    /// Reads a plan without what it changes of the tags and channels of people: audiences mean what they say.
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
        Self { segments, outdated, ids, users, known: All(known), ..Self::unread(plan) }
    }

    /// Finds what the conditions of segments mean once the plan has changed tags and channels.
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

    /// Whether a change goes on pointing at the old version of a segment that the plan replaces.
    fn holds_old(&self, change: &Change, segment: &str) -> bool {
        let place = self.segments.get(segment).and_then(|sides| sides.of(Side::After));
        change.action == Action::Keep && place.is_some_and(|place| self.plan.changes[*place].action == Action::Replace)
    }

    /// What is known of a change of this plan.
    fn known(&self, change: &Change) -> Option<&ChangeFacts> {
        self.known.0.get(self.plan.changes.element_offset(change)?)
    }

    /// What a side of a change says as the resource that it is, where there is one. It is read once.
    fn of_resource<T>(&self, change: &Change, side: Side, tell: impl FnOnce(&dyn Spec) -> T) -> Option<T> {
        match self.known(change) {
            Some(known) => known.of(side).read(change, side).map(tell),
            None => resource(change, side).as_deref().map(tell),
        }
    }

    /// Those whose audiences name a segment, before or after.
    pub fn users(&self, segment: &str) -> &[&'p Change] {
        self.users.get(segment).map(Vec::as_slice).unwrap_or_default()
    }

    /// The criteria of a segment that the plan knows.
    pub fn segment(&self, side: Side, reference: &SegmentRef) -> Option<&Selector> {
        let (side, key) = self.meant_by(side, reference)?;
        self.meaning_of(side, key).map(|(_, criteria)| &criteria.value)
    }

    /// The side and the key of the segment that a reference means.
    fn meant_by<'r>(&'r self, side: Side, reference: &'r SegmentRef) -> Option<(Side, &'r str)> {
        match reference {
            SegmentRef::Key(key) => Some((side, key.as_str())),
            SegmentRef::Id(id) => {
                let change = self.ids.get(id.as_str())?;
                // One that is replaced has another id from then on.
                let kept = change.action != Action::Replace;
                Some((if kept { side } else { Side::Before }, change.address.key.as_str()))
            }
        }
    }

    /// The criteria of a segment as they are written.
    fn criteria(&self, side: Side, key: &str) -> Option<&Selector> {
        self.known_segment(side, key).map(|(_, criteria)| &criteria.value)
    }

    /// What is known of a side of a segment, and the criteria that it comes down to on that side.
    fn meaning_of(&self, side: Side, key: &str) -> Option<(&OfSide, &At<Selector>)> {
        let (known, criteria) = self.known_segment(side, key)?;
        Some((known, self.regrouped.get(key).filter(|_| side == Side::After).unwrap_or(criteria)))
    }

    /// What is known of a side of a segment, and its criteria.
    fn known_segment(&self, side: Side, key: &str) -> Option<(&OfSide, &At<Selector>)> {
        let place = *self.segments.get(key)?.of(side)?;
        let known = self.known.0[place].of(side);
        let segment = of_kind::<Segment>(known.read(&self.plan.changes[place], side)?)?;
        Some((known, &segment.criteria))
    }
}

impl OfSide {
    /// The resource, where there is one.
    fn read(&self, change: &Change, side: Side) -> Option<&dyn Spec> {
        self.resource.get_or_init(|| resource(change, side)).as_deref()
    }
}

/// What a change starts from: what the service has, or what is remembered where it does not tell. What is made, be it once more,
/// starts from nothing.
pub fn before(change: &Change) -> Option<&Value> {
    start(change).map(|spec| &**spec)
}

pub fn start(change: &Change) -> Option<&Shared> {
    let remembered = change.ledger.as_ref().filter(|_| change.action != Action::Create);
    change.live.as_ref().or(remembered)
}

/// Whether a change is new and left out of the plan: it does not come.
pub(crate) fn is_new_and_left_out(change: &Change) -> bool {
    change.action == Action::Keep && start(change).is_none()
}

/// What a change leads to.
pub fn after(change: &Change) -> Option<&Value> {
    end(change).map(|spec| &**spec)
}

pub fn end(change: &Change) -> Option<&Shared> {
    match change.action {
        Action::Delete => None,
        // What is left out of a plan stays as it is, whatever the files say.
        Action::Keep => start(change).or(change.desired.as_ref()),
        _ if change.is_held() => start(change),
        _ => change.desired.as_ref(),
    }
}

/// A side of a change as the resource that it is; `None` where there is nothing, or but a part of a resource.
pub fn resource(change: &Change, side: Side) -> Option<Box<dyn Spec>> {
    let spec = match side {
        Side::Before => before(change),
        Side::After => after(change),
    };
    // A part is no resource of its kind, and to find that out by reading it takes long.
    if change.address.part().is_some() {
        return None;
    }
    kinds::api(&change.address).read(spec?)
}
