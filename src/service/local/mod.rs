//! The control API: what people do with their devices, and a look behind the service.
//!
//! Real devices register through an SDK that the contract does not show. Here they are made, changed, opened and tapped by
//! requests below `/local/`. These need no credentials and are answered to this machine alone. They are not in the log of
//! requests.

mod acting;
mod audience;
mod clock;
mod devices;
mod explain;
pub mod form;
mod looking;

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;

use hyper::header::{FORWARDED, HOST, HeaderMap, ORIGIN};
use hyper::http::Uri;
use hyper::http::uri::Authority;
use serde_json::json;

use super::answer::{Answered, Refusal};
use super::engine::{Engine, NotDone};
use super::request::Request;
use super::routes::{self, Call};
use super::state::App;

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    run: Run,
}

/// What a request is about: one application, or the whole service.
#[derive(Clone, Copy)]
enum Run {
    Read(fn(&App, &Call) -> Answered),
    Write(fn(&mut App, &Call) -> Answered),
    Service(fn(&Engine, &Request) -> Answered),
    Later(for<'e> fn(&'e Engine, &'e Request) -> Later<'e>),
}

/// An answer that waits until a change is kept.
type Later<'e> = Pin<Box<dyn Future<Output = Result<Answered, NotDone>> + Send + 'e>>;

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

const fn read(path: &'static str, run: fn(&App, &Call) -> Answered) -> Route {
    Route { method: "GET", path, run: Run::Read(run) }
}

const fn write(method: &'static str, path: &'static str, run: fn(&mut App, &Call) -> Answered) -> Route {
    Route { method, path, run: Run::Write(run) }
}

const fn service(method: &'static str, path: &'static str, run: fn(&Engine, &Request) -> Answered) -> Route {
    Route { method, path, run: Run::Service(run) }
}

/// Every route of the control API.
pub static ROUTES: &[Route] = &[
    read("/local/devices", devices::list),
    read("/local/devices/{id}", devices::get),
    write("PUT", "/local/devices/{id}", devices::put),
    write("PATCH", "/local/devices/{id}", devices::patch),
    write("DELETE", "/local/devices/{id}", devices::delete),
    write("POST", "/local/devices/{id}/open", acting::open),
    write("POST", "/local/devices/{id}/tap", acting::tap),
    write("POST", "/local/devices/{id}/read", acting::read),
    write("POST", "/local/devices/{id}/delete", acting::delete),
    write("POST", "/local/devices/{id}/seen", acting::seen),
    write("POST", "/local/devices/{id}/event", acting::event),
    read("/local/devices/{id}/received", devices::received),
    Route { method: "POST", path: "/local/audience", run: Run::Read(audience::count) },
    Route { method: "POST", path: "/local/audience/explain", run: Run::Read(audience::explain) },
    service("GET", "/local/requests", looking::requests),
    service("DELETE", "/local/requests", looking::forget_requests),
    service("GET", "/local/clock", clock::get),
    Route { method: "POST", path: "/local/clock", run: Run::Later(clock::set) },
    read("/local/sent", looking::sent),
    read("/local/due", looking::due),
    read("/local/events", looking::events),
    read("/local/webhooks", looking::webhooks),
    service("GET", "/local/health", looking::health),
];

/// Whether a path is of the control API.
pub fn is_local(path: &str) -> bool {
    path.split('/').find(|part| !part.is_empty()) == Some("local")
}

