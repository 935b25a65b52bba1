//! Findings and actions of rounds.

use std::thread::sleep;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use pushplan_testing::{Project, Service, ended, says};
use serde_json::Value;

use super::{Loop, ONE, PATIENCE, applied, edit, tag};

/// Every creating request takes a while.
const SLOW: &str = "[[fault]]\nkind = \"delay\"\nms = 1500\nmethod = \"POST\"\n";
const FOUR: &str = "segments:
  a: {criteria: {tag: a}}
  b: {criteria: {tag: b}}
  c: {criteria: {tag: c}}
  d: {criteria: {tag: d}}
";

/// The number of writes of others than the test itself.
fn written(service: &Service) -> usize {
    service.writes().len()
}

#[test]
fn drift_is_reported_when_it_begins_and_nothing_is_changed() {
    let (project, service) = applied(ONE, "");
    let rounds = Loop::start(&project, &[]);
    rounds.round("in_sync");
    assert_eq!(rounds.metrics()["pushplan_drift{target=\"local\"}"], 0.0);
    edit(&service, "theirs");
    let found = rounds.round("drift");
    assert_eq!((&found["targets"][0]["drift"], &found["targets"][0]["edited"]), (&1.into(), &1.into()), "{found}");
    rounds.round("drift");
    let drift = rounds.events("drift");
    assert_eq!(drift.len(), 1, "it is told once: {drift:#?}");
    assert_eq!(drift[0]["change"]["address"], "segments/lapsed");
    assert_eq!((&drift[0]["change"]["action"], &drift[0]["change"]["cause"]), (&"update".into(), &"service".into()));
    assert_eq!(written(&service), 1, "the test alone changed something");

    let metrics = rounds.metrics();
    let number = |name: &str| *metrics.get(name).unwrap_or_else(|| panic!("{name} is missing in {metrics:#?}"));
    assert_eq!(number("pushplan_drift{target=\"local\"}"), 1.0);
    assert_eq!(number("pushplan_drift_edited{target=\"local\"}"), 1.0);
    assert_eq!(number("pushplan_steps_total{action=\"update\",result=\"done\"}"), 0.0);
    assert!(number("pushplan_runs_total{outcome=\"in_sync\"}") >= 1.0);
    assert!(number("pushplan_runs_total{outcome=\"drift\"}") >= 2.0);
    let age = Timestamp::now().as_millisecond() as f64 / 1000.0 - number("pushplan_last_success_timestamp_seconds");
    assert!((-1.0..10.0).contains(&age), "{age}");
    let requests = number("pushplan_request_duration_seconds_count{method=\"GET\"}");
    assert!(requests >= 3.0, "{requests}");
    assert_eq!(number("pushplan_request_duration_seconds_bucket{method=\"GET\",le=\"+Inf\"}"), requests);
    assert!(number("pushplan_request_duration_seconds_bucket{method=\"GET\",le=\"30\"}") <= requests);
    assert!(number("pushplan_request_duration_seconds_sum{method=\"GET\"}") > 0.0);
    assert!(metrics.keys().any(|name| name.starts_with("pushplan_build_info{version=\"")));

    edit(&service, "lapsed");
    rounds.round("in_sync");
    assert_eq!(rounds.events("over").len(), 1);
    assert_eq!(rounds.get("/elsewhere").0, 404);
    let (code, said) = rounds.stop();
    assert_eq!(code, 0, "SIGTERM is its ordinary end");
    assert_eq!(said.last().expect("a line")["event"], "stopped");
}

#[test]
fn drift_is_corrected_where_that_is_asked_for() {
    let (project, service) = applied(ONE, "");
    let rounds = Loop::start(&project, &["--drift", "fix"]);
    rounds.round("in_sync");
    edit(&service, "theirs");
    rounds.times("corrected", 1);
    assert_eq!(tag(&service), "lapsed");
    let metrics = rounds.metrics();
    assert_eq!(metrics["pushplan_steps_total{action=\"update\",result=\"done\"}"], 1.0);
    assert_eq!(metrics["pushplan_runs_total{outcome=\"corrected\"}"], 1.0);
    assert_eq!(metrics["pushplan_drift{target=\"local\"}"], 0.0);
    // A new change in git is applied too.
    project.edit("tag: lapsed", "tag: other");
    rounds.times("corrected", 2);
    assert_eq!(tag(&service), "other");
    assert_eq!(rounds.events("corrected").len(), 2);
    assert_eq!(written(&service), 3, "one by the test, two by the rounds");
    assert_eq!(rounds.stop().0, 0);
}

