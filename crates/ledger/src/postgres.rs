//! The ledger as rows of a PostgreSQL table: one per record. The primary key admits one writer for each.
//!
//! Nothing is kept in a session: no lock, no setting, no prepared statement. So each statement may run in another
//! session, as it does behind a proxy that pools transactions.

mod connection;
mod password;
mod place;
mod sql;
mod tls;
mod trouble;

use std::sync::Arc;

use anyhow::bail;
use pushplan_io::client::Patience;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use super::AppendError;
use super::codec;
use super::intent::Seq;
use super::store::{New, Pending, Start, Store, Stored, Unread, going_on};
use connection::{Connection, Connector};
use place::PostgresPlace;
use sql::Sql;
use trouble::{Trouble, TroubleKind};

const NO_TABLE: [SqlState; 2] = [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME];
/// The answer if another process creates it at the same moment.
const MADE_ALREADY: [SqlState; 4] =
    [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_SCHEMA, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT];
/// The answer for a row that another process has created, depending on the server's settings.
const TAKEN: [SqlState; 3] =
    [SqlState::UNIQUE_VIOLATION, SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];

/// The ledger of one target in the table `ledger` of a schema, with its newest record noted in `ledger_newest`. Both
/// tables are created with the first record.
#[derive(Debug)]
pub struct PostgresStore {
    connector: Connector,
    sql: Sql,
    target: String,
}

/// Records that were read.
#[derive(Default)]
struct Records {
    records: Vec<Stored>,
    /// Whether the first of them is a checkpoint.
    is_from_checkpoint: bool,
    /// The newest existing record.
    last: Seq,
    /// The record that was created last, according to the note.
    noted: Seq,
}

/// The current row of a record.
struct RowFound {
    record: Option<Vec<u8>>,
    /// The checksum of the record before it.
    before: Option<String>,
}

/// The result of an attempt to create a record.
enum Attempt {
    Created,
    /// It was not created; the row shows why.
    NotCreated,
}

impl PostgresStore {
    /// Returns the ledger of a target at `postgres://user@host:port/database/schema?sslmode=…&sslrootcert=…`. Does not
    /// contact the server yet.
    pub fn new(place: &str, target: &str) -> anyhow::Result<Self> {
        let place = PostgresPlace::parse_with(place, |name| std::env::var(name).ok())?;
        if target.contains('\0') {
            bail!("the name of the target contains a zero byte");
        }
        Ok(Self { sql: Sql::new(&place.schema), connector: Connector::new(place), target: target.to_owned() })
    }

    /// Sets the time limits of connections and requests.
    #[must_use]
    pub fn patience(mut self, patience: Patience) -> Self {
        self.connector.patience = patience;
        self
    }

    /// Reads again over another connection if the first one broke.
    async fn read_records(&self, start: Start) -> Result<Records, Trouble> {
        let connection = self.connector.connection().await?;
        match self.read_all(&connection, start).await {
            Err(Trouble { kind: TroubleKind::Lost, .. }) => {
                let connection = self.connector.another(&connection).await?;
                self.read_all(&connection, start).await
            }
            other => other,
        }
    }

    /// Reads records, and the note of the record that was created last, if it exists.
    async fn read_all(&self, connection: &Arc<Connection>, start: Start) -> Result<Records, Trouble> {
        for is_noted in [true, false] {
            match self.read_over(connection, start, is_noted).await {
                Err(trouble) if trouble.refused_as(&NO_TABLE) => {}
                other => return other,
            }
        }
        self.is_primary(connection).await?;
        Ok(Records::default())
    }

