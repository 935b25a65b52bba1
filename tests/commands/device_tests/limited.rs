//! Limits, cancellations, conditions and times of pipelines decide what a device gets.

use super::case_of;

fn passes(field: &str, lines: &str) {
    passes_for(field, "device: {device_type: ios}", lines);
}

fn passes_for(field: &str, device: &str, lines: &str) {
    let manifest = format!(
        "\
tags: {{cart-left: {{}}, bought: {{}}, vip: {{}}}}
pipelines:
  cart:
    enabled: true
    immediate_trigger: {{tag_added: cart-left}}
    {field}
    outcome: {{delay: 1h, push: {{device_types: [ios], notification: {{alert: Still interested?}}}}}}
"
    );
    let ran = case_of(&manifest, &format!("{device}\nsteps:\n{lines}"));
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
