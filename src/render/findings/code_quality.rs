//! Findings as a Code Quality report, which GitLab shows next to the changed lines of a merge request.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{CheckReport, LocatedFinding};
use crate::codes::Severity;
use crate::digest::Digest;

/// The file of findings that have none.
const PROJECT: &str = "pushplan.toml";

/// The whole report as one list.
pub fn code_quality(report: &CheckReport) -> String {
    let mut seen = BTreeMap::new();
    let issues: Vec<Value> = report.found.iter().map(|found| issue(found, &mut seen)).collect();
    format!("{:#}\n", Value::from(issues))
}

fn issue(found: &LocatedFinding, seen: &mut BTreeMap<String, usize>) -> Value {
    let finding = found.finding;
    let place = found.place();
    let path = place.map_or_else(|| project_file(found), |place| place.path);
    let line = place.and_then(|place| place.region).map_or(1, |region| region.start.line);
    // The host refuses paths that are not relative to the repository in its own form.
    let path = path.strip_prefix("./").unwrap_or(path);
    json!({
        "description": found.whole_text(),
        "check_name": finding.code.name,
        "fingerprint": fingerprint(found, path, seen),
        "severity": match finding.severity {
            Severity::Error => "critical",
            Severity::Warning => "minor",
        },
        "location": { "path": path, "lines": { "begin": line } },
    })
}

/// The project file in the sources of a finding.
fn project_file<'f>(found: &LocatedFinding<'f>) -> &'f str {
    let is_it = |path: &str| path.rsplit('/').next() == Some(PROJECT);
    found.sources.iter().map(|(_, source)| &*source.path).find(|path| is_it(path)).unwrap_or(PROJECT)
}

/// The identity of a finding, which does not change when it moves within its file. Identical findings have a number.
fn fingerprint(found: &LocatedFinding, path: &str, seen: &mut BTreeMap<String, usize>) -> String {
    let finding = found.finding;
    let address = finding.address.as_ref().map(ToString::to_string);
    let what = json!([finding.code.name, path, address, finding.message, finding.label]);
    let number = seen.entry(what.to_string()).or_default();
    *number += 1;
    Digest::of_value(&json!([what, number])).as_str().to_owned()
}
