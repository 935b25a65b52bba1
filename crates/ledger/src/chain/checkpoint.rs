//! Checkpoints: the whole state in one record, so that reading does not become slower as the ledger grows.

use jiff::Timestamp;

use super::Chain;
use crate::Log;
use crate::record::{Entry, Record};
use crate::state::Ledger;

/// A checkpoint is due after this number of records.
const MANY: usize = 200;
/// It is also due after this number of bytes, unless the last checkpoint was larger.
const LARGE: usize = 4 * 1024 * 1024;

/// The amount of data to read: the last checkpoint and the records after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Behind {
    checkpoint: usize,
    records: usize,
    bytes: usize,
}

impl Behind {
    /// Adds a record of `bytes` bytes. A checkpoint resets the count.
    pub fn and(self, record: &Record, bytes: usize) -> Self {
        match record {
            Record::Checkpoint(_) => Self { checkpoint: bytes, ..Self::default() },
            _ => Self { records: self.records + 1, bytes: self.bytes + bytes, ..self },
        }
    }

    fn is_much(self) -> bool {
        self.records >= MANY || self.bytes > LARGE.max(self.checkpoint)
    }
}

impl Chain {
    /// Appends a checkpoint if one is due, so that reading stays fast; returns whether it did. Called between runs by a
    /// process that has read the ledger to its last record. If another process writes a record in its place, the next
    /// caller appends the checkpoint.
    pub async fn checkpoint(&self, ledger: &Ledger, actor: &str, at: Timestamp) -> bool {
        let is_due = self.0.behind(ledger.seq).is_some_and(Behind::is_much);
        // Without a checkpoint, reading is slower, without other harm.
        is_due && self.append(&of(ledger.clone(), actor, at)).await.is_ok()
    }
}

/// Returns the checkpoint that contains all of these records.
pub fn checkpoint(entries: Vec<Entry>, actor: &str, at: Timestamp) -> Entry {
    of(Ledger::replay(entries), actor, at)
}

pub(super) fn of(ledger: Ledger, actor: &str, at: Timestamp) -> Entry {
    let seq = ledger.seq + 1;
    Entry { seq, at, actor: actor.to_owned(), record: Record::Checkpoint(Box::new(ledger)) }
}
