//! The built-in service that implements the contract.
//!
//! It communicates with the rest only over HTTP, and shares nothing with it except the nouns of `model`. A request
//! comes in through [`http`], is matched against the table in [`routes`], and is answered by a function of [`api`] that
//! reads or changes the [`state`] of one application. The [`engine`] orders changes, makes them durable before they are
//! answered, and carries out what becomes due. In addition to the API there is [`local`], which creates and operates
//! devices.

pub mod answer;
pub mod api;
pub mod clock;
pub mod config;
mod delivery;
pub mod engine;
pub mod faults;
mod http;
mod in_use;
pub mod local;
pub mod places;
pub mod population;
pub mod request;
pub mod requests;
pub mod routes;
pub mod state;
pub mod store;
pub mod webhook;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use engine::{Engine, NotDone};
pub use in_use::InUse;
pub use pushplan_model::nouns::level::Level;

/// The largest body of a request.
pub const BODY_LIMIT: usize = 5 * 1024 * 1024;

/// The default vendor in the media type.
pub const VENDOR: &str = "messaging";

/// The settings of a service.
#[derive(Clone, Debug)]
pub struct Settings {
    pub api: Level,
    /// Applications, as key and secret.
    pub apps: Vec<(String, String)>,
    /// The data file; without one, everything is in memory.
    pub data: Option<PathBuf>,
    /// The start of a virtual clock; without one, the real clock is used.
    pub clock: Option<Timestamp>,
    pub vendor: String,
    /// The receivers of events.
    pub webhooks: Vec<webhook::Webhook>,
    /// The faults.
    pub faults: Option<faults::Rules>,
    /// How long a client may take to send its header, and then its body.
    pub patience: Duration,
}

impl Default for Settings {
    /// Returns the settings of a service in memory, without applications.
    fn default() -> Self {
        Self {
            api: Level::Extended,
            apps: Vec::new(),
            data: None,
            clock: None,
            vendor: VENDOR.to_owned(),
            webhooks: Vec::new(),
            faults: None,
            patience: Duration::from_secs(10),
        }
    }
}

/// A running service. Await [`Running::stop`] to stop it.
#[derive(Debug)]
pub struct Running {
    pub address: SocketAddr,
    pub engine: Arc<Engine>,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

/// Starts a service on a listener: requests are answered when this returns.
pub async fn start(settings: Settings, listener: TcpListener) -> anyhow::Result<Running> {
    check(&settings, &listener)?;
    run(Engine::open(settings)?, listener).await
}

/// Starts a service in memory with the rows of another one: [`Engine::rows`]. Requests are answered when this returns.
pub async fn start_from(settings: Settings, rows: Vec<store::Kept>, listener: TcpListener) -> anyhow::Result<Running> {
    check(&settings, &listener)?;
    run(Engine::open_from(settings, rows)?, listener).await
}

fn check(settings: &Settings, listener: &TcpListener) -> anyhow::Result<()> {
    let address = listener.local_addr()?;
    if let Some(rules) = &settings.faults {
        rules.may_listen(address.ip())?;
    }
    for webhook in &settings.webhooks {
        webhook.checked().with_context(|| format!("the webhook {}", webhook.url))?;
    }
    Ok(())
}

async fn run(engine: Engine, listener: TcpListener) -> anyhow::Result<Running> {
    let address = listener.local_addr()?;
    let engine = Arc::new(engine);
    engine.catch_up().await?;
    let (stop, stopped) = watch::channel(false);
    let mut tasks = vec![
        tokio::spawn(http::serve(engine.clone(), listener, stopped.clone())),
        tokio::spawn(engine.clone().keep_time(stopped.clone())),
    ];
    for webhook in &engine.settings.webhooks {
        tasks.push(tokio::spawn(delivery::deliver(engine.clone(), webhook.clone(), stopped.clone())));
    }
    Ok(Running { address, engine, stop, tasks })
}

impl Running {
    /// Takes no more connections, finishes the requests in flight, and ends.
    pub async fn stop(self) {
        // Without a receiver, all tasks have ended.
        let _ = self.stop.send(true);
        for task in self.tasks {
            let _ = task.await;
        }
    }
}
