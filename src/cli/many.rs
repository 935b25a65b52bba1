//! Several targets at once: which of them are meant, and what is the same for all of them.
//!
//! The project is read once and shared. Targets are opened, fetched and planned side by side; one that fails is told among
//! the others, which are shown all the same.

pub mod apply;
pub mod drift;
pub mod plan;
mod selection;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;
use tokio::task::JoinSet;

use super::Context;
use super::apply::saved;
use super::planning::{TargetArgs, shown};
use crate::codes::Severity;
use crate::cores;
use crate::engine::ledger;
use crate::engine::project;
use crate::engine::target::{self, Opened, Shared};
use crate::engine::workspace::{PlanRequest, Workspace, checkout};
use crate::engine::{Invalid, NotOpened};
use crate::failure::{Exit, Failure};
use crate::manifest::{Manifests, Project, read_project};
use crate::plan::{Aim, Choice, Plan};
use crate::render::Repetition;
use crate::text::{count, shell_word};

pub use selection::select;

/// How many targets are at work at a time.
const TOGETHER: usize = 8;

/// Which project, and which of its targets.
#[derive(Clone, Debug, Args)]
pub struct Places {
    /// Folder of the project [default: this one or the nearest above it]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,

    #[command(flatten)]
    targets: Targets,
}

/// Which of a project's targets.
#[derive(Clone, Debug, Default, Args)]
pub struct Targets {
    /// Targets to work on: names, groups, or patterns such as `prod-*`; several with commas between them or by saying it again
    /// [default: `default_target` of the project, or the only one]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    target: Vec<String>,

    /// Work on all targets
    #[arg(long, conflicts_with = "target")]
    all_targets: bool,
}

/// What was asked for.
#[derive(Debug)]
pub enum Which {
    /// One target, named or by default.
    One(TargetArgs),
    Several(TargetSelection),
}

/// Several targets that were asked for.
#[derive(Clone, Debug)]
pub struct TargetSelection {
    project: Option<PathBuf>,
    targets: Targets,
}

impl Targets {
    /// Those of a project that are meant; `None`: nothing was said.
    pub fn of(&self, project: &Project) -> Result<Option<Vec<String>>, Failure> {
        match (self.all_targets, self.target.is_empty()) {
            (true, _) => Ok(Some(project.target_names().into_iter().map(str::to_owned).collect())),
            (false, true) => Ok(None),
            (false, false) => select(project, &self.target).map(Some),
        }
    }

    /// Returns these options as words of a command line, to repeat them.
    fn again(&self) -> Vec<String> {
        match self.all_targets {
            true => vec!["--all-targets".to_owned()],
            false => self.target.iter().flat_map(|name| ["--target".to_owned(), name.clone()]).collect(),
        }
    }
}

impl Places {
    /// These targets of a project.
    pub fn new(project: Option<PathBuf>, target: Vec<String>) -> Self {
        Self { project, targets: Targets { target, all_targets: false } }
    }

    /// The targets of saved plans; `None` where others were asked for.
    pub(crate) fn of_plans<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> Option<TargetSelection> {
        let Targets { target, all_targets } = &self.targets;
        let targets = Targets { target: names.into_iter().cloned().collect(), all_targets: false };
        (target.is_empty() && !all_targets).then(|| TargetSelection { project: self.project.clone(), targets })
    }

    /// The folder of the project.
    pub fn root(&self) -> Result<PathBuf, Failure> {
        TargetArgs::new(self.project.clone(), None).root()
    }

    /// One target or several. What chooses a single one is one.
    pub fn which(&self) -> Result<Which, Failure> {
        let Self { project, targets } = self;
        if let ([], false) = (targets.target.as_slice(), targets.all_targets) {
            return Ok(Which::One(TargetArgs::new(project.clone(), None)));
        }
        self.which_of(&Project::open(&self.root()?))
    }

