//! A service, a ledger, and what `plan` and `apply` do with them.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use pushplan::address::Address;
use pushplan::apply::{ApplySettings as Applying, Ending, Report, drive};
use pushplan::client::{Credentials, Origin, Patience, Reading, Transport, Writing};
use pushplan::compare::{Unit, units};
use pushplan::exchange::Request;
use pushplan::fetch::fetch;
use pushplan::finding::Findings;
use pushplan::kinds;
use pushplan::ledger::{Chain, Ledger, Log};
use pushplan::live::{Look, Proof};
use pushplan::manifest::{self, Input, InputSource, Manifests, Project};
use pushplan::nouns::level::Level;
use pushplan::plan::{Action, Change, Choice, Plan};
use pushplan::planner::{self, Aligned, Rules};
use pushplan::service::{self, Running, Settings};
use pushplan::source::Sources;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::meaning::Meant;
use super::writing::plainly;

pub const KEY: &str = "random-application-000";
pub const SECRET: &str = "random-secret-00000000";

pub struct World {
    level: Level,
    folder: TempDir,
    running: Running,
    reading: Reading,
    writing: Writing,
}

/// A project as it is written.
pub fn written(project: &[Meant]) -> String {
    if project.is_empty() { String::new() } else { plainly(project) }
}

pub fn read(project: &str) -> Manifests {
    let input = Input { name: "all.yaml".into(), from: InputSource::Bytes(project.as_bytes().to_vec()) };
    manifest::read(Project::bare(Path::new(".")), vec![input], Sources::default(), Findings::default())
}

fn declared(project: &str) -> BTreeMap<Address, Unit> {
    let manifests = read(project);
    let (desired, _) = manifests.resolve(None);
    units(&desired, &manifests.sources)
}

/// What is left of a plan.
fn left(plan: &Plan) -> Vec<&Change> {
    plan.changes.iter().filter(|change| !matches!(change.action, Action::Keep | Action::Past)).collect()
}

