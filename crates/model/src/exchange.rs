//! A request to the service and its answer, as data: kinds create them, the client sends them, the simulation answers
//! them.

use std::fmt;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a request does to the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    Get,
    Post,
    Put,
    Delete,
}

impl Method {
    pub const ALL: [Method; 4] = [Self::Get, Self::Post, Self::Put, Self::Delete];

    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// One request. Its path begins with `/api/` and may have a query; it never contains an origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Request {
    pub method: Method,
    pub path: String,
    /// The body, as sent.
    pub body: Option<String>,
}

impl Request {
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: Method::Get, path: path.into(), body: None }
    }

    pub fn post(path: impl Into<String>, body: &Value) -> Self {
        Self { method: Method::Post, path: path.into(), body: Some(body.to_string()) }
    }

    pub fn put(path: impl Into<String>, body: &Value) -> Self {
        Self { method: Method::Put, path: path.into(), body: Some(body.to_string()) }
    }

    /// Returns a `PUT` without a body, whose path contains everything.
    pub fn put_bare(path: impl Into<String>) -> Self {
        Self { method: Method::Put, path: path.into(), body: None }
    }

    pub fn delete(path: impl Into<String>) -> Self {
        Self { method: Method::Delete, path: path.into(), body: None }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method.word(), self.path)
    }
}

/// Encodes an id or a name as a part of a path or of a query.
pub fn part(text: &str) -> String {
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        return text.to_owned();
    }
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC)
        .to_string()
        .replace("%2D", "-")
        .replace("%5F", "_")
        .replace("%2E", ".")
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// The body if it is JSON; `Null` if it is empty; `None` otherwise.
    pub body: Option<Value>,
    pub location: Option<String>,
    pub retry_after: Option<String>,
    /// When it was written, by the service's clock.
    pub at: Option<Timestamp>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The request never reached the service, so it had no effect.
    NotSent(String),
    /// Whether the request had an effect is unknown: a timeout, a reset, an incomplete answer.
    Unknown(String),
}

/// Why an answer cannot be understood, though the service says that it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadAnswer(String);

impl<T: Into<String>> From<T> for BadAnswer {
    fn from(why: T) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for BadAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadAnswer {}

/// The meaning of an answer for its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A 2xx whose body is JSON or empty, and does not contain `ok: false`.
    Done,
    /// The service received the request and did not carry it out.
    Refused,
    /// The resource does not exist.
    Missing,
    /// Too many requests: by the service's contract, nothing was done, so the request may be sent again.
    Busy,
    /// Whether it was done is unknown.
    Unknown,
}

/// Returns the meaning of a status. Only the refusals that HTTP defines are definite: a proxy that stops waiting for
/// the service answers with 408, 5xx or a status of its own (460, 499), and the service may have carried out the
/// request.
fn meaning_of(status: u16) -> Meaning {
    match status {
        200..=299 => Meaning::Done,
        404 | 410 => Meaning::Missing,
        429 => Meaning::Busy,
        400..=407 | 409 | 411..=418 | 421..=426 | 428 | 431 | 451 => Meaning::Refused,
        // A redirect is not an answer of this service, and the server behind it may have done anything.
        _ => Meaning::Unknown,
    }
}

impl Answer {
    pub fn new(status: u16, body: Value) -> Self {
        Self { status, body: Some(body), location: None, retry_after: None, at: None }
    }

    /// Returns the meaning for its request. A success that is not JSON, or whose body contradicts it, is unknown.
    pub fn meaning(&self) -> Meaning {
        match meaning_of(self.status) {
            Meaning::Done if self.body.is_none() || self.is_not_ok() => Meaning::Unknown,
            meaning => meaning,
        }
    }

    /// Returns what the status alone claims. Only the simulation uses this, to show the consequences.
    pub fn claimed(&self) -> Meaning {
        match meaning_of(self.status) {
            Meaning::Done if self.body.is_none() => Meaning::Unknown,
            Meaning::Unknown if (400..=499).contains(&self.status) => Meaning::Refused,
            meaning => meaning,
        }
    }

    /// Whether a retry may get another answer soon: the service is busy, has a problem, or a proxy answered in its
    /// place.
    pub fn is_passing(&self) -> bool {
        match self.meaning() {
            Meaning::Busy => true,
            Meaning::Unknown => matches!(self.status, 200..=299 | 408 | 500..=599),
            Meaning::Done | Meaning::Refused | Meaning::Missing => false,
        }
    }

    /// Whether the body says that the request was not carried out, whatever the status.
    fn is_not_ok(&self) -> bool {
        let said = self.body.as_ref().and_then(|body| body.get("ok"));
        said.is_some_and(|ok| *ok != Value::Bool(true))
    }

    /// Whether it refuses the credentials, whatever the request was.
    pub fn denies(&self) -> bool {
        matches!(self.status, 401 | 403)
    }

    /// Returns the error of the service in any of its forms, or a substitute if there is none.
    pub fn error(&self) -> String {
        let body = self.body.as_ref().unwrap_or(&Value::Null);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let detail = match &body["details"] {
            Value::Array(all) => all.first().and_then(|one| text(&one["message"])),
            details => text(&details["error"]),
        };
        let path = match &body["details"] {
            Value::Array(_) => None,
            details => text(&details["path"]),
        };
        let said = text(&body["error"]).or_else(|| text(&body["message"]));
        let mut out = format!("HTTP {}", self.status);
        if (200..300).contains(&self.status) {
            if self.body.is_none() {
                out.push_str(", and the answer is not JSON: check that this is the address of the API");
            } else if self.is_not_ok() {
                out.push_str(", but the answer reports a failure");
            }
        }
        for (before, part) in [(": ", said), (" ", detail), (" at ", path)] {
            if let Some(part) = part.filter(|part| !part.is_empty()) {
                out.push_str(before);
                out.push_str(&part);
            }
        }
        out
    }

