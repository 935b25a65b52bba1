//! Common parts of planning commands: project, target and choice, and showing errors in the manifests.

use std::ops::Deref;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use jiff::Timestamp;

use super::Context;
use crate::codes::Severity;
use crate::engine::{Location, NotOpened, Workspace};
use crate::failure::Failure;
use crate::finding::Finding;
use crate::manifest::Manifests;
use crate::plan::Choice;
use crate::render::Repetition;
use crate::render::findings::{self, CheckReport, LocatedFinding};

/// The project, and one of its targets.
#[derive(Clone, Debug)]
pub struct TargetArgs(Location);

#[derive(Args)]
struct PlaceArgs {
    /// Folder of the project [default: this one or the nearest above it]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,

    /// Target to work on [default: `default_target` of the project, or the only one]
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
}

impl FromArgMatches for TargetArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let PlaceArgs { project, target } = PlaceArgs::from_arg_matches(matches)?;
        Ok(Self::new(project, target))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for TargetArgs {
    fn augment_args(command: Command) -> Command {
        PlaceArgs::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        PlaceArgs::augment_args_for_update(command)
    }
}

impl Deref for TargetArgs {
    type Target = Location;

    fn deref(&self) -> &Location {
        &self.0
    }
}

/// Which part of the changes.
#[derive(Clone, Debug, Default, Args)]
pub struct Chosen {
    /// Include only these, such as `segments/*`, and what they refer to
    #[arg(long, value_name = "ADDRESS")]
    only: Vec<String>,

    /// Exclude these
    #[arg(long, value_name = "ADDRESS")]
    except: Vec<String>,
}

impl Chosen {
    /// Whether nothing is excluded.
    pub fn is_all(&self) -> bool {
        self.only.is_empty() && self.except.is_empty()
    }

    pub fn choice(&self) -> Choice {
        Choice { only: self.only.clone(), except: self.except.clone() }
    }
}

impl TargetArgs {
    pub(super) fn new(project: Option<PathBuf>, target: Option<String>) -> Self {
        Self(Location { project, target })
    }

    /// The command to repeat for the same project and target.
    pub fn again(&self, command: &str, choice: &Choice) -> Repetition {
        let project = self.project.as_ref().map(|folder| folder.display().to_string());
        Repetition::new(command, project.as_deref(), self.target(), choice)
    }

    /// These arguments, with a target if none was given.
    pub(crate) fn or_target(&self, name: &str) -> Self {
        Self::new(self.project.clone(), self.target.clone().or(Some(name.to_owned())))
    }

    /// These arguments with another target.
    pub fn of_target(&self, name: &str) -> Self {
        Self::new(self.project.clone(), Some(name.to_owned()))
    }

    /// The given target.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Reads the project. Errors in it are shown like those of `validate`, and nothing is planned.
    pub fn read(&self, context: &Context, now: Timestamp) -> Result<Workspace, Failure> {
        self.read_for(context, now, false)
    }

    /// Reads the project. For programs, errors go to standard output in the form of `validate --format json`.
    pub(crate) fn read_for(&self, context: &Context, now: Timestamp, programs: bool) -> Result<Workspace, Failure> {
        self.open(now).map_err(|why| shown(why, programs, context))
    }

    /// Reads the project only to make a plan of the manifests.
    pub(crate) fn read_to_plan(&self, context: &Context, now: Timestamp, programs: bool) -> Result<Workspace, Failure> {
        self.open_to_plan(now).map_err(|why| shown(why, programs, context))
    }
}

/// Shows errors in the manifests like `validate`.
pub fn shown(why: NotOpened, programs: bool, context: &Context) -> Failure {
    if let NotOpened::Invalid(invalid) = &why {
        tell(&invalid.manifests, invalid.errors.iter(), programs, context);
    }
    why.into()
}

/// Shows errors like `validate`.
pub fn tell<'f>(
    manifests: &'f Manifests,
    errors: impl Iterator<Item = &'f Finding>,
    programs: bool,
    context: &Context,
) {
    let report = report(manifests, errors);
    match programs {
        true => context.out.json(&findings::json::json(&report)),
        false => context.out.note(&findings::text(&report, context.out.style())),
    }
}

/// Errors in the form of `validate`.
pub fn report<'f>(manifests: &'f Manifests, errors: impl Iterator<Item = &'f Finding>) -> CheckReport<'f> {
    CheckReport {
        found: errors.map(|finding| LocatedFinding { finding, sources: &manifests.sources }).collect(),
        suppressed: 0,
        resources: manifests.resource_count(),
        files: manifests.sources.iter().map(|(_, source)| &*source.path).collect(),
        project_files: Vec::new(),
        notes: Vec::new(),
        fails_from: Severity::Error,
    }
}
