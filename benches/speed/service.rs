//! The built-in service that everything here talks to, in memory.

use std::collections::BTreeMap;

use pushplan::service::state::devices::Device;
use pushplan::service::{self, Level, Running, Settings, population};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::project::{KINDS, device};

/// An application of the service: its key and its secret, each of 22 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    pub key: String,
    pub secret: String,
}

impl App {
    /// The application for projects of a size.
    pub fn of(resources: usize) -> Self {
        Self { key: format!("benchmark-app-{resources:08}"), secret: format!("benchmark-key-{resources:08}") }
    }
}

/// A service that runs, and how many requests it got.
pub struct Service {
    runtime: Runtime,
    running: Running,
}

impl Service {
    /// Starts one with an application for each of these sizes, which has the devices that its project speaks of.
    pub fn start(sizes: &[usize]) -> Self {
        Self::with_devices(sizes, |round| vec![device(round)])
    }

    /// Starts a service with an application for each of these sizes, and any devices for each round of kinds.
    pub fn with_devices(sizes: &[usize], of_round: impl Fn(usize) -> Vec<String>) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let apps: Vec<App> = sizes.iter().map(|resources| App::of(*resources)).collect();
        let apps = apps.into_iter().map(|app| (app.key, app.secret)).collect();
        let settings = Settings { api: Level::Extended, apps, ..Settings::default() };
        let running = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let running = service::start(settings, listener).await.expect("the service starts");
            let devices = |place: usize| {
                let ids = (0..sizes[place].div_ceil(KINDS)).flat_map(&of_round);
                ids.map(|id| (id, phone())).collect()
            };
            population::fill(&running.engine, devices).await.expect("devices");
            running
        });
        Self { runtime, running }
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.running.address)
    }

    pub fn stop(self) {
        self.runtime.block_on(self.running.stop());
    }

    pub fn forget_requests(&self) {
        self.running.engine.requests.clear();
    }

    /// How many requests of each shape came since they were last forgotten: ids and pages are left out.
    pub fn requests(&self) -> BTreeMap<String, usize> {
        let mut shapes = BTreeMap::new();
        for logged in self.running.engine.requests.list(|_| true) {
            *shapes.entry(shape(&logged.method, &logged.path, &logged.query)).or_default() += 1;
        }
        shapes
    }

    /// How much of each sort an application has.
    pub fn holds(&self, app: &App) -> BTreeMap<String, usize> {
        let mut tables = BTreeMap::new();
        for row in self.running.engine.rows().into_iter().filter(|row| row.app == app.key) {
            *tables.entry(row.table).or_default() += 1;
        }
        tables
    }
}

fn phone() -> Device {
    Device { device_type: "ios".into(), installed: true, opt_in: true, ..Device::default() }
}

/// `GET /api/segments/ID` for every segment; `GET /api/segments` for every page of them.
pub fn shape(method: &str, path: &str, query: &str) -> String {
    let path = path.trim_end_matches('/');
    let mut parts = path.splitn(4, '/').skip(1);
    let (api, list) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let one = if parts.next().is_some() { "/ID" } else { "" };
    let one = if query.starts_with("id=") { "?id=ID" } else { one };
    format!("{method} /{api}/{list}{one}")
}
