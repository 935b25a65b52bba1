//! Stores changes as rows in a file, with one writer at a time.
//!
//! If nothing is being written, a change is written by the thread that made it, without a detour through another
//! thread, as long as the disk is fast. Changes that arrive during a write wait and share the next transaction, so that
//! many clients need few syncs; a separate thread writes those. A change is answered after its transaction is on disk.

mod file;

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use file::StoreFile;

/// The maximum time that a transaction may block a worker of the runtime. With a slower disk, the separate thread
/// writes.
const QUICK: Duration = Duration::from_millis(2);

/// The maximum number of rows that are written without the separate thread. More would block a worker of the runtime.
const FEW: usize = 32;

/// One row of an application's table; `None` removes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub app: String,
    pub table: &'static str,
    pub key: String,
    pub value: Option<String>,
}

/// A row that was read from the disk.
#[derive(Clone, Debug)]
pub struct Kept {
    pub app: String,
    pub table: String,
    pub key: String,
    pub value: String,
}

/// Rows that become durable together, and the channel that reports it. A thread that writes its own rows needs no
/// report.
#[derive(Debug)]
struct Batch {
    rows: Vec<Row>,
    done: Option<oneshot::Sender<Stored>>,
}

type Stored = Result<(), NotKept>;

/// Why a change is not durable.
#[derive(Clone, Debug)]
pub struct NotKept(pub String);

/// The batches that wait, and who writes them.
#[derive(Debug, Default)]
struct Queue {
    batches: Vec<Batch>,
    /// Someone is writing, or is about to. If not, nothing waits.
    busy: bool,
    /// The separate thread has to write.
    for_thread: bool,
    /// The number of batches in the last transaction and during it. If there was more than one, other clients are
    /// active and will probably stay active.
    last: usize,
    /// The duration of the last transaction.
    took: Duration,
    #[cfg(test)]
    transactions: usize,
    /// Why nothing is written any more: later changes depend on what was lost.
    failed: Option<NotKept>,
    closed: bool,
}

#[derive(Debug)]
struct Desk {
    queue: Mutex<Queue>,
    turn: Condvar,
    /// Whether a thread that makes a change may write it, because other workers continue to serve requests.
    in_place: bool,
    file: Mutex<StoreFile>,
    /// The content of the disk after a transaction that failed.
    left: Mutex<Option<Vec<Kept>>>,
}

/// The file. After a transaction that failed, nothing is written any more.
#[derive(Debug)]
pub struct Store {
    desk: Arc<Desk>,
    thread: Option<thread::JoinHandle<()>>,
}

/// A promise that a change becomes durable, whether or not someone waits for it.
#[derive(Debug)]
pub struct Ticket(Turn);

#[derive(Debug)]
enum Turn {
    /// Nobody was writing, so the owner of the ticket writes.
    Own(Duty),
    Others(oneshot::Receiver<Stored>),
}

impl Ticket {
    pub async fn kept(self) -> Stored {
        match self.0 {
            Turn::Own(duty) => duty.fulfil(),
            Turn::Others(done) => done.await.unwrap_or_else(|_| Err(NotKept("the store has stopped".into()))),
        }
    }
}

/// The duty to write what waits. If it is dropped, the separate thread does it.
#[derive(Debug)]
struct Duty(Option<Arc<Desk>>);

impl Duty {
    fn fulfil(mut self) -> Stored {
        let desk = self.0.take();
        let Some(desk) = desk else { return Ok(()) };
        let (result, more) = desk.write();
        if more {
            desk.leave_to_thread();
        }
        result
    }
}

impl Drop for Duty {
    fn drop(&mut self) {
        if let Some(desk) = self.0.take() {
            desk.leave_to_thread();
        }
    }
}

impl Desk {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave_to_thread(&self) {
        self.queue().for_thread = true;
        self.turn.notify_one();
    }

