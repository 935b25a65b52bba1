//! Carries out what becomes due.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{Selector, Tag};
use pushplan_model::nouns::device::DeviceTypes;
use pushplan_model::nouns::push::Push;
use pushplan_model::nouns::send_hours::HoursClock;
use pushplan_model::nouns::vocabulary::TIME_ZONE;
use pushplan_model::source::Span;
use serde_json::Value;

use super::devices::{Members, Numbers};
use super::experiments::{SentExperiment, variant_of};
use super::local::Local;
use super::sending::{Outgoing, PushType};
use super::{App, Due};
use crate::request::understood;

/// The time by which the real clock may be late without a message missing the hours of its pipeline.
const HARDLY_LATE: SignedDuration = SignedDuration::from_mins(1);

impl App {
    /// Carries out an entry that was due at a time. It was removed from the queue in the same transaction, so it is done
    /// once.
    pub(super) fn fire(&mut self, what: &Due, due: Timestamp, now: Timestamp) {
        match what {
            Due::Schedule { id, time, local } => self.fire_schedule(id, *time, *local, now),
            Due::Variant { experiment, variant, local } => self.fire_variant(experiment, *variant, *local, now),
            Due::Firing { pipeline, outcome, device } => {
                // A message that is hardly late is still sent at its allowed time.
                let due = if now.duration_since(due) < HARDLY_LATE { due } else { now };
                match self.hours_from(pipeline, device, due) {
                    Some(at) if at > due => self.due.put(&mut self.journal, at, what.clone()),
                    Some(_) => self.fire_outcome(pipeline, *outcome, device, now),
                    None => {}
                }
            }
            Due::Inactive { pipeline, days, device } => self.end_of_inactivity(pipeline, *days, device, now),
            Due::Watch { pipeline, from } => self.watch_from(pipeline, *from, now),
            Due::Spared { experiment, push_id, devices } => {
                let numbers: Vec<u32> = devices.iter().filter_map(|id| self.devices.by_id(id)).collect();
                self.spare(experiment, push_id, &numbers, now);
            }
            Due::Part { push_id, push_type, group_id, variant, device_types, push, devices } => {
                let Some(device_types) = understood::<DeviceTypes>(device_types) else { return };
                let to: Vec<u32> = devices.iter().filter_map(|id| self.devices.by_id(id)).collect();
                let (push_type, variant, device_types) = (*push_type, *variant, &device_types);
                let out = Outgoing { push_type, group_id: group_id.as_deref(), variant, device_types, push };
                self.send_part(push_id, &out, &to, now);
            }
        }
    }

    fn fire_schedule(&mut self, id: &str, time: usize, local: Option<Local>, now: Timestamp) {
        let Some(scheduled) = self.schedules.get(id) else { return };
        let raw = scheduled.push.clone();
        if let (Some(push), Some(push_id)) = (understood::<Push>(&raw), scheduled.push_ids.get(time).cloned()) {
            let to = self.members_at(push.audience, local, now);
            let out = Outgoing {
                push_type: PushType::ScheduledPush,
                group_id: Some(id),
                variant: None,
                device_types: &push.device_types,
                push: &raw,
            };
            self.send_as(&push_id, &out, to, now);
        }
        let left = self.schedules.change(&mut self.journal, id, |scheduled| {
            scheduled.started = true;
            scheduled.left = scheduled.left.saturating_sub(1);
            scheduled.left
        });
        if left == Some(0) {
            self.schedules.remove(&mut self.journal, id);
        }
    }

