//! Counts of how often each fault met each kind of step.

use std::fmt;

/// The faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    NotSent,
    LostBefore,
    LostAfter,
    ErrorNotDone,
    ErrorDone,
    BusyWithTime,
    Busy,
    Late,
    Truncated,
    Garbled,
    Crash,
    Suspended,
    Interrupt,
    TooLateToSend,
    SecondApplier,
    PageDuplicated,
    PageReordered,
    PageFailed,
    Stale,
    Normalised,
    WriteFailed,
    WriteTorn,
    WriteUnknown,
    WriteAnswerLost,
    Conflict,
    PersonEdits,
    PersonDeletes,
    PersonRecreates,
    PersonCopiesName,
    /// A person immediately sends a push whose creation was not confirmed.
    PersonSends,
    /// A second run sees the lock, and stops or waits.
    Held,
    /// A second run finds an expired lease.
    TakenOver,
    PersonUnlocks,
    /// A list contains none of the objects, or not all of them, once.
    ListEmpty,
    ListPartial,
    /// A wrong 404.
    FalseMissing,
    /// HTTP 408, done or not.
    TimeoutDone,
    TimeoutNotDone,
    /// A 2xx whose body says `ok: false`, done or not.
    NotOkDone,
    NotOkNotDone,
    /// The service was restored from a backup, and has lost an object of this kind.
    ServiceRestored,
    /// The ledger was restored from a backup, and its later records are unknown.
    LedgerRestored,
    /// A person accepts that the newest records of the ledger are missing.
    GapAccepted,
    /// A process applies manifests of an earlier commit.
    OlderManifests,
    /// A process applies manifests of another branch.
    OtherBranch,
    /// The clock of a process is minutes off.
    ClockApart,
    /// A process dies while it is unknown whether a request for a thing of this kind was done.
    CrashOf,
    /// A message gets another key and another text in one commit.
    KeyAndText,
    /// A resource gets another key, with `renamed_from`.
    Renamed,
    /// Only a part of the changes is applied.
    Choice,
    /// A guard refuses a plan.
    Refused,
    /// An undeclared resource is deleted, because the target prunes its kind.
    Pruned,
}

const SENT: &[&str] = &["create", "update", "delete"];
const READ: &[&str] = &["list", "get", "lookup"];
const WRITTEN: &[&str] = &["begin", "intents", "outcomes", "adopt", "forget", "alive", "end"];
const THINGS: &[&str] = &["segments", "templates", "pipelines", "scheduled_pushes"];
const KINDS: &[&str] = &[
    "segments",
    "templates",
    "pipelines",
    "scheduled_pushes",
    "experiments",
    "tag_groups",
    "named_users",
    "open_channels",
    "tags",
];

impl Fault {
    pub const ALL: [Self; 52] = [
        Self::NotSent,
        Self::LostBefore,
        Self::LostAfter,
        Self::ErrorNotDone,
        Self::ErrorDone,
        Self::BusyWithTime,
        Self::Busy,
        Self::Late,
        Self::Truncated,
        Self::Garbled,
        Self::Crash,
        Self::Suspended,
        Self::Interrupt,
        Self::TooLateToSend,
        Self::SecondApplier,
        Self::PageDuplicated,
        Self::PageReordered,
        Self::PageFailed,
        Self::Stale,
        Self::Normalised,
        Self::WriteFailed,
        Self::WriteTorn,
        Self::WriteUnknown,
        Self::WriteAnswerLost,
        Self::Conflict,
        Self::PersonEdits,
        Self::PersonDeletes,
        Self::PersonRecreates,
        Self::PersonCopiesName,
        Self::PersonSends,
        Self::Held,
        Self::TakenOver,
        Self::PersonUnlocks,
        Self::ListEmpty,
        Self::ListPartial,
        Self::FalseMissing,
        Self::TimeoutDone,
        Self::TimeoutNotDone,
        Self::NotOkDone,
        Self::NotOkNotDone,
        Self::ServiceRestored,
        Self::LedgerRestored,
        Self::GapAccepted,
        Self::OlderManifests,
        Self::OtherBranch,
        Self::ClockApart,
        Self::CrashOf,
        Self::KeyAndText,
        Self::Renamed,
        Self::Choice,
        Self::Refused,
        Self::Pruned,
    ];

