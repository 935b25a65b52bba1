//! Facts about one device, and the fact that a single selector states.

use super::among::Among;
use super::value::{DeviceClass, Value};
use crate::node::At;
use crate::nouns::audience::{ChannelKey, Location, SegmentRef, Selector, Tag};
use crate::nouns::device::{DeviceType, DeviceTypes};
use crate::nouns::vocabulary::{
    self, COUNTRIES, GROUPS, Group, LANGUAGES, NO_TIME_ZONE, Platform, SAO_PAULO_IANA, TIME_ZONE, Values, ZONES,
};
use crate::source::Span;

/// A property of a device.
///
/// The order is that of canonical forms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum About {
    /// Whether it triggered the pipeline.
    Triggered,
    /// Whether it is in a segment that is unknown here.
    Segment {
        name: String,
        outside: bool,
    },
    /// Whether it has a tag that was set by people or apps.
    Tag {
        group: Option<String>,
        tag: String,
    },
    /// Its one value in a group that the service fills in, given as an index of [`GROUPS`].
    Property(usize),
    /// Its kind of device. There is only one.
    Kind,
    /// Its id, because a device is one channel.
    Channel,
    /// Its address, if it is an open channel.
    Address,
    /// Its named user. There is at most one.
    NamedUser,
    /// Whether it is on an uploaded list.
    List(String),
    Subscription(String),
    /// Whether it was seen in a place within a number of months, or ever.
    Place {
        id: String,
        months: Option<i64>,
    },
    /// Whether a condition on an attribute holds, as written.
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

/// A device has one of these values.
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

    /// Whether a device can have this value.
    pub fn can_be(&self, value: &Value) -> bool {
        let (Some(group), Value::Text(tag)) = (self.group(), value) else { return true };
        match group.values {
            Values::TimeZone | Values::Flag | Values::Language | Values::Country => group.accepts(tag),
            // The contract's lists of versions end at its date, and newer devices exist.
            Values::Version(_) => group.sentinel() == Some(tag) || vocabulary::is_well_formed(tag),
            Values::AppVersion | Values::Model => !tag.is_empty(),
        }
    }

    /// Returns the number of values, if every device has one from a closed list.
    pub fn count(&self) -> Option<usize> {
        match self.group()?.values {
            // Only devices with SDK 6.0 or later report whether location is enabled.
            Values::Flag => (!self.is_location()).then_some(2),
            Values::TimeZone => Some(ZONES.len() + 1),
            Values::Language => Some(LANGUAGES.len() + 1),
            Values::Country => Some(COUNTRIES.len() + 1),
            Values::AppVersion | Values::Version(_) | Values::Model => None,
        }
    }

    /// Returns how laws treat a value: values with the same case are equal to them. Values that laws name have a case
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

    /// Returns the only kind of device that has a value of it.
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

/// Whether an SDK version is 6.0 or later; `None` if that is unknown.
pub(crate) fn tells_location(version: &Value) -> Option<bool> {
    let text = version.text().filter(|text| vocabulary::is_well_formed(text))?;
    // A number too large to parse is a large number.
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

    /// Returns the fact that a selector states; `None` for `all` and compounds.
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

    /// A segment that is unknown here.
    pub fn segment(reference: &SegmentRef) -> Self {
        let (name, outside) = match reference {
            SegmentRef::Key(key) => (key, false),
            SegmentRef::Id(id) => (id, true),
        };
        Self::is(About::Segment { name: name.clone(), outside })
    }

    /// Returns the kinds of device that a push is sent to; `None` for all of them.
    pub fn devices(devices: &DeviceTypes) -> Option<Self> {
        let kinds = devices.named().iter().map(|device| Value::Kind(device.value.clone()));
        (*devices != DeviceTypes::All).then(|| Self::new(About::Kind, kinds))
    }

    /// Returns the fact that a device has no time zone.
    pub(super) fn no_time_zone() -> Self {
        let text = |text: &str| At::new(text.to_owned(), Span::NONE);
        Self::tag(&Tag { tag: text(NO_TIME_ZONE), group: Some(text(TIME_ZONE)) })
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

/// Returns a tag in the spelling of the contract. Only Sao Paulo has two spellings.
fn spelled<'t>(group: &Group, tag: &'t str) -> &'t str {
    match group.values {
        Values::TimeZone if tag == SAO_PAULO_IANA => vocabulary::SAO_PAULO_TAG,
        _ => tag,
    }
}
