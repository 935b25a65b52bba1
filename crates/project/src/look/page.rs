//! A message's HTML body as recipients read it: its text, links, images and placeholders.

use std::collections::BTreeMap;

use pushplan_model::nouns::placeholder::placeholders;

/// The content of an HTML body for a reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// One line per paragraph.
    pub text: String,
    /// The addresses of links, with the number of each.
    pub links: BTreeMap<String, usize>,
    pub images: BTreeMap<String, usize>,
    /// Other elements that load, run or submit something: `iframe https://shop.example`, `script`.
    pub loads: BTreeMap<String, usize>,
    /// The keys of `{{KEY}}` at any position.
    pub placeholders: BTreeMap<String, usize>,
    /// By address of a link or an image: the text that a reader sees there first.
    pub labels: BTreeMap<String, String>,
}

/// Elements with invisible content.
const UNSEEN: [&str; 4] = ["script", "style", "head", "template"];
/// Elements that load something, run it, or submit input.
const LOADING: [&str; 11] =
    ["script", "iframe", "form", "object", "embed", "video", "audio", "source", "link", "style", "base"];
/// Elements that do not start a new line.
const INLINE: [&str; 16] =
    ["a", "b", "i", "u", "em", "strong", "span", "small", "font", "sub", "sup", "code", "mark", "abbr", "img", "label"];

impl Page {
    /// Parses a body like a browser: an error never stops the parser.
    pub fn of(body: &str) -> Self {
        let mut page = Self::default();
        for placeholder in placeholders(body) {
            *page.placeholders.entry(placeholder.key.to_owned()).or_default() += 1;
        }
        let mut text = String::new();
        let mut open: Option<Link> = None;
        let mut unseen: Option<String> = None;
        let mut rest = body;
        while let Some(start) = rest.find('<') {
            if unseen.is_none() {
                text.push_str(&entities(&in_line(&rest[..start])));
            }
            rest = &rest[start..];
            // Before any other character, it is plain text.
            if !rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!') {
                if unseen.is_none() {
                    text.push('<');
                }
                rest = &rest[1..];
                continue;
            }
            if let Some(comment) = rest.strip_prefix("<!--") {
                rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
                continue;
            }
            let Some(end) = tag_end(rest) else {
                break;
            };
            let tag = Tag::read(&rest[1..end]);
            rest = &rest[end + 1..];
            match &unseen {
                Some(name) if tag.closes && tag.name == *name => unseen = None,
                Some(_) => {}
                None => {
                    if tag.name == "a" {
                        page.label(open.take(), &text);
                        let address = tag.attributes.get("href").filter(|_| !tag.closes);
                        open = address.map(|address| Link { address: address.clone(), start: text.len() });
                    }
                    page.see(&tag, &mut text);
                    if !tag.closes && UNSEEN.contains(&tag.name.as_str()) {
                        unseen = Some(tag.name);
                    }
                }
            }
        }
        if unseen.is_none() && !rest.starts_with('<') {
            text.push_str(&entities(&in_line(rest)));
        }
        page.label(open, &text);
        page.text = lines(&text);
        page
    }

    /// Keeps the text of a link that ends here.
    fn label(&mut self, link: Option<Link>, text: &str) {
        let Some(Link { address, start }) = link else { return };
        let label = lines(&text[start..]);
        if !label.is_empty() {
            self.labels.entry(address).or_insert(label);
        }
    }

    fn see(&mut self, tag: &Tag, text: &mut String) {
        let mut count = |into: fn(&mut Self) -> &mut BTreeMap<String, usize>, at: Option<&String>| {
            if let Some(at) = at.filter(|at| !at.is_empty()) {
                *into(self).entry(at.clone()).or_default() += 1;
            }
        };
        let target = ["src", "href", "action", "data"].iter().find_map(|name| tag.attributes.get(*name));
        let loads = target.map_or(tag.name.clone(), |at| format!("{} {at}", tag.name));
        match tag.name.as_str() {
            name if !tag.closes && LOADING.contains(&name) => count(|page| &mut page.loads, Some(&loads)),
            "a" if !tag.closes => count(|page| &mut page.links, tag.attributes.get("href")),
            "img" => count(|page| &mut page.images, tag.attributes.get("src")),
            _ => {}
        }
        if let Some(alt) = tag.attributes.get("alt").filter(|alt| tag.name == "img" && !alt.is_empty()) {
            text.push_str(&format!("[{alt}]"));
            if let Some(address) = tag.attributes.get("src") {
                self.labels.entry(address.clone()).or_insert_with(|| alt.clone());
            }
        }
        if !INLINE.contains(&tag.name.as_str()) {
            text.push('\n');
        }
    }
}

