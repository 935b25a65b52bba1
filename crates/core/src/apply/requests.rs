//! The request of a step, built when every segment that it names has an id.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::Context;
use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::{Ledger, Verb};
use pushplan_model::exchange::Request;
use pushplan_model::kinds::{self, remote};
use pushplan_model::node::Shared;
use pushplan_model::nouns::level::Level;
use serde_json::Value;

use crate::plan::Step;

/// A request, and the ids of the segments that it names, by their keys.
#[derive(Debug)]
pub struct Made {
    pub request: Request,
    pub refs: BTreeMap<String, String>,
}

/// The request of a step that has one, or the reason why there is none. `made` has the ids of segments created since
/// the plan.
pub fn request(step: &Step, made: &BTreeMap<String, String>, level: Level) -> anyhow::Result<Made> {
    let api = kinds::api(&step.address);
    let id = step.id.as_deref().unwrap_or_default();
    let spec = step.spec.as_ref().context("the plan has no content for it")?;
    if step.verb == Verb::Delete {
        let request = api.delete(id, spec, level).context("the service cannot delete it")?;
        return Ok(Made { request, refs: step.refs.clone() });
    }
    if step.verb == Verb::Create && !remote::may_name(api.audiences(), spec) {
        return Ok(Made { request: api.create_just(spec), refs: BTreeMap::new() });
    }
    let refs = refs(step, spec, made)?;
    let wire = wire(api.audiences(), spec, &refs);
    let request = match step.verb {
        Verb::Create => api.create(&wire),
        _ => {
            let before = step.before.as_ref().unwrap_or(spec);
            api.update(id, before, &wire, level).context("the service cannot change it in place")?
        }
    };
    Ok(Made { request, refs })
}

/// Checks that a step has a request, or returns the reason. A creation always has one, once every segment that it names
/// exists.
pub fn check(step: &Step, made: &BTreeMap<String, String>, level: Level) -> anyhow::Result<()> {
    match &step.spec {
        Some(spec) if step.verb == Verb::Create => refs(step, spec, made).map(drop),
        _ => request(step, made, level).map(drop),
    }
}

/// The ids of the segments that a spec names, by their keys.
fn refs(step: &Step, spec: &Shared, made: &BTreeMap<String, String>) -> anyhow::Result<BTreeMap<String, String>> {
    let mut refs = BTreeMap::new();
    for key in remote::named(kinds::api(&step.address).audiences(), spec) {
        let id = step.refs.get(key).or_else(|| made.get(key));
        let id = id.with_context(|| format!("the segment {key} does not exist"))?;
        refs.insert(key.to_owned(), id.clone());
    }
    Ok(refs)
}

/// A spec with ids instead of keys of segments.
fn wire<'s>(audiences: &[&str], spec: &'s Value, refs: &BTreeMap<String, String>) -> Cow<'s, Value> {
    if !remote::names_any(audiences, spec) {
        return Cow::Borrowed(spec);
    }
    Cow::Owned(remote::point(audiences, spec, &mut |reference| match reference {
        Value::String(key) => refs.get(key).map_or_else(|| reference.clone(), |id| id.as_str().into()),
        outside => outside["id"].clone(),
    }))
}

/// Whether the resource that a step changes or deletes is managed, or was adopted to be deleted.
pub(crate) fn is_owned(step: &Step, ledger: &Ledger) -> bool {
    let (address, id) = (&step.address, step.id.as_deref());
    match step.verb {
        Verb::Create | Verb::Adopt | Verb::Forget | Verb::Move => true,
        Verb::Update | Verb::Delete => {
            let owned = ledger.owned.get(address).is_some_and(|owned| Some(owned.id.as_str()) == id);
            let pruned = || ledger.pruning.get(address).is_some_and(|other| Some(other.as_str()) == id);
            owned || is_old_version(step, ledger) || step.verb == Verb::Delete && pruned()
        }
    }
}

/// Whether a step is about a version that was replaced.
pub(crate) fn is_old_version(step: &Step, ledger: &Ledger) -> bool {
    ledger.retired.iter().any(|old| old.address == step.address && Some(&old.id) == step.id.as_ref())
}

/// Until when a resource that messages people by itself may be created; `None` if it does not, or does so at once.
pub(crate) fn creatable_until(step: &Step, lead: SignedDuration) -> Option<Timestamp> {
    let spec = step.spec.as_ref().filter(|_| step.verb == Verb::Create)?;
    let api = kinds::api(&step.address);
    let first = if api.has_runs() { api.runs(spec)?.first? } else { return None };
    Some(first.checked_sub(lead).unwrap_or(Timestamp::MIN))
}
