//! Future work: one queue for everything that waits for its time.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::anyhow;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::local::Local;
use super::sending::PushType;
use super::table::{Journal, Table};
use crate::store::Kept;

/// An entry of the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Due {
    /// One time of a scheduled push; for a local time, to the devices whose clocks show it.
    Schedule { id: String, time: usize, local: Option<Local> },
    /// One variant of an experiment.
    Variant { experiment: String, variant: usize, local: Option<Local> },
    /// A message that a pipeline sends to the device that triggered it.
    Firing { pipeline: String, outcome: usize, device: String },
    /// The end of a time in which the app was not opened on a device, if it was not.
    Inactive { pipeline: String, days: i64, device: String },
    /// Devices from this number on, whose inactivity triggers a pipeline.
    Watch { pipeline: String, from: u32 },
    /// A part of the control group of an experiment.
    Spared { experiment: String, push_id: String, devices: Vec<String> },
    /// A part of the recipients of a push that is sent in parts.
    Part {
        push_id: String,
        push_type: PushType,
        group_id: Option<String>,
        variant: Option<usize>,
        device_types: Value,
        push: Value,
        devices: Vec<String>,
    },
}

impl Due {
    /// Returns the id of the pipeline that it belongs to.
    pub fn pipeline(&self) -> Option<&str> {
        match self {
            Self::Firing { pipeline, .. } | Self::Inactive { pipeline, .. } | Self::Watch { pipeline, .. } => {
                Some(pipeline)
            }
            _ => None,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Waiting {
    at: Timestamp,
    what: Due,
}

/// The place of an entry in the queue.
type Place = (Timestamp, u64);

/// The queue, by time. Entries with the same time keep the order in which they were added.
#[derive(Debug)]
pub struct Queue {
    table: Table<Waiting>,
    order: BTreeMap<Place, Due>,
    /// The messages of pipelines, by device: an event of a device cancels only its own.
    firings: BTreeMap<String, BTreeSet<Place>>,
    /// The inactivity that is waited for, by device: pipeline and days.
    watched: BTreeMap<String, BTreeSet<(String, i64)>>,
    next: u64,
}

impl Queue {
    pub fn new() -> Self {
        let (order, firings, watched) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { table: Table::new("due"), order, firings, watched, next: 0 }
    }

    pub fn put(&mut self, journal: &mut Journal, at: Timestamp, what: Due) {
        let number = self.next;
        self.next += 1;
        self.table.put(journal, &key(number), Waiting { at, what: what.clone() });
        self.enter((at, number), what);
    }

    fn enter(&mut self, place: Place, what: Due) {
        if let Due::Firing { device, .. } = &what {
            self.firings.entry(device.clone()).or_default().insert(place);
        }
        if let Due::Inactive { pipeline, days, device } = &what {
            self.watched.entry(device.clone()).or_default().insert((pipeline.clone(), *days));
        }
        self.order.insert(place, what);
    }

    fn remove(&mut self, journal: &mut Journal, place: Place) -> Option<Due> {
        let what = self.order.remove(&place)?;
        if let Due::Firing { device, .. } = &what
            && let Some(places) = self.firings.get_mut(device)
        {
            places.remove(&place);
            if places.is_empty() {
                self.firings.remove(device);
            }
        }
        if let Due::Inactive { pipeline, days, device } = &what
            && let Some(all) = self.watched.get_mut(device)
        {
            all.remove(&(pipeline.clone(), *days));
            if all.is_empty() {
                self.watched.remove(device);
            }
        }
        self.table.remove(journal, &key(place.1));
        Some(what)
    }

    /// Whether inactivity of a device is waited for.
    pub fn is_watched(&self, device: &str, pipeline: &str, days: i64) -> bool {
        self.watched.get(device).is_some_and(|all| all.contains(&(pipeline.to_owned(), days)))
    }

    /// Returns all entries, the next one first.
    pub fn iter(&self) -> impl Iterator<Item = (Timestamp, &Due)> {
        self.order.iter().map(|((at, _), what)| (*at, what))
    }

    pub(crate) fn next_time(&self) -> Option<Timestamp> {
        self.order.keys().next().map(|(at, _)| *at)
    }

    /// Removes and returns the first entry that is due by `until`.
    pub fn take(&mut self, journal: &mut Journal, until: Timestamp) -> Option<(Timestamp, Due)> {
        let place = *self.order.keys().next().filter(|(at, _)| *at <= until)?;
        let what = self.remove(journal, place)?;
        Some((place.0, what))
    }

    /// Removes the messages of a pipeline that wait for a device.
    pub fn cancel(&mut self, journal: &mut Journal, of: &str, device: &str) {
        let places: Vec<Place> = self.firings.get(device).into_iter().flatten().copied().collect();
        for place in places {
            if matches!(self.order.get(&place), Some(Due::Firing { pipeline, .. }) if pipeline == of) {
                self.remove(journal, place);
            }
        }
    }

    /// Removes the entries that `gone` selects.
    pub fn drop_if(&mut self, journal: &mut Journal, gone: impl Fn(&Due) -> bool) {
        let places: Vec<Place> = self.order.iter().filter(|(_, what)| gone(what)).map(|(place, _)| *place).collect();
        for place in places {
            self.remove(journal, place);
        }
    }

    /// Adds all entries as rows.
    pub(super) fn dump(&self, journal: &Journal, rows: &mut Vec<Kept>) {
        self.table.dump(journal, rows);
    }

    pub fn load(&mut self, row: &Kept) -> anyhow::Result<()> {
        self.table.load(row)?;
        let number: u64 = row.key.parse().map_err(|_| anyhow!("the row due/{} has no number", row.key))?;
        if let Some(waiting) = self.table.get(&row.key) {
            let (place, what) = ((waiting.at, number), waiting.what.clone());
            self.enter(place, what);
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
