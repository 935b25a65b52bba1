//! Drift as one JSON object, described by a schema. It has every fact of the text form.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::ShownDrift;
use crate::drift;
use crate::plan::{self, Action};
use crate::render::plan::facts::{Audience, Time};
use crate::render::plan::json::{Field, PlanMessage};
use crate::render::plan::{PlanView, messages};
use crate::review::fields::Difference;

/// The output of `pushplan drift --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DriftDocument<'d> {
    /// The version of this format. It increases when a field is removed or changes its meaning.
    pub format_version: u32,
    pub target: String,
    /// Scheme, host and port of the service.
    pub origin: String,
    /// The time of the check.
    pub looked: String,
    /// The time of the last apply, or of the first adoption if nothing was applied. Null if neither happened.
    pub last_apply: Option<String>,
    /// Whether something was changed, removed or added.
    pub drifted: bool,
    pub counts: DriftCounts,
    /// The effect on recipients, one sentence each, the most urgent first.
    pub verdict: Vec<String>,
    /// Messages that differ from the applied state, the most urgent first.
    pub messages: Vec<PlanMessage>,
    /// Managed resources that were changed or removed, sorted by address.
    pub changes: Vec<DriftChange<'d>>,
    /// Resources that were created on the service, the newest first.
    pub added: Vec<Added>,
    /// The number of unmanaged resources of unknown age, by kind.
    pub undated: BTreeMap<&'static str, usize>,
    /// Creations of an earlier run with an unknown result.
    pub in_doubt: Vec<String>,
    /// Whether the manifests have errors, so the fields in lifecycle.ignore are unknown.
    pub manifests_unread: bool,
}

/// The numbers of resources. One that is applied in parts counts once.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DriftCounts {
    pub changed: usize,
    pub removed: usize,
    pub added: usize,
    pub as_applied: usize,
    /// Differences in fields of `lifecycle.ignore`.
    pub ignored: usize,
    /// Resources that the API cannot read.
    pub untold: usize,
    /// Unmanaged resources of unknown age.
    pub undated: usize,
}

/// A change of a managed resource.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DriftChange<'d> {
    /// Such as segments/lapsed-buyers.
    pub address: String,
    /// The resource that it is a part of; its own address if it is a whole resource.
    pub resource: String,
    pub what: DriftKind,
    /// Its name on the service.
    pub name: String,
    pub id: Option<String>,
    /// Where it is declared, if the manifests can be read.
    pub file: Option<String>,
    pub line: Option<usize>,
    /// When it was edited, if the service reports it.
    pub edited: Option<String>,
    /// The differences between the applied and the live state.
    pub fields: Vec<Field<'d>>,
    /// Number of equal fields.
    pub unchanged_fields: usize,
    /// The last applied state.
    pub last_applied: Option<&'d Value>,
    /// The state on the service. Null if it was removed.
    pub live: Option<&'d Value>,
    /// Its audience, and how the audience changed.
    pub audiences: Vec<Audience>,
    /// Its send times.
    pub times: Vec<Time>,
    /// Send times that were removed, if others remain.
    pub times_gone: Vec<Time>,
    /// Paths of ignored fields that differ too.
    pub ignored: Vec<String>,
    /// The command that keeps it. Null if it must be removed from the files.
    pub keep: Option<String>,
    /// The command that undoes it.
    pub undo: String,
}

/// The change that someone made.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriftKind {
    Changed,
    Removed,
}

/// An unmanaged resource.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Added {
    /// Such as segments.
    pub kind: &'static str,
    pub id: String,
    pub name: String,
    pub made: String,
    pub last_used: Option<String>,
}

/// The whole drift as one JSON object.
pub fn json(shown: &ShownDrift) -> String {
    let mut text = serde_json::to_string_pretty(&DriftDocument::new(shown)).expect("it has text keys only");
    text.push('\n');
    text
}

impl<'d> DriftDocument<'d> {
    pub fn new(shown: &ShownDrift<'d>) -> Self {
        let (drift, plan, view) = (shown.drift, shown.plan, shown.view());
        let done = |change: &&plan::Change| matches!(change.action, Action::Update | Action::Delete);
        Self {
            format_version: 1,
            target: plan.target.clone(),
            origin: plan.origin.clone(),
            looked: plan.made.to_string(),
            last_apply: drift.since.map(|at| at.to_string()),
            drifted: !drift.is_none(),
            counts: DriftCounts {
                changed: drift.changed(),
                removed: drift.removed(),
                added: drift.added.len(),
                as_applied: drift.kept(),
                ignored: drift.ignored(),
                untold: drift.untold(),
                undated: drift.undated.values().sum(),
            },
            verdict: messages::verdict(&view, None).into_iter().map(|(words, _)| words).collect(),
            messages: PlanMessage::all(&view),
            changes: plan.changes.iter().filter(done).map(|change| DriftChange::new(shown, &view, change)).collect(),
            added: drift.added.iter().map(Added::new).collect(),
            undated: drift.undated.clone(),
            in_doubt: drift.in_doubt.iter().map(ToString::to_string).collect(),
            manifests_unread: shown.unread,
        }
    }
}

impl<'d> DriftChange<'d> {
    fn new(shown: &ShownDrift, view: &PlanView, change: &'d plan::Change) -> Self {
        let removed = change.action == Action::Delete;
        let live = change.desired.as_deref();
        let found = Difference::between(change.live.as_deref(), live);
        let resource = change.address.resource().to_string();
        let (times, times_gone) = Time::all(view, change);
        Self {
            address: change.address.to_string(),
            what: if removed { DriftKind::Removed } else { DriftKind::Changed },
            name: change.name.clone(),
            id: change.id.clone(),
            file: change.place.as_ref().map(|place| place.file.to_string()),
            line: change.place.as_ref().map(|place| place.line),
            edited: shown.drift.edited.get(&change.address).map(ToString::to_string),
            unchanged_fields: found.same,
            fields: found.fields.into_iter().map(Field::new).collect(),
            last_applied: change.live.as_deref(),
            live,
            audiences: view.review.who(change).iter().map(Audience::new).collect(),
            times,
            times_gone,
            ignored: change.ignored.clone(),
            keep: match removed {
                false => Some(shown.keep(std::iter::once(change), &resource)),
                true => shown.plan.is_removed_part(change).then(|| shown.pull(&resource)),
            },
            undo: shown.put_back(&resource),
            resource,
        }
    }
}

impl Added {
    fn new(added: &drift::Added) -> Self {
        let drift::Added { kind, id, name, made, used } = added.clone();
        Self { kind: kind.key, id, name, made: made.to_string(), last_used: used.map(|at| at.to_string()) }
    }
}
