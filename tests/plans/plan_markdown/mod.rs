//! Plans in a pull request.
//!
//! `PUSHPLAN_BLESS=1 cargo test --test plans plan_markdown` rewrites the expected outputs.

mod hostile;
mod limits;
mod read;

use std::collections::BTreeMap;

use pushplan::guard::{Limits, guards};
use pushplan::nouns::quiet::Quiet;
use pushplan::plan::{Action, Annotation, Plan};
use pushplan::render::Style;
use pushplan::render::plan::{NextSteps, markdown, text};
use serde_json::json;

use crate::{build, plans};

fn shown(plan: &Plan) -> String {
    markdown(plan, &NextSteps::default())
}

/// Compares an output with the file that holds the expected one.
fn golden(name: &str, shown: &str) {
    pushplan_testing::golden(&format!("tests/plans/plan_markdown/golden/{name}"), shown);
}

#[test]
fn every_plan_is_shown_as_expected() {
    for (name, plan) in plans::all() {
        let shown = shown(&plan);
        golden(&format!("{name}.md"), &shown);
        read::assert_sound(&shown);
        assert!(!shown.lines().next().expect("a marker").contains("truncated"), "{name}");
    }
}

/// A campaign with every kind of note for readers, and a push close to another one.
fn told() -> Plan {
    let mut found = plans::campaign();
    let time = |text: &str| text.parse().expect("a time");
    found.told.quiet = Some(Quiet { from: time("21:00"), to: time("08:00") });
    found.told.last_apply = Some(build::time("2026-11-10T16:20:00Z"));
    let zone = Some("America/New_York".to_owned());
    found.told.of.insert(build::address("scheduled_pushes/black-friday"), Annotation { zone, ..Annotation::default() });
    let values = BTreeMap::from([("FIRST_NAME".to_owned(), "Wolfeschlegelsteinhausenbergerdorff".to_owned())]);
    let previews = [("long".to_owned(), values)].into();
    found.told.of.insert(build::address("templates/winback"), Annotation { previews, ..Annotation::default() });
    for change in found.changes.iter_mut().filter(|change| *change.address.kind == *"templates") {
        for spec in change.desired.iter_mut().chain(&mut change.live) {
            spec["variables"] = json!([{"key": "FIRST_NAME", "default_value": "there"}]);
        }
    }
    let push = json!({"audience": {"tag": "US", "group": "ua_locale_country"}, "device_types": ["ios"], "notification": {"alert": "Last hours"}});
    let push = json!({"name": "Last hours", "schedule": [{"scheduled_time": "2026-11-27T1500"}], "push": push});
    found.changes.push(build::change(Action::Create, "scheduled_pushes/last-hours").desired(push).change);
    found
}

#[test]
fn a_reader_sees_the_clocks_over_there_the_samples_and_what_is_near() {
    golden("told.md", &shown(&told()));
}

#[test]
fn what_would_be_refused_is_said_with_the_way_out() {
    let plan = plans::campaign();
    let refused = guards(&plan, &Limits { max_deletes: 1, ..Limits::default() });
    assert!(!refused.is_empty());
    golden("refused.md", &markdown(&plan, &NextSteps { refused, ..NextSteps::default() }));
}

#[test]
fn the_same_plan_is_shown_in_the_same_bytes() {
    assert_eq!(shown(&plans::campaign()), shown(&plans::campaign()));
}

/// The visible text, without line breaks and the prefixes of lines in a block.
fn packed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[test]
fn what_the_text_of_a_plan_says_its_markdown_says_too() {
    // If nothing changes, one sentence says so.
    for (name, plan) in plans::all().into_iter().filter(|(name, _)| *name != "nothing") {
        let page = packed(&read::read(&shown(&plan)).texts);
        let text = text(&plan, &NextSteps::default(), Style { width: 2_000, ..Style::PLAIN });
        // The Markdown form has its own headings.
        let rows = text.lines().take_while(|line| !line.starts_with("Plan: "));
        for line in rows.filter(|line| !line.starts_with("≠ ")) {
            // Additions and removals within a line are on two lines here.
            let pieces = ["[-", "-]", "{+", "+}"]
                .iter()
                .fold(vec![line], |all, mark| all.iter().flat_map(|one| one.split(mark)).collect())
                .into_iter();
            // Labels are separate from their texts.
            for words in pieces.flat_map(|piece| piece.split("  ")).flat_map(|piece| piece.split(" → ")) {
                // Numbers of list items are not part of the texts.
                let words = packed(words.trim().trim_start_matches(|c: char| c.is_ascii_digit()));
                assert!(page.contains(&words), "{name}: {words:?} of {line:?} is not there");
            }
        }
    }
}
