//! The real binary, killed at its system calls while it applies, or told that the disk is full: the ledger can be read,
//! nothing is there twice, and two more runs at most bring everything to its end.
//!
//! Counts are per thread and system call, so that each point is one name and one number. Without `PUSHPLAN_CRASH=all`
//! only calls that change something or talk to someone are points, and of the many alike only some.
#![cfg(target_os = "linux")]

mod points;
mod scenarios;
mod shop;

use std::process::Output;

use points::{Points, Tampering, each, may_run};
use scenarios::{REPLACING, SENDING, Scenario};
use shop::Shop;

/// The calls that change files or talk to the service.
const MATTER: &[&str] = &[
    "write",
    "writev",
    "pwrite64",
    "fsync",
    "fdatasync",
    "openat",
    "link",
    "linkat",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "sendto",
    "sendmsg",
    "connect",
    "close",
    "ftruncate",
];

/// The calls that write the ledger's files.
const LEDGER: &[&str] = &["fsync", "openat", "link", "linkat", "rename", "mkdir", "unlink"];

/// The number of calls of one name that are tried.
fn most(usual: usize) -> usize {
    if points::all() { usize::MAX } else { usual }
}

#[test]
fn an_apply_that_is_killed_anywhere_is_brought_to_its_end_by_the_next() {
    killed_anywhere(&REPLACING);
}

#[test]
fn what_messages_people_is_never_made_twice_wherever_an_apply_is_killed() {
    killed_anywhere(&SENDING);
}

fn killed_anywhere(scenario: &'static Scenario) {
    if !may_run() {
        return;
    }
    let seed = Shop::seed(scenario);
    let names = if points::all() { None } else { Some(MATTER) };
    let killed = each(Points::of(&seed, names, most(24)), |point| {
        let shop = seed.open();
        let output = shop.apply_under(&point, Tampering::Kill);
        shop.converges(&format!("killed at {point}"));
        points::was_killed(&output)
    });
    assert!(killed > 40, "only {killed} runs were killed");
}

#[test]
fn a_disk_that_fails_once_or_for_good_leaves_no_torn_ledger_and_is_told() {
    if !may_run() {
        return;
    }
    let seed = Shop::seed(&REPLACING);
    let mut failed = 0;
    // `write` is not among the calls: the runtime wakes itself up with it, and fails with it. Writes of the ledger that fail
    // are tried by `tests/stores/ledger_crash.rs`, where nothing else writes.
    for (tampering, calls) in [
        (Tampering::Once("EIO"), LEDGER.to_vec()),
        (Tampering::FromThenOn("ENOSPC"), LEDGER.to_vec()),
        (Tampering::FromThenOn("EIO"), vec!["fsync", "linkat"]),
    ] {
        failed += each(Points::of(&seed, Some(&calls), most(6)), |point| {
            let shop = seed.open();
            let output = shop.apply_under(&point, tampering);
            let what = format!("{tampering:?} at {point}");
            told(&shop, &output, &what);
            shop.converges(&what);
            output.status.code() != Some(0)
        });
    }
    assert!(failed > 10, "only {failed} runs failed");
}

/// Every request that the service carried out is reported as done or as unknown, and an incomplete run does not claim
/// to be complete.
fn told(shop: &Shop, output: &Output, what: &str) {
    if points::is_killed(output) {
        return;
    }
    let (sent, stderr) = (shop.sent(), String::from_utf8_lossy(&output.stderr));
    let report =
        serde_json::from_slice(&output.stdout).ok().filter(|said: &serde_json::Value| said["steps"].is_array());
    let Some(report) = report else {
        // Without a report, the run has failed, and says so.
        assert!(output.status.code() != Some(0) && !stderr.is_empty(), "{what}: {output:?}");
        return;
    };
    let count = |fate: &str| report["counts"][fate].as_u64().expect("a number");
    let requests = report["steps"].as_array().expect("steps").iter().filter(|step| {
        let (verb, fate) = (step["verb"].as_str().unwrap_or(""), step["fate"].as_str().unwrap_or(""));
        ["create", "update", "delete"].contains(&verb) && ["done", "unknown"].contains(&fate)
    });
    assert!(requests.count() >= sent, "{what}: {sent} requests were carried out: {report:#}");
    let open = count("failed") + count("unknown") + count("skipped") + count("not_started");
    assert_eq!(output.status.code() == Some(0), open == 0 && report["ending"] == "done", "{what}: {report:#} {stderr}");
}
