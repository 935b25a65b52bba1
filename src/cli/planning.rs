//! What planning commands share: reading the project, opening the target, and making a plan of both.

mod aim;
mod before;
pub(super) mod checkout;
mod fetch;
mod home;
mod remembered;
mod rules;
mod scout;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::Args;
use jiff::{SignedDuration, Timestamp};

use super::target::{self, Opened};
use super::{Context, ledger, project};
use crate::address::Address;
use crate::check::Verdict;
use crate::codes::Severity;
use crate::compare::{self, Unit};
use crate::digest::Digest;
use crate::failure::{Exit, Failure};
use crate::finding::Finding;
use crate::guard::Limits;
use crate::ledger::{Chain, Descent, Home, Ledger};
use crate::live::Live;
use crate::manifest::{Desired, Manifests, Project, Target, read_once, read_project};
use crate::node::At;
use crate::nouns::delay::Delay;
use crate::nouns::level::Level;
use crate::nouns::on_drift::OnDrift;
use crate::nouns::quiet::Quiet;
use crate::plan::{Aim, Choice, Plan};
use crate::planner::{self, Aligned, Rules};
use crate::render::findings::{self, Found, Report};
use crate::render::{Again, one_line};
use crate::unmanaged;

pub use remembered::{Remembered, append, same_app, unreadable};
pub use rules::no_match;
pub use scout::{Glimpse, Head, Scout};

/// Which project, and which of its targets.
#[derive(Clone, Debug, Args)]
pub struct Place {
    /// Folder of the project [default: this one or the nearest above it]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,

    /// Target to work on [default: `default_target` of the project, or the only one]
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
}

/// Which part of the changes.
#[derive(Clone, Debug, Default, Args)]
pub struct Chosen {
    /// Leave out everything but these, such as `segments/*`; what they refer to comes with them
    #[arg(long, value_name = "ADDRESS")]
    only: Vec<String>,

    /// Leave these out
    #[arg(long, value_name = "ADDRESS")]
    except: Vec<String>,
}

impl Chosen {
    /// Whether nothing is left out.
    pub fn is_all(&self) -> bool {
        self.only.is_empty() && self.except.is_empty()
    }

    pub fn choice(&self) -> Choice {
        Choice { only: self.only.clone(), except: self.except.clone() }
    }
}

/// How near the time of a new push may be, where the target does not say.
const MIN_LEAD: SignedDuration = SignedDuration::from_mins(5);
/// How long the service may take until everybody sees what was done, where the target does not say.
const SETTLE: SignedDuration = SignedDuration::from_secs(10);
/// How long after its intent a request may leave, where the target does not say.
const SEND_WITHIN: SignedDuration = SignedDuration::from_mins(1);

/// How long the service of a target may take until everybody sees what was done.
fn settle_of(target: Option<&Target>) -> SignedDuration {
    let said = target.and_then(|target| target.settle.as_ref());
    said.map_or(SETTLE, |delay| SignedDuration::from_secs(delay.value.0))
}

/// A project that was read and is free of errors, and the target that it is applied to.
#[derive(Debug)]
pub struct Site {
    pub manifests: Arc<Manifests>,
    pub target: String,
    /// Whether it is one of several, so that what is said names it.
    pub(super) is_one_of_many: bool,
    pub units: BTreeMap<Address, Unit>,
    /// Where those are declared that are applied in parts.
    composites: BTreeMap<Address, crate::plan::Place>,
    pub min_lead: SignedDuration,
    pub settle: SignedDuration,
    pub send_within: SignedDuration,
    /// How long others believe that a run is at work of which nothing is heard.
    pub lease: SignedDuration,
    max_deletes: Option<usize>,
    on_drift: OnDrift,
    quiet: Option<Quiet>,
    apart: Option<SignedDuration>,
    pub log: Chain,
    /// Which project it is.
    home: Home,
    /// Which commit its files are.
    checkout: checkout::Asked,
    /// Whether it was told what a plan leaves as it is.
    said: OnceLock<()>,
}

impl Place {
    pub(super) fn new(project: Option<PathBuf>, target: Option<String>) -> Self {
        Self { project, target }
    }

    /// How a command is said again for the same project and target.
    pub fn again(&self, command: &str, choice: &Choice) -> Again {
        let project = self.project.as_ref().map(|folder| folder.display().to_string());
        Again::new(command, project.as_deref(), self.target.as_deref(), choice)
    }

    /// The same place with a target, where none was named.
    pub fn or_target(&self, name: &str) -> Self {
        Self { target: self.target.clone().or(Some(name.to_owned())), ..self.clone() }
    }

