//! The one function that composes a plan: desired state, ledger and live state in, plan out.
//!
//! Pure: no request, no file, no clock. All callers use [`plan`]: the commands, offline plans, promotion, device tests,
//! the simulation and the benchmarks. Nothing else calls `compare` and `arrange`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::{Ancestry, Checkout, Descent, Home, Ledger, Owned, Position, Safeguards};
use pushplan_model::address::{Address, count_resources};
use pushplan_model::cores;
use pushplan_model::kinds;
use pushplan_model::kinds::remote::to_come;
use pushplan_model::nouns::level::Level;
use pushplan_model::nouns::on_drift::OnDrift;
use pushplan_model::text;
use pushplan_project::check::SoftenedFinding;

use crate::arrange::{arrange, choose};
use crate::compare::{self, Situation, Unit, compare};
use crate::guard::{self, SettingsPlaces};
use crate::live::{Live, LiveState};
use crate::plan::{
    About, Action, Aim, Annotation, Annotations, Basis, Change, Choice, DeclaredAt, NothingDeclared, Plan,
};
use crate::unmanaged::{self, others, prune};

/// The desired state and the ledger under the same addresses: the ledger has each renamed resource under its new key, and units
/// name managed segments by key.
#[derive(Debug)]
pub struct Aligned<'u> {
    pub units: Cow<'u, BTreeMap<Address, Unit>>,
    pub ledger: Cow<'u, Ledger>,
    /// The old address of each renamed resource, by the new one.
    pub moves: BTreeMap<Address, Address>,
}

impl<'u> Aligned<'u> {
    pub fn new(units: &'u BTreeMap<Address, Unit>, ledger: &'u Ledger) -> Self {
        let units = compare::by_key(units, ledger);
        let moves = compare::moves(&units, ledger);
        let mut ledger = Cow::Borrowed(ledger);
        moves.iter().for_each(|(to, from)| ledger.to_mut().rename(from, to));
        Self { units, ledger, moves }
    }
}

/// The inputs of a plan apart from the three states and the time: the target, its settings and the request.
#[derive(Clone, Debug)]
pub struct Rules<'r> {
    /// The target's name, to which a saved plan is bound.
    pub target: String,
    pub origin: String,
    /// The fingerprint of the application.
    pub app: String,
    pub level: Level,
    /// The position of the ledger when it was read.
    pub position: Position,
    pub basis: Basis,
    pub aim: Aim,
    pub choice: Choice,
    /// Manual steps that a person confirms as done.
    pub done: BTreeSet<Address>,
    /// Addresses with a step of a running apply: the plan skips them.
    pub under_way: BTreeSet<Address>,
    /// The minimal time between a plan and the send time of a new push.
    pub min_lead: SignedDuration,
    pub on_drift: OnDrift,
    /// Whether the files declare anything. Files that declare nothing delete nothing.
    pub declares: bool,
    /// The kinds that the target prunes; nothing is pruned unless `prunes` is set.
    pub pruned: BTreeSet<&'static str>,
    pub prunes: bool,
    /// Patterns of unmanaged resources that are neither pruned nor counted.
    pub ignored: Vec<String>,
    /// Facts for readers that planning does not compute, such as quiet hours.
    pub told: Annotations,
    /// The project that plans.
    pub home: Home,
    /// The commit of the files, if it is known.
    pub checkout: Option<Checkout>,
    /// How that relates to the last applied commit, if the ledger has one.
    pub descent: Option<Descent>,
    /// Whether files that do not contain the last apply may become the last applied ones.
    pub allow_older: bool,
    /// The safety settings of the files, and their positions. Without them, the review leaves safety settings out.
    pub safeguards: Option<&'r Safeguards>,
    pub settings_at: Option<&'r SettingsPlaces>,
    /// The findings that these settings turned off or made warnings. `None` if they are unknown.
    pub softened: Option<&'r BTreeSet<SoftenedFinding>>,
    /// Positions of resources that are applied in parts.
    pub composites: &'r BTreeMap<Address, DeclaredAt>,
    /// Whether lost creates are searched for. Only the simulation turns this off.
    pub adopt: bool,
    /// Whether only resources in the ledger count as managed. Only the simulation turns this off.
    pub own_only: bool,
    /// Whether a new message waits for a similar one that is no longer declared. Only the simulation turns this off.
    pub similar: bool,
    /// Whether a resource that may have been created in a gap of the ledger waits for a person. Only the simulation
    /// turns this off.
    pub heed_gap: bool,
}

static NO_COMPOSITES: BTreeMap<Address, DeclaredAt> = BTreeMap::new();

