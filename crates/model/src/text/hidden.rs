//! Decides which characters of a text are visible, and escapes the others.
//!
//! A character that moves the cursor, changes the reading direction or is invisible is shown as YAML writes it in
//! double quotes: `\x1B`, `\u202E`, `\U000E0041`. So it can be recognized, and copied into a manifest.

/// Returns the characters of a text, each with its position and whether it has to be escaped.
///
/// Joiners, selectors and marks depend on the characters around them: they are a part of emoji and of many scripts, and
/// hide something if they join nothing.
pub fn marked(text: &str) -> impl Iterator<Item = (usize, char, bool)> {
    let mut before: Option<char> = None;
    // The end of a flag that consists of tags.
    let mut flag = 0;
    let mut marks = 0;
    text.char_indices().map(move |(at, c)| {
        if c.is_ascii() {
            (before, marks) = (Some(c).filter(|c| !c.is_ascii_control()), 0);
            return (at, c, before.is_none());
        }
        if before == Some(FLAG) {
            let flags = FLAGS.iter().filter(|tags| text[at..].starts_with(**tags));
            flag = flags.map(|tags| at + tags.len()).max().unwrap_or(flag);
        }
        let next = || text[at + c.len_utf8()..].chars().next();
        let kind = kind(c);
        let shown = match kind {
            CharKind::Seen => true,
            CharKind::Mark => {
                marks < MARKS && before.is_some_and(|before| before.is_alphanumeric() || !before.is_ascii())
            }
            CharKind::Joiner => before.is_some_and(|before| joins(before, c, next())),
            CharKind::Selector => before.is_some_and(|before| selects(before, c, next())),
            CharKind::Hidden => at < flag,
        };
        marks = if kind == CharKind::Mark { marks + 1 } else { 0 };
        before = Some(c).filter(|_| shown);
        (at, c, !shown)
    })
}

/// Whether a text needs no closer look: printable ASCII, and line breaks.
pub fn is_plain(text: &str) -> bool {
    text.bytes().fold(true, |so_far, byte| so_far & matches!(byte, b' '..=b'~' | b'\n'))
}

/// Whether a text is only printable ASCII, on one line. Nearly all texts are, so all of it is tested: that takes fewer
/// steps than stopping at the first other character.
pub fn is_printable(text: &str) -> bool {
    text.bytes().fold(true, |so_far, byte| so_far & matches!(byte, b' '..=b'~'))
}

/// Whether a character is displayed together with the one before it: a mark on a letter, joined emoji, their skin tone.
pub fn goes_on(before: char, c: char) -> bool {
    let part = |c: char| !c.is_ascii() && matches!(kind(c), CharKind::Mark | CharKind::Joiner | CharKind::Selector);
    let is_tag = matches!(c, '\u{e0020}'..='\u{e007f}');
    part(c) || is_tag || before == '\u{200d}' || (is_picture(before) && matches!(c, '\u{1f3fb}'..='\u{1f3ff}'))
}

/// Escapes a character as YAML does in double quotes.
pub fn escape(c: char) -> String {
    let number = u32::from(c);
    let (sign, digits) = match c {
        '\n' => ('n', 0),
        '\r' => ('r', 0),
        '\t' => ('t', 0),
        '\0'..='\u{ff}' => ('x', 2),
        '\u{100}'..='\u{ffff}' => ('u', 4),
        _ => ('U', 8),
    };
    let mut out = String::with_capacity(10);
    out.push('\\');
    out.push(sign);
    let digit = |place: u32| char::from_digit(number >> (4 * place) & 0xf, 16).unwrap_or('0').to_ascii_uppercase();
    out.extend((0..digits).rev().map(digit));
    out
}

/// More marks than this on one letter are not text: they reach into the lines around it.
const MARKS: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharKind {
    Seen,
    /// It is drawn on the letter before it.
    Mark,
    Joiner,
    /// It selects the appearance of the character before it.
    Selector,
    Hidden,
}

fn kind(c: char) -> CharKind {
    match c {
        '\u{200c}' | '\u{200d}' => CharKind::Joiner,
        '\u{fe0e}' | '\u{fe0f}' | '\u{180b}'..='\u{180d}' | '\u{180f}' => CharKind::Selector,
        // Spaces of all widths are visible as spaces.
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => CharKind::Seen,
        // Format characters that are drawn: signs of Arabic, Syriac and Kaithi that stand over numbers.
        '\u{600}'..='\u{605}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{890}'
        | '\u{891}'
        | '\u{8e2}'
        | '\u{110bd}'
        | '\u{110cd}' => CharKind::Seen,
        // Letters, marks and symbols that are invisible.
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{2800}' | '\u{3164}' => {
            CharKind::Hidden
        }
        '\u{fe00}'..='\u{fe0d}' | '\u{ffa0}' | '\u{fffc}' => CharKind::Hidden,
        // Private use, and planes in which nothing is drawn.
        '\u{e000}'..='\u{f8ff}' | '\u{40000}'.. => CharKind::Hidden,
        // The standard library escapes controls, unassigned and private characters, separators and marks.
        c if c.escape_debug().len() == 1 => CharKind::Seen,
        c => {
            let mut bytes = [b'a'; 5];
            let length = c.encode_utf8(&mut bytes[1..]).len();
            // After a letter, it does not escape marks, but still escapes the rest.
            let behind = str::from_utf8(&bytes[..=length]).unwrap_or_default();
            if behind.escape_debug().count() == 2 { CharKind::Mark } else { CharKind::Hidden }
        }
    }
}

