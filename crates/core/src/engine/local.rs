//! The built-in service of a target: run by `pushplan serve` in its project, or inside this process.

pub mod credentials;

use std::fmt;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use jiff::Timestamp;
use pushplan_io::client::{Credentials, Origin, Patience, Transport, only_its_owner};
use pushplan_io::failure::Failure;
use pushplan_io::files::{self, describe};
use pushplan_io::private;
use pushplan_model::exchange::{Loss, Request, part};
use pushplan_model::nouns::level::Level;
use pushplan_model::text::shell_word;
use pushplan_project::manifest::LOCAL;
use pushplan_service::{InUse, Running, Settings, population};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};

/// The folder of pushplan's own files in a project, which git ignores.
const OWN: &str = ".pushplan";
/// The extension of the file with the address of a running service.
const NOTE: &str = "json";
const FILE_LIMIT: u64 = 64 * 1024;
/// The extension of the file that keeps the data.
const DATA: &str = "db";
/// The number of devices of a new service.
pub const DEVICES: usize = 200;
const SEED: u64 = 1;

/// The built-in service of one target of a project. Each target has its own files in the project.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn<'p> {
    root: &'p Path,
    target: &'p str,
}

impl<'p> BuiltIn<'p> {
    pub fn new(root: &'p Path, target: &'p str) -> Self {
        Self { root, target }
    }

    pub fn target(self) -> &'p str {
        self.target
    }

    /// The name of one of its files: `service.db` for the target `local`, `service-shop.db` for `shop`.
    fn file(self, extension: &str) -> String {
        match self.target {
            LOCAL => format!("service.{extension}"),
            target => format!("service-{}.{extension}", part(target)),
        }
    }

    /// The path of the file that keeps its data, below the project's folder.
    pub fn data(self) -> String {
        format!("{OWN}/{}", self.file(DATA))
    }

    /// Whether it has data.
    pub fn has_data(self) -> bool {
        self.root.join(self.data()).is_file()
    }

    /// The command that runs it.
    pub fn serve_command(self) -> String {
        match self.target {
            LOCAL => "pushplan serve".to_owned(),
            target => format!("pushplan serve --target {}", shell_word(target)),
        }
    }

    /// Prepares the file that keeps its data: its folder is created, and a link is refused.
    pub fn own_data(self) -> Result<PathBuf, Failure> {
        let data = own_folder(self.root)?.join(self.file(DATA));
        if data.is_symlink() {
            return Err(Failure::new(format!("{} is a symbolic link, which is not followed", data.display())));
        }
        Ok(data)
    }
}

/// The address and credentials of a project's service.
#[derive(Serialize, Deserialize)]
pub struct Served {
    pub origin: String,
    pub pid: u32,
    pub app_key: String,
    pub master_secret: String,
    pub api: Level,
}

impl fmt::Debug for Served {
    /// Formats it without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").field("origin", &self.origin).field("pid", &self.pid).finish_non_exhaustive()
    }
}

impl Served {
    pub fn credentials(&self) -> Credentials {
        Credentials::new(&self.app_key, &self.master_secret)
    }
}

/// The file that shows that a service runs for a project. It is removed when this is dropped.
#[derive(Debug)]
pub struct Note {
    path: PathBuf,
    pid: u32,
}

impl Note {
    /// Writes the address of a project's service to a file that only its owner can read.
    pub fn leave(service: BuiltIn<'_>, served: &Served) -> Result<Self, Failure> {
        let path = own_folder(service.root)?.join(service.file(NOTE));
        let text = serde_json::to_string_pretty(served).map_err(|error| Failure::new(error.to_string()))?;
        // Other processes see the whole new file or the previous one; a link is not followed.
        private::write(&path, text.as_bytes()).map_err(|error| cannot_write(&path, &error))?;
        Ok(Self { path, pid: served.pid })
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // Another service may have been started since.
        if read(&self.path).is_ok_and(|served| served.is_some_and(|served| served.pid == self.pid)) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Reads the note. One that others could have written or read is ignored, because a project may contain any file. One
/// that cannot be read does not prove that no service runs.
fn read(path: &Path) -> anyhow::Result<Option<Served>> {
    if path.is_symlink() || path.parent().is_none_or(Path::is_symlink) {
        return Ok(None);
    }
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| anyhow!(describe(&error)))?,
    };
    if only_its_owner(&file).is_err() {
        return Ok(None);
    }
    let bytes = files::read_to_limit(file, FILE_LIMIT)?;
    Ok(serde_json::from_slice(&bytes).ok())
}

