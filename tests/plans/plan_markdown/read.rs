//! Markdown as code hosts read it.

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};

/// The content of a document.
#[derive(Debug, Default)]
pub struct Document {
    /// All texts, including those in blocks and HTML, without the zero-width spaces that separate words.
    pub texts: String,
    /// The texts outside code, with these spaces: hosts search them for mentions and references.
    pub words: String,
    /// The tags of raw HTML, in order.
    pub tags: Vec<String>,
    /// The number of cells in each row of a table.
    pub cells: Vec<usize>,
    /// Everything that a plan must not contain: links, images, footnotes, formulas.
    pub foreign: Vec<String>,
    /// The blocks of code, whole.
    pub blocks: Vec<String>,
}

impl Document {
    fn says(&mut self, text: &str) {
        self.texts.push_str(text);
        self.words.push_str(text);
    }

    /// References that hosts turn into links after parsing: none may remain in one piece.
    fn assert_unlinked(&self) {
        let words: Vec<char> = self.words.chars().collect();
        let at = |index: usize| words.get(index).copied().unwrap_or(' ');
        let mut digits = 0;
        for index in 0..words.len() {
            let near = || words[index.saturating_sub(20)..words.len().min(index + 20)].iter().collect::<String>();
            digits = if at(index).is_ascii_hexdigit() { digits + 1 } else { 0 };
            assert!(digits < 7, "{:?} could be a commit", near());
            assert!(at(index) != '@' || !at(index + 1).is_alphanumeric(), "{:?} mentions somebody", near());
            assert!(at(index) != '#' || !at(index + 1).is_ascii_alphanumeric(), "{:?} refers to an issue", near());
            let next: String = words[index..].iter().take(4).collect::<String>().to_lowercase();
            let is_issue = next.starts_with("gh-") && at(index + 3).is_ascii_digit();
            assert!(!is_issue && !next.starts_with("://") && next != "www.", "{:?} links", near());
        }
    }
}

fn options() -> Options<'static> {
    let mut options = Options::default();
    let extension = &mut options.extension;
    extension.strikethrough = true;
    extension.table = true;
    extension.autolink = true;
    extension.tasklist = true;
    extension.footnotes = true;
    extension.alerts = true;
    extension.math_dollars = true;
    extension.shortcodes = true;
    extension.wikilinks_title_after_pipe = true;
    options.parse.relaxed_autolinks = true;
    options
}

/// A text of raw HTML as a browser reads it.
fn decoded(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once("&#") {
        out.push_str(before);
        let (number, after) = after.split_once(';').expect("a reference");
        out.push(char::from_u32(number.parse().expect("a number")).expect("a character"));
        rest = after;
    }
    out.push_str(rest);
    out.replace("&lt;", "<")
}

/// The tags of raw HTML, and the texts between them.
fn tags(html: &str, document: &mut Document) {
    let mut rest = html;
    while let Some((text, after)) = rest.split_once('<') {
        document.says(&decoded(text));
        let end = if after.starts_with("!--") { "-->" } else { ">" };
        let (tag, after) = after.split_once(end).expect("a whole tag");
        document.tags.push(tag.to_owned());
        rest = after;
    }
    document.says(&decoded(rest));
}

pub fn read(text: &str) -> Document {
    let arena = Arena::new();
    let mut document = Document::default();
    for node in parse_document(&arena, text, &options()).descendants() {
        if !matches!(node.data().value, NodeValue::Text(_)) {
            document.words.push('\n');
        }
        match &node.data().value {
            NodeValue::Text(text) => document.says(text),
            NodeValue::Code(code) => document.texts.push_str(&code.literal),
            NodeValue::CodeBlock(block) => {
                document.texts.push_str(&block.literal);
                assert!(matches!(block.info.as_str(), "diff" | "text"), "a block of {:?}", block.info);
                document.blocks.push(block.literal.clone());
            }
            NodeValue::HtmlBlock(block) => tags(&block.literal, &mut document),
            NodeValue::HtmlInline(tag) => tags(tag, &mut document),
            NodeValue::TableRow(_) => document.cells.push(node.children().count()),
            NodeValue::SoftBreak | NodeValue::LineBreak => document.says("\n"),
            NodeValue::Document
            | NodeValue::Paragraph
            | NodeValue::Heading(_)
            | NodeValue::List(_)
            | NodeValue::Item(_)
            | NodeValue::Alert(_)
            | NodeValue::Strong
            | NodeValue::Table(_)
            | NodeValue::TableCell
            | NodeValue::ThematicBreak => {}
            other => document.foreign.push(format!("{other:?}")),
        }
    }
    document.texts = document.texts.replace('\u{200b}', "");
    document
}

/// Whether a document is complete and contains only markup of pushplan.
pub fn assert_sound(text: &str) -> Document {
    assert!(text.len() <= 60_000, "{} bytes", text.len());
    let document = read(text);
    assert!(document.foreign.is_empty(), "{:?} in\n{text}", document.foreign);
    document.assert_unlinked();
    assert!(document.cells.iter().all(|cells| *cells == 4), "{:?} in\n{text}", document.cells);
    // A parser drops surplus cells of a row, so bars are counted too.
    for row in text.lines().filter(|line| line.starts_with('|')) {
        assert_eq!(row.matches('|').count(), 5, "{row}");
    }
    let mut tags = document.tags.iter().map(String::as_str);
    let marker = tags.next().expect("a marker");
    assert!(marker.starts_with("!-- pushplan target=") && marker.split(' ').count() <= 6, "{marker}");
    // A name with a bar is HTML code, so that it fits into a table, where a line ends with `br`.
    let rest: Vec<&str> = tags.filter(|tag| !matches!(*tag, "code" | "/code" | "br")).collect();
    for fold in rest.chunks(4) {
        assert_eq!(fold, ["details", "summary", "/summary", "/details"], "in\n{text}");
    }
    // An open fence would swallow the end.
    let end = text.lines().next_back().expect("a line");
    assert!(rest.is_empty() || end.starts_with("Plan `"), "{end}");
    // Data never begins a line, where bots look for commands.
    for line in document.blocks.iter().flat_map(|block| block.lines()) {
        let ours = ["+", "-", " "].contains(&&line[..1]) || line.starts_with(|c: char| c.is_ascii_digit());
        assert!(ours, "{line:?} in\n{text}");
    }
    document
}
