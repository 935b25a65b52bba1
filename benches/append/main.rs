//! What a ledger costs that takes its time: `cargo bench --bench append`.
//!
//! 10,000 segments and templates are made on the built-in service over HTTP, with a ledger in files and with the same ledger where
//! every append takes 100 ms longer. The second may cost at most twice as much; the run fails otherwise. Both are measured in turns
//! in one run, so that the ratio means the same on any machine. `PUSHPLAN_RESOURCES=1000` takes another number.

#[path = "../service/report.rs"]
#[expect(dead_code, reason = "nothing here has to reach a least ratio")]
mod report;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::apply::{ApplySettings as Applying, Ending, drive};
use pushplan::client::{Credentials, Origin, Patience, Transport, Writing};
use pushplan::digest::Digest;
use pushplan::ledger::{AppendError, Chain, Entry, Ledger, Log, Seq, Unreadable};
use pushplan::nouns::level::Level;
use pushplan::plan::{About, Aim, Choice, Plan, Position, Step};
use pushplan::service::{self, Settings};
use report::{Report, Sample, Target, ratios};
use serde_json::json;
use tokio::net::TcpListener;

const KEY: &str = "benchmark-application0";
const SECRET: &str = "benchmark-secret-00000";
/// How often both are measured.
const ROUNDS: usize = 5;
/// How much longer an append of the slow ledger takes.
const SLOW: Duration = Duration::from_millis(100);
/// How much more the slow ledger may cost.
const MOST: f64 = 2.0;

fn main() -> ExitCode {
    let resources = std::env::var("PUSHPLAN_RESOURCES").ok().and_then(|number| number.parse().ok()).unwrap_or(10_000);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut times = [Vec::new(), Vec::new()];
    let mut appends = [0, 0];
    for _ in 0..ROUNDS {
        for (place, delay) in [Duration::ZERO, SLOW].into_iter().enumerate() {
            let (took, count) = runtime.block_on(apply(resources, delay));
            times[place].push(took);
            appends[place] = count;
        }
    }
    let mut report = Report::default();
    report.line(&format!("{resources} segments and templates are made"));
    let [fast, slow] = times.each_ref().map(|times| Sample::new(times.clone()).median());
    report.line(&format!("  {fast:.2} s with {} appends to files", appends[0]));
    report.line(&format!("  {slow:.2} s with {} appends that take {} ms longer", appends[1], SLOW.as_millis()));
    report.ratio("slow appends against files", &ratios(&times[1], &times[0]), &Target::AtMost(MOST));
    report.end()
}

/// A ledger in files of which every append takes longer.
struct Slow {
    files: Chain,
    delay: Duration,
    appends: AtomicUsize,
}

impl Log for Slow {
    async fn read(&self, after: Seq) -> Result<Vec<Entry>, Unreadable> {
        self.files.read(after).await
    }

    async fn append(&self, entry: &Entry) -> Result<(), AppendError> {
        self.appends.fetch_add(1, Ordering::Relaxed);
        let written = self.files.append(entry).await;
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        written
    }
}

/// Seconds, and how many appends it took.
async fn apply(resources: usize, delay: Duration) -> (f64, usize) {
    let settings = Settings { apps: vec![(KEY.into(), SECRET.into())], ..Settings::default() };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let running = service::start(settings, listener).await.expect("the service starts");
    let origin = Origin::parse(&format!("http://{}", running.address)).expect("an origin");
    let patience = Patience { connect: Duration::from_secs(5), whole: Duration::from_secs(30) };
    let transport = Transport::new(origin, &Credentials::new(KEY, SECRET), "messaging", patience).expect("a way");
    let folder = tempfile::tempdir().expect("a folder");
    let log = Arc::new(Slow { files: Chain::in_files(folder.path(), "local"), delay, appends: AtomicUsize::new(0) });
    let plan = plan(resources);
    let (ledger, writing) = (Ledger::default(), Writing::new(transport));
    let applying = Applying::new("run-1", "benchmark");
    let start = Instant::now();
    let (report, _) = drive(plan, &ledger, applying, &writing, &log, std::future::pending(), &mut |_| {}).await;
    let took = start.elapsed().as_secs_f64();
    assert_eq!(report.ending, Ending::Done);
    running.stop().await;
    (took, log.appends.load(Ordering::Relaxed))
}

/// Everything is new, and nothing waits for anything.
fn plan(resources: usize) -> Plan {
    let step = |number: usize| {
        let name = format!("thing-{number:05}");
        let (kind, spec) = match number % 2 {
            0 => ("segments", json!({ "display_name": name, "criteria": { "tag": format!("tag-{number}") } })),
            _ => {
                let push = json!({ "notification": { "alert": format!("Hello {number}") } });
                ("templates", json!({ "name": name, "variables": [], "push": push }))
            }
        };
        let create = json!({ "number": number, "address": Address::new(kind, &name), "verb": "create", "spec": spec });
        serde_json::from_value::<Step>(create).expect("a step")
    };
    let about = About {
        target: "local".to_owned(),
        origin: "http://localhost".to_owned(),
        app: String::new(),
        level: Level::Extended,
        manifests: Digest::of(b""),
        ledger: Position { lineage: String::new(), seq: 0 },
        aim: Aim::Manifests,
        choice: Choice::default(),
        min_lead_seconds: 300,
    };
    Plan::new(about, Vec::new(), (0..resources).map(step).collect(), Vec::new(), Timestamp::now())
}
