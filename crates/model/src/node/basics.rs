//! Reads the basic types: texts, numbers, lists, maps with free keys.

use std::collections::BTreeMap;

use super::{At, Decode, Fields, Node, Plain, Reader, Style, Tree, resolve};
use crate::codes;
use crate::finding::Finding;
use crate::source::Span;

impl Decode for String {
    const WHAT: &'static str = "text";
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        reader.text(node).map(str::to_owned)
    }
}

impl Decode for bool {
    const WHAT: &'static str = "true or false";
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if let Tree::Scalar(scalar) = &node.tree {
            match (scalar.style, resolve(&scalar.text)) {
                (Style::Plain | Style::Filled, Plain::Bool(value)) => return Some(value),
                (Style::Quoted, Plain::Bool(value)) => {
                    reader.report(
                        Finding::new(&codes::YM205, node.span, "expected true or false, found text")
                            .label("a text, because of its quotes")
                            .help(format!("write {value}"))
                            .fix(node.span, value.to_string()),
                    );
                    return None;
                }
                (_, Plain::Word) => {
                    let value = ["yes", "on"].iter().any(|w| scalar.text.eq_ignore_ascii_case(w));
                    reader.report(
                        Finding::new(
                            &codes::YM205,
                            node.span,
                            format!("expected true or false, found `{}`", scalar.text),
                        )
                        .label("a text in YAML 1.2")
                        .help(format!("write {value}"))
                        .fix(node.span, value.to_string()),
                    );
                    return None;
                }
                _ => {}
            }
        }
        reader.unexpected(node, Self::WHAT);
        None
    }
}

impl Decode for i64 {
    const WHAT: &'static str = "a whole number";
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if let Tree::Scalar(scalar) = &node.tree
            && let Plain::Integer(value) = resolve(&scalar.text)
        {
            if scalar.style != Style::Quoted {
                return Some(value);
            }
            reader.report(
                Finding::new(&codes::YM205, node.span, "expected a whole number, found text")
                    .label("a text, because of its quotes")
                    .help(format!("write {value}"))
                    .fix(node.span, value.to_string()),
            );
            return None;
        }
        reader.unexpected(node, Self::WHAT);
        None
    }
}

impl<T: Decode> Decode for At<T> {
    const WHAT: &'static str = T::WHAT;
    const FIELDS: &'static [&'static str] = T::FIELDS;
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        T::decode(node, reader).map(|value| At::new(value, node.span))
    }
    fn absent() -> Option<Self> {
        T::absent().map(|value| At::new(value, Span::NONE))
    }
    fn is_absent(&self) -> bool {
        self.value.is_absent()
    }
}

impl<T: Decode> Decode for Option<T> {
    const WHAT: &'static str = T::WHAT;
    const FIELDS: &'static [&'static str] = T::FIELDS;
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if node.is_null() {
            return Some(None);
        }
        // A value that says nothing is the same as none.
        T::decode(node, reader).map(|value| Some(value).filter(|value| !value.is_absent()))
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Decode> Decode for Box<T> {
    const WHAT: &'static str = T::WHAT;
    const FIELDS: &'static [&'static str] = T::FIELDS;
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        T::decode(node, reader).map(Box::new)
    }
}

/// A list. Every item is read, so that each wrong one is reported.
impl<T: Decode> Decode for Vec<T> {
    const WHAT: &'static str = "a list";
    const FIELDS: &'static [&'static str] = T::FIELDS;
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Tree::List(items) = &node.tree else {
            reader.unexpected(node, &format!("a list, each item {}", T::WHAT));
            return None;
        };
        let mut read: Vec<T> = Vec::with_capacity(items.len());
        read.extend(items.iter().filter_map(|item| reader.item(item)));
        (read.len() == items.len()).then_some(read)
    }
}

/// A map with free keys.
impl<T: Decode> Decode for BTreeMap<At<String>, T> {
    const WHAT: &'static str = "a map";
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let fields = Fields::of(node, Self::WHAT, reader)?;
        let read: Self =
            fields.entries.iter().filter_map(|entry| Some((entry.key.clone(), reader.value(entry)?))).collect();
        (read.len() == fields.entries.len()).then_some(read)
    }
    fn absent() -> Option<Self> {
        Some(Self::new())
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Decode for serde_json::Value {
    const WHAT: &'static str = "a value";
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        reader.json(node)
    }
}
