//! What a case is played on: the built-in service, with the manifests applied to it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use tokio::net::TcpListener;

use crate::address::Address;
use crate::apply::{self, Fate, OnError, Protections};
use crate::cases::Case;
use crate::client::{Credentials, Origin, Patience, Reading, Transport, Writing};
use crate::compare::Unit;
use crate::engine::local::credentials::{self, APP_KEY};
use crate::engine::target;
use crate::engine::workspace::{Workspace, no_match};
use crate::failure::Failure;
use crate::fetch::fetch;
use crate::kinds::{self, Runs};
use crate::ledger::{AppendError, Entry, Ledger, Log, Seq, Unreadable};
use crate::live::{Look, Proof};
use crate::nouns::level::Level;
use crate::planner::{self, Aligned, Rules};
use crate::service::local::form::Form;
use crate::service::request::understood;
use crate::service::state::devices::Device;
use crate::service::store::Kept;
use crate::service::{self, Engine, Running, Settings, VENDOR};

/// The id of a device whose author gave it none.
const DEVICE: &str = "device";

/// The service as it is when cases begin that have much in common: everything is applied, and nothing has happened.
#[derive(Debug)]
pub struct Stage {
    settings: Settings,
    rows: Vec<Kept>,
    /// What the service calls what was applied.
    pub ids: BTreeMap<Address, String>,
    /// What is not there, since its time had come before the cases begin.
    pub past: BTreeMap<Address, Timestamp>,
}

/// What cases have in common that begin on the same stage: their time and, where manifests may name it, their device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    start: Timestamp,
    channel: Option<(String, String)>,
}

impl Setting {
    pub fn of(case: &Case) -> Self {
        let channel = case.channel.clone().map(|id| (id, case.device.to_string()));
        Self { start: case.start, channel }
    }
}

