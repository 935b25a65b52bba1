//! Conditions on a device that must hold when a message of a pipeline is due.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::json;

use super::audience::{Selector, Tag};
use super::tagged::DEVICE;
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Node, Reader, Tree, shape};

/// The largest number of tags in a condition, in all of its sets.
const MOST: usize = 20;

/// Sets of tags. Of each set, a device must have, or not have, at least one: `[{or: [{tag: {tag_name: vip}}]}]`. As a
/// selector, it can be compared with audiences.
#[derive(Clone, Debug, PartialEq)]
pub struct TagCondition(pub At<Selector>);

shape! {
    /// Tags of which one must hold.
    pub struct ConditionSet as "{or: [{tag: {tag_name: <tag>}}]}" {
        /// The tags.
        or: Vec<At<ConditionItem>>,
    }
}

shape! {
    /// A tag that a device has, or does not have.
    pub struct ConditionItem as "{tag: {tag_name: <tag>}}" {
        /// The tag.
        tag: ConditionTag,
    }
}

shape! {
    /// A tag that a device has, or does not have.
    pub struct ConditionTag as "{tag_name: <tag>}" {
        /// The name of the tag.
        tag_name: At<String>,
        /// Its tag group [default: device].
        group: Option<At<String>>,
        /// Whether the device must not have the tag [default: false].
        negated: Option<bool>,
    }
}

impl ConditionItem {
    fn selector(self) -> Selector {
        let ConditionTag { tag_name, group, negated } = self.tag;
        let span = tag_name.span;
        let tag = Selector::Tag(Tag { tag: tag_name, group: group.filter(|group| group.value != DEVICE) });
        match negated {
            Some(true) => Selector::Not(Box::new(At::new(tag, span))),
            Some(false) | None => tag,
        }
    }

    fn of(selector: &Selector) -> Option<Self> {
        let (tag, negated) = match selector {
            Selector::Not(inner) => (&inner.value, Some(true)),
            other => (other, None),
        };
        let Selector::Tag(Tag { tag, group }) = tag else { return None };
        Some(Self { tag: ConditionTag { tag_name: tag.clone(), group: group.clone(), negated } })
    }
}

/// Sorts members, whose order and repetitions have no meaning.
fn unordered(mut members: Vec<At<Selector>>) -> Vec<At<Selector>> {
    members.sort_by_cached_key(|member| serde_json::to_string(&member.value).unwrap_or_default());
    members.dedup();
    members
}

impl Decode for TagCondition {
    const WHAT: &'static str = "a list such as [{or: [{tag: {tag_name: vip}}]}]";
    const FIELDS: &'static [&'static str] = ConditionSet::FIELDS;

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let sets = match &node.tree {
            Tree::List(_) => Vec::<At<ConditionSet>>::decode(node, reader)?,
            _ => vec![At::<ConditionSet>::decode(node, reader)?],
        };
        let mut tags = 0;
        let mut read = Vec::new();
        for set in sets {
            let items = set.value.or;
            if items.is_empty() {
                let finding = Finding::new(&codes::PL108, set.span, "a condition without tags never holds");
                reader.report(finding.within("or", 0).label("no tag").help("add a tag, or remove this `or`"));
                return None;
            }
            let before = tags;
            tags += items.len();
            if let Some(one) = items.get(MOST - before) {
                let message = format!("a condition has at most {MOST} tags, in all of its sets");
                reader
                    .report(Finding::new(&codes::PL108, one.span, message).within("tag", 0).label("one tag too many"));
                return None;
            }
            let members = items.into_iter().map(|item| At::new(item.value.selector(), item.span)).collect();
            read.push(At::new(Selector::Or(unordered(members)), set.span));
        }
        let mut read = unordered(read);
        let span = read.first().map_or(node.span, |first| first.span);
        Some(Self(match (read.pop(), read.is_empty()) {
            (None, _) => At::new(Selector::Or(Vec::new()), span),
            (Some(only), true) => only,
            (Some(last), false) => {
                read.push(last);
                At::new(Selector::And(read), span)
            }
        }))
    }

    fn is_absent(&self) -> bool {
        self.0.members().is_empty()
    }
}

impl Serialize for TagCondition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let set = |set: &At<Selector>| {
            let items = set.members().iter().filter_map(|tag| Some(At::new(ConditionItem::of(tag)?, tag.span)));
            ConditionSet { or: items.collect() }
        };
        let sets = match &self.0.value {
            Selector::And(sets) => sets.iter().map(set).collect(),
            _ => vec![set(&self.0)],
        };
        sets.serialize(serializer)
    }
}

impl JsonSchema for TagCondition {
    fn schema_name() -> Cow<'static, str> {
        "TagCondition".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let tag = json!({
            "type": "object",
            "description": "A tag that the device must have, or must not have.",
            "properties": {
                "tag_name": { "type": "string", "minLength": 1, "description": "The name of the tag." },
                "group": {
                    "type": ["string", "null"],
                    "x-names": "tag_groups",
                    "description": "Its tag group [default: device].",
                },
                "negated": {
                    "type": ["boolean", "null"],
                    "description": "Whether the device must not have the tag [default: false].",
                },
            },
            "required": ["tag_name"],
            "patternProperties": { "^x-": true },
            "additionalProperties": false,
        });
        let object = |key: &str, value: serde_json::Value| {
            json!({
                "type": "object",
                "properties": { key: value },
                "required": [key],
                "patternProperties": { "^x-": true },
                "additionalProperties": false,
            })
        };
        let list = json!({
            "type": "array",
            "items": object("tag", tag),
            "minItems": 1,
            "maxItems": MOST,
            "description": "Tags of which at least one must hold, up to 20.",
        });
        let set = object("or", list);
        json_schema!({
            "description": "Sets of tags, up to 20 tags in all. Of each set, a device must have, or not have, at least one \
                when the message is due.",
            "anyOf": [set, { "type": "array", "items": set, "maxItems": MOST }],
        })
    }
}
