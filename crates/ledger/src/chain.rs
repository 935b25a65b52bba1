//! A log over any store. Each record contains the checksum of the one before it, so a changed, swapped or missing
//! record is detected.

mod announced;
mod checkpoint;
mod flaws;
mod gap;
mod presence;
mod read_ahead;
mod seen_note;
mod transfer;
mod unwritten;
mod whereabouts;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, anyhow};
use uuid::Uuid;

use super::codec::{self, LIMIT, Seal, Sealed};
use super::file::{FileStore, Folder};
use super::intent::Seq;
use super::record::{Entry, Record};
use super::store::{New, Sibling, Start, Store, Stored, Unread};
use super::{AppendError, Ledger, Log, Position, Unreadable, Untrusted};
pub use announced::Announced;
use checkpoint::Behind;
pub use checkpoint::checkpoint;
pub use gap::Restored;
pub use presence::Presence;
pub use read_ahead::ReadAhead;
use seen_note::SeenNote;
pub use transfer::{Facts, NotMoved};
pub use unwritten::{Kept, Taken, Twice};
use whereabouts::Whereabouts;

/// The last known record, and how much there is to read from the last checkpoint on, if all of that was seen.
#[derive(Clone, Debug, Default)]
struct Last {
    seal: Option<Seal>,
    behind: Option<Behind>,
}

impl Last {
    fn seq(&self) -> Seq {
        self.seal.as_ref().map_or(0, |seal| seal.seq)
    }
}

/// The ledger of one target.
///
/// Several processes and threads may use it at the same time: only one of them can create each record.
#[derive(Clone, Debug)]
pub struct Chain(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    /// Results that could not be written. They are stored on this machine, wherever the ledger is.
    unwritten: Folder,
    /// The runs in progress on this machine.
    presence: Folder,
    /// The newest record that was seen from this machine.
    seen: Option<SeenNote>,
    target: String,
    /// The lineage of the ledger if this process begins it. Chosen once, so that a repeated append writes the same
    /// bytes.
    fresh: String,
    /// The last record that this process read or wrote.
    last: Mutex<Last>,
    /// The configured place of the ledger, and what is known about other places.
    whereabouts: Option<Whereabouts>,
}

impl Chain {
    /// Returns the ledger of a target of the project in a folder. Reads and writes nothing yet.
    pub fn new(store: Arc<dyn Store>, root: &Path, target: &str) -> Self {
        Self(Arc::new(Inner {
            seen: SeenNote::of(&*store, Folder::new(root, "seen", target)),
            store,
            unwritten: Folder::new(root, "unwritten", target),
            presence: Folder::new(root, "running", target),
            target: target.to_owned(),
            fresh: Uuid::new_v4().to_string(),
            last: Mutex::default(),
            whereabouts: None,
        }))
    }

    /// Returns the ledger of a target in the place that the settings name. It detects a ledger in another place, so that no one
    /// starts a new one by mistake.
    pub fn as_set(store: Arc<dyn Store>, place: Option<&str>, root: &Path, target: &str) -> Self {
        let mut chain = Self::new(store, root, target);
        if let Some(inner) = Arc::get_mut(&mut chain.0) {
            inner.whereabouts = Some(Whereabouts::new(place, root, target));
        }
        chain
    }

