//! Several targets at once. The project is read once and shared; targets are processed concurrently. A target that
//! fails does not stop the others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_ledger::Chain;
use pushplan_model::codes::Severity;
use pushplan_model::cores;
use pushplan_project::check::Verdict;
use pushplan_project::manifest::{Manifests, Project, read_project};
use tokio::task::JoinSet;

use super::select::select;
use super::target::{self, Opened, Shared};
use super::workspace::{Workspace, checkout};
use super::{Invalid, Location, NotOpened, project};

/// The number of targets that are processed at a time.
const TOGETHER: usize = 8;

/// Names a project and some of its targets.
#[derive(Clone, Debug, Default)]
pub struct TargetSelection {
    /// The folder of the project. Default: the current folder or its nearest ancestor with a project.
    pub project: Option<PathBuf>,
    /// Names, groups and patterns.
    pub names: Vec<String>,
    /// Whether all targets are selected, whatever their names.
    pub all: bool,
}

/// The result of one of several targets.
#[derive(Debug)]
pub struct TargetResult<T> {
    pub workspace: Arc<Workspace>,
    pub result: Result<T, Failure>,
}

impl TargetSelection {
    /// The folder of the project.
    pub fn root(&self) -> Result<PathBuf, Failure> {
        Location { project: self.project.clone(), target: None }.root()
    }

    /// The selected targets of a project. `None`: nothing was selected.
    pub fn of(&self, project: &Project) -> Result<Option<Vec<String>>, Failure> {
        match (self.all, self.names.is_empty()) {
            (true, _) => Ok(Some(project.target_names().into_iter().map(str::to_owned).collect())),
            (false, true) => Ok(None),
            (false, false) => select(project, &self.names).map(Some),
        }
    }

    /// The names of the targets.
    pub fn targets(&self) -> Result<Vec<String>, Failure> {
        Ok(self.of(&Project::open(&self.root()?))?.unwrap_or_default())
    }

    /// Reads the project once, and checks it for all selected targets.
    pub fn open(&self, now: Timestamp) -> Result<Vec<Arc<Workspace>>, NotOpened> {
        let root = self.root()?;
        checkout::ask(&root);
        self.open_read(&root, read_project(&root, None), now)
    }

    /// Checks manifests that were read, for all selected targets.
    pub fn open_read(
        &self,
        root: &Path,
        manifests: Manifests,
        now: Timestamp,
    ) -> Result<Vec<Arc<Workspace>>, NotOpened> {
        let is_unreadable = manifests.findings.iter().any(|finding| finding.severity == Severity::Error);
        let names = match self.of(&manifests.project).map(Option::unwrap_or_default) {
            // The unreadable part of the project file may define targets. Its error is reported then.
            Ok(names) if names.is_empty() && is_unreadable => return Err(Invalid::of(manifests, &[None], now)),
            Ok(names) => names,
            Err(_) if is_unreadable => return Err(Invalid::of(manifests, &[None], now)),
            Err(failure) => return Err(failure.into()),
        };
        if names.is_empty() {
            let none = Failure::new("the project has no targets").help("add [targets.<name>] to pushplan.toml");
            return Err(none.into());
        }
        let targets: Vec<Option<&str>> = names.iter().map(|name| Some(name.as_str())).collect();
        let mut verdict = project::check(&manifests, &targets, now);
        if verdict.findings.iter().any(|finding| finding.severity == Severity::Error) {
            return Err(Invalid::of(manifests, &targets, now));
        }
        verdict.findings.clear();
        Ok(workspaces(root, names, &Arc::new(manifests), &verdict)?)
    }

    /// Reads the project as far as possible, for all selected targets. Also returns whether all of it could be read.
    pub fn open_leniently(&self) -> Result<(Vec<Arc<Workspace>>, bool), Failure> {
        let root = self.root()?;
        let manifests = read_project(&root, None);
        let names = self.of(&manifests.project)?.unwrap_or_default();
        let whole = manifests.complete && manifests.findings.iter().all(|it| it.severity != Severity::Error);
        Ok((workspaces(&root, names, &Arc::new(manifests), &Verdict::default())?, whole))
    }
}

