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

#[test]
fn an_error_in_one_condition_does_not_hide_errors_in_the_others() {
    let segment = |criteria: &str| format!("segments:\n  a:\n    criteria: {criteria}\n");
    for (criteria, expected) in [
        ("{and: [{tag: 5}, {country: [UK]}, {segment: missing}]}", &["AU107", "RF101", "YM204"][..]),
        ("{and: [{foo: bar}, {ios_version: 8.3.1}]}", &["AU101", "YM201"]),
        ("{tag: x, group: missing, grp: y}", &["RF103", "YM201"]),
        ("{country: [UK, 5]}", &["AU107", "YM204"]),
        ("{or: [{not: {tag: 5}}, {and: [{timezone: Europe/Berlin}, {tag: 6}]}]}", &["AU104", "YM204", "YM204"]),
        // Without one of its conditions, an audience has other devices, so these say nothing about it.
        ("{or: [{tag: a}, {not: {tag: a}}, {tag: 5}]}", &["YM204"]),
    ] {
        let manifest = segment(criteria);
        assert_eq!(codes(&manifest), expected, "{manifest}\n{}", validate(&manifest).stdout);
    }
}

#[test]
fn a_missing_field_does_not_hide_errors_in_the_others() {
    for (manifest, expected) in [
        (
            "scheduled_pushes:\n  p:\n    push:\n      audience: {country: UK}\n      template: missing\n      \
             substitutions: {A: 5}\n",
            &["AU107", "RF102", "YM203", "YM203", "YM204"][..],
        ),
        (
            "pipelines:\n  p:\n    immediate_trigger: first_opn\n    outcome: {delay: -5, push: {audience: all, \
             device_types: [ios, fax], notification: {alert: Hello}}}\n",
            &["PL101", "PL102", "YM203", "YM206", "YM206"],
        ),
        ("segments:\n  a:\n    display_name: A\n", &["YM203"]),
        ("open_channels:\n  o: {tags: [\"\"], open: {open_platform_name: sms}}\n", &["TG103", "YM203"]),
    ] {
        assert_eq!(codes(manifest), expected, "{manifest}\n{}", validate(manifest).stdout);
    }
}

#[test]
fn an_error_in_one_item_does_not_hide_errors_in_the_others() {
    let variant = |alert: &str, time: &str| {
        format!("      - push: {{notification: {{alert: {alert}}}}}\n        schedule: {{scheduled_time: {time}}}\n")
    };
    let experiment = |audience: &str, variants: &str| {
        format!("experiments:\n  e:\n    audience: {audience}\n    device_types: [ios]\n    variants:\n{variants}")
    };
    for (manifest, expected) in [
        (
            experiment(
                "{segment: missing}",
                &[variant("5", "2027-01-19T14:00"), variant("b", "2020-01-19T14:00")].concat(),
            ),
            &["RF101", "SC101", "YM204"][..],
        ),
        // A variant that is sent at some time is not sent at once.
        (experiment("{tag: a}", &[variant("a", "soon"), variant("b", "2027-01-19T14:00")].concat()), &["SC106"]),
        (
            "templates:\n  t:\n    variables:\n      - {key: A B, name: 3}\n      - {key: C, name: C, default_value: x}\n    \
             push: {notification: {alert: \"Hi {{C}}\", actions: {open: {type: url, content: \"ftp://x\"}}}}\n"
                .to_owned(),
            &["MS110", "MS112", "YM204"],
        ),
        (
            "tag_groups:\n  g:\n    tags: [a, 5]\n    members: {named_users: {u: [b]}}\n".to_owned(),
            &["YM204"],
        ),
        (
            "tag_groups:\n  g: {tags: [a]}\nsegments:\n  s: {display_name: [x], criteria: {tag: b, group: g}}\n".to_owned(),
            &["TG101", "YM205"],
        ),
    ] {
        assert_eq!(codes(&manifest), expected, "{manifest}\n{}", validate(&manifest).stdout);
    }
}
