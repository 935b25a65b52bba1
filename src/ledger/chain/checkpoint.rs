//! All that came before in one record, so that reading stays as fast as it was on the first day.

use jiff::Timestamp;

use super::Chain;
use crate::ledger::record::{Entry, Record};
use crate::ledger::state::Ledger;
use crate::ledger::{Log, Unreadable};

/// After so many records a checkpoint is due.
const MANY: usize = 200;
/// So many bytes make one due as well, unless the last one was larger.
const LARGE: usize = 4 * 1024 * 1024;

impl Chain {
    /// Appends a checkpoint where one is due, so that reading stays fast; says whether it did. For whoever writes, between
    /// runs. Somebody else's record in its place is no failure: the next one to come by does it.
    pub async fn checkpoint(&self, actor: &str, at: Timestamp) -> Result<bool, Unreadable> {
        let entries = self.read(0).await?;
        if !is_due(&entries) {
            return Ok(false);
        }
        // Without one, reading is slower and nothing else.
        Ok(self.append(&checkpoint(entries, actor, at)).await.is_ok())
    }
}

/// The record that has all of these in it.
pub fn checkpoint(entries: Vec<Entry>, actor: &str, at: Timestamp) -> Entry {
    let ledger = Ledger::replay(entries);
    let seq = ledger.seq + 1;
    Entry { seq, at, actor: actor.to_owned(), record: Record::Checkpoint(Box::new(ledger)) }
}

fn is_due(entries: &[Entry]) -> bool {
    let is_checkpoint = |entry: &&Entry| matches!(entry.record, Record::Checkpoint(_));
    let size = |entry: &Entry| serde_json::to_vec(entry).map_or(0, |bytes| bytes.len());
    let since = entries.iter().filter(|entry| !is_checkpoint(entry));
    if since.clone().count() >= MANY {
        return true;
    }
    let last = entries.iter().find(is_checkpoint).map_or(0, size);
    since.map(size).sum::<usize>() > LARGE.max(last)
}