    /// Writes everything that waits in one transaction. Returns whether more has arrived; the caller then still has the
    /// duty to write.
    fn write(&self) -> (Stored, bool) {
        let (batches, failed) = {
            let mut queue = self.queue();
            (std::mem::take(&mut queue.batches), queue.failed.clone())
        };
        let start = Instant::now();
        let result = failed.map_or_else(|| self.commit(&batches), Err);
        let took = start.elapsed();
        let more = {
            let mut queue = self.queue();
            queue.failed = result.as_ref().err().cloned();
            (queue.last, queue.took) = (batches.len() + queue.batches.len(), took);
            #[cfg(test)]
            (queue.transactions += 1);
            queue.busy = !queue.batches.is_empty();
            if queue.closed {
                self.turn.notify_one();
            }
            queue.busy
        };
        for done in batches.into_iter().filter_map(|batch| batch.done) {
            // The receiver may be gone; the change is stored anyway.
            let _ = done.send(result.clone());
        }
        (result, more)
    }

    fn commit(&self, batches: &[Batch]) -> Stored {
        if batches.iter().all(|batch| batch.rows.is_empty()) {
            return Ok(());
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.append(batches.iter().flat_map(|batch| &batch.rows)).map_err(|error| {
            *self.left.lock().unwrap_or_else(PoisonError::into_inner) = file.rows().ok();
            NotKept(error.to_string())
        })
    }

    /// Writes whenever it is the separate thread's turn, until the store is closed.
    fn write_in_turn(&self) {
        loop {
            let mut queue = self.queue();
            while !(queue.for_thread || queue.closed && queue.batches.is_empty()) {
                queue = self.turn.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            if !std::mem::take(&mut queue.for_thread) {
                return;
            }
            drop(queue);
            while self.write().1 {}
        }
    }
}

impl Store {
    /// Opens the file, returns all of its rows, and starts the separate thread.
    pub fn open(path: &Path) -> anyhow::Result<(Self, Vec<Kept>)> {
        let (file, kept) = StoreFile::open(path)?;
        let desk = Arc::new(Desk {
            queue: Mutex::default(),
            turn: Condvar::new(),
            in_place: Handle::try_current().is_ok_and(|handle| handle.metrics().num_workers() > 1),
            file: Mutex::new(file),
            left: Mutex::default(),
        });
        let for_thread = desk.clone();
        let thread = thread::Builder::new().name("store".into()).spawn(move || for_thread.write_in_turn())?;
        Ok((Self { desk, thread: Some(thread) }, kept))
    }

    /// Submits rows for writing. Rows become durable in the order of these calls.
    pub(crate) fn submit(&self, rows: Vec<Row>) -> Ticket {
        let is_small = rows.len() <= FEW;
        let mut queue = self.desk.queue();
        if self.desk.in_place && is_small && !queue.busy && queue.last == 1 && queue.took < QUICK {
            queue.busy = true;
            queue.batches.push(Batch { rows, done: None });
            return Ticket(Turn::Own(Duty(Some(self.desk.clone()))));
        }
        let (done, told) = oneshot::channel();
        queue.batches.push(Batch { rows, done: Some(done) });
        if !std::mem::replace(&mut queue.busy, true) {
            queue.for_thread = true;
            self.desk.turn.notify_one();
        }
        Ticket(Turn::Others(told))
    }

    /// Whether everything that was submitted is durable.
    pub fn is_settled(&self) -> bool {
        let queue = self.desk.queue();
        !queue.busy && queue.failed.is_none()
    }

    #[cfg(test)]
    pub fn transactions(&self) -> usize {
        self.desk.queue().transactions
    }

    /// Simulates a slow disk: nothing is written until the result is dropped.
    #[cfg(test)]
    pub fn hold(&self) -> MutexGuard<'_, StoreFile> {
        self.desk.file.lock().expect("a file")
    }

    /// Returns the content of the disk after a ticket has reported a failure. Returns it only once.
    pub fn left(&self) -> Option<Vec<Kept>> {
        self.desk.left.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.desk.queue().closed = true;
        self.desk.turn.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
