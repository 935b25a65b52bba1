//! Writing a text so that every YAML parser reads the same text.

use pushplan_model::node::{Plain, Scalar, resolve};
use pushplan_model::nouns::delay::Delay;
use pushplan_model::text::{self, marked};

use super::is_text;

pub use pushplan_model::text::quoted;

/// Words that older YAML parsers do not read as text, in addition to those that [`resolve`] knows.
const WORDS: [&str; 6] = ["y", "n", "nan", "inf", "null", "none"];

/// A scalar on one line; `flow`: in brackets.
pub fn line(scalar: &Scalar, flow: bool) -> String {
    if !is_text(scalar) || is_plain(&scalar.text, flow) { scalar.text.clone() } else { quoted(&scalar.text) }
}

/// A key.
pub fn key(text: &str) -> String {
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
    if is_word && is_plain(text, true) { text.to_owned() } else { text::quoted(text) }
}

/// Whether a text can be in single quotes, which have no escapes.
pub fn can_be_single(text: &str) -> bool {
    marked(text).all(|(_, _, hidden)| !hidden)
}

/// Whether a text can be written without quotes.
pub fn is_plain(text: &str, flow: bool) -> bool {
    if is_time(text) || is_version(text) || is_length(text) {
        return true;
    }
    let begins = text.starts_with(char::is_alphabetic);
    let mut chars = text.chars().peekable();
    let mut fits = true;
    while let Some(c) = chars.next() {
        fits &= match c {
            ',' => !flow,
            // A colon or a blank at the end, and a blank after either, are not part of a text.
            ':' => !flow && chars.peek().is_some_and(|next| *next != ' '),
            ' ' => chars.peek().is_some_and(|next| *next != ' '),
            c => c.is_alphanumeric() || "-_./+=!?%&()@;$'*<>^~".contains(c),
        };
    }
    begins
        && fits
        && resolve(text) == Plain::Text
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
        && marked(text).all(|(_, _, hidden)| !hidden)
}

/// `2026-11-27T09:00`, which no parser reads as a time: YAML times have seconds.
fn is_time(text: &str) -> bool {
    let form = "dddd-dd-ddTdd:dd";
    let fits = |(byte, form): (u8, u8)| if form == b'd' { byte.is_ascii_digit() } else { byte == form };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
}

/// `8.3.X`
fn is_version(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(text.split('.').collect::<Vec<_>>()[..], [major, minor, "X"] if digits(major) && digits(minor))
}

/// `1h30m`
fn is_length(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && Delay::parse(text).is_some()
}

/// A text as a block of lines with this indentation, from the indicator to the end of the last line; `None` if it would
/// not be read as exactly the same text.
pub fn block(text: &str, indent: usize) -> Option<String> {
    let sign = match text.strip_suffix('\n') {
        None => "|-",
        Some(rest) if rest.ends_with('\n') => return None,
        Some(_) => "|",
    };
    let seen = |(_, c, hidden): (usize, char, bool)| !hidden || c == '\n' || c == '\t';
    let begins_well = text.starts_with(|c: char| !c.is_whitespace());
    let is_blank = |line: &str| !line.is_empty() && line.trim().is_empty();
    if !begins_well || !marked(text).all(seen) || text.lines().any(is_blank) {
        return None;
    }
    let mut out = format!("{sign}\n");
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        match line {
            "" => out.push('\n'),
            line => out.push_str(&format!("{:indent$}{line}\n", "")),
        }
    }
    Some(out)
}
