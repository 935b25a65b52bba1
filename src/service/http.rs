//! Connections: taking them, bounding them, letting requests in.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, LOCATION};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::answer::{Answer, Refusal};
use super::engine::Engine;
use super::faults::{self, Lag, Line, Reset};
use super::request::{BODY_LIMIT, Request};
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
        let Ok((stream, _)) = stream else {
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
                let process = |request| respond(&engine, request);
                faults::around(engine.faults.as_ref(), &reset, request, process).await
            }
        });
        let connection = builder.serve_connection(TokioIo::new(line), service);
        let watched = graceful.watch(connection);
        // A client that breaks off is its own affair.
        tokio::spawn(async move { drop(watched.await) });
    }
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(PATIENCE) => {}
    }
}

type Response = hyper::Response<Full<Bytes>>;

async fn respond(engine: &Engine, request: hyper::Request<Incoming>) -> Response {
    let answer = match enter(engine, request).await {
        Ok(answer) => answer,
        Err(refusal) => refusal.answer(),
    };
    let mut response = hyper::Response::builder().status(answer.status);
    if answer.body.is_some() {
        let kind = format!("application/vnd.{}+json; version=3", engine.settings.vendor);
        response = response.header(CONTENT_TYPE, kind);
    }
    if let Some(location) = &answer.location {
        response = response.header(LOCATION, location);
    }
    response.body(Full::from(answer.body.unwrap_or_default())).unwrap_or_default()
}

/// Lets a request in: who is it, what does it say, who answers it.
async fn enter(engine: &Engine, request: hyper::Request<Incoming>) -> Result<Answer, Refusal> {
    let (parts, body) = request.into_parts();
    let app = engine.read(|state, _| authenticate(state, &parts.headers));
    let app = app.ok_or_else(Refusal::unauthorized)?;
    if !accepts(&parts.headers) {
        return Err(Refusal::not_acceptable());
    }
    let body = read_body(body).await?;
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let request = Request {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: form_urlencoded::parse(parts.uri.query().unwrap_or("").as_bytes()).into_owned().collect(),
        body,
        parsed: OnceLock::new(),
        origin: format!("http://{host}"),
        params: Vec::new(),
        lag: parts.extensions.get::<Lag>().copied(),
    };
    match routes::answer(engine, &app, request).await {
        Ok(answered) => answered,
        Err(why) => {
            Err(Refusal { status: 503, code: 50301, error: format!("nothing can be kept: {why}"), details: None })
        }
    }
}

async fn read_body(body: Incoming) -> Result<Bytes, Refusal> {
    let collected = tokio::time::timeout(PATIENCE, Limited::new(body, BODY_LIMIT).collect()).await;
    match collected {
        Err(_) => Err(Refusal::timed_out()),
        Ok(Ok(body)) => Ok(body.to_bytes()),
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
