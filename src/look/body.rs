//! The body of a Message Center message as the text that people read in it.

/// Elements that begin a line of their own.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "tr",
    "ul",
];

/// Elements whose content nobody reads.
const UNREAD: &[&str] = &["head", "noscript", "script", "style", "template", "title"];

/// Entities that texts are written with. Others stay as they are.
const ENTITIES: &[(&str, char)] = &[
    ("amp", '&'),
    ("apos", '\''),
    ("bull", '•'),
    ("copy", '©'),
    ("euro", '€'),
    ("gt", '>'),
    ("hellip", '…'),
    ("laquo", '«'),
    ("ldquo", '“'),
    ("lsquo", '‘'),
    ("lt", '<'),
    ("mdash", '—'),
    ("middot", '·'),
    ("nbsp", '\u{a0}'),
    ("ndash", '–'),
    ("pound", '£'),
    ("quot", '"'),
    ("raquo", '»'),
    ("rdquo", '”'),
    ("reg", '®'),
    ("rsquo", '’'),
    ("times", '×'),
    ("trade", '™'),
];

/// The text of a body of a MIME type, a line for each of its paragraphs. One that is no HTML is the text itself.
pub fn body_text(body: &str, content_type: Option<&str>) -> String {
    let kind = content_type.unwrap_or("text/html").split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("text/html") { html_text(body) } else { body.trim().to_owned() }
}

/// What people read of an HTML text: no tags, no comments, no scripts, blanks as browsers join them. Images are their
/// descriptions.
pub fn html_text(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        words(&mut out, &rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let begins_tag = rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        if !begins_tag {
            words(&mut out, "<");
            rest = &rest[1..];
            continue;
        }
        let end = tag_end(rest);
        let tag = &rest[1..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        let name = tag.trim_start_matches('/');
        let name = name[..name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len())].to_ascii_lowercase();
        if UNREAD.contains(&name.as_str()) && !tag.starts_with('/') && !tag.ends_with('/') {
            rest = after_close(rest, &name);
        } else if BLOCKS.contains(&name.as_str()) {
            line_break(&mut out);
            if name == "li" && !tag.starts_with('/') {
                out.push_str("• ");
            }
        } else if name == "img"
            && let Some(alt) = attribute(tag, "alt").filter(|alt| !alt.trim().is_empty())
        {
            words(&mut out, &format!("[{}]", alt.trim()));
        }
    }
    words(&mut out, rest);
    out.trim().to_owned()
}

/// Where a tag ends, at its `>` outside of quotes; the end of the text where there is none.
fn tag_end(tag: &str) -> usize {
    let mut quote = None;
    for (at, c) in tag.char_indices() {
        match (quote, c) {
            (None, '>') => return at,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    tag.len()
}

/// What comes behind the end of an element. One that never ends takes all.
fn after_close<'t>(text: &'t str, name: &str) -> &'t str {
    let mut from = 0;
    while let Some(at) = text[from..].find("</").map(|at| from + at) {
        let named = text.get(at + 2..at + 2 + name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name));
        if named {
            let end = at + tag_end(&text[at..]);
            return text.get(end + 1..).unwrap_or_default();
        }
        from = at + 2;
    }
    ""
}

/// The value of an attribute of a tag.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let mut from = 0;
    while let Some(at) = tag[from..].find('=').map(|at| from + at) {
        let key = tag[..at].trim_end();
        let is_it = key.len() > name.len()
            && key.get(key.len() - name.len()..).is_some_and(|end| end.eq_ignore_ascii_case(name))
            && key[..key.len() - name.len()].ends_with(|c: char| c.is_whitespace() || c == '"' || c == '\'');
        let value = tag[at + 1..].trim_start();
        let start = tag.len() - value.len();
        let (value, end) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let inner = &value[1..];
                let length = inner.find(quote).unwrap_or(inner.len());
                (&inner[..length], start + 1 + length)
            }
            _ => {
                let length = value.find(char::is_whitespace).unwrap_or(value.len());
                (&value[..length], start + length)
            }
        };
        if is_it {
            return Some(value);
        }
        from = end.max(at + 1).min(tag.len());
    }
    None
}

fn line_break(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Adds text, its blanks joined and its entities read.
fn words(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (shown, length) = if c == '&' { entity(rest) } else { (c, c.len_utf8()) };
        if matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}') {
            if !out.is_empty() && !out.ends_with([' ', '\n']) {
                out.push(' ');
            }
        } else {
            out.push(shown);
        }
        rest = &rest[length..];
    }
}

/// The character that an entity stands for, and its length; `&` itself where it is none.
fn entity(text: &str) -> (char, usize) {
    const LONGEST: usize = 10;
    let read = |name: &str| match name.strip_prefix('#') {
        Some(number) => {
            let hex = number.strip_prefix(['x', 'X']);
            let code = hex.map_or_else(|| number.parse().ok(), |digits| u32::from_str_radix(digits, 16).ok());
            code.and_then(char::from_u32)
        }
        None => ENTITIES.iter().find(|(known, _)| *known == name).map(|(_, c)| *c),
    };
    let end = text.char_indices().take(LONGEST).find(|(_, c)| *c == ';').map(|(at, _)| at);
    end.and_then(|end| Some((read(&text[1..end])?, end + 1))).unwrap_or(('&', 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_the_text_of_a_page() {
        let page = "<!DOCTYPE html><html><head><title>x</title><style>p{}</style></head><body>\n  <h1>Sale</h1>\n\
                    <p>20&nbsp;% off &amp; <b>more</b><br>until   Sunday</p><ul><li>Coats</li><li>Boots</li></ul>\
                    <img src='a.png' alt=\"A coat\"><!-- <p>no</p> --><script>if (a < b) {}</script></body></html>";
        assert_eq!(html_text(page), "Sale\n20\u{a0}% off & more\nuntil Sunday\n• Coats\n• Boots\n[A coat]");
    }

    #[test]
    fn what_is_no_markup_stays() {
        for (html, text) in [
            ("1 < 2 & 3 > 2", "1 < 2 & 3 > 2"),
            ("a&unknown; &#8364; &#x20ac; &#xd800;", "a&unknown; € € &#xd800;"),
            ("<a href=\"x>y\">Go</a>", "Go"),
            ("<p", ""),
            ("<script>never closed", ""),
            ("<!-- never closed", ""),
            ("", ""),
            ("{{NAME}}", "{{NAME}}"),
            ("<img data-alt=no alt=Coat>", "[Coat]"),
            ("<img src=\"a=b\" alt=''>", ""),
        ] {
            assert_eq!(html_text(html), text, "{html}");
        }
    }

    #[test]
    fn a_plain_body_is_the_text_itself() {
        assert_eq!(body_text(" <b> \n", Some("text/plain; charset=utf-8")), "<b>");
        assert_eq!(body_text("<b>x</b>", Some("TEXT/HTML")), "x");
    }
}
