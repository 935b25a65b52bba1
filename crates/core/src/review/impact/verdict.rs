//! The effects of a plan in a few sentences.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::audience::Relation;
use pushplan_model::kinds::{self, Resource, Segment};
use pushplan_model::text::{all_of, count, short};
use pushplan_project::timing::words;

use super::causes::OTHER_CONDITIONS;
use super::sends::EACH_DEVICE;
use super::{MessageChange, MessageClass, MessageFate, VariantShares, count_of};
use crate::review::Review;

/// The number of hosts in a sentence.
const HOSTS: usize = 3;
/// The number of characters of a message's name in a sentence.
const NAME: usize = 80;

/// A sentence about a plan's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictSentence {
    pub class: MessageClass,
    pub words: String,
}

impl Review<'_> {
    /// Sentences about the effects, the most urgent first. Empty if no message changes.
    pub fn verdict(&self) -> Vec<VerdictSentence> {
        let all = self.impact();
        let mut sentences = Vec::new();
        let mut named: Option<&str> = None;
        let is_only = all.iter().all(|message| message.sender == all[0].sender);
        for class in MessageClass::ALL {
            let own = |message: &&MessageChange| match class {
                // A message that reaches more people and is in quiet hours counts for both.
                MessageClass::QuietHours => !message.quiet.is_empty(),
                // Also if it reaches more people.
                MessageClass::NewHost => !message.new_hosts.is_empty(),
                MessageClass::New => message.fate == MessageFate::New,
                class => message.class == class || message.also(class),
            };
            let mut parts: BTreeMap<Facet, Vec<&MessageChange>> = BTreeMap::new();
            for message in all.iter().filter(own) {
                for facet in message.facets(class) {
                    parts.entry(facet).or_default().push(message);
                }
            }
            for (facet, messages) in parts {
                let only = messages.first().filter(|one| messages.iter().all(|other| other.sender == one.sender));
                let only = only.map(|one| one.sender.as_str());
                let subject = match only {
                    Some(it) if named == Some(it) => "It".to_owned(),
                    Some(it) => short(it, NAME),
                    None => String::new(),
                };
                sentences.push(VerdictSentence { class, words: sentence(class, facet, &messages, subject, is_only) });
                named = only;
            }
        }
        sentences.extend(nobody_today(all));
        sentences
    }

    /// Whether the effects are harmless: at most, a message reaches fewer people, and no safety setting is looser.
    pub fn is_harmless(&self) -> bool {
        let is_harmless = |message: &MessageChange| {
            message.class == MessageClass::Fewer && message.quiet.is_empty() && message.new_hosts.is_empty()
        };
        let told = &self.plan.told;
        told.loosened.is_empty() && told.tightened_quiet.is_none() && self.impact().iter().all(is_harmless)
    }
}

/// The messages that no device in the population gets any more.
fn nobody_today(all: &[MessageChange]) -> Option<VerdictSentence> {
    let is_one = |message: &&MessageChange| {
        message.reach.is_some_and(|reach| {
            let was = reach.before.is_some_and(|before| before.at_least > 0);
            was && reach.after.is_some_and(|after| after.at_most == 0)
        })
    };
    let mut names: Vec<String> = all.iter().filter(is_one).map(|message| short(&message.sender, NAME)).collect();
    names.dedup();
    let more = names.len().saturating_sub(HOSTS);
    names.truncate(HOSTS);
    names.extend((more > 0).then(|| format!("{more} more")));
    let reach = if names.len() == 1 { "reaches" } else { "reach" };
    let words = format!("{} {reach} no device today", all_of(&names));
    (!names.is_empty()).then_some(VerdictSentence { class: MessageClass::Nobody, words })
}

/// The aspect of a message in a sentence. The order is that of the sentences of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Facet {
    /// An exclusion that was removed from its audience.
    Exclusion,
    /// The aspect of its class.
    Class,
    /// The number of times it is sent.
    Frequency,
    /// The conditions for sending it.
    Conditions,
    /// The number of variants that share its devices.
    Share,
}

