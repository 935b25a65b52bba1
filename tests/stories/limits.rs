//! Files with a size limit (`ulimit -f`) and a full disk: every command ends with a message, and no file is incomplete.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use pushplan_testing::{Folder, Project, Service, not_run, outside_ci, says};
use serde_json::Value;

const TWO: &str = "\
segments:
  a: {criteria: {tag: a}}
templates:
  winback: {push: {notification: {alert: Hello}}}
";

/// Runs the binary with a limit on the size of files, in blocks of 1,024 bytes.
fn limited(folder: &Path, blocks: u32, arguments: &[&str]) -> Output {
    let command = format!("ulimit -f {blocks}; exec timeout 60 \"$0\" \"$@\"");
    Command::new("bash")
        .args(["-c", &command, env!("CARGO_BIN_EXE_pushplan")])
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("bash")
}

/// Checks that a command ended by itself, and gave a reason if it failed.
#[track_caller]
fn ended(output: &Output, what: &str) -> i32 {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.signal(), None, "{what}: {said}");
    let code = output.status.code().expect("no signal");
    assert!(code < 128 && code != 124 && code != 101, "{what}: exit {code}: {said}");
    assert!(!said.contains("panicked"), "{what}: {said}");
    assert!(code == 0 || said.contains("error") || !output.stdout.is_empty(), "{what}: exit {code} without a word");
    code
}

/// Checks that everything is on the service once, after another apply without a limit.
fn is_whole(project: &Project, service: &Service) {
    let ran = project.run(&["ledger", "verify"]);
    assert_eq!(ran.code, 0, "{ran}");
    project.good(&["apply", "--yes"]);
    assert_eq!((service.segments(), service.templates()), (vec!["a".to_owned()], vec!["winback".to_owned()]));
    says(&project.good(&["plan"]).stdout, &["No changes."]);
}

#[test]
fn an_apply_that_meets_a_file_limit_ends_with_a_message_and_tears_nothing() {
    let mut failed = 0;
    for blocks in [0, 1, 2] {
        let project = Project::new(TWO);
        let service = project.serve();
        let output = limited(project.folder.path(), blocks, &["apply", "--yes"]);
        failed += usize::from(ended(&output, &format!("apply, {blocks}")) != 0);
        is_whole(&project, &service);
        project.edit("tag: a", &format!("tag: {}", "b".repeat(100)));
        let output = limited(project.folder.path(), blocks, &["apply", "--yes"]);
        failed += usize::from(ended(&output, &format!("second apply, {blocks}")) != 0);
        is_whole(&project, &service);
    }
    assert!(failed > 1, "the limits are met");
}

#[test]
fn the_built_in_service_of_a_command_meets_a_file_limit_with_a_message() {
    for blocks in [0, 8, 64] {
        let project = Project::new(TWO);
        let output = limited(project.folder.path(), blocks, &["apply", "--yes"]);
        assert_ne!(ended(&output, &format!("apply, {blocks}")), 0, "{blocks}");
        let output = limited(project.folder.path(), blocks, &["plan"]);
        ended(&output, &format!("plan, {blocks}"));
        project.good(&["apply", "--yes"]);
        says(&project.good(&["plan"]).stdout, &["No changes."]);
    }
}

#[test]
fn what_writes_files_meets_a_file_limit_with_a_message_and_leaves_them_whole() {
    let project = Project::new(TWO);
    let service = project.serve();
    service.segment("theirs", "c");
    let manifest = project.folder.read("messages.yaml");
    let schemas = ["schema", "--out", "schemas"];
    for arguments in [
        &["plan", "--out", "p.plan"][..],
        &["pull"],
        &["fmt"],
        &schemas,
        &["plan", "--format", "html", "--out", "p.html"],
        &["serve", "--port", "0", "--data", "kept.db"],
        &["serve", "--port", "0", "--devices", "200", "--data", "kept.db"],
    ] {
        let output = limited(project.folder.path(), 0, arguments);
        let code = ended(&output, &format!("{arguments:?}"));
        assert!(code != 0 || arguments == ["fmt"], "{arguments:?}: {output:?}");
        assert_eq!(project.folder.read("messages.yaml"), manifest, "{arguments:?}");
        assert!(!project.folder.path().join("p.plan").exists(), "{arguments:?}");
    }
    let ugly = "segments:\n      a:   {criteria:   {tag:  a}}\n";
    project.write(ugly);
    assert_ne!(ended(&limited(project.folder.path(), 0, &["fmt"]), "fmt"), 0);
    assert_eq!(project.folder.read("messages.yaml"), ugly);
    let empty = Folder::new();
    assert_ne!(ended(&limited(empty.path(), 0, &["init"]), "init"), 0);
}

/// A small separate file system; `None` if none can be mounted.
struct Disk(Folder);

impl Disk {
    fn new(size: &str) -> Option<Self> {
        let folder = Folder::new();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(folder.path());
        let mounted = mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        mounted.then(|| Self(folder))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_ends_every_command_with_a_message_and_tears_nothing() {
    let Some(disk) = Disk::new("256k") else {
        return not_run("a full disk", "run the tests as a user who may mount a file system");
    };
    let outside = Project::new(TWO);
    let service = outside.serve();
    let disk = &disk.0;
    let settings = format!(
        "[targets.there]\nbase_url = \"{}\"\napi = \"extended\"\nsettle = \"1s\"\nledger = \"file:\"\n",
        service.origin
    );
    disk.write("pushplan.toml", settings);
    disk.write("messages.yaml", TWO);
    let run = |arguments: &[&str]| {
        // A service that starts anyway is stopped.
        let mut command = Command::new("timeout");
        command.args(["--signal=INT", "20", env!("CARGO_BIN_EXE_pushplan")]).args(arguments).current_dir(disk.path());
        // A ledger in the checkout of a CI runner is refused for another reason.
        outside_ci(&mut command);
        command.envs(service.credentials()).stdin(Stdio::null()).output().expect("the binary runs")
    };
    assert_eq!(ended(&run(&["apply", "--yes"]), "apply"), 0);
    // Nearly all of the disk is used, and then all of it.
    for left in [4096, 0] {
        let mut size = 256 * 1024;
        while size > left && std::fs::write(disk.path().join("filler"), vec![b'x'; size - left]).is_err() {
            size -= 4096;
        }
        let alert = "c".repeat(3000);
        let _ = std::fs::write(
            disk.path().join("more.yaml"),
            format!("templates:\n  t{left}: {{push: {{notification: {{alert: {alert}}}}}}}\n"),
        );
        for arguments in [
            &["apply", "--yes"][..],
            &["plan", "--out", "p.plan"],
            &["pull"],
            &["fmt"],
            &["ledger", "verify"],
            &["serve", "--port", "0", "--data", "kept.db"],
        ] {
            let output = run(arguments);
            if !(arguments[0] == "serve" && output.status.code() == Some(124)) {
                ended(&output, &format!("{arguments:?}, {left} bytes left"));
            }
        }
        for name in ["filler", "more.yaml", "p.plan", "kept.db"] {
            let _ = std::fs::remove_file(disk.path().join(name));
        }
        assert_eq!(ended(&run(&["ledger", "verify"]), "verify"), 0);
        let output = run(&["apply", "--yes"]);
        ended(&output, "apply once there is room");
    }
    let list: Value = service.get("/api/segments");
    assert_eq!(list["segments"].as_array().map(Vec::len), Some(1), "{list}");
}
