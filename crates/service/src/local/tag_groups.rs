//! The tag groups of an application. People create them in a dashboard, and no request of the API does.

use pushplan_model::node::{At, shape};
use serde_json::json;

use crate::answer::{Answer, Answered, Refusal};
use crate::api::{StateChange, limits};
use crate::request::{Call, Request, RequestBody};
use crate::state::App;

shape! {
    /// The tag groups.
    pub struct SentTagGroups as "{tag_groups: [<name>]}, or {tag_groups: null} for any name" {
        /// Their names; without them, every name is a tag group.
        tag_groups: Option<Vec<At<String>>>,
    }
}

pub(super) fn get(app: &App, _: &Call) -> Answered {
    Ok(Answer::bare(200, json!({ "tag_groups": app.tag_groups.names() })))
}

pub(super) fn put(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let SentTagGroups { tag_groups } = sent.read()?;
    tag_groups.iter().flatten().try_for_each(|group| limits::group(group))?;
    let names = tag_groups.map(|groups| groups.into_iter().map(|group| group.value).collect());
    Ok(Box::new(move |app, call| {
        app.tag_groups.set(&mut app.journal, names);
        get(app, call)
    }))
}
