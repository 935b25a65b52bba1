//! The table of routes: which function answers which request.

use std::fmt;

use jiff::Timestamp;
use percent_encoding::percent_decode_str;

use super::answer::{Answered, Refusal};
use super::api;
use super::engine::Engine;
use super::request::Request;
use super::state::App;

/// What the service offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The verbs of the contract alone.
    Documented,
    /// The verbs that the live service has gained as well.
    Extended,
}

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Route {
    pub method: &'static str,
    /// The path, with `{name}` for a variable part. Empty parts do not count: slashes at the end or doubled are the same.
    pub path: &'static str,
    pub level: Level,
    pub run: Run,
}

/// Whether a request looks or changes.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    Read(fn(&App, &Call) -> Answered),
    Write(fn(&mut App, &Call) -> Answered),
}

/// What a handler is given beside the application.
#[derive(Debug)]
pub struct Call<'r> {
    pub request: &'r Request,
    pub now: Timestamp,
    pub level: Level,
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

const fn read(path: &'static str, run: fn(&App, &Call) -> Answered) -> Route {
    Route { method: "GET", path, level: Level::Documented, run: Run::Read(run) }
}

const fn write(method: &'static str, path: &'static str, run: fn(&mut App, &Call) -> Answered) -> Route {
    Route { method, path, level: Level::Documented, run: Run::Write(run) }
}

const fn extended(route: Route) -> Route {
    Route { level: Level::Extended, ..route }
}

/// Every route, in the order of the contract.
pub static ROUTES: &[Route] = &[
    read("/api/segments", api::segments::list),
    read("/api/segments/{id}", api::segments::get),
    write("POST", "/api/segments", api::segments::create),
    write("DELETE", "/api/segments/{id}", api::segments::delete),
    extended(write("PUT", "/api/segments/{id}", api::segments::update)),
];

/// The route of a request, with its variable parts; or why there is none.
pub fn find(method: &str, path: &str, level: Level) -> Result<(&'static Route, Vec<String>), Refusal> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let mut known = false;
    for route in ROUTES.iter().filter(|route| route.level <= level) {
        if let Some(params) = matches(route.path, &parts) {
            known = true;
            if route.method == method {
                return Ok((route, params));
            }
        }
    }
    Err(match known {
        true => Refusal::not_allowed(format!("{method} is not possible here")),
        false => Refusal::not_found("Resource"),
    })
}

fn matches(pattern: &str, parts: &[&str]) -> Option<Vec<String>> {
    let mut params = Vec::new();
    let mut wanted = pattern.split('/').filter(|part| !part.is_empty());
    for part in parts {
        match wanted.next()? {
            name if name.starts_with('{') => params.push(percent_decode_str(part).decode_utf8().ok()?.into_owned()),
            name if name == *part => {}
            _ => return None,
        }
    }
    wanted.next().is_none().then_some(params)
}

/// Answers a request that has been let in. `Err` says that nothing more can be kept.
pub async fn answer(engine: &Engine, app: &str, mut request: Request) -> Result<Answered, String> {
    let level = engine.settings.api;
    let (route, params) = match find(&request.method, &request.path, level) {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    request.params = params;
    match route.run {
        Run::Read(run) => Ok(engine.read_as_of(request.lag, |state, now| match state.app(app) {
            Some(app) => run(app, &Call { request: &request, now, level }),
            None => Err(Refusal::unauthorized()),
        })),
        Run::Write(run) => {
            engine
                .write(|state, now| match state.app_mut(app) {
                    Some(app) => run(app, &Call { request: &request, now, level }),
                    None => Err(Refusal::unauthorized()),
                })
                .await
        }
    }
}
