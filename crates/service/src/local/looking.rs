//! Inspects the service: requests, sent and pending pushes, events.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::form;
use crate::answer::{Answer, Answered, Refusal};
use crate::engine::Engine;
use crate::request::Call;
use crate::request::Request;
use crate::state::{App, GroupResult, key};

/// The largest page of events.
const EVENTS: usize = 1000;

/// Returns the log of requests, newest last.
pub fn requests(engine: &Engine, request: &Request) -> Answered {
    let since = match request.query("since") {
        None => Timestamp::MIN,
        Some(text) => form::time(text).map_err(|why| Refusal::invalid(format!("`since`: {why}")))?,
    };
    let (method, app) = (request.query("method"), request.query("app"));
    let logged = engine.requests.list(|logged| {
        logged.time >= since
            && method.is_none_or(|method| logged.method.eq_ignore_ascii_case(method))
            && app.is_none_or(|app| logged.app.as_deref() == Some(app))
    });
    Ok(Answer::bare(200, json!({ "count": logged.len(), "requests": logged })))
}

pub fn forget_requests(engine: &Engine, _: &Request) -> Answered {
    engine.requests.clear();
    Ok(Answer::empty(204))
}

/// Returns pushes that were sent, newest last.
pub fn sent(app: &App, _: &Call) -> Answered {
    let mut pushes: Vec<_> = app.sent.iter().collect();
    pushes.sort_by_key(|(_, sent)| sent.number);
    let pushes = pushes.into_iter().map(|(id, sent)| {
        let mut record = json!(sent);
        record["push_id"] = id.into();
        record
    });
    let pushes: Vec<Value> = pushes.collect();
    Ok(Answer::bare(200, json!({ "count": pushes.len(), "sent": pushes })))
}

/// Returns what is scheduled, the next one first.
pub fn due(app: &App, _: &Call) -> Answered {
    let waiting: Vec<Value> = app.due.iter().map(|(at, what)| json!({ "at": at, "what": what })).collect();
    Ok(Answer::bare(200, json!({ "count": waiting.len(), "due": waiting })))
}

/// Returns events after an offset, as webhooks get them. `next` is the offset for the next request.
pub fn events(app: &App, call: &Call) -> Answered {
    let limit = call.request.number("limit", EVENTS, EVENTS)?.max(1);
    let after = call.request.query("after");
    let later = app.events.from(after.unwrap_or("")).filter(|(offset, _)| Some(*offset) != after);
    let events: Vec<_> = later.map(|(_, event)| event).take(limit).collect();
    let next = events.last().map(|event| event.offset.as_str()).or(after);
    Ok(Answer::bare(200, json!({ "count": events.len(), "events": events, "next": next })))
}

/// Returns the connections: how far each one is, what waits for it, and the state of its deliveries.
pub fn webhooks(app: &App, _: &Call) -> Answered {
    let connections = app.webhooks.connected().map(|webhook| {
        let mut shown = json!(app.webhooks.delivery(&webhook.url));
        shown["url"] = crate::webhook::shown(&webhook.url).into();
        shown["types"] = if webhook.types.is_empty() { "all".into() } else { json!(webhook.types) };
        shown["offset"] = key(app.cursor(webhook)).into();
        shown["waiting"] = app.waiting(webhook).count().into();
        shown
    });
    let connections: Vec<Value> = connections.collect();
    Ok(Answer::bare(200, json!({ "count": connections.len(), "webhooks": connections })))
}

/// Returns experiments, oldest first, with the sends, taps and opens of each variant, and of the control group.
pub fn experiments(app: &App, _: &Call) -> Answered {
    let results = app.results();
    let experiments = app.experiments.iter().map(|(id, kept)| {
        let count = kept.experiment["variants"].as_array().map_or(0, Vec::len);
        let variants = (0..count).map(|variant| {
            let GroupResult { sends, taps, opens } = results.get(&(id, Some(variant))).copied().unwrap_or_default();
            json!({ "variant": variant, "sends": sends, "taps": taps, "opens": opens })
        });
        let mut shown = json!({
            "experiment_id": id,
            "name": kept.experiment["name"],
            "push_id": kept.push_id,
            "started": kept.started,
            "variants": variants.collect::<Vec<_>>(),
        });
        if let Some(GroupResult { sends, opens, .. }) = results.get(&(id, None)) {
            shown["control"] = json!({ "devices": sends, "opens": opens });
        }
        shown
    });
    let experiments: Vec<Value> = experiments.collect();
    Ok(Answer::bare(200, json!({ "count": experiments.len(), "experiments": experiments })))
}

pub fn health(engine: &Engine, _: &Request) -> Answered {
    let devices: usize = engine.read(|state, _| {
        let apps = engine.settings.apps.iter().filter_map(|(key, _)| state.app(key));
        apps.map(|app| app.devices.len()).sum()
    });
    let body = json!({
        "ok": true,
        // A process that has read this elsewhere can tell whether this is the same service.
        "pid": std::process::id(),
        "now": engine.clock.now(),
        "apps": engine.settings.apps.len(),
        "devices": devices,
        "durable": engine.settings.data.is_some(),
    });
    Ok(Answer::bare(200, body))
}
