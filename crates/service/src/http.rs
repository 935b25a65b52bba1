//! Connections: accepts and limits them, and admits requests.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, ALLOW, AUTHORIZATION, CONTENT_TYPE, DATE, HOST, HeaderMap, HeaderValue, LOCATION};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::BODY_LIMIT;
use super::answer::{Answer, Answered, Refusal};
use super::engine::{Engine, NotDone};
use super::faults::{self, Body, Broken, FaultyStream, Lag, Reset};
use super::local;
use super::request::Request;
use super::requests::LoggedRequest;
use super::routes;

pub async fn serve(engine: Arc<Engine>, listener: TcpListener, mut stopped: watch::Receiver<bool>) {
    let patience = engine.settings.patience;
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(patience);
    let graceful = GracefulShutdown::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.changed() => break,
        };
        let Ok((stream, peer)) = stream else {
            // Probably out of file handles: some connections have to be closed first.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        // A connection that is broken already has no address and sends no request.
        let Ok(address) = stream.local_addr() else { continue };
        let engine = engine.clone();
        let reset = Reset::default();
        let line = FaultyStream::new(stream, reset.clone());
        let service = service_fn(move |request| {
            let (engine, reset) = (engine.clone(), reset.clone());
            async move {
                match local::is_local(request.uri().path()) {
                    true => Ok(respond_locally(&engine, address, peer.ip(), request).await.map(Body::Whole)),
                    false => respond(&engine, address, &reset, request).await,
                }
            }
        });
        let connection = builder.serve_connection(TokioIo::new(line), service);
        let watched = graceful.watch(connection);
        // A client that disconnects is not an error of the service.
        tokio::spawn(async move { drop(watched.await) });
    }
    // From now on, the system refuses new connections immediately.
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(patience) => {}
    }
}

type Response = hyper::Response<Full<Bytes>>;

/// Answers a request to the API, with a fault if one applies, and logs it.
async fn respond(
    engine: &Engine,
    address: SocketAddr,
    reset: &Reset,
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<Body>, Broken> {
    let (method, uri) = (request.method().as_str(), request.uri());
    let mut entry = engine.requests.begin(engine.clock.now(), method, uri.path(), uri.query().unwrap_or(""));
    let noted = &mut entry;
    let process = |request: hyper::Request<Incoming>| async move {
        let (parts, body) = request.into_parts();
        noted.processed();
        let answered = enter(engine, address, parts, body, noted).await;
        let mut response = write(answered.unwrap_or_else(|refusal| refusal.answer()), engine.media_type.clone());
        // A virtual clock is visible in answers, like the clock of any server.
        if let Some(date) = engine.clock.is_virtual().then(|| engine.clock.now().strftime("%a, %d %b %Y %H:%M:%S GMT"))
            && let Ok(date) = HeaderValue::from_str(&date.to_string())
        {
            response.headers_mut().insert(DATE, date);
        }
        response
    };
    let response = faults::around(engine.faults.as_ref(), reset, request, process).await;
    if let Ok(response) = &response {
        entry.status(response.status().as_u16());
    }
    response
}

/// Answers a request to the control API.
async fn respond_locally(
    engine: &Engine,
    address: SocketAddr,
    peer: IpAddr,
    request: hyper::Request<Incoming>,
) -> Response {
    let (parts, body) = request.into_parts();
    let answered = enter_locally(engine, address, peer, parts, body).await;
    write(answered.unwrap_or_else(|refusal| refusal.answer()), HeaderValue::from_static("application/json"))
}

/// Converts an answer; `kind` is the type of its body.
fn write(answer: Answer, kind: HeaderValue) -> Response {
    let mut response = hyper::Response::builder().status(answer.status);
    if answer.body.is_some() {
        response = response.header(CONTENT_TYPE, kind);
    }
    if let Some(location) = answer.location {
        response = response.header(LOCATION, location);
    }
    if let Some(allow) = answer.allow {
        response = response.header(ALLOW, allow);
    }
    response.body(Full::from(answer.body.unwrap_or_default())).unwrap_or_default()
}

/// Admits a request and answers it: authenticates it, reads its body and routes it.
async fn enter(
    engine: &Engine,
    address: SocketAddr,
    parts: Parts,
    body: Incoming,
    entry: &mut LoggedRequest<'_>,
) -> Result<Answer, Refusal> {
    let app = match admit(engine, address, &parts, entry) {
        Ok(app) => app,
        Err(refusal) => return Err(pass_over(body, engine.settings.patience, refusal).await),
    };
    let body = read_body(body, engine.settings.patience).await?;
    entry.body_size(body.len());
    kept(routes::answer(engine, app, take_apart(address, &parts, body)).await)
}

/// Returns the application of a request, if the request may be answered at all. `address` is the local address of the
/// connection.
fn admit<'e>(
    engine: &'e Engine,
    address: SocketAddr,
    parts: &Parts,
    entry: &mut LoggedRequest<'_>,
) -> Result<&'e str, Refusal> {
    let headers = &parts.headers;
    one_host(parts)?;
    let called = match address.ip().to_canonical().is_loopback() {
        true => local::called_by_name(headers, parts.uri.authority()),
        false => local::called_from_its_own_page(headers),
    };
    called.map_err(|why| Refusal::forbidden(format!("/api answers only {why}")))?;
    let app = authenticate(engine, headers).ok_or_else(Refusal::unauthorized)?;
    entry.app(app);
    if accepts(headers) { Ok(app) } else { Err(Refusal::not_acceptable()) }
}

