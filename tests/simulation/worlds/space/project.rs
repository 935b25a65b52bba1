//! A project of two resources, and the edits of one person.

use std::collections::BTreeMap;
use std::sync::Arc;

use pushplan::address::Address;
use pushplan::compare::Unit;
use pushplan::plan::Annotation;
use serde_json::{Value, json};

use super::time;

pub type Units = BTreeMap<Address, Unit>;

/// An edit of the manifests, or of the service in the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edit {
    ChangeSegment,
    RenameSegment,
    RemoveSegment,
    ChangePush,
    RenamePush,
    RenameAndChangePush,
    RemovePush,
    /// In the dashboard, a person changes a segment or a push, deletes it, or creates one of the same name.
    DashboardEdits(&'static str),
    DashboardDeletes(&'static str),
    DashboardCreates(&'static str),
    /// In the dashboard, a person moves the push to this minute.
    DashboardSends,
}

impl Edit {
    pub const MANIFESTS: [Self; 7] = [
        Self::ChangeSegment,
        Self::RenameSegment,
        Self::RemoveSegment,
        Self::ChangePush,
        Self::RenamePush,
        Self::RenameAndChangePush,
        Self::RemovePush,
    ];
    pub const DASHBOARD: [Self; 7] = [
        Self::DashboardEdits("segments"),
        Self::DashboardDeletes("segments"),
        Self::DashboardCreates("segments"),
        Self::DashboardEdits("scheduled_pushes"),
        Self::DashboardDeletes("scheduled_pushes"),
        Self::DashboardCreates("scheduled_pushes"),
        Self::DashboardSends,
    ];

    pub fn words(self) -> String {
        match self {
            Self::ChangeSegment => "edits the segment in the manifests".to_owned(),
            Self::RenameSegment => "renames the segment's key in the manifests".to_owned(),
            Self::RemoveSegment => "removes the segment from the manifests".to_owned(),
            Self::ChangePush => "edits the text of the push in the manifests".to_owned(),
            Self::RenamePush => "renames the push's key in the manifests".to_owned(),
            Self::RenameAndChangePush => "renames the push's key and edits its text in the manifests".to_owned(),
            Self::RemovePush => "removes the push from the manifests".to_owned(),
            Self::DashboardEdits(kind) => format!("edits one of the {kind} in the dashboard"),
            Self::DashboardDeletes(kind) => format!("deletes one of the {kind} in the dashboard"),
            Self::DashboardCreates(kind) => format!("creates one of the {kind} of the same name in the dashboard"),
            Self::DashboardSends => "sends the push in the dashboard, before its time".to_owned(),
        }
    }
}

/// Whether the push's audience is the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub names_segment: bool,
}

fn unit(spec: Value) -> Unit {
    Unit {
        spec: spec.into(),
        place: None,
        protect: None,
        broadcast: false,
        ignore: Vec::new(),
        record: false,
        renamed_from: None,
        aside: Annotation::default(),
    }
}

pub fn segment_spec(key: &str, tag: &str) -> Value {
    json!({ "display_name": key, "criteria": { "tag": tag } })
}

pub fn push_spec(key: &str, audience: &Value, text: &str) -> Value {
    json!({
        "name": key,
        "schedule": [{ "scheduled_time": time::written(time::DUE) }],
        "push": { "audience": audience, "device_types": ["ios"], "notification": { "alert": text } },
    })
}

/// The manifests after some edits.
pub fn units(shape: Shape, edits: &[Edit]) -> Arc<Units> {
    let (mut segment, mut tag) = (Some("a"), "red");
    let (mut push, mut text) = (Some("sale"), "Sale");
    for edit in edits {
        match edit {
            Edit::ChangeSegment => tag = "blue",
            Edit::RenameSegment => segment = Some("b"),
            Edit::RemoveSegment => segment = None,
            Edit::ChangePush => text = "Big sale",
            Edit::RenamePush => push = Some("offer"),
            Edit::RenameAndChangePush => (push, text) = (Some("offer"), "Big sale"),
            Edit::RemovePush => push = None,
            Edit::DashboardEdits(_) | Edit::DashboardDeletes(_) | Edit::DashboardCreates(_) | Edit::DashboardSends => {}
        }
    }
    let audience = match segment {
        Some(key) if shape.names_segment => json!({ "segment": key }),
        _ => json!({ "tag": "green" }),
    };
    let mut units = Units::new();
    if let Some(key) = segment {
        units.insert(Address::new("segments", key), unit(segment_spec(key, tag)));
    }
    if let Some(key) = push {
        units.insert(Address::new("scheduled_pushes", key), unit(push_spec(key, &audience, text)));
    }
    Arc::new(units)
}
