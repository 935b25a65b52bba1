use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use tokio::net::TcpListener;

use super::service_options::ServiceOptions;
use super::signals::Signals;
use super::{Context, Ended};
use crate::client::{Credentials, Origin};
use crate::engine::local::{self, BuiltIn, Note, Served, credentials};
use crate::engine::{project, target};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::{LOCAL, Project};
use crate::render::{Access, Ready};
use crate::service::population::{self, Population};
use crate::service::{self, Engine, InUse, Level, Settings, VENDOR};
use crate::text;

/// Run the messaging service here; no account is needed.
#[derive(Debug, Args)]
pub struct Serve {
    /// Address to listen on; port 0 selects a free port
    ///
    /// Default: 127.0.0.1:8420. Outside a project, an address that other machines can reach needs --app.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen_at)]
    listen: Option<ListenAddress>,

    /// Port to listen on.
    #[arg(long, hide = true)]
    port: Option<u16>,

    /// API level: only the published API, or everything that the live service has.
    #[arg(long, value_enum, default_value_t = Api::Extended)]
    api: Api,

    /// Target of the project to run: `local`, or one with `built_in = true` [default: the default target if it is built in,
    /// otherwise `local`]
    #[arg(long, value_name = "NAME", conflicts_with = "app")]
    target: Option<String>,

    /// An application, as key and secret; can be repeated
    ///
    /// Default: one with random credentials, stored in .pushplan/service.env of the project. Each application has its own
    /// data.
    #[arg(long, value_name = "KEY:SECRET")]
    app: Vec<String>,

    /// File to store all data in [default: in a project, the data of its target; in memory outside a project and with
    /// --app or --clock]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Keep all data in memory: the service is empty at each start.
    #[arg(long, conflicts_with = "data")]
    memory: bool,

    /// Start a virtual clock at this time, such as 2026-11-27T08:59Z. POST /local/clock moves it.
    ///
    /// With --data, the clock is stored: at the next start it continues from its last time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    clock: Option<Timestamp>,

    /// Initial devices: a number of samples, or a file with a JSON array or one device per line.
    ///
    /// An application that already has devices gets no more.
    #[arg(long, value_name = "NUMBER|FILE")]
    devices: Option<String>,

    /// Seed of the sample devices: the same seed gives the same devices.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// The vendor in the media type of requests and answers.
    #[arg(long, default_value = VENDOR)]
    vendor: String,

    #[command(flatten)]
    options: ServiceOptions,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Api {
    Documented,
    Extended,
}

/// The address to listen on, without a port if none was given.
#[derive(Clone, Copy, Debug)]
struct ListenAddress {
    ip: IpAddr,
    port: Option<u16>,
}

/// The default port.
const PORT: u16 = 8420;

/// The maximal number of sample devices.
const MOST_SAMPLES: usize = 10_000_000;

/// The source of devices.
enum Devices {
    Samples(usize),
    File(String, Population),
}

impl Serve {
    pub fn run(&self, context: &Context) -> Ended {
        let place = self.place()?;
        let service = place.as_ref().map(|(root, target)| BuiltIn::new(root, target));
        let (apps, access) = self.access(service)?;
        self.guard(&apps)?;
        let own_data = self.own_data(service)?;
        let devices = match (&self.devices, &own_data) {
            (Some(given), _) => Some(read_devices(given)?),
            // Other commands of the project would also start with these.
            (None, Some(_)) => Some(Devices::Samples(local::DEVICES)),
            (None, None) => None,
        };
        let webhooks = self.options.webhooks(&apps)?;
        self.make_own_folder()?;
        let settings = Settings {
            api: match self.api {
                Api::Documented => Level::Documented,
                Api::Extended => Level::Extended,
            },
            apps,
            data: self.data.clone().or(own_data),
            clock: self.clock,
            vendor: self.vendor.clone(),
            webhooks,
            faults: self.options.faults()?,
            ..Settings::default()
        };
        let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::new(error.to_string()))?;
        let ended = runtime.block_on(self.serve(context, settings, devices, access, service));
        // Clients that are still connected when the user does not want to wait are dropped.
        runtime.shutdown_background();
        ended
    }

