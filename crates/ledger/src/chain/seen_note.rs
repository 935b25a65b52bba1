//! What was seen of a ledger from this machine. A place that has lost its newest records cannot always say so itself, such as a
//! server that was restored from a backup: a machine that has seen more notices.

use pushplan_model::digest::Digest;

use super::Inner;
use crate::Unreadable;
use crate::codec::{Seal, Sealed};
use crate::file::{Folder, note_of, read_note};
use crate::intent::Seq;
use crate::record::Record;
use crate::store::{Start, Store, Stored, Unread};

/// The newest record that was seen in one place, with its lineage: a file for each place, beneath `.pushplan/seen/<target>/`.
#[derive(Debug)]
pub struct SeenNote {
    folder: Folder,
    name: String,
    /// Whether it is only compared with, and nothing is noted.
    only_looks: bool,
}

impl SeenNote {
    /// `None` where the store remembers by itself what it has seen.
    pub fn of(store: &dyn Store, folder: Folder) -> Option<Self> {
        let name = || format!("{}.txt", Digest::of(store.shown().as_bytes()).short());
        (!store.remembers()).then(|| Self { folder, name: name(), only_looks: false })
    }

    /// From here on, nothing is noted.
    pub(crate) fn only_look(&mut self) {
        self.only_looks = true;
    }

    /// What cannot be read is unknown.
    pub fn newest(&self) -> Option<(Seq, String)> {
        let is_there = self.folder.exists().unwrap_or(false);
        let bytes = is_there.then(|| self.folder.read_file(&self.name)).and_then(Result::ok).flatten();
        read_note(&bytes?)
    }

    /// Remembers a record. Where that fails, less is noticed and nothing else.
    pub fn note(&self, seal: &Seal) {
        if self.only_looks || self.newest().is_some_and(|(seq, lineage)| lineage == seal.lineage && seq >= seal.seq) {
            return;
        }
        if matches!(self.folder.exists(), Ok(true)) || self.folder.make().is_ok() {
            let _ = self.folder.replace(&self.name, &note_of(seal.seq, &seal.lineage));
        }
    }

    /// Takes this record for the newest that was ever seen.
    pub fn accept(&self, seal: &Seal) {
        if !self.only_looks && (matches!(self.folder.exists(), Ok(true)) || self.folder.make().is_ok()) {
            let _ = self.folder.replace(&self.name, &note_of(seal.seq, &seal.lineage));
        }
    }

    pub(crate) fn only_looks(&self) -> bool {
        self.only_looks
    }

    pub fn shown(&self) -> String {
        self.folder.shown(&self.name)
    }
}

impl Inner {
    /// Records as they are there, of a place that has all that was seen in it before.
    pub(super) async fn stored(&self, start: Start) -> Result<Vec<Stored>, Unreadable> {
        self.read_stored(start).await.map_err(|error| self.unread(error))
    }

    /// Records as they are there, or that later ones were seen before.
    pub(super) async fn read_seen(&self, start: Start) -> Result<Vec<Stored>, Unread> {
        // What was seen first: who appends meanwhile notes it last.
        let seen = self.seen.as_ref().and_then(SeenNote::newest);
        let stored = self.store.read(start).await?;
        let Some((was, _)) = seen else { return Ok(stored) };
        let last = match (stored.last(), start) {
            (Some(newest), _) => newest.seq,
            (None, Start::At(from)) if was < from => return Ok(stored),
            (None, Start::At(_)) => self.store.read(Start::Newest).await?.last().map_or(0, |newest| newest.seq),
            (None, Start::Checkpoint | Start::Newest) => 0,
        };
        if last < was {
            return Err(Unread::CutShort { last, was });
        }
        Ok(stored)
    }

    /// Remembers the newest of these records. It is of the ledger that was seen there before.
    pub(super) async fn saw(&self, records: Vec<Sealed>) -> Result<Vec<Sealed>, Unreadable> {
        if let (Some(seen), Some(Sealed { seal, .. })) = (&self.seen, records.last()) {
            if let Some((_, expected)) = seen.newest().filter(|(_, lineage)| *lineage != seal.lineage) {
                return Err(self.foreign(seal.seq, seal.lineage.clone(), expected));
            }
            seen.note(seal);
        }
        self.is_same_ledger(records.last()).await?;
        self.note_place(records.last());
        // One record by itself tells nothing of those before it.
        let begins = |first: &Sealed| first.seal.seq == 1 || matches!(first.entry.record, Record::Checkpoint(_));
        if let Some(newest) = records.last().filter(|_| records.len() > 1 || records.first().is_some_and(begins)) {
            self.store.is_sound(newest.seal.seq).await;
        }
        Ok(records)
    }

    /// Whether this is the lineage of the ledger that was seen there before.
    pub(super) fn is_own(&self, lineage: &str) -> bool {
        self.seen.as_ref().and_then(SeenNote::newest).is_some_and(|(_, known)| known == lineage)
    }

    /// How to do without every record from one on, also where more was seen.
    pub(super) fn go_on(&self, seq: Seq) -> String {
        let go_on = format!("{}; then {}", self.store.go_on(seq), self.accept_gap());
        match self.seen.as_ref().filter(|seen| seen.newest().is_some_and(|(newest, _)| newest >= seq)) {
            Some(seen) => format!("remove {} on every machine that saw later records, and {go_on}", seen.shown()),
            None => go_on,
        }
    }
}
