//! Opening a target: its name, its address and its credentials.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pushplan_io::client::{Clients, Credentials, Keyring, Origin, Patience, Reading, Timing, Transport, Writing};
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_model::exchange::Request;
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::level::Level;
use pushplan_model::text;
use pushplan_project::manifest::{LOCAL, PROJECT_FILE, Project, Target};
use pushplan_service::{Running, VENDOR};
use serde_json::Value;

use super::local::{self, BuiltIn, Served};

/// The place in a plan for the service of the project, instead of an origin.
const BUILT_IN: &str = "built-in";

/// An open target.
#[derive(Debug)]
pub struct Opened {
    pub name: String,
    pub level: Level,
    /// The place in a plan: the origin, or `built-in` for the service of the project, whose port changes.
    pub place: String,
    /// The fingerprint of the application.
    pub app: String,
    transport: Arc<Transport>,
    service: Option<Running>,
    /// How far its clock was ahead of this machine's when it was opened.
    ahead: SignedDuration,
}

/// The largest difference of clocks that is ignored.
pub const CLOCKS: SignedDuration = SignedDuration::from_mins(1);

impl Opened {
    /// The current time of the service, which decides when a push is sent. This machine's clock may be wrong, and the
    /// built-in service may have its own clock.
    pub fn now(&self) -> Timestamp {
        Timestamp::now().checked_add(self.ahead()).unwrap_or(Timestamp::MAX)
    }

    /// How far the service's clock is ahead of this machine's, if they differ.
    pub fn ahead(&self) -> SignedDuration {
        let ahead = self.transport.ahead().unwrap_or(self.ahead);
        // The time that an answer takes is no difference.
        if ahead.abs() > CLOCKS { ahead } else { SignedDuration::ZERO }
    }

    /// Whether it is the built-in service of the project.
    pub fn is_built_in(&self) -> bool {
        self.place == BUILT_IN
    }

    /// Counts the devices of an audience with the built-in service. Changes nothing. `None` on any other service, and
    /// for an audience that it cannot count.
    pub(super) async fn count(&self, query: &Value) -> Option<u64> {
        if !self.is_built_in() {
            return None;
        }
        // Its control API uses the clock of the machine, which need not be the clock of the service.
        let transport = self.transport.without_clock();
        let answer = transport.send(&Request::post("/local/audience", query), || true).await.ok()?;
        answer.body.filter(|_| answer.status == 200)?["count"].as_u64()
    }

    /// A client that can only read.
    pub fn reading(&self) -> Reading {
        Reading::new(self.transport.clone())
    }

    /// A client that can read and write.
    pub fn writing(&self) -> Writing {
        Writing::new(self.transport.clone())
    }

    pub fn origin(&self) -> &Origin {
        self.transport.origin()
    }

    /// Stops the service that was started for it.
    pub async fn close(self) {
        if let Some(service) = self.service {
            service.stop().await;
        }
    }
}

/// The target of a command: the one that it names, the project's default, or the only one.
pub fn choose<'p>(project: &'p Project, name: Option<&str>) -> Result<(String, &'p Target), Failure> {
    let names = project.target_names();
    let default = project.file.project.as_ref().and_then(|about| about.default_target.as_ref());
    let name = match (name, default, names.as_slice()) {
        (Some(name), ..) => name,
        (None, Some(name), _) => name.as_str(),
        (None, None, [name]) => name,
        (None, None, []) => {
            return Err(Failure::new(format!("{PROJECT_FILE} has no target"))
                .help(format!("add [targets.{LOCAL}], which is the built-in service")));
        }
        (None, None, names) => {
            return Err(Failure::usage(format!(
                "the project has several targets: {}",
                named(names, |names| text::all_of(names))
            ))
            .help(format!("choose one with --target, or set default_target in {PROJECT_FILE}")));
        }
    };
    let target = project.target(name).ok_or_else(|| unknown(name, &names))?;
    Ok((name.to_owned(), target))
}

/// The largest number of names in a message.
const FEW: usize = 8;

