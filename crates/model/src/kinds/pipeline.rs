use jiff::Timestamp;
use serde_json::Value;

use super::remote::{self, Firing, Found, Lifecycle, Read, TagTrigger, canonical, id_in, last_part, time};
use super::{Audience, Create, Delete, Parts, Remote, Resource, Role, SendRule, Update};
use crate::codes::{self, Limit};
use crate::exchange::{Answer, BadAnswer, Request, part};
use crate::node::{At, Shared, shape};
use crate::nouns::clock;
use crate::nouns::condition::TagCondition;
use crate::nouns::delay::Delay;
use crate::nouns::device::DeviceType;
use crate::nouns::inactivity::Inactivity;
use crate::nouns::level::Level;
use crate::nouns::many::Many;
use crate::nouns::push::{Push, TriggeredPush};
use crate::nouns::rate::Constraint;
use crate::nouns::tagged::group_of;
use crate::nouns::timing::Timing;
use crate::nouns::trigger::{ImmediateTriggers, Trigger};
use crate::nouns::utc_time::UtcTime;
use crate::source::Span;
use crate::text;

shape! {
    /// A message that is sent by itself when something happens.
    pub struct Pipeline as "a pipeline" {
        /// The name in the dashboard [default: the key].
        name: Option<At<String>>,
        /// Whether it is active.
        enabled: bool,
        /// The event that triggers it: the first opening of the app, or a tag that is added to a device. The service may
        /// accept other events, which pushplan sends unchanged. Required without `historical_trigger`.
        immediate_trigger: ImmediateTriggers,
        /// Inactivity that triggers it: the app is not opened for so many days. Needs `api = "extended"`.
        historical_trigger: Option<Many<At<Inactivity>>>,
        /// The push, and its delay.
        outcome: Many<PipelineOutcome, 1>,
        /// The hours at which it may send. Needs `api = "extended"`.
        timing: Timing,
        /// How many of its messages one device gets at most. Messages beyond a limit are not sent. Needs
        /// `api = "extended"`.
        constraint: Option<Many<At<Constraint>>>,
        /// The events that cancel messages which wait for their delay. Needs `api = "extended"`.
        cancellation_trigger: Option<Many<At<Trigger>>>,
        /// Sets of tags. Of each set, a device must have, or not have, at least one when the message is due. Otherwise
        /// it is not sent. Needs `api = "extended"`.
        condition: Option<TagCondition>,
        /// When it becomes active, in UTC, such as 2026-12-01T09:00:00 [default: at once]. Events before this time do not trigger it. Needs
        /// `api = "extended"`.
        activation_time: Option<At<UtcTime>>,
        /// When it becomes inactive, in UTC, such as 2026-12-31T09:00:00 [default: never]. From then on, it sends nothing. Needs `api = "extended"`.
        deactivation_time: Option<At<UtcTime>>,
        ..rest known is_further
    }
}

/// Whether a pipeline may have this further key on the built-in service.
pub fn is_further(_: &str) -> bool {
    false
}

shape! {
    /// What a pipeline does.
    pub struct PipelineOutcome as "an outcome with push and delay" {
        /// The time from the trigger to the push [default: at once].
        delay: Option<At<Delay>>,
        /// The push. Its audience is `triggered`, the device that triggered the pipeline; any other audience is an error
        /// (PL101).
        push: TriggeredPush,
    }
}

