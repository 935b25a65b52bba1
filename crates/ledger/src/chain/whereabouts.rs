//! Where a ledger is according to the settings, and where it was. An empty place is a new ledger only if there is none
//! elsewhere: with an empty ledger by mistake, everything would be created again.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(feature = "git")]
use std::time::Duration;

use pushplan_model::digest::Digest;

use super::Inner;
use crate::Unreadable;
use crate::codec::{self, Seal, Sealed};
use crate::file::{FileStore, Folder, note_of, read_note};
#[cfg(feature = "git")]
use crate::git::GitStore;
use crate::place;
use crate::record::{Entry, Record};
use crate::store::{Start, Store};

/// The note of the place where this machine last saw records of a target, in `.pushplan/seen/<target>/`.
const NOTE: &str = "place";

/// The note of the ledger that this machine has seen for a target, in any place. It is next to the one of the place.
const LINEAGE: &str = "lineage";

/// The time limit for asking a remote whether it has records.
#[cfg(feature = "git")]
const ASKED_WITHIN: Duration = Duration::from_secs(15);

/// The configured place, and what is known about other places.
#[derive(Debug)]
pub struct Whereabouts {
    root: PathBuf,
    target: String,
    /// As written in the settings.
    place: String,
    folder: Folder,
    /// Whether notes are only read and never written.
    only_looks: bool,
    /// Whether it was noted that the ledger is in this place.
    is_noted: AtomicBool,
    /// Whether the remote of the project's repository may have records that this clone has not seen.
    asks_origin: AtomicBool,
}

/// Evidence against starting in an empty place.
pub struct Elsewhere {
    /// The place of the ledger, as settings name it.
    pub place: String,
    /// The files to move away in order to start with an empty ledger.
    pub told_by: Vec<String>,
}

impl Whereabouts {
    pub fn new(place: Option<&str>, root: &Path, target: &str) -> Self {
        Self {
            root: root.to_owned(),
            target: target.to_owned(),
            place: place.unwrap_or(place::HOME).to_owned(),
            folder: Folder::new(root, "seen", target),
            only_looks: false,
            is_noted: AtomicBool::new(false),
            asks_origin: AtomicBool::new(false),
        }
    }

    /// From now on, compares an empty place with the usual remote of the project's repository.
    pub(crate) fn ask_origin(&mut self) {
        *self.asks_origin.get_mut() = true;
    }

    /// From now on, writes no notes.
    pub(crate) fn only_look(&mut self) {
        self.only_looks = true;
    }

    /// The place, as written.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns the records next to the manifests, if the settings name another place.
    fn home(&self) -> Option<FileStore> {
        (self.place != place::HOME).then(|| FileStore::new(&self.root, &self.target))
    }

    fn is_here(&self, place: &str) -> bool {
        place::is_same(place, &self.place, &self.root, &self.target)
    }

    /// Notes the place and the lineage of the ledger that has this newest record. If that fails, less is detected,
    /// without other harm.
    pub fn note(&self, newest: &Sealed) {
        let place = match &newest.entry.record {
            Record::Moved { to } => to,
            _ if self.is_noted.swap(true, Ordering::Relaxed) => return,
            _ => &self.place,
        };
        // Records that were read belong to the known ledger. A record that was just written may begin another one.
        if self.lineage().as_ref() != Some(&newest.seal.lineage) {
            self.accept(&newest.seal);
        }
        if self.only_looks || self.noted().as_ref() == Some(place) {
            return;
        }
        if matches!(self.folder.exists(), Ok(true)) || self.folder.make().is_ok() {
            let note = format!("{place}\n{}\n", Digest::of(place.as_bytes()));
            let _ = self.folder.replace(NOTE, note.as_bytes());
        }
    }

    /// Accepts a ledger as the one of this target.
    pub fn accept(&self, seal: &Seal) {
        if !self.only_looks && (matches!(self.folder.exists(), Ok(true)) || self.folder.make().is_ok()) {
            let _ = self.folder.replace(LINEAGE, &note_of(seal.seq, &seal.lineage));
        }
    }

    /// Returns the lineage of the ledger that was seen; `None` if the note cannot be read.
    fn lineage(&self) -> Option<String> {
        let is_there = self.folder.exists().unwrap_or(false);
        let bytes = is_there.then(|| self.folder.read_file(LINEAGE)).and_then(Result::ok).flatten()?;
        read_note(&bytes).map(|(_, lineage)| lineage)
    }

    /// Returns the noted place; `None` if the note cannot be read.
    fn noted(&self) -> Option<String> {
        let is_there = self.folder.exists().unwrap_or(false);
        let bytes = is_there.then(|| self.folder.read_file(NOTE)).and_then(Result::ok).flatten()?;
        let (place, digest) = str::from_utf8(&bytes).ok()?.strip_suffix('\n')?.rsplit_once('\n')?;
        (Digest::of(place.as_bytes()).as_str() == digest).then(|| place.to_owned())
    }

    /// Returns where the ledger is instead, by the place that was last seen and by the record that a move left next to
    /// the manifests.
    fn elsewhere(&self, moved: Option<String>) -> Option<Elsewhere> {
        let noted = self.noted().filter(|place| place != place::HOME);
        let place = noted.clone().or_else(|| moved.clone()).filter(|place| !self.is_here(place))?;
        let of_note = noted.map(|_| self.folder.shown(NOTE));
        let of_home = moved.filter(|to| !self.is_here(to)).and(self.home()).map(|home| home.shown());
        Some(Elsewhere { place, told_by: of_home.into_iter().chain(of_note).collect() })
    }
}

