//! A location: a project and one of its targets; and reading it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_io::files::read_unlinked;
use pushplan_ledger::Chain;
use pushplan_model::codes::Severity;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::nouns::level::Level;
use pushplan_model::source::Sources;
use pushplan_project::manifest::{
    self, Desired, FILE_LIMIT, Manifests, PROJECT_FILE, Project, read_once, read_project, to_text,
};

use super::ledger::LedgerHistory;
use super::workspace::{Workspace, checkout, settle_of};
use super::{ledger, project, target};

/// Names a project and one of its targets.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// The folder of the project. Default: the current folder or its nearest ancestor with a project.
    pub project: Option<PathBuf>,
    /// The target. Default: the project's default or its only one.
    pub target: Option<String>,
}

/// Manifests with errors. Nothing is planned from them.
#[derive(Debug)]
pub struct Invalid {
    pub manifests: Manifests,
    pub errors: Vec<Finding>,
}

/// Why a workspace was not opened.
#[derive(Debug)]
pub enum NotOpened {
    Invalid(Box<Invalid>),
    Failed(Failure),
}

impl From<Failure> for NotOpened {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<NotOpened> for Failure {
    fn from(why: NotOpened) -> Self {
        match why {
            NotOpened::Failed(failure) => failure,
            NotOpened::Invalid(_) => Self::new("the manifests have errors; nothing was done")
                .kind(FailureKind::Invalid)
                .help("correct them; `pushplan validate` shows them with warnings too"),
        }
    }
}

impl Invalid {
    /// Checks manifests that have errors for some targets.
    pub fn of(manifests: Manifests, targets: &[Option<&str>], now: Timestamp) -> NotOpened {
        let verdict = project::check(&manifests, targets, now);
        Self::found(verdict.findings, manifests)
    }

    fn found(mut errors: Vec<Finding>, manifests: Manifests) -> NotOpened {
        errors.retain(|finding| finding.severity == Severity::Error);
        NotOpened::Invalid(Box::new(Self { manifests, errors }))
    }
}

impl Location {
    /// The project in a folder, with its default target.
    pub fn new(project: impl Into<PathBuf>) -> Self {
        Self { project: Some(project.into()), target: None }
    }

    /// The folder of the project.
    pub fn root(&self) -> Result<PathBuf, Failure> {
        let here = project::here()?;
        project::root(&self.project.as_ref().map_or(here.clone(), |folder| here.join(folder)))
    }

    /// Reads the project and checks it for the target.
    pub fn open(&self, now: Timestamp) -> Result<Workspace, NotOpened> {
        let root = self.root()?;
        checkout::ask(&root);
        self.open_read(&root, read_project(&root, None), now)
    }

    /// Reads the project only to make a plan from its manifests.
    pub fn open_to_plan(&self, now: Timestamp) -> Result<Workspace, NotOpened> {
        let root = self.root()?;
        checkout::ask(&root);
        let once = read_once(&root);
        match self.chosen(once.project(), once.findings())? {
            Some(name) => {
                let (manifests, desired, found) = once.resolve(Some(&name));
                checked(&root, name, manifests, desired, found, now)
            }
            None => Err(Invalid::of(read_project(&root, None), &[None], now)),
        }
    }

    /// Checks manifests that were read for the target.
    pub fn open_read(&self, root: &Path, manifests: Manifests, now: Timestamp) -> Result<Workspace, NotOpened> {
        match self.chosen(&manifests.project, &manifests.findings)? {
            Some(name) => {
                let (desired, found) = manifests.resolve(Some(&name));
                checked(root, name, manifests, desired, found, now)
            }
            None => Err(Invalid::of(manifests, &[None], now)),
        }
    }

