//! Specs with texts that are hard to write, and with fields that are passed through.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::{option, sample};
use serde_json::{Map, Value, json};

/// Awkward texts that can be names.
fn name() -> impl Strategy<Value = String> {
    awkward().prop_filter("a name", |text| !text.trim().is_empty())
}

/// Texts that some YAML reader interprets as something else, and arbitrary ones.
pub fn awkward() -> BoxedStrategy<String> {
    let words = vec![
        "no",
        "Yes",
        "on",
        "OFF",
        "y",
        "N",
        "true",
        "False",
        "null",
        "Null",
        "~",
        "",
        " ",
        "  x",
        "x ",
        "6.10",
        "1e3",
        "0x1F",
        "0o17",
        "1_000",
        "-1",
        "+1",
        ".5",
        "5.",
        ".inf",
        ".NaN",
        "12:30",
        "1:30:45",
        "2026-11-27",
        "2026-11-27T09:00:00Z",
        "2026-11-27T0900",
        "2026-11-27T09:00",
        "{{NAME}}",
        "Hi {{NAME}}",
        "{a: b}",
        "[x]",
        "a: b",
        "a:",
        ":a",
        "a #b",
        "#a",
        "a#b",
        "- a",
        "-",
        "--- a",
        "...",
        "? a",
        "! a",
        "!a",
        "&a",
        "*a",
        "%a",
        "@a",
        "`a`",
        "|",
        ">",
        "|-",
        "\"a\"",
        "'a'",
        "it's",
        "say \"x\"",
        "a\\b",
        "a, b",
        "a,b",
        "<<",
        "=",
        "${var.x}",
        "$${var.x}",
        "cost ${",
        "$$${{",
        "$",
        "a\tb",
        "\ta",
        "a\nb",
        "a\n",
        "\na",
        "a\n\n",
        "a\n\nb",
        " a\nb",
        "a\n b",
        "a \nb",
        "a\n \nb",
        "a\r\nb",
        "a\rb",
        "\n",
        "\n\n",
        "a\n# b\n",
        "# a\nb",
        "a\n\tb",
        "a\n---\nb",
        "a\n...\n",
        "%YAML\na",
        "- a\n- b",
        "a: b\nc: d",
        "key: |\n  x",
        "\u{85}",
        "a\u{2028}b",
        "\u{feff}a",
        "a\u{a0}b",
        "\u{a0}a",
        "“a”",
        "«a»",
        "👋 hi",
        "hi 👋",
        "👩\u{200d}👧",
        "日本語",
        "é",
        "e\u{301}",
        "\u{202e}abc",
        "a\u{0}b",
        "\u{1b}[2J",
        "\u{7f}",
        "x-own",
        "a  b",
        "8.3.X",
        "open::sms",
        "https://example.com/?a=b&c=d#e",
        "a/b",
        "C:\\temp",
        "50 % off",
        "a;b",
        "NO_TIME_ZONE",
        "null\n",
        "true\nfalse",
        "=======\n",
        "<<<<<<< a\nb",
        "tag: a",
        "key:value",
        "-a",
        "body",
    ];
    let letters = "[-a-c0-9:#'\"\\[\\]{}&*!|>%@`,.?=<~$\\\\ \t\n\r\u{85}\u{a0}\u{2028}\u{feff}é日😀\u{301}]{0,12}";
    let lines = vec("[-a-c:#'\"{}&*!|>%@ \té]{0,10}", 1..5).prop_map(|lines| lines.join("\n"));
    prop_oneof![
        4 => sample::select(words).prop_map(str::to_owned),
        3 => letters.prop_map(|text: String| text.replace('\0', "")),
        2 => lines,
        1 => any::<String>().prop_map(|text| text.replace('\0', "")),
        1 => "[a-z:# é]{200}",
        1 => "([a-z]{3,9} ){20,40}",
    ]
    .prop_map(|text| text.replace('\0', ""))
    .boxed()
}

/// A key that is not special in YAML and contains no variable.
fn key() -> impl Strategy<Value = String> {
    awkward().prop_filter("not one that can stand in a manifest", |key| key != "<<" && !key.contains("${"))
}

/// Any JSON value.
pub fn value() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        4 => awkward().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => (-1e12..1e12_f64).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            btree_map(key(), inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
    .boxed()
}

