//! The base of a comparison: the manifests of a commit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pushplan_io::failure::Failure;
use pushplan_io::git::{Repository, Revision};
use pushplan_ledger::{Chain, Safeguards};
use pushplan_model::address::Address;
use pushplan_model::codes::{self, Severity};
use pushplan_model::finding::Finding;
use pushplan_project::manifest::{Manifests, PROJECT_FILE, read_commit};

use super::NotCompared;
use crate::compare::{self, Unit};
use crate::engine::{ledger, safeguards};

/// A commit and its project.
#[derive(Debug)]
pub struct Base {
    pub(super) revision: Revision,
    root: PathBuf,
    /// `None` if the commit does not have the project.
    manifests: Option<Manifests>,
}

/// The units of a target in a commit, and its safety settings.
#[derive(Debug)]
pub(super) struct OfCommit {
    pub(super) units: BTreeMap<Address, Unit>,
    pub(super) safeguards: Safeguards,
}

impl Base {
    pub(super) fn read(root: &Path, repository: &Repository, revision: Revision) -> Result<Self, Failure> {
        let commit = repository.commit(&revision)?;
        let manifests = commit.entries().contains_key(PROJECT_FILE).then(|| {
            let mut manifests = read_commit(root, Arc::new(commit));
            // Findings about them must not refer to the files of the work tree.
            manifests.sources.rename(|name| format!("{}:{name}", revision.name));
            manifests
        });
        Ok(Self { revision, root: root.to_owned(), manifests })
    }

    /// The manifests of the commit, if it has the project.
    pub fn manifests(&self) -> Option<&Manifests> {
        self.manifests.as_ref()
    }

    /// The units and safety settings of a target in that commit; `None` if it has no such target.
    pub(super) fn units(&self, target: &str) -> Result<Option<OfCommit>, NotCompared> {
        let Some(manifests) = self.manifests.as_ref() else { return Ok(None) };
        let (desired, found) = manifests.resolve(Some(target));
        let all = manifests.findings.iter().chain(&found);
        // A commit made before this was required can still be a basis, because nothing is applied from it.
        let is_error = |it: &&Finding| it.severity == Severity::Error && *it.code != codes::YM304;
        let errors: Vec<&Finding> = all.filter(is_error).collect();
        if !errors.is_empty() || !manifests.complete || !desired.complete || !desired.broken.is_empty() {
            let errors = errors.into_iter().cloned().collect();
            return Err(NotCompared::BaseInvalid { revision: self.revision.clone(), errors });
        }
        if manifests.project.target(target).is_none() {
            return Ok(None);
        }
        let safeguards = safeguards::of(manifests, target, &desired);
        Ok(Some(OfCommit { units: compare::units(&desired, &manifests.sources), safeguards }))
    }

    /// The ledger of a target, as that commit configures it.
    pub(super) fn log(&self, target: &str) -> Result<Chain, Failure> {
        let project = self.manifests.as_ref().map(|manifests| &manifests.project);
        let Some(project) = project.filter(|project| project.target(target).is_some()) else {
            return Err(Failure::new(format!(
                "{} has no target `{target}`, so it has no ledger for it",
                self.revision
            )));
        };
        ledger::of(project, &self.root, target)
    }
}
