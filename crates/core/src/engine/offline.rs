//! Plans without the service: compared with the ledger, or with the manifests of a commit.
//!
//! They need no credentials, so pull requests from forks can be planned. They cannot be applied.

mod base;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;
use pushplan_io::client::Origin;
use pushplan_io::failure::Failure;
use pushplan_io::git::{Repository, Revision};
use pushplan_ledger::{Chain, Ledger, Log, Position};
use pushplan_model::finding::Finding;
use pushplan_model::nouns::level::Level;

use super::ledger::unreadable;
use super::workspace::{PlanRequest, Planned, Workspace, no_match};
use super::{Session, ledger, target, turn};
use crate::compare::Applied;
use crate::guard;
use crate::live::Live;
use crate::plan::{Annotations, Basis, Plan};
use crate::planner::{self, Aligned, Rules};

pub use base::Base;
use base::OfCommit;

/// The environment variables in which CI gives the target branch of a pull request.
const BASE_BRANCHES: [&str; 2] = ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"];

/// The basis of the comparison.
#[derive(Debug)]
pub enum Against {
    /// The ledger or, if none can be read, the manifests of a commit.
    Ledger(Option<Base>),
    /// The manifests of a commit. `own` is the commit of the manifests themselves.
    Commit { base: Base, own: Option<Revision> },
}

impl Against {
    /// Compares with the manifests of a commit.
    pub fn commit(
        root: &Path,
        repository: &Repository,
        revision: Revision,
        own: Option<Revision>,
    ) -> Result<Self, Failure> {
        Ok(Self::Commit { base: Base::read(root, repository, revision)?, own })
    }

    /// Chooses the basis of plans: the ledger, or a commit if one is named. An empty name means the target branch of
    /// this CI job's pull request.
    pub fn choose(root: &Path, is_ledger: bool, commit: Option<&str>) -> Result<Self, Failure> {
        let name = match commit {
            Some("") => Some(base_branch().ok_or_else(no_branch)?),
            Some(name) => Some(name.to_owned()),
            // The author of a pull request must not choose the ledger.
            None => base_branch(),
        };
        let base = match name {
            None => None,
            Some(name) => {
                let repository = Repository::of(root)?;
                let revision = repository.revision(&name)?;
                Some(Base::read(root, &repository, revision)?)
            }
        };
        Ok(match (is_ledger, base) {
            (false, Some(base)) => Self::Commit { base, own: None },
            (_, base) => Self::Ledger(base),
        })
    }

    /// The commit of the basis, if it has one.
    pub fn base(&self) -> Option<&Base> {
        match self {
            Self::Ledger(base) => base.as_ref(),
            Self::Commit { base, .. } => Some(base),
        }
    }
}

/// Why no plan was made.
#[derive(Debug)]
pub enum NotCompared {
    /// The manifests of the commit have errors.
    BaseInvalid {
        revision: Revision,
        errors: Vec<Finding>,
    },
    Failed(Failure),
}

