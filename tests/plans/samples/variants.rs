//! An experiment that gains or loses a variant: the others get another share of its devices.

use serde_json::{Value, json};

use super::scene::{EXTENDED, Scene};

fn experiment(texts: &[&str], audience: &str) -> String {
    let variant = |text: &&str| {
        format!(
            "      - {{push: {{notification: {{alert: {text}}}}}, schedule: {{scheduled_time: 2026-12-10T16:00}}}}\n"
        )
    };
    let variants: String = texts.iter().map(variant).collect();
    format!("experiments:\n  subject:\n    audience: {audience}\n    device_types: [ios]\n    variants:\n{variants}")
}

/// The first line of a plan, and class and share of each variant.
fn told(before: (&[&str], &str), after: (&[&str], &str)) -> (String, Value) {
    let mut scene = Scene::new(EXTENDED, "");
    scene.write("messages.yaml", &experiment(before.0, before.1));
    scene.apply();
    scene.write("messages.yaml", &experiment(after.0, after.1));
    let (text, document) = scene.shown(100_000);
    let messages = document["messages"].as_array().expect("messages");
    let rows = messages.iter().map(|one| json!([one["variant"], one["class"], one["audience"]["share"]])).collect();
    (text.lines().next().unwrap_or_default().to_owned(), rows)
}

const BUYERS: &str = "{tag: buyer}";

#[test]
fn an_experiment_that_gets_a_variant_shows_the_others_to_fewer_devices() {
    let (first, rows) = told((&["One", "Two"], BUYERS), (&["One", "Two", "Three"], BUYERS));
    let words =
        "experiments/subject shows 2 variants each to 1 in 3 of its devices (until now 1 in 2). It gets 1 new variant.";
    assert_eq!(first, words);
    let share = json!({ "old": 2, "new": 3 });
    assert_eq!(rows, json!([[1, "fewer", share], [2, "fewer", share], [3, "new", share]]));
}

#[test]
fn an_experiment_that_loses_a_variant_shows_the_others_to_more_devices() {
    let (first, rows) = told((&["One", "Two", "Three"], BUYERS), (&["One", "Three"], BUYERS));
    let words =
        "experiments/subject shows 2 variants each to 1 in 2 of its devices (until now 1 in 3). It loses 1 variant.";
    assert_eq!(first, words);
    let share = json!({ "old": 3, "new": 2 });
    assert_eq!(rows, json!([[1, "more", share], [2, "more", share], [2, "cancelled", share]]));
}

#[test]
fn another_audience_is_named_before_the_share() {
    let (first, _) = told((&["One", "Two"], BUYERS), (&["One", "Two", "Three"], "{tag: vip}"));
    assert!(first.starts_with("experiments/subject reaches different people"), "{first}");
    assert!(first.contains("It gets 1 new variant."), "{first}");
}

#[test]
fn an_experiment_with_as_many_variants_has_no_share() {
    let (first, rows) = told((&["One", "Two"], BUYERS), (&["One", "Zwei"], BUYERS));
    assert_eq!(first, "experiments/subject changes its text from \"Two\" to \"Zwei\".");
    assert_eq!(rows, json!([[2, "text", null]]));
}
