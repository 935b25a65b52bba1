//! Whole plans, for users and for programs.
//!
//! `PUSHPLAN_BLESS=1 cargo test --test plans plan_shown` rewrites the expected outputs.

mod guards;
mod reports;

use pushplan::plan::{Action, Plan};
use pushplan::render::Style;
use pushplan::render::plan::{NextSteps, json, text};
use pushplan::render::schema::SCHEMAS;
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::build::{change, plan};
use crate::plans;

/// Compares an output with the file that holds the expected one.
fn golden(name: &str, shown: &str) {
    pushplan_testing::golden(&format!("tests/plans/plan_shown/golden/{name}"), shown);
}

fn plain(plan: &Plan, width: usize) -> String {
    text(plan, &NextSteps::default(), Style { width, ..Style::PLAIN })
}

#[test]
fn every_plan_is_shown_as_expected() {
    for (name, plan) in plans::all() {
        golden(&format!("{name}.txt"), &plain(&plan, 100));
    }
}

#[test]
fn a_plan_fits_a_narrow_terminal() {
    golden("campaign-80.txt", &plain(&plans::campaign(), 80));
    for (name, plan) in plans::all() {
        for width in [60, 72, 80, 120, 200] {
            for line in plain(&plan, width).lines() {
                let copied = line.contains("pushplan ");
                assert!(copied || line.width() <= width, "{name} at {width} columns: {line}");
            }
        }
    }
}

#[test]
fn colours_change_nothing_but_colours() {
    for (name, plan) in plans::all() {
        let colored = text(&plan, &NextSteps::default(), Style { width: 100, color: true, ascii: false });
        assert!(colored.contains('\u{1b}'), "{name}");
        assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain(&plan, 100), "{name}");
    }
}

#[test]
fn what_is_shown_holds_nothing_that_moves_the_cursor() {
    let hostile = "a\u{1b}[2Jb\u{202e}c\nd\r\u{2028}e";
    let spec = |text: &str| json!({"name": text, "push": {"notification": {"alert": text}}});
    let building = change(Action::Update, "templates/x").name(hostile).at(hostile, 3);
    let plan = plan([building.live(spec("x")).desired(spec(hostile))]);
    let shown = plain(&plan, 80);
    let moves = |c: char| c != '\n' && (c.is_control() || matches!(c, '\u{202e}' | '\u{2028}'));
    assert!(!shown.contains(moves), "{shown:?}");
    assert!(shown.lines().all(|line| !line.starts_with('d')), "{shown}");
}

#[test]
fn programs_get_the_same_plan() {
    golden("campaign.json", &json(&plans::campaign(), &NextSteps::default()));
    let (_, make) = SCHEMAS.iter().find(|(name, _)| *name == "plan.schema.json").expect("a schema");
    let validator = jsonschema::validator_for(&make()).expect("a schema");
    for (name, plan) in plans::all() {
        let document: serde_json::Value = serde_json::from_str(&json(&plan, &NextSteps::default())).expect("JSON");
        let wrong: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
        assert_eq!(document["short_digest"], plan.digest().short());
        // Every name in the text is also in the document.
        let addresses: Vec<&str> =
            document["changes"].as_array().expect("changes").iter().filter_map(|it| it["address"].as_str()).collect();
        for told in plan.changes.iter().filter(|change| change.action != Action::Keep) {
            assert!(addresses.contains(&told.address.to_string().as_str()), "{name}: {}", told.address);
        }
    }
}

#[test]
fn the_same_plan_is_shown_in_the_same_bytes() {
    let (one, other) = (plans::campaign(), plans::campaign());
    assert_eq!(plain(&one, 80), plain(&other, 80));
    assert_eq!(json(&one, &NextSteps::default()), json(&other, &NextSteps::default()));
}

#[test]
fn many_members_are_counted_and_the_risky_ones_are_named() {
    let member = |number: usize| {
        let spec = |tags: &[&str]| json!({"group": "loyalty", "named_user_id": format!("u-{number}"), "tags": tags});
        let building = change(Action::Update, &format!("tag_groups/loyalty/named_users/u-{number}"));
        let building = building.live(spec(&["gold"])).desired(spec(&["gold", "vip"]));
        if number == 4999 { building.sends("pipelines/vip-welcome", "vip", "named user u-4999") } else { building }
    };
    let shown = plain(&plan((0..5000).map(member)), 80);
    assert!(shown.lines().count() < 40, "{shown}");
    assert!(shown.contains("~ named_users/u-4999  tags [gold] → [gold, vip]"), "{shown}");
    assert!(shown.contains("and 4980 more"), "{shown}");
    assert!(shown.contains("5000 changed"), "{shown}");
    assert!(shown.contains("SENDS"), "{shown}");
}
