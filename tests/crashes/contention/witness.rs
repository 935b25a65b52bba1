//! A relay between each member of a team and the service, which records the sender, the time and the result of each
//! request.
//!
//! It sees a request once it has arrived completely, so its times are never before the request left.

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
    /// The service's answer, whether or not the client was still there.
    pub status: u16,
    pub answer: Value,
}

/// The requests of all members, in the order of arrival.
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

    /// The sender of the last request.
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
