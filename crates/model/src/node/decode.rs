//! Decodes nodes to types and reports every problem.

use std::collections::BTreeMap;

use super::key_names::{meant, near_or_missing};
use super::levels::{self, Below};
use super::rest::Rest;
use super::{At, MapEntry, Node, Plain, Tree};
use crate::codes;
use crate::finding::{Finding, Findings};
use crate::source::Span;
use crate::text;

/// A type that can be decoded from a node.
pub trait Decode: Sized {
    /// The noun for the type in a message: "expected *a list of tags*".
    const WHAT: &'static str;

    /// The keys of a map of this type, or of the maps in a list of it. Empty if keys are free or there are none.
    const FIELDS: &'static [&'static str] = &[];

    /// Whether a map usually has such a value although it is not required. A part of its key then means this key.
    const IS_USUAL: bool = false;

    /// Decodes a node. Every problem is reported to the reader, and `None` means that there was one.
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self>;

    /// Returns the value of an omitted key; `None` if the key is required.
    fn absent() -> Option<Self> {
        None
    }

    /// Whether the value says nothing and is omitted when it is written.
    fn is_absent(&self) -> bool {
        false
    }
}

/// [`Decode::is_absent`] in the form that serde needs.
pub fn is_absent<T: Decode>(value: &T) -> bool {
    value.is_absent()
}

/// Decodes nodes and collects the problems.
#[derive(Debug, Default)]
pub struct Reader {
    pub findings: Findings,
    /// The key whose value is being read. A missing key is reported there.
    owner: Option<Span>,
    /// The input came over the wire: it has the service's own forms and none of a manifest's.
    wire: bool,
    /// Unknown keys are not reported.
    lenient: bool,
    /// The keys of the maps that are being read, outermost first.
    pub(super) open: Vec<&'static [&'static str]>,
}

impl Reader {
    pub fn new(findings: Findings) -> Self {
        Self { findings, ..Self::default() }
    }

    /// Returns a reader for the wire, where shorthands and the author's own keys are unknown.
    pub fn of_wire() -> Self {
        Self { wire: true, ..Self::default() }
    }

    /// Returns a reader for the wire that does not report unknown keys, because the service may add fields.
    pub(crate) fn lenient() -> Self {
        Self { lenient: true, ..Self::of_wire() }
    }

    pub(crate) fn is_wire(&self) -> bool {
        self.wire
    }

    pub(crate) fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// Returns where a problem with a whole node is reported: in a file at its first key, where a caret fits; over the
    /// wire at the node itself, so that the path in the answer is that of the node.
    pub fn place_of(&self, node: &Node) -> Span {
        if self.wire { node.span } else { owner_of(node) }
    }