/// The first of many names.
pub fn few(names: &[&str]) -> String {
    let more = names.len().saturating_sub(FEW);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{}{more}", names.iter().take(FEW).copied().collect::<Vec<_>>().join(", "))
}

/// All names, or only the first ones if there are many.
fn named(names: &[&str], joined: fn(&[&str]) -> String) -> String {
    if names.len() > FEW { few(names) } else { joined(names) }
}

/// The failure for an unknown name of a target.
pub fn unknown(name: &str, names: &[&str]) -> Failure {
    let failure = Failure::usage(format!("no target has the name `{name}`"));
    match text::nearest(name, names.iter().copied()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None if names.is_empty() => failure.help(format!("add [targets.{name}] to {PROJECT_FILE}")),
        None => failure.help(format!("expected {}", named(names, |names| text::any_of(names)))),
    }
}

/// The advice for a target without a service.
pub fn no_service() -> String {
    format!("set base_url in {PROJECT_FILE}, or `built_in = true` for the built-in service")
}

/// Resources shared by targets that are opened together: the credentials file is read once, and connections are reused.
#[derive(Debug, Default)]
pub struct Shared {
    keyring: Keyring,
    clients: Clients,
    /// How long a service may take to identify itself.
    within: Option<Duration>,
}

impl Shared {
    /// Creates a `Shared` that measures how long requests take, and stops looking for a running local service after `within`.
    pub fn timed(timing: Arc<dyn Timing>, within: Duration) -> Self {
        Self { clients: Clients::timed(timing), within: Some(within), ..Self::default() }
    }

    /// The service that runs for a target.
    async fn find(&self, service: BuiltIn<'_>) -> Result<Option<(Origin, Served, Timestamp)>, Failure> {
        match self.within {
            None => local::find(service).await,
            Some(within) => tokio::time::timeout(within, local::find(service)).await.map_err(|_| too_slow(within))?,
        }
    }
}

/// The failure for a target that took longer than this time.
pub fn too_slow(within: Duration) -> Failure {
    let within = Delay(i64::try_from(within.as_secs()).unwrap_or(i64::MAX));
    Failure::new(format!("reading it took longer than {within}"))
        .help("the service or the ledger is slow or does not answer; --within sets the time limit")
}

/// Opens a target. Sends no request to a service other than the project's own.
pub async fn open(project: &Project, name: Option<&str>) -> Result<Opened, Failure> {
    open_with(&Shared::default(), project, name).await
}

/// Opens a target together with others that share credentials and connections.
pub async fn open_with(shared: &Shared, project: &Project, name: Option<&str>) -> Result<Opened, Failure> {
    let (name, target) = choose(project, name)?;
    match &target.base_url {
        Some(base_url) => {
            let origin = Origin::parse(base_url).map_err(|why| {
                Failure::new(format!("the target `{name}` has a wrong base_url: {why}"))
                    .help(format!("correct it in {PROJECT_FILE}"))
            })?;
            let env = |name: &str| std::env::var(name).ok();
            let credentials = shared.keyring.find(&origin, &name, &env)?;
            let level = wanted(target, false);
            let place = origin.to_string();
            let way = Way { clients: &shared.clients, level, place, origin, credentials };
            opened(name, target, way, None)
        }
        None if target.is_built_in(&name) => open_local(shared, project, name, target).await,
        None => Err(Failure::new(format!("the target `{name}` has no base_url")).help(no_service())),
    }
}

/// Opens a target without starting the built-in service. Returns `None` if that service does not run, or on any error.
pub(crate) async fn open_running(project: &Project, name: &str) -> Option<Opened> {
    let target = project.target(name)?;
    let shared = Shared::default();
    if !is_built_in(name, target) {
        return open_with(&shared, project, Some(name)).await.ok();
    }
    let found = shared.find(BuiltIn::new(&project.root, name)).await.ok()??;
    opened_local(&shared, name.to_owned(), target, found, None).ok()
}

