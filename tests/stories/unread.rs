//! Output that nobody reads, or that cannot be written: a run is completed anyway.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use pushplan_testing::{Project, Ran, ended};

/// Ten segments, each of which takes a moment.
fn ten() -> (Project, pushplan_testing::Service) {
    let all: String = (0..10).map(|number| format!("  s{number}: {{criteria: {{tag: t{number}}}}}\n")).collect();
    let project = Project::new(&format!("segments:\n{all}"));
    let service = project.faulty("[[fault]]\nkind = \"delay\"\nms = 200\nmethod = \"POST\"\n");
    (project, service)
}

/// Checks that everything is on the service and in the ledger.
fn is_all_applied(project: &Project, service: &pushplan_testing::Service) {
    assert_eq!(service.segments().len(), 10);
    let ran = project.good(&["plan", "--detailed-exitcode"]);
    assert!(ran.stdout.contains("No changes.") && !ran.stderr.contains("not ended"), "{ran}");
    assert_eq!(service.writes().len(), 10);
}

#[test]
fn an_apply_whose_reader_goes_away_is_applied_and_recorded_to_its_end() {
    // Standard output and standard error are one pipe, of which a few lines are read: `2>&1 | head`.
    let (project, service) = ten();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pushplan"))
        .args(["apply", "--yes", "--concurrency", "2"])
        .current_dir(project.folder.path())
        .stdin(Stdio::null())
        .stdout(writer.try_clone().expect("a pipe"))
        .stderr(writer)
        .spawn()
        .expect("the binary starts");
    let mut reader = BufReader::new(reader);
    let mut line = String::new();
    while !line.contains("created") {
        line.clear();
        assert!(reader.read_line(&mut line).expect("a line") > 0, "one of them is made");
    }
    drop(reader);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    is_all_applied(&project, &service);

    // A destroy is applied to its end too, even if nothing of its output is read.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let child = Command::new(env!("CARGO_BIN_EXE_pushplan"))
        .args(["destroy", "--confirm", "local"])
        .current_dir(project.folder.path())
        .stdin(Stdio::null())
        .stdout(writer.try_clone().expect("a pipe"))
        .stderr(writer)
        .status();
    assert_eq!(child.expect("it runs").code(), Some(0));
    assert_eq!(service.segments(), Vec::<String>::new());
}

/// Runs a command with its standard output on a disk that is full.
fn on_a_full_disk(project: &Project, arguments: &[&str]) -> Ran {
    let full: File = OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
    let child = Command::new(env!("CARGO_BIN_EXE_pushplan"))
        .args(arguments)
        .current_dir(project.folder.path())
        .stdin(Stdio::null())
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn();
    ended(child.expect("the binary starts"))
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_and_an_apply_ends_as_it_went() {
    let (project, service) = ten();
    let ran = on_a_full_disk(&project, &["plan"]);
    assert_eq!(ran.code, 1, "what a plan prints is all that it is for: {ran}");
    assert!(ran.stderr.contains("error: standard output could not be written: No space left"), "{ran}");
    project.good(&["plan", "--out", "plan.json"]);
    for answer in [&["ci", "summary", "--plan", "plan.json"][..], &["ci", "outputs", "--plan", "plan.json"]] {
        let ran = on_a_full_disk(&project, answer);
        assert_eq!(ran.code, 1, "{answer:?}: {ran}");
        assert!(ran.stderr.contains("standard output could not be written"), "{answer:?}: {ran}");
    }
    let ran = on_a_full_disk(&project, &["apply", "--yes"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stderr.contains("standard output could not be written"), "{ran}");
    is_all_applied(&project, &service);
}
