//! Connections to a git server that has the ledgers of many targets.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pushplan_testing::sshd::{ACCEPTED, Sshd};

use super::applications::{Applications, names};
use super::applies::PARALLEL;

/// The numbers of each round.
#[derive(Debug, Default)]
pub struct Connections {
    /// Of a plan while there are no records.
    pub first_plan: Vec<f64>,
    /// Of an apply that creates everything.
    pub apply: Vec<f64>,
    /// The batches of records of that apply: a batch is one record of each target that is applied at the same time.
    pub batches: Vec<f64>,
    /// Of a plan in a clone that has no records yet.
    pub clone_plan: Vec<f64>,
}

/// Counts the connections of targets with `each` resources; `None` if there is no ssh server.
pub fn count(targets: usize, each: usize, rounds: usize) -> Option<Connections> {
    let names = names(targets);
    let mut counted = Connections::default();
    for _ in 0..rounds {
        let applications = Applications::start(&names, Duration::ZERO);
        let sshd = Sshd::start(applications.folder())?;
        let server = applications.folder().join("server.git");
        git(applications.folder(), &["init", "-q", "--bare", "server.git"]);
        let clone = |name: &str| -> PathBuf {
            let project = applications.project(name, &names, "git", each);
            git(&project, &["init", "-q"]);
            git(&project, &["remote", "add", "origin", &sshd.url(&server)]);
            git(&project, &["config", "core.sshCommand", &sshd.ssh(ACCEPTED)]);
            project
        };
        let connections = |project: &Path, arguments: &[&str], says: &str| {
            let before = sshd.connections();
            applications.timed(project, arguments, says);
            (sshd.connections() - before) as f64
        };
        let project = clone("first");
        let all = format!("{targets} targets");
        counted.first_plan.push(connections(&project, &["plan", "--all-targets"], &all));
        let apply = ["apply", "--all-targets", "--yes", "--parallel", &PARALLEL.to_string()];
        counted.apply.push(connections(&project, &apply, &format!("{all}: {targets} applied.")));
        let records =
            |name: &String| git(&server, &["ls-tree", "-r", &format!("refs/pushplan/{name}")]).lines().count();
        let most = names.iter().map(records).max().unwrap_or_default();
        counted.batches.push((targets.div_ceil(PARALLEL) * most) as f64);
        let none = format!("{all}, none with changes.");
        counted.clone_plan.push(connections(&clone("second"), &["plan", "--all-targets"], &none));
    }
    Some(counted)
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let ran = Command::new("git").args(arguments).current_dir(folder).output().expect("git runs");
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).into_owned()
}
