//! The calm: no more faults. People do their manual steps, and two runs have to bring everything in line.

use std::collections::BTreeSet;
use std::future::Future;
use std::rc::Rc;

use pushplan::address::Address;
use pushplan::guard::Refused;
use pushplan::kinds::remote::pointed;
use pushplan::kinds::{self, Read};
use pushplan::ledger::{Owned, Verb};
use pushplan::nouns::level::Level;
use pushplan::plan::{Action, Plan, Reason, RemoteThing};
use serde_json::Value;

use super::applier::{LEAD, Wish};
use super::service::{Object, Origin};
use super::tasks::Tasks;
use super::time;
use super::world::{Own, Shared, World};

/// The maximal number of runs.
const RUNS: usize = 2;
/// The maximal number of plans: a run that writes nothing, or whose plan waits for a push to be sent, does not count.
const ROUNDS: usize = 8;
/// How often people look at their manual steps before a run. While they answer, time passes, and an answer about a gap
/// of the ledger can show that a time has passed.
const LOOKS: usize = 8;

pub fn converge(world: &Shared, tasks: &mut Tasks) {
    // Nothing is applied after that.
    if world.borrow().is_set_back() {
        return;
    }
    // Files that do not contain the last applied ones revert nothing.
    world.borrow_mut().project.merge();
    let mut run = 0;
    for _ in 0..=ROUNDS {
        // A resource that is sent soon is removed from the ledger later, together with those it names: that takes
        // additional runs.
        let over = world.borrow().over();
        run = if over > world.borrow().now { 0 } else { run };
        tasks.run_until(world, over);
        if !world.borrow().length.plans_again && world.borrow().untrue().is_none() {
            return;
        }
        let Some((plan, done)) = by_hand(world, tasks) else { return };
        // The ledger may still record version stamps.
        let stamps =
            plan.steps.iter().all(|step| step.verb == Verb::Adopt) && world.borrow().log.ledger.open.is_empty();
        let untrue = world.borrow().untrue();
        // It may also record that a push was sent, and remove it in the next run.
        if plan.is_empty() && (plan.steps.is_empty() || (stamps && untrue.is_none())) {
            // The plan waits for a message that is being sent.
            if untrue.is_some() && world.borrow().over() > world.borrow().now {
                continue;
            }
            return untrue.into_iter().for_each(|untrue| world.borrow_mut().violated(untrue));
        }
        if run == RUNS && !plan.steps.is_empty() {
            let changes: Vec<_> = plan.changes.iter().filter(|change| change.action != Action::Keep).collect();
            let why = format!("no fixed point after {RUNS} runs: {changes:?} {:?}", plan.steps);
            world.borrow_mut().violated(why);
            return;
        }
        let before = world.borrow().log.ledger.seq;
        let waits = waits(&plan);
        let is_free = world.borrow().log.ledger.run.is_none();
        if let Some(refused) = refused(world, &plan).first() {
            let why = format!("people have done all that is theirs, and the plan is refused: {}", refused.message);
            return world.borrow_mut().violated(why);
        }
        in_calm(world, tasks, async move |own: Own| {
            // If there is nothing to wait for, nothing has happened since the plan.
            if is_free {
                let (_, ledger) = own.read();
                return own.carry_out(plan, &ledger).await;
            }
            own.has_turn(true).await;
            let (units, ledger) = own.read();
            let wish = Wish { done, ..Wish::default() };
            let Some(live) = own.look(&units, &ledger, &wish).await else { return };
            let Some(plan) = own.plan(&units, &ledger, &live, &wish) else { return };
            own.carry_out(plan, &ledger).await;
        });
        if world.borrow().wrong.is_some() {
            return;
        }
        run += usize::from(world.borrow().log.ledger.seq > before && !waits);
    }
    world.borrow_mut().violated(format!("no fixed point after {ROUNDS} plans"));
}

/// Whether a plan keeps a managed resource until an unmanaged message has been sent: the next run deletes it.
fn waits(plan: &Plan) -> bool {
    let mut reasons = plan.changes.iter().flat_map(|change| &change.reasons);
    reasons.any(|reason| matches!(reason, Reason::StillUsed { by, .. } if by.iter().any(|user| matches!(user, RemoteThing::Other { .. }))))
}

