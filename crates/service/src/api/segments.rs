//! Stored audiences.

use pushplan_model::node::{At, shape};
use pushplan_model::nouns::audience::Selector;
use serde::Serialize;
use serde_json::json;

use super::paging;
use super::push::possible;
use crate::answer::{Answer, Answered, Refusal, new_id};
use crate::api::StateChange;
use crate::request::{Call, Request, RequestBody};
use crate::state::{App, Segment};

/// The largest page of a list.
const PAGE: usize = 200;

shape! {
    /// A segment, as sent.
    pub struct Sent as "a segment with display_name and criteria" {
        /// The name in the dashboard.
        display_name: At<String>,
        /// The conditions for its members.
        criteria: At<Selector>,
    }
}

/// Reads a segment: its name, and its criteria as written and as parsed.
fn read(sent: &RequestBody) -> Result<(String, String, At<Selector>), Refusal> {
    let body = sent.json()?;
    let sent: Sent = body.read(&body.node)?;
    possible(&sent.criteria, "criteria")?;
    let criteria = body.node.get("criteria").map_or("", |criteria| body.text(criteria)).to_owned();
    Ok((sent.display_name.value, criteria, sent.criteria))
}

/// The fields of the answer to a new segment.
#[derive(Serialize)]
struct Created<'a> {
    segment_id: &'a str,
}

pub fn create(request: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let (display_name, criteria, understood) = read(sent)?;
    let id = new_id();
    let url = format!("{}/api/segments/{id}", request.origin);
    let answer = Answer::done(201, Created { segment_id: &id }).at(url);
    Ok(Box::new(move |app, call| {
        let now = call.now.as_millisecond();
        app.segments.put(
            &mut app.journal,
            &id,
            Segment { display_name, criteria, created: now, modified: now },
            understood,
        );
        Ok(answer)
    }))
}

pub fn list(app: &App, call: &Call) -> Answered {
    let limit = paging::limit(call.request, PAGE)?;
    let start = call.request.query("start").unwrap_or("");
    let mut rest = app.segments.table.lines(start, |id, segment| segment.line(id));
    let lines: Vec<_> = rest.by_ref().take(limit).map(|(_, line)| line).collect();
    let mut fields = json!({});
    if let Some((next, _)) = rest.next() {
        fields["next_page"] = paging::next_page(call.request, limit, next).into();
    }
    Ok(paging::page("segments", &lines, "", &fields))
}

pub fn get(app: &App, call: &Call) -> Answered {
    let segment = app.segments.table.get(call.request.param(0)).ok_or_else(|| Refusal::not_found("Segment"))?;
    Ok(Answer::text(200, segment.shown()))
}

pub fn update(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let (display_name, criteria, understood) = read(sent)?;
    Ok(Box::new(move |app, call| {
        let id = call.request.param(0);
        let old = app.segments.table.get(id).ok_or_else(|| Refusal::not_found("Segment"))?;
        let (created, modified) = (old.created, call.now.as_millisecond());
        let segment = Segment { display_name, criteria, created, modified };
        app.segments.put(&mut app.journal, id, segment, understood);
        Ok(Answer::done(200, json!({})))
    }))
}

pub fn delete(app: &mut App, call: &Call) -> Answered {
    let removed = app.segments.remove(&mut app.journal, call.request.param(0));
    removed.ok_or_else(|| Refusal::not_found("Segment"))?;
    Ok(Answer::empty(204))
}
