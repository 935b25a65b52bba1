//! Reads what came since the last checkpoint, and never all of history.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use object_store::list::PaginatedListOptions;
use tokio::task::JoinSet;

use super::failure::Failure;
use super::note::Note;
use super::{Inner, file_name};
use crate::codec;
use crate::intent::Seq;
use crate::store::{Start, Stored, Unread};

/// The number of records to read at the same time.
const AT_A_TIME: u64 = 16;

impl Inner {
    pub(super) async fn read(self: &Arc<Self>, start: Start) -> Result<Vec<Stored>, Unread> {
        // The note is read first, because an append writes it last.
        let note = self.note().await.map_err(|failure| self.unread(&failure, "read"))?;
        self.read_noted(start, note).await
    }

    /// Reads the existing records. Without a note, it is unknown how many there should be.
    pub(super) async fn read_noted(self: &Arc<Self>, start: Start, note: Option<Note>) -> Result<Vec<Stored>, Unread> {
        let from = match (start, &note) {
            (Start::At(seq), _) => seq.max(1),
            (Start::Checkpoint, Some(note)) => note.checkpoint,
            (Start::Newest, Some(note)) => note.seq.max(1),
            (_, None) => 1,
        };
        let last = self.last(from, note.as_ref()).await?;
        let records = match start {
            Start::At(_) => self.records(from..=last, last).await?,
            Start::Newest => self.records(last.max(1)..=last, last).await?,
            Start::Checkpoint => {
                // Without a note, the distance to the last checkpoint is unknown.
                let hint = note.as_ref().map_or(last.saturating_sub(AT_A_TIME).max(1), |_| from);
                self.back_to_checkpoint(hint, last).await?
            }
        };
        let records = self.onwards(records, from, last, start).await?;
        if start == Start::Checkpoint
            && let Some(first) = records.first()
        {
            self.checkpoint.fetch_max(first.seq, Ordering::AcqRel);
        }
        if let (Some(note), Some(newest)) = (note.filter(|note| note.seq > 0), records.last())
            && let Some(lineage) = codec::lineage(&newest.bytes).filter(|lineage| *lineage != note.lineage)
        {
            let is_foreign = |stored: &Stored| codec::lineage(&stored.bytes).is_none_or(|it| it != note.lineage);
            let all = self.records(1..=last, last).await?;
            let seq = all.iter().find(|stored| is_foreign(stored)).map_or(newest.seq, |first| first.seq);
            return Err(Unread::Foreign { seq, lineage, expected: note.lineage });
        }
        Ok(records)
    }

    /// Returns the newest listed record from this one on, or the number before it if there is none. Fails if one is
    /// missing in between.
    async fn last(&self, from: Seq, note: Option<&Note>) -> Result<Seq, Unread> {
        let mut last = from - 1;
        for seq in self.list(from).await? {
            // A listing that is read during an append may lack a record and contain later ones.
            while last + 1 < seq {
                if self.stored(last + 1).await?.is_none() {
                    return Err(Unread::Missing { seq: last + 1, there: seq });
                }
                last += 1;
            }
            last = seq;
        }
        match note {
            Some(note) if note.seq > last && note.seq >= from => {
                let last = if last < from { self.list(1).await?.last().copied().unwrap_or(0) } else { last };
                Err(Unread::CutShort { last, was: note.seq })
            }
            _ => Ok(last),
        }
    }

    /// Lists the numbers of the records from this one on, in order.
    async fn list(&self, from: Seq) -> Result<Vec<Seq>, Unread> {
        let offset = format!("{}{}", self.folder, file_name(from - 1));
        let mut page_token = None;
        let mut found = Vec::new();
        loop {
            let options = PaginatedListOptions {
                offset: Some(offset.clone()),
                delimiter: Some("/".into()),
                page_token,
                ..PaginatedListOptions::default()
            };
            let page = async {
                let read = &self.ways()?.read;
                self.within(read.list_paginated(Some(&self.folder), options)).await
            };
            let page = page.await.map_err(|failure| self.unread(&failure, "listed"))?;
            let names = page.result.objects.iter().filter_map(|object| {
                let digits = object.location.as_ref().strip_prefix(&self.folder)?.strip_suffix(".json")?;
                digits.parse::<Seq>().ok().filter(|seq| format!("{seq:08}") == digits)
            });
            // A store may ignore the offset and list all of them.
            found.extend(names.filter(|seq| *seq >= from));
            page_token = page.page_token;
            if page_token.is_none() {
                break;
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Reads backwards from the newest record to the newest checkpoint, which is expected at `hint`.
    async fn back_to_checkpoint(self: &Arc<Self>, hint: Seq, last: Seq) -> Result<Vec<Stored>, Unread> {
        let (mut low, mut high) = (hint, last);
        let mut later = Vec::new();
        loop {
            let mut found = self.records(low..=high, last).await?;
            let newest = found.iter().rposition(|stored| codec::is_checkpoint(&stored.bytes));
            if let Some(at) = newest {
                found.drain(..at);
            }
            found.append(&mut later);
            if newest.is_some() || low <= 1 {
                return Ok(found);
            }
            later = found;
            high = low - 1;
            low = high.saturating_sub(AT_A_TIME - 1).max(1);
        }
    }

    /// Adds records that were appended since the listing, or are not listed yet.
    async fn onwards(
        &self,
        mut records: Vec<Stored>,
        from: Seq,
        last: Seq,
        start: Start,
    ) -> Result<Vec<Stored>, Unread> {
        let mut next = last.max(from - 1) + 1;
        while let Some(stored) = self.stored(next).await? {
            if start == Start::Newest || (start == Start::Checkpoint && codec::is_checkpoint(&stored.bytes)) {
                records.clear();
            }
            records.push(stored);
            next += 1;
        }
        Ok(records)
    }

    async fn stored(&self, seq: Seq) -> Result<Option<Stored>, Unread> {
        let bytes = self.get(&file_name(seq)).await.map_err(|failure| self.unread_record(&failure, seq))?;
        Ok(bytes.map(|bytes| Stored { seq, bytes }))
    }

    /// Reads listed records, in order.
    async fn records(self: &Arc<Self>, places: RangeInclusive<Seq>, last: Seq) -> Result<Vec<Stored>, Unread> {
        let mut places = places;
        let mut under_way = JoinSet::new();
        let mut found = BTreeMap::new();
        loop {
            while under_way.len() < AT_A_TIME as usize
                && let Some(seq) = places.next()
            {
                let inner = Arc::clone(self);
                under_way.spawn(async move { (seq, inner.stored(seq).await) });
            }
            let Some(read) = under_way.join_next().await else { break };
            let (seq, stored) = read.map_err(|error| Unread::Failed { why: error.to_string(), help: None })?;
            found.insert(seq, stored?.ok_or(Unread::Missing { seq, there: last })?);
        }
        Ok(found.into_values().collect())
    }

    fn unread(&self, failure: &Failure, tried: &str) -> Unread {
        let place = self.place.shown(&self.folder);
        Unread::Failed { why: format!("{place} cannot be {tried}: {failure}"), help: Some(self.place.check()) }
    }

    fn unread_record(&self, failure: &Failure, seq: Seq) -> Unread {
        Unread::Failed { why: format!("{} cannot be read: {failure}", self.shown(seq)), help: Some(self.place.check()) }
    }
}
