//! The numbers that the rounds write and the server shows.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::client::Timing;
use crate::exchange::Method;
use crate::reconcile::{Health, Metrics};
use crate::render::reconcile::{json, metrics};

/// The shared numbers.
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
        // The numbers are consistent even after a panic.
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text of `/metrics`.
    pub fn metrics(&self) -> String {
        metrics::text(&self.numbers(), self.fixes)
    }

    /// The result of `/healthz`: whether it is healthy, and details as JSON.
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
