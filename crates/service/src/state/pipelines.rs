//! Automated messages and their triggers.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use pushplan_model::node::{At, shape};
use pushplan_model::nouns::condition::TagCondition;
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::inactivity::Inactivity;
use pushplan_model::nouns::many::Many;
use pushplan_model::nouns::push::Push;
use pushplan_model::nouns::rate::Constraint;
use pushplan_model::nouns::timing::Timing;
use pushplan_model::nouns::trigger::{ImmediateTriggers, Trigger};
use pushplan_model::nouns::utc_time::UtcTime;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::App;
use super::due::Due;
use super::happening::Happening;
use super::ordered::Ordered;
use super::table::Journal;
use crate::request::understood;
use crate::store::Kept;

shape! {
    /// A pipeline, as sent.
    pub struct SentPipeline as "a pipeline with enabled, immediate_trigger and outcome" {
        /// The name in the dashboard.
        name: Option<At<String>>,
        /// Whether it is active.
        enabled: bool,
        /// The triggers.
        immediate_trigger: ImmediateTriggers,
        /// The inactivity that triggers it.
        historical_trigger: Option<Many<At<Inactivity>>>,
        /// The messages.
        outcome: Many<SentOutcome>,
        /// Another place for the delay, and the hours.
        timing: Timing,
        /// When it becomes active.
        activation_time: Option<At<UtcTime>>,
        /// When it becomes inactive.
        deactivation_time: Option<At<UtcTime>>,
        /// The triggers that cancel messages which wait for their delay.
        cancellation_trigger: Option<Many<At<Trigger>>>,
        /// How many messages a device gets at most.
        constraint: Option<Many<At<Constraint>>>,
        /// The condition on a device when a message is due.
        condition: Option<TagCondition>,
        ..rest
    }
}

shape! {
    /// A message of a pipeline.
    pub struct SentOutcome as "an outcome with push" {
        /// In seconds.
        delay: Option<At<Delay>>,
        /// The push.
        push: At<Push>,
    }
}

/// The status of a pipeline that sends messages.
const LIVE: &str = "live";

impl SentPipeline {
    /// Returns its status at a time.
    pub fn status(&self, now: Timestamp) -> &'static str {
        let has_come = |time: &Option<At<UtcTime>>| time.as_ref().map(|time| time.value.0 <= now);
        match (self.enabled, has_come(&self.activation_time), has_come(&self.deactivation_time)) {
            (false, ..) => "disabled",
            (true, _, Some(true)) => "completed",
            (true, Some(false), _) => "pending",
            (true, ..) => LIVE,
        }
    }

    /// Whether its status changes with the time.
    pub fn is_timed(&self) -> bool {
        self.activation_time.is_some() || self.deactivation_time.is_some()
    }

    /// Whether it sends messages at a time.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.status(now) == LIVE
    }

    /// Whether an event at this time triggers it.
    fn is_set_off_by(&self, what: Happening, now: Timestamp) -> bool {
        self.is_live(now) && self.immediate_trigger.iter().any(|trigger| what.is(trigger))
    }

    fn is_called_off_by(&self, what: Happening) -> bool {
        self.cancellation_trigger.iter().flat_map(|triggers| triggers.iter()).any(|trigger| what.is(trigger))
    }

    /// Whether a device that got messages of it at these times may get another one.
    pub fn allows(&self, sent: &[Timestamp], now: Timestamp) -> bool {
        let is_kept = |limit: &At<Constraint>| {
            let rate = limit.rate.value;
            let is_within = |at: &&Timestamp| rate.length().is_none_or(|length| now.duration_since(**at) < length);
            let within = sent.iter().filter(is_within).count();
            i64::try_from(within).is_ok_and(|within| within < rate.pushes)
        };
        self.constraint.iter().flatten().all(is_kept)
    }

    /// Returns the time between the trigger and an outcome, in seconds.
    pub fn delay(&self, outcome: &SentOutcome) -> i64 {
        let given = outcome.delay.as_ref().or(self.timing.delay.as_ref());
        given.map_or(0, |delay| delay.value.0).max(0)
    }
}

/// A stored pipeline.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pipeline {
    /// As sent.
    pub pipeline: Value,
    pub created: Timestamp,
    pub modified: Timestamp,
}

