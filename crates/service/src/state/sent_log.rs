use std::collections::BTreeMap;

use jiff::Timestamp;

use super::Sent;
use super::table::{Journal, Table};
use crate::store::Kept;

/// Sent pushes, by push id and in the order in which they were sent.
#[derive(Debug)]
pub struct SentLog {
    table: Table<Sent>,
    order: BTreeMap<(Timestamp, u64), String>,
}

impl SentLog {
    pub fn new() -> Self {
        Self { table: Table::new("sent"), order: BTreeMap::new() }
    }

    pub fn get(&self, id: &str) -> Option<&Sent> {
        self.table.get(id)
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Returns all of them by id.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Sent)> {
        self.table.iter()
    }

    /// Returns the ids from a place on, in the order in which they were sent, each with its time.
    pub fn from(&self, place: (Timestamp, u64)) -> impl Iterator<Item = (Timestamp, &str)> {
        self.order.range(place..).map(|((time, _), id)| (*time, id.as_str()))
    }

    /// Returns the line of a push in a list.
    pub fn line(&self, id: &str, write: impl FnOnce(&Sent) -> String) -> Option<std::borrow::Cow<'_, str>> {
        self.table.line(id, write)
    }

    pub fn put(&mut self, journal: &mut Journal, id: &str, sent: Sent) {
        self.order.insert(sent.place(), id.to_owned());
        self.table.put(journal, id, sent);
    }

    /// Changes the counts of a push. Its time and its number must stay the same.
    pub fn change<R>(&mut self, journal: &mut Journal, id: &str, change: impl FnOnce(&mut Sent) -> R) -> Option<R> {
        self.table.change(journal, id, change)
    }

    /// Adds all of them as rows.
    pub(super) fn dump(&self, journal: &Journal, rows: &mut Vec<Kept>) {
        self.table.dump(journal, rows);
    }

    /// Loads a row from the disk.
    pub fn load(&mut self, row: &Kept) -> anyhow::Result<()> {
        self.table.load(row)?;
        if let Some(sent) = self.table.get(&row.key) {
            self.order.insert(sent.place(), row.key.clone());
        }
        Ok(())
    }
}

impl Default for SentLog {
    fn default() -> Self {
        Self::new()
    }
}