/// Finds the service that runs for a project, and its current time. A stale note has an address without a service, or
/// with one of another user, so the service is asked for its identity, without credentials. A service that does not
/// identify itself is an error: the ledger describes its content, and any other service would get everything again.
pub async fn find(service: BuiltIn<'_>) -> Result<Option<(Origin, Served, Timestamp)>, Failure> {
    let path = own(service.root).join(service.file(NOTE));
    let served = read(&path).map_err(|why| {
        Failure::new(format!("{} cannot be read: {why}", path.display()))
            .help("it shows whether a service runs for this project; run the command again")
    })?;
    let Some(served) = served else { return Ok(None) };
    let Some(origin) = Origin::parse(&served.origin).ok().filter(Origin::is_loopback) else { return Ok(None) };
    let silent = |why: String| {
        Failure::new(format!("the service of this project does not answer: {why}")).help(format!(
            "run the command again; if no `{}` runs on this machine, remove {}",
            service.serve_command(),
            path.display()
        ))
    };
    let connected = TcpStream::connect(served.origin.trim_start_matches("http://")).await;
    match connected {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Ok(None),
        Err(error) => return Err(silent(describe(&error))),
        Ok(_) => {}
    }
    let patience = Patience { connect: Duration::from_secs(5), whole: Duration::from_secs(10) };
    let asked = Transport::anonymous(origin.clone(), patience).send(&Request::get("/local/health"), || true).await;
    let answer = asked.map_err(|(Loss::NotSent(why) | Loss::Unknown(why))| silent(why))?;
    let health = answer.body.filter(|body| answer.status == 200 && body["pid"] == served.pid);
    let there = |health: &Value| health["now"].as_str().and_then(|now| now.parse().ok());
    Ok(health.map(|health| (origin, served, there(&health).unwrap_or_else(Timestamp::now))))
}

/// Starts the service inside this process, with the data that is stored in the project. A new one has some devices.
pub async fn start(service: BuiltIn<'_>, api: Level) -> Result<(Running, Served), Failure> {
    let (credentials, _) = credentials::of(service)?;
    let (app_key, master_secret) = (credentials.app_key.clone(), credentials.master_secret.reveal().to_owned());
    let data = service.own_data()?;
    let settings =
        Settings { api, apps: vec![(app_key.clone(), master_secret.clone())], data: Some(data), ..Settings::default() };
    let cannot = |why: anyhow::Error| match why.downcast_ref() {
        Some(InUse(_)) => {
            Failure::new("the built-in service of this project is in use by another command").help(format!(
                "wait for that command, or run `{}` here, which several commands can use at once",
                service.serve_command()
            ))
        }
        None => Failure::new(format!("the built-in service does not start: {why:#}")),
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(|error| cannot(error.into()))?;
    let running = pushplan_service::start(settings, listener).await.map_err(cannot)?;
    let filled = population::fill(&running.engine, |_| population::sample(DEVICES, SEED)).await;
    filled.map_err(|why| cannot(why.into()))?;
    let served =
        Served { origin: format!("http://{}", running.address), pid: std::process::id(), app_key, master_secret, api };
    Ok((running, served))
}

/// The path of pushplan's own folder in a project.
pub fn own(root: &Path) -> PathBuf {
    root.join(OWN)
}

/// Creates pushplan's own folder in a project. A project may not redirect it to another place on the machine.
pub fn own_folder(root: &Path) -> Result<PathBuf, Failure> {
    let folder = own(root);
    if folder.is_symlink() {
        return Err(Failure::new(format!("{} is a symbolic link, which is not followed", folder.display())));
    }
    files::private_folder().recursive(true).create(&folder).map_err(|error| cannot_write(&folder, &error))?;
    files::hide_from_git(&folder);
    Ok(folder)
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{} cannot be written: {}", path.display(), describe(error)))
}