    fn apps(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut apps: Vec<(String, String)> = Vec::new();
        for pair in &self.app {
            let (key, secret) = pair
                .split_once(':')
                .filter(|(key, secret)| !key.is_empty() && !secret.is_empty())
                .ok_or_else(|| Failure::usage("write an application as KEY:SECRET"))?;
            if apps.iter().any(|(known, _)| known == key) {
                return Err(Failure::usage(format!("the application {key} is given twice")));
            }
            apps.push((key.to_owned(), secret.to_owned()));
        }
        Ok(apps)
    }

    /// The project of the current folder, and the target to run. `None` outside a project.
    fn place(&self) -> Result<Option<(PathBuf, String)>, Failure> {
        let Some(root) = Project::find(&project::here()?) else {
            return match self.target {
                Some(_) => Err(Failure::usage("--target needs a project, but this folder has none")),
                None => Ok(None),
            };
        };
        let project = Project::open(&root);
        let name = match (&self.target, target::choose(&project, self.target.as_deref())) {
            (_, Ok((name, target))) if target.is_built_in(&name) => name,
            (Some(_), Ok((name, _))) => {
                let why = format!("the target `{name}` is not the built-in service");
                return Err(Failure::usage(why).help(target::no_service()));
            }
            (Some(_), Err(failure)) => return Err(failure),
            (None, _) => LOCAL.to_owned(),
        };
        Ok(Some((root, name)))
    }

    /// The applications, and how a client gets their credentials.
    fn access(&self, service: Option<BuiltIn>) -> Result<(Vec<(String, String)>, Access), Failure> {
        let given = self.apps()?;
        if !given.is_empty() {
            return Ok((given, Access::Given));
        }
        let pair = |one: &Credentials| vec![(one.app_key.clone(), one.master_secret.reveal().to_owned())];
        if let Some(service) = service {
            let (credentials, file) = credentials::of(service)?;
            return Ok((pair(&credentials), Access::File(file)));
        }
        if self.is_open() {
            let why = format!(
                "--listen {} allows access from other machines, but without a project no credentials are stored",
                self.ip()
            );
            return Err(Failure::usage(why).help("add an application with your own secret: --app KEY:SECRET"));
        }
        let credentials = credentials::random();
        let secret = credentials.master_secret.reveal().to_owned();
        Ok((pair(&credentials), Access::Shown(secret)))
    }

    fn is_open(&self) -> bool {
        !self.ip().to_canonical().is_loopback()
    }

