//! Scheme, host and port: what credentials belong to, and where requests are sent.

use std::fmt;
use std::net::IpAddr;

use anyhow::{anyhow, bail};
use reqwest::Url;

/// The origin of a service. It uses HTTPS, or is on this machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    url: Url,
}

impl Origin {
    /// Returns the origin that a base URL names. The error says why it cannot be one.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let shown = shown(text);
        let url = Url::parse(text).map_err(|error| anyhow!("{shown} is not a URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            bail!("{shown} is not an https URL");
        }
        if !url.username().is_empty() || url.password().is_some() {
            // It is not repeated, because it contains a secret.
            bail!("a base URL must not contain credentials: keep them outside the project");
        }
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            let end = url.origin().ascii_serialization();
            bail!("{shown} may only have a scheme, a host and a port: write {end}");
        }
        let origin = Self { url };
        if origin.url.scheme() == "http" && !origin.is_loopback() {
            bail!("{shown} is not https: credentials would be sent unencrypted");
        }
        Ok(origin)
    }

    /// Whether it is on this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        let literal = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host == "localhost" || literal.is_ok_and(|address| address.to_canonical().is_loopback())
    }

    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Returns the URL of exactly this path: `..` in an id does not lead elsewhere.
    pub fn url(&self, path: &str) -> anyhow::Result<Url> {
        let (written, query) = path.split_once('?').map_or((path, None), |(written, query)| (written, Some(query)));
        let mut url = self.url.clone();
        url.set_path(written);
        url.set_query(query);
        if url.path() != written || written.starts_with("//") || path.contains('#') {
            bail!("`{path}` is not a path of the API");
        }
        Ok(url)
    }
}

/// Returns a text that should be an origin, for display. Everything beyond scheme, host and port may be a secret, and
/// so may a text that looks like none of them, because one may have been given for the other.
pub fn shown(text: &str) -> String {
    if is_plain(text) { format!("`{text}`") } else { "this address".to_owned() }
}

/// Whether a text contains only a scheme, a host and a port.
pub fn is_plain(text: &str) -> bool {
    let host = text.split_once("://").map_or(text, |(_, rest)| rest).trim_end_matches('/');
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "-.:[]".contains(c);
    let is_host = host == "localhost" || host.starts_with("localhost:") || host.contains(['.', '[']);
    is_host && host.chars().all(is_sign) && host.split('.').all(|label| label.len() <= 63)
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url.origin().ascii_serialization())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_https_or_on_this_machine() {
        for (text, origin) in [
            ("https://messaging.example", "https://messaging.example"),
            ("HTTPS://Messaging.Example:443/", "https://messaging.example"),
            ("https://messaging.example:8443", "https://messaging.example:8443"),
            ("http://127.0.0.1:8420", "http://127.0.0.1:8420"),
            ("http://[::1]:8420/", "http://[::1]:8420"),
            ("http://localhost", "http://localhost"),
        ] {
            assert_eq!(Origin::parse(text).unwrap().to_string(), origin);
        }
        for (text, says) in [
            ("messaging.example", "is not a URL"),
            ("ftp://messaging.example", "is not an https URL"),
            ("http://messaging.example", "is not https"),
            ("http://localhost.evil.example", "is not https"),
            ("http://10.0.0.1", "is not https"),
            ("https://key:hunter2@messaging.example", "must not contain credentials"),
            ("https://messaging.example/api", "write https://messaging.example"),
            ("https://messaging.example?x=1", "write https://messaging.example"),
            ("https://messaging.example?token=hunter2", "write https://messaging.example"),
            ("https://messaging.example/hunter2", "write https://messaging.example"),
            ("https://key:hunter2 @messaging.example", "must not contain credentials"),
            ("hunter2", "is not a URL"),
            ("ftp://ada:hunter2@messaging.example", "is not an https URL"),
            ("https//messaging.example?hunter2", "is not a URL"),
        ] {
            let error = Origin::parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_path_leads_where_it_says() {
        let origin = Origin::parse("https://messaging.example").unwrap();
        let url = origin.url("/api/tags/a%20b?limit=1").unwrap();
        assert_eq!(url.as_str(), "https://messaging.example/api/tags/a%20b?limit=1");
        for wrong in ["/api/segments/..", "/api/segments/%2E%2E", "//evil.example/api", "https://evil.example/", "api"]
        {
            assert!(origin.url(wrong).is_err(), "{wrong}");
        }
        for wrong in ["/api/tags/a#b", "/api/tags/a?b#c", "/api/tags/a\tb", "/api/tags\\a", "?limit=1", ""] {
            assert!(origin.url(wrong).is_err(), "{wrong}");
        }
    }
}
