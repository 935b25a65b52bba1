//! A project that was read, and its target: connecting to it, and making plans.

mod aim;
mod before;
pub mod checkout;
mod fetch;
mod home;
mod prefetch;
mod remembered;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::SignedDuration;
use pushplan_io::failure::Failure;
use pushplan_ledger::{Ancestry, Chain, Descent, Home, Ledger, Safeguards};
use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::digest::Digest;
use pushplan_model::node::At;
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::on_drift::OnDrift;
use pushplan_model::nouns::quiet::Quiet;
use pushplan_model::text::one_line;
use pushplan_project::check::{ResourceWarning, SoftenedFinding};
use pushplan_project::manifest::{Desired, Manifests, Target};

use super::target::{self, Opened};
use super::{Session, ledger, safeguards};
use crate::compare::{self, Unit};
use crate::guard::{Limits, MIN_LEAD, SettingsPlaces};
use crate::live::Live;
use crate::plan::{Aim, Choice, DeclarationWarning, DeclaredAt, Plan};
use crate::planner::{self, Aligned, Rules};
use crate::unmanaged;

pub use prefetch::{Prefetch, Prefetched, PrefetchedState};
pub use remembered::{Remembered, same_app};
pub use rules::no_match;

/// The default settle time.
const SETTLE: SignedDuration = SignedDuration::from_secs(10);
/// The default time after its intent in which a request may leave.
const SEND_WITHIN: SignedDuration = SignedDuration::from_mins(1);

/// The settle time of a target's service.
pub(crate) fn settle_of(target: Option<&Target>) -> SignedDuration {
    let said = target.and_then(|target| target.settle.as_ref());
    said.map_or(SETTLE, |delay| SignedDuration::from_secs(delay.value.0))
}

/// A project without errors, and the target that it is applied to.
#[derive(Debug)]
pub struct Workspace {
    pub manifests: Arc<Manifests>,
    pub target: String,
    /// Whether it is one of several, so that messages name it.
    pub is_one_of_many: bool,
    pub units: BTreeMap<Address, Unit>,
    /// The positions of resources that are applied in parts.
    composites: BTreeMap<Address, DeclaredAt>,
    pub min_lead: SignedDuration,
    pub settle: SignedDuration,
    pub send_within: SignedDuration,
    /// The time after which a silent run loses its lock.
    pub lease: SignedDuration,
    max_deletes: Option<usize>,
    pub(super) on_drift: OnDrift,
    /// The safety settings of its files, and the positions of the settings.
    safeguards: Safeguards,
    settings_at: SettingsPlaces,
    /// The findings that these settings turned off or made warnings.
    pub(super) softened: BTreeSet<SoftenedFinding>,
    quiet: Option<Quiet>,
    apart: Option<SignedDuration>,
    pub log: Chain,
    /// The identity of the project.
    home: Home,
    /// The commit of its files.
    checkout: checkout::CheckoutQuery,
    /// Set once the user was told which resources an undo does not change.
    said: OnceLock<()>,
}

/// Warnings that plans show in other words: past times, quiet hours, messages close together, and texts that are cut.
const SHOWN_OTHERWISE: [&str; 6] =
    [codes::SC101.name, codes::SC104.name, codes::SC108.name, codes::PL112.name, codes::MS106.name, codes::MS107.name];

/// The plans in which single devices are replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replays {
    #[default]
    None,
    /// Only plans of few resources, where it is fast.
    Small,
    All,
}

/// The settings of a plan.
#[derive(Clone, Debug, Default)]
pub struct PlanRequest {
    pub choice: Choice,
    /// Addresses whose manual step is done, as reported by the user.
    pub done: BTreeSet<Address>,
    pub aim: Aim,
    /// Whether it may undo changes made on the service. Default: the target's setting.
    pub on_drift: Option<OnDrift>,
    /// Whether older files may replace the last applied ones.
    pub allow_older: bool,
    /// How long to wait for a running apply. After that, the plan skips its addresses.
    pub patience: Duration,
    /// Whether single devices are replayed before and after the plan.
    pub people: Replays,
}

/// A plan, and the ledger of its comparison.
#[derive(Clone, Debug)]
pub struct Planned {
    pub plan: Arc<Plan>,
    pub ledger: Ledger,
    /// Whether another apply is running, so that the plan cannot be applied.
    pub at_work: bool,
    /// The plan's digest, if it was shown with it.
    pub digest: Option<Digest>,
}

