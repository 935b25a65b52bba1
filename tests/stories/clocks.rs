//! Machines with different clocks: a lease has expired when it was observed for its whole length, regardless of the
//! clocks.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pushplan::address::Address;
use pushplan::digest::Digest;
use pushplan::ledger::{Begin, Chain, Done, Ended, Entry, Intent, Lease, Ledger, Log, Outcome, Record, Verb};
use pushplan_testing::{Project, ended, says};
use serde_json::json;

const TWO: &str = "segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n";

/// A run on another machine, whose clock is off by a given length. It continues until the handle stops it.
struct Elsewhere {
    stop: std::sync::mpsc::Sender<()>,
    thread: std::thread::JoinHandle<u64>,
}

impl Elsewhere {
    fn begins(project: &Project, lease_seconds: i64, clock: SignedDuration) -> Self {
        let chain = Chain::in_files(project.folder.path(), "local");
        let (stop, stopped) = std::sync::mpsc::channel();
        let (begun, has_begun) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            let ledger = Ledger::replay(runtime.block_on(chain.read(0)).expect("records"));
            let mut record = begin(&ledger, lease_seconds);
            let mut seq = ledger.seq;
            loop {
                seq += 1;
                let at = Timestamp::now() + clock;
                let entry = Entry { seq, at, actor: "grace on build-7".into(), record };
                if runtime.block_on(chain.append(&entry)).is_err() {
                    return seq - 1;
                }
                let _ = begun.send(());
                if stopped.recv_timeout(Duration::from_secs(1)).is_ok() {
                    return seq;
                }
                record = Record::Alive { run: "elsewhere".into() };
            }
        });
        has_begun.recv().expect("it has begun");
        Self { stop, thread }
    }

    /// Kills it. Returns the number of records.
    fn dies(self) -> u64 {
        let _ = self.stop.send(());
        self.thread.join().expect("it ended")
    }
}

fn begin(ledger: &Ledger, lease_seconds: i64) -> Record {
    Record::Begin(Begin {
        run: "elsewhere".into(),
        plan: Digest::of(b""),
        app: ledger.app.clone(),
        tool: "0".into(),
        changes: Default::default(),
        lease: Some(Lease { seconds: lease_seconds, ..Lease::of("grace") }),
        home: None,
        checkout: None,
        safeguards: None,
        reverts: None,
    })
}

/// Another machine, whose clock is off, lost the response to the creation of `segments/a` and ended.
fn loses_an_answer(project: &Project, clock: SignedDuration, send_within: SignedDuration) {
    let chain = Chain::in_files(project.folder.path(), "local");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let ledger = Ledger::replay(runtime.block_on(chain.read(0)).expect("records"));
    let (at, address) = (Timestamp::now() + clock, Address::new("segments", "a"));
    let intent = Intent {
        address: address.clone(),
        verb: Verb::Create,
        id: None,
        spec: Some(json!({ "criteria": { "tag": "a" }, "display_name": "a" }).into()),
        refs: Default::default(),
        seen: Default::default(),
        deadline: at + send_within,
        protect: false,
        zone: None,
    };
    let result = Done::Unknown { why: "timeout".into() };
    let outcome = Outcome { address, verb: Verb::Create, result, unsettled: Some(at) };
    let end = Record::End { run: "elsewhere".into(), ended: Ended::Partly };
    let records = [begin(&ledger, 2), Record::Intents(vec![intent]), Record::Outcomes(vec![outcome]), end];
    for (seq, record) in (ledger.seq + 1..).zip(records) {
        let entry = Entry { seq, at, actor: "grace on build-7".into(), record };
        runtime.block_on(chain.append(&entry)).expect("a record");
    }
}

#[test]
fn a_request_that_another_machine_sent_a_moment_ago_is_waited_for_by_the_own_clock() {
    for minutes in [-9, 9] {
        let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n");
        let service = project.serve();
        loses_an_answer(&project, SignedDuration::from_mins(minutes), SignedDuration::from_secs(10));
        let mut child = project.start(&["apply", "--yes"]);
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut note = String::new();
        stderr.read_line(&mut note).expect("a line");
        says(&note, &["An earlier run did not get an answer. Waiting 1"]);
        // Both lists, a settle time apart, would already have been read when this request arrives.
        service.post("/api/segments", &json!({ "criteria": { "tag": "a" }, "display_name": "a" }));
        assert_eq!(ended(child).code, 0);
        assert_eq!(service.segments(), ["a"], "clock {minutes} min off");
    }
}

#[test]
fn a_run_whose_clock_is_behind_is_left_alone_for_as_long_as_it_writes() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let written = service.writes().len();
    project.folder.write("messages.yaml", "segments:\n  a: {criteria: {tag: a}}\n  c: {criteria: {tag: c}}\n");
    // By the clock of this machine, its lease expired long ago.
    let other = Elsewhere::begins(&project, 3, SignedDuration::from_secs(-200));
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 8, "{ran}");
    says(&ran.stderr, &["grace is applying to `local` since 20", "it wrote a record "]);
    let ran = project.run(&["apply", "--yes", "--wait", "6s"]);
    assert_eq!(ran.code, 8, "{ran}");
    assert_eq!(service.writes().len(), written, "nothing was sent beside it");
    let ran = project.run(&["reconcile", "--once", "--drift", "fix"]);
    assert_eq!(ran.code, 8, "{ran}");
    assert_eq!(service.writes().len(), written, "nothing was sent beside it");
    let records = other.dies();
    let chain = Chain::in_files(project.folder.path(), "local");
    let known = tokio::runtime::Runtime::new().expect("a runtime").block_on(chain.position()).expect("a place");
    assert_eq!(known.seq, records, "nobody else wrote a record");
    // The lease is observed even without `--wait`, because it seems to have expired.
    let ran = project.good(&["apply", "--yes"]);
    says(&ran.stderr, &["did not finish and was probably killed. Waiting 4 s for a new record", "Taking over."]);
    assert_eq!(service.segments(), ["a", "c"]);
}

#[test]
fn a_dead_run_whose_clock_was_ahead_is_taken_over_all_the_same() {
    let project = Project::new(TWO);
    let service = project.serve();
    Elsewhere::begins(&project, 2, SignedDuration::from_hours(1)).dies();
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 8, "by the clocks it goes on: {ran}");
    let ran = project.good(&["apply", "--yes", "--wait", "30s"]);
    says(&ran.stderr, &["it wrote no record for 2 s, and its lease is over. Taking over."]);
    assert_eq!(service.segments(), ["a", "b"]);
}

#[test]
fn the_services_clock_says_whether_a_push_is_too_late() {
    let project = Project::new(
        "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: a}, device_types: [ios], notification: {alert: Sale}}
",
    );
    let service = project.serve_with(&["--api", "extended", "--clock", "2035-01-22T09:58Z"]);
    let target = format!("[targets.far]\nbase_url = {:?}\napi = \"extended\"\nledger = \"file:\"\n", service.origin);
    project.folder.write("pushplan.toml", target);
    let ran = project.run_as(&["apply", "--yes"], &service.credentials());
    assert_eq!(ran.code, 7, "{ran}");
    says(
        &ran.stderr,
        &["This machine's clock is ", " behind the service's.", "the time of scheduled_pushes/sale is less than"],
    );
    assert_eq!(service.writes(), Vec::<String>::new());
}
