//! The recent past of the state, for lists that lag behind.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use super::Lag;
use crate::store::{Kept, Row};

/// Tables whose changes are not writes of a client: they belong to the write before.
const QUIET: &[&str] = &["events", "webhooks"];

/// The rows before the latest writes, and those writes.
#[derive(Debug)]
pub struct History {
    /// Values by application, table and key.
    rows: BTreeMap<(String, String, String), String>,
    writes: VecDeque<Write>,
    /// How far back a rule looks.
    most_writes: usize,
    longest: Duration,
}

#[derive(Debug)]
struct Write {
    at: Instant,
    rows: Vec<Row>,
}

impl History {
    pub fn new(kept: &[Kept], lags: &[Lag]) -> Self {
        let (mut most_writes, mut longest) = (0, Duration::ZERO);
        for lag in lags {
            match lag {
                Lag::Writes(writes) => most_writes = most_writes.max(*writes),
                Lag::For(time) => longest = longest.max(*time),
            }
        }
        let rows = kept.iter().map(|row| ((row.app.clone(), row.table.clone(), row.key.clone()), row.value.clone()));
        Self { rows: rows.collect(), writes: VecDeque::new(), most_writes, longest }
    }

    /// Records a write.
    pub fn record(&mut self, rows: Vec<Row>) {
        let quiet = rows.iter().all(|row| QUIET.contains(&row.table));
        match self.writes.back_mut() {
            Some(last) if quiet => last.rows.extend(rows),
            None if quiet => rows.iter().for_each(|row| apply(&mut self.rows, row)),
            _ => self.writes.push_back(Write { at: Instant::now(), rows }),
        }
        while self.writes.len() > self.most_writes
            && self.writes.front().is_some_and(|first| first.at.elapsed() > self.longest)
        {
            if let Some(write) = self.writes.pop_front() {
                write.rows.iter().for_each(|row| apply(&mut self.rows, row));
            }
        }
    }

    /// Returns the rows at an earlier time.
    pub fn as_of(&self, lag: Lag) -> Vec<Kept> {
        let seen = match lag {
            Lag::Writes(writes) => self.writes.len().saturating_sub(writes),
            Lag::For(time) => self.writes.iter().take_while(|write| write.at.elapsed() >= time).count(),
        };
        let mut rows = self.rows.clone();
        self.writes.iter().take(seen).flat_map(|write| &write.rows).for_each(|row| apply(&mut rows, row));
        rows.into_iter().map(|((app, table, key), value)| Kept { app, table, key, value }).collect()
    }
}

fn apply(rows: &mut BTreeMap<(String, String, String), String>, row: &Row) {
    let key = (row.app.clone(), row.table.to_owned(), row.key.clone());
    match &row.value {
        Some(value) => rows.insert(key, value.clone()),
        None => rows.remove(&key),
    };
}
