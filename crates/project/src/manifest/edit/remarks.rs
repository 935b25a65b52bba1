//! Remarks within what is written again: none is lost.

use std::ops::Range;
use std::rc::Rc;

use pushplan_model::source::FileId;

use super::super::layout;
use super::Editor;
use super::page::{EditedPage, Rewritten, TextChange};

impl Editor<'_> {
    /// Where remarks are in a file, as far as some may be in a stretch of it or behind it.
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
    /// A value in the place of another, and the remarks that was in it: in lines of their own above it, in their order.
    /// `from`: where the thing begins that has the value, such as its key.
    pub(crate) fn with_remarks(&self, from: usize, new: Rewritten, remarks: &[Range<usize>]) -> Vec<TextChange> {
        let Rewritten { mut range, text, kept } = new;
        let behind = range.end..self.line_end(range.end);
        let is_behind = |remark: &Range<usize>| {
            behind.contains(&remark.start) && self.text[range.end..remark.start].trim().is_empty()
        };
        // Behind a text of several lines it is about the last of them, and no line has two.
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
        // An item may stand below its dash.
        let from = from.min(range.start);
        let line = self.line_start(from);
        let before = &self.text[line..from];
        let indent = before.len() - before.trim_start_matches(' ').len();
        let above: String = lost.iter().map(|remark| format!("{:indent$}{remark}\n", "")).collect();
        // What begins its line is one stretch with its remarks.
        match before.bytes().all(|byte| b" -".contains(&byte)) && range.start >= line {
            true => vec![(line..range.end, format!("{above}{}{text}", &self.text[line..range.start]))],
            false => vec![(line..line, above), (range, text)],
        }
    }
}
