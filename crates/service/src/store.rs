//! Keeping what was changed: rows in a file, written by one at a time.
//!
//! A change that comes while nothing is being written is written by whoever made it, without a detour through another thread,
//! where the disk is quick. Changes that come meanwhile wait and share the next transaction, so that many clients cost few
//! syncs; a thread writes those. A change is answered after its transaction is on the disk.

mod file;

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::cannot_start::CannotStart;
use file::StoreFile;

/// How long a transaction may hold up a worker of the runtime. A slower disk is left to the thread.
const QUICK: Duration = Duration::from_millis(2);

/// How many rows are written without a thread of their own. More of them would hold up a worker of the runtime.
const FEW: usize = 32;

/// One row of an application's table; `None` removes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub app: String,
    pub table: &'static str,
    pub key: String,
    pub value: Option<String>,
}

/// A row as it was found on the disk.
#[derive(Clone, Debug)]
pub struct Kept {
    pub app: String,
    pub table: String,
    pub key: String,
    pub value: String,
}

/// Rows that become durable together, and who is to be told. Whoever writes them knows without being told.
#[derive(Debug)]
struct Batch {
    rows: Vec<Row>,
    done: Option<oneshot::Sender<Stored>>,
}

type Stored = Result<(), String>;

/// What waits to be written, and whose turn it is to write it.
#[derive(Debug, Default)]
struct Queue {
    batches: Vec<Batch>,
    /// Somebody writes, or is about to. Where nobody does, nothing waits.
    busy: bool,
    /// It is the thread's turn.
    for_thread: bool,
    /// How many batches the last transaction had, with those that came meanwhile. More than one: others are about, and will
    /// be again.
    last: usize,
    /// How long it took.
    took: Duration,
    #[cfg(test)]
    transactions: usize,
    /// Why nothing is written any more: what comes later builds on what was lost.
    failed: Option<String>,
    closed: bool,
}

#[derive(Debug)]
struct Desk {
    queue: Mutex<Queue>,
    turn: Condvar,
    /// Whoever makes a change may write it: there are other workers that serve meanwhile.
    in_place: bool,
    file: Mutex<StoreFile>,
    /// What the disk holds after a transaction that failed.
    left: Mutex<Option<Vec<Kept>>>,
}

/// The file. After a transaction that failed nothing is written any more.
#[derive(Debug)]
pub struct Store {
    desk: Arc<Desk>,
    thread: Option<thread::JoinHandle<()>>,
}

/// A promise that a change is durable. It becomes so whether or not somebody waits for it.
#[derive(Debug)]
pub struct Ticket(Turn);

#[derive(Debug)]
enum Turn {
    /// Nobody was writing: the owner of the ticket writes.
    Own(Duty),
    Others(oneshot::Receiver<Stored>),
}

impl Ticket {
    pub async fn kept(self) -> Result<(), String> {
        match self.0 {
            Turn::Own(duty) => duty.fulfil(),
            Turn::Others(done) => done.await.unwrap_or_else(|_| Err("the store has stopped".into())),
        }
    }
}

/// The duty to write what waits. Who drops it leaves it to the thread.
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

    /// Writes all that waits in one transaction, and says whether more came meanwhile. Whoever calls this has the duty, and
    /// has it still where there is more.
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
            // Whoever asked may have gone away; the change is kept all the same.
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
            error.to_string()
        })
    }

    /// Writes whenever it is the thread's turn, until the store is closed.
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
    /// Opens the file, gives back all that it holds, and starts the thread.
    pub fn open(path: &Path) -> Result<(Self, Vec<Kept>), CannotStart> {
        let (file, kept) = StoreFile::open(path)?;
        let desk = Arc::new(Desk {
            queue: Mutex::default(),
            turn: Condvar::new(),
            in_place: Handle::try_current().is_ok_and(|handle| handle.metrics().num_workers() > 1),
            file: Mutex::new(file),
            left: Mutex::default(),
        });
        let for_thread = desk.clone();
        let thread = thread::Builder::new()
            .name("store".into())
            .spawn(move || for_thread.write_in_turn())
            .map_err(|error| error.to_string())?;
        Ok((Self { desk, thread: Some(thread) }, kept))
    }

    /// Hands rows over to be written. Rows become durable in the order of these calls.
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

    /// Whether all that was handed over is durable.
    pub fn is_settled(&self) -> bool {
        let queue = self.desk.queue();
        !queue.busy && queue.failed.is_none()
    }

    #[cfg(test)]
    pub fn transactions(&self) -> usize {
        self.desk.queue().transactions
    }

    /// A disk that takes its time: nothing is written until this is dropped.
    #[cfg(test)]
    pub fn hold(&self) -> MutexGuard<'_, StoreFile> {
        self.desk.file.lock().expect("a file")
    }

    /// What the disk holds, after a ticket has told of a failure. It is given once.
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
