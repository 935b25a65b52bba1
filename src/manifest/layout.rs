//! The canonical layout of a manifest. It changes white space and quotes, and never what the text says.

use std::ops::Range;

use granit_parser::{Event, Parser};
use pretty_yaml::config::{FormatOptions, LanguageOptions, LayoutOptions, LineBreak, Quotes};

use super::parse;
use crate::finding::{Finding, Findings};
use crate::node::{Node, Style, Tree};
use crate::source::{FileId, Source, Sources};

/// Lines are broken from here on, where YAML allows it.
const WIDTH: usize = 120;
/// Spaces for each level.
const INDENT: usize = 2;
/// The deepest indentation that the layout engine can tell apart; it counts columns in the bits of one number.
const DEEPEST: usize = 63;
/// A layout that a second pass would change is laid out again, this often at most.
const PASSES: usize = 3;

/// All that is decided about the layout: two spaces, lists indented under their key, `{a: b}` and `[a, b]` without inner
/// spaces, double quotes where there are quotes and the text needs no escapes for them, one blank line at most, LF.
fn options() -> FormatOptions {
    FormatOptions {
        layout: LayoutOptions { print_width: WIDTH, indent_width: INDENT, line_break: LineBreak::Lf },
        language: LanguageOptions {
            quotes: Quotes::PreferDouble,
            brace_spacing: false,
            bracket_spacing: false,
            indent_block_sequence_in_map: true,
            // In a block of text they are part of the text.
            trim_trailing_whitespaces: false,
            ignore_comment_directive: "pushplan-fmt-ignore".into(),
            ..LanguageOptions::default()
        },
    }
}

/// Why a text is left as it is.
#[derive(Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is not a manifest that can be read.
    Wrong(Vec<Finding>),
    /// Its layout cannot be changed with certainty that it still says the same.
    Unsure(&'static str),
}

/// The text of a manifest in canonical layout: the same values, the same comments, the same result when it is done again.
pub fn layout(file: FileId, source: &Source) -> Result<String, Kept> {
    let before = read(file, source).map_err(Kept::Wrong)?;
    if source.text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(String::new());
    }
    let mut text = pass(&source.text, &before)?;
    for number in 1.. {
        let mut sources = Sources::default();
        let id = sources.add(Source::new(&source.path, &*text));
        let after = read(id, sources.get(id)).unwrap_or_default();
        if before.len() != after.len() || !before.iter().zip(&after).all(|(before, after)| same(before, after)) {
            return Err(Kept::Unsure("its values would change"));
        }
        let again = pass(&text, &after)?;
        if again == text {
            break;
        }
        if number == PASSES {
            return Err(Kept::Unsure("its layout does not come to rest"));
        }
        text = again;
    }
    if comments(&text) != comments(&source.text) {
        return Err(Kept::Unsure("a comment would be lost"));
    }
    Ok(text)
}

/// One pass over a text that holds these documents.
fn pass(text: &str, documents: &[Node]) -> Result<String, Kept> {
    let mut blocks = Vec::new();
    documents.iter().for_each(|node| block_texts(node, text, &mut blocks));
    if is_too_deep(text, &blocks) {
        return Err(Kept::Unsure("a line is indented by more than 63 columns"));
    }
    pretty_yaml::format_text(text, &options()).map_err(|_| Kept::Unsure("its layout is not understood"))
}

/// All documents, or what is wrong with them. Anything wrong counts: what was not read cannot be compared.
fn read(file: FileId, source: &Source) -> Result<Vec<Node>, Vec<Finding>> {
    let mut findings = Findings::default();
    let parsed = parse(file, source, &mut findings);
    if findings.is_empty() && parsed.complete { Ok(parsed.documents) } else { Err(findings.into_vec()) }
}

