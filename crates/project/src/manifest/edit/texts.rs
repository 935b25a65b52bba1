//! Writing texts to message catalogues, in place.

use std::collections::BTreeMap;

use pushplan_model::finding::Findings;
use pushplan_model::node::{At, MapEntry, Node, Scalar, Style, Tree};
use pushplan_model::source::{FileId, Source, Sources, Span};
use serde_json::Value;

use super::super::catalogues::{Catalogue, Catalogues};
use super::super::{Manifests, write};
use super::page::EditedPage;
use super::{Edit, carry_out};

/// A text for a catalogue.
#[derive(Clone, Debug)]
pub struct NewText {
    pub file: FileId,
    /// The key of the message.
    pub message: String,
    pub field: String,
    /// The fields of the message before this one.
    pub before: Vec<String>,
    pub text: String,
}

impl Manifests {
    /// The catalogues with these texts, by file name. Comments and the order of everything else stay. The error is the
    /// name of a file that is written in a way that cannot be edited.
    pub fn with_texts(&self, new: &[NewText]) -> Result<BTreeMap<String, String>, String> {
        let mut texts = BTreeMap::new();
        for catalogue in self.catalogues.iter() {
            let own: Vec<&NewText> = new.iter().filter(|text| text.file == catalogue.file).collect();
            if own.is_empty() {
                continue;
            }
            let source = self.sources.get(catalogue.file);
            let edited = edits(catalogue, &source.text, &own).map(|edits| carry_out(self, &edits));
            let text = edited.and_then(|mut edited| edited.remove(&*source.path));
            let text = text.filter(|text| is_right(catalogue, &source.path, text, &own));
            texts.insert(source.path.to_string(), text.ok_or_else(|| source.path.to_string())?);
        }
        Ok(texts)
    }
}

/// The edits of one catalogue.
fn edits(catalogue: &Catalogue, text: &str, new: &[&NewText]) -> Option<Vec<Edit>> {
    let page = EditedPage { text };
    let edit = |(range, text)| Edit { file: catalogue.file, range, text };
    let mut edits = Vec::new();
    let mut messages: Vec<(&str, Vec<&NewText>)> = Vec::new();
    for text in new {
        match messages.iter_mut().find(|(message, _)| *message == text.message) {
            Some((_, texts)) => texts.push(text),
            None => messages.push((&text.message, vec![text])),
        }
    }
    let mut added = String::new();
    for (message, texts) in messages {
        let Some(entry) = catalogue.message(message) else {
            let fields: Vec<MapEntry> = texts.iter().map(|text| field(text)).collect();
            added.push_str(&format!("{}:\n", write::key(message)));
            write::map(&fields, 2, &mut added);
            continue;
        };
        let entries = entry.value.entries()?;
        if entries.is_empty() {
            let fields = Node { span: Span::NONE, tree: Tree::Map(texts.iter().map(|text| field(text)).collect()) };
            let rewritten = page.value(entry, &fields, false)?;
            edits.push(edit((rewritten.range, rewritten.text)));
            continue;
        }
        let flow = page.is_flow(&entry.value);
        for text in texts {
            match entries.iter().find(|own| *own.key == text.field) {
                Some(own) if own.value.is_null() => {
                    let rewritten = page.value(own, &field(text).value, flow)?;
                    edits.push(edit((rewritten.range, rewritten.text)));
                }
                Some(own) => edits.push(edit(page.scalar(&own.value, &scalar(&text.text), flow))),
                None => {
                    let is_before = |own: &MapEntry| text.before.contains(&own.key.value);
                    edits.push(edit(page.new_entry(
                        &entry.value,
                        entries.iter().rposition(is_before),
                        &field(text),
                    )?));
                }
            }
        }
    }
    match added.as_str() {
        "" => {}
        added if text.is_empty() => edits.push(edit((0..0, added.to_owned()))),
        added => edits.push(edit(page.line_at(text.len(), added))),
    }
    Some(edits)
}

fn field(text: &NewText) -> MapEntry {
    let value = Node { span: Span::NONE, tree: Tree::Scalar(scalar(&text.text)) };
    MapEntry { key: At::new(text.field.clone(), Span::NONE), value }
}

fn scalar(text: &str) -> Scalar {
    Scalar { text: text.to_owned(), style: Style::Quoted }
}

/// Whether an edited catalogue has the new texts, and otherwise those that it had before.
fn is_right(before: &Catalogue, path: &str, text: &str, new: &[&NewText]) -> bool {
    let (mut sources, mut findings) = (Sources::default(), Findings::default());
    let file = sources.add(Source::new(path, text));
    let (after, facts) = Catalogues::read(&[file], &sources, &mut findings);
    let mut expected = texts(before);
    expected.extend(new.iter().map(|new| ((new.message.clone(), new.field.clone()), Value::from(new.text.as_str()))));
    facts.complete && after.iter().map(texts).collect::<Vec<_>>() == [expected]
}

/// The texts of a catalogue, by message and field.
fn texts(catalogue: &Catalogue) -> BTreeMap<(String, String), Value> {
    let of = |message: &MapEntry| {
        let fields = message.value.entries().unwrap_or_default().to_vec().into_iter();
        let key = message.key.value.clone();
        fields
            .filter(|field| !field.value.is_null())
            .map(move |field| ((key.clone(), field.key.value), field.value.to_json()))
    };
    catalogue.messages.iter().flat_map(of).collect()
}