    /// Returns the ledger of a remote target. While it is empty, it is refused if the usual remote of the project's repository has
    /// records of this target.
    #[must_use]
    pub fn asking_origin(mut self) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.whereabouts.iter_mut().for_each(Whereabouts::ask_origin);
        }
        self
    }

    /// Returns the ledger for a command that only inspects it: pushplan does not note which records and place it saw.
    pub fn only_looking(mut self) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.seen.iter_mut().for_each(SeenNote::only_look);
            inner.whereabouts.iter_mut().for_each(Whereabouts::only_look);
        }
        self
    }

    /// Returns the ledger of a target in files in the project's folder.
    pub fn in_files(root: &Path, target: &str) -> Self {
        Self::new(Arc::new(FileStore::new(root, target)), root, target)
    }

    /// The place of the ledger, for display.
    pub fn shown(&self) -> String {
        self.0.store.shown()
    }

    /// Why the ledger is not used, if it is refused.
    pub fn untrusted(&self) -> Option<&Untrusted> {
        self.0.store.untrusted()
    }

    pub fn target(&self) -> &str {
        &self.0.target
    }

    /// Returns every record from the first on.
    pub async fn history(&self) -> Result<Vec<Entry>, Unreadable> {
        let inner = &*self.0;
        let damaged = match inner.read_stored(Start::At(1)).await {
            Ok(stored) => match inner.verify(&stored) {
                Ok(records) => {
                    return Ok(inner.saw(records).await?.into_iter().map(|sealed| sealed.entry).collect());
                }
                Err(newer) if stored.iter().any(|stored| codec::is_newer(&stored.bytes)) => return Err(newer),
                Err(damaged) => damaged,
            },
            Err(missing @ Unread::Missing { .. }) => inner.unread(missing),
            Err(other) => return Err(inner.unread(other)),
        };
        // Reading from a checkpoint needs no earlier record.
        match inner.read(Start::Checkpoint).await {
            Ok(records) => Err(inner.before_checkpoint(&damaged, records.first().map_or(0, |first| first.seal.seq))),
            Err(_) => Err(damaged),
        }
    }

    /// Returns every record after this one. Unlike [`Log::read`], it does not begin at a checkpoint.
    pub async fn since(&self, after: Seq) -> Result<Vec<Entry>, Unreadable> {
        let records = self.0.read(Start::At(after.max(1))).await?;
        Ok(records.into_iter().map(|sealed| sealed.entry).filter(|entry| entry.seq > after).collect())
    }

    /// Reads the current position. Before the first record, it has no lineage.
    pub async fn position(&self) -> Result<Position, Unreadable> {
        let newest = self.0.read(Start::Newest).await?.pop();
        Ok(newest
            .map_or_else(Position::default, |Sealed { seal: Seal { lineage, seq, .. }, .. }| Position { lineage, seq }))
    }

    /// The position when this process last read or wrote the ledger.
    pub fn known(&self) -> Position {
        let last = self.0.last().seal;
        last.map_or_else(Position::default, |Seal { lineage, seq, .. }| Position { lineage, seq })
    }
}

impl Chain {
    /// Returns the ledgers of other targets in the same place, if the store can list them.
    pub async fn beside(&self) -> Result<Vec<(Sibling, Ledger)>, Unreadable> {
        let all = self.0.store.beside().await.map_err(|error| self.0.unread(error))?;
        let state = |sibling: &Sibling| {
            let entries = sibling.records.iter().filter_map(|stored| codec::decode(&stored.bytes).ok());
            Ledger::replay(entries.map(|sealed| sealed.entry))
        };
        Ok(all
            .into_iter()
            .map(|sibling| {
                let state = state(&sibling);
                (sibling, state)
            })
            .collect())
    }

    /// Reads the ledger from the beginning, as [`Log::read`] does. It calls `is_here` as soon as all records have arrived,
    /// before it decodes them. A look at the service from then on shows at least everything that the ledger records.
    pub async fn read_telling(&self, is_here: impl FnOnce() + Send) -> Result<Vec<Entry>, Unreadable> {
        self.read_from(0, is_here).await
    }

    async fn read_from(&self, after: Seq, is_here: impl FnOnce() + Send) -> Result<Vec<Entry>, Unreadable> {
        let inner = &*self.0;
        // The record that reading continues from proves that the next one follows it.
        let start = if after == 0 { Start::Checkpoint } else { Start::At(after) };
        let stored = inner.stored(start).await?;
        is_here();
        let records = inner.saw(inner.verify(&stored)?).await?;
        let behind = match after {
            0 => Some(Behind::default()),
            _ => inner.behind(after),
        };
        let new = stored.iter().zip(&records).filter(|(stored, _)| stored.seq > after);
        let add =
            |behind: Behind, (stored, sealed): (&Stored, &Sealed)| behind.and(&sealed.entry.record, stored.bytes.len());
        let behind = behind.map(|behind| new.fold(behind, add));
        drop(stored);
        let last = records.last().map(|sealed| sealed.seal.clone());
        if after > last.as_ref().map_or(0, |seal| seal.seq) {
            return Err(inner.cut_short(inner.read(Start::Newest).await?.last().map_or(0, |one| one.seal.seq), after));
        }
        // If the ledger was moved away from here, its last record names the current place, whatever other places
        // contain.
        if let Some(Record::Moved { to }) = records.last().map(|sealed| &sealed.entry.record) {
            return Err(inner.moved(to));
        }
        if after == 0 {
            inner.nothing_elsewhere(last.as_ref()).await?;
        }
        inner.remember(Last { seal: last, behind });
        Ok(records.into_iter().map(|sealed| sealed.entry).filter(|entry| entry.seq > after).collect())
    }
}