#[test]
fn health_is_lost_with_a_service_that_hangs_and_comes_back_with_it() {
    let (project, service) = applied(ONE, "");
    let origin = &service.origin;
    let target =
        format!("[targets.far]\nbase_url = \"{origin}\"\nledger = \"file:\"\napi = \"extended\"\nsettle = \"1s\"\n");
    project.folder.write("pushplan.toml", target);
    // A target with another name starts again only if no other target of the same application is known.
    std::fs::remove_dir_all(project.folder.path().join(".pushplan/ledger/local")).expect("the ledger of before");
    let rounds = Loop::start_as(&project, &["--within", "1s"], &service.credentials());
    rounds.round("drift");
    let (status, body) = rounds.get("/healthz");
    let health: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!((status, &health["status"]), (200, &"ok".into()), "{health}");

    service.signal("-STOP");
    rounds.round("failed");
    let began = Instant::now();
    while rounds.get("/healthz").0 != 503 {
        assert!(began.elapsed() < PATIENCE, "the last success is old");
        sleep(Duration::from_millis(100));
    }
    let failed = rounds.events("round").into_iter().rfind(|round| round["outcome"] == "failed").expect("one");
    let why = failed["targets"][0]["error"]["message"].as_str().expect("a reason").to_owned();
    says(&why, &["took longer than 1 second"]);
    let wait = failed["next_in_seconds"].as_f64().expect("a time");
    assert!(wait > 1.4 && wait <= 8.0, "it waits longer after a failure: {wait}");
    assert!(rounds.metrics()["pushplan_failures_in_a_row"] >= 1.0);
    service.signal("-CONT");
    rounds.round("drift");
    assert_eq!(rounds.get("/healthz").0, 200);
    assert_eq!(rounds.metrics()["pushplan_failures_in_a_row"], 0.0);

    service.signal("-STOP");
    sleep(Duration::from_millis(1500));
    let began = Instant::now();
    let (code, _) = rounds.stop();
    service.signal("-CONT");
    assert_eq!(code, 0);
    assert!(
        began.elapsed() < Duration::from_secs(120),
        "it does not wait for what it only asks: {:?}",
        began.elapsed()
    );
}

#[test]
fn sigterm_during_an_apply_awaits_what_is_on_its_way_and_records_it() {
    let project = Project::new(FOUR);
    let service = project.faulty(SLOW);
    let rounds = Loop::start(&project, &["--drift", "fix", "--concurrency", "1"]);
    let began = Instant::now();
    while written(&service) == 0 {
        assert!(began.elapsed() < PATIENCE, "a request leaves");
        sleep(Duration::from_millis(20));
    }
    let (code, said) = rounds.stop();
    assert_eq!(code, 0, "{said:#?}");
    let round = said.iter().rfind(|line| line["event"] == "round").expect("a round");
    assert_eq!(round["outcome"], "stopped", "{round}");
    let made = service.segments().len();
    assert!((1..4).contains(&made), "{made} were made");
    assert_eq!(said.iter().filter(|line| line["event"] == "corrected").count(), made, "what was made is told");
    let ran = project.good(&["plan", "--format", "json"]);
    let plan: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let creates = plan["plan"]["changes"].as_array().or(plan["changes"].as_array()).expect("changes");
    assert_eq!(creates.iter().filter(|change| change["action"] == "create").count(), 4 - made, "{ran}");
    // The lease ends with the run, so nobody has to wait.
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["a", "b", "c", "d"], "each is there once");
}

#[test]
fn a_broken_manifest_is_told_and_nothing_is_applied_until_it_is_whole() {
    let (project, service) = applied(ONE, "");
    let rounds = Loop::start(&project, &["--drift", "fix"]);
    rounds.round("in_sync");
    let whole = project.folder.read("messages.yaml");
    project.write("segments:\n  lapsed: {criteria: {tagg: lapsed}}\n  more: {criteria: {tag: more}}\n");
    let round = rounds.round("invalid");
    says(round["error"]["message"].as_str().expect("a message"), &["the manifests have errors"]);
    edit(&service, "theirs");
    rounds.round("invalid");
    assert_eq!((service.segments(), tag(&service).as_str()), (vec!["lapsed".to_owned()], "theirs"));
    project.write(&format!("{whole}  more: {{criteria: {{tag: more}}}}\n"));
    rounds.times("corrected", 1);
    assert_eq!((service.segments().len(), tag(&service).as_str()), (2, "lapsed"));
    assert_eq!(rounds.stop().0, 0);
}

