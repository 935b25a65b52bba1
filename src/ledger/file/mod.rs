//! The ledger as a folder of files: one for each record, never changed once it is there.

mod folder;
mod unwritten;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use uuid::Uuid;

use super::codec::{self, Flaw, LIMIT, Seal, Sealed};
use super::record::{Entry, Record, Seq};
use super::state::Ledger;
use super::{AppendError, Log, Position, Unreadable};
use crate::digest::Digest;
use folder::{Folder, NEWEST};
pub use unwritten::{Kept, Taken};

/// After so many records a checkpoint is due.
const MANY: usize = 200;
/// So many bytes make one due as well, unless the last one was larger.
const LARGE: usize = 4 * 1024 * 1024;

/// The ledger of one target, beneath the project's folder in `.pushplan/ledger/<target>/`.
///
/// It may be used by several processes and threads at a time: each place is taken by one of them.
#[derive(Clone, Debug)]
pub struct FileLog(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: Folder,
    unwritten: Folder,
    target: String,
    /// The lineage of a ledger that has no record yet, if this is the one to begin it. Chosen once, so that an append that
    /// is tried again is the same append.
    fresh: String,
    /// The last record that was read or written here.
    last: Mutex<Option<Seal>>,
    is_made: AtomicBool,
}

/// What there is to read.
struct Extent {
    last: Seq,
    witness: Option<(Seq, String)>,
}

impl FileLog {
    /// The ledger of a target. Nothing is read or written yet.
    pub fn new(root: &Path, target: &str) -> Self {
        Self(Arc::new(Inner {
            folder: Folder::new(root, "ledger", target),
            unwritten: Folder::new(root, "unwritten", target),
            target: target.to_owned(),
            fresh: Uuid::new_v4().to_string(),
            last: Mutex::new(None),
            is_made: AtomicBool::new(false),
        }))
    }

    /// What [`Log::read`] does, for whoever has no runtime.
    pub fn load(&self, after: Seq) -> Result<Vec<Entry>, Unreadable> {
        let inner = &*self.0;
        let extent = inner.extent()?;
        if after > extent.last {
            return Err(inner.cut_short(extent.last, after));
        }
        let (mut found, from) = match after {
            0 => inner.back_to_checkpoint(extent.last),
            _ => (Vec::new(), after),
        };
        // The record that reading goes on from shows that the next one follows it.
        let records = inner.verify(from, extent.last, &mut found)?;
        inner.check_witness(&extent, records.last())?;
        inner.remember(records.last().map(|sealed| sealed.seal.clone()));
        Ok(records.into_iter().map(|sealed| sealed.entry).filter(|entry| entry.seq > after).collect())
    }

    /// Every record from the first on.
    pub fn history(&self) -> Result<Vec<Entry>, Unreadable> {
        let inner = &*self.0;
        let extent = inner.extent()?;
        let records = inner.verify(1, extent.last, &mut Vec::new())?;
        inner.check_witness(&extent, records.last())?;
        Ok(records.into_iter().map(|sealed| sealed.entry).collect())
    }

    /// Where the ledger stands. Before its first record it has no lineage.
    pub fn position(&self) -> Result<Position, Unreadable> {
        let inner = &*self.0;
        let extent = inner.extent()?;
        let records = inner.verify(extent.last.max(1), extent.last, &mut Vec::new())?;
        inner.check_witness(&extent, records.last())?;
        let lineage = records.last().map(|sealed| sealed.seal.lineage.clone()).unwrap_or_default();
        Ok(Position { lineage, seq: extent.last })
    }

    /// What tells this ledger from any other; `None` before its first record.
    pub fn lineage(&self) -> Result<Option<String>, Unreadable> {
        Ok(Some(self.position()?.lineage).filter(|lineage| !lineage.is_empty()))
    }

    /// What [`Log::append`] does, for whoever has no runtime.
    pub fn write(&self, entry: &Entry) -> Result<(), AppendError> {
        let inner = &*self.0;
        let before = inner.before(entry.seq).map_err(AppendError::NotWritten)?;
        let lineage = before.as_ref().map_or(&inner.fresh, |seal| &seal.lineage);
        let bytes = codec::encode(entry, lineage, before.as_ref().map(|seal| &seal.checksum));
        let number = entry.seq;
        if bytes.len() as u64 > LIMIT {
            return Err(AppendError::NotWritten(format!("record {number} would be larger than {LIMIT} bytes")));
        }
        // What cannot be read would stop everybody from then on.
        let sealed = codec::decode(&bytes)
            .map_err(|flaw| AppendError::NotWritten(format!("record {number}, once written, {flaw}")))?;
        if !inner.is_made.load(Ordering::Acquire) {
            inner.folder.make().map_err(AppendError::NotWritten)?;
            inner.folder.clean(number);
            inner.is_made.store(true, Ordering::Release);
        }
        inner.folder.create(number, &bytes)?;
        inner.witness(&sealed.seal);
        inner.remember(Some(sealed.seal));
        Ok(())
    }