    pub fn report(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Reads the value of an entry. A missing key in it is reported at the entry's key.
    pub fn value<T: Decode>(&mut self, entry: &MapEntry) -> Option<T> {
        if entry.value.is_null() && T::absent().is_none() {
            return self.empty::<T>(&entry.value, &entry.key);
        }
        self.owned_by(entry.key.span, |reader| T::decode(&entry.value, reader))
    }

    /// Reads something that belongs to a key. A missing key in it is reported there.
    pub fn owned_by<T>(&mut self, key: Span, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.owner.replace(key);
        let value = read(self);
        self.owner = outer;
        value
    }

    pub(super) fn item<T: Decode>(&mut self, node: &Node) -> Option<T> {
        let outer = self.owner.take();
        let value = T::decode(node, self);
        self.owner = outer;
        value
    }

    fn empty<T: Decode>(&mut self, node: &Node, key: &At<String>) -> Option<T> {
        // `null` and `~` have a caret of their own; for `key:` without a value, the key gets it.
        let at = if node.span.range().is_empty() { key.span } else { node.span };
        self.report(
            Finding::new(&codes::YM207, at, format!("`{key}` is empty; expected {}", T::WHAT))
                .label("no value")
                .help(format!("write {} after `{key}:`", T::WHAT)),
        );
        None
    }

    /// Reports that a node is not what was expected.
    pub fn unexpected(&mut self, node: &Node, expected: &str) {
        self.report(
            Finding::new(&codes::YM205, self.place_of(node), format!("expected {expected}, found {}", node.what()))
                .label(format!("expected {expected}")),
        );
    }

    /// Returns a value that is passed through. A number with too many digits is reported, because JSON readers round
    /// it.
    pub fn json(&mut self, node: &Node) -> Option<serde_json::Value> {
        let large = node.scalars().find(|(_, scalar)| scalar.plain() == Some(Plain::Float) && scalar.is_too_large());
        let Some((at, scalar)) = large else { return Some(node.to_json()) };
        let finding = Finding::new(
            &codes::YM206,
            at,
            format!("the number {} is too large to be sent unchanged", text::short(&scalar.text, 40)),
        );
        let quoted = text::quoted(&scalar.text);
        self.report(
            finding
                .label("too many digits")
                .note("it would be rounded before it is sent")
                .help(format!("if it is an id, write it as a text: {quoted}"))
                .suggest(at, quoted),
        );
        None
    }

    /// Returns the text of a scalar. A plain one that YAML reads as another type is reported, with the quotes to write.
    pub fn text<'n>(&mut self, node: &'n Node) -> Option<&'n str> {
        if let Some(help) = levels::in_place_of_text(node) {
            let finding = Finding::new(&codes::YM205, self.place_of(node), "expected text, found a map");
            self.report(finding.label("expected text").help(help));
            return None;
        }
        let Tree::Scalar(scalar) = &node.tree else {
            let finding =
                Finding::new(&codes::YM205, self.place_of(node), format!("expected text, found {}", node.what()))
                    .label("expected text");
            self.report(match is_prose(node) {
                true => finding.help("a text that begins with [ or { needs quotes"),
                false => finding.help(format!("write a text instead of the {}", &node.what()[2..])),
            });
            return None;
        };
        let taken_for = match scalar.plain() {
            None | Some(Plain::Text) => return Some(&scalar.text),
            Some(Plain::Null) => {
                let at = if node.span.range().is_empty() { self.owner.unwrap_or(node.span) } else { node.span };
                let finding = Finding::new(&codes::YM207, at, "expected text, found nothing")
                    .label("no value")
                    .help("write the text; for the word itself use quotes, \"null\"");
                self.report(finding);
                return None;
            }
            Some(Plain::Bool(_)) => "true or false",
            Some(Plain::Word) => "true or false by many YAML readers",
            Some(Plain::Integer(_) | Plain::Float) => "a number",
        };
        let quoted = text::quoted(&scalar.text);
        let finding = Finding::new(
            &codes::YM204,
            node.span,
            format!("`{}` without quotes is read as {taken_for}, but this field is a text", scalar.text),
        )
        .label("needs quotes")
        .note("without quotes, `6.10` becomes 6.1, and many YAML parsers read `no` as false")
        .help(format!("write {quoted}"))
        .fix(node.span, quoted);
        self.report(finding);
        None
    }
}

/// The keys of a map, which are taken one by one. Keys that are left at the end are unknown.
#[derive(Debug)]
pub struct Fields<'n> {
    node: &'n Node,
    pub(super) entries: &'n [MapEntry],
    /// All keys that the map may have, if they were specified.
    pub(super) known: &'static [&'static str],
    /// The known keys that only manifests have.
    own: &'static [&'static str],
    /// Its fields and their keys, to detect keys that are one level too high.
    pub(super) below: fn() -> Vec<Below>,
    /// The beginning of further known keys.
    starts: Option<&'static str>,
}

impl<'n> Fields<'n> {
    /// Returns the entries of a map; reports anything else.
    pub fn of(node: &'n Node, what: &str, reader: &mut Reader) -> Option<Self> {
        match &node.tree {
            Tree::Map(entries) => Some(Self { node, entries, known: &[], own: &[], below: Vec::new, starts: None }),
            _ => {
                reader.unexpected(node, what);
                None
            }
        }
    }