/// Whether two trees say the same: keys in their order, texts, and what may be taken for something else than text.
fn same(a: &Node, b: &Node) -> bool {
    match (&a.tree, &b.tree) {
        (Tree::Scalar(a), Tree::Scalar(b)) => a.text == b.text && a.style == b.style,
        (Tree::List(a), Tree::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Tree::Map(a), Tree::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.key == b.key && same(&a.value, &b.value))
        }
        _ => false,
    }
}

/// All comments, in their order.
fn comments(text: &str) -> Vec<String> {
    let options = granit_parser::options! { max_buffered_comment_events: usize::MAX };
    let events = Parser::new_from_str_with_options(text, options).map_while(Result::ok);
    events
        .filter_map(|(event, _)| match event {
            Event::Comment(text, _) => Some(text.trim().to_owned()),
            _ => None,
        })
        .collect()
}

/// Where the texts stand that are written as blocks: their lines are indented as their authors like.
fn block_texts(node: &Node, text: &str, into: &mut Vec<Range<usize>>) {
    match &node.tree {
        Tree::List(items) => items.iter().for_each(|item| block_texts(item, text, into)),
        Tree::Map(entries) => entries.iter().for_each(|entry| block_texts(&entry.value, text, into)),
        // What is a text for certain, and yet not in quotes, is a block.
        Tree::Scalar(scalar) if scalar.style == Style::Quoted => {
            let range = node.span.range();
            if !text.get(range.clone()).unwrap_or_default().starts_with(['"', '\'']) {
                into.push(range);
            }
        }
        Tree::Scalar(_) => {}
    }
}

fn is_too_deep(text: &str, blocks: &[Range<usize>]) -> bool {
    let mut start = 0;
    text.split_inclusive('\n').any(|line| {
        let deep = line.len() - line.trim_start_matches([' ', '\t', '-', '?', ':']).len() > DEEPEST;
        let at = start;
        start += line.len();
        deep && !blocks.iter().any(|block| block.contains(&at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(text: &str) -> Result<String, Kept> {
        let mut sources = Sources::default();
        let id = sources.add(Source::new("m.yaml", text));
        layout(id, sources.get(id))
    }

    #[test]
    fn white_space_and_quotes_become_the_same_everywhere() {
        for (written, expected) in [
            ("a:   1\n\n\n\nb: 'x'   # c\n# d\nc:\n- 1\n-   2\n", "a: 1\n\nb: \"x\" # c\n# d\nc:\n  - 1\n  - 2\n"),
            ("a: { b: 1,c: [ 1,2 ], }", "a: {b: 1, c: [1, 2]}\n"),
            ("a: 'it''s'\nb: 'say \"x\"'\n", "a: 'it''s'\nb: 'say \"x\"'\n"),
            ("a: 1\r\nb:\r\n    c: 2\r\n", "a: 1\nb:\n  c: 2\n"),
            ("\u{feff}a: 1\n", "a: 1\n"),
            ("\n\n", ""),
            ("# only a comment", "# only a comment\n"),
            ("a: |\n     two spaces follow  \n\n      deeper\n", "a: |\n  two spaces follow  \n\n   deeper\n"),
        ] {
            assert_eq!(laid_out(written).as_deref(), Ok(expected), "{written:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_or_told_apart_is_left_alone() {
        assert!(matches!(laid_out("a: [1\n"), Err(Kept::Wrong(found)) if found[0].code.name == "YM101"));
        assert!(matches!(laid_out("a: 1\na: 2\n"), Err(Kept::Wrong(found)) if found[0].code.name == "YM102"));
        let deep: String = (0..40).map(|level| format!("{}a:\n", "  ".repeat(level))).collect();
        assert!(matches!(laid_out(&deep), Err(Kept::Unsure(_))));
        let nested = format!("a: {}{}\n", "[xxxxxxxxxx, ".repeat(40), "]".repeat(40));
        assert!(matches!(laid_out(&nested), Err(Kept::Unsure(_))));
        let block = format!("a: |\n  x\n{}y\n", " ".repeat(100));
        assert_eq!(laid_out(&block).as_deref(), Ok(&*block));
    }
}
