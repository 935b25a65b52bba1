//! What an answer means for a step.

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::Verb;
use pushplan_model::exchange::{Answer, Meaning};
use pushplan_model::kinds::{Api, Create, Delete, Lifecycle, Runs};
use pushplan_model::node::Shared;
use serde_json::Value;

use crate::plan::Step;

/// The result of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Done {
        id: Option<String>,
        /// The ids of the pushes that it sends, if the answer contains them.
        push_ids: Vec<String>,
    },
    /// A deletion found nothing to delete. One answer alone may be wrong.
    Gone,
    /// Definitely not done, and a retry would not help.
    Not(String),
    /// Whether it was done is unknown.
    Lost(String),
    /// Whether it was done is unknown, and another request would not show it.
    Doubt(String),
    /// Definitely not done, because the service limits the rate of requests. Retry after this number of seconds, if the
    /// service gives one.
    Busy(Option<u64>),
}

/// Whether a request can be sent twice without harm.
pub(crate) fn may_repeat(verb: Verb, lifecycle: Lifecycle) -> bool {
    verb != Verb::Create || lifecycle.create == Create::Upsert
}

/// The result of a step, from an answer with this meaning.
pub fn judge(
    step: &Step,
    api: &dyn Api,
    lifecycle: Lifecycle,
    (answer, meaning): (&Answer, Meaning),
    now: Timestamp,
) -> Verdict {
    let none = Shared::default();
    let spec = step.spec.as_ref().unwrap_or(&none);
    let push_ids = || answer.body.as_ref().map(|body| api.push_ids(body)).unwrap_or_default();
    let left_out = || answer.body.as_ref().and_then(|body| api.left_out(body));
    match meaning {
        // Tags of a group that does not exist are gone.
        Meaning::Done
            if step.verb != Verb::Delete
                && let Some(why) = left_out() =>
        {
            Verdict::Not(why)
        }
        Meaning::Done if step.verb == Verb::Create => match api.created(spec, answer) {
            Some(id) => Verdict::Done { id: Some(id), push_ids: push_ids() },
            // It exists, but its id is unknown.
            None => Verdict::Lost(format!("HTTP {}, but the answer names no id", answer.status)),
        },
        Meaning::Done => Verdict::Done { id: step.id.clone(), push_ids: push_ids() },
        Meaning::Missing if step.verb == Verb::Delete => {
            let was_sent = |runs: &Runs| match lifecycle.delete {
                Delete::BeforeStart => runs.has_begun(now),
                // A resource that is gone before its end was deleted.
                Delete::BeforeEnd => runs.has_begun(now) && runs.is_done(now, SignedDuration::ZERO),
                Delete::Anytime | Delete::Never => false,
            };
            match api.runs(spec).filter(was_sent) {
                // Gone can mean that it was sent, or that an earlier run deleted it and lost the answer. Its
                // replacement must not be sent as well.
                Some(_) => {
                    Verdict::Doubt("it no longer exists, and its time has passed: it may have been sent".to_owned())
                }
                None => Verdict::Gone,
            }
        }
        Meaning::Missing | Meaning::Refused => Verdict::Not(answer.error()),
        Meaning::Busy => Verdict::Busy(answer.wait_seconds(now)),
        Meaning::Unknown => Verdict::Lost(answer.error()),
    }
}

/// The result of a deletion that was answered with 404, from a later look at the resource.
pub(crate) fn judge_look(step: &Step, api: &dyn Api, answer: &Answer, now: Timestamp) -> Verdict {
    let none = Shared::default();
    let spec = step.spec.as_ref().unwrap_or(&none);
    let still_there = "the service answered HTTP 404 to its deletion, but it still exists";
    match answer.meaning() {
        Meaning::Missing => Verdict::Done { id: step.id.clone(), push_ids: Vec::new() },
        Meaning::Done => {
            let body = answer.body.as_ref().unwrap_or(&Value::Null);
            match api.got(step.id.as_deref().unwrap_or_default(), spec, body) {
                Ok(None) => Verdict::Done { id: step.id.clone(), push_ids: Vec::new() },
                Ok(Some(_)) | Err(_) => Verdict::Lost(still_there.to_owned()),
            }
        }
        Meaning::Busy => Verdict::Busy(answer.wait_seconds(now)),
        Meaning::Refused | Meaning::Unknown => Verdict::Lost(answer.error()),
    }
}

#[cfg(test)]
mod tests {
    use pushplan_model::kinds;
    use pushplan_model::nouns::level::Level;
    use serde_json::json;

    use super::*;

    fn pushes(kind: &str, body: Value) -> Vec<String> {
        let step: Step =
            serde_json::from_value(json!({ "number": 0, "address": format!("{kind}/a"), "verb": "create" }))
                .expect("a step");
        let api = kinds::api(&step.address);
        let now = Timestamp::UNIX_EPOCH;
        let answer = Answer::new(201, body);
        match judge(&step, api, api.lifecycle(Level::Documented), (&answer, answer.meaning()), now) {
            Verdict::Done { push_ids, .. } => push_ids,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_gone_before_its_end_was_removed_and_what_is_gone_after_it_may_have_been_sent() {
        let times = ["2035-01-18T1400", "2035-01-20T1400"].map(|time| json!({ "scheduled_time": time }));
        let push = json!({ "schedule": times });
        let experiment = json!({ "variants": times.map(|time| json!({ "schedule": time })) });
        let is_done = |kind: &str, spec: &Value, now: &str| {
            let step =
                json!({ "number": 0, "address": format!("{kind}/a"), "verb": "delete", "id": "i", "spec": spec });
            let step: Step = serde_json::from_value(step).expect("a step");
            let api = kinds::api(&step.address);
            let (gone, now) = (Answer::new(404, json!({})), now.parse().expect("a moment"));
            judge(&step, api, api.lifecycle(Level::Extended), (&gone, gone.meaning()), now) == Verdict::Gone
        };
        for (now, push_is, experiment_is) in
            [("2035-01-17T00:00Z", true, true), ("2035-01-19T00:00Z", true, false), ("2035-01-21T00:00Z", false, false)]
        {
            assert_eq!(is_done("scheduled_pushes", &push, now), push_is, "{now}");
            assert_eq!(is_done("experiments", &experiment, now), experiment_is, "{now}");
        }
    }

    #[test]
    fn an_answer_names_the_pushes_that_will_be_reported() {
        let scheduled = json!({ "schedule_ids": ["s"], "schedules": [{ "push_ids": ["p1", "p2"] }] });
        assert_eq!(pushes("scheduled_pushes", scheduled), ["p1", "p2"]);
        assert_eq!(pushes("scheduled_pushes", json!({ "schedule_ids": ["s"] })), [""; 0]);
        assert_eq!(pushes("experiments", json!({ "experiment_id": "e", "push_id": "p" })), ["p"]);
        assert_eq!(pushes("segments", json!({ "segment_id": "g", "push_ids": ["x"] })), [""; 0]);
    }
}
