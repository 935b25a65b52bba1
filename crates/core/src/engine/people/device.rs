//! A whole device from an example: everything that the example requires, and usual values for the rest.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use pushplan_model::audience::{About, ExampleDevice, Platform as DeviceClass, Value};
use pushplan_model::nouns::audience::Having;
use pushplan_model::nouns::device::DeviceType;
use pushplan_model::nouns::vocabulary::{self, COUNTRIES, GROUPS, LANGUAGES, NO_TIME_ZONE, UNKNOWN, ZONES, zones_of};
use pushplan_service::state::devices::nearest_zone;
use serde_json::{Value as Json, json};

use super::attributes;

/// A device in a form that the built-in service accepts.
#[derive(Clone, Debug, PartialEq)]
pub struct ExampleForm {
    /// Its channel id, if the example requires one.
    pub channel: Option<String>,
    pub device_type: String,
    /// Its time zone, by its IANA name; UTC if the example requires an unknown one.
    pub zone: String,
    /// In the form of the control API.
    pub form: Json,
}

/// Countries, versions and similar values that devices have unless an example excludes them.
const COUNTRY: [&str; 6] = ["US", "GB", "DE", "FR", "JP", "AU"];
const LANGUAGE: [&str; 4] = ["en", "de", "fr", "es"];
const ZONE: [&str; 3] = ["America/New_York", "Europe/London", "Europe/Berlin"];
const APP_VERSION: [&str; 4] = ["1.0", "2.0", "1.1", "3.0"];
const MODEL: [&str; 3] = ["iPhone15,2", "iPhone14,5", "iPhone13,2"];
/// In the form in which a device reports them. Location is reported from SDK 6.0 on.
const OS_VERSION: [&str; 4] = ["17.0.0", "16.0.0", "15.0.0", "14.0.0"];
const SDK_VERSION: [&str; 4] = ["17.1.0", "16.1.0", "15.1.0", "14.1.0"];
const OLD_SDK_VERSION: [&str; 4] = ["5.1.0", "4.1.0", "3.1.0", "2.1.0"];

/// A version of an SDK that has no family of versions.
const NO_FAMILY: &str = "17";

/// The requirements of an example for one property: a value, or excluded values.
#[derive(Default)]
struct Required<'e> {
    is: Option<&'e str>,
    not: BTreeSet<&'e str>,
}

impl Required<'_> {
    /// The required tag, or the first usual one that is not excluded.
    fn tag(&self, usual: impl IntoIterator<Item = String>) -> Option<String> {
        match self.is {
            Some(tag) => Some(tag.to_owned()),
            None => usual.into_iter().find(|tag| !self.not.contains(tag.as_str())),
        }
    }

    /// A version whose family is the required tag, or a usual one of a family that is not excluded. `None` for an
    /// unknown version.
    fn version(&self, usual: &[&str]) -> Option<String> {
        match self.is {
            Some(UNKNOWN) => None,
            Some(tag) => Some(format!("{}.0", tag.trim_end_matches(".X"))),
            None => {
                let family = |version: &str| vocabulary::family(version).unwrap_or_default();
                usual.iter().find(|version| !self.not.contains(family(version).as_str())).map(|one| (*one).to_owned())
            }
        }
    }
}

