//! Positions for new entries of a map in its author's style, so that nothing else moves.

use std::ops::Range;

use pushplan_model::node::{Node, Tree};

/// A position for entries, and their form there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InsertionPoint {
    pub at: Range<usize>,
    pub form: Form,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Each on its own line, with this indentation and line end.
    Lines { indent: String, end: &'static str },
    /// Before the entries of a flow map, with this separator.
    Before { gap: &'static str },
    /// In an empty flow map.
    Within,
    /// A flow map instead of no value.
    Whole { gap: &'static str },
}

/// New entries.
#[derive(Clone, Debug)]
pub struct Added {
    pub form: Form,
    pub lines: Vec<String>,
}

impl Added {
    pub fn text(&self) -> String {
        let together = self.lines.join(", ");
        match &self.form {
            Form::Lines { indent, end } => self.lines.iter().map(|line| format!("{indent}{line}{end}")).collect(),
            Form::Before { gap } => format!("{together},{gap}"),
            Form::Within => together,
            Form::Whole { gap } => format!("{gap}{{{together}}}"),
        }
    }
}

/// Finds the position for new entries of a key: before the first entry of a block, so that comments stay with their
/// entries. `None` if the value is elsewhere, such as an alias.
pub fn place(text: &str, key: Range<usize>, value: &Node) -> Option<InsertionPoint> {
    let at = value.span.range();
    let colon = key.end + text.get(key.end..)?.find(':')?;
    if value.is_null() {
        let written = value.span.file().is_some() && !at.is_empty() && at.start > colon;
        let gap = if written { "" } else { " " };
        return Some(InsertionPoint { at: if written { at } else { colon + 1..colon + 1 }, form: Form::Whole { gap } });
    }
    let Tree::Map(entries) = &value.tree else { return None };
    if at.start <= colon {
        return None;
    }
    if text.get(at.clone())?.starts_with('{') {
        let after = at.start + 1;
        if entries.is_empty() {
            return Some(InsertionPoint { at: after..after, form: Form::Within });
        }
        let blanks = text.get(after..)?.len() - text.get(after..)?.trim_start_matches(' ').len();
        let (inside, gap) = match text.get(after + blanks..)?.starts_with(['\n', '\r', '#']) {
            true => (after, ""),
            false => (after + blanks, " "),
        };
        return Some(InsertionPoint { at: inside..inside, form: Form::Before { gap } });
    }
    let first = entries.first()?.key.span.range().start;
    let line = text.get(..first)?.rfind('\n')? + 1;
    let indent = text.get(line..first)?;
    let next = key.end + text.get(key.end..)?.find('\n')? + 1;
    // An entry on the line of its key, such as after `? `, has no line of its own.
    if next > line || !indent.chars().all(|c| c == ' ') {
        return None;
    }
    let end = if text[..next].ends_with("\r\n") { "\r\n" } else { "\n" };
    Some(InsertionPoint { at: next..next, form: Form::Lines { indent: indent.to_owned(), end } })
}

#[cfg(test)]
mod tests {
    use pushplan_model::finding::Findings;
    use pushplan_model::source::{FileId, Source};
    use pushplan_project::manifest::parse;

    use super::*;

    /// Adds `n: x` to the entries of the key `k`.
    fn with(text: &str) -> Option<String> {
        let parsed = parse(FileId::ONLY, &Source::new("text", text), &mut Findings::default());
        let entries = parsed.documents[0].get("s").expect("a map").entries().expect("entries").to_vec();
        let entry = entries.iter().find(|entry| *entry.key == "k").expect("the key");
        let InsertionPoint { at, form } = place(text, entry.key.span.range(), &entry.value)?;
        let mut out = text.to_owned();
        out.replace_range(at, &Added { form, lines: vec!["n: x".to_owned()] }.text());
        Some(out)
    }

    #[test]
    fn entries_are_added_in_the_form_of_their_map() {
        for (before, after) in [
            ("s:\n  k:\n    a: 1\n", "s:\n  k:\n    n: x\n    a: 1\n"),
            ("s:\n  k: # why\n    # about a\n    a: 1\n", "s:\n  k: # why\n    n: x\n    # about a\n    a: 1\n"),
            ("s:\r\n  k: &anchor\r\n    a: 1\r\n", "s:\r\n  k: &anchor\r\n    n: x\r\n    a: 1\r\n"),
            ("s:\n  k: {a: 1}\n", "s:\n  k: {n: x, a: 1}\n"),
            ("s: {k: { a: 1 }}\n", "s: {k: { n: x, a: 1 }}\n"),
            ("s:\n  k: {\n    a: 1}\n", "s:\n  k: {n: x,\n    a: 1}\n"),
            ("s:\n  k: {}\n", "s:\n  k: {n: x}\n"),
            ("s:\n  k:\n  l: 1\n", "s:\n  k: {n: x}\n  l: 1\n"),
            ("s:\n  k: ~ # none\n", "s:\n  k: {n: x} # none\n"),
            ("s:\n  \"k\" :\n      a: 1\n", "s:\n  \"k\" :\n      n: x\n      a: 1\n"),
        ] {
            assert_eq!(with(before).as_deref(), Some(after), "{before:?}");
        }
    }

    #[test]
    fn what_stands_elsewhere_is_not_added_to() {
        assert_eq!(with("s:\n  a: &one {b: 1}\n  k: *one\n"), None);
        assert_eq!(with("s:\n  k: text\n"), None);
        assert_eq!(with("s:\n  ? k\n  : a: 1\n"), None);
    }
}
