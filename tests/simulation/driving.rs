//! A plan applied over real sockets and with a real ledger, by the real driver of the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::future::{pending, ready};
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use pushplan::address::Address;
use pushplan::apply::{ApplySettings as Applying, Ending, Fate, Notice, Report, drive};
use pushplan::client::{Credentials, Origin, Patience, Reading, Transport, Writing};
use pushplan::compare::{Unit, units};
use pushplan::fetch::fetch;
use pushplan::finding::Findings;
use pushplan::ledger::{AppendError, Begin, Chain, Entry, Ledger, Log, Record, Seq, Unreadable};
use pushplan::live::{Look, Proof};
use pushplan::manifest::{self, Input, InputSource, Project};
use pushplan::nouns::level::Level;
use pushplan::plan::Plan;
use pushplan::planner::{self, Aligned, Rules};
use pushplan::service::{Running, Settings, faults};
use pushplan::source::{Source, Sources};
use tempfile::TempDir;
use tokio::net::TcpListener;

const KEY: &str = "driving-application-00";
const SECRET: &str = "driving-secret-0000000";

const SHOP: &str = "segments:
  vip: {criteria: {tag: vip}}
  both: {criteria: {and: [{segment: vip}, {tag: new}]}}
templates:
  hello: {push: {notification: {alert: Hi}}}
";

struct World {
    folder: TempDir,
    running: Running,
    reading: Reading,
    writing: Writing,
}

impl World {
    async fn new(rules: &str) -> Self {
        let rules = faults::read(&Source::new("faults.toml", rules)).unwrap_or_else(|error| panic!("{error}"));
        let settings = Settings { apps: vec![(KEY.into(), SECRET.into())], faults: Some(rules), ..Settings::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let running = pushplan::service::start(settings, listener).await.expect("it starts");
        let origin = Origin::parse(&format!("http://{}", running.address)).expect("an origin");
        let patience = Patience { connect: Duration::from_secs(2), whole: Duration::from_secs(4) };
        let transport = Transport::new(origin, &Credentials::new(KEY, SECRET), "messaging", patience).expect("a way");
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder, running, reading: Reading::new(transport.clone()), writing: Writing::new(transport) }
    }

    fn log(&self) -> Chain {
        Chain::in_files(self.folder.path(), "local")
    }

    async fn plan(&self, yaml: &str) -> (Plan, Ledger) {
        let units = declared(yaml);
        let ledger = Ledger::replay(self.log().read(0).await.expect("a ledger"));
        let desired = units.iter().map(|(address, unit)| (address, &unit.spec)).collect();
        let (level, settle) = (Level::Extended, SignedDuration::from_secs(1));
        let origin = self.reading.origin().to_string();
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
        let position = self.log().position().await.expect("a place");
        let rules = Rules { origin, position, ..Rules::new("local", level) };
        let plan = planner::plan(&Aligned::new(&units, &ledger), &live, &rules, Timestamp::now()).expect("a plan");
        (plan, ledger)
    }

    async fn apply(&self, yaml: &str, interrupt: impl Future<Output = ()>) -> (Report, Vec<usize>) {
        let (plan, ledger) = self.plan(yaml).await;
        let settings = Applying { send_within: SignedDuration::from_secs(8), ..Applying::new("run-1", "ada") };
        let mut told = Vec::new();
        let mut tell = |notice: Notice| {
            if let Notice::Ended(step, _) = notice {
                told.push(step);
            }
        };
        let (report, known) = drive(plan, &ledger, settings, &self.writing, &self.log(), interrupt, &mut tell).await;
        let written = Ledger::replay(self.log().read(0).await.expect("a ledger"));
        assert_eq!(known, written, "what a run knows of the ledger is what is in it");
        told.sort_unstable();
        (report, told)
    }

    fn segments(&self) -> usize {
        self.running.engine.read(|state, _| state.app(KEY).expect("the application").segments.table.len())
    }

    fn written(&self) -> Vec<String> {
        let log = self.running.engine.requests.list(|logged| logged.method != "GET");
        log.iter().map(|logged| format!("{} {}", logged.method, logged.path)).collect()
    }
}

fn declared(yaml: &str) -> BTreeMap<Address, Unit> {
    let input = Input { name: "all.yaml".into(), from: InputSource::Bytes(yaml.as_bytes().to_vec()) };
    let manifests = manifest::read(Project::bare(Path::new(".")), vec![input], Sources::default(), Findings::default());
    let (desired, found) = manifests.resolve(None);
    assert!(manifests.findings.is_empty() && found.is_empty(), "{found:?}");
    units(&desired, &manifests.sources)
}

