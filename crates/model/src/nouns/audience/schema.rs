//! The schema of selectors, in all their spellings.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::{Location, Months, SegmentRef, Selector};
use crate::nouns::spelling::{ANOTHER_SPELLING, any_case};
use crate::nouns::vocabulary::{COUNTRIES, GROUPS, Group, LANGUAGES, MODELS, Values, ZONES};

impl JsonSchema for SegmentRef {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "SegmentRef".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "x-names": "segments" },
                {
                    "type": "object",
                    "properties": { "id": { "type": "string", "minLength": 1, "description": "Its id on the \
                        service." } },
                    "required": ["id"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}

impl JsonSchema for Months {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Months".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1 })
    }
}

impl JsonSchema for Selector {
    fn schema_name() -> Cow<'static, str> {
        "Selector".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let selector = json!(generator.subschema_for::<Selector>());
        let location = json!(generator.subschema_for::<Location>());
        let segment = json!(generator.subschema_for::<SegmentRef>());
        let members = json!({ "anyOf": [selector, { "type": "array", "minItems": 1, "items": selector }] });
        let text = json!({ "type": "string", "minLength": 1 });

        let mut forms = vec![
            json!({ "const": "all", "description": "Every device." }),
            json!({ "const": "triggered", ONLY_IN: "pipelines", "description": "The device that triggered the \
                pipeline." }),
            json!({ "$comment": ANOTHER_SPELLING, "type": "string", "pattern": format!("^({}|{})$", any_case("all"), any_case("triggered")) }),
        ];
        for (key, value, words) in [
            ("and", &members, "Devices that match all of these."),
            ("or", &members, "Devices that match any of these."),
            ("not", &selector, "Devices that do not match this."),
        ] {
            forms.push(form(key, value, &[], words));
            forms.push(in_any_case(key, value));
        }
        let group = json!({ "type": ["string", "null"], "x-names": "tag_groups", "description": "The tag group of `tag` [default: the legacy tags]." });
        forms.push(form("tag", &one_or_many(&text), &[("group", group)], "Devices with the tag."));
        forms.push(form("segment", &one_or_many(&segment), &[], "Devices in a segment, by its key."));
        for (key, words) in [
            ("named_user", "All channels of this named user."),
            ("ios_channel", "The iOS channel with this id."),
            ("android_channel", "The Android channel with this id."),
            ("amazon_channel", "The Amazon channel with this id."),
            ("channel", "The channel with this id, of any type."),
            ("open_channel", "The open channel with this address."),
            (
                "static_list",
                "Members of a list that was uploaded, or that the service creates itself (a lifecycle list).",
            ),
            ("subscription_list", "Members of a subscription list."),
        ] {
            forms.push(form(key, &one_or_many(&text), &[], words));
        }
        forms.push(form("location", &location, &[], "Devices seen at a place within a recent period."));
        let operator = json!({ "type": ["string", "null"], "minLength": 1, "description": "How the attribute is compared; part of `attribute`." });
        let attribute = [
            ("operator", operator),
            ("value", json!({ "description": "The value to compare with; part of `attribute`." })),
        ];
        forms.push(form("attribute", &text, &attribute, "Devices by an attribute, with its `operator` and `value`."));
        for group in GROUPS {
            let name = if group.shorthand == "country" { "The country in the device's settings" } else { group.name };
            let words = format!("{name}: shorthand for the tag group `{}`.", group.id);
            forms.push(form(group.shorthand, &one_or_many(&values(group)), &[], &words));
        }
        json_schema!({ "description": "The audience.", "anyOf": forms })
    }
}

fn one_or_many(one: &Value) -> Value {
    json!({ "anyOf": [one, { "type": "array", "minItems": 1, "items": one }] })
}

/// Marks a form that is valid in only one kind. Explanations of other kinds leave it out.
pub const ONLY_IN: &str = "x-only-in";

/// Returns the form of an operator in another case, which editors need not offer.
fn in_any_case(key: &str, value: &Value) -> Value {
    let pattern = format!("^{}$", any_case(key));
    json!({
        "$comment": ANOTHER_SPELLING,
        "type": "object",
        "patternProperties": { pattern: value, "^x-": true },
        "additionalProperties": false,
        "not": { "propertyNames": { "pattern": "^x-" } },
    })
}

fn form(head: &str, value: &Value, companions: &[(&str, Value)], words: &str) -> Value {
    let mut properties = serde_json::Map::new();
    let mut own = value.clone();
    own["description"] = words.into();
    properties.insert(
        head.to_owned(),
        if own.get("$ref").is_some() { json!({ "allOf": [value], "description": words }) } else { own },
    );
    properties.extend(companions.iter().map(|(key, schema)| ((*key).to_owned(), schema.clone())));
    json!({
        "type": "object",
        "description": words,
        "properties": properties,
        "patternProperties": { "^x-": true },
        "required": [head],
        "additionalProperties": false,
    })
}

/// Returns the values of a property group. Names from a table are offered and not enforced, because variables can
/// replace them.
fn values(group: &Group) -> Value {
    let offered: Vec<&str> = match group.values {
        Values::Flag => return json!({ "anyOf": [{ "type": "boolean" }, { "enum": ["true", "false"] }] }),
        Values::AppVersion => vec![],
        Values::TimeZone => ZONES.iter().map(|zone| zone.tag).collect(),
        Values::Language => LANGUAGES.iter().map(|(code, _)| *code).collect(),
        Values::Country => COUNTRIES.iter().map(|(code, _)| *code).collect(),
        Values::Version(table) => table.iter().map(|version| version.tag).collect(),
        Values::Model => MODELS.iter().map(|model| model.tag).collect(),
    };
    let sentinel = group.sentinel();
    let offered: Vec<&str> = offered.into_iter().chain(sentinel).collect();
    json!({ "anyOf": [{ "enum": offered }, { "type": "string" }] })
}
