//! Audiences before and after a plan, and their effect.

use std::borrow::Cow;

use pushplan_model::audience::{self, Audience, Relation, TreeLine};
use pushplan_model::kinds::{self, Parts, Resource, Role, Segment, Spec, remote};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_model::nouns::device::DeviceTypes;
use pushplan_model::source::Span;

use super::{ChangeFacts, OfSide, Review, Side, resource, start};
use crate::plan::{Change, Moved};

/// The audience of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// The new audience in a sentence, or the old one if it is deleted.
    pub words: String,
    /// The members, if the sentence only names segments.
    pub meaning: Option<String>,
    /// The audience as a tree, with marks for added and removed lines.
    pub tree: Vec<Marked>,
    /// Whether its text and device types are unchanged: only a segment in it changes.
    pub through: bool,
    /// The last applied audience, if both sides have changed since.
    pub last_applied: Option<String>,
    /// The effect of the change; `None` if there is nothing to compare.
    pub effect: Option<Relation>,
}

/// A line of a tree, and its mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    pub mark: Mark,
    pub line: TreeLine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Same,
    Comes,
    Goes,
}

impl Review<'_> {
    /// The audiences of a change, each compared with the previous one. The audience of a pipeline is everyone who
    /// triggers it and meets its condition. Without a condition, it is not shown.
    pub fn who(&self, change: &Change) -> Cow<'_, [Who]> {
        if !has_audience(change) {
            return Cow::Borrowed(&[]);
        }
        match self.known(change) {
            Some(known) => Cow::Borrowed(known.who.get_or_init(|| self.meant(change))),
            None => Cow::Owned(self.meant(change)),
        }
    }

    /// The effect of the change on each of these audiences; `None` if there is nothing to compare. Faster than
    /// describing them.
    pub fn effects(&self, change: &Change) -> Cow<'_, [Option<Relation>]> {
        if !has_audience(change) {
            return Cow::Borrowed(&[]);
        }
        let effects = || self.of_both(change, |old, new| self.compared(change, old, new));
        match self.known(change) {
            Some(known) => Cow::Borrowed(known.effects.get_or_init(effects)),
            None => Cow::Owned(effects()),
        }
    }

    fn compared(&self, change: &Change, old: &[Meant], new: &[Meant]) -> Vec<Option<Relation>> {
        let settled = self.is_settled(change);
        let compared = |at: usize| {
            let (old, new) = (old.get(at)?, new.get(at)?);
            // Equal texts without a changed segment need no proof.
            if settled && old == new {
                return Some(Relation::Same);
            }
            let (before, after) = (self.audience(Side::Before, change, old), self.audience(Side::After, change, new));
            Some(match audience::compare(&before, &after) {
                // A device that loses a tag by the plan may also have it for another reason.
                Relation::Disjoint { joins, leaves } if !self.regroupings.is_exact() => {
                    Relation::Different { joins, leaves }
                }
                relation => relation,
            })
        };
        (0..old.len().max(new.len())).map(compared).collect()
    }

    fn meant(&self, change: &Change) -> Vec<Who> {
        let effects = self.effects(change);
        let key = key(change);
        let applied = change.ledger.as_ref().filter(|_| change.moved == Some(Moved::Both));
        let applied = applied.and_then(|spec| kinds::api(&change.address).read(spec));
        let applied = meant(applied.as_deref(), &key);
        self.of_both(change, |old, new| {
            let last = |at: usize| {
                let (applied, ..) = applied.get(at).filter(|applied| Some(*applied) != old.get(at))?;
                Some(audience::words(applied))
            };
            let one = |(at, effect): (usize, &Option<Relation>)| {
                let who = self.one(change, old.get(at), new.get(at));
                let through = who.through && *effect != Some(Relation::Same);
                Who { through, last_applied: last(at), effect: effect.clone(), ..who }
            };
            effects.iter().enumerate().map(one).collect()
        })
    }

    /// Calls a function with the audiences of a change before and after.
    fn of_both<T>(&self, change: &Change, tell: impl FnOnce(&[Meant], &[Meant]) -> T) -> T {
        let key = key(change);
        match self.known(change) {
            Some(ChangeFacts { before, after, .. }) => {
                both_meant((before.read(change, Side::Before), after.read(change, Side::After)), &key, tell)
            }
            None => {
                let (before, after) = (resource(change, Side::Before), resource(change, Side::After));
                both_meant((before.as_deref(), after.as_deref()), &key, tell)
            }
        }
    }

    /// Whether everything that a change names has the same members on both sides.
    fn is_settled(&self, change: &Change) -> bool {
        if self.is_regrouped(change) || self.names_outdated(change) || !self.departed_from(change).is_empty() {
            return false;
        }
        let audiences = kinds::api(&change.address).audiences();
        let mut specs = start(change).into_iter().chain(&change.desired);
        specs.all(|spec| remote::named(audiences, spec).iter().all(|key| !self.moved.contains(key)))
    }

    /// Whether its audience names a tag or a named user whose members the plan changes.
    pub(super) fn is_regrouped(&self, change: &Change) -> bool {
        let is_it = |selector: &At<Selector>| !self.regroupings.within(selector).is_empty();
        !self.regroupings.is_empty() && self.of_audience(change, Side::After, is_it).unwrap_or(false)
    }

    /// One of the audiences, without its effect and its last applied version.
    fn one(&self, change: &Change, old: Option<&Meant>, new: Option<&Meant>) -> Who {
        let lines = |meant: Option<&Meant>| meant.map(|(selector, ..)| audience::tree(selector)).unwrap_or_default();
        let told = new.map(|new| (Side::After, new.0)).or(old.map(|old| (Side::Before, old.0)));
        Who {
            words: told.map(|(side, selector)| self.words(side, change, selector)).unwrap_or_default(),
            meaning: told.and_then(|(side, selector)| self.meaning(side, selector)),
            tree: match old.zip(new).filter(|(old, new)| old.0 == new.0) {
                Some((_, same)) => all(audience::tree(same.0), Mark::Same),
                None => marked(lines(old), lines(new)),
            },
            through: old.is_some() && old == new,
            last_applied: None,
            effect: None,
        }
    }

    /// The members of an audience that is a single segment.
    fn meaning(&self, side: Side, selector: &Selector) -> Option<String> {
        let Selector::Segment(reference) = selector else { return None };
        let (side, key) = self.meant_by(side, reference)?;
        self.known_segment(side, key).map(in_words)
    }

    pub(super) fn words(&self, side: Side, change: &Change, selector: &Selector) -> String {
        self.own(side, change, selector).map_or_else(|| audience::words(selector), in_words)
    }

    /// The facts about a segment, if it is the resource of the change and these are its criteria.
    fn own(&self, side: Side, change: &Change, selector: &Selector) -> Option<(&OfSide, &At<Selector>)> {
        let known = (*change.address.kind == *Segment::KEY).then(|| self.known_segment(side, &change.address.key));
        known.flatten().filter(|(_, criteria)| std::ptr::eq(&criteria.value, selector))
    }

    /// The members of an audience that is a single segment, if they do not depend on segments in it.
    pub(super) fn people(&self, side: Side, selector: &Selector) -> Option<&Audience> {
        let Selector::Segment(reference) = selector else { return None };
        let (side, key) = self.meant_by(side, reference)?;
        self.meaning_of(side, key).and_then(people)
    }

    /// The recipients: an audience with its segments on that side.
    pub(super) fn whole(&self, side: Side, change: &Change, selector: &Selector) -> Audience {
        self.audience(side, change, &(selector, None, false))
    }

    /// The possible members of an audience according to its text and that of its segments, whatever the plan does to
    /// tags.
    pub(super) fn as_written(&self, side: Side, selector: &Selector) -> Audience {
        let criteria = |reference: &SegmentRef| {
            let (side, key) = self.meant_by(side, reference)?;
            self.criteria(side, key)
        };
        Audience::of(selector, |reference| criteria(reference))
    }

    fn audience(&self, side: Side, change: &Change, (selector, devices, is_local): &Meant) -> Audience {
        let own = || {
            self.own(side, change, selector)?;
            self.meaning_of(side, &change.address.key).and_then(people)
        };
        let outdated = self.with_outdated(change, side, selector);
        let inlined = outdated.as_ref().unwrap_or(selector);
        let without = devices.and_then(|_| self.without_departed(change, side, inlined));
        let known = self.people(side, selector).or_else(own).filter(|_| outdated.is_none() && without.is_none());
        let selector = without.as_ref().unwrap_or(inlined);
        let rewritten = self.regroupings.rewritten(selector).filter(|_| side == Side::After);
        let selector = rewritten.as_ref().unwrap_or(selector);
        let whole = || Audience::of(selector, |reference: &SegmentRef| self.segment(side, reference));
        known.cloned().unwrap_or_else(whole).reached(*devices, *is_local)
    }
}

