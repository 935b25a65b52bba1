//! Limits and cancellations of pipelines decide what a device gets.

use super::case_of;

fn passes(field: &str, lines: &str) {
    let manifest = format!(
        "\
tags: {{cart-left: {{}}, bought: {{}}}}
pipelines:
  cart:
    enabled: true
    immediate_trigger: {{tag_added: cart-left}}
    {field}
    outcome: {{delay: 1h, push: {{device_types: [ios], notification: {{alert: Still interested?}}}}}}
"
    );
    let ran = case_of(&manifest, &format!("device: {{device_type: ios}}\nsteps:\n{lines}"));
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
