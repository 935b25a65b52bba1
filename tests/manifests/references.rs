//! What names something else, and where it leads.

use pushplan_testing::{Folder, Ran};

fn validate(manifest: &str) -> Ran {
    Folder::project(manifest).run(&["validate", "--color", "never", "--now", "2026-11-15T12:00Z"])
}

/// How often a code was told of.
fn times(ran: &Ran, code: &str) -> usize {
    ran.stdout.matches(&format!("[{code}]")).count()
}

#[test]
fn a_circle_is_told_once_and_from_its_first_name() {
    let ran = validate(
        "segments:\n  a: {criteria: {segment: d}}\n  d: {criteria: {and: [{tag: x}, {segment: c}]}}\n  c: {criteria: {not: {segment: b}}}\n  b: {criteria: {segment: [d, e]}}\n  e: {criteria: {tag: y}}\n",
    );
    assert_eq!(ran.code, 3);
    assert_eq!(times(&ran, "RF110"), 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("in a circle: b -> d -> c -> b"), "{}", ran.stdout);
    assert!(ran.stdout.contains("messages.yaml:5:28"), "{}", ran.stdout);
}

#[test]
fn circles_through_one_segment_are_told_as_one_and_the_rest_is_counted() {
    let ran = validate(
        "segments:\n  a: {criteria: {segment: [b, c]}}\n  b: {criteria: {segment: a}}\n  c: {criteria: {segment: a}}\n  d: {criteria: {segment: d}}\n",
    );
    assert_eq!(times(&ran, "RF110"), 2, "{}", ran.stdout);
    for circle in ["a -> b -> a", "1 more segment in circles with these", "`d` refers to itself"] {
        assert!(ran.stdout.contains(circle), "{}", ran.stdout);
    }
}

#[test]
fn a_segment_that_is_reached_twice_is_no_circle() {
    let ran = validate(
        "segments:\n  a: {criteria: {segment: [b, c]}}\n  b: {criteria: {segment: d}}\n  c: {criteria: {segment: d}}\n  d: {criteria: {tag: x}}\n",
    );
    assert_eq!((ran.code, times(&ran, "RF110")), (0, 0), "{}", ran.stdout);
}

#[test]
fn a_chain_of_segments_may_be_long_and_so_may_a_circle() {
    let number = 20_000;
    let mut manifest = String::from("segments:\n");
    for n in 0..number {
        manifest += &format!("  s{n}: {{criteria: {{segment: s{}}}}}\n", (n + 1) % number);
    }
    let ran = validate(&manifest);
    assert_eq!(times(&ran, "RF110"), 1);
    assert!(ran.stdout.contains("s0 -> s1 -> s2 -> s3 -> s4 -> s5 -> s6 -> s7 -> ... -> s0"), "{}", ran.stdout);
}

#[test]
fn what_is_missing_proves_nothing_while_a_file_cannot_be_read() {
    let manifest = "scheduled_pushes:\n  p:\n    schedule: {scheduled_time: 2026-11-27T09:00}\n    push:\n      audience: {and: [{segment: s}, {tag: t, group: g}]}\n      device_types: all\n      template: x\n";
    let folder = Folder::project(manifest);
    let complete = folder.run(&["validate", "--color", "never", "--now", "2026-11-15T12:00Z"]);
    for code in ["RF101", "RF102", "RF103"] {
        assert_eq!(times(&complete, code), 1, "{code}\n{}", complete.stdout);
    }
    folder.write("broken.yaml", "segments: {s: [\n");
    let broken = folder.run(&["validate", "--color", "never", "--now", "2026-11-15T12:00Z"]);
    assert_eq!(broken.code, 3);
    assert!(!broken.stdout.contains("[RF"), "{}", broken.stdout);
}

#[test]
fn a_resource_that_cannot_be_read_is_there_for_those_who_name_it() {
    let ran = validate("segments:\n  a: {criteria: {segment: b}}\n  b: {criteria: {tagg: x}}\n");
    assert_eq!((times(&ran, "RF101"), times(&ran, "YM201")), (0, 1), "{}", ran.stdout);
}

#[test]
fn groups_of_triggers_and_of_the_service_are_looked_up_too() {
    let ran = validate(
        "pipelines:\n  p:\n    enabled: false\n    immediate_trigger: {tag_added: {tag: x, group: unknown-group}}\n    outcome: {push: {audience: triggered, device_types: all, notification: {alert: Hi}}}\nsegments:\n  a: {criteria: {tag: \"true\", group: ua_opt_inn}}\n  b: {criteria: {tag: \"true\", group: ua_opt_in}}\n  c: {criteria: {tag: US, group: country}}\n",
    );
    assert_eq!(times(&ran, "RF103"), 3, "{}", ran.stdout);
    for place in ["messages.yaml:4:52", "messages.yaml:7:38", "messages.yaml:9:34"] {
        assert!(ran.stdout.contains(place), "{place}\n{}", ran.stdout);
    }
}

#[test]
fn a_trigger_without_a_group_is_not_triggered_by_a_tag_of_a_group() {
    let manifest = |trigger: &str| {
        format!(
            "tag_groups:\n  loyalty: {{tags: [gold]}}\npipelines:\n  p:\n    enabled: true\n    immediate_trigger: \
             {{tag_added: {trigger}}}\n    outcome: {{push: {{audience: triggered, device_types: all, notification: \
             {{alert: Hi}}}}}}\n"
        )
    };
    let ran = validate(&manifest("gold"));
    assert_eq!(times(&ran, "PL103"), 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("help: write {tag: gold, group: loyalty}"), "{}", ran.stdout);
    assert_eq!(times(&validate(&manifest("{tag: gold, group: loyalty}")), "PL103"), 0);
    assert_eq!(times(&validate(&manifest("{tag: gold, group: device}")), "PL103"), 1);
}

#[test]
fn many_names_that_lead_nowhere_are_counted() {
    let number = 4_000;
    let mut manifest = String::from("segments:\n");
    for n in 0..number {
        manifest += &format!("  known-{n}: {{criteria: {{segment: knwon-{n}}}}}\n");
    }
    let ran = validate(&manifest);
    assert_eq!(times(&ran, "RF101"), 100);
    assert!(ran.stdout.contains(&format!("\n{} more RF101 in ", number - 100)), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("\n4000 errors in 1 file\n"), "{}", ran.stdout);
}

#[test]
fn without_targets_none_is_named_for_a_variable() {
    let folder = Folder::project("segments:\n  a: {criteria: {tag: \"${var.x}\"}}\n");
    folder.write("pushplan.toml", "");
    let ran = folder.run(&["validate", "--color", "never"]);
    assert!(ran.stdout.contains("[RF104]"), "{ran:?}");
    assert!(ran.stdout.contains("the `variables` of a target in pushplan.toml"), "{ran:?}");
    assert!(!ran.stdout.contains("local"), "{ran:?}");
}