    /// Returns one target or several of a project that was read already.
    pub(crate) fn which_of(&self, read: &Project) -> Result<Which, Failure> {
        let Self { project, targets } = self;
        let one = |target: Option<String>| Ok(Which::One(TargetArgs::new(project.clone(), target)));
        match (targets.of(read), targets.target.as_slice()) {
            (Ok(None), _) => one(None),
            (Ok(Some(names)), _) if names.len() == 1 => one(names.into_iter().next()),
            // A name that leads nowhere, or a project that cannot be read, is told as for any command.
            (Err(_), [name]) if selection::is_plain(name) => one(Some(name.clone())),
            _ => Ok(Which::Several(TargetSelection { project: project.clone(), targets: targets.clone() })),
        }
    }
}

/// What is asked of the plans for several targets.
#[derive(Clone, Debug)]
pub enum PlansWanted {
    /// One request for the plans of all targets.
    Alike(Arc<PlanRequest>),
    /// What was saved for each.
    Saved(Arc<BTreeMap<String, Plan>>),
}

impl PlansWanted {
    /// What is asked of the plan for a target.
    pub fn wish(&self, target: &str) -> Cow<'_, PlanRequest> {
        match self {
            Self::Alike(wish) => Cow::Borrowed(wish),
            Self::Saved(_) => Cow::Owned(self.saved(target).map(saved::wish).unwrap_or_default()),
        }
    }

    /// The plan that was saved for a target.
    pub fn saved(&self, target: &str) -> Option<&Plan> {
        match self {
            Self::Alike(_) => None,
            Self::Saved(plans) => plans.get(target),
        }
    }

    /// Whether plans were saved, and none for this target.
    fn leaves_out(&self, target: &str) -> bool {
        matches!(self, Self::Saved(plans) if !plans.contains_key(target))
    }
}

/// What goes on with plans for several targets.
#[derive(Clone, Debug)]
pub enum Does {
    /// `apply` with these options, each with a space before it.
    Apply(String),
    /// Nothing: this command has shown all that there is.
    Look(String),
    /// `promote` from a target.
    Promote { from: String, options: String },
}

impl Does {
    /// What brings about what a plan is to bring about. These options are for `apply`.
    pub fn to(aim: &Aim, options: &str) -> Self {
        match aim {
            Aim::Promoted(from) => Self::Promote { from: from.clone(), options: String::new() },
            Aim::Manifests | Aim::Nothing | Aim::Before(_) => Self::Apply(options.to_owned()),
        }
    }

    /// The command for these targets, and whether it names them itself.
    pub fn command(&self, targets: &str) -> (String, bool) {
        match self {
            Self::Apply(options) => (format!("apply{options}"), false),
            Self::Look(_) => ("apply".to_owned(), false),
            Self::Promote { from, options } => {
                let (from, to) = (shell_word(from), shell_word(targets));
                (format!("promote --from {from} --to {to}{options} --yes"), true)
            }
        }
    }

    /// How it is said again for all targets.
    pub fn again(&self, asked: &TargetSelection, choice: &Choice) -> Repetition {
        let (command, is_whole) = self.command(&asked.targets.target.join(","));
        self.said(asked.again(&command, choice), is_whole)
    }

    /// How it is said again for one of them.
    pub(crate) fn again_for(&self, asked: &TargetSelection, target: &str, choice: &Choice) -> Repetition {
        self.again_at(&asked.place(target), target, choice)
    }

    /// Returns how the command is repeated for a target that it may have left unnamed.
    pub fn again_at(&self, place: &TargetArgs, target: &str, choice: &Choice) -> Repetition {
        let (command, is_whole) = self.command(target);
        self.said(place.again(&command, choice), is_whole)
    }

    fn said(&self, again: Repetition, is_whole: bool) -> Repetition {
        match self {
            Self::Look(command) => again.looking(command),
            _ if is_whole => again.whole(),
            _ => again,
        }
    }
}

