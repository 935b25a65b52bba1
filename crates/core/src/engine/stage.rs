//! A separate built-in service in memory, with resources applied to it. Device tests and the people of a plan are
//! replayed on it.

mod replay;

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, anyhow};
use jiff::{SignedDuration, Timestamp};
use pushplan_io::client::{Credentials, Origin, Patience, Reading, Transport, Writing};
use pushplan_io::failure::Failure;
use pushplan_ledger::{AppendError, Entry, Ledger, Log, Seq, Unreadable};
use pushplan_model::address::Address;
use pushplan_model::kinds::{self, NamedUser, Resource, Runs};
use pushplan_model::nouns::level::Level;
use pushplan_service::local::form::Form;
use pushplan_service::request::understood;
use pushplan_service::state::devices::Device;
use pushplan_service::store::Kept;
use pushplan_service::{self as service, Engine, Running, Settings, VENDOR};
use serde_json::Value;
use tokio::net::TcpListener;

use super::local::credentials::{self, APP_KEY};
use super::workspace::no_match;
use crate::apply::{self, Fate, OnError, Protections};
use crate::compare::Unit;
use crate::fetch::fetch;
use crate::live::{Look, Proof};
use crate::planner::{self, Aligned, Rules};

pub use replay::{Receipt, Replay, of_device};

/// The service with all resources applied to it, before any event.
#[derive(Debug)]
pub struct Stage {
    settings: Settings,
    rows: Vec<Kept>,
    /// The ids of the applied resources on the service.
    pub ids: BTreeMap<Address, String>,
    /// Resources that do not exist, because their time was before the start.
    pub past: BTreeMap<Address, Timestamp>,
    /// Resources that the service refused, and why.
    pub refused: Vec<(Address, String)>,
}

/// The content of a stage.
#[derive(Debug)]
pub struct StageSetup<'s> {
    pub target: &'s str,
    pub level: Level,
    pub units: &'s BTreeMap<Address, Unit>,
    /// The time of the service's clock.
    pub start: Timestamp,
    /// The devices that exist before any resource is applied, because the resources may name them.
    pub devices: Vec<Kept>,
}

impl Stage {
    /// Starts the service and applies the units to it, with the planner and over HTTP, like `apply`. Nothing is stored,
    /// and guards are not checked, because no real device exists.
    pub async fn set(mut setup: StageSetup<'_>) -> Result<Self, Failure> {
        let credentials = credentials::random();
        let settings = Settings {
            api: setup.level,
            apps: vec![(credentials.app_key.clone(), credentials.master_secret.reveal().to_owned())],
            clock: Some(setup.start),
            ..Settings::default()
        };
        let cannot = "the built-in service does not start";
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context(cannot)?;
        let devices = std::mem::take(&mut setup.devices);
        let there: BTreeSet<String> = devices.iter().map(|row| row.key.clone()).collect();
        let running = service::start_from(settings.clone(), devices, listener).await.context(cannot)?;
        let applied = apply(&setup, &there, &running, &credentials).await;
        let rows = running.engine.rows();
        running.stop().await;
        let Applied { ids, past, refused } = applied?;
        Ok(Self { settings, rows, ids, past, refused })
    }

    /// Gives each experiment an id that depends only on its address. The variant of a device depends on that id.
    #[must_use]
    pub fn with_fixed_variants(mut self) -> Self {
        let experiments: BTreeSet<&str> =
            self.rows.iter().filter(|row| row.table == EXPERIMENTS).map(|row| row.key.as_str()).collect();
        let is_one = |(_, id): &(&Address, &String)| experiments.contains(id.as_str());
        let fixed: Vec<(Address, String)> =
            self.ids.iter().filter(is_one).map(|(address, id)| (address.clone(), id.clone())).collect();
        for (address, id) in fixed {
            let name = address.key.clone();
            for row in &mut self.rows {
                row.key = row.key.replace(&id, &name);
                row.value = row.value.replace(&id, &name);
            }
            self.ids.insert(address, name);
        }
        self
    }

    /// The id of a resource on the service, if it was created.
    pub fn id(&self, address: &Address) -> Option<&str> {
        self.ids.get(address).map(String::as_str)
    }

    /// A service that starts from the stage, with more devices. They count as existing ones, so they trigger nothing.
    pub fn begin(&self, devices: Vec<Kept>) -> Result<Replay<'_>, Failure> {
        let rows = [self.rows.clone(), devices].concat();
        let engine = Engine::open_from(self.settings.clone(), rows)?;
        Ok(Replay::new(engine, &self.ids))
    }
}

/// The table of experiments in the service's store.
const EXPERIMENTS: &str = "experiments";

/// A device in the form of the control API, as a row of the service, or the reason why the service refuses it.
pub fn device(id: &str, form: &Value, is_opened: bool, start: Timestamp) -> anyhow::Result<Kept> {
    let form: Form = understood(form).context("the service does not support it")?;
    let mut device: Device = form.device().map_err(|refusal| anyhow!(refusal.error))?;
    (device.created, device.modified) = (start, start);
    device.has_opted_in = device.opt_in;
    device.first_opened = is_opened.then_some(start);
    device.last_opened = device.first_opened;
    let value = serde_json::to_string(&device)?;
    Ok(Kept { app: APP_KEY.to_owned(), table: "devices".to_owned(), key: id.to_owned(), value })
}

