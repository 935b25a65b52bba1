//! The only place where state is read and changed.

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use anyhow::anyhow;
use hyper::header::HeaderValue;
use jiff::Timestamp;
use subtle::ConstantTimeEq;
use tokio::sync::{Notify, Semaphore, watch};

use super::Settings;
use super::answer::Refusal;
use super::api::Decoding;
use super::clock::{Clock, owners};
use super::faults::{Faults, History, Lag, Rules};
use super::request::{Request, RequestBody};
use super::requests::Requests;
use super::state::{State, Traffic};
use super::store::{Kept, NotKept, Store, Ticket};

/// The maximum size of a body that is decoded faster than it is handed to another thread, in bytes.
const LARGE: usize = 16 * 1024;

/// The state, its store and its clock.
#[derive(Debug)]
pub struct Engine {
    pub settings: Settings,
    pub clock: Clock,
    /// The media type of every body of the API.
    pub media_type: HeaderValue,
    /// The log of requests to the API.
    pub requests: Requests,
    /// Applications in the data that are not configured, so that nobody can reach them.
    pub unoffered: BTreeSet<String>,
    state: RwLock<State>,
    store: Option<Store>,
    /// Signals a change that may be due earlier than the current wait.
    changed: Notify,
    /// The number of events that have been written.
    events: watch::Sender<u64>,
    /// The reason, once nothing can be stored.
    broken: watch::Sender<Option<String>>,
    /// Permits to decode large bodies. One core is always left for everything else.
    decoders: Arc<Semaphore>,
    /// The number of bodies that wait for a permit.
    waiting: AtomicUsize,
    pub faults: Option<Faults>,
    /// The recent past, if a fault makes lists lag behind.
    history: Option<Mutex<History>>,
}

/// Why a request had no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotDone {
    /// The store has failed, so no change is accepted.
    NotKept(String),
    /// The request triggered a bug in the service.
    Defect,
}

impl std::error::Error for NotDone {}

impl fmt::Display for NotDone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotKept(why) => write!(f, "nothing can be kept: {why}"),
            Self::Defect => f.write_str("the service has a defect; nothing was changed"),
        }
    }
}

/// Runs code and catches panics.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, NotDone> {
    // The state is consistent afterwards: changes are undone, and everything else is discarded.
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| NotDone::Defect)
}

impl Engine {
    pub fn open(settings: Settings) -> anyhow::Result<Self> {
        match &settings.data {
            None => Self::made(settings, None, Vec::new()),
            Some(path) => {
                let (store, kept) = Store::open(path)?;
                Self::made(settings, Some(store), kept)
            }
        }
    }

    /// Opens an engine in memory with the rows of another one: [`Engine::rows`]. Both are independent from then on.
    pub fn open_from(settings: Settings, rows: Vec<Kept>) -> anyhow::Result<Self> {
        Self::made(settings, None, rows)
    }

    fn made(settings: Settings, store: Option<Store>, kept: Vec<Kept>) -> anyhow::Result<Self> {
        let clock = Clock::new(settings.clock, &kept)?;
        let offered = |app: &&str| settings.apps.iter().any(|(key, _)| key == app);
        let unoffered: BTreeSet<String> = owners(&kept).filter(|app| !offered(app)).map(str::to_owned).collect();
        let lags = settings.faults.as_ref().map(Rules::lags).unwrap_or_default();
        let history = (!lags.is_empty()).then(|| Mutex::new(History::new(&kept, &lags)));
        let state = State::new(&settings, kept, store.is_some() || history.is_some())?;
        let media_type = media_type(&settings.vendor)?;
        let events = watch::Sender::new(state.events_written());
        let faults = settings.faults.clone().map(Faults::new);
        let requests = Requests::new(settings.apps.iter().map(|(_, secret)| secret.clone()));
        let (state, changed, broken) = (RwLock::new(state), Notify::new(), watch::Sender::new(None));
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let decoders = Arc::new(Semaphore::new((cores - 1).max(1)));
        Ok(Self {
            settings,
            clock,
            media_type,
            requests,
            unoffered,
            state,
            store,
            changed,
            events,
            broken,
            decoders,
            waiting: AtomicUsize::new(0),
            faults,
            history,
        })
    }

    /// Returns the application of a key and a secret. All of them are compared, in constant time.
    pub fn authenticate(&self, key: &str, secret: &str) -> Option<&str> {
        let mut found = None;
        for (its_key, its_secret) in &self.settings.apps {
            let same = its_key.as_bytes().ct_eq(key.as_bytes()) & its_secret.as_bytes().ct_eq(secret.as_bytes());
            if bool::from(same) {
                found = Some(its_key.as_str());
            }
        }
        found
    }