impl Log for Chain {
    async fn read(&self, after: Seq) -> Result<Vec<Entry>, Unreadable> {
        self.read_from(after, || {}).await
    }

    async fn append(&self, entry: &Entry) -> Result<(), AppendError> {
        let inner = &*self.0;
        let before = inner.before(entry.seq).await.map_err(AppendError::not_written)?;
        let lineage = before.as_ref().map_or(&inner.fresh, |seal| &seal.lineage);
        let previous = before.as_ref().map(|seal| &seal.checksum);
        let bytes = codec::encode(entry, lineage, previous);
        let number = entry.seq;
        if bytes.len() as u64 > LIMIT {
            return Err(AppendError::NotWritten(format!("record {number} would be larger than {LIMIT} bytes")));
        }
        // A record that cannot be read would block every later run.
        let sealed = codec::decode(&bytes)
            .map_err(|flaw| AppendError::NotWritten(format!("record {number}, once written, {flaw}")))?;
        let is_checkpoint = matches!(entry.record, Record::Checkpoint(_));
        inner.store.create(New { seq: number, bytes: &bytes, previous, is_checkpoint }).await?;
        if let Some(seen) = &inner.seen {
            seen.note(&sealed.seal);
        }
        inner.note_place(Some(&sealed));
        let behind = inner.behind(number - 1).map(|behind| behind.and(&entry.record, bytes.len()));
        inner.remember(Last { seal: Some(sealed.seal), behind });
        Ok(())
    }
}

impl Inner {
    fn remember(&self, last: Last) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = last;
    }

    fn last(&self) -> Last {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns how much there is to read up to a record, if that is the last known one.
    fn behind(&self, seq: Seq) -> Option<Behind> {
        Some(self.last()).filter(|last| last.seq() == seq)?.behind
    }

    /// Reads records, and checks the number of each and its link to the one before.
    async fn read(&self, start: Start) -> Result<Vec<Sealed>, Unreadable> {
        self.saw(self.verify(&self.stored(start).await?)?).await
    }

    fn verify(&self, stored: &[Stored]) -> Result<Vec<Sealed>, Unreadable> {
        let mut records: Vec<Sealed> = Vec::with_capacity(stored.len());
        for Stored { seq, bytes } in stored {
            let sealed = codec::decode(bytes).map_err(|flaw| self.flawed(*seq, &flaw))?;
            let before = records.last().map(|sealed| &sealed.seal);
            if let Some(before) = before.filter(|before| before.seq + 1 != *seq) {
                return Err(self.missing(before.seq + 1, *seq));
            }
            sealed.check(*seq, before).map_err(|flaw| self.flawed(*seq, &flaw))?;
            records.push(sealed);
        }
        Ok(records)
    }

    /// Returns the seal of the record before a new one; `None` if the new one is the first.
    async fn before(&self, seq: Seq) -> anyhow::Result<Option<Seal>> {
        let before = seq.checked_sub(1).context("records are counted from 1")?;
        if before == 0 {
            return Ok(None);
        }
        if let Some(seal) = self.last().seal.filter(|seal| seal.seq == before) {
            return Ok(Some(seal));
        }
        let stored = self.store.read(Start::At(before)).await.map_err(|error| self.unread(error))?;
        let stored = stored
            .first()
            .filter(|stored| stored.seq == before)
            .with_context(|| format!("record {before} is missing"))?;
        let sealed = codec::decode(&stored.bytes).map_err(|flaw| anyhow!("record {before} {flaw}"))?;
        sealed.check(before, None).map_err(|flaw| anyhow!("record {before} {flaw}"))?;
        Ok(Some(sealed.seal))
    }
}