    async fn read_over(&self, over: &Arc<Connection>, start: Start, is_noted: bool) -> Result<Records, Trouble> {
        let from = if let Start::At(seq) = start { number(seq) } else { 0 };
        let sql = self.sql.read(start, is_noted);
        let parameters: [(&(dyn ToSql + Sync), Type); 2] = [(&self.target, Type::TEXT), (&from, Type::INT8)];
        let rows = over.answer(&self.connector, over.client.query_typed(&sql, &parameters)).await;
        let rows = rows.map_err(|trouble| self.explained(trouble, over))?;
        let mut read = Records::default();
        for row in &rows {
            let unreadable = |error| Trouble::of_statement(&self.connector.place.shown, &error);
            if row.try_get(0).map_err(unreadable)? {
                return Err(Trouble::standby(&self.connector.place.shown));
            }
            let place =
                |column| row.try_get::<_, Option<i64>>(column).map(|seq| seq.unwrap_or_default().unsigned_abs());
            (read.last, read.noted) = (place(4).map_err(unreadable)?, place(5).map_err(unreadable)?);
            // If there is no record, the only row contains none.
            let Some(seq) = row.try_get::<_, Option<i64>>(1).map_err(unreadable)? else { continue };
            if read.records.is_empty() {
                read.is_from_checkpoint = row.try_get(3).map_err(unreadable)?;
            }
            read.records.push(Stored { seq: seq.unsigned_abs(), bytes: row.try_get(2).map_err(unreadable)? });
        }
        Ok(read)
    }

    /// Fails on a standby, which may not have the table yet.
    async fn is_primary(&self, connection: &Arc<Connection>) -> Result<(), Trouble> {
        let asked = connection.client.query_typed("select pg_is_in_recovery()", &[]);
        let rows = connection.answer(&self.connector, asked).await?;
        match rows.first().map(|row| row.try_get(0)) {
            Some(Ok(false)) => Ok(()),
            _ => Err(Trouble::standby(&self.connector.place.shown)),
        }
    }

    async fn append(&self, new: New<'_>) -> Result<(), AppendError> {
        let not_written = |trouble: Trouble| AppendError::NotWritten(trouble.to_string());
        let connection = self.connector.connection().await.map_err(not_written)?;
        let trouble = match self.attempt(&connection, new).await {
            Ok(Attempt::Created) => return Ok(()),
            Ok(Attempt::NotCreated) => match self.look(&connection, new.seq).await {
                Ok(found) => return self.judge(new, &found),
                Err(trouble) => trouble,
            },
            Err(trouble) if matches!(trouble.kind, TroubleKind::Lost | TroubleKind::Silent) => trouble,
            Err(trouble) => return Err(not_written(trouble)),
        };
        self.settle(&connection, new, trouble).await
    }

    /// Finds out whether a record was written, after the answer was lost.
    async fn settle(&self, lost: &Arc<Connection>, new: New<'_>, first: Trouble) -> Result<(), AppendError> {
        let unknown =
            |second: &Trouble| AppendError::Unknown(format!("{}; a second attempt failed too: {second}", first.why));
        let connection = self.connector.another(lost).await.map_err(|second| unknown(&second))?;
        let found = self.look(&connection, new.seq).await.map_err(|second| unknown(&second))?;
        if found.record.is_some() {
            return self.judge(new, &found);
        }
        if first.kind == TroubleKind::Silent {
            return Err(AppendError::Unknown(format!(
                "{first}. The record does not exist yet, but may still be written"
            )));
        }
        // The record does not exist yet, but the first request may still arrive. So it is created here: whichever comes
        // first is the record, and the other one finds the same bytes in its place.
        match self.attempt(&connection, new).await {
            Ok(Attempt::Created) => Ok(()),
            Ok(Attempt::NotCreated) => {
                let found = self.look(&connection, new.seq).await.map_err(|second| unknown(&second))?;
                self.judge(new, &found).map_err(|error| match error {
                    AppendError::NotWritten(why) => AppendError::Unknown(why),
                    other => other,
                })
            }
            Err(second) => Err(unknown(&second)),
        }
    }

