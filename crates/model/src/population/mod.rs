//! Devices as columns, and the number of devices in an audience.
//!
//! A population contains what selectors ask about a device: its kind, its properties, its tags and its lists. It
//! contains no ids, addresses or names of users. A service may not list everything, so each condition is answered with
//! two sets: the devices that certainly meet it, and those that may. Both are combined by `and`, `or` and `not`, and
//! their sizes bound the number of devices in the audience. If the sizes are equal, the number is exact.

mod codes;
mod count;
mod device;
mod file;
mod set;

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::nouns::vocabulary::GROUPS;
use codes::{Codes, FIRST, UNKNOWN};
use set::DeviceSet;

pub use device::{DeviceFacts, UserFacts, UserTags};
pub use file::NoPopulation;

/// The number of devices in an audience. Both bounds are equal if it is known exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceCount {
    pub at_least: u64,
    pub at_most: u64,
}

impl DeviceCount {
    pub fn exact(number: u64) -> Self {
        Self { at_least: number, at_most: number }
    }

    pub fn is_exact(self) -> bool {
        self.at_least == self.at_most
    }
}

/// The origin of a population.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PopulationSource {
    /// The devices of the built-in service at the time of the plan.
    BuiltIn,
    /// The channel list of the target.
    Channels,
    /// A file of sample devices.
    Sample,
}

/// Facts about a population: its origin, when it was read and how many devices it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PopulationAbout {
    pub source: PopulationSource,
    /// When it was read; `None` for a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<Timestamp>,
    pub devices: u64,
}

/// The sorts of named sets that a device can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SetSort {
    /// Tags without a group.
    Tag,
    /// Tags in a group.
    GroupTag,
    /// Uploaded lists.
    List,
    Subscription,
    /// Places where a device was seen.
    Place,
}

impl SetSort {
    const ALL: [Self; 5] = [Self::Tag, Self::GroupTag, Self::List, Self::Subscription, Self::Place];
}

/// Names a set: its sort, its group (empty for sorts without groups) and its own name.
type SetName = (SetSort, String, String);

/// Devices as columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Population {
    source: PopulationSource,
    taken: Option<Timestamp>,
    /// The fingerprint of the application that the devices belong to; empty for a sample.
    app: String,
    devices: usize,
    kinds: Codes,
    /// In the order of [`GROUPS`].
    properties: Vec<Codes>,
    sets: BTreeMap<SetName, DeviceSet>,
    /// By sort: the devices that may be in further sets of the sort.
    untold: Vec<DeviceSet>,
    /// The devices that belong to a named user, or may.
    has_user: DeviceSet,
}

impl Population {
    pub fn about(&self) -> PopulationAbout {
        PopulationAbout { source: self.source, taken: self.taken, devices: self.devices as u64 }
    }

    /// The fingerprint of the application that the devices belong to; empty for a sample.
    pub fn app(&self) -> &str {
        &self.app
    }

    pub fn len(&self) -> usize {
        self.devices
    }

    pub fn is_empty(&self) -> bool {
        self.devices == 0
    }
}

/// A column that is being filled.
#[derive(Debug, Default)]
struct Filling {
    values: Vec<String>,
    by_value: HashMap<String, u32>,
    codes: Vec<u32>,
}

impl Filling {
    fn push(&mut self, code: u32) {
        self.codes.push(code);
    }

    fn push_value(&mut self, value: &str) {
        let code = match self.by_value.get(value) {
            Some(code) => *code,
            None => {
                let code = self.values.len() as u32 + FIRST;
                self.values.push(value.to_owned());
                self.by_value.insert(value.to_owned(), code);
                code
            }
        };
        self.codes.push(code);
    }

    fn done(self) -> Codes {
        Codes::new(self.values, self.codes)
    }
}

/// Builds a population, device by device.
#[derive(Debug)]
pub struct PopulationBuilder {
    source: PopulationSource,
    taken: Option<Timestamp>,
    app: String,
    devices: u32,
    kinds: Filling,
    properties: Vec<Filling>,
    sets: HashMap<SetSort, HashMap<String, HashMap<String, Vec<u32>>>>,
    untold: Vec<Vec<u32>>,
    has_user: Vec<u32>,
}

/// The maximum number of devices in a population.
pub const MOST_DEVICES: usize = 100_000_000;

impl PopulationBuilder {
    pub fn new(source: PopulationSource, taken: Option<Timestamp>, app: &str) -> Self {
        Self {
            source,
            taken,
            app: app.to_owned(),
            devices: 0,
            kinds: Filling::default(),
            properties: GROUPS.iter().map(|_| Filling::default()).collect(),
            sets: HashMap::new(),
            untold: SetSort::ALL.iter().map(|_| Vec::new()).collect(),
            has_user: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.devices as usize
    }

    pub fn is_empty(&self) -> bool {
        self.devices == 0
    }

    /// Adds an installed device.
    pub fn add(&mut self, device: &DeviceFacts) {
        let number = self.devices;
        self.devices += 1;
        match &device.kind {
            Some(kind) => self.kinds.push_value(kind),
            None => self.kinds.push(UNKNOWN),
        }
        for (place, column) in self.properties.iter_mut().enumerate() {
            match device.property(place) {
                Ok(value) => column.push_value(value),
                Err(code) => column.push(code),
            }
        }
        for (sort, group, name) in device.sets() {
            let groups = self.sets.entry(sort).or_default();
            // A name is copied only when it first occurs.
            if !groups.contains_key(group) {
                groups.insert(group.to_owned(), HashMap::new());
            }
            let Some(names) = groups.get_mut(group) else { continue };
            match names.get_mut(name) {
                // A device may have a tag of its own and through its user.
                Some(numbers) if numbers.last() == Some(&number) => {}
                Some(numbers) => numbers.push(number),
                None => drop(names.insert(name.to_owned(), vec![number])),
            }
        }
        for (place, sort) in SetSort::ALL.into_iter().enumerate() {
            if !device.tells(sort) {
                self.untold[place].push(number);
            }
        }
        if device.may_have_user() {
            self.has_user.push(number);
        }
    }

    pub fn done(self) -> Population {
        let devices = self.devices as usize;
        let set = |numbers: Vec<u32>| DeviceSet::new(numbers, devices);
        let mut sets = BTreeMap::new();
        for (sort, groups) in self.sets {
            for (group, names) in groups {
                for (name, numbers) in names {
                    sets.insert((sort, group.clone(), name), set(numbers));
                }
            }
        }
        Population {
            source: self.source,
            taken: self.taken,
            app: self.app,
            devices,
            kinds: self.kinds.done(),
            properties: self.properties.into_iter().map(Filling::done).collect(),
            sets,
            untold: self.untold.into_iter().map(set).collect(),
            has_user: set(self.has_user),
        }
    }
}
