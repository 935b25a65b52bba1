//! Scheduled pushes.

use jiff::Timestamp;
use pushplan_model::node::{At, Node, shape};
use pushplan_model::nouns::many::Many;
use pushplan_model::nouns::push::Push;
use pushplan_model::nouns::schedule::Schedule;
use serde_json::{Value, json};

use super::push::{at_least_one, sendable};
use super::{StateChange, limits, paging};
use crate::answer::{Answer, Answered, Refusal, new_id};
use crate::request::{Body, Call, Request, RequestBody, understood};
use crate::state::{App, Moment, Scheduled, moments, newer_form};

/// The largest page of a list.
const PAGE: usize = 200;

shape! {
    /// A scheduled push, as sent.
    pub struct Sent as "a scheduled push with schedule and push" {
        /// The name in the dashboard.
        name: Option<At<String>>,
        /// When it is sent.
        schedule: Many<At<Schedule>>,
        /// The push.
        push: At<Push>,
    }
}

/// A valid scheduled push, with its times.
struct Accepted {
    /// Its place in the body.
    path: String,
    scheduled: Scheduled,
    times: Vec<At<Schedule>>,
}

pub fn create(request: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let body = sent.json()?;
    let nodes = body.each();
    at_least_one(nodes.len(), "scheduled push")?;
    limits::at_most(limits::ITEMS, nodes.len(), "scheduled pushes")?;
    let accepted = nodes.into_iter().map(|(path, node)| read(&body, node, path)).collect::<Result<Vec<_>, _>>()?;
    limits::at_most(limits::ITEMS, accepted.iter().map(|one| one.times.len()).sum(), "times")?;
    let made: Vec<(String, Scheduled)> = accepted.iter().map(|one| (new_id(), one.scheduled.clone())).collect();
    let answer = answer(201, &made, request);
    Ok(Box::new(move |app, call| {
        let each = accepted.iter().map(|one| upcoming(&one.times, call.now, &format!("{}schedule", one.path)));
        let moments = each.collect::<Result<Vec<_>, _>>()?;
        for ((id, scheduled), upcoming) in made.into_iter().zip(moments) {
            app.schedule(&id, scheduled, &upcoming);
        }
        Ok(answer)
    }))
}

pub fn list(app: &App, call: &Call) -> Answered {
    let limit = paging::limit(call.request, PAGE)?;
    let start = call.request.query("start").unwrap_or("");
    let line = |id: &str, scheduled: &Scheduled| paging::after_origin(&path(id), &record(scheduled));
    let mut rest = app.schedules.lines(start, line);
    let lines: Vec<_> = rest.by_ref().take(limit).map(|(_, line)| line).collect();
    let mut fields = json!({ "ok": true, "count": lines.len(), "total_count": app.schedules.len() });
    if let Some((next, _)) = rest.next() {
        fields["next_page"] = call.request.page(&[("start", next.to_owned()), ("limit", limit.to_string())]).into();
    }
    Ok(paging::page("schedules", &lines, &paging::url_begin(call.request), &fields))
}

pub fn get(app: &App, call: &Call) -> Answered {
    let id = call.request.param(0);
    let scheduled = app.schedules.get(id).ok_or_else(unknown)?;
    Ok(Answer::bare(200, with_url(id, scheduled, call.request)))
}

pub fn update(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let body = sent.json()?;
    let Accepted { mut scheduled, times, .. } = read(&body, &body.node, String::new())?;
    limits::at_most(limits::ITEMS, times.len(), "times")?;
    Ok(Box::new(move |app, call| {
        let upcoming = upcoming(&times, call.now, "schedule")?;
        let id = call.request.param(0);
        let old = app.schedules.get(id).ok_or_else(unknown)?;
        if old.started {
            // Some devices have received it already, and a new time would send it to them again.
            let why = "a part of this scheduled push has been sent; it cannot be changed any more";
            return Err(Refusal::not_allowed(why));
        }
        for (new, old) in scheduled.push_ids.iter_mut().zip(&old.push_ids) {
            new.clone_from(old);
        }
        scheduled.paused = old.paused;
        let upcoming = if scheduled.paused { Vec::new() } else { upcoming };
        app.schedule(id, scheduled.clone(), &upcoming);
        Ok(answer(200, &[(id.to_owned(), scheduled)], call.request))
    }))
}

pub fn delete(app: &mut App, call: &Call) -> Answered {
    app.unschedule(call.request.param(0)).ok_or_else(unknown)?;
    Ok(Answer::empty(204))
}

/// Pauses a scheduled push until it is resumed.
pub fn pause(app: &mut App, call: &Call) -> Answered {
    let id = call.request.param(0);
    let scheduled = app.schedules.get(id).ok_or_else(unknown)?.clone();
    app.schedule(id, Scheduled { paused: true, ..scheduled }, &[]);
    Ok(Answer::done(200, json!({})))
}

/// Resumes a paused push with its future moments. A moment that has passed is not sent late.
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

fn read(body: &Body, node: &Node, path: String) -> Result<Accepted, Refusal> {
    let sent: Sent = body.read(node)?;
    at_least_one(sent.schedule.len(), "schedule")?;
    sendable(&sent.push, &format!("{path}push."))?;
    let mut times: Vec<Value> = sent.schedule.iter().map(|schedule| newer_form(schedule)).collect();
    let push_ids = times.iter().map(|_| new_id()).collect();
    let schedule = if times.len() == 1 { times.remove(0) } else { times.into() };
    let scheduled = Scheduled {
        name: sent.name.map(|name| name.value),
        schedule,
        push: node.get("push").map(Node::to_json).unwrap_or_default(),
        push_ids,
        left: 0,
        started: false,
        paused: false,
    };
    Ok(Accepted { path, scheduled, times: sent.schedule.0 })
}

/// Returns the future moments of each time.
fn ahead(schedules: &[At<Schedule>], now: Timestamp) -> Vec<Vec<(usize, Moment)>> {
    let each = schedules.iter().enumerate().map(|(time, schedule)| {
        moments(schedule).into_iter().filter(|moment| moment.at >= now).map(|moment| (time, moment)).collect()
    });
    each.collect()
}

/// Returns all future moments, each with the number of its time. A time that has passed is refused. A local time is
/// refused if it has passed in every zone; otherwise, the zones in which it has passed are left out.
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

fn answer(status: u16, made: &[(String, Scheduled)], request: &Request) -> Answer {
    let urls: Vec<String> = made.iter().map(|(id, _)| url(id, request)).collect();
    let ids: Vec<&String> = made.iter().map(|(id, _)| id).collect();
    let records: Vec<Value> = made.iter().map(|(id, scheduled)| with_url(id, scheduled, request)).collect();
    Answer::done(status, json!({ "schedule_urls": urls, "schedule_ids": ids, "schedules": records }))
}

fn path(id: &str) -> String {
    format!("/api/schedules/{id}")
}

fn url(id: &str, request: &Request) -> String {
    format!("{}{}", request.origin, path(id))
}

fn with_url(id: &str, scheduled: &Scheduled, request: &Request) -> Value {
    let mut record = record(scheduled);
    record["url"] = url(id, request).into();
    record
}

/// Returns a scheduled push as answers show it, except for its URL, which depends on how the client called the service.
fn record(scheduled: &Scheduled) -> Value {
    let Scheduled { name, schedule, push, push_ids, left: _, started: _, paused } = scheduled;
    let mut record = json!({ "schedule": schedule, "push": push, "push_ids": push_ids });
    if let Some(name) = name {
        record["name"] = name.as_str().into();
    }
    if *paused {
        record["paused"] = true.into();
    }
    record
}
