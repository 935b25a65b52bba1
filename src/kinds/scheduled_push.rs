use super::{Parts, Resource, Role, Sending};
use crate::model::many::Many;
use crate::model::push::Push;
use crate::model::schedule::Schedule;
use crate::node::{At, shape};

shape! {
    /// A push that is sent once, at a time.
    pub struct ScheduledPush as "a scheduled push" {
        /// The name in the dashboard. The key where it is left out.
        name: Option<At<String>>,
        /// When it is sent.
        schedule: Many<At<Schedule>, 1>,
        /// What is sent, and to whom.
        push: At<Push>,
    }
}

impl Resource for ScheduledPush {
    const KEY: &'static str = "scheduled_pushes";
    const NOUN: &'static str = "scheduled push";
    const PURPOSE: &'static str = "A push that is sent once, at a time.";
    const ONE_OR_MANY: &'static [&'static str] = &["schedule"];

    fn settle(&mut self, key: &At<String>) {
        self.name.get_or_insert_with(|| key.clone());
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        let Self { name: _, schedule, push } = self;
        parts.push(push, Role::Push);
        parts.sendings.extend(schedule.iter().map(|schedule| Sending { schedule, audience: &push.audience }));
    }

    fn pushes(&mut self) -> Vec<&mut At<Push>> {
        vec![&mut self.push]
    }
}
