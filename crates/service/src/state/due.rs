//! What will happen later: one queue for everything that waits for its time.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::local::Local;
use super::table::{Journal, Table};
use crate::store::Kept;

/// Something that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Due {
    /// One time of a scheduled push; with a clock time, to the devices that show it.
    Schedule { id: String, time: usize, local: Option<Local> },
    /// One variant of an experiment.
    Variant { experiment: String, variant: usize, local: Option<Local> },
    /// What a pipeline sends to the device that set it off.
    Firing { pipeline: String, outcome: usize, device: String },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Waiting {
    at: Timestamp,
    what: Due,
}

/// Everything that waits, by its time. What falls due at one time comes in the order in which it was put here.
#[derive(Debug)]
pub struct Queue {
    table: Table<Waiting>,
    order: BTreeMap<(Timestamp, u64), Due>,
    next: u64,
}

impl Queue {
    pub fn new() -> Self {
        Self { table: Table::new("due"), order: BTreeMap::new(), next: 0 }
    }

    pub fn put(&mut self, journal: &mut Journal, at: Timestamp, what: Due) {
        let number = self.next;
        self.next += 1;
        self.table.put(journal, &key(number), Waiting { at, what: what.clone() });
        self.order.insert((at, number), what);
    }

    /// Everything that waits, the next first.
    pub fn iter(&self) -> impl Iterator<Item = (Timestamp, &Due)> {
        self.order.iter().map(|((at, _), what)| (*at, what))
    }

    pub(crate) fn next_time(&self) -> Option<Timestamp> {
        self.order.keys().next().map(|(at, _)| *at)
    }

    /// Takes out the first thing that is due by `until`.
    pub fn take(&mut self, journal: &mut Journal, until: Timestamp) -> Option<(Timestamp, Due)> {
        let first = self.order.first_entry().filter(|first| first.key().0 <= until)?;
        let ((at, number), what) = first.remove_entry();
        self.table.remove(journal, &key(number));
        Some((at, what))
    }

    /// Takes out whatever `gone` says of.
    pub fn drop_if(&mut self, journal: &mut Journal, gone: impl Fn(&Due) -> bool) {
        let numbers: Vec<(Timestamp, u64)> =
            self.order.iter().filter(|(_, what)| gone(what)).map(|(place, _)| *place).collect();
        for place in numbers {
            self.order.remove(&place);
            self.table.remove(journal, &key(place.1));
        }
    }

    /// All of it as rows.
    pub(super) fn dump(&self, journal: &Journal, rows: &mut Vec<Kept>) {
        self.table.dump(journal, rows);
    }

    pub fn load(&mut self, row: &Kept) -> Result<(), String> {
        self.table.load(row)?;
        let number: u64 = row.key.parse().map_err(|_| format!("the row due/{} has no number", row.key))?;
        if let Some(waiting) = self.table.get(&row.key) {
            self.order.insert((waiting.at, number), waiting.what.clone());
            self.next = self.next.max(number + 1);
        }
        Ok(())
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self::new()
    }
}

fn key(number: u64) -> String {
    format!("{number:020}")
}
