//! Errors of a database, and what to check.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::time::Duration;

use tokio_postgres::Error;
use tokio_postgres::error::{Severity, SqlState};

use super::password::Login;

/// Why an operation failed, and how to fix it.
#[derive(Clone, Debug)]
pub struct Trouble {
    pub kind: TroubleKind,
    pub why: String,
    pub help: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// There was no connection, so nothing was sent.
    Unreached,
    /// The server did not carry out the statement.
    Refused(SqlState),
    /// The server is a standby: it does not know the newest record, and accepts no writes.
    Standby,
    /// The connection broke: the server may have carried out the statement.
    Lost,
    /// No answer arrived in time, and cancelling did not help either.
    Silent,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.why, self.help)
    }
}

impl Trouble {
    /// Why no connection was made.
    pub fn unreached(place: &str, error: &Error, login: &Login) -> Self {
        let user = &login.user;
        let why = format!("{place} cannot be reached: {}", innermost(error));
        let help = match Obstacle::of(error) {
            Obstacle::Login => {
                let file = "a line of the password file (~/.pgpass, or the file in PGPASSFILE)";
                match &login.passed_over {
                    Some(passed_over) => passed_over.clone(),
                    None if login.password.is_none() => {
                        format!("set the password of `{user}` in PGPASSWORD and the server in PGHOST, or use {file}")
                    }
                    None => {
                        format!("check `{user}` and its password, from the place, PGPASSWORD or {file}")
                    }
                }
            }
            Obstacle::NoDatabase => "check the name of the database, or create it: `createdb NAME`".to_owned(),
            Obstacle::Full => "allow more connections on the server, or use a pooling proxy".to_owned(),
            Obstacle::NoTls => "turn TLS on at the server; sslmode=disable sends everything unencrypted".to_owned(),
            Obstacle::Certificate => {
                "check that this is the right server, and set the certificate of its authority with sslrootcert=FILE"
                    .to_owned()
            }
            Obstacle::Other => CHECK_SERVER.to_owned(),
        };
        Self { kind: TroubleKind::Unreached, why, help }
    }

    /// Why no connection can be attempted.
    pub fn unusable(place: &str, why: &anyhow::Error) -> Self {
        let why = format!("{place} cannot be used: {why}");
        Self { kind: TroubleKind::Unreached, why, help: "correct it and run the command again".to_owned() }
    }

    pub(crate) fn no_connection_within(place: &str, limit: Duration) -> Self {
        let why = format!("{place} cannot be reached: no answer within {limit:?}");
        Self { kind: TroubleKind::Unreached, why, help: CHECK_SERVER.to_owned() }
    }

    /// Why a statement was not carried out, or may not have been.
    pub(crate) fn of_statement(place: &str, error: &Error) -> Self {
        let said = innermost(error);
        let Some(answer) = error.as_db_error() else {
            let why = format!("the connection to {place} was lost: {said}");
            return Self { kind: TroubleKind::Lost, why, help: CHECK_SERVER.to_owned() };
        };
        // A session that ends with an answer may have carried out the statement first.
        let is_end = matches!(answer.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
        let code = answer.code().code();
        if is_end || code.starts_with("08") || code.starts_with("57P") {
            let why = format!("{place} ended the connection: {said}");
            return Self { kind: TroubleKind::Lost, why, help: CHECK_SERVER.to_owned() };
        }
        if *answer.code() == SqlState::READ_ONLY_SQL_TRANSACTION {
            return Self::standby(place);
        }
        let why = format!("{place} refuses: {said}");
        let help = match code {
            "53100" | "53200" => "check the server's disk and memory",
            _ => "check the server's log",
        };
        Self { kind: TroubleKind::Refused(answer.code().clone()), why, help: help.to_owned() }
    }

    /// The server cancelled the statement, so it has no effect.
    pub fn stopped(place: &str, limit: Duration) -> Self {
        let why = format!("{place} did not answer within {limit:?}, so the statement was cancelled");
        Self { kind: TroubleKind::Refused(SqlState::QUERY_CANCELED), why, help: CHECK_LOCKS.to_owned() }
    }

    pub fn silent(place: &str, limit: Duration) -> Self {
        let why = format!("{place} did not answer within {limit:?}");
        Self { kind: TroubleKind::Silent, why, help: CHECK_LOCKS.to_owned() }
    }

    pub fn standby(place: &str) -> Self {
        let why =
            format!("{place} is a standby or read-only: its records may be out of date, and it accepts no writes");
        Self { kind: TroubleKind::Standby, why, help: "name the primary server".to_owned() }
    }

    pub(crate) fn refused_as(&self, codes: &[SqlState]) -> bool {
        matches!(&self.kind, TroubleKind::Refused(code) if codes.contains(code))
    }
}

/// The reason why a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Obstacle {
    Login,
    NoDatabase,
    /// The server accepts no more connections.
    Full,
    NoTls,
    Certificate,
    Other,
}

impl Obstacle {
    fn of(error: &Error) -> Self {
        let code = error.code().map_or("", SqlState::code);
        // The client library has no code for two of them, only texts.
        let says = |words: &str| error.code().is_none() && innermost(error).contains(words);
        if code.starts_with("28") || says("password missing") {
            Self::Login
        } else if code == SqlState::INVALID_CATALOG_NAME.code() {
            Self::NoDatabase
        } else if code.starts_with("53") {
            Self::Full
        } else if says("does not support TLS") {
            Self::NoTls
        } else if is_certificate(error) {
            Self::Certificate
        } else {
            Self::Other
        }
    }
}

/// Whether the client rejected the server's certificate.
fn is_certificate(error: &Error) -> bool {
    let mut cause = error.source();
    while let Some(one) = cause {
        // An I/O error skips the error that it wraps: its source is the source of that error.
        let wrapped = one.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let one = wrapped.map_or(one, |wrapped| wrapped as &(dyn std::error::Error + 'static));
        if matches!(one.downcast_ref(), Some(rustls::Error::InvalidCertificate(_))) {
            return true;
        }
        cause = one.source();
    }
    false
}

const CHECK_SERVER: &str = "check that the server runs, that host and port are right, and that this machine may connect \
                            to it";
const CHECK_LOCKS: &str = "check that the server is not overloaded and that no session holds a lock on the table: \
    `select pid, state, query from pg_stat_activity` shows the sessions";

/// Returns the innermost cause, without its context.
fn innermost(error: &Error) -> String {
    if let Some(answer) = error.as_db_error() {
        return answer.message().to_owned();
    }
    let Some(mut innermost) = error.source() else { return error.to_string() };
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let text = innermost.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
