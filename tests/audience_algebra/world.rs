//! Every device that the rules allow, for a few conditions at a time, and the devices among them that a selector
//! matches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use pushplan::audience::{About, Fact, Platform, Value};
use pushplan::node::{At, Name};
use pushplan::nouns::audience::{Attribute, ChannelKey, Location, Months, Period, Recent, SegmentRef, Selector, Tag};
use pushplan::nouns::device::DeviceType;
use pushplan::nouns::vocabulary::GROUPS;
use pushplan::source::Span;

pub fn at<T>(value: T) -> At<T> {
    At::new(value, Span::NONE)
}

pub fn text(value: &str) -> At<String> {
    at(value.to_owned())
}

pub fn tag(tag: &str) -> Selector {
    Selector::Tag(Tag { tag: text(tag), group: None })
}

pub fn grouped(group: &str, tag: &str) -> Selector {
    Selector::Tag(Tag { tag: text(tag), group: Some(text(group)) })
}

pub fn channel(key: ChannelKey, id: &str) -> Selector {
    Selector::Channel(key, text(id))
}

pub fn all(members: Vec<Selector>) -> Selector {
    Selector::And(members.into_iter().map(at).collect())
}

pub fn any(members: Vec<Selector>) -> Selector {
    Selector::Or(members.into_iter().map(at).collect())
}

pub fn not(member: Selector) -> Selector {
    Selector::Not(Box::new(at(member)))
}

pub fn segment(key: &str) -> Selector {
    Selector::Segment(at(SegmentRef::Key(key.to_owned())))
}

pub fn seen(id: &str, months: Option<i64>) -> Selector {
    let date = months.map(|months| Period { recent: Recent { months: at(Months(months)) } });
    Selector::Location(Location { id: at(Name(id.to_owned())), date })
}

/// One device, as the service sees it.
#[derive(Clone, Debug, Default)]
pub struct Device {
    /// `ios`, `web`, `open::sms`.
    kind: String,
    /// Its tags in the groups that the service fills in.
    properties: BTreeMap<&'static str, String>,
    channel: String,
    address: Option<String>,
    user: Option<String>,
    /// The independent facts that are true, by their selectors.
    so: BTreeSet<String>,
    /// The number of months since it was seen somewhere.
    seen: BTreeMap<String, i64>,
}

/// A few conditions, and every device that they distinguish.
pub struct World {
    pub name: &'static str,
    pub conditions: Vec<Selector>,
    pub devices: Vec<Device>,
    /// By condition: the devices that meet it.
    sets: OnceLock<Vec<Set>>,
    /// Whether device types are distinguished.
    pub kinds: bool,
}

fn written(selector: &Selector) -> String {
    serde_json::to_string(selector).expect("a selector is JSON")
}

impl Device {
    /// Whether a single condition matches.
    fn meets(&self, selector: &Selector) -> bool {
        match selector {
            Selector::Tag(Tag { tag, group: Some(group) }) if GROUPS.iter().any(|one| one.id == group.value) => {
                let tag = if tag.value == "America/Sao_Paulo" { "America/Sao_Paolo" } else { &tag.value };
                self.properties.get(group.as_str()).is_some_and(|own| own == tag)
            }
            Selector::Channel(ChannelKey::Open, address) => self.address.as_ref() == Some(&address.value),
            Selector::Channel(key, id) => {
                key.device().is_none_or(|kind| kind.to_string() == self.kind) && self.channel == id.value
            }
            Selector::NamedUser(user) => self.user.as_ref() == Some(&user.value),
            Selector::Location(Location { id, date }) => self
                .seen
                .get(id.as_str())
                .is_some_and(|ago| date.as_ref().is_none_or(|period| *ago <= period.recent.months.0)),
            other => self.so.contains(&written(other)),
        }
    }

    /// Whether a fact that the algebra names is true.
    pub fn is(&self, Fact { about, values }: &Fact) -> bool {
        let texts: Vec<&str> = values.iter().filter_map(Value::text).collect();
        match about {
            About::Property(place) => {
                self.properties.get(GROUPS[*place].id).is_some_and(|own| texts.contains(&own.as_str()))
            }
            About::Kind => {
                values.iter().any(|value| matches!(value, Value::Kind(kind) if kind.to_string() == self.kind))
            }
            About::Address => self.address.as_deref().is_some_and(|own| texts.contains(&own)),
            About::NamedUser => self.user.as_deref().is_some_and(|own| texts.contains(&own)),
            About::Channel => {
                let own = match self.kind.as_str() {
                    "ios" => Platform::Ios,
                    "android" => Platform::Android,
                    "amazon" => Platform::Amazon,
                    _ => Platform::Other,
                };
                values.contains(&Value::Channel(self.channel.clone(), own))
            }
            About::Triggered => self.meets(&Selector::Triggered),
            About::Segment { name, .. } => self.meets(&segment(name)),
            About::Tag { group: None, tag: name } => self.meets(&tag(name)),
            About::Tag { group: Some(group), tag } => self.meets(&grouped(group, tag)),
            About::List(name) => self.meets(&Selector::StaticList(text(name))),
            About::Subscription(name) => self.meets(&Selector::SubscriptionList(text(name))),
            About::Place { id, months } => self.meets(&seen(id, *months)),
            About::Attribute(written) => self.so.contains(written),
        }
    }
}

