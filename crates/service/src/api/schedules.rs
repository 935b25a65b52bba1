//! Pushes at a time.

use jiff::Timestamp;
use pushplan_model::node::{At, Node, shape};
use pushplan_model::nouns::many::Many;
use pushplan_model::nouns::push::Push;
use pushplan_model::nouns::schedule::Schedule;
use serde_json::{Value, json};

use super::push::{at_least_one, sendable};
use crate::answer::{Answer, Answered, Refusal, new_id};
use crate::request::Call;
use crate::request::{Body, understood};
use crate::state::{App, Moment, Scheduled, moments, newer_form};

/// The largest page of a listing.
const PAGE: usize = 200;

shape! {
    /// A scheduled push as it is sent.
    pub struct Sent as "a scheduled push with schedule and push" {
        /// The name that people see.
        name: Option<At<String>>,
        /// When it is sent.
        schedule: Many<At<Schedule>>,
        /// What is sent, and to whom.
        push: At<Push>,
    }
}

/// A scheduled push that has been found right, and the moments at which it will be sent.
struct Accepted {
    scheduled: Scheduled,
    upcoming: Vec<(usize, Moment)>,
}

pub fn create(app: &mut App, call: &Call) -> Answered {
    let body = call.request.json()?;
    let nodes = body.each();
    at_least_one(nodes.len(), "scheduled push")?;
    let accepted =
        nodes.into_iter().map(|(path, node)| read(&body, node, &path, call.now)).collect::<Result<Vec<_>, _>>()?;
    let mut made = Vec::new();
    for Accepted { scheduled, upcoming } in accepted {
        let id = new_id();
        app.schedule(&id, scheduled.clone(), &upcoming);
        made.push((id, scheduled));
    }
    Ok(answer(201, &made, call))
}

pub fn list(app: &App, call: &Call) -> Answered {
    let limit = call.request.number("limit", PAGE, PAGE)?.max(1);
    let start = call.request.query("start").unwrap_or("");
    let mut rest = app.schedules.from(start);
    let schedules: Vec<Value> = rest.by_ref().take(limit).map(|(id, scheduled)| record(id, scheduled, call)).collect();
    let mut fields = json!({ "count": schedules.len(), "total_count": app.schedules.len(), "schedules": schedules });
    if let Some((next, _)) = rest.next() {
        fields["next_page"] = call.request.page(&[("start", next.to_owned()), ("limit", limit.to_string())]).into();
    }
    Ok(Answer::ok(200, fields))
}

pub fn get(app: &App, call: &Call) -> Answered {
    let id = call.request.param(0);
    let scheduled = app.schedules.get(id).ok_or_else(unknown)?;
    Ok(Answer::bare(200, record(id, scheduled, call)))
}

pub fn update(app: &mut App, call: &Call) -> Answered {
    let body = call.request.json()?;
    let Accepted { mut scheduled, upcoming } = read(&body, &body.node, "", call.now)?;
    let id = call.request.param(0);
    let old = app.schedules.get(id).ok_or_else(unknown)?;
    if old.started {
        // Some devices have it already: a new time would send it to them again.
        return Err(Refusal::not_allowed("a part of this scheduled push has been sent; it cannot be changed any more"));
    }
    for (new, old) in scheduled.push_ids.iter_mut().zip(&old.push_ids) {
        new.clone_from(old);
    }
    scheduled.paused = old.paused;
    let upcoming = if scheduled.paused { Vec::new() } else { upcoming };
    app.schedule(id, scheduled.clone(), &upcoming);
    Ok(answer(200, &[(id.to_owned(), scheduled)], call))
}

pub fn delete(app: &mut App, call: &Call) -> Answered {
    app.unschedule(call.request.param(0)).ok_or_else(unknown)?;
    Ok(Answer::empty(204))
}

/// Holds a scheduled push back until it is resumed.
pub fn pause(app: &mut App, call: &Call) -> Answered {
    let id = call.request.param(0);
    let scheduled = app.schedules.get(id).ok_or_else(unknown)?.clone();
    app.schedule(id, Scheduled { paused: true, ..scheduled }, &[]);
    Ok(Answer::done(200, json!({})))
}