impl World {
    pub async fn new(level: Level) -> Self {
        let api = match level {
            Level::Documented => service::Level::Documented,
            Level::Extended => service::Level::Extended,
        };
        let settings = Settings { api, apps: vec![(KEY.into(), SECRET.into())], ..Settings::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let running = service::start(settings, listener).await.expect("it starts");
        let origin = Origin::parse(&format!("http://{}", running.address)).expect("an origin");
        let transport = Transport::new(origin, &Credentials::new(KEY, SECRET), "messaging", Patience::default());
        let transport = transport.expect("a way");
        let folder = tempfile::tempdir().expect("a folder");
        let (reading, writing) = (Reading::new(transport.clone()), Writing::new(transport));
        Self { level, folder, running, reading, writing }
    }

    fn log(&self) -> Chain {
        Chain::in_files(self.folder.path(), "local")
    }

    async fn plan(&self, units: &BTreeMap<Address, Unit>) -> (Plan, Ledger) {
        self.plan_of(units, &Choice::default()).await
    }

    async fn plan_of(&self, units: &BTreeMap<Address, Unit>, choice: &Choice) -> (Plan, Ledger) {
        let log = self.log();
        let ledger = Ledger::replay(log.read(0).await.expect("a ledger"));
        let desired = units.iter().map(|(address, unit)| (address, &unit.spec)).collect();
        let level = self.level;
        let origin = self.reading.origin().to_string();
        let settle = SignedDuration::from_millis(20);
        let look = Look {
            level,
            origin: &origin,
            settle,
            desired: &desired,
            ledger: &ledger,
            all_kinds: false,
            contents: &BTreeSet::new(),
            confirm_absence: true,
            recovers: true,
            proof: Proof::default(),
        };
        let live = fetch(&self.reading, look, &|_| {}).await.unwrap_or_else(|failure| panic!("{failure}"));
        let position = log.position().await.expect("a place");
        let rules = Rules { origin, position, choice: choice.clone(), ..Rules::new("local", level) };
        let plan = planner::plan(&Aligned::new(units, &ledger), &live, &rules, Timestamp::now()).expect("a plan");
        (plan, ledger)
    }

    async fn apply(&self, units: &BTreeMap<Address, Unit>) -> Report {
        self.apply_of(units, &Choice::default()).await
    }

    async fn apply_of(&self, units: &BTreeMap<Address, Unit>, choice: &Choice) -> Report {
        units.iter().for_each(|(address, unit)| is_made_alike(address, unit));
        let (plan, ledger) = self.plan_of(units, choice).await;
        drive(plan, &ledger, Applying::new("run", "ada"), &self.writing, &self.log(), pending(), &mut |_| ()).await.0
    }

    /// Makes sure that every channel that is named is there, as devices do that open the app.
    async fn register(&self, units: &BTreeMap<Address, Unit>) {
        let mut devices: BTreeMap<String, String> = BTreeMap::new();
        for unit in units.values() {
            let spec = &unit.spec;
            let device_type = spec["device_type"].as_str().unwrap_or_default();
            for (id, device_type) in
                [("ios_channel", "ios"), ("android_channel", "android"), ("channel_id", device_type)]
            {
                if let Some(id) = spec[id].as_str() {
                    devices.entry(id.to_owned()).or_insert(device_type.to_owned());
                }
            }
        }
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::new();
        for (id, device_type) in devices {
            let url = format!("http://{}/local/devices/{id}", self.running.address);
            if client.get(&url).send().await.expect("an answer").status() == 200 {
                continue;
            }
            let device = json!({ "device_type": device_type, "opt_in": true });
            let answer = client.put(&url).json(&device).send().await.expect("an answer");
            assert!(answer.status().is_success(), "{id}: {}", answer.text().await.unwrap_or_default());
        }
    }

    /// Where its service is.
    pub fn origin(&self) -> String {
        self.reading.origin().to_string()
    }

    /// What the service answers to a look.
    pub async fn get(&self, path: &str) -> Value {
        let answer = self.reading.read(&Request::get(path)).await.expect("an answer");
        answer.body.unwrap_or_default()
    }

    /// The plan of a project.
    pub async fn planned(&self, project: &str) -> Plan {
        self.planned_of(project, &Choice::default()).await
    }

    /// The plan of a part of a project.
    pub async fn planned_of(&self, project: &str, choice: &Choice) -> Plan {
        self.plan_of(&declared(project), choice).await.0
    }

    /// Applies a project.
    pub async fn applied(&self, project: &str) {
        self.applied_of(project, &Choice::default()).await;
    }

    /// Applies a part of a project.
    pub async fn applied_of(&self, project: &str, choice: &Choice) {
        let report = self.apply_of(&declared(project), choice).await;
        assert_eq!(report.ending, Ending::Done, "{report:#?}\n{choice:?}\n{project}");
    }

    /// The ids of all segments of the service, by their names.
    pub async fn segment_ids(&self) -> BTreeMap<String, String> {
        let list = self.get("/api/segments").await;
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let segments = list["segments"].as_array().expect("segments");
        segments.iter().map(|segment| (text(&segment["display_name"]), text(&segment["id"]))).collect()
    }

    pub async fn stop(self) {
        self.running.stop().await;
    }

    fn sent(&self) -> usize {
        self.running.engine.requests.list(|logged| logged.method != "GET").len()
    }

    /// Applies a project. Then there is nothing to do, and looking again shows the same.
    pub async fn settle(&self, project: &str, by_hand: bool) {
        let units = declared(project);
        self.register(&units).await;
        let report = self.apply(&units).await;
        assert_eq!(report.ending, Ending::Done, "{report:#?}\n{project}");
        let (plan, _) = self.plan(&units).await;
        let rest = left(&plan);
        let allowed = rest.iter().all(|change| by_hand && change.action == Action::ByHand);
        assert!(allowed, "{rest:#?}\n{project}");
        let sent = self.sent();
        let report = self.apply(&units).await;
        assert_eq!(report.ending, Ending::Done, "{report:#?}\n{project}");
        assert_eq!(self.sent(), sent, "nothing more is sent: {project}");
        let (again, ledger) = self.plan(&units).await;
        assert_eq!(left(&again), rest, "{project}");
        assert!(again.steps.is_empty(), "{:#?}\n{project}", again.steps);
        assert_eq!((ledger.open.len(), &ledger.run), (0, &None), "{project}");
    }

    pub async fn story(level: Level, before: &str, after: &str) {
        let world = Self::new(level).await;
        for (project, by_hand) in [(before, false), (after, level == Level::Documented)] {
            world.settle(project, by_hand).await;
        }
        world.running.stop().await;
    }
}

/// However the request is made that creates something, it is the same, and it is the one that plans show.
fn is_made_alike(address: &Address, unit: &Unit) {
    let api = kinds::api(address);
    let request = api.create(&unit.spec);
    assert!(request.path.starts_with("/api/"), "{address} says neither where it is posted to nor how it is made");
    assert_eq!(api.create_just(&unit.spec), request, "{address}");
    assert_eq!(api.create_at(&unit.spec), (request.method, request.path), "{address}");
}
