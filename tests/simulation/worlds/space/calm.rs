//! The calm: no more faults. Applies have to bring everything in line, or leave it to a person and say so.

use pushplan::address::Address;
use pushplan::kinds;
use pushplan::kinds::remote::pointed;
use pushplan::plan::{Action, Plan};
use serde_json::Value;

use super::choose::Choices;
use super::service::Origin;
use super::time::{DUE, MINUTE};
use super::world::World;

/// The maximal number of applies.
const APPLIES: usize = 4;

/// Ends every applier and all faults. `is_known` returns whether a state is known to end well; the states that did are
/// returned.
pub fn calm(mut world: World, late: bool, is_known: &dyn Fn(u64) -> bool) -> Result<Vec<u64>, Box<World>> {
    world.note(|| "from here on, nothing more goes wrong, and no applier of before does anything more".to_owned());
    if late {
        world.faults = 0;
        world.edits = 0;
        world.everything_arrives();
    }
    world.faults = 0;
    world.edits = 0;
    world.appliers.clear();
    world.wait_until(world.now + 15 * MINUTE);
    let mut known = Vec::new();
    for _ in 0..=APPLIES {
        if world.wrong.is_some() {
            return Err(Box::new(world));
        }
        let here = world.durable();
        if is_known(here) {
            return Ok(known);
        }
        known.push(here);
        let Some(plan) = world.apply_in_calm() else {
            world.violated("nothing can be planned".to_owned());
            return Err(Box::new(world));
        };
        if plan.steps.is_empty() {
            world.look_at_end(&plan);
            return if world.wrong.is_some() { Err(Box::new(world)) } else { Ok(known) };
        }
    }
    world.violated(format!("{APPLIES} applies in a row still leave something to do"));
    Err(Box::new(world))
}

impl World {
    fn everything_arrives(&mut self) {
        // Every late request arrives before anything else happens.
        while !self.late.is_empty() {
            self.meanwhile(&mut Choices::replay(&[1]));
        }
    }

    /// Applies everything before a world begins.
    pub fn apply_before(&mut self) {
        let (faults, edits) = (self.faults, self.edits);
        (self.faults, self.edits) = (0, 0);
        self.apply_in_calm();
        self.wait_until(15 * MINUTE);
        (self.faults, self.edits) = (faults, edits);
        self.backups.clear();
        self.log.forget_past();
        self.back_up();
    }

    /// One apply without faults.
    fn apply_in_calm(&mut self) -> Option<std::sync::Arc<Plan>> {
        self.appliers.clear();
        let newest = self.versions.len() - 1;
        self.begin_applier("the calm applier", 0, newest);
        let mut choices = Choices::default();
        while !self.appliers[0].is_over() {
            self.step(0, &mut choices);
        }
        let plan = self.appliers[0].plan.take();
        self.appliers.clear();
        plan
    }

    /// Checks a world in which a plan has nothing to do.
    fn look_at_end(&mut self, plan: &Plan) {
        let is_reported = |kind: &str| {
            let of_kind = plan.changes.iter().filter(|change| change.address.kind == kind);
            of_kind.into_iter().any(|change| !matches!(change.action, Action::Keep | Action::Past | Action::Forget))
        };
        let units = self.versions.last().expect("there is one").clone();
        let ledger = self.log.ledger.clone();
        let mut wrong = Vec::new();
        for (address, unit) in units.iter() {
            let is_past = address.kind == "scheduled_pushes" && self.now >= DUE;
            if is_reported(&address.kind) || is_past || self.excused.contains(&&*address.kind) {
                continue;
            }
            let Some(owned) = ledger.owned.get(address) else {
                wrong.push(format!("{address} is declared and not in the ledger, and the plan does not say so"));
                continue;
            };
            let wire = pointed(kinds::api(address).audiences(), &unit.spec, &mut |reference| {
                let key = reference.as_str().unwrap_or_default();
                let id = ledger.owned.get(&Address::new("segments", key)).map(|owned| owned.id.as_str());
                Value::from(id.unwrap_or_default())
            });
            if !self.service.has(&owned.id, &wire) {
                let id = &owned.id;
                wrong.push(format!(
                    "the service does not have {address} ({id}) as declared, and the plan does not say so"
                ));
            }
        }
        for (id, object) in self.service.objects.iter().filter(|(_, object)| object.is_live() && !object.is_back) {
            let Origin::Managed(made_for) = &object.origin else { continue };
            let owner = ledger.owned.iter().find(|(_, owned)| owned.id == *id).map(|(address, _)| address);
            let is_declared = owner.is_some_and(|owner| units.contains_key(owner));
            let is_retired = ledger.retired.iter().any(|old| old.id == *id);
            // A ledger that was set back has lost its id, and the plan counts it among the unmanaged segments. It sends
            // nothing.
            if self.is_set_back && object.kind == "segments" {
                continue;
            }
            if !is_declared && !is_retired && !is_reported(object.kind) {
                let known = if owner.is_some() { "is no longer declared" } else { "is not in the ledger" };
                wrong.push(format!("{id}, created for {made_for}, {known}, and the plan does not say so"));
            }
        }
        let is_declared = units.keys().any(|address| address.kind == "scheduled_pushes");
        let is_reported = is_reported("scheduled_pushes") || self.excused.contains(&"scheduled_pushes");
        // A deletion before the next look could not be reported in time by anyone.
        let is_reported = is_reported || self.is_taken && self.now >= DUE;
        self.wait_until(DUE + 10 * MINUTE);
        if let Some(wrong) = wrong.into_iter().next() {
            self.violated(wrong);
        }
        if is_declared && !is_reported && self.service.sent == 0 {
            self.violated("the message was never sent, and the plan did not say so".to_owned());
        }
    }
}
