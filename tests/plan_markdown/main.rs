//! Plans as a pull request shows them.
//!
//! `PUSHPLAN_BLESS=1 cargo test --test plan_markdown` writes the expected outputs anew.

#[path = "../plan_shown/build.rs"]
mod build;
mod hostile;
mod limits;
#[path = "../plan_shown/plans.rs"]
mod plans;
mod read;

use std::fs;
use std::path::Path;

use pushplan::guard::{Limits, guards};
use pushplan::plan::Plan;
use pushplan::render::plan::{Ahead, markdown};

fn shown(plan: &Plan) -> String {
    markdown(plan, &Ahead::default())
}

/// Compares an output with the file that holds the expected one.
fn golden(name: &str, shown: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan_markdown/golden").join(name);
    if std::env::var_os("PUSHPLAN_BLESS").is_some() {
        fs::write(&path, shown).expect("the expected output");
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if expected != shown {
        let diff =
            similar::TextDiff::from_lines(&expected, shown).unified_diff().header(name, "what is shown").to_string();
        panic!("something else is shown than expected (PUSHPLAN_BLESS=1 writes it anew):\n{diff}");
    }
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

#[test]
fn what_would_be_refused_is_said_with_the_way_out() {
    let plan = plans::campaign();
    let refused = guards(&plan, &Limits { max_deletes: 1, ..Limits::default() });
    assert!(!refused.is_empty());
    golden("refused.md", &markdown(&plan, &Ahead { refused, ..Ahead::default() }));
}

#[test]
fn the_same_plan_is_shown_in_the_same_bytes() {
    assert_eq!(shown(&plans::campaign()), shown(&plans::campaign()));
}
