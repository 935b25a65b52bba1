//! Several targets are applied at the same time, and what is printed stays in one piece for each.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pushplan_testing::{checked, ended, says, signal};
use serde_json::Value;

use super::{APPS, REPORTS, World};

/// Three requests, each after the one before.
const CHAIN: &str = "segments:
  a: {criteria: {tag: a}}
  b: {criteria: {and: [{segment: a}, {tag: b}]}}
  c: {criteria: {and: [{segment: b}, {tag: c}]}}
";

/// Every creation takes this long.
const SLOW: &str = "[[fault]]\nkind = \"delay\"\nms = 400\nmethod = \"POST\"\n";

/// A named user whose channel does not exist, on one target only.
const FAILS: &str = "  cafe-de: {named_users: {u: {channels: [{channel_id: 04cc8283-ae38-4177-b206-6f92cf1992cb, device_type: ios}]}}}\n";

impl World {
    /// The applications that requests were sent to which may have changed something, in the order of their answers.
    fn written(&self) -> Vec<String> {
        let body = self.service.get("/local/requests");
        let all = body["requests"].as_array().expect("a log");
        let writes = all.iter().filter(|one| one["method"] != "GET");
        writes.map(|one| one["app"].as_str().expect("an application").to_owned()).collect()
    }
}

/// The parts of an apply's output, each with the target that it is about.
fn reports(stdout: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in stdout.lines() {
        match line.strip_suffix(':').filter(|name| APPS.contains(name)) {
            Some(name) => found.push((name.to_owned(), String::new())),
            None => found.last_mut().into_iter().for_each(|(_, text)| text.push_str(&format!("{line}\n"))),
        }
    }
    found
}

#[test]
fn targets_are_applied_at_the_same_time_and_reported_in_their_order() {
    let world = World::faulty(&format!("{CHAIN}overlays: {{germany: {{}}}}\n"), &APPS, SLOW);
    let ran = world.good(&["apply", "--all-targets", "--yes"]);
    let written = world.written();
    assert_eq!(written.len(), 12, "{written:?}");
    assert_eq!(written[..4].iter().collect::<BTreeSet<_>>().len(), 4, "all of them began: {written:?}");
    let told = reports(&ran.stdout);
    assert_eq!(told.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), APPS, "{ran}");
    for (name, text) in &told {
        assert_eq!(text.matches("3 created.").count(), 1, "{name}: {text}");
    }
    says(&ran.stdout, &["4 targets: 4 applied."]);
    // While they run, each line names its target.
    for name in APPS {
        says(&ran.stderr, &[&format!("{name}: + segments/c created")]);
    }
}

#[test]
fn one_at_a_time_is_one_after_the_other() {
    let world = World::faulty(&format!("{CHAIN}overlays: {{germany: {{}}}}\n"), &APPS, "");
    world.good(&["apply", "--all-targets", "--yes", "--parallel", "1"]);
    let mut written = world.written();
    written.dedup();
    assert_eq!(written.len(), 4, "{written:?}");
    let ran = world.run(&["apply", "--all-targets", "--yes", "--parallel", "0"]);
    assert_eq!(ran.code, 64, "{ran}");
}

#[test]
fn lines_of_json_of_one_target_follow_each_other() {
    let world = World::faulty(&format!("{CHAIN}overlays: {{germany: {{}}}}\n"), &APPS, SLOW);
    let ran = world.good(&["apply", "--all-targets", "--yes", "--format", "jsonl"]);
    let parsed = |line: &str| serde_json::from_str(line).expect("JSON");
    let lines: Vec<Value> = ran.stdout.lines().map(parsed).collect();
    assert_eq!(lines.len(), 16, "{ran}");
    for (part, name) in lines.chunks(4).zip(APPS) {
        let addresses: Vec<_> = part[..3].iter().map(|line| line["address"].as_str().expect("an address")).collect();
        assert_eq!(addresses, ["segments/a", "segments/b", "segments/c"], "{ran}");
        assert_eq!(part[3]["target"], name, "{ran}");
    }
}

#[test]
fn after_a_failure_no_other_target_is_begun_and_those_under_way_come_to_their_end() {
    let manifest = format!("{CHAIN}overlays:\n  germany: {{}}\n{FAILS}");
    let world = World::faulty(&manifest, &APPS, SLOW);
    let ran = world.run(&["apply", "--all-targets", "--yes", "--parallel", "2", "--format", "json"]);
    assert_eq!(ran.code, 6, "{ran}");
    let told = checked(&ran, REPORTS);
    let fates: Vec<_> = told["targets"].as_array().expect("a list").iter().map(|it| it["fate"].clone()).collect();
    assert_eq!(fates, ["partly", "applied", "not_begun", "not_begun"], "{ran}");
    assert_eq!((world.segments("cafe-us").len(), world.segments("shop-de").len()), (3, 0));

    let ran = world.run(&["apply", "--all-targets", "--yes", "--parallel", "2", "--on-error", "continue"]);
    assert_eq!(ran.code, 6, "{ran}");
    assert_eq!((world.segments("shop-de").len(), world.segments("shop-us").len()), (3, 3));
    says(&ran.stdout, &["4 targets: ", "2 applied"]);
}

#[test]
fn a_signal_reaches_all_targets_that_are_under_way_and_no_other_is_begun() {
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let world = World::faulty(&format!("{CHAIN}overlays: {{germany: {{}}}}\n"), &APPS, SLOW);
        let child = world.start(&["apply", "--all-targets", "--yes", "--parallel", "2"]);
        let began = Instant::now();
        while world.written().len() < 2 {
            assert!(began.elapsed() < Duration::from_secs(120), "requests are answered");
            sleep(Duration::from_millis(20));
        }
        signal(&child, name);
        let ran = ended(child);
        assert_eq!(ran.code, code, "{ran}");
        assert_eq!(ran.stderr.matches("Stopping after the requests in progress.").count(), 1, "{ran}");
        says(&ran.stdout, &["  shop-de    not begun\n", "  shop-us    not begun\n"]);
        assert_eq!((world.segments("shop-de").len(), world.segments("shop-us").len()), (0, 0));
        // Both ended by themselves, so that nothing is in doubt and the next apply goes on at once.
        for app in ["cafe-de", "cafe-us"] {
            assert!((1..3).contains(&world.segments(app).len()), "{app}: {ran}");
        }
        world.good(&["apply", "--all-targets", "--yes"]);
        assert_eq!(APPS.map(|app| world.segments(app).len()), [3; 4]);
    }
}