    /// Reads the project as far as possible, and returns whether it is complete. Errors are not reported.
    pub fn open_leniently(&self) -> Result<(Workspace, bool), Failure> {
        let root = self.root()?;
        let manifests = read_project(&root, None);
        let (name, _) = target::choose(&manifests.project, self.target.as_deref())?;
        let (desired, _) = manifests.resolve(Some(&name));
        let is_wrong = |finding: &Finding| finding.severity == Severity::Error;
        let whole = desired.complete && desired.broken.is_empty() && !manifests.findings.iter().any(is_wrong);
        Ok((Workspace::new(&root, name, desired, Arc::new(manifests))?, whole))
    }

    /// The name of the target. `None`: an error in the project file may hide it.
    fn chosen(&self, project: &Project, findings: &[Finding]) -> Result<Option<String>, Failure> {
        match target::choose(project, self.target.as_deref()) {
            Ok((name, _)) => Ok(Some(name)),
            Err(_) if findings.iter().any(|finding| finding.severity == Severity::Error) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Reads only the project file. A file with an error is not used: the value that cannot be read may pin or refuse
    /// something.
    pub fn project_file(&self) -> Result<Project, NotOpened> {
        let root = self.root()?;
        let bytes = read_unlinked(&root.join(PROJECT_FILE), FILE_LIMIT)
            .map_err(|why| Failure::new(format!("{PROJECT_FILE} cannot be read: {why}")).kind(FailureKind::Invalid))?;
        let (mut sources, mut findings) = (Sources::default(), Findings::default());
        let project = Project::read(&root, to_text(bytes).0, &mut sources, &mut findings);
        let read = manifest::read(project, Vec::new(), sources, findings);
        match read.findings.iter().any(|finding| finding.severity == Severity::Error) {
            true => Err(Invalid::found(read.findings.clone(), read)),
            false => Ok(read.project),
        }
    }

    /// The name of the target, from the project file only.
    pub fn name(&self) -> Result<String, Failure> {
        let project = Project::open(&self.root()?);
        Ok(target::choose(&project, self.target.as_deref())?.0)
    }

    /// The ledger of the target, from the project file only.
    pub fn log(&self) -> Result<(Chain, String), Failure> {
        let root = self.root()?;
        let manifests = Project::open(&root);
        let (name, _) = target::choose(&manifests, self.target.as_deref())?;
        let log = ledger::of(&manifests, &root, &name)?;
        ledger::check_trust(&log)?;
        Ok((log, name))
    }

    /// The history of the target's ledger.
    pub async fn history(&self) -> Result<LedgerHistory, Failure> {
        let (log, name) = self.log()?;
        ledger::history(&log, name).await
    }

    /// The settle time of the target's service, from the project file only.
    pub fn settle(&self) -> Result<SignedDuration, Failure> {
        let project = Project::open(&self.root()?);
        let (name, _) = target::choose(&project, self.target.as_deref())?;
        Ok(settle_of(project.target(&name)))
    }

    /// The API level of the target and its current time, from the project file only.
    pub async fn level_and_time(&self) -> Result<(Level, Timestamp), Failure> {
        let project = Project::open(&self.root()?);
        let (name, _) = target::choose(&project, self.target.as_deref())?;
        Ok((target::level(&project, &name).await, target::now(&project, &name).await))
    }
}

/// A workspace, if the files of its target have no errors.
fn checked(
    root: &Path,
    name: String,
    manifests: Manifests,
    desired: Desired,
    found: Vec<Finding>,
    now: Timestamp,
) -> Result<Workspace, NotOpened> {
    let mut verdict = project::check_one(&manifests, Some(&name), &desired, found, now);
    if verdict.findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(Invalid::found(verdict.findings, manifests));
    }
    let softened = verdict.softened.remove(&Some(name.clone())).unwrap_or_default();
    let mut workspace = Workspace::new(root, name, desired, Arc::new(manifests))?;
    workspace.softened = softened;
    workspace.warn(verdict.warnings.remove(&workspace.target).unwrap_or_default());
    Ok(workspace)
}
