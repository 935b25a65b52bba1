//! Small projects, and the edits of their manifests between two runs.

use std::collections::BTreeMap;
use std::rc::Rc;

use pushplan::address::Address;
use pushplan::compare::Unit;
use pushplan_testing::Dice;
use serde_json::{Value, json};

use super::files::Branch;
use super::time;

pub type Units = BTreeMap<Address, Unit>;

/// The declarations of a project, as units.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// Shared with their readers: a later editor gets others.
    pub units: Rc<Units>,
    /// Pushes and experiments get a new key each time: one that is declared again is a different one.
    pub fresh: usize,
    /// The declarations before each edit.
    pub history: Vec<Rc<Units>>,
    pub branches: Vec<Branch>,
}

pub const CHANNELS: [&str; 2] = ["c-1", "c-2"];
pub const USERS: [&str; 2] = ["u-1", "u-2"];
const TAGS: [&str; 4] = ["red", "green", "blue", "remind"];

/// The tag group of the named users' tags.
const GROUP: &str = "g";

impl Project {
    pub fn new(units: usize, dice: &mut Dice, now: i64) -> Self {
        let mut project = Self::default();
        for _ in 0..units {
            project.add(dice, now);
        }
        project
    }

    /// The units of a version; the newest version has the number of the edits.
    pub fn version(&self, number: usize) -> &Rc<Units> {
        self.history.get(number).unwrap_or(&self.units)
    }

    /// Gives a message another key and another text; returns both addresses.
    pub fn rename_and_edit(&mut self, dice: &mut Dice) -> Option<(Address, Address)> {
        let is_message = |address: &&Address| matches!(&*address.kind, "scheduled_pushes" | "experiments");
        let all: Vec<Address> = self.units.keys().filter(is_message).cloned().collect();
        let old = all.get(dice.below(all.len().max(1)))?.clone();
        self.history.push(Rc::clone(&self.units));
        let new = Address::new(old.kind, self.next(if old.kind == "experiments" { "e" } else { "s" }));
        let text = self.units[&old].spec.to_string();
        // Most messages have their key as their name.
        let name = format!("\"name\":\"{}\"", old.key);
        let text = text.replace(&name, &format!("\"name\":\"{}\"", new.key)).replace("text ", "other text ");
        let spec: Value = text.parse().expect("JSON");
        Rc::make_mut(&mut self.units).remove(&old);
        self.put(new.clone(), spec);
        Some((old, new))
    }

    /// Gives a resource another key, declared with `renamed_from`; returns both addresses.
    pub fn rename(&mut self, dice: &mut Dice) -> Option<(Address, Address)> {
        let has_id = |address: &&Address| {
            let kinds = ["segments", "templates", "pipelines", "scheduled_pushes", "experiments"];
            kinds.contains(&&*address.kind)
        };
        let all: Vec<Address> = self.units.keys().filter(has_id).cloned().collect();
        let old = all.get(dice.below(all.len().max(1)))?.clone();
        self.history.push(Rc::clone(&self.units));
        let new = Address::new(old.kind, self.next(&format!("{}-", old.key)));
        let units = Rc::make_mut(&mut self.units);
        let mut unit = units.remove(&old)?;
        unit.renamed_from = Some(old.key.clone());
        units.insert(new.clone(), unit);
        if old.kind == "segments" {
            self.point(&format!("{{\"segment\":\"{}\"}}", old.key), &format!("{{\"segment\":\"{}\"}}", new.key));
        }
        Some((old, new))
    }

    /// Replaces references to one resource with references to another.
    fn point(&mut self, named: &str, other: &str) {
        for unit in Rc::make_mut(&mut self.units).values_mut() {
            let text = unit.spec.to_string();
            if text.contains(named) {
                unit.spec = text.replace(named, other).parse::<Value>().expect("JSON").into();
            }
        }
    }

    /// Someone edits the manifests.
    pub fn edit(&mut self, dice: &mut Dice, now: i64) {
        self.history.push(Rc::clone(&self.units));
        for _ in 0..*dice.pick(&[1, 1, 1, 2, 3]) {
            match dice.below(5) {
                0 => self.add(dice, now),
                1 | 2 if self.units.len() > 1 => {
                    let address = self.any(dice);
                    self.remove(&address);
                }
                _ if !self.units.is_empty() => {
                    let address = self.any(dice);
                    self.change(&address, dice, now);
                }
                _ => self.add(dice, now),
            }
        }
    }

    fn any(&self, dice: &mut Dice) -> Address {
        self.units.keys().nth(dice.below(self.units.len())).expect("it is not empty").clone()
    }

    fn put(&mut self, address: Address, spec: Value) {
        let unit = Unit {
            spec: spec.into(),
            place: None,
            protect: None,
            broadcast: false,
            ignore: Vec::new(),
            record: false,
            renamed_from: None,
            aside: pushplan::plan::Annotation::default(),
        };
        Rc::make_mut(&mut self.units).insert(address, unit);
    }

