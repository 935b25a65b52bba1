//! The service as a small model: objects with ids, at any moment of their past, and the messages that it sent.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use pushplan::address::Address;
use pushplan::exchange::{Answer, Method, Request};
use pushplan::kinds;
use pushplan::node::Shared;
use pushplan::nouns::level::Level;
use serde_json::{Value, json};

use super::time::{self, LAG};

/// The content of an object from a time on; `None` from its deletion on.
type Versions = Vec<(i64, Option<Shared>)>;

#[derive(Clone, Debug)]
pub struct Service {
    pub level: Level,
    pub objects: BTreeMap<String, Object>,
    /// The number of times that the campaign was sent.
    pub sent: u32,
    /// The number of changes.
    pub writes: u32,
    /// The time of the last change: no two changes have the same time.
    last: i64,
    /// Violations, in words.
    pub wrong: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Object {
    pub kind: &'static str,
    pub versions: Versions,
    pub origin: Origin,
    /// The send time; `None` if it sends nothing.
    due: Option<i64>,
    pub sent: bool,
    /// A request of pushplan deleted it.
    is_deleted: bool,
    /// It was deleted by pushplan, and a backup brought it back.
    pub is_back: bool,
}

/// Who created an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A step of this address.
    Managed(Address),
    /// A person in the dashboard.
    Dashboard,
}

/// The first part of the path of each kind of object.
const FAMILIES: [(&str, &str); 2] = [("segments", "segments"), ("schedules", "scheduled_pushes")];

pub fn family(part: &str) -> Option<&'static str> {
    FAMILIES.iter().find(|(path, _)| *path == part).map(|(_, kind)| *kind)
}

/// The parts of a path.
pub fn parts(request: &Request) -> Vec<&str> {
    let path = request.path.split('?').next().unwrap_or_default();
    path.strip_prefix("/api/").unwrap_or(path).split('/').filter(|part| !part.is_empty()).collect()
}

pub fn error(status: u16) -> Answer {
    Answer::new(status, json!({ "ok": false, "error": "no" }))
}

impl Object {
    pub fn content(&self) -> Option<&Shared> {
        self.versions.last().and_then(|(_, content)| content.as_ref())
    }

    fn content_at(&self, at: i64) -> Option<&Shared> {
        self.versions.iter().rev().find(|(from, _)| *from <= at).and_then(|(_, content)| content.as_ref())
    }

    /// Whether it exists and has not been sent.
    pub fn is_live(&self) -> bool {
        self.content().is_some() && !self.sent
    }
}

impl Service {
    pub fn new(level: Level) -> Self {
        Self { level, objects: BTreeMap::new(), sent: 0, writes: 0, last: -1, wrong: Vec::new() }
    }

    /// Sends everything that is due.
    pub fn advance(&mut self, now: i64) {
        for (id, object) in &mut self.objects {
            if !object.is_live() || object.due.is_none_or(|due| due > now) {
                continue;
            }
            object.sent = true;
            object.versions.push((now, None));
            if let Origin::Managed(address) = &object.origin
                && !object.is_back
            {
                self.sent += 1;
                if self.sent > 1 {
                    self.wrong.push(format!("the message was sent {} times: {address} ({id}) as well", self.sent));
                }
            }
        }
    }

    pub fn create(&mut self, kind: &'static str, content: Value, origin: Origin, now: i64) -> String {
        let now = self.tick(now);
        let id = format!("{}-{}", if kind == "segments" { "segment" } else { "push" }, self.writes);
        let due = first_time(kind, &content);
        let object = Object {
            kind,
            versions: vec![(now, Some(content.into()))],
            origin,
            due,
            sent: false,
            is_deleted: false,
            is_back: false,
        };
        self.objects.insert(id.clone(), object);
        id
    }

    /// The time of the next change.
    fn tick(&mut self, now: i64) -> i64 {
        self.writes += 1;
        self.last = now.max(self.last + 1);
        self.last
    }

    pub fn write(&mut self, id: &str, content: Option<Value>, now: i64) {
        let now = self.tick(now);
        if let Some(object) = self.objects.get_mut(id) {
            object.due = content.as_ref().map_or(object.due, |content| first_time(object.kind, content));
            object.versions.push((now, content.map(Shared::from)));
        }
    }

    /// Sends a push before its time.
    pub fn send(&mut self, id: &str, now: i64) {
        let now = self.tick(now);
        if let Some(object) = self.objects.get_mut(id) {
            object.due = Some(now);
        }
        self.advance(now);
    }

    /// Carries out a changing request for an address.
    pub fn change(&mut self, request: &Request, address: &Address, now: i64) -> Answer {
        self.advance(now);
        let body: Value = request.body.as_ref().map_or(Value::Null, |body| body.parse().expect("JSON"));
        let can_change = self.level == Level::Extended;
        match (request.method, &parts(request)[..]) {
            (Method::Post, [part]) if family(part).is_some() => {
                let kind = family(part).expect("checked");
                if first_time(kind, &body).is_some_and(|first| first <= now) {
                    return error(400);
                }
                let id = self.create(kind, body, Origin::Managed(address.clone()), now);
                let key = if kind == "segments" { "segment_id" } else { "schedule_ids" };
                let ids = if kind == "segments" { json!(id) } else { json!([id]) };
                Answer::new(201, [("ok", json!(true)), (key, ids)].into_iter().collect())
            }
            (Method::Put, [_, id]) if can_change => {
                if !self.may_touch(id, address) {
                    return error(404);
                }
                if first_time(self.objects[*id].kind, &body).is_some_and(|first| first <= now) {
                    return error(400);
                }
                self.write(id, Some(body), now);
                Answer::new(200, json!({ "ok": true }))
            }
            (Method::Delete, [part, id]) if can_change || *part == "segments" => {
                if !self.may_touch(id, address) {
                    return error(404);
                }
                self.write(id, None, now);
                self.objects.entry((*id).to_owned()).and_modify(|object| object.is_deleted = true);
                Answer::new(204, Value::Null)
            }
            _ => error(405),
        }
    }

