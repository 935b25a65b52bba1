//! One malformed field of a resource does not hide what is wrong with its other fields.

use pushplan_testing::{Folder, Ran};

fn validate(manifest: &str) -> Ran {
    Folder::project(manifest).run(&["validate", "--now", "2026-11-15T12:00Z"])
}

/// The codes of all findings, sorted.
fn codes(manifest: &str) -> Vec<String> {
    let ran = validate(manifest);
    let code = |line: &str| {
        let found = line.strip_prefix("error[").or_else(|| line.strip_prefix("warning["))?;
        Some(found.split_once(']')?.0.to_owned())
    };
    let mut found: Vec<String> = ran.stdout.lines().filter_map(code).collect();
    found.sort();
    found
}

fn push(schedule: &str, audience: &str, more: &str) -> String {
    format!(
        "scheduled_pushes:\n  sale:\n    schedule: {schedule}\n    push:\n      audience: {audience}\n      \
         device_types: [ios]\n      notification: {{alert: Hello{more}}}\n"
    )
}

#[test]
fn a_malformed_field_does_not_hide_the_others() {
    let late = "{scheduled_time: 2027-01-19T14:00}";
    let past = "{scheduled_time: 2020-01-19T14:00}";
    let nowhere = "{segment: nowhere}";
    for (manifest, expected) in [
        (push(past, nowhere, ""), &["RF101", "SC101"][..]),
        (format!("{}    name: [x]\n", push(past, nowhere, "")), &["RF101", "SC101", "YM205"]),
        (push(late, "{tag: true}", ""), &["YM204"]),
        (push(past, "{tag: true}", ""), &["SC101", "YM204"]),
        // Nothing is said of a time whose schedule cannot be read.
        (push("{scheduled_time: 2020-01-19T14:00, time_zone: [1]}", nowhere, ""), &["RF101", "YM205"]),
        (
            "segments:\n  a:\n    display_name: [x]\n    criteria: {ios_version: 8.3.1}\n".to_owned(),
            &["AU101", "YM205"],
        ),
        ("segments:\n  a:\n    display_name: [x]\n    criteria: {segment: b}\n".to_owned(), &["RF101", "YM205"]),
        // What a malformed lifecycle allows is unknown.
        (format!("{}    lifecycle: [x]\n", push(past, "{tag: a}", "")), &["YM205"]),
    ] {
        assert_eq!(codes(&manifest), expected, "{manifest}\n{}", validate(&manifest).stdout);
    }
}

#[test]
fn nothing_follows_from_a_field_that_cannot_be_read() {
    let late = "{scheduled_time: 2027-01-19T14:00}";
    // An alert that cannot be read is no empty message, and an audience that cannot be read is not everyone.
    let manifest = push(late, "{and: [{tag: a}, {tag: 5.0}]}", "").replace("alert: Hello", "alert: [Hello]");
    assert_eq!(codes(&manifest), ["YM204", "YM205"], "{}", validate(&manifest).stdout);
    // Neither is a variable undeclared whose declaration cannot be read.
    let template = "templates:\n  t:\n    variables: [{key: NAME, default_value: [x]}]\n    push: {notification: {alert: \"Hi {{NAME}}\"}}\n";
    assert_eq!(codes(template), ["YM205"], "{}", validate(template).stdout);
}
