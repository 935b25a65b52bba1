//! Random projects with nested segments, and random edits of them.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_testing::Dice;
use serde_json::{Value, json};

pub const TAGS: [&str; 6] = ["buyer", "lapsed", "newsletter", "unsubscribed", "vip", "remind"];
pub const TIERS: [&str; 3] = ["gold", "silver", "bronze"];
pub const COUNTRIES: [&str; 4] = ["US", "CA", "AU", "FR"];
pub const LISTS: [&str; 2] = ["imported", "panel"];

pub const PLANS: [&str; 4] = ["basic", "pro", "pro-plus", "plus"];

/// How many named users there are, and how many channels a project gives to them. Those are iOS.
pub const USERS: usize = 5;
pub const OWNED: usize = 20;

/// How many tills a project can have, and the tag that all of them have.
const TILLS: usize = 4;
pub const TILL_CHUNK: &str = "chunk-tills";
/// The kinds of device that messages go to, without tills and with them.
pub const DEVICES_ALONE: [&str; 2] = ["ios", "android"];
pub const DEVICES_AND_TILLS: [&str; 3] = ["ios", "android", "open::pos"];

/// A project. Its segments name only earlier ones.
#[derive(Clone, Debug)]
pub struct Draft {
    segments: Vec<Value>,
    /// The texts of templates, by their numbers.
    templates: Vec<String>,
    /// Each with its audience and its text, or the number of the template that has it.
    pushes: BTreeMap<String, (Value, Result<String, usize>)>,
    /// Each with its audience and the texts of its variants.
    experiments: BTreeMap<String, (Value, Vec<String>)>,
    /// Each with the tag that triggers it and its text.
    pipelines: BTreeMap<String, (&'static str, String)>,
    /// The tiers of named users, by their numbers.
    tiers: BTreeMap<usize, BTreeSet<&'static str>>,
    /// The named users of some channels, both by their numbers.
    owners: BTreeMap<usize, usize>,
    /// The tiers of channels, by their numbers.
    channel_tiers: BTreeMap<usize, BTreeSet<&'static str>>,
    /// The tags of tills, which are open channels, by their numbers.
    tills: BTreeMap<usize, BTreeSet<&'static str>>,
    /// The pushes that go to tills as well.
    to_tills: BTreeSet<String>,
    next: usize,
}

impl Draft {
    pub fn new(dice: &mut Dice) -> Self {
        let mut draft = Self {
            segments: Vec::new(),
            templates: vec!["Hello".to_owned(), "Good day".to_owned()],
            pushes: BTreeMap::new(),
            experiments: BTreeMap::new(),
            pipelines: BTreeMap::from([("welcome".to_owned(), ("buyer", "Welcome".to_owned()))]),
            tiers: BTreeMap::new(),
            owners: BTreeMap::new(),
            channel_tiers: BTreeMap::new(),
            tills: BTreeMap::from([(0, BTreeSet::from(["buyer"])), (1, BTreeSet::new())]),
            to_tills: BTreeSet::new(),
            next: 0,
        };
        for number in 0..5 {
            draft.segments.push(condition(dice, 4, number));
        }
        (0..4).for_each(|_| draft.add_push(dice));
        let audience = condition(dice, 2, 5);
        draft.experiments.insert("trial".to_owned(), (audience, vec!["A one".to_owned(), "A two".to_owned()]));
        draft
    }

    fn add_push(&mut self, dice: &mut Dice) {
        let audience = match dice.below(2) {
            0 => json!({ "segment": format!("s{}", dice.below(self.segments.len())) }),
            _ => condition(dice, 2, self.segments.len()),
        };
        let text = match dice.below(3) {
            0 => Err(dice.below(self.templates.len())),
            _ => Ok(format!("Text {}", self.next)),
        };
        let key = format!("push-{}", self.next);
        if dice.below(3) == 0 {
            self.to_tills.insert(key.clone());
        }
        self.pushes.insert(key, (audience, text));
        self.next += 1;
    }

