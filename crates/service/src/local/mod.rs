//! The control API: actions of people on their devices, and a view of the service's internals.
//!
//! Real devices register through an SDK that the contract does not show. Here they are created, changed, opened and
//! tapped by requests below `/local/`. These need no credentials and are answered only to this machine; if there are
//! several applications, credentials or `?app=KEY` select one. They are not in the log of requests.

mod acting;
mod audience;
mod clock;
mod devices;
mod explain;
pub mod form;
mod looking;
mod tag_groups;

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;

use hyper::header::{FORWARDED, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::Uri;
use hyper::http::uri::Authority;
use pushplan_model::text;
use serde_json::json;

use super::answer::{Answer, Answered, Refusal};
use super::api::{Decoding, Question, StateChange};
use super::engine::{Engine, NotDone};
use super::request::{Call, Request, RequestBody};
use super::routes;
use super::state::App;

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    /// The allowed query parameters, in addition to the application.
    query: &'static [&'static str],
    run: LocalHandler,
}

impl Route {
    const fn asking(self, query: &'static [&'static str]) -> Self {
        Self { query, ..self }
    }
}

/// The subject of a request: one application, or the whole service.
#[derive(Clone, Copy)]
enum LocalHandler {
    Read(fn(&App, &Call) -> Answered),
    Write(fn(&mut App, &Call) -> Answered),
    /// A body is decoded first, without the lock; then the question is answered or the change is made.
    Ask(Decoding<Question>),
    Change(Decoding<StateChange>),
    Service(fn(&Engine, &Request) -> Answered),
    Later(for<'e> fn(&'e Engine, &'e RequestBody) -> Later<'e>),
}

/// An answer that waits until a change is stored.
type Later<'e> = Pin<Box<dyn Future<Output = Result<Answered, NotDone>> + Send + 'e>>;

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

const fn read(path: &'static str, run: fn(&App, &Call) -> Answered) -> Route {
    Route { method: "GET", path, query: &[], run: LocalHandler::Read(run) }
}

const fn write(method: &'static str, path: &'static str, run: fn(&mut App, &Call) -> Answered) -> Route {
    Route { method, path, query: &[], run: LocalHandler::Write(run) }
}

const fn service(method: &'static str, path: &'static str, run: fn(&Engine, &Request) -> Answered) -> Route {
    Route { method, path, query: &[], run: LocalHandler::Service(run) }
}

const fn change(method: &'static str, path: &'static str, decode: Decoding<StateChange>) -> Route {
    Route { method, path, query: &[], run: LocalHandler::Change(decode) }
}

/// A route with a body that changes nothing.
const fn ask(path: &'static str, decode: Decoding<Question>) -> Route {
    Route { method: "POST", path, query: &[], run: LocalHandler::Ask(decode) }
}

/// Every route of the control API.
pub static ROUTES: &[Route] = &[
    read("/local/devices", devices::list).asking(&["start", "limit"]),
    read("/local/devices/{id}", devices::get),
    change("PUT", "/local/devices/{id}", devices::put),
    change("PATCH", "/local/devices/{id}", devices::patch),
    write("DELETE", "/local/devices/{id}", devices::delete),
    change("POST", "/local/devices/{id}/open", acting::open),
    change("POST", "/local/devices/{id}/tap", acting::tap),
    change("POST", "/local/devices/{id}/read", acting::read),
    change("POST", "/local/devices/{id}/delete", acting::delete),
    change("POST", "/local/devices/{id}/seen", acting::seen),
    change("POST", "/local/devices/{id}/event", acting::event),
    read("/local/devices/{id}/received", devices::received),
    ask("/local/audience", audience::count),
    ask("/local/audience/explain", audience::explain),
    read("/local/tag-groups", tag_groups::get),
    change("PUT", "/local/tag-groups", tag_groups::put),
    service("GET", "/local/requests", looking::requests).asking(&["since", "method"]),
    service("DELETE", "/local/requests", looking::forget_requests),
    service("GET", "/local/clock", clock::get),
    Route { method: "POST", path: "/local/clock", query: &[], run: LocalHandler::Later(clock::set) },
    read("/local/sent", looking::sent),
    read("/local/due", looking::due),
    read("/local/experiments", looking::experiments),
    read("/local/events", looking::events).asking(&["after", "limit"]),
    read("/local/webhooks", looking::webhooks),
    service("GET", "/local/health", looking::health),
];

/// Whether a path belongs to the control API.
pub(crate) fn is_local(path: &str) -> bool {
    path.split('/').find(|part| !part.is_empty()) == Some("local")
}

/// Admits a request that comes from this machine.
///
/// A web page that the user has open is on this machine as well, and so is a proxy for others: the request must have
/// called the service by a name of this machine, from no other page, and through no proxy.
pub(crate) fn admit(peer: IpAddr, headers: &HeaderMap, target: Option<&Authority>) -> Result<(), Refusal> {
    let refused = if !peer.to_canonical().is_loopback() {
        "requests from this machine"
    } else if headers.contains_key(FORWARDED) || headers.contains_key("x-forwarded-for") {
        "requests that come through no proxy"
    } else {
        return called_by_name(headers, target).map_err(|why| Refusal::forbidden(format!("/local answers only {why}")));
    };
    Err(Refusal::forbidden(format!("/local answers only {refused}")))
}

