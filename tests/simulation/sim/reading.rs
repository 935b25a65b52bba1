//! The service's answers to reads: as of a moment that may have passed, and in equivalent forms.

use pushplan::exchange::{Answer, Request};
use pushplan::node::Shared;
use pushplan::nouns::level::Level;
use pushplan_testing::Dice;
use serde_json::{Value, json};

use super::service::{Object, Service, as_of, family};
use super::time;

/// The manner of an answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// The time of the shown state.
    pub at: i64,
    /// An item appears twice on a page, or on two pages.
    pub duplicated: bool,
    pub reordered: bool,
    /// Values are in another form than they were sent in.
    pub normalised: bool,
    /// The list of tags is full of others.
    pub crowded: bool,
    /// The hidden part of the content.
    pub hides: Hides,
}

/// The hidden part of the content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hides {
    #[default]
    Nothing,
    /// One object of a list.
    One(usize),
    All,
}

impl Hides {
    /// Whether an object is hidden, by its index in a list.
    fn is_hidden(self, place: usize) -> bool {
        match self {
            Self::Nothing => false,
            Self::One(hidden) => place == hidden,
            Self::All => true,
        }
    }
}

/// The number of items on a page.
const PAGE: usize = 3;

pub fn missing() -> Answer {
    Answer::new(404, json!({ "ok": false, "error": "not found" }))
}

/// The body of an answer with one value.
fn with(key: &str, value: Value) -> Value {
    [("ok", true.into()), (key, value)].into_iter().collect()
}

/// Answers a `GET`.
pub fn read(service: &Service, request: &Request, manner: Manner, dice: &mut Dice) -> Answer {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let parts: Vec<&str> =
        path.strip_prefix("/api/").unwrap_or(path).split('/').filter(|part| !part.is_empty()).collect();
    match parts[..] {
        ["tags"] => {
            let fill = (0..100).filter(|_| manner.crowded).map(|n| format!("other-{n}"));
            let own = service.docs.iter().filter(|(_, doc)| as_of(doc, manner.at).is_some());
            let own = own.filter_map(|(name, _)| name.strip_prefix("tag ").map(str::to_owned));
            let own = own.enumerate().filter(|(place, _)| !manner.hides.is_hidden(*place)).map(|(_, tag)| tag);
            let tags = fill.chain(own).take(100).map(Value::from).collect();
            Answer::new(200, [("tags", Value::Array(tags))].into_iter().collect())
        }
        ["reports", ..] => sends(service, manner),
        [part] if family(part).is_some() => list(service, part, path, query, manner, dice),
        _ if manner.hides == Hides::All => missing(),
        [part, id] if family(part).is_some() => one(service, part, id, manner, dice),
        _ => lookup(service, &request.path, manner.at),
    }
}

/// The report of pushes.
fn sends(service: &Service, manner: Manner) -> Answer {
    let sent = service.objects.iter().filter(|(_, object)| object.kind == "scheduled_pushes" && object.begun);
    let sent = sent.filter_map(|(id, object)| Some((id, object.versions.last()?.0)));
    let shown = sent.filter(|(_, at)| *at <= manner.at).enumerate();
    let shown = shown.filter(|(place, _)| !manner.hides.is_hidden(*place)).map(|(_, (id, at))| {
        json!({ "push_uuid": id, "push_type": "SCHEDULED_PUSH", "push_time": time::stamp(at).to_string(), "sends": 1 })
    });
    Answer::new(200, with("pushes", shown.collect()))
}

/// A named user, or a channel.
pub fn lookup(service: &Service, path: &str, at: i64) -> Answer {
    let (name, what) = match path.split_once("?id=") {
        Some((_, user)) => (format!("user {user}"), "named_user"),
        None => (format!("channel {}", path.rsplit('/').next().unwrap_or_default()), "channel"),
    };
    match service.docs.get(&name).and_then(|doc| as_of(doc, at)) {
        Some(doc) => Answer::new(200, with(what, doc.clone())),
        None => missing(),
    }
}

