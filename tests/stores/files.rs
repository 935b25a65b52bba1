//! The ledger in files, for tests that wait for each answer.

use std::path::Path;
use std::thread;

use jiff::Timestamp;
use pushplan::ledger::{AppendError, Chain, Entry, Ledger, Log, Position, Seq, Taken, Unreadable};

/// The ledger of a target in files beneath a folder.
pub struct FileLog(pub Chain);

/// Waits for an answer, even inside another runtime. Files need no driver of a runtime, so none is created, because its
/// own system calls could fail.
fn wait<T: Send>(answer: impl Future<Output = T> + Send) -> T {
    let runtime = || tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    thread::scope(|scope| scope.spawn(|| runtime().block_on(answer)).join().expect("an answer"))
}

impl FileLog {
    pub fn new(root: &Path, target: &str) -> Self {
        Self(Chain::in_files(root, target))
    }

    pub fn load(&self, after: Seq) -> Result<Vec<Entry>, Unreadable> {
        wait(self.0.read(after))
    }

    pub fn write(&self, entry: &Entry) -> Result<(), AppendError> {
        wait(self.0.append(entry))
    }

    pub fn history(&self) -> Result<Vec<Entry>, Unreadable> {
        wait(self.0.history())
    }

    pub fn position(&self) -> Result<Position, Unreadable> {
        wait(self.0.position())
    }

    pub fn checkpoint(&self, ledger: &Ledger, actor: &str, at: Timestamp) -> bool {
        wait(self.0.checkpoint(ledger, actor, at))
    }

    pub fn take_in(&self) -> Result<Taken, Unreadable> {
        wait(self.0.take_in())
    }
}
