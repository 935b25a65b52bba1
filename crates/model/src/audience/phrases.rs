//! Describes single facts in words.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::among::Among;
use super::facts::{About, Fact};
use super::value::{DeviceClass, Value};
use crate::nouns::audience::Having;
use crate::nouns::device::DeviceType;
use crate::nouns::vocabulary::{GROUPS, Group, Values};
use crate::text;

/// The maximum length of a name in a sentence.
const NAME: usize = 40;

/// Words with a meaning in conditions.
const WORDS: [&str; 9] = ["and", "or", "not", "unknown", "everyone", "nobody", "tag", "segment", "attribute"];

/// The number of values that are named before the rest is counted.
pub(super) const NAMED: usize = 8;

/// Returns the phrase for one trait of a device: `in CA or US`, or `not in CA or US` if `not` is set.
pub fn said_of(about: &About, values: &Among, not: bool) -> String {
    let plain = match about {
        About::Tag { .. } => {
            return [if not { "without " } else { "with " }, &tag(about), reason(about)].concat();
        }
        About::Triggered if not => return "that did not trigger the pipeline".to_owned(),
        About::Triggered => "that triggered the pipeline".to_owned(),
        About::Segment { .. } => format!("in {}", segment(about)),
        About::Property(_) => match about.group() {
            Some(group) if group.values == Values::Flag => return flag(about, group, values, not),
            Some(group) => property(group, values),
            None => String::new(),
        },
        About::Kind => format!("on {}", listed(values, kind)),
        About::Channel => return format!("{}the {}", if not { "other than " } else { "with " }, channels(values)),
        About::Address => format!("on the open channel {}", names(values)),
        About::NamedUser => {
            return format!("{} the named user {}", if not { "not of" } else { "of" }, names(values));
        }
        About::List(name) => format!("on the list {}", short(name)),
        About::Subscription(name) => format!("subscribed to {}", short(name)),
        About::Place { .. } => format!("seen {}", place(about)),
        About::Attribute(written) => format!("with {}", attribute(written)),
    };
    if not { format!("not {plain}") } else { plain }
}

/// Returns a condition on devices: `country = CA or US`, `tag vip`, `not opted in to notifications`.
pub fn condition(fact: &Fact, not: bool) -> String {
    let Fact { about, values } = fact;
    if let Some(group) = about.group().filter(|group| group.values == Values::Flag) {
        return flag(about, group, values, not);
    }
    let (text, is_list) = plain_condition(about, values);
    negated(text, is_list, not)
}

/// Returns a condition without its negation, and whether it lists several alternatives.
pub fn plain_condition(about: &About, values: &Among) -> (String, bool) {
    let text = match about {
        About::Tag { group: Some(group), tag } => tags(group, &[tag], "or"),
        About::Tag { group: None, tag } => ["tag ", &short(tag)].concat(),
        About::Triggered => "triggered the pipeline".to_owned(),
        About::Segment { name, outside: false } => format!("segment {}", short(name)),
        About::Segment { name, .. } => format!("segment ID {}", short(name)),
        About::Property(_) => match about.group() {
            Some(group) if group.values == Values::Flag => return (flag(about, group, values, false), false),
            Some(group) => {
                let value = |value: &Value| match value.text() {
                    text if text.is_some() && text == group.sentinel() => "unknown".to_owned(),
                    text => name(text.unwrap_or_default()).into_owned(),
                };
                [group.noun, " = ", &listed(values, value)].concat()
            }
            None => String::new(),
        },
        About::Kind => format!("device type = {}", listed(values, |value| kind(value).replace("the web", "web"))),
        About::Channel => channels(values),
        About::Address => format!("open channel {}", names(values)),
        About::NamedUser => format!("named user {}", names(values)),
        About::List(name) => format!("static list {}", short(name)),
        About::Subscription(name) => format!("subscribed to {}", short(name)),
        About::Place { .. } => format!("seen {}", place(about)),
        About::Attribute(written) => attribute_condition(written),
    };
    (text, values.len() > 1 && !is_one_channel(about, values))
}

/// Returns tags of one group: `lifecycle = buyer and lapsed`.
pub fn tags(group: &str, tags: &[&str], word: &str) -> String {
    [&name(group), " = ", &some_of(tags.iter().map(|tag| name(tag).into_owned()), word, "more")].concat()
}

/// Returns a condition or its negation. A list after `not` is put in parentheses, because its end would be unclear.
pub fn negated(text: String, is_list: bool, not: bool) -> String {
    match (not, is_list) {
        (false, _) => text,
        (true, false) => format!("not {text}"),
        (true, true) => format!("not ({text})"),
    }
}