impl Workspace {
    pub fn new(root: &Path, name: String, desired: Desired, manifests: Arc<Manifests>) -> Result<Self, Failure> {
        let (safeguards, settings_at) =
            (safeguards::of(&manifests, &name, &desired), safeguards::places(&manifests, &name));
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
            safeguards,
            settings_at,
            softened: BTreeSet::new(),
            units,
            composites,
            target: name,
            is_one_of_many: false,
            manifests,
        })
    }

    /// Adds warnings of checks to the resources that they are about.
    pub(super) fn warn(&mut self, warnings: Vec<ResourceWarning>) {
        for ResourceWarning { address, code, message, at } in warnings {
            // Of a resource that is applied in parts, the first part has them.
            let units = self.units.range_mut(address.clone()..);
            let mut units = units.take_while(|(unit, _)| unit.key.starts_with(&address.key));
            let unit = units.find(|(unit, _)| unit.resource() == address);
            if let Some((_, unit)) = unit.filter(|_| !SHOWN_OTHERWISE.contains(&code)) {
                let place = compare::place_at(at, &self.manifests.sources);
                unit.aside.warnings.push(DeclarationWarning { code: code.to_owned(), message, place });
            }
        }
    }

    /// Prints a note while the call runs.
    pub fn note(&self, words: &str, session: &Session) {
        let words = if self.is_one_of_many { format!("{}: {words}", self.target) } else { words.to_owned() };
        session.note(&one_line(&words));
    }

    /// The limits without any option.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits { max_deletes: self.max_deletes.unwrap_or(usual.max_deletes), ..usual }
    }

    /// The patterns of unmanaged resources that are ignored.
    pub fn ignored(&self) -> Vec<String> {
        let patterns = self.manifests.project.ignore_unmanaged(&self.target);
        patterns.into_iter().map(|pattern| pattern.value.clone()).collect()
    }

    /// The kinds whose unmanaged resources are deleted.
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

    /// Fetches, compares and arranges. It only reads: the client that it uses cannot write.
    pub async fn plan(&self, opened: &Opened, request: &PlanRequest, session: &Session) -> Result<Planned, Failure> {
        self.plan_from(PrefetchedState::default(), opened, request, session).await
    }

    /// Makes a plan from prefetched data, and fetches the rest. It only reads: the client that it uses cannot write.
    pub async fn plan_from(
        &self,
        mut prefetched: PrefetchedState,
        opened: &Opened,
        request: &PlanRequest,
        session: &Session,
    ) -> Result<Planned, Failure> {
        let mut before = self.settled_from(&mut prefetched, opened, request.patience, session).await?;
        for (address, owned) in &mut before.ledger.owned {
            self.units.get(address).into_iter().for_each(|unit| owned.spec.join(&unit.spec));
        }
        // Only a plan of the manifests prunes, because the setting is part of the files.
        let prunes = request.aim == Aim::Manifests;
        let contents = if prunes { unmanaged::contents(&self.prune(), opened.level) } else { BTreeSet::new() };
        let (units, held) = self.aimed(&request.aim, &before.ledger, opened, session).await?;
        let aligned = Aligned::new(&units, &before.ledger);
        let known = (&*aligned.units, &*aligned.ledger);
        let recovers = before.at_work.is_none();
        let mut live = self.fetch_to_plan(prefetched.lists, opened, known, recovers, &contents, session).await?;
        self.compare_clocks(opened, session);
        if before.at_work.is_none() {
            let rules = Rules { prunes, ..self.rules(request, opened, &before, held) };
            let mut plan = self.planned(&aligned, &mut live, &rules, opened).await?;
            self.count_reach(&mut plan, Some(opened), session).await;
            self.add_people(&mut plan, request, session).await;
            return Ok(Planned { plan: plan.into(), ledger: before.ledger, at_work: false, digest: None });
        }
        let (after, under_way) = self.since(&before).await?;
        let (units, held) = self.aimed(&request.aim, &after.ledger, opened, session).await?;
        let aligned = Aligned::new(&units, &after.ledger);
        let rules = Rules { prunes, under_way, ..self.rules(request, opened, &after, held) };
        let mut plan = self.planned(&aligned, &mut live, &rules, opened).await?;
        self.count_reach(&mut plan, Some(opened), session).await;
        self.add_people(&mut plan, request, session).await;
        Ok(Planned { plan: plan.into(), at_work: after.at_work.is_some(), ledger: after.ledger, digest: None })
    }

    /// Warns if this machine's clock differs from the service's.
    fn compare_clocks(&self, opened: &Opened, session: &Session) {
        let ahead = opened.ahead();
        if !ahead.is_zero() && !opened.is_built_in() {
            let (by, side) = (Delay(ahead.abs().as_secs()), if ahead.is_negative() { "ahead of" } else { "behind" });
            self.note(
                &format!(
                    "This machine's clock is {by} {side} the service's. Times are compared with the service's clock."
                ),
                session,
            );
        }
    }

    /// How the files relate to the last applied ones, if the ledger has these.
    pub fn descent(&self, ledger: &Ledger) -> Option<Descent> {
        let mut descent = self.checkout.descent(ledger.checkout.as_ref()?);
        // The built-in service has a single user, who tries out files that are never committed.
        let settings = self.manifests.project.target(&self.target);
        let is_built_in = settings.is_none_or(|settings| target::is_built_in(&self.target, settings));
        if is_built_in && descent.ancestry == Ancestry::Uncommitted {
            descent.ancestry = Ancestry::Same;
        }
        Some(descent)
    }

    /// Plans from the fetched state; plans again if the plan deletes a segment that unread segments may name.
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
