//! The service as a model: its content at any moment of its past.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pushplan::address::Address;
use pushplan::exchange::{Answer, Method, Request};
use pushplan::kinds;
use pushplan::ledger::Verb;
use pushplan::node::Shared;
use pushplan::nouns::level::Level;
use serde_json::{Value, json};

use super::time;

/// The content of an object from a time on; `None` from its deletion on.
pub type Versions = Vec<(i64, Option<Shared>)>;

/// The content of the service. Nothing is dropped, so that an outdated answer can be given.
#[derive(Clone, Debug)]
pub struct Service {
    pub level: Level,
    pub objects: BTreeMap<String, Object>,
    /// Named users, channels and tags, by the name in a lookup.
    pub docs: BTreeMap<String, Versions>,
    /// The number of sends for each address.
    pub sent: BTreeMap<Address, u32>,
    /// The values that were set on named users, channels and the list of tags, and not removed.
    pub given: BTreeMap<Address, Shared>,
    /// Messages that now have another key and another text, with their address while they were pending.
    pub successors: BTreeMap<Address, Address>,
    /// Changes of addresses: the time, the old address and the new one.
    moved: Vec<(i64, Address, Address)>,
    pub wrong: Vec<String>,
    next: u64,
    /// Nothing is due before this time.
    pub due: i64,
}

/// An object with its own id.
#[derive(Clone, Debug)]
pub struct Object {
    pub kind: &'static str,
    pub versions: Versions,
    pub origin: Origin,
    /// When it begins to send messages.
    pub due: Option<i64>,
    /// It has begun to send messages.
    pub begun: bool,
    /// A person deleted it.
    pub removed_by_person: bool,
    /// The ledger contained it and was set back since.
    pub forgotten: bool,
    /// It is unmanaged and may have the content of a managed one.
    pub is_twin: bool,
    /// A person has edited it.
    pub edited: bool,
    /// It was managed and was deleted, and a backup brought it back. A creation in an unknown state may take it for its
    /// own.
    pub was: Option<Address>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Created by a step of this address, or adopted for it.
    Ours(Address),
    Person,
}

/// The sender of a changing request.
#[derive(Clone, Debug)]
pub struct Sender {
    pub address: Address,
    /// The plan says that it replaces an existing one.
    pub replaces: bool,
    /// Ids that the ledger had retired under this address when the request left.
    pub retired: Vec<String>,
    pub verb: Verb,
    /// The new or the old content.
    pub spec: Option<Shared>,
    /// The plan shows the deletion of an undeclared resource.
    pub prunes: bool,
    /// When the request left.
    pub left: i64,
    /// Ids that were removed from the ledger and are not declared: their references cannot be known.
    pub unknown: Vec<String>,
}

/// The name in a body.
pub fn name(body: Option<&Value>) -> Option<&Value> {
    body.and_then(|body| body.get("display_name").or(body.get("name")))
}

/// Whether two bodies have the same name, or are both enabled with the same trigger. A disabled one does nothing, and
/// another may have its name.
fn is_alike(one: Option<&Value>, other: &Value) -> bool {
    let Some(one) = one.filter(|one| one["enabled"] != false) else { return false };
    let trigger = |body: &Value| body.get("immediate_trigger").cloned().filter(|_| body["enabled"] == true);
    name(Some(one)) == name(Some(other)) || trigger(one).is_some_and(|own| trigger(other) == Some(own))
}

pub fn as_of(versions: &[(i64, Option<Shared>)], at: i64) -> Option<&Value> {
    versions.iter().rev().find(|(from, _)| *from <= at).and_then(|(_, body)| body.as_deref())
}

impl Object {
    pub fn body(&self) -> Option<&Value> {
        self.versions.last().and_then(|(_, body)| body.as_deref())
    }

    /// Whether it exists and can still act.
    pub fn is_live(&self) -> bool {
        self.body().is_some() && !self.begun
    }
}

/// The kinds of objects with the first part of their paths.
pub const FAMILIES: [(&str, &str); 5] = [
    ("segments", "segments"),
    ("templates", "templates"),
    ("pipelines", "pipelines"),
    ("schedules", "scheduled_pushes"),
    ("experiments", "experiments"),
];

pub fn family(part: &str) -> Option<&'static str> {
    FAMILIES.iter().find(|(path, _)| *path == part).map(|(_, kind)| *kind)
}

