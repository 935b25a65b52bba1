//! A text as words and separators.

use std::ops::Range;

/// A word of a text. Addresses of web pages and of people are not words.
#[derive(Debug)]
pub(super) struct Word<'t> {
    pub written: &'t str,
    /// In lower case, with plain apostrophes.
    pub lower: String,
    pub range: Range<usize>,
    /// The separator between the previous word and this one.
    pub gap: Gap,
    /// Whether a dot follows it.
    pub dot: bool,
}

/// The separator before a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// The beginning of the text, the end of a sentence, or a token that is no word.
    Stop,
    /// A comma, a bracket or a dash.
    Pause,
    Blank,
    /// A dot and blanks, such as after the number in `22. November`.
    Dot,
    /// Signs without blanks, such as in `all-day` and `22.11`.
    Joined,
}

/// The words of a text.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word> = Vec::new();
    let mut end = None;
    for (at, chunk) in chunks(text) {
        if is_location(chunk) {
            continue;
        }
        let mut from = 0;
        while let Some(begin) = chunk[from..].find(char::is_alphanumeric).map(|begin| from + begin) {
            let rest = &chunk[begin..];
            let length = rest.find(|c: char| !c.is_alphanumeric() && !is_apostrophe(c)).unwrap_or(rest.len());
            let written = rest[..length].trim_end_matches(is_apostrophe);
            let range = at + begin..at + begin + written.len();
            let gap = end.map_or(Gap::Stop, |end: usize| gap(&text[end..range.start]));
            end = Some(range.end);
            let dot = text[range.end..].starts_with('.');
            words.push(Word { written, lower: written.to_lowercase().replace('’', "'"), range, gap, dot });
            from = begin + length;
        }
    }
    words
}

/// The parts of a text between blanks, with their positions.
fn chunks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let place = |chunk: &str| chunk.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace().map(move |chunk| (place(chunk), chunk))
}

fn is_location(chunk: &str) -> bool {
    chunk.contains("://") || chunk.contains('@') || chunk.starts_with("www.") || chunk.contains("{{")
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

fn gap(between: &str) -> Gap {
    let is_pause =
        |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '-' | '–' | '—' | '"' | '“' | '”');
    match between {
        _ if between.contains('\n') => Gap::Stop,
        _ if between.chars().all(char::is_whitespace) => Gap::Blank,
        "." | "-" | "/" | ":" => Gap::Joined,
        _ if between.trim_end() == "." => Gap::Dot,
        _ if between.chars().all(is_pause) => Gap::Pause,
        _ => Gap::Stop,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_what_stands_before_them() {
        let text = "It’s Friday, the 22. November! See https://example.com/friday or 22.11. 🎉 all-day";
        let read: Vec<(String, Gap)> = words(text).into_iter().map(|word| (word.lower, word.gap)).collect();
        let expected = [
            ("it's", Gap::Stop),
            ("friday", Gap::Blank),
            ("the", Gap::Pause),
            ("22", Gap::Blank),
            ("november", Gap::Dot),
            ("see", Gap::Stop),
            ("or", Gap::Stop),
            ("22", Gap::Blank),
            ("11", Gap::Joined),
            ("all", Gap::Stop),
            ("day", Gap::Joined),
        ];
        assert_eq!(read, expected.map(|(word, gap)| (word.to_owned(), gap)));
        assert_eq!(words("Happy (Friday)").last().map(|word| word.range.clone()), Some(7..13));
    }
}
