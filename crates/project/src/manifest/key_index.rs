//! The keys of a map while it is parsed.

use std::collections::{HashMap, hash_map};
use std::hash::{BuildHasher, RandomState};

use pushplan_model::node::MapEntry;
use pushplan_model::source::Span;

/// Maps with fewer entries are searched without an index.
const FEW: usize = 16;

/// The keys of a map by their hashes, if there are many of them.
#[derive(Debug, Default)]
pub struct KeyIndex(Option<Box<Index>>);

#[derive(Debug, Default)]
struct Index {
    hasher: RandomState,
    /// The index of each key among the entries.
    places: HashMap<u64, u32>,
}

impl KeyIndex {
    /// The previous position of the key in its map; if it is new, it is added.
    pub fn first(&mut self, key: &str, entries: &[MapEntry]) -> Option<Span> {
        if entries.len() < FEW {
            return search(key, entries);
        }
        let index = self.0.get_or_insert_with(|| {
            let mut index = Box::<Index>::default();
            for (place, entry) in entries.iter().enumerate() {
                index.insert(&entry.key, place, entries);
            }
            index
        });
        index.insert(key, entries.len(), entries)
    }
}

impl Index {
    fn insert(&mut self, key: &str, place: usize, entries: &[MapEntry]) -> Option<Span> {
        match self.places.entry(self.hasher.hash_one(key)) {
            hash_map::Entry::Vacant(free) => {
                free.insert(place as u32);
                None
            }
            hash_map::Entry::Occupied(taken) => match entries.get(*taken.get() as usize) {
                Some(entry) if *entry.key == key => Some(entry.key.span),
                // Two keys with one hash, which is very rare.
                _ => search(key, entries),
            },
        }
    }
}

fn search(key: &str, entries: &[MapEntry]) -> Option<Span> {
    entries.iter().find(|entry| *entry.key == key).map(|entry| entry.key.span)
}
