//! The results of device tests, for users and for programs.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;

use super::layout::{Paint, Style, painted};
use crate::cases::{Case, CaseLine, ExpectedAlert, Failed, Got, Mismatch, Ran, Why};
use crate::text;
use crate::text::one_line;

/// The text if there are no cases yet.
pub const FIRST: &str = "\
No device tests here. They are in files named *.test.yaml, such as tests/first.test.yaml:

  cases:
    A buyer in the US is a buyer:
      device: {device_type: ios, country: US, tags: {lifecycle: [buyer]}}
      expect: {in: buyers, receives: []}
";

/// The version of the JSON. It increases when a field is removed or changes its meaning.
const FORMAT: u32 = 1;

/// The names of the cases.
pub fn list(cases: &[Case]) -> String {
    let lines = cases.iter().map(|case| format!("{}  {}\n", shown(&case.place), one_line(&case.name)));
    lines.collect::<String>() + &format!("{}.\n", text::count(cases.len(), "case"))
}

/// A line for each case, and for a failed one the expected and the actual result, and the deciding conditions.
pub fn text(ran: &[Ran], style: Style) -> String {
    let mut out = String::new();
    for one in ran {
        let passed = one.failures.is_empty();
        let mark = if passed { painted("ok", Paint::New, style) } else { painted("FAILED", Paint::Danger, style) };
        let gap = if passed { "      " } else { "  " };
        let _ = writeln!(out, "{mark}{gap}{}", one_line(&one.name));
        for failed in &one.failures {
            failure(&mut out, failed, &one.zone, style);
        }
    }
    let failed = ran.iter().filter(|one| !one.failures.is_empty()).count();
    let passed = text::count(ran.len() - failed, "case");
    let end = match failed {
        0 => format!("{passed} passed."),
        failed => format!("{passed} passed, {failed} failed."),
    };
    let gap = if out.is_empty() { "" } else { "\n" };
    let _ = writeln!(out, "{gap}{}", painted(&end, Paint::Strong, style));
    out
}

fn failure(out: &mut String, failed: &Failed, zone: &TimeZone, style: Style) {
    let at = moment(failed.at, zone);
    let place = format!("{}, when it is {at}{}", shown(&failed.place), zone_name(zone));
    let _ = writeln!(out, "  {}", painted(&place, Paint::Faint, style));
    let (expected, got) = sides(&failed.what, zone);
    if let Some(expected) = expected {
        let _ = writeln!(out, "    {} {}", painted("expected", Paint::New, style), one_line(&expected));
    }
    let _ = writeln!(out, "    {} {}", painted("got     ", Paint::Old, style), one_line(&got));
    for note in &failed.notes {
        let _ = writeln!(out, "    because  {}", one_line(note));
    }
    if let Some(why) = &failed.why {
        tree(out, why, 0, style);
    }
}

/// A condition with all nested ones, a line each. Deciding ones are followed by their position.
fn tree(out: &mut String, why: &Why, depth: usize, style: Style) {
    let answer = if why.holds { "yes" } else { "no " };
    let because = why.because.as_ref().map_or(String::new(), |because| format!(", because {because}"));
    let line = one_line(&format!("{}{}{because}", "  ".repeat(depth), why.condition));
    let decided = match &why.place {
        _ if !why.decided => String::new(),
        Some(place) => format!("  (this decides; {})", shown(place)),
        None => "  (this decides)".to_owned(),
    };
    let _ = writeln!(out, "      {answer} {line}{}", painted(&decided, Paint::Asks, style));
    for inner in &why.conditions {
        tree(out, inner, depth + 1, style);
    }
}

/// The expected and the actual result.
fn sides(what: &Mismatch, zone: &TimeZone) -> (Option<String>, String) {
    match what {
        Mismatch::Member { segment, expected: true } => {
            (Some(format!("in the segment {segment}")), "not in it".to_owned())
        }
        Mismatch::Member { segment, expected: false } => {
            (Some(format!("not in the segment {segment}")), "in it".to_owned())
        }
        Mismatch::Missing { expected } => (Some(wanted(expected, zone)), "no such message".to_owned()),
        Mismatch::Different { expected, got } => (Some(wanted(expected, zone)), self::got(got, zone)),
        Mismatch::Unexpected { got } => (Some("nothing more".to_owned()), self::got(got, zone)),
        Mismatch::Impossible { why } => (None, format!("this step is impossible: {why}")),
    }
}

fn wanted(wanted: &ExpectedAlert, zone: &TimeZone) -> String {
    let ExpectedAlert { from, at, alert, title, message } = wanted;
    let from = from.clone().unwrap_or_else(|| "a message".to_owned());
    let at = at.map(|at| format!(" at {}", moment(at, zone))).unwrap_or_default();
    let alert = alert.as_ref().map(|alert| format!(": {alert}")).unwrap_or_default();
    let shown = title.as_ref().map(|title| format!(", with the title {title}")).unwrap_or_default();
    let message = message.as_ref().map(|title| format!(", with the message {title}")).unwrap_or_default();
    format!("{from}{at}{alert}{shown}{message}")
}

fn got(got: &Got, zone: &TimeZone) -> String {
    let Got { from, at, alert, title, message } = got;
    let alert = alert.as_ref().map(|alert| format!(": {}", text::quoted(alert))).unwrap_or_default();
    let shown = title.as_ref().map(|title| format!(", with the title {}", text::quoted(title))).unwrap_or_default();
    let message =
        message.as_ref().map(|title| format!(", with the message {}", text::quoted(title))).unwrap_or_default();
    format!("{from} at {}{alert}{shown}{message}", moment(*at, zone))
}

