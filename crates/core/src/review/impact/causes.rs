//! The causes of a changed message: changes in the same plan.

use std::collections::BTreeSet;

use pushplan_model::address::Address;
use pushplan_model::audience::Relation;
use pushplan_model::kinds::{self, Resource, Segment, Template, remote};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_model::text::{all_of, quoted};
use serde_json::Value;

use super::origins::filled_before;
use super::{AudienceChange, MessageFate, TextChange};
use crate::plan::{Action, Change, DeclaredAt, Moved};
use crate::review::departed::Departed;
use crate::review::fields::{Difference, Field};
use crate::review::members::Regrouping;
use crate::review::{Mark, Marked, Review, Side, after, before, start};

/// The field of a variable with its default value.
const DEFAULT: &str = "default_value";
/// What becomes of a segment that changes in more than one condition.
pub(super) const OTHER_CONDITIONS: &str = "has other conditions";
/// The number of added and removed conditions of a segment that are named.
const NAMED_CONDITIONS: usize = 3;
/// The parts of a push that templates can define.
const SAID: [&str; 2] = ["notification", "message"];

/// A change that causes the change of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageCause {
    pub address: Address,
    /// The origin of the changed value, if it is not the message's own declaration: `var.discount`, `overlays.eu`.
    pub origin: Option<String>,
    pub place: Option<DeclaredAt>,
    /// The effect: `no longer contains "tag unsubscribed"`. Empty for the message's own resource.
    pub words: String,
    /// Whether it is a segment that the message excludes and that has lost members.
    pub is_exclusion: bool,
}

impl MessageCause {
    pub(super) fn of(address: Address, place: Option<DeclaredAt>, words: String) -> Self {
        Self { address, origin: None, place, words, is_exclusion: false }
    }

    /// Whether two messages have the same cause.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.name() == other.name() && self.words == other.words
    }

    /// Its name: the address, or the origin of the value.
    pub fn name(&self) -> String {
        self.origin.clone().unwrap_or_else(|| self.address.to_string())
    }
}

