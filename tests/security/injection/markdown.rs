//! Escaped texts are read by a parser for the Markdown of code hosts: only the text remains.

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};
use proptest::prelude::*;
use pushplan::render::escape::{html, markdown};
use pushplan::render::{one_line, visible};

/// The elements of a document, and all its texts, without the zero-width spaces that separate words.
fn read(document: &str) -> (String, String) {
    let mut options = Options::default();
    let extension = &mut options.extension;
    extension.strikethrough = true;
    extension.table = true;
    extension.autolink = true;
    extension.tasklist = true;
    extension.superscript = true;
    extension.footnotes = true;
    extension.inline_footnotes = true;
    extension.alerts = true;
    extension.math_dollars = true;
    extension.math_code = true;
    extension.shortcodes = true;
    extension.wikilinks_title_after_pipe = true;
    extension.spoiler = true;
    options.parse.relaxed_autolinks = true;
    let arena = Arena::new();
    let (mut shape, mut texts) = (Vec::new(), String::new());
    for node in parse_document(&arena, document, &options).descendants().skip(1) {
        let name = match &node.data().value {
            NodeValue::Text(text) => {
                texts.push_str(text);
                continue;
            }
            NodeValue::Code(code) => {
                texts.push_str(&code.literal);
                "code".to_owned()
            }
            NodeValue::CodeBlock(block) => {
                texts.push_str(&block.literal);
                format!("block {}", block.info)
            }
            NodeValue::HtmlBlock(block) => {
                texts.push_str(&block.literal);
                "html".to_owned()
            }
            NodeValue::HtmlInline(tag) => tag.clone(),
            NodeValue::Paragraph => "paragraph".to_owned(),
            NodeValue::Heading(_) => "heading".to_owned(),
            NodeValue::List(_) => "list".to_owned(),
            NodeValue::Item(_) => "item".to_owned(),
            NodeValue::BlockQuote => "quote".to_owned(),
            NodeValue::Table(_) => "table".to_owned(),
            NodeValue::TableRow(_) => "row".to_owned(),
            NodeValue::TableCell => "cell".to_owned(),
            NodeValue::Strong => "strong".to_owned(),
            NodeValue::SoftBreak => {
                texts.push('\n');
                "break".to_owned()
            }
            other => format!("{other:?}"),
        };
        shape.push(name);
    }
    (shape.join(" "), texts.replace('\u{200b}', ""))
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
    out.replace('\u{200b}', "")
}

/// Texts that try to be markup, and the characters that they are made of.
const HOSTILE: &[&str] = &[
    "</summary></details>",
    "<script>",
    "<!--",
    "<img src=x onerror=y>",
    "<https://evil.example>",
    "&lt;",
    "&#64;",
    "&amp;",
    "```",
    "~~~",
    "`",
    "``",
    "**",
    "*",
    "__",
    "_",
    "~~",
    "~",
    "[x](https://evil.example)",
    "![x](y)",
    "[^1]",
    "[^1]: x",
    "^[x]",
    "[ ] ",
    "[x]: https://evil.example",
    "[!NOTE]",
    "[[a|b]]",
    "|",
    "||",
    "\\|",
    "\\",
    "\\`",
    "@name",
    "@org/team",
    "a@b.example",
    "#123",
    "GH-12",
    "gh-1",
    "owner/repo#1",
    "owner/repo@0123456789",
    "0123abcd",
    "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
    "https://evil.example/x",
    "http://",
    "ftp://evil.example",
    "www.evil.example",
    "WWW.evil.example",
    "mailto:a@b.example",
    "xmpp:a@b.example",
    ":tada:",
    ":+1:",
    "::",
    "$x$",
    "$`x`$",
    "$$",
    "---",
    "===",
    "***",
    "# ",
    "## ",
    "> ",
    "- ",
    "+ ",
    "* ",
    "1. ",
    "1) ",
    "    ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\n\n",
    "\n---\n",
    "\n```\n",
    "|---|",
    ":-:",
    "!",
    "!5",
    "%7",
    "(",
    ")",
    ":",
    "/approve",
    "a",
    "Z",
    "0",
    " ",
    "é",
    "日",
    "😀",
    "\u{202e}",
    "\u{200b}",
    "\u{1b}[2J",
    "\u{0}",
    "\u{2028}",
];

fn hostile() -> impl Strategy<Value = String> {
    let pieces = proptest::collection::vec(proptest::sample::select(HOSTILE), 1..6);
    prop_oneof![4 => pieces.prop_map(|pieces| pieces.concat()), 1 => "\\PC{1,12}", 1 => "[!-/:-@\\[-`{-~ ]{1,12}"]
}