impl MessageChange {
    /// Whether it also has the change of another class.
    fn also(&self, class: MessageClass) -> bool {
        let is_second = self.fate == MessageFate::Changed && self.class < class;
        is_second
            && match class {
                MessageClass::More => self.is_sent_more() || self.is_shared_by_fewer(),
                // It is also sent more often.
                MessageClass::Different => {
                    let relation = self.audience.relation.as_ref();
                    self.class == MessageClass::More
                        && relation.is_some_and(|one| match one {
                            Relation::Same | Relation::Broader { .. } | Relation::Narrower { .. } => false,
                            Relation::Disjoint { .. } | Relation::Different { .. } | Relation::TooComplex => true,
                        })
                }
                // Its time is the reason for the quiet hours.
                MessageClass::Time => self.class != MessageClass::QuietHours && self.has_other_time(),
                MessageClass::Text => self.has_other_text(),
                MessageClass::Fewer => self.is_narrower() || self.is_sent_less() || self.is_shared_by_more(),
                MessageClass::Nobody => self.audience.nobody,
                _ => false,
            }
    }

    /// The aspects of it in the sentences of a class.
    fn facets(&self, class: MessageClass) -> Vec<Facet> {
        let is_loosened = self.audience.is_loosened && class.is_reach();
        let by_audience = if is_loosened { Facet::Exclusion } else { Facet::Class };
        let (is_sent, is_shared) = match class {
            MessageClass::More => (self.is_sent_more(), self.is_shared_by_fewer()),
            MessageClass::Fewer => (self.is_sent_less(), self.is_shared_by_more()),
            MessageClass::Different if self.is_conditional && self.is_to_same_people() => {
                return vec![Facet::Conditions];
            }
            _ if self.shares.is_some_and(|shares| shares.is_moved) => return vec![Facet::Share],
            _ => return vec![by_audience],
        };
        let is_by_audience = match (&self.audience.relation, class) {
            (Some(Relation::Broader { .. }), MessageClass::More) => self.class == MessageClass::More,
            (Some(Relation::Narrower { .. }), MessageClass::Fewer) => true,
            // An event triggers it for other people.
            _ => !is_sent && !is_shared,
        };
        let sent = is_sent.then_some(Facet::Frequency);
        let shared = is_shared.then_some(Facet::Share);
        [is_by_audience.then_some(by_audience), sent, shared].into_iter().flatten().collect()
    }

    /// The number of its times, before and after.
    fn occurrences(&self) -> (usize, usize) {
        (count_of(&self.times, |(was, _)| was), count_of(&self.times, |(_, is)| is))
    }

    fn is_sent_more(&self) -> bool {
        let (was, is) = self.occurrences();
        self.fate == MessageFate::Changed && (is > was || self.held == Some(MessageClass::More))
    }

    fn is_sent_less(&self) -> bool {
        let (was, is) = self.occurrences();
        self.fate == MessageFate::Changed && (is < was || self.held == Some(MessageClass::Fewer))
    }

    fn is_shared_by_fewer(&self) -> bool {
        self.share_class() == Some(MessageClass::More)
    }

    fn is_shared_by_more(&self) -> bool {
        self.share_class() == Some(MessageClass::Fewer)
    }

    fn share_class(&self) -> Option<MessageClass> {
        self.shares.and_then(|shares| shares.class())
    }

    fn is_narrower(&self) -> bool {
        matches!(self.audience.relation, Some(Relation::Narrower { .. })) && !self.audience.nobody
    }

    /// Whether neither its audience nor its trigger changes.
    fn is_to_same_people(&self) -> bool {
        self.has_same_audience() && self.trigger.0 == self.trigger.1
    }

    fn has_same_audience(&self) -> bool {
        self.audience.relation.as_ref().is_none_or(|relation| *relation == Relation::Same)
    }
}

