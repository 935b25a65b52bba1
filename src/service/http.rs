//! Connections: taking them, bounding them, letting requests in.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, LOCATION};
use hyper::http::request::Parts;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::answer::{Answer, Answered, Refusal};
use super::engine::Engine;
use super::faults::{self, Body, Broken, Lag, Line, Reset};
use super::local;
use super::request::{BODY_LIMIT, Request};
use super::requests::Entry;
use super::routes;
use super::state::State;

/// How long a client may take to send its header, and its body.
const PATIENCE: Duration = Duration::from_secs(10);

pub async fn serve(engine: Arc<Engine>, listener: TcpListener, mut stopped: watch::Receiver<bool>) {
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    let graceful = GracefulShutdown::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.changed() => break,
        };
        let Ok((stream, peer)) = stream else {
            // Out of file handles, most likely: those in use must first be closed.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let engine = engine.clone();
        let reset = Reset::default();
        let line = Line::new(stream, reset.clone());
        let service = service_fn(move |request| {
            let (engine, reset) = (engine.clone(), reset.clone());
            async move {
                match local::is_local(request.uri().path()) {
                    true => Ok(respond_locally(&engine, peer.ip(), request).await.map(Body::Whole)),
                    false => respond(&engine, &reset, request).await,
                }
            }
        });
        let connection = builder.serve_connection(TokioIo::new(line), service);
        let watched = graceful.watch(connection);
        // A client that breaks off is its own affair.
        tokio::spawn(async move { drop(watched.await) });
    }
    // Who comes now is told so by the system, and does not wait for an answer.
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(PATIENCE) => {}
    }
}

type Response = hyper::Response<Full<Bytes>>;

/// Answers a request to the API, unless a fault does, and writes it down.
async fn respond(
    engine: &Engine,
    reset: &Reset,
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<Body>, Broken> {
    let (method, uri) = (request.method().as_str(), request.uri());
    let mut entry = engine.requests.begin(engine.clock.now(), method, uri.path(), uri.query().unwrap_or(""));
    let noted = &mut entry;
    let process = |request: hyper::Request<Incoming>| async move {
        let (parts, body) = request.into_parts();
        noted.processed();
        let answered = enter(engine, parts, body, noted).await;
        let kind = format!("application/vnd.{}+json; version=3", engine.settings.vendor);
        write(answered.unwrap_or_else(|refusal| refusal.answer()), kind)
    };
    let response = faults::around(engine.faults.as_ref(), reset, request, process).await;
    if let Ok(response) = &response {
        entry.status(response.status().as_u16());
    }
    response
}

/// Answers a request to the control API.
async fn respond_locally(engine: &Engine, peer: IpAddr, request: hyper::Request<Incoming>) -> Response {
    let (parts, body) = request.into_parts();
    let answered = enter_locally(engine, peer, parts, body).await;
    write(answered.unwrap_or_else(|refusal| refusal.answer()), "application/json".to_owned())
}

/// Writes an answer; `kind` is the type of its body.
fn write(answer: Answer, kind: String) -> Response {
    let body = answer.body.as_ref().map(|body| serde_json::to_vec(body).unwrap_or_default()).unwrap_or_default();
    let mut response = hyper::Response::builder().status(answer.status);
    if answer.body.is_some() {
        response = response.header(CONTENT_TYPE, kind);
    }
    if let Some(location) = answer.location {
        response = response.header(LOCATION, location);
    }
    response.body(Full::new(Bytes::from(body))).unwrap_or_default()
}

/// Lets a request in: who is it, what does it say, who answers it.
async fn enter(engine: &Engine, parts: Parts, body: Incoming, entry: &mut Entry<'_>) -> Result<Answer, Refusal> {
    let app = engine.read(|state, _| authenticate(state, &parts.headers));
    let app = app.ok_or_else(Refusal::unauthorized)?;
    entry.app(&app);
    if !accepts(&parts.headers) {
        return Err(Refusal::not_acceptable());
    }
    let body = read_body(body).await?;
    entry.body_size(body.len());
    kept(routes::answer(engine, &app, take_apart(&parts, body)).await)
}

/// The same for the control API: it takes no credentials, and answers this machine alone.
async fn enter_locally(engine: &Engine, peer: IpAddr, parts: Parts, body: Incoming) -> Result<Answer, Refusal> {
    local::admit(peer, &parts.headers)?;
    let body = read_body(body).await?;
    kept(local::answer(engine, take_apart(&parts, body)).await)
}

/// An answer, unless what it promises cannot be kept.
fn kept(answered: Result<Answered, String>) -> Answered {
    answered.unwrap_or_else(|why| {
        Err(Refusal { status: 503, code: 50301, error: format!("nothing can be kept: {why}"), details: None })
    })
}

fn take_apart(parts: &Parts, body: Vec<u8>) -> Request {
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    Request {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: form_urlencoded::parse(parts.uri.query().unwrap_or("").as_bytes()).into_owned().collect(),
        body,
        origin: format!("http://{host}"),
        params: Vec::new(),
        lag: parts.extensions.get::<Lag>().copied(),
    }
}

async fn read_body(body: Incoming) -> Result<Vec<u8>, Refusal> {
    let collected = tokio::time::timeout(PATIENCE, Limited::new(body, BODY_LIMIT).collect()).await;
    match collected {
        Err(_) => Err(Refusal::timed_out()),
        Ok(Ok(body)) => Ok(body.to_bytes().to_vec()),
        Ok(Err(error)) if error.downcast_ref::<LengthLimitError>().is_some() => Err(Refusal::too_large()),
        Ok(Err(_)) => Err(Refusal::invalid("the request body broke off")),
    }
}

/// The application whose key and secret the request carries.
fn authenticate(state: &State, headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(BASE64_STANDARD_NO_PAD.decode(encoded.trim().trim_end_matches('=')).ok()?).ok()?;
    let (key, secret) = text.split_once(':')?;
    state.authenticate(key, secret)
}

/// A version other than 3 cannot be had; none at all is taken for 3.
fn accepts(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("");
    let versions = accept.split([';', ',']).filter_map(|part| part.trim().strip_prefix("version="));
    versions.map(|version| version.trim_end_matches(';').trim()).all(|version| version == "3")
}
