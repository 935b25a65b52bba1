//! The book for a browser: without script or external content, and with every text escaped.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};

use super::{Book, SUMMARY, SummaryEntry, entries};
use crate::digest::Digest;

const CSS: &str = include_str!("book.css");
const NAME: &str = concat!("pushplan ", env!("CARGO_PKG_VERSION"));

/// A file of the book.
#[derive(Clone, Debug)]
pub struct HtmlFile {
    /// Its path, relative to the folder of the book.
    pub path: String,
    pub text: String,
}

/// The content security policy of a page: only its own styles, identified by their digest.
pub fn policy() -> String {
    let hex = Digest::of(CSS.as_bytes());
    let byte = |at: usize| u8::from_str_radix(&hex.as_str()[at..at + 2], 16).unwrap_or_default();
    let bytes: Vec<u8> = (0..hex.as_str().len()).step_by(2).map(byte).collect();
    format!("default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'", STANDARD.encode(bytes))
}

/// All pages. The first one of the summary is also `index.html`.
pub fn files(book: &Book) -> Vec<HtmlFile> {
    let entries = entries(SUMMARY);
    let policy = policy();
    let mut files = Vec::new();
    for page in &book.pages {
        let Some(at) = entries.iter().position(|entry| entry.path == page.path) else { continue };
        let (title, body) = body(&page.text);
        let pages = || entries.iter().filter(|entry| entry.depth.is_some());
        let before = pages().take_while(|entry| entry.path != page.path).last();
        let after = pages().skip_while(|entry| entry.path != page.path).nth(1);
        let frame = Frame { entries: &entries, at, path: &page.path, policy: &policy };
        let text = frame.page(&title, &body, before, after);
        if pages().next().is_some_and(|first| first.path == page.path) {
            files.push(HtmlFile { path: "index.html".into(), text: text.clone() });
        }
        files.push(HtmlFile { path: html_path(&page.path), text });
    }
    files
}

fn html_path(path: &str) -> String {
    format!("{}.html", path.strip_suffix(".md").unwrap_or(path))
}

/// The frame of a page.
struct Frame<'f> {
    entries: &'f [SummaryEntry<'f>],
    /// The index of the page among the entries.
    at: usize,
    path: &'f str,
    policy: &'f str,
}

impl Frame<'_> {
    fn page(&self, title: &str, body: &str, before: Option<&SummaryEntry>, after: Option<&SummaryEntry>) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(self.policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (title) " · " (NAME) }
                    style { (PreEscaped(CSS)) }
                }
                body {
                    header {
                        a href=(self.to(self.entries.first().map_or("", |entry| entry.path))) { (NAME) }
                        a.menu href="#contents" { "Contents" }
                    }
                    main {
                        (PreEscaped(body))
                        nav.turn aria-label="Pages" {
                            @if let Some(entry) = before { a rel="prev" href=(self.to(entry.path)) { "← " (shown(entry.title)) } }
                            @if let Some(entry) = after { a rel="next" href=(self.to(entry.path)) { (shown(entry.title)) " →" } }
                        }
                    }
                    nav #contents aria-label="Contents" { (self.contents()) }
                }
            }
        };
        page.into_string() + "\n"
    }

    /// All pages at the top level of a part, and those below the shown page or next to it.
    fn contents(&self) -> Markup {
        let opened = self.opened();
        html! {
            ul {
                @for (at, entry) in self.entries.iter().enumerate() {
                    @match entry.depth {
                        None => li.part { (entry.title) },
                        Some(depth) if depth == 0 || opened.contains(&at) => {
                            li class=(format!("depth-{depth}")) {
                                a href=(self.to(entry.path)) aria-current=[(at == self.at).then_some("page")] { (shown(entry.title)) }
                            }
                        }
                        Some(_) => {}
                    }
                }
            }
        }
    }

    /// The nested entries to show: those whose parent is the page or one of its parents.
    fn opened(&self) -> Vec<usize> {
        let mut parents: BTreeMap<usize, Option<usize>> = BTreeMap::new();
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            let Some(depth) = entry.depth else { continue };
            open.retain(|(_, above)| *above < depth);
            parents.insert(at, open.last().map(|(above, _)| *above));
            open.push((at, depth));
        }
        let mut around = vec![self.at];
        while let Some(Some(above)) = around.last().and_then(|at| parents.get(at)) {
            around.push(*above);
        }
        let is_opened = |at: &usize| parents[at].is_some_and(|above| around.contains(&above));
        parents.keys().copied().filter(is_opened).collect()
    }

    /// The address of another page, relative to this one.
    fn to(&self, path: &str) -> String {
        "../".repeat(self.path.matches('/').count()) + &html_path(path)
    }
}