/// In every place, a text is read as itself, and the place is unchanged.
fn assert_stays(data: &str) {
    let text = markdown::text(data);
    let plain = one_line(data);
    let table = format!("| a | b |\n|---|---|\n| {text} | x |\n");
    for (document, shape, before, after) in [
        (format!("{text}\n"), "paragraph", "", ""),
        (format!("Say {text} twice.\n"), "paragraph", "Say ", " twice."),
        (format!("**{text}**\n"), "paragraph strong", "", ""),
        (format!("# {text}\n"), "heading", "", ""),
        (format!("- {text}\n"), "list item paragraph", "", ""),
        (format!("1. {text}\n"), "list item paragraph", "", ""),
        (format!("> {text}\n"), "quote paragraph", "", ""),
        (format!("one\n{text}\n"), "paragraph break", "one\n", ""),
        (format!("{text}\ntwo\n"), "paragraph break", "", "\ntwo"),
        (table, "table row cell cell row cell cell", "ab", "x"),
        (format!("{}\n", markdown::code_in_html(data)), "paragraph <code> </code>", "", ""),
    ] {
        let (read_shape, read_text) = read(&document);
        assert_eq!(read_shape, shape, "{data:?} as {document:?}");
        assert_eq!(read_text, format!("{before}{plain}{after}"), "{data:?} as {document:?}");
    }
    let summary = format!("<details><summary>{text}</summary>\n\nmore\n\n</details>\n");
    let (shape, texts) = read(&summary);
    assert_eq!(shape, "html paragraph html", "{data:?} as {summary:?}");
    let first = texts.strip_prefix("<details><summary>").and_then(|rest| rest.split_once("</summary>"));
    let (inside, _) = first.unwrap_or_else(|| panic!("{texts:?}"));
    assert!(!inside.contains(['<', '>', '"']), "{inside}");
    assert_eq!(decoded(inside), plain, "{data:?}");
}

/// References that hosts turn into links after parsing: none may remain in one piece.
fn assert_unlinked(data: &str) {
    let read: Vec<char> = decoded_with_spaces(&markdown::text(data)).chars().collect();
    let at = |index: usize| read.get(index).copied().unwrap_or(' ');
    let mut digits = 0;
    for index in 0..read.len() {
        digits = if at(index).is_ascii_hexdigit() { digits + 1 } else { 0 };
        assert!(digits < 7, "{data:?} holds what could be a commit");
        assert!(at(index) != '@' || !at(index + 1).is_alphanumeric(), "{data:?} mentions somebody");
        assert!(at(index) != '#' || !at(index + 1).is_ascii_alphanumeric(), "{data:?} refers to an issue");
        let words: String = read[index..].iter().take(8).collect::<String>().to_lowercase();
        assert!(!words.starts_with("gh-") || !at(index + 3).is_ascii_digit(), "{data:?} refers to an issue");
        assert!(!words.starts_with("://") && !words.starts_with("www."), "{data:?} links");
        if at(index) == ':' {
            let is_name = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '+' | '-');
            let name = read[index + 1..].iter().take_while(|c| is_name(c)).count();
            assert!(name == 0 || at(index + 1 + name) != ':', "{data:?} holds an emoji");
        }
    }
}

fn decoded_with_spaces(text: &str) -> String {
    decoded(&text.replace("&#8203;", "\u{e000}")).replace('\u{e000}', "\u{200b}")
}

#[test]
fn every_hostile_text_stays_a_text_wherever_it_stands() {
    for text in HOSTILE {
        assert_stays(text);
        assert_unlinked(text);
    }
}

#[test]
fn without_the_escape_these_texts_are_something_else() {
    let harmless = HOSTILE.iter().filter(|text| read(&format!("{text}\n")) == ("paragraph".to_owned(), one_line(text)));
    assert!(harmless.count() < HOSTILE.len() / 2);
}

#[test]
fn every_character_stays_a_text_in_a_table() {
    for chunk in ('\0'..=char::MAX).collect::<Vec<_>>().chunks(2048) {
        let data: String = chunk.iter().collect();
        let (shape, text) = read(&format!("| {} |\n|---|\n| x |\n", markdown::text(&data)));
        assert_eq!(shape, "table row cell row cell");
        assert_eq!(text, format!("{}x", one_line(&data)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_breaks_out(data in hostile()) {
        assert_stays(&data);
        assert_unlinked(&data);
    }

    #[test]
    fn code_is_read_as_it_is(data in hostile()) {
        let (shape, text) = read(&format!("Say {} now.\n", markdown::code(&data)));
        prop_assert_eq!(shape, "paragraph code");
        prop_assert_eq!(text, format!("Say {} now.", one_line(&data)));
    }

    #[test]
    fn a_block_ends_where_we_end_it(data in hostile(), info in hostile()) {
        let (shape, text) = read(&format!("{}\nafter\n", markdown::block(&info, &data)));
        prop_assert!(shape.starts_with("block ") && shape.ends_with(" paragraph"), "{}", shape);
        prop_assert_eq!(shape.matches(' ').count(), 2, "{}", shape);
        let lines = visible(&data);
        let end = if lines.ends_with('\n') { "" } else { "\n" };
        prop_assert_eq!(text, format!("{lines}{end}after"));
    }

    #[test]
    fn html_holds_no_markup(data in hostile()) {
        let written = html::text(&data);
        prop_assert!(!written.contains(['<', '>', '"', '\'']));
        let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
        let read = named.iter().fold(written, |text, (name, sign)| text.replace(name, sign));
        prop_assert_eq!(read, visible(&data));
    }
}
