//! Which changes of a plan a message changes because of.

use std::collections::BTreeSet;

use pushplan_model::address::Address;
use pushplan_model::audience::{self, Audience, Relation};
use pushplan_model::kinds::{self, Resource, Segment, Template, remote};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_model::text::quoted;

use super::origins::filled_before;
use super::{AudienceChange, MessageFate, TextChange};
use crate::plan::{Action, Change, DeclaredAt, Moved};
use crate::review::members::Regrouping;
use crate::review::{Mark, Review, Side, start};

/// A change that a message changes because of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageCause {
    pub address: Address,
    /// What writes the value that changes, if the message's own declaration does not: `var.discount`, `overlays.eu`.
    pub origin: Option<String>,
    pub place: Option<DeclaredAt>,
    /// What it changes: `no longer contains "tag unsubscribed"`. Empty for the message's own resource.
    pub words: String,
    /// Whether it is a segment that the message excludes, and that has lost people.
    pub is_exclusion: bool,
}

impl MessageCause {
    pub(super) fn of(address: Address, place: Option<DeclaredAt>, words: String) -> Self {
        Self { address, origin: None, place, words, is_exclusion: false }
    }

    /// Whether two messages change because of the same.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.name() == other.name() && self.words == other.words
    }

    /// What it is called: its address, or what writes the value.
    pub fn name(&self) -> String {
        self.origin.clone().unwrap_or_else(|| self.address.to_string())
    }
}

impl<'p> Review<'p> {
    /// The changes that a message changes because of, its own first.
    pub(super) fn causes(
        &self,
        change: &Change,
        fate: MessageFate,
        reached: &AudienceChange,
        text: &TextChange,
    ) -> Vec<MessageCause> {
        let mut causes = Vec::new();
        let is_own =
            change.action != Action::Keep && (fate != MessageFate::Changed || start(change) != change.desired.as_ref());
        let templates = if text.is_changed { self.changed_templates(change) } else { Vec::new() };
        let is_through = !templates.is_empty() || self.is_through_segments(change, reached);
        let elsewhere = self.elsewhere(change);
        let is_elsewhere = fate == MessageFate::Changed && elsewhere.are_all;
        if is_own
            && !is_elsewhere
            && (!is_through || fate != MessageFate::Changed || !self.is_only_through(change, text, &templates))
        {
            // No line of a file is the cause of what a person changed on the service.
            let (place, words) = match change.moved {
                Some(Moved::Service) => (None, "was changed on the service since the last apply"),
                Some(Moved::Removed) => (None, "was deleted on the service since the last apply"),
                _ => (change.place.clone(), ""),
            };
            causes.push(MessageCause::of(change.address.clone(), place, words.to_owned()));
        }
        let of_template = |template: &Change| {
            MessageCause::of(template.address.clone(), template.place.clone(), "changes".to_owned())
        };
        causes.extend(templates.into_iter().map(of_template));
        match fate == MessageFate::Changed && !elsewhere.causes.is_empty() {
            true => causes.extend(elsewhere.causes),
            false => causes.extend(self.changed_variable(change, text)),
        }
        if reached.relation.as_ref().is_some_and(|relation| *relation != Relation::Same) {
            let segments = self.decisive_segments(change);
            causes.extend(self.outdated_causes(change, &segments));
            causes.extend(segments.into_iter().map(|segment| self.of_segment(segment, change)));
            causes.extend(self.regrouped(change));
            causes.extend(self.departures(change));
        }
        causes
    }

    /// The variable whose other value is all that a text changes by.
    fn changed_variable(&self, change: &Change, text: &TextChange) -> Option<MessageCause> {
        let (old, new) = (text.old.as_deref()?, text.new.as_deref()?);
        let names = &self.plan.told.of.get(&change.address)?.variables;
        names.iter().find_map(|name| {
            let filled = self.plan.told.variables.get(name)?;
            let was = filled_before(&filled.value, old, new)?;
            let words = format!("is {} instead of {}", quoted(&filled.value), quoted(was));
            let cause = MessageCause::of(change.address.clone(), filled.place.clone(), words);
            Some(MessageCause { origin: Some(format!("var.{name}")), ..cause })
        })
    }