/// The refusals of a plan by a new process.
fn refused(world: &Shared, plan: &Plan) -> Vec<Refused> {
    let process = world.borrow_mut().add_process();
    world.borrow_mut().processes[process].over = true;
    Own { world: Rc::clone(world), process }.refused(plan)
}

/// Runs one process to its end, alone.
fn in_calm<F: Future<Output = ()> + 'static>(world: &Shared, tasks: &mut Tasks, task: impl FnOnce(Own) -> F) {
    let process = world.borrow_mut().add_process();
    let own = Own { world: Rc::clone(world), process };
    tasks.add(world, process, Box::pin(task(own)));
    tasks.run(world, true);
}

/// A plan after people have done their manual steps, and the steps that they reported as done.
fn by_hand(world: &Shared, tasks: &mut Tasks) -> Option<(Plan, BTreeSet<Address>)> {
    let mut done = BTreeSet::new();
    for _ in 0..LOOKS {
        let plan = plan(world, tasks, &done)?;
        let mut acted = false;
        for change in &plan.changes {
            for reason in &change.reasons {
                acted |= world.borrow_mut().act(&change.address, change.action, reason, &mut done);
            }
        }
        if !acted {
            return Some((plan, done));
        }
    }
    plan(world, tasks, &done).map(|plan| (plan, done))
}

pub fn plan(world: &Shared, tasks: &mut Tasks, done: &BTreeSet<Address>) -> Option<Plan> {
    let made = Rc::new(std::cell::RefCell::new(None));
    let (into, done) = (Rc::clone(&made), done.clone());
    in_calm(world, tasks, async move |own: Own| {
        let (units, ledger) = own.read();
        let wish = Wish { done, ..Wish::default() };
        let Some(live) = own.look(&units, &ledger, &wish).await else { return };
        into.replace(own.plan(&units, &ledger, &live, &wish));
    });
    let plan = made.take();
    let mut world = world.borrow_mut();
    if let Some(plan) = &plan {
        world.note(|| super::applier::told(plan, usize::MAX));
    }
    if plan.is_none() && world.wrong.is_none() {
        world.violated("nothing can be planned in the calm".to_owned());
    }
    plan.filter(|_| world.wrong.is_none())
}

/// When a resource that sends messages by itself is certainly over.
fn over(address: &Address, spec: &Value) -> Option<i64> {
    let last = kinds::api(address).runs(spec).and_then(|runs| runs.last.or(runs.first))?;
    Some(time::of(last) + LEAD * time::SECOND)
}

impl World {
    /// When everything is over that has begun or is about to begin: until then, it and the resources that it names
    /// stay.
    fn over(&self) -> i64 {
        let soon = time::stamp(self.now + LEAD * time::SECOND);
        let times = self.log.ledger.owned.iter().flat_map(|(address, owned)| {
            let live = self.service.objects.get(&owned.id).and_then(Object::body);
            let begun = |spec: &Value, at| kinds::api(address).runs(spec).is_some_and(|runs| runs.has_begun(at));
            let ours = Some(&*owned.spec).filter(|spec| begun(spec, time::stamp(self.now)));
            let theirs = live.filter(|body| begun(body, soon));
            [ours, theirs].into_iter().flatten().filter_map(|spec| over(address, spec)).collect::<Vec<_>>()
        });
        // Resources that came back with a backup and have begun are unmanaged, and hold those they name.
        let begun = self.service.objects.values().filter(|object| object.begun);
        let others = begun.filter_map(|object| over(&Address::new(object.kind, "another"), object.body()?));
        times.chain(others).max().unwrap_or(0)
    }

