//! Stored pushes with variables.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::node::{At, Node, Tree, shape};
use pushplan_model::nouns::audience::Selector;
use pushplan_model::nouns::device::DeviceTypes;
use pushplan_model::nouns::push::Content;
use pushplan_model::nouns::variable::Variable;
use serde_json::{Value, json};

use super::{StateChange, limits, paging, push};
use crate::answer::{Answer, Answered, Refusal, new_id};
use crate::request::{Body, Call, Request, RequestBody};
use crate::state::{App, Missing, Template, iso};
use pushplan_model::nouns::level::Level;

/// The largest page of a list.
const PAGE: usize = 100;

/// The maximum length of a variable's key.
const KEY: usize = 32;

shape! {
    /// A template, as sent.
    pub struct Sent as "a template with name and push" {
        /// The name in the dashboard.
        name: At<String>,
        /// Its purpose.
        description: Option<At<String>>,
        /// The variables that its texts name.
        variables: Option<Vec<Variable>>,
        /// The content of the message.
        push: Content,
    }
}

shape! {
    /// Changes of a template. Omitted fields stay unchanged.
    pub struct TemplateChange as "what is to be changed in a template" {
        /// The name in the dashboard.
        name: Option<At<String>>,
        /// Its purpose.
        description: Option<At<String>>,
        /// The variables that its texts name.
        variables: Option<Vec<Variable>>,
        /// The content of the message.
        push: Option<Content>,
    }
}

shape! {
    /// A push whose texts come from a template.
    pub struct SentPush as "device_types, audience and merge_data" {
        /// The audience.
        audience: At<Selector>,
        /// The device types.
        device_types: At<DeviceTypes>,
        /// The template and its values.
        merge_data: MergeData,
    }
}

shape! {
    /// A template and its values.
    pub struct MergeData as "template_id and substitutions" {
        /// The id of the template.
        template_id: At<String>,
        /// Values by the keys of the variables.
        substitutions: BTreeMap<At<String>, At<String>>,
    }
}

pub fn create(request: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let body = sent.json()?;
    let sent: Sent = body.read(&body.node)?;
    check(sent.variables.as_deref(), Some(&sent.push))?;
    let (name, description) = (sent.name.value, sent.description.map(|description| description.value));
    let (variables, push) = (list(body.node.get("variables")), json_of(&body, "push"));
    let id = new_id();
    let url = format!("{}/api/templates/{id}", request.origin);
    Ok(Box::new(move |app, call| {
        let (created, modified) = (call.now, call.now);
        let template = Template { name, description, variables, push, created, modified, last_used: None };
        app.templates.put(&mut app.journal, &id, template);
        Ok(Answer::done(201, json!({ "template_id": id })).at(url))
    }))
}

/// Returns a part of a body as sent; null if it is missing.
fn json_of(body: &Body, key: &str) -> Value {
    body.node.get(key).map(Node::to_json).unwrap_or_default()
}

pub(crate) fn list_all(app: &App, call: &Call) -> Answered {
    let size = call.request.number("page_size", PAGE, PAGE)?.max(1);
    let page = call.request.number("page", 1, usize::MAX)?.max(1);
    let before = (page - 1).saturating_mul(size);
    let total = app.templates.len(None);
    let lines = app.templates.lines(None, before..before.saturating_add(size), |id, kept| record(id, kept).to_string());
    let url = |page: usize| call.request.page(&[("page", page.to_string()), ("page_size", size.to_string())]);
    let more = before.saturating_add(lines.len()) < total && !lines.is_empty();
    let fields = json!({
        "ok": true,
        "count": lines.len(),
        "total_count": total,
        "next_page": more.then(|| url(page + 1)),
        "prev_page": (page > 1).then(|| url(page - 1)),
    });
    Ok(paging::page("templates", &lines, "", &fields))
}

pub fn get(app: &App, call: &Call) -> Answered {
    let id = call.request.param(0);
    let template = app.templates.get(id).ok_or_else(|| Refusal::not_found("Template"))?;
    Ok(Answer::ok(200, json!({ "template": record(id, template) })))
}