impl Rules<'static> {
    /// Creates the rules of a plan of everything that the files declare, for a target without settings.
    pub fn new(target: &str, level: Level) -> Self {
        Self {
            target: target.to_owned(),
            origin: String::new(),
            app: String::new(),
            level,
            position: Position::default(),
            basis: Basis::Service,
            aim: Aim::Manifests,
            choice: Choice::default(),
            done: BTreeSet::new(),
            under_way: BTreeSet::new(),
            min_lead: SignedDuration::from_mins(5),
            on_drift: OnDrift::usual(),
            declares: false,
            pruned: BTreeSet::new(),
            prunes: false,
            ignored: Vec::new(),
            told: Annotations::default(),
            home: Home::default(),
            checkout: None,
            descent: None,
            allow_older: false,
            safeguards: None,
            settings_at: None,
            softened: None,
            composites: &NO_COMPOSITES,
            adopt: true,
            own_only: true,
            similar: true,
            heed_gap: true,
        }
    }
}

/// A pattern of `--only` or `--except` that matches no address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMatch {
    pub pattern: String,
    /// The nearest known address.
    pub nearest: Option<String>,
}

/// Compares desired, live and ledger, and arranges the changes into the steps that carry them out.
pub fn plan(aligned: &Aligned, live: &Live, rules: &Rules, now: Timestamp) -> Result<Plan, NoMatch> {
    let (units, ledger): (&BTreeMap<_, _>, &Ledger) = (&aligned.units, &aligned.ledger);
    let is_of_files = rules.aim == Aim::Manifests;
    let declares = !units.is_empty() || rules.declares;
    let situation = Situation {
        units,
        ledger,
        live,
        moves: &aligned.moves,
        under_way: &rules.under_way,
        level: rules.level,
        now,
        min_lead: rules.min_lead,
        deletes: !is_of_files || declares,
        done: &rules.done,
        adopt: rules.adopt,
        own_only: rules.own_only,
        similar: rules.similar,
        heed_gap: rules.heed_gap,
    };
    let (mut compared, (manifests, others)) =
        cores::both(units.len(), || compare(&situation), || (compare::digest(units), others(live, ledger, units)));
    if rules.prunes {
        prune(&mut compared, &situation, &rules.pruned, &rules.ignored);
    }
    let left = choose(&rules.choice, &mut compared, &situation);
    if let Some(pattern) = left.idle.first() {
        let known: Vec<String> = compared.iter().map(|one| one.change.address.to_string()).collect();
        let nearest = text::nearest(pattern, known.iter().map(String::as_str)).map(str::to_owned);
        return Err(NoMatch { pattern: pattern.clone(), nearest });
    }
    let (changes, steps) = arrange(compared, &situation, &left);
    let about = About {
        target: rules.target.clone(),
        origin: rules.origin.clone(),
        app: rules.app.clone(),
        level: rules.level,
        manifests,
        ledger: rules.position.clone(),
        aim: rules.aim.clone(),
        choice: rules.choice.clone(),
        min_lead_seconds: rules.min_lead.as_secs(),
    };
    let mut left_out: BTreeSet<Address> = left.addresses.into_iter().collect();
    let addresses = changes.iter().map(|one| &one.address);
    left_out.extend(addresses.filter(|one| rules.under_way.contains(one)).cloned());
    let mut told = rules.told.clone();
    annotate(&mut told, &changes, units, ledger, live, rules.composites);
    refer_to_earlier(&mut told, ledger, &left.untouched);
    unmanaged::tell(&mut told, live, &others, &changes, &rules.ignored);
    told.home = Some(rules.home.clone()).filter(Home::is_known);
    told.other_home = ledger.home.clone().filter(|home| home.is_other(&rules.home));
    descend(&mut told, rules);
    told.open_gap = ledger.gap.clone().filter(|gap| !gap.is_closed);
    if let Some(safeguards) = rules.safeguards.filter(|_| applies_files(rules)) {
        let left_out = left_out.iter().map(Address::resource).collect();
        told.loosened = guard::loosened(safeguards, ledger, units, &left_out, rules.composites, rules.settings_at);
        told.safeguards = Some(guard::remembered(safeguards, ledger, &left_out));
    }
    if !is_of_files {
        told.unmanaged.clear();
    } else if !declares {
        told.nothing_declared = Some(nothing_declared(ledger, live, rules, now));
    }
    let (on_drift, basis) = (rules.on_drift, rules.basis.clone());
    let mut plan =
        Plan { told, on_drift, basis, ..Plan::new(about, changes, steps, left_out.into_iter().collect(), now) };
    if rules.safeguards.is_some() && applies_files(rules) {
        guard::let_through(&mut plan, ledger.safeguards.as_ref(), rules.settings_at, rules.softened);
    }
    Ok(plan)
}

