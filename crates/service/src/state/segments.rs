use pushplan_model::node::At;
use pushplan_model::nouns::audience::Selector;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::devices::Criteria;
use super::table::{Journal, Table};
use crate::request::meaning;
use crate::store::Kept;

/// A stored audience.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Segment {
    pub display_name: String,
    /// The JSON, exactly as sent.
    pub criteria: String,
    /// In epoch milliseconds.
    pub created: i64,
    pub modified: i64,
}

impl Segment {
    /// Returns its line in a list. `id` is the segment's own.
    pub fn line(&self, id: &str) -> String {
        let line = json!({
            "id": id,
            "display_name": self.display_name,
            "creation_date": self.created,
            "modification_date": self.modified,
        });
        line.to_string()
    }

    /// Returns its JSON in a single answer.
    pub fn shown(&self) -> String {
        let name = serde_json::to_string(&self.display_name).unwrap_or_default();
        format!(r#"{{"display_name":{name},"criteria":{}}}"#, self.criteria)
    }
}

/// All segments, and their decoded criteria.
#[derive(Debug)]
pub struct Segments {
    pub table: Table<Segment>,
    pub criteria: Criteria,
}

impl Segments {
    pub fn new() -> Self {
        Self { table: Table::new("segments"), criteria: Criteria::new() }
    }

    /// Adds a segment, or replaces the one with this id, with its decoded criteria.
    pub fn put(&mut self, journal: &mut Journal, id: &str, segment: Segment, understood: At<Selector>) {
        self.criteria.insert(id.to_owned(), understood);
        self.table.put(journal, id, segment);
    }

    pub fn remove(&mut self, journal: &mut Journal, id: &str) -> Option<Segment> {
        self.criteria.remove(id);
        self.table.remove(journal, id)
    }

    pub fn load(&mut self, row: &Kept) -> anyhow::Result<()> {
        self.table.load(row)?;
        if let Some(segment) = self.table.get(&row.key) {
            self.criteria.extend(meaning(&segment.criteria).map(|selector| (row.key.clone(), selector)));
        }
        Ok(())
    }
}

impl Default for Segments {
    fn default() -> Self {
        Self::new()
    }
}
