//! The output of `pushplan help TOPIC`, from the tables of the program.

mod environment;

use std::fmt::Write;

pub use environment::{GROUPS, Group, Variable};

use super::explain::{heading, row};
use crate::exit::EXITS;

/// A command and the values of its `--format`, each with its help.
#[derive(Debug)]
pub struct Forms {
    pub command: String,
    pub values: Vec<(String, Option<String>)>,
}

/// The purpose of a form in any command.
const PURPOSES: [(&str, &str); 14] = [
    ("text", "for reading in a terminal"),
    ("json", "for programs: one JSON document"),
    ("jsonl", "for programs that read a stream: one JSON object per line"),
    ("markdown", "for pull requests and job pages"),
    ("html", "for a browser: one file without script"),
    ("github", "annotations on changed lines, in a GitHub Actions workflow"),
    ("sarif", "SARIF 2.1.0, for code hosts and editors"),
    ("junit", "JUnit XML, for the test reports of CI systems"),
    ("code-quality", "Code Quality JSON, for the widget of GitLab's merge requests"),
    ("csv", "for spreadsheets"),
    ("ics", "for calendars"),
    ("dot", "for Graphviz"),
    ("mermaid", "for Markdown with Mermaid diagrams"),
    ("xliff", "XLIFF 2.0, for translation tools"),
];

/// The purpose of a form: the general one, or that of its command.
pub fn purpose(name: &str, said: Option<&str>) -> Option<String> {
    let usual = || PURPOSES.iter().find(|(known, _)| *known == name).map(|(_, purpose)| (*purpose).to_owned());
    usual().or_else(|| said.map(str::to_owned))
}

pub(crate) fn exit_codes() -> String {
    let mut out = String::new();
    heading(&mut out, "Exit codes");
    for (exit, _, meaning) in EXITS {
        row(&mut out, &[(&(exit as u8).to_string(), 3)], meaning);
    }
    out.push_str(
        "\nIf a command cannot write its output, it fails. If it has already changed something, its exit code still shows \
            how that change ended.\n",
    );
    out
}

pub fn environment() -> String {
    let mut out = String::new();
    for Group { about, variables } in GROUPS {
        heading(&mut out, about);
        let widest = variables.iter().map(|variable| variable.name.len()).max().unwrap_or_default();
        for Variable { name, what } in *variables {
            row(&mut out, &[(name, widest)], what);
        }
        out.push('\n');
    }
    out.push_str("An empty variable counts as not set. Secrets are never shown.\n");
    out
}

pub fn formats(all: &[Forms]) -> String {
    let mut out = String::new();
    heading(&mut out, "Forms of output, by command: --format FORM");
    let widest = all.iter().map(|forms| forms.command.len()).max().unwrap_or_default();
    for Forms { command, values } in all {
        let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
        row(&mut out, &[(command, widest)], &names.join(", "));
    }
    out.push('\n');
    heading(&mut out, "Purpose of each form");
    let mut told: Vec<(&str, Option<&str>)> = Vec::new();
    for (name, said) in all.iter().flat_map(|forms| &forms.values) {
        if !told.iter().any(|(known, _)| known == name) {
            told.push((name, said.as_deref()));
        }
    }
    let order = |name: &str| PURPOSES.iter().position(|(known, _)| *known == name).unwrap_or(PURPOSES.len());
    told.sort_by_key(|(name, _)| order(name));
    let widest = told.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, said) in told {
        row(&mut out, &[(name, widest)], &purpose(name, said).unwrap_or_default());
    }
    let _ = write!(
        out,
        "\nA command prints the first one by default. `plan` prints several at once:\n\
         --format markdown --out plan.md --format html --out report.html. Schemas of the JSON forms are in schema/.\n"
    );
    out
}

/// How times and zones are parsed, by a label.
pub(crate) const TIMES: &[(&str, &str)] = &[
    (
        "written as",
        "a date, a T and a time of day: 2026-11-27T09:00. Without a time zone it is UTC; you can add Z to make that explicit.",
    ),
    (
        "time_zone",
        "the IANA name of the time's zone, such as Europe/Paris. Offsets and abbreviations such as CET are refused \
            (SC105, SC106).",
    ),
    ("sent as", "scheduled_time is sent to the service in UTC."),
    (
        "local time",
        "local_scheduled_time is the local time of each device, and has no time_zone. A device without a time zone gets \
            nothing.",
    ),
    ("skipped", "a time that is skipped when clocks go forward is refused: SC102 shows the next valid time."),
    ("twice", "a time that is repeated when clocks go back is refused: SC103 shows both moments in UTC."),
    (
        "clock change",
        "if a zone skips or repeats a local_scheduled_time, the service decides when it sends the message, so avoid \
            these hours.",
    ),
    (
        "shown",
        "plans and calendars show the zone of the manifest, UTC and recipients' local time; reports and the ledger \
            use UTC.",
    ),
    ("lengths", "delays are durations such as 90s, 10m or 1h30m; a day has 24 hours."),
    (
        "database",
        "the IANA database of this machine (TZDIR, /usr/share/zoneinfo), or the built-in one if there is none. `pushplan doctor` shows which one and its version.",
    ),
];

pub(crate) fn time_zones() -> String {
    let mut out = String::new();
    heading(&mut out, "How times and time zones are read");
    for (label, words) in TIMES {
        row(&mut out, &[(label, 12)], words);
    }
    out.push_str("\n`pushplan explain SC102`, or any other code, shows details.\n");
    out
}