    /// The project after one random edit or two.
    pub fn edited(&self, dice: &mut Dice) -> Self {
        let mut next = self.clone();
        for _ in 0..=dice.below(2) {
            let names: Vec<String> = next.pushes.keys().cloned().collect();
            let push = dice.pick(&names).clone();
            match dice.below(24) {
                20 | 21 => {
                    let tags = next.tills.entry(dice.below(TILLS)).or_default();
                    let tag = *dice.pick(&TAGS);
                    if !tags.remove(tag) {
                        tags.insert(tag);
                    }
                }
                22 => drop(next.tills.remove(&dice.below(TILLS))),
                23 => {
                    let (channel, tier) = (dice.below(OWNED), *dice.pick(&TIERS));
                    let tiers = next.channel_tiers.entry(channel).or_default();
                    if !tiers.remove(tier) {
                        tiers.insert(tier);
                    }
                }
                18 | 19 => {
                    let (number, kind) = (next.next, dice.below(4));
                    next.experiments.entry("trial".to_owned()).and_modify(|(audience, texts)| match kind {
                        0 if texts.len() < 4 => texts.push(format!("Variant {number}")),
                        1 if texts.len() > 1 => drop(texts.pop()),
                        2 => *audience = mutated(audience, dice, 5),
                        _ => texts[0] = format!("Variant {number}"),
                    });
                    next.next += 1;
                }
                14 => {
                    let number = dice.below(next.templates.len());
                    next.templates[number] = format!("Template {}", next.next);
                    next.next += 1;
                }
                15 => {
                    let template = dice.below(next.templates.len());
                    next.pushes.entry(push).and_modify(|(_, text)| *text = Err(template));
                }
                16 if next.pipelines.len() > 1 => drop(next.pipelines.pop_last()),
                16 => {
                    let key = format!("pipeline-{}", next.next);
                    next.pipelines.insert(key, (*dice.pick(&TAGS), format!("Step {}", next.next)));
                    next.next += 1;
                }
                17 => {
                    let (trigger, number) = (*dice.pick(&TAGS), next.next);
                    let is_text = dice.below(2) == 0;
                    next.pipelines.entry("welcome".to_owned()).and_modify(|(tag, text)| match is_text {
                        true => *text = format!("Welcome {number}"),
                        false => *tag = trigger,
                    });
                    next.next += 1;
                }
                10 | 11 => {
                    // Two at once, so that a user loses one and gets the other.
                    let tiers = next.tiers.entry(dice.below(USERS)).or_default();
                    for _ in 0..1 + dice.below(2) {
                        let tier = *dice.pick(&TIERS);
                        if !tiers.remove(tier) {
                            tiers.insert(tier);
                        }
                    }
                }
                12 | 13 => {
                    let (channel, user) = (dice.below(OWNED), dice.below(USERS));
                    if next.owners.remove(&channel).is_none() {
                        next.owners.insert(channel, user);
                    }
                }
                0..=5 => {
                    let number = dice.below(next.segments.len());
                    next.segments[number] = mutated(&next.segments[number], dice, number);
                }
                6 => {
                    let segments = next.segments.len();
                    next.pushes.entry(push).and_modify(|(audience, _)| *audience = mutated(audience, dice, segments));
                }
                7 => {
                    let number = next.next;
                    next.pushes.entry(push).and_modify(|(_, text)| *text = Ok(format!("Text {number}")));
                    next.next += 1;
                }
                8 if next.pushes.len() > 2 => drop(next.pushes.remove(&push)),
                8 | 9 => next.add_push(dice),
                _ => {}
            }
        }
        next
    }

    /// Some addresses of this project.
    pub fn some_addresses(&self, dice: &mut Dice) -> Vec<String> {
        let segments = (0..self.segments.len()).map(|number| format!("segments/s{number}"));
        let templates = (0..self.templates.len()).map(|number| format!("templates/t{number}"));
        let pushes = self.pushes.keys().map(|key| format!("scheduled_pushes/{key}"));
        let tills = self.tills.keys().map(|number| format!("open_channels/till-{number}"));
        let pipelines = self.pipelines.keys().map(|key| format!("pipelines/{key}"));
        let others = pipelines.chain(["experiments/trial".to_owned()]);
        // Segments change most of what people get.
        let all = segments.clone().chain(segments).chain(templates).chain(pushes).chain(tills).chain(others);
        let all: Vec<String> = all.collect();
        (0..=dice.below(2)).map(|_| dice.pick(&all).clone()).collect()
    }

