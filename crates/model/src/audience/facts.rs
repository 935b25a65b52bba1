//! What can be said of one device, and what a single selector says.

use super::among::Among;
use super::value::{DeviceClass, Value};
use crate::nouns::audience::{ChannelKey, Location, SegmentRef, Selector, Tag};
use crate::nouns::device::{DeviceType, DeviceTypes};
use crate::nouns::vocabulary::{self, COUNTRIES, GROUPS, Group, LANGUAGES, Platform, SAO_PAULO_IANA, Values, ZONES};

/// Something to be known of a device.
///
/// The order is that of canonical forms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum About {
    /// Whether it set off the pipeline.
    Triggered,
    /// Whether it is in a segment of which no more is known here.
    Segment {
        name: String,
        outside: bool,
    },
    /// Whether it carries a tag that people or apps give.
    Tag {
        group: Option<String>,
        tag: String,
    },
    /// Its one value in a group that the service fills in: a place in [`GROUPS`].
    Property(usize),
    /// The one kind of device that it is.
    Kind,
    /// Its id: a device is one channel.
    Channel,
    /// Its address, if it is an open channel.
    Address,
    /// The one named user that it belongs to.
    NamedUser,
    /// Whether it is on an uploaded list.
    List(String),
    Subscription(String),
    /// Whether it was seen somewhere within a number of months, or ever.
    Place {
        id: String,
        months: Option<i64>,
    },
    /// Whether a condition on an attribute holds, as it is written.
    Attribute(String),
}

/// See [`About::case`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Case<'v> {
    Alike,
    Impossible,
    Line(DeviceClass),
    Sdk(Option<bool>),
    Own(&'v Value),
}

/// What is known of a device is one of these values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fact {
    pub about: About,
    pub values: Among,
}

impl About {
    /// The group of a property.
    pub fn group(&self) -> Option<&'static Group> {
        match self {
            Self::Property(place) => GROUPS.get(*place),
            _ => None,
        }
    }

    /// Whether any device can have this value.
    pub fn can_be(&self, value: &Value) -> bool {
        let (Some(group), Value::Text(tag)) = (self.group(), value) else { return true };
        match group.values {
            Values::TimeZone | Values::Flag | Values::Language | Values::Country => group.accepts(tag),
            // The lists of the contract end in its day, and devices go on.
            Values::Version(_) => group.sentinel() == Some(tag) || vocabulary::is_well_formed(tag),
            Values::AppVersion | Values::Model => !tag.is_empty(),
        }
    }

    /// How many values there are, where every device has one of a closed list.
    pub fn count(&self) -> Option<usize> {
        match self.group()?.values {
            // Only devices with SDK 6.0 or later say whether location is enabled.
            Values::Flag => (!self.is_location()).then_some(2),
            Values::TimeZone => Some(ZONES.len() + 1),
            Values::Language => Some(LANGUAGES.len() + 1),
            Values::Country => Some(COUNTRIES.len() + 1),
            Values::AppVersion | Values::Version(_) | Values::Model => None,
        }
    }

    /// What laws make of a value: values with one case are the same to them. Those that they speak of by name have a case
    /// of their own.
    pub fn case<'v>(&self, value: &'v Value) -> Case<'v> {
        match value {
            Value::Channel(_, line) => Case::Line(*line),
            value if !self.can_be(value) => Case::Impossible,
            value if self.is_sdk() => Case::Sdk(tells_location(value)),
            Value::Text(_) if !self.is_location() => Case::Alike,
            value => Case::Own(value),
        }
    }

    pub fn is_location(&self) -> bool {
        self.group().is_some_and(|group| group.id == "ua_location_enabled")
    }

    pub(crate) fn is_sdk(&self) -> bool {
        self.group().is_some_and(|group| matches!(group.id, "ua_ios_sdk_version" | "ua_android_sdk_version"))
    }

    /// The kind of device that alone has a value of it.
    pub fn kind(&self) -> Option<DeviceType> {
        match self.group()?.platform? {
            Platform::Ios => Some(DeviceType::Ios),
            Platform::Android => Some(DeviceType::Android),
        }
    }
}