#[test]
fn errors_are_told_once_and_again_when_they_are_others_or_gone() {
    let (project, _service) = applied(ONE, "");
    let rounds = Loop::start(&project, &[]);
    let whole = project.folder.read("messages.yaml");
    project.write("segments:\n  lapsed: {criteria: {tagg: lapsed}}\n");
    rounds.times("invalid", 3);
    project.write("segments:\n  lapsed: {criteria: {tag: lapsed}}\n  more: {kriteria: {tag: more}}\n");
    let before = rounds.events("round").len();
    rounds.until("more rounds", |one| one.events("round").len() > before + 2);
    project.write(&whole);
    rounds.round("in_sync");
    rounds.round("in_sync");
    let (code, notes) = rounds.stop_with_notes();
    assert_eq!(code, 0);
    let times = |words: &str| notes.matches(words).count();
    let told = (
        times("unknown condition `tagg`"),
        times("unknown key `kriteria`"),
        times("The manifests no longer have errors."),
    );
    assert_eq!(told, (1, 1, 1), "{notes}");
}

#[test]
fn a_service_that_says_nothing_while_it_is_opened_is_given_up() {
    let (project, service) = applied(ONE, "");
    let rounds = Loop::start(&project, &["--within", "1s"]);
    rounds.round("in_sync");
    service.signal("-STOP");
    let failed = rounds.round("failed");
    service.signal("-CONT");
    let why = failed["targets"][0]["error"]["message"].as_str().expect("a reason");
    says(why, &["took longer than 1 second"]);
    rounds.round("in_sync");
    assert_eq!(rounds.stop().0, 0);
}

#[test]
fn results_that_are_not_in_the_ledger_are_told_by_who_only_looks() {
    let project = Project::new(ONE);
    let service = project.faulty(SLOW);
    let first = project.start(&["apply", "--yes"]);
    let record = |number: u64| project.folder.path().join(format!(".pushplan/ledger/local/{number:08}.json"));
    let began = Instant::now();
    while !record(2).exists() {
        assert!(began.elapsed() < PATIENCE, "an intent is written");
        sleep(Duration::from_millis(20));
    }
    // Another writer takes the position of its result.
    let place = record(3);
    std::fs::write(&place, "{}").expect("a record");
    let ran = ended(first);
    assert_ne!(ran.code, 0, "{ran}");
    std::fs::remove_file(&place).expect("removed");
    // Its lease expires by itself.
    sleep(Duration::from_secs(5));

    let ran = project.run(&["reconcile", "--once"]);
    says(&ran.stdout, &["1 result of an earlier run not in the ledger yet (the next apply here adds them)"]);
    let ran = project.run(&["reconcile", "--once", "--format", "jsonl"]);
    let round: Value = serde_json::from_str(ran.stdout.lines().next().expect("a line")).expect("JSON");
    assert_eq!(round["targets"][0]["unwritten"], 1, "{round}");
    let ran = project.good(&["reconcile", "--once", "--drift", "fix"]);
    assert!(!ran.stdout.contains("not in the ledger yet"), "{ran}");
    assert_eq!(written(&service), 1, "it is known by now");
}

#[test]
fn two_of_them_never_apply_at_the_same_time() {
    let project = Project::with(FOUR, "lease = \"1m\"\n");
    let service = project.faulty(SLOW);
    let both = [(); 2].map(|()| Loop::start(&project, &["--drift", "fix", "--concurrency", "1"]));
    let began = Instant::now();
    while service.segments().len() < 4 {
        assert!(began.elapsed() < PATIENCE, "all are made");
        sleep(Duration::from_millis(100));
    }
    both.iter().for_each(|one| drop(one.round("in_sync")));
    let held: usize =
        both.iter().map(|one| one.events("round").iter().filter(|it| it["outcome"] == "held").count()).sum();
    assert!(held > 0, "one of them waited for the other");
    let made: Vec<usize> = both.iter().map(|one| one.events("corrected").len()).collect();
    assert_eq!(made.iter().sum::<usize>(), 4, "{made:?}");
    assert_eq!(service.writes(), ["POST /api/segments"; 4], "each is made once");
    both.into_iter().for_each(|one| assert_eq!(one.stop().0, 0));
    project.good(&["ledger", "verify"]);
}