    /// Addresses and those of the segments that they refer to, which `--only` includes.
    fn with_segments_of(&self, addresses: &[String]) -> BTreeSet<String> {
        let (mut all, mut open) = (BTreeSet::new(), addresses.to_vec());
        while let Some(address) = open.pop() {
            let (kind, key) = address.split_once('/').expect("an address");
            let audience = match kind {
                "segments" => self.segments.get(key[1..].parse::<usize>().expect("a number")),
                "scheduled_pushes" => self.pushes.get(key).map(|(audience, _)| audience),
                "experiments" => self.experiments.get(key).map(|(audience, _)| audience),
                _ => None,
            };
            if all.insert(address.clone()) {
                open.extend(audience.into_iter().flat_map(named_segments).map(|key| format!("segments/{key}")));
            }
        }
        all
    }

    /// This project with some resources, and the segments that they refer to, as another one has them.
    pub fn with_parts_of(&self, other: &Self, addresses: &[String]) -> Self {
        let mut mixed = self.clone();
        for address in &other.with_segments_of(addresses) {
            let (kind, key) = address.split_once('/').expect("an address");
            let number =
                || key.trim_start_matches(|sign: char| !sign.is_ascii_digit()).parse::<usize>().expect("a number");
            match kind {
                "segments" => mixed.segments[number()] = other.segments[number()].clone(),
                "templates" => mixed.templates[number()] = other.templates[number()].clone(),
                "scheduled_pushes" => {
                    take(&mut mixed.pushes, &other.pushes, &key.to_owned());
                    if other.to_tills.contains(key) {
                        mixed.to_tills.insert(key.to_owned());
                    }
                }
                "experiments" => take(&mut mixed.experiments, &other.experiments, &key.to_owned()),
                "pipelines" => take(&mut mixed.pipelines, &other.pipelines, &key.to_owned()),
                _ => take(&mut mixed.tills, &other.tills, &number()),
            }
        }
        mixed
    }

    /// Whether a message goes to tills as well.
    pub fn is_to_tills(&self, address: &str) -> bool {
        address.split_once('/').is_some_and(|(_, key)| self.to_tills.contains(key))
    }

    /// Whether it has a till that another project does not have.
    pub fn has_new_tills(&self, other: &Self) -> bool {
        self.tills.keys().any(|number| !other.tills.contains_key(number))
    }

    /// How many tills there are.
    pub fn tills(&self) -> usize {
        self.tills.len()
    }

    /// The address and the audience of each message that is sent at a time.
    pub fn messages(&self) -> Vec<(String, Value)> {
        let pushes = self.pushes.iter().map(|(key, (audience, _))| (format!("scheduled_pushes/{key}"), audience));
        let experiments = self.experiments.iter().map(|(key, (audience, _))| (format!("experiments/{key}"), audience));
        pushes.chain(experiments).map(|(address, audience)| (address, audience.clone())).collect()
    }

    /// What an audience means, without the names of segments.
    pub fn opened(&self, audience: &Value) -> Value {
        match audience {
            Value::Object(fields) => match fields.get("segment").and_then(Value::as_str) {
                Some(name) => {
                    let number = name[1..].parse::<usize>().expect("the number of a segment");
                    self.opened(&self.segments[number])
                }
                None => fields.iter().map(|(key, value)| (key.clone(), self.opened(value))).collect(),
            },
            Value::Array(items) => items.iter().map(|item| self.opened(item)).collect(),
            other => other.clone(),
        }
    }

    /// The address and the tag of each message that is sent once a device gets that tag.
    pub fn triggers(&self) -> impl Iterator<Item = (String, &'static str)> {
        self.pipelines.iter().map(|(key, (tag, _))| (format!("pipelines/{key}"), *tag))
    }