    /// Decodes and checks the body of a request, without the state and its lock. A large body waits for its turn and
    /// does not block a worker of the runtime. The request is returned without its body.
    pub(crate) async fn decode<T: Send + 'static>(
        &self,
        mut request: Request,
        decode: Decoding<T>,
    ) -> Result<Result<(Request, T), Refusal>, NotDone> {
        let sent = RequestBody(std::mem::take(&mut request.body));
        let is_large = sent.0.len() > LARGE;
        let work = move || guarded(|| decode(&request, &sent).map(|decoded| (request, decoded)));
        if !is_large {
            return work();
        }
        // The semaphore is never closed. The permit is held until the work ends, even if the client has disconnected.
        let waiting = Waiting::new(&self.waiting);
        let turn = self.decoders.clone().acquire_owned().await;
        drop(waiting);
        let work = tokio::task::spawn_blocking(move || {
            let decoded = work();
            drop(turn);
            decoded
        });
        work.await.unwrap_or(Err(NotDone::Defect))
    }

    /// Takes all permits to decode large bodies, so that none is decoded until they are returned.
    #[doc(hidden)]
    pub async fn hold_decoders(&self) -> impl Drop + use<> {
        let all = u32::try_from(self.decoders.available_permits()).unwrap_or(u32::MAX);
        self.decoders.clone().acquire_many_owned(all).await.expect("nobody closes it")
    }

    /// Returns the number of large bodies that wait to be decoded.
    pub fn waiting_decoders(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Reads the current state. Some of it may not be on disk yet.
    pub fn read<T>(&self, look: impl FnOnce(&State, Timestamp) -> T) -> T {
        look(&self.looking(), self.clock.now())
    }

    /// Returns what a read-only request shows. All of it is durable: something that a crash could still undo is shown
    /// to nobody.
    pub async fn show<T>(&self, look: impl Fn() -> T) -> Result<T, NotDone> {
        loop {
            // After a failure of the disk, the state is what the disk holds.
            let is_final = self.broken.borrow().is_some();
            let seen = guarded(&look)?;
            let settled = self.store.as_ref().is_none_or(Store::is_settled);
            if is_final || settled || self.kept().await.is_ok() {
                return Ok(seen);
            }
        }
    }

    /// Reads the state of a little while ago, if a lag is given and the state was kept.
    pub(crate) fn read_as_of<T>(&self, lag: Option<Lag>, look: impl FnOnce(&State, Timestamp) -> T) -> T {
        if let (Some(lag), Some(history)) = (lag, &self.history) {
            let rows = history.lock().unwrap_or_else(PoisonError::into_inner).as_of(lag);
            if let Ok(state) = State::new(&self.settings, rows, false) {
                return look(&state, self.clock.now());
            }
        }
        self.read(look)
    }

    /// Returns all current rows.
    pub fn rows(&self) -> Vec<Kept> {
        self.looking().rows()
    }

    fn looking(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn changing(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a receiver that changes whenever events are written.
    pub(crate) fn events_written(&self) -> watch::Receiver<u64> {
        self.events.subscribe()
    }

    /// Returns once everything that was visible before this call is durable.
    pub async fn kept(&self) -> Result<(), NotDone> {
        match &self.store {
            // Batches are written in order, so an empty one completes after all earlier ones.
            Some(store) => self.durable((), Some(store.submit(Vec::new()))).await,
            None => Ok(()),
        }
    }

    /// Changes the state, and returns once the change is durable. Everything that has become due is carried out first.
    pub async fn write<T>(&self, change: impl FnOnce(&mut State, Timestamp) -> T) -> Result<T, NotDone> {
        let (value, ticket) = self.change(change)?;
        self.durable(value, ticket).await
    }

    /// Changes the state without waiting for the disk. The change becomes durable before any later change. An error means that
    /// the change was not made.
    pub fn change<T>(&self, change: impl FnOnce(&mut State, Timestamp) -> T) -> Result<(T, Option<Ticket>), NotDone> {
        let at_its_time = self.clock.is_virtual();
        self.commit(|state, now| {
            state.fire_due(now, at_its_time);
            let value = change(state, now);
            // Everything that becomes due because of the change belongs to it.
            state.fire_due(self.clock.now(), at_its_time);
            value
        })
    }

    /// Carries out what became due while the service was down: once, and late, even with a virtual clock.
    pub(crate) async fn catch_up(&self) -> Result<(), NotDone> {
        let ((), ticket) = self.commit(|state, now| state.fire_due(now, false))?;
        self.durable((), ticket).await
    }

    /// Makes a change and hands its rows to the store.
    fn commit<T>(&self, change: impl FnOnce(&mut State, Timestamp) -> T) -> Result<(T, Option<Ticket>), NotDone> {
        let (changed, on_time) = {
            let mut state = self.changing();
            if let Some(why) = &*self.broken.borrow() {
                return Err(NotDone::NotKept(why.clone()));
            }
            let waited_for = state.next_due();
            let now = self.clock.now();
            let value = guarded(|| change(&mut state, now)).inspect_err(|_| self.undo(&mut state))?;
            let mut rows = state.take_rows();
            if let Some(history) = self.history.as_ref().filter(|_| !rows.is_empty()) {
                history.lock().unwrap_or_else(PoisonError::into_inner).record(rows.clone());
            }
            let written = state.events_written();
            self.events.send_if_modified(|seen| std::mem::replace(seen, written) != written);
            rows.extend(self.store.as_ref().and_then(|_| self.clock.row()));
            // The rows are handed over under the lock, so that they are written in the order in which they were
            // created.
            let ticket = self.store.as_ref().filter(|_| !rows.is_empty()).map(|store| store.submit(rows));
            ((value, ticket), waited_for == state.next_due())
        };
        if !on_time {
            self.changed.notify_one();
        }
        Ok(changed)
    }

    /// Returns a value once its change is durable. If it cannot be stored, it has not happened, and no further change
    /// is accepted.
    async fn durable<T>(&self, value: T, ticket: Option<Ticket>) -> Result<T, NotDone> {
        if let Some(ticket) = ticket
            && let Err(NotKept(why)) = ticket.kept().await
        {
            self.fall_back(&why);
            return Err(NotDone::NotKept(why));
        }
        Ok(value)
    }

    /// Undoes a change that did not complete.
    fn undo(&self, state: &mut State) {
        let keeps = self.store.is_some() || self.history.is_some();
        match State::new(&self.settings, state.rows_before(), keeps) {
            // The rows contain the connections of the settings as well.
            Ok(before) => *state = before,
            Err(why) => drop(self.broken.send_replace(Some(why.to_string()))),
        }
    }

    /// Goes back to what the disk holds, permanently. The state can still be read.
    fn fall_back(&self, why: &str) {
        let mut state = self.changing();
        if self.broken.borrow().is_some() {
            return;
        }
        let left = self.store.as_ref().and_then(Store::left);
        if let Some(left) = left.and_then(|left| State::new(&self.settings, left, true).ok()) {
            *state = left;
        }
        self.broken.send_replace(Some(why.to_owned()));
    }

    /// Waits until nothing can be stored any more, and returns why.
    pub async fn broken(&self) -> String {
        let mut broken = self.broken.subscribe();
        match broken.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            Err(_) => std::future::pending().await,
        }
    }

    /// Moves a virtual clock forward, and carries out in time order everything that becomes due. Returns how much was
    /// sent; `None` if the clock cannot be moved there.
    pub async fn move_clock(&self, to: Timestamp) -> Result<Option<Traffic>, NotDone> {
        let clock = &self.clock;
        self.write(|state, _| {
            let now = clock.now();
            if !clock.is_virtual() || to < now {
                return None;
            }
            let before = state.traffic();
            state.fire_due(to, true);
            clock.move_to(to).then(|| state.traffic() - before)
        })
        .await
    }

    /// Carries out what becomes due by the real clock, until the service stops.
    pub(crate) async fn keep_time(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        while !*stopped.borrow() {
            let next = self.read(|state, _| state.next_due());
            let wait = match next {
                Some(at) if !self.clock.is_virtual() => {
                    Duration::try_from(at.duration_since(self.clock.now())).unwrap_or(Duration::ZERO)
                }
                _ => Duration::from_secs(3600),
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {
                    match self.write(|_, _| ()).await {
                        Ok(()) => {}
                        Err(NotDone::NotKept(_)) => return,
                        // The due change triggers a bug, and would do so again immediately.
                        Err(NotDone::Defect) => tokio::time::sleep(Duration::from_secs(1)).await,
                    }
                }
                () = self.changed.notified() => {}
                _ = stopped.changed() => {}
            }
        }
    }
}

/// Counts something that waits, until it is dropped.
struct Waiting<'c>(&'c AtomicUsize);

impl<'c> Waiting<'c> {
    fn new(count: &'c AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns the media type of every body of the API.
fn media_type(vendor: &str) -> anyhow::Result<HeaderValue> {
    let fits = vendor.starts_with(|first: char| first.is_ascii_alphanumeric())
        && vendor.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let wrong = || anyhow!("`{vendor}` is not the name of a vendor: use letters, digits, `-`, `_` and `.`");
    if !fits {
        return Err(wrong());
    }
    format!("application/vnd.{vendor}+json; version=3").parse().map_err(|_| wrong())
}

#[cfg(test)]
mod tests;
