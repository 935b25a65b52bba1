//! Answers of the service.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use pushplan_model::codes::Severity;
use pushplan_model::finding::Finding;
use pushplan_model::node::Node;
use pushplan_model::source::Source;
use pushplan_model::text;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// A status, a body and further headers.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub location: Option<String>,
    /// The allowed methods, if another one was used.
    pub allow: Option<String>,
    /// JSON.
    pub body: Option<String>,
}

impl Answer {
    /// Returns an answer with this body alone.
    pub fn bare(status: u16, body: impl Serialize) -> Self {
        // The service's own types always serialize as JSON, because their keys are texts.
        Self::text(status, serde_json::to_string(&body).unwrap_or_default())
    }

    /// Returns an answer with a body that is JSON already.
    pub fn text(status: u16, body: String) -> Self {
        Self { status, location: None, allow: None, body: Some(body) }
    }

    /// Returns an answer without a body.
    pub fn empty(status: u16) -> Self {
        Self { status, location: None, allow: None, body: None }
    }

    /// Returns `{"ok": true, ...}`.
    pub fn ok(status: u16, fields: impl Serialize) -> Self {
        Self::bare(status, Well { ok: true, operation_id: None, fields })
    }

    /// Returns `{"ok": true, "operation_id": ..., ...}`, the answer to a change.
    pub fn done(status: u16, fields: impl Serialize) -> Self {
        Self::bare(status, Well { ok: true, operation_id: Some(new_id()), fields })
    }

    pub fn at(mut self, location: impl Into<String>) -> Self {
        self.location = Some(location.into());
        self
    }
}

/// The body of a successful answer.
#[derive(Serialize)]
struct Well<F> {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_id: Option<String>,
    #[serde(flatten)]
    fields: F,
}

/// Returns a new id in the service's format.
///
/// The system provides randomness once and not for each id, because a change needs several ids. A counter is hashed
/// with random keys, so ids are unique and nobody can predict the next one.
pub fn new_id() -> String {
    static KEYS: LazyLock<[RandomState; 2]> = LazyLock::new(|| [RandomState::new(), RandomState::new()]);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let [high, low] = KEYS.each_ref().map(|key| key.hash_one(count));
    let bytes = Uuid::from_u64_pair(high, low).into_bytes();
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

/// Why a request is refused. A refused request had no effect.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub status: u16,
    /// The status, followed by two digits.
    pub code: u32,
    pub error: String,
    pub details: Option<Value>,
    /// The allowed methods, if another one was used.
    pub allow: Option<String>,
}

impl Refusal {
    fn new(code: u32, error: impl Into<String>) -> Self {
        Self { status: (code / 100) as u16, code, error: error.into(), details: None, allow: None }
    }

    /// The body could not be parsed.
    pub(crate) fn unparsable(why: &str, source: &Source, at: usize) -> Self {
        let position = source.position(at);
        let details = json!({ "error": why, "location": { "line": position.line, "column": position.column } });
        Self { details: Some(details), ..Self::new(40000, "Could not parse request body.") }
    }

    /// The body contains something impossible.
    pub fn invalid(error: impl Into<String>) -> Self {
        Self::new(40001, error)
    }

    /// The body was parsed and has errors. The first one is reported.
    pub fn findings(findings: &[Finding], source: &Source, body: &Node) -> Option<Self> {
        let first = findings.iter().find(|finding| finding.severity == Severity::Error)?;
        let position = source.position(first.at.range().start);
        let mut details = json!({
            "error": first.message,
            "path": body.path_to(first.at),
            "location": { "line": position.line, "column": position.column },
        });
        let help = [first.label.as_str(), first.help.as_deref().unwrap_or_default()];
        let help: Vec<&str> = help.into_iter().filter(|words| !words.is_empty()).collect();
        if !help.is_empty() {
            details["help"] = help.join("; ").into();
        }
        Some(Self { details: Some(details), ..Self::new(40000, "Could not parse request body.") })
    }

    /// The value at `path` is impossible.
    pub(crate) fn invalid_at(path: &str, error: impl Into<String>) -> Self {
        let error = error.into();
        let details = json!({ "error": error, "path": path });
        Self::invalid(error).with(details)
    }

    /// The key at `path` is not allowed there.
    pub fn unknown_key(path: &str) -> Self {
        let key = path.rsplit('.').next().unwrap_or(path);
        let details = json!({ "error": format!("unknown key `{key}`"), "path": path });
        Self::new(40000, "Could not parse request body.").with(details)
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(40101, "Unauthorized")
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(40401, format!("{what} not found"))
    }

    pub(crate) fn no_such_channel() -> Self {
        Self::new(40404, "Invalid channel id")
    }

    pub(crate) fn not_allowed(error: impl Into<String>) -> Self {
        Self::new(40501, error)
    }

    /// The path exists, but does not support this method.
    pub(crate) fn no_such_method(method: &str, possible: &[&str]) -> Self {
        let error = format!("{method} is not possible here; {} is", text::any_of(possible));
        Self { allow: Some(possible.join(", ")), ..Self::not_allowed(error) }
    }

    pub(crate) fn not_acceptable() -> Self {
        Self::new(40601, "Unsupported API version in the Accept header")
    }

    pub fn too_many(error: impl Into<String>) -> Self {
        Self::new(41301, error)
    }

    pub fn too_large() -> Self {
        Self::new(41307, "Request body is larger than 5 MiB")
    }

    pub(crate) fn forbidden(error: impl Into<String>) -> Self {
        Self::new(40301, error)
    }

    /// The current state does not allow it.
    pub fn conflict(error: impl Into<String>) -> Self {
        Self::new(40901, error)
    }

    pub(crate) fn timed_out() -> Self {
        Self::new(40801, "The request body did not arrive in time")
    }

    pub fn with(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    pub fn answer(&self) -> Answer {
        let mut body = json!({
            "ok": false,
            "operation_id": new_id(),
            "error": self.error,
            "error_code": self.code,
        });
        if let Some(details) = &self.details {
            body["details"] = details.clone();
        }
        Answer { allow: self.allow.clone(), ..Answer::bare(self.status, body) }
    }
}

/// The result of a request.
pub type Answered = Result<Answer, Refusal>;
