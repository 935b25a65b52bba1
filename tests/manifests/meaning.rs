//! Manifests in which one thing is wrong, or nothing although it looks so: each with the codes that are to be found.

use pushplan_testing::Folder;
use serde_json::Value;

fn findings(manifest: &str) -> Vec<Value> {
    let folder = Folder::project(manifest);
    // Pipelines of these manifests send at any hour.
    let checks = "[checks]\nPL112 = \"off\"\n";
    let target = "[targets.local]\nquiet_hours = { from = \"21:00\", to = \"08:00\" }\n";
    folder.write("pushplan.toml", format!("{checks}{target}"));
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
    let further = |value: &str| {
        scheduled(
            NOON,
            &format!("audience: all, device_types: [ios], notification: {{alert: Hi, ios: {{further: {value}}}}}"),
        )
    };
    expect(&[
        (further("18446744073709551615"), &[]),
        (further("-9223372036854775808"), &[]),
        (further("18446744073709551616"), &["YM206"]),
        (further("-9223372036854775809"), &["YM206"]),
        (further("[1, {x: 123456789012345678901234567890}]"), &["YM206"]),
        (further("\"123456789012345678901234567890\""), &[]),
        (
            "segments: {a: {criteria: {attribute: x, operator: equals, value: 123456789012345678901234567890}}}\n"
                .into(),
            &["YM206"],
        ),
    ]);
}

