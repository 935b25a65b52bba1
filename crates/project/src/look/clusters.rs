//! Texts as recipients see them: grapheme clusters, their columns, and where a text is cut.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The number of columns of a text. A wide character takes two.
pub fn width(text: &str) -> usize {
    clusters(text).map(|(_, width)| width).sum()
}

/// The number of characters of a text as readers count them.
pub fn characters(text: &str) -> usize {
    if text.bytes().all(is_plain) { text.len() } else { clusters(text).count() }
}

/// The part of a text that fits into this number of columns; `None` if all of it fits. Never splits a character as
/// readers see it.
pub fn cut(text: &str, columns: usize) -> Option<&str> {
    // No character has more columns than bytes.
    if text.len() <= columns {
        return None;
    }
    let mut used = 0;
    let mut fits = 0;
    for (end, width) in clusters(text) {
        used += width;
        if used > columns {
            return Some(text[..fits].trim_end());
        }
        fits = end;
    }
    None
}

/// Splits a text into lines of at most this number of columns, at blanks if possible and never within a character.
pub fn wrap(text: &str, columns: usize) -> Vec<&str> {
    text.split('\n').flat_map(|paragraph| wrap_paragraph(paragraph, columns)).collect()
}

fn wrap_paragraph(text: &str, columns: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    // The start and the width of the line, and its last blanks.
    let (mut start, mut column) = (0, 0);
    let mut blanks: Option<(usize, usize)> = None;
    let mut at = 0;
    for (end, wide) in clusters(text) {
        if text[at..end] == *" " {
            let from = blanks.filter(|(_, to)| *to == at).map_or(at, |(from, _)| from);
            blanks = Some((from, end)).filter(|_| from > start);
        } else {
            // The rest after the last blank may be too wide as well.
            while column + wide > columns && at > start {
                let (stop, next) = blanks.take().unwrap_or((at, at));
                lines.push(&text[start..stop]);
                start = next;
                column = width(&text[start..at]);
            }
        }
        column += wide;
        at = end;
    }
    lines.push(text[start..].trim_end());
    lines
}

/// The end and the width of each grapheme cluster.
pub fn clusters(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = &text[start..];
        // If both are plain, the second one is a separate character.
        if let [first, others @ ..] = rest.as_bytes()
            && is_plain(*first)
            && others.first().is_none_or(|next| is_plain(*next))
        {
            start += 1;
            return Some((start, 1));
        }
        let cluster = rest.graphemes(true).next()?;
        start += cluster.len();
        Some((start, cluster.width()))
    })
}

/// Whether a byte is a character by itself, of one column: printable ASCII.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_is_not_cut() {
        for text in ["", "abc", "日a", "e\u{301}bc", "👨‍👩‍👧x"] {
            assert_eq!(cut(text, 3), None, "{text}");
        }
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(cut("日本語", 5), Some("日本"));
        assert_eq!(cut("日本語", 4), Some("日本"));
        assert_eq!(cut("a日本", 2), Some("a"));
    }

    #[test]
    fn what_reads_as_one_character_is_not_split() {
        for (text, columns, shown) in [
            ("ae\u{301}\u{327}x", 2, "ae\u{301}\u{327}"),
            ("ae\u{301}x", 1, "a"),
            ("ab👨‍👩‍👧c", 3, "ab"),
            ("ab👨‍👩‍👧c", 4, "ab👨‍👩‍👧"),
            ("👍🏽👍🏽", 3, "👍🏽"),
            ("🇩🇪🇫🇷", 2, "🇩🇪"),
            ("🇩🇪🇫🇷", 3, "🇩🇪"),
            ("❤\u{fe0f}a", 2, "❤\u{fe0f}"),
            ("नमस्ते", 2, "नम"),
            ("한국", 2, "한"),
            ("1\u{fe0f}\u{20e3}ab", 2, "1\u{fe0f}\u{20e3}"),
        ] {
            assert_eq!(cut(text, columns), Some(shown), "{text} in {columns}");
        }
    }

    #[test]
    fn lines_are_broken_at_blanks_and_long_words_anywhere() {
        for (text, lines) in [
            ("", vec![""]),
            ("one two three", vec!["one", "two", "three"]),
            ("abcdefgh", vec!["abcde", "fgh"]),
            ("a  bc   def", vec!["a  bc", "def"]),
            ("a          b", vec!["a", "b"]),
            ("日本語日本", vec!["日本", "語日", "本"]),
            ("ab 日本", vec!["ab", "日本"]),
            ("a\n\nb", vec!["a", "", "b"]),
            ("👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", vec!["👨‍👩‍👧👨‍👩‍👧", "👨‍👩‍👧"]),
        ] {
            assert_eq!(wrap(text, 5), lines, "{text}");
        }
    }

    #[test]
    fn no_line_is_too_wide_and_no_letter_is_lost() {
        let text = "Hé 👨‍👩‍👧 日本 🇩🇪🇫🇷 क्षत्रिय e\u{301}\u{301}  okokokokok  x".repeat(3);
        // The widest character in it has three columns.
        for columns in 3..40 {
            let lines = wrap(&text, columns);
            assert!(lines.iter().all(|line| width(line) <= columns), "{columns}: {lines:?}");
            let letters = |text: &str| text.replace(' ', "");
            assert_eq!(letters(&lines.concat()), letters(&text), "{columns}");
        }
    }

    #[test]
    fn blanks_before_the_cut_are_not_shown() {
        assert_eq!(cut("Come back", 5), Some("Come"));
    }

    #[test]
    fn a_cut_text_is_a_part_of_the_whole_and_never_too_wide() {
        let text = "Hé 👨‍👩‍👧 日本 🇩🇪🇫🇷 क्षत्रिय\u{200d}x e\u{301}\u{301} ok".repeat(3);
        for columns in 0..text.width() {
            if let Some(shown) = cut(&text, columns) {
                assert!(text.starts_with(shown) && width(shown) <= columns, "{columns}: {shown}");
                let mut ends = text.grapheme_indices(true).map(|(at, _)| at);
                assert!(ends.any(|at| at == shown.len()), "{columns}: {shown}");
            }
        }
    }
}