/// Lets a paused push go on with the moments that still lie ahead. One whose time passed meanwhile is not sent late.
pub fn resume(app: &mut App, call: &Call) -> Answered {
    let id = call.request.param(0);
    let scheduled = app.schedules.get(id).ok_or_else(unknown)?.clone();
    if scheduled.paused {
        let schedules = understood::<Many<At<Schedule>>>(&scheduled.schedule).unwrap_or_default();
        let upcoming: Vec<_> = ahead(&schedules, call.now).into_iter().flatten().collect();
        if upcoming.is_empty() {
            return Err(Refusal::invalid_at("schedule", "the time has passed while it was paused; give it a new one"));
        }
        app.schedule(id, Scheduled { paused: false, ..scheduled }, &upcoming);
    }
    Ok(Answer::done(200, json!({})))
}

fn unknown() -> Refusal {
    Refusal::not_found("Schedule")
}

fn read(body: &Body, node: &Node, path: &str, now: Timestamp) -> Result<Accepted, Refusal> {
    let sent: Sent = body.read(node)?;
    at_least_one(sent.schedule.len(), "schedule")?;
    sendable(&sent.push, &format!("{path}push."))?;
    let upcoming = upcoming(&sent.schedule, now, &format!("{path}schedule"))?;
    let mut times: Vec<Value> = sent.schedule.iter().map(|schedule| newer_form(schedule)).collect();
    let push_ids = times.iter().map(|_| new_id()).collect();
    let schedule = if times.len() == 1 { times.remove(0) } else { times.into() };
    let scheduled = Scheduled {
        name: sent.name.map(|name| name.value),
        schedule,
        push: node.get("push").map(Node::to_json).unwrap_or_default(),
        push_ids,
        left: upcoming.len(),
        started: false,
        paused: false,
    };
    Ok(Accepted { scheduled, upcoming })
}

/// The moments of each time that still lie ahead.
fn ahead(schedules: &[At<Schedule>], now: Timestamp) -> Vec<Vec<(usize, Moment)>> {
    let each = schedules.iter().enumerate().map(|(time, schedule)| {
        moments(schedule).into_iter().filter(|moment| moment.at >= now).map(|moment| (time, moment)).collect()
    });
    each.collect()
}

/// All moments that lie ahead, with the number of the time that each belongs to. A time that has passed is refused; a local
/// one when it has passed in every zone, else the zones where it has are left out.
pub(super) fn upcoming(
    schedules: &[At<Schedule>],
    now: Timestamp,
    path: &str,
) -> Result<Vec<(usize, Moment)>, Refusal> {
    let ahead = ahead(schedules, now);
    if let Some(passed) = ahead.iter().position(Vec::is_empty) {
        let time = schedules[passed].written.value;
        return Err(Refusal::invalid_at(path, format!("the time {time} has passed")));
    }
    Ok(ahead.into_iter().flatten().collect())
}

fn answer(status: u16, made: &[(String, Scheduled)], call: &Call) -> Answer {
    let urls: Vec<String> = made.iter().map(|(id, _)| url(id, call)).collect();
    let ids: Vec<&String> = made.iter().map(|(id, _)| id).collect();
    let records: Vec<Value> = made.iter().map(|(id, scheduled)| record(id, scheduled, call)).collect();
    Answer::done(status, json!({ "schedule_urls": urls, "schedule_ids": ids, "schedules": records }))
}

fn url(id: &str, call: &Call) -> String {
    format!("{}/api/schedules/{id}", call.request.origin)
}

fn record(id: &str, scheduled: &Scheduled, call: &Call) -> Value {
    let Scheduled { name, schedule, push, push_ids, left: _, started: _, paused } = scheduled;
    let mut record = json!({ "url": url(id, call), "schedule": schedule, "push": push, "push_ids": push_ids });
    if let Some(name) = name {
        record["name"] = name.as_str().into();
    }
    if *paused {
        record["paused"] = true.into();
    }
    record
}
