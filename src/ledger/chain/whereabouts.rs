//! Where a ledger is by the settings, and where it was. An empty place is the beginning of a ledger only where there is none
//! elsewhere: whoever begins anew by mistake makes everything a second time.

use std::path::{Path, PathBuf};

use super::Inner;
use crate::digest::Digest;
use crate::ledger::Unreadable;
use crate::ledger::codec::Sealed;
use crate::ledger::file::{FileStore, Folder};
use crate::ledger::place;
use crate::ledger::record::{Entry, Record};
use crate::ledger::store::{Start, Store};

/// The note of the place in which records of a target were last seen from this machine, beneath `.pushplan/seen/<target>/`.
const NOTE: &str = "place";

/// The place that the settings name, and what is known of others.
#[derive(Debug)]
pub struct Whereabouts {
    root: PathBuf,
    target: String,
    /// As it is written.
    place: String,
    folder: Folder,
    /// Whether it is only compared with, and nothing is noted.
    only_looks: bool,
}

/// What speaks against beginning anew in an empty place.
pub struct Elsewhere {
    /// Where the ledger is, as settings say it.
    pub place: String,
    /// What a person moves away who begins anew on purpose.
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
        }
    }

    /// From here on, nothing is noted.
    pub fn only_look(&mut self) {
        self.only_looks = true;
    }

    /// The place as it is written.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The records beside the manifests, where the settings name another place.
    fn home(&self) -> Option<FileStore> {
        (self.place != place::HOME).then(|| FileStore::new(&self.root, &self.target))
    }

    fn is_here(&self, place: &str) -> bool {
        place::is_same(place, &self.place, &self.root, &self.target)
    }

    /// Remembers where the ledger is that has this newest record. Where that fails, less is noticed and nothing else.
    pub fn note(&self, newest: &Record) {
        let place = match newest {
            Record::Moved { to } => to,
            _ => &self.place,
        };
        if self.only_looks || self.noted().as_ref() == Some(place) {
            return;
        }
        if matches!(self.folder.exists(), Ok(true)) || self.folder.make().is_ok() {
            let note = format!("{place}\n{}\n", Digest::of(place.as_bytes()));
            let _ = self.folder.replace(NOTE, note.as_bytes());
        }
    }

    /// What cannot be read is not known.
    fn noted(&self) -> Option<String> {
        let is_there = self.folder.exists().unwrap_or(false);
        let bytes = is_there.then(|| self.folder.read_file(NOTE)).and_then(Result::ok).flatten()?;
        let (place, digest) = str::from_utf8(&bytes).ok()?.strip_suffix('\n')?.rsplit_once('\n')?;
        (Digest::of(place.as_bytes()).as_str() == digest).then(|| place.to_owned())
    }

    /// Where the ledger is instead, by what was seen last and by the record that it left beside the manifests when it moved.
    fn elsewhere(&self, moved: Option<String>) -> Option<Elsewhere> {
        let noted = self.noted().filter(|place| place != place::HOME);
        let place = noted.clone().or_else(|| moved.clone()).filter(|place| !self.is_here(place))?;
        let of_note = noted.map(|_| self.folder.shown(NOTE));
        let of_home = moved.filter(|to| !self.is_here(to)).and(self.home()).map(|home| home.shown());
        Some(Elsewhere { place, told_by: of_home.into_iter().chain(of_note).collect() })
    }
}

impl Inner {
    /// Remembers where the ledger is, by its newest record.
    pub(super) fn note_place(&self, newest: Option<&Sealed>) {
        if let (Some(whereabouts), Some(newest)) = (&self.whereabouts, newest) {
            whereabouts.note(&newest.entry.record);
        }
    }

    /// An empty place is the beginning of a ledger, unless there is one beside the manifests, or one was seen elsewhere.
    pub(super) async fn nothing_elsewhere(&self) -> Result<(), Unreadable> {
        let Some(whereabouts) = &self.whereabouts else { return Ok(()) };
        let mut moved = None;
        if let Some(home) = whereabouts.home() {
            let newest = home.read(Start::Newest).await.map_err(|error| self.unread(error))?.pop();
            let newest = newest.map(|stored| self.verify(&[stored])).transpose()?.and_then(|mut records| records.pop());
            match newest.map(|sealed| sealed.entry) {
                None => {}
                Some(Entry { record: Record::Moved { to }, .. }) => moved = Some(to),
                Some(Entry { seq, .. }) => return Err(self.left_behind(seq, &home.shown(), whereabouts.place())),
            }
        }
        whereabouts.elsewhere(moved).map_or(Ok(()), |found| Err(self.is_elsewhere(&found, whereabouts.place())))
    }
}