/// Fields that the API contract does not describe. Their names are not similar to known ones.
fn rest() -> impl Strategy<Value = Map<String, Value>> {
    let says_something = |value: &Value| !value.is_null() && *value != json!({});
    let inner = value().prop_filter("what says nothing is left out", says_something);
    btree_map(sample::select(vec!["zzyzx", "qqqq", "wns", "huawei", "expiry"]), inner, 0..3)
        .prop_map(|map| map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        .prop_filter("a file would be read", |map: &Map<String, Value>| {
            !Value::Object(map.clone()).to_string().contains("\"body\"")
        })
}

fn joined(mut one: Value, more: Map<String, Value>) -> Value {
    one.as_object_mut().expect("a map").extend(more);
    one
}

fn notification() -> impl Strategy<Value = Value> {
    let extra = btree_map(key(), awkward(), 0..3);
    (awkward(), option::of(awkward()), extra, rest()).prop_map(|(alert, title, extra, rest)| {
        let mut web = Map::new();
        web.extend(title.map(|title| ("title".to_owned(), title.into())));
        if !extra.is_empty() {
            web.insert("extra".into(), json!(extra));
        }
        let mut out = json!({ "alert": alert });
        if !web.is_empty() {
            out["web"] = web.into();
        }
        joined(out, rest)
    })
}

fn content() -> impl Strategy<Value = Value> {
    let message = (awkward(), awkward(), rest())
        .prop_map(|(title, body, rest)| joined(json!({ "title": title, "body": body }), rest));
    (notification(), option::of(message), rest()).prop_map(|(notification, message, rest)| {
        let mut out = json!({ "notification": notification });
        if let Some(message) = message {
            out["message"] = message;
        }
        joined(out, rest)
    })
}

/// A condition in canonical form.
fn selector() -> BoxedStrategy<Value> {
    let known = sample::select(vec![
        ("ua_locale_country", "US"),
        ("ua_locale_country", "NO"),
        ("ua_locale_language", "no"),
        ("ua_opt_in", "true"),
        ("ua_opt_in", "false"),
        ("ua_opt_in", "yes"),
        ("timezone", "Europe/Paris"),
        ("ua_ios_version", "8.3.X"),
        ("ua_ios_version", "8.3"),
    ]);
    let leaf = prop_oneof![
        3 => known.prop_map(|(group, tag)| json!({ "tag": tag, "group": group })),
        2 => sample::select(vec!["a", "b", "no", "1"]).prop_map(|tag| json!({ "tag": tag, "group": "g" })),
        1 => awkward().prop_map(|tag| json!({ "tag": tag })),
        1 => (awkward(), awkward()).prop_map(|(tag, group)| json!({ "tag": tag, "group": group })),
        1 => awkward().prop_map(|user| json!({ "named_user": user })),
        1 => name().prop_map(|id| json!({ "segment": { "id": id } })),
        1 => sample::select(vec!["lapsed", "new"]).prop_map(|key| json!({ "segment": key })),
        1 => name().prop_map(|id| json!({ "location": { "id": id, "date": { "recent": { "months": 3 } } } })),
        1 => (name(), value().prop_filter("nothing", |value| !value.is_null()))
            .prop_map(|(name, value)| json!({ "attribute": name, "operator": "equals", "value": value })),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let members = || vec(inner.clone(), 1..4);
        prop_oneof![
            1 => members().prop_map(|members| json!({ "AND": members })),
            2 => members().prop_map(|members| json!({ "OR": members })),
            1 => inner.clone().prop_map(|member| json!({ "NOT": member })),
        ]
    })
    .boxed()
}

/// Some resources in canonical form.
pub fn specs() -> BoxedStrategy<BTreeMap<(String, String), Value>> {
    let segment = (awkward(), selector())
        .prop_map(|(name, criteria)| ("segments", json!({ "display_name": name, "criteria": criteria })));
    let variable = ("[A-Z]{1,3}", awkward(), option::of(awkward())).prop_map(|(key, name, default)| {
        let mut variable = json!({ "key": key, "name": name });
        if let Some(default) = default {
            variable["default_value"] = default.into();
        }
        variable
    });
    let template = (awkward(), vec(variable, 0..3), content()).prop_map(|(name, variables, push)| {
        ("templates", json!({ "name": name, "variables": variables, "push": push }))
    });
    let push = (awkward(), selector(), notification(), 10..24_u32).prop_map(|(name, audience, notification, hour)| {
        let schedule = json!([{ "scheduled_time": format!("2035-01-{hour:02}T{hour:02}07") }]);
        let push = json!({ "audience": audience, "device_types": ["ios", "web"], "notification": notification });
        ("scheduled_pushes", json!({ "name": name, "schedule": schedule, "push": push }))
    });
    let pipeline = (awkward(), awkward(), notification(), 0..200_000_i64, rest()).prop_map(
        |(name, tag, notification, delay, rest)| {
            let push = json!({ "audience": "triggered", "device_types": "all", "notification": notification });
            let pipeline = json!({
                "name": name,
                "enabled": true,
                "immediate_trigger": [{ "tag_added": { "tag": tag, "group": "g" } }],
                "outcome": [{ "delay": delay, "push": push }],
            });
            ("pipelines", joined(pipeline, rest))
        },
    );
    let channel = (name(), awkward()).prop_map(|(address, id)| {
        let open = json!({ "open_platform_name": "sms", "identifiers": { "id": id } });
        ("open_channels", json!({ "address": address, "opt_in": true, "open": open }))
    });
    let group = (awkward(), awkward()).prop_map(|(about, tag)| {
        ("tag_groups", json!({ "description": about, "tags": [tag], "members": { "named_users": { "u": [tag] } } }))
    });
    let one = prop_oneof![segment, template, push, pipeline, channel, group];
    vec(("[a-w0-9][a-z0-9-]{0,5}[a-z0-9]", one), 1..4)
        .prop_map(|all| all.into_iter().map(|(key, (kind, spec))| ((kind.to_owned(), key), spec)).collect())
        .boxed()
}
