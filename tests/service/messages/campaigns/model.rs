//! What people receive, worked out from the facts of the service alone: no code of the service or of pushplan is used.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// A device, and what it reports.
#[derive(Clone, Debug)]
pub struct Phone {
    pub id: String,
    pub device_type: &'static str,
    pub zone: Option<&'static str>,
    pub language: Option<&'static str>,
    pub country: Option<&'static str>,
    pub is_reachable: bool,
    pub tags: BTreeSet<&'static str>,
    /// Tags of the group `crm`.
    pub crm: BTreeSet<&'static str>,
}

impl Phone {
    pub fn clock(&self) -> Option<TimeZone> {
        self.zone.map(|zone| TimeZone::get(zone).expect("a zone"))
    }
}

/// A tag that a device gets or loses.
#[derive(Clone, Debug)]
pub struct Tagging {
    pub at: Timestamp,
    /// The index of the device.
    pub phone: usize,
    pub tag: String,
    pub is_added: bool,
}

/// A title and a text.
pub type Shown = (Option<String>, String);

/// Whether a device is in an audience.
pub fn is_in(audience: &Value, phone: &Phone) -> bool {
    let any = |members: &Value| members.as_array().expect("members").iter().any(|member| is_in(member, phone));
    let every = |members: &Value| members.as_array().expect("members").iter().all(|member| is_in(member, phone));
    let Some(fields) = audience.as_object() else { return audience == "all" };
    match fields.iter().find(|(key, _)| *key != "group").map(|(key, value)| (key.as_str(), value)) {
        Some(("and", members)) => every(members),
        Some(("or", members)) => any(members),
        Some(("not", member)) => !is_in(member, phone),
        Some(("tag", tag)) => {
            let tag = tag.as_str().expect("a tag");
            match fields.get("group").and_then(Value::as_str) {
                None => phone.tags.contains(tag),
                Some("crm") => phone.crm.contains(tag),
                Some("timezone") => phone.zone.unwrap_or("NO_TIME_ZONE") == tag,
                Some("ua_locale_language") => phone.language.unwrap_or("Unknown") == tag,
                Some("ua_locale_country") => phone.country.unwrap_or("Unknown") == tag,
                other => panic!("the model has no group {other:?}"),
            }
        }
        other => panic!("the model has no selector {other:?}"),
    }
}

/// What a device shows of a push, if it gets it.
pub fn shown(push: &Value, phone: &Phone) -> Option<Shown> {
    let types = push["device_types"].as_array().expect("device types");
    if !phone.is_reachable || !types.iter().any(|one| one == phone.device_type) {
        return None;
    }
    let notification = localized(push, phone).unwrap_or(&push["notification"]);
    let own = &notification[phone.device_type];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let alert = text(&own["alert"]).or_else(|| text(&notification["alert"])).expect("a text");
    Some((text(&own["title"]), alert))
}

/// The content for the locale of a device: for its language and country, or else its language, or else its country.
fn localized<'p>(push: &'p Value, phone: &Phone) -> Option<&'p Value> {
    let all = push["localizations"].as_array()?;
    let (language, country) = (phone.language, phone.country);
    let wanted = [(language, country), (language, None), (None, country)];
    wanted.into_iter().filter(|wanted| *wanted != (None, None)).find_map(|wanted| {
        let own = |one: &&Value| (one["language"].as_str(), one["country"].as_str()) == wanted;
        all.iter().find(own).map(|one| &one["notification"])
    })
}

/// When a device gets a scheduled push.
pub fn scheduled(schedule: &Value, phone: &Phone) -> Option<Timestamp> {
    let civil = |text: &Value| text.as_str().expect("a time").parse::<DateTime>().expect("a time");
    if schedule["scheduled_time"].is_string() {
        return Some(TimeZone::UTC.to_timestamp(civil(&schedule["scheduled_time"])).expect("a time"));
    }
    let time = civil(&schedule["local_scheduled_time"]);
    phone.clock().map(|zone| zone.to_ambiguous_timestamp(time).compatible().expect("a time"))
}

/// The messages of a pipeline to one device, from its events in time order.
pub fn triggered(pipeline: &Value, phone: &Phone, events: &[&Tagging]) -> Vec<(Timestamp, Shown)> {
    let mut own = BTreeSet::new();
    let mut waiting: Vec<Timestamp> = Vec::new();
    let mut got: Vec<(Timestamp, Shown)> = Vec::new();
    let end = Timestamp::MAX;
    for event in events.iter().map(Some).chain([None]) {
        let until = event.map_or(end, |event| event.at);
        fire(pipeline, phone, &own, &mut waiting, until, &mut got);
        let Some(event) = event else { break };
        let is_news = if event.is_added { own.insert(event.tag.clone()) } else { own.remove(&event.tag) };
        if !is_news {
            continue;
        }
        let is =
            |trigger: &Value| trigger[if event.is_added { "tag_added" } else { "tag_removed" }] == event.tag.as_str();
        if is(&pipeline["cancellation_trigger"]) {
            waiting.clear();
        }
        if is(&pipeline["immediate_trigger"]) && is_live(pipeline, event.at) {
            let delay = pipeline["outcome"]["delay"].as_i64().unwrap_or(0);
            waiting.push(event.at + SignedDuration::from_secs(delay));
            fire(pipeline, phone, &own, &mut waiting, event.at, &mut got);
        }
    }
    got
}