    fn ip(&self) -> IpAddr {
        self.listen.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |at| at.ip)
    }

    fn port(&self) -> u16 {
        self.listen.and_then(|at| at.port).or(self.port).unwrap_or(PORT)
    }

    /// The data file of the project. Not with a virtual clock, which would be stored in it, and not for other
    /// applications.
    fn own_data(&self, service: Option<BuiltIn>) -> Result<Option<PathBuf>, Failure> {
        let is_other = self.data.is_some() || self.memory || self.clock.is_some() || !self.app.is_empty();
        service.filter(|_| !is_other).map(BuiltIn::own_data).transpose()
    }

    /// Creates the project's own folder if the data file is in it, because a fresh project does not have it yet.
    fn make_own_folder(&self) -> Result<(), Failure> {
        let here = project::here()?;
        let folder = self.data.as_ref().and_then(|data| here.join(data).parent().map(Path::to_path_buf));
        match (Project::find(&here), folder) {
            (Some(root), Some(folder)) if folder == local::own(&root) => local::own_folder(&root).map(drop),
            _ => Ok(()),
        }
    }

    /// Refuses access from other machines with a publicly known secret.
    fn guard(&self, apps: &[(String, String)]) -> Result<(), Failure> {
        if self.is_open() && apps.iter().any(|(_, secret)| credentials::is_published(secret)) {
            let why = format!("--listen {} allows access from other machines, but this secret is public", self.ip());
            return Err(Failure::usage(why).help("add an application with your own secret: --app KEY:SECRET"));
        }
        Ok(())
    }

    async fn serve(
        &self,
        context: &Context,
        settings: Settings,
        devices: Option<Devices>,
        access: Access,
        service: Option<BuiltIn<'_>>,
    ) -> Ended {
        let mut signals = Signals::new().map_err(|error| Failure::new(error.to_string()))?;
        let (ip, port) = (self.ip(), self.port());
        let listener =
            TcpListener::bind(SocketAddr::new(ip, port)).await.map_err(|error| cannot_listen(ip, port, &error))?;
        let running = service::start(settings, listener).await.map_err(|error| self.not_started(error))?;
        let devices = self.fill(&running.engine, devices).await?;
        let mut ready = self.ready(running.address, &running.engine, devices, access);
        // It is removed when this function returns.
        let _note = match self.announce(&ready.origin, &running.engine, service) {
            Ok(note) => {
                let target = service.map_or(LOCAL, BuiltIn::target);
                let used = format!("commands of this project use it as the target `{target}`");
                let used = match running.engine.settings.data {
                    Some(_) => used,
                    None => format!("{used}, which is empty at each start"),
                };
                let used = note.is_some().then_some(("Project", used));
                ready.rows.extend(used);
                note
            }
            Err(failure) => {
                context.out.note(&format!("Commands of this project do not find it: {failure}."));
                None
            }
        };
        context.out.print(&ready.to_string());

        tokio::select! {
            _ = signals.next() => {}
            why = running.engine.broken() => {
                context.out.note(&format!(
                    "Storage failed: {why}. Reads still work; changes are refused until you start it again."
                ));
                signals.next().await;
            }
        }
        context.out.note("Stopping after the requests in progress. Press Ctrl-C again to end at once.");
        tokio::select! {
            () = running.stop() => Ok(Exit::Done),
            signal = signals.next() => Ok(signal.exit()),
        }
    }

    fn not_started(&self, error: anyhow::Error) -> Failure {
        let is_own = error.is::<InUse>() && self.data.is_none();
        let failure = Failure::from(error);
        if !is_own {
            return failure;
        }
        failure
            .help("another command of this project uses its data: run this again after it has ended, or pass --memory")
    }

    /// Writes the address to the project's note, if it is on this machine.
    fn announce(&self, origin: &str, engine: &Engine, service: Option<BuiltIn>) -> Result<Option<Note>, Failure> {
        let is_near = Origin::parse(origin).is_ok_and(|origin| origin.is_loopback());
        let (Some(service), Some((app_key, master_secret)), true) = (service, engine.settings.apps.first(), is_near)
        else {
            return Ok(None);
        };
        let (app_key, master_secret) = (app_key.clone(), master_secret.clone());
        let (origin, pid) = (origin.to_owned(), std::process::id());
        let served = Served { origin, pid, app_key, master_secret, api: engine.settings.api };
        Note::leave(service, &served).map(Some)
    }

    /// Adds devices to empty applications, and describes the result.
    async fn fill(&self, engine: &Engine, devices: Option<Devices>) -> Result<String, Failure> {
        let from = match &devices {
            None => String::new(),
            Some(Devices::Samples(_)) => format!("samples, seed {}", self.seed),
            Some(Devices::File(name, _)) => format!("from {name}"),
        };
        let given = devices.is_some();
        let make = |place: usize| match &devices {
            None => Population::new(),
            // Applications share nothing, so their samples differ.
            Some(Devices::Samples(count)) => population::sample(*count, self.seed.wrapping_add(place as u64)),
            Some(Devices::File(_, population)) => population.clone(),
        };
        let filled = population::fill(engine, make).await.map_err(|why| Failure::new(why.to_string()))?;
        let words = filled.iter().map(|(count, new)| match (count, new, given) {
            (0, _, false) => "none; --devices 200 creates some".to_owned(),
            (0, ..) => "none".to_owned(),
            (count, true, true) => format!("{count} ({from})"),
            (count, false, true) => format!("{count}, unchanged; --devices fills only an empty application"),
            (count, _, false) => format!("{count}, unchanged"),
        });
        let words: Vec<String> = words.collect();
        Ok(match &words[..] {
            // All are the same: shown once.
            [first, rest @ ..] if rest.iter().all(|other| other == first) => first.clone(),
            _ => {
                let keys = engine.settings.apps.iter().map(|(key, _)| key);
                keys.zip(&words).map(|(key, words)| format!("{key}: {words}")).collect::<Vec<_>>().join(" · ")
            }
        })
    }

    fn ready(&self, address: SocketAddr, engine: &Engine, devices: String, access: Access) -> Ready {
        let shown = match address.ip().is_unspecified() {
            true => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port()),
            false => address,
        };
        Ready {
            origin: format!("http://{shown}"),
            apps: engine.settings.apps.iter().map(|(key, _)| key.clone()).collect(),
            access,
            rows: vec![
                (
                    "API",
                    match self.api {
                        Api::Documented => "documented: only the contract".to_owned(),
                        Api::Extended => "extended: the contract and newer requests of the live service".to_owned(),
                    },
                ),
                ("Storage", self.storage(engine)),
                ("Devices", devices),
                ("Clock", self.time_shown(engine)),
                (
                    "Listens on",
                    match address.ip().is_loopback() {
                        true => format!("{address}, this machine only"),
                        false => format!("{address}, other machines too"),
                    },
                ),
            ]
            .into_iter()
            .chain(self.options.shown(&engine.settings))
            .collect(),
        }
    }
}