#[test]
fn what_a_guard_refuses_is_reported_and_left() {
    let seven: String = (0..7).map(|number| format!("  s{number}: {{criteria: {{tag: t{number}}}}}\n")).collect();
    let (project, service) = applied(&format!("segments:\n{seven}"), "");
    let rounds = Loop::start(&project, &["--drift", "fix"]);
    rounds.round("in_sync");
    project.write("segments:\n  s0: {criteria: {tag: t0}}\n");
    rounds.round("refused");
    rounds.round("refused");
    let refused = rounds.events("refused");
    assert_eq!((refused.len(), &refused[0]["refused"]["guard"]), (1, &"deletes".into()), "{refused:#?}");
    assert_eq!((service.segments().len(), written(&service)), (7, 0));
    assert_eq!(rounds.metrics()["pushplan_drift_refused{target=\"local\"}"], 1.0);
    assert_eq!(rounds.get("/healthz").0, 200, "the rounds themselves are fine");
    assert_eq!(rounds.stop().0, 0);
    // It lacks the options that allow this: a user runs `apply` with them once.
    let ran = project.run(&["reconcile", "--once", "--drift", "fix"]);
    says(&ran.stdout, &["`pushplan apply --target local --allow-deletes 6` once, or set max_deletes"]);
    assert!(!ran.stdout.contains("pass --allow-deletes"), "{ran}");
    project.good(&["apply", "--yes", "--target", "local", "--allow-deletes", "6"]);
    assert_eq!(service.segments().len(), 1);
}

#[test]
fn one_round_exits_as_a_plan_or_an_apply_would() {
    let (project, service) = applied(ONE, "");
    let once = |more: &[&str]| project.run(&[&["reconcile", "--once"], more].concat());
    let ran = once(&[]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &["Z local: in sync\n"]);
    edit(&service, "theirs");
    let ran = once(&[]);
    assert_eq!(ran.code, 2, "{ran}");
    let told = [
        "Z local: not in sync, 1 change to make, 1 changed in the dashboard\n",
        "  local ~ segments/lapsed was changed on the service: criteria",
    ];
    says(&ran.stdout, &told);
    assert_eq!(tag(&service), "theirs");
    let ran = once(&["--drift", "fix"]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &["Z local: corrected, 1 change made\n", "  local = segments/lapsed is corrected: "]);
    assert_eq!(tag(&service), "lapsed");

    edit(&service, "theirs");
    let settings = project.folder.read("pushplan.toml");
    project.folder.write("pushplan.toml", format!("{settings}on_drift = \"stop\"\n"));
    for how in ["report", "fix"] {
        let ran = once(&["--drift", how]);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stdout, &["  local ! it would revert 1 change made on the service since the last apply"]);
    }
    assert_eq!(tag(&service), "theirs");
    let ran = once(&["--target", "elsewhere"]);
    assert_eq!(ran.code, 64, "{ran}");
    project.write("segments: [");
    let ran = once(&["--drift", "fix"]);
    assert_eq!(ran.code, 3, "{ran}");
    assert_eq!(once(&["--every", "0s"]).code, 64);
    assert_eq!(once(&["--listen", "127.0.0.1:0"]).code, 64);
}

#[test]
fn a_slow_client_holds_nobody_up() {
    let (project, _service) = applied(ONE, "");
    let rounds = Loop::start(&project, &[]);
    rounds.round("in_sync");
    let origin = rounds.events("listening")[0]["origin"].as_str().expect("an origin").to_owned();
    let address = origin.trim_start_matches("http://");
    let slow: Vec<_> = (0..20).map(|_| std::net::TcpStream::connect(address).expect("it listens")).collect();
    assert_eq!(rounds.get("/healthz").0, 200);
    rounds.round("in_sync");
    drop(slow);
    rounds.signal("-INT");
    assert_eq!(rounds.ended().0, 0);
}

#[test]
fn several_targets_have_a_line_together() {
    let (project, service) = applied(ONE, "");
    let origin = &service.origin;
    let far = format!("[targets.far]\nbase_url = \"{origin}\"\nledger = \"file:\"\n");
    let settings = project.folder.read("pushplan.toml");
    project.folder.write("pushplan.toml", format!("{settings}{far}"));
    let ran = ended(project.start(&["reconcile", "--once", "--all-targets"]));
    assert_eq!(ran.code, 4, "{ran}");
    says(&ran.stdout, &["Z 1 in sync; 1 failed: far\n", "\n  far: "]);
}
