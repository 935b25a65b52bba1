//! Executes the effects of the machine: requests over the network, records into the ledger, time by the real clocks.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use pushplan_io::client::Writing;
use pushplan_ledger::{AppendError, Entry, Ledger, Log};
use pushplan_model::exchange::{Answer, Loss, Request};
use tokio::runtime::Handle;
use tokio::task::{Id, JoinError, JoinHandle, JoinSet, spawn_blocking};

use super::clock::now;
use super::{ApplySettings, Deadline, Effect, Event, Fate, Report, Run, Sending};
use crate::plan::Plan;

/// The longest sleep before the clocks are read again: they may be set, and the machine may sleep.
const NAP: Duration = Duration::from_secs(2);

/// News for observers of a run.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'n> {
    /// A step has ended.
    Ended(usize, &'n Fate),
    /// The service limits the rate of requests: nothing is sent until then.
    Waits(Timestamp),
    /// No step is in progress.
    Over,
}

/// Applies a plan that was computed from this ledger, to the end or until `interrupt` is ready. Requests in flight are
/// awaited then. `progress` receives the news. Also returns the ledger as this run knows it.
pub async fn drive(
    plan: impl Into<Arc<Plan>>,
    ledger: &Ledger,
    settings: ApplySettings,
    writing: &Writing,
    log: &(impl Log + Clone + 'static),
    interrupt: impl Future<Output = ()>,
    progress: &mut (dyn FnMut(Notice<'_>) + Send),
) -> (Report, Ledger) {
    let (mut run, mut effects) = Run::start(plan, ledger, settings, now());
    let mut interrupt = pin!(interrupt);
    let mut interrupted = false;
    let mut under_way = UnderWay::default();
    let mut appending: Option<JoinHandle<Event>> = None;
    let mut wait: Option<Timestamp> = None;
    let mut told: Option<Timestamp> = None;
    loop {
        for (step, fate) in run.finished() {
            progress(Notice::Ended(step, &fate));
        }
        if let Some(until) = run.waits().filter(|until| told.is_none_or(|told| told < *until)) {
            told = Some(until);
            progress(Notice::Waits(until));
        }
        for effect in effects {
            match effect {
                Effect::Append(entry) => appending = Some(append(log.clone(), entry)),
                Effect::Send(sending) => under_way.send(writing, sending),
                Effect::Ask(step, request) => under_way.ask(writing, step, request),
                Effect::Wait(until) => wait = Some(until),
                Effect::Finish(report) => return (report, run.into_ledger()),
            }
        }
        let is_idle = appending.is_none() && under_way.tasks.is_empty() && wait.is_none();
        let event = tokio::select! {
            event = async { appending.as_mut().expect("checked").await }, if appending.is_some() => {
                appending = None;
                event.unwrap_or_else(broke_off)
            }
            event = under_way.next(), if !under_way.tasks.is_empty() => event,
            () = nap(wait), if wait.is_some() => {
                wait = None;
                Event::Time
            }
            () = &mut interrupt, if !interrupted => {
                interrupted = true;
                Event::Interrupt
            }
            // No event can happen. The run ends instead of waiting for ever.
            () = std::future::ready(()), if is_idle => Event::Interrupt,
        };
        effects = run.on(event, now());
    }
}

/// Appends on another thread, because serializing a long record would delay requests. The log uses the runtime as long
/// as someone waits for the run; dropping the run does not stop a write that has begun.
fn append(log: impl Log + 'static, entry: Arc<Entry>) -> JoinHandle<Event> {
    let here = Handle::current();
    spawn_blocking(move || match here.block_on(log.append(&entry)) {
        Ok(()) => Event::Appended(entry.seq),
        Err(error) => Event::AppendFailed(error),
    })
}

/// The result of a record whose writer ended silently: unknown. A panic is passed on to the caller.
fn broke_off(error: JoinError) -> Event {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(error) => Event::AppendFailed(AppendError::Unknown(error.to_string())),
    }
}

/// Sleeps until a time by the wall clock, or for a while: the caller repeats it if it returns too early.
async fn nap(until: Option<Timestamp>) {
    let left = until.map(|until| until.duration_since(Timestamp::now())).unwrap_or_default();
    let left = Duration::try_from(left).unwrap_or_default();
    tokio::time::sleep(left.min(NAP)).await;
}

/// The requests that were sent and not answered.
#[derive(Default)]
struct UnderWay {
    tasks: JoinSet<Event>,
    steps: HashMap<Id, usize>,
}

impl UnderWay {
    fn send(&mut self, writing: &Writing, sending: Sending) {
        let step = sending.step;
        let task = self.tasks.spawn(send(writing.clone(), sending));
        self.steps.insert(task.id(), step);
    }

    fn ask(&mut self, writing: &Writing, step: usize, request: Arc<Request>) {
        let task = self.tasks.spawn(ask(writing.clone(), step, request));
        self.steps.insert(task.id(), step);
    }

    async fn next(&mut self) -> Event {
        match self.tasks.join_next_with_id().await {
            Some(Ok((id, event))) => {
                self.steps.remove(&id);
                event
            }
            // It failed at an unknown point.
            Some(Err(error)) => match self.steps.remove(&error.id()) {
                Some(step) => Event::Lost(step, Loss::Unknown("the request was interrupted".to_owned())),
                None => Event::Time,
            },
            None => Event::Time,
        }
    }
}

async fn send(writing: Writing, sending: Sending) -> Event {
    let Sending { step, request, not_after } = sending;
    came_back(step, writing.send(&request, move || in_time(not_after)).await)
}

async fn ask(writing: Writing, step: usize, request: Arc<Request>) -> Event {
    came_back(step, writing.send(&request, || true).await)
}

fn came_back(step: usize, answered: Result<Answer, Loss>) -> Event {
    match answered {
        Ok(answer) => Event::Answered(step, answer),
        Err(loss) => Event::Lost(step, loss),
    }
}

fn in_time(deadline: Deadline) -> bool {
    !deadline.has_passed(now())
}
