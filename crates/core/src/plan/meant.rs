//! The members of the segments that changes name. A review covers a message and its recipients: if a segment has other
//! members, that is another change of each of its users.

use std::collections::{BTreeMap, HashMap};

use pushplan_model::digest::Digest;
use pushplan_model::kinds::{self, Resource, Segment, remote};

use super::{Action, Change, Plan};

/// Digests of segments, by their keys.
#[derive(Debug, Default)]
pub struct Meant<'p> {
    /// The criteria of each, and the segments in these.
    own: HashMap<&'p str, (Digest, Vec<&'p str>)>,
    /// The criteria of each with those of all nested segments. A segment in a circle has none.
    deep: HashMap<&'p str, Digest>,
}

/// The keys of the segments that a change names.
pub fn named(change: &Change) -> Vec<&str> {
    let desired = change.desired.as_ref().filter(|_| change.action != Action::Delete);
    desired.map(|spec| remote::named(kinds::api(&change.address).audiences(), spec)).unwrap_or_default()
}

impl<'p> Meant<'p> {
    /// The digests of these segments after a plan, and of nested ones. Segments that are not in the plan are skipped.
    pub fn of(plan: &'p Plan, named: impl IntoIterator<Item = &'p str>) -> Self {
        let mut open: Vec<&str> = named.into_iter().collect();
        if open.is_empty() {
            return Self::default();
        }
        let is_segment = |change: &&Change| *change.address.kind == *Segment::KEY && change.desired.is_some();
        let segments: HashMap<&str, &Change> =
            plan.changes.iter().filter(is_segment).map(|change| (change.address.key.as_str(), change)).collect();
        let mut own = HashMap::new();
        while let Some(key) = open.pop() {
            let Some(change) = segments.get(key).filter(|_| !own.contains_key(key)) else { continue };
            let audiences = kinds::api(&change.address).audiences();
            let criteria = change.desired.as_deref().map(|spec| audiences.iter().map(|at| spec.pointer(at)).collect());
            let criteria: Vec<_> = criteria.unwrap_or_default();
            let mut others = self::named(change);
            others.retain(|other| segments.contains_key(other));
            others.sort_unstable();
            others.dedup();
            open.extend(&others);
            own.insert(key, (Digest::of_sorted(&criteria), others));
        }
        let deep = deep(&own);
        Self { own, deep }
    }

    /// The digests of these segments, each with all nested ones in one digest, so that a long chain costs no more than
    /// its end.
    pub fn behind<'m>(&'m self, named: &[&'p str]) -> BTreeMap<&'p str, &'m Digest> {
        let (mut open, mut behind) = (named.to_vec(), BTreeMap::new());
        while let Some(key) = open.pop() {
            let Some((own, others)) = self.own.get(key).filter(|_| !behind.contains_key(key)) else { continue };
            match self.deep.get(key) {
                Some(deep) => drop(behind.insert(key, deep)),
                None => {
                    behind.insert(key, own);
                    open.extend(others);
                }
            }
        }
        behind
    }
}

/// The digest of each segment with those of its nested segments, starting with those that have none. Segments in a
/// circle are never reached.
fn deep<'p>(own: &HashMap<&'p str, (Digest, Vec<&'p str>)>) -> HashMap<&'p str, Digest> {
    let mut namers: HashMap<&str, Vec<&'p str>> = HashMap::new();
    let mut waits: HashMap<&str, usize> = HashMap::new();
    for (key, (_, others)) in own {
        waits.insert(key, others.len());
        others.iter().for_each(|other| namers.entry(other).or_default().push(key));
    }
    let mut ready: Vec<&'p str> =
        own.iter().filter(|(_, (_, others))| others.is_empty()).map(|(key, _)| *key).collect();
    let mut deep: HashMap<&'p str, Digest> = HashMap::new();
    while let Some(key) = ready.pop() {
        let Some((criteria, others)) = own.get(key) else { continue };
        let behind: BTreeMap<&str, &Digest> =
            others.iter().filter_map(|other| Some((*other, deep.get(other)?))).collect();
        // A segment without nested ones has the digest of its criteria.
        let whole = if behind.is_empty() { criteria.clone() } else { Digest::of_sorted(&(criteria, behind)) };
        deep.insert(key, whole);
        for namer in namers.get(key).into_iter().flatten() {
            if let Some(left) = waits.get_mut(namer) {
                *left -= 1;
                if *left == 0 {
                    ready.push(namer);
                }
            }
        }
    }
    deep
}

#[cfg(test)]
mod tests {
    use pushplan_model::address::Address;
    use serde_json::{Value, json};

    use super::*;
    use crate::plan::About;

    /// A plan that creates these segments.
    fn plan(segments: &[(String, Value)]) -> Plan {
        let change = |(key, criteria): &(String, Value)| Change {
            address: Address::new(Segment::KEY, key.clone()),
            action: Action::Create,
            name: key.clone(),
            place: None,
            id: None,
            desired: Some(json!({"display_name": key, "criteria": criteria}).into()),
            live: None,
            ledger: None,
            moved: None,
            reasons: vec![],
            sends: vec![],
            protect: false,
            broadcast: false,
            ignored: vec![],
        };
        let about = About::new("production", "https://messaging.example");
        let made = "2030-01-01T00:00:00Z".parse().unwrap();
        Plan::new(about, segments.iter().map(change).collect(), Vec::new(), Vec::new(), made)
    }

    fn chain(length: usize, first: &str) -> Vec<(String, Value)> {
        let one = |n: usize| match n {
            0 => ("s0".to_owned(), json!({"tag": first})),
            n => (format!("s{n}"), json!({"AND": [{"segment": format!("s{}", n - 1)}, {"tag": "t"}]})),
        };
        (0..length).map(one).collect()
    }

    #[test]
    fn a_long_chain_is_one_digest_that_its_far_end_changes() {
        let last = "s1999";
        let digest = |plan: &Plan| {
            let meant = Meant::of(plan, [last]);
            let behind = meant.behind(&[last]);
            assert_eq!(behind.keys().collect::<Vec<_>>(), [&last], "nothing but the end of the chain is looked at");
            behind[last].clone()
        };
        let before = digest(&plan(&chain(2_000, "a")));
        assert_eq!(before, digest(&plan(&chain(2_000, "a"))));
        assert_ne!(before, digest(&plan(&chain(2_000, "b"))));
    }

    #[test]
    fn segments_that_lead_into_a_circle_are_told_one_by_one() {
        let circle = |far: &str| {
            vec![
                ("a".to_owned(), json!({"AND": [{"segment": "b"}, {"tag": "x"}]})),
                ("b".to_owned(), json!({"AND": [{"segment": "a"}, {"segment": "far"}]})),
                ("far".to_owned(), json!({"tag": far})),
            ]
        };
        let told = |plan: &Plan| {
            let meant = Meant::of(plan, ["a"]);
            meant.behind(&["a"]).into_iter().map(|(key, digest)| (key.to_owned(), digest.clone())).collect::<Vec<_>>()
        };
        let (one, other) = (told(&plan(&circle("one"))), told(&plan(&circle("other"))));
        assert_eq!(one.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["a", "b", "far"]);
        assert_eq!((&one[0], &one[1]), (&other[0], &other[1]));
        assert_ne!(one[2], other[2]);
    }
}