/// Builds a device with the traits of an example. `None` if that depends on something that only the real service knows:
/// whether a device is in an unmanaged segment, or the meaning of an unknown operator.
pub fn device(example: &ExampleDevice, now: Timestamp) -> Option<ExampleForm> {
    let traits: Vec<_> = example.traits().collect();
    let mut tags: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let (mut lists, mut subscriptions, mut users) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut kind, mut channel, mut address, mut user) = (Required::default(), None, None, None);
    let mut properties: BTreeMap<&str, Required> = BTreeMap::new();
    let mut places: BTreeMap<&str, Vec<(Option<i64>, bool)>> = BTreeMap::new();
    let mut conditions = Vec::new();
    let mut platforms: Vec<DeviceType> = Vec::new();
    let kinds: Vec<(Vec<String>, bool)> = traits
        .iter()
        .filter(|(fact, _)| fact.about == About::Kind)
        .map(|(fact, so)| (fact.values.iter().filter_map(kind_name).collect(), *so))
        .collect();
    for (names, so) in &kinds {
        required(&mut kind, names.iter().map(String::as_str), *so);
    }
    for (fact, so) in &traits {
        match &fact.about {
            About::Kind => {}
            About::Triggered | About::Segment { .. } if *so => return None,
            About::Triggered | About::Segment { .. } => {}
            About::Tag { group, tag } => {
                let (group, reason) = Having::of(group.as_deref().unwrap_or_default());
                match (so, reason) {
                    (true, Some(Having::ThroughUser)) => return None,
                    (true, _) => drop(tags.entry(group).or_default().insert(tag)),
                    // It has the tag through its named user.
                    (false, Some(Having::Itself)) => drop(users.insert((group, tag.as_str()))),
                    (false, _) => {}
                }
            }
            About::Property(place) => {
                let group = &GROUPS[*place];
                platforms.extend(fact.about.kind().filter(|_| *so));
                required(properties.entry(group.id).or_default(), fact.values.iter().filter_map(Value::text), *so);
            }
            About::Channel => {
                if let (true, Some(Value::Channel(id, class))) = (*so, fact.values.iter().next()) {
                    channel = Some(id.clone());
                    platforms.extend(class.kind());
                    if *class == DeviceClass::Other {
                        kind.not.extend(["ios", "android", "amazon"]);
                    }
                }
            }
            About::Address if *so => {
                address = fact.values.iter().find_map(Value::text);
                kind.not.extend(["ios", "android", "amazon", "web"]);
            }
            About::NamedUser if *so => user = fact.values.iter().find_map(Value::text),
            About::Address | About::NamedUser => {}
            About::List(name) if *so => drop(lists.insert(name)),
            About::Subscription(name) if *so => drop(subscriptions.insert(name)),
            About::List(_) | About::Subscription(_) => {}
            About::Place { id, months } => places.entry(id).or_default().push((*months, *so)),
            About::Attribute(written) => conditions.push((written.as_str(), *so)),
        }
    }
    tags.iter_mut().for_each(|(group, tags)| tags.retain(|tag| !users.contains(&(*group, *tag))));
    let platforms = platforms.iter().map(ToString::to_string);
    let usual = ["ios", "android", "web", "amazon", "open::sms", "open::email"].map(str::to_owned);
    let device_type = kind.tag(platforms.chain(usual))?;
    let mut form = self::properties(&properties, &device_type)?;
    let zone = form["properties"]["timezone"].as_str().unwrap_or("UTC").to_owned();
    form["device_type"] = json!(device_type);
    form["named_user"] = json!(user);
    form["address"] = json!(address);
    form["tags"] = json!(tags);
    form["lists"] = json!(lists);
    form["subscriptions"] = json!(subscriptions);
    form["attributes"] = json!(attributes::values(&conditions)?);
    form["seen_at"] = json!(seen(&places, now)?);
    Some(ExampleForm { channel, device_type, zone, form })
}

fn kind_name(value: &Value) -> Option<String> {
    match value {
        Value::Kind(kind) => Some(kind.to_string()),
        _ => None,
    }
}

fn required<'e>(into: &mut Required<'e>, values: impl Iterator<Item = &'e str>, so: bool) {
    match so {
        true => into.is = values.into_iter().next(),
        false => into.not.extend(values),
    }
}

