//! The processes of a story, polled after events.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};

use super::time::SECOND;
use super::world::{Own, Process, Shared};

pub type Task = Pin<Box<dyn Future<Output = ()>>>;

/// All running processes.
#[derive(Default)]
pub struct Tasks(Vec<Option<Task>>);

impl Tasks {
    fn poll(&mut self, shared: &Shared, process: usize) {
        while self.0.len() <= process {
            let own = Own { world: Rc::clone(shared), process: self.0.len() };
            self.0.push(Some(Box::pin(super::applier::apply(own))));
        }
        let Some(task) = &mut self.0[process] else { return };
        let ready = task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        if ready || shared.borrow().processes[process].over {
            shared.borrow_mut().processes[process].over = true;
            self.0[process] = None;
        }
    }

    /// Adds a process with its own task.
    pub fn add(&mut self, shared: &Shared, process: usize, task: Task) {
        self.0.resize_with(process, || None);
        self.0.push(Some(task));
        self.poll(shared, process);
    }

    /// Processes the events before a time.
    pub fn run_until(&mut self, shared: &Shared, until: i64) {
        loop {
            let mut world = shared.borrow_mut();
            if world.wrong.is_some() {
                return;
            }
            if world.queue.next_at().is_none_or(|at| at > until) {
                world.now = world.now.max(until);
                return;
            }
            let next = world.step();
            drop(world);
            if let Some(Some(process)) = next {
                self.poll(shared, process);
            }
        }
    }

    /// Processes events until none is left, or until all awake processes are done.
    pub fn run(&mut self, shared: &Shared, sleepers: bool) {
        loop {
            let next = shared.borrow_mut().step();
            match next {
                None => break,
                Some(Some(process)) => self.poll(shared, process),
                Some(None) => {}
            }
            let mut world = shared.borrow_mut();
            if world.wrong.is_some() {
                return;
            }
            let is_awake = |process: &Process| !process.over && !process.suspended;
            if !sleepers && world.starting == 0 && !world.processes.iter().any(is_awake) {
                return;
            }
            if world.now > 1_000_000 * SECOND {
                world.violated("it never ends".to_owned());
            }
        }
        let mut world = shared.borrow_mut();
        if let Some(stuck) = world.processes.iter().position(|process| !process.over) {
            world.violated(format!("process {stuck} waits for nothing"));
        }
    }
}
