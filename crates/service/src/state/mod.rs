//! The data of the service, by application.

mod activity;
pub mod devices;
mod due;
mod events;
mod experiments;
mod firing;
mod happening;
mod inactivity;
mod line;
mod local;
mod named_users;
mod ordered;
mod pipelines;
mod ranked;
mod registering;
mod responding;
mod schedules;
mod segments;
mod sending;
mod sent_log;
mod table;
mod tag_groups;
mod tagging;
mod templates;
#[cfg(test)]
mod tests;
mod webhooks;

use std::collections::BTreeMap;

use anyhow::{Context, anyhow, bail};
use jiff::Timestamp;

pub use activity::{Activity, Hour, Precision, hour_of};
pub use due::{Due, Queue};
pub use events::{Event, iso, key};
pub use experiments::{Experiment, GroupResult, SentExperiment, Spared, variant_of};
pub use happening::Happening;
pub use named_users::NamedUser;
pub use ordered::Ordered;
pub use pipelines::{Pipeline, Pipelines, SentPipeline};
pub use registering::OpenChannel;
pub use responding::CannotRespond;
pub use schedules::{Moment, Scheduled, moments, newer_form};
pub use segments::{Segment, Segments};
use sending::PART;
pub use sending::{Outgoing, PushType, Receipt, Sent, Traffic};
pub use sent_log::SentLog;
pub use table::{Journal, Table};
pub use tag_groups::TagGroups;
pub use templates::{Missing, Template};
pub use webhooks::{Cursor, Delivery, Failure, Next, Webhooks};

use devices::Index;

use super::Settings;
use super::store::{Kept, Row};

/// All applications. They share nothing.
#[derive(Debug)]
pub struct State {
    apps: BTreeMap<String, App>,
}

/// One application.
#[derive(Debug)]
pub struct App {
    pub key: String,
    pub journal: Journal,
    pub devices: Index,
    pub named_users: Table<NamedUser>,
    /// Tags without a group that were created by name, each with its time. Devices may have others.
    pub legacy_tags: Table<Timestamp>,
    pub tag_groups: TagGroups,
    pub segments: Segments,
    pub templates: Ordered<Template>,
    /// Scheduled pushes, by schedule id.
    pub schedules: Table<Scheduled>,
    pub experiments: Ordered<Experiment>,
    pub pipelines: Pipelines,
    pub due: Queue,
    /// Sent pushes, by push id.
    pub sent: SentLog,
    /// Messages that devices received, by device and push id.
    pub receipts: Table<Receipt>,
    /// Devices of control groups, by device and experiment id.
    pub spared: Table<Spared>,
    pub activity: Activity,
    /// Events by offset, kept until every webhook has received them.
    pub events: Table<Event>,
    pub next_offset: u64,
    /// Whether events are written.
    pub streams: bool,
    pub webhooks: Webhooks,
}

impl State {
    /// Creates the state from rows. `keeps` says whether changes are recorded.
    pub fn new(settings: &Settings, kept: Vec<Kept>, keeps: bool) -> anyhow::Result<Self> {
        let apps = settings.apps.iter().map(|(key, _)| (key.clone(), App::new(key, keeps)));
        let mut state = Self { apps: apps.collect() };
        for row in kept {
            // An application that is not configured keeps its rows for another run.
            if let Some(app) = state.apps.get_mut(&row.app) {
                app.load(&row)?;
            }
        }
        for webhook in &settings.webhooks {
            let app = state.apps.get_mut(&webhook.app);
            let app =
                app.with_context(|| format!("a webhook is for the application {}, which is not offered", webhook.app))?;
            if !app.connect(webhook) {
                bail!("the webhook {} is given twice for one application", webhook.url);
            }
        }
        Ok(state)
    }

    pub fn app(&self, key: &str) -> Option<&App> {
        self.apps.get(key)
    }

    pub fn app_mut(&mut self, key: &str) -> Option<&mut App> {
        self.apps.get_mut(key)
    }

    /// Returns the rows that have changed since the last call.
    pub(crate) fn take_rows(&mut self) -> Vec<Row> {
        self.apps.values_mut().flat_map(|app| app.journal.take()).collect()
    }

    /// Returns the rows of the current state.
    pub fn rows(&self) -> Vec<Kept> {
        self.apps.values().flat_map(App::dump).collect()
    }

