//! What the loop writes down and the server shows.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::client::Timing;
use crate::exchange::Method;
use crate::reconcile::{Health, Metrics};
use crate::render::reconcile::{json, metrics};

/// The numbers, for several to look at.
#[derive(Debug)]
pub struct Board {
    numbers: Mutex<Metrics>,
    every: Duration,
    fixes: bool,
}

impl Board {
    pub fn new(every: Duration, fixes: bool) -> Self {
        Self { numbers: Mutex::new(Metrics::new()), every, fixes }
    }

    pub fn numbers(&self) -> MutexGuard<'_, Metrics> {
        // Numbers are whole also where someone came to a sudden end.
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For `/metrics`.
    pub fn metrics(&self) -> String {
        metrics::text(&self.numbers(), self.fixes)
    }

    /// For `/healthz`: whether it is fine, and more in JSON.
    pub fn health(&self, now: Timestamp) -> (bool, String) {
        let numbers = self.numbers();
        let is_fine = numbers.health(self.every, now) == Health::Fine;
        (is_fine, json::health(&numbers, self.every, now))
    }
}

impl Timing for Board {
    fn took(&self, method: Method, time: Duration) {
        self.numbers().request(method.word(), time);
    }
}
