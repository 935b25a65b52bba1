//! The results of an experiment: the response rate of each variant, compared with the control group.

use pushplan_model::address::Address;
use pushplan_model::exchange::{Request, part};
use pushplan_model::kinds::{self, Parts};
use pushplan_model::node::At;
use pushplan_model::source::Span;
use serde_json::Value;

/// The quantile of the normal distribution for intervals of 95 %.
const QUANTILE: f64 = 1.96;
/// With fewer devices than this, an interval of 95 % can be 20 points wide.
pub const SMALLEST: u64 = 100;

/// The results of an experiment, as the service reports them.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    pub variants: Vec<TrialGroup>,
    pub control: Option<TrialGroup>,
}

/// The devices of a variant or of the control group, and those that responded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialGroup {
    pub name: Option<String>,
    pub devices: u64,
    /// Devices on which the message was tapped, or the app opened within 12 hours.
    pub responses: u64,
}

/// A rate or a difference of rates, from 0 to 1, with the interval that has the true value in 95 % of all cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl TrialGroup {
    /// The response rate with its Wilson interval; `None` without devices.
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown with one digit")]
    pub fn rate(&self) -> Option<Estimate> {
        if self.devices == 0 {
            return None;
        }
        let number = self.devices as f64;
        let rate = self.responses.min(self.devices) as f64 / number;
        let square = QUANTILE * QUANTILE / number;
        let middle = (rate + square / 2.0) / (1.0 + square);
        let margin = QUANTILE * (rate * (1.0 - rate) / number + square / (4.0 * number)).sqrt() / (1.0 + square);
        Some(Estimate { value: rate, low: (middle - margin).max(0.0), high: (middle + margin).min(1.0) })
    }

    /// The difference to the rate of the control group, with the interval that follows from both Wilson intervals.
    pub fn against(&self, control: &Self) -> Option<Estimate> {
        let (own, other) = (self.rate()?, control.rate()?);
        let value = own.value - other.value;
        let below = (own.value - own.low).hypot(other.high - other.value);
        let above = (own.high - own.value).hypot(other.value - other.low);
        Some(Estimate { value, low: value - below, high: value + above })
    }

    pub fn is_small(&self) -> bool {
        self.devices < SMALLEST
    }
}

impl Estimate {
    /// Whether a difference cannot be chance alone, at 95 %.
    pub fn is_clear(self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

impl Trial {
    /// The request for the results of an experiment.
    pub fn request(push_id: &str) -> Request {
        Request::get(format!("/api/reports/experiment/overview/{}", part(push_id)))
    }

    /// Reads a report; `None` if it is about no experiment.
    pub fn read(report: &Value) -> Option<Self> {
        let variant = |one: &Value| {
            let responses = one["direct_responses"].as_u64()? + one["indirect_responses"].as_u64().unwrap_or(0);
            let name = one["name"].as_str().filter(|name| !name.is_empty()).map(str::to_owned);
            Some(TrialGroup { name, devices: one["sends"].as_u64()?, responses })
        };
        let variants: Vec<TrialGroup> = report["variants"].as_array()?.iter().map(variant).collect::<Option<_>>()?;
        let control = &report["control"];
        let devices = control["sends"].as_u64().filter(|_| control["audience_pct"].as_f64() != Some(0.0));
        let control = devices
            .and_then(|devices| Some(TrialGroup { name: None, devices, responses: control["responses"].as_u64()? }));
        (!variants.is_empty()).then_some(Self { variants, control })
    }
}

/// Whether a resource divides its audience among several messages.
pub fn is_trial(address: &Address, spec: &Value) -> bool {
    let key = At::new(address.key.clone(), Span::NONE);
    let Some(read) = kinds::api(address).read(spec) else { return false };
    let mut parts = Parts::new(&key);
    read.parts(&mut parts);
    parts.split.is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn group(responses: u64, devices: u64) -> TrialGroup {
        TrialGroup { name: None, devices, responses }
    }

    fn points(estimate: Estimate) -> [f64; 3] {
        [estimate.value, estimate.low, estimate.high].map(|value| (value * 1_000.0).round() / 10.0)
    }

    #[test]
    fn a_rate_has_the_interval_of_wilson() {
        for (responses, devices, expected) in [
            (10, 100, [10.0, 5.5, 17.4]),
            (0, 10, [0.0, 0.0, 27.8]),
            (10, 10, [100.0, 72.2, 100.0]),
            (500, 1_000, [50.0, 46.9, 53.1]),
        ] {
            assert_eq!(points(group(responses, devices).rate().expect("a rate")), expected, "{responses}/{devices}");
        }
        assert_eq!(group(0, 0).rate(), None);
    }

    /// The example of Newcombe's paper on differences: 56 of 70 against 48 of 80.
    #[test]
    fn a_difference_has_the_interval_of_newcombe() {
        let difference = group(56, 70).against(&group(48, 80)).expect("a difference");
        assert_eq!(points(difference), [20.0, 5.2, 33.4]);
        assert!(difference.is_clear());
        assert!(!group(11, 100).against(&group(10, 100)).expect("a difference").is_clear());
    }

    #[test]
    fn a_report_has_variants_and_perhaps_a_control_group() {
        let mut report = json!({ "variants": [
            { "id": 0, "name": "A", "sends": 40, "direct_responses": 3, "indirect_responses": 2 },
            { "id": 1, "sends": 41, "direct_responses": 0 },
        ] });
        let read = Trial::read(&report).expect("a report");
        assert_eq!(read.variants[0], TrialGroup { name: Some("A".to_owned()), ..group(5, 40) });
        assert_eq!((&read.variants[1], &read.control), (&group(0, 41), &None));
        report["control"] = json!({ "audience_pct": 20.0, "sends": 20, "responses": 1 });
        assert_eq!(Trial::read(&report).expect("a report").control, Some(group(1, 20)));
        assert_eq!(Trial::read(&json!({ "variants": [] })), None);
    }
}