/// The ids of the segments that an object names.
pub fn names(body: &Value, found: &mut Vec<String>) {
    match body {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(id) if key == "segment" => found.push(id.clone()),
                    value => names(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        _ => {}
    }
}

/// The channels in every story, by the name in a lookup.
static CHANNELS: LazyLock<Vec<(String, Shared)>> = LazyLock::new(|| {
    let doc = |channel| json!({ "channel_id": channel, "device_type": "ios", "tags": [], "tag_groups": {} });
    let channels = super::project::CHANNELS.into_iter();
    channels.map(|channel| (format!("channel {channel}"), doc(channel).into())).collect()
});

pub fn error(status: u16) -> Answer {
    Answer::new(status, json!({ "ok": false, "error": "no" }))
}

impl Service {
    pub fn new(level: Level) -> Self {
        let docs = CHANNELS.iter().map(|(name, doc)| (name.clone(), vec![(0, Some(doc.clone()))])).collect();
        Self {
            level,
            objects: BTreeMap::new(),
            docs,
            sent: BTreeMap::new(),
            given: BTreeMap::new(),
            successors: BTreeMap::new(),
            moved: Vec::new(),
            wrong: Vec::new(),
            next: 0,
            due: i64::MAX,
        }
    }

    /// Sends everything that is due.
    pub fn advance(&mut self, now: i64) {
        if now < self.due {
            return;
        }
        let waits = |object: &&Object| object.is_live() && object.due > Some(now);
        self.due = self.objects.values().filter(waits).filter_map(|object| object.due).min().unwrap_or(i64::MAX);
        for object in self.objects.values_mut().filter(|object| object.is_live()) {
            let Some(first) = object.due.filter(|due| *due <= now) else { continue };
            object.begun = true;
            if object.kind == "scheduled_pushes" {
                object.versions.push((first, None));
            }
            if let Origin::Ours(address) = &object.origin {
                let sent = self.sent.entry(address.clone()).or_default();
                *sent += 1;
                if *sent > 1 {
                    self.wrong.push(format!("{address} took effect {sent} times"));
                }
            }
        }
    }

    /// Whether there is, or was, a separate tag.
    pub fn has_tags(&self) -> bool {
        self.docs.keys().any(|name| name.starts_with("tag "))
    }

    pub fn new_id(&mut self) -> String {
        self.next += 1;
        format!("{:08x}", (self.next as u32).wrapping_mul(0x9e37_79b1))
    }

    /// Creates an object.
    pub fn make(&mut self, kind: &'static str, body: Value, origin: Origin, now: i64) -> String {
        let id = self.new_id();
        let due = first_time(kind, &body);
        self.due = self.due.min(due.unwrap_or(i64::MAX));
        let versions = vec![(now, Some(body.into()))];
        let object = Object {
            kind,
            versions,
            origin,
            due,
            begun: false,
            removed_by_person: false,
            forgotten: false,
            is_twin: false,
            edited: false,
            was: None,
        };
        self.objects.insert(id.clone(), object);
        id
    }

    pub fn write(&mut self, id: &str, body: Option<Value>, now: i64) {
        let Some(object) = self.objects.get_mut(id) else { return };
        if let Some(body) = &body {
            object.due = first_time(object.kind, body);
            self.due = self.due.min(object.due.unwrap_or(i64::MAX));
        }
        object.versions.push((now, body.map(Shared::from)));
    }

    pub fn doc(&mut self, name: &str, now: i64, change: impl FnOnce(&mut Option<Value>)) {
        let versions = self.docs.entry(name.to_owned()).or_default();
        let mut doc = versions.last().and_then(|(_, doc)| doc.clone()).map(Shared::into_value);
        change(&mut doc);
        versions.push((now, doc.map(Shared::from)));
    }

    /// Records that the ledger has another address for a resource from now on.
    pub fn rename(&mut self, from: &Address, to: &Address, now: i64) {
        let ours = Origin::Ours(from.clone());
        for object in self.objects.values_mut() {
            if object.origin == ours {
                object.origin = Origin::Ours(to.clone());
            }
            if object.was.as_ref() == Some(from) {
                object.was = Some(to.clone());
            }
        }
        if let Some(sent) = self.sent.remove(from) {
            *self.sent.entry(to.clone()).or_default() += sent;
        }
        self.moved.push((now, from.clone(), to.clone()));
    }

    /// The current address of a resource for a request that left at a given time.
    fn current(&self, address: &Address, left: i64) -> Address {
        let since = self.moved.iter().filter(|(at, ..)| *at >= left);
        since.fold(address, |address, (_, from, to)| if from == address { to } else { address }).clone()
    }

    /// Carries out a changing request.
    pub fn change(&mut self, request: &Request, sender: &Sender, now: i64) -> Answer {
        self.advance(now);
        // A request that left before a rename arrives after it.
        let sender = &Sender { address: self.current(&sender.address, sender.left), ..sender.clone() };
        let path: Vec<&str> = request.path.strip_prefix("/api/").unwrap_or(&request.path).split('/').collect();
        let body: Value = request.body.as_ref().map_or(Value::Null, |body| body.parse().expect("JSON"));
        match (request.method, &path[..]) {
            (Method::Post, [part]) if family(part).is_some() => {
                let kind = family(part).expect("it is one");
                self.create(part, kind, body, sender, now)
            }
            (Method::Put, ["segments" | "pipelines" | "schedules", id]) => {
                if self.level == Level::Documented {
                    return error(405);
                }
                self.replace(id, sender, now, |_| body)
            }
            (Method::Post, ["templates", id]) => self.replace(id, sender, now, |old| {
                let mut new = old.clone();
                for (key, value) in body.as_object().into_iter().flatten() {
                    new[key] = value.clone();
                }
                new
            }),
            (Method::Delete, ["experiments", "scheduled", id]) => self.delete(id, sender, now),
            (Method::Delete, ["segments" | "templates", id]) => self.delete(id, sender, now),
            (Method::Delete, ["pipelines" | "schedules", id]) if self.level == Level::Extended => {
                self.delete(id, sender, now)
            }
            (_, ["named_users", ..] | ["channels", ..] | ["tags", ..]) => {
                self.belongings(request.method, &path, &body, sender, now)
            }
            _ => error(405),
        }
    }

    fn create(&mut self, part: &str, kind: &'static str, body: Value, sender: &Sender, now: i64) -> Answer {
        if first_time(kind, &body).is_some_and(|first| first <= now) {
            return error(400);
        }
        self.look_at_references(&body, &sender.address);
        let address = &sender.address;
        if self.sent.contains_key(address) {
            self.wrong.push(format!("{address} was made again after it was sent"));
        }
        for (id, other) in &self.objects {
            let ours = other.origin == Origin::Ours(address.clone()) && other.is_live();
            let once = matches!(kind, "scheduled_pushes" | "experiments");
            // A resource that was lost from the ledger can be found again by its name and by its trigger.
            let is_alike = once || !other.forgotten || is_alike(other.body(), &body);
            if ours && is_alike && (once || !sender.replaces) && !sender.retired.contains(id) {
                self.wrong.push(format!("{address} was made a second time while {id} is there"));
            }
        }
        let before = self.successors.get(address).map(|old| Origin::Ours(old.clone()));
        let rival = before.and_then(|old| self.objects.iter().find(|(_, it)| it.origin == old && it.is_live()));
        if let Some((id, _)) = rival {
            self.wrong.push(format!("{address} was made while {id}, whose place it takes, is still to be sent"));
        }
        let id = self.make(kind, body, Origin::Ours(address.clone()), now);
        let url = format!("https://service.example/api/{part}/{id}");
        Answer::new(
            201,
            match kind {
                "segments" => json!({ "ok": true, "segment_id": id }),
                "templates" => json!({ "ok": true, "template_id": id }),
                "pipelines" => json!({ "ok": true, "pipeline_urls": [url] }),
                "scheduled_pushes" => json!({ "ok": true, "schedule_urls": [url], "schedule_ids": [id] }),
                _ => json!({ "ok": true, "experiment_id": id }),
            },
        )
    }

    /// The object of a request, if the sender may change it.
    fn target(&mut self, id: &str, sender: &Sender) -> Option<&mut Object> {
        let object = self.objects.get_mut(id)?;
        // A list that is some seconds old still contains resources that were deleted since.
        let may_go = object.origin == Origin::Person || object.forgotten || object.body().is_none();
        let is_pruned = sender.prunes && may_go;
        let is_back = object.was.as_ref() == Some(&sender.address);
        if object.origin != Origin::Ours(sender.address.clone()) && !is_pruned && !is_back {
            self.wrong.push(format!("{} touched {id}, which is not ours: {:?}", sender.address, object.origin));
        }
        object.body().is_some().then_some(object)
    }

    fn replace(&mut self, id: &str, sender: &Sender, now: i64, new: impl FnOnce(&Value) -> Value) -> Answer {
        let Some(object) = self.target(id, sender) else { return error(404) };
        let new = new(object.body().expect("it is there"));
        let due = first_time(object.kind, &new);
        if due.is_some_and(|first| first <= now) {
            return error(400);
        }
        object.due = due;
        let new = Shared::from(new);
        object.versions.push((now, Some(new.clone())));
        self.due = self.due.min(due.unwrap_or(i64::MAX));
        self.look_at_references(&new, &sender.address);
        Answer::new(200, json!({ "ok": true }))
    }

    fn delete(&mut self, id: &str, sender: &Sender, now: i64) -> Answer {
        let Some(object) = self.target(id, sender) else { return error(404) };
        if object.begun {
            return error(405);
        }
        object.versions.push((now, None));
        let mut found = Vec::new();
        for (user, other) in self.objects.iter().filter(|(_, other)| other.is_live()) {
            found.clear();
            names(other.body().expect("it is live"), &mut found);
            let is_known = other.origin != Origin::Person && !sender.unknown.contains(user);
            if is_known && found.iter().any(|named| named == id) {
                self.wrong.push(format!("the segment {id} was deleted while {user} names it"));
            }
        }
        Answer::new(204, Value::Null)
    }

    fn look_at_references(&mut self, body: &Value, address: &Address) {
        let mut found = Vec::new();
        names(body, &mut found);
        for id in found {
            let gone = self.objects.get(&id).is_none_or(|object| object.body().is_none() && !object.removed_by_person);
            if gone {
                self.wrong.push(format!("{address} names the segment {id}, which is deleted"));
            }
        }
    }

    /// Whether a value that was set and not removed still exists.
    pub fn has_given(&self, address: &Address) -> bool {
        let Some(spec) = self.given.get(address) else { return false };
        let id = kinds::api(address).own_id(spec).unwrap_or_default();
        self.has(address, &id, spec)
    }

    /// Whether the service really has the declared content of an address.
    pub fn has(&self, address: &Address, id: &str, wire: &Value) -> bool {
        let api = kinds::api(address);
        if let Some(object) = self.objects.get(id) {
            let one_or_many = kinds::kind(&address.kind).map_or(&[][..], |kind| kind.one_or_many);
            if object.body().is_some_and(|body| says(body, wire, one_or_many)) {
                return true;
            }
            // The content may be in another form.
            let mut body = object.body().cloned().unwrap_or_default();
            body["uid"] = id.into();
            body["id"] = id.into();
            body["url"] = id.into();
            let found = api.found(&body).and_then(|found| found.spec);
            let found = found.or_else(|| api.got(id, wire, &body).ok().flatten().and_then(|found| found.spec));
            return found.as_deref() == Some(wire);
        }
        let Some(request) = api.get(id, wire, self.level) else {
            return self.docs.get(&format!("tag {id}")).is_some_and(|doc| as_of(doc, i64::MAX).is_some());
        };
        let answer = super::reading::lookup(self, &request.path, i64::MAX);
        let found = api.got(id, wire, answer.body.as_ref().unwrap_or(&Value::Null)).ok().flatten();
        found.and_then(|found| found.spec).as_deref() == Some(wire)
    }
}

/// Whether a body equals a spec. A single value may stand for a list of one.
fn says(body: &Value, spec: &Value, one_or_many: &[&str]) -> bool {
    let (Some(body), Some(spec)) = (body.as_object(), spec.as_object()) else { return false };
    let is_same = |((key, body), (other, spec)): ((&String, &Value), (&String, &Value))| {
        let is_one = || {
            one_or_many.contains(&key.as_str())
                && matches!(spec.as_array().map(Vec::as_slice), Some([one]) if one == body)
        };
        key == other && (body == spec || is_one())
    };
    body.len() == spec.len() && body.iter().zip(spec).all(is_same)
}

/// The first time at which an object sends messages by itself, in milliseconds.
pub fn first_time(kind: &str, body: &Value) -> Option<i64> {
    let all: Vec<&Value> = match (kind, &body["schedule"]) {
        ("scheduled_pushes", Value::Array(many)) => many.iter().collect(),
        ("scheduled_pushes", one) => vec![one],
        ("experiments", _) => body["variants"].as_array()?.iter().map(|variant| &variant["schedule"]).collect(),
        _ => return None,
    };
    kinds::remote::moments(&all).first.map(time::of)
}
