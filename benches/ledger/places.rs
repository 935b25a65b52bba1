//! Places of ledgers, each with nothing in it.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pushplan::ledger::git::GitStore;
use pushplan::ledger::object::ObjectStore;
use pushplan::ledger::postgres::PostgresStore;
use pushplan::ledger::store::Store;
use pushplan::ledger::{Chain, FileStore};
use pushplan_testing::{postgres, servers};
use tempfile::TempDir;

/// Where one ledger is.
pub trait Place {
    /// As someone opens it who has not read it before.
    fn chain(&self) -> Chain;
}

/// Makes a place; `None` where its server is not there.
type Make = fn() -> Option<Box<dyn Place>>;

pub const PLACES: [(&str, Make); 4] = [
    ("file", || Some(Box::new(Kept::new(|folder| Arc::new(FileStore::new(folder, TARGET)))))),
    ("postgres", || {
        let server = postgres::Server::shared()?;
        let place = server.place(&format!("bench_{}", fresh()));
        Some(Box::new(Kept::new(move |_| Arc::new(PostgresStore::new(&place, TARGET).expect("a place")))))
    }),
    ("s3", || {
        let (port, number) = (servers::moto()?, fresh());
        Some(Box::new(Kept::new(move |_| Arc::new(objects(port, number)))))
    }),
    ("git", || {
        let server = tempfile::tempdir().expect("a folder");
        git(server.path(), &["init", "-q", "--bare", "."]);
        Some(Box::new(Kept::new(move |folder| {
            let clone = folder.join(format!("clone-{}", fresh()));
            git(folder, &["clone", "-q", &format!("file://{}", server.path().display()), &clone.display().to_string()]);
            Arc::new(GitStore::new(&clone, None, TARGET))
        })))
    }),
];

const TARGET: &str = "prod";

/// A place, with a folder for what it needs on this machine.
struct Kept<O> {
    folder: TempDir,
    open: O,
}

impl<O: Fn(&Path) -> Arc<dyn Store>> Kept<O> {
    fn new(open: O) -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), open }
    }
}

impl<O: Fn(&Path) -> Arc<dyn Store>> Place for Kept<O> {
    fn chain(&self) -> Chain {
        Chain::new((self.open)(self.folder.path()), self.folder.path(), TARGET)
    }
}

fn objects(port: u16, number: usize) -> ObjectStore {
    let endpoint = format!("http://127.0.0.1:{port}");
    let settings = [
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", "someone"),
        ("AWS_SECRET_ACCESS_KEY", "hush-hush-hush"),
        ("AWS_REGION", "us-east-1"),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    ObjectStore::with(&format!("s3://team/bench-{number}"), TARGET, settings, Duration::from_secs(60)).expect("a place")
}

fn fresh() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn git(folder: &Path, arguments: &[&str]) {
    let said = Command::new("git").current_dir(folder).args(arguments).output().expect("git");
    assert!(said.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
}
