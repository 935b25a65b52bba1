//! Everything that can go wrong, from one seed.
//!
//! The machine, the planner and the ledger are the real ones. The service, the log, the processes and the people are models.
//! A process is a future that is polled when something happens to it, so that it can be left lying at any point.

mod applier;
mod asked;
mod backup;
mod beginning;
mod belongings;
mod converge;
mod files;
mod log;
mod network;
mod people;
mod project;
mod queue;
mod reading;
mod rounds;
mod service;
mod shown;
mod tally;
mod tasks;
mod time;
mod turn;
mod world;

pub use rounds::{LONG, run};
pub use tally::Tally;

/// The origin that pages may lead to.
const ORIGIN: &str = "https://service.example";

/// What keeps a run from doing harm, and can be turned off to see that the simulation notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    Intent,
    Adopt,
    /// Time to settle before the first list. The second list covers for it, so that both are turned off.
    SettleWait,
    AbsenceCheck,
    CreateIfAbsent,
    SendDeadline,
    Unowned,
    Past,
    /// Nobody sends past the own lease.
    Lease,
    /// Nobody begins while another user holds a lease.
    Turn,
    /// A ledger that is behind a mark beside it is not used.
    HighWater,
    /// What may have been created in a gap of the ledger waits for a person.
    Gap,
    /// A lease is over once it was observed for its whole length.
    Observe,
    /// What other machines wrote down a moment ago is waited for by the own clock.
    OwnClock,
    /// A message that is like one that is no longer declared waits for it.
    Similar,
    /// Manifests that are older than what was applied take nothing back.
    Older,
    /// What is in an unknown state is absent once two lists do not show it.
    TwoLists,
    /// A push that no list shows is absent only if the service reports no push that is unknown.
    ReportedSends,
    /// What was updated is read again until it was seen.
    RereadUpdated,
    /// A deletion that finds nothing is confirmed.
    ConfirmDeletion,
    /// A 408, or a success that says that it is none, proves nothing.
    DoubtAnswers,
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
        Self::HighWater,
        Self::Gap,
        Self::Observe,
        Self::OwnClock,
        Self::Similar,
        Self::Older,
        Self::TwoLists,
        Self::ReportedSends,
        Self::RereadUpdated,
        Self::ConfirmDeletion,
        Self::DoubtAnswers,
    ];
}