impl TargetSelection {
    /// How a command is said again for the same targets.
    fn again(&self, command: &str, choice: &Choice) -> Repetition {
        let project = self.project.as_ref().map(|folder| folder.display().to_string());
        Repetition::of_several(command, project.as_deref(), &self.targets.again(), choice)
    }

    /// The names of the targets.
    pub fn targets(&self) -> Result<Vec<String>, Failure> {
        let root = TargetArgs::new(self.project.clone(), None).root()?;
        Ok(self.targets.of(&Project::open(&root))?.unwrap_or_default())
    }

    /// One of the targets.
    pub fn place(&self, target: &str) -> TargetArgs {
        TargetArgs::new(self.project.clone(), Some(target.to_owned()))
    }

    /// Reads the project once, for all of its targets that are meant. Errors for one of them are shown as `validate` shows them, and
    /// nothing is planned.
    pub fn read(&self, context: &Context, now: Timestamp, programs: bool) -> Result<Vec<Arc<Workspace>>, Failure> {
        self.open(now).map_err(|why| shown(why, programs, context))
    }

    /// Reads the project once, for all of its targets that are meant.
    pub fn open(&self, now: Timestamp) -> Result<Vec<Arc<Workspace>>, NotOpened> {
        let root = TargetArgs::new(self.project.clone(), None).root()?;
        checkout::ask(&root);
        self.open_read(&root, read_project(&root, None), now)
    }

    /// Checks manifests that were read, for all targets that are meant.
    pub fn open_read(
        &self,
        root: &Path,
        manifests: Manifests,
        now: Timestamp,
    ) -> Result<Vec<Arc<Workspace>>, NotOpened> {
        let is_unreadable = manifests.findings.iter().any(|finding| finding.severity == Severity::Error);
        let names = match self.targets.of(&manifests.project).map(Option::unwrap_or_default) {
            // What makes the targets may be what cannot be read, which is what has to be said.
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
        let verdict = project::check(&manifests, &targets, now);
        if verdict.findings.iter().any(|finding| finding.severity == Severity::Error) {
            return Err(Invalid::of(manifests, &targets, now));
        }
        Ok(sites(root, names, &Arc::new(manifests))?)
    }

    /// Reads the project as far as possible, for all selected targets. Also returns whether all of it could be read.
    pub(crate) fn read_leniently(&self) -> Result<(Vec<Arc<Workspace>>, bool), Failure> {
        let root = TargetArgs::new(self.project.clone(), None).root()?;
        let manifests = read_project(&root, None);
        let names = self.targets.of(&manifests.project)?.unwrap_or_default();
        let whole = manifests.complete && manifests.findings.iter().all(|it| it.severity != Severity::Error);
        Ok((sites(&root, names, &Arc::new(manifests))?, whole))
    }
}

/// What each target gets, worked out side by side.
fn sites(root: &Path, names: Vec<String>, manifests: &Arc<Manifests>) -> Result<Vec<Arc<Workspace>>, Failure> {
    let site = |name: String| {
        let (desired, _) = manifests.resolve(Some(&name));
        let mut site = Workspace::new(root, name, desired, manifests.clone())?;
        site.is_one_of_many = true;
        Ok(Arc::new(site))
    };
    cores::each_if(true, names, site).into_iter().collect()
}

/// Says which results of earlier runs are not in the ledgers yet. Where that cannot be read, the target fails in its turn.
fn tell_pending(sites: &[Arc<Workspace>], context: &Context) {
    let kept = sites.iter().filter_map(|site| site.log.kept().ok());
    kept.filter_map(|kept| ledger::pending(&kept)).for_each(|words| context.out.note(&words));
}

/// Says on standard error that something failed on a target, whatever else is shown of it: whoever reads that alone learns why.
fn tell_failed<'f>(all: impl Iterator<Item = (&'f str, &'f Failure)>, context: &Context) {
    let all: Vec<(&str, &Failure)> = all.collect();
    let exit = worst(all.iter().map(|(_, failure)| failure.exit));
    let Some((target, failure)) = all.iter().find(|(_, failure)| failure.exit == exit) else { return };
    let first = failure.message.lines().next().unwrap_or_default();
    let more = match all.len() - 1 {
        0 => String::new(),
        more => format!(" (and {})", count(more, "more target")),
    };
    context.out.failure(&Failure::new(format!("{target}: {first}{more}")));
}

