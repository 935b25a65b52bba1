//! The projects on the disk, and the service that has all they declare.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{Ran, at, own, pushplan, timed};
use crate::project::{self, Layout, Wording};
use crate::service::{App, Service};

/// Where a project keeps its ledger.
const LEDGER: &str = ".pushplan";

/// A project whose resources are all on the service.
pub struct Site {
    pub resources: usize,
    pub layout: Layout,
    pub folder: PathBuf,
    /// Of YAML.
    pub bytes: u64,
    origin: String,
    app: App,
}

/// A target whose things are settled at once: nobody else changes them.
pub fn project_file(origin: &str) -> String {
    format!("[targets.there]\nbase_url = \"{origin}\"\nledger = \"file:\"\napi = \"extended\"\nsettle = 0\n")
}

/// Makes all projects, and makes the service so that they have nothing to change.
pub fn prepare(folder: &Path, service: &Service, sizes: &[usize]) -> Vec<Site> {
    let (origin, mut sites) = (service.origin(), Vec::new());
    for resources in sizes {
        let mut made = Layout::ALL.map(|layout| {
            let folder = folder.join(format!("{resources}-{}", layout.key()));
            fs::create_dir_all(&folder).expect("a folder");
            let app = App::of(*resources);
            Site { resources: *resources, layout, folder, bytes: 0, origin: origin.clone(), app }
        });
        let [one, many] = &mut made;
        // What is applied first is unknown with its version stamp. With the next apply, the ledger learns it.
        for before in [true, false] {
            one.write(before);
            let mut apply = one.command(pushplan());
            apply.args(["apply", "--yes", "--concurrency", "64"]);
            timed(&mut apply).well("apply");
        }
        many.write(false);
        copy(&one.folder.join(LEDGER), &many.folder.join(LEDGER));
        sites.extend(made);
    }
    sites
}

impl Site {
    fn write(&mut self, before: bool) {
        let wording = Wording { resources: self.resources, layout: self.layout, before };
        self.bytes = project::write(&self.folder, &project_file(&self.origin), wording);
    }

    pub fn messages(&self) -> PathBuf {
        self.folder.join("messages")
    }

    /// A command in the project's folder, with its credentials.
    pub fn command(&self, command: Command) -> Command {
        at(command, &self.folder, &self.origin, &self.app)
    }

    pub fn plan(&self) -> Command {
        let mut command = self.command(pushplan());
        command.args(["plan", "--detailed-exitcode"]);
        command
    }

    pub fn floor(&self) -> Command {
        self.command(own("floor", &["messages"]))
    }

    pub fn events(&self) -> Command {
        self.command(own("events", &["messages"]))
    }

    pub fn validate(&self) -> Command {
        let mut command = self.command(pushplan());
        command.arg("validate");
        command
    }

    /// What was planned, if it is right: all resources are there, and nothing is to be changed.
    pub fn planned(&self, ran: Ran) -> Ran {
        let ran = ran.well("plan").saying("plan", "No changes.");
        let all = format!("({} resources)", self.resources);
        assert!(ran.said.replace(',', "").contains(&all), "the plan is of another number of resources: {}", ran.said);
        ran
    }

    /// What the floor says, if it is right, and what it asked for.
    pub fn floored(&self, ran: Ran) -> (f64, Asked) {
        let Ran { seconds, said, .. } = ran.well("the floor");
        let told: serde_json::Value = serde_json::from_str(&said).expect("the floor speaks JSON");
        let found = (told["resources"].as_u64(), told["differences"].as_u64());
        assert_eq!(found, (Some(self.resources as u64), Some(0)), "the floor found resources and differences");
        let asked = &told["asked"];
        let requests =
            asked["requests"].as_object().into_iter().flatten().filter_map(|(_, pages)| pages.as_u64()).sum();
        (seconds, Asked { requests, bytes: asked["bytes"].as_u64().expect("bytes") })
    }
}

/// What the lists of a service cost.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub requests: u64,
    /// Of the answers.
    pub bytes: u64,
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a ledger").map(|entry| entry.expect("an entry")) {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("a copy");
        }
    }
}
