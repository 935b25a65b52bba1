//! Lists in pages: `start` and `limit`.

use serde_json::{Value, json};

use crate::answer::{Answer, Refusal};
use crate::request::Request;

/// Returns the number of items on a page: `limit`, up to a maximum.
pub fn limit(request: &Request, most: usize) -> Result<usize, Refusal> {
    Ok(request.number("limit", most, most)?.max(1))
}

/// Returns the URL of the page that begins at `start`: the same request with all of its other parameters.
pub fn next_page(request: &Request, limit: usize, start: &str) -> String {
    let (limit, mut query) = (limit.to_string(), form_urlencoded::Serializer::new(String::new()));
    for (name, value) in request.query.iter().filter(|(name, _)| !matches!(name.as_str(), "limit" | "start")) {
        query.append_pair(name, value);
    }
    query.append_pair("limit", &limit).append_pair("start", start);
    format!("{}{}?{}", request.origin, request.path, query.finish())
}

/// Returns an answer with a list of JSON lines and further fields. Each line is prefixed by `begin`.
pub fn page<L: AsRef<str>>(name: &str, lines: &[L], begin: &str, fields: &Value) -> Answer {
    let fields = fields.to_string();
    let rest = fields.strip_prefix('{').unwrap_or("}");
    let length: usize = lines.iter().map(|line| begin.len() + line.as_ref().len() + 1).sum();
    let mut body = String::with_capacity(length + name.len() + rest.len() + 8);
    for part in ["{\"", name, "\":["] {
        body.push_str(part);
    }
    for (n, line) in lines.iter().enumerate() {
        body.push_str(if n == 0 { "" } else { "," });
        body.push_str(begin);
        body.push_str(line.as_ref());
    }
    body.push_str(if rest == "}" { "]" } else { "]," });
    body.push_str(rest);
    Answer::text(200, body)
}

/// Returns the beginning of a line for something with a URL: the origin that the client called. [`after_origin`] is the
/// rest.
pub fn url_begin(request: &Request) -> String {
    let origin = json!(request.origin).to_string();
    format!("{{\"url\":{}", origin.strip_suffix('"').unwrap_or(&origin))
}

/// Returns the line for something with a URL, from the path of the URL on.
pub fn after_origin(path: &str, record: &Value) -> String {
    let record = record.to_string();
    format!("{path}\",{}", record.strip_prefix('{').unwrap_or("}"))
}