    /// Specifies the known keys, so that a misspelt one is not reported as missing as well. The caller must also close
    /// the map or keep the rest, which reports the misspelt key.
    pub fn knowing(self, known: &'static [&'static str], below: fn() -> Vec<Below>) -> Self {
        Self { known, below, ..self }
    }

    /// Specifies the keys that only manifests have. They are not suggested over the wire.
    pub fn owning(self, own: &'static [&'static str]) -> Self {
        Self { own, ..self }
    }

    /// Specifies how further known keys begin. The caller must also take their values.
    pub fn each(self, starts: &'static str) -> Self {
        Self { starts: Some(starts), ..self }
    }

    /// Returns the values of the keys that begin with a text and have more after it. Values that say nothing are left
    /// out.
    pub fn take_each<T: Decode>(&self, starts: &str, reader: &mut Reader) -> Option<BTreeMap<At<String>, T>> {
        let mut read = Some(BTreeMap::new());
        for entry in self.entries.iter().filter(|entry| begins(&entry.key, starts) && !entry.value.is_null()) {
            match (reader.value::<T>(entry), &mut read) {
                (Some(value), Some(read)) if !value.is_absent() => drop(read.insert(entry.key.clone(), value)),
                (Some(_), _) => {}
                (None, _) => read = None,
            }
        }
        read
    }

    /// Whether an unknown key was probably meant to be this one.
    fn is_misspelt(&self, name: &str) -> bool {
        let missing = self.missing();
        let stands_in = |entry: &MapEntry| match near_or_missing(&entry.key, self.known, &missing)
            .or_else(|| meant(&entry.key, self.known))
        {
            Some(near) => near == name,
            None => (self.below)().iter().any(|field| field.name == name && field.keys.contains(&entry.key.as_str())),
        };
        self.known.contains(&name) && self.unknown(self.known, false).any(stands_in)
    }

    /// Returns the required and usual keys that the map lacks.
    fn missing(&self) -> Vec<&'static str> {
        let fields = (self.below)().into_iter();
        fields
            .filter(|field| (field.required || field.is_usual) && self.entry(field.name).is_none())
            .map(|field| field.name)
            .collect()
    }

    pub fn entry(&self, name: &str) -> Option<&'n MapEntry> {
        self.entries.iter().find(|entry| *entry.key == name)
    }

    /// Returns the value of a key, or what replaces it. `None` means that a problem was reported.
    pub fn take<T: Decode>(&self, name: &str, reader: &mut Reader) -> Option<T> {
        if let Some(entry) = self.entry(name) {
            return reader.value(entry);
        }
        let absent = T::absent();
        if absent.is_none() && !self.is_misspelt(name) {
            let at = reader.owner.unwrap_or_else(|| reader.place_of(self.node));
            reader.report(
                Finding::new(&codes::YM203, at, missing(name))
                    .label(format!("needs `{name}`"))
                    .help(format!("add `{name}`: {}", T::WHAT)),
            );
        }
        absent
    }

    /// Reports keys that are not `known`. Keys that begin with `x-` are the author's own.
    pub fn close(&self, known: &[&str], reader: &mut Reader) {
        if reader.lenient {
            return;
        }
        let mut unknown: Vec<&MapEntry> = self.unknown(known, reader.wire).collect();
        if unknown.is_empty() {
            return;
        }
        self.too_high(&mut unknown, |_| true, reader);
        let possible = if reader.wire { self.on_wire(known) } else { known.to_vec() };
        for entry in unknown.iter().take(MOST_UNKNOWN) {
            let above = reader.is_above(&entry.key);
            reader.report(if above { levels::too_low(entry) } else { unknown_key(entry, &possible) });
        }
        if let Some(next) = unknown.get(MOST_UNKNOWN) {
            let more = text::count(unknown.len() - MOST_UNKNOWN, "more unknown key");
            reader.report(
                Finding::new(&codes::YM201, next.key.span, format!("{more} in this map")).label("the first of them"),
            );
        }
    }

    /// Keeps the keys that are not `known`, with a warning for each, because the contract says that further fields
    /// exist. A key that is nearly a known one is a typo and therefore an error. The built-in service refuses keys for
    /// which `accepts` returns false.
    pub fn keep(&self, known: &[&str], accepts: impl Fn(&str) -> bool, reader: &mut Reader) -> Rest {
        let mut rest = BTreeMap::new();
        let mut unknown: Vec<&MapEntry> = self.unknown(known, reader.wire).collect();
        if unknown.is_empty() {
            return Rest(rest);
        }
        // Further fields may have the names of keys one level below. If the field that contains those is required and
        // missing, they belong to it.
        self.too_high(&mut unknown, |field| field.required && self.entry(field.name).is_none(), reader);
        for entry in unknown {
            if reader.is_above(&entry.key) {
                reader.report(levels::too_low(entry));
                continue;
            }
            if let Some(near) = near_or_missing(&entry.key, known, &self.missing()) {
                reader.report(unknown_key(entry, &[near]));
                continue;
            }
            reader.report(undescribed(entry, accepts(&entry.key)));
            // The service adds `ios: {}` itself. A value that says nothing is the same as none.
            if let Some(value) = reader.json(&entry.value)
                && !value.is_null()
                && value.as_object().is_none_or(|fields| !fields.is_empty())
            {
                rest.insert(entry.key.clone(), value);
            }
        }
        Rest(rest)
    }

    /// Returns the known keys that exist on the wire as well.
    fn on_wire<'k>(&self, known: &[&'k str]) -> Vec<&'k str> {
        known.iter().copied().filter(|key| !self.own.contains(key)).collect()
    }

    fn unknown(&self, known: &[&str], wire: bool) -> impl Iterator<Item = &'n MapEntry> {
        let own = move |entry: &&MapEntry| !wire && entry.key.starts_with("x-");
        let each = move |entry: &&MapEntry| self.starts.is_some_and(|starts| begins(&entry.key, starts));
        let unknown = self.entries.iter().filter(|entry| !known.contains(&entry.key.as_str()));
        unknown.filter(move |entry| !own(entry) && !each(entry))
    }

    /// Returns the value of a key that only manifests have; over the wire, the key is unknown.
    pub(crate) fn take_own<T: Decode>(&self, name: &str, reader: &mut Reader) -> Option<T> {
        match self.entry(name) {
            Some(entry) if reader.wire => {
                reader.report(unknown_key(entry, &self.on_wire(self.known)));
                None
            }
            _ => self.take(name, reader),
        }
    }
}