/// The members of a segment, computed once; `None` if it names others, whose members may differ between the sides.
fn people<'r>((known, criteria): (&'r OfSide, &At<Selector>)) -> Option<&'r Audience> {
    let audience = known.audience.get_or_init(|| {
        let mut is_whole = true;
        criteria.walk(&mut |selector| is_whole &= !matches!(selector.value, Selector::Segment(_)));
        is_whole.then(|| Audience::of(&criteria.value, |_| None))
    });
    audience.as_ref()
}

/// The members of a segment, in a sentence.
fn in_words((known, criteria): (&OfSide, &At<Selector>)) -> String {
    known.words.get_or_init(|| audience::words(&criteria.value)).clone()
}

/// An audience, its device types, and whether its messages are sent in recipients' local time.
type Meant<'s> = (&'s Selector, Option<&'s DeviceTypes>, bool);

fn key(change: &Change) -> At<String> {
    At::new(change.address.key.clone(), Span::NONE)
}

/// The audiences of a resource, if it has any. The audience of a pipeline is everyone who triggers it.
fn meant<'s>(spec: Option<&'s dyn Spec>, key: &'s At<String>) -> Vec<Meant<'s>> {
    let Some(spec) = spec else { return Vec::new() };
    let mut parts = Parts::new(key);
    spec.parts(&mut parts);
    let own = parts.audiences.iter().filter(|audience| audience.role != Role::Pipeline);
    own.map(|one| (&one.selector.value, one.devices.map(|devices| &devices.value), parts.is_local())).collect()
}

