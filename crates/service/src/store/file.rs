//! The file: a log of rows in SQLite. A row contains the new value of a key, and the last row of a key counts.
//!
//! It is a log, because rows that are written together are then stored together: a transaction of many changes costs
//! hardly more than one. Outdated rows are removed when there are as many of them as of the others.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::anyhow;
use rusqlite::{Connection, ErrorCode, ffi, params};

use super::{Kept, Row};
use crate::in_use::InUse;

/// The minimum number of outdated rows before they are removed.
const SPARE: usize = 100_000;

#[derive(Debug)]
pub struct StoreFile {
    connection: Connection,
    /// The number of current rows at the last count, and the number of rows written since.
    held: usize,
    since: usize,
    spare: usize,
}

/// The log read to its end: the current rows, and the numbers of the outdated ones.
struct Read {
    rows: Vec<Kept>,
    outdated: Vec<i64>,
}

impl StoreFile {
    /// Opens a file, and returns all of its rows.
    pub fn open(path: &Path) -> anyhow::Result<(Self, Vec<Kept>)> {
        Self::prepare(path).map_err(|error| cannot_open(path, &error))
    }

    fn prepare(path: &Path) -> rusqlite::Result<(Self, Vec<Kept>)> {
        let connection = Connection::open(path)?;
        // A file of another program is not changed.
        if !is_own(&connection)? {
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_NOTADB), None));
        }
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.execute_batch(
            "CREATE TABLE IF NOT EXISTS log (
                seq INTEGER PRIMARY KEY, app TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, value TEXT
            );",
        )?;
        let mut file = Self { connection, held: 0, since: 0, spare: SPARE };
        file.take_over()?;
        let Read { rows, outdated } = file.read()?;
        (file.held, file.since) = (rows.len(), outdated.len());
        if file.is_due() {
            file.remove(&outdated)?;
        }
        Ok((file, rows))
    }

    /// Converts a file of an earlier version, which has a table by key.
    fn take_over(&mut self) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        if transaction.table_exists(None, "rows")? {
            transaction.execute_batch(
                "INSERT INTO log (app, name, key, value) SELECT app, name, key, value FROM rows; DROP TABLE rows;",
            )?;
        }
        transaction.commit()
    }

    /// Writes rows in one transaction. When this returns, they are on disk.
    pub fn append<'r>(&mut self, rows: impl Iterator<Item = &'r Row>) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut put = transaction.prepare_cached("INSERT INTO log (app, name, key, value) VALUES (?, ?, ?, ?)")?;
            for row in rows {
                put.execute(params![row.app, row.table, row.key, row.value])?;
                self.since += 1;
            }
        }
        transaction.commit()?;
        if self.is_due() {
            // The rows are written. If the disk is too full to remove others, the next change reports it.
            let _ = self.tidy();
        }
        Ok(())
    }

    /// Returns the content of the file, in the order of its keys.
    pub fn rows(&self) -> rusqlite::Result<Vec<Kept>> {
        Ok(self.read()?.rows)
    }

    fn is_due(&self) -> bool {
        self.since > self.spare.max(self.held)
    }

    fn tidy(&mut self) -> rusqlite::Result<()> {
        let Read { rows, outdated } = self.read()?;
        (self.held, self.since) = (rows.len(), 0);
        self.remove(&outdated)
    }

    fn remove(&mut self, outdated: &[i64]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut remove = transaction.prepare_cached("DELETE FROM log WHERE seq = ?")?;
            for seq in outdated {
                remove.execute([seq])?;
            }
        }
        self.since = 0;
        transaction.commit()
    }

    fn read(&self) -> rusqlite::Result<Read> {
        let mut last: BTreeMap<(String, String, String), (i64, Option<String>)> = BTreeMap::new();
        let mut outdated = Vec::new();
        let mut statement = self.connection.prepare("SELECT app, name, key, seq, value FROM log ORDER BY seq")?;
        let mut log = statement.query([])?;
        while let Some(row) = log.next()? {
            let key = (row.get(0)?, row.get(1)?, row.get(2)?);
            outdated.extend(last.insert(key, (row.get(3)?, row.get(4)?)).map(|(before, _)| before));
        }
        let mut rows = Vec::with_capacity(last.len());
        for ((app, table, key), (seq, value)) in last {
            match value {
                Some(value) => rows.push(Kept { app, table, key, value }),
                // No row is left that it would remove.
                None => outdated.push(seq),
            }
        }
        Ok(Read { rows, outdated })
    }
}