    /// The same place with another target.
    pub fn of_target(&self, name: &str) -> Self {
        Self { target: Some(name.to_owned()), ..self.clone() }
    }

    /// The target that was named.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// The folder of the project.
    pub fn root(&self) -> Result<PathBuf, Failure> {
        let here = project::here()?;
        project::root(&self.project.as_ref().map_or(here.clone(), |folder| here.join(folder)))
    }

    /// Reads the project. One with an error is shown as `validate` shows it, and not planned.
    pub fn read(&self, context: &Context, now: Timestamp) -> Result<Site, Failure> {
        self.read_for(context, now, false)
    }

    /// The same. For programs, errors go to standard output as `validate --format json` prints them.
    pub fn read_for(&self, context: &Context, now: Timestamp, programs: bool) -> Result<Site, Failure> {
        self.read_telling(now, &|errors| show(errors, programs, context))
    }

    /// The same, where somebody else says what is wrong.
    pub fn read_telling(&self, now: Timestamp, wrong: &dyn Fn(&Report)) -> Result<Site, Failure> {
        let root = self.root()?;
        checkout::ask(&root);
        self.site_of(&root, read_project(&root, None), now, wrong)
    }

    /// The same as [`Self::read_for`], for somebody who plans what the manifests say and asks for nothing else.
    pub fn read_to_plan(&self, context: &Context, now: Timestamp, programs: bool) -> Result<Site, Failure> {
        let (root, wrong) = (self.root()?, |errors: &Report| show(errors, programs, context));
        checkout::ask(&root);
        let once = read_once(&root);
        match self.chosen(once.project(), once.findings())? {
            Some(name) => {
                let (manifests, desired, found) = once.resolve(Some(&name));
                site(&root, name, manifests, desired, found, now, &wrong)
            }
            None => Err(invalid(&read_project(&root, None), &[None], now, &wrong)),
        }
    }

    /// The same of manifests that were read.
    pub fn site_of(
        &self,
        root: &Path,
        manifests: Manifests,
        now: Timestamp,
        wrong: &dyn Fn(&Report),
    ) -> Result<Site, Failure> {
        match self.chosen(&manifests.project, &manifests.findings)? {
            Some(name) => {
                let (desired, found) = manifests.resolve(Some(&name));
                site(root, name, manifests, desired, found, now, wrong)
            }
            None => Err(invalid(&manifests, &[None], now, wrong)),
        }
    }

    /// The name of the target. `None`: it may stand in what cannot be read, which is what has to be said.
    fn chosen(&self, project: &Project, findings: &[Finding]) -> Result<Option<String>, Failure> {
        match target::choose(project, self.target.as_deref()) {
            Ok((name, _)) => Ok(Some(name)),
            Err(_) if findings.iter().any(|finding| finding.severity == Severity::Error) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Reads the project as far as it can be read, and says whether that is all of it. What is wrong is for others to say.
    pub fn read_leniently(&self) -> Result<(Site, bool), Failure> {
        let root = self.root()?;
        let manifests = read_project(&root, None);
        let (name, _) = target::choose(&manifests.project, self.target.as_deref())?;
        let (desired, _) = manifests.resolve(Some(&name));
        let is_wrong = |finding: &Finding| finding.severity == Severity::Error;
        let whole = desired.complete && desired.broken.is_empty() && !manifests.findings.iter().any(is_wrong);
        Ok((Site::new(&root, name, desired, Arc::new(manifests))?, whole))
    }

    /// The name of the target, without a look at the manifests.
    pub fn name(&self) -> Result<String, Failure> {
        let project = Project::open(&self.root()?);
        Ok(target::choose(&project, self.target.as_deref())?.0)
    }

    /// The ledger of the target, without a look at the manifests.
    pub fn log(&self) -> Result<(Chain, String), Failure> {
        let root = self.root()?;
        let manifests = Project::open(&root);
        let (name, _) = target::choose(&manifests, self.target.as_deref())?;
        let log = ledger::of(&manifests, &root, &name)?;
        ledger::check_trust(&log)?;
        Ok((log, name))
    }

    /// How long the service of the target may take until everybody sees what was done, without a look at the manifests.
    pub fn settle(&self) -> Result<SignedDuration, Failure> {
        let project = Project::open(&self.root()?);
        let (name, _) = target::choose(&project, self.target.as_deref())?;
        Ok(settle_of(project.target(&name)))
    }

    /// What the target offers and what time it is there, without a look at the manifests.
    pub async fn level_and_time(&self) -> Result<(Level, Timestamp), Failure> {
        let project = Project::open(&self.root()?);
        let (name, _) = target::choose(&project, self.target.as_deref())?;
        Ok((target::level(&project, &name).await, target::now(&project, &name).await))
    }
}

/// A project and what its target gets, where nothing is wrong with that.
fn site(
    root: &Path,
    name: String,
    manifests: Manifests,
    desired: Desired,
    found: Vec<Finding>,
    now: Timestamp,
    wrong: &dyn Fn(&Report),
) -> Result<Site, Failure> {
    let verdict = project::check_one(&manifests, Some(&name), &desired, found, now);
    if verdict.findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(refused(&manifests, &verdict, wrong));
    }
    Site::new(root, name, desired, Arc::new(manifests))
}

pub(super) fn invalid(
    manifests: &Manifests,
    targets: &[Option<&str>],
    now: Timestamp,
    wrong: &dyn Fn(&Report),
) -> Failure {
    refused(manifests, &project::check(manifests, targets, now), wrong)
}

fn refused(manifests: &Manifests, verdict: &Verdict, wrong: &dyn Fn(&Report)) -> Failure {
    let errors = verdict.findings.iter().filter(|finding| finding.severity == Severity::Error);
    wrong(&report(manifests, errors));
    Failure::new("the manifests have errors, so that nothing is done")
        .exit(Exit::Findings)
        .help("correct them; `pushplan validate` shows them with warnings too")
}

/// Shows errors as `validate` does.
pub fn tell<'f>(
    manifests: &'f Manifests,
    errors: impl Iterator<Item = &'f Finding>,
    programs: bool,
    context: &Context,
) {
    show(&report(manifests, errors), programs, context);
}

