//! Counts per hour, for reports.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::table::{Journal, Table};
use crate::store::Kept;

/// The length of a report's periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Hourly,
    Daily,
    Monthly,
}

impl Precision {
    pub const ALL: [Precision; 3] = [Self::Hourly, Self::Daily, Self::Monthly];

    /// The word in a request.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hourly => "HOURLY",
            Self::Daily => "DAILY",
            Self::Monthly => "MONTHLY",
        }
    }

    /// Returns the period of an hour: the beginning of the hour's key.
    pub fn period(self, hour: &str) -> &str {
        let length = match self {
            Self::Hourly => "2026-11-01 09".len(),
            Self::Daily => "2026-11-01".len(),
            Self::Monthly => "2026-11".len(),
        };
        hour.get(..length).unwrap_or(hour)
    }

    /// Returns the name for counting users once in each period of this length.
    pub fn users(self, name: &str) -> String {
        format!("{name} {}", self.word().to_lowercase())
    }
}

/// Returns the key of the hour that contains a time.
pub fn hour_of(at: Timestamp) -> String {
    TimeZone::UTC.to_datetime(at).strftime("%Y-%m-%d %H").to_string()
}

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
        let key = hour_of(at);
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

    /// Counts a user who was last counted under this name at `last`: once in each hour, day and month.
    pub(crate) fn count_user(
        &mut self,
        journal: &mut Journal,
        name: &str,
        platform: &str,
        last: Option<Timestamp>,
        at: Timestamp,
    ) {
        let (last, hour) = (last.map(hour_of).unwrap_or_default(), hour_of(at));
        for precision in Precision::ALL {
            if precision.period(&last) != precision.period(&hour) {
                self.count(journal, &precision.users(name), platform, at, 1);
            }
        }
    }

    pub fn load(&mut self, row: &Kept) -> anyhow::Result<()> {
        self.hours.load(row)
    }
}

impl Default for Activity {
    fn default() -> Self {
        Self::new()
    }
}
