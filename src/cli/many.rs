//! Several targets at once: their selection, and their common parts.
//!
//! The project is read once and shared. Targets are opened, fetched and planned concurrently; a failed one is reported
//! among the others, which are shown anyway.

pub mod apply;
pub mod drift;
pub mod each;
pub mod plan;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Context;
use super::places::SeveralTargets;
use super::planning::TargetArgs;
use crate::engine::ledger;
use crate::engine::saved;
use crate::engine::workspace::{PlanRequest, Workspace};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plan::{Aim, Choice, Plan};
use crate::render::Repetition;
use crate::text::{count, shell_word};

/// The requests for the plans of several targets.
#[derive(Clone, Debug)]
pub enum PlansWanted {
    /// One request for the plans of all targets.
    Alike(Arc<PlanRequest>),
    /// The request of each.
    Each(Arc<BTreeMap<String, PlanRequest>>),
    /// The saved plan of each.
    Saved(Arc<BTreeMap<String, Plan>>),
}

impl PlansWanted {
    /// The request for the plan of a target.
    pub fn request(&self, target: &str) -> Cow<'_, PlanRequest> {
        match self {
            Self::Alike(request) => Cow::Borrowed(request),
            Self::Each(requests) => requests.get(target).map(Cow::Borrowed).unwrap_or_default(),
            Self::Saved(_) => Cow::Owned(self.saved(target).map(saved::request).unwrap_or_default()),
        }
    }

    /// The saved plan of a target.
    pub fn saved(&self, target: &str) -> Option<&Plan> {
        match self {
            Self::Alike(_) | Self::Each(_) => None,
            Self::Saved(plans) => plans.get(target),
        }
    }

    /// Whether each target has its own plan or request, and this one has none.
    fn leaves_out(&self, target: &str) -> bool {
        match self {
            Self::Alike(_) => false,
            Self::Each(requests) => !requests.contains_key(target),
            Self::Saved(plans) => !plans.contains_key(target),
        }
    }
}

/// The command that applies plans for several targets.
#[derive(Clone, Debug)]
pub enum Does {
    /// `apply` with these options, each with a space before it.
    Apply(String),
    /// None: this command only shows.
    Look(String),
    /// `promote` with these options, each with a space before it.
    Promote { way: Way, options: String },
}

/// The direction of a promotion, to repeat its command.
#[derive(Clone, Debug)]
pub struct Way {
    /// The values of `--from` and `--to`.
    pub from: String,
    pub to: String,
    /// The source of each target.
    pub sources: BTreeMap<String, String>,
    /// Whether targets without a counterpart are left out.
    pub skips: bool,
}

impl Way {
    /// The direction of plans with these targets and aims, if all of them are promotions.
    pub fn of<'p>(aims: impl Iterator<Item = (&'p str, &'p Aim)>) -> Option<Self> {
        let source = |(target, aim): (&str, &Aim)| match aim {
            Aim::Promoted(from) => Some((target.to_owned(), from.clone())),
            _ => None,
        };
        let sources: BTreeMap<String, String> = aims.map(source).collect::<Option<_>>()?;
        let froms: BTreeSet<&str> = sources.values().map(String::as_str).collect();
        let from = froms.into_iter().collect::<Vec<_>>().join(",");
        let to = sources.keys().map(String::as_str).collect::<Vec<_>>().join(",");
        (!sources.is_empty()).then_some(Self { from, to, sources, skips: false })
    }

    /// The options for all targets, or for one.
    pub fn options(&self, target: Option<&str>) -> String {
        let from = target.and_then(|target| self.sources.get(target)).unwrap_or(&self.from);
        let skips = if self.skips && target.is_none() { " --skip-unpaired" } else { "" };
        format!("--from {} --to {}{skips}", shell_word(from), shell_word(target.unwrap_or(&self.to)))
    }
}

impl Does {
    /// The command for plans with these targets and aims. The options are for `apply`.
    pub fn to<'p>(aims: impl Iterator<Item = (&'p str, &'p Aim)>, options: &str) -> Self {
        match Way::of(aims) {
            Some(way) => Self::Promote { way, options: String::new() },
            None => Self::Apply(options.to_owned()),
        }
    }

    /// The command for all targets, or for one.
    fn command(&self, target: Option<&str>) -> String {
        match self {
            Self::Apply(options) => format!("apply{options}"),
            Self::Look(_) => "apply".to_owned(),
            Self::Promote { way, options } => format!("promote {}{options} --yes", way.options(target)),
        }
    }

    /// The command to repeat for all targets.
    pub fn again(&self, asked: &SeveralTargets, choice: &Choice) -> Repetition {
        self.said(asked.again(&self.command(None), choice), None)
    }

    /// The command to repeat for one of them.
    pub(crate) fn again_for(&self, asked: &SeveralTargets, target: &str, choice: &Choice) -> Repetition {
        self.again_at(&asked.place(target), target, choice)
    }

    /// The command to repeat for a target that it may have left unnamed.
    pub fn again_at(&self, place: &TargetArgs, target: &str, choice: &Choice) -> Repetition {
        self.said(place.again(&self.command(Some(target)), choice), Some(target))
    }

    fn said(&self, again: Repetition, target: Option<&str>) -> Repetition {
        match self {
            Self::Look(command) => again.looking(command),
            Self::Promote { way, .. } => again.looking(&format!("promote {}", way.options(target))).whole(),
            Self::Apply(_) => again,
        }
    }
}

/// Reports which results of earlier runs are not in the ledgers yet. If this cannot be read, the target itself fails
/// later.
fn tell_pending(workspaces: &[Arc<Workspace>], context: &Context) {
    let kept = workspaces.iter().filter_map(|workspace| workspace.log.kept().ok());
    kept.filter_map(|kept| ledger::pending(&kept)).for_each(|words| context.out.note(&words));
}

/// Reports on standard error that something failed on a target, for readers who only see that.
fn tell_failed<'f>(all: impl Iterator<Item = (&'f str, &'f Failure)>, context: &Context) {
    let all: Vec<(&str, &Failure)> = all.collect();
    let exit = Exit::worst(all.iter().map(|(_, failure)| Exit::from(*failure)));
    let Some((target, failure)) = all.iter().find(|(_, failure)| Exit::from(*failure) == exit) else { return };
    let first = failure.message.lines().next().unwrap_or_default();
    let more = match all.len() - 1 {
        0 => String::new(),
        more => format!(" (and {})", count(more, "more target")),
    };
    context.out.failure(&Failure::new(format!("{target}: {first}{more}")));
}
