use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use tokio::net::TcpListener;

use super::service_options::ServiceOptions;
use super::signals::Signals;
use super::{Context, Ended};
use crate::client::{Credentials, Origin};
use crate::engine::local::{self, Note, Served, credentials};
use crate::engine::project;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::manifest::Project;
use crate::render::{Access, Ready};
use crate::service::population::{self, Population};
use crate::service::{self, Engine, Level, Settings, VENDOR};
use crate::text;

/// Run the messaging service here; no account is needed.
#[derive(Debug, Args)]
pub struct Serve {
    /// The port; any free one where it is 0.
    #[arg(long, default_value_t = 8420)]
    port: u16,

    /// The address to listen on. Outside a project, an address beyond this machine needs --app.
    #[arg(long, value_name = "ADDR", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,

    /// What the service offers: the contract alone, or also the verbs that the live service has gained.
    #[arg(long, value_enum, default_value_t = Api::Extended)]
    api: Api,

    /// An application, as key and secret [default: random, stored in .pushplan/service.env of the project]
    ///
    /// Several can be given; they share nothing.
    #[arg(long, value_name = "KEY:SECRET")]
    app: Vec<String>,

    /// The file that keeps everything. In memory where it is left out.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Start a virtual clock at this time, such as 2026-11-27T08:59Z. It moves when it is told to.
    ///
    /// A file of --data keeps it: without this, the clock goes on from where it stood.
    #[arg(long, value_name = "TIME", value_parser = time)]
    clock: Option<Timestamp>,

    /// Devices to begin with: so many samples, or a file with a JSON array of devices or one on each line.
    ///
    /// An application that has devices already keeps them and gets no more.
    #[arg(long, value_name = "NUMBER|FILE")]
    devices: Option<String>,

    /// Which sample devices: the same seed gives the same ones.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// The vendor's word in the media type.
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

/// The most sample devices.
const MOST_SAMPLES: usize = 10_000_000;

/// Where devices come from.
enum Devices {
    Samples(usize),
    File(String, Population),
}

impl Serve {
    pub fn run(&self, context: &Context) -> Ended {
        let (apps, access) = self.access()?;
        self.guard(&apps)?;
        let devices = self.devices.as_deref().map(read_devices).transpose()?;
        let webhooks = self.options.webhooks(&apps)?;
        self.make_own_folder()?;
        let settings = Settings {
            api: match self.api {
                Api::Documented => Level::Documented,
                Api::Extended => Level::Extended,
            },
            apps,
            data: self.data.clone(),
            clock: self.clock,
            vendor: self.vendor.clone(),
            webhooks,
            faults: self.options.faults()?,
            ..Settings::default()
        };
        let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::new(error.to_string()))?;
        let ended = runtime.block_on(self.serve(context, settings, devices, access));
        // Whoever is still being served when the user does not want to wait is left alone.
        runtime.shutdown_background();
        ended
    }

    fn apps(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut apps: Vec<(String, String)> = Vec::new();
        for pair in &self.app {
            let (key, secret) = pair
                .split_once(':')
                .filter(|(key, secret)| !key.is_empty() && !secret.is_empty())
                .ok_or_else(|| Failure::usage("an application is given as KEY:SECRET"))?;
            if apps.iter().any(|(known, _)| known == key) {
                return Err(Failure::usage(format!("the application {key} is given twice")));
            }
            apps.push((key.to_owned(), secret.to_owned()));
        }
        Ok(apps)
    }

    /// The applications, and how a client gets their credentials.
    fn access(&self) -> Result<(Vec<(String, String)>, Access), Failure> {
        let given = self.apps()?;
        if !given.is_empty() {
            return Ok((given, Access::Given));
        }
        let pair = |one: &Credentials| vec![(one.app_key.clone(), one.master_secret.reveal().to_owned())];
        if let Some(root) = Project::find(&project::here()?) {
            let (credentials, file) = credentials::of_project(&root)?;
            return Ok((pair(&credentials), Access::File(file)));
        }
        if self.is_open() {
            let why = format!(
                "--listen {} lets other machines in, and outside a project no credentials are stored",
                self.listen
            );
            return Err(Failure::usage(why).help("give an application with a secret of your own: --app KEY:SECRET"));
        }
        let credentials = credentials::random();
        let secret = credentials.master_secret.reveal().to_owned();
        Ok((pair(&credentials), Access::Shown(secret)))
    }

    fn is_open(&self) -> bool {
        !self.listen.to_canonical().is_loopback()
    }

    /// A file in the project's own folder needs that folder, which a fresh project does not have yet.
    fn make_own_folder(&self) -> Result<(), Failure> {
        let here = project::here()?;
        let folder = self.data.as_ref().and_then(|data| here.join(data).parent().map(Path::to_path_buf));
        match (Project::find(&here), folder) {
            (Some(root), Some(folder)) if folder == local::own(&root) => local::own_folder(&root).map(drop),
            _ => Ok(()),
        }
    }

    /// Refuses to let others in by a secret that everybody knows.
    fn guard(&self, apps: &[(String, String)]) -> Result<(), Failure> {
        if self.is_open() && apps.iter().any(|(_, secret)| credentials::is_published(secret)) {
            let why = format!("--listen {} lets other machines in, and everyone knows this secret", self.listen);
            return Err(Failure::usage(why).help("give an application with a secret of your own: --app KEY:SECRET"));
        }
        Ok(())
    }

