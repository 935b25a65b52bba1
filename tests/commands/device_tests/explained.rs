//! The output for a failed case: the expected and the actual result, and the deciding conditions.

use super::{SHOP, fails, fails_of};

const AT_SALE: &str = "at: 2035-01-22T14:00\n";

#[test]
fn a_device_that_is_not_in_a_segment_is_told_by_which_condition() {
    fails(
        "device: {device_type: ios, country: DE, tags: {lifecycle: [buyer, lapsed]}}\nexpect: {in: lapsed-buyers}",
        &[
            "  one.test.yaml:4, when it is 2026-01-01T09:00 UTC\n    expected in the segment lapsed-buyers\n    got      not in it\n",
            "      yes   lifecycle = buyer\n",
            "      no      country = US, because it is DE  (this decides; messages.yaml:9)\n",
        ],
    );
}

#[test]
fn a_device_that_is_in_one_is_told_through_nested_segments() {
    fails(
        "device: BUYER\nexpect: {not_in: lapsed-or-staff}",
        &[
            "expected not in the segment lapsed-or-staff\n    got      in it\n",
            "      yes any of these, because 1 of 2 match\n",
            "      yes   segment lapsed-buyers (segments/lapsed-buyers)\n",
            "lifecycle = buyer  (this decides; messages.yaml:7)\n",
            "      no    named user boss, because it has no named user\n",
        ],
    );
    fails(
        "device: {device_type: ios, tags: {lifecycle: new}}\nexpect: {in: not-new}",
        &["      yes   lifecycle = new  (this decides; messages.yaml:12)\n"],
    );
}

#[test]
fn a_message_that_does_not_come_says_why() {
    let sale = "expect: {receives: {from: scheduled_pushes/sale, at: 2035-01-22T15:00}}";
    for (device, said) in [
        (
            "{device_type: ios, country: US, tags: {lifecycle: buyer}}",
            "lifecycle = lapsed, because it has buyer  (this decides; messages.yaml:8)",
        ),
        (
            "{device_type: web, country: US, tags: {lifecycle: [buyer, lapsed]}}",
            "because  it goes to ios, android, but this device is web",
        ),
    ] {
        fails(
            &format!("{AT_SALE}device: {device}\n{sale}"),
            &["got      no such message", "it was sent at 2035-01-22T15:00, but not to this device", said],
        );
    }
    fails(
        &format!("{AT_SALE}device: BUYER\nexpect: {{receives: {{from: scheduled_pushes/sale}}}}"),
        &["because  it is sent only at 2035-01-22T15:00"],
    );
    fails(
        "at: 2035-06-01T00:00\ndevice: BUYER\nexpect: {receives: {from: scheduled_pushes/sale}}",
        &["because  its time, 2035-01-22T15:00, had passed when the case began at 2035-06-01T00:00"],
    );
    fails(
        "device: BUYER\nexpect: {receives: {from: pipelines/remind, after: 2d}}",
        &["because  nothing has triggered it", "because  it waits for the tag remind-me to be added"],
    );
    fails(
        "device: BUYER\nsteps: [{add_tags: remind-me}]\nexpect: {receives: [{from: pipelines/remind, after: 1d}, {from: pipelines/sleeping}]}",
        &["because  it is not enabled"],
    );
    fails(
        "device: {device_type: ios, opt_in: false}\nsteps: [{add_tags: remind-me}]\nexpect: {receives: {from: pipelines/remind, after: 1d}}",
        &["because  no notification reaches the device: it has not opted in"],
    );
}

#[test]
fn a_message_that_is_otherwise_is_shown_beside_the_expected_one() {
    fails(
        &format!(
            "{AT_SALE}device: BUYER\nexpect: {{receives: {{from: scheduled_pushes/sale, at: 2035-01-22T15:00, alert: [Sold, {{contains: out}}]}}}}"
        ),
        &[
            "expected scheduled_pushes/sale at 2035-01-22T15:00: \"Sold\" or something with \"out\"\n",
            "got      scheduled_pushes/sale at 2035-01-22T15:00: \"Sale\", with the message \"The sale\"\n",
        ],
    );
    fails(
        &format!("{AT_SALE}device: BUYER\nexpect: {{receives: {{from: scheduled_pushes/sale, at: 2035-01-22T16:00}}}}"),
        &["expected scheduled_pushes/sale at 2035-01-22T16:00\n    got      scheduled_pushes/sale at 2035-01-22T15:00"],
    );
}

#[test]
fn a_message_that_nobody_expected_says_why_it_came() {
    fails(
        &format!("{AT_SALE}device: BUYER\nsteps: [{{after: 1d}}]\nexpect: {{receives: []}}"),
        &[
            "expected nothing more\n    got      scheduled_pushes/sale at 2035-01-22T15:00: \"Sale\"",
            "country = US  (this decides; messages.yaml:9)",
        ],
    );
    fails(
        "device: BUYER\nsteps: [{open: true}]\nexpect: {receives: []}",
        &[
            "got      pipelines/welcome at 2026-01-01T09:00: \"Welcome to your phone\"",
            "because  an event on the device triggered it",
        ],
    );
}

