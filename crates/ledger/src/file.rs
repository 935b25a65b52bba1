//! The ledger as a folder of files: one for each record, never changed once it exists.

mod folder;

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::anyhow;
use pushplan_model::digest::Digest;

use super::AppendError;
use super::codec;
use super::intent::Seq;
use super::store::{New, Pending, Sibling, Start, Store, Stored, Unread, going_on, last_good};
use folder::NEWEST;
pub use folder::{Folder, OWN};

/// Stores records in the project's folder, in `.pushplan/ledger/<target>/`.
#[derive(Clone, Debug)]
pub struct FileStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: Folder,
    is_made: AtomicBool,
}

/// The range of existing records.
struct Extent {
    last: Seq,
    /// The newest noted record, with its lineage.
    noted: Option<(Seq, String)>,
}

impl FileStore {
    /// Returns the records of a target. Reads and writes nothing yet.
    pub fn new(root: &Path, target: &str) -> Self {
        Self(Arc::new(Inner { folder: Folder::new(root, "ledger", target), is_made: AtomicBool::new(false) }))
    }

    /// Returns the records of a target in its own subfolder of another folder, such as on a disk that several machines
    /// share.
    pub fn at(folder: &Path, target: &str) -> Self {
        Self(Arc::new(Inner { folder: Folder::shared(folder, target), is_made: AtomicBool::new(false) }))
    }
}

impl Store for FileStore {
    fn shown(&self) -> String {
        self.0.folder.shown("")
    }

    fn record(&self, seq: Seq) -> String {
        self.0.folder.shown(&Folder::file_name(seq))
    }

    fn go_on(&self, seq: Seq) -> String {
        let folder = self.0.folder.shown("");
        let going_on = going_on(seq);
        format!(
            "move record {seq}, all later records and the file `{NEWEST}` out of {folder} to {going_on}. Later \
                changes are then unknown: `pushplan plan` shows a resource as not managed if the service lists it, \
                and as new if not. Check the plan, and run `pushplan adopt ADDRESS --id ID` for everything that \
                already exists, so that nothing is sent twice"
        )
    }

    fn read(&self, start: Start) -> Pending<'_, Result<Vec<Stored>, Unread>> {
        self.0.clone().reading(start, Noted::Counts)
    }

    fn read_as_is(&self, start: Start) -> Pending<'_, Result<Vec<Stored>, Unread>> {
        self.0.clone().reading(start, Noted::Ignored)
    }

    fn beside(&self) -> Pending<'_, Result<Vec<Sibling>, Unread>> {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            let read = tokio::task::spawn_blocking(move || inner.beside()).await;
            read.unwrap_or_else(|error| Err(failed(error)))
        })
    }

    fn create<'a>(&'a self, new: New<'a>) -> Pending<'a, Result<(), AppendError>> {
        let inner = Arc::clone(&self.0);
        let New { seq, .. } = new;
        let (bytes, previous) = (new.bytes.to_vec(), new.previous.cloned());
        Box::pin(async move {
            let created = tokio::task::spawn_blocking(move || inner.create(seq, &bytes, previous.as_ref())).await;
            created.unwrap_or_else(|error| Err(AppendError::Unknown(error.to_string())))
        })
    }
}

fn failed(why: impl Display) -> Unread {
    Unread::Failed { why: why.to_string(), help: None }
}

/// Whether it is an error if noted records no longer exist.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Noted {
    Counts,
    Ignored,
}

