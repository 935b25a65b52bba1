//! Invalid files, and endless cases.

use std::fmt::Write;
use std::time::Instant;

use super::{case, fails, is_wrong, passes, shop};

#[test]
fn what_is_wrong_in_a_case_is_shown_with_its_place_and_what_to_write() {
    for (lines, said) in [
        (
            "device: BUYER\nexpects: {in: not-new}",
            &["error[YM201]", "one.test.yaml:4:5", "did you mean `expect`?"] as &[&str],
        ),
        ("device: BUYER\nexpect: {in: lapsed-buyer}", &["error[RF101]", "did you mean `lapsed-buyers`?"]),
        (
            "device: BUYER\nexpect: {receives: {from: pipelines/remaind}}",
            &["error[YM206]", "did you mean `pipelines/remind`?"],
        ),
        ("device: BUYER\nexpect: {receives: {from: sale}}", &["did you mean `scheduled_pushes/sale`?"]),
        ("device: BUYER\nexpect: {receives: {from: segments/not-new}}", &["`segments/not-new` does not send messages"]),
        ("device: BUYER\nexpect: {receives: {from: pipelines/remind, after: 1 day}}", &["`1 day` is not a duration"]),
        ("device: BUYER\nexpect: {receives: {at: tomorrow}}", &["error[SC106]", "`tomorrow` is not a time"]),
        (
            "device: BUYER\nexpect: {receives: {at: 2025-12-31T00:00}}",
            &["the case begins at 2026-01-01T09:00, which is later"],
        ),
        (
            "device: BUYER\nexpect: {receives: {at: 2026-01-02T00:00, after: 1h}}",
            &["`at` cannot be combined with `after`"],
        ),
        ("device: BUYER\ntime_zone: Berlin\nexpect: {in: not-new}", &["`Berlin` is not a time zone", "Europe/Berlin"]),
        (
            "at: 2035-03-11T02:30\ntime_zone: America/New_York\ndevice: BUYER\nexpect: {in: not-new}",
            &["error[SC102]", "does not exist"],
        ),
        ("device: {country: US}\nexpect: {in: not-new}", &["error[YM203]", "device_type"]),
        ("device: {device_type: iphone}\nexpect: {in: not-new}", &["did you mean `ios`?"]),
        ("device: {device_type: ios, country: Germany}\nexpect: {in: not-new}", &["error[AU107]", "write `DE`"]),
        ("device: {device_type: ios, country: no}\nexpect: {in: not-new}", &["error[YM204]"]),
        (
            "device: {device_type: ios, tags: {lifecycle: byer}}\nexpect: {in: not-new}",
            &["error[TG101]", "did you mean `buyer`?"],
        ),
        (
            "device: {device_type: ios, tags: {ua_locale_country: US}}\nexpect: {in: not-new}",
            &["set `country`, `language`, `opt_in`"],
        ),
        ("device: {device_type: ios, channel: a/b}\nexpect: {in: not-new}", &["`a/b` is not a valid channel id"]),
        (
            "device: BUYER\nsteps: [{open: true, add_tags: x}]\nexpect: {in: not-new}",
            &["`add_tags` cannot be combined with `open`"],
        ),
        ("device: BUYER\nsteps: [{open: false}]\nexpect: {in: not-new}", &["`open: false` has no effect"]),
        (
            "device: BUYER\nsteps: [{change: {device_type: web}}]\nexpect: {in: not-new}",
            &["`device_type` of a device cannot change"],
        ),
        ("device: BUYER\nsteps: [{open: true}]", &["error[YM203]", "expects nothing, so it cannot fail"]),
        ("device: BUYER\nexpect: {}", &["`expect` is empty, so it cannot fail"]),
        ("device: BUYER\nexpect: {in: not-new, not_in: not-new}", &["cannot be under `in` and under `not_in`"]),
        (
            "at: 2035-01-31T00:00\ndevice: BUYER\nexpect: {receives: {from: experiments/texts, alert: Variant one}}",
            &["a device gets one of 2 variants", "also \"Variant two\""],
        ),
        ("device: BUYER\nexpect: {receives: {alert: \"${var.nothing}\"}}", &["error[RF104]"]),
    ] {
        is_wrong(lines, said);
    }
}

#[test]
fn a_clock_that_would_go_back_is_found_before_anything_runs() {
    is_wrong(
        "device: BUYER\nsteps: [{at: 2026-02-01T00:00}, {at: 2026-01-31T23:59}]\nexpect: {in: not-new}",
        &["the clock would go back: it is already 2026-02-01T00:00"],
    );
    is_wrong("device: BUYER\nsteps: [{after: -5}]\nexpect: {in: not-new}", &["time does not go back"]);
    is_wrong("device: BUYER\nsteps: [{after: 999999w}]\nexpect: {in: not-new}", &["outside the range of the calendar"]);
    // An expectation with a time moves the clock too.
    is_wrong(
        "device: BUYER\nsteps: [{add_tags: remind-me, expect: {receives: {after: 1d}}}, {at: 2026-01-02T08:00, open: true}]\nexpect: {in: not-new}",
        &["it is already 2026-01-02T09:00"],
    );
}

