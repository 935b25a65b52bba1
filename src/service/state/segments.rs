use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::table::{Journal, Table};
use crate::model::audience::Selector;
use crate::node::At;
use crate::service::request::understood;
use crate::service::store::Kept;

/// A stored audience. The criteria are kept as they were sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Segment {
    pub display_name: String,
    pub criteria: Value,
    /// Epoch milliseconds.
    pub created: i64,
    pub modified: i64,
}

/// All segments, and their criteria as they are understood.
#[derive(Debug)]
pub struct Segments {
    pub table: Table<Segment>,
    pub criteria: BTreeMap<String, At<Selector>>,
}

impl Segments {
    pub fn new() -> Self {
        Self { table: Table::new("segments"), criteria: BTreeMap::new() }
    }

    /// Adds a segment, or replaces the one of that id, with what its criteria mean.
    pub fn put(&mut self, journal: &mut Journal, id: &str, segment: Segment, understood: At<Selector>) {
        self.criteria.insert(id.to_owned(), understood);
        self.table.put(journal, id, segment);
    }

    pub fn remove(&mut self, journal: &mut Journal, id: &str) -> Option<Segment> {
        self.criteria.remove(id);
        self.table.remove(journal, id)
    }

    pub fn load(&mut self, row: &Kept) -> Result<(), String> {
        self.table.load(row)?;
        if let Some(segment) = self.table.get(&row.key) {
            self.criteria.extend(understood(&segment.criteria).map(|selector| (row.key.clone(), selector)));
        }
        Ok(())
    }
}

impl Default for Segments {
    fn default() -> Self {
        Self::new()
    }
}
