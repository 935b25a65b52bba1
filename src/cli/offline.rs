//! Plans that are made without the service: against the ledger, or against the manifests of a commit.
//!
//! They need no credentials, so that a pull request of somebody whom nobody trusts yet can be looked at. They are for reading.

mod base;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;

use super::forms::Forms;
use super::many::{self, Does};
use super::places::{Places, Which};
use super::planning;
use super::{Context, Ended, plan, runtime};
use crate::client::Origin;
use crate::compare::Applied;
use crate::engine::NotOpened;
use crate::engine::ledger;
use crate::engine::several::TargetResult;
use crate::engine::target;
use crate::engine::turn;
use crate::engine::workspace::{PlanRequest, Planned, Workspace, checkout, no_match, unreadable};
use crate::failure::{Exit, Failure};
use crate::git::{Repository, Revision};
use crate::ledger::{Chain, Ledger, Log, Position};
use crate::live::Live;
use crate::manifest::Manifests;
use crate::nouns::level::Level;
use crate::plan::{Annotations, Basis, Plan};
use crate::planner::{self, Aligned, Rules};
use crate::render::Format;
use crate::render::one_line;
use base::Base;

/// What CI calls the branch that a pull request is to be merged into.
const BASE_BRANCHES: [&str; 2] = ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"];

/// What a plan is compared with, where that is not the service.
#[derive(Clone, Debug, Args)]
pub struct Offline {
    /// Compare with the ledger and ask the service nothing, so that no credentials are needed; with --against-git, or in a CI job of
    /// a pull request, compare with that branch where there is no ledger to read
    #[arg(long, conflicts_with = "on_drift")]
    offline: bool,

    /// Compare with the manifests of a commit, as if they had been applied, and ask the service nothing; without a REF, with the
    /// branch that the pull request of this CI job is for
    #[arg(long, value_name = "REF", num_args = 0..=1, default_missing_value = "", conflicts_with = "on_drift")]
    against_git: Option<String>,
}

impl Offline {
    /// Whether the service is asked nothing.
    pub fn is_asked(&self) -> bool {
        self.offline || self.against_git.is_some()
    }

    /// Returns these options as text to repeat them, each with a space before it.
    fn again(&self) -> String {
        let offline = if self.offline { " --offline" } else { "" };
        let against = self.against_git.as_ref().map(|name| match name.as_str() {
            "" => " --against-git".to_owned(),
            name => format!(" --against-git {}", crate::text::shell_word(name)),
        });
        format!("{offline}{}", against.unwrap_or_default())
    }

    /// Plans the project's files.
    pub fn run(&self, places: &Places, wish: &PlanRequest, forms: &Forms, detailed: bool, context: &Context) -> Ended {
        let root = places.root()?;
        let name = match self.against_git.as_deref() {
            Some("") => Some(base_branch().ok_or_else(no_branch)?),
            Some(name) => Some(name.to_owned()),
            // In a pull request, the files are somebody's who may not say where the ledger is.
            None => base_branch(),
        };
        let base = match name {
            None => None,
            Some(name) => {
                let repository = Repository::of(&root)?;
                let revision = repository.revision(&name)?;
                Some(Base::read(&root, &repository, revision)?)
            }
        };
        let against = match (self.offline, base) {
            (false, Some(base)) => Against::Commit { base, own: None },
            (_, base) => Against::Ledger(base),
        };
        let command = format!("plan{}", self.again());
        let asked = OfflineRequest { places, wish, forms, detailed, command };
        checkout::ask(&root);
        asked.show(&root, crate::manifest::read_project(&root, None), &against, context)
    }
}

/// The branch that the pull request of a CI job is for.
fn base_branch() -> Option<String> {
    let named = |name: &&str| std::env::var(name).ok().filter(|branch| !branch.is_empty());
    BASE_BRANCHES.iter().find_map(named).map(|branch| format!("origin/{branch}"))
}

fn no_branch() -> Failure {
    Failure::usage("--against-git needs the name of a commit here: this is no CI job of a pull request")
        .help("such as --against-git origin/main")
}

