//! Applying a plan.
//!
//! [`Run`] only decides: it takes events and returns effects. It reads no clock and uses no network, so the same code
//! can be run through every possible fault. [`drive()`] executes its effects for real.

mod answers;
mod clock;
mod drive;
mod journal;
mod machine;
mod outcomes;
mod pace;
mod report;
mod requests;
mod steps;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::{AppendError, Entry, Lease, Seq};
use pushplan_model::digest::Digest;
use pushplan_model::exchange::{Answer, Loss, Request};

pub use clock::now;
pub use drive::{Notice, drive};
pub use machine::Run;
pub use report::{Ending, Fate, Report, StepReport};

/// The time on two clocks: the wall clock, and one that counts from the start of the machine, also while it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    pub wall: Timestamp,
    pub boot: Duration,
}

/// A moment on both clocks. It has passed as soon as one of them has passed it: the wall clock may be set back, and the
/// other may stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    pub wall: Timestamp,
    pub boot: Duration,
}

impl Deadline {
    pub fn has_passed(self, now: Now) -> bool {
        now.wall > self.wall || now.boot > self.boot
    }

    /// Returns the earlier moment on each clock.
    pub fn min(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), boot: self.boot.min(other.boot) }
    }

    /// This time after a moment; the moment itself if the time is negative.
    pub fn after(now: Now, time: SignedDuration) -> Self {
        let wall = now.wall.checked_add(time).unwrap_or(Timestamp::MAX);
        Self { wall, boot: now.boot.saturating_add(Duration::try_from(time).unwrap_or_default()) }
    }
}

/// A request of the machine to its driver.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Append this entry and report [`Event::Appended`] once it is durable. At most one is in progress.
    Append(Arc<Entry>),
    /// Send this request, unless it is too late.
    Send(Sending),
    /// Send this `GET` for a step, and return its answer as that of the step. It changes nothing, so it may leave at
    /// any time.
    Ask(usize, Arc<Request>),
    /// Report [`Event::Time`] at this time. A later one replaces an earlier one.
    Wait(Timestamp),
    /// The run is over. Nothing follows.
    Finish(Report),
}

/// A request that may leave until a moment. After it, the driver reports `Lost` with [`Loss::NotSent`].
#[derive(Clone, Debug, PartialEq)]
pub struct Sending {
    pub step: usize,
    pub request: Arc<Request>,
    pub not_after: Deadline,
}

/// An event for the machine.
#[derive(Debug)]
pub enum Event {
    Appended(Seq),
    AppendFailed(AppendError),
    Answered(usize, Answer),
    Lost(usize, Loss),
    Time,
    /// A user wants to stop: requests in flight are awaited, and no step begins.
    Interrupt,
}

/// What happens when a step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// No further step begins.
    Stop,
    /// Steps that do not depend on it continue.
    Continue,
}

/// How a plan is applied.
#[derive(Clone, Debug)]
pub struct ApplySettings {
    /// The unique id of this run.
    pub run: String,
    /// Who applies, as shown to readers.
    pub actor: String,
    /// The lease that other runs see, and its length. Nothing is sent after it ends.
    pub lease: Lease,
    /// How many requests are in flight at once.
    pub concurrency: usize,
    pub on_error: OnError,
    /// How long after its intent a request may leave.
    pub send_within: SignedDuration,
    /// The number of attempts for a request that may be repeated.
    pub attempts: u32,
    /// The wait before the second attempt; doubled before each further one.
    pub backoff: SignedDuration,
    /// How far the service's clock is ahead of this machine's, if it has its own. It decides whether a push is too late.
    pub ahead: SignedDuration,
    pub protections: Protections,
    /// The digest of the plan, if it was computed already.
    pub digest: Option<Digest>,
}

impl ApplySettings {
    pub fn new(run: impl Into<String>, actor: impl Into<String>) -> Self {
        let actor = actor.into();
        Self {
            run: run.into(),
            lease: Lease::of(actor.as_str()),
            actor,
            concurrency: 8,
            on_error: OnError::Stop,
            send_within: SignedDuration::from_secs(60),
            attempts: 4,
            backoff: SignedDuration::from_secs(1),
            ahead: SignedDuration::ZERO,
            protections: Protections::default(),
            digest: None,
        }
    }
}

/// The rules that keep a run from doing harm. All are on; the simulation turns them off one by one to check that it
/// detects the harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protections {
    /// An intent is durable before its request leaves.
    pub intent: bool,
    /// A request leaves only a short time after its intent.
    pub send_deadline: bool,
    /// Only resources in the ledger are changed or deleted.
    pub unowned: bool,
    /// A push whose time has passed is not created.
    pub past: bool,
    /// Nothing is sent past the run's own lease.
    pub lease: bool,
    /// A 404 for a deletion counts only if another answer agrees.
    pub confirm_deletion: bool,
    /// A 408, and a success whose body says `ok: false`, leave the result unknown.
    pub doubt_answers: bool,
}

impl Default for Protections {
    fn default() -> Self {
        Self {
            intent: true,
            send_deadline: true,
            unowned: true,
            past: true,
            lease: true,
            confirm_deletion: true,
            doubt_answers: true,
        }
    }
}