/// Lets a request in that comes from this machine.
///
/// A web page that the user looks at is on this machine too, and so is a proxy that lets others in: the request must have
/// called the service by a name of this machine, from no other page, and through no proxy.
pub fn admit(peer: IpAddr, headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name| headers.get(name).map(|value: &hyper::header::HeaderValue| value.to_str().unwrap_or(""));
    let refused = if !peer.to_canonical().is_loopback() {
        "requests from this machine"
    } else if headers.contains_key(FORWARDED) || headers.contains_key("x-forwarded-for") {
        "requests that come through no proxy"
    } else if !text(HOST).is_none_or(|host| host.parse::<Authority>().is_ok_and(|host| is_this_machine(host.host()))) {
        "requests to a name of this machine, such as localhost"
    } else if !text(ORIGIN)
        .is_none_or(|page| page.parse::<Uri>().is_ok_and(|uri| uri.host().is_some_and(is_this_machine)))
    {
        "requests from pages of this machine"
    } else {
        return Ok(());
    };
    Err(Refusal::forbidden(format!("/local answers only {refused}")))
}

fn is_this_machine(name: &str) -> bool {
    let name = name.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let address = name.parse::<IpAddr>();
    name == "localhost" || name.ends_with(".localhost") || address.is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// Answers a request that has been let in.
pub async fn answer(engine: &Engine, mut request: Request) -> Result<Answered, NotDone> {
    let (route, params) = match find(&request.method, &request.path) {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    request.params = params;
    let request = &request;
    let level = engine.settings.api;
    let first = engine.settings.apps.first().map_or("", |(key, _)| key);
    let key = request.query("app").unwrap_or(first);
    let unknown = || Refusal::not_found("Application");
    match route.run {
        Run::Read(run) => {
            let look = || {
                engine.read(|state, now| match state.app(key) {
                    Some(app) => run(app, &Call { request, now, level }),
                    None => Err(unknown()),
                })
            };
            engine.show(look).await
        }
        Run::Write(run) => {
            engine
                .write(|state, now| match state.app_mut(key) {
                    Some(app) => run(app, &Call { request, now, level }),
                    None => Err(unknown()),
                })
                .await
        }
        Run::Service(run) => engine.show(|| run(engine, request)).await,
        Run::Later(run) => run(engine, request).await,
    }
}

fn find(method: &str, path: &str) -> Result<(&'static Route, Vec<String>), Refusal> {
    let parts = routes::parts(path);
    let fits = |route: &'static Route| Some((route, routes::matches(&routes::parts(route.path), &parts)?));
    let fitting: Vec<_> = ROUTES.iter().filter_map(fits).collect();
    if fitting.is_empty() {
        // Whoever looks around here is told what there is.
        let routes: Vec<String> = ROUTES.iter().map(|route| format!("{route:?}")).collect();
        return Err(Refusal::not_found("Resource").with(json!({ "error": "there is nothing here", "routes": routes })));
    }
    let found = fitting.into_iter().find(|(route, _)| route.method == method);
    found.ok_or_else(|| Refusal::not_allowed(format!("{method} is not possible here")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(peer: &str, headers: &[(&'static str, &str)]) -> bool {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        admit(peer.parse().unwrap(), &headers).is_ok()
    }

    #[test]
    fn only_requests_of_this_machine_are_let_in() {
        assert!(admitted("127.0.0.1", &[]));
        assert!(admitted("127.8.8.8", &[("host", "127.0.0.1:8420")]));
        assert!(admitted("::1", &[("host", "[::1]:8420")]));
        assert!(admitted("::ffff:127.0.0.1", &[("host", "LocalHost")]));
        assert!(admitted("127.0.0.1", &[("host", "localhost:8420"), ("origin", "http://localhost:3000")]));

        assert!(!admitted("192.0.2.1", &[("host", "localhost")]));
        assert!(!admitted("2001:db8::1", &[]));
        assert!(!admitted("127.0.0.1", &[("host", "evil.example:8420")]));
        assert!(!admitted("127.0.0.1", &[("host", "localhost.evil.example")]));
        assert!(!admitted("127.0.0.1", &[("host", "localhost:8420"), ("origin", "https://evil.example")]));
        assert!(!admitted("127.0.0.1", &[("host", "localhost:8420"), ("origin", "null")]));
        assert!(!admitted("127.0.0.1", &[("host", "localhost:8420"), ("x-forwarded-for", "192.0.2.1")]));
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