/// A black flag, and the tags after it that make it the flag of England, Scotland or Wales.
const FLAG: char = '\u{1f3f4}';
const FLAGS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

fn joins(before: char, joiner: char, next: Option<char>) -> bool {
    let zero_width_joiner = joiner == '\u{200d}';
    let emoji = zero_width_joiner && (is_picture(before) || before == '\u{fe0f}') && next.is_some_and(is_picture);
    // At the end of a word a joiner chooses the form of the consonant whose vowel was removed.
    let half = zero_width_joiner && has_joined_letters(before) && kind(before) == CharKind::Mark;
    emoji || half || (has_joined_letters(before) && next.is_some_and(has_joined_letters))
}

fn selects(before: char, selector: char, next: Option<char>) -> bool {
    match selector {
        '\u{fe0f}' if before.is_ascii() => {
            (before.is_ascii_digit() || matches!(before, '#' | '*')) && next == Some('\u{20e3}')
        }
        '\u{fe0e}' | '\u{fe0f}' => is_picture(before),
        _ => matches!(before, '\u{1820}'..='\u{18aa}'),
    }
}

/// Whether a character is a part of emoji, roughly: letters of scripts are not.
fn is_picture(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}' | '\u{2934}' | '\u{2935}'
        | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Whether letters of a script change their form next to each other, so that a joiner between them is part of the text:
/// Arabic and its neighbours, those of India and of South-East Asia, Mongolian.
fn has_joined_letters(c: char) -> bool {
    let scripts = matches!(c,
        '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{1cd0}'..='\u{1cff}' | '\u{a8e0}'..='\u{a8ff}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10d00}'..='\u{10d3f}' | '\u{11000}'..='\u{11fff}'
        | '\u{1e900}'..='\u{1e95f}');
    scripts && (c.is_alphabetic() || kind(c) == CharKind::Mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        marked(text).map(|(_, c, hidden)| if hidden { escape(c) } else { c.to_string() }).collect()
    }

    #[test]
    fn writing_and_emoji_stay_as_they_are() {
        for text in [
            "Grüße, cafe\u{301} and 20\u{a0}%",
            "می\u{200c}خواهم نامه",
            "क\u{94d}\u{200d}ष अवन\u{94d}\u{200d} x",
            "👩\u{200d}👩\u{200d}👧\u{200d}👦 👩🏽\u{200d}🚀 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f} 1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3}",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} 🇩🇪 ☎\u{fe0e}",
            "日本語\u{3000}한국어 ไทยที่ נִקּוּד ᠮᠣᠩᠭᠣᠯ\u{180b}",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn what_joins_or_selects_nothing_is_escaped() {
        for (text, words) in [
            ("a\u{200d}b", "a\\u200Db"),
            ("می\u{200c}", "می\\u200C"),
            ("👩\u{200d}", "👩\\u200D"),
            ("👩\u{200d}\u{200d}👩", "👩\\u200D\\u200D👩"),
            ("x\u{fe0f}", "x\\uFE0F"),
            ("1\u{fe0f}", "1\\uFE0F"),
            ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\\uFE0F"),
            ("葛\u{e0100}", "葛\\U000E0100"),
            ("🏴\u{e0067}\u{e0062}\u{e007f}", "🏴\\U000E0067\\U000E0062\\U000E007F"),
            ("a\u{e0041}", "a\\U000E0041"),
            ("\u{301}a \u{338}b \"\u{338}", "\\u0301a \\u0338b \"\\u0338"),
            ("\u{1b}[2J\u{7f}\u{85}\u{ad}\u{2028}", "\\x1B[2J\\x7F\\x85\\xAD\\u2028"),
            ("\u{fff9}\u{fdd0}\u{e000}\u{378}", "\\uFFF9\\uFDD0\\uE000\\u0378"),
        ] {
            assert_eq!(shown(text), words);
        }
        let heap = format!("a{}", "\u{301}".repeat(9));
        assert_eq!(shown(&heap), format!("a{}{}", "\u{301}".repeat(6), "\\u0301".repeat(3)));
    }
}
