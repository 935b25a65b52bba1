use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::ranked::Ranked;
use super::table::{Journal, Table};
use crate::store::Kept;

/// Items by id in the order of their creation, even if the clock stood still. They are divided into two parts. A page
/// of all items or of a part costs the same wherever it begins.
#[derive(Debug)]
pub struct Ordered<T> {
    table: Table<Placed<T>>,
    /// Returns the part of an item.
    part: fn(&T) -> bool,
    all: Ranked,
    parts: [Ranked; 2],
}

#[derive(Debug, Serialize, Deserialize)]
struct Placed<T> {
    number: u64,
    value: T,
}

impl<T: Serialize + DeserializeOwned> Ordered<T> {
    pub fn new(name: &'static str, part: fn(&T) -> bool) -> Self {
        Self { table: Table::new(name), part, all: Ranked::default(), parts: Default::default() }
    }

    pub fn get(&self, id: &str) -> Option<&T> {
        self.table.get(id).map(|placed| &placed.value)
    }

    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Returns the number of items, of a part or of all.
    pub fn len(&self, part: Option<bool>) -> usize {
        self.ranked(part).len()
    }

    /// Returns all items, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &T)> {
        self.all.iter().filter_map(|id| Some((id, self.get(id)?)))
    }

    /// Returns the lines of some ranks in a part or in all, oldest first. `write` creates a line.
    pub fn lines(
        &self,
        part: Option<bool>,
        ranks: Range<usize>,
        write: impl Fn(&str, &T) -> String,
    ) -> Vec<Cow<'_, str>> {
        let ids = self.ranked(part).range(ranks).into_iter();
        ids.filter_map(|id| self.table.line(id, |placed| write(id, &placed.value))).collect()
    }

    /// Returns the lines of a page that begins `offset` items before the newest, newest first. A line that changes with
    /// the time is created each time.
    pub fn newest(
        &self,
        part: Option<bool>,
        offset: usize,
        limit: usize,
        write: impl Fn(&str, &T) -> String,
        changes: impl Fn(&str) -> bool,
    ) -> Vec<Cow<'_, str>> {
        let end = self.len(part).saturating_sub(offset);
        let ids = self.ranked(part).range(end.saturating_sub(limit)..end).into_iter();
        let line = |id: &str| match changes(id) {
            true => Some(Cow::Owned(write(id, self.get(id)?))),
            false => self.table.line(id, |placed| write(id, &placed.value)),
        };
        let mut lines: Vec<Cow<'_, str>> = ids.filter_map(line).collect();
        lines.reverse();
        lines
    }

    /// Adds an item as the newest, or replaces the one with this id.
    pub fn put(&mut self, journal: &mut Journal, id: &str, value: T) {
        let number = match self.table.get(id) {
            Some(old) => old.number,
            None => self.all.last().map_or(0, |last| last + 1),
        };
        self.table.put(journal, id, Placed { number, value });
        self.place(id);
    }

    /// Changes an item in place; returns `None` if there is none with this id.
    pub fn change<R>(&mut self, journal: &mut Journal, id: &str, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        let changed = self.table.change(journal, id, |placed| change(&mut placed.value))?;
        self.place(id);
        Some(changed)
    }

    pub fn remove(&mut self, journal: &mut Journal, id: &str) -> Option<T> {
        let placed = self.table.remove(journal, id)?;
        self.all.remove(placed.number);
        self.parts[usize::from((self.part)(&placed.value))].remove(placed.number);
        Some(placed.value)
    }

    /// Adds all items as rows.
    pub(super) fn dump(&self, journal: &Journal, rows: &mut Vec<Kept>) {
        self.table.dump(journal, rows);
    }

    /// Loads a row from the disk.
    pub fn load(&mut self, row: &Kept) -> anyhow::Result<()> {
        self.table.load(row)?;
        self.place(&row.key);
        Ok(())
    }

    fn ranked(&self, part: Option<bool>) -> &Ranked {
        part.map_or(&self.all, |part| &self.parts[usize::from(part)])
    }

    /// Adds the id of an item to its part, and removes it from the other.
    fn place(&mut self, id: &str) {
        let Some(placed) = self.table.get(id) else { return };
        let (number, part, id) = (placed.number, (self.part)(&placed.value), Arc::<str>::from(id));
        self.parts[usize::from(!part)].remove(number);
        self.parts[usize::from(part)].insert(number, id.clone());
        self.all.insert(number, id);
    }
}