impl Inner {
    fn reading(self: Arc<Self>, start: Start, noted: Noted) -> Pending<'static, Result<Vec<Stored>, Unread>> {
        Box::pin(async move {
            let read = tokio::task::spawn_blocking(move || self.read(start, noted)).await;
            read.unwrap_or_else(|error| Err(failed(error)))
        })
    }

    /// Returns the ledgers of other targets in the same place. Skips everything that is not a readable ledger.
    fn beside(&self) -> Result<Vec<Sibling>, Unread> {
        let here = self.folder.shown("");
        let folders = self.folder.beside().map_err(failed)?;
        let sibling = |folder: Folder| {
            let (name, shown) = (folder.target().to_owned(), folder.shown(""));
            let records =
                Self { folder, is_made: AtomicBool::new(true) }.read(Start::Checkpoint, Noted::Counts).ok()?;
            Some(Sibling { name, becomes: Some(format!("move {shown} to {here}")), shown, records })
        };
        Ok(folders.into_iter().filter_map(sibling).collect())
    }

    fn read(&self, start: Start, noted: Noted) -> Result<Vec<Stored>, Unread> {
        let extent = self.extent(noted)?;
        let last = extent.last;
        let mut found = match start {
            Start::Checkpoint => self.back_to_checkpoint(last)?,
            Start::At(from) => (from.max(1)..=last).map(|seq| self.stored(seq)).collect::<Result<_, _>>()?,
            Start::Newest => (last.max(1)..=last).map(|seq| self.stored(seq)).collect::<Result<Vec<_>, _>>()?,
        };
        found.sort_unstable_by_key(|stored| stored.seq);
        if let (Some((_, expected)), Some(newest)) = (extent.noted, found.last())
            && let Some(lineage) = codec::lineage(&newest.bytes).filter(|lineage| *lineage != expected)
            // A damaged record is reported as damaged, not as foreign.
            && codec::decode(&newest.bytes).is_ok()
        {
            let seq = self.first_foreign(newest.seq, &expected)?;
            return Err(Unread::Foreign { seq, lineage, expected });
        }
        Ok(found)
    }

    /// Returns the first record that belongs to another ledger. The last one is known to be such a record.
    fn first_foreign(&self, last: Seq, expected: &str) -> Result<Seq, Unread> {
        for seq in 1..last {
            if codec::lineage(&self.stored(seq)?.bytes).is_none_or(|lineage| lineage != expected) {
                return Ok(seq);
            }
        }
        Ok(last)
    }

    /// Returns the range of records. Fails if one is missing in between.
    fn extent(&self, noted: Noted) -> Result<Extent, Unread> {
        let folder = &self.folder;
        let there = folder.exists().and_then(|there| {
            // The note is read first, because an append writes it last.
            let note = if there { folder.read_file(NEWEST)? } else { None };
            Ok((note, if there { folder.records()? } else { Vec::new() }))
        });
        let (note, records) = there.map_err(failed)?;
        let is_there = |seq| folder.tail(seq).map_err(failed);
        let mut last = 0;
        for seq in records {
            // A listing that is read during an append may lack a record and contain later ones.
            while last + 1 < seq {
                if is_there(last + 1)?.is_none() {
                    return Err(Unread::Missing { seq: last + 1, there: seq });
                }
                last += 1;
            }
            last = seq;
        }
        while is_there(last + 1)?.is_some() {
            last += 1;
        }
        let extent = Extent { last, noted: note.as_deref().and_then(read_note) };
        match &extent.noted {
            Some((was, _)) if *was > last && noted == Noted::Counts => Err(Unread::CutShort { last, was: *was }),
            _ => Ok(extent),
        }
    }

    /// Reads backwards from the newest record to the newest checkpoint.
    fn back_to_checkpoint(&self, last: Seq) -> Result<Vec<Stored>, Unread> {
        let mut found = Vec::new();
        for seq in (1..=last).rev() {
            let stored = self.stored(seq)?;
            let is_checkpoint = codec::is_checkpoint(&stored.bytes);
            found.push(stored);
            if is_checkpoint {
                break;
            }
        }
        Ok(found)
    }

    fn stored(&self, seq: Seq) -> Result<Stored, Unread> {
        let unreadable = |why: anyhow::Error| {
            let help = format!("{}; make it readable and run the command again", last_good(seq));
            Unread::Failed { why: why.to_string(), help: Some(help) }
        };
        let bytes = self.folder.read(seq).map_err(unreadable)?;
        Ok(Stored { seq, bytes: bytes.ok_or(Unread::Missing { seq, there: seq })? })
    }

    fn create(&self, seq: Seq, bytes: &[u8], previous: Option<&Digest>) -> Result<(), AppendError> {
        self.follows(seq, previous).map_err(AppendError::not_written)?;
        if !self.is_made.load(Ordering::Acquire) {
            self.folder.make().map_err(AppendError::not_written)?;
            self.folder.clean(seq);
            self.is_made.store(true, Ordering::Release);
        }
        self.folder.create(seq, bytes)?;
        self.note(seq, bytes);
        Ok(())
    }

    /// Checks that the record before `seq` is still the one that was read: another ledger may have replaced it.
    fn follows(&self, seq: Seq, previous: Option<&Digest>) -> anyhow::Result<()> {
        let Some(previous) = previous else { return Ok(()) };
        let before = seq - 1;
        match self.folder.tail(before)? {
            Some(tail) if codec::stated(&tail) == Some(previous.as_str()) => Ok(()),
            Some(_) => Err(anyhow!("record {before} has changed since it was read")),
            None => Err(anyhow!("record {before} no longer exists")),
        }
    }

    /// Notes the newest record next to the others, so that its removal is detected. An older note does no harm.
    fn note(&self, seq: Seq, bytes: &[u8]) {
        let Some(lineage) = codec::lineage(bytes) else { return };
        let _ = self.folder.replace(NEWEST, &note_of(seq, &lineage));
    }
}

/// Returns the note of a newest record.
pub(super) fn note_of(seq: Seq, lineage: &str) -> Vec<u8> {
    let line = format!("{seq} {lineage}\n");
    format!("{line}{}\n", Digest::of(line.as_bytes())).into_bytes()
}

/// Returns the newest record and its lineage, if the note is intact.
pub(super) fn read_note(bytes: &[u8]) -> Option<(Seq, String)> {
    let text = str::from_utf8(bytes).ok()?;
    let (line, digest) =
        text.split_inclusive('\n').collect::<Vec<_>>().try_into().ok().map(|[a, b]: [&str; 2]| (a, b))?;
    if Digest::of(line.as_bytes()).as_str() != digest.trim_end() {
        return None;
    }
    let (seq, lineage) = line.trim_end().split_once(' ')?;
    Some((seq.parse().ok()?, lineage.to_owned()))
}