pub fn update(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let body = sent.json()?;
    let TemplateChange { name, description, variables, push } = body.read(&body.node)?;
    let names_variables = body.node.get("variables").is_some();
    check(variables.as_deref(), push.as_ref())?;
    let variables = variables.map(|_| list(body.node.get("variables")));
    let push = push.map(|_| json_of(&body, "push"));
    Ok(Box::new(move |app, call| {
        if call.level < Level::Extended && names_variables {
            return Err(Refusal::unknown_key("variables"));
        }
        let changed = app.templates.change(&mut app.journal, call.request.param(0), |template| {
            if let Some(name) = name {
                template.name = name.value;
            }
            if let Some(description) = description {
                template.description = Some(description.value);
            }
            if let Some(variables) = variables {
                template.variables = variables;
            }
            if let Some(push) = push {
                template.push = push;
            }
            template.modified = call.now;
        });
        changed.ok_or_else(|| Refusal::not_found("Template"))?;
        Ok(Answer::done(200, json!({})))
    }))
}

pub fn delete(app: &mut App, call: &Call) -> Answered {
    let removed = app.templates.remove(&mut app.journal, call.request.param(0));
    removed.ok_or_else(|| Refusal::not_found("Template"))?;
    Ok(Answer::done(200, json!({})))
}

pub fn send(_: &Request, sent: &RequestBody) -> Result<StateChange, Refusal> {
    let body = sent.json()?;
    let nodes = body.each();
    push::at_least_one(nodes.len(), "push")?;
    limits::at_most(push::MOST, nodes.len(), "pushes")?;
    let read = nodes.into_iter().map(|(path, node)| {
        let sent: SentPush = body.read(node)?;
        push::addressed(&sent.audience, &sent.device_types, &path)?;
        let whom = ["audience", "device_types"].map(|key| node.get(key).map(Node::to_json).unwrap_or_default());
        Ok((path, sent, whom))
    });
    let wanted = read.collect::<Result<Vec<_>, Refusal>>()?;
    Ok(Box::new(move |app, call| {
        let pushes =
            wanted.iter().map(|(path, sent, whom)| filled(app, path, sent, whom)).collect::<Result<Vec<_>, _>>()?;
        let mut push_ids = Vec::new();
        for ((_, sent, _), raw) in wanted.iter().zip(&pushes) {
            push_ids.push(push::send(app, call, &sent.audience, &sent.device_types, raw));
            let id = &sent.merge_data.template_id.value;
            app.templates.change(&mut app.journal, id, |template| template.last_used = Some(call.now));
        }
        Ok(push::answer(call.level, &push_ids, &[]))
    }))
}

/// Returns a push with the texts of its template, for an audience and device types.
fn filled(app: &App, path: &str, sent: &SentPush, [audience, device_types]: &[Value; 2]) -> Result<Value, Refusal> {
    let MergeData { template_id, substitutions } = &sent.merge_data;
    let template = app.templates.get(template_id).ok_or_else(|| Refusal::not_found("Template"))?;
    let given = substitutions.iter().map(|(key, value)| (key.value.clone(), value.value.clone())).collect();
    let mut out = template.filled(&given).map_err(|Missing(key)| {
        Refusal::invalid_at(
            &format!("{path}merge_data.substitutions.{key}"),
            format!("the template's variable `{key}` has no default, and no value is given for it"),
        )
    })?;
    push::deliverable(!out["message"].is_null(), &sent.device_types, path)?;
    out["audience"] = audience.clone();
    out["device_types"] = device_types.clone();
    Ok(out)
}

fn check(variables: Option<&[Variable]>, push: Option<&Content>) -> Result<(), Refusal> {
    let mut keys = BTreeSet::new();
    for Variable { key, .. } in variables.unwrap_or_default() {
        let allowed = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !allowed || !(1..=KEY).contains(&key.len()) {
            let why = format!("`{}` is not a key of a variable: 1 to {KEY} letters, digits and _", key.value);
            return Err(Refusal::invalid_at("variables", why));
        }
        if !keys.insert(key.as_str()) {
            return Err(Refusal::invalid_at("variables", format!("the variable `{}` is declared twice", key.value)));
        }
    }
    push.map_or(Ok(()), |content| push::known_content(content, "push."))
}

fn list(node: Option<&Node>) -> Vec<Value> {
    match node.map(|node| &node.tree) {
        Some(Tree::List(items)) => items.iter().map(Node::to_json).collect(),
        _ => Vec::new(),
    }
}

/// Returns a template as answers show it. The contract and the live service use different names for the id.
fn record(id: &str, template: &Template) -> Value {
    let Template { name, description, variables, push, created, modified, last_used } = template;
    json!({
        "id": id,
        "template_id": id,
        "name": name,
        "description": description,
        "variables": variables,
        "push": push,
        "created_at": iso(*created),
        "modified_at": iso(*modified),
        "last_used": last_used.map(iso),
    })
}
