//! Small worlds, explored to the end.
//!
//! The planner, the fetch machine, the apply machine and the ledger are the real ones. The service, the log and the people are
//! small models. A world is a state; every step of an applier, with every fault that can meet it, leads to another one.

mod applier;
mod calm;
mod choose;
mod log;
mod look;
mod network;
mod project;
mod search;
mod service;
mod sizes;
mod time;
mod words;
mod world;

use pushplan::nouns::level::Level;

pub use project::Shape;
pub use search::{Limits, Outcome, search};

/// The origin that pages may lead to.
const ORIGIN: &str = "https://service.example";

/// The faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// A request is lost before it takes effect.
    LostBefore,
    /// It takes effect, and its answer is lost.
    LostAfter,
    /// It is given up, and takes effect later.
    Delayed,
    /// It is answered with 408.
    TimeoutNotDone,
    TimeoutDone,
    /// It is answered with 502.
    ErrorNotDone,
    ErrorDone,
    /// It is answered with 200 and `ok: false`.
    NotOkNotDone,
    NotOkDone,
    /// It takes effect, and its answer cannot be read.
    Garbled,
    /// A deletion is answered with 404, though the object exists.
    FalseGone,
    /// A list lacks something once.
    ListIncomplete,
    /// A `GET` is answered with 404, though the object exists.
    False404,
    /// Everything is answered as of two minutes ago.
    Stale,
    /// A record is not written, and the result is unknown.
    AppendLost,
    /// A record is written, and the result is unknown.
    AppendUnknown,
    /// An applier is stopped past its lease.
    Slow,
    /// It is suspended past the time in which requests may leave, and past the settle time.
    VerySlow,
    /// It is stopped until shortly before the push is sent.
    NearlyDue,
    /// Clocks are ten minutes apart.
    ClockAhead,
    ClockBehind,
    /// An applier has the manifests from before the last edit.
    OlderClone,
    /// The ledger is set back, and a fresh process reads it.
    LedgerSetBack,
    /// The service is restored from a backup.
    ServiceRestored,
    /// An applier starts after the push was sent.
    Past,
}

impl Fault {
    /// Whether the service claims that an existing object does not exist. Two such answers about the same object cannot
    /// be distinguished from the truth, so there is at most one.
    pub fn is_false_absence(self) -> bool {
        matches!(self, Self::ListIncomplete | Self::False404 | Self::FalseGone)
    }

    pub const ALL: [Self; 25] = [
        Self::LostBefore,
        Self::LostAfter,
        Self::Delayed,
        Self::TimeoutNotDone,
        Self::TimeoutDone,
        Self::ErrorNotDone,
        Self::ErrorDone,
        Self::NotOkNotDone,
        Self::NotOkDone,
        Self::Garbled,
        Self::FalseGone,
        Self::ListIncomplete,
        Self::False404,
        Self::Stale,
        Self::AppendLost,
        Self::AppendUnknown,
        Self::Slow,
        Self::VerySlow,
        Self::NearlyDue,
        Self::ClockAhead,
        Self::ClockBehind,
        Self::OlderClone,
        Self::LedgerSetBack,
        Self::ServiceRestored,
        Self::Past,
    ];
}

/// The safeguards of an apply, which can be turned off to check that the search detects their absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    Intent,
    Adopt,
    SettleWait,
    AbsenceCheck,
    CreateIfAbsent,
    SendDeadline,
    Unowned,
    Past,
    Lease,
    /// No apply begins while another one holds the lock.
    Turn,
    /// A lock has expired only when its whole length was observed.
    Observe,
    /// The settle time after recent records of other machines is measured by the own clock.
    OwnClock,
    /// A resource in an unknown state is absent only if two lists do not contain it.
    TwoLists,
    /// A push that is in no list is absent only if the service reports no unknown push.
    ReportedSends,
    /// An updated resource is read again until the update was seen.
    RereadUpdated,
    /// A 404 to a deletion is confirmed.
    ConfirmDeletion,
    /// A 408 and `ok: false` leave it open whether a request was carried out.
    DoubtAnswers,
    /// A new message waits for a similar one that is no longer declared.
    Similar,
    /// Files that are older than the last apply revert nothing.
    Older,
    /// A ledger with missing records is refused.
    Mark,
    /// A resource that may have been created in a gap of the ledger waits for a person.
    Gap,
}

impl Protection {
    pub const ALL: [Self; 21] = [
        Self::Intent,
        Self::Adopt,
        Self::SettleWait,
        Self::AbsenceCheck,
        Self::CreateIfAbsent,
        Self::SendDeadline,
        Self::Unowned,
        Self::Past,
        Self::Lease,
        Self::Turn,
        Self::Observe,
        Self::OwnClock,
        Self::TwoLists,
        Self::ReportedSends,
        Self::RereadUpdated,
        Self::ConfirmDeletion,
        Self::DoubtAnswers,
        Self::Similar,
        Self::Older,
        Self::Mark,
        Self::Gap,
    ];
}

/// A world to explore, with limits for its events.
#[derive(Clone, Debug)]
pub struct Setup {
    pub level: Level,
    pub shape: Shape,
    /// Whether everything was applied before the world begins.
    pub applied: bool,
    /// The number of appliers that start, in sequence or at the same time.
    pub runs: usize,
    pub faults: u8,
    pub edits: u8,
    /// Whether events can happen between reading the log and looking at the service.
    pub fine: bool,
    /// The number of concurrent requests of one applier.
    pub concurrency: usize,
    /// The kinds of faults that can happen.
    pub kinds: Vec<Fault>,
    /// The protections that are turned off.
    pub off: Vec<Protection>,
}

impl Setup {
    pub fn has(&self, fault: Fault) -> bool {
        self.kinds.contains(&fault)
    }
}