/// A title of the summary without its marks.
fn shown(title: &str) -> String {
    title.replace('`', "")
}

/// A page's title and its HTML. HTML in the source is shown as text; comments are dropped.
pub fn body(markdown: &str) -> (String, String) {
    let mut events: Vec<Event> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
    let mut title = String::new();
    for (slug, at) in anchors(&events) {
        let words = words(&events[at..]);
        if title.is_empty() {
            title = words;
        }
        if let Event::Start(Tag::Heading { id, .. }) = &mut events[at] {
            *id = Some(CowStr::from(slug));
        }
    }
    let events = events.into_iter().filter_map(safe);
    let mut out = String::new();
    pulldown_cmark::html::push_html(&mut out, events);
    (title, out)
}

/// An event in its safe form.
fn safe(event: Event) -> Option<Event> {
    Some(match event {
        Event::Html(text) | Event::InlineHtml(text) if text.trim_start().starts_with("<!--") => {
            drop(text);
            return None;
        }
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: CowStr::from(address(&dest_url)), title, id })
        }
        Event::Start(Tag::Table(_)) => Event::Html("<div class=\"table\" tabindex=\"0\"><table>".into()),
        Event::End(TagEnd::Table) => Event::Html("</tbody></table></div>\n".into()),
        Event::Start(Tag::CodeBlock(_)) => Event::Html("<pre tabindex=\"0\"><code>".into()),
        Event::End(TagEnd::CodeBlock) => Event::Html("</code></pre>\n".into()),
        event => event,
    })
}

/// The address of a link: the page of a Markdown file, an https address, or `#`.
fn address(link: &str) -> String {
    let (path, fragment) = link.split_once('#').map_or((link, None), |(path, fragment)| (path, Some(fragment)));
    let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
    match path.strip_suffix(".md") {
        _ if link.starts_with("https://") => link.to_owned(),
        Some(path) if !path.contains(':') => format!("{path}.html{fragment}"),
        _ if path.is_empty() => fragment,
        _ => "#".to_owned(),
    }
}

/// The anchor of each heading, with its index among the events. They are the same as in mdBook and on code hosts.
fn anchors(events: &[Event]) -> Vec<(String, usize)> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for (at, event) in events.iter().enumerate() {
        if matches!(event, Event::Start(Tag::Heading { .. })) {
            let slug = slug(&words(&events[at..]));
            let count = seen.entry(slug.clone()).or_default();
            all.push((if *count == 0 { slug } else { format!("{slug}-{count}") }, at));
            *count += 1;
        }
    }
    all
}

/// The anchors of a page's headings.
pub fn anchors_of(markdown: &str) -> Vec<String> {
    let events: Vec<Event> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
    anchors(&events).into_iter().map(|(slug, _)| slug).collect()
}

/// The links of a page, as in its source.
pub fn links_of(markdown: &str) -> Vec<String> {
    let link = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
        _ => None,
    };
    Parser::new_ext(markdown, Options::ENABLE_TABLES).filter_map(link).collect()
}

/// The text of the heading at the beginning of the events.
fn words(events: &[Event]) -> String {
    let heading = events.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    let text = heading.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
        _ => None,
    });
    text.collect()
}

fn slug(words: &str) -> String {
    let kept = words.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-') || c.is_whitespace());
    kept.map(|c| if c.is_whitespace() { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_says_stays_text() {
        let (title, out) = body(
            "# A `b`\n\n<script>x</script>\n\nIt <!-- no --> <b>\n\n[a](javascript:x) [b](c/d.md#e) [f](https://g)\n",
        );
        assert_eq!(title, "A b");
        assert!(!out.contains("<script") && !out.contains("<b>") && !out.contains("no"), "{out}");
        assert!(out.contains("<h1 id=\"a-b\">") && out.contains("href=\"#\"") && !out.contains("javascript"), "{out}");
        assert!(out.contains("href=\"c/d.html#e\"") && out.contains("href=\"https://g\""), "{out}");
    }

    #[test]
    fn tables_and_blocks_can_be_scrolled_by_keyboard() {
        let (_, out) = body("| a | b |\n|---|---|\n| `<c>` | d |\n\n```sh\n<e>\n```\n");
        assert!(out.contains("<div class=\"table\" tabindex=\"0\"><table><thead><tr><th>a</th>"), "{out}");
        assert!(out.contains("<code>&lt;c&gt;</code>") && out.contains("</tbody></table></div>"), "{out}");
        assert!(out.contains("<pre tabindex=\"0\"><code>&lt;e&gt;\n</code></pre>"), "{out}");
    }

    #[test]
    fn anchors_are_those_of_code_hosts() {
        assert_eq!(anchors_of("# What's `new_x`?\n\n## A\n\n## A\n"), ["whats-new_x", "a", "a-1"]);
    }
}
