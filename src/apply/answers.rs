//! What an answer means for a step.

use jiff::Timestamp;

use crate::exchange::{Answer, Meaning};
use crate::kinds::{Api, Create, Delete, Lifecycle};
use crate::ledger::Verb;
use crate::plan::Step;

/// What became of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Done {
        id: Option<String>,
    },
    /// It was definitely not done, and trying again would not help.
    Not(String),
    /// Whether it was done is not known.
    Lost(String),
    /// It was definitely not done: too much is going on. It may be tried again after so many seconds, where the service says.
    Busy(Option<u64>),
}

/// Whether a request can be sent twice without harm.
pub fn may_repeat(verb: Verb, lifecycle: Lifecycle) -> bool {
    verb != Verb::Create || lifecycle.create == Create::Upsert
}

/// What an answer says of a step whose request was made of this spec.
pub fn judge(step: &Step, api: &dyn Api, lifecycle: Lifecycle, answer: &Answer, now: Timestamp) -> Verdict {
    let spec = step.spec.as_ref().unwrap_or(&serde_json::Value::Null);
    match answer.meaning() {
        Meaning::Done if step.verb == Verb::Create => match api.created(spec, answer) {
            Some(id) => Verdict::Done { id: Some(id) },
            // It exists, and there is no telling which it is.
            None => Verdict::Lost(format!("HTTP {}, but the answer names no id", answer.status)),
        },
        Meaning::Done => Verdict::Done { id: step.id.clone() },
        Meaning::Missing if step.verb == Verb::Delete => {
            let begins = api.runs(spec).filter(|_| lifecycle.delete == Delete::BeforeStart);
            match begins {
                // Gone can mean that it was sent. What stands in for it must not be sent a second time.
                Some(runs) if runs.first.is_none_or(|first| first <= now) => {
                    Verdict::Not("it is no longer there, and its time has come: it may have been sent".to_owned())
                }
                _ => Verdict::Done { id: step.id.clone() },
            }
        }
        Meaning::Missing | Meaning::Refused => Verdict::Not(answer.error()),
        Meaning::Busy => Verdict::Busy(answer.wait_seconds(now)),
        Meaning::Unknown => Verdict::Lost(answer.error()),
    }
}