    /// Tries to create a record, and the tables if one is missing.
    async fn attempt(&self, connection: &Arc<Connection>, new: New<'_>) -> Result<Attempt, Trouble> {
        match self.insert(connection, new).await {
            Err(trouble) if trouble.refused_as(&NO_TABLE) => {
                self.make(connection).await?;
                self.insert(connection, new).await
            }
            other => other,
        }
    }

    async fn insert(&self, connection: &Arc<Connection>, new: New<'_>) -> Result<Attempt, Trouble> {
        let New { seq, bytes, previous, is_checkpoint } = new;
        let (seq, checksum) = (number(seq), codec::stated(bytes).unwrap_or_default());
        let previous = previous.map(pushplan_model::digest::Digest::as_str);
        let parameters: [(&(dyn ToSql + Sync), Type); 6] = [
            (&self.target, Type::TEXT),
            (&seq, Type::INT8),
            (&bytes, Type::BYTEA),
            (&checksum, Type::TEXT),
            (&is_checkpoint, Type::BOOL),
            (&previous, Type::TEXT),
        ];
        let sql = self.sql.insert();
        match connection.answer(&self.connector, connection.client.execute_typed(&sql, &parameters)).await {
            Ok(0) => Ok(Attempt::NotCreated),
            Ok(_) => Ok(Attempt::Created),
            Err(trouble) if trouble.refused_as(&TAKEN) => Ok(Attempt::NotCreated),
            Err(trouble) => Err(self.explained(trouble, connection)),
        }
    }

