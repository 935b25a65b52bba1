//! Making everything on an empty service: the real program, the bare wire, and the script.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::peers::Peers;
use crate::program::{at, own, pushplan, timed};
use crate::project::{self, Layout, Wording, manifest, resource};
use crate::service::{App, Service};
use crate::wire::{self, TOGETHER};

/// A project of which nothing is on the service yet.
pub struct Applying {
    resources: usize,
    folder: PathBuf,
    requests: PathBuf,
    /// How much of each sort the service has in the end.
    holds: BTreeMap<String, usize>,
}

impl Applying {
    /// Writes the project and its requests.
    pub fn write(folder: &Path, resources: usize) -> Self {
        let (requests, folder) = (folder.join("creates"), folder.join("applied"));
        fs::create_dir_all(&folder).expect("a folder");
        let creates = wire::creates(&manifest((0..resources).map(|n| resource(n, false))));
        wire::write(&requests, &creates);
        assert_eq!(creates.len(), resources, "each resource is one request");
        Self { resources, folder, requests, holds: BTreeMap::new() }
    }

    /// Writes the project and applies it once, to learn how much the service has in the end.
    pub fn prepare(folder: &Path, resources: usize) -> Self {
        let mut applying = Self::write(folder, resources);
        let service = Service::start(&[resources]);
        timed(&mut applying.pushplan(&service.origin())).well("apply");
        applying.holds = service.holds(&App::of(resources));
        service.stop();
        applying
    }

    fn pushplan(&self, origin: &str) -> Command {
        let project_file =
            format!("[targets.there]\nbase_url = \"{origin}\"\nledger = \"file:\"\napi = \"extended\"\n");
        let wording = Wording { resources: self.resources, layout: Layout::One, before: false };
        project::write(&self.folder, &project_file, wording);
        // Files that were just removed are looked at by the file system for each new one, for seconds.
        let ledger = self.folder.join(".pushplan");
        if ledger.exists() {
            let mut names = (0..).map(|n| self.requests.with_file_name(format!("before-{n}")));
            let aside = names.find(|name| !name.exists()).expect("one is free");
            fs::rename(ledger, aside).expect("the ledger of before goes");
        }
        let mut command = at(pushplan(), &self.folder, origin, &App::of(self.resources));
        command.args(["apply", "--yes", "--concurrency", &TOGETHER.to_string()]);
        command
    }

    /// Runs a command on an empty service, and gives its seconds if the service has everything then.
    fn seconds(&self, what: &str, command: impl FnOnce(&str) -> Command) -> f64 {
        let service = Service::start(&[self.resources]);
        let ran = timed(&mut command(&service.origin())).well(what);
        let holds = service.holds(&App::of(self.resources));
        service.stop();
        assert_eq!(holds, self.holds, "{what} made other things than the first apply");
        ran.seconds
    }

    pub fn apply(&self) -> f64 {
        self.seconds("apply", |origin| self.pushplan(origin))
    }

    pub fn wire(&self) -> f64 {
        self.seconds("the wire", |origin| self.bare(origin))
    }

    fn bare(&self, origin: &str) -> Command {
        let requests = self.requests.to_str().expect("UTF-8");
        at(own("wire", &[requests]), &self.folder, origin, &App::of(self.resources))
    }

    /// Both ways to make everything.
    pub fn commands(&self, origin: &str) -> [Command; 2] {
        [self.pushplan(origin), self.bare(origin)]
    }

    pub fn script(&self, peers: &Peers) -> f64 {
        let script = |origin: &str| {
            at(peers.script(&self.folder.join("messages"), true), &self.folder, origin, &App::of(self.resources))
        };
        self.seconds("the script", script)
    }
}