    /// Returns the rows of the state before the changes that were not taken.
    pub(crate) fn rows_before(&self) -> Vec<Kept> {
        self.apps.values().flat_map(|app| app.journal.undo(app.dump())).collect()
    }

    /// Carries out what is due by `until`, in time order. With a virtual clock, that is everything, and each entry has its
    /// own time. With the real one, it is about [`PART`] sends, at the current time: the others follow, so that requests
    /// between them are answered.
    pub(crate) fn fire_due(&mut self, until: Timestamp, at_its_time: bool) {
        let mut left = if at_its_time { usize::MAX } else { PART };
        for app in self.apps.values_mut() {
            while left > 0
                && let Some((at, what)) = app.due.take(&mut app.journal, until)
            {
                let before = app.receipts.len();
                app.fire(&what, at, if at_its_time { at } else { until });
                left = left.saturating_sub((app.receipts.len() - before).max(1));
            }
        }
    }

    /// Returns the number of events of all applications.
    pub(crate) fn events_written(&self) -> u64 {
        self.apps.values().map(|app| app.next_offset).sum()
    }

    /// Returns the number of pushes and messages of all applications.
    pub(crate) fn traffic(&self) -> Traffic {
        let apps = || self.apps.values();
        Traffic { pushes: apps().map(|app| app.sent.len()).sum(), sends: apps().map(|app| app.receipts.len()).sum() }
    }

    /// Returns the time of the next entry in the queue.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.apps.values().filter_map(|app| app.due.next_time()).min()
    }
}

impl App {
    fn new(key: &str, keeps: bool) -> Self {
        Self {
            key: key.to_owned(),
            journal: Journal::new(key, keeps),
            devices: Index::new(),
            named_users: Table::new("named_users"),
            legacy_tags: Table::new("legacy_tags"),
            tag_groups: TagGroups::new(),
            segments: Segments::new(),
            templates: Ordered::new("templates", |_| true),
            schedules: Table::new("schedules"),
            experiments: Ordered::new("experiments", |kept: &Experiment| kept.started.is_none()),
            pipelines: Pipelines::new(),
            due: Queue::new(),
            sent: SentLog::new(),
            receipts: Table::new("receipts"),
            spared: Table::new("spared"),
            activity: Activity::new(),
            events: Table::new("events"),
            next_offset: 0,
            streams: true,
            webhooks: Webhooks::new(),
        }
    }

    /// Returns all rows, in the form that [`App::load`] reads.
    fn dump(&self) -> Vec<Kept> {
        let (mut rows, journal) = (Vec::new(), &self.journal);
        self.activity.hours.dump(journal, &mut rows);
        self.devices.dump(journal, &mut rows);
        self.due.dump(journal, &mut rows);
        self.events.dump(journal, &mut rows);
        self.experiments.dump(journal, &mut rows);
        self.legacy_tags.dump(journal, &mut rows);
        self.named_users.dump(journal, &mut rows);
        self.pipelines.table.dump(journal, &mut rows);
        self.receipts.dump(journal, &mut rows);
        self.schedules.dump(journal, &mut rows);
        self.segments.table.dump(journal, &mut rows);
        self.sent.dump(journal, &mut rows);
        self.spared.dump(journal, &mut rows);
        self.tag_groups.table.dump(journal, &mut rows);
        self.templates.dump(journal, &mut rows);
        self.webhooks.cursors.dump(journal, &mut rows);
        rows
    }

    fn load(&mut self, row: &Kept) -> anyhow::Result<()> {
        match row.table.as_str() {
            "activity" => self.activity.load(row),
            "devices" => self.devices.load(row),
            "due" => self.due.load(row),
            "events" => {
                // The newest event is always kept, so that no offset is used twice.
                self.next_offset = self.next_offset.max(events::number(&row.key) + 1);
                self.events.load(row)
            }
            "experiments" => self.experiments.load(row),
            "legacy_tags" => self.legacy_tags.load(row),
            "named_users" => self.load_named_user(row),
            "pipelines" => self.pipelines.load(row),
            "receipts" => self.receipts.load(row),
            "schedules" => self.schedules.load(row),
            "segments" => self.segments.load(row),
            "sent" => self.sent.load(row),
            "spared" => self.spared.load(row),
            "tag_groups" => self.tag_groups.load(row),
            "templates" => self.templates.load(row),
            "webhooks" => self.webhooks.cursors.load(row),
            other => Err(anyhow!("the data has a table `{other}`, which this version does not know")),
        }
    }
}