impl Serve {
    /// Describes where the data is stored. Applications that are not offered this time are listed, so that they do not
    /// seem lost.
    fn storage(&self, engine: &Engine) -> String {
        let Some(path) = &engine.settings.data else {
            return "in memory, lost when it stops; --data FILE stores it".to_owned();
        };
        let here = project::here().unwrap_or_default();
        let path = path.strip_prefix(&here).unwrap_or(path);
        let name = path.display();
        let others: Vec<&str> = engine.unoffered.iter().map(String::as_str).collect();
        match others.is_empty() {
            true => name.to_string(),
            false => format!("{name}; it also has data of {}: --app serves it", text::all_of(&others)),
        }
    }

    fn time_shown(&self, engine: &Engine) -> String {
        let kept = if self.clock.is_none() { ", as it was kept," } else { "" };
        match engine.clock.is_virtual() {
            true => format!("stands at {}{kept} until POST /local/clock moves it", engine.clock.now()),
            false => "the real time".to_owned(),
        }
    }
}

/// An address with its port. An address alone has the default port.
fn listen_at(text: &str) -> anyhow::Result<ListenAddress> {
    if let Ok(at) = text.parse::<SocketAddr>() {
        return Ok(ListenAddress { ip: at.ip(), port: Some(at.port()) });
    }
    let alone = text.parse().map(|ip| ListenAddress { ip, port: None });
    alone.map_err(|_| anyhow!("expected an address with a port, such as 127.0.0.1:8420"))
}

/// A moment on the command line.
fn time(text: &str) -> anyhow::Result<Timestamp> {
    text.parse().map_err(|_| anyhow!("write a time with its zone, such as 2026-11-27T08:59Z"))
}

fn read_devices(given: &str) -> Result<Devices, Failure> {
    if given.bytes().all(|byte| byte.is_ascii_digit()) && !given.is_empty() {
        let count = given.parse::<usize>().ok().filter(|count| *count <= MOST_SAMPLES);
        let most = || Failure::usage(format!("--devices creates up to {MOST_SAMPLES} samples"));
        return count.map(Devices::Samples).ok_or_else(most);
    }
    let text = fs::read_to_string(given).map_err(|error| {
        Failure::new(format!("{given} cannot be read: {error}")).help("--devices takes a number or a file")
    })?;
    let population = population::read(given, &text)?;
    Ok(Devices::File(given.to_owned(), population))
}

fn cannot_listen(address: IpAddr, port: u16, error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AddrInUse => Failure::new(format!("port {port} is in use")).help(format!(
            "choose another, such as --listen {}; port 0 selects a free port",
            SocketAddr::new(address, 0)
        )),
        ErrorKind::AddrNotAvailable => Failure::new(format!("{address} is not an address of this machine")).help(
            "choose another address with \
                --listen",
        ),
        _ => Failure::new(format!("port {port} of {address} cannot be used: {error}"))
            .help("choose another address with --listen"),
    }
}
