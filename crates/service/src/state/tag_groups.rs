//! The tag groups that exist.

use std::collections::BTreeSet;

use super::devices::{NO_GROUP, Tags};
use super::table::{Journal, Table};
use crate::store::Kept;

/// The key of the only row.
const KEY: &str = "names";

/// The names of the tag groups of an application, if they are known. Otherwise, every name is a tag group.
#[derive(Debug)]
pub struct TagGroups {
    pub(super) table: Table<BTreeSet<String>>,
}

impl TagGroups {
    pub(super) fn new() -> Self {
        Self { table: Table::new("tag_groups") }
    }

    pub(super) fn load(&mut self, row: &Kept) -> anyhow::Result<()> {
        self.table.load(row)
    }

    pub fn names(&self) -> Option<&BTreeSet<String>> {
        self.table.get(KEY)
    }

    pub(crate) fn set(&mut self, journal: &mut Journal, names: Option<BTreeSet<String>>) {
        match names {
            Some(names) => self.table.put(journal, KEY, names),
            None => drop(self.table.remove(journal, KEY)),
        }
    }

    /// Removes the groups that do not exist, and returns their names. Tags without a group are in none.
    pub(crate) fn take_unknown(&self, tags: &mut Tags) -> BTreeSet<String> {
        let Some(names) = self.names() else { return BTreeSet::new() };
        let is_unknown = |group: &str| group != NO_GROUP && !names.contains(group);
        let unknown: BTreeSet<String> = tags.keys().filter(|group| is_unknown(group)).cloned().collect();
        tags.retain(|group, _| !unknown.contains(group));
        unknown
    }
}
