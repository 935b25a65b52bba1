//! The text of a message, word by word, and its other changed fields.

use crate::look::page::{Page, is_page};
use crate::render::plan::content;
use crate::review::prose::{self, Piece};
use crate::review::{FieldChange, MessageChange, MessageGroup};
use crate::text::{count, quoted, short};

/// The number of characters of a text in a row.
const TEXT: usize = 120;
/// The number of other fields in a row.
const FIELDS: usize = 3;
/// The number of unchanged characters of a page shown next to changed words.
const BESIDE: usize = 30;

/// The changed words of a text, or the whole text.
pub fn text(group: &MessageGroup) -> Vec<Piece> {
    let message = group.first;
    let (old, new) = (message.text.old.as_deref(), message.text.new.as_deref());
    let whole = |text: &str| quoted(&short(&crate::render::one_line(text.trim()), TEXT));
    match (old, new) {
        (Some(old), Some(new)) if message.text.is_changed && old != new => {
            let mut pieces = match prose::words(old, new) {
                Some(pieces) if old.len().max(new.len()) <= 2 * TEXT => pieces,
                _ => vec![Piece::Goes(whole(old)), Piece::Same(" ".to_owned()), Piece::Comes(whole(new))],
            };
            pieces.extend(changed_fields(message));
            pieces
        }
        // Each of several messages has its own text.
        _ if group.messages.iter().any(|other| other.text.new != message.text.new) => {
            let mut pieces = changed_fields(message);
            if let Some(Piece::Same(first)) = pieces.first_mut() {
                *first = first.trim_start_matches("; ").to_owned();
            }
            pieces
        }
        (_, Some(text)) | (Some(text), None) if !text.trim().is_empty() => {
            let mut pieces = vec![Piece::Same(whole(text))];
            pieces.extend(changed_fields(message));
            pieces
        }
        _ => Vec::new(),
    }
}

/// The changed fields besides the text.
fn changed_fields(message: &MessageChange) -> Vec<Piece> {
    let fields = &message.text.fields;
    let mut pieces: Vec<Piece> = fields.iter().take(FIELDS).flat_map(changed_field).collect();
    if let more @ 1.. = fields.len().saturating_sub(FIELDS) {
        pieces.push(Piece::Same(format!("; {}", count(more, "other field"))));
    }
    pieces
}

/// A changed field: `; link: `, and its old and new value.
fn changed_field(field: &FieldChange) -> Vec<Piece> {
    let FieldChange { path, old, new } = field;
    if let Some((old, new)) = old.as_deref().zip(new.as_deref()).filter(|(old, new)| is_page(old) && is_page(new)) {
        let pieces = changed_page(path, &Page::of(old), &Page::of(new));
        if !pieces.is_empty() {
            return pieces;
        }
    }
    let whole = |text: &str| short(&crate::render::one_line(text.trim()), TEXT);
    let name = match field.place() {
        Some((of, name)) => format!("{of} {name}"),
        None => field.name(),
    };
    let mut pieces = vec![Piece::Same(format!("; {name}: "))];
    pieces.extend(old.as_ref().map(|old| Piece::Goes(whole(old))));
    pieces.extend((old.is_some() && new.is_some()).then(|| Piece::Same(" ".to_owned())));
    pieces.extend(new.as_ref().map(|new| Piece::Comes(whole(new))));
    pieces
}

/// A changed page: its words, and each removed link with its replacement.
fn changed_page(path: &str, old: &Page, new: &Page) -> Vec<Piece> {
    let [was, is] = [old, new].map(|page| page.text.replace('\n', " / "));
    let mut pieces = Vec::new();
    if was != is {
        pieces.push(Piece::Same(format!("; {path}: ")));
        pieces.extend(match prose::words(&was, &is) {
            Some(words) => prose::around(words, BESIDE),
            None => {
                let (goes, comes) = (Piece::Goes(short(&was, TEXT)), Piece::Comes(short(&is, TEXT)));
                vec![goes, Piece::Same(" ".to_owned()), comes]
            }
        });
    }
    let links = content::replaced(old, new, |page| &page.links);
    for (number, (old, new)) in links.iter().take(FIELDS).enumerate() {
        pieces.push(Piece::Same(if number == 0 { format!("; {path} links: ") } else { ", ".to_owned() }));
        pieces.extend(old.map(|old| Piece::Goes(short(old, TEXT))));
        pieces.extend((old.is_some() && new.is_some()).then(|| Piece::Same(" → ".to_owned())));
        pieces.extend(new.map(|new| Piece::Comes(short(new, TEXT))));
    }
    if links.len() > FIELDS {
        pieces.push(Piece::Same(format!(" and {}", count(links.len() - FIELDS, "other link"))));
    }
    pieces
}