/// A set of devices, by their indexes.
pub type Set = Vec<u64>;

impl World {
    fn new(name: &'static str, kinds: bool) -> Self {
        Self { name, conditions: vec![], devices: vec![Device::default()], sets: OnceLock::new(), kinds }
    }

    /// Varies each device in all of the given ways.
    fn each(mut self, ways: &[&dyn Fn(&mut Device)]) -> Self {
        let vary = |device: &Device| {
            let one = |way: &&dyn Fn(&mut Device)| {
                let mut device = device.clone();
                way(&mut device);
                device
            };
            ways.iter().map(one).collect::<Vec<_>>()
        };
        self.devices = self.devices.iter().flat_map(vary).collect();
        self
    }

    /// A condition that is independent of all others.
    fn free(mut self, selector: Selector) -> Self {
        let key = written(&selector);
        self.conditions.push(selector);
        self.each(&[&|_| {}, &|device| {
            device.so.insert(key.clone());
        }])
    }

    /// A group of which devices of one type, or all, have one tag. Adds conditions on all tags except those in
    /// brackets.
    fn property(mut self, group: &'static str, kind: Option<&str>, tags: &[&str]) -> Self {
        let bare = |tag: &str| tag.trim_matches(['(', ')']).to_owned();
        self.conditions.extend(tags.iter().filter(|tag| !tag.starts_with('(')).map(|tag| grouped(group, tag)));
        let with = |device: &Device, tag: &str| {
            let mut device = device.clone();
            device.properties.insert(group, bare(tag));
            device
        };
        let has = |device: &Device| kind.is_none_or(|kind| device.kind == kind);
        self.devices = self
            .devices
            .iter()
            .flat_map(|device| match has(device) {
                true => tags.iter().map(|tag| with(device, tag)).collect(),
                false => vec![device.clone()],
            })
            .collect();
        self
    }

    fn kinds(self, kinds: &'static [&str]) -> Self {
        let ways: Vec<_> = kinds.iter().map(|kind| |device: &mut Device| device.kind = (*kind).to_owned()).collect();
        let ways: Vec<&dyn Fn(&mut Device)> = ways.iter().map(|way| way as &dyn Fn(&mut Device)).collect();
        self.each(&ways)
    }

    fn users(mut self) -> Self {
        self.conditions.extend(["u1", "u2"].map(|user| Selector::NamedUser(text(user))));
        let user = |name: &'static str| move |device: &mut Device| device.user = Some(name.to_owned());
        self.each(&[&|_| {}, &user("u1"), &user("u2"), &user("another")])
    }

