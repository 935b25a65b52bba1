//! What several commands need of a project: finding it, reading it, checking it.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::check::{self, Subject, Verdict};
use crate::failure::Failure;
use crate::finding::Findings;
use crate::manifest::{self, FILE_LIMIT, Input, Manifests, PROJECT_FILE, Project, files};
use crate::source::Sources;

/// The folder that commands start from.
pub fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| Failure::new(format!("the current folder cannot be read: {error}")))
}

/// The project that `start` belongs to, or a failure that says how to make one.
pub fn root(start: &Path) -> Result<PathBuf, Failure> {
    Project::find(start).ok_or_else(|| {
        Failure::new(format!("no {PROJECT_FILE} in {} or above it", start.display()))
            .help("`pushplan init` writes a sample project; `pushplan validate FILE` checks a manifest on its own")
    })
}

/// Standard input, within the limit of a manifest.
pub fn stdin() -> Result<Vec<u8>, Failure> {
    files::read_to_limit(io::stdin().lock(), FILE_LIMIT)
        .map_err(|why| Failure::new(format!("standard input cannot be read: {why}")))
}

/// Manifests that belong to no project, checked on their own.
pub fn alone(root: &Path, inputs: Vec<Input>) -> Manifests {
    manifest::read(Project::bare(root), inputs, Sources::default(), Findings::default())
}

/// Resolves the manifests for each of the targets and checks them. What several targets have in common is found once.
pub fn check(manifests: &Manifests, targets: &[Option<&str>], now: Timestamp) -> Verdict {
    let resolved: Vec<_> = targets
        .iter()
        .map(|target| {
            let (mut desired, mut found) = manifests.resolve(*target);
            let target = target.and_then(|name| manifests.project.target(name));
            found.extend(check::check(&Subject { desired: &desired, target, now }));
            // One target at a time is held in memory. The last is let go with the process, which is quicker.
            let resources = std::mem::take(&mut desired.resources);
            if targets.len() == 1 {
                std::mem::forget(resources);
            } else {
                drop(resources);
            }
            (desired, found)
        })
        .collect();
    check::judge(manifests.findings.iter().cloned(), resolved, &manifests.project, &manifests.sources)
}