/// What became of one of several targets.
#[derive(Debug)]
pub struct Became<T> {
    pub site: Arc<Workspace>,
    pub ended: Result<T, Failure>,
}

/// Does the same with each target, several at a time, and gives what came of it in the order of the targets. A target is open
/// while it is worked on.
pub async fn each<T, F, Work>(shared: Shared, sites: &[Arc<Workspace>], work: F) -> Vec<Became<T>>
where
    T: Send + 'static,
    Work: Future<Output = Result<T, Failure>> + Send,
    F: Fn(Arc<Workspace>, Arc<Opened>) -> Work + Clone + Send + Sync + 'static,
{
    let shared = Arc::new(shared);
    let mut ended: Vec<Option<(Result<T, Failure>, String)>> = sites.iter().map(|_| None).collect();
    let mut under_way = JoinSet::new();
    let mut waiting = sites.iter().cloned().enumerate();
    loop {
        while under_way.len() < TOGETHER
            && let Some((number, site)) = waiting.next()
        {
            let (shared, work) = (shared.clone(), work.clone());
            under_way.spawn(async move {
                let opened = match target::open_with(&shared, &site.manifests.project, Some(&site.target)).await {
                    Ok(opened) => Arc::new(opened),
                    Err(failure) => return (number, Err(failure), String::new()),
                };
                let app = format!("{} {}", opened.place, opened.app);
                let result = work(site, opened.clone()).await;
                if let Ok(opened) = Arc::try_unwrap(opened) {
                    opened.close().await;
                }
                (number, result, app)
            });
        }
        let Some(one) = under_way.join_next().await else { break };
        // A target that came to a sudden end has its place all the same.
        if let Ok((number, result, app)) = one {
            ended[number] = Some((result, app));
        }
    }
    let apps: Vec<String> =
        ended.iter().map(|one| one.as_ref().map(|(_, app)| app.clone()).unwrap_or_default()).collect();
    let ended = sites.iter().zip(ended).enumerate().map(|(number, (site, one))| {
        let result = one.map_or_else(|| Err(Failure::new("it came to a sudden end")), |(result, _)| result);
        let twin =
            apps.iter().enumerate().find(|(other, app)| *other != number && !app.is_empty() && **app == apps[number]);
        let ended = match twin {
            Some((other, _)) => Err(same_app(&site.target, &sites[other].target)),
            None => result,
        };
        Became { site: site.clone(), ended }
    });
    ended.collect()
}

/// Two targets that are one application would each take what the other made for somebody else's.
fn same_app(target: &str, other: &str) -> Failure {
    Failure::new(format!("`{target}` and `{other}` are the same application")).exit(Exit::Refused).help(format!(
        "give each its own credentials, in [\"<origin>\".{target}] of the credentials file, and its own app_key_fingerprint"
    ))
}

/// The worst of several ends.
pub fn worst(exits: impl IntoIterator<Item = Exit>) -> Exit {
    let weight = |exit: &Exit| match exit {
        Exit::Done => 0,
        Exit::Changes => 1,
        Exit::Refused => 2,
        Exit::Stale => 3,
        Exit::Findings => 4,
        Exit::Credentials => 5,
        Exit::Usage => 6,
        Exit::Failed => 7,
        Exit::Partly => 8,
        Exit::Terminated | Exit::Interrupted => 9,
    };
    exits.into_iter().max_by_key(weight).unwrap_or(Exit::Done)
}