/// What the manifests are held against.
#[derive(Debug)]
pub enum Against {
    /// The ledger, or where there is none to read, the manifests of a commit.
    Ledger(Option<Base>),
    /// The manifests of a commit. `own` is the commit of the manifests themselves.
    Commit { base: Base, own: Option<Revision> },
}

impl Against {
    /// The manifests of a commit.
    pub fn commit(
        root: &Path,
        repository: &Repository,
        revision: Revision,
        own: Option<Revision>,
    ) -> Result<Self, Failure> {
        Ok(Self::Commit { base: Base::read(root, repository, revision)?, own })
    }
}

/// What is asked of such a plan.
#[derive(Debug)]
pub struct OfflineRequest<'a> {
    pub places: &'a Places,
    pub wish: &'a PlanRequest,
    pub forms: &'a Forms,
    /// Whether changes have an exit code of their own.
    pub detailed: bool,
    /// What makes the same plan again, such as `diff a..b`.
    pub command: String,
}

impl OfflineRequest<'_> {
    /// Makes plans of manifests and shows them.
    pub fn show(&self, root: &Path, manifests: Manifests, against: &Against, context: &Context) -> Ended {
        let Self { places, wish, forms, detailed, command } = self;
        let programs = forms.printed() == Some(Format::Json);
        let now = Timestamp::now();
        let wrong = |why: NotOpened| planning::shown(why, programs, context);
        match places.which_of(&manifests.project)? {
            Which::One(place) => {
                let site = place.open_read(root, manifests, now).map_err(wrong)?;
                let Planned { plan, .. } = against.plan(&site, wish, now, context)?;
                let again = place.again("apply", &wish.choice).looking(command);
                plan::present(&plan, &site, again, forms, context)?;
                let changes = !plan.is_empty() || plan.is_beside_others();
                Ok(if *detailed && changes { Exit::Changes } else { Exit::Done })
            }
            Which::Several(asked) => {
                many::plan::has_room(forms)?;
                let sites = asked.open_read(root, manifests, now).map_err(wrong)?;
                let one = |site: Arc<Workspace>| TargetResult {
                    result: against.plan(&site, wish, now, context),
                    workspace: site,
                };
                let all: Vec<TargetResult<Planned>> = sites.into_iter().map(one).collect();
                let does = Does::Look(command.clone());
                many::plan::present(&all, &asked, wish, &does, forms, *detailed, context)
            }
        }
    }
}

impl Against {
    fn plan(
        &self,
        site: &Workspace,
        wish: &PlanRequest,
        now: Timestamp,
        context: &Context,
    ) -> Result<Planned, Failure> {
        let (base, own) = match self {
            Self::Commit { base, own } => (base, own.clone()),
            Self::Ledger(base) => {
                let remembered = runtime()?.block_on(remembered(site, base.as_ref(), context));
                match (remembered, base) {
                    (Ok((ledger, position)), None) => return of_ledger(site, ledger, position, wish, now),
                    (Ok((ledger, position)), Some(_)) if position.seq > 0 => {
                        return of_ledger(site, ledger, position, wish, now);
                    }
                    (Ok(_), Some(base)) => {
                        site.note(&format!("The ledger is empty: comparing with {}.", base.revision), &context.session);
                        (base, None)
                    }
                    (Err(why), Some(base)) => {
                        site.note(&format!("{}: comparing with {}.", why.message, base.revision), &context.session);
                        (base, None)
                    }
                    (Err(why), None) => {
                        let help = "or compare with the manifests of a branch: --against-git origin/main";
                        let help = why.help.as_ref().map_or(help.to_owned(), |own| format!("{own}\n          {help}"));
                        return Err(why.help(help));
                    }
                }
            }
        };
        let units = base.units(&site.target, context)?;
        let is_new = units.is_none();
        let applied = Applied::new(&units.unwrap_or_default(), now);
        let basis = Basis::Commit { commit: base.revision.clone(), manifests: own, is_new };
        let mut plan = decided(site, &applied.ledger, Position::default(), basis, wish, now)?;
        applied.forget_ids(&mut plan.changes, &mut plan.steps);
        Ok(Planned { plan: plan.into(), ledger: applied.ledger, at_work: false, digest: None })
    }
}

