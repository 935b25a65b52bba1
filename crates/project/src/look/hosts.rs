//! The hosts that a message links to or loads from, as a browser parses its addresses.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;
use url::Url;

use super::page::{Page, is_page};

/// Hosts by name, with whether all their addresses are encrypted.
pub type Hosts = BTreeMap<String, bool>;

/// The base of relative addresses in a page. No host has this name.
static BASE: LazyLock<Url> = LazyLock::new(|| Url::parse("https://pushplan.invalid/").expect("a URL"));

/// A shorter name of a site resembles too many others.
const SHORTEST: usize = 5;

/// Finds the hosts in all texts of a spec. An address whose host depends on a placeholder is skipped.
pub fn hosts(content: &Value) -> Hosts {
    let mut found = Hosts::new();
    visit(content, &mut found);
    found
}

fn visit(content: &Value, found: &mut Hosts) {
    match content {
        Value::String(text) => in_text(text, found),
        Value::Array(items) => items.iter().for_each(|item| visit(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| visit(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Finds the hosts in one text, which may be an HTML page.
pub fn in_text(text: &str, found: &mut Hosts) {
    if is_page(text) {
        let Page { links, images, loads, .. } = Page::of(text);
        // The address comes after the name of its element.
        let loads = loads.keys().filter_map(|load| load.split_once(' ')).map(|(_, address)| address);
        links.keys().chain(images.keys()).map(String::as_str).chain(loads).for_each(|at| insert(at, found));
    }
    for (at, _) in text.match_indices("://") {
        let scheme = text[..at].bytes().rev().take_while(u8::is_ascii_alphabetic).count();
        let rest = &text[at - scheme..];
        let end = rest.find(|c: char| c.is_whitespace() || "\"'<>()`".contains(c)).unwrap_or(rest.len());
        insert(rest[..end].trim_end_matches(['.', ',', ';', ':', '!', '?']), found);
    }
}

fn insert(address: &str, found: &mut Hosts) {
    let Ok(url) = Url::options().base_url(Some(&BASE)).parse(address) else { return };
    let Some(host) = url.host_str().map(|host| host.trim_end_matches('.')) else { return };
    let is_web = matches!(url.scheme(), "http" | "https");
    if !is_web || host == BASE.host_str().unwrap_or_default() || host.contains(['{', '}']) {
        return;
    }
    let is_encrypted = url.scheme() == "https";
    found.entry(host.to_owned()).and_modify(|all| *all &= is_encrypted).or_insert(is_encrypted);
}

/// Whether a host is an IP address.
pub fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok()
}

/// Whether a host's name has letters other than a to z, which can look like them.
pub fn is_foreign(host: &str) -> bool {
    host.split('.').any(|label| label.starts_with("xn--"))
}

/// The host among others that is easily mistaken for this one: the names of their sites differ by one letter, or by two
/// swapped letters. Names that differ in a digit are usually intended.
pub fn resembling<'h>(host: &str, others: impl IntoIterator<Item = &'h str>) -> Option<&'h str> {
    if is_address(host) {
        return None;
    }
    let site = site(host);
    let is_mistaken = |other: &&str| {
        let known = self::site(other);
        let differs = site.chars().zip(known.chars()).find(|(one, other)| one != other);
        let is_numbered = differs.is_some_and(|(one, other)| one.is_ascii_digit() && other.is_ascii_digit());
        site != known
            && site.len().abs_diff(known.len()) <= 1
            && known.split('.').next().is_some_and(|name| name.len() >= SHORTEST)
            && !is_numbered
            && strsim::osa_distance(site, known) == 1
    };
    others.into_iter().find(is_mistaken)
}

/// The last two labels of a name: `example.com` of `shop.example.com`.
fn site(host: &str) -> &str {
    let last = host.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
    &host[last..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        hosts(&Value::from(text)).into_keys().collect()
    }

    #[test]
    fn a_host_is_what_a_browser_connects_to() {
        for (text, expected) in [
            ("https://shop.example/sale", "shop.example"),
            ("See HTTPS://Shop.Example:8443/a.", "shop.example"),
            ("https://shop.example@other.example/", "other.example"),
            ("https://shop.example\\@other.example/", "shop.example"),
            ("(http://a.example), or", "a.example"),
            ("ühttp://a.example", "a.example"),
            ("https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com"),
            ("https://аррӏе.com/", "xn--80ak6aa92e.com"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("https://a.example./x", "a.example"),
            ("<a href='//b.example/x'>x</a>", "b.example"),
            ("<a href='&#104;ttps://c.example'>x</a>", "c.example"),
            ("<iframe src=https://d.example></iframe>", "d.example"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
        for text in ["https://{{HOST}}/x", "{{URL}}", "myapp://sale", "<a href='/sale'>x</a>", "a://b", "://", "ü://x"]
        {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn http_is_noticed() {
        assert!(!hosts(&serde_json::json!(["https://a.example", {"x": "http://a.example"}]))["a.example"]);
        assert!(hosts(&serde_json::json!("https://a.example"))["a.example"]);
    }

    #[test]
    fn a_name_that_is_easily_mistaken_is_found() {
        let near = |host: &str, other: &'static str| resembling(host, [other]).is_some();
        assert!(near("shop.exmaple.com", "shop.example.com"));
        assert!(near("www.exampl.com", "example.com"));
        assert!(near("example.co", "example.com"));
        for (host, other) in [
            ("shop.example.com", "www.example.com"),
            ("brand1.com", "brand2.com"),
            ("a.io", "b.io"),
            ("other.org", "example.com"),
            ("10.0.0.1", "10.0.0.2"),
        ] {
            assert!(!near(host, other), "{host} {other}");
        }
    }

    #[test]
    fn unusual_names_are_noticed() {
        assert!(is_address("10.0.0.1") && is_address("[::1]") && !is_address("shop.example.com"));
        assert!(is_foreign("xn--80ak6aa92e.com") && !is_foreign("shop.example.com"));
    }
}
