//! A reversed move of the ledger.

use pushplan_testing::{Project, says};
use serde_json::json;

use crate::newer::{Stage, append};

/// Sets the ledger of the target.
fn set(project: &Project, place: &str) {
    let settings = project.folder.read("pushplan.toml");
    let mut lines: Vec<String> =
        settings.lines().filter(|line| !line.starts_with("ledger = ")).map(str::to_owned).collect();
    lines.push(format!("ledger = {place:?}"));
    project.folder.write("pushplan.toml", lines.join("\n") + "\n");
}

const PAIRS: [(&str, &str); 4] =
    [("file:", "file:shared"), ("file:shared", "file:"), ("file:", "git"), ("git", "file:shared")];

#[test]
fn a_move_can_be_taken_back_when_nothing_was_applied_since() {
    for (here, there) in PAIRS {
        let stage = Stage::new(here);
        let (project, service) = (&stage.project, &stage.service);
        // Back and forth: first without touching the settings, then with.
        project.good(&["ledger", "move", "--to", there]);
        project.good(&["ledger", "move", "--from", there, "--to", here]);
        says(&project.good(&["plan"]).stdout, &["No changes."]);
        for (from, to) in [(here, there), (there, here), (here, there), (there, here)] {
            project.good(&["ledger", "move", "--to", to]);
            let ran = project.run(&["plan"]);
            assert_eq!(ran.code, 1, "{from} {to}: {ran}");
            says(&ran.stderr, &[&format!("has moved to {to}")]);
            set(project, to);
            says(&project.good(&["plan"]).stdout, &["No changes."]);
        }
        project.good(&["ledger", "verify"]);
        says(&project.good(&["history"]).stdout, &["1 created"]);
        // The location that it left last accepts no records.
        set(project, there);
        let ran = project.run(&["apply", "--yes"]);
        assert_eq!(ran.code, 1, "{ran}");
        says(&ran.stderr, &[&format!("has moved to {here}")]);
        set(project, here);
        assert_eq!(service.writes(), Vec::<String>::new());
        project.edit("tag: a", "tag: b");
        project.good(&["apply", "--yes"]);
        assert_eq!(service.segments(), ["a"]);
        says(&project.good(&["plan"]).stdout, &["No changes."]);
    }
}

#[test]
fn a_move_is_not_taken_back_once_something_was_applied() {
    for (here, there) in PAIRS {
        let stage = Stage::new(here);
        let project = &stage.project;
        project.good(&["ledger", "move", "--to", there]);
        set(project, there);
        project.edit("tag: a", "tag: b");
        project.good(&["apply", "--yes"]);
        let ran = project.run(&["ledger", "move", "--to", here]);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["the records there differ"]);
        says(&project.good(&["plan"]).stdout, &["No changes."]);
    }
}

#[test]
fn a_move_back_that_was_cut_short_is_finished_by_the_same_command() {
    for (here, there) in PAIRS {
        let stage = Stage::new(here);
        let project = &stage.project;
        project.good(&["ledger", "move", "--to", there]);
        // The old location is closed first: the two are never writable at the same time.
        append(project, there, &json!({"moved": {"to": here}}), "");
        for (place, other) in [(here, there), (there, here)] {
            set(project, place);
            for arguments in [&["plan"][..], &["apply", "--yes"]] {
                let ran = project.run(arguments);
                assert_eq!(ran.code, 1, "{ran}");
                says(&ran.stderr, &[&format!("has moved to {other}")]);
            }
        }
        project.good(&["ledger", "move", "--to", here]);
        set(project, here);
        says(&project.good(&["plan"]).stdout, &["No changes."]);
        let ran = project.run(&["ledger", "move", "--from", there, "--to", here]);
        assert_eq!(ran.code, 1, "{ran}");
        says(&ran.stderr, &["has already moved to"]);
    }
}
