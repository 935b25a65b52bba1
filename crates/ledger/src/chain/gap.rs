//! Continues a ledger that was restored from a backup. Changes after that backup are unknown, and the ledger records
//! that: a [`Record::Gap`] takes the place of the lost records.

use jiff::Timestamp;

use super::{Chain, Inner, Last};
use crate::intent::Seq;
use crate::record::{Entry, Record};
use crate::store::{Start, Stored, Unread};
use crate::{AppendError, Ledger, Log, Unreadable};

/// A ledger as it is stored, whatever was seen before.
#[derive(Debug)]
pub struct Restored {
    pub ledger: Ledger,
    /// The newest record seen before, on this machine or by the mark; at least the last record there is.
    pub seen: Seq,
    /// The time of the last existing record.
    pub since: Option<Timestamp>,
}

impl Chain {
    /// Reads the existing records, even if later ones existed before.
    pub async fn restored(&self) -> Result<Restored, Unreadable> {
        let inner = &*self.0;
        let was = match inner.read_seen(Start::Checkpoint).await {
            Ok(_) => 0,
            Err(Unread::CutShort { was, .. }) => was,
            Err(Unread::Unmarked { .. }) => 0,
            Err(other) => return Err(inner.unread(other)),
        };
        let stored = inner.store.read_as_is(Start::Checkpoint).await.map_err(|error| inner.unread(error))?;
        let records = inner.verify(&stored)?;
        if let Some(Record::Moved { to }) = records.last().map(|sealed| &sealed.entry.record) {
            return Err(inner.moved(to));
        }
        let (seal, since) = records.last().map(|last| (last.seal.clone(), last.entry.at)).unzip();
        inner.remember(Last { seal, behind: None });
        let ledger = Ledger::replay(records.into_iter().map(|sealed| sealed.entry));
        Ok(Restored { seen: was.max(ledger.seq), ledger, since })
    }

    /// Records that everything after the last existing record is lost. From then on, neither this place nor this
    /// machine expects it.
    pub async fn accept_gap(&self, restored: &Restored, actor: &str, at: Timestamp) -> Result<(), AppendError> {
        let Restored { ledger, seen, since } = restored;
        let record = Record::Gap { since: *since, upto: *seen };
        self.append(&Entry { seq: ledger.seq + 1, at, actor: actor.to_owned(), record }).await?;
        // The record comes first: if this is interrupted, the next command refuses, and the gap can be accepted again.
        self.0.accept().await.map_err(|error| AppendError::Unknown(self.0.unread(error).message))
    }
}

impl Inner {
    /// Reads records as they are stored. Fails if records that were seen before are missing, unless a gap covers them.
    pub(super) async fn read_stored(&self, start: Start) -> Result<Vec<Stored>, Unread> {
        match self.read_seen(start).await {
            Err(Unread::CutShort { was, .. }) if self.explains(was).await => {
                let looks = self.seen.as_ref().is_some_and(super::seen_note::SeenNote::only_looks);
                if !looks {
                    self.accept().await?;
                }
                self.store.read_as_is(start).await
            }
            read => read,
        }
    }

    /// Whether a gap in the ledger covers the loss of all records up to this one.
    async fn explains(&self, was: Seq) -> bool {
        let Ok(stored) = self.store.read_as_is(Start::Checkpoint).await else { return false };
        let Ok(records) = self.verify(&stored) else { return false };
        let ledger = Ledger::replay(records.into_iter().map(|sealed| sealed.entry));
        ledger.gap.is_some_and(|gap| gap.upto >= was)
    }

    /// Accepts the existing records as everything that was ever seen.
    async fn accept(&self) -> Result<(), Unread> {
        self.store.accept().await?;
        let stored = self.store.read_as_is(Start::Newest).await?;
        let newest = stored.last().and_then(|stored| crate::codec::decode(&stored.bytes).ok());
        let Some(newest) = newest else { return Ok(()) };
        if let Some(seen) = &self.seen {
            seen.accept(&newest.seal);
        }
        if let Some(whereabouts) = &self.whereabouts {
            whereabouts.accept(&newest.seal);
        }
        Ok(())
    }
}
