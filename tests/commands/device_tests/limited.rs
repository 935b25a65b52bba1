//! Hours, limits, cancellations, conditions and times of pipelines decide what a device gets.

use super::case_of;

fn passes(field: &str, lines: &str) {
    passes_for(field, "device: {device_type: ios}", lines);
}

fn manifest(field: &str) -> String {
    format!(
        "\
tags: {{cart-left: {{}}, bought: {{}}, vip: {{}}, gold: {{}}}}
pipelines:
  cart:
    enabled: true
    immediate_trigger: {{tag_added: cart-left}}
    {field}
    outcome: {{delay: 1h, push: {{device_types: [ios], notification: {{alert: Still interested?}}}}}}
"
    )
}

fn passes_for(field: &str, device: &str, lines: &str) {
    let ran = case_of(&manifest(field), &format!("{device}\nsteps:\n{lines}"));
    assert_eq!(ran.code, 0, "{field}\n{lines}\n{ran}");
}

/// Leaves a cart after some time, and expects this an hour later.
fn leaves(after: &str, got: &str) -> String {
    format!(
        "  - {{after: {after}, add_tags: cart-left}}\n  - {{after: 1h, remove_tags: cart-left, expect: {{receives: {got}}}}}\n"
    )
}

#[test]
fn a_device_gets_no_more_messages_than_the_limit_allows() {
    let one = "{from: pipelines/cart}";
    for (rate, soon, late) in [
        ("pushes: 1, hours: 24", "[]", one),
        ("pushes: 1, days: 1", "[]", one),
        ("pushes: 2, days: 30", one, "[]"),
        ("pushes: 1, lifetimes: 1", "[]", "[]"),
    ] {
        let lines = leaves("0s", one) + &leaves("2h", soon) + &leaves("25h", late);
        passes(&format!("constraint: [{{rate: {{{rate}}}}}]"), &lines);
    }
}

#[test]
fn an_event_cancels_a_message_that_waits() {
    let field = "cancellation_trigger: {tag_added: bought}";
    passes(
        field,
        "  - {add_tags: cart-left}\n  - {after: 30m, add_tags: bought}\n  - {after: 1h, expect: {receives: []}}\n",
    );
    passes(
        field,
        "  - {add_tags: cart-left}\n  - {after: 1h, add_tags: bought, expect: {receives: {from: pipelines/cart}}}\n",
    );
}

#[test]
fn a_condition_must_hold_when_the_message_is_due() {
    let vip = "condition: [{or: [{tag: {tag_name: vip}}]}]";
    let not_vip = "condition: [{or: [{tag: {tag_name: vip, negated: true}}]}]";
    let [plain, tagged] = ["device: {device_type: ios}", "device: {device_type: ios, tags: [vip]}"];
    let one = "{from: pipelines/cart}";
    for (field, device, got) in [(vip, plain, "[]"), (vip, tagged, one), (not_vip, plain, one), (not_vip, tagged, "[]")]
    {
        passes_for(field, device, &leaves("0s", got));
    }
    let both = "condition: [{or: [{tag: {tag_name: vip}}, {tag: {tag_name: gold}}]}, {or: [{tag: {tag_name: bought, negated: true}}]}]";
    for (tags, got) in [("", "[]"), ("vip", one), ("gold", one), ("bought", "[]"), ("gold, bought", "[]")] {
        passes_for(both, &format!("device: {{device_type: ios, tags: [{tags}]}}"), &leaves("0s", got));
    }
    let later = "  - {add_tags: cart-left}\n  - {after: 30m, add_tags: vip}\n";
    passes(vip, &format!("{later}  - {{after: 1h, expect: {{receives: {one}}}}}\n"));
    passes(not_vip, &format!("{later}  - {{after: 1h, expect: {{receives: []}}}}\n"));
}

#[test]
fn a_pipeline_sends_nothing_outside_of_its_times() {
    let one = "{from: pipelines/cart}";
    for (field, at, got) in [
        ("activation_time: 2034-01-01T00:00:00", "2033-12-31T23:59", "[]"),
        ("activation_time: 2034-01-01T00:00:00", "2034-01-01T00:00", one),
        ("deactivation_time: 2034-01-01T00:00:00", "2033-12-31T22:00", one),
        // The trigger comes in time, and the message would be late.
        ("deactivation_time: 2034-01-01T00:00:00", "2033-12-31T23:00", "[]"),
        ("deactivation_time: 2034-01-01T00:00:00", "2034-01-01T00:00", "[]"),
    ] {
        passes_for(field, &format!("at: {at}\ndevice: {{device_type: ios}}"), &leaves("0s", got));
    }
}

