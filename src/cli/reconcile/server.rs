//! `/healthz` and `/metrics`. The server has no other pages, and changes nothing.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use hyper::{Response, StatusCode};
use jiff::Timestamp;

use super::board::Board;
use crate::render::reconcile::metrics::MEDIA_TYPE;

/// Answers a path.
pub fn answer(board: &Board, path: &str) -> Response<Full<Bytes>> {
    let (status, kind, text) = match path {
        "/healthz" => {
            let (is_fine, text) = board.health(Timestamp::now());
            let status = if is_fine { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            (status, "application/json", text)
        }
        "/metrics" => (StatusCode::OK, MEDIA_TYPE, board.metrics()),
        _ => (StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "only /healthz and /metrics exist\n".to_owned()),
    };
    let response = Response::builder().status(status).header(CONTENT_TYPE, kind).header(CACHE_CONTROL, "no-store");
    response.body(Full::from(text)).unwrap_or_default()
}
