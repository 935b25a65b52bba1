//! Whether edits only make the intended changes.
//!
//! A fix is made from one value, without regard to the text around it: a comment on the same line, an anchor with
//! references, a block that ends with its line break. So the resulting text is parsed again, and compared with the
//! previous one.

use std::ops::Range;

use granit_parser::{Event, Parser};
use pushplan_model::finding::Findings;
use pushplan_model::node::{Node, Tree};
use pushplan_model::source::{FileId, Source};

use super::fix::{Edit, apply};
use crate::manifest::{Parsed, parse};

/// Returns the edits that can be made together and change only the values at their positions.
///
/// All of them are tried at once, and only a group with a wrong result is split.
pub fn sound<'f>(text: &str, edits: &[Edit<'f>]) -> Vec<Edit<'f>> {
    sound_within(text, edits, usize::MAX)
}

/// Returns the edits that are probably sound, after a limited number of tries. It keeps the edits that it could not try.
pub(crate) fn promising<'f>(text: &str, edits: &[Edit<'f>]) -> Vec<Edit<'f>> {
    sound_within(text, edits, (MOST / text.len().max(1)).clamp(1, TRIES))
}

/// The number of times a text is parsed to find promising edits.
const TRIES: usize = 100;
/// The number of bytes that are parsed for it, unless a single time takes more.
const MOST: usize = 4 * 1024 * 1024;

/// Edits that are left after this number of tries are kept.
fn sound_within<'f>(text: &str, edits: &[Edit<'f>], tries: usize) -> Vec<Edit<'f>> {
    let before = TextReading::of(text);
    let mut kept: Vec<Edit> = Vec::new();
    let mut groups = vec![edits.iter().filter(|edit| before.is_single(edit)).cloned().collect::<Vec<_>>()];
    let mut tried = 0;
    while let Some(group) = groups.pop() {
        if group.is_empty() {
            continue;
        }
        if tried == tries {
            kept.extend(group);
            continue;
        }
        tried += 1;
        let together: Vec<Edit> = kept.iter().chain(&group).cloned().collect();
        if before.survives(text, &together) {
            kept = together;
        } else if group.len() > 1 {
            let (left, right) = group.split_at(group.len() / 2);
            groups.push(right.to_vec());
            groups.push(left.to_vec());
        }
    }
    kept
}

/// The content of a text, as far as it can be parsed.
struct TextReading {
    parsed: Parsed,
    scalars: Places,
    comments: Vec<String>,
    problems: usize,
}

impl TextReading {
    fn of(text: &str) -> Self {
        let mut findings = Findings::default();
        let parsed = parse(FileId::ONLY, &Source::new("text", text), &mut findings);
        let events = Parser::new_from_str(text).map_while(Result::ok);
        let comments = events.filter_map(|(event, _)| match event {
            Event::Comment(text, _) => Some(text.into_owned()),
            _ => None,
        });
        let mut places = Vec::new();
        parsed.documents.iter().for_each(|document| scalars(document, &mut places));
        Self { parsed, scalars: Places::of(places), comments: comments.collect(), problems: findings.len() }
    }

    /// Whether an edit changes only one value. A value with an alias would change in several places.
    fn is_single(&self, edit: &Edit) -> bool {
        !self.parsed.complete || self.scalars.touching(&edit.at) <= 1
    }

    /// Whether the text still has the same content, apart from the values at the edits' positions.
    fn survives(&self, text: &str, edits: &[Edit]) -> bool {
        let (after, _) = apply(text, edits);
        let after = Self::of(&after);
        let places = Places::of(edits.iter().map(|edit| edit.at.clone()));
        if !self.parsed.complete {
            // An unparsed part cannot be compared. The number of problems must decrease, and an edit must stay within a
            // line without comments.
            let written = |edit: &Edit| text.get(edit.at.clone()).unwrap_or("").to_owned();
            let plain = |text: String| !text.contains('\n') && !text.contains(" #") && !text.contains("\t#");
            return after.problems < self.problems && edits.iter().all(|edit| plain(written(edit)));
        }
        let documents = || self.parsed.documents.iter().zip(&after.parsed.documents);
        after.parsed.complete
            && after.comments == self.comments
            && self.parsed.documents.len() == after.parsed.documents.len()
            && documents().all(|(old, new)| same(old, new, &places))
    }
}