/// Resolves the manifests for each target, in parallel.
fn workspaces(
    root: &Path,
    names: Vec<String>,
    manifests: &Arc<Manifests>,
    verdict: &Verdict,
) -> Result<Vec<Arc<Workspace>>, Failure> {
    let one = |name: String| {
        let (desired, _) = manifests.resolve(Some(&name));
        let mut workspace = Workspace::new(root, name, desired, manifests.clone())?;
        workspace.is_one_of_many = true;
        workspace.softened = verdict.softened.get(&Some(workspace.target.clone())).cloned().unwrap_or_default();
        workspace.warn(verdict.warnings.get(&workspace.target).cloned().unwrap_or_default());
        Ok(Arc::new(workspace))
    };
    cores::each_if(true, names, one).into_iter().collect()
}

/// Processes the targets, several at a time, and returns the results in their order. A target is open only while it is
/// processed.
pub async fn each<T, F, Work>(shared: Shared, workspaces: &[Arc<Workspace>], work: F) -> Vec<TargetResult<T>>
where
    T: Send + 'static,
    Work: Future<Output = Result<T, Failure>> + Send,
    F: Fn(Arc<Workspace>, Arc<Opened>) -> Work + Clone + Send + Sync + 'static,
{
    let _ahead = Chain::read_ahead(workspaces.iter().map(|workspace| &workspace.log)).await;
    let shared = Arc::new(shared);
    let mut ended: Vec<Option<(Result<T, Failure>, String)>> = workspaces.iter().map(|_| None).collect();
    let mut under_way = JoinSet::new();
    let mut waiting = workspaces.iter().cloned().enumerate();
    loop {
        while under_way.len() < TOGETHER
            && let Some((number, workspace)) = waiting.next()
        {
            let (shared, work) = (shared.clone(), work.clone());
            under_way.spawn(async move {
                let (project, target) = (&workspace.manifests.project, &workspace.target);
                let opened = match target::open_with(&shared, project, Some(target)).await {
                    Ok(opened) => Arc::new(opened),
                    Err(failure) => return (number, Err(failure), String::new()),
                };
                let app = format!("{} {}", opened.place, opened.app);
                let result = work(workspace, opened.clone()).await;
                if let Ok(opened) = Arc::try_unwrap(opened) {
                    opened.close().await;
                }
                (number, result, app)
            });
        }
        let Some(one) = under_way.join_next().await else { break };
        // A target whose task panicked keeps its place.
        if let Ok((number, result, app)) = one {
            ended[number] = Some((result, app));
        }
    }
    let apps: Vec<String> =
        ended.iter().map(|one| one.as_ref().map(|(_, app)| app.clone()).unwrap_or_default()).collect();
    let ended = workspaces.iter().zip(ended).enumerate().map(|(number, (workspace, one))| {
        let result = one.map_or_else(|| Err(Failure::new("it ended unexpectedly")), |(result, _)| result);
        let twin =
            apps.iter().enumerate().find(|(other, app)| *other != number && !app.is_empty() && **app == apps[number]);
        let result = match twin {
            Some((other, _)) => Err(same_app(&workspace.target, &workspaces[other].target)),
            None => result,
        };
        TargetResult { workspace: workspace.clone(), result }
    });
    ended.collect()
}

/// The failure for two targets of one application: each would treat the resources of the other as unmanaged.
fn same_app(target: &str, other: &str) -> Failure {
    Failure::new(format!("`{target}` and `{other}` are the same application")).kind(FailureKind::Refused).help(format!(
        "give each target its own credentials, in [\"<origin>\".{target}] of the credentials file, and its own \
            app_key_fingerprint"
    ))
}