fn of_ledger(
    site: &Workspace,
    ledger: Ledger,
    at: Position,
    wish: &PlanRequest,
    now: Timestamp,
) -> Result<Planned, Failure> {
    let plan = decided(site, &ledger, at, Basis::Ledger, wish, now)?;
    let at_work = plan.told.at_work.is_some();
    Ok(Planned { plan: plan.into(), ledger, at_work, digest: None })
}

/// What the ledger of a target says. Where a commit is there to compare with, that says where the ledger is: the files may be of
/// somebody who would like it to be elsewhere.
async fn remembered(site: &Workspace, base: Option<&Base>, context: &Context) -> Result<(Ledger, Position), Failure> {
    let log: Chain = match base {
        None => site.log.clone(),
        Some(base) => base.log(&site.target)?,
    };
    if log.shown() != site.log.shown() {
        site.note(
            "The ledger is read where that commit says that it is, and not where the files say.",
            &context.session,
        );
    }
    if let Some(words) = ledger::pending(&log.kept().map_err(unreadable)?) {
        context.out.note(&words);
    }
    let ledger = Ledger::replay(log.read(0).await.map_err(unreadable)?);
    if let Some(running) = turn::holder(&ledger, Timestamp::now()) {
        site.note(&turn::at_work(running), &context.session);
    }
    Ok((ledger, log.known()))
}

/// The plan for what a ledger says, as if the service had just that.
fn decided(
    site: &Workspace,
    ledger: &Ledger,
    position: Position,
    basis: Basis,
    wish: &PlanRequest,
    now: Timestamp,
) -> Result<Plan, Failure> {
    let settings = site.manifests.project.target(&site.target);
    let is_built_in = settings.is_some_and(|settings| target::is_built_in(&site.target, settings));
    let base_url = settings.and_then(|settings| settings.base_url.as_ref());
    let origin = base_url.and_then(|url| Origin::parse(url).ok()).map(|origin| origin.to_string());
    let pinned = settings.and_then(|settings| settings.app_key_fingerprint.as_ref());
    let app = if ledger.app.is_empty() { pinned.map(|print| print.value.clone()) } else { Some(ledger.app.clone()) };
    let level = settings.map_or(Level::Documented, |settings| target::wanted(settings, is_built_in));
    let aligned = Aligned::new(&site.units, ledger);
    let live = Live::remembered(&aligned.ledger, level);
    // This machine's clock decides who holds the lock, not the time that the plan is for.
    let at_work = turn::holder(ledger, Timestamp::now()).map(turn::at_work);
    let under_way = match at_work {
        Some(_) => aligned.ledger.open.keys().cloned().collect(),
        None => BTreeSet::new(),
    };
    let rules = site.rules_offline(wish);
    let rules = Rules {
        origin: origin.unwrap_or_else(|| if is_built_in { "built-in" } else { "nowhere" }.to_owned()),
        app: app.unwrap_or_default(),
        level,
        position,
        basis,
        under_way,
        descent: site.descent(ledger),
        told: Annotations { last_apply: ledger.applied, at_work, ..rules.told },
        ..rules
    };
    planner::plan(&aligned, &live, &rules, now).map_err(no_match)
}

/// The failure for a plan that was not compared with the service, where one is to be applied.
pub(crate) fn not_applied(file: &Path, plan: &Plan) -> Option<Failure> {
    let words = plan.compared_with()?;
    let message = format!("the plan {} is for reading, and is not applied: {}", file.display(), lower(&words));
    Some(
        Failure::new(one_line(&message))
            .exit(Exit::Refused)
            .help("make one that is compared with the service: pushplan plan --out FILE"),
    )
}

/// A sentence within a sentence.
fn lower(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    first + letters.as_str().trim_end_matches('.')
}