#[tokio::test]
async fn what_is_declared_is_made_and_then_there_is_nothing_to_do() {
    let world = World::new("").await;
    let (plan, _) = world.plan(SHOP).await;
    assert!(world.written().is_empty(), "planning only looks");
    let (report, told) = world.apply(SHOP, pending()).await;
    assert_eq!(report.ending, Ending::Done, "{report:#?}");
    assert_eq!(told, (0..plan.steps.len()).collect::<Vec<_>>(), "every step is told");
    assert_eq!((world.segments(), world.written().len()), (2, 3));
    let (plan, ledger) = world.plan(SHOP).await;
    assert!(plan.is_empty(), "{plan:#?}");
    assert_eq!((ledger.owned.len(), ledger.open.len(), ledger.run), (3, 0, None));
}

#[tokio::test]
async fn a_busy_service_is_waited_for() {
    let world = World::new("[[fault]]\nkind = \"rate-limit\"\nretry_after = 1\nmethod = \"POST\"\ntimes = 2").await;
    let start = Instant::now();
    let (report, _) = world.apply(SHOP, pending()).await;
    assert_eq!(report.ending, Ending::Done, "{report:#?}");
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(world.segments(), 2);
}

#[tokio::test]
async fn a_creation_whose_answer_is_lost_is_sent_once_and_found_by_the_next_run() {
    for fault in [
        "kind = \"close\"\nwhen = \"after\"",
        "kind = \"truncate\"",
        "kind = \"status\"\nstatus = 502\nwhen = \"after\"",
    ] {
        let rules = format!("[[fault]]\n{fault}\nmethod = \"POST\"\npath = \"/api/segments\"\ntimes = 1");
        let world = World::new(&rules).await;
        let one = "segments:\n  vip: {criteria: {tag: vip}}\n";
        let (report, _) = world.apply(one, pending()).await;
        assert_eq!(report.ending, Ending::Partly, "{fault}");
        assert!(matches!(report.steps[0].fate, Fate::Unknown { .. }), "{fault}: {report:#?}");
        assert_eq!((world.segments(), world.written().len()), (1, 1), "{fault}");
        let (report, _) = world.apply(one, pending()).await;
        assert_eq!(report.ending, Ending::Done, "{fault}: {report:#?}");
        assert_eq!((world.segments(), world.written().len()), (1, 1), "{fault}: adopted, not made again");
        assert!(world.plan(one).await.0.is_empty());
    }
}

#[tokio::test]
async fn an_interrupt_lets_what_is_under_way_come_to_its_end() {
    let world = World::new("[[fault]]\nkind = \"delay\"\nms = 600\nmethod = \"POST\"").await;
    let (report, told) = world.apply(SHOP, tokio::time::sleep(Duration::from_millis(300))).await;
    assert_eq!(report.ending, Ending::Interrupted, "{report:#?}");
    let done = report.count(Fate::is_done);
    assert_eq!(done, world.written().len(), "what was sent is known: {report:#?}");
    assert!(done < report.steps.len() && report.count(|fate| *fate == Fate::NotStarted) > 0, "{report:#?}");
    assert!(told.len() >= done);
    let world = World::new("").await;
    let (report, _) = world.apply(SHOP, ready(())).await;
    assert_eq!((report.ending, world.written().len()), (Ending::Interrupted, 0));
}

#[tokio::test]
async fn who_finds_that_somebody_else_has_begun_sends_nothing() {
    let world = World::new("").await;
    let (plan, ledger) = world.plan(SHOP).await;
    let begin = Begin {
        run: "other".into(),
        plan: plan.digest(),
        app: String::new(),
        tool: "0".into(),
        changes: BTreeMap::new(),
        lease: None,
        home: None,
        checkout: None,
        safeguards: None,
        reverts: None,
    };
    let entry =
        Entry { seq: ledger.seq + 1, at: Timestamp::now(), actor: "grace".into(), record: Record::Begin(begin) };
    world.log().append(&entry).await.expect("written");
    let settings = Applying::new("run-1", "ada");
    let (report, _) = drive(plan, &ledger, settings, &world.writing, &world.log(), pending(), &mut |_| ()).await;
    assert_eq!(report.ending, Ending::Conflict);
    assert!(world.written().is_empty());
}

/// A log with a bug.
#[derive(Clone, Copy, Debug)]
struct Buggy;

impl Log for Buggy {
    async fn read(&self, _: Seq) -> Result<Vec<Entry>, Unreadable> {
        Ok(Vec::new())
    }

    async fn append(&self, _: &Entry) -> Result<(), AppendError> {
        panic!("a bug in the log")
    }
}

/// Records are written on another thread: a panic there is not lost, is not taken for a written record, and hangs
/// nobody.
#[tokio::test]
async fn a_bug_where_records_are_written_ends_the_run_before_anything_is_sent() {
    let world = World::new("").await;
    let (plan, ledger) = world.plan(SHOP).await;
    let writing = world.writing.clone();
    let settings = Applying::new("run-1", "ada");
    let run = tokio::spawn(async move {
        drive(plan, &ledger, settings, &writing, &Buggy, pending(), &mut |_| ()).await;
    });
    let panic = run.await.expect_err("it goes on to whoever waits").into_panic();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bug in the log"));
    assert!(world.written().is_empty());
}
