//! Webhooks: events of users are posted to a URL, in order, at least once.
//!
//! A connection belongs to one application and one URL. Its progress is stored as a row next to the events, so that
//! delivery continues after a restart where the receiver last confirmed.

mod address;
mod config;

use std::fmt::Display;
use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Url};

use super::config::instead;

pub use address::{Lookup, is_allowed};
pub use config::read;

/// Every type of event that the contract names.
pub const EVENT_TYPES: &[&str] = &[
    "PUSH_BODY",
    "OPEN",
    "SEND",
    "CONTROL",
    "CLOSE",
    "RICH_DELIVERY",
    "RICH_READ",
    "RICH_DELETE",
    "CUSTOM",
    "LOCATION",
    "TAG_CHANGE",
    "UNINSTALL",
    "FIRST_OPEN",
    "REGION",
    "SCREEN_VIEWED",
    "IN_APP_MESSAGE_DISPLAY",
    "IN_APP_MESSAGE_RESOLUTION",
    "IN_APP_MESSAGE_EXPIRATION",
];

/// A connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// The key of the application whose events it gets.
    pub app: String,
    pub url: String,
    /// The types that it gets; all if there are none.
    pub types: Vec<String>,
    /// Headers of every delivery.
    pub headers: Vec<(String, String)>,
    /// The value of the header `Authorization`.
    pub authorization: Option<String>,
    /// A PEM text with the authorities for an HTTPS receiver, instead of those that the machine trusts.
    pub ca: Option<String>,
}

/// The parts of a delivery's request.
#[derive(Debug)]
pub struct Checked {
    pub url: Url,
    pub headers: HeaderMap,
    pub authorities: Option<Vec<Certificate>>,
}

impl Webhook {
    /// Whether it gets events of a type.
    pub fn wants(&self, kind: &str) -> bool {
        self.types.is_empty() || self.types.iter().any(|wanted| wanted == kind)
    }

    /// Returns the parts of its deliveries' requests; fails if they are invalid.
    pub fn checked(&self) -> anyhow::Result<Checked> {
        for kind in &self.types {
            check_type(kind)?;
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let (name, value) = check_header(name, value)?;
            headers.append(name, value);
        }
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, header_value("Authorization", authorization)?);
        }
        let authorities = self.ca.as_deref().map(authorities).transpose()?;
        Ok(Checked { url: check_url(&self.url)?, headers, authorities })
    }
}

/// Returns the `Authorization` header of a user and a password, given as `user:password`.
pub fn basic(pair: &str) -> anyhow::Result<String> {
    if !pair.contains(':') {
        bail!("the credentials of a webhook are given as user:password");
    }
    Ok(format!("Basic {}", BASE64_STANDARD.encode(pair)))
}

/// Parses a header that is given as `Name: value`.
pub fn header(line: &str) -> anyhow::Result<(String, String)> {
    let (name, value) = line.split_once(':').context("a header of a webhook has no name: write it as `Name: value`")?;
    let (name, value) = (name.trim(), value.trim());
    check_header(name, value)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Returns a URL for display: a long part of its path, and its query, may be secret.
pub fn shown(url: &str) -> String {
    const LONGEST: usize = 15;
    let Ok(url) = Url::parse(url) else { return "a URL".to_owned() };
    let is_short = |part: &str| part.len() <= LONGEST && !part.contains(['%', '+', '=', ':', '@']);
    let path = url.path().split('/').map(|part| if is_short(part) { part } else { "…" });
    let path = path.collect::<Vec<_>>().join("/");
    let rest = if url.query().is_some() || url.fragment().is_some() { "?…" } else { "" };
    format!("{}{path}{rest}", url.origin().ascii_serialization())
}

fn check_url(text: &str) -> anyhow::Result<Url> {
    let url = Url::parse(text).map_err(|error| anyhow!("a webhook is not a URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        bail!("a webhook is an http or https URL, not {}", url.scheme());
    }
    if !url.username().is_empty() || url.password().is_some() {
        bail!("the URL of a webhook holds no credentials: they have a place of their own");
    }
    let host = url.host_str().unwrap_or_default();
    match host.trim_matches(['[', ']']).parse() {
        Ok(literal) if !is_allowed(literal) => Err(anyhow!(address::refusal(host, literal))),
        _ => Ok(url),
    }
}

/// Parses the certificates of a PEM text.
fn authorities(pem: &str) -> anyhow::Result<Vec<Certificate>> {
    let found = Certificate::from_pem_bundle(pem.as_bytes()).unwrap_or_default();
    if found.is_empty() {
        bail!("there is no certificate in it: a PEM file has lines with BEGIN CERTIFICATE");
    }
    Ok(found)
}

/// Reads a file with the authorities for an HTTPS receiver.
pub fn read_ca(path: &Path) -> anyhow::Result<String> {
    let named = |why: &dyn Display| anyhow!("{}: {why}", path.display());
    let pem = fs::read_to_string(path).map_err(|error| named(&error))?;
    authorities(&pem).map_err(|why| named(&why))?;
    Ok(pem)
}

fn check_type(kind: &str) -> anyhow::Result<()> {
    if EVENT_TYPES.contains(&kind) {
        return Ok(());
    }
    Err(anyhow!("there are no events of the type `{kind}`; {}", instead(kind, EVENT_TYPES)))
}

/// Checks a configured header. Headers of the delivery itself cannot be set.
fn check_header(name: &str, value: &str) -> anyhow::Result<(HeaderName, HeaderValue)> {
    let parsed =
        HeaderName::from_bytes(name.as_bytes()).map_err(|_| anyhow!("`{name}` is not the name of a header"))?;
    let own = [CONTENT_TYPE, CONTENT_LENGTH, HOST].contains(&parsed)
        || matches!(parsed.as_str(), "connection" | "transfer-encoding" | "upgrade" | "expect" | "te" | "trailer");
    if own {
        bail!("the header `{name}` is part of every delivery and cannot be set");
    }
    if parsed == AUTHORIZATION {
        bail!("the header `Authorization` has a place of its own");
    }
    Ok((parsed, header_value(name, value)?))
}

fn header_value(name: &str, value: &str) -> anyhow::Result<HeaderValue> {
    let mut value = HeaderValue::from_str(value).map_err(|_| anyhow!("the value of `{name}` cannot be sent"))?;
    value.set_sensitive(true);
    Ok(value)
}
