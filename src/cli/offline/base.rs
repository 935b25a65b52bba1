//! The manifests that others are held against: those of a commit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::address::Address;
use crate::cli::Context;
use crate::cli::planning::tell;
use crate::codes;
use crate::codes::Severity;
use crate::compare::{self, Unit};
use crate::engine::ledger;
use crate::failure::Failure;
use crate::finding::Finding;
use crate::git::{Repository, Revision};
use crate::ledger::Chain;
use crate::manifest::{Manifests, PROJECT_FILE, read_commit};

/// A commit, and the project that it has.
#[derive(Debug)]
pub struct Base {
    pub revision: Revision,
    root: PathBuf,
    /// `None`: the project is not in it.
    manifests: Option<Manifests>,
}

impl Base {
    pub fn read(root: &Path, repository: &Repository, revision: Revision) -> Result<Self, Failure> {
        let commit = repository.commit(&revision)?;
        let manifests = commit.entries().contains_key(PROJECT_FILE).then(|| {
            let mut manifests = read_commit(root, Arc::new(commit));
            // What is told of them is not to be looked for in the files.
            manifests.sources.rename(|name| format!("{}:{name}", revision.name));
            manifests
        });
        Ok(Self { revision, root: root.to_owned(), manifests })
    }

    /// What a target gets by that commit; `None` where it has no such target.
    pub fn units(&self, target: &str, context: &Context) -> Result<Option<BTreeMap<Address, Unit>>, Failure> {
        let Some(manifests) = self.manifests.as_ref() else { return Ok(None) };
        let (desired, found) = manifests.resolve(Some(target));
        let all = manifests.findings.iter().chain(&found);
        // A commit from before that was required is compared all the same: nothing is applied from it.
        let is_error = |it: &&Finding| it.severity == Severity::Error && *it.code != codes::YM304;
        let errors: Vec<&Finding> = all.filter(is_error).collect();
        if !errors.is_empty() || !manifests.complete || !desired.complete || !desired.broken.is_empty() {
            tell(manifests, errors.into_iter(), false, context);
            return Err(Failure::new(format!("the manifests of {} have errors, so that nothing can be compared with them", self.revision))
                .help("these are not errors of the change that is looked at: correct them there first, or compare with another commit"));
        }
        if manifests.project.target(target).is_none() {
            return Ok(None);
        }
        Ok(Some(compare::units(&desired, &manifests.sources)))
    }

    /// The ledger of a target, where that commit says that it is.
    pub fn log(&self, target: &str) -> Result<Chain, Failure> {
        let project = self.manifests.as_ref().map(|manifests| &manifests.project);
        let Some(project) = project.filter(|project| project.target(target).is_some()) else {
            return Err(Failure::new(format!("{} has no target `{target}`, and so no ledger of it", self.revision)));
        };
        ledger::of(project, &self.root, target)
    }
}
