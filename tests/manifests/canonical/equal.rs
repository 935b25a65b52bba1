//! Single differences: spellings with the same meaning, and pairs that only look the same.

use std::collections::BTreeMap;

use serde_json::Value;

use super::canonical;

/// A scheduled push with these fields, an audience and device types.
fn push(fields: &str) -> String {
    format!(
        "scheduled_pushes: {{a: {{schedule: {{scheduled_time: 2035-01-01T09:00}}, \
         push: {{audience: all, device_types: [ios, web], {fields}}}}}}}\n"
    )
}

fn notification(fields: &str) -> String {
    push(&format!("notification: {{alert: Hi{fields}}}"))
}

fn spec(text: &str) -> BTreeMap<String, Value> {
    canonical(&[text.to_owned()])
}

#[test]
fn what_means_the_same_is_the_same() {
    let message = |kind: &str| push(&format!("notification: {{alert: Hi}}, message: {{title: T, body: B{kind}}}"));
    let devices = |list: &str| {
        format!(
            "experiments: {{a: {{audience: all, device_types: {list}, variants: [{{push: {{notification: {{alert: Hi}}}}}}]}}}}\n"
        )
    };
    let group = |rest: &str| format!("tag_groups: {{g: {{{rest}}}}}\n");
    let channel = |rest: &str| {
        format!("open_channels: {{a: {{opt_in: true, open: {{open_platform_name: sms}}, locale_country: FR{rest}}}}}\n")
    };
    for (one, other) in [
        (notification(""), notification(", actions: {}")),
        (notification(""), notification(", actions: {add_tag: [], remove_tag: []}")),
        (notification(""), notification(", web: {}")),
        (notification(""), notification(", web: {extra: {}}")),
        (notification(""), notification(", ios: {}, android: {}, amazon: null")),
        (notification(", actions: {add_tag: [a, b]}"), notification(", actions: {add_tag: [b, a, b]}")),
        (notification(", actions: {remove_tag: [a, b]}"), notification(", actions: {remove_tag: [b, a]}")),
        (message(""), message(", content_type: text/html")),
        (message(""), message(", content_type: Text/HTML")),
        (
            push("notification: {alert: Hi}, campaigns: {categories: [x, y]}"),
            push("notification: {alert: Hi}, campaigns: {categories: [y, x, x]}"),
        ),
        (push("notification: {alert: Hi}"), push("notification: {alert: Hi}, campaigns: {categories: []}")),
        (devices("[ios, web]"), devices("[web, ios, web]")),
        (group("tags: [a, b]"), group("tags: [b, a, a]")),
        (group("members: {named_users: {q: [a, b]}}"), group("members: {named_users: {q: [b, a]}}")),
        (group("description: x"), group("description: x, members: {}")),
        (channel(", tags: [a, b]"), channel(", tags: [b, a]")),
        (channel(""), channel(", tags: []")),
        ("tags: {t: {ios_channels: [a, b]}}\n".into(), "tags: {t: {ios_channels: [b, a]}}\n".into()),
        ("tags: {t: }\n".into(), "tags: {t: {android_channels: []}}\n".into()),
    ] {
        assert_eq!(spec(&one), spec(&other), "{one}{other}");
    }
}

#[test]
fn what_differs_stays_different() {
    let passed = |value: &str| notification(&format!(", ios: {{further: {value}}}"));
    for (one, other) in [
        (notification(""), notification(", ios: {badge: 1}")),
        (notification(", actions: {add_tag: [a]}"), notification(", actions: {remove_tag: [a]}")),
        (passed("9223372036854775808"), passed("9223372036854775809")),
        (passed("18446744073709551615"), passed("18446744073709551614")),
        ("tag_groups: {g: {tags: []}}\n".into(), "tag_groups: {g: }\n".into()),
        (
            "tag_groups: {g: {members: {named_users: {q: []}}}}\n".into(),
            "tag_groups: {g: {members: {named_users: {}}}}\n".into(),
        ),
    ] {
        assert_ne!(spec(&one), spec(&other), "{one}{other}");
    }
}

#[test]
fn a_template_fills_tags_and_fields_that_are_passed_through() {
    let template = "templates: {t: {variables: [{key: N}], push: {notification: {alert: 'Hi {{N}}', \
                    ios: {further: ['To {{N}}']}, actions: {add_tag: ['z-{{N}}', m]}}, \
                    message: {title: '{{N}}', body: B, icon: 'i-{{N}}'}}}}\n";
    let filled = spec(&format!("{template}{}", push("template: t, substitutions: {N: a}")));
    let written = spec(&push(
        "notification: {alert: Hi a, ios: {further: [To a]}, actions: {add_tag: [m, z-a]}}, \
         message: {title: a, body: B, icon: i-a}",
    ));
    assert_eq!(filled["scheduled_pushes/a"], written["scheduled_pushes/a"]);
}
