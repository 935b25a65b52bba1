//! Going on with a ledger that was restored from a backup. What was done after that backup is unknown, and the ledger
//! says so from then on: a [`Record::Gap`] stands where the lost records were.

use jiff::Timestamp;

use super::{Chain, Inner, Last};
use crate::intent::Seq;
use crate::record::{Entry, Record};
use crate::store::{Start, Stored, Unread};
use crate::{AppendError, Ledger, Log, Unreadable};

/// A ledger as it is there, whatever was seen of it before.
#[derive(Debug)]
pub struct Restored {
    pub ledger: Ledger,
    /// The newest record seen before, on this machine or by the mark; at least the last record there is.
    pub seen: Seq,
    /// The time of the last record that is there.
    pub since: Option<Timestamp>,
}

impl Chain {
    /// What is there, also where later records were there before.
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

    /// Records that everything after the last record there is lost. From then on, neither this place nor this machine asks for it.
    pub async fn accept_gap(&self, restored: &Restored, actor: &str, at: Timestamp) -> Result<(), AppendError> {
        let Restored { ledger, seen, since } = restored;
        let record = Record::Gap { since: *since, upto: *seen };
        self.append(&Entry { seq: ledger.seq + 1, at, actor: actor.to_owned(), record }).await?;
        // The record comes first: if this is interrupted, the next command refuses, and the gap can be accepted again.
        self.0.accept().await.map_err(|error| AppendError::Unknown(self.0.unread(error).message))
    }
}

impl Inner {
    /// Records as they are there, of a place that has all that was seen in it before, or says why not.
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

    /// Whether the ledger says that what was seen up to a record is lost.
    async fn explains(&self, was: Seq) -> bool {
        let Ok(stored) = self.store.read_as_is(Start::Checkpoint).await else { return false };
        let Ok(records) = self.verify(&stored) else { return false };
        let ledger = Ledger::replay(records.into_iter().map(|sealed| sealed.entry));
        ledger.gap.is_some_and(|gap| gap.upto >= was)
    }

    /// Takes what is there for all that was ever seen.
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
