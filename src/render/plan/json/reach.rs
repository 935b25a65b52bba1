//! The number of devices that a message reaches, in the JSON form.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::address::Address;
use crate::plan::{Plan, ReachChange};
use crate::population::{DeviceCount, PopulationAbout, PopulationSource};

/// The number of devices in the audience of a message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageReach {
    /// As it was. Null if it is new, or if only bounds are known.
    pub before: Option<u64>,
    /// As it will be. Null if it is cancelled, or if only bounds are known.
    pub after: Option<u64>,
    /// The number of devices in the population.
    pub devices: u64,
    /// Whether the numbers are exact for the population. If not, see the bounds, or `estimated`.
    pub exact: bool,
    /// Whether they are the share of a variant in the number of devices of the audience.
    pub estimated: bool,
    pub before_bounds: Option<ReachBounds>,
    pub after_bounds: Option<ReachBounds>,
    /// The devices that get each localization after the plan, by locale.
    pub locales: BTreeMap<String, ReachBounds>,
    pub population: CountedPopulation,
}

/// The least and the largest number of devices that an audience can have.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReachBounds {
    pub at_least: u64,
    pub at_most: u64,
}

/// The population that devices were counted on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CountedPopulation {
    /// built_in (the devices of the built-in service), channels (the channel list of the target) or sample.
    pub source: &'static str,
    /// When the channel list was read. Null for the built-in service and for a sample.
    pub taken_at: Option<String>,
    /// The age of the population at the plan. Null for the built-in service and for a sample.
    pub age_seconds: Option<i64>,
}

impl MessageReach {
    pub fn new(plan: &Plan, address: &Address, change: ReachChange, estimated: bool) -> Option<Self> {
        let reach = plan.told.reach.as_ref()?;
        let about = &reach.population;
        let locales = reach.locales.get(address).into_iter().flatten();
        let number = |count: Option<DeviceCount>| count.filter(|count| count.is_exact()).map(|count| count.at_least);
        let ReachChange { before, after } = change;
        Some(Self {
            before: number(before),
            after: number(after),
            devices: about.devices,
            exact: !estimated && before.into_iter().chain(after).all(DeviceCount::is_exact),
            estimated,
            before_bounds: before.map(ReachBounds::new),
            after_bounds: after.map(ReachBounds::new),
            locales: locales.map(|(locale, count)| (locale.clone(), ReachBounds::new(*count))).collect(),
            population: CountedPopulation::new(about, plan.made),
        })
    }
}

impl ReachBounds {
    pub fn new(DeviceCount { at_least, at_most }: DeviceCount) -> Self {
        Self { at_least, at_most }
    }
}

impl CountedPopulation {
    pub fn new(about: &PopulationAbout, now: Timestamp) -> Self {
        Self {
            source: match about.source {
                PopulationSource::BuiltIn => "built_in",
                PopulationSource::Channels => "channels",
                PopulationSource::Sample => "sample",
            },
            taken_at: about.taken.map(|taken| taken.to_string()),
            age_seconds: about.taken.map(|taken| now.duration_since(taken).as_secs().max(0)),
        }
    }
}
