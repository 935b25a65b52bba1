//! A/B tests.

use serde_json::{Value, json};

use super::push::{addressed, deliverable, known_content};
use super::schedules::upcoming;
use crate::answer::{Answer, Answered, Refusal, new_id};
use crate::request::Call;
use crate::request::Request;
use crate::state::{App, Due, Experiment, Moment, SentExperiment, iso, newer_form};

/// The largest page of a listing.
const PAGE: usize = 100;

/// How many variants an experiment may have.
const VARIANTS: usize = 26;

/// An experiment that has been found right, with the moments of each variant.
struct Accepted {
    experiment: Value,
    moments: Vec<Vec<Moment>>,
}

pub fn create(app: &mut App, call: &Call) -> Answered {
    let Accepted { experiment, moments } = read(call)?;
    let (id, push_id) = (new_id(), new_id());
    for (variant, moments) in moments.iter().enumerate() {
        for moment in moments {
            let what = Due::Variant { experiment: id.clone(), variant, local: moment.local };
            app.due.put(&mut app.journal, moment.at, what);
        }
    }
    let kept = Experiment { experiment, push_id: push_id.clone(), created: call.now, started: None };
    app.experiments.put(&mut app.journal, &id, kept);
    let url = format!("{}/api/experiments/{id}", call.request.origin);
    Ok(Answer::done(201, json!({ "experiment_id": id, "push_id": push_id })).at(url))
}

pub fn validate(_: &App, call: &Call) -> Answered {
    read(call)?;
    Ok(Answer::done(200, json!({})))
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
    page(call.request, app.experiments.iter().collect())
}

/// Those that have not started.
pub fn scheduled(app: &App, call: &Call) -> Answered {
    page(call.request, app.experiments.iter().filter(|(_, kept)| kept.started.is_none()).collect())
}

pub fn get(app: &App, call: &Call) -> Answered {
    let id = call.request.param(0);
    let kept = app.experiments.get(id).ok_or_else(unknown)?;
    Ok(Answer::ok(200, json!({ "experiment": record(id, kept) })))
}

fn unknown() -> Refusal {
    Refusal::not_found("Experiment")
}

fn read(call: &Call) -> Result<Accepted, Refusal> {
    let body = call.request.json()?;
    let sent: SentExperiment = body.read(&body.node)?;
    addressed(&sent.audience, &sent.device_types, "")?;
    if !(1..=VARIANTS).contains(&sent.variants.len()) {
        let why = format!("{} variants; 1 to {VARIANTS} are possible", sent.variants.len());
        return Err(Refusal::invalid_at("variants", why));
    }
    let mut experiment = body.node.to_json();
    let mut moments = Vec::new();
    for (number, variant) in sent.variants.iter().enumerate() {
        let path = format!("variants[{number}].");
        known_content(&variant.push, &format!("{path}push."))?;
        deliverable(variant.push.message.is_some(), &sent.device_types, &format!("{path}push."))?;
        moments.push(match &variant.schedule {
            None => vec![Moment { at: call.now, local: None }],
            Some(schedule) => {
                experiment["variants"][number]["schedule"] = newer_form(schedule);
                let ahead = upcoming(std::slice::from_ref(schedule), call.now, &format!("{path}schedule"))?;
                ahead.into_iter().map(|(_, moment)| moment).collect()
            }
        });
    }
    Ok(Accepted { experiment, moments })
}

/// A page of experiments, the newest first.
fn page(request: &Request, all: Vec<(&str, &Experiment)>) -> Answered {
    let limit = request.number("limit", PAGE, PAGE)?.max(1);
    let offset = request.number("offset", 0, usize::MAX)?;
    let total = all.len();
    let page = all.into_iter().rev().skip(offset).take(limit);
    let experiments: Vec<Value> = page.map(|(id, kept)| record(id, kept)).collect();
    let next = offset.saturating_add(limit);
    let mut fields = json!({ "count": experiments.len(), "total_count": total, "experiments": experiments });
    if next < total {
        fields["next_page"] = request.page(&[("offset", next.to_string()), ("limit", limit.to_string())]).into();
    }
    Ok(Answer::ok(200, fields))
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
