//! The exact text that users get to read.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{authored, canonical};

fn written(kind: &str, key: &str, spec: &Value) -> String {
    let specs = BTreeMap::from([((kind.to_owned(), key.to_owned()), spec.clone())]);
    let text = authored(&specs);
    assert_eq!(canonical(&text), specs, "{text}");
    text
}

#[test]
fn a_segment_is_written_with_short_names() {
    let criteria = json!({ "AND": [
        { "tag": "buyer", "group": "lifecycle" },
        { "OR": [{ "tag": "US", "group": "ua_locale_country" }, { "tag": "NO", "group": "ua_locale_country" }] },
        { "tag": "true", "group": "ua_opt_in" },
        { "OR": [{ "tag": "a" }, { "tag": "b" }] },
        { "NOT": { "OR": [{ "segment": "lapsed" }, { "segment": { "id": "9b1f" } }] } },
        { "OR": [{ "tag": "a" }] },
    ] });
    let spec = json!({ "display_name": "Buyers: US & NO", "criteria": criteria });
    assert_eq!(
        written("segments", "buyers", &spec),
        r#"segments:
  buyers:
    display_name: "Buyers: US & NO"
    criteria:
      and:
        - {tag: buyer, group: lifecycle}
        - country: [US, "NO"]
        - opt_in: true
        - tag: [a, b]
        - not:
            segment:
              - lapsed
              - id: "9b1f"
        - or:
            - tag: a
"#
    );
}

#[test]
fn what_the_key_says_is_left_out() {
    let push = json!({ "notification": { "alert": "Hi {{NAME}}" } });
    let spec = json!({ "name": "hello", "variables": [{ "key": "NAME", "name": "NAME", "default_value": "you" }], "push": push });
    assert_eq!(
        written("templates", "hello", &spec),
        "templates:\n  hello:\n    variables:\n      - {key: NAME, default_value: you}\n    push:\n      notification:\n        alert: \"Hi {{NAME}}\"\n"
    );
    let spec = json!({ "name": "hello", "variables": [], "push": { "notification": { "alert": "hello" } } });
    assert_eq!(
        written("templates", "hello", &spec),
        "templates:\n  hello:\n    push:\n      notification: {alert: hello}\n"
    );
    assert_eq!(written("tags", "vip", &json!({ "tag": "vip" })), "tags:\n  vip: {}\n");
}

#[test]
fn times_are_written_as_people_read_them() {
    let push = json!({ "audience": "triggered", "device_types": ["ios"], "notification": { "alert": "Hi" } });
    let spec = json!({
        "name": "later", "enabled": true, "immediate_trigger": ["first_open"], "outcome": [{ "delay": 5400, "push": push }],
    });
    assert_eq!(
        written("pipelines", "later", &spec),
        "pipelines:\n  later:\n    enabled: true\n    immediate_trigger: first_open\n    outcome:\n      delay: 1h30m\n      push:\n        device_types: [ios]\n        notification: {alert: Hi}\n"
    );
    let push = json!({ "audience": "all", "device_types": "all", "notification": {
        "alert": "Two\nlines cost ${5}", "expiry": { "scheduled_time": "2035-01-01T0900" },
    } });
    let spec = json!({ "name": "Sale", "schedule": [{ "scheduled_time": "2035-01-01T0900" }], "push": push });
    // A field that is passed through is not a time.
    assert_eq!(
        written("scheduled_pushes", "sale", &spec),
        "scheduled_pushes:\n  sale:\n    name: Sale\n    schedule: {scheduled_time: 2035-01-01T09:00}\n    push:\n      audience: all\n      device_types: all\n      notification:\n        alert: |-\n          Two\n          lines cost $${5}\n        expiry: {scheduled_time: \"2035-01-01T0900\"}\n"
    );
}