    /// Returns how long to wait before the next request, in seconds: from a header with seconds or a date, up to a
    /// maximum.
    pub fn wait_seconds(&self, now: Timestamp) -> Option<u64> {
        const MOST: u64 = 300;
        let said = self.retry_after.as_deref()?.trim();
        let seconds = match said.parse::<u64>() {
            Ok(seconds) => seconds,
            Err(_) => u64::try_from(http_date(said)?.duration_since(now).as_secs()).unwrap_or(0),
        };
        Some(seconds.min(MOST))
    }
}

/// Parses the date of a header.
pub fn http_date(said: &str) -> Option<Timestamp> {
    Some(rfc2822::parse(&said.trim().replace("GMT", "+0000")).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_error_is_told_in_any_form() {
        let told = |status, body| Answer::new(status, body).error();
        let whole = json!({"ok": false, "error": "Could not parse request body.",
            "details": {"error": "unknown key", "path": "notification.alert1"}});
        assert_eq!(told(400, whole), "HTTP 400: Could not parse request body. unknown key at notification.alert1");
        assert_eq!(told(400, json!({"message": "no"})), "HTTP 400: no");
        assert_eq!(told(422, json!({"details": [{"message": "bad", "path": ["a"]}]})), "HTTP 422 bad");
        assert_eq!(Answer { body: None, ..Answer::new(401, json!(null)) }.error(), "HTTP 401");
    }

    #[test]
    fn a_status_is_definite_only_if_the_service_gave_it() {
        let table = [
            (Meaning::Unknown, [0, 100, 101, 103, 199].as_slice()),
            (Meaning::Done, &[200, 201, 202, 203, 204, 206, 226]),
            (Meaning::Unknown, &[300, 301, 302, 303, 304, 307, 308, 399]),
            (Meaning::Refused, &[400, 401, 402, 403, 405, 406, 407, 409, 411, 412, 413, 414, 415, 416, 417, 418]),
            (Meaning::Missing, &[404, 410]),
            (Meaning::Refused, &[421, 422, 423, 424, 425, 426, 428, 431, 451]),
            (Meaning::Busy, &[429]),
            (Meaning::Unknown, &[408, 419, 420, 427, 430, 440, 444, 449, 450, 460, 463, 494, 498, 499]),
            (Meaning::Unknown, &[500, 501, 502, 503, 504, 507, 511, 520, 521, 522, 523, 524, 525, 526, 530, 599]),
            (Meaning::Unknown, &[600, 999]),
        ];
        for (meaning, statuses) in table {
            for status in statuses {
                let answer = Answer::new(*status, json!({}));
                assert_eq!(answer.meaning(), meaning, "{status}");
                let is_passing = matches!(*status, 408 | 429 | 500..=599);
                assert_eq!(answer.is_passing(), is_passing, "{status}");
            }
        }
    }

    #[test]
    fn a_success_is_one_only_if_its_body_does_not_deny_it() {
        for (body, meaning) in [
            (Some(json!(null)), Meaning::Done),
            (Some(json!({})), Meaning::Done),
            (Some(json!([])), Meaning::Done),
            (Some(json!({"ok": true})), Meaning::Done),
            (Some(json!({"segments": [{"ok": false}]})), Meaning::Done),
            (Some(json!({"ok": false})), Meaning::Unknown),
            (Some(json!({"ok": false, "segments": []})), Meaning::Unknown),
            (Some(json!({"ok": null})), Meaning::Unknown),
            (Some(json!({"ok": "false"})), Meaning::Unknown),
            (None, Meaning::Unknown),
        ] {
            for status in [200, 201, 202, 204] {
                let answer = Answer { body: body.clone(), ..Answer::new(status, json!(null)) };
                assert_eq!(answer.meaning(), meaning, "{answer:?}");
                assert_eq!(answer.is_passing(), meaning == Meaning::Unknown, "{answer:?}");
            }
            let refused = Answer { body, ..Answer::new(400, json!(null)) };
            assert_eq!(refused.meaning(), Meaning::Refused, "what was refused stays refused");
        }
        let told = Answer::new(200, json!({"ok": false, "error": "later"})).error();
        assert_eq!(told, "HTTP 200, but the answer reports a failure: later");
    }

    #[test]
    fn a_wait_is_read_from_seconds_dates_and_garbage() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let wait = |said: &str| {
            let answer = Answer { retry_after: Some(said.to_owned()), ..Answer::new(429, json!(null)) };
            answer.wait_seconds(now)
        };
        assert_eq!(wait("7"), Some(7));
        assert_eq!(wait("99999999"), Some(300));
        assert_eq!(wait("Sun, 15 Nov 2026 12:00:30 GMT"), Some(30));
        assert_eq!(wait("Sun, 15 Nov 2026 11:00:30 GMT"), Some(0));
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("-1"), None);
    }

    #[test]
    fn parts_of_a_path_are_escaped() {
        assert_eq!(part("a b/ü?-_."), "a%20b%2F%C3%BC%3F-_.");
    }
}