/// Checks that a request called a service on loopback by a name of this machine, and from no page of another one. A web
/// page can point its own name to a loopback address (DNS rebinding); the browser then treats the service as a part of
/// the page. The error is what the service answers. `target` is the host in the request line, if a request in the form
/// for proxies names one.
pub(crate) fn called_by_name(headers: &HeaderMap, target: Option<&Authority>) -> Result<(), &'static str> {
    // To some programs, `evil@localhost` is a user of this machine, to others another machine.
    let is_own = |host: &Authority| !host.as_str().contains('@') && is_this_machine(host.host());
    let is_page = |page: &str| page.parse::<Uri>().is_ok_and(|uri| uri.authority().is_some_and(is_own));
    let is_host = |host: &str| host.parse::<Authority>().is_ok_and(|host| is_own(&host));
    if !header(headers, HOST).is_some_and(is_host) || !target.is_none_or(is_own) {
        return Err("requests to a name of this machine, such as localhost");
    }
    if !header(headers, ORIGIN).is_none_or(is_page) {
        return Err("requests from pages of this machine");
    }
    Ok(())
}

/// Checks that a request comes from a program, or from a page of the host that it calls. For a service that other
/// machines call, by any name.
pub(crate) fn called_from_its_own_page(headers: &HeaderMap) -> Result<(), &'static str> {
    let Some(page) = header(headers, ORIGIN) else { return Ok(()) };
    let page = page.parse::<Uri>().ok().and_then(|uri| uri.authority().cloned());
    let host = header(headers, HOST).and_then(|host| host.parse::<Authority>().ok());
    match (page, host) {
        (Some(page), Some(host)) if page == host => Ok(()),
        _ => Err("requests from programs, and from pages of the host that is called"),
    }
}

/// Returns a header; empty if it is not a text.
fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or(""))
}