/// Whether a key begins with a text and has more after it.
fn begins(key: &str, starts: &str) -> bool {
    key.strip_prefix(starts).is_some_and(|rest| !rest.is_empty())
}

/// The maximum number of unknown keys in one map that have a finding each. The rest is counted, because a generated
/// file can have a million.
const MOST_UNKNOWN: usize = 1_000;

/// Returns the finding for an undescribed key in a map for which the contract allows further fields.
fn undescribed(entry: &MapEntry, is_accepted: bool) -> Finding {
    let key = text::short(&entry.key, 40);
    let (message, label, note) = match is_accepted {
        true => (
            format!("`{key}` is not a documented field of the API; it is sent unchanged"),
            "not checked",
            "the built-in service accepts this field; your service may differ",
        ),
        false => (
            format!("`{key}` is not a documented field of the API, and the built-in service refuses it"),
            "refused by the built-in service",
            "the API allows fields here that are not documented, so your service may accept it",
        ),
    };
    Finding::new(&codes::YM202, entry.key.span, message)
        .label(label)
        .note(note)
        .help("if this is intended, set `lifecycle: {allow: [YM202]}` on the resource")
}

fn unknown_key(entry: &MapEntry, known: &[&str]) -> Finding {
    let key = &entry.key;
    let finding =
        Finding::new(&codes::YM201, key.span, format!("unknown key `{}`", text::short(key, 40))).label("unknown key");
    match meant(key, known) {
        Some(near) if key.get(near.len()..).is_some_and(|rest| rest.starts_with(':')) => {
            let colon = key.span.slice(near.len()..near.len() + 1);
            let at = if key.span.range().len() == key.len() { colon } else { key.span };
            Finding::new(&codes::YM201, at, "a space is missing after the colon")
                .label("no space after it")
                .note("without the space, the colon is part of the key")
                .help(format!("write `{near}: ...`"))
        }
        Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(key.span, near),
        None if known.is_empty() => finding,
        None => {
            let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            finding.help(format!("expected {}", text::any_of(&known)))
        }
    }
}

/// The message for a missing key.
pub fn missing(key: &str) -> String {
    format!("`{key}` is missing")
}

/// The key in a message of [`missing`].
pub fn missing_key(message: &str) -> Option<&str> {
    message.strip_prefix('`')?.strip_suffix("` is missing")
}

/// Whether a list or a map is probably a text in brackets: `{Hello, friend}`, `[SALE]`, `[Last chance]`.
fn is_prose(node: &Node) -> bool {
    let is_word = |node: &Node| match &node.tree {
        Tree::Scalar(scalar) => {
            let text = &scalar.text;
            scalar.style == super::Style::Plain
                && (text.contains(' ') || !text.contains(char::is_lowercase) && text.contains(char::is_alphabetic))
        }
        _ => false,
    };
    match &node.tree {
        Tree::Map(entries) => !entries.is_empty() && entries.iter().all(|entry| entry.value.span.range().is_empty()),
        Tree::List(items) => items.first().is_some_and(is_word),
        Tree::Scalar(_) => false,
    }
}

/// Returns a short position for a node: the first key of a map, the first item of a list, otherwise the whole node.
pub fn owner_of(node: &Node) -> Span {
    match &node.tree {
        Tree::Map(entries) if !entries.is_empty() => entries[0].key.span,
        Tree::List(items) if !items.is_empty() => owner_of(&items[0]),
        _ => node.span,
    }
}
