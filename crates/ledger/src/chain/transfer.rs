//! The ledger as a whole: its facts, and its move to another place.

use jiff::Timestamp;

use super::{Chain, Inner, Last, Sealed, checkpoint};
use crate::codec::{self, Seal};
use crate::intent::Seq;
use crate::record::{Entry, Record};
use crate::state::Ledger;
use crate::store::{New, Start, Stored, Unread};
use crate::{AppendError, Log, Position, Unreadable};

/// How many times a copy is tried while other processes write.
const TRIES: usize = 5;

/// Facts about a ledger, read from the newest checkpoint on.
#[derive(Debug)]
pub struct Facts {
    pub position: Position,
    /// The newest record.
    pub last: Option<Entry>,
    /// The checkpoint that reading begins at.
    pub checkpoint: Option<Seq>,
    /// The number of bytes that were read.
    pub bytes: usize,
    pub ledger: Ledger,
}

impl Facts {
    /// Returns the place where the ledger continues, if it was moved.
    pub fn moved_to(&self) -> Option<&str> {
        match self.last.as_ref().map(|entry| &entry.record) {
            Some(Record::Moved { to }) => Some(to),
            _ => None,
        }
    }
}

/// Why a ledger was not moved.
#[derive(Debug)]
pub enum NotMoved {
    Unreadable(Unreadable),
    /// It has no record.
    Empty,
    /// It is already in that place.
    Already(String),
    /// An apply is running.
    Busy(String),
    /// The other place cannot be read: the reason, and how to fix it.
    Closed {
        why: String,
        help: Option<String>,
    },
    /// The other place contains something else.
    Taken(String),
    /// The other place contains the beginning of it, from before it was moved away from there.
    Former(String),
    /// This place is closed, and the other one, which an earlier move had closed, could not be reopened.
    Halfway(String),
    /// A record could not be written or read back.
    Failed(String),
}

impl From<Unreadable> for NotMoved {
    fn from(error: Unreadable) -> Self {
        Self::Unreadable(error)
    }
}

impl Chain {
    /// Returns the facts of the ledger, even if it was moved.
    pub async fn facts(&self) -> Result<Facts, Unreadable> {
        let inner = &*self.0;
        let stored = inner.stored(Start::Checkpoint).await?;
        let bytes = stored.iter().map(|stored| stored.bytes.len()).sum();
        let records = inner.saw(inner.verify(&stored)?).await?;
        let position =
            records.last().map(|Sealed { seal, .. }| Position { lineage: seal.lineage.clone(), seq: seal.seq });
        let entries: Vec<Entry> = records.into_iter().map(|sealed| sealed.entry).collect();
        let is_checkpoint = |entry: &&Entry| matches!(entry.record, Record::Checkpoint(_));
        Ok(Facts {
            position: position.unwrap_or_default(),
            last: entries.last().cloned(),
            checkpoint: entries.first().filter(is_checkpoint).map(|entry| entry.seq),
            bytes,
            ledger: Ledger::replay(entries),
        })
    }

    /// Copies every record to another place, checks that all of them arrived, and records the move here: from then on,
    /// this place accepts no record. Returns the number of records.
    pub async fn move_to(&self, to: &Self, place: &str, actor: &str, at: Timestamp) -> Result<usize, NotMoved> {
        for _ in 0..TRIES {
            let all = self.0.stored(Start::At(1)).await?;
            let records = self.0.verify(&all)?;
            let last = records.last().ok_or(NotMoved::Empty)?;
            let left = to.0.left(&records).await?;
            if let Record::Moved { to: there } = &last.entry.record {
                return match left.filter(|_| there == place) {
                    // A move back was interrupted.
                    Some(newest) => to.open_again(newest, &records, actor, at).await.map(|()| all.len()),
                    None => Err(NotMoved::Already(there.clone())),
                };
            }
            let (seq, seal) = (last.seal.seq + 1, last.seal.clone());
            if let Some(run) = Ledger::replay(records.iter().map(|sealed| sealed.entry.clone())).run {
                return Err(NotMoved::Busy(format!(
                    "the run that {} started at {:.0} has not ended",
                    run.actor, run.since
                )));
            }
            if left.is_none() {
                to.0.copy(&all, &records).await?;
            }
            let entry = Entry { seq, at, actor: actor.to_owned(), record: Record::Moved { to: place.to_owned() } };
            self.0.remember(Last { seal: Some(seal), behind: None });
            match self.append(&entry).await {
                Ok(()) => {
                    // This place is closed before the other one is opened, so that both can never be written to at the
                    // same time.
                    if let Some(newest) = left {
                        to.open_again(newest, &records, actor, at).await?;
                    }
                    return Ok(all.len());
                }
                // Another process wrote first, and its record has to be copied as well.
                Err(AppendError::Conflict) => {}
                Err(AppendError::NotWritten(why) | AppendError::Unknown(why)) => return Err(NotMoved::Failed(why)),
            }
        }
        Err(NotMoved::Busy("other processes keep writing to it".to_owned()))
    }

