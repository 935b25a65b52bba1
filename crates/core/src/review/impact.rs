//! The effects of a plan on people: every message whose audience, text, time, trigger or existence changes, by its own
//! edit or by that of anything that it names.

mod audience;
mod causes;
mod class;
mod decisive;
mod details;
mod groups;
mod hosts;
mod locales;
mod origins;
mod people;
mod quiet;
mod reach;
mod sends;
mod shares;
mod sides;
mod triggered;
mod verdict;

use jiff::Timestamp;
use pushplan_model::address::Address;
use pushplan_model::audience::Relation;
use pushplan_model::cores;
use pushplan_model::kinds::{self, Spec};
use pushplan_model::node::At;
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::quiet::Quiet;
use pushplan_model::source::Span;
use pushplan_project::timing::{Times, has_passed, range};

use super::{Review, Side, after, before, is_new_and_left_out};
use crate::plan::{Action, Change, ReachChange};

pub use causes::MessageCause;
pub use class::{MessageClass, MessageFate};
pub use groups::MessageGroup;
pub use hosts::{NewHost, UsedHosts};
pub use people::{ChangedRecipients, Recipients};
pub use reach::CountedAudience;
pub use sends::EACH_DEVICE;
pub use shares::VariantShares;
pub use verdict::VerdictSentence;

use class::class;
use sides::{Messages, other_fields};
use triggered::{Triggered, unread_fields};

/// A changed message, as recipients see it.
#[derive(Clone, Debug)]
pub struct MessageChange {
    /// The sender.
    pub sender: String,
    /// The resource of the row: the sender of the message, or its trigger.
    pub address: Address,
    /// The number of the variant of an experiment or the outcome of a pipeline, from 1, if there are several.
    pub variant: Option<usize>,
    /// The noun for each of several: `variant`.
    pub each: &'static str,
    pub fate: MessageFate,
    pub class: MessageClass,
    pub audience: AudienceChange,
    pub text: TextChange,
    /// The whole content and the device types. Messages that only differ in their times share it.
    pub content: String,
    /// Its times before and after, including unchanged ones.
    pub times: Vec<(Option<Times>, Option<Times>)>,
    /// Whether a condition for sending it changes, other than its trigger.
    pub is_conditional: bool,
    /// The effect of its limits and cancellations on how often it is sent: more, fewer or different.
    pub held: Option<MessageClass>,
    /// The events that trigger it, before and after.
    pub trigger: (Option<String>, Option<String>),
    /// The times in zones where it is newly sent in quiet hours: `Sydney 01:00 Sat`. For a triggered message, the quiet
    /// hours.
    pub quiet: Vec<String>,
    /// The quiet hours in which an event can send it, if the event, the delay or the hours are new.
    pub any_hour: Option<Quiet>,
    /// Hosts that it links to or loads from and that no message used before.
    pub new_hosts: Vec<NewHost>,
    pub causes: Vec<MessageCause>,
    /// Whether nothing changes until a manual step is done.
    pub is_by_hand: bool,
    /// Whether its resource stays, and is only turned on or off.
    pub is_switched: bool,
    /// The recipients that the plan adds by a tag that it adds or removes.
    pub recipients: Vec<String>,
    /// The delay between the apply and the send, if the plan itself sends it.
    pub after_seconds: Option<i64>,
    /// The shares of the audience that get this variant, if it is one.
    pub shares: Option<VariantShares>,
    /// The number of devices in its audience, if it was counted; for a variant, its share of them.
    pub reach: Option<ReachChange>,
}

/// The audience of a message, before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AudienceChange {
    /// The new audience in a sentence, or the old one if the message is cancelled.
    pub words: String,
    /// `None` if there is nothing to compare.
    pub relation: Option<Relation>,
    /// Whether every device gets it after the plan.
    pub everyone: bool,
    /// Whether its own text differs, not only segments that it names.
    pub is_own: bool,
    /// The added and removed lines of its own condition.
    pub edit: String,
    /// Whether it reaches people who were excluded before.
    pub is_loosened: bool,
    /// Whether the example that joins is one of them.
    pub is_example_freed: bool,
    /// Whether no device can be in it any more.
    pub nobody: bool,
}

/// The text of a message, before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextChange {
    pub old: Option<String>,
    pub new: Option<String>,
    /// Whether any content changes, also outside the text: links, buttons, sounds.
    pub is_changed: bool,
    /// The changed fields if the text is the same.
    pub fields: Vec<FieldChange>,
}

/// A changed field of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    /// Its path in the notification or the message: `actions.open.content`.
    pub path: String,
    pub old: Option<String>,
    pub new: Option<String>,
}

impl FieldChange {
    /// The name for readers: its path, or `link` for what a tap opens.
    pub fn name(&self) -> String {
        match self.path.strip_suffix("actions.open.content") {
            Some(whose) => format!("{}link", whose.replace('.', " ")),
            None => self.path.clone(),
        }
    }
}

