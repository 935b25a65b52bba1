//! The one place where state is looked at and changed.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{Notify, watch};

use super::Settings;
use super::clock::Clock;
use super::state::State;
use super::store::Store;

/// State, its keeper and its clock.
#[derive(Debug)]
pub struct Engine {
    pub settings: Settings,
    pub clock: Clock,
    state: RwLock<State>,
    store: Option<Store>,
    /// Something was changed that may fall due earlier than what is waited for.
    changed: Notify,
}

impl Engine {
    pub fn open(settings: Settings) -> Result<Self, String> {
        let (store, kept) = match &settings.data {
            None => (None, Vec::new()),
            Some(path) => {
                let (store, kept) = Store::open(path)?;
                (Some(store), kept)
            }
        };
        let state = State::new(&settings, kept, store.is_some())?;
        let clock = Clock::new(settings.clock);
        Ok(Self { settings, clock, state: RwLock::new(state), store, changed: Notify::new() })
    }

    /// Looks at the state.
    pub fn read<T>(&self, look: impl FnOnce(&State, Timestamp) -> T) -> T {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        look(&state, self.clock.now())
    }

    /// Changes the state, and returns once the change is durable. What has fallen due meanwhile comes first.
    pub async fn write<T>(&self, change: impl FnOnce(&mut State, Timestamp) -> T) -> Result<T, String> {
        let at_its_time = self.clock.is_virtual();
        self.keep(|state, now| {
            state.fire_due(now, at_its_time);
            let value = change(state, now);
            // What the change itself set off, without a delay, belongs to it.
            state.fire_due(self.clock.now(), at_its_time);
            value
        })
        .await
    }

    /// Fires what fell due while the service was down: once, and late, on a virtual clock as well.
    pub async fn catch_up(&self) -> Result<(), String> {
        self.keep(|state, now| state.fire_due(now, false)).await
    }

    async fn keep<T>(&self, change: impl FnOnce(&mut State, Timestamp) -> T) -> Result<T, String> {
        let (value, ticket) = {
            let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
            let value = change(&mut state, self.clock.now());
            let rows = state.take_rows();
            // Handed over under the lock, so that rows are written in the order in which they were made.
            let ticket = self.store.as_ref().filter(|_| !rows.is_empty()).map(|store| store.submit(rows));
            (value, ticket)
        };
        self.changed.notify_one();
        if let Some(ticket) = ticket {
            ticket.kept().await?;
        }
        Ok(value)
    }

    /// Moves a virtual clock forward, firing whatever falls due on the way, in time order.
    pub async fn move_clock(&self, to: Timestamp) -> Result<bool, String> {
        let clock = &self.clock;
        self.write(|state, _| {
            let now = clock.now();
            if !clock.is_virtual() || to < now {
                return false;
            }
            state.fire_due(to, true);
            clock.move_to(to)
        })
        .await
    }

    /// Fires what falls due by the real clock, until the service stops.
    pub async fn keep_time(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
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
                    if self.write(|_, _| ()).await.is_err() {
                        return;
                    }
                }
                () = self.changed.notified() => {}
                _ = stopped.changed() => {}
            }
        }
    }
}