impl Value {
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Whether an SDK version is 6.0 or later; `None` where that is unknown.
pub(crate) fn tells_location(version: &Value) -> Option<bool> {
    let text = version.text().filter(|text| vocabulary::is_well_formed(text))?;
    // A number too large to read is a large number.
    Some(text.split('.').next()?.parse::<u64>().map_or(true, |major| major >= 6))
}

impl Fact {
    pub fn new(about: About, values: impl IntoIterator<Item = Value>) -> Self {
        Self { about, values: values.into_iter().collect() }
    }

    fn is(about: About) -> Self {
        Self::new(about, [Value::Yes])
    }

    fn one(about: About, value: &str) -> Self {
        Self::new(about, [Value::Text(value.to_owned())])
    }

    /// What a selector says by itself; `None` for `all` and compounds.
    pub fn of(selector: &Selector) -> Option<Self> {
        Some(match selector {
            Selector::All | Selector::And(_) | Selector::Or(_) | Selector::Not(_) => return None,
            Selector::Triggered => Self::is(About::Triggered),
            Selector::Tag(tag) => Self::tag(tag),
            Selector::Channel(key, id) => Self::channel(*key, id),
            Selector::NamedUser(id) => Self::one(About::NamedUser, id),
            Selector::Segment(reference) => Self::segment(reference),
            Selector::StaticList(name) => Self::is(About::List(name.value.clone())),
            Selector::SubscriptionList(name) => Self::is(About::Subscription(name.value.clone())),
            Selector::Location(Location { id, date }) => {
                let months = date.as_ref().map(|period| period.recent.months.0);
                Self::is(About::Place { id: id.to_string(), months })
            }
            Selector::Attribute(_) => {
                let written = serde_json::to_value(selector).map(|value| value.to_string());
                Self::is(About::Attribute(written.unwrap_or_default()))
            }
        })
    }

    /// A segment of which no more is known.
    pub fn segment(reference: &SegmentRef) -> Self {
        let (name, outside) = match reference {
            SegmentRef::Key(key) => (key, false),
            SegmentRef::Id(id) => (id, true),
        };
        Self::is(About::Segment { name: name.clone(), outside })
    }

    /// The kinds of device that a push goes to; `None` for all of them.
    pub fn devices(devices: &DeviceTypes) -> Option<Self> {
        let kinds = devices.named().iter().map(|device| Value::Kind(device.value.clone()));
        (*devices != DeviceTypes::All).then(|| Self::new(About::Kind, kinds))
    }

    fn tag(Tag { tag, group }: &Tag) -> Self {
        let group = group.as_ref().map(|group| group.value.as_str()).filter(|group| !group.is_empty());
        match group.and_then(|id| GROUPS.iter().position(|group| group.id == id)) {
            Some(place) => Self::one(About::Property(place), spelled(&GROUPS[place], tag)),
            None => Self::is(About::Tag { group: group.map(str::to_owned), tag: tag.value.clone() }),
        }
    }

    fn channel(key: ChannelKey, id: &str) -> Self {
        let of = |lines: &[DeviceClass]| {
            Self::new(About::Channel, lines.iter().map(|line| Value::Channel(id.to_owned(), *line)))
        };
        match key {
            ChannelKey::Open => Self::one(About::Address, id),
            ChannelKey::Any => of(&DeviceClass::ALL),
            ChannelKey::Ios => of(&[DeviceClass::Ios]),
            ChannelKey::Android => of(&[DeviceClass::Android]),
            ChannelKey::Amazon => of(&[DeviceClass::Amazon]),
        }
    }
}

/// A tag in the spelling of the contract: only Sao Paulo has two.
fn spelled<'t>(group: &Group, tag: &'t str) -> &'t str {
    match group.values {
        Values::TimeZone if tag == SAO_PAULO_IANA => vocabulary::SAO_PAULO_TAG,
        _ => tag,
    }
}