#[test]
fn an_empty_list_is_not_a_value() {
    let pipeline = |trigger: &str, outcome: &str| {
        format!("pipelines: {{a: {{enabled: true, immediate_trigger: {trigger}, outcome: {outcome}}}}}\n")
    };
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

#[test]
fn a_list_of_one_gets_the_defaults_that_the_map_gets() {
    let defaults = "defaults: {scheduled_pushes: {schedule: {time_zone: Asia/Tokyo}}}\n";
    let at = |schedule: &str| format!("{defaults}{}", scheduled(schedule, HELLO));
    // 22:30 in Tokyo is in quiet hours; 22:30 in UTC would not be for people there.
    let both = ["{scheduled_time: 2035-01-01T22:30}", "[{scheduled_time: 2035-01-01T22:30}]"];
    for schedule in both {
        let found = findings(&at(schedule));
        assert_eq!(found.len(), 1, "{schedule}: {found:?}");
        assert!(found[0]["message"].as_str().expect("a message").contains("22:30 in Asia/Tokyo"), "{found:?}");
    }
    let listed = "defaults: {scheduled_pushes: {schedule: [{time_zone: Asia/Tokyo}]}}\n".to_owned();
    assert_eq!(codes(&(listed + &scheduled(both[0], HELLO))), ["SC104"]);
    expect(&[(
        "defaults: {pipelines: {enabled: true, outcome: {push: {device_types: [ios]}}}}\n\
         pipelines: {a: {immediate_trigger: first_open, outcome: [{push: {notification: {alert: Hi}}}]}}\n"
            .into(),
        &[],
    )]);
}

#[test]
fn two_places_for_a_delay_agree() {
    let pipeline = |delay: &str, timing: &str| {
        format!(
            "pipelines: {{a: {{enabled: true, immediate_trigger: first_open, timing: {{delay: {{seconds: {timing}}}}}, \
             outcome: {{delay: {delay}, push: {{device_types: [ios], notification: {{alert: Hi}}}}}}}}}}\n"
        )
    };
    expect(&[(pipeline("60", "60"), &[]), (pipeline("1m", "60"), &[]), (pipeline("60", "90"), &["YM201"])]);
}

#[test]
fn placeholders_are_looked_at_wherever_they_stand() {
    let template = |said: &str| {
        format!(
            "templates:\n  t:\n    variables: [{{key: NAME, default_value: x}}]\n    push:\n      notification:\n        \
             alert: Hi {{{{NAME}}}}\n        {said}\n"
        )
    };
    expect(&[
        (template("ios: {title: 'Hello {{NAME}}'}"), &[]),
        (template("actions: {add_tag: 't-{{NAME}}'}"), &[]),
        (template("ios: {deep: [{title: 'Hello {{NAMES}}'}]}"), &["MS101"]),
        (template("actions: {add_tag: 't-{{OTHER}}'}"), &["MS101"]),
        (template("ios: {title: 'Hello {{NAME'}"), &["MS101"]),
    ]);
    let found = findings(&template("ios: {title: 'Hello {{NAMES}}'}"));
    let found = found.iter().find(|finding| finding["code"] == "MS101").expect("a finding");
    assert_eq!((&found["line"], &found["column"]), (&7.into(), &29.into()), "{found}");
}

#[test]
fn quiet_hours_hold_where_people_are() {
    // It is 22:00 in Paris and 06:00 in Tokyo, and 16:00 in New York.
    let paris = "{scheduled_time: 2035-01-01T22:00, time_zone: Europe/Paris}";
    let to = |audience: &str| {
        scheduled(paris, &format!("audience: {audience}, device_types: [ios], notification: {{alert: Hi}}"))
    };
    let segment =
        |criteria: &str, audience: &str| format!("segments: {{s: {{criteria: {criteria}}}}}\n{}", to(audience));
    expect(&[
        (to("all"), &["SC104"]),
        (to("{timezone: America/New_York}"), &[]),
        (to("{or: [{timezone: America/New_York}, {tag: vip}]}"), &["SC104"]),
        (to("{and: [{timezone: America/New_York}, {tag: vip}]}"), &[]),
        (to("{not: {timezone: Europe/Paris}}"), &[]),
        (to("{not: {timezone: America/New_York}}"), &["SC104"]),
        (to("{not: {not: {timezone: America/New_York}}}"), &[]),
        (segment("{timezone: America/New_York}", "{segment: s}"), &[]),
        (segment("{timezone: Europe/Paris}", "{not: {segment: s}}"), &[]),
    ]);
}

#[test]
fn a_platform_counts_where_it_decides() {
    let to = |audience: &str| {
        scheduled(NOON, &format!("audience: {audience}, device_types: [android], notification: {{alert: Hi}}"))
    };
    expect(&[
        (to("{ios_version: 8.3.X}"), &["AU111"]),
        (to("{or: [{ios_version: 8.3.X}, {android_version: 5.1.X}]}"), &[]),
        (to("{or: [{ios_version: 8.3.X}, {tag: vip}]}"), &[]),
        (to("{not: {ios_version: 8.3.X}}"), &[]),
        (to("{and: [{ios_version: 8.3.X}, {tag: vip}]}"), &["AU111"]),
        (to("{and: [{tag: vip}, {or: [{ios_version: 8.3.X}, {ios_version: 8.2.X}]}]}"), &["AU111", "AU111"]),
        (to("{not: {ios_channel: x}}"), &[]),
        (
            format!(
                "segments: {{s: {{criteria: {{or: [{{ios_version: 8.3.X}}, {{tag: a}}]}}}}}}\n{}",
                to("{segment: s}")
            ),
            &[],
        ),
    ]);
}

#[test]
fn an_old_sdk_is_found_in_a_segment() {
    expect(&[(
        "segments:\n  old: {criteria: {tag: 5.1.X, group: ua_ios_sdk_version}}\n  \
         near: {criteria: {and: [{segment: old}, {location_enabled: true}]}}\n  \
         both: {criteria: {and: [{segment: near}, {tag: vip}]}}\n"
            .into(),
        &["AU114"],
    )]);
}

#[test]
fn one_resource_has_one_key() {
    let channel = |platform: &str| format!("{{address: x, opt_in: true, open: {{open_platform_name: {platform}}}}}");
    expect(&[
        (
            "named_users: {a: {named_user_id: u, channels: []}, b: {named_user_id: u, channels: []}}\n".into(),
            &["RF105"],
        ),
        ("named_users: {a: {channels: []}, b: {named_user_id: a, channels: []}}\n".into(), &["RF105"]),
        ("tags: {a: {tag: t}, b: {tag: t}}\n".into(), &["RF105"]),
        ("tags: {a: {tag: t}, b: {tag: u}}\n".into(), &[]),
        (format!("open_channels: {{a: {}, b: {}}}\n", channel("sms"), channel("sms")), &["RF105"]),
        (format!("open_channels: {{a: {}, b: {}}}\n", channel("sms"), channel("fax")), &[]),
        ("segments: {a: {display_name: s, criteria: all}, b: {display_name: s, criteria: {tag: x}}}\n".into(), &[]),
    ]);
}

#[test]
fn one_channel_belongs_to_one_named_user() {
    let users = |users: &[(&str, &[(&str, &str)])]| {
        let channel = |(id, kind): &(&str, &str)| format!("{{channel_id: {id}, device_type: {kind}}}");
        let user = |(key, channels): &(&str, &[(&str, &str)])| {
            format!("  {key}: {{channels: [{}]}}\n", channels.iter().map(channel).collect::<Vec<_>>().join(", "))
        };
        format!("named_users:\n{}", users.iter().map(user).collect::<String>())
    };
    expect(&[
        (users(&[("bob", &[("x", "ios")]), ("al", &[("y", "ios")])]), &[]),
        (users(&[("bob", &[("x", "ios")]), ("al", &[("x", "ios")])]), &["RF105"]),
        (
            users(&[("bob", &[("x", "ios")]), ("al", &[("y", "ios"), ("x", "android")]), ("cy", &[("x", "ios")])]),
            &["RF105", "RF105"],
        ),
        (users(&[("bob", &[("x", "ios"), ("x", "android")])]), &["RF105"]),
        (users(&[("bob", &[("x", "ios"), ("y", "ios"), ("x", "ios")])]), &["RF105"]),
        (
            "named_users: {bob: {channels: &c [{channel_id: x, device_type: ios}]}, al: {channels: *c}}\n".into(),
            &["RF105"],
        ),
    ]);
}

#[test]
fn joiners_belong_to_some_scripts_only() {
    let says = |text: &str| {
        scheduled(NOON, &format!("audience: all, device_types: [ios], notification: {{alert: \"{text}\"}}"))
    };
    expect(&[
        (says("pay\u{200d}pal"), &["MS108"]),
        (says("pay\u{200c}pal"), &["MS108"]),
        (says("\u{646}\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}"), &[]),
        (says("\u{1f468}\u{200d}\u{1f469}"), &[]),
    ]);
}

#[test]
fn a_circle_through_a_disabled_pipeline_is_none() {
    let pipeline = |key: &str, enabled: bool, start: &str, adds: &str| {
        format!(
            "  {key}: {{enabled: {enabled}, immediate_trigger: {{tag_added: {start}}}, outcome: {{push: {{device_types: [ios], \
             notification: {{alert: Hi, actions: {{add_tag: {adds}}}}}}}}}}}\n"
        )
    };
    let two =
        |enabled: bool| format!("pipelines:\n{}{}", pipeline("a", true, "x", "y"), pipeline("b", enabled, "y", "x"));
    expect(&[(two(true), &["PL104"]), (two(false), &[])]);
}
