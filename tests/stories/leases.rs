//! Another run holds the lock: the second run reports it, waits, takes over from a killed run, or a user ends the
//! lease.

use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pushplan::digest::Digest;
use pushplan::ledger::{Begin, Chain, Entry, Lease, Ledger, Log, Record};
use pushplan_testing::{Project, Ran, Service, checked, ended, says, signal};
use serde_json::Value;

const TWO: &str = "segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n";
/// Every creating request takes so long that a second run can start meanwhile.
const SLOW: &str = "[[fault]]\nkind = \"delay\"\nms = 2500\nmethod = \"POST\"\n";
const PUSH: &str = "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: Sale}}
";
/// A lease that does not expire during a test.
const LONG: &str = "lease = \"5m\"\n";

/// A running apply: it has sent its first request, and has another to send.
fn at_work(settings: &str) -> (Project, Service, Child) {
    under_way(Project::with(TWO, settings))
}

fn under_way(project: Project) -> (Project, Service, Child) {
    under_way_in(project, ".pushplan/ledger/local")
}

/// Starts an apply and waits until its first request is under way. `ledger` is the folder of its ledger.
fn under_way_in(project: Project, ledger: &str) -> (Project, Service, Child) {
    let service = project.faulty(SLOW);
    let child = project.start(&["apply", "--yes", "--concurrency", "1"]);
    let began = Instant::now();
    while !project.folder.path().join(ledger).join("00000002.json").exists() {
        assert!(began.elapsed() < Duration::from_secs(120), "an intent is written");
        sleep(Duration::from_millis(20));
    }
    // Its request is under way.
    sleep(Duration::from_millis(300));
    (project, service, child)
}

fn lease(project: &Project) -> String {
    let ran = project.run(&["apply", "--yes", "--format", "json"]);
    assert_eq!(ran.code, 8, "{ran}");
    let told = checked(&ran, "report.schema.json");
    assert_eq!((&told["ending"], &told["target"]), (&"held".into(), &"local".into()), "{told}");
    for part in ["holder", "since", "expires"] {
        assert!(told["lease"][part].is_string(), "{part} in {told}");
    }
    told["lease"]["id"].as_str().expect("an id").to_owned()
}

/// Checks the message for the second run.
fn stops(ran: &Ran) {
    assert_eq!(ran.code, 8, "{ran}");
    says(
        &ran.stderr,
        &[
            " is applying to `local` since 20",
            ": nothing was changed\n",
            "lease  ",
            ", until 20",
            " unless it is renewed",
            "to wait for it, pass --wait 10m",
            "pushplan unlock --lease ",
            " --target local",
        ],
    );
}

#[test]
fn who_comes_second_is_told_who_is_at_work_and_changes_nothing() {
    let (project, service, child) = at_work(LONG);
    stops(&project.run(&["apply", "--yes"]));
    stops(&project.run(&["destroy", "--confirm", "local"]));
    stops(&project.run(&["forget", "segments/a"]));
    stops(&project.run(&["resolve", "segments/a", "--absent"]));
    stops(&project.run(&["adopt", "segments/a"]));
    stops(&project.run(&["pull"]));
    let applied = ended(child);
    assert_eq!(applied.code, 0, "{applied}");
    assert_eq!(service.writes(), ["POST /api/segments"; 2], "nobody else made anything");
    project.good(&["apply", "--yes"]);
}

#[test]
fn the_job_of_a_run_is_told() {
    let project = Project::with(TWO, LONG);
    let _service = project.faulty("[[fault]]\nkind = \"delay\"\nms = 4000\nmethod = \"POST\"\n");
    let url = "https://ci.example/jobs/17";
    let env = [("CI_JOB_URL", url), ("GITLAB_USER_LOGIN", "ada"), ("HOSTNAME", "build-7")];
    std::thread::scope(|scope| {
        let first = scope.spawn(|| project.run_as(&["apply", "--yes"], &env));
        sleep(Duration::from_secs(2));
        let ran = project.run(&["apply", "--yes"]);
        stops(&ran);
        says(&ran.stderr, &["ada on build-7 is applying to `local` since ", &format!("job    {url}\n")]);
        assert_eq!(first.join().expect("it ran").code, 0);
    });
}

