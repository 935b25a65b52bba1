//! Reads a selector in any of its spellings.

use super::{Attribute, ChannelKey, Location, Months, SegmentRef, Selector, Tag};
use crate::codes;
use crate::finding::Finding;
use crate::node::{At, Decode, Fields, MapEntry, Name, Node, Plain, Reader, Tree, yaml_text};
use crate::nouns::tagged::group_of;
use crate::nouns::vocabulary::{self, GROUPS, Group, Values};
use crate::source::Span;
use crate::text;

/// The keys that a selector can begin with, in addition to the shorthands, and the keys that may accompany each.
pub(super) const HEADS: &[(&str, &[&str])] = &[
    ("and", &[]),
    ("or", &[]),
    ("not", &[]),
    ("tag", &["group"]),
    ("segment", &[]),
    ("named_user", &[]),
    ("ios_channel", &[]),
    ("android_channel", &[]),
    ("amazon_channel", &[]),
    ("channel", &[]),
    ("open_channel", &[]),
    ("location", &[]),
    ("static_list", &[]),
    ("subscription_list", &[]),
    ("attribute", &["operator", "value"]),
];

impl Decode for Selector {
    const WHAT: &'static str = "`all`, or a condition such as {tag: vip} or {and: [...]}";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.tree {
            Tree::Scalar(_) => word(node, reader),
            Tree::List(_) => {
                reader.report(
                    Finding::new(
                        &codes::AU116,
                        reader.place_of(node),
                        "a list of conditions needs `and` or `or` before it",
                    )
                    .label("all or any?")
                    .help("write {and: [...]} for devices that match all of them, {or: [...]} for any"),
                );
                None
            }
            Tree::Map(entries) => {
                let head = head(node, entries, reader)?;
                let fields = Fields::of(node, Self::WHAT, reader)?;
                condition(head, &fields, reader)
            }
        }
    }
}

/// Reads `all` or `triggered`.
fn word(node: &Node, reader: &mut Reader) -> Option<Selector> {
    if node.what() != "text" {
        reader.unexpected(node, Selector::WHAT);
        return None;
    }
    let word = reader.text(node)?;
    if word.eq_ignore_ascii_case("all") {
        return Some(Selector::All);
    }
    if word.eq_ignore_ascii_case("triggered") {
        return Some(Selector::Triggered);
    }
    let finding = Finding::new(&codes::YM206, node.span, format!("`{word}` is not an audience"))
        .label(format!("expected {}", Selector::WHAT));
    reader.report(match text::nearest(word, ["all", "triggered"]) {
        Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(node.span, near),
        None => {
            let name = yaml_text(&text::short(word, 40));
            finding.help(format!(
                "for a segment write {{segment: {name}}}, for a tag {{tag: {name}}}, or {{tag: {name}, group: ...}} if it is in a group"
            ))
        }
    });
    None
}