fn list(service: &Service, part: &str, path: &str, query: &str, manner: Manner, dice: &mut Dice) -> Answer {
    let kind = family(part).expect("it is one");
    let value = |key: &str| query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
    let (start, enabled) = (value("start").unwrap_or_default(), value("enabled"));
    let objects = service.objects.iter().filter(|(id, object)| object.kind == kind && id.as_str() > start);
    let shown = objects.filter_map(|(id, object)| Some((id, object, as_of(&object.versions, manner.at)?)));
    let is_wanted = |body: &Value| enabled.is_none_or(|wanted| body["enabled"] == (wanted == "true"));
    // A twin could be taken for a managed resource by a reader who did not see it before.
    let is_hidden = |place: usize, object: &Object| !object.is_twin && manner.hides.is_hidden(place);
    let shown = shown.filter(|(_, _, body)| is_wanted(body)).enumerate();
    let shown = shown.filter(|(place, (_, object, _))| !is_hidden(*place, object)).map(|(_, shown)| shown);
    let mut items: Vec<(&String, Value)> = Vec::new();
    let mut more = false;
    for (id, object, body) in shown {
        more = items.len() == PAGE;
        if more {
            break;
        }
        items.push((id, item(kind, id, body, stamps(&object.versions, manner.at), manner, dice)));
    }
    let last = items.last().map(|(id, _)| (*id).clone());
    let mut items: Vec<Value> = items.into_iter().map(|(_, item)| item).collect();
    if manner.duplicated
        && let Some(item) = items.first().cloned()
    {
        items.push(item);
    }
    if manner.reordered {
        dice.shuffle(&mut items);
    }
    let mut body = with(part, items.into());
    if let Some(last) = last.filter(|_| more) {
        // The next page may repeat the last item.
        let start = if manner.duplicated { last[..last.len() - 1].to_owned() } else { last };
        let before = enabled.map_or(String::new(), |enabled| format!("enabled={enabled}&"));
        let origin = if dice.chance(500) { super::ORIGIN } else { "" };
        body["next_page"] = format!("{origin}{path}?{before}start={start}").into();
    } else if dice.chance(500) {
        body["next_page"] = Value::Null;
    }
    Answer::new(200, body)
}

/// The time of creation, and the time of the shown version.
fn stamps(versions: &[(i64, Option<Shared>)], at: i64) -> [i64; 2] {
    let made = versions.first().map_or(0, |(from, _)| *from);
    [made, versions.iter().rev().find(|(from, _)| *from <= at).map_or(0, |(from, _)| *from)]
}

fn item(kind: &str, id: &str, body: &Value, [made, stamp]: [i64; 2], manner: Manner, dice: &mut Dice) -> Value {
    if kind == "segments" {
        return json!({
            "id": id,
            "display_name": body["display_name"],
            "creation_date": time::stamp(made).as_millisecond(),
            "modification_date": time::stamp(stamp).as_millisecond(),
        });
    }
    let mut item = if manner.normalised { normalised(body, dice) } else { body.clone() };
    if kind == "scheduled_pushes" && manner.normalised && item["schedule"].is_object() {
        item["schedule"] = json!([item["schedule"]]);
    }
    let written = || time::stamp(stamp).to_string();
    match kind {
        "templates" => {
            item["id"] = id.into();
            item["modified_at"] = written().into();
            item["last_used"] = Value::Null;
        }
        "pipelines" => {
            item["uid"] = id.into();
            item["url"] = format!("https://service.example/api/pipelines/{id}").into();
            item["status"] = "live".into();
            item["last_modified_time"] = written().into();
        }
        "scheduled_pushes" => {
            item["url"] = format!("https://service.example/api/schedules/{id}").into();
            item["push_ids"] = json!([id]);
        }
        _ => item["experiment_id"] = id.into(),
    }
    item
}

fn one(service: &Service, part: &str, id: &str, manner: Manner, dice: &mut Dice) -> Answer {
    let kind = family(part).expect("it is one");
    let Some(object) = service.objects.get(id).filter(|object| object.kind == kind) else { return missing() };
    let Some(body) = as_of(&object.versions, manner.at) else { return missing() };
    let read = matches!(kind, "segments" | "templates") || service.level == Level::Extended;
    if !read {
        return Answer::new(405, json!({}));
    }
    if kind == "segments" {
        let body = if manner.normalised { normalised(body, dice) } else { body.clone() };
        return Answer::new(200, body);
    }
    let item = item(kind, id, body, stamps(&object.versions, manner.at), manner, dice);
    Answer::new(
        200,
        match kind {
            "templates" => with("template", item),
            "pipelines" => with("pipeline", item),
            "experiments" => with("experiment", item),
            _ => item,
        },
    )
}

/// Returns a value in another form with the same meaning.
fn normalised(value: &Value, dice: &mut Dice) -> Value {
    match value {
        Value::Object(map) => {
            let mut out = serde_json::Map::new();
            for (key, value) in map {
                let new = match (key.as_str(), value) {
                    ("tag_added", Value::String(tag)) if dice.chance(500) => json!({ "tag": tag }),
                    ("immediate_trigger" | "outcome", Value::Object(_)) if dice.chance(500) => {
                        json!([normalised(value, dice)])
                    }
                    ("scheduled_time", Value::String(time)) if dice.chance(500) => {
                        let (day, clock) = time.split_at(11);
                        let zone = if dice.chance(500) { "Z" } else { "" };
                        format!("{day}{}:{}:00{zone}", &clock[..2], &clock[2..4]).into()
                    }
                    ("notification", Value::Object(_)) => {
                        let mut new = normalised(value, dice);
                        if dice.chance(300) {
                            new["ios"] = json!({});
                        }
                        new
                    }
                    _ => normalised(value, dice),
                };
                let key = if key == "AND" && dice.chance(500) { "and".to_owned() } else { key.clone() };
                out.insert(key, new);
            }
            Value::Object(out)
        }
        Value::Array(items) => items.iter().map(|item| normalised(item, dice)).collect(),
        other => other.clone(),
    }
}