/// The verb for more or fewer people. If counts show that nobody joins or leaves one of the audiences today, people
/// only can.
fn reaches(messages: &[&MessageChange], is_one: bool) -> &'static str {
    let is_as_before = |message: &&MessageChange| {
        message.reach.as_ref().is_some_and(|reach| reach.is_both() && reach.before == reach.after)
    };
    // A tag that the plan removes may be there for another reason, and nobody counted.
    let is_by_tags = |message: &MessageChange| {
        message.class == MessageClass::Fewer
            && message.reach.is_none()
            && message.causes.iter().any(|cause| cause.is_by_tags)
    };
    match is_one {
        _ if messages.iter().any(|message| is_as_before(message) || is_by_tags(message)) => "can reach",
        true => "reaches",
        false => "reach",
    }
}

/// A sentence about one message begins with its name, or with "It". If no other message changes, it gets an example.
fn sentence(class: MessageClass, facet: Facet, messages: &[&MessageChange], name: String, is_only: bool) -> String {
    if let Some(words) = by_shares(class, messages, &name).filter(|_| facet == Facet::Share) {
        return words;
    }
    let is_one = !name.is_empty() || messages.len() == 1;
    let subject = match (only(messages).and_then(|message| Some((message.each, message.variant?))), name.as_str()) {
        (_, "") => count(messages.len(), "message"),
        (Some((each, number)), "It") => format!("Its {each} {number}"),
        (Some((each, number)), name) => format!("{each} {number} of {name}"),
        (None, _) => name,
    };
    let by_hand = match messages.iter().filter(|message| message.is_by_hand).count() {
        0 => String::new(),
        some if some < messages.len() => format!(", {some} of them once the manual steps are done"),
        _ => " once the manual steps are done".to_owned(),
    };
    let verb = |one: &'static str, many: &'static str| if is_one { one } else { many };
    match class {
        MessageClass::SendsNow => {
            let to: BTreeSet<&str> =
                messages.iter().flat_map(|message| &message.recipients).map(String::as_str).collect();
            let to = match to.len() {
                1 => to.first().copied().unwrap_or_default().to_owned(),
                several => format!("{several} users or channels"),
            };
            let devices = if messages.iter().any(|message| message.is_to_users()) { EACH_DEVICE } else { "" };
            format!("{subject} {} sent at once to {to}{devices}", verb("is", "are"))
        }
        MessageClass::SendsLater => format!("{subject} {} triggered and sent later", verb("is", "are")),
        MessageClass::Everyone => format!("{subject} {} everyone", verb("reaches", "reach")),
        MessageClass::More if facet == Facet::Frequency => {
            format!("{subject} {} sent more often{by_hand}", verb("is", "are"))
        }
        MessageClass::Fewer if facet == Facet::Frequency => {
            format!("{subject} {} sent less often{by_hand}", verb("is", "are"))
        }
        MessageClass::More if facet == Facet::Share => {
            format!("{subject} {} a larger part of {} devices", verb("reaches", "reach"), verb("its", "their"))
        }
        MessageClass::Fewer if facet == Facet::Share => {
            format!("{subject} {} a smaller part of {} devices", verb("reaches", "reach"), verb("its", "their"))
        }
        MessageClass::More => {
            format!("{subject} {} more people{by_hand}{}", reaches(messages, is_one), why(messages, is_only))
        }
        MessageClass::Different if facet == Facet::Conditions => {
            format!("{subject} {} sent under other conditions{by_hand}", verb("is", "are"))
        }
        MessageClass::Different => {
            let trigger = only(messages).and_then(MessageChange::new_trigger).map(|words| format!(": {words}"));
            let why = trigger.unwrap_or_else(|| why(messages, is_only));
            format!("{subject} {} different people{by_hand}{why}", verb("reaches", "reach"))
        }
        MessageClass::QuietHours => {
            let mut clocks: Vec<&str> =
                messages.iter().flat_map(|message| &message.quiet).map(String::as_str).collect();
            let mut seen = BTreeSet::new();
            clocks.retain(|clock| seen.insert(*clock));
            let more = match clocks.len() {
                0 | 1 => String::new(),
                several => format!(" and {}", count(several - 1, "more time zone")),
            };
            let first = clocks.first().copied().unwrap_or_default();
            let is_sent = match messages.iter().all(|message| message.any_hour.is_some()) {
                true => "can be",
                false => verb("is", "are"),
            };
            format!("{subject} {is_sent} sent in quiet hours ({first}{more}){by_hand}")
        }
        MessageClass::NewHost => {
            let hosts: BTreeSet<&str> =
                messages.iter().flat_map(|message| &message.new_hosts).map(|host| host.name.as_str()).collect();
            let mut named: Vec<String> = hosts.iter().take(HOSTS).map(|host| (*host).to_owned()).collect();
            if hosts.len() > HOSTS {
                named.push(count(hosts.len() - HOSTS, "other host"));
            }
            format!("{subject} {} to {} for the first time{by_hand}", verb("links", "link"), all_of(&named))
        }
        MessageClass::Time => {
            if let Some((happens, was, is)) = only(messages).and_then(MessageChange::new_delay) {
                return format!("{subject} is sent {is} instead of {was} after {happens}{by_hand}");
            }
            let moved = || only(messages).and_then(MessageChange::new_time);
            let trigger = || only(messages).and_then(MessageChange::new_trigger);
            let hours = || only(messages).and_then(MessageChange::new_hours);
            let when = moved().or_else(trigger).or_else(hours).or_else(|| shift(messages));
            let when = when.map(|words| format!(": {words}")).unwrap_or_default();
            format!("{subject} {} sent at another time{when}{by_hand}", verb("is", "are"))
        }
        MessageClass::Text => {
            let text = only(messages).and_then(MessageChange::new_text);
            let is_text = messages.iter().any(|message| message.has_other_text());
            let text = text.unwrap_or_else(|| (if is_text { "text" } else { "content" }).to_owned());
            let (change, their) = (verb("changes", "change"), verb("its", "their"));
            format!("{subject} {change} {their} {text}{by_hand}{}", only_cause(messages))
        }
        MessageClass::Fewer => {
            format!("{subject} {} fewer people{by_hand}{}", reaches(messages, is_one), why(messages, is_only))
        }
        MessageClass::Nobody => format!("{subject} {} nobody{by_hand}", verb("reaches", "reach")),
        MessageClass::New => {
            let reaches_nobody = |message: &&MessageChange| {
                message.reach.and_then(|reach| reach.after).is_some_and(|after| after.at_most == 0)
            };
            let nobody = match messages.iter().all(reaches_nobody) {
                true => format!(" and no device is in {} audience today", verb("its", "their")),
                false => String::new(),
            };
            let new = if messages.iter().all(|message| message.is_switched) { "turned on" } else { "new" };
            format!("{subject} {} {new}{nobody}", verb("is", "are"))
        }
        MessageClass::Cancelled => {
            let gone = if messages.iter().all(|message| message.is_switched) { "turned off" } else { "cancelled" };
            format!("{subject} {} {gone}{by_hand}", verb("is", "are"))
        }
    }
}