/// Whether a target is the built-in service, which messages no real devices.
pub fn is_built_in(name: &str, target: &Target) -> bool {
    target.is_built_in(name)
}

/// The API level of a target, as far as it is known without a request to a service.
pub async fn level(project: &Project, name: &str) -> Level {
    let Some(target) = project.target(name) else { return Level::Documented };
    let is_built_in = is_built_in(name, target);
    let wanted = wanted(target, is_built_in);
    if !is_built_in || wanted == Level::Documented {
        return wanted;
    }
    match local::find(BuiltIn::new(&project.root, name)).await {
        Ok(served) => served.map_or(wanted, |(_, served, _)| served.api.min(wanted)),
        // If the level is unknown, the lower one is safer.
        Err(_) => Level::Documented,
    }
}

/// The current time of a target, as far as it is known without a request to a service other than the project's own.
pub async fn now(project: &Project, name: &str) -> Timestamp {
    let is_built_in = project.target(name).is_some_and(|target| is_built_in(name, target));
    let found = if is_built_in { local::find(BuiltIn::new(&project.root, name)).await.ok().flatten() } else { None };
    found.map_or_else(Timestamp::now, |(_, _, there)| there)
}

/// The configured API level of a target. Default: documented, or extended for the built-in service.
pub fn wanted(target: &Target, is_built_in: bool) -> Level {
    let usual = if is_built_in { Level::Extended } else { Level::Documented };
    target.api.as_ref().map_or(usual, |level| level.value)
}

async fn open_local(shared: &Shared, project: &Project, name: String, target: &Target) -> Result<Opened, Failure> {
    let service = BuiltIn::new(&project.root, &name);
    match shared.find(service).await? {
        Some(found) => opened_local(shared, name, target, found, None),
        None => {
            let (running, served) = local::start(service, wanted(target, true)).await?;
            let origin = Origin::parse(&served.origin)?;
            opened_local(shared, name, target, (origin, served, Timestamp::now()), Some(running))
        }
    }
}

fn opened_local(
    shared: &Shared,
    name: String,
    target: &Target,
    (origin, served, there): (Origin, Served, Timestamp),
    service: Option<Running>,
) -> Result<Opened, Failure> {
    let ahead = there.duration_since(Timestamp::now());
    // A service that was started with a lower level does not offer more.
    let level = served.api.min(wanted(target, true));
    let (credentials, place) = (served.credentials(), BUILT_IN.to_owned());
    let way = Way { clients: &shared.clients, level, place, origin, credentials };
    let opened = opened(name, target, way, service)?;
    Ok(Opened { ahead, ..opened })
}

/// How to reach a target: its address and credentials.
struct Way<'c> {
    clients: &'c Clients,
    level: Level,
    place: String,
    origin: Origin,
    credentials: Credentials,
}

fn opened(name: String, target: &Target, way: Way, service: Option<Running>) -> Result<Opened, Failure> {
    let Way { clients, level, place, origin, credentials } = way;
    check_fingerprint(&name, target, &credentials)?;
    let vendor = target.vendor.as_ref().map_or(VENDOR, |vendor| vendor.as_str());
    let transport = Transport::sharing(clients, origin, &credentials, vendor, Patience::default())
        .map_err(|why| Failure::new(format!("the target `{name}` cannot be opened: {why}")))?;
    Ok(Opened { name, level, place, app: credentials.fingerprint(), transport, service, ahead: SignedDuration::ZERO })
}

/// Refuses an application other than the pinned one.
pub fn check_fingerprint(name: &str, target: &Target, credentials: &Credentials) -> Result<(), Failure> {
    let (found, Some(pinned)) = (credentials.fingerprint(), &target.app_key_fingerprint) else { return Ok(()) };
    if found == pinned.value {
        return Ok(());
    }
    let message = format!("the target `{name}` is the application {pinned}, but the credentials are for {found}");
    Err(Failure::new(message).kind(FailureKind::Refused).help(format!(
        "use the credentials of that application, or set app_key_fingerprint = \"{found}\" in {PROJECT_FILE}"
    )))
}
