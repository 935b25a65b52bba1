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

/// The safeguards of a run, which can be turned off to check that the simulation detects their absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    Intent,
    Adopt,
    /// The settle time before the first list. The second list covers for it, so both are turned off.
    SettleWait,
    AbsenceCheck,
    CreateIfAbsent,
    SendDeadline,
    Unowned,
    Past,
    /// No process sends after its own lease.
    Lease,
    /// No process begins while another one holds a lease.
    Turn,
    /// A ledger that is behind the mark next to it is not used.
    HighWater,
    /// A resource that may have been created in a gap of the ledger waits for a person.
    Gap,
    /// A lease has expired when it was observed for its whole length.
    Observe,
    /// The settle time after recent records of other machines is measured by the own clock.
    OwnClock,
    /// A message that is similar to one that is no longer declared waits for it.
    Similar,
    /// Manifests that are older than the applied ones revert nothing.
    Older,
    /// A resource in an unknown state is absent if two lists do not contain it.
    TwoLists,
    /// A push that is in no list is absent only if the service reports no unknown push.
    ReportedSends,
    /// An updated resource is read again until the update was seen.
    RereadUpdated,
    /// A deletion that finds nothing is confirmed.
    ConfirmDeletion,
    /// A 408, or a success with a failure in its body, proves nothing.
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
