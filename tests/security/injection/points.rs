//! Every character, passed through the functions that show texts and through the real binary.

use pushplan::render::escape::stream;
use pushplan::render::{one_line, visible};
use pushplan::text::{quoted, short};

use super::project::{Project, assert_calm};

/// All 1,112,064 characters.
fn all() -> impl Iterator<Item = char> {
    '\0'..=char::MAX
}

/// Characters that must not reach a terminal, defined independently of the code that escapes them.
pub fn is_raw(c: char) -> bool {
    matches!(u32::from(c),
        0..=0x1f | 0x7f..=0x9f | 0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffc
        | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff | 0xe000..=0xf8ff | 0xf0000.. | 0xfdd0..=0xfdef)
        || u32::from(c) & 0xfffe == 0xfffe
}

#[test]
fn no_character_is_shown_raw_and_every_one_is_told() {
    let mut count = 0;
    let mut text = String::new();
    for c in all() {
        count += 1;
        text.clear();
        // At the beginning, after itself, after a letter and at the end.
        text.extend([c, c, 'a', c]);
        for shown in [one_line(&text), quoted(&text), short(&text, 100)] {
            assert!(!shown.contains(is_raw), "{c:?} is shown raw in {shown:?}");
            if is_raw(c) && !matches!(c, '\n' | '\r' | '\t') {
                let code = format!("{:02X}", u32::from(c));
                assert!(shown.contains('\\') && shown.contains(&code), "{c:?} is shown as {shown:?}");
            }
        }
    }
    assert_eq!(count, 1_112_064);
}

#[test]
fn what_is_shown_once_is_shown_as_it_is() {
    for chunk in all().collect::<Vec<_>>().chunks(5_000) {
        let shown = visible(&chunk.iter().collect::<String>());
        assert_eq!(visible(&shown), shown);
    }
}

#[test]
fn what_is_quoted_is_read_back_as_it_was() {
    for chunk in all().collect::<Vec<_>>().chunks(5_000) {
        let text: String = chunk.iter().collect();
        assert_eq!(unquoted(&quoted(&text)), text);
    }
}

/// A text in double quotes as YAML reads it.
fn unquoted(quoted: &str) -> String {
    let mut out = String::new();
    let mut chars = quoted[1..quoted.len() - 1].chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let digits = match chars.next() {
            Some('n') => {
                out.push('\n');
                continue;
            }
            Some('r') => {
                out.push('\r');
                continue;
            }
            Some('t') => {
                out.push('\t');
                continue;
            }
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            other => {
                out.extend(other);
                continue;
            }
        };
        let code: String = chars.by_ref().take(digits).collect();
        out.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
    }
    out
}

#[test]
fn also_what_nobody_made_visible_is_caught_where_it_is_written() {
    for c in all().filter(|c| *c != '\n') {
        let text: String = ['a', c, '\u{1b}', '[', '1', 'm', c, 'b', ' ', c].into_iter().collect();
        let ours = |c: char| matches!(c, '\u{2068}' | '\u{2069}');
        let written = stream::text(&text, false);
        let (before, after) = written.split_once("\u{1b}[1m").unwrap_or((&written, ""));
        for part in [before, after] {
            assert!(!part.contains(|c| is_raw(c) && !ours(c)), "{c:?} is written raw in {written:?}");
        }
        assert!(stream::text(&text, true).bytes().filter(|byte| !matches!(byte, b' '..=b'~')).eq([0x1b]), "{c:?}");
    }
}

#[test]
fn direction_is_turned_by_us_alone_and_turned_back_on_the_same_line() {
    let text = "alert  \"שלום \u{2069}\u{202e} John!\" -> \"عليكم\"  x\nplain\nקוד\n";
    let written = stream::text(text, false);
    assert_eq!(
        written,
        "alert  \"\u{2068}שלום \\u2069\\u202E John!\u{2069}\" -> \"\u{2068}عليكم\u{2069}\"  x\nplain\n\u{2068}קוד\u{2069}\n"
    );
}

#[test]
fn no_command_of_the_binary_shows_a_character_raw() {
    // A manifest may contain the characters that YAML allows in quotes, written as escapes; these are one of each kind.
    let hidden = [
        0x00, 0x07, 0x08, 0x0d, 0x1b, 0x7f, 0x85, 0x9b, 0xad, 0x61c, 0x200b, 0x200d, 0x200e, 0x2028, 0x2029, 0x202e,
        0x2066, 0x2069, 0x3164, 0xfe0f, 0xfeff, 0xfff9, 0xfffe, 0xe000, 0xe0001, 0xe0041, 0xe0100, 0x10ffff,
    ];
    for some in hidden.chunks(14) {
        let text: String = some.iter().map(|code| format!("x\\U{code:08X}[2J")).collect();
        let project = Project::new(&text);
        let shown = project.run(&["plan"]).stdout;
        project.every_command(assert_calm);
        let told: Vec<String> =
            some.iter().filter_map(|code| char::from_u32(*code)).map(pushplan::text::escape).collect();
        for code in told {
            assert!(shown.contains(&format!("x{code}[2J")), "{code} in {shown}");
        }
    }
}