    /// Whether the audience changes because of segments that it names.
    fn is_through_segments(&self, change: &Change, reached: &AudienceChange) -> bool {
        reached.relation.is_some() && self.names_moved(change)
    }

    /// Whether nothing of the resource itself was edited: its audience is written as before, and its text comes from templates.
    fn is_only_through(&self, change: &Change, text: &TextChange, templates: &[&Change]) -> bool {
        let times = self.both_times(change);
        let is_timed_alike = times.each().all(|(was, is)| was.map(|was| was.when) == is.map(|is| is.when));
        let (was, is) = self.both_set_off(change);
        self.is_written_alike(change) && is_timed_alike && was == is && (!text.is_changed || !templates.is_empty())
    }

    /// The templates of a change that this plan changes.
    fn changed_templates(&self, change: &Change) -> Vec<&'p Change> {
        let Some(aside) = self.plan.told.of.get(&change.address) else { return Vec::new() };
        let addresses: Vec<Address> =
            aside.templates.iter().map(|key| Address::new(Template::KEY, key.clone())).collect();
        let is_one = |other: &&Change| other.action != Action::Keep && addresses.contains(&other.address);
        if addresses.is_empty() { Vec::new() } else { self.plan.changes.iter().filter(is_one).collect() }
    }

    /// The segments that a change names, directly or through others.
    fn named_segments(&self, change: &Change) -> BTreeSet<String> {
        let audiences = kinds::api(&change.address).audiences();
        let specs = start(change).into_iter().chain(&change.desired);
        let mut open: Vec<String> = specs.flat_map(|spec| remote::named(audiences, spec)).map(str::to_owned).collect();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        while let Some(key) = open.pop() {
            if !seen.insert(key.clone()) {
                continue;
            }
            for side in [Side::Before, Side::After] {
                let Some((_, criteria)) = self.known_segment(side, &key) else { continue };
                criteria.walk(&mut |selector| {
                    if let Selector::Segment(reference) = &selector.value
                        && let SegmentRef::Key(key) = &reference.value
                    {
                        open.push(key.clone());
                    }
                });
            }
        }
        seen
    }

    /// The segments that a change names, directly or through others, whose own criteria change.
    fn moved_segments(&self, change: &Change) -> Vec<&'p Change> {
        let named = self.named_segments(change);
        let is_moved = |key: &&String| self.criteria(Side::Before, key) != self.criteria(Side::After, key);
        let places = named.iter().filter(is_moved).filter_map(|key| {
            let sides = self.segments.get(key.as_str())?;
            sides.of(Side::After).or(sides.of(Side::Before)).copied()
        });
        places.map(|place| &self.plan.changes[place]).collect()
    }

    /// The segments of which the message points at an earlier version.
    fn outdated_causes(&self, change: &Change, moved: &[&Change]) -> Vec<MessageCause> {
        let is_moved = |key: &str| moved.iter().any(|segment| *segment.address.key == *key);
        let keys = self.outdated_keys(change).into_iter().filter(|key| !is_moved(key));
        let cause = |key: &str| {
            let place =
                self.segments.get(key).and_then(|sides| self.plan.changes[*sides.of(Side::After)?].place.clone());
            MessageCause::of(Address::new(Segment::KEY, key), place, "was changed by an earlier apply".to_owned())
        };
        keys.map(cause).collect()
    }

    /// The moved segments without which other people would get the message. If each of them makes no difference by itself, and
    /// the audience is written as before, all of them together do.
    fn decisive_segments(&self, change: &Change) -> Vec<&'p Change> {
        let moved = self.moved_segments(change);
        let is_written_alike = self.is_written_alike(change);
        if moved.is_empty() || (is_written_alike && moved.len() == 1) {
            return moved;
        }
        let decides = |segment: &&&Change| {
            let with = |is_old: bool| {
                self.of_audience(change, Side::After, |selector| {
                    Audience::of(selector, |reference| {
                        let (side, key) = self.meant_by(Side::After, reference)?;
                        let side = if is_old && *key == *segment.address.key { Side::Before } else { side };
                        self.segment(side, reference)
                    })
                })
            };
            let is_on = |side| self.criteria(side, &segment.address.key).is_some();
            let both = with(true).zip(with(false)).filter(|_| is_on(Side::Before) && is_on(Side::After));
            both.is_none_or(|(old, new)| audience::compare(&old, &new) != Relation::Same)
        };
        let decisive: Vec<&Change> = moved.iter().filter(decides).copied().collect();
        if decisive.is_empty() && is_written_alike { moved } else { decisive }
    }

    pub(super) fn is_written_alike(&self, change: &Change) -> bool {
        self.who(change).iter().all(|who| who.tree.iter().all(|line| line.mark == Mark::Same))
    }

    /// The tags and channels that the plan gives or takes, as far as they concern the audience of a change.
    pub(super) fn regroupings_of(&self, change: &Change) -> Vec<&Regrouping<'p>> {
        if self.regroupings.is_empty() {
            return Vec::new();
        }
        let within = |criteria: &At<Selector>| self.regroupings.within(criteria);
        let mut found = self.of_audience(change, Side::After, within).unwrap_or_default();
        for key in self.named_segments(change) {
            found.extend(
                self.known_segment(Side::After, &key).map(|(_, criteria)| within(criteria)).unwrap_or_default(),
            );
        }
        found
    }

    /// The channels of its audience that the plan uninstalls.
    fn departures(&self, change: &Change) -> impl Iterator<Item = MessageCause> {
        self.departed_from(change).into_iter().map(|one| {
            let words = format!("uninstalls {}", one.whose.who);
            MessageCause::of(one.change.address.clone(), one.change.place.clone(), words)
        })
    }

    /// What gives or takes them.
    fn regrouped(&self, change: &Change) -> Vec<MessageCause> {
        let mut found: Vec<MessageCause> = Vec::new();
        for one in self.regroupings_of(change) {
            let address = one.change.address.resource();
            let place = one.change.place.clone();
            let place = place.or_else(|| self.plan.told.of.get(&address).and_then(|aside| aside.place.clone()));
            match found.iter_mut().find(|cause| cause.address == address) {
                Some(cause) if cause.words != one.words => {
                    cause.words = one.several().to_owned();
                }
                Some(_) => {}
                None => found.push(MessageCause::of(address, place, one.words.clone())),
            }
        }
        found
    }

    fn of_segment(&self, segment: &Change, user: &Change) -> MessageCause {
        let who = self.who(segment);
        let marked = |mark: Mark, joins: bool| -> Vec<&str> {
            let own = who.iter().flat_map(|who| &who.tree).filter(|line| line.mark == mark);
            own.map(|line| line.line.text.as_str()).filter(|text| is_join(text) == joins).collect()
        };
        let lines = |mark: Mark| marked(mark, false);
        let (mut gone, mut come) = (lines(Mark::Goes), lines(Mark::Comes));
        // What only stands elsewhere in the tree is no news.
        gone.retain(|text| match come.iter().position(|other| other == text) {
            Some(at) => {
                come.remove(at);
                false
            }
            None => true,
        });
        let words = match (segment.action, &gone[..], &come[..]) {
            (Action::Create, ..) => "is new".to_owned(),
            (Action::Delete, ..) => "is deleted".to_owned(),
            (_, [one], []) => format!("no longer contains {}", quoted(one)),
            (_, [], [one]) => format!("now contains {}", quoted(one)),
            (_, [old], [new]) => format!("contains {} instead of {}", quoted(new), quoted(old)),
            (_, [], []) => match (&marked(Mark::Goes, true)[..], &marked(Mark::Comes, true)[..]) {
                (["all of"], ["any of"]) => "needs any of its conditions, no longer all of them".to_owned(),
                (["any of"], ["all of"]) => "needs all of its conditions, no longer any of them".to_owned(),
                _ => "changes".to_owned(),
            },
            _ => "changes".to_owned(),
        };
        let address = Address::new(Segment::KEY, segment.address.key.clone());
        let is_exclusion = self.shrunk_exclusions(user).contains(&segment.address.key);
        MessageCause { is_exclusion, ..MessageCause::of(address, segment.place.clone(), words) }
    }
}

/// Whether a line of a tree is about the lines beneath it.
fn is_join(text: &str) -> bool {
    ["all of", "any of", "none of", "not all of"].contains(&text)
}
