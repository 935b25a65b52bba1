//! A/B tests: the variant of each device.

use jiff::Timestamp;
use pushplan_model::node::{At, shape};
use pushplan_model::nouns::audience::Selector;
use pushplan_model::nouns::device::DeviceTypes;
use pushplan_model::nouns::push::Content;
use pushplan_model::nouns::schedule::Schedule;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::App;
use super::due::Due;

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
        /// The variants.
        variants: Vec<SentVariant>,
    }
}

shape! {
    /// One of the variants.
    pub struct SentVariant as "a variant with push and schedule" {
        /// The content of the message.
        push: Content,
        /// The send time; without one, it is sent immediately.
        schedule: Option<At<Schedule>>,
    }
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

/// Returns which of `variants` a device gets. It depends only on the two ids, so that every device always has exactly
/// one variant.
pub fn variant_of(experiment: &str, device: &str, variants: usize) -> usize {
    // FNV-1a, followed by the finalizer of MurmurHash3: the standard library's hash may change with its version.
    let bytes = experiment.bytes().chain([0]).chain(device.bytes());
    let mut hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^= hash >> 33;
    (hash % variants.max(1) as u64) as usize
}

impl App {
    /// Deletes an experiment and everything of it that is still in the queue.
    pub(crate) fn cancel_experiment(&mut self, id: &str) -> Option<Experiment> {
        let removed = self.experiments.remove(&mut self.journal, id)?;
        let of_it = |due: &Due| matches!(due, Due::Variant { experiment, .. } if experiment == id);
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
            parts[variant_of("experiment", &format!("device-{device}"), 5)] += 1;
        }
        assert!(parts.iter().all(|part| (1_850..2_150).contains(part)), "{parts:?}");
        // Fixed: a device that has received a variant must get the same one after an update of this program.
        assert_eq!(variant_of("e", "d", 26), 11);
    }

    #[test]
    fn another_experiment_splits_otherwise() {
        let same = (0..1_000).filter(|device| {
            let device = format!("device-{device}");
            variant_of("one", &device, 2) == variant_of("two", &device, 2)
        });
        assert!((400..600).contains(&same.count()));
    }
}