impl Review<'_> {
    /// The changed messages, the most urgent first.
    pub fn impact(&self) -> &[MessageChange] {
        self.impact.get_or_init(|| {
            let own = cores::each_of(self.plan.changes.iter().collect(), |change| self.of_change(change));
            let mut all: Vec<MessageChange> = own.into_iter().flatten().chain(self.sent()).collect();
            all.sort_by_cached_key(|message| {
                let loosened = !message.audience.is_loosened;
                (message.class, loosened, message.first(), message.sender.clone(), message.variant)
            });
            all
        })
    }

    /// The messages of one change that differ from before.
    fn of_change(&self, change: &Change) -> Vec<MessageChange> {
        let api = kinds::api(&change.address);
        let is_still =
            matches!(change.action, Action::Past | Action::Forget | Action::Adopt) || is_new_and_left_out(change);
        if !api.speaks() || change.address.part().is_some() || is_still {
            return Vec::new();
        }
        // A message without an edit can reach other people.
        let is_late = change.is_too_late();
        if (change.action == Action::Keep || is_late) && !self.names_moved(change) {
            return Vec::new();
        }
        let key = At::new(change.address.key.clone(), Span::NONE);
        let messages = |spec: Option<&serde_json::Value>| spec.is_some_and(|spec| api.messages(spec));
        let has_run = |spec: Option<&serde_json::Value>| {
            let last = spec.and_then(|spec| api.runs(spec)).and_then(|runs| runs.last);
            last.is_some_and(|last| last <= self.plan.made)
        };
        let (was, is) = (before(change), after(change));
        let is_pending = messages(was) && !has_run(was);
        // A message that was moved into the past is refused, and is sent at its old time. A deleted one is not created
        // again.
        let stays = messages(is) && (is_pending || !has_run(is) && !is_late) && !change.is_gone();
        let read = |side: Side, is_sent: bool| {
            let messages = self.of_resource(change, side, |spec: &dyn Spec| Messages::of(spec, &key));
            messages.filter(|_| is_sent).unwrap_or_default()
        };
        let later = if is_late { Side::Before } else { Side::After };
        let (old, new) = (read(Side::Before, is_pending), read(later, stays));
        let pairs = old.pairs(change, &new);
        let triggered = self.triggered(change);
        let several = old.texts.len().max(new.texts.len()) > 1;
        let one = |pair: (Option<usize>, Option<usize>), triggered: &Triggered| {
            let (was, is) = pair;
            let number = is.or(was).map(|number| number + 1);
            self.of_message(change, (&old, &new), pair, number.filter(|_| several), triggered)
        };
        let found: Vec<MessageChange> = pairs.iter().filter_map(|pair| one(*pair, &triggered)).collect();
        // Edits in unknown fields are reported, too.
        let is_edited = matches!(change.action, Action::Update | Action::Replace | Action::ByHand);
        if !found.is_empty() || !is_edited || old.texts.is_empty() || new.texts.is_empty() {
            return found;
        }
        let triggered = Triggered { conditions: unread_fields(change), ..triggered };
        pairs.into_iter().filter_map(|pair| one(pair, &triggered)).collect()
    }

    fn of_message(
        &self,
        change: &Change,
        (old, new): (&Messages, &Messages),
        (was, is): (Option<usize>, Option<usize>),
        variant: Option<usize>,
        triggered: &Triggered,
    ) -> Option<MessageChange> {
        let fate = match (was, is) {
            (None, Some(_)) => MessageFate::New,
            (Some(_), None) => MessageFate::Cancelled,
            _ => MessageFate::Changed,
        };
        let is_both = was.is_some() && is.is_some();
        let conditions = triggered.conditions.iter().chain(&triggered.rules).filter(|_| is_both).cloned();
        let text = TextChange {
            old: was.map(|at| old.texts[at].clone()),
            new: is.map(|at| new.texts[at].clone()),
            is_changed: was.zip(is).is_some_and(|(was, is)| old.contents[was] != new.contents[is]),
            fields: was
                .zip(is)
                .map(|(was, is)| other_fields(&old.contents[was], &new.contents[is]))
                .into_iter()
                .flatten()
                .chain(conditions)
                .collect(),
        };
        let times = self.message_times(change, (was, is), variant.is_some());
        let trigger = triggered.words.clone();
        let reached = triggered.reach.filter(|_| is_both);
        let held = triggered.held.filter(|_| is_both);
        let is_conditional = is_both && (!triggered.conditions.is_empty() || held == Some(MessageClass::Different));
        let (was_delayed, is_delayed) = (old.delay(was), new.delay(is));
        let is_delayed_otherwise = is_both && was_delayed != is_delayed;
        let trigger = (
            trigger.0.filter(|_| was.is_some()).map(|words| after_delay(words, was_delayed)),
            trigger.1.filter(|_| is.is_some()).map(|words| after_delay(words, is_delayed)),
        );
        let is_news = fate == MessageFate::New
            || reached.is_some()
            || is_delayed_otherwise
            || held.is_some()
            || triggered.is_moved;
        let any_hour = self.plan.told.quiet.filter(|_| is_news && trigger.1.is_some() && triggered.disturbs.1);
        let devices = || Some((old.devices.get(was?)?.as_ref(), new.devices.get(is?)?.as_ref()));
        let on_devices =
            trigger.0.as_ref().and(trigger.1.as_ref()).and_then(|_| self.between_devices(change, devices()?));
        let mut audience = self.audience_change(change, fate);
        audience.relation = on_devices.or(audience.relation);
        let mut quiet = self.newly_quiet(change, (was, is), variant.is_some(), audience.is_loosened);
        quiet.extend(any_hour.filter(|_| was.is_none() || !triggered.disturbs.0).map(|quiet| quiet.to_string()));
        let [was_content, is_content] = [was.map(|at| &old.contents[at]), is.map(|at| &new.contents[at])];
        let new_hosts = self.used_hosts.new_in(self.plan, was_content, is_content);
        let is_moved = is_delayed_otherwise || triggered.is_moved && is_both || times.iter().any(is_moved);
        let occurrences = (count_of(&times, |(was, _)| was), count_of(&times, |(_, is)| is));
        let occurrences = (fate == MessageFate::Changed).then_some(occurrences);
        let links = (!new_hosts.is_empty()).then_some(MessageClass::NewHost);
        let other = is_conditional.then_some(MessageClass::Different);
        let triggered = reached.into_iter().chain(held).chain(other).min();
        let shares = VariantShares::of((old, new), (was, is));
        let shared = shares.and_then(|shares| shares.class());
        let class = class(fate, &audience, triggered, is_moved, text.is_changed, !quiet.is_empty(), occurrences);
        let class = [class, links, shared].into_iter().flatten().min()?;
        let causes = self.causes(change, fate, &audience, &text);
        let content = match (is_content, was_content) {
            (Some(content), _) | (None, Some(content)) if fate != MessageFate::Changed => {
                let spec = after(change).or(before(change));
                format!("{content} {}", spec.map_or(&serde_json::Value::Null, |spec| &spec["push"]["device_types"]))
            }
            _ => String::new(),
        };
        Some(MessageChange {
            sender: change.address.to_string(),
            address: change.address.clone(),
            variant,
            each: if is.is_some() { new.each } else { old.each },
            fate,
            class,
            audience,
            text,
            content,
            times,
            is_conditional,
            held,
            trigger,
            quiet,
            any_hour,
            new_hosts,
            causes,
            is_by_hand: change.action == Action::ByHand && !change.is_gone(),
            is_switched: change.action == Action::Update && old.texts.is_empty() != new.texts.is_empty(),
            recipients: Vec::new(),
            after_seconds: None,
            shares,
            reach: self
                .reach(&change.address)
                .map(|whole| shares.map_or(whole, |shares| shares.reach(whole)))
                .filter(|reach| fate != MessageFate::Changed || reach.is_both()),
        })
    }

    fn message_times(
        &self,
        change: &Change,
        (was, is): (Option<usize>, Option<usize>),
        several: bool,
    ) -> Vec<(Option<Times>, Option<Times>)> {
        let both = self.both_times(change);
        let is_own = |times: &&Times, at: Option<usize>| {
            at.is_some_and(|at| !several || times.variant.is_none() || times.variant == Some(at + 1))
        };
        let own = both.each().map(|(old, new)| (old.filter(|old| is_own(old, was)), new.filter(|new| is_own(new, is))));
        // Times that are past on both sides are over.
        let is_over = |times: &&Times| has_passed(times.when, self.plan.made);
        let is_left = |(old, new): &(Option<&Times>, Option<&Times>)| {
            (old.is_some() || new.is_some())
                && !(old.is_none_or(|old| is_over(&old)) && new.is_none_or(|new| is_over(&new)))
        };
        let own = own.filter(is_left).map(|(old, new)| (old.cloned(), new.cloned()));
        match change.is_too_late() {
            true => own.filter(|(old, _)| old.is_some()).map(|(old, _)| (old.clone(), old)).collect(),
            false => own.collect(),
        }
    }
}

impl MessageChange {
    /// The first time at which it is sent.
    pub fn first(&self) -> Option<Timestamp> {
        let times = self.times.iter().filter_map(|(was, is)| is.as_ref().or(was.as_ref()));
        times.map(|times| range(times.when).0).min()
    }
}

/// The number of times on one side.
fn count_of(
    times: &[(Option<Times>, Option<Times>)],
    side: impl Fn(&(Option<Times>, Option<Times>)) -> &Option<Times>,
) -> usize {
    times.iter().filter(|pair| side(pair).is_some()).count()
}

fn is_moved((was, is): &(Option<Times>, Option<Times>)) -> bool {
    was.as_ref().map(|times| times.when) != is.as_ref().map(|times| times.when)
}

/// `the tag vip is added to a device, and 1 hour later`
fn after_delay(happens: String, delay: Option<Delay>) -> String {
    match delay.filter(|delay| delay.0 > 0) {
        Some(delay) => format!("{happens}, {delay} later"),
        None => happens,
    }
}