/// Whether the plan applies the files. A revert and a destroy do not.
fn applies_files(rules: &Rules) -> bool {
    !matches!(rules.aim, Aim::Nothing | Aim::Before(_))
}

/// Adds the commit of the files. A revert and a destroy do not apply the files, so they record nothing about them.
fn descend(told: &mut Annotations, rules: &Rules) {
    if !applies_files(rules) {
        return;
    }
    let descent = rules.descent.as_ref();
    let contains = descent.is_none_or(|descent| matches!(descent.ancestry, Ancestry::Same | Ancestry::Descendant));
    // Applying a part of older files does not make them the newest: the next full plan would delete the rest.
    if contains || (rules.allow_older && rules.choice == Choice::default()) {
        told.checkout.clone_from(&rules.checkout);
    }
    told.descent = descent.filter(|_| !contains).cloned();
}

/// Adds facts about changes for readers: positions, zones, samples, and when the service last used a resource.
pub fn annotate(
    told: &mut Annotations,
    changes: &[Change],
    units: &BTreeMap<Address, Unit>,
    ledger: &Ledger,
    live: &Live,
    composites: &BTreeMap<Address, DeclaredAt>,
) {
    let of = &mut told.of;
    for change in changes {
        let mut declared = units.get(&change.address).map(|unit| unit.aside.clone()).unwrap_or_default();
        if change.action == Action::Keep {
            declared.written.clear();
            declared.warnings.clear();
        }
        let found = change.id.as_deref().and_then(|id| live.listed.get(&*change.address.kind)?.get(id));
        let old_zone = ledger.owned.get(&change.address).and_then(|owned| owned.zone.clone());
        let old_zone = old_zone.filter(|_| change.action != Action::Keep);
        let aside = Annotation { old_zone, last_used: found.and_then(|found| found.used), ..declared };
        if aside != Annotation::default() {
            of.insert(change.address.clone(), aside);
        }
    }
    // A composite stays declared when its last part is deleted.
    let deleted = changes.iter().filter(|change| change.desired.is_none() && change.address.part().is_some());
    for resource in deleted.map(|change| change.address.resource()) {
        if let Some(place) = units.get(&resource).and_then(|unit| unit.place.clone()) {
            of.entry(resource).or_default().place = Some(place);
        }
    }
    for (address, place) in composites {
        of.entry(address.clone()).or_default().place = Some(place.clone());
    }
}

/// Adds the earlier versions of segments to which excluded resources still refer.
fn refer_to_earlier(told: &mut Annotations, ledger: &Ledger, untouched: &BTreeSet<Address>) {
    if ledger.retired.is_empty() {
        return;
    }
    let version = |id: &str| ledger.retired.iter().find(|old| old.id == *id);
    let mut open: Vec<&String> = Vec::new();
    for (address, owned) in untouched.iter().filter_map(|address| Some((address, ledger.owned.get(address)?))) {
        let refs = owned.refs.iter().filter(|(_, id)| version(id).is_some());
        let earlier: BTreeMap<String, String> = refs.clone().map(|(key, id)| (key.clone(), id.clone())).collect();
        open.extend(refs.map(|(_, id)| id));
        if !earlier.is_empty() {
            told.of.entry(address.clone()).or_default().earlier = earlier;
        }
    }
    while let Some(id) = open.pop() {
        if let Some(old) = version(id).filter(|old| !told.earlier.contains(old)) {
            told.earlier.push(old.clone());
            open.extend(old.refs.values());
        }
    }
}

/// Counts the resources that are kept on the service because the files declare nothing.
fn nothing_declared(ledger: &Ledger, live: &Live, rules: &Rules, now: Timestamp) -> NothingDeclared {
    let exists = |address: &Address| *live.of(address) != LiveState::Absent;
    // A push that has begun may have sends to come.
    let is_over = |address: &Address, owned: &Owned| {
        owned.past && to_come(&kinds::api(address).times(&owned.spec), now).is_empty()
    };
    let there = ledger.owned.iter().filter(|(address, owned)| !is_over(address, owned) && exists(address));
    let stays = count_resources(there.map(|(address, _)| address));
    let not_pruned = rules.pruned.iter().map(|kind| (*kind).to_owned()).collect();
    NothingDeclared { stays, not_pruned }
}
