//! `{{KEY}}` in a text: the service's own variables, filled in when a message is sent.

use std::ops::Range;

/// A placeholder and its range in the text, including the braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder<'t> {
    pub key: &'t str,
    pub range: Range<usize>,
}

/// Returns every `{{KEY}}` of a text. Spaces inside the braces are not part of the key; an unclosed one is not a
/// placeholder.
pub fn placeholders(text: &str) -> impl Iterator<Item = Placeholder<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find("{{")?;
        let end = start + text[start..].find("}}")? + 2;
        // In `{{A} and {{B}}`, only the second one is a placeholder.
        let start = start + text[start..end].rfind("{{").unwrap_or(0);
        from = end;
        Some(Placeholder { key: text[start + 2..end - 2].trim(), range: start..end })
    })
}

/// Returns the ranges of every `{{` that is not closed.
pub fn unclosed(text: &str) -> Vec<Range<usize>> {
    let mut open = Vec::new();
    let mut from = 0;
    let end = text.len();
    for range in placeholders(text).map(|placeholder| placeholder.range).chain(std::iter::once(end..end)) {
        let between = &text[from..range.start];
        open.extend(between.match_indices("{{").map(|(at, mark)| from + at..from + at + mark.len()));
        from = range.end;
    }
    open
}

/// Replaces every placeholder that `value` knows.
pub fn fill<'v>(text: &str, value: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for placeholder in placeholders(text) {
        out.push_str(&text[from..placeholder.range.start]);
        out.push_str(value(placeholder.key).unwrap_or(&text[placeholder.range.clone()]));
        from = placeholder.range.end;
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_and_filled() {
        let keys: Vec<&str> = placeholders("{{A}} and {{ B }}, {{C").map(|p| p.key).collect();
        assert_eq!(keys, ["A", "B"]);
        assert_eq!(placeholders("{{A} and {{B}}").map(|p| p.key).collect::<Vec<_>>(), ["B"]);
        let filled = fill("Hi {{NAME}}, {{OTHER}}", |key| (key == "NAME").then_some("Ann"));
        assert_eq!(filled, "Hi Ann, {{OTHER}}");
    }

    #[test]
    fn what_is_never_closed_is_found() {
        for (text, starts) in
            [("{{A}}", vec![]), ("Hi {{A}", vec![3]), ("{{A} {{B}} {{C", vec![0, 11]), ("{ {a} }}", vec![])]
        {
            assert_eq!(unclosed(text).into_iter().map(|range| range.start).collect::<Vec<_>>(), starts, "{text}");
        }
    }
}