/// Admits and answers a request to the control API. Only requests from this machine are answered. Credentials only
/// select the application.
async fn enter_locally(
    engine: &Engine,
    address: SocketAddr,
    peer: IpAddr,
    parts: Parts,
    body: Incoming,
) -> Result<Answer, Refusal> {
    if let Err(refusal) = one_host(&parts).and_then(|()| local::admit(peer, &parts.headers, parts.uri.authority())) {
        return Err(pass_over(body, engine.settings.patience, refusal).await);
    }
    let body = read_body(body, engine.settings.patience).await?;
    let caller = authenticate(engine, &parts.headers);
    kept(local::answer(engine, caller, take_apart(address, &parts, body)).await)
}

/// Returns the answer, or an error if the request had no effect.
fn kept(answered: Result<Answered, NotDone>) -> Answered {
    answered.unwrap_or_else(|why| {
        let (status, code) = match why {
            NotDone::NotKept(_) => (503, 50301),
            NotDone::Defect => (500, 50001),
        };
        Err(Refusal { status, code, error: why.to_string(), details: None, allow: None })
    })
}

fn take_apart(address: SocketAddr, parts: &Parts, body: Vec<u8>) -> Request {
    let origin = host(parts).map_or_else(|| format!("http://{address}"), |host| format!("http://{host}"));
    Request {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: form_urlencoded::parse(parts.uri.query().unwrap_or("").as_bytes()).into_owned().collect(),
        body,
        origin,
        params: Vec::new(),
        lag: parts.extensions.get::<Lag>().copied(),
    }
}

/// Refuses a request without exactly one `Host` header: a proxy could use another one.
fn one_host(parts: &Parts) -> Result<(), Refusal> {
    let mut named = parts.headers.get_all(HOST).iter();
    match (named.next(), named.next()) {
        (Some(_), None) => Ok(()),
        _ => Err(Refusal::invalid("a request has exactly one `Host` header")),
    }
}

/// Returns the host that the client called. The URLs in answers begin with it.
fn host(parts: &Parts) -> Option<&str> {
    let named = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = parts.uri.authority().map(Authority::as_str).or(named)?;
    host.parse::<Authority>().is_ok().then_some(host)
}

/// Reads a body to its end, even if it is too large: a client that is still sending would find its connection broken
/// instead of the answer, and could not know that nothing was done. Bytes beyond the limit are discarded as they
/// arrive.
async fn read_body(body: Incoming, patience: Duration) -> Result<Vec<u8>, Refusal> {
    let (mut bytes, mut is_too_large) = (Vec::new(), false);
    let read = drain(body, |data| {
        is_too_large |= bytes.len() + data.len() > BODY_LIMIT;
        match is_too_large {
            true => bytes = Vec::new(),
            false => bytes.extend_from_slice(data),
        }
    });
    let read = tokio::time::timeout(patience, read).await;
    match read {
        _ if is_too_large => Err(Refusal::too_large()),
        Ok(true) => Ok(bytes),
        Ok(false) => Err(Refusal::invalid("the request body is incomplete")),
        Err(_) => Err(Refusal::timed_out()),
    }
}

/// Reads the body of a request that is refused whatever its content is.
async fn pass_over(body: Incoming, patience: Duration, refusal: Refusal) -> Refusal {
    // A slower client is refused as well.
    let _ = tokio::time::timeout(patience, drain(body, |_| {})).await;
    refusal
}

/// Reads a body piece by piece. Returns whether it is complete.
async fn drain(mut body: Incoming, mut take: impl FnMut(&[u8])) -> bool {
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => frame.data_ref().into_iter().for_each(|data| take(data)),
            Err(_) => return false,
        }
    }
    true
}

/// Returns the application whose key and secret are in the request.
fn authenticate<'e>(engine: &'e Engine, headers: &HeaderMap) -> Option<&'e str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(BASE64_STANDARD_NO_PAD.decode(encoded.trim().trim_end_matches('=')).ok()?).ok()?;
    let (key, secret) = text.split_once(':')?;
    engine.authenticate(key, secret)
}

/// Whether the client accepts version 3. No version means 3; other versions do not exist.
fn accepts(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("");
    let versions = accept.split([';', ',']).filter_map(|part| part.trim().strip_prefix("version="));
    versions.map(|version| version.trim_end_matches(';').trim()).all(|version| version == "3")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_came_to_nothing_is_answered_with_an_error_body() {
        for (why, status) in [(NotDone::Defect, 500), (NotDone::NotKept("the disk is full".into()), 503)] {
            let answer = kept(Err(why.clone())).expect_err("a refusal").answer();
            let body: serde_json::Value = serde_json::from_str(&answer.body.expect("a body")).expect("JSON");
            assert_eq!(answer.status, status);
            assert_eq!(body["ok"], false);
            assert_eq!(body["error"], why.to_string());
            assert_eq!(body["error_code"].as_u64().map(|code| code / 100), Some(u64::from(status)));
        }
    }
}