impl Inner {
    /// Notes the place of the ledger, by its newest record.
    pub(super) fn note_place(&self, newest: Option<&Sealed>) {
        if let (Some(whereabouts), Some(newest)) = (&self.whereabouts, newest) {
            whereabouts.note(newest);
        }
    }

    /// Checks that records belong to the ledger that this machine has seen, and, in a fresh clone, that the remote of
    /// the project's repository has no other one. With another ledger, everything would be created again, and its
    /// resources would be deleted.
    pub(super) async fn is_same_ledger(&self, newest: Option<&Sealed>) -> Result<(), Unreadable> {
        let (Some(whereabouts), Some(Sealed { entry, seal, .. })) = (&self.whereabouts, newest) else { return Ok(()) };
        if matches!(entry.record, Record::Moved { .. }) {
            return Ok(());
        }
        match whereabouts.lineage() {
            Some(known) if known == seal.lineage => Ok(()),
            Some(_) => {
                let was = whereabouts.noted().filter(|place| !whereabouts.is_here(place));
                Err(self.is_another(was.as_deref(), &whereabouts.folder.shown(LINEAGE)))
            }
            None => self.same_on_origin(whereabouts, seal).await,
        }
    }

    /// Checks that the remote has no other ledger. A moved ledger left its records there, with a last one that names
    /// the new place.
    async fn same_on_origin(&self, whereabouts: &Whereabouts, here: &Seal) -> Result<(), Unreadable> {
        if !whereabouts.asks_origin.load(Ordering::Relaxed) {
            return Ok(());
        }
        #[cfg(feature = "git")]
        {
            let origin = GitStore::new(&whereabouts.root, None, &whereabouts.target).within(ASKED_WITHIN);
            if origin.shown() != self.store.shown() && origin.has_records().await {
                let newest = origin.read_as_is(Start::Newest).await.ok().and_then(|mut stored| stored.pop());
                let lineage = newest.and_then(|newest| codec::lineage(&newest.bytes));
                if lineage.is_none_or(|lineage| lineage != here.lineage) {
                    return Err(self.is_another_on_origin(&origin.shown()));
                }
            }
        }
        #[cfg(not(feature = "git"))]
        let _ = here;
        whereabouts.asks_origin.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Checks that this place has the whole ledger: an empty place is a new ledger, and existing records are complete,
    /// unless there are more next to the manifests or they were seen elsewhere.
    pub(super) async fn nothing_elsewhere(&self, newest: Option<&Seal>) -> Result<(), Unreadable> {
        let Some(whereabouts) = &self.whereabouts else { return Ok(()) };
        match newest {
            None => self.begins(whereabouts).await,
            Some(newest) => self.has_all(whereabouts, newest).await,
        }
    }

    async fn begins(&self, whereabouts: &Whereabouts) -> Result<(), Unreadable> {
        let mut moved = None;
        if let Some(home) = whereabouts.home() {
            match self.newest(&home).await?.map(|sealed| sealed.entry) {
                None => {}
                Some(Entry { record: Record::Moved { to }, .. }) => moved = Some(to),
                Some(Entry { seq, .. }) => return Err(self.left_behind(None, seq, &home.shown(), whereabouts.place())),
            }
        }
        match whereabouts.elsewhere(moved) {
            Some(found) => Err(self.is_elsewhere(&found, whereabouts.place())),
            None => self.nothing_on_origin(whereabouts).await,
        }
    }

    /// A fresh clone has seen no ledger. If the files name a new place, the records may still be where `ledger = "git"`
    /// stores them. A remote that does not answer is ignored, because many projects with another ledger have no access
    /// to it where pushplan runs.
    async fn nothing_on_origin(&self, whereabouts: &Whereabouts) -> Result<(), Unreadable> {
        if !whereabouts.asks_origin.load(Ordering::Relaxed) {
            return Ok(());
        }
        #[cfg(feature = "git")]
        {
            let origin = GitStore::new(&whereabouts.root, None, &whereabouts.target).within(ASKED_WITHIN);
            let is_here = origin.shown() == self.store.shown();
            if !is_here && origin.has_records().await {
                return Err(self.is_on_origin(&origin.shown(), whereabouts.place()));
            }
        }
        whereabouts.asks_origin.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// An interrupted move leaves the beginning of a ledger, or all of it, and no record of the move in the old place.
    /// An unreadable ledger there is ignored.
    async fn has_all(&self, whereabouts: &Whereabouts, here: &Seal) -> Result<(), Unreadable> {
        let Some(home) = whereabouts.home().filter(|_| !whereabouts.is_here(place::HOME)) else { return Ok(()) };
        let Ok(Some(Sealed { entry, seal, .. })) = self.newest(&home).await else { return Ok(()) };
        let is_left = seal.lineage == here.lineage && seal.seq >= here.seq;
        if is_left && !matches!(entry.record, Record::Moved { .. }) {
            return Err(self.left_behind(Some(here.seq), seal.seq, &home.shown(), whereabouts.place()));
        }
        Ok(())
    }

    /// Returns the newest record of another place.
    async fn newest(&self, store: &FileStore) -> Result<Option<Sealed>, Unreadable> {
        let stored = store.read(Start::Newest).await.map_err(|error| self.unread(error))?;
        Ok(self.verify(&stored)?.pop())
    }
}