    fn add(&mut self, dice: &mut Dice, now: i64) {
        let (kind, key) = match dice.below(17) {
            0..=3 => ("segments", ["a", "b", "c"][dice.below(3)].to_owned()),
            4 | 5 => ("templates", ["t", "w"][dice.below(2)].to_owned()),
            6 | 7 => ("pipelines", ["p", "q"][dice.below(2)].to_owned()),
            8..=10 => ("scheduled_pushes", self.next("s")),
            11 => ("experiments", self.next("e")),
            12 => ("tag_groups", format!("g/named_users/{}", dice.pick(&USERS))),
            13 | 14 if dice.chance(600) => ("tags", "legacy".to_owned()),
            13 | 14 => ("tags", format!("legacy/ios_channels/{}", dice.pick(&CHANNELS))),
            _ if dice.chance(500) => ("open_channels", "o".to_owned()),
            _ => ("named_users", format!("{}/{}", dice.pick(&USERS), dice.pick(&CHANNELS))),
        };
        let address = Address::new(kind, key);
        // A channel of two named users is an error in the manifests.
        let channel = |address: &Address| address.key.rsplit('/').next().map(str::to_owned);
        let mut users = self.units.keys().filter(|other| other.kind == "named_users");
        let is_taken = kind == "named_users" && users.any(|other| channel(other) == channel(&address));
        if !self.units.contains_key(&address) && !is_taken {
            self.put(address.clone(), Value::Null);
            self.change(&address, dice, now);
        }
    }

    fn next(&mut self, letter: &str) -> String {
        self.fresh += 1;
        format!("{letter}{}", self.fresh)
    }

    /// Removes a declaration. References to a removed segment become references to a tag.
    pub fn remove(&mut self, address: &Address) {
        Rc::make_mut(&mut self.units).remove(address);
        if address.kind == "segments" {
            self.point(&format!("{{\"segment\":\"{}\"}}", address.key), "{\"tag\":\"red\"}");
        }
    }

    /// Changes the content under the same key.
    pub fn change(&mut self, address: &Address, dice: &mut Dice, now: i64) {
        let key = &address.key;
        let last = key.rsplit('/').next().unwrap_or_default();
        let alert = format!("text {}", dice.below(50));
        let push = |audience: Value| json!({ "audience": audience, "device_types": ["ios"], "notification": { "alert": alert } });
        // Sometimes, the name changes too.
        let name = if dice.chance(100) { format!("{key} {}", dice.below(3)) } else { key.clone() };
        let spec = match &*address.kind {
            "segments" => json!({ "display_name": name, "criteria": self.audience(key, dice) }),
            "templates" => {
                let mut spec = json!({ "name": name, "variables": [], "push": { "notification": { "alert": alert } } });
                if dice.chance(300) {
                    spec["variables"] =
                        json!([{ "key": "K", "name": "K", "default_value": dice.below(3).to_string() }]);
                }
                spec
            }
            "pipelines" => json!({
                "name": name,
                "enabled": dice.chance(700),
                "immediate_trigger": [{ "tag_added": { "tag": dice.pick(&TAGS), "group": GROUP } }],
                "outcome": [{ "delay": 60, "push": push(json!("triggered")) }],
            }),
            "scheduled_pushes" => json!({
                "name": name,
                "schedule": [{ "scheduled_time": soon(dice, now) }],
                "push": push(self.audience("z", dice)),
            }),
            "experiments" => json!({
                "name": name,
                "audience": self.audience("z", dice),
                "device_types": ["ios"],
                "variants": variants(&alert, dice, now),
            }),
            "tag_groups" => {
                let mut tags = TAGS.to_vec();
                dice.shuffle(&mut tags);
                tags.truncate(1 + dice.below(3));
                tags.sort_unstable();
                json!({ "group": GROUP, "named_user_id": last, "tags": tags })
            }
            "tags" if key.contains('/') => json!({ "tag": "legacy", "ios_channel": last }),
            "tags" => json!({ "tag": "legacy" }),
            "open_channels" => json!({
                "address": "o",
                "opt_in": dice.chance(500),
                "tags": [dice.pick(&TAGS)],
                "open": { "open_platform_name": "sms", "identifiers": { "k": "v" } },
            }),
            _ => {
                let user = key.split('/').next().unwrap_or_default();
                json!({ "named_user_id": user, "channel_id": last, "device_type": "ios" })
            }
        };
        self.put(address.clone(), spec);
    }

    /// A tag, or segments that come earlier, so that there are no cycles.
    fn audience(&self, key: &str, dice: &mut Dice) -> Value {
        let mut members = vec![json!({ "tag": dice.pick(&TAGS) })];
        for address in self.units.keys().filter(|other| other.kind == "segments" && *other.key < *key) {
            if dice.chance(600) {
                members.push(json!({ "segment": address.key }));
            }
        }
        match members.len() {
            1 => members.remove(0),
            2 if dice.chance(300) => members.remove(1),
            _ => json!({ "AND": members }),
        }
    }
}

/// A send time: mostly soon, so that some of them pass during the apply.
fn soon(dice: &mut Dice, now: i64) -> String {
    let minutes = if dice.chance(600) { dice.between(0, 30) } else { dice.between(30, 3000) };
    time::written(now + minutes * 60_000)
}

fn variants(alert: &str, dice: &mut Dice, now: i64) -> Value {
    let mut variant = |one: &str| {
        json!({
            "push": { "notification": { "alert": format!("{one} {alert}") } },
            "schedule": { "scheduled_time": soon(dice, now) },
        })
    };
    json!([variant("A"), variant("B")])
}
