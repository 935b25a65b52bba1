//! Escaping of text in HTML and SVG.

use crate::render::visible;

/// Escapes a text for an element or for an attribute in double quotes. All characters are visible, line breaks are
/// kept, and nothing in it is markup. Template engines that escape by themselves get [`visible`] instead.
///
/// Right-to-left text needs a separate `<bdi>`.
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn markup_is_text() {
        let hostile = "</title><script>\"'&\u{1b}\u{202e}";
        assert_eq!(super::text(hostile), r"&lt;/title&gt;&lt;script&gt;&quot;&#39;&amp;\x1B\u202E");
    }
}
