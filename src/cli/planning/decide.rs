//! From what is declared and what is known to a plan, wherever that is known from.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{Site, Wish};
use crate::address::Address;
use crate::arrange::{arrange, choose};
use crate::compare::{self, Situation, Unit, compare};
use crate::cores;
use crate::failure::Failure;
use crate::kinds;
use crate::kinds::remote::to_come;
use crate::ledger::{Home, Ledger, Owned, Position};
use crate::live::{Live, Seen};
use crate::model::level::Level;
use crate::plan::{About, Aim, Aside, Basis, Change, Held, NothingDeclared, Plan, Told};
use crate::text;
use crate::unmanaged::{self, others, prune};

/// What a plan is made from, beside what is declared.
#[derive(Debug)]
pub struct Known<'k> {
    /// With everything under the key that it has by now.
    pub ledger: &'k Ledger,
    pub live: &'k Live,
    /// What has another key by now, with the address that it had.
    pub moves: &'k BTreeMap<Address, Address>,
    /// What somebody who is at work is about.
    pub under_way: &'k BTreeSet<Address>,
    /// Who that is, in a sentence.
    pub at_work: Option<String>,
    /// Where the ledger stood.
    pub position: Position,
    pub basis: Basis,
    pub level: Level,
    /// What the plan is bound to.
    pub origin: String,
    /// The fingerprint of the application.
    pub app: String,
    pub now: Timestamp,
    pub last_apply: Option<Timestamp>,
    /// The kinds of which what nobody declares is deleted.
    pub pruned: BTreeSet<&'static str>,
}

impl Site {
    /// Compares and arranges. Nothing is asked and nothing is read.
    pub fn decide(
        &self,
        units: &BTreeMap<Address, Unit>,
        held: Vec<Held>,
        known: &Known,
        wish: &Wish,
    ) -> Result<Plan, Failure> {
        let Known { ledger, live, moves, under_way, level, now, .. } = *known;
        let declares = !units.is_empty() || self.declares();
        let situation = Situation {
            units,
            ledger,
            live,
            moves,
            under_way,
            level,
            now,
            min_lead: self.min_lead,
            deletes: wish.aim != Aim::Manifests || declares,
            done: &wish.done,
            adopt: true,
            own_only: true,
        };
        let (mut compared, (manifests, others)) =
            cores::both(units.len(), || compare(&situation), || (compare::digest(units), others(live, ledger, units)));
        prune(&mut compared, &situation, &known.pruned, &self.ignored());
        let left = choose(&wish.choice, &mut compared, &situation);
        if let Some(pattern) = left.idle.first() {
            let known: Vec<String> = compared.iter().map(|one| one.change.address.to_string()).collect();
            let failure = Failure::usage(format!("`{pattern}` means nothing that is declared or ours"));
            return Err(match text::nearest(pattern, known.iter().map(String::as_str)) {
                Some(near) => failure.help(format!("did you mean {near}?")),
                None => failure.help("an address is such as segments/lapsed-buyers; `*` stands for any letters"),
            });
        }
        let (changes, steps) = arrange(compared, &situation, &left);
        let about = About {
            target: self.target.clone(),
            origin: known.origin.clone(),
            app: known.app.clone(),
            level,
            manifests,
            ledger: known.position.clone(),
            aim: wish.aim.clone(),
            choice: wish.choice.clone(),
            min_lead_seconds: self.min_lead.as_secs(),
        };
        let mut left_out: BTreeSet<Address> = left.addresses.into_iter().collect();
        left_out.extend(changes.iter().map(|one| &one.address).filter(|one| under_way.contains(one)).cloned());
        let (last_apply, at_work) = (known.last_apply, known.at_work.clone());
        let mut told = Told { last_apply, at_work, held, ..self.told(&changes, units, live) };
        unmanaged::tell(&mut told, live, &others, &changes, &self.ignored());
        told.home = Some(self.home.clone()).filter(Home::is_known);
        told.other_home = ledger.home.clone().filter(|home| home.is_other(&self.home));
        if wish.aim != Aim::Manifests {
            told.unmanaged.clear();
        } else if !declares {
            told.nothing_declared = Some(self.nothing_declared(ledger, live, now));
        }
        let on_drift = wish.on_drift.unwrap_or(self.on_drift);
        let basis = known.basis.clone();
        Ok(Plan { told, on_drift, basis, ..Plan::new(about, changes, steps, left_out.into_iter().collect(), now) })
    }

    /// What stays where nothing is declared.
    fn nothing_declared(&self, ledger: &Ledger, live: &Live, now: Timestamp) -> NothingDeclared {
        let is_there = |address: &Address| *live.of(address) != Seen::Absent;
        // Of what has begun, something may be still to come.
        let is_over = |address: &Address, owned: &Owned| {
            owned.past && to_come(&kinds::api(address).times(&owned.spec), now).is_empty()
        };
        let there = ledger.owned.iter().filter(|(address, owned)| !is_over(address, owned) && is_there(address));
        let stays: BTreeSet<Address> = there.map(|(address, _)| address.resource()).collect();
        let not_pruned = self.prune().into_iter().map(str::to_owned).collect();
        NothingDeclared { stays: stays.len(), not_pruned }
    }

    /// What the plan's readers should know beside.
    pub fn told(&self, changes: &[Change], units: &BTreeMap<Address, Unit>, live: &Live) -> Told {
        let mut of: BTreeMap<Address, Aside> = BTreeMap::new();
        for change in changes {
            let said = units.get(&change.address).map(|unit| unit.aside.clone()).unwrap_or_default();
            let found = change.id.as_deref().and_then(|id| live.listed.get(&*change.address.kind)?.get(id));
            let aside = Aside { last_used: found.and_then(|found| found.used), ..said };
            if aside != Aside::default() {
                of.insert(change.address.clone(), aside);
            }
        }
        // What is applied as a whole and in parts is declared also where its last part goes.
        let goes = changes.iter().filter(|change| change.desired.is_none() && change.address.part().is_some());
        for resource in goes.map(|change| change.address.resource()) {
            if let Some(place) = units.get(&resource).and_then(|unit| unit.place.clone()) {
                of.entry(resource).or_default().place = Some(place);
            }
        }
        for (address, place) in &self.composites {
            of.entry(address.clone()).or_default().place = Some(place.clone());
        }
        let named = self.manifests.project.file.project.as_ref().and_then(|about| about.name.as_ref());
        let project = named.map(|name| name.value.clone());
        Told {
            project,
            quiet: self.quiet,
            apart_seconds: self.apart.map(|apart| apart.as_secs()),
            of,
            ..Told::default()
        }
    }
}
