//! Applies faults to a request: in place of its processing, or to its answer.

use std::sync::PoisonError;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, RETRY_AFTER};
use serde_json::Value;

use super::line::{Body, Broken, Reset};
use super::pages::items_mut;
use super::{Dice, Fault, Faults, Strike, When};
use crate::BODY_LIMIT;
use crate::answer::Refusal;

type Request = hyper::Request<Incoming>;
type Response = hyper::Response<Full<Bytes>>;

/// The time limit for the body of a request that fails before it is processed.
const PATIENCE: Duration = Duration::from_secs(10);

/// A page for people, which a proxy returns where a client expects JSON.
const HTML: &str =
    "<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><h1>Please sign in</h1></body></html>\n";

/// Answers a request, with a fault if one applies.
pub async fn around<F: Future<Output = Response>>(
    faults: Option<&Faults>,
    reset: &Reset,
    mut request: Request,
    process: impl FnOnce(Request) -> F,
) -> Result<hyper::Response<Body>, Broken> {
    let Some(faults) = faults else { return whole(process(request).await) };
    let asked = RequestFacts::of(&request);
    let strike = faults.strike(request.method().as_str(), request.uri().path());
    let Some(Strike { fault, dice }) = strike else {
        let response = process(request).await;
        faults.remember(&asked, &response).await;
        return whole(response);
    };
    match fault {
        Fault::Refuse => {
            reset.ask();
            return Err(Broken);
        }
        Fault::Close(When::Before) => return Err(Broken),
        Fault::Delay(time, When::Before) => tokio::time::sleep(*time).await,
        Fault::Status(_, When::Before) | Fault::Html(When::Before) | Fault::RateLimit { .. } => {
            // A client that is still sending would not see the answer.
            let body = Limited::new(request.into_body(), BODY_LIMIT);
            let _ = tokio::time::timeout(PATIENCE, body.collect()).await;
            return whole(instead(fault));
        }
        Fault::Lag(lag) => {
            request.extensions_mut().insert(*lag);
        }
        _ => {}
    }
    let response = process(request).await;
    faults.remember(&asked, &response).await;
    match fault {
        Fault::Close(_) => Err(Broken),
        Fault::Delay(time, When::After) => {
            tokio::time::sleep(*time).await;
            whole(response)
        }
        Fault::Status(..) | Fault::Html(_) => whole(instead(fault)),
        Fault::Truncate => truncate(response).await,
        Fault::Garble => whole(garble(response, dice).await),
        Fault::Duplicate | Fault::Reorder | Fault::Loop => whole(faults.change_page(fault, &asked, response).await),
        _ => whole(response),
    }
}

/// The parts of a request that are needed while it is processed.
struct RequestFacts {
    who: String,
    host: String,
    /// Path and query.
    target: String,
}

impl RequestFacts {
    fn of(request: &Request) -> Self {
        let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned();
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str()).to_owned();
        Self { who: header(AUTHORIZATION), host: header(HOST), target }
    }
}

fn whole(response: Response) -> Result<hyper::Response<Body>, Broken> {
    Ok(response.map(Body::Whole))
}

/// Returns the answer that replaces the real one.
fn instead(fault: &Fault) -> Response {
    let (status, error, retry_after) = match fault {
        Fault::Html(_) => {
            let html = hyper::Response::builder().header(CONTENT_TYPE, "text/html; charset=utf-8");
            return html.body(Full::from(HTML)).unwrap_or_default();
        }
        Fault::RateLimit { retry_after } => (429, "Too many requests", retry_after.as_ref()),
        Fault::Status(status, _) => (*status, "The service has a problem", None),
        _ => (500, "The service has a problem", None),
    };
    let refusal =
        Refusal { status, code: u32::from(status) * 100, error: error.to_owned(), details: None, allow: None };
    let body = refusal.answer().body.unwrap_or_default();
    let mut response = hyper::Response::builder().status(status).header(CONTENT_TYPE, "application/json");
    if let Some(retry_after) = retry_after {
        response = response.header(RETRY_AFTER, retry_after);
    }
    response.body(Full::from(body)).unwrap_or_default()
}

async fn bytes(body: Full<Bytes>) -> Bytes {
    body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default()
}

/// Returns half of an answer; an answer without a body is not sent at all.
async fn truncate(response: Response) -> Result<hyper::Response<Body>, Broken> {
    let (parts, body) = response.into_parts();
    let body = bytes(body).await;
    if body.is_empty() {
        return Err(Broken);
    }
    Ok(hyper::Response::from_parts(parts, Body::cut(body.slice(..body.len() / 2), body.len())))
}

/// Returns an answer with damaged bytes, which is neither JSON nor UTF-8.
async fn garble(response: Response, mut dice: Dice) -> Response {
    let (parts, body) = response.into_parts();
    let mut body = bytes(body).await.to_vec();
    for byte in body.iter_mut() {
        let roll = dice.roll();
        if roll.is_multiple_of(8) {
            *byte = (roll >> 32) as u8;
        }
    }
    if let Some(first) = body.first_mut() {
        *first = 0xff;
    }
    hyper::Response::from_parts(parts, Full::from(body))
}

impl Faults {
    /// Stores what a later page may have to repeat.
    async fn remember(&self, asked: &RequestFacts, response: &Response) {
        let Some(pages) = &self.pages else { return };
        if let Ok(page) = serde_json::from_slice::<Value>(&bytes(response.body().clone()).await) {
            pages.lock().unwrap_or_else(PoisonError::into_inner).remember(&asked.who, &page);
        }
    }

    /// Changes a page of a list. Any other answer stays unchanged.
    async fn change_page(&self, fault: &Fault, asked: &RequestFacts, response: Response) -> Response {
        let (parts, body) = response.into_parts();
        let body = bytes(body).await;
        let page = serde_json::from_slice::<Value>(&body).ok().filter(|_| parts.status.is_success());
        let changed = page.and_then(|mut page| {
            let items = items_mut(&mut page)?;
            match fault {
                Fault::Duplicate => {
                    let pages = self.pages.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
                    items.insert(0, pages.before(&asked.who, &asked.target)?.clone());
                }
                Fault::Reorder => items.reverse(),
                _ => page["next_page"] = format!("http://{}{}", asked.host, asked.target).into(),
            }
            Some(Bytes::from(page.to_string()))
        });
        hyper::Response::from_parts(parts, Full::new(changed.unwrap_or(body)))
    }
}
