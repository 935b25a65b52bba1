//! An emergency: requests were carried out, but the ledger cannot be written. Their results are kept in a second place,
//! and the next process that writes adds them to the ledger.

mod sorting;

use std::fmt;

use anyhow::{anyhow, bail};
use pushplan_model::text;
use uuid::Uuid;

use super::Chain;
use crate::codec;
use crate::intent::Outcome;
use crate::record::{Ended, Entry, Record};
use crate::store::Start;
use crate::{AppendError, Ledger, Log, Running, Unreadable};
use sorting::Sorted;

/// How many times an append is tried while others append as well.
const TRIES: usize = 20;

/// Results that are not in the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The record to write, with the first number that its run did not get.
    pub entry: Entry,
    /// Their file, relative to the project's folder.
    pub file: String,
    name: String,
    lineage: String,
}

impl Kept {
    pub fn outcomes(&self) -> &[Outcome] {
        match &self.entry.record {
            Record::Outcomes(outcomes) => outcomes,
            _ => &[],
        }
    }

    /// The run that has ended, if its end could not be written.
    fn ended(&self) -> Option<&str> {
        match &self.entry.record {
            Record::End { run, .. } => Some(run),
            _ => None,
        }
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { at, actor, .. } = &self.entry;
        let results = text::count(self.outcomes().len(), "result");
        write!(f, "{results} of {actor} at {at:.0} could not be written to the ledger:")?;
        self.outcomes().iter().try_for_each(|outcome| write!(f, "\n  {outcome}"))
    }
}

/// The outcome of adding kept results to the ledger.
#[derive(Debug, Default, PartialEq)]
pub struct Taken {
    /// Results that are in the ledger now.
    pub taken: Vec<Outcome>,
    /// Results that another run has dealt with since: they no longer matter.
    pub outdated: Vec<Outcome>,
    /// Resources that may exist twice.
    pub twice: Vec<Twice>,
}

/// A created resource that a run without knowledge of it may have created again.
#[derive(Clone, Debug, PartialEq)]
pub struct Twice {
    pub made: Outcome,
    /// The id that the ledger has for it; this creation is then not added. `None`: the result of the other creation is
    /// unknown.
    pub other: Option<String>,
    /// The file that keeps it.
    pub file: String,
}

impl Chain {
    /// Keeps outcomes that could not be appended, and returns their file. The entry has the first number that the run
    /// did not get: records of others from there on are newer.
    pub fn keep(&self, entry: &Entry) -> anyhow::Result<String> {
        let inner = &*self.0;
        if !matches!(entry.record, Record::Outcomes(_) | Record::End { .. }) {
            bail!("only outcomes and the end of a run are kept: nothing else was done on the service");
        }
        let name = format!("{:08}.{}.json", entry.seq, Uuid::new_v4().simple());
        inner.unwritten.make()?;
        inner.unwritten.create_file(&name, &codec::encode(entry, &self.lineage(), None))?;
        Ok(inner.unwritten.shown(&name))
    }

    /// Returns an entry that can be neither appended nor kept here, as one line to store anywhere. [`Self::kept_in`] reads it.
    pub fn keepsake(&self, entry: &Entry) -> Vec<u8> {
        codec::encode_printed(entry, &self.lineage())
    }

    fn lineage(&self) -> String {
        let inner = &*self.0;
        inner.last().seal.map_or_else(|| inner.fresh.clone(), |seal| seal.lineage)
    }

    /// Returns the kept results, in the order of their records.
    pub fn kept(&self) -> Result<Vec<Kept>, Unreadable> {
        let all = self.kept_records()?;
        Ok(all.into_iter().filter(|kept| matches!(kept.entry.record, Record::Outcomes(_))).collect())
    }

    /// Returns the kept results that are still to be written. It leaves out those that someone else has dealt with since, for
    /// example from a copy of the file.
    pub async fn unwritten(&self) -> Result<Vec<Kept>, Unreadable> {
        let mut all = self.kept()?;
        if all.is_empty() {
            return Ok(all);
        }
        let position = self.position().await?;
        for kept in all.iter_mut().filter(|kept| kept.lineage == position.lineage) {
            let since = self.0.read(Start::At(kept.entry.seq)).await?;
            let since: Vec<Entry> = since.into_iter().map(|sealed| sealed.entry).collect();
            kept.entry.record = Record::Outcomes(self.sorted(kept, &since).await?.unsaid());
        }
        all.retain(|kept| !kept.outcomes().is_empty());
        Ok(all)
    }

    /// Whether a run has ended on this machine without a record of that in the ledger.
    pub fn has_ended(&self, run: &str) -> Result<bool, Unreadable> {
        Ok(self.kept_records()?.iter().any(|kept| kept.ended() == Some(run)))
    }

    fn kept_records(&self) -> Result<Vec<Kept>, Unreadable> {
        let folder = &self.0.unwritten;
        let unreadable = |why: anyhow::Error| {
            let message = format!("results of an earlier run cannot be read: {why}");
            let help = format!("they are not in the ledger; check the files in {}", folder.shown(""));
            Unreadable { message, help: Some(help) }
        };
        // Notes next to an untrusted ledger may have the same origin.
        if self.0.store.untrusted().is_some() || !folder.exists().map_err(unreadable)? {
            return Ok(Vec::new());
        }
        let mut all = Vec::new();
        for name in folder.names().map_err(unreadable)? {
            let file = folder.shown(&name);
            // Another process may have added it to the ledger just now.
            let Some(bytes) = folder.read_file(&name).map_err(unreadable)? else { continue };
            let sealed = codec::decode(&bytes).map_err(|flaw| unreadable(anyhow!("{file} {flaw}")))?;
            all.push(Kept { entry: sealed.entry, lineage: sealed.seal.lineage, file, name });
        }
        Ok(all)
    }

