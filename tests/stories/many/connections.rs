//! How many connections to a git server the ledgers of several targets need.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use pushplan_testing::says;

use super::{APPS, MANIFEST, World};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let ran = Command::new("git").args(arguments).current_dir(folder).output().expect("git runs");
    assert!(ran.status.success(), "{arguments:?}: {ran:?}");
    String::from_utf8_lossy(&ran.stdout).trim().to_owned()
}

/// Puts the ledgers of a world behind ssh: a program in its place writes down each connection.
fn behind_ssh(world: World) -> World {
    let folder = world.project.folder.path();
    let settings = world.project.folder.read("pushplan.toml");
    world.project.folder.write("pushplan.toml", settings.replace("ledger = \"file:\"", "ledger = \"git\""));
    let log = folder.join("connections");
    let ssh = format!("#!/bin/sh\necho \"$2\" >>'{}'\nexec sh -c \"$2\"\n", log.display());
    let ssh = world.project.folder.write("ssh", ssh);
    fs::set_permissions(&ssh, Permissions::from_mode(0o755)).expect("a mode");
    git(folder, &["init", "-q"]);
    git(folder, &["init", "-q", "--bare", "server.git"]);
    git(folder, &["config", "core.sshCommand", ssh.to_str().expect("UTF-8")]);
    git(folder, &["config", "ssh.variant", "simple"]);
    let address = format!("ssh://host.example{}", folder.join("server.git").display());
    git(folder, &["remote", "add", "origin", &address]);
    world
}

impl World {
    /// The programs that were run on the git server since this was last asked.
    fn connections(&self) -> Vec<String> {
        let log = self.project.folder.path().join("connections");
        let all = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(log);
        all.lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
    }

    /// The largest number of records that one of these targets has on the git server.
    fn most_records(&self, apps: &[&str]) -> usize {
        let server = self.project.folder.path().join("server.git");
        let records = |app: &&str| git(&server, &["ls-tree", "-r", &format!("refs/pushplan/{app}")]).lines().count();
        apps.iter().map(records).max().unwrap_or_default()
    }
}

#[test]
fn a_plan_of_all_targets_needs_as_many_connections_as_one_and_an_apply_two_for_each_record() {
    let world = behind_ssh(World::new(MANIFEST, &APPS));
    world.good(&["plan", "--all-targets"]);
    let connections = world.connections();
    assert!((1..=3).contains(&connections.len()), "{connections:?}");
    let ran = world.good(&["apply", "--all-targets", "--yes"]);
    says(&ran.stdout, &["4 targets: 4 applied."]);
    let connections = world.connections();
    let pushes = connections.iter().filter(|program| program.ends_with("receive-pack")).count();
    let most = world.most_records(&APPS);
    assert!(most > 1, "each target has records");
    assert!(pushes <= 2 * most, "{pushes} pushes for {most} records of each target");
    assert!(connections.len() - pushes <= 3, "{connections:?}");

    // A fresh clone fetches the records of all targets at once.
    let refs = git(world.project.folder.path(), &["for-each-ref", "--format=%(refname)", "refs/pushplan-seen"]);
    assert_eq!(refs.lines().count(), 4, "{refs}");
    refs.lines().for_each(|name| drop(git(world.project.folder.path(), &["update-ref", "-d", name])));
    git(world.project.folder.path(), &["gc", "-q", "--prune=now"]);
    let ran = world.good(&["plan", "--all-targets"]);
    says(&ran.stdout, &["4 targets, none with changes."]);
    let connections = world.connections();
    assert!((1..=3).contains(&connections.len()), "{connections:?}");
}

/// A batch is one record of each target that is applied at the same time.
#[test]
fn an_apply_of_forty_targets_needs_at_most_two_connections_for_each_batch_of_records() {
    let numbers: Vec<String> = (0..40).map(|number| format!("{number:02}")).collect();
    let apps: Vec<String> = numbers.iter().map(|number| format!("app-{number}")).collect();
    let apps: Vec<&str> = apps.iter().map(String::as_str).collect();
    let world = World::of(&apps, "segments:\n  vip: {criteria: {tag: vip}}\n", &apps, "");
    world.settle(&format!("[matrix]\nnumber = {numbers:?}\nname = \"app-${{number}}\"\n"), "");
    let world = behind_ssh(world);
    let ran = world.good(&["apply", "--all-targets", "--yes", "--parallel", "8"]);
    says(&ran.stdout, &["40 targets: 40 applied."]);
    let connections = world.connections();
    let batches = 40 / 8 * world.most_records(&apps);
    assert!(connections.len() <= 2 * batches + 3, "{} for {batches} batches: {connections:?}", connections.len());
}
