//! The results of an apply, and the references of a plan.

use std::path::Path;

use pushplan::apply::{Ending, Fate, Report, StepReport};
use pushplan::finding::Findings;
use pushplan::ledger::Verb;
use pushplan::manifest::{self, Input, InputSource, Project};
use pushplan::plan::Action;
use pushplan::render::graph::Graph;
use pushplan::render::report::{StepLine, json, last_line, text};
use pushplan::render::schema::SCHEMAS;
use pushplan::render::{Repetition, Style};
use pushplan::source::Sources;

use super::golden;
use crate::build::{address, change, plan};
use crate::plans;

fn step(step: usize, verb: Verb, at: &str, fate: Fate) -> StepReport {
    StepReport { step, address: address(at), verb, fate, recorded: true }
}

fn done(id: &str) -> Fate {
    Fate::Done { id: Some(id.to_owned()), push_ids: Vec::new() }
}

fn why(words: &str) -> String {
    words.to_owned()
}

fn reports() -> Vec<(&'static str, Report)> {
    let report = |ending, steps| {
        let (run, plan) = ("r-1".to_owned(), plan([]).digest());
        Report { run, plan, ending, ledger: 57, denied: false, steps }
    };
    let unrecorded = StepReport { recorded: false, ..step(0, Verb::Create, "segments/a", done("3e9c")) };
    vec![
        (
            "report-done",
            report(
                Ending::Done,
                vec![
                    step(0, Verb::Create, "segments/a", done("3e9c")),
                    step(1, Verb::Update, "templates/b", Fate::Done { id: None, push_ids: Vec::new() }),
                    step(2, Verb::Delete, "templates/c", Fate::Done { id: None, push_ids: Vec::new() }),
                ],
            ),
        ),
        (
            "report-partly",
            report(
                Ending::Partly,
                vec![
                    step(0, Verb::Create, "segments/a", done("3e9c")),
                    step(
                        1,
                        Verb::Update,
                        "templates/b",
                        Fate::Failed {
                            why: why("HTTP 400: Could not parse request body. unknown key at push.notification.alert1"),
                        },
                    ),
                    step(
                        2,
                        Verb::Create,
                        "scheduled_pushes/black-friday",
                        Fate::Unknown { why: why("no answer within 30 s") },
                    ),
                    step(3, Verb::Create, "templates/found", Fate::Unknown { why: why("HTTP 502") }),
                    step(4, Verb::Create, "experiments/c", Fate::Skipped { why: why("segments/b was not created") }),
                    step(5, Verb::Delete, "templates/old", Fate::NotStarted),
                ],
            ),
        ),
        (
            "report-interrupted",
            report(Ending::Interrupted, vec![step(0, Verb::Create, "segments/a", Fate::NotStarted)]),
        ),
        ("report-conflict", report(Ending::Conflict, vec![unrecorded.clone()])),
        ("report-ledger", report(Ending::Ledger { why: why("no space left on device") }, vec![unrecorded])),
    ]
}

#[test]
fn a_report_says_what_was_done_what_was_not_and_what_to_do_next() {
    let by_hand = plan([change(Action::ByHand, "pipelines/p")]);
    for (name, report) in reports() {
        let plan = if name == "report-done" { &by_hand } else { &plan([]) };
        let report = Report { plan: plan.digest(), ..report };
        golden(
            &format!("{name}.txt"),
            &text(&report, plan, &Repetition::default(), Style { width: 80, ..Style::PLAIN }),
        );
    }
}

#[test]
fn programs_get_the_same_report() {
    let plan = plan([]);
    let (_, make) = SCHEMAS.iter().find(|(name, _)| *name == "report.schema.json").expect("a schema");
    let validator = jsonschema::validator_for(&make()).expect("a schema");
    for (name, report) in reports() {
        let whole = json(&report, &plan, &Repetition::default());
        if name == "report-partly" {
            golden("report-partly.json", &whole);
        }
        for text in [whole, last_line(&report, &plan, &Repetition::default())] {
            let document = serde_json::from_str(&text).expect("JSON");
            assert!(validator.is_valid(&document), "{name}");
        }
        let last = last_line(&report, &plan, &Repetition::default());
        assert_eq!(last.lines().count(), 1, "{last}");
    }
    let step = &plans::campaign().steps[0];
    let line = StepLine::of(step, &Fate::Failed { why: why("a\nb") }).json();
    assert_eq!(
        line,
        r#"{"step":0,"address":"segments/lapsed-buyers","verb":"create","fate":"failed","id":null,"why":"a\nb"}"#
    );
}

#[test]
fn many_failures_are_counted() {
    let fate = || Fate::Failed { why: why("HTTP 400") };
    let steps = (0..5000).map(|number| step(number, Verb::Create, &format!("segments/s-{number}"), fate())).collect();
    let (run, digest) = ("r".to_owned(), plan([]).digest());
    let report = Report { run, plan: digest, ending: Ending::Partly, ledger: 1, denied: false, steps };
    let shown = text(&report, &plan([]), &Repetition::default(), Style { width: 80, ..Style::PLAIN });
    assert!(shown.lines().count() < 60 && shown.contains("and 4980 more"), "{shown}");
}

#[test]
fn a_graph_shows_who_names_whom() {
    let graph = Graph::of_plan(&plans::campaign());
    golden("campaign.dot", &graph.dot());
    golden("campaign.mmd", &graph.mermaid());
}

#[test]
fn a_graph_of_manifests_needs_no_service() {
    let yaml = r#"
tag_groups: {loyalty: {tags: [gold]}}
segments: {gold: {criteria: {and: [{tag: gold, group: loyalty}, {country: US}]}}}
templates: {hi: {push: {notification: {alert: Hi}}}}
tags: {remind-me: {}}
pipelines: {remind: {enabled: true, immediate_trigger: {tag_added: remind-me}, outcome: {push: {audience: triggered, device_types: [ios], template: hi}}}}
scheduled_pushes:
  p: {schedule: {scheduled_time: 2031-01-01T10:00}, push: {audience: {segment: gold}, device_types: [ios], template: hi}}
"#;
    let input = Input { name: "all.yaml".into(), from: InputSource::Bytes(yaml.as_bytes().to_vec()) };
    let manifests = manifest::read(Project::bare(Path::new(".")), vec![input], Sources::default(), Findings::default());
    let (desired, found) = manifests.resolve(None);
    assert!(found.is_empty(), "{found:?}");
    golden("manifests.dot", &Graph::of_desired(&desired).dot());
}
