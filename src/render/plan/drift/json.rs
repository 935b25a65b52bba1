//! For programs: one JSON object, described by a schema. It holds every fact that the text shows.

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

/// What `pushplan drift --format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DriftDocument<'d> {
    /// The version of this form. It grows when a field changes its meaning or goes away.
    pub format_version: u32,
    pub target: String,
    /// Scheme, host and port of the service.
    pub origin: String,
    /// When it was looked.
    pub looked: String,
    /// When something was last applied or, where nothing ever was, taken over. Null where neither was.
    pub last_apply: Option<String>,
    /// Whether something was changed, removed or added.
    pub drifted: bool,
    pub counts: DriftCounts,
    /// What that means for the people who get messages, a sentence each, the most urgent first.
    pub verdict: Vec<String>,
    /// The messages that are not as they were applied, the most urgent first.
    pub messages: Vec<PlanMessage>,
    /// What was changed or removed that is managed, in the order of addresses.
    pub changes: Vec<DriftChange<'d>>,
    /// What was created on the service, the newest first.
    pub added: Vec<Added>,
    /// How many unmanaged things of unknown age there are, by kind.
    pub undated: BTreeMap<&'static str, usize>,
    /// What an earlier run was about to make, with no known result.
    pub in_doubt: Vec<String>,
    /// Whether the manifests have errors, so that what lifecycle.ignore leaves to the dashboard is unknown.
    pub manifests_unread: bool,
}

/// How much of each there is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DriftCounts {
    pub changed: usize,
    pub removed: usize,
    pub added: usize,
    pub as_applied: usize,
    /// Differences that lifecycle.ignore leaves to the dashboard.
    pub ignored: usize,
    /// Those that the service does not tell about.
    pub untold: usize,
    /// Unmanaged things of unknown age.
    pub undated: usize,
}

/// What was done to one that is managed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DriftChange<'d> {
    /// Such as segments/lapsed-buyers.
    pub address: String,
    /// The resource that it is a part of; the same as its address where it is a whole one.
    pub resource: String,
    pub what: DriftKind,
    /// The name that the service knew it by.
    pub name: String,
    pub id: Option<String>,
    /// Where it is declared, where the manifests can be read.
    pub file: Option<String>,
    pub line: Option<usize>,
    /// When it was edited, where the service tells.
    pub edited: Option<String>,
    /// What differs: what was applied, and what is there.
    pub fields: Vec<Field<'d>>,
    /// How many fields do not differ.
    pub unchanged_fields: usize,
    /// What was last applied.
    pub last_applied: Option<&'d Value>,
    /// What the service has. Null where it was removed.
    pub live: Option<&'d Value>,
    /// Audience, and how that changed.
    pub audiences: Vec<Audience>,
    /// Each time at which it messages people.
    pub times: Vec<Time>,
    /// Those at which nothing is sent any more, where there are others.
    pub times_gone: Vec<Time>,
    /// Paths of fields that are left to the dashboard and differ too.
    pub ignored: Vec<String>,
    /// The command that keeps it. Null where a person has to take it out of the files.
    pub keep: Option<String>,
    /// The command that undoes it.
    pub undo: String,
}

/// What was done.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriftKind {
    Changed,
    Removed,
}

/// Something that is not managed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Added {
    /// Such as segments.
    pub kind: &'static str,
    pub id: String,
    pub name: String,
    pub made: String,
    pub last_used: Option<String>,
}

/// The whole of it as one object.
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
                untold: drift.untold,
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