    async fn serve(&self, context: &Context, settings: Settings, devices: Option<Devices>, access: Access) -> Ended {
        let mut signals = Signals::new().map_err(|error| Failure::new(error.to_string()))?;
        let listener = TcpListener::bind(SocketAddr::new(self.listen, self.port))
            .await
            .map_err(|error| cannot_listen(self.listen, self.port, &error))?;
        let running = service::start(settings, listener).await.map_err(|error| Failure::new(error.to_string()))?;
        let devices = self.fill(&running.engine, devices).await?;
        let mut ready = self.ready(running.address, &running.engine, devices, access);
        // It is taken away again when this ends, however it ends.
        let _note = match self.announce(&ready.origin, &running.engine) {
            Ok(note) => {
                let used = "commands of this project use it as the target `local`";
                let used = match self.data {
                    Some(_) => used.to_owned(),
                    None => format!("{used}; --data .pushplan/service.db keeps what they make"),
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
                    "Nothing can be kept any more: {why}. What was kept can be read; changes are refused until it is started again."
                ));
                signals.next().await;
            }
        }
        context.out.note("Stopping: requests in flight are finished. Ctrl-C again ends at once.");
        tokio::select! {
            () = running.stop() => Ok(Exit::Done),
            signal = signals.next() => Ok(signal.exit()),
        }
    }

    /// Tells the project that it is started in how it is reached, where that is from this machine.
    fn announce(&self, origin: &str, engine: &Engine) -> Result<Option<Note>, Failure> {
        let root = Project::find(&project::here()?);
        let is_near = Origin::parse(origin).is_ok_and(|origin| origin.is_loopback());
        let (Some(root), Some((app_key, master_secret)), true) = (root, engine.settings.apps.first(), is_near) else {
            return Ok(None);
        };
        let (app_key, master_secret) = (app_key.clone(), master_secret.clone());
        let (origin, pid) = (origin.to_owned(), std::process::id());
        let served = Served { origin, pid, app_key, master_secret, api: engine.settings.api };
        Note::leave(&root, &served).map(Some)
    }

    /// Puts devices where there are none, and says what is there then.
    async fn fill(&self, engine: &Engine, devices: Option<Devices>) -> Result<String, Failure> {
        let from = match &devices {
            None => String::new(),
            Some(Devices::Samples(_)) => format!("samples, seed {}", self.seed),
            Some(Devices::File(name, _)) => format!("from {name}"),
        };
        let given = devices.is_some();
        let make = |place: usize| match &devices {
            None => Population::new(),
            // Applications share nothing, and so their samples differ.
            Some(Devices::Samples(count)) => population::sample(*count, self.seed.wrapping_add(place as u64)),
            Some(Devices::File(_, population)) => population.clone(),
        };
        let filled = population::fill(engine, make).await.map_err(|why| Failure::new(why.to_string()))?;
        let words = filled.iter().map(|(count, new)| match (count, new, given) {
            (0, _, false) => "none; --devices 200 makes some".to_owned(),
            (0, ..) => "none".to_owned(),
            (count, true, true) => format!("{count} ({from})"),
            (count, false, true) => format!("{count}, as they were; --devices fills an empty application only"),
            (count, _, false) => format!("{count}, as they were"),
        });
        let words: Vec<String> = words.collect();
        Ok(match &words[..] {
            // All alike: said once.
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
                        Api::Documented => "documented: the contract alone".to_owned(),
                        Api::Extended => "extended: the contract, and what the live service has gained".to_owned(),
                    },
                ),
                ("Storage", self.storage(engine)),
                ("Devices", devices),
                ("Clock", self.time_shown(engine)),
                (
                    "Listens on",
                    match address.ip().is_loopback() {
                        true => format!("{address}, this machine alone"),
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
    /// Where everything is kept. What nobody can reach there this time is said, or it would seem to be lost.
    fn storage(&self, engine: &Engine) -> String {
        let Some(path) = &self.data else { return "in memory, gone when it stops; --data FILE keeps it".to_owned() };
        let name = path.display();
        let others: Vec<&str> = engine.unoffered.iter().map(String::as_str).collect();
        match others.is_empty() {
            true => name.to_string(),
            false => format!("{name}; what it holds of {} is left alone: --app offers it", text::all_of(&others)),
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

/// A moment on the command line.
fn time(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "write a time with its zone, such as 2026-11-27T08:59Z".to_owned())
}

fn read_devices(given: &str) -> Result<Devices, Failure> {
    if given.bytes().all(|byte| byte.is_ascii_digit()) && !given.is_empty() {
        let count = given.parse::<usize>().ok().filter(|count| *count <= MOST_SAMPLES);
        let most = || Failure::usage(format!("--devices makes at most {MOST_SAMPLES} samples"));
        return count.map(Devices::Samples).ok_or_else(most);
    }
    let text = fs::read_to_string(given).map_err(|error| {
        Failure::new(format!("{given} cannot be read: {error}")).help("--devices takes a number or a file")
    })?;
    let population = population::read(given, &text).map_err(Failure::new)?;
    Ok(Devices::File(given.to_owned(), population))
}

fn cannot_listen(address: IpAddr, port: u16, error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AddrInUse => Failure::new(format!("port {port} is in use"))
            .help("choose another with --port, or --port 0 for any free one"),
        ErrorKind::AddrNotAvailable => {
            Failure::new(format!("{address} is no address of this machine")).help("choose another with --listen")
        }
        _ => {
            Failure::new(format!("port {port} of {address} cannot be used: {error}")).help("choose another with --port")
        }
    }
}
