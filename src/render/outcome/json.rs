//! The outcome as one JSON object.

use schemars::JsonSchema;
use serde::Serialize;

use super::{OutcomeView, rate, why};
use crate::outcome::{Counted, Occasion, PushOutcome};

/// The version of this form. It grows when a field changes its meaning or is removed.
const VERSION: u32 = 1;

/// How many devices the pushes from git reached, as `pushplan outcome --format json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OutcomeDocument {
    /// The version of this form.
    format_version: u32,
    /// The target.
    target: String,
    /// The moment at which it was asked, by the clock of the service.
    now: String,
    /// How many was sent and reached nobody: more than none is an error.
    reached_nobody: usize,
    /// Every push, in the order of time.
    pushes: Vec<Push>,
}

/// A push: one time of a scheduled push, or an experiment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Push {
    address: String,
    /// Which of several times of one scheduled push, from 1.
    number: Option<usize>,
    state: OutcomeState,
    /// When it is sent, or was to be sent.
    at: String,
    /// The end, if it is sent in recipients' local time.
    until: Option<String>,
    /// The ids that the service reports it under, where they are known.
    push_ids: Vec<String>,
    /// Whether the push id was unknown, and this report is the only one that fits its time.
    matched: bool,
    /// When it was sent, as the service reports it.
    sent_at: Option<String>,
    /// How many devices got it.
    sends: Option<u64>,
    /// How many people tapped on it.
    direct_responses: Option<u64>,
    /// Direct responses for each hundred devices.
    response_rate_percent: Option<f64>,
    /// Who was meant, in words.
    who: String,
    /// On which kinds of device, in words.
    devices: String,
    /// Why it is unknown, in words.
    why: Option<String>,
}

/// What became of a push.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeState {
    /// Its time has not come.
    NotYet,
    /// It is sent in recipients' local time, and for some the time has not come yet.
    UnderWay,
    /// Devices got it.
    Reached,
    /// It was sent and no device got it.
    Nobody,
    /// The service does not tell.
    Unknown,
}

impl OutcomeView<'_> {
    /// The outcome as JSON.
    pub fn json(&self) -> String {
        let pushes: Vec<Push> = self.told.iter().map(|(one, outcome)| push(one, outcome)).collect();
        let document = OutcomeDocument {
            format_version: VERSION,
            target: self.target.to_owned(),
            now: self.now.to_string(),
            reached_nobody: pushes.iter().filter(|push| matches!(push.state, OutcomeState::Nobody)).count(),
            pushes,
        };
        let mut text = serde_json::to_string_pretty(&document).expect("a document has text keys only");
        text.push('\n');
        text
    }
}

fn push(one: &Occasion, outcome: &PushOutcome) -> Push {
    let (state, counted): (OutcomeState, Option<&Counted>) = match outcome {
        PushOutcome::NotYet => (OutcomeState::NotYet, None),
        PushOutcome::UnderWay(counted) => (OutcomeState::UnderWay, Some(counted)),
        PushOutcome::Reached(counted) => (OutcomeState::Reached, Some(counted)),
        PushOutcome::Nobody(counted) => (OutcomeState::Nobody, Some(counted)),
        PushOutcome::Unknown(_) => (OutcomeState::Unknown, None),
    };
    Push {
        address: one.address.to_string(),
        number: one.number,
        state,
        at: one.first.to_string(),
        until: (one.last > one.first).then(|| one.last.to_string()),
        push_ids: counted.map_or(&one.push_ids, |counted| &counted.push_ids).clone(),
        matched: counted.is_some_and(|counted| counted.matched),
        sent_at: counted.and_then(|counted| counted.time).map(|time| time.to_string()),
        sends: counted.map(|counted| counted.sends),
        direct_responses: counted.map(|counted| counted.direct_responses),
        response_rate_percent: counted.and_then(rate),
        who: one.who.clone(),
        devices: one.devices.clone(),
        why: match outcome {
            PushOutcome::Unknown(reason) => Some(why(*reason).to_owned()),
            _ => None,
        },
    }
}