/// A time in the form of cases, with seconds if they are not zero.
fn moment(at: Timestamp, zone: &TimeZone) -> String {
    let time = zone.to_datetime(at);
    let form = if time.second() == 0 { "%Y-%m-%dT%H:%M" } else { "%Y-%m-%dT%H:%M:%S" };
    time.strftime(form).to_string()
}

fn zone_name(zone: &TimeZone) -> String {
    format!(" {}", zone.iana_name().unwrap_or("UTC"))
}

fn shown(place: &CaseLine) -> String {
    one_line(&format!("{}:{}", place.file, place.line))
}

/// The output of `pushplan test --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CasesDocument {
    /// The version of this format. It increases when a field is removed or changes its meaning.
    pub format_version: u32,
    /// The cases, by file and in the order of the file.
    pub cases: Vec<CaseEntry>,
    /// The number of cases that passed.
    pub passed: usize,
    /// The number of cases that failed.
    pub failed: usize,
}

/// A case and its result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CaseEntry {
    pub name: String,
    /// The file, relative to the folder that the command ran in.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// Whether all expectations were met. Null with `--list`, which runs no case.
    pub passed: Option<bool>,
    /// The number of checked expectations.
    pub checks: usize,
    pub failures: Vec<Difference>,
}

/// An expectation that was not met.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Difference {
    pub kind: MismatchKind,
    /// The line of the expectation, from 1.
    pub line: usize,
    /// The time of the case.
    pub at: String,
    /// The expectation, in words. Null for a step that cannot be carried out.
    pub expected: Option<String>,
    /// The observed result, in words.
    pub got: String,
    /// The segment, if the expectation is about one.
    pub segment: Option<String>,
    /// The address of the sender, if the expectation is about a message.
    pub from: Option<String>,
    /// The reasons, one sentence each.
    pub because: Vec<String>,
    /// The conditions of the audience, if one of them decided.
    pub why: Option<Condition>,
}

/// How it was otherwise than expected.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MismatchKind {
    /// In a segment or not, and should not be or should.
    Member,
    /// A message did not come.
    Missing,
    /// A message came, and is otherwise.
    Different,
    /// A message came that was not expected.
    Unexpected,
    /// A step cannot be carried out.
    Impossible,
}

/// A condition, and how the device stands to it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Condition {
    /// The condition, such as `country = US`.
    pub condition: String,
    pub holds: bool,
    /// The actual value of the device, or its source.
    pub because: Option<String>,
    /// Whether it decided.
    pub decided: bool,
    /// The file that declares it, relative to the folder that the command ran in.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The conditions that it consists of.
    pub conditions: Vec<Condition>,
}

/// All results as one JSON object.
pub fn json(ran: &[Ran]) -> String {
    let cases: Vec<CaseEntry> = ran.iter().map(CaseEntry::of).collect();
    let failed = ran.iter().filter(|one| !one.failures.is_empty()).count();
    written(&CasesDocument { format_version: FORMAT, cases, passed: ran.len() - failed, failed })
}

/// Returns cases that were not run as one JSON object.
pub(crate) fn json_list(cases: &[Case]) -> String {
    let entry = |case: &Case| CaseEntry {
        name: case.name.clone(),
        file: case.place.file.clone(),
        line: case.place.line,
        passed: None,
        checks: 0,
        failures: Vec::new(),
    };
    written(&CasesDocument { format_version: FORMAT, cases: cases.iter().map(entry).collect(), passed: 0, failed: 0 })
}

fn written(document: &CasesDocument) -> String {
    serde_json::to_string_pretty(document).expect("texts and numbers are valid JSON") + "\n"
}

impl CaseEntry {
    fn of(ran: &Ran) -> Self {
        Self {
            name: ran.name.clone(),
            file: ran.place.file.clone(),
            line: ran.place.line,
            passed: Some(ran.failures.is_empty()),
            checks: ran.checks,
            failures: ran.failures.iter().map(|failed| Difference::of(failed, &ran.zone)).collect(),
        }
    }
}

impl Difference {
    fn of(failed: &Failed, zone: &TimeZone) -> Self {
        let (expected, got) = sides(&failed.what, zone);
        let (kind, segment, from) = match &failed.what {
            Mismatch::Member { segment, .. } => (MismatchKind::Member, Some(segment.clone()), None),
            Mismatch::Missing { expected } => (MismatchKind::Missing, None, expected.from.clone()),
            Mismatch::Different { got, .. } => (MismatchKind::Different, None, Some(got.from.clone())),
            Mismatch::Unexpected { got } => (MismatchKind::Unexpected, None, Some(got.from.clone())),
            Mismatch::Impossible { .. } => (MismatchKind::Impossible, None, None),
        };
        Self {
            kind,
            line: failed.place.line,
            at: failed.at.to_string(),
            expected,
            got,
            segment,
            from,
            because: failed.notes.clone(),
            why: failed.why.as_ref().map(Condition::of),
        }
    }
}

impl Condition {
    fn of(why: &Why) -> Self {
        Self {
            condition: why.condition.clone(),
            holds: why.holds,
            because: why.because.clone(),
            decided: why.decided,
            file: why.place.as_ref().map(|place| place.file.clone()),
            line: why.place.as_ref().map(|place| place.line),
            conditions: why.conditions.iter().map(Self::of).collect(),
        }
    }
}