/// Whether the values are the same channel on every platform.
fn is_one_channel(about: &About, values: &Among) -> bool {
    let ids = values.iter().filter_map(|value| match value {
        Value::Channel(id, _) => Some(id),
        _ => None,
    });
    *about == About::Channel && values.len() == DeviceClass::ALL.len() && ids.collect::<BTreeSet<_>>().len() == 1
}

/// Returns the noun for a property with one value: `country`, `id`.
pub fn noun(about: &About) -> Option<&'static str> {
    match about {
        About::Property(_) => about.group().map(|group| group.noun),
        About::Kind => Some("device type"),
        About::Channel => Some("channel"),
        About::Address => Some("address"),
        About::NamedUser => Some("named user"),
        _ => None,
    }
}

/// Returns the common name of a kind of device.
pub fn kind(value: &Value) -> String {
    match value {
        Value::Kind(DeviceType::Ios) => "iOS".to_owned(),
        Value::Kind(DeviceType::Android) => "Android".to_owned(),
        Value::Kind(DeviceType::Amazon) => "Amazon".to_owned(),
        Value::Kind(DeviceType::Web) => "the web".to_owned(),
        Value::Kind(DeviceType::Wns) => "Windows".to_owned(),
        Value::Kind(open @ DeviceType::Open(_)) => short(&open.to_string()).into_owned(),
        _ => String::new(),
    }
}

fn tag(about: &About) -> String {
    match about {
        About::Tag { group: Some(group), tag } => tags(Having::of(group).0, &[tag], "or"),
        About::Tag { group: None, tag } => ["the tag ", &short(tag)].concat(),
        _ => String::new(),
    }
}

/// Returns why a device has a tag, if the condition says so.
fn reason(about: &About) -> &'static str {
    match about {
        About::Tag { group: Some(group), .. } => match Having::of(group).1 {
            Some(Having::Itself) => " itself",
            Some(Having::ThroughUser) => " through its named user",
            None => "",
        },
        _ => "",
    }
}

fn segment(about: &About) -> String {
    match about {
        About::Segment { name, outside: false } => format!("the segment {}", short(name)),
        About::Segment { name, .. } => format!("the segment with the id {}", short(name)),
        _ => String::new(),
    }
}

fn property(group: &Group, values: &Among) -> String {
    match group.values {
        Values::Country | Values::TimeZone => {
            let place = |value: &Value| match value.text() {
                Some(tag) if group.sentinel() == Some(tag) => format!("an unknown {}", group.noun),
                tag => short(tag.unwrap_or_default()).into_owned(),
            };
            // A time zone that looks like a city would be mistaken for one.
            let known = values.iter().all(|value| value.text() != group.sentinel());
            let what = if group.values == Values::TimeZone && known { "the time zone " } else { "" };
            format!("in {what}{}", listed(values, place))
        }
        Values::Language => format!("with the language {}", names(values)),
        _ => format!("with {} {}", group.noun, names(values)),
    }
}

fn flag(about: &About, group: &Group, values: &Among, not: bool) -> String {
    let is_always_known = about.count().is_some();
    let has = |word: &str| values.iter().any(|value| value.text() == Some(word));
    match (has("true"), has("false"), not) {
        (true, false, false) => group.noun.to_owned(),
        (false, true, false) => format!("not {}", group.noun),
        (true, false, true) if is_always_known => format!("not {}", group.noun),
        (false, true, true) if is_always_known => group.noun.to_owned(),
        (true, false, true) => format!("not {} (or unknown)", group.noun),
        (false, true, true) => format!("{} (or unknown)", group.noun),
        (true, true, false) => format!("with known `{}`", group.shorthand),
        (true, true, true) => format!("with unknown `{}`", group.shorthand),
        (false, false, not) => negated(format!("{} = {}", group.shorthand, names(values)), values.len() > 1, not),
    }
}

/// Returns channels by id, with the platform if only one is meant.
fn channels(values: &Among) -> String {
    let mut ids: Vec<(&str, Vec<DeviceClass>)> = Vec::new();
    for value in values {
        let Value::Channel(id, line) = value else { continue };
        match ids.last_mut() {
            Some((last, lines)) if last == id => lines.push(*line),
            _ => ids.push((id, vec![*line])),
        }
    }
    let words = ids.iter().flat_map(|(id, lines)| {
        let of = |line: &DeviceClass| match line {
            DeviceClass::Ios => format!("iOS channel {}", short(id)),
            DeviceClass::Android => format!("Android channel {}", short(id)),
            DeviceClass::Amazon => format!("Amazon channel {}", short(id)),
            DeviceClass::Other => format!("channel {} of another platform", short(id)),
        };
        match lines.len() {
            4 => vec![format!("channel {}", short(id))],
            _ => lines.iter().map(of).collect(),
        }
    });
    let words: Vec<String> = words.collect();
    some_of(words.into_iter(), "or", "more")
}