    /// Appends a checkpoint where one is due, so that reading stays fast; says whether it did. For whoever writes, between
    /// runs. Somebody else's record in its place is no failure: the next one to come by does it.
    pub fn checkpoint(&self, actor: &str, at: Timestamp) -> Result<bool, Unreadable> {
        let entries = self.load(0)?;
        if !is_due(&entries) {
            return Ok(false);
        }
        let ledger = Ledger::replay(entries);
        let seq = ledger.seq + 1;
        let entry = Entry { seq, at, actor: actor.to_owned(), record: Record::Checkpoint(Box::new(ledger)) };
        // Without one, reading is slower and nothing else.
        Ok(self.write(&entry).is_ok())
    }
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

impl Log for FileLog {
    async fn read(&self, after: Seq) -> Result<Vec<Entry>, Unreadable> {
        let log = self.clone();
        let read = tokio::task::spawn_blocking(move || log.load(after)).await;
        read.unwrap_or_else(|error| Err(Unreadable { message: error.to_string(), help: None }))
    }

    async fn append(&self, entry: &Entry) -> Result<(), AppendError> {
        let (log, entry) = (self.clone(), entry.clone());
        let written = tokio::task::spawn_blocking(move || log.write(&entry)).await;
        written.unwrap_or_else(|error| Err(AppendError::Unknown(error.to_string())))
    }
}

impl Inner {
    fn remember(&self, seal: Option<Seal>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = seal;
    }

    fn last(&self) -> Option<Seal> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How far the records go. All of them are there, with none missing between.
    fn extent(&self) -> Result<Extent, Unreadable> {
        let folder = &self.folder;
        let there = folder.exists().and_then(|there| {
            // The witness first: who appends meanwhile writes it last.
            let witness = if there { folder.read_file(NEWEST)? } else { None };
            Ok((witness, if there { folder.records()? } else { Vec::new() }))
        });
        let (witness, records) = there.map_err(|message| self.unreadable(message, None))?;
        let is_there = |seq| folder.tail(seq).map_err(|message| self.unreadable(message, None));
        let mut last = 0;
        for seq in records {
            // A listing that is read while somebody appends may lack what it lists later ones of.
            while last + 1 < seq {
                if is_there(last + 1)?.is_none() {
                    return Err(self.missing(last + 1, seq));
                }
                last += 1;
            }
            last = seq;
        }
        while is_there(last + 1)?.is_some() {
            last += 1;
        }
        let extent = Extent { last, witness: witness.as_deref().and_then(read_witness) };
        match &extent.witness {
            Some((seq, _)) if *seq > last => Err(self.cut_short(last, *seq)),
            _ => Ok(extent),
        }
    }

    /// Reads back from the newest record to the newest sound checkpoint. Returns what was read, newest first, and where to
    /// begin.
    fn back_to_checkpoint(&self, last: Seq) -> (Vec<Result<Sealed, Unreadable>>, Seq) {
        let mut found = Vec::new();
        for seq in (1..=last).rev() {
            let sealed = self.sealed(seq);
            let is_checkpoint =
                sealed.as_ref().is_ok_and(|sealed| matches!(sealed.entry.record, Record::Checkpoint(_)));
            found.push(sealed);
            if is_checkpoint {
                return (found, seq);
            }
        }
        (found, 1)
    }

    /// The records of a stretch, each of them the one that its place says and bound to the one before it. Those that were read
    /// already are taken from the end of `read`.
    fn verify(
        &self,
        from: Seq,
        last: Seq,
        read: &mut Vec<Result<Sealed, Unreadable>>,
    ) -> Result<Vec<Sealed>, Unreadable> {
        let mut records: Vec<Sealed> = Vec::new();
        for seq in from..=last {
            let sealed = read.pop().unwrap_or_else(|| self.sealed(seq))?;
            let before = records.last().map(|sealed| &sealed.seal);
            sealed.check(seq, before).map_err(|flaw| self.flawed(seq, &flaw))?;
            records.push(sealed);
        }
        Ok(records)
    }

    fn sealed(&self, seq: Seq) -> Result<Sealed, Unreadable> {
        let bytes = self.folder.read(seq).map_err(|message| self.unreadable(message, Some(seq)))?;
        let bytes = bytes.ok_or_else(|| self.missing(seq, seq))?;
        codec::decode(&bytes).map_err(|flaw| self.flawed(seq, &flaw))
    }

