//! A/B tests.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use pushplan_model::node::{At, Node, Tree};
use pushplan_model::nouns::level::Level;
use pushplan_model::nouns::schedule::Schedule;
use pushplan_model::nouns::split::Share;
use serde_json::{Value, json};

use super::push::{addressed, deliverable, known_content};
use super::schedules::upcoming;
use super::{Question, StateChange, paging};
use crate::answer::{Answer, Answered, Refusal, new_id};
use crate::request::{Call, Request, RequestBody, understood};
use crate::state::{App, Due, Experiment, GroupResult, Moment, SentExperiment, iso, newer_form};

/// The largest page of a list.
const PAGE: usize = 100;

/// The maximum number of variants of an experiment.
const VARIANTS: usize = 26;

/// A valid experiment, with the time of each variant.
struct Accepted {
    experiment: Value,
    times: Vec<Option<At<Schedule>>>,
    /// The path of the first field that the contract lacks.
    further: Option<String>,
}

impl Accepted {
    /// Refuses fields that the level of a request lacks.
    fn is_known_at(&self, level: Level) -> Result<(), Refusal> {
        match &self.further {
            Some(path) if level < Level::Extended => Err(Refusal::unknown_key(path)),
            _ => Ok(()),
        }
    }

    /// Returns the moments of each variant. A variant without a time is sent immediately.
    fn moments(&self, now: Timestamp) -> Result<Vec<Vec<Moment>>, Refusal> {
        let each = self.times.iter().enumerate().map(|(number, time)| {
            let Some(time) = time else { return Ok(vec![Moment { at: now, local: None }]) };
            let ahead = upcoming(std::slice::from_ref(time), now, &format!("variants[{number}].schedule"))?;
            Ok(ahead.into_iter().map(|(_, moment)| moment).collect())
        });
        each.collect()
    }
}

pub fn create(request: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let accepted = read(sent)?;
    let (id, push_id) = (new_id(), new_id());
    let url = format!("{}/api/experiments/{id}", request.origin);
    Ok(Box::new(move |app, call| {
        accepted.is_known_at(call.level)?;
        for (variant, moments) in accepted.moments(call.now)?.iter().enumerate() {
            for moment in moments {
                let what = Due::Variant { experiment: id.clone(), variant, local: moment.local };
                app.due.put(&mut app.journal, moment.at, what);
            }
        }
        let answer = Answer::done(201, json!({ "experiment_id": id, "push_id": push_id })).at(url);
        let kept = Experiment { experiment: accepted.experiment, push_id, created: call.now, started: None };
        app.experiments.put(&mut app.journal, &id, kept);
        Ok(answer)
    }))
}

pub fn validate(_: &Request, sent: &RequestBody) -> Result<Question, Refusal> {
    let accepted = read(sent)?;
    Ok(Box::new(move |_, call| {
        accepted.moments(call.now)?;
        Ok(Answer::done(200, json!({})))
    }))
}

pub fn delete(app: &mut App, call: &Call) -> Answered {
    let id = call.request.param(0);
    let kept = app.experiments.get(id).ok_or_else(unknown)?;
    if kept.started.is_some() {
        return Err(Refusal::not_allowed("the experiment has started; it can be deleted only before"));
    }
    app.cancel_experiment(id);
    Ok(Answer::done(200, json!({})))
}

pub fn list(app: &App, call: &Call) -> Answered {
    page(app, call.request, None)
}

/// Lists the experiments that have not started.
pub fn scheduled(app: &App, call: &Call) -> Answered {
    page(app, call.request, Some(true))
}

pub fn get(app: &App, call: &Call) -> Answered {
    let id = call.request.param(0);
    let kept = app.experiments.get(id).ok_or_else(unknown)?;
    Ok(Answer::ok(200, json!({ "experiment": record(id, kept) })))
}

