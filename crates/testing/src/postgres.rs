//! A PostgreSQL of the test's own.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock};

use tokio_postgres::{Client, Config, NoTls};

use crate::missing;

/// The variable that makes tests fail without PostgreSQL or PgBouncer.
pub const REQUIRED: &str = "PUSHPLAN_REQUIRE_POSTGRES";

/// It runs until this is dropped, or until the test's process ends.
#[derive(Debug)]
pub struct Server {
    child: Child,
    orders: Mutex<Option<(ChildStdin, BufReader<ChildStdout>)>>,
    pub port: u16,
    /// Where PgBouncer listens; 0 where there is none.
    pub pooled: u16,
    pub socket: String,
    /// The authority that vouches for the server, and another one.
    pub root: String,
    pub other: String,
}

impl Server {
    /// The server that most tests share, each with a schema of its own; `None` where PostgreSQL is missing.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Server>> = OnceLock::new();
        SHARED.get_or_init(Self::start).as_ref()
    }

    pub fn start() -> Option<Self> {
        let script = crate::root().join("tests/stores/postgres/start");
        let mut child =
            Command::new(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the script starts");
        let mut said = BufReader::new(child.stdout.take().expect("piped"));
        let orders = child.stdin.take().expect("piped");
        let (mut all, mut line) = (String::new(), String::new());
        while line.trim() != "ready" {
            line.clear();
            if said.read_line(&mut line).expect("a line") == 0 {
                child.wait().expect("it has ended");
                assert_eq!(all.trim(), "missing", "PostgreSQL does not start; run tests/stores/postgres/install");
                missing("PostgreSQL", "run tests/stores/postgres/install", REQUIRED);
                return None;
            }
            all.push_str(&line);
        }
        let value = |name: &str| {
            let found = all.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            found.expect("every value").to_owned()
        };
        Some(Self {
            child,
            orders: Mutex::new(Some((orders, said))),
            port: value("port").parse().expect("a port"),
            pooled: value("pooled").parse().expect("a port"),
            socket: value("socket"),
            root: value("root"),
            other: value("other"),
        })
    }

    /// Has the script do something, and waits for it.
    pub fn order(&self, order: &str) {
        let mut orders = self.orders.lock().expect("no panic");
        let (stdin, stdout) = orders.as_mut().expect("it runs");
        writeln!(stdin, "{order}").expect("the script reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the script answers");
        assert_eq!(line.trim(), "done", "{order}");
    }

    /// The place of a schema, for someone who may make it.
    pub fn place(&self, schema: &str) -> String {
        place(self.port, schema)
    }

    /// A connection of someone who may do everything.
    pub async fn admin(&self, database: &str) -> Client {
        let mut config = Config::new();
        config.host_path(&self.socket).port(self.port).user("postgres").dbname(database);
        let (client, connection) = config.connect(NoTls).await.expect("connected");
        tokio::spawn(async move { drop(connection.await) });
        client
    }

    pub async fn run(&self, sql: &str) {
        self.admin("ledgers").await.batch_execute(sql).await.expect(sql);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.orders.lock().expect("no panic").take());
        let _ = self.child.wait();
    }
}

pub fn place(port: u16, schema: &str) -> String {
    format!("postgres://keeper:hunter2@127.0.0.1:{port}/ledgers/{schema}")
}