impl Pipeline {
    pub fn is_enabled(&self) -> bool {
        self.pipeline["enabled"] == true
    }
}

/// All pipelines, as stored and as decoded.
#[derive(Debug)]
pub struct Pipelines {
    pub table: Ordered<Pipeline>,
    pub meaning: BTreeMap<String, SentPipeline>,
}

impl Pipelines {
    pub fn new() -> Self {
        Self { table: Ordered::new("pipelines", Pipeline::is_enabled), meaning: BTreeMap::new() }
    }

    /// Adds a pipeline, or replaces the one with this id, with its decoded form.
    pub fn put(&mut self, journal: &mut Journal, id: &str, pipeline: Pipeline, meaning: SentPipeline) {
        self.meaning.insert(id.to_owned(), meaning);
        self.table.put(journal, id, pipeline);
    }

    pub fn remove(&mut self, journal: &mut Journal, id: &str) -> Option<Pipeline> {
        self.meaning.remove(id);
        self.table.remove(journal, id)
    }

    pub fn load(&mut self, row: &Kept) -> anyhow::Result<()> {
        self.table.load(row)?;
        if let Some(meaning) = self.table.get(&row.key).and_then(|kept| understood(&kept.pipeline)) {
            self.meaning.insert(row.key.clone(), meaning);
        }
        Ok(())
    }
}

impl Default for Pipelines {
    fn default() -> Self {
        Self::new()
    }
}

impl App {
    /// Handles a tag that a device has just got and did not have before.
    pub fn tag_added(&mut self, number: u32, group: &str, tag: &str, now: Timestamp) {
        self.tags_added(number, &[(group.to_owned(), tag.to_owned())], now);
    }

    /// Handles the tags that a device got together. Every way of adding tags ends here. A tag that was added in several
    /// groups at once triggers a pipeline once, because it is one event for the device.
    pub(super) fn tags_added(&mut self, number: u32, added: &[(String, String)], now: Timestamp) {
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (group, tag) in added {
            self.emit("TAG_CHANGE", number, json!({ "add": { group: [tag] } }), now);
            groups.entry(tag).or_default().push(group);
        }
        for (tag, groups) in groups {
            self.set_off(number, Happening::TagAdded(&groups, tag), now);
        }
    }

    /// Handles a tag that a device has just lost.
    pub fn tag_removed(&mut self, number: u32, group: &str, tag: &str, now: Timestamp) {
        self.emit("TAG_CHANGE", number, json!({ "remove": { group: [tag] } }), now);
        self.set_off(number, Happening::TagRemoved(group, tag), now);
    }

    /// Handles the first opening of the app.
    pub fn first_opened(&mut self, number: u32, now: Timestamp) {
        self.emit("FIRST_OPEN", number, json!({}), now);
        self.set_off(number, Happening::FirstOpen, now);
    }

    /// Handles an event of a device: cancels the messages of pipelines that end with this event, and adds those that it
    /// triggers to the queue. Messages without a delay are due now.
    pub(super) fn set_off(&mut self, number: u32, what: Happening, now: Timestamp) {
        let device = self.devices.id(number).to_owned();
        for (id, _) in self.pipelines.meaning.iter().filter(|(_, pipeline)| pipeline.is_called_off_by(what)) {
            self.due.cancel(&mut self.journal, id, &device);
        }
        let set_off = self.pipelines.meaning.iter().filter(|(_, pipeline)| pipeline.is_set_off_by(what, now));
        for id in set_off.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.trigger(&id, &device, now);
        }
    }

    /// Adds the messages of a triggered pipeline to the queue.
    pub(super) fn trigger(&mut self, id: &str, device: &str, now: Timestamp) {
        let Some(pipeline) = self.pipelines.meaning.get(id) else { return };
        for (outcome, one) in pipeline.outcome.iter().enumerate() {
            // A delay beyond the calendar never ends.
            let delay = SignedDuration::from_secs(pipeline.delay(one));
            let at = now.checked_add(delay).unwrap_or(Timestamp::MAX);
            let what = Due::Firing { pipeline: id.to_owned(), outcome, device: device.to_owned() };
            self.due.put(&mut self.journal, at, what);
        }
    }
}
