//! What happened in each hour, for reports.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::table::{Journal, Table};
use crate::service::store::Kept;

/// Counts of one hour, by name and platform.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Hour(pub BTreeMap<String, BTreeMap<String, u64>>);

/// Counts by hour. The keys sort by time: `2026-11-01 09`.
#[derive(Debug)]
pub struct Activity {
    pub hours: Table<Hour>,
}

impl Activity {
    pub fn new() -> Self {
        Self { hours: Table::new("activity") }
    }

    pub fn count(&mut self, journal: &mut Journal, name: &str, platform: &str, at: Timestamp, amount: u64) {
        let key = TimeZone::UTC.to_datetime(at).strftime("%Y-%m-%d %H").to_string();
        let add = |hour: &mut Hour| {
            let platforms = hour.0.entry(name.to_owned()).or_default();
            *platforms.entry(platform.to_owned()).or_insert(0) += amount;
        };
        if self.hours.change(journal, &key, add).is_none() {
            let mut hour = Hour::default();
            add(&mut hour);
            self.hours.put(journal, &key, hour);
        }
    }

    pub fn load(&mut self, row: &Kept) -> Result<(), String> {
        self.hours.load(row)
    }
}

impl Default for Activity {
    fn default() -> Self {
        Self::new()
    }
}