fn report<'f>(manifests: &'f Manifests, errors: impl Iterator<Item = &'f Finding>) -> Report<'f> {
    Report {
        found: errors.map(|finding| Found { finding, sources: &manifests.sources }).collect(),
        suppressed: 0,
        resources: manifests.resource_count(),
        files: manifests.sources.iter().map(|(_, source)| &*source.path).collect(),
        project_files: Vec::new(),
        notes: Vec::new(),
        fails_from: Severity::Error,
    }
}

pub(super) fn show(report: &Report, programs: bool, context: &Context) {
    match programs {
        true => context.out.json(&findings::json::json(report)),
        false => context.out.note(&findings::text(report, context.out.style())),
    }
}

/// What is asked of a plan.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    pub choice: Choice,
    /// What a person says has been done by hand.
    pub done: BTreeSet<Address>,
    pub aim: Aim,
    /// Whether it may undo what somebody did on the service; where nothing is said, the target's word holds.
    pub on_drift: Option<OnDrift>,
    /// Whether older files may take the place of what was applied last.
    pub allow_older: bool,
    /// How long somebody who is at work is waited for. After that it is planned what there is to do beside them.
    pub patience: Duration,
}

/// A plan, and the ledger that it was made from.
#[derive(Clone, Debug)]
pub struct Planned {
    pub plan: Arc<Plan>,
    pub ledger: Ledger,
    /// Somebody is at work: the plan is for reading.
    pub at_work: bool,
    /// The plan's digest, where it was shown with it.
    pub digest: Option<Digest>,
}

impl Site {
    pub(super) fn new(root: &Path, name: String, desired: Desired, manifests: Arc<Manifests>) -> Result<Self, Failure> {
        let (units, composites) = compare::taken(desired, &manifests.sources);
        let target = manifests.project.target(&name);
        let seconds = |delay: fn(&Target) -> &Option<At<Delay>>| {
            target.and_then(|target| delay(target).as_ref()).map(|delay| SignedDuration::from_secs(delay.value.0))
        };
        let max_deletes = target.and_then(|target| target.max_deletes.as_ref());
        let on_drift = target.and_then(|target| target.on_drift.as_ref());
        let send_within = seconds(|target| &target.send_within).unwrap_or(SEND_WITHIN);
        Ok(Self {
            min_lead: seconds(|target| &target.min_lead).unwrap_or(MIN_LEAD),
            settle: settle_of(target),
            send_within,
            lease: seconds(|target| &target.lease).unwrap_or(send_within * 2),
            max_deletes: max_deletes.and_then(|most| usize::try_from(most.value).ok()),
            on_drift: on_drift.map_or_else(OnDrift::usual, |on_drift| on_drift.value),
            quiet: target.and_then(|target| target.quiet_hours.as_ref()).map(|hours| hours.quiet()),
            apart: seconds(|target| &target.apart),
            log: ledger::of(&manifests.project, root, &name)?,
            home: home::home(root, &manifests.project),
            checkout: checkout::asked(root),
            said: OnceLock::new(),
            units,
            composites,
            target: name,
            is_one_of_many: false,
            manifests,
        })
    }