impl Resource for Pipeline {
    const KEY: &'static str = "pipelines";
    const NOUN: &'static str = "pipeline";
    const PURPOSE: &'static str = "A message that is sent when a tag is added or the app is first opened.";
    const ONE_OR_MANY: &'static [&'static str] = &["immediate_trigger", "historical_trigger", "outcome", "cancellation_trigger"];
    const RULES: &'static [&'static str] = &["timing", "constraint", "cancellation_trigger", "condition"];

    fn settle(&mut self, key: &At<String>) {
        self.name.get_or_insert_with(|| key.clone());
        self.constraint = self.constraint.take().filter(|limits| !limits.is_empty());
        self.historical_trigger = self.historical_trigger.take().filter(|triggers| !triggers.is_empty());
        self.cancellation_trigger = self.cancellation_trigger.take().filter(|triggers| !triggers.is_empty());
        if let Some(delay) = self.timing.delay.take() {
            for outcome in &mut self.outcome.0 {
                outcome.delay.get_or_insert_with(|| delay.clone());
            }
            // A different delay is kept, so that it can be reported.
            let is_other = self.outcome.iter().any(|outcome| outcome.delay.as_ref() != Some(&delay));
            self.timing.delay = is_other.then_some(delay);
        }
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        parts.triggers.extend(self.immediate_trigger.iter().map(|trigger| &trigger.value));
        parts.triggers.extend(self.historical_trigger.iter().flatten().map(|inactivity| &inactivity.value.0));
        parts.active = self.active();
        parts.hours = self.timing.schedule.as_ref();
        parts.conditions = Some(&self.rest);
        parts.rates = self.constraint.iter().flatten().map(|limit| limit.rate.value).collect();
        parts.cancelled_by = self.cancellation_trigger.iter().flatten().map(|trigger| &trigger.value).collect();
        parts.each = "outcome";
        for outcome in &self.outcome {
            parts.delays.push(outcome.delay.as_ref().map_or(Delay(0), |delay| delay.value));
            parts.push(&outcome.push.0, Role::Pipeline);
        }
        if let Some(TagCondition(selector)) = &self.condition {
            parts.audiences.push(Audience { selector, devices: None, role: Role::Condition });
        }
    }

    fn pushes(&mut self) -> Vec<&mut At<Push>> {
        self.outcome.0.iter_mut().map(|outcome| &mut outcome.push.0).collect()
    }

    fn rules(&self) -> Vec<SendRule> {
        let limits: Vec<String> =
            self.constraint.iter().flatten().map(|limit| format!("{} to one device", limit.rate.value)).collect();
        let mut events: Vec<String> =
            self.cancellation_trigger.iter().flatten().map(|trigger| trigger.happens()).collect();
        // Their order has no meaning.
        events.sort_unstable();
        let hours = self.timing.schedule.as_ref().map(|hours| SendRule {
            field: "timing",
            label: "hours",
            words: hours.to_string(),
        });
        let limit = (!limits.is_empty()).then(|| SendRule {
            field: "constraint",
            label: "limit",
            words: text::all_of(&limits),
        });
        let cancelled = (!events.is_empty()).then(|| SendRule {
            field: "cancellation_trigger",
            label: "cancelled",
            words: format!("when {}, before it is sent", text::any_of(&events)),
        });
        hours.into_iter().chain(limit).chain(cancelled).collect()
    }
}

impl Pipeline {
    /// Returns the fields that the contract lacks, each with a position.
    pub fn further(&self) -> Vec<(&'static str, Span)> {
        let constraint = self.constraint.iter().flatten().next().map(|first| first.span);
        let cancelled = self.cancellation_trigger.iter().flatten().next().map(|first| first.span);
        let condition = self.condition.as_ref().map(|condition| condition.0.span);
        let time = |time: &Option<At<UtcTime>>| time.as_ref().map(|time| time.span);
        let inactivity = self.historical_trigger.iter().flatten().next().map(|first| first.span);
        let found = [
            ("historical_trigger", inactivity),
            ("timing", self.timing.schedule.as_ref().map(|hours| hours.span)),
            ("constraint", constraint),
            ("cancellation_trigger", cancelled),
            ("condition", condition),
            ("activation_time", time(&self.activation_time)),
            ("deactivation_time", time(&self.deactivation_time)),
        ];
        found.into_iter().filter_map(|(key, span)| Some((key, span?))).collect()
    }

    /// Returns when it becomes active, and when it becomes inactive.
    pub fn active(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        let time = |time: &Option<At<UtcTime>>| time.as_ref().map(|time| time.value.0);
        (time(&self.activation_time), time(&self.deactivation_time))
    }
}

/// The fields that the service adds to a pipeline.
const ADDED: &[&str] = &["uid", "id", "url", "status", "creation_time", "last_modified_time", "ok"];

impl Remote for Pipeline {
    const SPEAKS: bool = true;

