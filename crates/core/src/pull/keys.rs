//! Keys for new resources: made from names, readable and deterministic.

use std::collections::{HashMap, HashSet};

use pushplan_model::address::{is_key, is_own, to_key};
use pushplan_model::digest::Digest;

/// The maximal length of a key that is made from a name.
const MOST: usize = 60;
/// The length of the part of an id that distinguishes resources with one name.
const SUFFIX: usize = 8;

/// A resource that needs a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nameless<'n> {
    /// Its name on the service, which need not be unique.
    pub name: &'n str,
    /// Its id on the service, which is unique.
    pub id: &'n str,
}

/// Whether a text can be a key in a manifest. A key that begins with `x-` belongs to the author and declares nothing.
pub(crate) fn can_be_key(text: &str) -> bool {
    is_key(text) && !is_own(text)
}

/// Returns a key for each of several resources of one kind.
///
/// If several names give the same key, all of them get one with the beginning of their id, so that no key depends on
/// the order of creation. Keys in use are not assigned.
pub fn keys(noun: &str, things: &[Nameless], taken: &dyn Fn(&str) -> bool) -> Vec<String> {
    let noun = to_key(noun);
    let stems: Vec<String> = things.iter().map(|thing| stem(&noun, thing)).collect();
    let mut sharing: HashMap<&str, usize> = HashMap::new();
    for stem in &stems {
        *sharing.entry(stem).or_default() += 1;
    }
    // Resources with a unique name come first, so that no suffix takes their key.
    let mut order: Vec<usize> = (0..things.len()).collect();
    let is_plain = |stem: &String| sharing[stem.as_str()] == 1 && *stem != noun && !taken(stem);
    order.sort_by_key(|at| (!is_plain(&stems[*at]), things[*at].id));
    let mut keys = vec![String::new(); things.len()];
    let mut given: HashSet<String> = HashSet::new();
    for at in order {
        let (stem, thing) = (&stems[at], &things[at]);
        let alone = is_plain(stem).then(|| stem.clone());
        let digest = Digest::of(thing.id.as_bytes());
        let longer =
            (SUFFIX..=digest.as_str().len()).step_by(SUFFIX).map(|length| digest.as_str()[..length].to_owned());
        let suffixes = beginning(thing).into_iter().chain(longer);
        let free = |key: &String| !taken(key) && !given.contains(key);
        // A key that begins with `x-` would not be read: the noun is prepended, as for a name that begins like that.
        let with = |suffix: String| match format!("{stem}-{suffix}") {
            key if is_own(&key) => format!("{noun}-{key}"),
            key => key,
        };
        let key = alone.into_iter().chain(suffixes.map(with)).find(free);
        // The last one has a digest of its id, which is unique.
        let key = key.unwrap_or_else(|| format!("{noun}-{}", digest.as_str()));
        given.insert(key.clone());
        keys[at] = key;
    }
    keys
}

/// The key from a name; only the noun if the name has no usable characters.
fn stem(noun: &str, thing: &Nameless) -> String {
    // A person with a chosen id has it as the key, too.
    if thing.name == thing.id && can_be_key(thing.id) && thing.id.len() <= MOST {
        return thing.id.to_owned();
    }
    let key = cut(to_key(thing.name));
    match key.as_str() {
        "" => noun.to_owned(),
        key if !can_be_key(key) => format!("{noun}-{key}"),
        _ => key,
    }
}

/// Shortens a key to the maximal length, at the end of a word.
fn cut(mut key: String) -> String {
    if key.len() > MOST {
        // A word that begins in the second half may be dropped; a longer one is cut.
        let end = key[..=MOST].rfind('-').filter(|end| *end > MOST / 2).unwrap_or(MOST);
        key.truncate(end);
    }
    let end = key.trim_end_matches(|c: char| "-_.".contains(c)).len();
    key.truncate(end);
    key
}

