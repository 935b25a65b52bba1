//! The project and its targets, for commands that can work on several.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;

use super::Context;
use super::forms::Forms;
use super::planning::{TargetArgs, shown};
use crate::engine::select::is_plain;
use crate::engine::several::TargetSelection;
use crate::engine::{Workspace, target};
use crate::failure::Failure;
use crate::manifest::Project;
use crate::plan::Choice;
use crate::render::Repetition;

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
    /// Targets to work on: names, groups, values of the matrix, or patterns such as `prod-*`; separate several with commas, or
    /// repeat the option [default: `default_target` of the project, or the only one]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    target: Vec<String>,

    /// Work on all targets
    #[arg(long, conflicts_with = "target")]
    all_targets: bool,
}

/// The requested targets.
#[derive(Debug)]
pub enum Which {
    /// One target, named or by default.
    One(TargetArgs),
    Several(SeveralTargets),
}

/// Several requested targets.
#[derive(Clone, Debug)]
pub struct SeveralTargets(TargetSelection);

impl Deref for SeveralTargets {
    type Target = TargetSelection;

    fn deref(&self) -> &TargetSelection {
        &self.0
    }
}

impl Places {
    /// Creates the arguments for these targets of a project.
    pub fn new(project: Option<PathBuf>, target: Vec<String>) -> Self {
        Self { project, targets: Targets { target, all_targets: false } }
    }

    fn selection(&self) -> TargetSelection {
        let Targets { target, all_targets } = &self.targets;
        TargetSelection { project: self.project.clone(), names: target.clone(), all: *all_targets }
    }

    /// The targets of saved plans; `None` if others were requested.
    pub(crate) fn of_plans<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> Option<SeveralTargets> {
        let selection = self.selection();
        let is_free = selection.names.is_empty() && !selection.all;
        is_free.then(|| SeveralTargets(TargetSelection { names: names.into_iter().cloned().collect(), ..selection }))
    }

    /// The folder of the project.
    pub fn root(&self) -> Result<PathBuf, Failure> {
        self.selection().root()
    }

    /// One target or several. A selection of a single one is one.
    pub fn which(&self) -> Result<Which, Failure> {
        if self.targets.target.is_empty() && !self.targets.all_targets {
            return Ok(Which::One(TargetArgs::new(self.project.clone(), None)));
        }
        self.which_of(&Project::open(&self.root()?))
    }

    /// Returns one target or several of a project that was read already.
    pub(crate) fn which_of(&self, read: &Project) -> Result<Which, Failure> {
        let selection = self.selection();
        let one = |target: Option<String>| Ok(Which::One(TargetArgs::new(self.project.clone(), target)));
        match (selection.of(read), selection.names.as_slice()) {
            (Ok(None), _) => one(None),
            (Ok(Some(names)), _) if names.len() == 1 => one(names.into_iter().next()),
            // An unknown name, or a project that cannot be read, is reported as for any command.
            (Err(_), [name]) if is_plain(name) => one(Some(name.clone())),
            _ => Ok(Which::Several(SeveralTargets(selection))),
        }
    }
}

impl Which {
    /// The targets whose plans have these forms. In a folder, also the plan of a single target is saved under its name, with the
    /// reason if there is none.
    pub(crate) fn saved_as(self, forms: &Forms, root: &Path) -> Self {
        match self {
            Self::One(place) if forms.has_folder() => match target::choose(&Project::open(root), place.target()) {
                Ok((name, _)) => {
                    let project = place.project.clone();
                    Self::Several(SeveralTargets(TargetSelection { project, names: vec![name], all: false }))
                }
                // The error is reported as for any plan.
                Err(_) => Self::One(place),
            },
            which => which,
        }
    }
}

impl SeveralTargets {
    /// The command to repeat for the same targets.
    pub fn again(&self, command: &str, choice: &Choice) -> Repetition {
        let project = self.project.as_ref().map(|folder| folder.display().to_string());
        let options: Vec<String> = match self.all {
            true => vec!["--all-targets".to_owned()],
            false => self.names.iter().flat_map(|name| ["--target".to_owned(), name.clone()]).collect(),
        };
        Repetition::of_several(command, project.as_deref(), &options, choice)
    }

    /// The arguments for one of the targets.
    pub fn place(&self, target: &str) -> TargetArgs {
        TargetArgs::new(self.project.clone(), Some(target.to_owned()))
    }

    /// Reads the project once, for all requested targets. Errors for one of them are shown like those of `validate`,
    /// and nothing is planned.
    pub fn read(&self, context: &Context, now: Timestamp, programs: bool) -> Result<Vec<Arc<Workspace>>, Failure> {
        self.open(now).map_err(|why| shown(why, programs, context))
    }
}