impl<'p> Review<'p> {
    /// The causes of a changed message, its own change first.
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
            // A change made on the service has no line in a file.
            let (place, words) = match change.moved {
                Some(Moved::Service) => (None, "was changed on the service since the last apply"),
                Some(Moved::Removed) => (None, "was deleted on the service since the last apply"),
                _ => (change.place.clone(), ""),
            };
            causes.push(MessageCause::of(change.address.clone(), place, words.to_owned()));
        }
        let through_templates = templates.iter().any(|template| !self.elsewhere(template).causes.is_empty());
        causes.extend(templates.into_iter().map(|template| {
            let of = MessageCause::of(template.address.clone(), template.place.clone(), "changes".to_owned());
            self.with_origin(of, template)
        }));
        match fate == MessageFate::Changed && !elsewhere.causes.is_empty() {
            true => causes.extend(elsewhere.causes),
            // A template that changes because of the variable names it.
            false if through_templates => {}
            false => causes.extend(self.changed_variable(change, text)),
        }
        if reached.relation.as_ref().is_some_and(|relation| *relation != Relation::Same) {
            let decisive = self.decisive(change);
            causes.extend(decisive.outdated.into_iter().map(|key| self.of_outdated(key)));
            causes.extend(decisive.segments.into_iter().map(|segment| self.of_segment(segment, change)));
            causes.extend(self.of_regroupings(&decisive.regroupings));
            causes.extend(self.departures(change));
        }
        causes
    }

    /// The variable whose new value explains the whole change of a text.
    fn changed_variable(&self, change: &Change, text: &TextChange) -> Option<MessageCause> {
        let (old, new) = (text.old.as_deref()?, text.new.as_deref()?);
        let names = &self.plan.told.of.get(&change.address)?.variables;
        names.iter().find_map(|name| {
            let filled = self.plan.told.variables.get(name)?;
            let was = filled_before(&filled.value, old, new)?;
            let words = format!("changes from {} to {}", quoted(was), quoted(&filled.value));
            let cause = MessageCause::of(change.address.clone(), filled.place.clone(), words);
            Some(MessageCause { origin: Some(format!("var.{name}")), ..cause })
        })
    }

    /// Whether the audience changes through segments that it names.
    fn is_through_segments(&self, change: &Change, reached: &AudienceChange) -> bool {
        reached.relation.is_some() && self.names_moved(change)
    }

    /// Whether the resource itself was not edited: its audience has the same text, and its content comes from
    /// templates.
    fn is_only_through(&self, change: &Change, text: &TextChange, templates: &[&Change]) -> bool {
        let times = self.both_times(change);
        let is_timed_alike = times.each().all(|(was, is)| was.map(|was| was.when) == is.map(|is| is.when));
        let (was, is) = self.both_set_off(change);
        let is_said_by_templates = || !text.is_changed || (!templates.is_empty() && are_all_given(change, templates));
        self.is_written_alike(change) && is_timed_alike && was == is && is_said_by_templates()
    }

    /// The templates that change the content of a change.
    fn changed_templates(&self, change: &Change) -> Vec<&'p Change> {
        let Some(aside) = self.plan.told.of.get(&change.address) else { return Vec::new() };
        let addresses: Vec<Address> =
            aside.templates.iter().map(|key| Address::new(Template::KEY, key.clone())).collect();
        let is_one = |other: &&Change| other.action != Action::Keep && addresses.contains(&other.address);
        let decides = |template: &&Change| decides(template, change);
        if addresses.is_empty() {
            Vec::new()
        } else {
            self.plan.changes.iter().filter(is_one).filter(decides).collect()
        }
    }

    /// The senders that use one of these segments or templates, directly or through others.
    pub(crate) fn messages_using(&self, used: &BTreeSet<Address>) -> Vec<Address> {
        let templates = |change: &Change| {
            let aside = self.plan.told.of.get(&change.address);
            aside.into_iter().flat_map(|aside| &aside.templates).map(|key| Address::new(Template::KEY, key.clone()))
        };
        let is_used = |change: &&Change| {
            let sends = change.desired.as_ref().is_some_and(|spec| kinds::api(&change.address).messages(spec));
            let segments = || self.named_segments(change).into_iter().map(|key| Address::new(Segment::KEY, key));
            let is_pending = !matches!(change.action, Action::Past | Action::Forget);
            sends
                && is_pending
                && (templates(change).any(|one| used.contains(&one)) || segments().any(|one| used.contains(&one)))
        };
        self.plan.changes.iter().filter(is_used).map(|change| change.address.resource()).collect()
    }

    /// The segments that a change names, directly or through others.
    pub(super) fn named_segments(&self, change: &Change) -> BTreeSet<String> {
        let mut open: Vec<String> = match self.kept_refs(change) {
            // Earlier versions are not those of the plan.
            Some(_) => self.of_audience(change, Side::After, keys_in).unwrap_or_default(),
            None => {
                let audiences = kinds::api(&change.address).audiences();
                let specs = start(change).into_iter().chain(&change.desired);
                specs.flat_map(|spec| remote::named(audiences, spec)).map(str::to_owned).collect()
            }
        };
        let mut named: BTreeSet<String> = BTreeSet::new();
        while let Some(key) = open.pop() {
            if !named.insert(key.clone()) {
                continue;
            }
            for side in [Side::Before, Side::After] {
                let criteria = self.known_segment(side, &key).map(|(_, criteria)| criteria);
                open.extend(criteria.map(keys_in).unwrap_or_default());
            }
        }
        named
    }

    pub(super) fn is_written_alike(&self, change: &Change) -> bool {
        self.who(change).iter().all(|who| who.tree.iter().all(|line| line.mark == Mark::Same))
    }

    /// The tags and channels that the plan adds or removes and that concern the audience of a change.
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

    /// The channels of its audience that the plan installs or uninstalls.
    fn departures(&self, change: &Change) -> impl Iterator<Item = MessageCause> {
        let of = |one: &Departed| MessageCause::of(one.change.address.clone(), one.change.place.clone(), one.words());
        self.departed_from(change).into_iter().map(of)
    }

    /// The causes for added or removed tags and channels.
    fn of_regroupings(&self, regroupings: &[&Regrouping<'p>]) -> Vec<MessageCause> {
        let mut found: Vec<MessageCause> = Vec::new();
        for one in regroupings {
            let address = one.change.address.resource();
            let place = one.change.place.clone();
            let place = place.or_else(|| self.plan.told.of.get(&address).and_then(|aside| aside.place.clone()));
            match found.iter_mut().find(|cause| cause.address == address) {
                Some(cause) if cause.words != one.words => {
                    let mut own = regroupings.iter().filter(|other| other.change.address.resource() == address);
                    cause.words = one.several(own.all(|other| std::ptr::eq(other.change, one.change)));
                }
                Some(_) => {}
                None => found.push(MessageCause::of(address, place, one.words.clone())),
            }
        }
        found
    }

    /// The cause for a segment of which the message uses an earlier version.
    fn of_outdated(&self, key: &str) -> MessageCause {
        let after = self.segments.get(key).and_then(|sides| sides.of(Side::After));
        let place = after.and_then(|place| self.plan.changes[*place].place.clone());
        MessageCause::of(Address::new(Segment::KEY, key), place, "was changed by an earlier apply".to_owned())
    }

    fn of_segment(&self, segment: &Change, user: &Change) -> MessageCause {
        let who = self.who(segment);
        let tree: Vec<&Marked> = who.iter().flat_map(|who| &who.tree).collect();
        let marked = |mark: Mark, joins: bool| -> Vec<usize> {
            let is_one = |at: &usize| tree[*at].mark == mark && is_join(&tree[*at].line.text) == joins;
            (0..tree.len()).filter(is_one).collect()
        };
        let joins = |mark: Mark| -> Vec<&str> {
            marked(mark, true).into_iter().map(|at| tree[at].line.text.as_str()).collect()
        };
        let (was, is) = (joins(Mark::Goes), joins(Mark::Comes));
        let is_joined_otherwise = !was.is_empty() && !is.is_empty() && was != is;
        let (mut gone, mut come) = (marked(Mark::Goes, false), marked(Mark::Comes, false));
        // A line that only moved within the tree is no news.
        gone.retain(|at| match come.iter().position(|other| tree[*other].line.text == tree[*at].line.text) {
            Some(at) => {
                come.remove(at);
                false
            }
            None => true,
        });
        let words = match (segment.action, &gone[..], &come[..]) {
            (Action::Create, ..) => "is new".to_owned(),
            (Action::Delete, ..) => "is deleted".to_owned(),
            (_, [], []) => match (&was[..], &is[..]) {
                (["all of"], ["any of"]) => "requires any of its conditions, no longer all of them".to_owned(),
                (["any of"], ["all of"]) => "requires all of its conditions, no longer any of them".to_owned(),
                _ => OTHER_CONDITIONS.to_owned(),
            },
            _ if is_joined_otherwise => OTHER_CONDITIONS.to_owned(),
            (_, gone, come) if gone.len() + come.len() <= NAMED_CONDITIONS => {
                let words = |verb: &str, at: &[usize]| {
                    (!at.is_empty()).then(|| format!("{verb} {}", all_of(&required(&tree, at))))
                };
                let both = [words("no longer", gone), words("now", come)];
                both.into_iter().flatten().collect::<Vec<_>>().join(" and ")
            }
            _ => OTHER_CONDITIONS.to_owned(),
        };
        let address = Address::new(Segment::KEY, segment.address.key.clone());
        let is_exclusion = self.shrunk_exclusions(user).contains(&segment.address.key);
        self.with_origin(
            MessageCause { is_exclusion, ..MessageCause::of(address, segment.place.clone(), words) },
            segment,
        )
    }

    /// Adds to a cause what wrote all of it, if the declaration of the changed resource itself is as before.
    fn with_origin(&self, cause: MessageCause, change: &Change) -> MessageCause {
        let elsewhere = self.elsewhere(change);
        let [first, ..] = &elsewhere.causes[..] else { return cause };
        if !elsewhere.are_all {
            return cause;
        }
        let named: Vec<String> = elsewhere.causes.iter().map(|one| format!("{} {}", one.name(), one.words)).collect();
        let words = format!("{} ({})", cause.words, all_of(&named));
        MessageCause { place: first.place.clone().or(cause.place), words, ..cause }
    }
}

