//! Selectors of audiences, as the contract and the live service define them.

mod read;
pub mod schema;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::device::DeviceType;
use crate::node::{At, Name, shape};
use crate::source::Span;

/// One condition on devices, or several joined.
///
/// Shorthands (`country: US`) and value lists (`tag: [a, b]`) no longer exist once a selector is read: they are tags of
/// the service's own groups, and an `OR`.
#[derive(Clone, Debug, PartialEq)]
pub enum Selector {
    /// Every device.
    All,
    /// The device that triggered the pipeline.
    Triggered,
    Tag(Tag),
    Channel(ChannelKey, At<String>),
    /// All channels of a named user.
    NamedUser(At<String>),
    Segment(At<SegmentRef>),
    /// An uploaded list or a lifecycle list.
    StaticList(At<String>),
    SubscriptionList(At<String>),
    Location(Location),
    Attribute(Attribute),
    And(Vec<At<Selector>>),
    Or(Vec<At<Selector>>),
    Not(Box<At<Selector>>),
}

/// A tag, with its tag group if there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tag {
    pub tag: At<String>,
    pub group: Option<At<String>>,
}

/// The reason why a device has a tag of a group. The service's selectors do not tell them apart; comparisons do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Having {
    Itself,
    ThroughUser,
}

impl Having {
    /// Begins the name of the group in a condition on one of the reasons. No group in a file contains it.
    fn mark(self) -> char {
        match self {
            Self::Itself => '\0',
            Self::ThroughUser => '\u{1}',
        }
    }

    /// The condition that a device has a tag for this reason.
    pub fn tag(self, group: &str, tag: &str) -> Tag {
        let at = |text: String| At::new(text, Span::NONE);
        Tag { tag: at(tag.to_owned()), group: Some(at(format!("{}{group}", self.mark()))) }
    }

    /// Returns the group of a tag, and the reason that the condition is about.
    pub fn of(group: &str) -> (&str, Option<Self>) {
        let of = |reason: Self| Some((group.strip_prefix(reason.mark())?, Some(reason)));
        of(Self::Itself).or_else(|| of(Self::ThroughUser)).unwrap_or((group, None))
    }
}

/// The key of a selector for one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKey {
    Ios,
    Android,
    Amazon,
    Any,
    Open,
}

impl ChannelKey {
    pub const ALL: [ChannelKey; 5] = [Self::Ios, Self::Android, Self::Amazon, Self::Any, Self::Open];

    pub fn key(self) -> &'static str {
        match self {
            Self::Ios => "ios_channel",
            Self::Android => "android_channel",
            Self::Amazon => "amazon_channel",
            Self::Any => "channel",
            Self::Open => "open_channel",
        }
    }

    /// Returns the device type of such a channel; `None` if it can have several.
    pub fn device(self) -> Option<DeviceType> {
        match self {
            Self::Ios => Some(DeviceType::Ios),
            Self::Android => Some(DeviceType::Android),
            Self::Amazon => Some(DeviceType::Amazon),
            Self::Any | Self::Open => None,
        }
    }
}

/// A segment of the project by key, or one outside of git by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentRef {
    Key(String),
    Id(String),
}

shape! {
    /// Devices seen at a place within a recent period.
    pub struct Location as "a location id and a period" {
        /// The id of the location.
        id: At<Name>,
        /// The period [default: any time].
        date: Option<Period>,
    }
}

shape! {
    /// A period that ends now.
    pub struct Period as "a recent period" {
        /// The length of the period.
        recent: Recent,
    }
}

shape! {
    /// The length of a recent period.
    pub struct Recent as "a number of months" {
        /// The number of months before now.
        months: At<Months>,
    }
}

/// A number of months, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Months(pub i64);

/// A condition on an attribute, which the contract does not describe.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub attribute: At<String>,
    pub operator: Option<At<String>>,
    pub value: Option<serde_json::Value>,
}

impl Attribute {
    /// Whether a device without the attribute matches.
    pub fn matches_missing(&self) -> bool {
        let operator = self.operator.as_ref().map(|operator| operator.as_str());
        matches!(operator, Some("not_equals" | "not_contains" | "is_empty"))
    }
}

impl Selector {
    /// Returns the members of a compound; none for other selectors.
    pub fn members(&self) -> &[At<Selector>] {
        match self {
            Self::And(members) | Self::Or(members) => members,
            Self::Not(member) => std::slice::from_ref(member),
            _ => &[],
        }
    }
}

