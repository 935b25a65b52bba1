//! Recipients of a message, before and after.

use pushplan_model::audience::{self, Answer, Audience, ExampleDevice, Relation, everyone, nobody};
use pushplan_model::kinds::{self, Parts, Role, Spec, remote};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_model::nouns::device::DeviceTypes;
use pushplan_model::source::Span;

use super::{AudienceChange, MessageFate};
use crate::plan::Change;
use crate::review::{Mark, Review, Side, start};

/// The maximal depth of nested segments, and the maximal number of parts of an audience, in the search for freed
/// people.
const DEEPEST: usize = 60;
const LARGEST: usize = 1_000;

/// Whether people join who were excluded before.
#[derive(Debug, PartialEq, Eq)]
enum Freed {
    Nobody,
    /// An example of such a device.
    Device(ExampleDevice),
    /// It is too complex to decide.
    Unknown,
}

impl Review<'_> {
    /// Whether a change names a segment whose members change, directly or through other segments, or a tag or a named
    /// user whose members the plan changes.
    pub(super) fn names_moved(&self, change: &Change) -> bool {
        let audiences = kinds::api(&change.address).audiences();
        let mut specs = start(change).into_iter().chain(&change.desired);
        let is_moved = |key: &&str| self.moved.contains(key) && !self.holds_old(change, key);
        specs.any(|spec| remote::named(audiences, spec).iter().any(&is_moved))
            || self.is_regrouped(change)
            || self.names_outdated(change)
            || !self.departed_from(change).is_empty()
    }

    /// The change of the audience of a change's messages.
    pub(super) fn audience_change(&self, change: &Change, fate: MessageFate) -> AudienceChange {
        let relation = self.effects(change).first().cloned().flatten().filter(|_| fate == MessageFate::Changed);
        let side = if fate == MessageFate::Cancelled { Side::Before } else { Side::After };
        let is_triggered = self.set_off(change, side).is_some();
        let words = self.of_audience(change, side, |selector| {
            let words = self.words(side, change, selector);
            match is_triggered && selector.value != Selector::Triggered {
                true => format!("{}, limited to {words}", audience::words(&Selector::Triggered)),
                false => words,
            }
        });
        let is_narrower = matches!(
            relation,
            Some(Relation::Narrower { .. } | Relation::Disjoint { .. } | Relation::Different { .. })
        );
        let is_wider =
            matches!(relation, Some(Relation::Broader { .. } | Relation::Disjoint { .. } | Relation::Different { .. }));
        let freed = if is_wider && self.is_loosened(change) { self.freed(change) } else { Freed::Nobody };
        let is_own = (is_narrower || is_wider) && !self.is_written_alike(change);
        AudienceChange {
            words: words.unwrap_or_default(),
            everyone: fate != MessageFate::Cancelled && self.is_everyone(change),
            nobody: is_narrower && self.is_nobody(change),
            is_own,
            edit: if is_own { self.own_edit(change) } else { String::new() },
            is_loosened: freed != Freed::Nobody,
            is_example_freed: matches!(freed, Freed::Device(_)),
            relation: match freed {
                Freed::Device(device) => relation.map(|relation| relation.joined_by(device)),
                Freed::Nobody | Freed::Unknown => relation,
            },
        }
    }

    /// The added and removed lines of a change's own audience.
    fn own_edit(&self, change: &Change) -> String {
        let who = self.who(change);
        let lines = who.iter().flat_map(|who| &who.tree).filter(|line| line.mark != Mark::Same);
        lines.map(|line| format!("{:?} {}\n", line.mark, line.line.text)).collect()
    }

    /// Calls a function with the audience of a change's messages on one side.
    pub(in crate::review) fn of_audience<T>(
        &self,
        change: &Change,
        side: Side,
        tell: impl FnOnce(&At<Selector>) -> T,
    ) -> Option<T> {
        let key = At::new(change.address.key.clone(), Span::NONE);
        self.of_resource(change, side, |spec: &dyn Spec| {
            let mut parts = Parts::new(&key);
            spec.parts(&mut parts);
            // A pipeline's own audience is the device that triggers it.
            let condition = parts.audiences.iter().find(|audience| audience.role == Role::Condition);
            let own = condition.or(parts.audiences.iter().find(|audience| audience.role != Role::Criteria))?;
            let outdated = self.with_outdated(change, side, &own.selector.value);
            let outdated = outdated.map(|selector| At::new(selector, own.selector.span));
            Some(tell(outdated.as_ref().unwrap_or(own.selector)))
        })
        .flatten()
    }

    fn is_everyone(&self, change: &Change) -> bool {
        // Only those who trigger it get the message of a pipeline.
        if self.set_off(change, Side::After).is_some() {
            return false;
        }
        let is_everyone = |selector: &At<Selector>| match &selector.value {
            Selector::All => true,
            Selector::And(_) | Selector::Or(_) | Selector::Not(_) | Selector::Segment(_) => {
                matches!(everyone(&self.as_written(Side::After, selector)), Answer::Yes(()))
            }
            _ => false,
        };
        self.of_audience(change, Side::After, is_everyone).unwrap_or(false)
    }

    fn is_nobody(&self, change: &Change) -> bool {
        let is_nobody =
            |selector: &At<Selector>| matches!(nobody(&self.as_written(Side::After, selector)), Answer::Yes(_));
        self.of_audience(change, Side::After, is_nobody).unwrap_or(false)
    }

    /// Whether an exclusion was removed or excludes fewer people: a segment that it excludes has lost members, or a
    /// condition under a `not` was removed.
    fn is_loosened(&self, change: &Change) -> bool {
        let excluded = |side: Side| {
            let mut found = Vec::new();
            self.of_audience(change, side, |selector| self.excluded(side, selector, false, &mut found));
            found
        };
        let after = excluded(Side::After);
        !self.shrunk_exclusions(change).is_empty()
            || excluded(Side::Before).iter().any(|condition| !after.contains(condition))
    }

    /// A device that was excluded, and that gets the messages of a change from now on.
    fn freed(&self, change: &Change) -> Freed {
        let plain = |side: Side, condition: Option<bool>| {
            self.of_audience(change, side, |selector| self.plain(side, selector, condition, DEEPEST, &mut 0)).flatten()
        };
        // The people who would have got it before without any exclusion.
        let included = plain(Side::Before, Some(false));
        let Some((after, included)) = plain(Side::After, None).zip(included) else { return Freed::Unknown };
        let both = Selector::And([after, included].map(|selector| At::new(selector, Span::NONE)).into());
        let both = Audience::of(&both, |_| None);
        let (devices, is_local) = self.devices(change, Side::After).unwrap_or_default();
        let both = both.reached(devices.as_ref(), is_local);
        let before = self.audience_with(change, Side::Before, |role| matches!(role, Role::Push | Role::Condition));
        let Some(before) = before else { return Freed::Unknown };
        match audience::compare(&before, &both) {
            Relation::TooComplex => Freed::Unknown,
            relation => relation.joins().cloned().map_or(Freed::Nobody, Freed::Device),
        }
    }

    /// An audience with its segments replaced by their criteria. With `is_excluding`, which tells whether it is in an
    /// exclusion, its exclusions are left out.
    fn plain(
        &self,
        side: Side,
        selector: &Selector,
        is_excluding: Option<bool>,
        depth: usize,
        size: &mut usize,
    ) -> Option<Selector> {
        *size += 1;
        if depth == 0 || *size > LARGEST {
            return None;
        }
        let mut member = |member: &At<Selector>, is_excluding: Option<bool>| {
            let plain = self.plain(side, &member.value, is_excluding, depth - 1, size)?;
            Some(At::new(plain, member.span))
        };
        let opened = |reference: &SegmentRef| self.segment(side, reference);
        Some(match selector {
            Selector::And(members) => {
                Selector::And(members.iter().map(|one| member(one, is_excluding)).collect::<Option<_>>()?)
            }
            Selector::Or(members) => {
                Selector::Or(members.iter().map(|one| member(one, is_excluding)).collect::<Option<_>>()?)
            }
            Selector::Not(inner) => Selector::Not(Box::new(member(inner, is_excluding.map(|excluding| !excluding))?)),
            Selector::Segment(reference) if opened(&reference.value).is_some() => {
                self.plain(side, opened(&reference.value)?, is_excluding, depth - 1, size)?
            }
            _ if is_excluding == Some(true) => Selector::Not(Box::new(At::new(Selector::All, Span::NONE))),
            single => {
                let rewritten = self.regroupings.rewritten(single).filter(|_| side == Side::After);
                rewritten.unwrap_or_else(|| single.clone())
            }
        })
    }

    /// The device types of a change's messages, and whether these are sent in recipients' local time.
    fn devices(&self, change: &Change, side: Side) -> Option<(Option<DeviceTypes>, bool)> {
        let key = At::new(change.address.key.clone(), Span::NONE);
        self.of_resource(change, side, |spec: &dyn Spec| {
            let mut parts = Parts::new(&key);
            spec.parts(&mut parts);
            let own = parts.audiences.iter().find(|audience| audience.role == Role::Push)?;
            Some((own.devices.map(|devices| devices.value.clone()), parts.is_local()))
        })
        .flatten()
    }

    /// The segments that the audience of a change excludes and that have lost members.
    pub(super) fn shrunk_exclusions(&self, change: &Change) -> Vec<String> {
        let mut named = Vec::new();
        self.of_audience(change, Side::Before, |selector| self.excluded_segments(selector, false, &mut named));
        let has_shrunk = |key: &String| {
            let place = self.segments.get(key.as_str()).and_then(|sides| sides.of(Side::Before));
            let effects = place.map(|place| self.effects(&self.plan.changes[*place]));
            effects.is_some_and(|effects| effects.iter().flatten().any(|relation| relation.leaves().is_some()))
        };
        named.retain(has_shrunk);
        named
    }

    /// The segments under a `not`, including nested ones.
    fn excluded_segments(&self, selector: &Selector, is_excluding: bool, found: &mut Vec<String>) {
        match selector {
            Selector::Not(inner) => self.excluded_segments(inner, !is_excluding, found),
            Selector::And(members) | Selector::Or(members) => {
                members.iter().for_each(|member| self.excluded_segments(member, is_excluding, found));
            }
            Selector::Segment(reference) => {
                let Some((side, key)) = self.meant_by(Side::Before, reference) else { return };
                if is_excluding && !found.iter().any(|other| other == key) {
                    found.push(key.to_owned());
                }
                if let Some(criteria) = self.criteria(side, key) {
                    self.excluded_segments(criteria, is_excluding, found);
                }
            }
            _ => {}
        }
    }

    /// The conditions that exclude people, including those of nested segments.
    fn excluded(&self, side: Side, selector: &Selector, is_excluding: bool, found: &mut Vec<Selector>) {
        match selector {
            Selector::Not(inner) => self.excluded(side, inner, !is_excluding, found),
            Selector::And(members) | Selector::Or(members) => {
                members.iter().for_each(|member| self.excluded(side, member, is_excluding, found));
            }
            Selector::Segment(reference) => match self.segment(side, reference) {
                Some(criteria) => self.excluded(side, criteria, is_excluding, found),
                None if is_excluding => found.push(selector.clone()),
                None => {}
            },
            _ if is_excluding => found.push(selector.clone()),
            _ => {}
        }
    }
}
