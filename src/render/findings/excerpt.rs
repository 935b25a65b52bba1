//! The lines of a finding, cut to the width of a terminal.
//!
//! Only the shown part is read: a file of 60 MB with ten thousand findings is not read completely for each of them.

use std::collections::BTreeMap;
use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::LocatedFinding;
use crate::render::Style;
use crate::source::{Source, Span};
use crate::text::{escape, marked};

/// The maximal distance of two lines in one excerpt.
const NEAR: usize = 100;
/// Columns that the line number, its rule and the marks of a cut take.
const GUTTER: usize = 16;

/// A part of one file. Without lines it is the whole file.
#[derive(Debug)]
pub struct Excerpt {
    /// `messages/segments.yaml:22:24`
    pub place: String,
    pub lines: Option<Lines>,
}

/// Consecutive lines, of which those that are not shown are blank.
#[derive(Debug)]
pub struct Lines {
    /// The number of the first line.
    pub first: usize,
    pub text: String,
    pub marks: Vec<Mark>,
}

/// A range of the excerpt's text, in bytes, and its label.
#[derive(Clone, Debug)]
pub struct Mark {
    pub at: Range<usize>,
    pub label: String,
    pub primary: bool,
}

/// The excerpts of a finding, that of the finding itself first. Related places near it share its excerpt.
pub(crate) fn excerpts(found: &LocatedFinding, style: Style) -> Vec<Excerpt> {
    let finding = found.finding;
    let Some(main) = Marked::new(found, finding.at, &finding.label, true, style) else {
        let place = found.place().map(|place| Excerpt { place: place.path.to_owned(), lines: None });
        return place.into_iter().collect();
    };
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for (span, label) in &finding.related {
        match Marked::new(found, *span, label, false, style) {
            Some(other) if other.is_near(&main) => near.push(other),
            Some(other) => far.push(other),
            None => {}
        }
    }
    near.insert(0, main);
    let mut excerpts = vec![joined(&near, style)];
    excerpts.extend(far.iter().map(|one| joined(std::slice::from_ref(one), style)));
    excerpts
}

/// One line with one mark in it.
struct Marked<'a> {
    source: &'a Source,
    place: String,
    number: usize,
    text: String,
    mark: Mark,
    /// Whether the line is complete and fits the terminal.
    fits: bool,
}

impl<'a> Marked<'a> {
    fn new(found: &LocatedFinding<'a>, span: Span, label: &str, primary: bool, style: Style) -> Option<Self> {
        let source = found.sources.get(span.file()?);
        if source.text.is_empty() {
            return None;
        }
        let start = source.position(span.range().start);
        let line = source.line_range(start.line, start.line);
        // For a value on several lines, the first one is shown.
        let inside = |offset: usize| source.floor(offset).clamp(line.start, line.end);
        let (from, to) = (inside(span.range().start), inside(span.range().end.max(span.range().start)));
        let (text, at, fits) = cut(&source.text, line, from..to, style.narrower(GUTTER));
        let place = format!("{}:{}:{}", source.path, start.line, start.column);
        let mark = Mark { at, label: label.to_owned(), primary };
        Some(Self { source, place, number: start.line, text, mark, fits })
    }

    fn is_near(&self, main: &Self) -> bool {
        let near = self.number.abs_diff(main.number) <= NEAR;
        std::ptr::eq(self.source, main.source) && near && self.fits && main.fits
    }
}

/// One excerpt of all these places, which are in one file. The first one names it.
fn joined(places: &[Marked], style: Style) -> Excerpt {
    let by_line: BTreeMap<usize, &Marked> = places.iter().map(|place| (place.number, place)).collect();
    let (first, last) =
        places.iter().fold((usize::MAX, 0), |(first, last), place| (first.min(place.number), last.max(place.number)));
    let (mut text, mut marks) = (String::new(), Vec::new());
    for number in first..=last {
        if number > first {
            text.push('\n');
        }
        let start = text.len();
        match by_line.get(&number) {
            Some(line) => {
                text.push_str(if line.text.is_empty() { " " } else { &line.text });
                for place in places.iter().filter(|place| place.number == number) {
                    let Mark { at, label, primary } = place.mark.clone();
                    marks.push(Mark { at: start + at.start..start + at.end, label, primary });
                }
            }
            // A single line between two others is shown; several are not.
            None if by_line.contains_key(&(number - 1)) && by_line.contains_key(&(number + 1)) => {
                let source = places[0].source;
                let line = source.line_range(number, number);
                text.push_str(&cut(&source.text, line.clone(), line.start..line.start, style).0);
            }
            None => {}
        }
    }
    Excerpt { place: places[0].place.clone(), lines: Some(Lines { first, text, marks }) }
}

/// The part of a line around a mark, the range of the mark in it, and whether it is the whole line and fits the width.
/// More than the width is kept on both sides, so that the renderer sees where it has to cut.
fn cut(text: &str, line: Range<usize>, mark: Range<usize>, style: Style) -> (String, Range<usize>, bool) {
    let width = style.width;
    let margin = width * 3 / 2;
    let before = text[line.start..mark.start].char_indices().rev().nth(margin);
    let from = line.start + before.map_or(0, |(offset, _)| offset);
    let shown_mark = text[mark.clone()].char_indices().nth(margin).map_or(mark.end, |(offset, _)| mark.start + offset);
    let to = text[shown_mark..line.end].char_indices().nth(margin).map_or(line.end, |(offset, _)| shown_mark + offset);
    let (mut out, mut at, mut columns) = (String::new(), 0..0, 0);
    let mut carets = 0;
    for (offset, c, hidden) in marked(&text[from..to]).map(|(offset, c, hidden)| (from + offset, c, hidden)) {
        if offset == mark.start {
            at = out.len()..out.len();
        }
        let start = out.len();
        let taken = match c {
            '\u{feff}' if offset == 0 => continue,
            '\t' => {
                out.push_str("    ");
                4
            }
            c if hidden || (style.ascii && !c.is_ascii()) => {
                out.push_str(&escape(c));
                out[start..].width()
            }
            c => {
                out.push(c);
                c.width().unwrap_or(0)
            }
        };
        columns += taken;
        if mark.contains(&offset) && carets + taken <= width {
            carets += taken;
            at.end = out.len();
        }
    }
    if mark.start >= to {
        at = out.len()..out.len();
    }
    let fits = from == line.start && to == line.end && columns <= width;
    (out, at, fits)
}