/// The longest time between the same local time in two zones, and a little more.
const AROUND_THE_WORLD: SignedDuration = SignedDuration::from_hours(27);

struct Applied {
    ids: BTreeMap<Address, String>,
    past: BTreeMap<Address, Timestamp>,
    refused: Vec<(Address, String)>,
}

/// Plans and applies all resources whose time has not passed.
async fn apply(
    setup: &StageSetup<'_>,
    there: &BTreeSet<String>,
    running: &Running,
    credentials: &Credentials,
) -> Result<Applied, Failure> {
    let StageSetup { target, level, start, .. } = *setup;
    let before = start.checked_sub(AROUND_THE_WORLD).unwrap_or(start);
    let (units, past) = pending(setup, there);
    let origin = Origin::parse(&format!("http://{}", running.address))?;
    let place = origin.to_string();
    let transport: Arc<Transport> = Transport::new(origin, credentials, VENDOR, Patience::default())?;
    let ledger = Ledger::default();
    let desired = units.iter().map(|(address, unit)| (address, &unit.spec)).collect();
    let look = Look {
        level,
        origin: &place,
        settle: SignedDuration::ZERO,
        desired: &desired,
        ledger: &ledger,
        all_kinds: false,
        contents: &BTreeSet::new(),
        // The service is new, so it is empty.
        confirm_absence: false,
        recovers: false,
        proof: Proof::default(),
    };
    let live = fetch(&Reading::new(transport.clone()), look, &|_| {}).await?;
    let rules = Rules {
        origin: place,
        app: credentials.fingerprint(),
        min_lead: SignedDuration::ZERO,
        ..Rules::new(target, level)
    };
    let plan = planner::plan(&Aligned::new(&units, &ledger), &live, &rules, before).map_err(no_match)?;
    let log = Arc::new(Memory::default());
    let settings = apply::ApplySettings {
        on_error: OnError::Continue,
        // The time of a push was already checked against the clock of the stage.
        protections: Protections { past: false, ..Protections::default() },
        ..apply::ApplySettings::new("test", "pushplan test")
    };
    let never = std::future::pending();
    let (report, ledger) =
        apply::drive(plan, &ledger, settings, &Writing::new(transport), &log, never, &mut |_| {}).await;
    let ids = ledger.owned.into_iter().map(|(address, owned)| (address, owned.id)).collect();
    Ok(Applied { ids, past, refused: refused(&report) })
}

/// What is still to be sent, and the times of what is not. A channel that is not there is left out: it cannot be given to its
/// named user, and the tags that the user gets would wait for it.
fn pending(setup: &StageSetup, there: &BTreeSet<String>) -> (BTreeMap<Address, Unit>, BTreeMap<Address, Timestamp>) {
    let mut past = BTreeMap::new();
    let mut units: BTreeMap<Address, Unit> = BTreeMap::new();
    // In local time, a push is due for the first device more than a day before the last.
    let is_gone = |runs: &Runs| runs.last.is_some_and(|last| last <= setup.start);
    let is_missing = |address: &Address| {
        address.kind == NamedUser::KEY && address.part().is_some_and(|channel| !there.contains(channel))
    };
    for (address, unit) in setup.units.iter().filter(|(address, _)| !is_missing(address)) {
        let api = kinds::api(address);
        let times = if api.has_runs() { api.times(&unit.spec) } else { Vec::new() };
        let unit = match times.iter().find(|runs| is_gone(runs)) {
            None => unit.clone(),
            // Past times are not sent again, and future ones are.
            Some(runs) => match (api.without(&unit.spec, &is_gone), runs.first) {
                (Some(left), _) => Unit { spec: left.into(), ..unit.clone() },
                (None, first) => {
                    past.extend(first.map(|first| (address.clone(), first)));
                    continue;
                }
            },
        };
        units.insert(address.clone(), unit);
    }
    (units, past)
}

/// The resources that the service refused. Members of a group and channels of a user are devices, most of which do not
/// exist here: refusals of these do not matter.
fn refused(report: &apply::Report) -> Vec<(Address, String)> {
    let wrong = report.steps.iter().filter(|step| step.address.part().is_none());
    let why = wrong.filter_map(|step| match &step.fate {
        Fate::Done { .. } => None,
        Fate::Failed { why } | Fate::Unknown { why } | Fate::Skipped { why } => {
            Some((step.address.clone(), why.clone()))
        }
        Fate::NotStarted => Some((step.address.clone(), "it was not started".to_owned())),
    });
    why.collect()
}

/// A ledger in memory.
#[derive(Debug, Default)]
struct Memory(Mutex<Vec<Entry>>);

impl Memory {
    fn entries(&self) -> Vec<Entry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Log for Memory {
    async fn read(&self, after: Seq) -> Result<Vec<Entry>, Unreadable> {
        Ok(self.entries().into_iter().filter(|entry| entry.seq > after).collect())
    }

    async fn append(&self, entry: &Entry) -> Result<(), AppendError> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.last().is_some_and(|last| last.seq >= entry.seq) {
            return Err(AppendError::Conflict);
        }
        entries.push(entry.clone());
        Ok(())
    }
}