    /// Whether an object exists. It is a violation if the address does not manage it.
    fn may_touch(&mut self, id: &str, address: &Address) -> bool {
        let Some(object) = self.objects.get(id).filter(|object| object.content().is_some()) else { return false };
        if object.origin == Origin::Dashboard {
            self.wrong.push(format!("{address} changed {id}, which is not managed"));
        }
        true
    }

    /// The ids of the objects of a kind that a list shows, as of a time.
    pub fn listed(&self, kind: &str, at: i64) -> Vec<String> {
        let shown = self.objects.iter().filter(|(_, object)| object.kind == kind && object.content_at(at).is_some());
        shown.map(|(id, _)| id.clone()).collect()
    }

    /// The ids of the pushes that were sent, as of a time.
    pub fn reported(&self, at: i64) -> Vec<String> {
        let sent = self.objects.iter().filter(|(_, object)| object.sent);
        let sent = sent.filter(|(_, object)| object.versions.last().is_some_and(|(from, _)| *from <= at));
        sent.map(|(id, _)| id.clone()).collect()
    }

    /// The number of objects of a kind that exist and were not sent.
    pub fn live(&self, kind: &str) -> usize {
        self.objects.values().filter(|object| object.kind == kind && object.is_live()).count()
    }

    /// Whether there was such a recent change that a reader may not see it.
    pub fn is_unsettled(&self, now: i64) -> bool {
        self.objects.values().any(|object| object.versions.last().is_some_and(|(from, _)| *from > now - LAG))
    }

    /// Answers a `GET`, as of a time, without the objects that it fails to show.
    pub fn read(&self, request: &Request, at: i64, lacks: &[String]) -> Answer {
        match parts(request)[..] {
            [part] => {
                let Some(kind) = family(part) else { return error(404) };
                let ids = self.listed(kind, at).into_iter().filter(|id| !lacks.contains(id));
                let items: Vec<Value> = ids.map(|id| item(&id, &self.objects[&id], at)).collect();
                Answer::new(200, [("ok", json!(true)), (part, items.into())].into_iter().collect())
            }
            ["reports", ..] => {
                let pushes = self.reported(at).into_iter().filter(|id| !lacks.contains(id));
                let pushes = pushes.map(|id| json!({ "push_uuid": id, "push_type": "SCHEDULED_PUSH", "sends": 1 }));
                Answer::new(200, [("pushes", pushes.collect::<Value>())].into_iter().collect())
            }
            [_, id] => match self.objects.get(id).and_then(|object| Some((object, object.content_at(at)?))) {
                Some((object, content)) if object.kind == "segments" => Answer::new(200, Value::clone(content)),
                Some((object, _)) => Answer::new(200, item(id, object, at)),
                None => error(404),
            },
            _ => error(404),
        }
    }

    /// Whether an object has this content.
    pub fn has(&self, id: &str, spec: &Value) -> bool {
        let Some(content) = self.objects.get(id).and_then(Object::content) else { return false };
        as_spec(content) == *spec
    }

    /// Restores an earlier state. Sent messages stay sent.
    pub fn restore(&mut self, backup: &Self) {
        for (id, object) in self.objects.iter_mut().filter(|(_, object)| !object.sent) {
            match backup.objects.get(id) {
                Some(before) => {
                    let is_back = object.is_back || object.is_deleted && before.content().is_some();
                    *object = Object { is_back, ..before.clone() };
                }
                None => object.versions = vec![(0, None)],
            }
        }
    }

    /// Hashes everything that can matter for later events.
    pub fn hash_into(&self, hasher: &mut impl Hasher, now: i64) {
        (self.sent, self.writes, self.last).hash(hasher);
        for (id, object) in &self.objects {
            // A report still shows that it was sent.
            if object.sent && object.versions.last().is_none_or(|(from, _)| *from <= now - LAG) {
                id.hash(hasher);
                continue;
            }
            (id, &object.origin, object.sent, object.due, object.is_back).hash(hasher);
            for (from, content) in &object.versions {
                (from, content.as_ref().map(Shared::text)).hash(hasher);
            }
        }
    }
}

/// An object as a list shows it.
fn item(id: &str, object: &Object, at: i64) -> Value {
    let content = object.content_at(at).map(|content| Value::clone(content)).unwrap_or_default();
    let changed = object.versions.iter().rev().find(|(from, _)| *from <= at).map_or(0, |(from, _)| *from);
    let made = object.versions.first().map_or(0, |(from, _)| *from);
    if object.kind == "segments" {
        return json!({
            "id": id,
            "display_name": content["display_name"],
            "creation_date": time::stamp(made).as_millisecond(),
            "modification_date": time::stamp(changed).as_millisecond(),
        });
    }
    let mut item = content;
    item["push_ids"] = json!([id]);
    item["url"] = format!("{}/api/schedules/{id}", super::ORIGIN).into();
    item
}

/// When an object is first sent.
fn first_time(kind: &'static str, content: &Value) -> Option<i64> {
    let address = Address::new(kind, "x");
    kinds::api(&address).runs(&as_spec(content)).and_then(|runs| runs.first).map(time::of)
}

/// A content as a spec. On the wire, one schedule is alone.
fn as_spec(content: &Value) -> Value {
    let mut content = content.clone();
    if content["schedule"].is_object() {
        content["schedule"] = json!([content["schedule"]]);
    }
    content
}