/// Whether a template changes content that it gives to a message.
fn decides(template: &Change, message: &Change) -> bool {
    let (Some(old), Some(new)) = (before(template), after(template)) else { return true };
    let own = Difference::between(before(message), after(message)).fields;
    let (was, is) = (texts(before(message)), texts(after(message)));
    let stands_in =
        |text: Option<&Value>, all: &str| text.and_then(Value::as_str).is_some_and(|text| all.contains(text));
    let is_given = |field: &Field| match field.path.ends_with(DEFAULT) {
        true => stands_in(field.old, &was) && stands_in(field.new, &is),
        false => own.iter().any(|own| gives(field, own)),
    };
    let name = kinds::api(&template.address).name_field();
    let given = Difference::between(Some(old), Some(new)).fields;
    given.iter().filter(|field| Some(field.path.as_str()) != name && field.path != "description").any(is_given)
}

/// Whether all changed content of a message comes from templates.
fn are_all_given(message: &Change, templates: &[&Change]) -> bool {
    let given: Vec<Field> =
        templates.iter().flat_map(|template| Difference::between(before(template), after(template)).fields).collect();
    let own = Difference::between(before(message), after(message)).fields;
    let mut said = own.iter().filter(|field| SAID.iter().any(|part| field.path.contains(part)));
    // The value of a variable can be in any text. A new template gives all of its content.
    let is_any = given.iter().any(|field| field.path.starts_with("variables") || field.old.is_none());
    is_any || said.all(|own| given.iter().any(|field| gives(field, own)))
}

