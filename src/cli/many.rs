//! Several targets at once: their selection, and their common parts.
//!
//! The project is read once and shared. Targets are opened, fetched and planned concurrently; a failed one is reported
//! among the others, which are shown anyway.

pub mod apply;
pub mod drift;
pub mod each;
pub mod plan;

use std::borrow::Cow;
use std::collections::BTreeMap;
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
    /// The saved plan of each.
    Saved(Arc<BTreeMap<String, Plan>>),
}

impl PlansWanted {
    /// The request for the plan of a target.
    pub fn request(&self, target: &str) -> Cow<'_, PlanRequest> {
        match self {
            Self::Alike(request) => Cow::Borrowed(request),
            Self::Saved(_) => Cow::Owned(self.saved(target).map(saved::request).unwrap_or_default()),
        }
    }

    /// The saved plan of a target.
    pub fn saved(&self, target: &str) -> Option<&Plan> {
        match self {
            Self::Alike(_) => None,
            Self::Saved(plans) => plans.get(target),
        }
    }

    /// Whether there are saved plans, and none for this target.
    fn leaves_out(&self, target: &str) -> bool {
        matches!(self, Self::Saved(plans) if !plans.contains_key(target))
    }
}

/// The command that applies plans for several targets.
#[derive(Clone, Debug)]
pub enum Does {
    /// `apply` with these options, each with a space before it.
    Apply(String),
    /// None: this command only shows.
    Look(String),
    /// `promote` from a target.
    Promote { from: String, options: String },
}

impl Does {
    /// The command for the aim of a plan. The options are for `apply`.
    pub fn to(aim: &Aim, options: &str) -> Self {
        match aim {
            Aim::Promoted(from) => Self::Promote { from: from.clone(), options: String::new() },
            Aim::Manifests | Aim::Nothing | Aim::Before(_) => Self::Apply(options.to_owned()),
        }
    }

    /// The command for these targets, and whether it already names them.
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

    /// The command to repeat for all targets.
    pub fn again(&self, asked: &SeveralTargets, choice: &Choice) -> Repetition {
        let (command, is_whole) = self.command(&asked.names.join(","));
        self.said(asked.again(&command, choice), is_whole)
    }

    /// The command to repeat for one of them.
    pub(crate) fn again_for(&self, asked: &SeveralTargets, target: &str, choice: &Choice) -> Repetition {
        self.again_at(&asked.place(target), target, choice)
    }

    /// The command to repeat for a target that it may have left unnamed.
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
