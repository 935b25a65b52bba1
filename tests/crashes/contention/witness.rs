//! Stands between each member of a team and the service, and writes down who sent what, when, and what came of it.
//!
//! It sees a request once all of it has arrived, so its times are never before the request left.

use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use pushplan_testing::wire::{self, Asked};
use serde_json::Value;

/// A request that may change something.
#[derive(Clone, Debug)]
pub struct Write {
    pub member: usize,
    pub at: Timestamp,
    pub method: String,
    pub path: String,
    pub body: Value,
    /// What the service answered, whether or not anybody was there any more to hear it.
    pub status: u16,
    pub answer: Value,
}

/// What all of them sent, in the order in which it came.
#[derive(Clone, Default)]
pub struct Witness(Arc<Mutex<Vec<Write>>>);

impl Witness {
    /// The port at which a member reaches the service.
    pub fn between(&self, member: usize, service: u16) -> u16 {
        let log = Arc::clone(&self.0);
        wire::serve(move |asked| {
            if asked.method == "GET" {
                return Some(wire::forward(service, asked));
            }
            let at = {
                let mut log = log.lock().expect("sound");
                log.push(seen(member, asked));
                log.len() - 1
            };
            let said = wire::forward(service, asked);
            let text = String::from_utf8_lossy(&said);
            let (head, body) = text.split_once("\r\n\r\n").expect("an answer");
            let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
            let mut log = log.lock().expect("sound");
            (log[at].status, log[at].answer) = (status, serde_json::from_str(body).unwrap_or_default());
            drop(log);
            Some(said)
        })
    }

    pub fn all(&self) -> Vec<Write> {
        self.0.lock().expect("sound").clone()
    }

    pub fn count(&self) -> usize {
        self.0.lock().expect("sound").len()
    }

    /// Who sent last.
    pub fn last(&self) -> Option<usize> {
        self.0.lock().expect("sound").last().map(|write| write.member)
    }
}

fn seen(member: usize, asked: &Asked) -> Write {
    Write {
        member,
        at: Timestamp::now(),
        method: asked.method.clone(),
        path: asked.target.clone(),
        body: serde_json::from_slice(&asked.body).unwrap_or_default(),
        status: 0,
        answer: Value::Null,
    }
}
