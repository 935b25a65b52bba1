//! Failures of a store, in one line without secrets.

use std::fmt;
use std::time::Duration;

use object_store::Error;
use object_store::client::{HttpError, HttpErrorKind};

use super::place::StoreVariables;

/// The effect of a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing was done, because the object exists already or another process was writing it.
    Taken,
    /// Nothing was done.
    Nothing,
    /// It may have been done, and may even be done later.
    Unclear,
}

/// A request that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    pub why: String,
    pub left: Left,
    /// The object, or its bucket, does not exist.
    pub is_absent: bool,
    /// The store is too busy, or another process was writing the same object: a retry may succeed.
    pub is_passing: bool,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl Failure {
    /// Returns the failure of a request with this time limit.
    pub fn of(error: &Error, settings: &StoreVariables, limit: Duration) -> Self {
        let (why, left) = judge(error, limit);
        let is_passing = answer(&error.to_string()).is_some_and(|(status, _)| matches!(status, 409 | 429 | 503));
        let is_absent = matches!(error, Error::NotFound { .. });
        Self { why: settings.mask(&why), left, is_absent, is_passing }
    }

    /// Returns a failure from before anything was sent.
    pub fn before(why: impl fmt::Display) -> Self {
        Self { why: why.to_string(), left: Left::Nothing, is_absent: false, is_passing: false }
    }

    pub fn late(limit: Duration) -> Self {
        Self { why: too_late(limit), left: Left::Unclear, is_absent: false, is_passing: false }
    }
}

fn too_late(limit: Duration) -> String {
    format!("no answer within {limit:?}")
}

fn judge(error: &Error, limit: Duration) -> (String, Left) {
    let text = error.to_string();
    if let Some((status, answer)) = answer(&text) {
        let left = match status {
            304 | 409 | 412 => Left::Taken,
            // A gateway's timeout says nothing about the server behind it.
            408 => Left::Unclear,
            300..=499 | 501 | 503 => Left::Nothing,
            _ => Left::Unclear,
        };
        return (format!("it answered {answer}"), left);
    }
    if text.contains("redirect without LOCATION") {
        return (
            "it answered with an invalid redirect, for example because the region is wrong".to_owned(),
            Left::Nothing,
        );
    }
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    let mut kind = None;
    let mut innermost = text.clone();
    while let Some(at) = cause {
        kind = kind.or_else(|| at.downcast_ref::<HttpError>().map(HttpError::kind));
        innermost = at.to_string();
        cause = at.source();
    }
    let left = match (error, kind) {
        (_, Some(HttpErrorKind::Connect)) => Left::Nothing,
        (_, Some(_)) | (Error::Generic { .. } | Error::JoinError { .. }, None) => Left::Unclear,
        (Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotModified { .. }, None) => Left::Taken,
        _ => Left::Nothing,
    };
    let why = match kind {
        Some(HttpErrorKind::Timeout) => too_late(limit),
        Some(_) => one_line(innermost.split(" (os error").next().unwrap_or(&innermost)),
        None => one_line(&text),
    };
    (why, left)
}

/// Returns the status and the message of an answer, which the crate provides only as text. The rest of the body is left
/// out: if a signature does not match, it repeats every header, including the session's token.
fn answer(text: &str) -> Option<(u16, String)> {
    let (_, rest) = text.rsplit_once("status code: ")?;
    let status: u16 = rest.get(..3)?.parse().ok()?;
    let (reason, body) = rest.split_once(':').unwrap_or((rest, ""));
    let element = |name: &str| {
        let (_, rest) = body.split_once(&format!("<{name}>"))?;
        Some(one_line(rest.split_once('<')?.0)).filter(|text| !text.is_empty())
    };
    let said = [Some(one_line(reason)), element("Code"), element("Message")];
    Some((status, said.into_iter().flatten().collect::<Vec<_>>().join(": ")))
}

/// The maximum number of characters of a server's message to show.
const SHOWN: usize = 300;

fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(text: &str) -> Error {
        Error::Generic { store: "S3", source: text.to_owned().into() }
    }

    #[test]
    fn an_answer_is_told_in_one_line_without_what_was_signed() {
        let body = "Server returned non-2xx status code: 403 Forbidden: <?xml version=\"1.0\"?>\n<Error><Code>SignatureDoesNotMatch\
                    </Code><Message>The signature\n does not match</Message><CanonicalRequest>x-amz-security-token:hidden\
                    </CanonicalRequest></Error>";
        let (why, left) = judge(&generic(body), Duration::ZERO);
        assert_eq!(why, "it answered 403 Forbidden: SignatureDoesNotMatch: The signature does not match");
        assert_eq!(left, Left::Nothing);
    }

    #[test]
    fn only_a_definite_refusal_leaves_nothing() {
        let left = |status: &str| judge(&generic(&format!("x status code: {status}: ")), Duration::ZERO).1;
        assert_eq!(left("412 Precondition Failed"), Left::Taken);
        assert_eq!(left("409 Conflict"), Left::Taken);
        for refused in ["400 Bad Request", "404 Not Found", "429 Too Many Requests", "503 Slow Down"] {
            assert_eq!(left(refused), Left::Nothing, "{refused}");
        }
        for open in ["408 Request Timeout", "500 Internal Server Error", "502 Bad Gateway", "504 Gateway Timeout"] {
            assert_eq!(left(open), Left::Unclear, "{open}");
        }
        assert_eq!(judge(&generic("the connection broke"), Duration::ZERO).1, Left::Unclear);
    }
}
