//! The progress of each webhook, and the events that are still needed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::App;
use super::events::{Event, key, number};
use super::table::Table;
use crate::webhook::Webhook;

/// The number of events to keep if no webhook needs them, so that they can be inspected.
const KEPT: usize = 10_000;

/// The progress of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The offset of the first event that the receiver has not confirmed.
    pub next: u64,
}

/// The state of a connection's deliveries, by the real clock. It is shown to people and not stored.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Delivery {
    pub last_attempt: Option<Timestamp>,
    /// The number of attempts for the current event, all of which failed.
    pub failed_attempts: u64,
    /// The last failed attempt, even if later ones succeeded.
    pub last_failure: Option<Failure>,
    /// When the current event is retried.
    pub next_attempt: Option<Timestamp>,
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub at: Timestamp,
    /// The status of the receiver's answer, if there was one.
    pub status: Option<u16>,
    pub reason: String,
}

/// The connections of an application, by URL.
#[derive(Debug)]
pub struct Webhooks {
    pub cursors: Table<Cursor>,
    /// The connections of this run of the service. Others keep their progress, but no events.
    connected: BTreeMap<String, Webhook>,
    deliveries: BTreeMap<String, Delivery>,
}

/// The next work of a connection.
#[derive(Debug)]
pub enum Next {
    Nothing,
    /// Events up to an offset, none of which it wants.
    Unwanted {
        until: u64,
    },
    Event {
        offset: u64,
        event: Event,
    },
}

impl Webhooks {
    pub fn new() -> Self {
        Self { cursors: Table::new("webhooks"), connected: BTreeMap::new(), deliveries: BTreeMap::new() }
    }

    /// Returns the state of a connection's deliveries.
    pub fn delivery(&self, url: &str) -> Delivery {
        self.deliveries.get(url).cloned().unwrap_or_default()
    }

    /// Returns why the last attempt of a connection failed, if it did.
    pub fn failing(&self, url: &str) -> Option<&Failure> {
        let delivery = self.deliveries.get(url).filter(|delivery| delivery.failed_attempts > 0)?;
        delivery.last_failure.as_ref()
    }

    pub fn connected(&self) -> impl Iterator<Item = &Webhook> {
        self.connected.values()
    }

    /// Returns the first event that some connection still needs.
    fn needed_from(&self) -> u64 {
        let cursors = self.connected.keys().filter_map(|url| self.cursors.get(url));
        cursors.map(|cursor| cursor.next).min().unwrap_or(u64::MAX)
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        Self::new()
    }
}

impl App {
    /// Adds a connection: a new one gets events from now on, a known one continues where it was. Returns `false` if
    /// there is one with this URL already.
    pub fn connect(&mut self, webhook: &Webhook) -> bool {
        let url = &webhook.url;
        if self.webhooks.cursors.get(url).is_none() {
            let cursor = Cursor { next: self.next_offset };
            self.webhooks.cursors.put(&mut self.journal, url, cursor);
        }
        self.webhooks.connected.insert(url.clone(), webhook.clone()).is_none()
    }

    /// Returns the offset of the first event that the receiver has not confirmed.
    pub fn cursor(&self, webhook: &Webhook) -> u64 {
        self.webhooks.cursors.get(&webhook.url).map_or(self.next_offset, |cursor| cursor.next)
    }

    /// Returns the events that a connection still has to receive, with their offsets.
    pub fn waiting<'a>(&'a self, webhook: &'a Webhook) -> impl Iterator<Item = (&'a str, &'a Event)> {
        self.events.from(&key(self.cursor(webhook))).filter(|(_, event)| webhook.wants(&event.r#type))
    }

    /// Returns the next event of a connection.
    pub fn next_event(&self, webhook: &Webhook) -> Next {
        let from = self.cursor(webhook);
        match self.waiting(webhook).next() {
            Some((offset, event)) => Next::Event { offset: number(offset), event: event.clone() },
            None if from < self.next_offset => Next::Unwanted { until: self.next_offset },
            None => Next::Nothing,
        }
    }

    /// Notes that a connection has received every event before an offset.
    pub fn confirm(&mut self, url: &str, until: u64) {
        self.webhooks.cursors.put(&mut self.journal, url, Cursor { next: until });
        self.drop_events();
    }

    /// Records the result of an attempt, and when it is retried if it failed.
    pub(crate) fn attempted(&mut self, url: &str, at: Timestamp, failed: Option<(Failure, Timestamp)>) {
        let delivery = self.webhooks.deliveries.entry(url.to_owned()).or_default();
        delivery.last_attempt = Some(at);
        match failed {
            None => (delivery.failed_attempts, delivery.next_attempt) = (0, None),
            Some((failure, next)) => {
                delivery.failed_attempts += 1;
                delivery.last_failure = Some(failure);
                delivery.next_attempt = Some(next);
            }
        }
    }

    /// Deletes old events that no connection needs.
    pub(crate) fn drop_events(&mut self) {
        let needed = self.webhooks.needed_from();
        while self.events.len() > KEPT {
            let Some(first) = self.events.iter().next().map(|(offset, _)| offset.to_owned()) else { return };
            if number(&first) >= needed {
                return;
            }
            self.events.remove(&mut self.journal, &first);
        }
    }
}
