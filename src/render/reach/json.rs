//! Reach as one JSON object.

use schemars::JsonSchema;
use serde::Serialize;

use super::ReachView;
use crate::render::plan::json::reach::{CountedPopulation, ReachBounds};

/// The version of this format. It increases when a field is removed or changes its meaning.
const VERSION: u32 = 1;

/// The number of devices of a target, and of those that each message of the project reaches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReachDocument {
    /// The version of this format.
    format_version: u32,
    /// The target.
    target: String,
    /// The number of devices that have the app installed.
    devices: u64,
    population: CountedPopulation,
    /// Every message of the project that has an audience, by address.
    messages: Vec<ReachedMessage>,
}

/// A message and the devices in its audience.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReachedMessage {
    address: String,
    /// The number of devices. Null if only bounds are known.
    devices: Option<u64>,
    /// The bounds. Null if nothing is known.
    bounds: Option<ReachBounds>,
}

impl ReachView<'_> {
    /// The reach as JSON.
    pub fn json(&self) -> String {
        let messages = self.found.messages.iter().map(|(address, counted)| ReachedMessage {
            address: address.to_string(),
            devices: counted.filter(|counted| counted.is_exact()).map(|counted| counted.at_least),
            bounds: counted.map(ReachBounds::new),
        });
        let document = ReachDocument {
            format_version: VERSION,
            target: self.found.target.clone(),
            devices: self.found.population.devices,
            population: CountedPopulation::new(&self.found.population, self.now),
            messages: messages.collect(),
        };
        let mut text = serde_json::to_string_pretty(&document).expect("a document has text keys only");
        text.push('\n');
        text
    }
}
