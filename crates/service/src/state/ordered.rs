use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::table::{Journal, Table};
use crate::store::Kept;

/// Things by their ids that stay in the order in which they were made, also where a clock stood still meanwhile.
#[derive(Debug)]
pub struct Ordered<T> {
    table: Table<Placed<T>>,
    order: BTreeMap<u64, String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Placed<T> {
    number: u64,
    value: T,
}

impl<T: Serialize + DeserializeOwned> Ordered<T> {
    pub fn new(name: &'static str) -> Self {
        Self { table: Table::new(name), order: BTreeMap::new() }
    }

    pub fn get(&self, id: &str) -> Option<&T> {
        self.table.get(id).map(|placed| &placed.value)
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// All of them, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &T)> {
        self.order.values().filter_map(|id| Some((id.as_str(), self.get(id)?)))
    }

    /// Adds a thing as the newest, or replaces the one of that id in its place.
    pub fn put(&mut self, journal: &mut Journal, id: &str, value: T) {
        let number = match self.table.get(id) {
            Some(old) => old.number,
            None => self.order.keys().next_back().map_or(0, |last| last + 1),
        };
        self.order.insert(number, id.to_owned());
        self.table.put(journal, id, Placed { number, value });
    }

    /// Changes one thing in place; `None` where there is none of that id.
    pub fn change<R>(&mut self, journal: &mut Journal, id: &str, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.table.change(journal, id, |placed| change(&mut placed.value))
    }

    pub fn remove(&mut self, journal: &mut Journal, id: &str) -> Option<T> {
        let placed = self.table.remove(journal, id)?;
        self.order.remove(&placed.number);
        Some(placed.value)
    }

    /// All of it as rows.
    pub(super) fn dump(&self, journal: &Journal, rows: &mut Vec<Kept>) {
        self.table.dump(journal, rows);
    }

    /// Takes in a row from the disk.
    pub fn load(&mut self, row: &Kept) -> Result<(), String> {
        self.table.load(row)?;
        if let Some(placed) = self.table.get(&row.key) {
            self.order.insert(placed.number, row.key.clone());
        }
        Ok(())
    }
}