/// Reports the responses to each variant, and those of the control group, which got nothing.
pub fn report(app: &App, call: &Call) -> Answered {
    let push_id = call.request.param(0);
    let Some((id, kept)) = app.experiments.iter().find(|(_, kept)| kept.push_id == push_id) else {
        app.sent.get(push_id).ok_or_else(|| Refusal::not_found("Push"))?;
        return Ok(Answer::bare(200, json!({ "push_id": push_id, "variants": [] })));
    };
    let Some(sent) = understood::<SentExperiment>(&kept.experiment) else { return Err(unknown()) };
    let (split, results) = (sent.split(), app.results());
    let result = |variant| results.get(&(id, variant)).copied().unwrap_or_default();
    let variants = sent.variants.iter().enumerate().map(|(number, variant)| {
        let GroupResult { sends, taps, opens } = result(Some(number));
        json!({
            "id": number,
            "name": variant.name,
            "audience_pct": split.share(number).map(percent),
            "sends": sends,
            "direct_responses": taps,
            "direct_response_pct": rate(taps, sends),
            "indirect_responses": opens,
            "indirect_response_pct": rate(opens, sends),
        })
    });
    let mut report = json!({
        "app_key": app.key,
        "experiment_id": id,
        "push_id": push_id,
        "created": TimeZone::UTC.to_datetime(kept.created).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        "variants": variants.collect::<Vec<_>>(),
    });
    if split.control().0 > 0.0 {
        let GroupResult { sends, opens, .. } = result(None);
        report["control"] = json!({
            "audience_pct": percent(split.control()),
            "sends": sends,
            "responses": opens,
            "response_rate_pct": rate(opens, sends),
        });
    }
    Ok(Answer::bare(200, report))
}

fn percent(share: Share) -> f64 {
    (share.0 * 10_000.0).round() / 100.0
}

#[expect(clippy::cast_precision_loss, reason = "a rate with two digits")]
fn rate(responses: u64, sends: u64) -> f64 {
    percent(Share(if sends == 0 { 0.0 } else { responses as f64 / sends as f64 }))
}

fn unknown() -> Refusal {
    Refusal::not_found("Experiment")
}

fn read(sent: &RequestBody) -> Result<Accepted, Refusal> {
    let body = sent.json()?;
    let sent: SentExperiment = body.read(&body.node)?;
    addressed(&sent.audience, &sent.device_types, "")?;
    if !(1..=VARIANTS).contains(&sent.variants.len()) {
        let why = format!("{} variants; 1 to {VARIANTS} are possible", sent.variants.len());
        return Err(Refusal::invalid_at("variants", why));
    }
    let mut experiment = body.node.to_json();
    let mut times = Vec::new();
    let further = further(&body.node);
    for (number, variant) in sent.variants.into_iter().enumerate() {
        let path = format!("variants[{number}].push.");
        known_content(&variant.push, &path)?;
        deliverable(variant.push.message.is_some(), &sent.device_types, &path)?;
        if let Some(schedule) = &variant.schedule {
            experiment["variants"][number]["schedule"] = newer_form(schedule);
        }
        times.push(variant.schedule);
    }
    Ok(Accepted { experiment, times, further })
}

/// Returns the path of the first field that the contract lacks.
fn further(experiment: &Node) -> Option<String> {
    let control = experiment.get("control").map(|_| "control".to_owned());
    let variants = match experiment.get("variants").map(|variants| &variants.tree) {
        Some(Tree::List(variants)) => variants.as_slice(),
        _ => &[],
    };
    let of_variants = variants.iter().enumerate().find_map(|(number, variant)| {
        let key = ["name", "description", "weight"].into_iter().find(|key| variant.get(key).is_some())?;
        Some(format!("variants[{number}].{key}"))
    });
    control.or(of_variants)
}

/// Returns a page of experiments, newest first: of all, or of those that have not started.
fn page(app: &App, request: &Request, part: Option<bool>) -> Answered {
    let limit = request.number("limit", PAGE, PAGE)?.max(1);
    let offset = request.number("offset", 0, usize::MAX)?;
    let total = app.experiments.len(part);
    let lines = app.experiments.newest(part, offset, limit, |id, kept| record(id, kept).to_string());
    let next = offset.saturating_add(limit);
    let mut fields = json!({ "ok": true, "count": lines.len(), "total_count": total });
    if next < total {
        fields["next_page"] = request.page(&[("offset", next.to_string()), ("limit", limit.to_string())]).into();
    }
    Ok(paging::page("experiments", &lines, "", &fields))
}

fn record(id: &str, kept: &Experiment) -> Value {
    let Experiment { experiment, push_id, created, started } = kept;
    let mut record = experiment.clone();
    record["id"] = id.into();
    record["experiment_id"] = id.into();
    record["push_id"] = push_id.as_str().into();
    record["created_at"] = iso(*created).into();
    record["status"] = if started.is_some() { "started" } else { "scheduled" }.into();
    record
}