    /// The first violation: the service must have every declared resource once, and the ledger must know all of it.
    fn untrue(&self) -> Option<String> {
        let (ledger, units) = (&self.log.ledger, &self.project.units);
        // If nothing is declared, nothing is deleted, including old versions.
        let retired = !ledger.retired.is_empty() && !units.is_empty();
        if !ledger.open.is_empty() || retired {
            return Some(format!("the ledger is in doubt: {:?} {:?}", ledger.open, ledger.retired));
        }
        for (address, owned) in &ledger.owned {
            // An empty project removes nothing from the ledger, nor is anything removed that may be sent at this
            // moment.
            let soon = time::stamp(self.now + LEAD * time::SECOND);
            let live = self.service.objects.get(&owned.id).and_then(Object::body);
            let begins = |spec: &Value| kinds::api(address).runs(spec).is_some_and(|runs| runs.has_begun(soon));
            let is_near = || {
                over(address, &owned.spec).is_some_and(|over| over > self.now)
                    && (begins(&owned.spec) || live.is_some_and(begins))
            };
            if !units.is_empty() && !units.contains_key(address) && !is_near() {
                return Some(format!("{address} is no longer declared, and the ledger has it"));
            }
        }
        for (id, object) in &self.service.objects {
            if let Origin::Ours(address) = &object.origin
                && object.is_live()
                && !object.forgotten
                && !(units.is_empty() && ledger.retired.iter().any(|old| old.id == *id))
                && ledger.owned.get(address).is_none_or(|owned| owned.id != *id)
            {
                return Some(format!("{address} ({id}) is left over"));
            }
        }
        let is_known = |address: &Address| ledger.owned.contains_key(address) || units.is_empty();
        if let Some(address) =
            self.service.given.keys().find(|address| !is_known(address) && self.service.has_given(address))
        {
            return Some(format!("{address} was given by us and is left over"));
        }
        let never_sent = |(address, owned): &(&Address, &Owned)| !units.is_empty() && self.never_sent(address, owned);
        if let Some(lost) = ledger.owned.iter().find(never_sent) {
            return Some(format!("{} had its time and was never sent", lost.0));
        }
        if let Some(address) = units.keys().find(|address| !ledger.owned.contains_key(address)) {
            return Some(format!("{address} is declared, and the ledger does not have it"));
        }
        units.iter().find_map(|(address, unit)| self.unlike(address, &unit.spec, &ledger.owned[address]))
    }

    /// Whether the time of a managed resource passed without it being sent, and nobody deleted it.
    fn never_sent(&self, address: &Address, owned: &Owned) -> bool {
        let begun = kinds::api(address).runs(&owned.spec).is_some_and(|runs| runs.has_begun(time::stamp(self.now)));
        // A resource that is gone by its time was sent, or deleted by a request whose response was lost: the two cannot
        // be distinguished.
        let is_told = self.level == Level::Extended && address.kind == "scheduled_pushes";
        let object = self.service.objects.get(&owned.id).filter(|_| is_told);
        begun && object.is_some_and(|object| object.body().is_none() && !object.begun && !object.removed_by_person)
    }

    /// A spec in the form of the service: segments by the ids in the ledger.
    pub fn wire(&self, address: &Address, spec: &pushplan::node::Shared) -> pushplan::node::Shared {
        pointed(kinds::api(address).audiences(), spec, &mut |reference| {
            let key = reference.as_str().unwrap_or_default();
            let id = self.log.ledger.owned.get(&Address::new("segments", key)).map(|owned| owned.id.as_str());
            Value::from(id.unwrap_or_default())
        })
    }

    /// The differences between the service and the declaration. Past resources may have any content.
    fn unlike(&self, address: &Address, spec: &pushplan::node::Shared, owned: &Owned) -> Option<String> {
        let api = kinds::api(address);
        // A restored service sends its content at that time.
        let is_sent = self.service.objects.get(&owned.id).is_some_and(|object| object.begun);
        let begun = |spec: &Value| api.runs(spec).is_some_and(|runs| runs.has_begun(time::stamp(self.now)));
        let is_lost = self.service.objects.get(&owned.id).is_some_and(|object| object.removed_by_person);
        if is_sent || owned.past || begun(&owned.spec) {
            // If it was treated as sent, a declared later time would never be used.
            let is_gone = self.service.objects.get(&owned.id).is_none_or(|object| object.body().is_none());
            let is_silent = is_gone && !is_sent && !is_lost && !begun(spec);
            return is_silent.then(|| format!("{address} ({}) is declared for later, and was not sent", owned.id));
        }
        let wire = self.wire(address, spec);
        // If the API cannot read it, the loss cannot be detected. While a gap of the ledger is open, the plan says so.
        let is_untold = api.lifecycle(self.level).read == Read::LedgerOnly;
        let is_gap_open = self.log.ledger.gap.as_ref().is_some_and(|gap| !gap.is_closed);
        let is_there = self.service.has(address, &owned.id, &wire) || (is_untold && (is_lost || is_gap_open));
        (!is_there).then(|| format!("{address} ({}) is not as declared: {}", owned.id, *wire))
    }
}
