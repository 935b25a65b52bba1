//! Edits that remove findings: pure text in, pure text out.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use pushplan_model::finding::Finding;
use pushplan_model::source::FileId;

/// The safe fixes of these findings, by the file that they edit.
pub fn safe_edits<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> BTreeMap<FileId, Vec<Edit<'f>>> {
    let mut edits: BTreeMap<FileId, Vec<Edit>> = BTreeMap::new();
    for fix in findings.into_iter().filter_map(|finding| finding.fix.as_ref()).filter(|fix| fix.safe) {
        if let Some(file) = fix.at.file() {
            edits.entry(file).or_default().push(Edit { at: fix.at.range(), text: &fix.text });
        }
    }
    edits
}

/// A range of bytes and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit<'f> {
    pub at: Range<usize>,
    pub text: &'f str,
}

/// Makes the edits and returns their number. All bytes outside them are unchanged. Of overlapping edits, only the first
/// one in the text is made; the others are found again in the resulting text.
pub fn apply(text: &str, edits: &[Edit]) -> (String, usize) {
    let mut edits: Vec<&Edit> = edits.iter().filter(|edit| text.get(edit.at.clone()).is_some()).collect();
    // Of two edits with the same start, the longer one is more specific.
    edits.sort_by_key(|edit| (edit.at.start, Reverse(edit.at.end)));
    let (mut out, mut done, mut count) = (String::with_capacity(text.len()), 0, 0);
    let mut last: Option<&Edit> = None;
    for edit in edits {
        if last.is_some_and(|last| edit.at.start < done || edit.at.start == last.at.start) {
            continue;
        }
        out.push_str(&text[done..edit.at.start]);
        out.push_str(edit.text);
        (done, count, last) = (edit.at.end, count + 1, Some(edit));
    }
    out.push_str(&text[done..]);
    (out, count)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edit(at: Range<usize>, text: &str) -> Edit<'_> {
        Edit { at, text }
    }

    #[test]
    fn of_overlapping_edits_the_first_is_carried_out() {
        let (text, count) = apply("abcdef", &[edit(2..4, "Y"), edit(1..3, "X"), edit(4..5, "")]);
        assert_eq!((text.as_str(), count), ("aXdf", 2));
    }

    #[test]
    fn of_edits_that_begin_together_the_longest_is_carried_out() {
        assert_eq!(apply("{{A}} b", &[edit(0..5, "short"), edit(0..7, "long")]), ("long".to_owned(), 1));
    }

    #[test]
    fn the_same_insertion_is_made_once() {
        assert_eq!(apply("ab", &[edit(1..1, "-"), edit(1..1, "-")]), ("a-b".to_owned(), 1));
    }

    #[test]
    fn an_edit_that_does_not_lie_in_the_text_is_left_out() {
        assert_eq!(apply("é", &[edit(1..2, "x"), edit(2..9, "x")]), ("é".to_owned(), 0));
    }

    proptest! {
        #[test]
        fn bytes_outside_the_edits_stay_as_they_are(
            pieces in proptest::collection::vec(("[a-zé😀:\"# \t\r\n]{0,8}", "[a-zé日]{0,4}", "[A-Z\"\n]{0,5}"), 0..8),
        ) {
            // Each piece is an unchanged text, a replaced one, and its replacement.
            let (mut before, mut after, mut ranges) = (String::new(), String::new(), Vec::new());
            for (stays, old, new) in &pieces {
                // There must not be two insertions at one position.
                let stays = format!("{stays}.");
                before += &stays;
                after += &stays;
                ranges.push(before.len()..before.len() + old.len());
                before += old;
                after += new;
            }
            let mut edits: Vec<Edit> = ranges.into_iter().zip(&pieces).map(|(at, piece)| edit(at, &piece.2)).collect();
            edits.reverse();
            prop_assert_eq!(apply(&before, &edits), (after, pieces.len()));
        }
    }
}