/// The sentence about the variants of one experiment that gets or loses some.
fn by_shares(class: MessageClass, messages: &[&MessageChange], name: &str) -> Option<String> {
    let first = messages.first().filter(|_| !name.is_empty())?.shares?;
    let is_moved = messages.iter().all(|message| message.shares.is_some_and(|shares| shares.is_moved));
    let number = count(messages.len(), "variant");
    match class {
        _ if !is_moved => None,
        MessageClass::New => Some(format!("{name} gets {}", count(messages.len(), "new variant"))),
        MessageClass::Cancelled => Some(format!("{name} loses {number}")),
        MessageClass::More | MessageClass::Fewer => {
            let (old, new) = first.moved()?;
            let is_same =
                |shares: VariantShares| shares.moved().is_some_and(|(was, is)| was.is_same(old) && is.is_same(new));
            if !messages.iter().all(|message| message.shares.is_some_and(is_same)) {
                return None;
            }
            let shown = only(messages).and_then(|message| message.variant);
            let shown = shown.map_or(number, |number| format!("variant {number}"));
            let (was, is) = first.moved_words()?;
            let each = if messages.len() > 1 { "each " } else { "" };
            Some(format!("{name} shows {shown} {each}to {is} of its devices (until now {was})"))
        }
        _ => None,
    }
}

