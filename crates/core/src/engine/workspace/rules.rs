//! The rules of a plan, from the settings of a target and the options of a command.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_io::failure::Failure;
use pushplan_model::address::Address;
use pushplan_model::nouns::level::Level;
use pushplan_model::source::Span;

use super::{PlanRequest, Remembered, Workspace};
use crate::compare;
use crate::engine::target::Opened;
use crate::plan::{Annotations, Basis, DeclaredAt, FilledVariable, NotPromoted};
use crate::planner::{NoMatch, Rules};

impl Workspace {
    /// The rules of a plan that is compared with the service.
    pub(super) fn rules(
        &self,
        request: &PlanRequest,
        opened: &Opened,
        remembered: &Remembered,
        held: Vec<NotPromoted>,
    ) -> Rules<'_> {
        let rules = Rules {
            origin: opened.place.clone(),
            app: opened.app.clone(),
            level: opened.level,
            position: remembered.position.clone(),
            descent: self.descent(&remembered.ledger),
            ..self.rules_offline(request)
        };
        let (last_apply, at_work) = (remembered.ledger.applied, remembered.at_work.clone());
        Rules { told: Annotations { last_apply, at_work, held, ..rules.told }, ..rules }
    }

    /// The rules that do not depend on the basis of the plan.
    pub fn rules_offline(&self, request: &PlanRequest) -> Rules<'_> {
        Rules {
            target: self.target.clone(),
            origin: String::new(),
            app: String::new(),
            level: Level::Documented,
            position: Default::default(),
            basis: Basis::Service,
            aim: request.aim.clone(),
            choice: request.choice.clone(),
            done: request.done.clone(),
            under_way: BTreeSet::new(),
            min_lead: self.min_lead,
            on_drift: request.on_drift.unwrap_or(self.on_drift),
            declares: self.declares(),
            pruned: self.prune(),
            prunes: false,
            ignored: self.ignored(),
            told: self.told(),
            home: self.home.clone(),
            checkout: self.checkout.checkout(),
            descent: None,
            allow_older: request.allow_older,
            safeguards: Some(&self.safeguards),
            settings_at: Some(&self.settings_at),
            softened: Some(&self.softened),
            composites: &self.composites,
            adopt: true,
            own_only: true,
            similar: true,
            heed_gap: true,
        }
    }

    /// Positions of resources that are applied in parts.
    pub fn composites(&self) -> &BTreeMap<Address, DeclaredAt> {
        &self.composites
    }

    /// Facts for the readers of every plan of this target.
    pub fn told(&self) -> Annotations {
        let named = self.manifests.project.file.project.as_ref().and_then(|about| about.name.as_ref());
        Annotations {
            project: named.map(|name| name.value.clone()),
            quiet: self.quiet,
            apart_seconds: self.apart.map(|apart| apart.as_secs()),
            variables: self.variables(),
            ..Annotations::default()
        }
    }
}

impl Workspace {
    /// The target's variables in the texts of messages.
    fn variables(&self) -> BTreeMap<String, FilledVariable> {
        let named: BTreeSet<&String> = self.units.values().flat_map(|unit| &unit.aside.variables).collect();
        let Some(target) = self.manifests.project.target(&self.target).filter(|_| !named.is_empty()) else {
            return BTreeMap::new();
        };
        let place = |span: Span| compare::place_at(span, &self.manifests.sources);
        let values = target.values();
        let own = target.variables.keys().filter(|name| named.contains(&name.value));
        let filled = own.map(|name| {
            let value = values.get(&name.value).cloned().unwrap_or_default();
            (name.value.clone(), FilledVariable { value, place: place(name.span) })
        });
        filled.collect()
    }
}

/// The failure for a pattern that matches nothing.
pub fn no_match(none: NoMatch) -> Failure {
    let failure = Failure::usage(format!("`{}` matches nothing that is declared or managed", none.pattern));
    match none.nearest {
        Some(near) => failure.help(format!("did you mean {near}?")),
        None => failure.help("write an address such as segments/lapsed-buyers; `*` matches any characters"),
    }
}