/// Ranges of a text that do not overlap, but may occur several times.
#[derive(Default)]
struct Places {
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Places {
    fn of(ranges: impl IntoIterator<Item = Range<usize>>) -> Self {
        // An empty range counts as the character after it.
        let (mut starts, mut ends): (Vec<usize>, Vec<usize>) =
            ranges.into_iter().map(|range| (range.start, range.end.max(range.start + 1))).unzip();
        starts.sort_unstable();
        ends.sort_unstable();
        Self { starts, ends }
    }

    /// The number of ranges that share a byte with another one.
    fn touching(&self, range: &Range<usize>) -> usize {
        let end = range.end.max(range.start + 1);
        let begun = self.starts.partition_point(|start| *start < end);
        let ended = self.ends.partition_point(|end| *end <= range.start);
        begun - ended
    }
}

/// The ranges of the scalars of a tree, including keys. One with aliases occurs several times.
fn scalars(node: &Node, into: &mut Vec<Range<usize>>) {
    match &node.tree {
        Tree::Scalar(_) => into.push(node.span.range()),
        Tree::List(items) => items.iter().for_each(|item| scalars(item, into)),
        Tree::Map(entries) => {
            for entry in entries {
                into.push(entry.key.span.range());
                scalars(&entry.value, into);
            }
        }
    }
}

/// Whether two trees are equal, apart from scalars at the edits' positions.
fn same(old: &Node, new: &Node, edits: &Places) -> bool {
    let edited = |range: Range<usize>| edits.touching(&range) > 0;
    match (&old.tree, &new.tree) {
        (Tree::Scalar(a), Tree::Scalar(b)) => (a.text == b.text && a.style == b.style) || edited(old.span.range()),
        (Tree::List(a), Tree::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(old, new)| same(old, new, edits)),
        (Tree::Map(a), Tree::Map(b)) => {
            let pairs = || a.iter().zip(b);
            a.len() == b.len()
                && pairs().all(|(old, new)| old.key == new.key || edited(old.key.span.range()))
                && pairs().all(|(old, new)| same(&old.value, &new.value, edits))
        }
        // A placeholder without quotes is parsed as a map, and with quotes as a text.
        (Tree::Map(_), Tree::Scalar(_)) => edited(old.span.range()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text after all sound edits, each given as old and new text.
    fn fixed(text: &str, edits: &[(&str, &str)]) -> String {
        let edits: Vec<Edit> = edits
            .iter()
            .map(|(old, new)| {
                let start = text.find(old).expect(old);
                Edit { at: start..start + old.len(), text: new }
            })
            .collect();
        apply(text, &sound(text, &edits)).0
    }

    #[test]
    fn an_edit_of_one_value_is_sound() {
        assert_eq!(fixed("a: no # why\nb: 1\n", &[("no", "\"no\"")]), "a: \"no\" # why\nb: 1\n");
    }

    #[test]
    fn an_edit_that_joins_lines_is_not() {
        let text = "a: |-\n  true\nb: 1\n";
        assert_eq!(fixed(text, &[("|-\n  true\n", "true")]), text);
    }

    #[test]
    fn an_edit_of_what_an_alias_repeats_is_not() {
        let text = "a: &t no\nb: *t\n";
        assert_eq!(fixed(text, &[("no", "\"no\"")]), text);
    }

    #[test]
    fn of_very_many_edits_none_is_promising_that_an_alias_repeats() {
        let text: String = (0..300).map(|n| format!("a{n}: &t{n} no\nb{n}: *t{n}\nc{n}: |-\n  no\n")).collect();
        let edits: Vec<Edit> =
            text.match_indices("no\n").map(|(at, _)| Edit { at: at..at + 2, text: "\"no\"" }).collect();
        let promising = promising(&text, &edits);
        assert!(promising.iter().all(|edit| text[..edit.at.start].ends_with("|-\n  ")), "{promising:?}");
        assert_eq!(promising.len(), 300);
    }

    #[test]
    fn an_edit_that_swallows_a_comment_or_an_anchor_is_not() {
        let text = "a: !!str # why\n  x\n";
        assert_eq!(fixed(text, &[("!!str # why\n  x", "\"x\"")]), text);
        let text = "a: !!str &n 42\nb: *n\n";
        assert_eq!(fixed(text, &[("!!str &n 42", "\"42\"")]), text);
    }

    #[test]
    fn the_harmless_ones_are_carried_out_all_the_same() {
        let text = "a: no\nb: |-\n  true\nc: on\nd: off\n";
        let edits = [("no", "\"no\""), ("|-\n  true\n", "true"), ("on\n", "\"on\"\n"), ("off", "\"off\"")];
        assert_eq!(fixed(text, &edits), "a: \"no\"\nb: |-\n  true\nc: \"on\"\nd: \"off\"\n");
    }

    #[test]
    fn what_could_not_be_read_must_become_better_and_keep_its_comments() {
        let text = "a: {{N}} b # why\n";
        assert_eq!(fixed(text, &[("{{N}} b # why", "\"{{N}} b # why\"")]), text);
        assert_eq!(fixed(text, &[("{{N}} b", "\"{{N}} b\"")]), "a: \"{{N}} b\" # why\n");
    }
}
