use super::{Parts, Resource, Role};
use crate::model::delay::Delay;
use crate::model::many::Many;
use crate::model::push::{Push, TriggeredPush};
use crate::model::trigger::Trigger;
use crate::node::{At, shape};

shape! {
    /// A message that is sent by itself when something happens.
    pub struct Pipeline as "a pipeline" {
        /// The name in the dashboard. The key where it is left out.
        name: Option<At<String>>,
        /// Whether it is active.
        enabled: bool,
        /// What sets it off.
        immediate_trigger: Many<At<Trigger>, 1>,
        /// What is sent, and how long after.
        outcome: Many<Outcome, 1>,
        /// Another place for the delay, which the contract does not describe.
        #[serde(skip)]
        timing: Option<Timing>,
        ..rest
    }
}

shape! {
    /// What a pipeline does.
    pub struct Outcome as "an outcome with push and delay" {
        /// How long after the trigger. At once where it is left out.
        delay: Option<At<Delay>>,
        /// What is sent. Its audience is `triggered`, also where it is left out.
        push: TriggeredPush,
    }
}

shape! {
    /// Another place for the delay.
    pub struct Timing as "{delay: {seconds: ...}}" {
        /// How long after the trigger.
        delay: TimingDelay,
    }
}

shape! {
    /// A delay in seconds.
    pub struct TimingDelay as "a number of seconds" {
        /// In seconds.
        seconds: At<Delay>,
    }
}

impl Resource for Pipeline {
    const KEY: &'static str = "pipelines";
    const NOUN: &'static str = "pipeline";
    const PURPOSE: &'static str = "A message that is sent by itself when a tag is added or the app is first opened.";
    const ONE_OR_MANY: &'static [&'static str] = &["immediate_trigger", "outcome"];

    fn settle(&mut self, key: &At<String>) {
        self.name.get_or_insert_with(|| key.clone());
        if let Some(timing) = self.timing.take() {
            let delay = &timing.delay.seconds;
            for outcome in &mut self.outcome.0 {
                outcome.delay.get_or_insert_with(|| delay.clone());
            }
            // One that says something else stays, for whoever reports it.
            self.timing = Some(timing).filter(|timing| {
                self.outcome.iter().any(|outcome| outcome.delay.as_ref() != Some(&timing.delay.seconds))
            });
        }
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        for outcome in &self.outcome {
            parts.push(&outcome.push.0, Role::Pipeline);
        }
    }

    fn pushes(&mut self) -> Vec<&mut At<Push>> {
        self.outcome.0.iter_mut().map(|outcome| &mut outcome.push.0).collect()
    }
}
