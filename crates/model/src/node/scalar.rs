//! The interpretation of a scalar without quotes.

/// A scalar as written.
#[derive(Clone, Debug)]
pub struct Scalar {
    pub text: String,
    pub style: Style,
}

/// How a scalar was written, which decides its possible types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes: it may be a text, a number, true or false, or nothing.
    Plain,
    /// In quotes or as a block: always a text.
    Quoted,
    /// From a variable or a file: the type that its field requires.
    Filled,
    /// It could not be read, which was reported.
    Unread,
}

/// The YAML type of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    Null,
    Bool(bool),
    /// `yes`, `no`, `on`, `off`: a text in YAML 1.2, but true or false to older readers. The author must decide.
    Word,
    Integer(i64),
    Float,
    Text,
}

impl Scalar {
    /// Returns the type of a plain scalar; `None` for one that is always a text.
    pub fn plain(&self) -> Option<Plain> {
        (self.style == Style::Plain).then(|| resolve(&self.text))
    }

    /// Whether it is an integer that does not fit into a JSON number.
    pub(super) fn is_too_large(&self) -> bool {
        let digits = self.text.strip_prefix(['+', '-']).unwrap_or(&self.text);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_whole && self.text.parse::<i64>().is_err() && self.text.parse::<u64>().is_err()
    }
}

/// Resolves a plain scalar with the core schema of YAML 1.2, and marks words that YAML 1.1 reads differently.
pub fn resolve(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Plain::Null,
        "true" | "True" | "TRUE" => return Plain::Bool(true),
        "false" | "False" | "FALSE" => return Plain::Bool(false),
        _ => {}
    }
    // Most texts begin with a letter. They are decided here, without the rules for numbers.
    let first = text.as_bytes()[0];
    if first.is_ascii_alphabetic() {
        let word = text.len() <= 3 && ["yes", "no", "on", "off"].iter().any(|w| text.eq_ignore_ascii_case(w));
        return if word { Plain::Word } else { Plain::Text };
    }
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return Plain::Text;
    }
    number(text).unwrap_or(Plain::Text)
}

fn number(text: &str) -> Option<Plain> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if let Some(digits) = text.strip_prefix("0x") {
        return i64::from_str_radix(digits, 16).ok().map(Plain::Integer);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return i64::from_str_radix(digits, 8).ok().map(Plain::Integer);
    }
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Plain::Float);
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return Some(text.parse().map_or(Plain::Float, Plain::Integer));
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let whole = match mantissa.split_once('.') {
        Some((a, b)) => (digits(a) && (b.is_empty() || digits(b))) || (a.is_empty() && digits(b)),
        None => digits(mantissa),
    };
    let power = exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)));
    (whole && power).then_some(Plain::Float)
}

/// Writes a text for YAML on one line: in quotes unless it is a plain word.
pub fn yaml_text(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
        && resolve(text) == Plain::Text;
    if plain { text.to_owned() } else { crate::text::quoted(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_words_go_without_quotes() {
        for (text, written) in
            [("lapsed-buyer", "lapsed-buyer"), ("no", "\"no\""), ("6.10", "\"6.10\""), ("a: b", "\"a: b\"")]
        {
            assert_eq!(yaml_text(text), written);
        }
    }

    #[test]
    fn plain_scalars_are_what_yaml_1_2_says() {
        for (text, expected) in [
            ("", Plain::Null),
            ("~", Plain::Null),
            ("True", Plain::Bool(true)),
            ("no", Plain::Word),
            ("NO", Plain::Word),
            ("Off", Plain::Word),
            ("Norway", Plain::Text),
            ("6.10", Plain::Float),
            ("-3", Plain::Integer(-3)),
            ("0x1F", Plain::Integer(31)),
            ("0o17", Plain::Integer(15)),
            ("1e3", Plain::Float),
            (".5", Plain::Float),
            ("5.", Plain::Float),
            ("+.inf", Plain::Float),
            ("99999999999999999999", Plain::Float),
            ("8.3.X", Plain::Text),
            ("8.3.1", Plain::Text),
            ("2026-11-27", Plain::Text),
            ("-", Plain::Text),
            (".", Plain::Text),
            ("+1 555", Plain::Text),
            ("e3", Plain::Text),
        ] {
            assert_eq!(resolve(text), expected, "{text}");
        }
    }
}