#[test]
fn a_plan_takes_no_lease_and_says_in_one_line_that_somebody_is_applying() {
    let (project, _service, child) = at_work(LONG);
    let ran = project.good(&["plan"]);
    let told: Vec<&str> = ran.stderr.lines().filter(|line| line.contains(" is applying since 20")).collect();
    assert_eq!(told.len(), 1, "{ran}");
    says(told[0], &["unless it is renewed."]);
    assert_eq!(ended(child).code, 0, "the run was not disturbed");
    assert!(!project.good(&["plan"]).stderr.contains("is applying"));
}

#[test]
fn a_plan_is_made_beside_somebody_who_is_applying_and_leaves_out_what_that_is_about() {
    let more = format!("{TWO}templates:\n  later: {{push: {{notification: {{alert: Hi}}}}}}\n");
    let (project, _service, child) = at_work(LONG);
    signal(&child, "-STOP");
    // The run is suspended, and its lease is valid: a command that waited for it would not get here.
    project.folder.write("messages.yaml", &more);
    let ran = project.good(&["plan"]);
    says(&ran.stderr, &[" is applying since 20"]);
    says(
        &ran.stdout,
        &["+ templates/later", "Locked:", " is applying since 20", "Its resources are skipped in this plan."],
    );
    says(&ran.stdout, &["Left out:  segments/a", "left out"]);
    assert!(!ran.stdout.contains("+ segments/") && !ran.stdout.contains("resolve"), "{ran}");
    let told: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("JSON");
    assert_eq!((&told["in_sync"], &told["left_out"][0]), (&false.into(), &"segments/a".into()), "{told}");
    says(told["at_work"].as_str().expect("a sentence"), &[" is applying since 20"]);
    says(&project.good(&["plan", "--format", "markdown"]).stdout, &["It does not touch:", "segments/a"]);
    project.folder.write("messages.yaml", TWO);
    let ran = project.run(&["plan", "--detailed-exitcode"]);
    assert_eq!(ran.code, 2, "what is under way is a change: {ran}");
    says(&ran.stdout, &["No other changes: 0 unchanged, 2 left out."]);
    project.folder.write("messages.yaml", &more);
    let offline = project.good(&["plan", "--offline"]);
    says(&offline.stdout, &["+ templates/later", "Left out:  segments/a"]);
    assert!(!offline.stdout.contains("resolve"), "nothing is in doubt while somebody is at work: {offline}");
    assert!(!project.good(&["drift"]).stdout.contains("resolve"));
    project.good(&["show", "templates/later"]);
    let ran = project.good(&["plan", "--out", "x.plan", "--wait", "1s"]);
    says(&ran.stderr, &["Waiting for it to end."]);
    says(&ran.stdout, &["Left out:  segments/a"]);
    signal(&child, "-CONT");
    assert_eq!(ended(child).code, 0);
    says(&project.good(&["plan"]).stdout, &["+ templates/later", "2 unchanged"]);
}

#[test]
fn a_plan_for_later_waits_no_longer_than_the_run_takes_and_knows_what_it_did() {
    let project = Project::new(TWO);
    let in_earnest = "[targets.local]\nsettle = \"1s\"\nsend_within = \"1m\"\nlease = \"5m\"\n";
    project.folder.write("pushplan.toml", in_earnest);
    let (project, _service, child) = under_way(project);
    let began = Instant::now();
    let ran = project.good(&["plan", "--out", "x.plan"]);
    assert!(began.elapsed() < Duration::from_secs(120), "{:?}: {ran}", began.elapsed());
    says(&ran.stderr, &[" is applying since 20", "Waiting for it to end."]);
    says(&ran.stdout, &["No changes."]);
    assert_eq!(ended(child).code, 0);
    project.good(&["apply", "x.plan"]);
}

#[test]
fn who_waits_goes_on_once_the_other_has_ended() {
    let (project, service, child) = at_work(LONG);
    let ran = project.good(&["apply", "--yes", "--wait", "1m"]);
    says(&ran.stderr, &[" is applying since 20", "Waiting for it to end."]);
    assert_eq!(ran.stderr.matches("Waiting for it to end.").count(), 1, "it is said once: {ran}");
    says(&ran.stdout, &["No changes."]);
    assert_eq!(ended(child).code, 0);
    assert_eq!(service.writes(), ["POST /api/segments"; 2]);
}

