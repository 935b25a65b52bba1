//! The outputs of a job for its next steps.

use std::collections::BTreeMap;

use pushplan_testing::hosts::Kind;
use pushplan_testing::says;
use serde_json::{Value, json};

use crate::runner::handed_on;
use crate::targets;
use crate::team::Team;

const NAMES: [&str; 11] = [
    "changes",
    "creates",
    "updates",
    "replaces",
    "deletes",
    "by-hand",
    "sends",
    "plan-file",
    "report-html",
    "digest",
    "failure-reason",
];

/// The variables of a dotenv report.
fn variables(text: &str) -> BTreeMap<String, String> {
    let pair = |line: &str| {
        let (name, value) = line.split_once('=').unwrap_or_else(|| panic!("{line}"));
        assert!(name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{name}");
        (name.to_owned(), value.to_owned())
    };
    text.lines().map(pair).collect()
}

#[test]
fn a_plan_is_handed_on_as_outputs_and_as_variables() {
    let (team, _service) = Team::new(Kind::GitHub);
    team.project.edit("Hello", "Good evening");
    team.project.edit("segments:\n", "segments:\n  b: {criteria: {tag: b}}\n");
    assert_eq!(team.run(&["plan", "--out", "plan.json"], &[]).code, 0);
    let whole: Value = serde_json::from_str(&team.run(&["plan", "--format", "json"], &[]).stdout).expect("JSON");
    let file = team.project.folder.write("outputs", "before=1\n");
    let env = [("GITHUB_OUTPUT", file.display().to_string())];
    let options = ["ci", "outputs", "--plan", "plan.json", "--report-html", "report.html", "--widget", "widget.json"];
    let ran = team.run(&options, &env);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{ran}");
    let mut outputs = handed_on(&team.project.folder.read("outputs"));
    assert_eq!(outputs.remove("before").as_deref(), Some("1"));
    let digest = whole["digest"].as_str().expect("a digest");
    let values = ["2", "1", "1", "0", "0", "0", "0", "plan.json", "report.html", digest, ""];
    let wanted: BTreeMap<String, String> =
        NAMES.iter().zip(values).map(|(n, v)| ((*n).to_owned(), v.to_owned())).collect();
    assert_eq!(outputs, wanted);
    // The counts of a merge request.
    let widget: Value = serde_json::from_str(&team.project.folder.read("widget.json")).expect("JSON");
    assert_eq!(widget, json!({"create": 1, "update": 1, "delete": 0}));
    // Otherwise they are variables.
    let ran = team.run(&options[..6], &[]);
    assert_eq!(ran.code, 0, "{ran}");
    let name = |name: &str| format!("PUSHPLAN_{}", name.to_uppercase().replace('-', "_"));
    assert_eq!(variables(&ran.stdout), wanted.iter().map(|(key, value)| (name(key), value.clone())).collect());
    assert_eq!(team.host.state().asked, Vec::<String>::new());
}

#[test]
fn what_drift_does_not_know_is_empty() {
    let (team, service) = Team::new(Kind::GitHub);
    team.edit_in_the_dashboard(&service);
    let drift = team.run(&["drift", "--format", "json"], &[]);
    team.project.folder.write("drift.json", &drift.stdout);
    let ran = team.run(&["ci", "outputs", "--drift", "drift.json"], &[]);
    assert_eq!(ran.code, 0, "{ran}");
    let all = variables(&ran.stdout);
    assert_eq!(all["PUSHPLAN_CHANGES"], "1");
    for name in ["CREATES", "UPDATES", "REPLACES", "DELETES", "BY_HAND", "SENDS"] {
        assert_eq!(all[&format!("PUSHPLAN_{name}")], "", "{name}: {ran}");
    }
}

#[test]
fn what_failed_is_told_with_its_first_error_and_nothing_else() {
    let team = Team::fresh(Kind::GitHub, crate::team::TWO);
    let log = "Reading.\nerror: the `a\u{1b}[31m` is\r not there\nchanges=5\nerror: another one\n  = help: x\n";
    team.project.folder.write("log", log);
    let reason = |arguments: &[&str]| {
        let ran = team.run(&[&["ci", "outputs"], arguments].concat(), &[]);
        assert_eq!(ran.code, 0, "{ran}");
        let all = variables(&ran.stdout);
        assert_eq!(all.len(), NAMES.len(), "{ran}");
        assert_eq!(all["PUSHPLAN_CHANGES"], "");
        all["PUSHPLAN_FAILURE_REASON"].clone()
    };
    assert_eq!(reason(&["--failed", "7", "--log", "log"]), r"refused: the `a\x1B[31m` is\r not there");
    assert_eq!(reason(&["--failed", "4"]), "credentials");
    assert_eq!(reason(&["--failed", "0", "--log", "log"]), "");
    assert_eq!(reason(&["--failed", "3", "--log", "not-there"]), "findings");
    let ran = team.run(&["ci", "outputs"], &[]);
    assert_eq!(ran.code, 64, "{ran}");
}

#[test]
fn several_plans_are_added_up_and_two_of_one_target_are_refused() {
    let (team, _service) = targets::team(Kind::GitHub);
    let credentials =
        ("PUSHPLAN_CREDENTIALS", team.project.folder.path().join("credentials.toml").display().to_string());
    let ran = team.run(&["plan", "--all-targets", "--out", "plans"], &[credentials]);
    assert_eq!(ran.code, 0, "{ran}");
    let ran = team.run(&["ci", "outputs", "--plan", "plans"], &[]);
    assert_eq!(ran.code, 0, "{ran}");
    let all = variables(&ran.stdout);
    assert_eq!((all["PUSHPLAN_CHANGES"].as_str(), all["PUSHPLAN_CREATES"].as_str()), ("4", "4"));
    let changed = team.run(&["ci", "outputs", "--plan", "plans", "--failed", "2"], &[]);
    assert_eq!(variables(&changed.stdout)["PUSHPLAN_FAILURE_REASON"], "changes: the plans have 4 changes");
    assert_eq!(all["PUSHPLAN_DIGEST"].len(), 64);
    let one_by_one = team.run(&["ci", "outputs", "--plan", "plans/first.plan", "--plan", "plans/second.plan"], &[]);
    assert_eq!(variables(&one_by_one.stdout)["PUSHPLAN_DIGEST"], all["PUSHPLAN_DIGEST"]);
    for command in ["outputs", "comment", "summary"] {
        for twice in [["--plan", "plans", "--plan", "plans/first.plan"], ["--plan", "again", "--plan", "again"]] {
            let text = team.project.folder.read("plans/first.plan");
            team.project.folder.write("again/first.plan", &text);
            team.project.folder.write("again/other.plan", &text);
            let ran = team.run(&[&["ci", command], &twice[..]].concat(), &team.on_pull(7));
            assert_eq!(ran.code, 64, "{command}: {ran}");
            says(&ran.stderr, &["two plans for the target first"]);
        }
    }
    assert_eq!(team.host.own(7), Vec::<String>::new());
}