/// The message of a sentence, if there is only one.
fn only<'m>(messages: &[&'m MessageChange]) -> Option<&'m MessageChange> {
    if let [only] = messages { Some(only) } else { None }
}

/// The shift of all of them, if it is the same.
fn shift(messages: &[&MessageChange]) -> Option<String> {
    let first = messages.first()?.shift()?;
    messages.iter().all(|message| message.shift() == Some(first)).then(|| words::shift(first))
}

/// Why the recipients change, or an example of one who joins and one who leaves.
fn why(messages: &[&MessageChange], is_only: bool) -> String {
    let because = because(messages);
    let example = only(messages).filter(|_| is_only && because.is_empty()).and_then(MessageChange::example);
    example.map_or(because, |words| format!(", {words}"))
}

/// The only segment that causes all of the changes. Empty if a message itself was edited, because that may be more
/// important.
fn because(messages: &[&MessageChange]) -> String {
    let causes: BTreeSet<&str> = messages
        .iter()
        .flat_map(|message| &message.causes)
        .filter(|cause| cause.address.kind == Segment::KEY)
        .map(|cause| cause.address.key.as_str())
        .collect();
    let is_own = messages.iter().any(|message| message.audience.is_own);
    let is_loosened = messages.iter().all(|message| message.audience.is_loosened);
    let is_all =
        !is_own && messages.iter().all(|message| message.causes.iter().any(|cause| cause.address.kind == Segment::KEY));
    match (causes.len(), causes.first(), is_all) {
        (1, Some(key), true)
            if messages.iter().all(|message| message.causes.iter().any(|cause| cause.is_exclusion)) =>
        {
            format!(": the exclusion list {key} shrinks")
        }
        (1, Some(key), true) if is_loosened => format!(": the segment {key} loosens an exclusion"),
        (1, Some(key), true) => format!(": the segment {key} {}", words_of(key, messages)),
        _ if is_loosened => ": an exclusion is loosened".to_owned(),
        _ => only_cause(messages),
    }
}

/// The change of a segment that causes all of the changes.
fn words_of<'m>(key: &str, messages: &[&'m MessageChange]) -> &'m str {
    let causes = messages.iter().flat_map(|message| &message.causes);
    let mut words = causes.filter(|cause| *cause.address.key == *key).map(|cause| cause.words.as_str());
    let first = words.next().unwrap_or_default();
    if words.all(|other| other == first) && !first.is_empty() { first } else { OTHER_CONDITIONS }
}

/// The only cause of all of the changes other than their own edits.
fn only_cause(messages: &[&MessageChange]) -> String {
    let mut all = messages.iter().map(|message| match &message.causes[..] {
        [cause] if cause.origin.is_some() || cause.address.resource() != message.address.resource() => Some(cause),
        _ => None,
    });
    match all.next().flatten() {
        Some(first) if all.all(|cause| cause.is_some_and(|cause| cause.is_like(first))) => {
            let words = if first.words.is_empty() { "changes" } else { &first.words };
            match (&first.origin, kinds::of(&first.address)) {
                (Some(origin), _) => format!(": {} {words}", short(origin, NAME)),
                (None, kind) => format!(": the {} {} {words}", kind.noun, short(&first.address.key, NAME)),
            }
        }
        _ => String::new(),
    }
}
