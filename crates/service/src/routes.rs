//! The table of routes: the function that answers each request.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::LazyLock;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use pushplan_model::nouns::level::Level;

use super::answer::{Answer, Answered, Refusal};
use super::api::{self, Decoding, Question, StateChange};
use super::engine::{Engine, NotDone};
use super::request::{Call, Request};
use super::state::App;

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Route {
    pub method: &'static str,
    /// The path, with `{name}` for a variable part. Empty parts are ignored, so trailing and double slashes make no
    /// difference.
    pub path: &'static str,
    pub level: Level,
    pub run: Handler,
}

/// Whether a request reads or changes.
#[derive(Clone, Copy, Debug)]
pub enum Handler {
    Read(fn(&App, &Call) -> Answered),
    Write(fn(&mut App, &Call) -> Answered),
    /// A body is decoded first, without the lock; then the question is answered or the change is made.
    Ask(Decoding<Question>),
    Change(Decoding<StateChange>),
    /// A change of any number of devices. It is made in parts, so that other requests are answered in between.
    InParts(ChangeOfPart),
}

/// Changes a part, from a device on. Returns the device to go on with, or at the end the answer.
type ChangeOfPart = fn(&mut App, &Call, u32) -> Result<ControlFlow<Answer, u32>, Refusal>;

/// The pause between two parts, in which other requests get the lock.
const PAUSE: Duration = Duration::from_millis(1);

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

const fn read(path: &'static str, run: fn(&App, &Call) -> Answered) -> Route {
    Route { method: "GET", path, level: Level::Documented, run: Handler::Read(run) }
}

const fn write(method: &'static str, path: &'static str, run: fn(&mut App, &Call) -> Answered) -> Route {
    Route { method, path, level: Level::Documented, run: Handler::Write(run) }
}

const fn change(method: &'static str, path: &'static str, decode: Decoding<StateChange>) -> Route {
    Route { method, path, level: Level::Documented, run: Handler::Change(decode) }
}

const fn in_parts(method: &'static str, path: &'static str, run: ChangeOfPart) -> Route {
    Route { method, path, level: Level::Documented, run: Handler::InParts(run) }
}

/// A route with a body that changes nothing.
const fn check(path: &'static str, decode: Decoding<Question>) -> Route {
    Route { method: "POST", path, level: Level::Documented, run: Handler::Ask(decode) }
}

const fn extended(route: Route) -> Route {
    Route { level: Level::Extended, ..route }
}

/// Every route, in the order of the contract.
pub static ROUTES: &[Route] = &[
    change("POST", "/api/push", api::push::create),
    extended(check("/api/push/validate", api::push::validate)),
    change("POST", "/api/schedules", api::schedules::create),
    extended(read("/api/schedules", api::schedules::list)),
    extended(read("/api/schedules/{id}", api::schedules::get)),
    extended(change("PUT", "/api/schedules/{id}", api::schedules::update)),
    extended(write("DELETE", "/api/schedules/{id}", api::schedules::delete)),
    extended(write("POST", "/api/schedules/{id}/pause", api::schedules::pause)),
    extended(write("POST", "/api/schedules/{id}/resume", api::schedules::resume)),
    change("POST", "/api/templates/push", api::templates::send),
    change("POST", "/api/experiments", api::experiments::create),
    write("DELETE", "/api/experiments/scheduled/{id}", api::experiments::delete),
    extended(read("/api/experiments", api::experiments::list)),
    extended(read("/api/experiments/scheduled", api::experiments::scheduled)),
    extended(read("/api/experiments/{id}", api::experiments::get)),
    extended(check("/api/experiments/validate", api::experiments::validate)),
    change("POST", "/api/pipelines", api::pipelines::create),
    read("/api/pipelines", api::pipelines::list),
    extended(read("/api/pipelines/{id}", api::pipelines::get)),
    extended(change("PUT", "/api/pipelines/{id}", api::pipelines::update)),
    extended(write("DELETE", "/api/pipelines/{id}", api::pipelines::delete)),
    extended(check("/api/pipelines/validate", api::pipelines::validate)),
    change("POST", "/api/channels/tags", api::channel_tags::of_channels),
    change("POST", "/api/named_users/tags", api::channel_tags::of_named_users),
    read("/api/tags", api::legacy_tags::list),
    write("PUT", "/api/tags/{tag}", api::legacy_tags::create),
    change("POST", "/api/tags/{tag}", api::legacy_tags::change),
    in_parts("DELETE", "/api/tags/{tag}", api::legacy_tags::delete),
    change("PUT", "/api/tags/batch", api::legacy_tags::batch),
    change("POST", "/api/tags/batch", api::legacy_tags::batch),
    read("/api/reports/sends", api::reports::sends),
    read("/api/reports/responses", api::reports::responses),
    // Before the single push, whose id could be any word.
    read("/api/reports/responses/list", api::reports::list),
    read("/api/reports/responses/{push_id}", api::reports::push),
    extended(read("/api/reports/experiment/overview/{push_id}", api::experiments::report)),
    read("/api/reports/opens", api::reports::opens),
    read("/api/reports/timeinapp", api::reports::time_in_app),
    read("/api/reports/devices", api::reports::devices),
    read("/api/reports/optins", api::reports::opt_ins),
    read("/api/reports/optouts", api::reports::opt_outs),
    read("/api/segments", api::segments::list),
    read("/api/segments/{id}", api::segments::get),
    change("POST", "/api/segments", api::segments::create),
    write("DELETE", "/api/segments/{id}", api::segments::delete),
    extended(change("PUT", "/api/segments/{id}", api::segments::update)),
    read("/api/location", api::location::by_name),
    read("/api/location/{place}", api::location::by_place),
    change("POST", "/api/named_users/associate", api::named_users::associate),
    change("POST", "/api/named_users/disassociate", api::named_users::disassociate),
    read("/api/named_users", api::named_users::get),
    change("POST", "/api/templates", api::templates::create),
    change("POST", "/api/templates/{id}", api::templates::update),
    read("/api/templates/{id}", api::templates::get),
    read("/api/templates", api::templates::list_all),
    write("DELETE", "/api/templates/{id}", api::templates::delete),
    read("/api/channels/{id}", api::channels::get),
    read("/api/channels", api::channels::list),
    change("POST", "/api/channels/uninstall", api::channels::uninstall),
    change("POST", "/api/channels/open", api::channels::register_open),
    change("POST", "/api/channels/open/uninstall", api::channels::uninstall_open),
];