impl From<Failure> for NotCompared {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<NotCompared> for Failure {
    fn from(why: NotCompared) -> Self {
        match why {
            NotCompared::Failed(failure) => failure,
            NotCompared::BaseInvalid { revision, .. } => Self::new(format!(
                "the manifests of {revision} have errors, \
                so they cannot be compared"
            ))
            .help(
                "these errors are not part of your change: correct them there first, or compare with another \
                    commit",
            ),
        }
    }
}

/// The target branch of a CI job's pull request.
fn base_branch() -> Option<String> {
    let named = |name: &&str| std::env::var(name).ok().filter(|branch| !branch.is_empty());
    BASE_BRANCHES.iter().find_map(named).map(|branch| format!("origin/{branch}"))
}

fn no_branch() -> Failure {
    Failure::usage("--against-git needs a commit, because this is not a CI job of a pull request")
        .help("such as --against-git origin/main")
}

impl Workspace {
    /// Makes a plan that cannot be applied: compared with the ledger, or with the manifests of a commit.
    pub async fn plan_offline(
        &self,
        against: &Against,
        request: &PlanRequest,
        now: Timestamp,
        session: &Session,
    ) -> Result<Planned, NotCompared> {
        let (base, own) = match against {
            Against::Commit { base, own } => (base, own.clone()),
            Against::Ledger(base) => {
                let remembered = remembered(self, base.as_ref(), session).await;
                match (remembered, base) {
                    (Ok((ledger, position)), None) => {
                        return Ok(of_ledger(self, ledger, position, request, now, session).await?);
                    }
                    (Ok((ledger, position)), Some(_)) if position.seq > 0 => {
                        return Ok(of_ledger(self, ledger, position, request, now, session).await?);
                    }
                    (Ok(_), Some(base)) => {
                        self.note(&format!("Comparing with {}, because the ledger is empty.", base.revision), session);
                        (base, None)
                    }
                    (Err(why), Some(base)) => {
                        self.note(&format!("Comparing with {}, because {}.", base.revision, why.message), session);
                        (base, None)
                    }
                    (Err(why), None) => {
                        let help = "or compare with the manifests of a branch: --against-git origin/main";
                        let help = why.help.as_ref().map_or(help.to_owned(), |own| format!("{own}\n          {help}"));
                        return Err(why.help(help).into());
                    }
                }
            }
        };
        let units = base.units(&self.target)?;
        let is_new = units.is_none();
        let none = || OfCommit { units: BTreeMap::new(), safeguards: guard::usual() };
        let OfCommit { units, safeguards } = units.unwrap_or_else(none);
        let mut applied = Applied::new(&units, now);
        applied.ledger.safeguards = Some(safeguards);
        let basis = Basis::Commit { commit: base.revision.clone(), manifests: own, is_new };
        let mut plan = decided(self, &applied.ledger, Position::default(), basis, request, now)?;
        self.count_reach(&mut plan, None, session).await;
        self.add_people(&mut plan, request, session).await;
        applied.forget_ids(&mut plan.changes, &mut plan.steps);
        Ok(Planned { plan: plan.into(), ledger: applied.ledger, at_work: false, digest: None })
    }
}

async fn of_ledger(
    workspace: &Workspace,
    ledger: Ledger,
    at: Position,
    request: &PlanRequest,
    now: Timestamp,
    session: &Session,
) -> Result<Planned, Failure> {
    let mut plan = decided(workspace, &ledger, at, Basis::Ledger, request, now)?;
    workspace.count_reach(&mut plan, None, session).await;
    workspace.add_people(&mut plan, request, session).await;
    let at_work = plan.told.at_work.is_some();
    Ok(Planned { plan: plan.into(), ledger, at_work, digest: None })
}

/// The content of a target's ledger. If there is a base commit, its files say where the ledger is, because the author
/// of the current files could name another ledger.
async fn remembered(
    workspace: &Workspace,
    base: Option<&Base>,
    session: &Session,
) -> Result<(Ledger, Position), Failure> {
    let log: Chain = match base {
        None => workspace.log.clone(),
        Some(base) => base.log(&workspace.target)?,
    };
    if log.shown() != workspace.log.shown() {
        workspace
            .note("The ledger is read from the place that the commit names, not from the one in your files.", session);
    }
    if let Some(words) = ledger::pending(&log.kept().map_err(unreadable)?) {
        session.note(&words);
    }
    let ledger = Ledger::replay(log.read(0).await.map_err(unreadable)?);
    if let Some(running) = turn::holder(&ledger, Timestamp::now()) {
        workspace.note(&turn::at_work(running), session);
    }
    Ok((ledger, log.known()))
}

/// The plan compared with a ledger, as if the service had exactly its content.
pub(super) fn decided(
    workspace: &Workspace,
    ledger: &Ledger,
    position: Position,
    basis: Basis,
    request: &PlanRequest,
    now: Timestamp,
) -> Result<Plan, Failure> {
    let settings = workspace.manifests.project.target(&workspace.target);
    let is_built_in = settings.is_some_and(|settings| target::is_built_in(&workspace.target, settings));
    let base_url = settings.and_then(|settings| settings.base_url.as_ref());
    let origin = base_url.and_then(|url| Origin::parse(url).ok()).map(|origin| origin.to_string());
    let pinned = settings.and_then(|settings| settings.app_key_fingerprint.as_ref());
    let app = if ledger.app.is_empty() { pinned.map(|print| print.value.clone()) } else { Some(ledger.app.clone()) };
    let level = settings.map_or(Level::Documented, |settings| target::wanted(settings, is_built_in));
    let aligned = Aligned::new(&workspace.units, ledger);
    let live = Live::remembered(&aligned.ledger, level);
    // This machine's clock decides who holds the lock, not the time that the plan is for.
    let at_work = turn::holder(ledger, Timestamp::now()).map(turn::at_work);
    let under_way = match at_work {
        Some(_) => aligned.ledger.open.keys().cloned().collect(),
        None => BTreeSet::new(),
    };
    let rules = workspace.rules_offline(request);
    let rules = Rules {
        origin: origin.unwrap_or_else(|| if is_built_in { "built-in" } else { "nowhere" }.to_owned()),
        app: app.unwrap_or_default(),
        level,
        position,
        basis,
        under_way,
        descent: workspace.descent(ledger),
        told: Annotations { last_apply: ledger.applied, at_work, ..rules.told },
        ..rules
    };
    planner::plan(&aligned, &live, &rules, now).map_err(no_match)
}
