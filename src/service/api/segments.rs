//! Stored audiences.

use serde::Serialize;
use serde_json::{Value, json};

use crate::model::audience::Selector;
use crate::node::{At, shape};
use crate::service::answer::{Answer, Answered, Refusal, new_id};
use crate::service::request::Request;
use crate::service::routes::Call;
use crate::service::state::{App, Segment};

/// The largest page of a listing.
const PAGE: usize = 200;

shape! {
    /// A segment as it is sent.
    pub struct Sent as "a segment with display_name and criteria" {
        /// The name that people see.
        display_name: At<String>,
        /// Who is in it.
        criteria: At<Selector>,
    }
}

/// A segment by itself.
#[derive(Serialize)]
struct One<'a> {
    display_name: &'a str,
    criteria: &'a Value,
}

/// A page of a listing.
#[derive(Serialize)]
struct Page<'a> {
    segments: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

#[derive(Serialize)]
struct Item<'a> {
    id: &'a str,
    display_name: &'a str,
    creation_date: i64,
    modification_date: i64,
}

impl<'a> Item<'a> {
    fn of((id, segment): (&'a str, &'a Segment)) -> Self {
        let Segment { display_name, created, modified, .. } = segment;
        Self { id, display_name, creation_date: *created, modification_date: *modified }
    }
}

/// What was sent: the name, the criteria as they are written and as they are understood.
fn read(request: &Request) -> Result<(String, Value, At<Selector>), Refusal> {
    let body = request.json()?;
    let sent: Sent = body.read(&body.node)?;
    if matches!(sent.criteria.value, Selector::Triggered) {
        return Err(Refusal::invalid("`triggered` is not possible in a segment"));
    }
    let criteria = body.node.get("criteria").map(crate::node::Node::to_json).unwrap_or_default();
    Ok((sent.display_name.value, criteria, sent.criteria))
}

pub fn create(app: &mut App, call: &Call) -> Answered {
    let (display_name, criteria, understood) = read(call.request)?;
    let (id, now) = (new_id(), call.now.as_millisecond());
    let segment = Segment { display_name, criteria, created: now, modified: now };
    app.segments.put(&mut app.journal, &id, segment, understood);
    let url = format!("{}/api/segments/{id}", call.request.origin);
    Ok(Answer::done(201, json!({ "segment_id": id })).at(url))
}

pub fn list(app: &App, call: &Call) -> Answered {
    let limit = call.request.number("limit", PAGE, PAGE)?.max(1);
    let start = call.request.query("start").unwrap_or("");
    let mut rest = app.segments.table.from(start);
    let segments = rest.by_ref().take(limit).map(Item::of).collect();
    let next_page =
        rest.next().map(|(next, _)| format!("{}/api/segments?limit={limit}&start={next}", call.request.origin));
    Ok(Answer::bare(200, Page { segments, next_page }))
}

pub fn get(app: &App, call: &Call) -> Answered {
    let segment = app.segments.table.get(call.request.param(0)).ok_or_else(|| Refusal::not_found("Segment"))?;
    Ok(Answer::bare(200, One { display_name: &segment.display_name, criteria: &segment.criteria }))
}

pub fn update(app: &mut App, call: &Call) -> Answered {
    let (display_name, criteria, understood) = read(call.request)?;
    let id = call.request.param(0);
    let old = app.segments.table.get(id).ok_or_else(|| Refusal::not_found("Segment"))?;
    let segment = Segment { display_name, criteria, created: old.created, modified: call.now.as_millisecond() };
    app.segments.put(&mut app.journal, id, segment, understood);
    Ok(Answer::done(200, json!({})))
}

pub fn delete(app: &mut App, call: &Call) -> Answered {
    let removed = app.segments.remove(&mut app.journal, call.request.param(0));
    removed.ok_or_else(|| Refusal::not_found("Segment"))?;
    Ok(Answer::empty(204))
}