#[test]
fn files_that_are_no_cases_are_refused_with_every_problem() {
    let folder = shop();
    for (text, said) in [
        ("cases: [", "error[YM101]"),
        ("cases:\n  a: {device: {device_type: ios}, expect: {in: not-new}}\n  a: {}\n", "error[YM102]"),
        ("segments: {}\n", "error[YM201]"),
        ("[]\n", "error[YM205]"),
        ("cases: {a: 1, b: 2}\n", "2 errors"),
        ("cases: &a {a: *a}\n", "error[YM104]"),
    ] {
        folder.write("bad.test.yaml", text);
        let ran = folder.run(&["test"]);
        assert_eq!(ran.code, 3, "{text}{ran}");
        assert!(ran.stdout.contains(said), "{said}\n{ran}");
        let ran = folder.run(&["test", "--format", "json"]);
        assert_eq!(ran.code, 3, "{ran}");
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(report["findings"][0]["file"], "bad.test.yaml", "{report}");
    }
    for bytes in [&b"\xff\xfe\0"[..], b"\0"] {
        folder.write("bad.test.yaml", bytes);
        assert_eq!(folder.run(&["test"]).code, 3);
    }
    folder.write("bad.test.yaml", "");
    assert_eq!(folder.run(&["test"]).code, 0);
}

#[test]
fn what_a_case_is_called_cannot_reach_the_terminal() {
    let folder = shop();
    folder.write(
        "x.test.yaml",
        "cases:\n  \"a\\e[31m\\nok  b\\u202e\": {device: {device_type: ios}, expect: {in: lapsed-buyers}}\n",
    );
    let ran = folder.run(&["test"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}']), "{ran}");
    assert!(ran.stdout.starts_with("FAILED  a"), "{ran}");
    assert_eq!(ran.stdout.lines().filter(|line| line.starts_with("ok")).count(), 0, "{ran}");
}

/// Cases are independent of each other, and a thousand of them take an acceptable time.
#[test]
fn a_thousand_cases_do_not_touch_each_other() {
    let folder = shop();
    let mut text = String::from("cases:\n");
    for number in 0..1_000 {
        writeln!(
            text,
            "  case {number}: {{device: {{device_type: ios}}, steps: [{{open: true}}, {{add_tags: remind-me}}], expect: {{receives: [{{from: pipelines/welcome}}, {{from: pipelines/remind, after: 1d}}]}}}}"
        )
        .unwrap();
    }
    folder.write("many.test.yaml", text);
    let begun = Instant::now();
    let ran = folder.run(&["test"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout.lines().last().unwrap_or_default());
    assert!(ran.stdout.ends_with("\n1000 cases passed.\n"));
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

#[test]
fn a_case_with_very_many_steps_runs_and_one_without_end_is_refused() {
    let steps = |count: usize| vec!["{after: 1m, open: true}"; count].join(", ");
    passes(&format!("device: {{device_type: ios, opened: true}}\nsteps: [{}]\nexpect: {{receives: []}}", steps(2_000)));
    is_wrong(
        &format!("device: BUYER\nsteps: [{}]\nexpect: {{in: not-new}}", steps(10_001)),
        &["error[YM106]", "up to 10000 steps, but this one has 10001"],
    );
}

/// Each message of a pipeline triggers the other, for as long as someone taps.
#[test]
fn pipelines_that_set_each_other_off_go_on_as_long_as_the_case_does() {
    let pipeline = |key: &str, tag: &str, next: &str| {
        format!(
            "  {key}:\n    enabled: true\n    immediate_trigger: {{tag_added: {tag}}}\n    outcome:\n      push:\n        device_types: all\n        notification: {{alert: {key}, actions: {{add_tag: {next}, remove_tag: {tag}}}}}\n"
        )
    };
    let manifest = format!(
        "tags: {{ping: {{}}, pong: {{}}}}\npipelines:\n{}{}",
        pipeline("first", "ping", "pong"),
        pipeline("second", "pong", "ping")
    );
    let taps = ["{tap: pipelines/first}", "{tap: pipelines/second}"].repeat(50).join(", ");
    let ran = super::case_of(
        &manifest,
        &format!(
            "device: {{device_type: ios, opened: true}}\nsteps: [{{add_tags: ping}}, {{expect: {{receives: {{from: pipelines/first}}}}}}, {taps}, {{expect: {{receives: []}}}}]"
        ),
    );
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(ran.stdout.matches("expected nothing more").count(), 100, "{ran}");
}

#[test]
fn a_clock_at_the_end_of_the_calendar_stops_there() {
    passes("at: 9999-12-30T00:00\ndevice: BUYER\nexpect: {receives: []}");
    fails(
        "at: 9999-12-30T00:00\ndevice: BUYER\nsteps: [{add_tags: remind-me}]\nexpect: {receives: {from: pipelines/remind}}",
        &["it is sent only at"],
    );
    let ran = case("at: 0001-01-01T00:00\ndevice: BUYER\nexpect: {receives: []}");
    assert_eq!(ran.code, 0, "{ran}");
}
