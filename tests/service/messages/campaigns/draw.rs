//! Random devices and random campaigns.

use jiff::Timestamp;
use jiff::civil::{DateTime, date};
use pushplan_testing::Dice;
use serde_json::{Value, json};

use super::model::{Phone, Tagging};

const ZONES: [&str; 12] = [
    "America/Los_Angeles",
    "America/New_York",
    "America/Halifax",
    "America/Bogota",
    "Europe/London",
    "Europe/Paris",
    "Africa/Lagos",
    "Asia/Kolkata",
    "Asia/Tokyo",
    "Australia/Adelaide",
    "Australia/Sydney",
    "Pacific/Auckland",
];
const LOCALES: [(&str, &str); 6] = [("en", "US"), ("en", "GB"), ("de", "DE"), ("de", "AT"), ("fr", "FR"), ("pt", "BR")];
const TYPES: [&str; 4] = ["ios", "android", "amazon", "web"];
const TAGS: [&str; 5] = ["new", "buyer", "lapsed", "beta", "news"];
const CRM: [&str; 3] = ["gold", "silver", "partner"];
const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Clocks change within these days: in Europe on 28 March, in Adelaide, Sydney and Auckland on 4 April.
const DAYS_OF_SENDS: usize = 20;

fn one(dice: &mut Dice, all: &[&'static str]) -> &'static str {
    all[dice.below(all.len())]
}

pub fn phones(dice: &mut Dice, count: usize) -> Vec<Phone> {
    let phone = |number: usize| {
        let (language, country) = match dice.below(20) {
            0 => (None, None),
            1 => (Some(dice.pick(&LOCALES).0), None),
            2 => (None, Some(dice.pick(&LOCALES).1)),
            _ => {
                let (language, country) = *dice.pick(&LOCALES);
                (Some(language), Some(country))
            }
        };
        Phone {
            id: format!("d-{number:05}"),
            device_type: one(dice, &TYPES),
            zone: (!dice.once_in(15)).then(|| one(dice, &ZONES)),
            language,
            country,
            is_reachable: !dice.once_in(12),
            tags: TAGS.into_iter().filter(|_| dice.once_in(3)).collect(),
            crm: CRM.into_iter().filter(|_| dice.once_in(4)).collect(),
        }
    };
    (0..count).map(phone).collect()
}

/// A request that makes a campaign, and the events that concern it.
#[derive(Debug)]
pub struct Campaign {
    pub path: &'static str,
    pub body: Value,
    pub events: Vec<Tagging>,
}

pub fn campaign(dice: &mut Dice, number: usize, phones: usize) -> Campaign {
    let mut campaign = match number % 10 {
        0..=5 => Campaign { path: "/api/schedules", body: scheduled(dice, number), events: Vec::new() },
        6 => Campaign { path: "/api/experiments", body: experiment(dice, number), events: Vec::new() },
        _ => Campaign { path: "/api/pipelines", body: pipeline(dice, number), events: Vec::new() },
    };
    if campaign.path == "/api/pipelines" {
        campaign.events = events(dice, number, phones);
    }
    campaign
}

/// A day and a quarter of an hour after the clock begins, between these hours.
fn time(dice: &mut Dice, hours: std::ops::Range<usize>) -> DateTime {
    let day = i64::try_from(2 + dice.below(DAYS_OF_SENDS)).expect("a day");
    let hour = i8::try_from(hours.start + dice.below(hours.len())).expect("an hour");
    let minute = i8::try_from(15 * dice.below(4)).expect("a minute");
    date(2027, 3, 20).saturating_add(jiff::Span::new().days(day)).at(hour, minute, 0, 0)
}

fn moment(at: DateTime) -> Timestamp {
    jiff::tz::TimeZone::UTC.to_timestamp(at).expect("a moment")
}

fn some(dice: &mut Dice, all: &[&'static str]) -> Vec<&'static str> {
    let mut some = all.to_vec();
    dice.shuffle(&mut some);
    some.truncate(1 + dice.below(all.len()));
    some
}

fn condition(dice: &mut Dice, depth: usize) -> Value {
    let tag = |tag: &str, group: &str| json!({ "tag": tag, "group": group });
    match dice.below(if depth == 0 { 6 } else { 10 }) {
        0 | 1 => json!({ "tag": one(dice, &TAGS) }),
        2 => tag(one(dice, &CRM), "crm"),
        3 => tag(dice.pick(&LOCALES).0, "ua_locale_language"),
        4 => tag(dice.pick(&LOCALES).1, "ua_locale_country"),
        5 => tag(if dice.once_in(13) { "NO_TIME_ZONE" } else { one(dice, &ZONES) }, "timezone"),
        6 => json!({ "not": condition(dice, depth - 1) }),
        7 | 8 => json!({ "or": [condition(dice, depth - 1), condition(dice, depth - 1)] }),
        _ => json!({ "and": [condition(dice, depth - 1), condition(dice, depth - 1)] }),
    }
}

/// Few devices, so that many campaigns can be played.
fn audience(dice: &mut Dice) -> Value {
    json!({ "and": [condition(dice, 2), condition(dice, 2), json!({ "tag": one(dice, &CRM), "group": "crm" })] })
}

fn notification(dice: &mut Dice, words: &str) -> Value {
    let mut notification = json!({ "alert": format!("{words} for all") });
    for platform in TYPES {
        if !dice.once_in(3) {
            continue;
        }
        let mut own = json!({});
        if platform != "web" && dice.once_in(2) {
            own["alert"] = format!("{words} on {platform}").into();
        }
        if dice.once_in(2) {
            own["title"] = format!("{words}, titled on {platform}").into();
        }
        notification[platform] = own;
    }
    notification
}

fn push(dice: &mut Dice, words: &str, audience: &Value) -> Value {
    let types = some(dice, &TYPES);
    let mut push = json!({ "audience": audience, "device_types": types, "notification": notification(dice, words) });
    let mut localizations = Vec::new();
    for (language, country) in LOCALES {
        let locale = match dice.below(6) {
            0 => json!({ "language": language }),
            1 => json!({ "country": country }),
            2 => json!({ "language": language, "country": country }),
            _ => continue,
        };
        if localizations.iter().any(|own: &Value| ["language", "country"].iter().all(|key| own[key] == locale[key])) {
            continue;
        }
        let mut own = locale.clone();
        own["notification"] = notification(dice, &format!("{words} in {locale}"));
        localizations.push(own);
    }
    if !localizations.is_empty() {
        push["localizations"] = localizations.into();
    }
    push
}

fn scheduled(dice: &mut Dice, number: usize) -> Value {
    let audience = audience(dice);
    // Between these hours, no clock is changed.
    let schedule = match dice.once_in(2) {
        true => json!({ "local_scheduled_time": time(dice, 5..23) }),
        false => json!({ "scheduled_time": time(dice, 0..24) }),
    };
    json!({ "name": format!("c{number}"), "schedule": schedule, "push": push(dice, &format!("push {number}"), &audience) })
}

fn experiment(dice: &mut Dice, number: usize) -> Value {
    let at = time(dice, 0..24);
    let variant = |n: usize, dice: &mut Dice| {
        let content = notification(dice, &format!("variant {n} of {number}"));
        let mut variant = json!({ "push": { "notification": content }, "schedule": { "scheduled_time": at } });
        if dice.once_in(2) {
            variant["weight"] = (1 + dice.below(5)).into();
        }
        variant
    };
    let variants: Vec<Value> = (0..1 + dice.below(4)).map(|n| variant(n, dice)).collect();
    let mut body = json!({
        "name": format!("c{number}"), "audience": { "tag": one(dice, &TAGS) }, "device_types": some(dice, &TYPES), "variants": variants,
    });
    if dice.once_in(2) {
        body["control"] = json!([0.1, 0.25, 0.5][dice.below(3)]);
    }
    body
}

/// The tags that begin, cancel and allow the messages of one pipeline.
fn tags(number: usize) -> [String; 3] {
    ["begin", "cancel", "may"].map(|word| format!("{word}-{number}"))
}

fn pipeline(dice: &mut Dice, number: usize) -> Value {
    let [begin, cancel, may] = tags(number);
    let mut outcome = json!({ "push": push(dice, &format!("pipeline {number}"), &json!("triggered")) });
    if !dice.once_in(4) {
        outcome["delay"] = (900 * (1 + dice.below(200))).into();
    }
    let trigger = if dice.once_in(4) { "tag_removed" } else { "tag_added" };
    let mut body = json!({ "name": format!("c{number}"), "enabled": true, "immediate_trigger": { trigger: begin }, "outcome": outcome });
    if dice.once_in(2) {
        body["cancellation_trigger"] = json!({ "tag_added": cancel });
    }
    if dice.once_in(3) {
        let rates = [
            json!({ "pushes": 1, "hours": 1 + dice.below(72) }),
            json!({ "pushes": 2, "days": 1 + dice.below(6) }),
            json!({ "pushes": 1, "lifetimes": 1 }),
        ];
        let rates = rates.into_iter().filter(|_| dice.once_in(2)).map(|rate| json!({ "rate": rate }));
        body["constraint"] = rates.collect::<Vec<_>>().into();
    }
    if dice.once_in(2) {
        let tagged = |tag: &str, dice: &mut Dice| match dice.once_in(3) {
            true => json!({ "tag": { "tag_name": tag, "negated": true } }),
            false => json!({ "tag": { "tag_name": tag } }),
        };
        let mut sets = vec![json!({ "or": [tagged(&may, dice), tagged("beta", dice)] })];
        if dice.once_in(3) {
            sets.push(json!({ "or": [tagged("buyer", dice), tagged("lapsed", dice)] }));
        }
        body["condition"] = sets.into();
    }
    if dice.once_in(3) {
        body["activation_time"] = time(dice, 0..24).to_string().into();
    }
    if dice.once_in(3) {
        let end = time(dice, 0..24).checked_add(jiff::Span::new().days(21)).expect("a time");
        body["deactivation_time"] = end.to_string().into();
    }
    if !dice.once_in(3) {
        body["timing"] = json!({ "schedule": hours(dice) });
    }
    body
}

fn hours(dice: &mut Dice) -> Value {
    let daypart = |days: &[&'static str], dice: &mut Dice| {
        let start = 4 + dice.below(8);
        let mut times =
            vec![json!({ "start": format!("{start:02}:00"), "end": format!("{:02}:30", start + 1 + dice.below(6)) })];
        if dice.once_in(2) {
            let at = json!({ "preferred": format!("{}:15", 19 + dice.below(4)) });
            if dice.once_in(2) { times.push(at) } else { times = vec![at] }
        }
        json!({ "days_of_week": some(dice, days), "allowed_times": times })
    };
    let mut dayparts = vec![daypart(&DAYS[..5], dice)];
    if dice.once_in(2) {
        dayparts.push(daypart(&DAYS[5..], dice));
    }
    let (kind, miss) = (one(dice, &["local", "utc"]), one(dice, &["wait", "cancel"]));
    json!({ "type": kind, "miss_behavior": miss, "dayparts": dayparts })
}

/// Tags that come and go on some devices.
fn events(dice: &mut Dice, number: usize, phones: usize) -> Vec<Tagging> {
    let tags = tags(number);
    let mut events = Vec::new();
    for _ in 0..25 {
        let phone = dice.below(phones);
        for _ in 0..2 + dice.below(7) {
            let tag = tags[[0, 0, 0, 1, 2, 2][dice.below(6)]].clone();
            let at = moment(time(dice, 0..24));
            events.push(Tagging { at, phone, tag, is_added: !dice.once_in(3) });
        }
    }
    events
}
