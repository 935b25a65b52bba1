//! Manifests in which one thing is wrong, or nothing although it looks so: each with the codes that are to be found.

mod support;

use serde_json::Value;
use support::Folder;

fn findings(manifest: &str) -> Vec<Value> {
    let folder = Folder::project(manifest);
    folder.write("pushplan.toml", "[targets.local]\nquiet_hours = { from = \"21:00\", to = \"08:00\" }\n");
    let ran = folder.run(&["validate", "--format", "json", "--now", "2026-11-15T12:00Z"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{manifest}: {ran:?}"));
    report["findings"].as_array().expect("findings").clone()
}

/// The codes of all findings, without those of fields that are passed through.
fn codes(manifest: &str) -> Vec<String> {
    let codes = findings(manifest).into_iter().map(|finding| finding["code"].as_str().expect("a code").to_owned());
    codes.filter(|code| code != "YM202").collect()
}

fn expect(cases: &[(String, &[&str])]) {
    for (manifest, expected) in cases {
        assert_eq!(codes(manifest), *expected, "{manifest}");
    }
}

fn scheduled(schedule: &str, push: &str) -> String {
    format!("scheduled_pushes: {{a: {{schedule: {schedule}, push: {{{push}}}}}}}\n")
}

const NOON: &str = "{scheduled_time: 2035-01-01T12:00}";
const HELLO: &str = "audience: all, device_types: [ios], notification: {alert: Hi}";

#[test]
fn a_number_that_would_be_rounded_is_not_passed_on() {
    let badge = |value: &str| scheduled(NOON, &format!("audience: all, device_types: [ios], notification: {{alert: Hi, ios: {{badge: {value}}}}}"));
    expect(&[
        (badge("18446744073709551615"), &[]),
        (badge("-9223372036854775808"), &[]),
        (badge("18446744073709551616"), &["YM206"]),
        (badge("-9223372036854775809"), &["YM206"]),
        (badge("[1, {x: 123456789012345678901234567890}]"), &["YM206"]),
        (badge("\"123456789012345678901234567890\""), &[]),
        (
            "segments: {a: {criteria: {attribute: x, operator: equals, value: 123456789012345678901234567890}}}\n".into(),
            &["YM206"],
        ),
    ]);
}

#[test]
fn an_empty_list_is_not_a_value() {
    let pipeline = |trigger: &str, outcome: &str| format!("pipelines: {{a: {{enabled: true, immediate_trigger: {trigger}, outcome: {outcome}}}}}\n");
    expect(&[
        (scheduled("[]", HELLO), &["YM207"]),
        (pipeline("[]", "{push: {device_types: [ios], notification: {alert: Hi}}}"), &["YM207"]),
        (pipeline("first_open", "[]"), &["YM207"]),
        ("experiments: {a: {audience: all, device_types: all, variants: []}}\n".into(), &["EX103"]),
    ]);
}

#[test]
fn a_clock_time_is_whole() {
    let at = |time: &str| scheduled(&format!("{{scheduled_time: \"{time}\"}}"), HELLO);
    expect(&[
        (at("2035-01-01T12:00"), &[]),
        (at("2035-01-01T1200"), &[]),
        (at("2035-01-01T12:00:00"), &[]),
        (at("2035-01-01T12:00:00.000"), &[]),
        (at("2035-01-01T09:00:"), &["SC106"]),
        (at("2035-01-01T09:00:..0"), &["SC106"]),
        (at("2035-01-01T9:5"), &["SC106"]),
        (at("2035-01-01T9:05:00"), &["SC106"]),
    ]);
}