#[test]
fn who_has_waited_long_enough_stops() {
    let (project, _service, child) = at_work(LONG);
    signal(&child, "-STOP");
    let began = Instant::now();
    stops(&project.run(&["apply", "--yes", "--wait", "2s"]));
    assert!(began.elapsed() >= Duration::from_secs(2));
    signal(&child, "-CONT");
    assert_eq!(ended(child).code, 0, "nobody took over meanwhile");
    let ran = project.run(&["apply", "--yes", "--wait", "soon"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["expected a duration such as 90s, 10m or 1h30m"]);
}

#[test]
fn a_plan_that_somebody_overtook_is_made_anew_and_takes_nothing_for_nobodys() {
    let project = Project::new(TWO);
    let service = project
        .faulty("[[fault]]\nkind = \"delay\"\nms = 5000\nmethod = \"GET\"\npath = \"/api/segments\"\ntimes = 1\n");
    // It has read the ledger, and waits for the lists of the service.
    let slow = project.start(&["apply", "--yes"]);
    sleep(Duration::from_millis(1500));
    project.good(&["apply", "--yes"]);
    let ran = ended(slow);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stderr, &["Another run came first. Planning again."]);
    assert_eq!(service.writes(), ["POST /api/segments"; 2]);
}

#[test]
fn a_run_that_was_killed_on_this_machine_is_taken_over_at_once() {
    let (project, service, mut child) = at_work("lease = \"1h\"\n");
    child.kill().expect("it can be killed");
    let _ = child.wait();
    assert!(!project.good(&["plan"]).stderr.contains("is applying"), "it is known to be gone");
    let ran = project.good(&["apply", "--yes"]);
    says(&ran.stderr, &[" did not finish: its process has ended. Taking over."]);
    assert_eq!(service.segments(), ["a", "b"]);
    let left = std::fs::read_dir(project.folder.path().join(".pushplan/running/local")).expect("a folder");
    assert_eq!(left.count(), 0, "no run is left");
}

#[test]
fn a_run_that_was_killed_elsewhere_is_taken_over_once_its_lease_was_observed() {
    // A request leaves within two seconds, so the lease lasts four.
    let (project, service, mut child) = at_work("");
    child.kill().expect("it can be killed");
    let _ = child.wait();
    // Another machine knows nothing about its process.
    std::fs::remove_dir_all(project.folder.path().join(".pushplan/running")).expect("a folder");
    let ran = project.run(&["apply", "--yes", "--wait", "2s"]);
    stops(&ran);
    says(&ran.stderr, &["no new record for ", " s; its lease is over after 4 s"]);
    let began = Instant::now();
    let ran = project.good(&["apply", "--yes", "--wait", "1m"]);
    assert!(began.elapsed() >= Duration::from_secs(4), "{ran}");
    says(&ran.stderr, &[" did not finish: it wrote no record for 4 s, and its lease is over. Taking over."]);
    assert_eq!(service.segments(), ["a", "b"]);
}

#[test]
fn a_run_that_slept_past_its_lease_sends_nothing_more_once_somebody_else_has_begun() {
    let (project, service, child) = at_work("");
    signal(&child, "-STOP");
    let ran = project.good(&["apply", "--yes", "--wait", "1m"]);
    says(&ran.stderr, &["Taking over."]);
    let written = service.writes().len();
    signal(&child, "-CONT");
    let first = ended(child);
    assert!(matches!(first.code, 6 | 8), "{first}");
    says(&first.stderr, &["error: Another apply to local has started: this run sent nothing"]);
    assert_eq!(service.writes().len(), written, "it sent nothing more");
    assert_eq!(service.segments(), ["a", "b"], "each is there once");
    project.good(&["apply", "--yes"]);
}

