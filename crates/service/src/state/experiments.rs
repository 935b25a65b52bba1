//! A/B tests: the variant of each device.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use pushplan_model::node::{At, shape};
use pushplan_model::nouns::audience::Selector;
use pushplan_model::nouns::device::DeviceTypes;
use pushplan_model::nouns::push::Content;
use pushplan_model::nouns::schedule::Schedule;
use pushplan_model::nouns::split::{ControlShare, Split, Weight};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::App;
use super::due::Due;
use super::sending::PART;

shape! {
    /// An experiment, as sent.
    pub struct SentExperiment as "an experiment with audience, device_types and variants" {
        /// The name in the dashboard.
        name: Option<At<String>>,
        /// The question that it answers.
        description: Option<At<String>>,
        /// The audience.
        audience: At<Selector>,
        /// The device types.
        device_types: At<DeviceTypes>,
        /// The share of the audience that gets nothing.
        control: Option<At<ControlShare>>,
        /// The variants.
        variants: Vec<SentVariant>,
    }
}

shape! {
    /// One of the variants.
    pub struct SentVariant as "a variant with push and schedule" {
        /// The name in reports.
        name: Option<At<String>>,
        /// A note about it.
        description: Option<At<String>>,
        /// Its part of the audience, in proportion.
        weight: Option<At<Weight>>,
        /// The content of the message.
        push: Content,
        /// The send time; without one, it is sent immediately.
        schedule: Option<At<Schedule>>,
    }
}

impl SentExperiment {
    /// Returns the division of the audience among the variants.
    pub fn split(&self) -> Split {
        let weight = |variant: &SentVariant| variant.weight.as_ref().map_or(1, |weight| weight.value.0);
        let control = self.control.as_ref().map_or(0.0, |control| control.value.0);
        Split::new(self.variants.iter().map(weight).collect(), control)
    }
}

/// A device of the control group of an experiment, which got nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spared {
    pub experiment_id: String,
    pub device: String,
    /// When it would have got a variant.
    pub time: Timestamp,
    /// When the app was next opened, within the time that counts as a response.
    pub opened: Option<Timestamp>,
}

/// A stored experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Experiment {
    /// As sent, with its times in the newer form.
    pub experiment: Value,
    /// The push of all variants.
    pub push_id: String,
    pub created: Timestamp,
    /// When the first variant was sent.
    pub started: Option<Timestamp>,
}

/// Returns the variant of a device, counted from 0; `None` if it is in the control group. It depends only on the two ids
/// and the split, so that every device always has one variant or none.
pub fn variant_of(experiment: &str, device: &str, split: &Split) -> Option<usize> {
    // Another hash decides about the control group, so that a new control group moves no device between variants.
    #[expect(clippy::cast_precision_loss, reason = "a device is at its place among all with enough digits")]
    let place = hash(&["control", experiment, device]) as f64 / u64::MAX as f64;
    if place < split.control().0 {
        return None;
    }
    let bounds = split.bounds();
    let place = u128::from(hash(&[experiment, device])) % bounds.last()?.max(&1);
    bounds.iter().position(|bound| place < *bound)
}

/// FNV-1a, followed by the finalizer of MurmurHash3: the standard library's hash may change with its version.
fn hash(parts: &[&str]) -> u64 {
    let bytes =
        parts.iter().enumerate().flat_map(|(number, part)| (number > 0).then_some(0).into_iter().chain(part.bytes()));
    let mut hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// The results of one variant, or of the control group: devices, and those that responded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupResult {
    pub sends: u64,
    pub taps: u64,
    /// Devices whose app was opened without a tap.
    pub opens: u64,
}

impl App {
    /// Returns the results of each variant, by experiment and number; those of its control group have no number.
    pub fn results(&self) -> BTreeMap<(&str, Option<usize>), GroupResult> {
        let mut results: BTreeMap<(&str, Option<usize>), GroupResult> = BTreeMap::new();
        for (_, receipt) in self.receipts.iter() {
            let (Some(id), Some(variant)) = (&receipt.experiment_id, receipt.variant) else { continue };
            let group = results.entry((id, Some(variant))).or_default();
            group.sends += 1;
            group.taps += u64::from(receipt.tapped.is_some());
            group.opens += u64::from(receipt.opened.is_some() && receipt.tapped.is_none());
        }
        for (_, spared) in self.spared.iter() {
            let group = results.entry((&spared.experiment_id, None)).or_default();
            group.sends += 1;
            group.opens += u64::from(spared.opened.is_some());
        }
        results
    }

