//! A ledger on a git server that was damaged there and repaired.

use std::process::Command;

use pushplan::ledger::place;
use pushplan::ledger::store::New;
use pushplan_testing::says;
use tokio::runtime::Runtime;

use crate::newer::{Stage, git};

#[test]
fn a_damaged_commit_is_not_remembered_once_the_server_is_repaired() {
    let stage = Stage::new("git");
    let (project, service) = (&stage.project, &stage.service);
    let sound = git(stage.server(), &["rev-parse", "refs/pushplan/local"]);
    // Another user's broken program appends an invalid record.
    let other = tempfile::tempdir().expect("a folder");
    let address = stage.server().to_str().expect("UTF-8");
    assert!(Command::new("git").args(["clone", "--quiet", address, "."]).current_dir(other.path()).status().is_ok());
    let store = place::open(Some("git"), other.path(), "local").expect("a place");
    let bytes = b"{\"damaged\": true}\n";
    let new = New { seq: 5, bytes, previous: None, is_checkpoint: false };
    Runtime::new().expect("a runtime").block_on(store.create(new)).expect("created");
    assert_ne!(git(stage.server(), &["rev-parse", "refs/pushplan/local"]), sound);
    for arguments in [&["plan"][..], &["apply", "--yes"], &["ledger", "status"], &["history"], &["drift"]] {
        let ran = project.run(arguments);
        assert_eq!(ran.code, 1, "{arguments:?}: {ran}");
        says(&ran.stderr, &["record 5 is damaged", "the last intact record is 4"]);
    }
    for name in ["refs/pushplan/local", "refs/pushplan_mark/local"] {
        git(stage.server(), &["update-ref", name, &sound]);
    }
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    assert_eq!(service.writes(), Vec::<String>::new());
    project.edit("tag: a", "tag: b");
    project.good(&["apply", "--yes"]);
    // Valid records that are missing are still detected.
    git(stage.server(), &["update-ref", "refs/pushplan/local", &sound]);
    let ran = project.run(&["plan"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["it ends with record 4, but record 8 existed before"]);
    assert_eq!(service.segments(), ["a"]);
}