    fn limit(level: Level) -> Option<&'static Limit> {
        (level == Level::Documented).then_some(&codes::AP102)
    }

    fn lifecycle(level: Level) -> Lifecycle {
        let (update, delete) = match level {
            Level::Documented => (Update::Never, Delete::Never),
            Level::Extended => (Update::InPlace, Delete::Anytime),
        };
        Lifecycle { read: Read::Listed, create: Create::Anew, update, delete }
    }

    /// The contract lists either the enabled or the other ones; newer servers list all of them under `false`.
    fn list(_: Level) -> Vec<Request> {
        ["true", "false"].map(|enabled| Request::get(format!("/api/pipelines?enabled={enabled}"))).into()
    }

    fn found(object: &Value) -> Option<Found> {
        let id = object["uid"].as_str().map(str::to_owned).or_else(|| object["url"].as_str().map(last_part))?;
        let name = remote::text(&object["name"]);
        let stamp = object["last_modified_time"].as_str().map(str::to_owned);
        let is_own = |(key, value): &(&String, &Value)| !ADDED.contains(&key.as_str()) && !value.is_null();
        let fields = object.as_object().into_iter().flatten().filter(is_own);
        let own = fields.map(|(key, value)| (key.clone(), value.clone())).collect();
        let made = time(&object["creation_time"]);
        Some(Found { id, spec: canonical::<Self>(&own, &name), name, stamp, made, ..Found::default() })
    }

    fn stamped(stamp: &str) -> Option<Timestamp> {
        time(&Value::from(stamp))
    }

    fn get(id: &str, _: &Value, level: Level) -> Option<Request> {
        (level >= Level::Extended).then(|| Request::get(format!("/api/pipelines/{}", part(id))))
    }

    fn got(id: &str, _: &Value, body: &Value) -> Result<Option<Found>, BadAnswer> {
        let record = body.get("pipeline").unwrap_or(body);
        let found = Self::found(record).ok_or("the answer has no pipeline")?;
        Ok(Some(Found { id: id.to_owned(), ..found }))
    }

    const POSTED_TO: Option<&'static str> = Some("/api/pipelines");

    fn created(_: &Shared, answer: &Answer) -> Option<String> {
        id_in(answer, &["pipeline_urls"])
    }

    fn update(id: &str, _: &Value, new: &Value, level: Level) -> Option<Request> {
        (level >= Level::Extended).then(|| Request::put(format!("/api/pipelines/{}", part(id)), new))
    }

    fn delete(id: &str, _: &Value, level: Level) -> Option<Request> {
        (level >= Level::Extended).then(|| Request::delete(format!("/api/pipelines/{}", part(id))))
    }

    fn firing(spec: &Value) -> Option<Firing> {
        if Self::is_off(spec) {
            return None;
        }
        let all = |key: &str| spec[key].as_array().map(Vec::as_slice).unwrap_or_default();
        let triggers: Vec<TagTrigger> = all("immediate_trigger").iter().filter_map(tag_trigger).collect();
        let outcome = |outcome: &Value| remote::FollowUp {
            delay: Delay(outcome["delay"].as_i64().unwrap_or(0).max(0)),
            devices: devices(&outcome["push"]["device_types"]),
        };
        let at = |key: &str| clock::utc(spec[key].as_str()?);
        (!triggers.is_empty()).then(|| Firing {
            triggers,
            outcomes: all("outcome").iter().map(outcome).collect(),
            from: at("activation_time"),
            until: at("deactivation_time"),
        })
    }

    fn is_off(spec: &Value) -> bool {
        spec["enabled"] != true
    }

    fn messages(spec: &Value) -> bool {
        !Self::is_off(spec)
    }
}

fn tag_trigger(trigger: &Value) -> Option<TagTrigger> {
    [("tag_added", false), ("tag_removed", true)].into_iter().find_map(|(key, removed)| match trigger.get(key)? {
        Value::String(tag) => Some(TagTrigger { removed, tag: tag.clone(), group: None }),
        Value::Object(tag) => {
            let group = tag.get("group").filter(|group| !group.is_null()).map(remote::text);
            let group = group.filter(|group| group_of(Some(group)).is_some());
            Some(TagTrigger { removed, tag: remote::text(tag.get("tag")?), group })
        }
        _ => None,
    })
}

/// Returns the device types in a list; none for `all`.
fn devices(written: &Value) -> Vec<DeviceType> {
    let listed = written.as_array().into_iter().flatten();
    listed.filter_map(|device| DeviceType::parse(device.as_str()?)).collect()
}