    fn channels(mut self) -> Self {
        for id in ["c1", "c2"] {
            self.conditions.extend(
                [ChannelKey::Ios, ChannelKey::Android, ChannelKey::Amazon, ChannelKey::Any].map(|key| channel(key, id)),
            );
        }
        self.conditions.extend(["x", "y"].map(|address| channel(ChannelKey::Open, address)));
        let id = |name: &'static str| move |device: &mut Device| device.channel = name.to_owned();
        let address = |name: &'static str| {
            move |device: &mut Device| {
                device.address = device.kind.starts_with("open::").then(|| name.to_owned());
            }
        };
        self.each(&[&id("c1"), &id("c2"), &id("another")]).each(&[&address("x"), &address("y"), &address("another")])
    }

    fn impossible(mut self, group: &'static str, tag: &str) -> Self {
        self.conditions.push(grouped(group, tag));
        self
    }

    /// Devices with an SDK before 6.0 do not report whether location is enabled, those from 6.0 on do, and others may.
    fn location(mut self) -> Self {
        const ID: &str = "ua_location_enabled";
        self.conditions.extend(["true", "false"].map(|tag| grouped(ID, tag)));
        let set = |tag: &'static str| {
            move |device: &mut Device| {
                device.properties.insert(ID, tag.to_owned());
            }
        };
        let mut world = self.each(&[&|_| {}, &set("true"), &set("false")]);
        world.devices.retain(|device| {
            let sdk = ["ua_ios_sdk_version", "ua_android_sdk_version"].iter().find_map(|id| device.properties.get(id));
            let major = sdk.and_then(|sdk| sdk.split('.').next()?.parse::<u32>().ok());
            major.is_none_or(|major| (major >= 6) == device.properties.contains_key(ID))
        });
        world
    }

    fn places(mut self) -> Self {
        self.conditions.extend([Some(1), Some(3), None].map(|months| seen("p", months)));
        self.conditions.push(seen("q", Some(2)));
        let ago = |id: &'static str, months: i64| {
            move |device: &mut Device| {
                device.seen.insert(id.to_owned(), months);
            }
        };
        self.each(&[&|_| {}, &ago("p", 1), &ago("p", 3), &ago("p", 12)]).each(&[&|_| {}, &ago("q", 2), &ago("q", 9)])
    }

    fn by(&self, test: impl Fn(&Device) -> bool) -> Set {
        let mut set = vec![0u64; self.devices.len().div_ceil(64)];
        for (place, _) in self.devices.iter().enumerate().filter(|(_, device)| test(device)) {
            set[place / 64] |= 1 << (place % 64);
        }
        set
    }

    /// The devices that meet a single condition.
    fn meeting(&self, condition: &Selector) -> Set {
        let sets = || self.conditions.iter().map(|one| self.by(|device| device.meets(one))).collect();
        let place = self.conditions.iter().position(|one| one == condition).expect("a condition of this world");
        self.sets.get_or_init(sets)[place].clone()
    }

    /// The devices that match a selector. Segments are looked up by their keys.
    pub fn members(&self, selector: &Selector, segments: &BTreeMap<String, Selector>) -> Set {
        let zip = |a: Set, b: Set, join: fn(u64, u64) -> u64| a.into_iter().zip(b).map(|(a, b)| join(a, b)).collect();
        match selector {
            Selector::All => self.by(|_| true),
            Selector::And(members) => {
                let sets = members.iter().map(|member| self.members(member, segments));
                sets.reduce(|a, b| zip(a, b, |a, b| a & b)).unwrap_or_else(|| self.by(|_| false))
            }
            Selector::Or(members) => {
                let sets = members.iter().map(|member| self.members(member, segments));
                sets.reduce(|a, b| zip(a, b, |a, b| a | b)).unwrap_or_else(|| self.by(|_| false))
            }
            Selector::Not(member) => zip(self.by(|_| true), self.members(member, segments), |a, b| a & !b),
            Selector::Segment(reference) => match &reference.value {
                SegmentRef::Key(key) if segments.contains_key(key) => self.members(&segments[key], segments),
                _ => self.meeting(selector),
            },
            single => self.meeting(single),
        }
    }

    /// The devices of these types.
    pub fn of_kinds(&self, kinds: &[DeviceType]) -> Set {
        let names: Vec<String> = kinds.iter().map(ToString::to_string).collect();
        self.by(|device| names.contains(&device.kind))
    }
}

/// Device types that a push can be sent to, and two that no test names.
static KINDS: [&str; 8] = ["ios", "android", "amazon", "web", "wns", "open::sms", "open::fax", "yet another"];

/// Conditions of every kind, in groups that are small enough to try every device.
pub fn worlds() -> Vec<World> {
    let attribute =
        Attribute { attribute: text("age"), operator: Some(text("greater")), value: Some(serde_json::json!(18)) };
    vec![
        World::new("tags", false)
            .free(tag("a"))
            .free(tag("b"))
            .free(grouped("g", "a"))
            .free(Selector::StaticList(text("l")))
            .free(Selector::SubscriptionList(text("l")))
            .users(),
        World::new("values", false)
            .property("ua_locale_country", None, &["US", "CA", "GB", "(FR)"])
            .property("ua_opt_in", None, &["true", "false"])
            .property("ua_background_enabled", None, &["true", "false"])
            .property("timezone", None, &["America/New_York", "America/Sao_Paolo", "(UTC)"])
            .impossible("timezone", "America/Sao_Paulo")
            .impossible("ua_opt_in", "maybe")
            .free(tag("a")),
        World::new("platforms", true)
            .kinds(&KINDS)
            .property("ua_ios_version", Some("ios"), &["8.2.X", "8.3.X", "(Unknown)"])
            .property("ua_ios_model", Some("ios"), &["iPhone7,2", "(iPhone7,1)"])
            .property("ua_android_version", Some("android"), &["5.0.X", "5.1.X", "(4.4.X)"])
            .property("ua_locale_language", None, &["de", "en", "(fr)"])
            .impossible("ua_ios_version", "8.3.1")
            .free(tag("a")),
        World::new("location", true)
            .kinds(&KINDS)
            .property("ua_ios_sdk_version", Some("ios"), &["5.1.X", "6.0.X", "Unknown", "(5.0.X)", "(6.1.X)"])
            .property("ua_android_sdk_version", Some("android"), &["4.0.X", "6.1.X", "(Unknown)", "(3.0.X)", "(6.0.X)"])
            .location()
            .free(tag("a")),
        World::new("channels", true).kinds(&KINDS).channels().free(tag("a")),
        World::new("places", false)
            .places()
            .free(Selector::Attribute(attribute))
            .free(segment("elsewhere"))
            .free(Selector::Triggered),
        World::new("mixed", false)
            .kinds(&["ios", "android", "amazon", "open::sms", "yet another"])
            .channels()
            .property("ua_ios_version", Some("ios"), &["8.3.X", "(8.2.X)"])
            .property("ua_locale_country", None, &["US", "CA", "(FR)"])
            .property("ua_opt_in", None, &["true", "false"])
            .users(),
    ]
}