    /// The record that a new one is to follow; `None` for the first.
    fn before(&self, seq: Seq) -> Result<Option<Seal>, String> {
        let before = seq.checked_sub(1).ok_or("records are counted from 1")?;
        if before == 0 {
            return Ok(None);
        }
        let Some(seal) = self.last().filter(|seal| seal.seq == before) else {
            let sealed = self.sealed(before).map_err(|error| error.message)?;
            sealed.check(before, None).map_err(|flaw| format!("record {before} {flaw}"))?;
            return Ok(Some(sealed.seal));
        };
        // Somebody may have put another ledger in the place of the one that was read.
        match self.folder.tail(before)? {
            Some(tail) if codec::stated(&tail) == Some(seal.checksum.as_str()) => Ok(Some(seal)),
            Some(_) => Err(format!("record {before} is no longer the one that was read")),
            None => Err(format!("record {before} is no longer there")),
        }
    }

    /// Notes the newest record beside the others, so that its removal is noticed. An older note does no harm.
    fn witness(&self, seal: &Seal) {
        let line = format!("{} {}\n", seal.seq, seal.lineage);
        let text = format!("{line}{}\n", Digest::of(line.as_bytes()));
        let _ = self.folder.replace(NEWEST, text.as_bytes());
    }

    fn check_witness(&self, extent: &Extent, last: Option<&Sealed>) -> Result<(), Unreadable> {
        match (&extent.witness, last) {
            (Some((_, expected)), Some(last)) if *expected != last.seal.lineage => {
                let (lineage, expected) = (last.seal.lineage.clone(), expected.clone());
                Err(self.flawed(last.seal.seq, &Flaw::Foreign { lineage, expected }))
            }
            _ => Ok(()),
        }
    }
}

/// The newest record and its lineage, where the note of them is sound.
fn read_witness(bytes: &[u8]) -> Option<(Seq, String)> {
    let text = str::from_utf8(bytes).ok()?;
    let (line, digest) =
        text.split_inclusive('\n').collect::<Vec<_>>().try_into().ok().map(|[a, b]: [&str; 2]| (a, b))?;
    if Digest::of(line.as_bytes()).as_str() != digest.trim_end() {
        return None;
    }
    let (seq, lineage) = line.trim_end().split_once(' ')?;
    Some((seq.parse().ok()?, lineage.to_owned()))
}

/// How to say what is wrong, and how to go on.
impl Inner {
    fn unreadable(&self, why: impl std::fmt::Display, seq: Option<Seq>) -> Unreadable {
        let message = format!("the ledger of `{}` cannot be read: {why}", self.target);
        let help = seq.map(|seq| format!("{}; make it readable and run the command again", last_good(seq)));
        Unreadable { message, help }
    }

    fn flawed(&self, seq: Seq, flaw: &Flaw) -> Unreadable {
        let good = last_good(seq);
        let file = self.folder.shown(&Folder::file_name(seq));
        let help = match flaw {
            Flaw::Newer { tool, .. } => format!("{good}; use pushplan {tool} or later"),
            Flaw::Foreign { .. } | Flaw::Misplaced { .. } => {
                format!("{good}; put back the files of this ledger alone, or {}", self.go_on(seq))
            }
            Flaw::Damaged(_) | Flaw::Loose => format!("{good}; put back {file} from a copy, or {}", self.go_on(seq)),
        };
        self.refuse(&format!("record {seq} {flaw}"), help)
    }

    fn missing(&self, seq: Seq, there: Seq) -> Unreadable {
        let file = self.folder.shown(&Folder::file_name(seq));
        let help = format!("{}; put back {file} from a copy, or {}", last_good(seq), self.go_on(seq));
        let though = if there == seq { String::new() } else { format!(", though record {there} is there") };
        self.refuse(&format!("record {seq} is missing{though}"), help)
    }

    fn cut_short(&self, last: Seq, was: Seq) -> Unreadable {
        let file = self.folder.shown(&Folder::file_name(was));
        let go_on = self.go_on(last + 1);
        let help = format!("{}; put back {file} and any before it from a copy, or {go_on}", last_good(last + 1));
        self.refuse(&format!("it ends with record {last}, and record {was} was there before"), help)
    }

    fn refuse(&self, what: &str, help: String) -> Unreadable {
        Unreadable { message: format!("the ledger of `{}` cannot be used: {what}", self.target), help: Some(help) }
    }

    /// How to do without a record.
    fn go_on(&self, seq: Seq) -> String {
        let folder = self.folder.shown("");
        let good = seq - 1;
        format!(
            "move every record from {seq} on, and the file `{NEWEST}`, out of {folder} to go on from record {good}: \
             what was done since is then not known. `pushplan plan` shows it as not yours where the service lists it, and as \
             new where it does not: look at the plan, and `pushplan adopt ADDRESS --id ID` what is there already, so that \
             nothing is sent twice"
        )
    }
}

fn last_good(seq: Seq) -> String {
    match seq - 1 {
        0 => "there is no good record".to_owned(),
        good => format!("the last good record is {good}"),
    }
}