    fn fire_variant(&mut self, id: &str, variant: usize, local: Option<Local>, now: Timestamp) {
        let Some(kept) = self.experiments.get(id) else { return };
        let (raw, push_id) = (kept.experiment.clone(), kept.push_id.clone());
        let Some(sent) = understood::<SentExperiment>(&raw) else { return };
        let Some(one) = sent.variants.get(variant) else { return };
        let mut push = raw["variants"][variant]["push"].clone();
        push["audience"] = raw["audience"].clone();
        push["device_types"] = raw["device_types"].clone();
        let push_type = match one.schedule {
            Some(_) => PushType::ScheduledPush,
            None => PushType::of(&sent.audience),
        };
        let split = sent.split();
        let group = |app: &Self, number: u32| variant_of(id, app.devices.id(number), &split);
        let all = self.members_at(sent.audience, local, now);
        let (number, device_types) = (variant, &sent.device_types);
        let out = Outgoing { push_type, group_id: Some(id), variant: Some(variant), device_types, push: &push };
        // A device of the control group is recorded once, with the first variant.
        let reached = |app: &Self, number: u32| app.devices.device(number).is_some_and(|device| out.reaches(device));
        let spared =
            all.iter().copied().filter(|one| number == 0 && group(self, *one).is_none() && reached(self, *one));
        let spared: Vec<u32> = spared.collect();
        let to: Vec<u32> = all.iter().copied().filter(|one| group(self, *one) == Some(number)).collect();
        self.spare(id, &push_id, &spared, now);
        self.send_as(&push_id, &out, to, now);
        self.experiments.change(&mut self.journal, id, |kept| kept.started.get_or_insert(now).to_owned());
    }

    /// Returns when a message of a pipeline to a device that is due at a time may be sent; `None` if never. A device
    /// without a time zone has no local time.
    fn hours_from(&self, pipeline: &str, device: &str, due: Timestamp) -> Option<Timestamp> {
        let Some(hours) = &self.pipelines.meaning.get(pipeline)?.timing.schedule else { return Some(due) };
        match hours.clock {
            HoursClock::Utc => hours.next_in(&TimeZone::UTC, due),
            HoursClock::Local => hours.next_in(&self.devices.get(device)?.zone()?, due),
        }
    }

    /// Sends to the one device, if the pipeline still exists and is active.
    fn fire_outcome(&mut self, id: &str, outcome: usize, device: &str, now: Timestamp) {
        let Some(pipeline) = self.pipelines.meaning.get(id).filter(|pipeline| pipeline.is_live(now)) else { return };
        let Some(one) = pipeline.outcome.get(outcome) else { return };
        if pipeline.constraint.is_some() && !pipeline.allows(&self.got_from(id, device), now) {
            return;
        }
        let (Some(kept), Some(number)) = (self.pipelines.table.get(id), self.devices.by_id(device)) else { return };
        let members = Members { devices: &self.devices, segments: &self.segments.criteria, now };
        if pipeline.condition.as_ref().is_some_and(|condition| !members.matches(&condition.0.value, number)) {
            return;
        }
        let push = match &kept.pipeline["outcome"] {
            Value::Array(outcomes) => outcomes[outcome]["push"].clone(),
            only => only["push"].clone(),
        };
        let device_types = &one.push.device_types.clone();
        let push_type = PushType::UnicastPush;
        let out = Outgoing { push_type, group_id: Some(id), variant: None, device_types, push: &push };
        // A device that cannot receive it is not a push without recipients, so nothing is reported.
        if self.devices.device(number).is_some_and(|device| out.reaches(device)) {
            self.send(&out, [number], now);
        }
    }

    /// Returns when a device got messages of a pipeline.
    fn got_from(&self, pipeline: &str, device: &str) -> Vec<Timestamp> {
        let prefix = format!("{device}/");
        let own = self.receipts.from(&prefix).take_while(|(key, _)| key.starts_with(&prefix));
        let is_of_it =
            |push_id: &str| self.sent.get(push_id).is_some_and(|sent| sent.group_id.as_deref() == Some(pipeline));
        own.filter(|(_, receipt)| is_of_it(&receipt.push_id)).map(|(_, receipt)| receipt.time).collect()
    }

    /// Returns the devices of an audience; for a local time, only those whose clocks show it.
    fn members_at(&self, audience: At<Selector>, local: Option<Local>, now: Timestamp) -> Numbers {
        let Some(local) = local else { return self.members(&audience, now) };
        let made = |text: &str| At::new(text.to_owned(), Span::NONE);
        let in_zone = |zone: &str| Selector::Tag(Tag { tag: made(zone), group: Some(made(TIME_ZONE)) });
        let near = local.zones().into_iter().map(|zone| At::new(in_zone(zone), Span::NONE)).collect();
        let both = Selector::And(vec![At::new(Selector::Or(near), Span::NONE), audience]);
        let mut members = self.members(&both, now);
        members.retain(|number| self.devices.device(*number).is_some_and(|device| local.is_shown_on(device)));
        members
    }
}