impl Stage {
    /// Starts the service and applies the manifests to it, with the planner and over HTTP, as `apply` does. Nothing is kept,
    /// and no guard is asked: nobody is there.
    pub async fn set(workspace: &Workspace, case: &Case) -> Result<Self, Failure> {
        let project = &workspace.manifests.project;
        let level = project
            .target(&workspace.target)
            .map_or(Level::Extended, |target| target::wanted(target, target.base_url.is_none()));
        let credentials = credentials::random();
        let settings = Settings {
            api: level,
            apps: vec![(credentials.app_key.clone(), credentials.master_secret.reveal().to_owned())],
            clock: Some(case.start),
            ..Settings::default()
        };
        let cannot = |why: String| Failure::new(format!("the built-in service does not start: {why}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(|error| cannot(error.to_string()))?;
        // A device that manifests may name is there before they are applied.
        let rows = case.channel.iter().map(|_| device(case)).collect::<Result<Vec<Kept>, Failure>>()?;
        let running =
            service::start_from(settings.clone(), rows, listener).await.map_err(|error| cannot(error.to_string()))?;
        let applied = apply(workspace, level, case.start, &running, &credentials).await;
        let rows = running.engine.rows();
        running.stop().await;
        let (ids, past) = applied?;
        Ok(Self { settings, rows, ids, past })
    }

    /// A service of a case's own, with its device. It was there before, so that nothing is set off by that.
    pub fn begin(&self, case: &Case) -> Result<(Engine, String), Failure> {
        let mut rows = self.rows.clone();
        let id = case.channel.clone().unwrap_or_else(|| DEVICE.to_owned());
        if case.channel.is_none() {
            rows.push(device(case)?);
        }
        let engine = Engine::open_from(self.settings.clone(), rows).map_err(|error| Failure::new(error.to_string()))?;
        Ok((engine, id))
    }
}

/// The device of a case, as the service keeps it.
fn device(case: &Case) -> Result<Kept, Failure> {
    let cannot = |why: &str| {
        let (name, place) = (&case.name, &case.place);
        Failure::new(format!("the device of the case `{name}` ({}:{}) cannot be: {why}", place.file, place.line))
    };
    let form: Form = understood(&case.device).ok_or_else(|| cannot("the service does not understand it"))?;
    let mut device: Device = form.device().map_err(|refusal| cannot(&refusal.error))?;
    (device.created, device.modified) = (case.start, case.start);
    device.has_opted_in = device.opt_in;
    device.first_opened = case.opened.then_some(case.start);
    device.last_opened = device.first_opened;
    let key = case.channel.clone().unwrap_or_else(|| DEVICE.to_owned());
    let value = serde_json::to_string(&device).map_err(|error| Failure::new(error.to_string()))?;
    Ok(Kept { app: APP_KEY.to_owned(), table: "devices".to_owned(), key, value })
}

/// How long it takes until a time has come for everybody's own clock, and a little more.
const AROUND_THE_WORLD: SignedDuration = SignedDuration::from_hours(27);

type Applied = (BTreeMap<Address, String>, BTreeMap<Address, Timestamp>);

/// Plans and applies everything whose time has not come.
async fn apply(
    workspace: &Workspace,
    level: Level,
    start: Timestamp,
    running: &Running,
    credentials: &Credentials,
) -> Result<Applied, Failure> {
    let before = start.checked_sub(AROUND_THE_WORLD).unwrap_or(start);
    let mut past = BTreeMap::new();
    let mut units: BTreeMap<Address, Unit> = BTreeMap::new();
    // By each device's own clock, a time comes for the first of them more than a day before it does for the last.
    let is_gone = |runs: &Runs| runs.last.is_some_and(|last| last <= start);
    for (address, unit) in &workspace.units {
        let api = kinds::api(address);
        let times = if api.has_runs() { api.times(&unit.spec) } else { Vec::new() };
        let unit = match times.iter().find(|runs| is_gone(runs)) {
            None => unit.clone(),
            // What had its time is not sent again, and what is still to come is.
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
    let origin = Origin::parse(&format!("http://{}", running.address)).map_err(Failure::new)?;
    let place = origin.to_string();
    let transport: Arc<Transport> =
        Transport::new(origin, credentials, VENDOR, Patience::default()).map_err(Failure::new)?;
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
        // It was empty a moment ago.
        confirm_absence: false,
        recovers: false,
        proof: Proof::default(),
    };
    let live = fetch(&Reading::new(transport.clone()), look, &|_| {}).await?;
    let rules = Rules {
        origin: place,
        app: credentials.fingerprint(),
        min_lead: SignedDuration::ZERO,
        ..Rules::new(&workspace.target, level)
    };
    let plan = planner::plan(&Aligned::new(&units, &ledger), &live, &rules, before).map_err(no_match)?;
    let log = Arc::new(Memory::default());
    let settings = apply::ApplySettings {
        on_error: OnError::Continue,
        // The time of a push is judged by the clock of the case, and has been.
        protections: Protections { past: false, ..Protections::default() },
        ..apply::ApplySettings::new("test", "pushplan test")
    };
    let never = std::future::pending();
    let (report, ledger) =
        apply::drive(plan, &ledger, settings, &Writing::new(transport), &log, never, &mut |_| {}).await;
    if let Some(failure) = not_applied(&report) {
        return Err(failure);
    }
    let owned = ledger.owned;
    Ok((owned.into_iter().map(|(address, owned)| (address, owned.id)).collect(), past))
}

/// The failure of manifests that the service does not take. Members of a group and channels of a user are devices, and only
/// the one of the case is there: what is said of others comes to nothing, and does not matter.
fn not_applied(report: &apply::Report) -> Option<Failure> {
    let wrong = report.steps.iter().filter(|step| step.address.part().is_none());
    let mut why = wrong.filter_map(|step| match &step.fate {
        Fate::Done { .. } => None,
        Fate::Failed { why } | Fate::Unknown { why } | Fate::Skipped { why } => {
            Some(format!("{}: {why}", step.address))
        }
        Fate::NotStarted => Some(format!("{} was not begun", step.address)),
    });
    let failure = Failure::new(format!("the manifests cannot be applied to the built-in service: {}", why.next()?));
    Some(failure.help("no case was run; correct the manifests"))
}

/// A ledger that is gone when the command ends.
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