impl At<Selector> {
    /// Visits this selector and all within it, outermost first.
    pub fn walk<'s>(&'s self, visit: &mut dyn FnMut(&'s At<Selector>)) {
        visit(self);
        for member in self.members() {
            member.walk(visit);
        }
    }

    /// Returns the segments of the project that it names.
    pub fn segments(&self) -> Vec<At<String>> {
        let mut found = Vec::new();
        self.walk(&mut |selector| {
            if let Selector::Segment(reference) = &selector.value
                && let SegmentRef::Key(key) = &reference.value
            {
                found.push(At::new(key.clone(), reference.span));
            }
        });
        found
    }
}

impl Serialize for Selector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = match self {
            Self::All => return serializer.serialize_str("all"),
            Self::Triggered => return serializer.serialize_str("triggered"),
            _ => serializer.serialize_map(None)?,
        };
        match self {
            Self::All | Self::Triggered => {}
            Self::Tag(Tag { tag, group }) => {
                map.serialize_entry("tag", tag)?;
                if let Some(group) = group {
                    map.serialize_entry("group", group)?;
                }
            }
            Self::Channel(key, id) => map.serialize_entry(key.key(), id)?,
            Self::NamedUser(id) => map.serialize_entry("named_user", id)?,
            Self::Segment(reference) => match &reference.value {
                SegmentRef::Key(key) => map.serialize_entry("segment", key)?,
                SegmentRef::Id(id) => map.serialize_entry("segment", &serde_json::json!({ "id": id }))?,
            },
            Self::StaticList(name) => map.serialize_entry("static_list", name)?,
            Self::SubscriptionList(name) => map.serialize_entry("subscription_list", name)?,
            Self::Location(location) => map.serialize_entry("location", location)?,
            Self::Attribute(Attribute { attribute, operator, value }) => {
                map.serialize_entry("attribute", attribute)?;
                if let Some(operator) = operator {
                    map.serialize_entry("operator", operator)?;
                }
                if let Some(value) = value {
                    map.serialize_entry("value", value)?;
                }
            }
            Self::And(members) => map.serialize_entry("AND", members)?,
            Self::Or(members) => map.serialize_entry("OR", members)?,
            Self::Not(member) => map.serialize_entry("NOT", member)?,
        }
        map.end()
    }
}

/// Segments in the canonical form of a selector, as stored in specs.
pub mod written {
    use serde_json::{Value, json};

    /// Whether a written selector names a segment.
    pub fn names_any(selector: &Value) -> bool {
        let mut names = false;
        visit(selector, &mut |_| names = true);
        names
    }

    /// Returns the keys of the segments that a written selector names, in their order.
    pub fn segments(selector: &Value) -> Vec<&str> {
        let mut found = Vec::new();
        visit(selector, &mut |reference| found.extend(reference.as_str()));
        found
    }

    /// Returns the ids of the segments that it names by id.
    pub fn ids(selector: &Value) -> Vec<&str> {
        let mut found = Vec::new();
        visit(selector, &mut |reference| found.extend(reference.get("id").and_then(Value::as_str)));
        found
    }

    /// Replaces each reference to a segment: a key for one of the project, `{id: ...}` for one outside of git.
    pub fn point(selector: &mut Value, to: &mut dyn FnMut(&Value) -> Value) {
        let Value::Object(map) = selector else { return };
        for (key, value) in map {
            match (key.as_str(), &mut *value) {
                ("AND" | "OR", Value::Array(members)) => members.iter_mut().for_each(|member| point(member, to)),
                ("NOT", member) => point(member, to),
                ("segment", reference) => *reference = to(reference),
                _ => {}
            }
        }
    }

    /// Returns a reference to a segment outside of git.
    pub fn outside(id: &str) -> Value {
        json!({ "id": id })
    }

    fn visit<'v>(selector: &'v Value, see: &mut dyn FnMut(&'v Value)) {
        let Value::Object(map) = selector else { return };
        for (key, value) in map {
            match (key.as_str(), value) {
                ("AND" | "OR", Value::Array(members)) => members.iter().for_each(|member| visit(member, see)),
                ("NOT", member) => visit(member, see),
                ("segment", reference) => see(reference),
                _ => {}
            }
        }
    }
}
