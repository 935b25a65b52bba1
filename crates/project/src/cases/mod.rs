//! Device tests: files with the events of a device, and the expected results.
//!
//! [`read`] finds and reads the files, and resolves every name and time in them, so that the caller that plays a case
//! ([`crate::cli`] does, on the built-in service) has nothing left to resolve. The result of one is a [`Ran`].

mod device;
mod groups;
pub mod language;
pub mod names;
mod resolve;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

pub use language::Wording;
pub use names::Names;
pub use verdict::{CaseLine, ExpectedAlert, Failed, Got, Mismatch, Ran, Why};

use pushplan_io::files;
use pushplan_model::address::Address;
use pushplan_model::finding::{Finding, Findings, Signs};
use pushplan_model::node::Reader;
use pushplan_model::source::{Source, Sources};

use crate::manifest::{self, Desired, Input, InputSource, Manifests, schema};

/// The pattern for the names of files of device tests.
pub const FILES: &str = "*.test.yaml";

/// All cases of a project, and the findings in their files.
#[derive(Debug)]
pub struct Suite {
    /// By file, in their order in the file.
    pub cases: Vec<Case>,
    pub findings: Vec<Finding>,
    pub sources: Sources,
}

/// One case, with every name and time resolved.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub place: CaseLine,
    pub zone: TimeZone,
    /// The time of the clock at the start.
    pub start: Timestamp,
    /// The device in the form of the service's control API.
    pub device: Value,
    /// The channel id in the case, if it has one.
    pub channel: Option<String>,
    /// The variants of experiments that the device gets, counted from 0; `None` for the control group.
    pub groups: BTreeMap<Address, Option<usize>>,
    /// Whether the app has been opened before the start.
    pub opened: bool,
    pub steps: Vec<CaseStep>,
}

/// An event at a time, and the expected results.
#[derive(Clone, Debug)]
pub struct CaseStep {
    pub place: CaseLine,
    pub at: Timestamp,
    pub event: Option<Event>,
    pub expect: Option<Expect>,
}

/// Tags by group; those without a group have an empty name.
pub type Tags = BTreeMap<String, BTreeSet<String>>;

/// An event of the device.
#[derive(Clone, Debug)]
pub enum Event {
    Open,
    AddTags(Tags),
    RemoveTags(Tags),
    /// New properties, in the form of the control API.
    Change(Value),
    Tap {
        from: Address,
        button: Option<String>,
    },
    SeenAt(String),
    Uninstall,
}

/// The expected results.
#[derive(Clone, Debug)]
pub struct Expect {
    /// The clock first moves to this time: the latest expected time of a message.
    pub until: Timestamp,
    pub members: Vec<Member>,
    pub receives: Option<Vec<ExpectedMessage>>,
    pub place: CaseLine,
}

/// Whether the device is expected in a segment.
#[derive(Clone, Debug)]
pub struct Member {
    pub place: CaseLine,
    /// The segment's key.
    pub segment: String,
    pub expected: bool,
}

/// A message that is expected.
#[derive(Clone, Debug)]
pub struct ExpectedMessage {
    pub place: CaseLine,
    pub from: Option<Address>,
    pub at: Option<Timestamp>,
    /// The allowed texts; empty for any text.
    pub alert: Vec<Wording>,
    pub title: Vec<Wording>,
    pub message: Vec<Wording>,
}

/// The context of cases: the manifests as resolved for one target.
#[derive(Clone, Copy, Debug)]
pub struct Against<'a> {
    pub manifests: &'a Manifests,
    pub desired: &'a Desired,
}

/// Reads the cases at or below the given places of the project. `name` returns the name of a file to show.
pub fn read(places: &[PathBuf], against: Against, name: &dyn Fn(&str) -> String) -> Suite {
    let root = &against.manifests.project.root;
    let (paths, unreadable) = files::cases(root, places);
    let mut sources = Sources::default();
    let mut findings = Findings::default();
    for file in unreadable {
        let shown = name(&manifest::shown(root, &file.path));
        let id = sources.add(Source::new(shown.as_str(), ""));
        findings.push(manifest::cannot_read(id, &shown, &file.why));
    }
    let input = |path: PathBuf| Input { name: name(&manifest::shown(root, &path)), from: InputSource::File(path) };
    let parsed = manifest::trees(paths.into_iter().map(input).collect(), &mut sources, &mut findings);
    let mut cases = Vec::new();
    for mut document in parsed.documents {
        let target = against.desired.target.as_deref();
        let (read, found) =
            names::written(&mut document, parsed.has_variables, against.manifests, target, &sources, findings);
        let mut reader = Reader::new(found);
        let mut written: Vec<_> = read.map(|file| file.cases).unwrap_or_default().into_iter().collect();
        written.sort_by_key(|(name, _)| name.span.range().start);
        cases.extend(
            written.iter().filter_map(|(name, case)| resolve::case(name, case, &against, &sources, &mut reader)),
        );
        findings = reader.findings;
    }
    let mut findings = findings.into_vec();
    let mut signs = Signs::new(&sources);
    findings.iter_mut().for_each(|finding| finding.narrow(&mut signs));
    findings.sort_by_key(|finding| (finding.at.file(), finding.at.range().start));
    Suite { cases, findings, sources }
}

/// The schema of a file of device tests.
pub fn schema() -> Value {
    let mut schema = schema::of::<language::CaseFile>();
    schema["title"] = "pushplan device tests".into();
    schema["$comment"] = "Written by `pushplan schema`".into();
    schema
}

/// The text of a notification for a device type: its own override, or the common one.
pub fn alert<'n>(notification: &'n Value, device_type: &str) -> Option<&'n str> {
    notification[device_type]["alert"].as_str().or_else(|| notification["alert"].as_str())
}
