//! The ledger: the changes that pushplan applied, as an append-only log.
//!
//! Every backend does one thing: *create record N+1 if it does not exist*. The loser sends nothing more. Locking,
//! recovery after a crash, history and attribution all follow from it.

mod chain;
mod checkout;
mod codec;
mod file;
mod gap;
#[cfg(feature = "git")]
pub mod git;
pub mod history;
mod home;
mod intent;
mod lease;
#[cfg(feature = "object")]
pub mod object;
pub mod place;
#[cfg(feature = "postgres")]
pub mod postgres;
mod record;
mod replay;
mod safeguards;
mod settling;
mod state;
pub mod store;
mod trust;
pub mod undo;
mod watch;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use chain::{Announced, Chain, Facts, Kept, NotMoved, Presence, ReadAhead, Restored, Taken, Twice, checkpoint};
pub use checkout::{Ancestry, Checkout, Descent};
pub use codec::FORMAT;
pub use file::FileStore;
pub use gap::Gap;
pub use home::Home;
pub use intent::{Adopted, Done, Intent, Outcome, Resolution, Seq, Verb};
pub use lease::{Evidence, Lease, Running};
pub use record::{Begin, Ended, Entry, Record};
pub use safeguards::{CheckWeight, Exemption, Safeguards};
pub use settling::{CLOCKS_APART, Settling};
pub use state::{Ledger, Owned, Retired, Unconfirmed};
pub use trust::{Untrusted, trusted};
pub use watch::{Observed, Watch};

/// A log of records.
pub trait Log: Send + Sync {
    /// Returns every record after this one, in order. With 0, reading may begin at the last checkpoint.
    fn read(&self, after: Seq) -> impl Future<Output = Result<Vec<Entry>, Unreadable>> + Send;

    /// Appends an entry as record `seq` if that record does not exist. When this returns, the entry is durable.
    fn append(&self, entry: &Entry) -> impl Future<Output = Result<(), AppendError>> + Send;
}

impl<L: Log> Log for Arc<L> {
    fn read(&self, after: Seq) -> impl Future<Output = Result<Vec<Entry>, Unreadable>> + Send {
        L::read(self, after)
    }

    fn append(&self, entry: &Entry) -> impl Future<Output = Result<(), AppendError>> + Send {
        L::append(self, entry)
    }
}

/// A position in one ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Identifies the ledger. Empty before the first record.
    pub lineage: String,
    pub seq: Seq,
}

/// Why a log cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    pub message: String,
    pub help: Option<String>,
}

impl std::error::Error for Unreadable {}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Why a record was not appended.
#[derive(Debug)]
pub enum AppendError {
    /// Another process has appended: this run is over.
    Conflict,
    /// It was definitely not written.
    NotWritten(String),
    /// Whether it was written is unknown.
    Unknown(String),
}

impl AppendError {
    fn not_written(why: impl fmt::Display) -> Self {
        Self::NotWritten(why.to_string())
    }
}