/// Whether a field of a message has the value of its template, unless that has variables.
fn gives(given: &Field, own: &Field) -> bool {
    let is_filled = given.new.and_then(Value::as_str).is_some_and(|text| text.contains("{{"));
    own.path.ends_with(&given.path) && (is_filled || own.new == given.new)
}

/// All texts of a message.
fn texts(spec: Option<&Value>) -> String {
    spec.map(|spec| spec["push"].to_string()).unwrap_or_default()
}

/// The effects of conditions in a tree: `requires "country = US"`, `includes "country = US"` in a list of alternatives. A verb
/// is not repeated.
fn required(tree: &[&Marked], at: &[usize]) -> Vec<String> {
    let mut last = "";
    let mut all = Vec::new();
    for at in at {
        let Marked { mark, line } = tree[*at];
        let is_above =
            |other: &&&Marked| other.line.depth < line.depth && (other.mark == *mark || other.mark == Mark::Same);
        let join = tree[..*at].iter().rev().find(is_above).map_or("", |above| above.line.text.as_str());
        let (verb, condition) = match (join, line.text.strip_prefix("not ")) {
            ("any of" | "not all of", _) => ("includes", line.text.as_str()),
            ("none of", _) => ("excludes", line.text.as_str()),
            (_, Some(excluded)) => ("excludes", excluded),
            (_, None) => ("requires", line.text.as_str()),
        };
        all.push(if verb == last { quoted(condition) } else { format!("{verb} {}", quoted(condition)) });
        last = verb;
    }
    all
}

/// Whether a line of a tree only introduces the lines below it.
fn is_join(text: &str) -> bool {
    ["all of", "any of", "none of", "not all of"].contains(&text)
}

/// The keys of the segments that an audience names.
fn keys_in(selector: &At<Selector>) -> Vec<String> {
    let mut keys = Vec::new();
    selector.walk(&mut |selector| {
        if let Selector::Segment(reference) = &selector.value
            && let SegmentRef::Key(key) = &reference.value
        {
            keys.push(key.clone());
        }
    });
    keys
}
