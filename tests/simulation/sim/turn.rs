//! The lock: a process that finds a running one waits, or gives up.

use std::rc::Rc;

use pushplan::ledger::{Evidence, Watch};

use super::Protection;
use super::tally::Fault;
use super::time::{MINUTE, SECOND};
use super::world::Own;

impl Own {
    /// Whether no other process is running, or no longer: a second one stops, or waits for a while and looks again. The
    /// clocks of two processes always differ.
    pub async fn has_turn(&self, patient: bool) -> bool {
        let patience = {
            let mut world = self.world.borrow_mut();
            let most = *world.dice.pick(&[0, 10 * MINUTE]);
            if patient { i64::MAX } else { world.now + most }
        };
        let (mut waits, mut watch) = (false, Watch::default());
        let mut nap = 5 * SECOND;
        loop {
            let to_observe = {
                let mut world = self.world.borrow_mut();
                let ledger = Rc::clone(&world.log.ledger);
                let Some(running) = ledger.run.as_ref().filter(|_| world.is_on(Protection::Turn)) else {
                    return true;
                };
                let now = world.clock(self.process);
                let observed = watch.saw(&ledger, now.boot, now.boot);
                let observe = world.is_on(Protection::Observe);
                let evidence =
                    Evidence { observed: observed.unchanged, is_gone: false, wall: now.wall, clock: None, observe };
                if running.is_over(&evidence) {
                    world.processes[self.process].found_over = Some(running.run.clone());
                    world.tally.met(Fault::TakenOver, "run");
                    world.note(|| format!("process {} finds the lease of {} over", self.process, running.run));
                    return true;
                }
                let seems_over = !running.is_held(now.wall, None) && !observed.goes_on;
                if world.now >= patience && !seems_over {
                    world.tally.met(Fault::Held, "stops");
                    world.note(|| format!("process {} leaves {} alone", self.process, running.run));
                    return false;
                }
                if !waits {
                    world.tally.met(Fault::Held, "waits");
                    waits = true;
                }
                i64::try_from(running.left_to_observe(observed.unchanged).as_millis()).unwrap_or(i64::MAX)
            };
            self.sleep(nap.min(to_observe + 1)).await;
            nap = (2 * nap).min(MINUTE);
        }
    }

    /// Whether the process has observed the whole lease of a run.
    pub fn has_found_over(&self, run: &str) -> bool {
        self.world.borrow().processes[self.process].found_over.as_deref() == Some(run)
    }
}