    /// What each message says. Those of an experiment have the numbers of their variants.
    pub fn texts(&self) -> BTreeMap<String, String> {
        let pushes = self.pushes.iter().map(|(key, (_, text))| {
            let text = text.as_ref().unwrap_or_else(|template| &self.templates[*template]);
            (format!("scheduled_pushes/{key}"), text.clone())
        });
        let variants = |(key, (_, texts)): (&'_ String, &'_ (Value, Vec<String>))| {
            let of = |(number, text): (usize, &'_ String)| (format!("experiments/{key} {number}"), text.clone());
            (1..).zip(texts).map(of).collect::<Vec<_>>()
        };
        let experiments = self.experiments.iter().flat_map(variants);
        let pipelines = self.pipelines.iter().map(|(key, (_, text))| (format!("pipelines/{key}"), text.clone()));
        pushes.chain(experiments).chain(pipelines).collect()
    }

    /// As a manifest. YAML reads JSON.
    pub fn written(&self) -> String {
        let segments: BTreeMap<String, Value> = (0..)
            .zip(&self.segments)
            .map(|(number, criteria)| (format!("s{number}"), json!({ "criteria": criteria })))
            .collect();
        let lifecycle = json!({ "broadcast": true });
        let templates: BTreeMap<String, Value> = (0..)
            .zip(&self.templates)
            .map(|(number, text)| (format!("t{number}"), json!({ "push": { "notification": { "alert": text } } })))
            .collect();
        let push = |(key, (audience, text)): (&String, &(Value, Result<String, usize>))| {
            let mut push = json!({ "audience": audience, "device_types": DEVICES_ALONE });
            if self.to_tills.contains(key) {
                push["device_types"] = json!(DEVICES_AND_TILLS);
            }
            match text {
                Ok(text) => push["notification"] = json!({ "alert": text }),
                Err(template) => push["template"] = format!("t{template}").into(),
            }
            let schedule = json!({ "scheduled_time": "2035-03-01T10:00" });
            (key.clone(), json!({ "schedule": schedule, "push": push, "lifecycle": lifecycle }))
        };
        let experiment = |(key, (audience, texts)): (&String, &(Value, Vec<String>))| {
            let variant = |text: &String| {
                let schedule = json!({ "scheduled_time": "2035-03-02T10:00" });
                json!({ "push": { "notification": { "alert": text } }, "schedule": schedule })
            };
            let variants: Vec<Value> = texts.iter().map(variant).collect();
            let experiment = json!({ "audience": audience, "device_types": ["ios", "android"], "variants": variants, "lifecycle": lifecycle });
            (key.clone(), experiment)
        };
        let pipeline = |(key, (tag, text)): (&String, &(&str, String))| {
            let push = json!({ "audience": "triggered", "device_types": ["ios", "android"], "notification": { "alert": text } });
            let outcome = json!({ "delay": 3600, "push": push });
            (key.clone(), json!({ "enabled": true, "immediate_trigger": { "tag_added": tag }, "outcome": outcome }))
        };
        let pipelines: BTreeMap<String, Value> = self.pipelines.iter().map(pipeline).collect();
        let pushes: BTreeMap<String, Value> = self.pushes.iter().map(push).collect();
        let experiments: BTreeMap<String, Value> = self.experiments.iter().map(experiment).collect();
        let tiers: BTreeMap<String, &BTreeSet<&str>> =
            self.tiers.iter().map(|(user, tiers)| (format!("u-{user}"), tiers)).collect();
        let mut users: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (channel, user) in &self.owners {
            let channel = json!({ "channel_id": format!("d-{channel}"), "device_type": "ios" });
            users.entry(format!("u-{user}")).or_default().push(channel);
        }
        let users: BTreeMap<String, Value> =
            users.into_iter().map(|(user, channels)| (user, json!({ "channels": channels }))).collect();
        let channels: BTreeMap<String, &BTreeSet<&str>> =
            self.channel_tiers.iter().map(|(channel, tiers)| (format!("d-{channel}"), tiers)).collect();
        let members = json!({ "named_users": tiers, "ios_channels": channels });
        let groups = json!({ "tier": { "tags": TIERS, "members": members } });
        let till = |(number, tags): (&usize, &BTreeSet<&'static str>)| {
            let tags: Vec<&str> = tags.iter().copied().chain([TILL_CHUNK]).collect();
            let open = json!({ "open_platform_name": "pos" });
            let till = json!({ "address": format!("till-{number}"), "open": open, "opt_in": true, "tags": tags });
            (format!("till-{number}"), till)
        };
        let tills: BTreeMap<String, Value> = self.tills.iter().map(till).collect();
        json!({
            "segments": segments,
            "templates": templates,
            "pipelines": pipelines,
            "scheduled_pushes": pushes,
            "experiments": experiments,
            "tag_groups": groups,
            "named_users": users,
            "open_channels": tills,
        })
        .to_string()
    }
}

/// Makes an entry what it is in another map.
fn take<K: Ord + Clone, V: Clone>(all: &mut BTreeMap<K, V>, other: &BTreeMap<K, V>, key: &K) {
    match other.get(key) {
        Some(value) => drop(all.insert(key.clone(), value.clone())),
        None => drop(all.remove(key)),
    }
}

/// A condition of at most some depth that names the first so many segments.
fn condition(dice: &mut Dice, depth: usize, segments: usize) -> Value {
    match dice.below(if depth == 0 { 6 } else { 10 }) {
        0 | 1 => json!({ "tag": dice.pick(&TAGS) }),
        2 => json!({ "tag": dice.pick(&TIERS), "group": "tier" }),
        3 => json!({ "tag": dice.pick(&COUNTRIES), "group": "ua_locale_country" }),
        4 => match dice.below(5) {
            3 => json!({
                "attribute": "spent",
                "operator": dice.pick(&["equals", "not_equals", "less_than", "greater_than", "is_empty", "is_not_empty"]),
                "value": 10 * dice.below(5),
            }),
            4 => json!({
                "attribute": "plan",
                "operator": dice.pick(&["equals", "not_equals", "contains", "not_contains", "less", "greater"]),
                "value": dice.pick(&PLANS),
            }),
            0 => json!({ "named_user": format!("u-{}", dice.below(USERS)) }),
            1 => json!({ "static_list": dice.pick(&LISTS) }),
            _ => json!({ "tag": dice.pick(&["en", "fr", "de"]), "group": "ua_locale_language" }),
        },
        5 if segments > 0 => json!({ "segment": format!("s{}", dice.below(segments)) }),
        5 => json!({ "tag": dice.pick(&TAGS) }),
        6 => json!({ "not": condition(dice, depth - 1, segments) }),
        kind => {
            let members: Vec<Value> = (0..2 + dice.below(2)).map(|_| condition(dice, depth - 1, segments)).collect();
            if kind < 9 { json!({ "and": members }) } else { json!({ "or": members }) }
        }
    }
}

/// A condition with one edit, as people make them: a member more or less, `and` instead of `or`, another value, a `not`.
fn mutated(condition: &Value, dice: &mut Dice, segments: usize) -> Value {
    let (joined, other) = match condition {
        Value::Object(fields) if fields.contains_key("and") => ("and", "or"),
        Value::Object(fields) if fields.contains_key("or") => ("or", "and"),
        Value::Object(fields) if fields.contains_key("not") && dice.below(3) > 0 => {
            return json!({ "not": mutated(&condition["not"], dice, segments) });
        }
        Value::Object(fields) if fields.contains_key("not") => return condition["not"].clone(),
        _ => return self::leaf(condition, dice, segments),
    };
    let mut members = condition[joined].as_array().cloned().unwrap_or_default();
    let at = dice.below(members.len());
    match dice.below(5) {
        0 => members.push(self::condition(dice, 1, segments)),
        1 if members.len() > 2 => drop(members.remove(at)),
        2 => return json!({ other: members }),
        _ => members[at] = mutated(&members[at], dice, segments),
    }
    json!({ joined: members })
}

fn leaf(condition: &Value, dice: &mut Dice, segments: usize) -> Value {
    match dice.below(4) {
        0 => json!({ "not": condition }),
        1 => json!({ "and": [condition, self::condition(dice, 0, segments)] }),
        2 => json!({ "or": [condition, self::condition(dice, 0, segments)] }),
        _ => self::condition(dice, 0, segments),
    }
}

/// The segments in an audience.
fn named_segments(audience: &Value) -> Vec<String> {
    match audience {
        Value::Object(fields) => {
            let own = fields.get("segment").and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(named_segments)).collect()
        }
        Value::Array(members) => members.iter().flat_map(named_segments).collect(),
        _ => Vec::new(),
    }
}