    /// Records the devices of the control group, and writes an event for each: of [`PART`] devices at once, and of the
    /// others with the entries of the queue.
    pub(super) fn spare(&mut self, id: &str, push_id: &str, numbers: &[u32], now: Timestamp) {
        let (first, rest) = numbers.split_at(numbers.len().min(PART));
        for part in rest.chunks(PART) {
            let devices = part.iter().map(|number| self.devices.id(*number).to_owned()).collect();
            let part = Due::Spared { experiment: id.to_owned(), push_id: push_id.to_owned(), devices };
            self.due.put(&mut self.journal, now, part);
        }
        for number in first {
            let device = self.devices.id(*number).to_owned();
            let key = format!("{device}/{id}");
            if self.spared.get(&key).is_none() {
                let spared = Spared { experiment_id: id.to_owned(), device, time: now, opened: None };
                self.spared.put(&mut self.journal, &key, spared);
                let body = json!({ "push_id": push_id, "group_id": id, "experiment_id": id });
                self.emit("CONTROL", *number, body, now);
            }
        }
    }

    /// Marks the control groups of a device as opened, if the app is opened within `influence`.
    pub(super) fn answer_spared(&mut self, number: u32, influence: SignedDuration, now: Timestamp) {
        let prefix = format!("{}/", self.devices.id(number));
        let own = self.spared.from(&prefix).take_while(|(key, _)| key.starts_with(&prefix));
        let waits = |spared: &Spared| {
            let age = now.duration_since(spared.time);
            spared.opened.is_none() && age >= SignedDuration::ZERO && age <= influence
        };
        let keys: Vec<String> = own.filter(|(_, spared)| waits(spared)).map(|(key, _)| key.to_owned()).collect();
        for key in &keys {
            self.spared.change(&mut self.journal, key, |spared| spared.opened = Some(now));
        }
    }

    /// Deletes an experiment and everything of it that is still in the queue.
    pub(crate) fn cancel_experiment(&mut self, id: &str) -> Option<Experiment> {
        let removed = self.experiments.remove(&mut self.journal, id)?;
        let of_it = |due: &Due| match due {
            Due::Variant { experiment, .. } | Due::Spared { experiment, .. } => experiment == id,
            _ => false,
        };
        self.due.drop_if(&mut self.journal, of_it);
        Some(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_get_about_equal_parts_and_keep_them() {
        let mut parts = [0_usize; 5];
        for device in 0..10_000 {
            parts[variant_of("experiment", &format!("device-{device}"), &Split::even(5)).expect("a variant")] += 1;
        }
        assert!(parts.iter().all(|part| (1_850..2_150).contains(part)), "{parts:?}");
        // Fixed: a device that has received a variant must get the same one after an update of this program.
        assert_eq!(variant_of("e", "d", &Split::even(26)), Some(11));
    }

    #[test]
    fn weights_and_the_control_group_get_their_shares() {
        for (weights, control) in [(vec![3, 1], 0.0), (vec![1, 1], 0.2), (vec![5, 3, 2], 0.5), (vec![1], 0.99)] {
            let split = Split::new(weights, control);
            let (mut parts, devices) = (vec![0_u32; split.variants() + 1], 20_000_u32);
            for device in 0..devices {
                let variant = variant_of("experiment", &format!("device-{device}"), &split);
                parts[variant.unwrap_or(split.variants())] += 1;
            }
            let shares = (0..split.variants()).filter_map(|at| split.share(at)).chain([split.control()]);
            for (part, share) in parts.iter().zip(shares) {
                // Four standard deviations.
                let error = 4.0 * (share.0 * (1.0 - share.0) / f64::from(devices)).sqrt();
                let got = f64::from(*part) / f64::from(devices);
                assert!((got - share.0).abs() <= error, "{split}: {parts:?}");
            }
        }
    }

    #[test]
    fn a_control_group_moves_no_device_between_variants() {
        for device in 0..1_000 {
            let of = |control| variant_of("e", &format!("device-{device}"), &Split::new(vec![2, 1], control));
            assert!(of(0.3).is_none_or(|variant| Some(variant) == of(0.0)));
            assert!(of(0.3).is_some() || of(0.6).is_none(), "a larger control group keeps its members");
        }
    }

    #[test]
    fn another_experiment_splits_otherwise() {
        let same = (0..1_000).filter(|device| {
            let device = format!("device-{device}");
            variant_of("one", &device, &Split::even(2)) == variant_of("two", &device, &Split::even(2))
        });
        assert!((400..600).contains(&same.count()));
    }
}
