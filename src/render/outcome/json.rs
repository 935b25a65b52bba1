//! The outcome as one JSON object.

use schemars::JsonSchema;
use serde::Serialize;

use super::{OutcomeView, rate, why};
use crate::outcome::{Counted, Estimate, Occasion, PushOutcome, Trial, TrialGroup};

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
    /// The results of the variants of an experiment. Empty without a report, and for a scheduled push.
    variants: Vec<VariantResult>,
    /// The control group of an experiment, which got nothing. Null without one, and without a report.
    control: Option<GroupRate>,
    /// Whether a group of the experiment has too few devices for a decision. Null without a control group.
    too_small: Option<bool>,
    /// Who was meant, in words.
    who: String,
    /// On which kinds of device, in words.
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