/// Returns the route of a request, with its variable parts; or an error if there is none.
///
/// A literal path takes precedence over one with variable parts: `/api/tags/batch` is never the tag `batch`.
pub fn find(method: &str, path: &str, level: Level) -> Result<(&'static Route, Vec<String>), Refusal> {
    let parts = parts(path);
    if parts.iter().any(|part| percent_decode_str(part).decode_utf8().is_err()) {
        return Err(Refusal::invalid("the path is not UTF-8"));
    }
    let near = parts.get(1).and_then(|family| PATTERNS.get(family)).into_iter().flatten();
    let offered = near.filter(|(route, _)| route.level <= level);
    let mut fitting: Vec<_> = offered.filter_map(|(route, pattern)| Some((route, matches(pattern, &parts)?))).collect();
    let Some(fewest) = fitting.iter().map(|(_, params)| params.len()).min() else {
        return Err(Refusal::not_found("Resource"));
    };
    fitting.retain(|(_, params)| params.len() == fewest);
    let Some(place) = fitting.iter().position(|(route, _)| route.method == method) else {
        let possible: Vec<&str> = fitting.iter().map(|(route, _)| route.method).collect();
        return Err(Refusal::no_such_method(method, &possible));
    };
    let (route, params) = fitting.swap_remove(place);
    Ok((route, params))
}

/// The routes with the parts of their paths, by the second part, which is never variable: `segments`, `push`.
static PATTERNS: LazyLock<BTreeMap<&str, Vec<Pattern>>> = LazyLock::new(|| {
    let mut patterns: BTreeMap<_, Vec<Pattern>> = BTreeMap::new();
    for route in ROUTES {
        let parts = parts(route.path);
        patterns.entry(parts[1]).or_default().push((route, parts));
    }
    patterns
});

type Pattern = (&'static Route, Vec<&'static str>);

/// Returns the parts of a path, without empty ones.
pub(super) fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

/// Returns the variable parts of a path that matches the pattern.
pub(super) fn matches(pattern: &[&str], parts: &[&str]) -> Option<Vec<String>> {
    let is_variable = |name: &str| name.starts_with('{');
    let fits = |(name, part): (&&str, &&str)| is_variable(name) || name == part;
    if pattern.len() != parts.len() || !pattern.iter().zip(parts).all(fits) {
        return None;
    }
    let variable = pattern.iter().zip(parts).filter(|(name, _)| is_variable(name));
    variable.map(|(_, part)| Some(percent_decode_str(part).decode_utf8().ok()?.into_owned())).collect()
}

/// Answers a request that was admitted.
pub async fn answer(engine: &Engine, app: &str, mut request: Request) -> Result<Answered, NotDone> {
    let level = engine.settings.api;
    let (route, params) = match find(&request.method, &request.path, level) {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    request.params = params;
    match route.run {
        Handler::Read(run) => read_of(engine, app, &request, run).await,
        Handler::Write(run) => write_to(engine, app, &request, run).await,
        Handler::Ask(decode) => match engine.decode(request, decode).await? {
            Ok((request, question)) => read_of(engine, app, &request, question).await,
            Err(refusal) => Ok(Err(refusal)),
        },
        Handler::Change(decode) => match engine.decode(request, decode).await? {
            Ok((request, change)) => write_to(engine, app, &request, change).await,
            Err(refusal) => Ok(Err(refusal)),
        },
        Handler::InParts(run) => {
            let mut first = 0;
            loop {
                let part = |app: &mut App, call: &Call| run(app, call, first);
                match write_to(engine, app, &request, part).await? {
                    Ok(ControlFlow::Continue(next)) => first = next,
                    Ok(ControlFlow::Break(answer)) => return Ok(Ok(answer)),
                    Err(refusal) => return Ok(Err(refusal)),
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn read_of(
    engine: &Engine,
    app: &str,
    request: &Request,
    run: impl Fn(&App, &Call) -> Answered,
) -> Result<Answered, NotDone> {
    let level = engine.settings.api;
    let look = || {
        engine.read_as_of(request.lag, |state, now| match state.app(app) {
            Some(app) => run(app, &Call { request, now, level }),
            None => Err(Refusal::unauthorized()),
        })
    };
    engine.show(look).await
}

async fn write_to<T>(
    engine: &Engine,
    app: &str,
    request: &Request,
    run: impl FnOnce(&mut App, &Call) -> Result<T, Refusal>,
) -> Result<Result<T, Refusal>, NotDone> {
    let level = engine.settings.api;
    let change = engine.write(|state, now| match state.app_mut(app) {
        Some(app) => run(app, &Call { request, now, level }),
        None => Err(Refusal::unauthorized()),
    });
    change.await
}