/// 2033-12-30 is a Friday, and 2034-01-02 a Monday.
#[test]
fn the_hours_of_a_pipeline_are_those_of_the_devices_zone() {
    let hours = |kind: &str, miss: &str, time: &str| {
        format!(
            "timing: {{schedule: {{type: {kind}, miss_behavior: {miss}, dayparts: [{{days_of_week: [monday, friday], \
             allowed_times: [{time}]}}]}}}}"
        )
    };
    let [window, evening] = ["{start: 09:00, end: '21:00'}", "{preferred: '18:00'}"];
    let one = "{from: pipelines/cart}";
    let berlin = "timezone: Europe/Berlin";
    for (field, properties, at, lines) in [
        // The message is due at 20:59 in Berlin, and then at 21:00.
        (hours("local", "cancel", window), berlin, "2033-12-30T18:59", leaves("0s", one)),
        (hours("local", "cancel", window), berlin, "2033-12-30T19:00", leaves("0s", "[]")),
        (
            hours("local", "wait", window),
            berlin,
            "2033-12-30T19:00",
            leaves("0s", "[]")
                + &format!(
                    "  - {{at: 2034-01-02T07:59, expect: {{receives: []}}}}\n  - {{at: 2034-01-02T08:00, expect: {{receives: {one}}}}}\n"
                ),
        ),
        (hours("utc", "cancel", window), berlin, "2033-12-30T19:30", leaves("0s", one)),
        (hours("utc", "cancel", window), "", "2033-12-30T19:30", leaves("0s", one)),
        (hours("local", "cancel", window), "", "2033-12-30T12:00", leaves("0s", "[]")),
        // A preferred time is not missed by a message that is due before it.
        (
            hours("local", "cancel", evening),
            berlin,
            "2033-12-30T12:00",
            leaves("0s", "[]") + &format!("  - {{at: 2033-12-30T17:00, expect: {{receives: {one}}}}}\n"),
        ),
        (
            hours("local", "cancel", evening),
            berlin,
            "2033-12-30T16:01",
            leaves("0s", "[]") + "  - {at: 2034-01-10T00:00, expect: {receives: []}}\n",
        ),
    ] {
        passes_for(&field, &format!("at: {at}\ndevice: {{device_type: ios, {properties}}}"), &lines);
    }
}

#[test]
fn a_message_that_hours_keep_back_is_explained() {
    let field = "timing: {schedule: {type: local, miss_behavior: wait, dayparts: [{days_of_week: [monday], \
                 allowed_times: [{preferred: '18:00'}]}]}}";
    let lines = leaves("0s", "{from: pipelines/cart}");
    for (properties, words) in [
        ("timezone: Europe/Berlin", "it is sent only at 2034-01-02T17:00"),
        ("", "the device has no time zone, and its hours are in recipients' local time"),
    ] {
        let ran = case_of(
            &manifest(field),
            &format!("at: 2033-12-30T12:00\ndevice: {{device_type: ios, {properties}}}\nsteps:\n{lines}"),
        );
        assert_eq!(ran.code, 1, "{ran}");
        assert!(ran.stdout.contains(words), "{words}\n{ran}");
    }
}

#[test]
fn an_app_that_is_not_opened_triggers_a_message_once() {
    let one = "{from: pipelines/cart}";
    let field = "historical_trigger: {event: open, equals: 0, days: 3}";
    passes(
        field,
        &format!(
            "  - {{open: true}}\n  - {{after: 2d, open: true}}\n  - {{after: 3d, expect: {{receives: []}}}}\n  \
             - {{after: 1h, expect: {{receives: {one}}}}}\n  - {{after: 30d, expect: {{receives: []}}}}\n  \
             - {{open: true}}\n  - {{after: 73h, expect: {{receives: {one}}}}}\n"
        ),
    );
    let ran = case_of(
        &manifest(field),
        &format!("device: {{device_type: ios}}\nsteps:\n  - {{after: 1h, expect: {{receives: {one}}}}}\n"),
    );
    assert!(ran.code == 1 && ran.stdout.contains("it waits until the app is not opened for 3 days"), "{ran}");
}