/// Calls a function with the audiences of a resource before and after. If only one side of a pipeline has a condition,
/// the other one has everyone who triggers it.
fn both_meant<T>(
    (before, after): (Option<&dyn Spec>, Option<&dyn Spec>),
    key: &At<String>,
    tell: impl FnOnce(&[Meant], &[Meant]) -> T,
) -> T {
    let (mut old, mut new) = (meant(before, key), meant(after, key));
    if before.and(after).is_some() && old.is_empty() != new.is_empty() {
        let missing = if old.is_empty() { &mut old } else { &mut new };
        missing.push((&Selector::All, None, false));
    }
    tell(&old, &new)
}

/// Whether resources of this kind can have an audience that is shown.
fn has_audience(change: &Change) -> bool {
    let kind = kinds::of(&change.address);
    !kind.api.audiences().is_empty() || kind.rules.contains(&"condition")
}

/// A tree with the same mark on all lines.
fn all(lines: Vec<TreeLine>, mark: Mark) -> Vec<Marked> {
    lines.into_iter().map(|line| Marked { mark, line }).collect()
}

/// A list of conditions of which one remains, or one condition that becomes part of a list: that one is unchanged.
fn regrouped(old: &[TreeLine], new: &[TreeLine]) -> Option<Vec<Marked>> {
    let (list, one, mark) = match (old, new) {
        (list, [one]) if list.len() > 1 => (list, one, Mark::Goes),
        ([one], list) if list.len() > 1 => (list, one, Mark::Comes),
        _ => return None,
    };
    let (join, members) = list.split_first()?;
    let is_list = join.depth == one.depth && members.iter().all(|member| member.depth > join.depth);
    let is_kept = |member: &TreeLine| member.depth == join.depth + 1 && member.text == one.text;
    if !is_list || !["any of", "all of"].contains(&join.text.as_str()) || !members.iter().any(is_kept) {
        return None;
    }
    let marked = |line: &TreeLine| Marked { mark: if is_kept(line) { Mark::Same } else { mark }, line: line.clone() };
    let join = Marked { mark: Mark::Same, line: join.clone() };
    Some(std::iter::once(join).chain(members.iter().map(marked)).collect())
}

/// Merges two trees. Unchanged lines are those of the longest common subsequence.
fn marked(old: Vec<TreeLine>, new: Vec<TreeLine>) -> Vec<Marked> {
    if old.is_empty() {
        return all(new, Mark::Comes);
    }
    if new.is_empty() {
        return all(old, Mark::Goes);
    }
    let mut found = Vec::new();
    for op in similar::capture_diff_slices(similar::Algorithm::Patience, &old, &new) {
        let (tag, before, after) = op.as_tag_tuple();
        if let Some(lines) = regrouped(&old[before.clone()], &new[after.clone()]) {
            found.extend(lines);
            continue;
        }
        let goes = tag != similar::DiffTag::Equal;
        if goes {
            found.extend(old[before].iter().map(|line| Marked { mark: Mark::Goes, line: line.clone() }));
        }
        let mark = if goes { Mark::Comes } else { Mark::Same };
        found.extend(new[after].iter().map(|line| Marked { mark, line: line.clone() }));
    }
    found
}
