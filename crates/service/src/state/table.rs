use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use anyhow::anyhow;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::line::{Line, Lines};
use crate::store::{Kept, Row};

/// The changes of one request: the rows to write, and the old values in case the request fails.
#[derive(Debug)]
pub struct Journal {
    app: String,
    /// `None`: rows are not recorded.
    rows: Option<Vec<Row>>,
    /// The old value of each changed row, by table and key; `None` if it did not exist.
    before: HashMap<&'static str, HashMap<String, Option<String>>>,
}

impl Journal {
    pub fn new(app: &str, keeps: bool) -> Self {
        Self { app: app.to_owned(), rows: keeps.then(Vec::new), before: HashMap::new() }
    }

    /// Returns the rows that have changed. From then on, they are the state to go back to.
    pub fn take(&mut self) -> Vec<Row> {
        self.before.values_mut().for_each(HashMap::clear);
        self.rows.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Records the value of a row before it changes.
    pub(super) fn note_before(&mut self, table: &'static str, key: &str, value: impl FnOnce() -> Option<String>) {
        let rows = self.before.entry(table).or_default();
        if !rows.contains_key(key) {
            rows.insert(key.to_owned(), value());
        }
    }

    /// Records the new value of a row; `None` for a deleted one.
    pub(super) fn note(&mut self, table: &'static str, key: &str, value: impl FnOnce() -> Option<String>) {
        if let Some(rows) = &mut self.rows {
            rows.push(Row { app: self.app.clone(), table, key: key.to_owned(), value: value() });
        }
    }

    /// Restores the rows as they were before the changes that were not taken.
    pub(super) fn undo(&self, rows: Vec<Kept>) -> Vec<Kept> {
        let is_old = |row: &Kept| !self.before.get(&*row.table).is_some_and(|changed| changed.contains_key(&row.key));
        let mut undone: Vec<Kept> = rows.into_iter().filter(is_old).collect();
        for (table, changed) in &self.before {
            let were = changed.iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
            undone.extend(were.map(|(key, value)| kept(&self.app, table, key, value.clone())));
        }
        undone
    }

    /// Returns a row with its current value.
    pub(super) fn row<T: Serialize>(&self, table: &str, key: &str, value: &T) -> Kept {
        kept(&self.app, table, key, written(value).unwrap_or_default())
    }
}

fn kept(app: &str, table: &str, key: &str, value: String) -> Kept {
    Kept { app: app.to_owned(), table: table.to_owned(), key: key.to_owned(), value }
}

/// Serializes a value. The service's own types always serialize as JSON, because their keys are texts.
pub(super) fn written<T: Serialize>(value: &T) -> Option<String> {
    serde_json::to_string(value).ok()
}

/// Items by key. Every change is recorded in the journal.
#[derive(Debug)]
pub struct Table<T> {
    name: &'static str,
    rows: BTreeMap<String, (T, Line)>,
    lines: Lines,
}

impl<T: Serialize + DeserializeOwned> Table<T> {
    pub fn new(name: &'static str) -> Self {
        Self { name, rows: BTreeMap::new(), lines: Lines::default() }
    }

    pub fn get(&self, key: &str) -> Option<&T> {
        self.rows.get(key).map(|(value, _)| value)
    }

    /// Returns the line of an item in a list. `write` creates it if it is not cached.
    pub fn line(&self, key: &str, write: impl FnOnce(&T) -> String) -> Option<Cow<'_, str>> {
        self.rows.get(key).map(|(value, line)| self.lines.of(line, || write(value)))
    }

    /// Returns keys and lines from a key on, for paging.
    pub fn lines<'t, W: Fn(&str, &T) -> String>(
        &'t self,
        start: &str,
        write: W,
    ) -> impl Iterator<Item = (&'t str, Cow<'t, str>)> + use<'t, T, W> {
        let from = self.rows.range::<str, _>((Bound::Included(start), Bound::Unbounded));
        from.map(move |(key, (value, line))| (key.as_str(), self.lines.of(line, || write(key, value))))
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &T)> {
        self.rows.iter().map(|(key, (value, _))| (key.as_str(), value))
    }

    /// Returns items from a key on, for paging.
    pub fn from<'t>(&'t self, start: &str) -> impl Iterator<Item = (&'t str, &'t T)> + use<'t, T> {
        self.rows.range(start.to_owned()..).map(|(key, (value, _))| (key.as_str(), value))
    }

    pub fn put(&mut self, journal: &mut Journal, key: &str, value: T) {
        journal.note(self.name, key, || written(&value));
        let mut old = self.rows.insert(key.to_owned(), (value, Line::default()));
        if let Some((_, line)) = &mut old {
            self.lines.forget(line);
        }
        journal.note_before(self.name, key, || old.as_ref().and_then(|(value, _)| written(value)));
    }

    /// Changes an item in place; returns `None` if there is none with this key.
    pub fn change<R>(&mut self, journal: &mut Journal, key: &str, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        let (value, line) = self.rows.get_mut(key)?;
        self.lines.forget(line);
        journal.note_before(self.name, key, || written(value));
        let result = change(value);
        journal.note(self.name, key, || written(value));
        Some(result)
    }

    pub fn remove(&mut self, journal: &mut Journal, key: &str) -> Option<T> {
        let (value, mut line) = self.rows.remove(key)?;
        self.lines.forget(&mut line);
        journal.note_before(self.name, key, || written(&value));
        journal.note(self.name, key, || None);
        Some(value)
    }

    /// Adds all items as rows.
    pub(super) fn dump(&self, journal: &Journal, rows: &mut Vec<Kept>) {
        rows.extend(self.iter().map(|(key, value)| journal.row(self.name, key, value)));
    }

    /// Loads a row from the disk.
    pub fn load(&mut self, row: &Kept) -> anyhow::Result<()> {
        self.rows.insert(row.key.clone(), (read(row)?, Line::default()));
        Ok(())
    }
}

/// Decodes a row from the disk.
pub(super) fn read<T: DeserializeOwned>(row: &Kept) -> anyhow::Result<T> {
    let value = serde_json::from_str(&row.value);
    value.map_err(|error| anyhow!("the row {}/{} cannot be read: {error}", row.table, row.key))
}
