//! The canonical layout of a manifest. It changes white space and quotes, and never the content.

use std::ops::Range;

use granit_parser::{Event, Parser, StructureStyle};
use pretty_yaml::config::{FormatOptions, LanguageOptions, LayoutOptions, LineBreak, Quotes};
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::{Node, Style, Tree};
use pushplan_model::source::{FileId, Source, Sources};

use super::parse;

/// The width at which lines are broken, if YAML allows it.
const WIDTH: usize = 120;
/// Spaces for each level.
const INDENT: usize = 2;
/// The deepest indentation that the layout engine supports; it counts columns in the bits of one number.
const DEEPEST: usize = 63;
/// The maximal number of passes until the layout no longer changes.
const PASSES: usize = 3;

/// The options of the layout: two spaces, lists indented under their key, `{a: b}` and `[a, b]` without inner spaces,
/// double quotes if there are quotes and the text needs no escapes for them, at most one blank line, LF.
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

/// Why a text is not changed.
#[derive(Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is not a valid manifest.
    Wrong(Vec<Finding>),
    /// Its layout cannot be changed without a risk for its content.
    Unsure(&'static str),
}

/// Returns the text of a manifest in canonical layout: the same values, the same comments, and the same result if
/// repeated.
pub fn layout(file: FileId, source: &Source) -> Result<String, Kept> {
    let mut page = LaidOut::read(file, source).map_err(Kept::Wrong)?;
    if source.text.chars().all(|c| c.is_whitespace() || c == '\u{feff}') {
        return Ok(String::new());
    }
    for _ in 0..=PASSES {
        let text = pass(&page)?;
        if text == page.source.text {
            return Ok(text);
        }
        page =
            LaidOut::read(file, &Source::new(source.path.clone(), text)).map_err(|_| Kept::Unsure("it would break"))?;
    }
    Err(Kept::Unsure("its layout is not stable"))
}

/// A text and its content.
struct LaidOut {
    source: Source,
    documents: Vec<Node>,
    comments: Vec<Range<usize>>,
}

impl LaidOut {
    /// Parses a page, or returns its problems. Every problem counts, because unparsed content cannot be compared.
    fn read(file: FileId, source: &Source) -> Result<Self, Vec<Finding>> {
        let mut findings = Findings::default();
        let parsed = parse(file, source, &mut findings);
        if !findings.is_empty() || !parsed.complete {
            return Err(findings.into_vec());
        }
        let source = Source::new(source.path.clone(), &source.text);
        let comments = comments(&source.text);
        Ok(Self { source, documents: parsed.documents, comments })
    }

    /// The comments without the blanks around them.
    fn remarks(&self) -> impl Iterator<Item = &str> {
        self.comments.iter().map(|range| self.source.text[range.clone()].trim_start_matches('#').trim())
    }

    fn column(&self, at: usize) -> usize {
        self.source.position(at).column
    }

    /// Whether there are only blanks before a position in its line.
    fn begins_a_line(&self, at: usize) -> bool {
        let line = self.source.text[..at].rsplit('\n').next().unwrap_or_default();
        line.chars().all(|c| c == ' ')
    }
}

/// One pass over a page. A result with other content is refused.
fn pass(page: &LaidOut) -> Result<String, Kept> {
    let text = &page.source.text;
    let mut blocks = Vec::new();
    page.documents.iter().for_each(|node| block_texts(node, text, &mut blocks));
    if is_too_deep(text, &blocks) {
        return Err(Kept::Unsure("a line is indented by more than 63 columns"));
    }
    let made = pretty_yaml::format_text(text, &options()).map_err(|_| Kept::Unsure("its layout is not supported"))?;
    let mut sources = Sources::default();
    let id = sources.add(Source::new(page.source.path.clone(), hang(made)));
    let made = LaidOut::read(id, sources.get(id)).map_err(|_| Kept::Unsure("it would break"))?;
    let documents = page.documents.iter().zip(&made.documents);
    if page.documents.len() != made.documents.len() || !documents.into_iter().all(|(a, b)| same(a, b)) {
        return Err(Kept::Unsure("its values would change"));
    }
    if !page.remarks().eq(made.remarks()) {
        return Err(Kept::Unsure("a comment would be lost"));
    }
    Ok(align(page, &made))
}