/// Returns the one entry that determines the type of a condition. None, or several, are reported.
fn head<'n>(node: &Node, entries: &'n [MapEntry], reader: &mut Reader) -> Option<&'n MapEntry> {
    let wire = reader.is_wire();
    let mut heads = entries.iter().filter(|entry| companions(&entry.key, wire).is_some());
    let is_own = |entry: &MapEntry| !wire && entry.key.starts_with("x-");
    let known =
        || HEADS.iter().map(|(key, _)| *key).chain(GROUPS.iter().filter(|_| !wire).map(|group| group.shorthand));
    match (heads.next(), heads.next()) {
        (None, _) => {
            let Some(entry) = entries.iter().find(|entry| !is_own(entry)) else {
                reader.report(
                    Finding::new(&codes::AU115, node.span, "an empty condition")
                        .label("matches nobody")
                        .help(format!("expected {}", Selector::WHAT)),
                );
                return None;
            };
            let finding = Finding::new(&codes::YM201, entry.key.span, format!("unknown condition `{}`", entry.key))
                .label("unknown key");
            reader.report(match text::nearest(&entry.key, known()) {
                Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(entry.key.span, near),
                None => {
                    let all: Vec<String> = known().map(|key| format!("`{key}`")).collect();
                    finding.help(format!("expected {}", text::any_of(&all)))
                }
            });
            None
        }
        (Some(head), None) => {
            let allowed = companions(&head.key, wire).unwrap_or(&[]);
            for entry in entries {
                let fits = std::ptr::eq(entry, head) || allowed.contains(&entry.key.as_str());
                if !fits && !is_own(entry) {
                    let finding = Finding::new(
                        &codes::YM201,
                        entry.key.span,
                        format!("unknown key `{}` next to `{}`", entry.key, head.key),
                    )
                    .label("unknown key");
                    let near = text::nearest(&entry.key, allowed.iter().copied());
                    reader.report(match near.or_else(|| text::part_of(&entry.key, allowed.iter().copied())) {
                        Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(entry.key.span, near),
                        None if allowed.is_empty() => {
                            finding.help(format!("remove it: `{}` has no other keys", head.key))
                        }
                        None => {
                            let allowed: Vec<String> = allowed.iter().map(|key| format!("`{key}`")).collect();
                            finding.help(format!("expected {}", text::any_of(&allowed)))
                        }
                    });
                }
            }
            Some(head)
        }
        (Some(first), Some(second)) => {
            let finding =
                Finding::new(&codes::AU116, second.key.span, "several conditions in one map need `and` or `or`")
                    .label("a second condition");
            // If layers were merged, the map has the position of the upper one.
            let inherited = !node.span.contains(first.key.span) && node.span.contains(second.key.span);
            reader.report(if inherited {
                finding
                    .related(first.key.span, "the first condition")
                    .note("defaults, a resource and an overlay are merged key by key")
                    .help(format!("add `{}: null` to remove the first one", first.key))
            } else {
                finding
                    .related(first.key.span, "the first")
                    .help(format!("write {{and: [{{{}: ...}}, {{{}: ...}}]}}", first.key, second.key))
            });
            None
        }
    }
}

/// Returns the keys that may accompany a head; `None` for a key that is not a head. Operators may have any case.
fn companions(key: &str, wire: bool) -> Option<&'static [&'static str]> {
    let key = operator(key).unwrap_or(key);
    let head = HEADS.iter().find(|(head, _)| *head == key).map(|(_, companions)| *companions);
    head.or_else(|| vocabulary::by_shorthand(key).filter(|_| !wire).map(|_| &[] as &[&str]))
}

/// Returns an operator that is written in any case.
fn operator(key: &str) -> Option<&'static str> {
    ["and", "or", "not"].into_iter().find(|operator| operator.eq_ignore_ascii_case(key))
}

fn condition(head: &MapEntry, fields: &Fields, reader: &mut Reader) -> Option<Selector> {
    let texts = |reader: &mut Reader, one: &dyn Fn(At<String>) -> Selector| {
        any_of(head, reader, |node, reader| At::<Name>::decode(node, reader).map(|name| one(name.into())))
    };
    if let Some(channel) = ChannelKey::ALL.into_iter().find(|channel| channel.key() == *head.key) {
        return texts(reader, &|id| Selector::Channel(channel, id));
    }
    match operator(&head.key).unwrap_or(&head.key) {
        "and" => members(head, reader).map(Selector::And),
        "or" => members(head, reader).map(Selector::Or),
        "not" => reader.value(head).map(Selector::Not),
        "tag" => tag(head, fields, reader),
        "segment" => any_of(head, reader, |node, reader| At::decode(node, reader).map(Selector::Segment)),
        // Ids of people have a check of their own, wherever they are.
        "named_user" => any_of(head, reader, |node, reader| At::decode(node, reader).map(Selector::NamedUser)),
        "static_list" => texts(reader, &Selector::StaticList),
        "subscription_list" => texts(reader, &Selector::SubscriptionList),
        "location" => reader.value::<Location>(head).map(Selector::Location),
        "attribute" => {
            let attribute = reader.value::<At<Name>>(head);
            let operator = fields.take::<Option<At<Name>>>("operator", reader);
            let value = fields.take("value", reader);
            let (attribute, operator) = (attribute?.into(), operator?.map(At::into));
            Some(Selector::Attribute(Attribute { attribute, operator, value: value? }))
        }
        shorthand => {
            let group = vocabulary::by_shorthand(shorthand)?;
            any_of(head, reader, |node, reader| property(group, head.key.span, node, reader))
        }
    }
}

