//! A connection that several calls use, one after another or at the same time.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pushplan_io::client::Patience;
use tokio::runtime::{self, Handle};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::password::{Login, login};
use super::place::{Host, PostgresPlace, Security};
use super::tls::tls;
use super::trouble::{Trouble, TroubleKind};

/// How long to wait for a server that was asked to cancel a statement.
const STOPPING: Duration = Duration::from_secs(5);
const STOPPED: [SqlState; 1] = [SqlState::QUERY_CANCELED];
/// How long a connection may be idle before it is probed.
const QUIET: Duration = Duration::from_secs(30);

/// A connection to one database, opened when it is first needed and again when it has ended.
pub struct Connector {
    pub place: PostgresPlace,
    pub patience: Patience,
    kept: Mutex<Option<Arc<Connection>>>,
}

impl Connector {
    pub fn new(place: PostgresPlace) -> Self {
        Self { place, patience: Patience::default(), kept: Mutex::default() }
    }

    pub async fn connection(&self) -> Result<Arc<Connection>, Trouble> {
        // Concurrent callers wait for the same connection.
        let mut kept = self.kept.lock().await;
        if let Some(connection) = kept.as_ref().filter(|connection| connection.is_usable()) {
            return Ok(Arc::clone(connection));
        }
        *kept = None;
        let connection = Arc::new(self.connect().await?);
        *kept = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// A connection other than one that has failed.
    pub async fn another(&self, failed: &Arc<Connection>) -> Result<Arc<Connection>, Trouble> {
        {
            let mut kept = self.kept.lock().await;
            if kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, failed)) {
                *kept = None;
            }
        }
        self.connection().await
    }

    async fn connect(&self) -> Result<Connection, Trouble> {
        let Self { place, patience, .. } = self;
        let shown = &place.shown;
        let login = login(place, |name| std::env::var(name).ok()).map_err(|why| Trouble::unusable(shown, &why))?;
        let tls = tls(&place.security).map_err(|why| Trouble::unusable(shown, &why))?;
        let config = config(place, &login, patience);
        let connected = timeout(patience.connect, open(&config, tls)).await;
        let connected = connected.map_err(|_| Trouble::no_connection_within(shown, patience.connect))?;
        let mut connection = connected.map_err(|error| Trouble::unreached(shown, &error, &login))?;
        connection.user = login.user;
        Ok(connection)
    }
}

fn config(place: &PostgresPlace, login: &Login, patience: &Patience) -> Config {
    let mut config = Config::new();
    config.application_name("pushplan").dbname(&*place.database).port(place.port).user(&*login.user);
    // A name may have one address that does not answer and one that works.
    config.connect_timeout(patience.connect / 2).keepalives_idle(QUIET);
    match &place.host {
        Host::Name(name) => config.host(name),
        #[cfg(unix)]
        Host::Socket(folder) => config.host_path(folder),
        #[cfg(not(unix))]
        Host::Socket(folder) => config.host(folder.to_string_lossy()),
    };
    config.ssl_mode(match place.security {
        Security::Plain => SslMode::Disable,
        Security::Unchecked { or_plain: true } => SslMode::Prefer,
        Security::Unchecked { or_plain: false } | Security::Issued(_) | Security::Named(_) => SslMode::Require,
    });
    if let Some(password) = &login.password {
        config.password(password.reveal());
    }
    config
}

async fn open(config: &Config, tls: Option<MakeRustlsConnect>) -> Result<Connection, Error> {
    // Errors of the connection are reported to its users.
    let (client, task) = match tls.clone() {
        Some(tls) => {
            let (client, connection) = config.connect(tls).await?;
            (client, tokio::spawn(async move { drop(connection.await) }))
        }
        None => {
            let (client, connection) = config.connect(NoTls).await?;
            (client, tokio::spawn(async move { drop(connection.await) }))
        }
    };
    Ok(Connection {
        client,
        tls,
        task,
        runtime: Handle::current().id(),
        user: String::new(),
        is_stopped: AtomicBool::new(false),
    })
}

pub struct Connection {
    pub client: Client,
    /// The name of the connected user.
    pub user: String,
    tls: Option<MakeRustlsConnect>,
    task: JoinHandle<()>,
    /// The runtime of the task. In another one, the task may not make progress.
    runtime: runtime::Id,
    /// Whether the server was asked to cancel a statement. The request may arrive late and cancel the next one.
    is_stopped: AtomicBool,
}

impl Connection {
    fn is_usable(&self) -> bool {
        !self.is_stopped.load(Ordering::Acquire)
            && !self.client.is_closed()
            && !self.task.is_finished()
            && self.runtime == Handle::current().id()
    }

    /// Waits for the result of a statement. If that takes too long, asks the server to cancel it, so that it cannot
    /// take effect later.
    pub async fn answer<T>(
        &self,
        connector: &Connector,
        statement: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Trouble> {
        let (shown, limit) = (&connector.place.shown, connector.patience.whole);
        let mut statement = pin!(statement);
        if let Ok(answer) = timeout(limit, &mut statement).await {
            return answer.map_err(|error| {
                let trouble = Trouble::of_statement(shown, &error);
                // Another call cancelled it: the server cannot distinguish the calls of one connection.
                let is_stopped = self.is_stopped.load(Ordering::Acquire) && trouble.refused_as(&STOPPED);
                if is_stopped { Trouble { kind: TroubleKind::Lost, ..trouble } } else { trouble }
            });
        }
        self.is_stopped.store(true, Ordering::Release);
        let stopping = STOPPING.min(limit);
        // The answer to the statement shows whether it was cancelled.
        let _ = timeout(stopping, self.cancel()).await;
        match timeout(stopping, &mut statement).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) if error.code().is_some_and(|code| STOPPED.contains(code)) => {
                Err(Trouble::stopped(shown, limit))
            }
            Ok(Err(error)) => Err(Trouble { kind: TroubleKind::Silent, ..Trouble::of_statement(shown, &error) }),
            Err(_) => Err(Trouble::silent(shown, limit)),
        }
    }

    async fn cancel(&self) -> Result<(), Error> {
        let token = self.client.cancel_token();
        match self.tls.clone() {
            Some(tls) => token.cancel_query(tls).await,
            None => token.cancel_query(NoTls).await,
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A task that waits for an answer would keep waiting.
        self.task.abort();
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").field("place", &self.place.shown).field("patience", &self.patience).finish()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("user", &self.user).finish_non_exhaustive()
    }
}
