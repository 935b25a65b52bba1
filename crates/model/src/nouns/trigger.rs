use std::borrow::Cow;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::json;

use super::many::Many;
use super::tagged::group_of;
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Fields, Node, Reader, Tree};
use crate::text;

/// The event that triggers a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// The app is opened for the first time.
    FirstOpen,
    /// A tag is added to a device.
    TagAdded { tag: At<String>, group: Option<At<String>> },
    /// The app is not opened for so many days. It is written in `historical_trigger`.
    Inactive { days: i64 },
    /// A trigger that the contract does not describe, as written.
    Other(serde_json::Value),
}

/// A tag that is added or removed, in one group or among the tags of the device itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagMove<'t> {
    pub removed: bool,
    pub tag: &'t str,
    pub group: Option<&'t str>,
}

/// Triggers of the live service that the contract does not describe; they are passed through.
const OTHERS: &[&str] = &["tag_removed", "custom_event", "open", "first_opt_in"];

impl Trigger {
    /// Describes the event: `the tag vip is added to a device`.
    pub fn happens(&self) -> String {
        let tagged = |tag: &str, group: Option<&str>, word: &str| match group {
            Some(group) => format!("the tag {group} = {tag} is {word} a device"),
            None => format!("the tag {tag} is {word} a device"),
        };
        match (self.tag(), self) {
            (Some(TagMove { tag, group, removed: false }), _) => tagged(tag, group, "added to"),
            (Some(TagMove { tag, group, removed: true }), _) => tagged(tag, group, "removed from"),
            (None, Self::Other(value)) => {
                let entries = value.as_object().into_iter().flatten();
                let names: Vec<String> =
                    entries.map(undescribed_words).chain(value.as_str().map(str::to_owned)).collect();
                format!("{} happens", text::any_of(&names))
            }
            (None, Self::Inactive { days }) => {
                format!("the app is not opened for {}", text::count(usize::try_from(*days).unwrap_or_default(), "day"))
            }
            (None, _) => "the app is opened for the first time".to_owned(),
        }
    }

    /// Whether every event that triggers the other one triggers this one as well.
    pub fn covers(&self, other: &Self) -> bool {
        // Who is inactive for longer was inactive for a shorter time before.
        if let (Self::Inactive { days }, Self::Inactive { days: longer }) = (self, other) {
            return days <= longer;
        }
        self == other || self.tag().zip(other.tag()).is_some_and(|(own, other)| own == other)
    }

    /// Returns the tag whose addition or removal is the trigger.
    pub fn tag(&self) -> Option<TagMove<'_>> {
        match self {
            Self::FirstOpen | Self::Inactive { .. } => None,
            Self::TagAdded { tag, group } => {
                Some(TagMove { removed: false, tag, group: group.as_ref().map(|group| group.as_str()) })
            }
            Self::Other(value) => {
                let gone = value.get("tag_removed")?;
                let tag = gone.as_str().or_else(|| gone.get("tag")?.as_str())?;
                Some(TagMove {
                    removed: true,
                    tag,
                    group: group_of(gone.get("group").and_then(|group| group.as_str())),
                })
            }
        }
    }
}

/// The maximum length at which an undescribed trigger is shown.
const SHOWN: usize = 80;

/// Describes a part of an undescribed trigger: `custom_event purchase`.
fn undescribed_words((key, value): (&String, &serde_json::Value)) -> String {
    let value = match value {
        serde_json::Value::Object(map) if map.len() == 1 && map.contains_key("name") => &map["name"],
        value => value,
    };
    match value {
        serde_json::Value::Null | serde_json::Value::Bool(true) => key.clone(),
        serde_json::Value::String(word) => format!("{key} {}", text::short(word, SHOWN)),
        other => format!("{key} {}", text::short(&other.to_string(), SHOWN)),
    }
}

#[derive(Serialize)]
struct Added<'t> {
    tag_added: Tagged<'t>,
}

#[derive(Serialize)]
struct Tagged<'t> {
    tag: &'t At<String>,
    group: &'t Option<At<String>>,
}

impl Serialize for Trigger {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::FirstOpen => "first_open".serialize(serializer),
            Self::Inactive { days } => json!({ "event": "open", "equals": 0, "days": days }).serialize(serializer),
            Self::TagAdded { tag, group: None } => json!({ "tag_added": tag }).serialize(serializer),
            Self::TagAdded { tag, group } => {
                let added = Added { tag_added: Tagged { tag, group } };
                added.serialize(serializer)
            }
            Self::Other(value) => value.serialize(serializer),
        }
    }
}