/// Reads the members of a compound: a list, or the only member without one.
fn members(head: &MapEntry, reader: &mut Reader) -> Option<Vec<At<Selector>>> {
    match &head.value.tree {
        Tree::List(_) => reader.value(head),
        _ => reader.value(head).map(|member| vec![member]),
    }
}

/// Reads a value or a list of values, of which any may match.
fn any_of(
    head: &MapEntry,
    reader: &mut Reader,
    mut one: impl FnMut(&Node, &mut Reader) -> Option<Selector>,
) -> Option<Selector> {
    let Tree::List(items) = &head.value.tree else {
        return reader.owned_by(head.key.span, |reader| one(&head.value, reader));
    };
    let mut read: Vec<At<Selector>> =
        items.iter().filter_map(|node| Some(At::new(one(node, reader)?, node.span))).collect();
    if read.len() != items.len() {
        return None;
    }
    Some(if read.len() == 1 { read.remove(0).value } else { Selector::Or(read) })
}

fn tag(head: &MapEntry, fields: &Fields, reader: &mut Reader) -> Option<Selector> {
    let group: Option<Option<At<String>>> = fields.take("group", reader);
    let flag = group.iter().flatten().find_map(|id| vocabulary::group(id)).filter(|group| group.values == Values::Flag);
    let tag = any_of(head, reader, |node, reader| {
        if let (Some(flag), Tree::Scalar(scalar)) = (flag, &node.tree)
            && let Some(Plain::Bool(value)) = scalar.plain()
        {
            reader.report(
                Finding::new(
                    &codes::AU109,
                    node.span,
                    format!("the tags of `{}` are texts, not YAML booleans", flag.id),
                )
                .label("needs quotes")
                .note("every device has the text true or false in this group")
                .help(format!("write \"{value}\", or `{}: {value}` instead of tag and group", flag.shorthand))
                .fix(node.span, format!("\"{value}\"")),
            );
            return None;
        }
        let tag = match flag.and_then(|_| flag_word(node)) {
            Some(word) => word,
            None => At::<String>::decode(node, reader)?,
        };
        let group = group.clone().flatten().filter(|group| group_of(Some(group)).is_some());
        Some(Selector::Tag(Tag { tag, group }))
    });
    group.and(tag)
}

/// Reads `yes`, `off` or `1` as the tag of a flag: quotes would not make it valid, and the check of such tags says how
/// to fix it.
fn flag_word(node: &Node) -> Option<At<String>> {
    match &node.tree {
        Tree::Scalar(scalar) if matches!(scalar.plain(), Some(Plain::Word | Plain::Integer(_))) => {
            Some(At::new(scalar.text.clone(), node.span))
        }
        _ => None,
    }
}

/// Reads a shorthand for a tag of one of the service's own groups: `country: US`, `opt_in: true`.
fn property(group: &Group, key: Span, node: &Node, reader: &mut Reader) -> Option<Selector> {
    let tag = match (&node.tree, group.values) {
        // Flags are texts on the wire, but authors write true and false.
        (Tree::Scalar(scalar), Values::Flag) if matches!(scalar.plain(), Some(Plain::Bool(_))) => {
            At::new(scalar.text.to_ascii_lowercase(), node.span)
        }
        (_, Values::Flag) if flag_word(node).is_some() => flag_word(node)?,
        _ => At::<String>::decode(node, reader)?,
    };
    Some(Selector::Tag(Tag { tag, group: Some(At::new(group.id.to_owned(), key)) }))
}

impl Decode for Months {
    const WHAT: &'static str = "a number of months";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let months = i64::decode(node, reader)?;
        if months < 1 && !reader.is_wire() {
            let message = format!("a period of {months} months matches nobody");
            let finding = Finding::new(&codes::YM206, node.span, message).label("expected a number from 1 on");
            reader.report(finding.help("write the number of months; for any time, remove `date`"));
            return None;
        }
        Some(Self(months))
    }
}

impl Decode for SegmentRef {
    const WHAT: &'static str = "the key of a segment, or {id: ...} for a segment outside git";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if node.entries().is_none() || reader.is_wire() {
            return reader.text(node).map(|key| Self::Key(key.to_owned()));
        }
        let fields = Fields::of(node, Self::WHAT, reader)?;
        let id = fields.take::<Name>("id", reader);
        fields.close(&["id"], reader);
        id.map(|id| Self::Id(id.0))
    }
}
