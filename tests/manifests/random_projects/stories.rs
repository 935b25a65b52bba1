//! What random projects have shown, one by one.

use pushplan::nouns::level::Level;

use super::story;

/// On both levels.
fn always(before: &str, after: &str) {
    for level in [Level::Documented, Level::Extended] {
        story(level, before, after);
    }
}

#[test]
fn a_thing_that_is_declared_under_another_key_stays() {
    for (one, other) in [
        ("tags: {a: {tag: vip, ios_channels: [c-1]}}", "tags: {b: {tag: vip, ios_channels: [c-1]}}"),
        ("tags: {a: {tag: vip, ios_channels: [c-1]}}", "tags: {b: {tag: vip, ios_channels: [c-2]}}"),
        (
            "named_users: {a: {named_user_id: u, channels: [{channel_id: c-1, device_type: ios}]}}",
            "named_users: {b: {named_user_id: u, channels: [{channel_id: c-1, device_type: ios}]}}",
        ),
        (
            "named_users: {a: {channels: [{channel_id: c-1, device_type: ios}]}}",
            "named_users: {b: {channels: [{channel_id: c-1, device_type: ios}]}}",
        ),
        (
            "open_channels: {a: {address: x, opt_in: true, open: {open_platform_name: sms}}}",
            "open_channels: {b: {address: x, opt_in: false, open: {open_platform_name: sms}}}",
        ),
    ] {
        always(one, other);
        always(other, one);
    }
}

#[test]
fn things_that_change_places_stay_both() {
    always("tags: {a: {tag: x}, b: {tag: y}}", "tags: {a: {tag: y}, b: {tag: x}}");
    always("tags: {a: {tag: x}}", "tags: {a: {tag: y}, b: {tag: x}}");
    let channel = |key: &str, address: &str| {
        format!("  {key}: {{address: {address}, opt_in: true, open: {{open_platform_name: sms}}}}\n")
    };
    always(
        &format!("open_channels:\n{}{}", channel("a", "x"), channel("b", "y")),
        &format!("open_channels:\n{}{}", channel("a", "y"), channel("b", "x")),
    );
}
