//! Device tests: files that say what a device does, and what is expected of it.
//!
//! [`read`] finds the files, reads them and works out what every name and time in them means, so that whoever plays a case
//! ([`crate::cli`] does, on the built-in service) has nothing left to ask. What became of one is a [`Ran`].

mod device;
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

/// What files of device tests are called.
pub const FILES: &str = "*.test.yaml";

/// All cases of a project, and what is wrong with their files.
#[derive(Debug)]
pub struct Suite {
    /// By file, in the order in which they stand there.
    pub cases: Vec<Case>,
    pub findings: Vec<Finding>,
    pub sources: Sources,
}

/// One case, with every name looked up and every time worked out.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub place: CaseLine,
    pub zone: TimeZone,
    /// What the clock shows when it begins.
    pub start: Timestamp,
    /// The device in the form that the service's control API takes.
    pub device: Value,
    /// The channel id that its author gave it.
    pub channel: Option<String>,
    /// Whether the app has been opened before.
    pub opened: bool,
    pub steps: Vec<CaseStep>,
}

/// Something that happens at a time, and what is expected then.
#[derive(Clone, Debug)]
pub struct CaseStep {
    pub place: CaseLine,
    pub at: Timestamp,
    pub event: Option<Event>,
    pub expect: Option<Expect>,
}

/// Tags by group; those without one under an empty name.
pub type Tags = BTreeMap<String, BTreeSet<String>>;

/// Something that happens to the device.
#[derive(Clone, Debug)]
pub enum Event {
    Open,
    AddTags(Tags),
    RemoveTags(Tags),
    /// What is so from now on, in the form of the control API.
    Change(Value),
    Tap {
        from: Address,
        button: Option<String>,
    },
    SeenAt(String),
    Uninstall,
}

/// What is expected.
#[derive(Clone, Debug)]
pub struct Expect {
    /// The clock moves on to this first: to the latest time that a message is expected at.
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
    /// The texts that it may have; any where there are none.
    pub alert: Vec<Wording>,
    pub message: Vec<Wording>,
}

/// What cases are read for: the manifests as one target gets them.
#[derive(Clone, Copy, Debug)]
pub struct Against<'a> {
    pub manifests: &'a Manifests,
    pub desired: &'a Desired,
}

/// Reads the cases at or beneath the given places of the project. `name` says what people call a file.
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

/// The text of a notification, or the like, as a kind of device shows it: its own, or the one for all.
pub fn alert<'n>(notification: &'n Value, device_type: &str) -> Option<&'n str> {
    notification[device_type]["alert"].as_str().or_else(|| notification["alert"].as_str())
}