    /// The things that a fault can meet.
    pub fn meets(self) -> &'static [&'static str] {
        match self {
            Self::NotSent | Self::LostBefore | Self::LostAfter | Self::ErrorNotDone | Self::ErrorDone => SENT,
            Self::BusyWithTime | Self::Busy | Self::Late | Self::TooLateToSend => SENT,
            Self::Crash | Self::Suspended => &["append", "create", "update", "delete", "list", "get", "lookup"],
            Self::Interrupt | Self::ServiceRestored => SENT,
            Self::TimeoutDone | Self::TimeoutNotDone | Self::NotOkDone | Self::NotOkNotDone => SENT,
            Self::SecondApplier | Self::TakenOver | Self::PersonUnlocks => &["run"],
            Self::LedgerRestored | Self::GapAccepted | Self::OlderManifests | Self::OtherBranch | Self::ClockApart => {
                &["run"]
            }
            Self::ListEmpty | Self::ListPartial => &["list"],
            Self::FalseMissing => &["get", "lookup", "delete"],
            Self::CrashOf => KINDS,
            Self::KeyAndText => &["documented", "extended"],
            Self::Renamed => &["segments", "templates", "pipelines", "scheduled_pushes", "experiments"],
            Self::Choice => &["only", "except"],
            Self::Refused => &["too_late", "collision", "in_doubt"],
            Self::Pruned => THINGS,
            Self::Held => &["stops", "waits"],
            Self::Truncated | Self::Garbled => &["create", "update", "delete", "list", "get", "lookup"],
            Self::PageDuplicated | Self::PageReordered => &["list"],
            Self::PageFailed | Self::Stale => READ,
            Self::Normalised => &["list", "get"],
            Self::WriteFailed | Self::WriteTorn | Self::WriteUnknown | Self::WriteAnswerLost | Self::Conflict => {
                WRITTEN
            }
            Self::PersonSends => &["scheduled_pushes"],
            Self::PersonEdits | Self::PersonDeletes | Self::PersonRecreates | Self::PersonCopiesName => THINGS,
        }
    }
}

/// The largest number of things that a fault can meet.
const MOST: usize = 9;

/// Counts of faults, by the things that they met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally([[u64; MOST]; Fault::ALL.len()]);

impl Default for Tally {
    fn default() -> Self {
        Self([[0; MOST]; Fault::ALL.len()])
    }
}

impl Tally {
    pub fn met(&mut self, fault: Fault, what: &'static str) {
        if let Some(place) = fault.meets().iter().position(|other| *other == what) {
            self.0[fault as usize][place] += 1;
        }
    }

    /// Counts a fault that meets a kind, given by its key. Ignores a kind that is not counted.
    pub fn met_kind(&mut self, fault: Fault, kind: &str) {
        if let Some(kind) = KINDS.iter().find(|other| **other == kind) {
            self.met(fault, kind);
        }
    }

    pub fn add(&mut self, other: &Self) {
        for (all, more) in self.0.as_flattened_mut().iter_mut().zip(other.0.as_flattened()) {
            *all += more;
        }
    }

    /// Whether there was no fault; another form of a value is not a fault.
    pub fn is_quiet(&self) -> bool {
        let wrong = Fault::ALL.into_iter().filter(|fault| *fault != Fault::Normalised);
        wrong.flat_map(|fault| self.counts(fault)).all(|(_, count)| count == 0)
    }

    /// The counts of a fault, by the things that it met.
    fn counts(&self, fault: Fault) -> impl Iterator<Item = (&'static str, u64)> {
        fault.meets().iter().copied().zip(self.0[fault as usize])
    }

    /// The possible combinations that never occurred.
    pub fn zeros(&self) -> Vec<String> {
        let pairs = Fault::ALL.iter().flat_map(|fault| self.counts(*fault).map(move |pair| (*fault, pair)));
        pairs.filter(|(_, (_, count))| *count == 0).map(|(fault, (what, _))| format!("{fault:?} at {what}")).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in Fault::ALL {
            write!(f, "{:18}", format!("{fault:?}"))?;
            for (what, count) in self.counts(fault) {
                write!(f, " {what} {count}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