fn place(about: &About) -> String {
    match about {
        About::Place { id, months: Some(months) } => {
            let period =
                usize::try_from(*months).map_or_else(|_| format!("{months} months"), |n| text::count(n, "month"));
            format!("at {} in the last {period}", short(id))
        }
        About::Place { id, .. } => format!("at {}", short(id)),
        _ => String::new(),
    }
}

/// Returns a condition on an attribute from its canonical JSON, as said of a device: `the attribute age greater than 18`.
fn attribute(written: &str) -> String {
    let Comparison { name, operator, value } = Comparison::of(written);
    let words = match operator.as_str() {
        "" if value.is_empty() => return format!("the attribute {name}"),
        "" | "equals" => "equal to",
        "not_equals" => "not equal to",
        "less" | "less_than" => "less than",
        "greater" | "greater_than" => "greater than",
        "contains" => "that contains",
        "not_contains" => "that does not contain",
        // The contract does not define other operators, nor whether they have a value.
        "is_empty" => return format!("the attribute {name} that is empty {value}").trim_end().to_owned(),
        "is_not_empty" => return format!("the attribute {name} that is not empty {value}").trim_end().to_owned(),
        other => return format!("the attribute {name} {} {value}", other.replace('_', " ")).trim_end().to_owned(),
    };
    format!("the attribute {name} {words} {}", if value.is_empty() { "nothing" } else { &value })
}

/// Returns a condition on an attribute from its canonical JSON: `attribute age > 18`.
fn attribute_condition(written: &str) -> String {
    let Comparison { name, operator, value } = Comparison::of(written);
    let words = match operator.as_str() {
        "" if value.is_empty() => return format!("attribute {name}"),
        "" | "equals" => "=",
        "not_equals" => "!=",
        "less" | "less_than" => "<",
        "greater" | "greater_than" => ">",
        "contains" => "contains",
        "not_contains" => "does not contain",
        other => return format!("attribute {name} {} {value}", other.replace('_', " ")).trim_end().to_owned(),
    };
    format!("attribute {name} {words} {}", if value.is_empty() { "nothing" } else { &value })
}

/// The parts of a condition on an attribute.
struct Comparison {
    name: String,
    operator: String,
    value: String,
}

impl Comparison {
    fn of(written: &str) -> Self {
        let json: serde_json::Value = serde_json::from_str(written).unwrap_or_default();
        let part = |key: &str| match &json[key] {
            serde_json::Value::Null => String::new(),
            serde_json::Value::String(text) if text.is_empty() => "\"\"".to_owned(),
            serde_json::Value::String(text) => short(text).into_owned(),
            other => short(&other.to_string()).into_owned(),
        };
        Self { name: part("attribute"), operator: part("operator"), value: part("value") }
    }
}

fn names(values: &Among) -> String {
    listed(values, |value| short(value.text().unwrap_or_default()).into_owned())
}

fn listed(values: &Among, word: impl Fn(&Value) -> String) -> String {
    some_of(values.iter().map(word), "or", "more")
}

/// Joins words; if there are very many, the first ones and the number of the others.
pub(crate) fn some_of(words: impl ExactSizeIterator<Item = String>, joined: &str, more: &str) -> String {
    let number = words.len();
    let mut words: Vec<String> = words.take(if number > NAMED + 1 { NAMED } else { number }).collect();
    if words.len() < number {
        words.push(format!("{} {more}", number - words.len()));
    }
    if joined == "or" { text::any_of(&words) } else { text::all_of(&words) }
}

/// Returns a name for a sentence, quoted if it could be mistaken for the words around it.
fn short(name: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:,+@#…".contains(c);
    if !name.is_empty() && !name.chars().all(is_plain) {
        return Cow::Owned(text::quoted_short(name, NAME));
    }
    if name.len() <= NAME && text::is_printable(name) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(text::short(name, NAME))
}

/// Returns a name for use after `=`, quoted if it could be mistaken for a word of a condition.
fn name(name: &str) -> Cow<'_, str> {
    let is_taken = WORDS.contains(&name) || GROUPS.iter().any(|group| group.noun == name || group.shorthand == name);
    if is_taken || name.ends_with([',', ':']) { Cow::Owned(text::quoted_short(name, NAME)) } else { short(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_could_be_taken_for_other_words_is_quoted() {
        for (name, shown) in [
            ("vip", "vip"),
            ("night-owls", "night-owls"),
            ("America/New_York", "America/New_York"),
            ("Zürich", "Zürich"),
            ("buyer, or lapsed", "\"buyer, or lapsed\""),
            (">= 5.2", "\">= 5.2\""),
            ("iPhone17,1", "iPhone17,1"),
        ] {
            assert_eq!(short(name), shown);
        }
    }
}