/// Whether a text is HTML. The content type of a message's body has priority.
pub fn is_page(text: &str) -> bool {
    if !text.contains('<') {
        return false;
    }
    let lower = text.get(..text.len().min(4000)).unwrap_or(text).to_ascii_lowercase();
    ["<html", "<body", "<p>", "<p ", "<div", "<br", "<h1", "<a ", "<img", "<table", "<!doctype"]
        .iter()
        .any(|sign| lower.contains(sign))
}

/// A link whose text is being read, from a place in the text of the page.
struct Link {
    address: String,
    start: usize,
}

#[derive(Debug, Default)]
struct Tag {
    name: String,
    closes: bool,
    attributes: BTreeMap<String, String>,
}

impl Tag {
    /// Parses the text between `<` and `>`.
    fn read(inside: &str) -> Self {
        let (closes, inside) = match inside.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (false, inside),
        };
        let end = inside.find(|c: char| c.is_ascii_whitespace() || c == '/').unwrap_or(inside.len());
        let name = inside[..end].to_ascii_lowercase();
        let mut attributes = BTreeMap::new();
        let mut rest = inside[end..].trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        while !rest.is_empty() {
            let end = rest.find(|c: char| c == '=' || c.is_ascii_whitespace()).unwrap_or(rest.len());
            let key = rest[..end].to_ascii_lowercase();
            rest = rest[end..].trim_start();
            let mut value = "";
            if let Some(after) = rest.strip_prefix('=') {
                let after = after.trim_start();
                (value, rest) = match after.chars().next() {
                    Some(quote @ ('"' | '\'')) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
                    _ => after.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((after, "")),
                };
            }
            attributes.entry(key).or_insert_with(|| entities(value));
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        }
        Self { name, closes, attributes }
    }
}

/// Line breaks in the source are blanks in a browser.
fn in_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// The end of a tag; a `>` in quotes does not end it.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    // An unclosed quote does not hide the rest.
    text.find('>')
}

/// Replaces entities by their characters.
fn entities(text: &str) -> String {
    const NAMED: [(&str, &str); 8] = [
        ("amp", "&"),
        ("lt", "<"),
        ("gt", ">"),
        ("quot", "\""),
        ("apos", "'"),
        ("nbsp", " "),
        ("hellip", "…"),
        ("ndash", "–"),
    ];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.char_indices().take(12).find(|(_, c)| *c == ';').map(|(at, _)| at);
        let read = end.and_then(|end| {
            let name = &rest[1..end];
            let number = name.strip_prefix('#').and_then(|digits| match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok(),
                None => digits.parse().ok(),
            });
            let named = NAMED.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
            named.or(number.and_then(char::from_u32).map(String::from))
        });
        match (read, end) {
            (Some(read), Some(end)) => {
                out.push_str(&read);
                rest = &rest[end + 1..];
            }
            _ => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Removes surplus blanks and empty lines.
fn lines(text: &str) -> String {
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(line).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_body_is_read_as_people_see_it() {
        let page = Page::of(
            "<html><head><title>x</title></head><body><h1>Sale &amp; more</h1><p>Hi <b>{{NAME}}</b>,<br>take 20&#37;\
             <a href=\"https://shop.example/?a=1&amp;b=2\">off</a></p><!-- <a href=no> --><img src='s.png' alt='a shoe'/>\
             <script>if (a < b) alert('</p>')</script></body></html>",
        );
        assert_eq!(page.text, "Sale & more\nHi {{NAME}},\ntake 20%off\n[a shoe]");
        assert_eq!(page.links.keys().collect::<Vec<_>>(), ["https://shop.example/?a=1&b=2"]);
        assert_eq!(page.images.keys().collect::<Vec<_>>(), ["s.png"]);
        let labels: Vec<(&str, &str)> = page.labels.iter().map(|(at, label)| (&**at, &**label)).collect();
        assert_eq!(labels, [("https://shop.example/?a=1&b=2", "off"), ("s.png", "a shoe")]);
        assert_eq!(page.loads.keys().collect::<Vec<_>>(), ["script"]);
        assert_eq!(page.placeholders.keys().collect::<Vec<_>>(), ["NAME"]);
        let page = Page::of("<form action='https://a.example'></form><iframe src=https://b.example></iframe>");
        assert_eq!(page.loads.keys().collect::<Vec<_>>(), ["form https://a.example", "iframe https://b.example"]);
    }

    #[test]
    fn broken_bodies_are_read_to_their_end() {
        for (body, text) in [
            ("a < b", "a < b"),
            ("<p>one\ntwo</p>three", "one two\nthree"),
            ("<p>one<p>two", "one\ntwo"),
            ("<a href=\"x>y</a>", "y"),
            ("&nope; &#x41;", "&nope; A"),
            ("<", "<"),
            ("a <b", "a"),
        ] {
            assert_eq!(Page::of(body).text, text, "{body}");
        }
    }

    proptest! {
        #[test]
        fn any_body_is_read(body in "[<>a&;#x\"'=/! é-]{0,60}") {
            let _ = Page::of(&body);
        }
    }
}