    /// Says something while it is at work.
    pub fn note(&self, words: &str, context: &Context) {
        let words = if self.is_one_of_many { format!("{}: {words}", self.target) } else { words.to_owned() };
        context.out.note(&one_line(&words));
    }

    /// What may be done where nothing else is allowed.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits { max_deletes: self.max_deletes.unwrap_or(usual.max_deletes), ..usual }
    }

    /// The patterns of things outside git that are left alone.
    pub fn ignored(&self) -> Vec<String> {
        let patterns = self.manifests.project.ignore_unmanaged(&self.target);
        patterns.into_iter().map(|pattern| pattern.value.clone()).collect()
    }

    /// The kinds of which what is not in git is deleted.
    pub fn prune(&self) -> BTreeSet<&'static str> {
        self.manifests.project.target(&self.target).map(Target::pruned).unwrap_or_default()
    }

    /// Whether the files declare anything; a tag group without members is a declaration too.
    pub fn declares(&self) -> bool {
        !self.units.is_empty() || !self.composites.is_empty()
    }

    pub async fn open(&self) -> Result<Opened, Failure> {
        target::open(&self.manifests.project, Some(&self.target)).await
    }

    /// Fetches, compares and arranges. It only ever looks: the client that it uses cannot write.
    pub async fn plan(&self, opened: &Opened, wish: &Wish, context: &Context) -> Result<Planned, Failure> {
        self.plan_from(Head::default(), opened, wish, context).await
    }

    /// The same with a head start.
    pub async fn plan_from(
        &self,
        mut head: Head,
        opened: &Opened,
        wish: &Wish,
        context: &Context,
    ) -> Result<Planned, Failure> {
        let mut before = self.settled_from(&mut head, opened, wish.patience, context).await?;
        for (address, owned) in &mut before.ledger.owned {
            self.units.get(address).into_iter().for_each(|unit| owned.spec.join(&unit.spec));
        }
        // Only a plan of the files prunes: its rules are those of the files.
        let prunes = wish.aim == Aim::Manifests;
        let contents = if prunes { unmanaged::contents(&self.prune(), opened.level) } else { BTreeSet::new() };
        let (units, held) = self.aimed(&wish.aim, &before.ledger, opened, context).await?;
        let aligned = Aligned::new(&units, &before.ledger);
        let known = (&*aligned.units, &*aligned.ledger);
        let recovers = before.at_work.is_none();
        let mut live = self.fetch_to_plan(head.early, opened, known, recovers, &contents, context).await?;
        self.compare_clocks(opened, context);
        if before.at_work.is_none() {
            let rules = Rules { prunes, ..self.rules(wish, opened, &before, held) };
            let plan = self.planned(&aligned, &mut live, &rules, opened).await?;
            return Ok(Planned { plan: plan.into(), ledger: before.ledger, at_work: false, digest: None });
        }
        let (after, under_way) = self.since(&before).await?;
        let (units, held) = self.aimed(&wish.aim, &after.ledger, opened, context).await?;
        let aligned = Aligned::new(&units, &after.ledger);
        let rules = Rules { prunes, under_way, ..self.rules(wish, opened, &after, held) };
        let plan = self.planned(&aligned, &mut live, &rules, opened).await?;
        Ok(Planned { plan: plan.into(), at_work: after.at_work.is_some(), ledger: after.ledger, digest: None })
    }

    /// Warns if this machine's clock differs from the service's.
    fn compare_clocks(&self, opened: &Opened, context: &Context) {
        let ahead = opened.ahead();
        if !ahead.is_zero() && !opened.is_built_in() {
            let (by, side) = (Delay(ahead.abs().as_secs()), if ahead.is_negative() { "ahead of" } else { "behind" });
            self.note(
                &format!(
                    "This machine's clock is {by} {side} the service's. Times are compared with the service's clock."
                ),
                context,
            );
        }
    }

    /// How the files relate to what was applied last, where a ledger knows that.
    pub(super) fn descent(&self, ledger: &Ledger) -> Option<Descent> {
        ledger.checkout.as_ref().map(|applied| self.checkout.descent(applied))
    }

    /// Plans from what was fetched; once more if the plan deletes a segment that unread segments may name.
    async fn planned(
        &self,
        aligned: &Aligned<'_>,
        live: &mut Live,
        rules: &Rules<'_>,
        opened: &Opened,
    ) -> Result<Plan, Failure> {
        let plan = planner::plan(aligned, live, rules, opened.now()).map_err(no_match)?;
        if !self.read_pointing(&plan, opened, live).await? {
            return Ok(plan);
        }
        planner::plan(aligned, live, rules, opened.now()).map_err(no_match)
    }
}
