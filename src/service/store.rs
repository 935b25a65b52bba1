//! Keeping what was changed: rows in SQLite, written by one thread.
//!
//! Changes that wait while one transaction is under way share the next one, so that many clients cost few syncs. A change is
//! answered after its transaction is on the disk.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use rusqlite::{Connection, ErrorCode, params};
use tokio::sync::oneshot;

/// One row of an application's table; `None` removes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub app: String,
    pub table: &'static str,
    pub key: String,
    pub value: Option<String>,
}

/// A row as it was found on the disk.
#[derive(Debug)]
pub struct Kept {
    pub app: String,
    pub table: String,
    pub key: String,
    pub value: String,
}

struct Batch {
    rows: Vec<Row>,
    done: oneshot::Sender<Result<(), String>>,
}

/// What the disk holds after a transaction that failed.
type Left = Arc<Mutex<Option<Vec<Kept>>>>;

/// The thread that writes. After a transaction that failed it writes no more: what comes later builds on what was lost.
#[derive(Debug)]
pub struct Store {
    batches: Option<mpsc::Sender<Batch>>,
    thread: Option<thread::JoinHandle<()>>,
    left: Left,
}

/// A promise that a change is durable.
#[derive(Debug)]
pub struct Ticket(oneshot::Receiver<Result<(), String>>);

impl Ticket {
    pub async fn kept(self) -> Result<(), String> {
        self.0.await.unwrap_or_else(|_| Err("the store has stopped".into()))
    }
}

impl Store {
    /// Opens the file, gives back all that it holds, and starts the thread.
    pub fn open(path: &Path) -> Result<(Self, Vec<Kept>), String> {
        let explain = |error: rusqlite::Error| cannot_open(path, &error);
        let connection = Connection::open(path).map_err(explain)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(explain)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(explain)?;
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE").map_err(explain)?;
        connection
            .execute_batch(
                "CREATE TABLE IF NOT EXISTS rows (
                    app TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
                    PRIMARY KEY (app, name, key)
                ) WITHOUT ROWID;",
            )
            .map_err(explain)?;
        let kept = load(&connection).map_err(explain)?;
        let (batches, waiting) = mpsc::channel();
        let left = Left::default();
        let for_thread = left.clone();
        let thread = thread::Builder::new()
            .name("store".into())
            .spawn(move || write(connection, &waiting, &for_thread))
            .map_err(|error| error.to_string())?;
        Ok((Self { batches: Some(batches), thread: Some(thread), left }, kept))
    }

    /// Hands rows over to be written. Rows become durable in the order of these calls.
    pub fn submit(&self, rows: Vec<Row>) -> Ticket {
        let (done, ticket) = oneshot::channel();
        if let Some(batches) = &self.batches {
            // A thread that is gone drops its end, which the ticket reports.
            let _ = batches.send(Batch { rows, done });
        }
        Ticket(ticket)
    }

    /// What the disk holds, after a ticket has told of a failure. It is given once.
    pub fn left(&self) -> Option<Vec<Kept>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.batches.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Why a file cannot be opened, and what to do.
fn cannot_open(path: &Path, error: &rusqlite::Error) -> String {
    let name = path.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            format!("{name} is in use by another service; stop that one, or give this one a file of its own")
        }
        Some(ErrorCode::CannotOpen) => {
            format!("{name} cannot be opened: a file is needed in a folder that can be written")
        }
        Some(ErrorCode::NotADatabase) => format!("{name} is no file of this service; give the name of a new one"),
        _ => format!("{name}: {error}"),
    }
}

fn load(connection: &Connection) -> rusqlite::Result<Vec<Kept>> {
    let mut statement = connection.prepare("SELECT app, name, key, value FROM rows ORDER BY app, name, key")?;
    let rows = statement
        .query_map([], |row| Ok(Kept { app: row.get(0)?, table: row.get(1)?, key: row.get(2)?, value: row.get(3)? }))?;
    rows.collect()
}

fn write(mut connection: Connection, waiting: &mpsc::Receiver<Batch>, left: &Left) {
    let mut result = Ok(());
    while let Ok(first) = waiting.recv() {
        let batches: Vec<Batch> = std::iter::once(first).chain(waiting.try_iter()).collect();
        if result.is_ok() {
            result = commit(&mut connection, &batches).map_err(|error| error.to_string());
            if result.is_err() {
                *left.lock().unwrap_or_else(PoisonError::into_inner) = load(&connection).ok();
            }
        }
        for batch in batches {
            // Whoever asked may have gone away; the change is kept all the same.
            let _ = batch.done.send(result.clone());
        }
    }
}

fn commit(connection: &mut Connection, batches: &[Batch]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    {
        let mut put =
            transaction.prepare_cached("INSERT OR REPLACE INTO rows (app, name, key, value) VALUES (?, ?, ?, ?)")?;
        let mut remove = transaction.prepare_cached("DELETE FROM rows WHERE app = ? AND name = ? AND key = ?")?;
        for row in batches.iter().flat_map(|batch| &batch.rows) {
            match &row.value {
                Some(value) => put.execute(params![row.app, row.table, row.key, value])?,
                None => remove.execute(params![row.app, row.table, row.key])?,
            };
        }
    }
    transaction.commit()
}
