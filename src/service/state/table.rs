use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::service::store::{Kept, Row};

/// The changes of one request, as rows to be written.
#[derive(Debug)]
pub struct Journal {
    app: String,
    /// `None`: nothing is written down.
    rows: Option<Vec<Row>>,
}

impl Journal {
    pub fn new(app: &str, keeps: bool) -> Self {
        Self { app: app.to_owned(), rows: keeps.then(Vec::new) }
    }

    pub fn take(&mut self) -> Vec<Row> {
        self.rows.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Notes the new value of a row; `None` for one that is gone.
    pub(super) fn note(&mut self, table: &'static str, key: &str, value: impl FnOnce() -> Option<String>) {
        if let Some(rows) = &mut self.rows {
            rows.push(Row { app: self.app.clone(), table, key: key.to_owned(), value: value() });
        }
    }
}

/// Things by their keys. Every change is noted in the journal.
#[derive(Debug)]
pub struct Table<T> {
    name: &'static str,
    rows: BTreeMap<String, T>,
}

impl<T: Serialize + DeserializeOwned> Table<T> {
    pub fn new(name: &'static str) -> Self {
        Self { name, rows: BTreeMap::new() }
    }

    pub fn get(&self, key: &str) -> Option<&T> {
        self.rows.get(key)
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &T)> {
        self.rows.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Things from a key on, for paging.
    pub fn from(&self, start: &str) -> impl Iterator<Item = (&str, &T)> {
        self.rows.range(start.to_owned()..).map(|(key, value)| (key.as_str(), value))
    }

    pub fn put(&mut self, journal: &mut Journal, key: &str, value: T) {
        journal.note(self.name, key, || serde_json::to_string(&value).ok());
        self.rows.insert(key.to_owned(), value);
    }

    /// Changes one thing in place; `None` where there is none of that key.
    pub fn change<R>(&mut self, journal: &mut Journal, key: &str, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        let value = self.rows.get_mut(key)?;
        let result = change(value);
        journal.note(self.name, key, || serde_json::to_string(value).ok());
        Some(result)
    }

    pub fn remove(&mut self, journal: &mut Journal, key: &str) -> Option<T> {
        let value = self.rows.remove(key)?;
        journal.note(self.name, key, || None);
        Some(value)
    }

    /// Takes in a row from the disk.
    pub fn load(&mut self, row: &Kept) -> Result<(), String> {
        self.rows.insert(row.key.clone(), read(row)?);
        Ok(())
    }
}

/// What a row from the disk says.
pub(super) fn read<T: DeserializeOwned>(row: &Kept) -> Result<T, String> {
    let value = serde_json::from_str(&row.value);
    value.map_err(|error| format!("the row {}/{} cannot be read: {error}", row.table, row.key))
}