#[test]
fn a_step_that_cannot_be_carried_out_says_why() {
    fails(
        "device: BUYER\nsteps: [{tap: pipelines/remind}]\nexpect: {receives: []}",
        &["got      this step is impossible: the device has no notification from pipelines/remind"],
    );
    fails(
        &format!(
            "{AT_SALE}device: BUYER\nsteps: [{{after: 1d}}, {{tap: {{from: scheduled_pushes/sale, button: buy}}}}]\nexpect: {{in: not-new}}"
        ),
        &["this step is impossible: ", "buy"],
    );
    fails(
        "device: BUYER\nsteps: [{uninstall: true}, {open: true}]\nexpect: {in: not-new}",
        &["this step is impossible: the app is not installed"],
    );
}

/// Runs cases against a manifest with one change: each fails, and names the line that decided.
#[test]
fn every_change_of_the_manifest_is_noticed_with_its_line() {
    let member = "device: BUYER\nexpect: {in: lapsed-buyers}";
    let sale = "at: 2035-01-22T14:00\ndevice: BUYER\nexpect: {receives: {from: scheduled_pushes/sale, at: 2035-01-22T15:00, alert: Sale, message: The sale}}";
    let remind = "device: BUYER\nsteps: [{add_tags: remind-me}]\nexpect: {receives: {from: pipelines/remind, after: 1d, alert: Still interested?}}";
    for lines in [member, sale, remind] {
        let ran = super::case(lines);
        assert_eq!(ran.code, 0, "{ran}");
    }
    for (lines, from, to, said) in [
        (
            member,
            "country: [US, CA]",
            "country: [DE, CA]",
            "country = DE, because it is US  (this decides; messages.yaml:9)",
        ),
        (
            member,
            "{tag: lapsed, group: lifecycle}",
            "{tag: new, group: lifecycle}",
            "lifecycle = new, because it has buyer and lapsed  (this decides; messages.yaml:8)",
        ),
        (member, "      and:", "      and:\n        - {not: {opt_in: true}}", "(this decides; messages.yaml:7)"),
        (sale, "country: [US, CA]", "country: CA", "country = CA, because it is US  (this decides; messages.yaml:9)"),
        (
            sale,
            "audience: {segment: lapsed-buyers}\n      device_types: [ios, android]",
            "audience: {named_user: boss}\n      device_types: [ios, android]",
            "named user boss, because it has no named user  (this decides; messages.yaml:40)",
        ),
        (
            sale,
            "device_types: [ios, android]\n      notification",
            "device_types: [android]\n      notification",
            "it goes to android, but this device is ios",
        ),
        (sale, "alert: Sale\n", "alert: Sales\n", "got      scheduled_pushes/sale at 2035-01-22T15:00: \"Sales\""),
        (sale, "title: The sale", "title: A sale", "with the message \"A sale\""),
        (sale, "2035-01-22T10:00", "2035-01-22T10:30", "because  it is sent only at 2035-01-22T15:30"),
        (remind, "delay: 1d", "delay: 2d", "because  it is sent only at 2026-01-03T09:00"),
        (remind, "delay: 1d", "delay: 1h", "got      pipelines/remind at 2026-01-01T10:00"),
        (remind, "alert: Still interested?", "alert: Interested?", "\"Interested?\""),
        (
            remind,
            "immediate_trigger: {tag_added: remind-me}",
            "immediate_trigger: {tag_added: {tag: buyer, group: lifecycle}}",
            "because  it waits for the tag buyer in the group lifecycle to be added",
        ),
    ] {
        assert!(SHOP.contains(from), "{from}");
        fails_of(&SHOP.replacen(from, to, 1), lines, &[said]);
    }
}

#[test]
fn a_time_by_each_clock_that_has_passed_is_not_waited_for() {
    let manifest = "\
scheduled_pushes:
  local:
    schedule: {local_scheduled_time: 2035-03-07T10:00}
    push: {audience: {tag: a}, device_types: [ios], notification: {alert: Hello}}
";
    fails_of(
        manifest,
        "at: 2035-03-07T10:01
time_zone: Europe/Berlin
device: {device_type: ios, timezone: Europe/Berlin, tags: [a]}
steps: [{after: 5m}]
expect: {receives: {from: scheduled_pushes/local}}",
        &["its time, 2035-03-07T10:00:00 by the device's clock, had passed when the case began"],
    );
}

#[test]
fn a_device_without_a_time_zone_gets_nothing_at_a_local_time() {
    let manifest = "\
scheduled_pushes:
  local:
    schedule: {local_scheduled_time: 2035-03-07T10:00}
    push: {audience: {tag: a}, device_types: [ios], notification: {alert: Hello}}
";
    fails_of(
        manifest,
        "at: 2035-03-06T10:00
device: {device_type: ios, tags: [a]}
steps: [{after: 3d}]
expect: {receives: {from: scheduled_pushes/local}}",
        &["it is sent in recipients' local time, and the device has no time zone"],
    );
}
