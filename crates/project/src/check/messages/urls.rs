//! URLs that a tap opens, or that are loaded with a notification.

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::At;
use pushplan_model::nouns::notification::{DEEP_LINK, LANDING_PAGE, Notification, OpenAction, OpenContent, URL};
use pushplan_model::nouns::placeholder::{fill, placeholders};
use pushplan_model::source::Span;
use pushplan_model::text;

use super::super::{Check, CheckScope, Dissected, Subject};
use super::own;
use crate::look::with_defaults;

pub const URLS: Check = Check { codes: &[&codes::MS110], run: CheckScope::Each(urls) };

/// The types of `open`. The contract has only the first.
const TYPES: [&str; 3] = [URL, DEEP_LINK, LANDING_PAGE];

fn urls(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for said in own(subject, one) {
        let Some(notification) = said.notification else { continue };
        for OpenAction { r#type, .. } in opens(notification).filter(|open| !TYPES.contains(&open.r#type.as_str())) {
            let near = text::nearest(r#type, TYPES).unwrap_or(URL);
            let help = match near {
                URL => "write `type: url`, and in `content` an address that begins with https://".to_owned(),
                near => format!("did you mean `{near}`?"),
            };
            findings.push(
                Finding::new(&codes::MS110, r#type.span, format!("`open` cannot open a `{}`", text::short(r#type, 40)))
                    .label("expected url, deep_link or landing_page")
                    .help(help)
                    .suggest(r#type.span, near),
            );
        }
        for OpenAction { r#type, content } in opens(notification).filter(|open| *open.r#type != LANDING_PAGE) {
            if let OpenContent::Page(page) = content {
                let message = format!("`{}` opens an address, not a page", text::short(r#type, 40));
                findings.push(
                    Finding::new(&codes::MS110, page.body.span, message)
                        .label("a page")
                        .help("write `type: landing_page`, or the address in `content`"),
                );
            }
        }
        for url in checked(notification) {
            let filled = with_defaults(url, said.variables);
            if let Some(why) = wrong(&filled) {
                findings.push(finding(url.span, url, &filled, why));
            }
        }
    }
}

fn opens(notification: &Notification) -> impl Iterator<Item = &OpenAction> {
    notification.all_actions().filter_map(|actions| actions.open.as_ref())
}

/// The values that must be URLs. The content of a type other than `url` may be something else.
fn checked(notification: &Notification) -> impl Iterator<Item = &At<String>> {
    let is_it = |content: &OpenContent, url: &At<String>| std::ptr::eq(content.text(), url);
    let other =
        move |url: &At<String>| opens(notification).any(|open| *open.r#type != URL && is_it(&open.content, url));
    notification.urls().filter(move |url| !other(url))
}

/// The finding for a wrong URL. `written` is the text that a suggestion would replace.
pub fn finding(at: Span, written: &str, filled: &str, why: &str) -> Finding {
    let finding = Finding::new(&codes::MS110, at, format!("`{}` is not a web address: {why}", text::short(filled, 60)))
        .label("expected http:// or https://");
    match guess(written) {
        Some(near) => {
            let quoted = text::quoted(&near);
            finding.help(format!("did you mean {quoted}?")).suggest(at, quoted)
        }
        None => finding.help("write the whole address, such as https://example.com/sale"),
    }
}

/// Why devices cannot open a URL, if they cannot. A URL that begins with a placeholder is unknown until it is filled
/// in.
pub fn wrong(url: &str) -> Option<&'static str> {
    if placeholders(url).any(|placeholder| placeholder.range.start == 0) {
        return None;
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        return Some(if scheme(url).is_some() { "it has another scheme" } else { "it has no scheme" });
    };
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Some("it has another scheme");
    }
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() {
        return Some("it has no host");
    }
    // Blanks in the braces of a placeholder disappear when it is filled in.
    let outside = fill(url, |_| Some(""));
    outside.contains(|c: char| c.is_whitespace() || c.is_control()).then_some("it contains white space")
}

/// The scheme of a link: the text before the colon.
pub(super) fn scheme(link: &str) -> Option<&str> {
    link.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| is_scheme(scheme))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// A URL for a host without a scheme, such as `example.com/sale`.
fn guess(written: &str) -> Option<String> {
    let bare = written.strip_prefix("//").unwrap_or(written);
    let host = bare.split(['/', '?', '#']).next()?;
    let labels = host.split('.').count() >= 2 && host.split('.').all(|label| !label.is_empty());
    let letters = host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.'));
    let near = format!("https://{bare}");
    (labels && letters && wrong(&near).is_none()).then_some(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_addresses_are_taken_and_others_are_not() {
        for url in [
            "https://example.com",
            "HTTP://example.com/a?b#c",
            "https://example.com/{{ID}}?q={{ Q }}",
            "{{URL}}",
            "{{HOST}}/sale",
            "https://{{HOST}}/sale",
            "http://[::1]:8080/",
        ] {
            assert_eq!(wrong(url), None, "{url}");
        }
        for url in [
            "",
            "example.com",
            "//example.com",
            "javascript:alert(1)",
            "myapp://sale",
            "https://",
            "https:///x",
            "https:example.com",
            "https://exa mple.com",
            "see {{URL}}",
            "ftp://example.com",
        ] {
            assert!(wrong(url).is_some(), "{url}");
        }
    }

    #[test]
    fn a_host_without_a_scheme_is_completed() {
        assert_eq!(guess("example.com/sale").as_deref(), Some("https://example.com/sale"));
        assert_eq!(guess("//example.com").as_deref(), Some("https://example.com"));
        for text in ["javascript:alert(1)", "sale", "a..b", "see example.com now", ""] {
            assert_eq!(guess(text), None, "{text}");
        }
    }
}
