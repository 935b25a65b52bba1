//! Plans of extreme size: every form stays within its limits and still shows what happens.

#[path = "../../benches/render/extremes.rs"]
mod extremes;
#[path = "../../benches/render/project.rs"]
mod project;

use extremes::EXTREMES;
use project::{World, units_of};
use pushplan::plan::{Action, Plan};
use pushplan::render::Style;
use pushplan::render::html::report::html;
use pushplan::render::plan::{NextSteps, json, markdown, text, text_to};
use serde_json::Value;

fn planned(world: &World) -> Plan {
    world.plan(&units_of(&world.manifests()))
}

/// Renders a plan in every form, and returns its text.
fn shown(plan: &Plan, name: &str) -> String {
    let ahead = NextSteps::default();
    let (page, comment) = (html(plan, &ahead), markdown(plan, &ahead));
    assert!(page.len() < 8_000_000, "{name}: the page has {} bytes", page.len());
    assert!(comment.len() <= 60_000, "{name}: the comment has {} bytes", comment.len());
    let fences = comment.lines().filter(|line| line.trim_start().starts_with("```")).count();
    assert!(fences.is_multiple_of(2), "{name}: {fences} fences");
    let document: Value = serde_json::from_str(&json(plan, &ahead)).expect("JSON");
    let changed = plan.changes.iter().filter(|change| change.action != Action::Keep).count();
    assert_eq!(document["changes"].as_array().map(Vec::len), Some(changed), "{name}");
    text(plan, &ahead, Style::PLAIN)
}

#[test]
fn a_thousand_changes_are_shown_in_every_form() {
    let plan = planned(&World::edited(1_000));
    let text = shown(&plan, "1,000 changes");
    let changed = |change: &&pushplan::plan::Change| change.action != Action::Keep;
    let mut resources: Vec<_> = plan.changes.iter().filter(changed).map(|it| it.address.resource()).collect();
    resources.dedup();
    assert!(resources.len() >= 900, "{}", resources.len());
    let heads = text.lines().filter(|line| line.starts_with(['+', '~', '-', '±', '!'])).count();
    // Of blocks with the same edit, the first are shown and the others are counted.
    let folds = text.lines().filter_map(|line| line.strip_prefix("~ ")?.split_once(" more "));
    let folded: Vec<usize> = folds.filter_map(|(number, _)| number.parse().ok()).collect();
    let shown = heads - folded.len() + folded.iter().sum::<usize>();
    assert_eq!(shown, resources.len(), "each has its place in the text");
}

#[test]
fn a_plan_that_is_large_in_one_place_is_shown_in_every_form() {
    for (name, world) in EXTREMES {
        let plan = planned(&world(300));
        let text = shown(&plan, name);
        assert!(text.ends_with("Next: pushplan apply\n"), "{name}: {}", &text[text.len().saturating_sub(300)..]);
    }
}

#[test]
fn a_text_is_told_in_parts_of_whole_lines() {
    let plan = planned(&World::edited(1_000));
    let ahead = NextSteps::default();
    let mut parts: Vec<String> = Vec::new();
    text_to(&plan, &ahead, Style::PLAIN, &mut |part| parts.push(part.to_owned()));
    assert!(parts.len() > 50 && parts.iter().all(|part| part.ends_with('\n')), "{} parts", parts.len());
    assert_eq!(parts.concat(), text(&plan, &ahead, Style::PLAIN));
}
