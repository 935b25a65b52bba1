//! Messages that a tap on a message triggers.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use pushplan_model::address::Address;
use pushplan_model::kinds::{Pipeline, PipelineOutcome, ReadableText};
use pushplan_model::nouns::device::DeviceTypes;
use pushplan_model::nouns::schedule::When;
use pushplan_model::nouns::send_hours::SendHours;

use super::range;
use crate::manifest::Desired;

/// A message that follows a tap on another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follow {
    pub address: Address,
    /// The tag that a tap adds or removes.
    pub tag: String,
    pub removed: bool,
    pub delay_seconds: i64,
    /// The earliest time.
    pub from: When,
    /// The time from which a tap has no effect.
    pub until: Option<Timestamp>,
}

/// The messages that are triggered when a tag is added to a device or removed from it, by both.
#[derive(Debug)]
pub struct Fired<'d>(HashMap<(bool, &'d str), Vec<Fires<'d>>>);

/// One message of a pipeline.
#[derive(Clone, Copy, Debug)]
struct Fires<'d> {
    address: &'d Address,
    delay_seconds: i64,
    devices: &'d DeviceTypes,
    hours: Option<&'d SendHours>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl<'d> Fired<'d> {
    pub fn of(desired: &'d Desired) -> Self {
        let mut fired: HashMap<_, Vec<Fires>> = HashMap::new();
        for (address, _, pipeline) in desired.all::<Pipeline>().filter(|(_, _, pipeline)| pipeline.enabled) {
            let (from, until) = pipeline.active();
            // A tap changes tags of the device itself, which are in no group.
            let moves = pipeline.immediate_trigger.iter().filter_map(|trigger| trigger.tag());
            for moved in moves.filter(|moved| moved.group.is_none()) {
                let outcomes = pipeline.outcome.iter().map(|outcome| Fires {
                    address,
                    delay_seconds: delay(outcome),
                    devices: &outcome.push.0.device_types,
                    hours: pipeline.timing.schedule.as_ref().map(|hours| &hours.value),
                    from,
                    until,
                });
                fired.entry((moved.removed, moved.tag)).or_default().extend(outcomes);
            }
        }
        Self(fired)
    }

    /// The messages that a tap on a message with this send time triggers.
    pub fn by(&self, said: &ReadableText, when: When) -> Vec<Follow> {
        let actions = said.notification.iter().flat_map(|notification| notification.all_actions());
        let tags = actions.flat_map(|actions| {
            let added = actions.add_tag.iter().flatten().map(|tag| (false, tag.as_str()));
            added.chain(actions.remove_tag.iter().flatten().map(|tag| (true, tag.as_str())))
        });
        let mut found: Vec<Follow> = Vec::new();
        for (removed, tag) in tags {
            for fires in self.0.get(&(removed, tag)).into_iter().flatten().filter(|fires| fires.reaches(said)) {
                let Some(begin) = fires.begin(when) else { continue };
                let after = SignedDuration::from_secs(fires.delay_seconds);
                let from = match begin {
                    When::At(instant) => When::At(instant.checked_add(after).unwrap_or(instant)),
                    When::EachZone(time) => When::EachZone(time.checked_add(after).unwrap_or(time)),
                };
                let from = fires.hours.map_or(from, |hours| hours.soonest(from));
                let Fires { delay_seconds, until, .. } = *fires;
                let follow =
                    Follow { address: fires.address.clone(), tag: tag.to_owned(), removed, delay_seconds, from, until };
                if !found.contains(&follow) {
                    found.push(follow);
                }
            }
        }
        found
    }
}

impl Fires<'_> {
    /// Whether a device type of the first message also gets this one.
    fn reaches(&self, said: &ReadableText) -> bool {
        let first = said.devices.map(|devices| devices.named()).unwrap_or_default();
        let all = self.devices.named().is_empty() || first.is_empty();
        all || first.iter().any(|device| self.devices.includes(device))
    }

    /// The time from which a tap on a message with this send time triggers it, if ever.
    fn begin(&self, when: When) -> Option<When> {
        let (first, _) = range(when);
        let late = self.from.filter(|from| *from > first);
        let is_over = self.until.is_some_and(|until| until <= late.unwrap_or(first));
        (!is_over).then(|| late.map_or(when, When::At))
    }
}

pub fn delay(outcome: &PipelineOutcome) -> i64 {
    outcome.delay.as_ref().map_or(0, |delay| delay.0.max(0))
}
