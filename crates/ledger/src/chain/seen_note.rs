//! The newest record that this machine has seen. A place that has lost its newest records cannot always detect that
//! itself, such as a server that was restored from a backup; a machine that has seen more can.

use pushplan_model::digest::Digest;

use super::Inner;
use crate::Unreadable;
use crate::codec::{Seal, Sealed};
use crate::file::{Folder, note_of, read_note};
use crate::intent::Seq;
use crate::record::Record;
use crate::store::{Start, Store, Stored, Unread};

/// The newest record that was seen in one place, with its lineage: one file per place, in `.pushplan/seen/<target>/`.
#[derive(Debug)]
pub struct SeenNote {
    folder: Folder,
    name: String,
    /// Whether the note is only read and never written.
    only_looks: bool,
}

impl SeenNote {
    /// Returns `None` if the store itself notes what it has seen.
    pub fn of(store: &dyn Store, folder: Folder) -> Option<Self> {
        let name = || format!("{}.txt", Digest::of(store.shown().as_bytes()).short());
        (!store.remembers()).then(|| Self { folder, name: name(), only_looks: false })
    }

    /// From now on, writes no note.
    pub(crate) fn only_look(&mut self) {
        self.only_looks = true;
    }

    /// Returns the noted record; `None` if the note cannot be read.
    pub fn newest(&self) -> Option<(Seq, String)> {
        let is_there = self.folder.exists().unwrap_or(false);
        let bytes = is_there.then(|| self.folder.read_file(&self.name)).and_then(Result::ok).flatten();
        read_note(&bytes?)
    }

    /// Notes a record. If that fails, less is detected, without other harm.
    pub fn note(&self, seal: &Seal) {
        if self.only_looks || self.newest().is_some_and(|(seq, lineage)| lineage == seal.lineage && seq >= seal.seq) {
            return;
        }
        if matches!(self.folder.exists(), Ok(true)) || self.folder.make().is_ok() {
            let _ = self.folder.replace(&self.name, &note_of(seal.seq, &seal.lineage));
        }
    }

    /// Accepts this record as the newest one that was ever seen.
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
    /// Reads records as they are stored. Fails if records that were seen before are missing, unless a gap covers them.
    pub(super) async fn stored(&self, start: Start) -> Result<Vec<Stored>, Unreadable> {
        self.read_stored(start).await.map_err(|error| self.unread(error))
    }

    /// Reads records as they are stored. Fails if later ones were seen before.
    pub(super) async fn read_seen(&self, start: Start) -> Result<Vec<Stored>, Unread> {
        // The note is read first, because an append writes it last.
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

    /// Notes the newest of these records. Fails if it does not belong to the ledger that was seen here before.
    pub(super) async fn saw(&self, records: Vec<Sealed>) -> Result<Vec<Sealed>, Unreadable> {
        if let (Some(seen), Some(Sealed { seal, .. })) = (&self.seen, records.last()) {
            if let Some((_, expected)) = seen.newest().filter(|(_, lineage)| *lineage != seal.lineage) {
                return Err(self.foreign(seal.seq, seal.lineage.clone(), expected));
            }
            seen.note(seal);
        }
        self.is_same_ledger(records.last()).await?;
        self.note_place(records.last());
        // A single record proves nothing about the ones before it.
        let begins = |first: &Sealed| first.seal.seq == 1 || matches!(first.entry.record, Record::Checkpoint(_));
        if let Some(newest) = records.last().filter(|_| records.len() > 1 || records.first().is_some_and(begins)) {
            self.store.is_sound(newest.seal.seq).await;
        }
        Ok(records)
    }

    /// Whether this is the lineage of the ledger that was seen here before.
    pub(super) fn is_own(&self, lineage: &str) -> bool {
        self.seen.as_ref().and_then(SeenNote::newest).is_some_and(|(_, known)| known == lineage)
    }

    /// How to continue without this record and all later ones, even if later ones were seen.
    pub(super) fn go_on(&self, seq: Seq) -> String {
        let go_on = format!("{}; then {}", self.store.go_on(seq), self.accept_gap());
        match self.seen.as_ref().filter(|seen| seen.newest().is_some_and(|(newest, _)| newest >= seq)) {
            Some(seen) => format!("remove {} on every machine that saw later records, and {go_on}", seen.shown()),
            None => go_on,
        }
    }
}