/// The beginning of an id, if it can distinguish ids: users find it in the dashboard.
fn beginning(thing: &Nameless) -> Option<String> {
    let letters: String = thing.id.chars().filter(char::is_ascii_alphanumeric).take(SUFFIX).collect();
    (letters.len() == SUFFIX && thing.name != thing.id).then(|| letters.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 3] = [
        "6f1c2a9e-0000-4000-8000-000000000001",
        "9b7d4410-0000-4000-8000-000000000002",
        "6f1c2a9e-0000-4000-8000-000000000003",
    ];

    fn made(names: &[&str], taken: &[&str]) -> Vec<String> {
        let things: Vec<Nameless> = names.iter().zip(IDS).map(|(name, id)| Nameless { name, id }).collect();
        keys("scheduled push", &things, &|key| taken.contains(&key))
    }

    #[test]
    fn a_key_is_what_a_name_says() {
        assert_eq!(made(&["Lapsed buyers (US)", "true", "a/b: c"], &[]), ["lapsed-buyers-us", "true", "a-b-c"]);
    }

    #[test]
    fn all_that_share_a_name_have_the_beginning_of_their_id() {
        assert_eq!(made(&["Sale", "sale!"], &[]), ["sale-6f1c2a9e", "sale-9b7d4410"]);
        // If ids begin alike, a digest distinguishes them.
        let keys = made(&["Sale", "Sale", "Sale"], &[]);
        assert_eq!((&*keys[0], &*keys[1]), ("sale-6f1c2a9e", "sale-9b7d4410"));
        assert!(keys[2].starts_with("sale-") && keys[2] != keys[0], "{keys:?}");
    }

    #[test]
    fn a_name_that_gives_no_key_is_the_noun_with_the_beginning_of_an_id() {
        assert_eq!(
            made(&["🎉🎉", "日本語", "x-mas"], &[])[..2],
            ["scheduled-push-6f1c2a9e", "scheduled-push-9b7d4410"]
        );
        assert_eq!(made(&["", "b", "X-mas"], &[])[2], "scheduled-push-x-mas");
    }

    #[test]
    fn no_key_is_one_that_is_not_read() {
        assert_eq!(made(&["x", "X!"], &[]), ["scheduled-push-x-6f1c2a9e", "scheduled-push-x-9b7d4410"]);
        assert_eq!(made(&["X"], &[]), ["x"]);
        assert_eq!(made(&["X"], &["x"]), ["scheduled-push-x-6f1c2a9e"]);
    }

    #[test]
    fn what_is_taken_is_not_given() {
        assert_eq!(made(&["Sale"], &["sale"]), ["sale-6f1c2a9e"]);
        let keys = made(&["Sale", "Sale 6f1c2a9e"], &["sale"]);
        assert_eq!(keys[1], "sale-6f1c2a9e", "who has the name by itself keeps it");
        assert_ne!(keys[0], keys[1]);
    }

    #[test]
    fn a_long_name_ends_with_a_word() {
        let name = "word ".repeat(40);
        let keys = made(&[&name, &"x".repeat(200)], &[]);
        assert_eq!(keys[0], ["word"; 12].join("-"));
        assert_eq!(keys[1], "x".repeat(60));
    }

    #[test]
    fn ids_that_people_chose_are_kept_as_they_are() {
        let names = ["VIP", "vip", "u_1", "x-1", &"y".repeat(90), &format!("{}z", "y".repeat(90))];
        let things: Vec<Nameless> = names.iter().map(|name| Nameless { name, id: name }).collect();
        let keys = keys("named user", &things, &|_| false);
        assert_eq!(keys[..4], ["VIP", "vip", "u_1", "named-user-x-1"]);
        assert!(keys[4] != keys[5] && keys.iter().all(|key| can_be_key(key)), "{keys:?}");
    }

    #[test]
    fn the_order_of_things_makes_no_difference() {
        let things: Vec<Nameless> =
            ["Sale", "🎉", "Sale"].iter().zip(IDS).map(|(name, id)| Nameless { name, id }).collect();
        let back: Vec<Nameless> = things.iter().rev().copied().collect();
        let mut other = keys("segment", &back, &|_| false);
        other.reverse();
        assert_eq!(keys("segment", &things, &|_| false), other);
    }
}