/// Sends what is due by a time, as far as the pipeline lets it through.
fn fire(
    pipeline: &Value,
    phone: &Phone,
    own: &BTreeSet<String>,
    waiting: &mut Vec<Timestamp>,
    until: Timestamp,
    got: &mut Vec<(Timestamp, Shown)>,
) {
    loop {
        waiting.sort_unstable();
        let Some(due) = waiting.first().copied().filter(|due| *due <= until) else { return };
        waiting.remove(0);
        match allowed(&pipeline["timing"]["schedule"], phone, due) {
            Some(at) if at > due => waiting.push(at),
            Some(at)
                if is_live(pipeline, at)
                    && holds(&pipeline["condition"], phone, own)
                    && is_within(pipeline, got, at) =>
            {
                got.extend(shown(&pipeline["outcome"]["push"], phone).map(|shown| (at, shown)));
            }
            _ => {}
        }
    }
}

fn is_live(pipeline: &Value, at: Timestamp) -> bool {
    let time = |key: &str| {
        let civil: DateTime = pipeline[key].as_str()?.parse().expect("a time");
        Some(TimeZone::UTC.to_timestamp(civil).expect("a time"))
    };
    time("activation_time").is_none_or(|from| from <= at) && time("deactivation_time").is_none_or(|until| at < until)
}

/// Whether every set of a condition has a tag that holds.
fn holds(condition: &Value, phone: &Phone, own: &BTreeSet<String>) -> bool {
    condition.as_array().into_iter().flatten().all(|set| {
        set["or"].as_array().expect("tags").iter().any(|one| {
            let tag = one["tag"]["tag_name"].as_str().expect("a tag");
            let has = phone.tags.contains(tag) || own.contains(tag);
            has != (one["tag"]["negated"] == true)
        })
    })
}

/// Whether the limits let one more message through.
fn is_within(pipeline: &Value, got: &[(Timestamp, Shown)], at: Timestamp) -> bool {
    pipeline["constraint"].as_array().into_iter().flatten().all(|limit| {
        let rate = &limit["rate"];
        let hours = rate["hours"].as_i64().or_else(|| rate["days"].as_i64().map(|days| days * 24));
        let is_recent =
            |sent: Timestamp| hours.is_none_or(|hours| at.duration_since(sent) < SignedDuration::from_hours(hours));
        let recent = got.iter().filter(|(sent, _)| is_recent(*sent)).count();
        (recent as u64) < rate["pushes"].as_u64().expect("a number")
    })
}

/// When a message that is due may be sent: every quarter of an hour is tried, by the clock of the hours.
fn allowed(hours: &Value, phone: &Phone, due: Timestamp) -> Option<Timestamp> {
    if hours.is_null() {
        return Some(due);
    }
    let zone = if hours["type"] == "local" { phone.clock()? } else { TimeZone::UTC };
    let first = zone.to_datetime(due);
    let quarters = (0..8 * 24 * 4).map(|n| due + SignedDuration::from_mins(15 * n));
    for at in quarters {
        let local = zone.to_datetime(at);
        let is_later = at > due;
        let wait = hours["miss_behavior"] == "wait";
        if !wait && local.date() != first.date() {
            return None;
        }
        for daypart in hours["dayparts"].as_array().expect("dayparts") {
            let day = format!("{:?}", local.weekday()).to_lowercase();
            let is_day = daypart["days_of_week"].as_array().expect("days").iter().any(|one| *one == day);
            let times = daypart["allowed_times"].as_array().expect("times").iter().filter(|_| is_day);
            for time in times {
                let clock = |key: &str| time[key].as_str().map(|text| text.parse::<Time>().expect("a time"));
                let is_open = match (clock("start"), clock("end"), clock("preferred")) {
                    (Some(start), Some(end), None) => (start..end).contains(&local.time()) && (wait || !is_later),
                    (None, None, Some(preferred)) => preferred == local.time(),
                    _ => panic!("the model has no time {time}"),
                };
                if is_open {
                    return Some(at);
                }
            }
        }
    }
    None
}

/// The messages of all campaigns, by campaign and device.
pub type Received = BTreeMap<(usize, String), Vec<(Timestamp, Shown)>>;
