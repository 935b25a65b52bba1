//! Comments within replaced values, which are all kept.

use std::ops::Range;
use std::rc::Rc;

use pushplan_model::source::FileId;

use super::super::layout;
use super::Editor;
use super::page::{EditedPage, Rewritten, TextChange};

impl Editor<'_> {
    /// The ranges of the comments in a file; empty if there is none in a range or on the same line after it.
    pub(super) fn remarks(&self, file: FileId, range: &Range<usize>) -> Rc<[Range<usize>]> {
        let text = self.text(file);
        let till = text[range.end..].find('\n').map_or(text.len(), |end| range.end + end);
        if !text[range.start..till].contains('#') {
            return Rc::new([]);
        }
        let mut known = self.remarks.borrow_mut();
        let all = known.entry(file).or_insert_with(|| layout::comments(text).into());
        Rc::clone(all)
    }
}

impl EditedPage<'_> {
    /// Replaces a value and keeps its comments: on separate lines above it, in order. `from` is the start of the
    /// value's owner, such as its key.
    pub(crate) fn with_remarks(&self, from: usize, new: Rewritten, remarks: &[Range<usize>]) -> Vec<TextChange> {
        let Rewritten { mut range, text, kept } = new;
        let behind = range.end..self.line_end(range.end);
        let is_behind = |remark: &Range<usize>| {
            behind.contains(&remark.start) && self.text[range.end..remark.start].trim().is_empty()
        };
        // A comment after a text with several lines belongs to the last of them, and a line has at most one.
        let has_lines = text.contains('\n') || self.text[range.clone()].contains('\n');
        if (has_lines || kept.is_some()) && remarks.iter().any(is_behind) {
            range.end = behind.end;
        }
        let lost = remarks
            .iter()
            .filter(|it| range.contains(&it.start) && kept.as_ref().map(|kept| kept.start) != Some(it.start));
        let lost: Vec<&str> = lost.map(|it| self.text[it.clone()].trim()).collect();
        if lost.is_empty() {
            return vec![(range, text)];
        }
        // An item may be below its dash.
        let from = from.min(range.start);
        let line = self.line_start(from);
        let before = &self.text[line..from];
        let indent = before.len() - before.trim_start_matches(' ').len();
        let above: String = lost.iter().map(|remark| format!("{:indent$}{remark}\n", "")).collect();
        // A value at the beginning of its line is one edit with its comments.
        match before.bytes().all(|byte| b" -".contains(&byte)) && range.start >= line {
            true => vec![(line..range.end, format!("{above}{}{text}", &self.text[line..range.start]))],
            false => vec![(line..line, above), (range, text)],
        }
    }
}