/// Moves every bracket that closes a collection with several lines to the indentation of its items. The layout engine
/// puts it at the indentation of the key, which YAML does not allow.
fn hang(mut text: String) -> String {
    let mut open: Vec<(bool, usize)> = Vec::new();
    let mut moves = Vec::new();
    for (event, span) in Parser::new_from_str(&text).map_while(Result::ok) {
        let Some(range) = span.byte_range() else { continue };
        match event {
            Event::SequenceStart(style, ..) | Event::MappingStart(style, ..) => {
                open.push((style == StructureStyle::Flow, range.start));
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some((true, start)) = open.pop() else { continue };
                let outermost = !open.last().is_some_and(|(flow, _)| *flow);
                let line = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
                if outermost && line > start && text[line..range.start].bytes().all(|byte| byte == b' ') {
                    let inner = text[start..].split('\n').nth(1).unwrap_or_default();
                    moves.push((line..range.start, inner.len() - inner.trim_start().len()));
                }
            }
            _ => {}
        }
    }
    for (blank, deep) in moves.into_iter().rev() {
        text.replace_range(blank, &" ".repeat(deep));
    }
    text
}

/// Moves every comment on a separate line in `made` to the indentation of its owner in `page`. The layout engine loses
/// this for a comment after the last field of a map: a field that was commented out would change its owner.
fn align(page: &LaidOut, made: &LaidOut) -> String {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    page.documents.iter().for_each(|node| starts(node, page, &mut before));
    made.documents.iter().for_each(|node| starts(node, made, &mut after));
    let mut starts: Vec<(&Start, &Start)> = before.iter().zip(&after).collect();
    starts.sort_by_key(|(start, _)| start.at);
    let mut text = made.source.text.clone();
    for (old, new) in page.comments.iter().zip(&made.comments).rev() {
        if !page.begins_a_line(old.start) || !made.begins_a_line(new.start) {
            continue;
        }
        // The nearest field or item above the comment that is not deeper, if its indentation is the same.
        let column = page.column(old.start);
        let above = &starts[..starts.partition_point(|(start, _)| start.at < old.start)];
        let Some((_, start)) =
            above.iter().rev().find(|(start, _)| start.column <= column).filter(|(start, _)| start.column == column)
        else {
            continue;
        };
        let found = made.column(new.start);
        text.replace_range(new.start - (found - 1)..new.start, &" ".repeat(start.column - 1));
    }
    text
}

/// The start of a field or an item of a block, and its indentation: that of an item is that of its dash.
struct Start {
    at: usize,
    column: usize,
}

/// The starts of all fields and items on separate lines, in the order of the tree.
fn starts(node: &Node, page: &LaidOut, into: &mut Vec<Start>) {
    let first = node.span.range().start;
    if page.source.text[first..].starts_with(['{', '[']) {
        return;
    }
    match &node.tree {
        Tree::Scalar(_) => {}
        Tree::Map(entries) => {
            for entry in entries {
                let at = entry.key.span.range().start;
                into.push(Start { at, column: page.column(at) });
                starts(&entry.value, page, into);
            }
        }
        Tree::List(items) => {
            for item in items {
                let at = item.span.range().start;
                let before = page.source.text[..at].trim_end();
                let column = before.ends_with('-').then(|| page.column(before.len() - 1));
                into.push(Start { at, column: column.unwrap_or(usize::MAX) });
                starts(item, page, into);
            }
        }
    }
}

/// Whether two trees have the same content: keys in their order, texts, and styles of scalars.
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

/// The ranges of the comments, in order.
pub fn comments(text: &str) -> Vec<Range<usize>> {
    places(text, |event| matches!(event, Event::Comment(..)))
}

/// The ranges of the aliases, in order.
pub(crate) fn aliases(text: &str) -> Vec<Range<usize>> {
    places(text, |event| matches!(event, Event::Alias(..)))
}

fn places(text: &str, is_it: impl Fn(&Event) -> bool) -> Vec<Range<usize>> {
    let options = granit_parser::options! { max_buffered_comment_events: usize::MAX };
    let events = Parser::new_from_str_with_options(text, options).map_while(Result::ok);
    events.filter(|(event, _)| is_it(event)).filter_map(|(_, span)| span.byte_range()).collect()
}

/// The ranges of blocks of text, whose indentation is the author's.
fn block_texts(node: &Node, text: &str, into: &mut Vec<Range<usize>>) {
    match &node.tree {
        Tree::List(items) => items.iter().for_each(|item| block_texts(item, text, into)),
        Tree::Map(entries) => entries.iter().for_each(|entry| block_texts(&entry.value, text, into)),
        // A scalar that is certainly a text, but not in quotes, is a block.
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
            ("a:\n    b: 1 # x\n    # c: 2\n\n# d\ne: 3\n", "a:\n  b: 1 # x\n  # c: 2\n\n# d\ne: 3\n"),
            (
                "a:\n- b: 1 # x\n  # in the item\n# in the list\n- 2\n",
                "a:\n  - b: 1 # x\n    # in the item\n  # in the list\n  - 2\n",
            ),
            ("a: {b: 1, # x\n  c: 2}\n", "a: {\n  b: 1, # x\n  c: 2,\n  }\n"),
            ("- a: [\n    1,\n    {b: 2,\n     c: 3}]\n", "- a: [\n    1,\n    {b: 2, c: 3},\n    ]\n"),
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
