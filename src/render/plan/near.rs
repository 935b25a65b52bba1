//! Messages close together.

use std::collections::{BTreeMap, BTreeSet};

use crate::address::Address;
use crate::timing::words::length;
use crate::timing::{Collision, Collisions};

/// Messages that one person would get shortly after each other.
#[derive(Debug)]
pub struct Near {
    pub all: Collisions,
    /// By address: the places of its collisions, each with whether it is the earlier of the two.
    of: BTreeMap<Address, Vec<(usize, bool)>>,
}

impl Near {
    pub(super) fn new(all: Collisions) -> Self {
        let mut of: BTreeMap<Address, Vec<(usize, bool)>> = BTreeMap::new();
        for (place, Collision { one, other, .. }) in all.found.iter().enumerate() {
            of.entry(one.address.clone()).or_default().push((place, true));
            if other.address != one.address {
                of.entry(other.address.clone()).or_default().push((place, false));
            }
        }
        Self { all, of }
    }

    /// The new pairs, the nearest first, and a sentence that sums them up.
    pub fn summary(&self) -> (Vec<&Collision>, String) {
        let mut pairs: Vec<&Collision> = self.all.found.iter().filter(|one| one.news).collect();
        pairs.sort_by_key(|one| one.apart_seconds);
        let messages: BTreeSet<String> =
            pairs.iter().flat_map(|pair| [pair.one.to_string(), pair.other.to_string()]).collect();
        let within = length(self.all.apart_seconds);
        let words = match pairs.len() {
            1 => format!("One person can get 2 messages within {within}."),
            number => {
                format!("One person can get two of {} messages within {within}: {number} pairs.", messages.len())
            }
        };
        (pairs, words)
    }

    /// What is news of those of an address, each with whether it is the earlier of the two.
    pub fn of(&self, address: &Address) -> Vec<(&Collision, bool)> {
        let places = self.of.get(address).into_iter().flatten();
        let all = places.map(|(place, earlier)| (&self.all.found[*place], *earlier));
        all.filter(|(collision, _)| collision.news).collect()
    }
}
