//! Devices on which the app is not opened for some time.

use jiff::{SignedDuration, Timestamp};

use super::devices::Device;
use super::sending::PART;
use super::{App, Due};

/// Returns when a device was last active: the app was opened, or registered for the first time.
fn active_at(device: &Device) -> Timestamp {
    device.last_opened.map_or(device.created, |opened| opened.max(device.created))
}

fn after(at: Timestamp, days: i64) -> Timestamp {
    at.checked_add(SignedDuration::from_hours(24 * days)).unwrap_or(Timestamp::MAX)
}

impl App {
    /// Returns the inactivity that triggers pipelines: the pipeline and the days. Most applications have none.
    fn inactivity(&self) -> Vec<(String, i64)> {
        let days = |id: &str| self.days_of(id).into_iter().map(|days| (id.to_owned(), days)).collect::<Vec<_>>();
        self.pipelines.meaning.keys().flat_map(|id| days(id)).collect()
    }

    fn days_of(&self, pipeline: &str) -> Vec<i64> {
        let meaning = self.pipelines.meaning.get(pipeline);
        meaning.into_iter().flat_map(|one| one.historical_trigger.iter().flatten()).map(|one| one.days()).collect()
    }

    /// Waits for the inactivity of a device that was just active. What is waited for already begins anew when it ends.
    pub(super) fn watch_device(&mut self, number: u32, now: Timestamp) {
        for (pipeline, days) in self.inactivity() {
            self.watch_for(&pipeline, days, number, now);
        }
    }

    /// Waits for the inactivity of all devices that triggers a new or changed pipeline.
    pub fn watch(&mut self, pipeline: &str, now: Timestamp) {
        if !self.days_of(pipeline).is_empty() {
            self.watch_from(pipeline, 0, now);
        }
    }

    /// Waits for the inactivity of one part of the devices. The others follow, so that requests between them are answered.
    pub(super) fn watch_from(&mut self, pipeline: &str, from: u32, now: Timestamp) {
        let part = u32::try_from(PART).unwrap_or(u32::MAX);
        let end = from.saturating_add(part);
        for number in from..end {
            if self.devices.device(number).is_none() {
                return;
            }
            for days in self.days_of(pipeline) {
                self.watch_for(pipeline, days, number, now);
            }
        }
        self.due.put(&mut self.journal, now, Due::Watch { pipeline: pipeline.to_owned(), from: end });
    }

    /// Waits until a device was inactive for so long. Nothing is waited for if it was already.
    fn watch_for(&mut self, pipeline: &str, days: i64, number: u32, now: Timestamp) {
        let Some(device) = self.devices.device(number).filter(|device| device.installed) else { return };
        let at = after(active_at(device), days);
        let id = self.devices.id(number).to_owned();
        if at > now && !self.due.is_watched(&id, pipeline, days) {
            let what = Due::Inactive { pipeline: pipeline.to_owned(), days, device: id };
            self.due.put(&mut self.journal, at, what);
        }
    }

    /// Triggers a pipeline if the app was not opened in the time, and otherwise waits again.
    pub(super) fn end_of_inactivity(&mut self, pipeline: &str, days: i64, device: &str, now: Timestamp) {
        let Some(number) = self.devices.by_id(device).filter(|_| self.days_of(pipeline).contains(&days)) else {
            return;
        };
        let Some(known) = self.devices.device(number).filter(|known| known.installed) else { return };
        if after(active_at(known), days) > now {
            self.watch_for(pipeline, days, number, now);
        } else if self.pipelines.meaning.get(pipeline).is_some_and(|pipeline| pipeline.is_live(now)) {
            self.trigger(pipeline, device, now);
        }
    }
}