/// The events that trigger a pipeline at once. A pipeline with a historical trigger may have none.
#[derive(Clone, Debug, PartialEq)]
pub struct ImmediateTriggers(pub Vec<At<Trigger>>);

impl Deref for ImmediateTriggers {
    type Target = Vec<At<Trigger>>;
    fn deref(&self) -> &Vec<At<Trigger>> {
        &self.0
    }
}

impl<'a> IntoIterator for &'a ImmediateTriggers {
    type Item = &'a At<Trigger>;
    type IntoIter = std::slice::Iter<'a, At<Trigger>>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl Decode for ImmediateTriggers {
    const WHAT: &'static str = Trigger::WHAT;
    const IS_USUAL: bool = true;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.tree {
            // The service may list none.
            Tree::List(items) if items.is_empty() && reader.is_wire() => Self::absent(),
            _ if node.is_null() => Self::absent(),
            _ => Many::<_, 1>::decode(node, reader).map(|triggers| Self(triggers.0)),
        }
    }
    fn absent() -> Option<Self> {
        Some(Self(Vec::new()))
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Serialize for ImmediateTriggers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl JsonSchema for ImmediateTriggers {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        Many::<At<Trigger>, 1>::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Many::<At<Trigger>, 1>::json_schema(generator)
    }
}

impl Decode for Trigger {
    const WHAT: &'static str = "`first_open` or {tag_added: <tag>}";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Some(entries) = node.entries() else {
            let word = reader.text(node)?;
            return match word {
                "first_open" => Some(Self::FirstOpen),
                other => undescribed(other, node, reader),
            };
        };
        let fields = Fields::of(node, Self::WHAT, reader)?;
        let Some(entry) = fields.entry("tag_added") else {
            return match entries {
                [entry] if OTHERS.contains(&entry.key.as_str()) => undescribed(&entry.key, node, reader),
                _ => {
                    fields.close(&["tag_added"], reader);
                    None
                }
            };
        };
        fields.close(&["tag_added"], reader);
        if entry.value.entries().is_none() {
            return reader.value(entry).map(|tag| Self::TagAdded { tag, group: None });
        }
        let inner = Fields::of(&entry.value, "a tag", reader)?;
        let (tag, group) = (inner.take("tag", reader), inner.take("group", reader));
        inner.close(&["tag", "group"], reader);
        let group: Option<Option<At<String>>> = group;
        let group = group?.filter(|group| group_of(Some(group)).is_some());
        Some(Self::TagAdded { tag: tag?, group })
    }
}

fn undescribed(name: &str, node: &Node, reader: &mut Reader) -> Option<Trigger> {
    if OTHERS.contains(&name) {
        reader.report(
            Finding::new(
                &codes::YM202,
                node.span,
                format!("the trigger `{name}` is not documented; it is sent unchanged"),
            )
            .label("not checked"),
        );
        return reader.json(node).map(Trigger::Other);
    }
    let finding = Finding::new(&codes::YM206, node.span, format!("`{name}` is not a trigger"))
        .label(format!("expected {}", Trigger::WHAT));
    reader.report(match text::nearest(name, ["first_open"]) {
        Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(node.span, near),
        None => finding.help(format!("for a tag write {{tag_added: {}}}", text::quoted(name))),
    });
    None
}

impl JsonSchema for Trigger {
    fn schema_name() -> Cow<'static, str> {
        "Trigger".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let tag = json!({ "type": "string", "minLength": 1, "description": "The tag." });
        let group = json!({ "type": ["string", "null"], "x-names": "tag_groups", "description": "Its tag group [default: the tags of the device itself, which are in no group]." });
        json_schema!({
            "description": "The event that triggers it: the first opening of the app, or a tag that is added to a \
                device.",
            "anyOf": [
                { "enum": ["first_open", "open", "first_opt_in"] },
                {
                    "type": "object",
                    "properties": {
                        "tag_added": {
                            "description": "The tag that triggers it when it is added.",
                            "anyOf": [tag, {
                                "type": "object",
                                "properties": { "tag": tag, "group": group },
                                "required": ["tag"],
                                "additionalProperties": false,
                            }],
                        },
                        "tag_removed": true, "custom_event": true, "open": true, "first_opt_in": true,
                    },
                    "patternProperties": { "^x-": true },
                    "additionalProperties": false,
                },
            ],
        })
    }
}