/// The properties and flags of a device, by the groups of tags that the service derives from them.
fn properties(required: &BTreeMap<&str, Required>, device_type: &str) -> Option<Json> {
    let none = Required::default();
    let of = |group: &str| required.get(group).unwrap_or(&none);
    let own = |what: &str| of_platform(required, device_type, what).unwrap_or(&none);
    let known = |tag: String| (tag != UNKNOWN && tag != NO_TIME_ZONE).then_some(tag);
    let country = of("ua_locale_country").tag(usual(&COUNTRY, codes(COUNTRIES), UNKNOWN))?;
    let language = of("ua_locale_language").tag(usual(&LANGUAGE, codes(LANGUAGES), UNKNOWN))?;
    let zone = of("timezone");
    // A zone that the service does not list counts as the nearest listed one.
    let own_zone = zones_of(&country).find(|name| zone.is.is_none() && !zone.not.contains(nearest_zone(name)));
    let zone = match own_zone {
        Some(name) => Some(name.to_owned()),
        None => {
            let tag = zone.tag(usual(&ZONE, ZONES.iter().map(|zone| zone.tag), NO_TIME_ZONE))?;
            known(tag).map(|tag| vocabulary::iana(&tag).to_owned())
        }
    };
    let flag = |group: &str| Some(of(group).tag(["true", "false"].map(str::to_owned))? == "true");
    // Devices report from SDK 6.0 on whether location is enabled, and then always.
    let location = of("ua_location_enabled");
    let is_silent = ["true", "false"].iter().all(|flag| location.not.contains(flag));
    let sdk = own("sdk_version").version(if is_silent { &OLD_SDK_VERSION } else { &SDK_VERSION });
    // A version without a known family reports whether location is enabled, too.
    let sdk = sdk.or_else(|| location.is.map(|_| NO_FAMILY.to_owned()));
    let mut told = json!({
        "country": known(country),
        "language": known(language),
        "timezone": zone,
        "app_version": known(own("app_version").tag(usual(&APP_VERSION, [], UNKNOWN))?),
        "model": known(own("model").tag(usual(&MODEL, [], UNKNOWN))?),
        "os_version": own("version").version(&OS_VERSION),
        "sdk_version": sdk,
    });
    told.as_object_mut()?.retain(|_, value| !value.is_null());
    Some(json!({
        "opt_in": flag("ua_opt_in")?,
        "background": flag("ua_background_enabled")?,
        "location": location.is == Some("true") || location.not.contains("false"),
        "properties": told,
    }))
}

/// The requirements for a property that devices of one platform have: `ua_ios_version`.
fn of_platform<'r, 'e>(
    required: &'r BTreeMap<&str, Required<'e>>,
    device_type: &str,
    what: &str,
) -> Option<&'r Required<'e>> {
    required.get(format!("ua_{device_type}_{what}").as_str())
}

/// Values in the order in which they are tried: usual ones, all others, and unknown.
fn usual<'v>(first: &[&'v str], all: impl IntoIterator<Item = &'v str>, unknown: &'v str) -> Vec<String> {
    first.iter().copied().chain(all).chain([unknown]).map(str::to_owned).collect()
}

fn codes(all: &'static [(&'static str, &'static str)]) -> impl Iterator<Item = &'static str> {
    all.iter().map(|(code, _)| *code)
}

/// When a device was last seen at places, for conditions that are met or not: within a number of months, or ever.
fn seen(places: &BTreeMap<&str, Vec<(Option<i64>, bool)>>, now: Timestamp) -> Option<BTreeMap<String, Timestamp>> {
    let mut found = BTreeMap::new();
    for (id, periods) in places {
        if !periods.iter().any(|(_, so)| *so) {
            continue;
        }
        let outside = periods.iter().filter(|(_, so)| !so).filter_map(|(months, _)| *months).max();
        let zoned = now.to_zoned(TimeZone::UTC);
        let at = match outside {
            None => zoned,
            Some(months) => zoned
                .checked_sub(jiff::Span::new().try_months(months).ok()?)
                .and_then(|at| at.checked_sub(jiff::Span::new().days(1)))
                .ok()?,
        };
        found.insert((*id).to_owned(), at.timestamp());
    }
    Some(found)
}
