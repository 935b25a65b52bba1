//! How often each fault met each kind of step.

use std::collections::BTreeMap;
use std::fmt;

/// What can go wrong.
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
    /// A second one sees that somebody is at work, and stops or waits.
    Held,
    /// A second one finds a lease that is over.
    TakenOver,
    PersonUnlocks,
}

const SENT: &[&str] = &["create", "update", "delete"];
const READ: &[&str] = &["list", "get", "lookup"];
const WRITTEN: &[&str] = &["begin", "intents", "outcomes", "adopt", "forget", "alive", "end"];
const THINGS: &[&str] = &["segments", "templates", "pipelines"];

impl Fault {
    pub const ALL: [Self; 32] = [
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
        Self::Held,
        Self::TakenOver,
        Self::PersonUnlocks,
    ];

    /// What it can meet.
    pub fn meets(self) -> &'static [&'static str] {
        match self {
            Self::NotSent | Self::LostBefore | Self::LostAfter | Self::ErrorNotDone | Self::ErrorDone => SENT,
            Self::BusyWithTime | Self::Busy | Self::Late | Self::TooLateToSend => SENT,
            Self::Crash | Self::Suspended => &["append", "create", "update", "delete", "list", "get", "lookup"],
            Self::Interrupt => SENT,
            Self::SecondApplier | Self::TakenOver | Self::PersonUnlocks => &["run"],
            Self::Held => &["stops", "waits"],
            Self::Truncated | Self::Garbled => &["create", "update", "delete", "list", "get", "lookup"],
            Self::PageDuplicated | Self::PageReordered => &["list"],
            Self::PageFailed | Self::Stale => READ,
            Self::Normalised => &["list", "get"],
            Self::WriteFailed | Self::WriteTorn | Self::WriteUnknown | Self::WriteAnswerLost | Self::Conflict => {
                WRITTEN
            }
            Self::PersonEdits | Self::PersonDeletes | Self::PersonRecreates | Self::PersonCopiesName => THINGS,
        }
    }
}

/// Counts of faults.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<(Fault, &'static str), u64>);

impl Tally {
    pub fn met(&mut self, fault: Fault, what: &'static str) {
        *self.0.entry((fault, what)).or_default() += 1;
    }

    pub fn add(&mut self, other: &Self) {
        for (key, count) in &other.0 {
            *self.0.entry(*key).or_default() += count;
        }
    }

    /// What never happened, and can.
    pub fn zeros(&self) -> Vec<String> {
        let pairs = Fault::ALL.iter().flat_map(|fault| fault.meets().iter().map(move |what| (*fault, *what)));
        pairs.filter(|pair| !self.0.contains_key(pair)).map(|(fault, what)| format!("{fault:?} at {what}")).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in Fault::ALL {
            write!(f, "{:18}", format!("{fault:?}"))?;
            for what in fault.meets() {
                write!(f, " {what} {}", self.0.get(&(fault, *what)).copied().unwrap_or_default())?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
