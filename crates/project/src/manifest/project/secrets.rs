//! Passwords in the project file. They are reported as a mistake, without showing them.

use std::ops::Range;

use pushplan_io::client;
use pushplan_model::source::{FileId, Span};

use super::{Project, Sources, place};

/// Replaces them by stars in everything that is shown of the file. They are searched in addresses, and in possible
/// places of a ledger, also under unknown keys.
pub fn hide(project: &Project, file: FileId, sources: &mut Sources) {
    let addresses = project.file.targets.values().filter_map(|target| target.base_url.as_ref());
    for written in addresses.filter(|written| !client::is_plain(written)) {
        let text = sources.text(written.span);
        let from = text.find("://").map_or(1, |at| at + 3).min(text.len());
        let end = text.trim_end_matches(['"', '\'']).len().max(from);
        let start = written.span.range().start;
        sources.hide(written.span, start + from..start + end);
    }
    let places = project.file.targets.values().filter_map(|target| target.ledger.as_ref());
    let mut found: Vec<(Span, Range<usize>)> = Vec::new();
    for written in places.filter(|written| place::shown(written) != written.value) {
        let text = sources.text(written.span);
        let inside = text.trim_matches(['"', '\'']);
        let before = text.find(inside).unwrap_or_default();
        let from = before + inside.find("://").map_or(0, |at| at + 3);
        let start = written.span.range().start;
        found.push((written.span, start + from..start + before + inside.len()));
    }
    let text = &sources.get(file).text;
    let whole = Span::new(file, 0..text.len());
    found.extend(
        quoted(text).filter(|range| place::may_hold_password(&text[range.clone()])).map(|range| (whole, range)),
    );
    for (span, range) in found {
        sources.hide(span, range);
    }
}

/// The ranges of quoted texts, line by line.
fn quoted(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split_inclusive('\n').flat_map(move |line| {
        let at = start;
        start += line.len();
        let mut open: Option<(char, usize)> = None;
        let mut found = Vec::new();
        for (place, c) in line.char_indices().filter(|(_, c)| matches!(c, '"' | '\'')) {
            match open {
                None => open = Some((c, place + 1)),
                Some((quote, from)) if quote == c => {
                    found.push(at + from..at + place);
                    open = None;
                }
                Some(_) => {}
            }
        }
        found
    })
}