    /// Reads results that were kept for this ledger, on any machine.
    pub fn kept_in(&self, file: &str, bytes: &[u8]) -> anyhow::Result<Kept> {
        // A copy from a log may have another end of the line.
        let line = [bytes.trim_ascii(), b"\n"].concat();
        let sealed = codec::decode(&line).map_err(|flaw| anyhow!("{file} {flaw}"))?;
        if !matches!(sealed.entry.record, Record::Outcomes(_)) {
            bail!("{file} contains no results");
        }
        Ok(Kept { entry: sealed.entry, lineage: sealed.seal.lineage, file: file.to_owned(), name: String::new() })
    }

    /// Appends the results of a file, as [`Self::take_in`] does. The file is not removed.
    pub async fn restore(&self, kept: &Kept) -> Result<Taken, Unreadable> {
        let mut all = Taken::default();
        self.take_in_all(kept, &mut all).await?;
        Ok(all)
    }

    /// Appends kept results, except those that others have dealt with since. For a process that is about to write. The
    /// run that kept them is over afterwards.
    pub async fn take_in(&self) -> Result<Taken, Unreadable> {
        let mut all = Taken::default();
        for kept in self.kept_records()? {
            let before = all.twice.len();
            match kept.ended() {
                Some(run) => self.end(run, &kept).await?,
                None => self.take_in_all(&kept, &mut all).await?,
            }
            self.keep_held(&kept, &mut all.twice[before..])?;
            // If the file cannot be removed, its results are outdated when they are read again.
            let _ = self.0.unwritten.remove(&kept.name);
        }
        Ok(all)
    }

    /// Keeps results that were not added, in a file of their own.
    fn keep_held(&self, kept: &Kept, twice: &mut [Twice]) -> Result<(), Unreadable> {
        let mut held: Vec<&mut Twice> = twice.iter_mut().filter(|twice| twice.other.is_some()).collect();
        if held.is_empty() {
            return Ok(());
        }
        let record = Record::Outcomes(held.iter().map(|twice| twice.made.clone()).collect());
        let stays = self.keep(&Entry { record, ..kept.entry.clone() });
        let file = stays.map_err(|why| Unreadable { message: format!("{kept}\n{why}"), help: None })?;
        held.iter_mut().for_each(|twice| twice.file.clone_from(&file));
        Ok(())
    }

    /// Ends a run in the ledger that has ended on this machine. If another process writes first, the run is over
    /// anyway.
    async fn end(&self, run: &str, kept: &Kept) -> Result<(), Unreadable> {
        let ledger = Ledger::replay(self.read(0).await?);
        if ledger.run.is_some_and(|running| running.run == run) {
            let _ = self.append(&Entry { seq: ledger.seq + 1, ..kept.entry.clone() }).await;
        }
        Ok(())
    }

    async fn take_in_all(&self, kept: &Kept, all: &mut Taken) -> Result<(), Unreadable> {
        for _ in 0..TRIES {
            if self.take_in_one(kept, all).await? {
                return Ok(());
            }
        }
        let message = format!("another process is writing to the ledger of `{}`", self.0.target);
        Err(Unreadable { message, help: Some("run the command again".into()) })
    }

    /// Tries once; returns `false` if another process wrote first.
    async fn take_in_one(&self, kept: &Kept, all: &mut Taken) -> Result<bool, Unreadable> {
        let cannot = |why: String| {
            let help = format!("they are kept in {}", kept.file);
            Unreadable { message: format!("{kept}\nThey still cannot be written: {why}"), help: Some(help) }
        };
        let position = self.position().await?;
        if position.lineage != kept.lineage {
            return Err(cannot("they belong to another ledger".into()));
        }
        let since = self.read(kept.entry.seq.saturating_sub(1).clamp(1, position.seq)).await?;
        let since: Vec<Entry> = since.into_iter().filter(|entry| entry.seq >= kept.entry.seq).collect();
        let Sorted { fresh, made, twice, outdated } = self.sorted(kept, &since).await?;
        let first = since.last().map_or(position.seq, |entry| entry.seq) + 1;
        let mut seq = first;
        let entry = |seq, record| Entry { seq, record, ..kept.entry.clone() };
        let (made, adopted): (Vec<Outcome>, Vec<_>) = made.into_iter().unzip();
        for (outcomes, record) in [(fresh.clone(), Record::Outcomes(fresh)), (made, Record::Adopt(adopted))] {
            if outcomes.is_empty() {
                continue;
            }
            match self.append(&entry(seq, record)).await {
                Ok(()) => {}
                Err(AppendError::Conflict) => return Ok(false),
                Err(AppendError::NotWritten(why) | AppendError::Unknown(why)) => return Err(cannot(why)),
            }
            all.taken.extend(outcomes);
            seq += 1;
        }
        // These records count as written by the run and would extend its lease, but a run that keeps results is over.
        // If its end cannot be written here, it is over when the lease is.
        let is_the_last = seq > first && since.iter().all(|entry| !matches!(entry.record, Record::Begin(_)));
        if is_the_last && let Some(Running { run, .. }) = Ledger::replay(self.read(0).await?).run {
            let _ = self.append(&entry(seq, Record::End { run, ended: Ended::Interrupted })).await;
        }
        // After a conflict, some results are in the ledger from the previous attempt.
        let outdated: Vec<Outcome> = outdated.into_iter().filter(|outcome| !all.taken.contains(outcome)).collect();
        all.outdated.extend(outdated);
        all.twice.extend(twice);
        Ok(true)
    }
}
