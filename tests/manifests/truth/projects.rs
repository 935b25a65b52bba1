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
        self.pushes.insert(format!("push-{}", self.next), (audience, text));
        self.next += 1;
    }

    /// The project after one random edit or two.
    pub fn edited(&self, dice: &mut Dice) -> Self {
        let mut next = self.clone();
        for _ in 0..=dice.below(2) {
            let names: Vec<String> = next.pushes.keys().cloned().collect();
            let push = dice.pick(&names).clone();
            match dice.below(20) {
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
                    let (user, tier) = (dice.below(USERS), *dice.pick(&TIERS));
                    let tiers = next.tiers.entry(user).or_default();
                    if !tiers.remove(tier) {
                        tiers.insert(tier);
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
            let mut push = json!({ "audience": audience, "device_types": ["ios", "android"] });
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
        let groups = json!({ "tier": { "tags": TIERS, "members": { "named_users": tiers } } });
        json!({
            "segments": segments,
            "templates": templates,
            "pipelines": pipelines,
            "scheduled_pushes": pushes,
            "experiments": experiments,
            "tag_groups": groups,
            "named_users": users,
        })
        .to_string()
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
