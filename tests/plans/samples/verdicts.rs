//! The first line of a plan: every kind of change of a message, the same number of messages as in JSON, and the refusal
//! of `apply`.

use serde_json::Value;

use super::scene::{EXTENDED, Scene};

/// A push to an audience at some times.
fn push(key: &str, audience: &str, times: &[&str], alert: &str) -> String {
    let times: Vec<String> = times.iter().map(|time| format!("{{scheduled_time: {time}}}")).collect();
    format!(
        "  {key}:\n    schedule: [{}]\n    push: {{audience: {audience}, device_types: [ios], notification: {{alert: {alert}}}}}\n",
        times.join(", ")
    )
}

/// The plan for a push that is replaced by another one.
fn verdict(before: &str, after: &str) -> (String, Value) {
    let mut scene = Scene::new(EXTENDED, "");
    scene.write("all.yaml", before);
    scene.apply();
    scene.write("all.yaml", after);
    let (text, document) = scene.shown(100_000);
    (text.lines().next().unwrap_or_default().to_owned(), document)
}

#[test]
fn a_second_kind_of_change_is_named() {
    let (one, two) = (&["2026-12-01T10:00"][..], &["2026-12-01T10:00", "2026-12-08T10:00"][..]);
    let all = |push: String| format!("scheduled_pushes:\n{push}");
    let base = all(push("p", "{tag: a}", two, "One"));
    let less = verdict(&base, &all(push("p", "{tag: a}", one, "Two"))).0;
    assert_eq!(less, "scheduled_pushes/p changes its text from \"One\" to \"Two\". It is sent less often.");
    let narrower = verdict(&base, &all(push("p", "{and: [{tag: a}, {tag: b}]}", one, "Two"))).0;
    assert!(narrower.contains("to \"Two\""), "{narrower}");
    assert!(narrower.contains("It reaches fewer people") && narrower.contains("It is sent less often."), "{narrower}");
    let base = all(push("p", "{tag: a}", one, "One"));
    let more = verdict(&base, &all(push("p", "{tag: b}", two, "One"))).0;
    assert!(
        more.starts_with("scheduled_pushes/p is sent more often. It reaches different people, for example "),
        "{more}"
    );
    let wider = verdict(&base, &all(push("p", "{or: [{tag: a}, {tag: b}]}", two, "One"))).0;
    assert!(wider.starts_with("scheduled_pushes/p reaches more people, for example "), "{wider}");
    assert!(wider.ends_with(". It is sent more often."), "{wider}");
}

#[test]
fn a_verdict_counts_the_messages_of_json() {
    let variant = |alert: &str| {
        format!("{{push: {{notification: {{alert: {alert}}}}}, schedule: {{scheduled_time: 2026-12-02T10:00}}}}")
    };
    let project = |criteria: &str| {
        format!(
            "segments:\n  s: {{criteria: {criteria}}}\nscheduled_pushes:\n{}experiments:\n  ab: {{audience: {{segment: s}}, device_types: \
             [ios], variants: [{}, {}]}}\n",
            push("p", "{segment: s}", &["2026-12-01T10:00"], "Hi"),
            variant("A"),
            variant("B")
        )
    };
    let (line, document) = verdict(&project("{and: [{tag: a}, {tag: b}]}"), &project("{tag: a}"));
    assert!(line.starts_with("3 messages reach more people: the segment s no longer"), "{line}");
    assert_eq!(document["messages"].as_array().expect("messages").len(), 3);
}

#[test]
fn a_long_verdict_still_says_that_apply_refuses_the_plan() {
    let key = |name: &str| format!("{name}-{}", "long-".repeat(14));
    let one = |name: &str, audience: &str, time: &str, alert: &str| push(&key(name), audience, &[time], alert);
    let all = |a: &str, b: &str, c: &str, time: &str, text: &str| {
        let day = "2026-12-01T10:00";
        let pushes =
            [one("a", a, day, "A"), one("b", b, day, "B"), one("c", c, day, "C"), one("d", "{tag: d}", time, "D")];
        format!("scheduled_pushes:\n{}{}", pushes.concat(), one("e", "{tag: e}", "2026-12-03T10:00", text))
    };
    let before = all("{tag: a}", "{tag: a}", "{tag: a}", "2026-12-01T10:00", "Old");
    let after = all("all", "{or: [{tag: a}, {tag: b}]}", "{tag: c}", "2026-12-02T10:00", "New");
    let mut scene = Scene::new(EXTENDED, "");
    scene.write("all.yaml", &before);
    scene.apply();
    scene.write("all.yaml", &after);
    let page = scene.folder.run(&["plan", "--format", "markdown"]).stdout;
    let verdict = page.lines().nth(2).expect("a verdict");
    assert!(verdict.contains("reaches everyone") && verdict.contains("…"), "{verdict}");
    assert!(verdict.contains("Apply refuses this plan: ") && verdict.ends_with("**"), "{verdict}");
}
