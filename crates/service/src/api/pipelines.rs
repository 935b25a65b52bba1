//! Automated messages.

use jiff::Timestamp;
use pushplan_model::kinds::is_further;
use pushplan_model::node::{Node, Tree};
use pushplan_model::nouns::audience::Selector;
use pushplan_model::nouns::level::Level;
use serde_json::{Value, json};

use super::push::{at_least_one, complete, valid};
use super::{Question, StateChange, limits, paging};
use crate::answer::{Answer, Answered, Refusal, new_id};
use crate::request::{Body, Call, Request, RequestBody};
use crate::state::{App, Pipeline, SentPipeline, iso};

/// The fields that the contract lacks.
const FURTHER: [&str; 6] =
    ["historical_trigger", "constraint", "cancellation_trigger", "condition", "activation_time", "deactivation_time"];

/// The largest page of a list.
const PAGE: usize = 100;

pub fn create(request: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let pipelines: Vec<_> = read_all(sent)?.into_iter().map(|accepted| (new_id(), accepted)).collect();
    let further = pipelines.iter().find_map(|(_, accepted)| accepted.further());
    let urls: Vec<String> = pipelines.iter().map(|(id, _)| url(id, request)).collect();
    Ok(Box::new(move |app, call| {
        if let Some(key) = further.filter(|_| call.level < Level::Extended) {
            return Err(Refusal::unknown_key(key));
        }
        for (id, Accepted { pipeline, meaning }) in pipelines {
            let kept = Pipeline { pipeline, created: call.now, modified: call.now };
            app.pipelines.put(&mut app.journal, &id, kept, meaning);
            app.watch(&id, call.now);
        }
        Ok(Answer::done(201, json!({ "pipeline_urls": urls })))
    }))
}

pub fn validate(_: &Request, sent: &RequestBody) -> Result<Question, Refusal> {
    read_all(sent)?;
    Ok(valid())
}

/// Lists pipelines, newest first.
pub fn list(app: &App, call: &Call) -> Answered {
    let enabled = match call.request.query("enabled").map(str::to_ascii_lowercase).as_deref() {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) => return Err(Refusal::invalid("`enabled` is neither true nor false")),
    };
    let limit = call.request.number("limit", PAGE, PAGE)?.max(1);
    let offset = call.request.number("offset", 0, usize::MAX)?;
    let table = &app.pipelines.table;
    let line = |id: &str, kept: &Pipeline| paging::after_origin(&path(id), &record(app, id, kept, call.now));
    let is_timed = |id: &str| app.pipelines.meaning.get(id).is_some_and(SentPipeline::is_timed);
    let lines = table.newest(enabled, offset, limit, line, is_timed);
    let mut fields = json!({ "ok": true });
    let next = offset.saturating_add(limit);
    if next < table.len(enabled) {
        let next = [("offset", next.to_string()), ("limit", limit.to_string())];
        fields["next_page"] = call.request.page(&next).into();
    }
    Ok(paging::page("pipelines", &lines, &paging::url_begin(call.request), &fields))
}

pub fn get(app: &App, call: &Call) -> Answered {
    let id = call.request.param(0);
    let kept = app.pipelines.table.get(id).ok_or_else(unknown)?;
    let mut record = record(app, id, kept, call.now);
    record["url"] = url(id, call.request).into();
    Ok(Answer::ok(200, json!({ "pipeline": record })))
}

pub fn update(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let body = sent.json()?;
    let Accepted { pipeline, meaning } = read(&body, &body.node, "")?;
    Ok(Box::new(move |app, call| {
        let id = call.request.param(0);
        let created = app.pipelines.table.get(id).ok_or_else(unknown)?.created;
        let kept = Pipeline { pipeline, created, modified: call.now };
        app.pipelines.put(&mut app.journal, id, kept, meaning);
        app.watch(id, call.now);
        Ok(Answer::done(200, json!({})))
    }))
}

/// Deletes a pipeline and everything that it was about to send.
pub fn delete(app: &mut App, call: &Call) -> Answered {
    let id = call.request.param(0);
    app.pipelines.remove(&mut app.journal, id).ok_or_else(unknown)?;
    app.due.drop_if(&mut app.journal, |due| due.pipeline() == Some(id));
    Ok(Answer::empty(204))
}

fn unknown() -> Refusal {
    Refusal::not_found("Pipeline")
}

/// A valid pipeline: as it was sent, and as it was parsed.
struct Accepted {
    pipeline: Value,
    meaning: SentPipeline,
}

impl Accepted {
    /// Returns the first key that the contract lacks, and that the level extended has.
    fn further(&self) -> Option<&'static str> {
        let hours = self.meaning.timing.schedule.as_ref().map(|_| "timing.schedule");
        hours.or(FURTHER.into_iter().find(|key| self.pipeline.get(key).is_some()))
    }
}

fn read_all(sent: &RequestBody) -> Result<Vec<Accepted>, Refusal> {
    let body = sent.json()?;
    let nodes = body.each();
    at_least_one(nodes.len(), "pipeline")?;
    limits::at_most(limits::ITEMS, nodes.len(), "pipelines")?;
    nodes.into_iter().map(|(path, node)| read(&body, node, &path)).collect()
}

fn read(body: &Body, node: &Node, path: &str) -> Result<Accepted, Refusal> {
    let sent: SentPipeline = body.read(node)?;
    if let Some(key) = sent.rest.0.keys().find(|key| !is_further(key)) {
        return Err(Refusal::unknown_key(&format!("{path}{key}")));
    }
    let inactivity = sent.historical_trigger.iter().flatten().count();
    at_least_one(sent.immediate_trigger.len() + inactivity, "trigger")?;
    at_least_one(sent.outcome.len(), "outcome")?;
    let listed = matches!(node.get("outcome").map(|outcome| &outcome.tree), Some(Tree::List(_)));
    for (number, outcome) in sent.outcome.iter().enumerate() {
        let place = if listed { format!("{path}outcome[{number}]") } else { format!("{path}outcome") };
        if !matches!(outcome.push.audience.value, Selector::Triggered) {
            let why = "the audience of a pipeline is `triggered`: the device that set it off";
            return Err(Refusal::invalid_at(&format!("{place}.push.audience"), why));
        }
        complete(&outcome.push, &format!("{place}.push."))?;
        if outcome.delay.as_ref().is_some_and(|delay| delay.value.0 < 0) {
            return Err(Refusal::invalid_at(&format!("{place}.delay"), "a delay cannot be negative"));
        }
    }
    if sent.timing.delay.as_ref().is_some_and(|delay| delay.value.0 < 0) {
        return Err(Refusal::invalid_at(&format!("{path}timing.delay.seconds"), "a delay cannot be negative"));
    }
    Ok(Accepted { pipeline: node.to_json(), meaning: sent })
}

fn path(id: &str) -> String {
    format!("/api/pipelines/{id}")
}

fn url(id: &str, request: &Request) -> String {
    format!("{}{}", request.origin, path(id))
}

/// Returns a pipeline as answers show it, except for its URL, which depends on how the client called the service.
fn record(app: &App, id: &str, kept: &Pipeline, now: Timestamp) -> Value {
    let mut record = kept.pipeline.clone();
    if let Some(fields) = record.as_object_mut() {
        fields.remove("url");
    }
    record["uid"] = id.into();
    record["status"] = app.pipelines.meaning.get(id).map(|pipeline| pipeline.status(now)).into();
    record["creation_time"] = iso(kept.created).into();
    record["last_modified_time"] = iso(kept.modified).into();
    record
}
