use serde_json::Value;

use super::remote::{Found, Lifecycle, Read, Runs, canonical, id_in, last_part, moments, text, texts};
use super::{Create, Delete, Parts, Remote, Resource, Role, Sending, Update};
use crate::codes::{self, Limit};
use crate::exchange::{Answer, BadAnswer, Request, part};
use crate::node::{At, Shared, shape};
use crate::nouns::level::Level;
use crate::nouns::many::Many;
use crate::nouns::push::Push;
use crate::nouns::schedule::Schedule;

shape! {
    /// A push with one or more send times.
    pub struct ScheduledPush as "a scheduled push" {
        /// The name in the dashboard [default: the key].
        name: Option<At<String>>,
        /// When it is sent. Either `scheduled_time` or `local_scheduled_time` is required.
        schedule: Many<At<Schedule>, 1>,
        /// The message, its audience and its device types.
        push: At<Push>,
    }
}

impl Resource for ScheduledPush {
    const KEY: &'static str = "scheduled_pushes";
    const NOUN: &'static str = "scheduled push";
    const PURPOSE: &'static str = "A push with one or more send times.";
    const ONE_OR_MANY: &'static [&'static str] = &["schedule"];

    fn settle(&mut self, key: &At<String>) {
        self.name.get_or_insert_with(|| key.clone());
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        let Self { name: _, schedule, push } = self;
        let said = parts.push(push, Role::Push);
        let sending = |schedule| Sending { schedule, audience: &push.audience, variant: None, said };
        parts.sendings.extend(schedule.iter().map(sending));
    }

    fn pushes(&mut self) -> Vec<&mut At<Push>> {
        vec![&mut self.push]
    }
}

impl Remote for ScheduledPush {
    const AUDIENCES: &'static [&'static str] = &["/push/audience"];
    const LISTED: &'static str = "schedules";

    fn limit(level: Level) -> Option<&'static Limit> {
        (level == Level::Documented).then_some(&codes::AP103)
    }

    fn lifecycle(level: Level) -> Lifecycle {
        let (read, update, delete) = match level {
            Level::Documented => (Read::LedgerOnly, Update::Never, Delete::Never),
            Level::Extended => (Read::Listed, Update::InPlace, Delete::BeforeEnd),
        };
        Lifecycle { read, create: Create::Once, update, delete }
    }

    fn list(level: Level) -> Vec<Request> {
        if level >= Level::Extended { vec![Request::get("/api/schedules")] } else { Vec::new() }
    }

    fn leaves_list_when_sent() -> bool {
        true
    }

    fn found(object: &Value) -> Option<Found> {
        let id = last_part(object["url"].as_str()?);
        let name = text(&object["name"]);
        let push_ids = Self::push_ids(object);
        Some(Found { id, spec: canonical::<Self>(object, &name), name, push_ids, ..Found::default() })
    }

    fn get(id: &str, _: &Value, level: Level) -> Option<Request> {
        (level >= Level::Extended).then(|| Request::get(format!("/api/schedules/{}", part(id))))
    }

    fn got(id: &str, _: &Value, body: &Value) -> Result<Option<Found>, BadAnswer> {
        let name = text(&body["name"]);
        let spec = canonical::<Self>(body, &name).ok_or("the scheduled push cannot be read")?;
        let push_ids = Self::push_ids(body);
        Ok(Some(Found { id: id.to_owned(), name, spec: Some(spec), push_ids, ..Found::default() }))
    }

    const POSTED_TO: Option<&'static str> = Some("/api/schedules");

    fn created(_: &Shared, answer: &Answer) -> Option<String> {
        id_in(answer, &["schedule_ids", "schedule_urls"])
    }

    fn update(id: &str, _: &Value, new: &Value, level: Level) -> Option<Request> {
        (level >= Level::Extended).then(|| Request::put(format!("/api/schedules/{}", part(id)), new))
    }

    fn delete(id: &str, _: &Value, level: Level) -> Option<Request> {
        (level >= Level::Extended).then(|| Request::delete(format!("/api/schedules/{}", part(id))))
    }

    const HAS_RUNS: bool = true;
    const SPEAKS: bool = true;

    fn runs(spec: &Value) -> Option<Runs> {
        let schedules: Vec<&Value> = spec["schedule"].as_array().into_iter().flatten().collect();
        Some(moments(&schedules))
    }

    const TIMED: Option<&'static str> = Some("schedule");

    /// Each of its times is a separate push.
    fn occasions(spec: &Value) -> Vec<Runs> {
        spec["schedule"].as_array().into_iter().flatten().map(|schedule| moments(&[schedule])).collect()
    }

    /// One schedule is requested at a time, so the first one in the answer counts.
    fn push_ids(object: &Value) -> Vec<String> {
        let own = texts(&object["push_ids"]);
        if own.is_empty() { texts(&object["schedules"][0]["push_ids"]) } else { own }
    }
}