#[test]
fn the_loser_of_a_race_says_why_it_did_nothing() {
    let project = Project::new(TWO);
    let service = project
        .faulty("[[fault]]\nkind = \"delay\"\nms = 9000\nmethod = \"GET\"\npath = \"/api/templates\"\ntimes = 1\n");
    let slow = project.start(&["apply", "--yes"]);
    let began = Instant::now();
    while service.asked().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(120), "it reads the service");
        sleep(Duration::from_millis(20));
    }
    project.good(&["apply", "--yes"]);
    service.forget();
    let ran = ended(slow);
    assert_eq!(ran.code, 8, "{ran}");
    says(&ran.stderr, &["error: Another apply to local has started: this run sent nothing.", "pass --wait 10m"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn a_run_that_slept_past_its_lease_goes_on_where_nobody_else_began() {
    let (_project, service, child) = at_work("");
    signal(&child, "-STOP");
    sleep(Duration::from_secs(6));
    signal(&child, "-CONT");
    let ran = ended(child);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(service.segments(), ["a", "b"]);
}

#[test]
fn a_run_that_waits_for_long_keeps_its_lease() {
    let project = Project::new(TWO);
    let _service = project.faulty("[[fault]]\nkind = \"delay\"\nms = 9000\nmethod = \"POST\"\ntimes = 1\n");
    let child = project.start(&["apply", "--yes", "--concurrency", "1"]);
    sleep(Duration::from_secs(7));
    stops(&project.run(&["apply", "--yes"]));
    let ran = ended(child);
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn a_lease_is_ended_by_its_id_alone() {
    let (project, service, child) = at_work(LONG);
    signal(&child, "-STOP");
    let id = lease(&project);
    let ran = project.run(&["unlock", "--lease", "another", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["the lease on `local` is not another: ", " is applying since ", &id]);
    let ran = project.run(&["unlock", "--lease", &id]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["ending this lease needs a confirmation", "pass --yes"]);
    stops(&project.run(&["apply", "--yes"]));

    let ran = project.good(&["unlock", "--lease", &id, "--yes"]);
    says(&ran.stdout, &["Ended the lease of "]);
    project.good(&["apply", "--yes"]);
    let written = service.writes().len();
    signal(&child, "-CONT");
    let first = ended(child);
    assert!(matches!(first.code, 1 | 6), "{first}");
    assert_eq!(service.writes().len(), written, "the former holder sends nothing more");
    assert_eq!(service.segments(), ["a", "b"], "each is there once");

    let ran = project.run(&["unlock", "--lease", &id, "--yes"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["`local` is not locked"]);
}

#[test]
fn programs_are_told_which_lease_was_ended() {
    let (project, _service, mut child) = at_work(LONG);
    let id = lease(&project);
    child.kill().expect("it can be killed");
    let _ = child.wait();
    let ran = project.good(&["unlock", "--lease", &id, "--yes", "--format", "json"]);
    let told = checked(&ran, "unlock.schema.json");
    assert_eq!((&told["target"], &told["unlocked"]["id"]), (&"local".into(), &id.into()), "{told}");
}

#[test]
fn a_run_whose_lease_was_ended_by_hand_says_so_and_names_nobody_else() {
    let (project, service, child) = at_work(LONG);
    signal(&child, "-STOP");
    let id = lease(&project);
    project.good(&["unlock", "--lease", &id, "--yes"]);
    signal(&child, "-CONT");
    let ran = ended(child);
    assert!(matches!(ran.code, 1 | 6), "{ran}");
    says(
        &ran.stdout,
        &[
            "The lease of this run was ended by ",
            ": it sent nothing more.",
            "To continue without repeating finished steps",
        ],
    );
    assert!(!ran.stdout.contains("Another apply to"), "{ran}");
    assert_eq!(service.writes().len(), 1, "it sent nothing more");
}

#[test]
fn a_dead_run_is_told_as_one_and_is_ended_by_whoever_finds_nothing_to_do() {
    let project = Project::new(TWO);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let chain = Chain::in_files(project.folder.path(), "local");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let ledger = Ledger::replay(chain.read(0).await.expect("records"));
        let begin = Begin {
            run: "dead".into(),
            plan: Digest::of(b""),
            app: ledger.app,
            tool: "0".into(),
            changes: Default::default(),
            lease: Some(Lease { seconds: 2, ..Lease::of("grace") }),
            home: None,
            checkout: None,
            safeguards: None,
            reverts: None,
        };
        let at = "2026-01-01T12:00:00Z".parse().expect("a time");
        let entry = Entry { seq: ledger.seq + 1, at, actor: "grace on build-7".into(), record: Record::Begin(begin) };
        chain.append(&entry).await.expect("a record");
    });
    let told = project.good(&["ledger", "status"]).stdout;
    says(&told, &["locked by   nobody", "cut off     the run of grace on build-7 since Thu 1 Jan 2026 12:00:00 UTC"]);
    says(&told, &["Its lease ended on Thu 1 Jan 2026 12:00:02 UTC.", "The next apply continues after it."]);
    let status = |project: &Project| {
        let ran = project.good(&["ledger", "status", "--format", "json"]);
        assert!(ran.stdout.ends_with("}\n"), "{ran}");
        checked(&ran, "ledger.schema.json")
    };
    assert_eq!(status(&project)["run_is_held"], false);
    let ran = project.good(&["apply", "--yes"]);
    says(&ran.stderr, &["and its lease is over. Taking over."]);
    says(&ran.stdout, &["No changes."]);
    assert_eq!((&status(&project)["run"], &status(&project)["run_is_held"]), (&Value::Null, &Value::Null));
    assert!(!project.good(&["apply", "--yes"]).stderr.contains("Taking over"));
}

#[test]
fn who_lost_the_ledger_goes_on_at_once_when_it_is_back() {
    let project = Project::with(TWO, &format!("{LONG}ledger = \"file:shared\"\n"));
    let (shared, away) = (project.folder.path().join("shared"), project.folder.path().join("away"));
    std::fs::create_dir(&shared).expect("a folder");
    let (project, service, child) = under_way_in(project, "shared/local");
    std::fs::rename(&shared, &away).expect("moved");
    let ran = ended(child);
    assert_eq!(ran.code, 6, "{ran}");
    says(&ran.stdout, &["The ledger could not be written: ", "Nothing more is sent without it."]);
    says(&ran.stderr, &["The next apply here writes them"]);
    std::fs::rename(&away, &shared).expect("moved back");
    // Its lease of five minutes is no reason to wait: the run has ended on this machine.
    let ran = project.good(&["apply", "--yes"]);
    says(&ran.stderr, &["Results that an earlier run could not write are in the ledger now"]);
    assert_eq!(service.segments(), ["a", "b"]);
    assert_eq!(service.writes(), ["POST /api/segments"; 2]);
    says(&project.good(&["ledger", "status"]).stdout, &["locked by   nobody"]);
    let left = std::fs::read_dir(project.folder.path().join(".pushplan/unwritten/local")).expect("a folder");
    assert_eq!(left.count(), 0, "all of it is taken in");
}

#[cfg(unix)]
#[test]
fn a_run_that_could_not_tell_the_ledger_that_it_ended_is_not_said_to_be_at_work() {
    let project = Project::with("segments:\n  a: {criteria: {tag: a}}\n", &format!("{LONG}ledger = \"git\"\n"));
    let _service = project.serve();
    let server = project.folder.path().join("server.git");
    let git = |arguments: &[&str]| {
        let ran = Command::new("git").args(arguments).current_dir(project.folder.path()).output().expect("git runs");
        assert!(ran.status.success(), "{ran:?}");
    };
    git(&["init", "-q"]);
    git(&["init", "-q", "--bare", "server.git"]);
    git(&["remote", "add", "origin", server.to_str().expect("UTF-8")]);
    // The server accepts the begin of a run and its intents, and nothing more.
    let hook = "#!/bin/sh\necho x >>pushed\n[ $(wc -l <pushed) -le 2 ]\n";
    let hook = project.folder.write("server.git/hooks/pre-receive", hook);
    std::fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permissions");
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 6, "{ran}");
    let ran = project.good(&["plan"]);
    assert!(!ran.stderr.contains("is applying") && !ran.stderr.contains("for the end of that"), "{ran}");
    assert!(!ran.stdout.contains("At work"), "{ran}");
    says(&ran.stdout, &["1 to adopt"]);
}

#[test]
fn nobody_says_that_something_is_absent_while_it_may_still_come() {
    let project = Project::documented(PUSH);
    let service = project.faulty(&SLOW.replace("2500", "8000"));
    let child = project.start(&["apply", "--yes"]);
    sleep(Duration::from_millis(1500));
    let id = lease(&project);
    project.good(&["unlock", "--lease", &id, "--yes"]);
    let absent = ["resolve", "scheduled_pushes/sale", "--absent"];
    let ran = project.run(&absent);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["a request for scheduled_pushes/sale may still take effect, until 20"]);
    sleep(Duration::from_secs(3));
    project.good(&absent);
    // The service was slower than allowed. The run knows the result, and could not write it: regardless of the answer,
    // the push exists.
    let first = ended(child);
    says(&first.stdout, &["created    scheduled_pushes/sale", "the ledger does not show it yet"]);
    let ran = project.good(&["apply", "--yes"]);
    says(&ran.stderr, &["are in the ledger now:\n  created: scheduled_pushes/sale, id "]);
    says(&ran.stdout, &["No changes."]);
    assert_eq!(service.names("/api/schedules", "schedules", "name").len(), 1);
}
