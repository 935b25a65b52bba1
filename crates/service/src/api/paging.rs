//! Listings that come in pages: `start` and `limit`.

use crate::answer::Refusal;
use crate::request::Request;

/// How many items a page has: `limit`, of which there is a most.
pub fn limit(request: &Request, most: usize) -> Result<usize, Refusal> {
    Ok(request.number("limit", most, most)?.max(1))
}

/// The URL of the page that begins at `start`: this request again, with every parameter it had.
pub fn next_page(request: &Request, limit: usize, start: &str) -> String {
    let (limit, mut query) = (limit.to_string(), form_urlencoded::Serializer::new(String::new()));
    for (name, value) in request.query.iter().filter(|(name, _)| !matches!(name.as_str(), "limit" | "start")) {
        query.append_pair(name, value);
    }
    query.append_pair("limit", &limit).append_pair("start", start);
    format!("{}{}?{}", request.origin, request.path, query.finish())
}