    /// Reopens this place after an earlier move had closed it: a checkpoint after the record of that move contains the
    /// whole ledger.
    async fn open_again(&self, newest: Seal, records: &[Sealed], actor: &str, at: Timestamp) -> Result<(), NotMoved> {
        let mut ledger = Ledger::replay(records.iter().map(|sealed| sealed.entry.clone()));
        ledger.seq = newest.seq;
        self.0.remember(Last { seal: Some(newest), behind: None });
        self.append(&checkpoint::of(ledger, actor, at)).await.map_err(|error| match error {
            AppendError::Conflict => NotMoved::Halfway("another process writes there".to_owned()),
            AppendError::NotWritten(why) | AppendError::Unknown(why) => NotMoved::Halfway(why),
        })
    }
}

/// Whether a record leaves the state unchanged.
fn is_still(sealed: &Sealed) -> bool {
    matches!(sealed.entry.record, Record::Moved { .. } | Record::Checkpoint(_))
}

impl Inner {
    /// Returns the newest record of this place if the ledger can return to it: these records were here and moved away,
    /// and only moves and checkpoints were written since.
    async fn left(&self, records: &[Sealed]) -> Result<Option<Seal>, NotMoved> {
        let there = match self.read_stored(Start::At(1)).await {
            Err(Unread::Failed { why, help }) => return Err(NotMoved::Closed { why, help }),
            there => there.map_err(|error| self.unread(error))?,
        };
        // Anything else that is there is reported by the copy.
        let Ok(there) = self.verify(&there) else { return Ok(None) };
        let common = there.iter().zip(records).take_while(|(one, other)| one.seal == other.seal).count();
        let Some(newest) = there.last().filter(|_| common > 0) else { return Ok(None) };
        let is_closed = matches!(newest.entry.record, Record::Moved { .. });
        let is_still = there[common..].iter().chain(&records[common..]).all(is_still);
        // Numbers of records never decrease.
        let fits = there.len() + 1 >= records.len();
        Ok(Some(newest.seal.clone()).filter(|_| is_closed && is_still && fits))
    }

    /// Copies exactly these records to this place. The existing records must be the beginning of them.
    async fn copy(&self, all: &[Stored], records: &[Sealed]) -> Result<(), NotMoved> {
        let there = match self.read_stored(Start::At(1)).await {
            Err(Unread::Failed { why, help }) => return Err(NotMoved::Closed { why, help }),
            there => there.map_err(|error| self.unread(error))?,
        };
        let lineage = records.first().map(|first| &*first.seal.lineage);
        if let Some(Ok(Sealed { entry: Entry { record: Record::Moved { .. }, .. }, seal, .. })) =
            there.last().map(|last| codec::decode(&last.bytes))
            && Some(&*seal.lineage) == lineage
        {
            return Err(NotMoved::Former(self.store.shown()));
        }
        if !all.starts_with(&there) {
            return Err(NotMoved::Taken(self.store.shown()));
        }
        for (place, Stored { seq, bytes }) in all.iter().enumerate().skip(there.len()) {
            let previous = place.checked_sub(1).map(|before| &records[before].seal.checksum);
            let is_checkpoint = matches!(records[place].entry.record, Record::Checkpoint(_));
            match self.store.create(New { seq: *seq, bytes, previous, is_checkpoint }).await {
                Ok(()) => {}
                Err(AppendError::Conflict) => return Err(NotMoved::Taken(self.store.shown())),
                Err(AppendError::NotWritten(why) | AppendError::Unknown(why)) => return Err(NotMoved::Failed(why)),
            }
        }
        if self.stored(Start::At(1)).await? != all {
            return Err(NotMoved::Failed(format!("{} does not return what was written", self.store.shown())));
        }
        Ok(())
    }
}
