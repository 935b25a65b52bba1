//! How far each webhook is, and which events are still needed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::App;
use super::events::{Event, key, number};
use super::table::Table;
use crate::service::webhook::Webhook;

/// How many events are kept when nobody waits for them, so that they can be looked at.
const KEPT: usize = 10_000;

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The offset of the first event that the receiver has not confirmed.
    pub next: u64,
}

/// How a connection fails at present.
#[derive(Clone, Debug)]
pub struct Failing {
    /// Attempts for the event that waits.
    pub attempts: u64,
    pub why: String,
}

/// The connections of an application, by URL.
#[derive(Debug)]
pub struct Webhooks {
    pub cursors: Table<Cursor>,
    /// Those that this run of the service has. The others keep their place, but no events.
    connected: BTreeSet<String>,
    failing: BTreeMap<String, Failing>,
}

/// What a connection has before it.
#[derive(Debug)]
pub enum Next {
    Nothing,
    /// Events up to an offset, none of which it is told of.
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
        Self { cursors: Table::new("webhooks"), connected: BTreeSet::new(), failing: BTreeMap::new() }
    }

    /// Why the last attempt of a connection failed, where it did.
    pub fn failing(&self, url: &str) -> Option<&Failing> {
        self.failing.get(url)
    }

    pub fn connected(&self) -> impl Iterator<Item = &str> {
        self.connected.iter().map(String::as_str)
    }

    /// The first event that some connection still needs.
    fn needed_from(&self) -> u64 {
        let cursors = self.connected.iter().filter_map(|url| self.cursors.get(url));
        cursors.map(|cursor| cursor.next).min().unwrap_or(u64::MAX)
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        Self::new()
    }
}

impl App {
    /// Takes up a connection: a new one is told of what happens from now on, a known one goes on where it was. `false`
    /// where there is one of that URL already.
    pub fn connect(&mut self, url: &str) -> bool {
        if self.webhooks.cursors.get(url).is_none() {
            let cursor = Cursor { next: self.next_offset };
            self.webhooks.cursors.put(&mut self.journal, url, cursor);
        }
        self.webhooks.connected.insert(url.to_owned())
    }

    /// What a connection is to be told next.
    pub fn next_event(&self, webhook: &Webhook) -> Next {
        let from = self.webhooks.cursors.get(&webhook.url).map_or(self.next_offset, |cursor| cursor.next);
        let found = self.events.from(&key(from)).find(|(_, event)| webhook.wants(&event.r#type));
        match found {
            Some((offset, event)) => Next::Event { offset: number(offset), event: event.clone() },
            None if from < self.next_offset => Next::Unwanted { until: self.next_offset },
            None => Next::Nothing,
        }
    }

    /// Notes that a connection has every event before an offset.
    pub fn confirm(&mut self, url: &str, until: u64) {
        self.webhooks.failing.remove(url);
        self.webhooks.cursors.put(&mut self.journal, url, Cursor { next: until });
        self.drop_events();
    }

    /// Notes that an attempt has failed. This is for people to look at and is not kept.
    pub fn delivery_failed(&mut self, url: &str, why: String) {
        let attempts = self.webhooks.failing.get(url).map_or(1, |failing| failing.attempts + 1);
        self.webhooks.failing.insert(url.to_owned(), Failing { attempts, why });
    }

    /// Lets go of old events that no connection needs.
    pub fn drop_events(&mut self) {
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