fn is_this_machine(name: &str) -> bool {
    let name = name.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let address = name.parse::<IpAddr>();
    name == "localhost" || name.ends_with(".localhost") || address.is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// Answers a request that was admitted. `caller` is the application of its credentials.
pub async fn answer(engine: &Engine, caller: Option<&str>, mut request: Request) -> Result<Answered, NotDone> {
    if request.method == "GET" && routes::parts(&request.path).len() == 1 {
        return Ok(Ok(Answer::ok(200, json!({ "routes": listed() }))));
    }
    let (route, params) = match find(&request.method, &request.path) {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    request.params = params;
    if let Err(refusal) = check_query(route, &request).and_then(|()| application(engine, caller, &request)) {
        return Ok(Err(refusal));
    }
    match route.run {
        LocalHandler::Read(run) => read_of(engine, caller, &request, run).await,
        LocalHandler::Write(run) => write_to(engine, caller, &request, run).await,
        LocalHandler::Ask(decode) => match engine.decode(request, decode).await? {
            Ok((request, question)) => read_of(engine, caller, &request, question).await,
            Err(refusal) => Ok(Err(refusal)),
        },
        LocalHandler::Change(decode) => match engine.decode(request, decode).await? {
            Ok((request, change)) => write_to(engine, caller, &request, change).await,
            Err(refusal) => Ok(Err(refusal)),
        },
        LocalHandler::Service(run) => engine.show(|| run(engine, &request)).await,
        LocalHandler::Later(run) => run(engine, &RequestBody(request.body)).await,
    }
}

async fn read_of(
    engine: &Engine,
    caller: Option<&str>,
    request: &Request,
    run: impl Fn(&App, &Call) -> Answered,
) -> Result<Answered, NotDone> {
    let level = engine.settings.api;
    let look = || {
        let key = one_of(engine, application(engine, caller, request)?)?;
        engine.read(|state, now| match state.app(key) {
            Some(app) => run(app, &Call { request, now, level }),
            None => Err(Refusal::not_found("Application")),
        })
    };
    engine.show(look).await
}

async fn write_to(
    engine: &Engine,
    caller: Option<&str>,
    request: &Request,
    run: impl FnOnce(&mut App, &Call) -> Answered,
) -> Result<Answered, NotDone> {
    let level = engine.settings.api;
    let key = match application(engine, caller, request).and_then(|about| one_of(engine, about)) {
        Ok(key) => key,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let change = engine.write(|state, now| match state.app_mut(key) {
        Some(app) => run(app, &Call { request, now, level }),
        None => Err(Refusal::not_found("Application")),
    });
    change.await
}

/// Refuses query parameters that the route does not have, because they would have no effect.
fn check_query(route: &Route, request: &Request) -> Result<(), Refusal> {
    let known = [&["app"], route.query].concat();
    let Some(unknown) = request.query.keys().find(|name| !known.contains(&name.as_str())) else { return Ok(()) };
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    Err(Refusal::invalid(format!("`{unknown}` means nothing in the query here; {} does", text::any_of(&known))))
}

/// Returns the application that a request names, or that of its credentials, or the only one. `None`: it could be any.
fn application<'e>(
    engine: &'e Engine,
    caller: Option<&'e str>,
    request: &'e Request,
) -> Result<Option<&'e str>, Refusal> {
    let keys = keys(engine);
    match (request.query("app"), caller, &keys[..]) {
        (Some(key), ..) if keys.contains(&key) => Ok(Some(key)),
        (Some(key), ..) => {
            let error = format!("there is no application `{key}`; there is {}", text::all_of(&keys));
            Err(Refusal::not_found("Application").with(json!({ "error": error })))
        }
        (None, Some(caller), _) => Ok(Some(caller)),
        (None, None, [only]) => Ok(Some(only)),
        (None, None, _) => Ok(None),
    }
}

/// Returns the one application that a request is about.
fn one_of<'e>(engine: &'e Engine, about: Option<&'e str>) -> Result<&'e str, Refusal> {
    about.ok_or_else(|| {
        let all = text::all_of(&keys(engine));
        let error = format!("there are several applications, {all}: say which with ?app=KEY, or with its credentials");
        Refusal::invalid(error)
    })
}

fn keys(engine: &Engine) -> Vec<&str> {
    engine.settings.apps.iter().map(|(key, _)| key.as_str()).collect()
}

/// Returns every route, as it is written in a request.
fn listed() -> Vec<String> {
    ROUTES.iter().map(|route| format!("{route:?}")).collect()
}

fn find(method: &str, path: &str) -> Result<(&'static Route, Vec<String>), Refusal> {
    let parts = routes::parts(path);
    let fits = |route: &'static Route| Some((route, routes::matches(&routes::parts(route.path), &parts)?));
    let fitting: Vec<_> = ROUTES.iter().filter_map(fits).collect();
    if fitting.is_empty() {
        let routes = listed();
        return Err(Refusal::not_found("Resource").with(json!({ "error": "there is nothing here", "routes": routes })));
    }
    let possible: Vec<&str> = fitting.iter().map(|(route, _)| route.method).collect();
    let found = fitting.into_iter().find(|(route, _)| route.method == method);
    found.ok_or_else(|| Refusal::no_such_method(method, &possible))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(peer: &str, headers: &[(&'static str, &str)]) -> bool {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        admit(peer.parse().unwrap(), &headers, None).is_ok()
    }

    #[test]
    fn only_requests_of_this_machine_are_let_in() {
        assert!(admitted("127.8.8.8", &[("host", "127.0.0.1:8420")]));
        assert!(admitted("::1", &[("host", "[::1]:8420")]));
        assert!(admitted("::ffff:127.0.0.1", &[("host", "LocalHost")]));
        assert!(admitted("127.0.0.1", &[("host", "localhost:8420"), ("origin", "http://localhost:3000")]));

        assert!(!admitted("192.0.2.1", &[("host", "localhost")]));
        assert!(!admitted("2001:db8::1", &[("host", "localhost")]));
        assert!(!admitted("127.0.0.1", &[]));
        for host in
            ["evil.example:8420", "evil@localhost", "evil@localhost:8420", "localhost@evil.example", "", "localhost/"]
        {
            assert!(!admitted("127.0.0.1", &[("host", host)]), "{host}");
        }
        assert!(!admitted("127.0.0.1", &[("host", "localhost.evil.example")]));
        assert!(!admitted("127.0.0.1", &[("host", "localhost:8420"), ("origin", "https://evil.example")]));
        assert!(!admitted("127.0.0.1", &[("host", "localhost:8420"), ("origin", "http://evil@localhost:8420")]));
        assert!(!admitted("127.0.0.1", &[("host", "localhost:8420"), ("origin", "null")]));
        assert!(!admitted("127.0.0.1", &[("host", "localhost:8420"), ("x-forwarded-for", "192.0.2.1")]));
    }

    #[test]
    fn pages_of_other_hosts_are_not_let_in_wherever_the_service_listens() {
        let called = |headers: &[(&'static str, &str)]| {
            let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            called_from_its_own_page(&headers).is_ok()
        };
        assert!(called(&[]) && called(&[("host", "build-7:8420")]));
        assert!(called(&[("host", "build-7:8420"), ("origin", "http://build-7:8420")]));
        assert!(called(&[("host", "BUILD-7"), ("origin", "https://build-7")]));
        for page in ["http://build-7", "http://evil.example:8420", "null", "", "\u{e9}"] {
            assert!(!called(&[("host", "build-7:8420"), ("origin", page)]), "{page}");
        }
        assert!(!called(&[("origin", "http://build-7")]));
    }

    #[test]
    fn slashes_do_not_hide_the_control_api() {
        for path in ["/local", "/local/", "//local/devices", "/local/clock"] {
            assert!(is_local(path), "{path}");
        }
        for path in ["/", "/api/local", "/locale", "/api/tags/local"] {
            assert!(!is_local(path), "{path}");
        }
    }

    #[test]
    fn no_two_routes_are_the_same() {
        for (at, route) in ROUTES.iter().enumerate() {
            let same = ROUTES[..at].iter().find(|other| other.method == route.method && other.path == route.path);
            assert!(same.is_none(), "{route:?}");
        }
    }
}
