//! A changing request: its fate on the way, and the answer to its sender.

use pushplan::apply::{Event, Sending};
use pushplan::exchange::{Answer, Loss, Meaning};
use pushplan::kinds;
use pushplan::ledger::Verb;
use serde_json::{Value, json};

use super::applier::Running;
use super::choose::Choices;
use super::time::{self, LEAD, SECOND};
use super::world::World;
use super::{Fault, Protection};

/// The faults that can affect any request.
const ANY: [Fault; 10] = [
    Fault::LostBefore,
    Fault::LostAfter,
    Fault::Delayed,
    Fault::TimeoutNotDone,
    Fault::TimeoutDone,
    Fault::ErrorNotDone,
    Fault::ErrorDone,
    Fault::NotOkNotDone,
    Fault::NotOkDone,
    Fault::Garbled,
];

impl World {
    pub fn send(&mut self, number: usize, running: &Running, sending: &Sending, choices: &mut Choices) {
        let step = running.run.plan().steps[sending.step].clone();
        let (request, address) = (sending.request.clone(), step.address.clone());
        let name = self.appliers[number].name.clone();
        let clock = self.clock(self.appliers[number].skew);
        if self.is_on(Protection::SendDeadline) && sending.not_after.has_passed(clock) {
            self.note(|| format!("{name} does not send {request} for {address}: it is too late"));
            let loss = Loss::NotSent("too late".to_owned());
            return self.tell(number, running, Event::Lost(sending.step, loss), (3_u8, sending.step));
        }
        self.meanwhile(choices);
        self.look_at_departure(number, &step);
        let mut options = ANY.to_vec();
        if step.verb == Verb::Delete {
            options.push(Fault::FalseGone);
        }
        let fault = self.fault(choices, &options);
        let lost = || Err(Loss::Unknown("timeout".to_owned()));
        let wrong = |status, body: Value| Ok(Answer::new(status, body));
        let arrives = matches!(
            fault,
            None | Some(Fault::LostAfter | Fault::TimeoutDone | Fault::ErrorDone | Fault::NotOkDone | Fault::Garbled)
        );
        let mut answer = None;
        if arrives {
            let now = self.now;
            answer = Some(self.service().change(&request, &address, now));
        }
        let ok = answer.clone().unwrap_or_else(|| Answer::new(200, json!({})));
        let told = match fault {
            None => Ok(ok),
            Some(Fault::LostBefore | Fault::LostAfter) => lost(),
            Some(Fault::Delayed) => {
                self.delay(request.clone(), address.clone());
                lost()
            }
            Some(Fault::TimeoutNotDone | Fault::TimeoutDone) => wrong(408, json!({})),
            Some(Fault::ErrorNotDone | Fault::ErrorDone) => wrong(502, Value::Null),
            Some(Fault::NotOkNotDone | Fault::NotOkDone) => wrong(200, json!({ "ok": false, "error": "no" })),
            Some(Fault::FalseGone) => wrong(404, json!({ "ok": false })),
            Some(_) => Ok(Answer { body: None, ..ok }),
        };
        self.note(|| {
            let done = match (&answer, fault) {
                (Some(answer), _) => format!("the service answers {}", answer.status),
                (None, Some(Fault::Delayed)) => "it is still on its way".to_owned(),
                (None, _) => "it does nothing".to_owned(),
            };
            let told = match &told {
                Ok(_) if fault.is_none() => String::new(),
                Ok(answer) => format!(", {name} is told {}", answer.status),
                Err(_) => format!(", {name} gets no answer"),
            };
            let told = if fault == Some(Fault::Garbled) { format!("{told} without a body") } else { told };
            let told = match fault {
                Some(Fault::NotOkNotDone | Fault::NotOkDone) => format!("{told} with ok: false"),
                _ => told,
            };
            format!("{name} sends {request} for {address}: {done}{told}")
        });
        self.judge();
        let class = match &told {
            Err(_) => (4_u8, String::new()),
            // Without a protection, answers may have another meaning.
            Ok(answer) if !self.setup.off.is_empty() => (10, format!("{answer:?}")),
            Ok(answer) => class(&step, answer),
        };
        let event = match told {
            Ok(answer) => Event::Answered(sending.step, answer),
            Err(loss) => Event::Lost(sending.step, loss),
        };
        self.tell(number, running, event, (sending.step, class));
    }

    /// The invariants whenever a request leaves.
    fn look_at_departure(&mut self, number: usize, step: &pushplan::plan::Step) {
        let applier = &self.appliers[number];
        let (name, address) = (applier.name.clone(), &step.address);
        let others = self.log.ledger.run.as_ref().filter(|running| running.actor != name);
        if let Some(other) = others.map(|running| running.actor.clone()) {
            self.violated(format!("{name} sends a request for {address} while {other} holds the lock"));
        }
        let own = self.log.ledger.run.as_ref().filter(|running| running.actor == name);
        let expires = own.and_then(|running| running.expires).map(time::of);
        if expires.is_some_and(|expires| expires < self.now + self.appliers[number].skew) {
            self.violated(format!("{name} sends a request for {address} after its lease is over"));
        }
        let spec = step.spec.as_ref().filter(|_| step.verb == Verb::Create);
        let first = spec.and_then(|spec| kinds::api(address).runs(spec)).and_then(|runs| runs.first);
        // A wrong clock is wrong about this too.
        let now = self.now + self.appliers[number].skew;
        if first.is_some_and(|first| time::of(first) < now + LEAD - 10 * SECOND) {
            self.violated(format!("{address} is created too near to its time"));
        }
        let version = self.appliers[number].version;
        if version < self.applied {
            let newest = self.versions[self.applied].get(address).map(|unit| &unit.spec);
            let owned = self.log.ledger.owned.get(address).map(|owned| owned.id.as_str());
            let undoes = match step.verb {
                Verb::Delete => newest.is_some() && owned == step.id.as_deref(),
                _ => newest != step.spec.as_ref(),
            };
            if undoes {
                let done = format!("{:?}", step.verb).to_lowercase();
                self.violated(format!("{name} has older manifests, and undoes a newer change: {done} {address}"));
            }
        }
    }
}

/// Answers with the same meaning for the sender.
fn class(step: &pushplan::plan::Step, answer: &Answer) -> (u8, String) {
    let spec = step.spec.clone().unwrap_or_default();
    match answer.meaning() {
        Meaning::Unknown => (4, String::new()),
        Meaning::Done if step.verb == Verb::Create => match kinds::api(&step.address).created(&spec, answer) {
            Some(id) => (5, id),
            None => (4, String::new()),
        },
        Meaning::Done => (6, String::new()),
        Meaning::Missing => (7, String::new()),
        Meaning::Refused => (8, String::new()),
        Meaning::Busy => (9, String::new()),
    }
}