/// Whether a file is empty, or belongs to this service or an earlier version of it.
fn is_own(connection: &Connection) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare(
        "SELECT m.name, (SELECT group_concat(c.name, ' ') FROM pragma_table_info(m.name) c) FROM sqlite_master m \
         WHERE m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )?;
    let mut there = statement.query([])?;
    while let Some(row) = there.next()? {
        let (name, columns): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        let is_known = match name.as_str() {
            "log" => columns.as_deref() == Some("seq app name key value"),
            "rows" => columns.as_deref() == Some("app name key value"),
            _ => false,
        };
        if !is_known {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns why a file cannot be opened, and how to fix it.
fn cannot_open(path: &Path, error: &rusqlite::Error) -> anyhow::Error {
    let name = path.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let help = "stop that one, or give this one a file of its own";
            InUse(format!("{name} is in use by another service; {help}")).into()
        }
        Some(ErrorCode::CannotOpen) => {
            anyhow!("{name} cannot be opened: a file is needed in a folder that can be written")
        }
        Some(ErrorCode::NotADatabase) => anyhow!("{name} is no file of this service; give the name of a new one"),
        _ => anyhow!("{name}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, value: Option<&str>) -> Row {
        Row { app: "a".into(), table: "segments", key: key.into(), value: value.map(str::to_owned) }
    }

    fn held(rows: &[Kept]) -> Vec<(&str, &str)> {
        rows.iter().map(|kept| (kept.key.as_str(), kept.value.as_str())).collect()
    }

    fn length(file: &StoreFile) -> u32 {
        file.connection.query_row("SELECT count(*) FROM log", [], |row| row.get(0)).expect("a number")
    }

    #[test]
    fn the_last_row_of_a_key_holds_and_the_others_do_not_pile_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let (mut file, kept) = StoreFile::open(&path).expect("a file");
        assert!(kept.is_empty());
        file.spare = 10;
        file.append([row("x", Some("gone")), row("y", Some("stays"))].iter()).expect("written");
        for number in 0..100 {
            file.append([row("z", Some(&number.to_string())), row("x", None)].iter()).expect("written");
            assert!(length(&file) <= 2 + 10 + 2, "{} rows", length(&file));
        }
        assert_eq!(held(&file.rows().expect("rows")), [("y", "stays"), ("z", "99")]);
        drop(file);
        let (_, kept) = StoreFile::open(&path).expect("a file");
        assert_eq!(held(&kept), [("y", "stays"), ("z", "99")]);
    }

    #[test]
    fn a_file_of_an_earlier_version_is_taken_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let earlier = Connection::open(&path).expect("a file");
        earlier
            .execute_batch(
                "CREATE TABLE rows (app TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
                    PRIMARY KEY (app, name, key)) WITHOUT ROWID;
                 INSERT INTO rows VALUES ('a', 'segments', 'x', 'kept');",
            )
            .expect("rows");
        drop(earlier);
        for _ in 0..2 {
            let (_, kept) = StoreFile::open(&path).expect("a file");
            assert_eq!(held(&kept), [("x", "kept")]);
        }
    }

    #[test]
    fn the_file_of_another_program_is_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        for (number, sql) in [
            "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('mine');",
            "CREATE TABLE log (at TEXT, line TEXT);",
            "CREATE TABLE rows (id INTEGER PRIMARY KEY);",
            "CREATE VIEW v AS SELECT 1 AS one;",
        ]
        .iter()
        .enumerate()
        {
            let path = folder.path().join(format!("{number}.db"));
            Connection::open(&path).expect("a file").execute_batch(sql).expect("another program");
            let before = std::fs::read(&path).expect("a file");
            let why = StoreFile::open(&path).expect_err(sql);
            assert!(why.to_string().contains("is no file of this service; give the name of a new one"), "{why}");
            assert!(std::fs::read(&path).expect("a file") == before, "{sql}");
        }
        let path = folder.path().join("own.db");
        for _ in 0..2 {
            StoreFile::open(&path).expect("a file of this service");
        }
    }
}
