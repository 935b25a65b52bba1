//! Doing what a plan says.
//!
//! [`Run`] decides and does nothing by itself: it takes events and answers with effects. It reads no clock and knows no
//! network, so that the same code that applies a plan can be run through every fault there is. [`drive()`] carries its effects
//! out against the real ones.

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

/// The time on two clocks: one that people read, and one that counts from the start of the machine, also while it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    pub wall: Timestamp,
    pub boot: Duration,
}

/// A moment on both clocks. It has passed as soon as either of them says so: one may be set back, the other may stand still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    pub wall: Timestamp,
    pub boot: Duration,
}

impl Deadline {
    pub fn has_passed(self, now: Now) -> bool {
        now.wall > self.wall || now.boot > self.boot
    }

    /// Whichever comes first, on each clock.
    pub fn min(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), boot: self.boot.min(other.boot) }
    }

    /// So long after a moment; right away where the time is negative.
    pub fn after(now: Now, time: SignedDuration) -> Self {
        let wall = now.wall.checked_add(time).unwrap_or(Timestamp::MAX);
        Self { wall, boot: now.boot.saturating_add(Duration::try_from(time).unwrap_or_default()) }
    }
}

/// What the machine asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Append this entry and say [`Event::Appended`] once it is durable. At most one is under way.
    Append(Arc<Entry>),
    /// Send this request, unless it is too late.
    Send(Sending),
    /// Send this `GET` for a step, and hand back its answer as that of the step. It changes nothing, so it may leave at any
    /// time.
    Ask(usize, Arc<Request>),
    /// Say [`Event::Time`] then. A later one takes the place of an earlier.
    Wait(Timestamp),
    /// The run is over. Nothing follows.
    Finish(Report),
}

/// A request that may leave until a moment. After it, the driver says `Lost` with [`Loss::NotSent`].
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
    /// A person wants it to stop: what is on its way is awaited, nothing more is begun.
    Interrupt,
}

/// What happens when a step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// Nothing more is begun.
    Stop,
    /// Steps that do not depend on it continue.
    Continue,
}

/// How a plan is applied.
#[derive(Clone, Debug)]
pub struct ApplySettings {
    /// The unique id of this run.
    pub run: String,
    /// Who applies, in words for people.
    pub actor: String,
    /// The lease that others see, and its length. Nothing is sent after it ends.
    pub lease: Lease,
    /// How many requests are on their way at once.
    pub concurrency: usize,
    pub on_error: OnError,
    /// How long after its intent a request may leave.
    pub send_within: SignedDuration,
    /// How often a request is tried that may be sent twice.
    pub attempts: u32,
    /// How long it waits before the second attempt; twice as long before each further one.
    pub backoff: SignedDuration,
    /// How far the service's clock is ahead of ours, if it has its own. Whether a push is too late
    /// goes by that.
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

/// What keeps a run from doing harm. Each is on; the simulation turns them off one by one to see that it notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protections {
    /// An intent is durable before its request leaves.
    pub intent: bool,
    /// A request does not leave long after its intent.
    pub send_deadline: bool,
    /// Only what is in the ledger is changed or deleted.
    pub unowned: bool,
    /// What has had its time is not created.
    pub past: bool,
    /// Nothing is sent past the own lease.
    pub lease: bool,
    /// A 404 to a deletion is believed only if another answer agrees.
    pub confirm_deletion: bool,
    /// A 408, and a success whose body says `ok: false`, leave open whether the request was carried out.
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
