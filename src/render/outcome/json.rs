//! The outcome as one JSON object.

use schemars::JsonSchema;
use serde::Serialize;

use super::{OutcomeView, rate, why};
use crate::outcome::{Counted, Estimate, Occasion, PushOutcome, Trial, TrialGroup};

/// The version of this format. It increases when a field is removed or changes its meaning.
const VERSION: u32 = 1;

/// The output of `pushplan outcome --format json`: the number of devices that each push from git reached.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OutcomeDocument {
    /// The version of this format.
    format_version: u32,
    /// The target.
    target: String,
    /// The time of the request, by the service's clock.
    now: String,
    /// The number of pushes that were sent and reached no device. More than 0 is an error.
    reached_nobody: usize,
    /// All selected pushes, sorted by time.
    pushes: Vec<Push>,
}

/// A push: one time of a scheduled push, or an experiment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Push {
    address: String,
    /// The number of the send time, from 1, if a scheduled push has several.
    number: Option<usize>,
    state: OutcomeState,
    /// The scheduled time.
    at: String,
    /// The end, if it is sent in recipients' local time.
    until: Option<String>,
    /// Its push ids in the service's reports, if they are known.
    push_ids: Vec<String>,
    /// Whether the push id was unknown, and the report was found by its time.
    matched: bool,
    /// When it was sent, as the service reports it.
    sent_at: Option<String>,
    /// The number of devices that received it.
    sends: Option<u64>,
    /// The number of people who tapped it.
    direct_responses: Option<u64>,
    /// Direct responses per hundred devices.
    response_rate_percent: Option<f64>,
    /// The results of the variants of an experiment. Empty without a report, and for a scheduled push.
    variants: Vec<VariantResult>,
    /// The control group of an experiment, which got nothing. Null without one, and without a report.
    control: Option<GroupRate>,
    /// Whether a group of the experiment has too few devices for a decision. Null without a control group.
    too_small: Option<bool>,
    /// The audience, in words.
    who: String,
    /// The device types, in words.
    devices: String,
    /// Why it is unknown, in words.
    why: Option<String>,
}

/// The results of a variant.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VariantResult {
    name: Option<String>,
    rate: GroupRate,
    /// The difference to the rate of the control group, in points. Null without one.
    difference: Option<Interval>,
    /// Whether the difference is unlikely to be chance, at 95 %. Null without a control group.
    clear: Option<bool>,
}

/// The responses of a group of devices.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GroupRate {
    devices: u64,
    /// Devices on which the message was tapped, or the app opened within 12 hours.
    responses: u64,
    /// The rate in percent, with its Wilson interval. Null without devices.
    percent: Option<Interval>,
}

/// A value with its interval of 95 %.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Interval {
    value: f64,
    low: f64,
    high: f64,
}

/// The outcome of a push.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeState {
    /// It is not sent yet.
    NotYet,
    /// It is sent in recipients' local time, and some recipients' time is still to come.
    UnderWay,
    /// Devices received it.
    Reached,
    /// It was sent, and no device received it.
    Nobody,
    /// The service has no report of it, or several that fit.
    Unknown,
}

impl OutcomeView<'_> {
    /// The outcome as JSON.
    pub fn json(&self) -> String {
        let pushes: Vec<Push> =
            self.told.iter().map(|(one, outcome)| push(one, outcome, self.trials.get(&one.address))).collect();
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

impl VariantResult {
    fn new(variant: &TrialGroup, control: Option<&TrialGroup>) -> Self {
        let difference = control.and_then(|control| variant.against(control));
        Self {
            name: variant.name.clone(),
            rate: GroupRate::new(variant),
            difference: difference.map(Interval::new),
            clear: difference.map(Estimate::is_clear),
        }
    }
}

impl GroupRate {
    fn new(group: &TrialGroup) -> Self {
        let percent = group.rate().map(Interval::new);
        Self { devices: group.devices, responses: group.responses, percent }
    }
}

impl Interval {
    fn new(estimate: Estimate) -> Self {
        let percent = |value: f64| (value * 10_000.0).round() / 100.0;
        Self { value: percent(estimate.value), low: percent(estimate.low), high: percent(estimate.high) }
    }
}

fn push(one: &Occasion, outcome: &PushOutcome, trial: Option<&Trial>) -> Push {
    let control = trial.and_then(|trial| trial.control.as_ref());
    let groups = || trial.iter().flat_map(|trial| &trial.variants);
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
        variants: groups().map(|variant| VariantResult::new(variant, control)).collect(),
        control: control.map(GroupRate::new),
        too_small: control.map(|control| groups().chain([control]).any(TrialGroup::is_small)),
        who: one.who.clone(),
        devices: one.devices.clone(),
        why: match outcome {
            PushOutcome::Unknown(reason) => Some(why(*reason).to_owned()),
            _ => None,
        },
    }
}
