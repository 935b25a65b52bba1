//! Counts the devices of an audience.

use super::codes::{Codes, FIRST, UNKNOWN, WantedCodes};
use super::set::DeviceSet;
use super::{DeviceCount, Population, SetSort};
use crate::audience::{About, Audience, Fact, FormulaPart, Platform, Value};
use crate::cores;
use crate::nouns::device::DeviceType;

/// The number of 64-device words that are evaluated at a time, so that the sets of an audience stay in the caches of a
/// core.
const WORDS: usize = 64;
/// The number of blocks that a core takes at a time.
const BLOCKS: usize = 16;

type Block = [u64; WORDS];

/// The devices of a block that certainly meet a condition, and those that may meet it.
#[derive(Clone, Copy)]
struct Bounds {
    sure: Block,
    possible: Block,
}

const NOBODY: Bounds = Bounds { sure: [0; WORDS], possible: [0; WORDS] };

/// How a condition is evaluated for a block of devices.
enum Probe<'p> {
    Nobody,
    /// Nothing is known about it.
    Unknown,
    /// The devices of a set, and those that may be in it.
    Set {
        set: Option<&'p DeviceSet>,
        untold: &'p DeviceSet,
        is_told: bool,
    },
    /// The devices with a wanted code. Devices with an unknown code may have it.
    Codes {
        codes: &'p Codes,
        wanted: Box<WantedCodes>,
        unknown: Option<Box<WantedCodes>>,
        is_told: bool,
    },
}

impl Population {
    /// Counts the devices of an audience. Returns `None` if it is too complex.
    pub fn count(&self, audience: &Audience) -> Option<DeviceCount> {
        let parts = audience.formula()?;
        let probes: Vec<Option<Probe>> = parts
            .iter()
            .map(|part| match part {
                FormulaPart::Is { fact, .. } => Some(self.probe(fact)),
                _ => None,
            })
            .collect();
        let step = 64 * WORDS * BLOCKS;
        let starts: Vec<usize> = (0..self.devices).step_by(step).collect();
        let counted = cores::each_of(starts, |start| {
            let mut scratch = vec![NOBODY; parts.len()];
            let mut found = DeviceCount::default();
            for from in (start..self.devices.min(start + step)).step_by(64 * WORDS) {
                self.evaluate(&parts, &probes, from, &mut scratch);
                let inside = mask(self.devices - from);
                let Some(whole) = scratch.last() else { continue };
                found.at_least += size(&whole.sure, &inside);
                found.at_most += size(&whole.possible, &inside);
            }
            found
        });
        let sum = |all: DeviceCount, one: DeviceCount| DeviceCount {
            at_least: all.at_least + one.at_least,
            at_most: all.at_most + one.at_most,
        };
        Some(counted.into_iter().fold(DeviceCount::default(), sum))
    }

    fn evaluate(&self, parts: &[FormulaPart], probes: &[Option<Probe>], from: usize, scratch: &mut [Bounds]) {
        for (place, part) in parts.iter().enumerate() {
            let (before, rest) = scratch.split_at_mut(place);
            let Some(bounds) = rest.first_mut() else { return };
            match part {
                FormulaPart::Everyone => *bounds = Bounds { sure: [!0; WORDS], possible: [!0; WORDS] },
                FormulaPart::Nobody => *bounds = NOBODY,
                FormulaPart::Is { not, .. } => {
                    *bounds = probes[place].as_ref().map_or(NOBODY, |probe| probe.of(from));
                    if *not {
                        *bounds = opposite(bounds);
                    }
                }
                FormulaPart::All(members) => {
                    *bounds = Bounds { sure: [!0; WORDS], possible: [!0; WORDS] };
                    for member in members {
                        each(bounds, &before[*member], |own, other| *own &= other);
                    }
                }
                FormulaPart::Any(members) => {
                    *bounds = NOBODY;
                    for member in members {
                        each(bounds, &before[*member], |own, other| *own |= other);
                    }
                }
            }
        }
    }