    /// Creates the schema and the tables. If another process creates them meanwhile, that is fine.
    async fn make(&self, connection: &Arc<Connection>) -> Result<(), Trouble> {
        let schema = &self.connector.place.schema;
        let sql = "select from pg_namespace where nspname = $1";
        let parameters: [(&(dyn ToSql + Sync), Type); 1] = [(schema, Type::TEXT)];
        let asked = connection.client.query_typed(sql, &parameters);
        let has_schema = !connection.answer(&self.connector, asked).await?.is_empty();
        // A user who may create tables in an existing schema is not necessarily allowed to create schemas.
        let make_schema = Some(self.sql.make_schema()).filter(|_| !has_schema);
        for sql in make_schema.into_iter().chain([self.sql.make_tables()]) {
            match connection.answer(&self.connector, connection.client.batch_execute(&sql)).await {
                Err(trouble) if !trouble.refused_as(&MADE_ALREADY) => {
                    return Err(Trouble {
                        help: if trouble.refused_as(&[SqlState::INSUFFICIENT_PRIVILEGE]) {
                            format!(
                                "someone with the right to create the table has to run this once: {}",
                                self.sql.set_up(&connection.user)
                            )
                        } else {
                            trouble.help
                        },
                        ..trouble
                    });
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    async fn look(&self, connection: &Arc<Connection>, seq: Seq) -> Result<RowFound, Trouble> {
        let (sql, seq) = (self.sql.look(), number(seq));
        let parameters: [(&(dyn ToSql + Sync), Type); 2] = [(&self.target, Type::TEXT), (&seq, Type::INT8)];
        let row = connection.answer(&self.connector, connection.client.query_typed_one(&sql, &parameters)).await;
        let row = match row {
            Err(trouble) if trouble.refused_as(&NO_TABLE) => {
                self.is_primary(connection).await?;
                return Ok(RowFound { record: None, before: None });
            }
            row => row.map_err(|trouble| self.explained(trouble, connection))?,
        };
        let unreadable = |error| Trouble::of_statement(&self.connector.place.shown, &error);
        if row.try_get(0).map_err(unreadable)? {
            return Err(Trouble::standby(&self.connector.place.shown));
        }
        Ok(RowFound { record: row.try_get(1).map_err(unreadable)?, before: row.try_get(2).map_err(unreadable)? })
    }

    /// Explains by the current row why a record was not created.
    fn judge(&self, new: New<'_>, found: &RowFound) -> Result<(), AppendError> {
        let place = &self.connector.place.shown;
        let before = new.seq.saturating_sub(1);
        match &found.record {
            Some(record) if record == new.bytes => Ok(()),
            Some(_) => Err(AppendError::Conflict),
            None => Err(AppendError::NotWritten(match &found.before {
                None => format!("{place}: record {before} no longer exists"),
                Some(checksum)
                    if Some(checksum.as_str()) == new.previous.map(pushplan_model::digest::Digest::as_str) =>
                {
                    format!("{place}: another process began to write record {} and did not finish", new.seq)
                }
                Some(_) => format!("{place}: record {before} has changed since it was read"),
            })),
        }
    }

    /// Adds the SQL that grants the missing privilege, if that is the problem.
    fn explained(&self, trouble: Trouble, connection: &Connection) -> Trouble {
        if !trouble.refused_as(&[SqlState::INSUFFICIENT_PRIVILEGE]) {
            return trouble;
        }
        let sql = self.sql.grant(&connection.user);
        Trouble { help: format!("someone with the right to grant it has to run this once: {sql}"), ..trouble }
    }
}

/// Returns the number of a record for SQL. No ledger comes near the limit.
fn number(seq: Seq) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

impl Records {
    /// Returns every record from the first requested one on. Fails if one is missing.
    fn gapless(self, start: Start) -> Result<Vec<Stored>, Unread> {
        let first = match (start, self.records.first()) {
            (Start::At(seq), _) => seq.max(1),
            (Start::Checkpoint, Some(first)) if self.is_from_checkpoint => first.seq,
            (Start::Newest, Some(first)) => first.seq,
            (Start::Checkpoint | Start::Newest, _) => 1,
        };
        for (record, seq) in self.records.iter().zip(first..) {
            if record.seq != seq {
                return Err(Unread::Missing { seq, there: record.seq });
            }
        }
        if self.last < self.noted {
            return Err(Unread::CutShort { last: self.last, was: self.noted });
        }
        Ok(self.records)
    }
}

fn unread(Trouble { why, help, .. }: Trouble) -> Unread {
    Unread::Failed { why, help: Some(help) }
}

impl Store for PostgresStore {
    fn shown(&self) -> String {
        self.connector.place.shown.clone()
    }

    fn record(&self, seq: Seq) -> String {
        format!("row ({}, {seq}) of {}.ledger", self.target, self.connector.place.schema)
    }

    fn go_on(&self, seq: Seq) -> String {
        let (going_on, sql) = (going_on(seq), self.sql.cut(&self.target, seq));
        format!(
            "run `{sql}` to {going_on}. Later changes are then unknown: `pushplan plan` shows a resource as not \
                managed if the service lists it, and as new if not. Check the plan, and run `pushplan adopt ADDRESS \
                --id ID` for everything that already exists, so that nothing is sent twice"
        )
    }

    fn read(&self, start: Start) -> Pending<'_, Result<Vec<Stored>, Unread>> {
        Box::pin(async move { self.read_records(start).await.map_err(unread)?.gapless(start) })
    }

    fn read_as_is(&self, start: Start) -> Pending<'_, Result<Vec<Stored>, Unread>> {
        Box::pin(async move {
            let read = self.read_records(start).await.map_err(unread)?;
            Records { noted: 0, ..read }.gapless(start)
        })
    }

    fn accept(&self) -> Pending<'_, Result<(), Unread>> {
        Box::pin(async move {
            let connection = self.connector.connection().await.map_err(unread)?;
            let (sql, parameters): (_, [(&(dyn ToSql + Sync), Type); 1]) =
                (self.sql.accept(), [(&self.target, Type::TEXT)]);
            let asked = connection.client.execute_typed(&sql, &parameters);
            connection.answer(&self.connector, asked).await.map_err(unread)?;
            Ok(())
        })
    }

    fn create<'a>(&'a self, new: New<'a>) -> Pending<'a, Result<(), AppendError>> {
        Box::pin(self.append(new))
    }
}
