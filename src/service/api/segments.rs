//! Stored audiences.

use serde_json::json;

use super::paging;
use super::push::possible;
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

/// The criteria as they were sent, once they have been understood.
fn read(request: &Request) -> Result<(String, serde_json::Value), Refusal> {
    let body = request.json()?;
    let sent: Sent = body.read(&body.node)?;
    possible(&sent.criteria, "criteria")?;
    let criteria = body.node.get("criteria").map(crate::node::Node::to_json).unwrap_or_default();
    Ok((sent.display_name.value, criteria))
}

pub fn create(app: &mut App, call: &Call) -> Answered {
    let (display_name, criteria) = read(call.request)?;
    let (id, now) = (new_id(), call.now.as_millisecond());
    let segment = Segment { display_name, criteria, created: now, modified: now };
    app.segments.put(&mut app.journal, &id, segment);
    let url = format!("{}/api/segments/{id}", call.request.origin);
    Ok(Answer::done(201, json!({ "segment_id": id })).at(url))
}

pub fn list(app: &App, call: &Call) -> Answered {
    let limit = paging::limit(call.request, PAGE)?;
    let start = call.request.query("start").unwrap_or("");
    let mut rest = app.segments.table.from(start);
    let page: Vec<_> = rest.by_ref().take(limit).collect();
    let items: Vec<_> = page
        .iter()
        .map(|(id, segment)| {
            json!({
                "id": id,
                "display_name": segment.display_name,
                "creation_date": segment.created,
                "modification_date": segment.modified,
            })
        })
        .collect();
    let mut body = json!({ "segments": items });
    if let Some((next, _)) = rest.next() {
        body["next_page"] = paging::next_page(call.request, limit, next).into();
    }
    Ok(Answer::bare(200, body))
}

pub fn get(app: &App, call: &Call) -> Answered {
    let segment = app.segments.table.get(call.request.param(0)).ok_or_else(|| Refusal::not_found("Segment"))?;
    Ok(Answer::bare(200, json!({ "display_name": segment.display_name, "criteria": segment.criteria })))
}

pub fn update(app: &mut App, call: &Call) -> Answered {
    let (display_name, criteria) = read(call.request)?;
    let id = call.request.param(0);
    let old = app.segments.table.get(id).ok_or_else(|| Refusal::not_found("Segment"))?;
    let segment = Segment { display_name, criteria, created: old.created, modified: call.now.as_millisecond() };
    app.segments.put(&mut app.journal, id, segment);
    Ok(Answer::done(200, json!({})))
}

pub fn delete(app: &mut App, call: &Call) -> Answered {
    let removed = app.segments.remove(&mut app.journal, call.request.param(0));
    removed.ok_or_else(|| Refusal::not_found("Segment"))?;
    Ok(Answer::empty(204))
}
