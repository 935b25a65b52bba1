//! Keys on the wrong level, and maps in place of a text: mistakes of people who know the words and not yet the
//! structure.

use super::key_names::meant;
use super::yaml_text;
use super::{Decode, Fields, MapEntry, Node, Reader, Tree};
use crate::codes;
use crate::finding::Finding;
use crate::text;

/// A field of a map, and the keys of its value.
#[derive(Debug)]
pub struct Below {
    pub name: &'static str,
    pub what: &'static str,
    pub required: bool,
    pub is_usual: bool,
    pub keys: &'static [&'static str],
}

impl Below {
    pub fn of<T: Decode>(name: &'static str) -> Self {
        Self { name, what: T::WHAT, required: T::absent().is_none(), is_usual: T::IS_USUAL, keys: T::FIELDS }
    }

    /// Where its keys belong.
    fn place(&self) -> String {
        if self.what == Vec::<String>::WHAT {
            format!("in each of `{}`", self.name)
        } else {
            format!("under `{}`", self.name)
        }
    }
}

impl Reader {
    /// Reads the fields of a map with known keys, so that a key of the surrounding map can be recognized.
    pub fn within<T>(&mut self, keys: &'static [&'static str], read: impl FnOnce(&mut Self) -> T) -> T {
        self.open.push(keys);
        let value = read(self);
        self.open.pop();
        value
    }

    /// Whether the map around the one that is being read has this key.
    pub(super) fn is_above(&self, key: &str) -> bool {
        self.open.iter().rev().nth(1).is_some_and(|keys| keys.contains(&key))
    }
}

impl<'n> Fields<'n> {
    /// Returns the entries of a map. A text in its place is reported, with the key that was probably meant.
    pub(crate) fn or_text(node: &'n Node, what: &str, key: &str, reader: &mut Reader) -> Option<Self> {
        if let Tree::Scalar(scalar) = &node.tree
            && node.what() == "text"
        {
            let finding = Finding::new(&codes::YM205, node.span, format!("expected {what}, found text"));
            let written = yaml_text(&text::short(&scalar.text, 40));
            reader.report(finding.label(format!("expected {what}")).help(format!("write {{{key}: {written}}}")));
            return None;
        }
        Self::of(node, what, reader)
    }

    /// Reports keys that belong under one of the selected fields, and removes them from the unknown ones. All keys that
    /// belong under the same field are one finding.
    pub(super) fn too_high(
        &self,
        unknown: &mut Vec<&'n MapEntry>,
        counts: impl Fn(&Below) -> bool,
        reader: &mut Reader,
    ) {
        if unknown.is_empty() {
            return;
        }
        for field in (self.below)().iter().filter(|field| counts(field)) {
            let belongs =
                |entry: &&MapEntry| field.keys.contains(&entry.key.as_str()) && meant(&entry.key, self.known).is_none();
            let (here, others): (Vec<&MapEntry>, Vec<&MapEntry>) = unknown.iter().copied().partition(belongs);
            *unknown = others;
            let [first, rest @ ..] = &here[..] else { continue };
            let names: Vec<String> = here.iter().map(|entry| format!("`{}`", entry.key)).collect();
            let (verb, what) = if rest.is_empty() { ("belongs", "it") } else { ("belong", "them") };
            let message = format!("{} {verb} {}", text::all_of(&names), field.place());
            let mut finding = Finding::new(&codes::YM201, first.key.span, message).label("one level too high");
            for entry in rest {
                finding = finding.related(entry.key.span, "so is this");
            }
            reader.report(finding.help(format!("write {what} {}", field.place())));
        }
    }
}

/// Returns the finding for a key that belongs to the surrounding map.
pub(super) fn too_low(entry: &MapEntry) -> Finding {
    let message = format!("`{}` belongs one level higher", entry.key);
    Finding::new(&codes::YM201, entry.key.span, message)
        .label("one level too low")
        .help(format!("write `{}` in the map around this one", entry.key))
}

/// Returns what to write if a map is in place of a text, if that is known.
pub(super) fn in_place_of_text(node: &Node) -> Option<&'static str> {
    let forms = [
        ("tag", "write only the tag: no tag group is allowed here"),
        ("file", "write the text itself: only the `body` of a message can be in a file"),
    ];
    forms.into_iter().find(|(key, _)| node.get(key).is_some()).map(|(_, help)| help)
}