    fn probe(&self, fact: &Fact) -> Probe<'_> {
        if fact.values.is_empty() {
            return Probe::Nobody;
        }
        let set = |sort: SetSort, group: &str, name: &str| Probe::Set {
            set: self.sets.get(&(sort, group.to_owned(), name.to_owned())),
            untold: &self.untold[sort as usize],
            is_told: true,
        };
        match &fact.about {
            About::Tag { group: None, tag } => set(SetSort::Tag, "", tag),
            About::Tag { group: Some(group), tag } => set(SetSort::GroupTag, group, tag),
            About::List(name) => set(SetSort::List, "", name),
            About::Subscription(name) => set(SetSort::Subscription, "", name),
            About::Place { id, months: None } => set(SetSort::Place, "", id),
            // The time when a device was last seen there is not stored.
            About::Place { id, months: Some(_) } => match set(SetSort::Place, "", id) {
                Probe::Set { set, untold, .. } => Probe::Set { set, untold, is_told: false },
                other => other,
            },
            About::Property(place) => {
                let wanted = |value: &String| fact.values.contains(&Value::Text(value.clone()));
                codes(&self.properties[*place], wanted, true)
            }
            About::Kind => {
                let wanted = |kind: &String| {
                    DeviceType::parse(kind).is_some_and(|kind| fact.values.contains(&Value::Kind(kind)))
                };
                codes(&self.kinds, wanted, true)
            }
            // Ids, addresses and users are not stored.
            About::Channel => {
                let is_among = |class: Platform| {
                    fact.values.iter().any(|value| matches!(value, Value::Channel(_, own) if *own == class))
                };
                codes(&self.kinds, |kind| is_among(class_of(kind)), false)
            }
            About::Address => codes(&self.kinds, |kind| kind.starts_with("open"), false),
            About::NamedUser => Probe::Set { set: Some(&self.has_user), untold: &self.has_user, is_told: false },
            About::Triggered | About::Segment { .. } | About::Attribute(_) => Probe::Unknown,
        }
    }
}

/// Returns the devices with some of a column's values. Unless `is_told`, these are only the ones that may match.
fn codes(codes: &Codes, wanted: impl Fn(&String) -> bool, is_told: bool) -> Probe<'_> {
    let values = codes.values.iter().map(wanted);
    let wanted = Box::new(WantedCodes::new((0..FIRST).map(|_| false).chain(values).collect()));
    let unknown =
        codes.has_unknown().then(|| Box::new(WantedCodes::new((0..FIRST).map(|code| code == UNKNOWN).collect())));
    Probe::Codes { codes, wanted, unknown, is_told }
}

fn class_of(kind: &str) -> Platform {
    let own = DeviceType::parse(kind);
    let of = |class: &&Platform| own.is_some() && class.kind() == own;
    Platform::ALL.iter().find(of).copied().unwrap_or(Platform::Other)
}

impl Probe<'_> {
    fn of(&self, from: usize) -> Bounds {
        let mut bounds = NOBODY;
        match self {
            Self::Nobody => {}
            Self::Unknown => bounds.possible = [!0; WORDS],
            Self::Set { set, untold, is_told } => {
                if let Some(set) = set {
                    set.add_to(from, &mut bounds.possible);
                }
                if *is_told {
                    bounds.sure = bounds.possible;
                }
                untold.add_to(from, &mut bounds.possible);
            }
            Self::Codes { codes, wanted, unknown, is_told } => {
                codes.add_to(wanted, from, &mut bounds.possible);
                if *is_told {
                    bounds.sure = bounds.possible;
                }
                if let Some(unknown) = unknown {
                    codes.add_to(unknown, from, &mut bounds.possible);
                }
            }
        }
        bounds
    }
}

fn each(bounds: &mut Bounds, other: &Bounds, join: impl Fn(&mut u64, u64)) {
    bounds.sure.iter_mut().zip(&other.sure).for_each(|(own, other)| join(own, *other));
    bounds.possible.iter_mut().zip(&other.possible).for_each(|(own, other)| join(own, *other));
}

/// The devices that certainly meet the opposite are those that cannot meet the condition.
fn opposite(bounds: &Bounds) -> Bounds {
    Bounds { sure: bounds.possible.map(|word| !word), possible: bounds.sure.map(|word| !word) }
}

/// Returns a mask for the first devices of a block.
fn mask(devices: usize) -> Block {
    let mut mask = [0; WORDS];
    for (place, word) in mask.iter_mut().enumerate() {
        *word = match devices.saturating_sub(64 * place) {
            0 => 0,
            left if left >= 64 => !0,
            left => (1 << left) - 1,
        };
    }
    mask
}

fn size(block: &Block, inside: &Block) -> u64 {
    block.iter().zip(inside).map(|(word, inside)| u64::from((word & inside).count_ones())).sum()
}
