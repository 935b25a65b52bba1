use super::{Audience, Parts, Resource, Role, Said, Sending};
use crate::model::audience::Selector;
use crate::model::device::DeviceTypes;
use crate::model::push::Content;
use crate::model::schedule::Schedule;
use crate::node::{At, shape};

shape! {
    /// An A/B test: several variants of a scheduled push, each to a part of the audience.
    pub struct Experiment as "an experiment" {
        /// The name in the dashboard. The key where it is left out.
        name: Option<At<String>>,
        /// What it is to find out.
        description: Option<At<String>>,
        /// Who takes part.
        audience: At<Selector>,
        /// On which kinds of device.
        device_types: At<DeviceTypes>,
        /// The variants, 2 to 26 of them.
        variants: At<Vec<At<Variant>>>,
    }
}

shape! {
    /// One of the variants.
    pub struct Variant as "a variant with push and schedule" {
        /// What it says.
        push: Content,
        /// When it is sent. A variant without a schedule would be sent at once.
        schedule: Option<At<Schedule>>,
    }
}

impl Resource for Experiment {
    const KEY: &'static str = "experiments";
    const NOUN: &'static str = "experiment";
    const PURPOSE: &'static str = "An A/B test: variants of a scheduled push, each to a part of the audience.";

    fn settle(&mut self, key: &At<String>) {
        self.name.get_or_insert_with(|| key.clone());
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        let Self { name: _, description: _, audience, device_types, variants } = self;
        parts.audiences.push(Audience { selector: audience, devices: Some(device_types), role: Role::Push });
        for variant in &variants.value {
            let Variant { push: Content { notification, message, rest: _ }, schedule } = &variant.value;
            parts.said.push(Said {
                notification: Some(notification),
                message: message.as_ref(),
                devices: Some(device_types),
                variables: None,
                borrowed: false,
            });
            parts.sendings.extend(schedule.iter().map(|schedule| Sending { schedule, audience }));
        }
    }
}
