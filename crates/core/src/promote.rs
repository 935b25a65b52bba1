//! Promotion: one target gets the applied state of another one, instead of the state in the work tree.
//!
//! A ledger has specs with the variables and overlays of its own target filled in, so they cannot be passed on
//! unchanged. The work tree has the desired state of both targets, and so shows the differences between them. If the
//! first target's ledger has exactly its desired state, the other target gets *its* desired state. If git has changed
//! since, the other target gets the fields of the first target that are not specific to that, and keeps its own for the
//! rest. A resource whose fields cannot be separated is reported, and stays on the other target as in its own ledger.
//! So no value that is specific to the first target comes to the other.

mod carried;

use std::collections::{BTreeMap, BTreeSet};

use pushplan_ledger::{Ledger, Owned};
use pushplan_model::address::Address;
use pushplan_model::kinds::remote::segments;
use pushplan_model::kinds::{self, Resource, Segment};

use crate::compare::{Unit, ignoring};
use crate::plan::{NotPromoted, Why};
use carried::{FourViews, Undecided, carried, own_values};

/// One target: its desired state in the work tree, and its applied state.
#[derive(Clone, Copy, Debug)]
pub struct PromotionSide<'s> {
    pub units: &'s BTreeMap<Address, Unit>,
    pub ledger: &'s Ledger,
    pub variables: &'s BTreeMap<String, String>,
}

impl<'s> PromotionSide<'s> {
    pub fn new(
        units: &'s BTreeMap<Address, Unit>,
        ledger: &'s Ledger,
        variables: &'s BTreeMap<String, String>,
    ) -> Self {
        Self { units, ledger, variables }
    }
}

/// The new state of the other target, and the resources that are not changed there.
#[derive(Debug, Default)]
pub struct Promoted {
    pub units: BTreeMap<Address, Unit>,
    pub held: Vec<NotPromoted>,
}

/// The result for an address.
enum Fate {
    /// The other target gets this state, or nothing at this address.
    Gets(Option<Unit>),
    /// It gets this state, which is older than that in git.
    Behind(Unit),
    Stays(Why),
}

/// Computes what `to` gets from `from`.
pub fn promote(from: PromotionSide, to: PromotionSide) -> Promoted {
    let mut units = BTreeMap::new();
    let mut held: BTreeMap<&Address, Why> = BTreeMap::new();
    let mut behind: BTreeMap<&Address, Why> = BTreeMap::new();
    let own = own_values(from, to);
    let owned = from.ledger.owned.keys().chain(to.ledger.owned.keys());
    let all: BTreeSet<&Address> = from.units.keys().chain(to.units.keys()).chain(owned).collect();
    for address in all {
        match fate(address, from, to, &own) {
            Fate::Gets(None) => {}
            Fate::Gets(Some(unit)) => drop(units.insert(address.clone(), unit)),
            Fate::Behind(unit) => {
                let has = to.ledger.owned.get(address).is_some_and(|owned| is_same(&unit, owned));
                behind.insert(address, if has { Why::Older } else { Why::Newer });
                units.insert(address.clone(), unit);
            }
            Fate::Stays(why) => drop(held.insert(address, why)),
        }
    }
    hold_what_waits(&mut units, &mut held, to);
    for address in held.keys() {
        if let Some(owned) = to.ledger.owned.get(address) {
            units.insert((*address).clone(), kept(to.units.get(address), owned));
        }
    }
    behind.retain(|address, _| !held.contains_key(address));
    held.append(&mut behind);
    let is_news = |(address, why): &(&Address, Why)| *why != Why::NotThere || differs(to, address);
    let held = held.into_iter().filter(is_news).map(|(address, why)| NotPromoted { address: address.clone(), why });
    Promoted { units, held: held.collect() }
}

fn fate(address: &Address, from: PromotionSide, to: PromotionSide, own: &[String]) -> Fate {
    let (said, there) = (from.units.get(address), from.ledger.owned.get(address));
    let (other, has) = (to.units.get(address), to.ledger.owned.get(address));
    match (said, there) {
        _ if from.ledger.open.contains_key(address) => Fate::Stays(Why::InDoubt),
        (Some(said), Some(there)) if is_same(said, there) => Fate::Gets(other.cloned()),
        // A push that is past on the first target is past on the other one.
        (Some(said), Some(there)) if !there.past => match other {
            None => Fate::Stays(Why::NotYet),
            Some(other) => {
                let has = has.map(|has| &*has.spec);
                // Fields that are left to the dashboard are specific to a target; one that does not have the resource
                // yet gets git's values.
                let (there, _) = ignoring(&there.spec, &said.spec, &said.ignore);
                let seen = FourViews { said: Some(&said.spec), there: Some(&there), other: Some(&other.spec), has };
                match carried(seen, own) {
                    Ok(spec) => Fate::Behind(Unit { spec: spec.into(), ..other.clone() }),
                    Err(Undecided(path)) => Fate::Stays(Why::OfTarget(path)),
                }
            }
        },
        (Some(_), _) => Fate::Stays(Why::NotYet),
        (None, Some(there)) => match there.past || has.is_some_and(|has| has.spec == there.spec) {
            true => Fate::Stays(Why::NotGoneYet),
            false => Fate::Stays(Why::NotInGit),
        },
        // A resource that only the other target declares cannot be promoted.
        (None, None) if other.is_some() => Fate::Stays(Why::NotThere),
        (None, None) => Fate::Gets(None),
    }
}

/// Whether the applied state is the desired one, apart from fields that are left to the dashboard.
fn is_same(said: &Unit, there: &Owned) -> bool {
    said.spec == there.spec || ignoring(&said.spec, &there.spec, &said.ignore).0.as_ref() == &there.spec
}

/// Whether a plain apply would change it.
fn differs(to: PromotionSide, address: &Address) -> bool {
    match (to.units.get(address), to.ledger.owned.get(address)) {
        (Some(said), Some(there)) => !is_same(said, there),
        (said, there) => said.is_some() != there.is_some(),
    }
}

/// Holds back resources that name a segment which is held back, and so on.
fn hold_what_waits<'a>(
    units: &mut BTreeMap<Address, Unit>,
    held: &mut BTreeMap<&'a Address, Why>,
    to: PromotionSide<'a>,
) {
    loop {
        let is_there = |key: &str| {
            let address = Address::new(Segment::KEY, key);
            units.contains_key(&address) || to.ledger.owned.contains_key(&address)
        };
        let missing = |(address, unit): (&Address, &Unit)| {
            let named = segments(kinds::api(address).audiences(), &unit.spec);
            let first = named.into_iter().find(|key| !is_there(key))?;
            Some((address.clone(), Address::new(Segment::KEY, first)))
        };
        let Some((address, by)) = units.iter().find_map(missing) else { return };
        units.remove(&address);
        if let Some((address, _)) = to.units.get_key_value(&address) {
            held.insert(address, Why::Waits(by));
        }
    }
}

/// The applied state of the target, as a unit.
pub fn kept(declared: Option<&Unit>, owned: &Owned) -> Unit {
    Unit {
        spec: owned.spec.clone(),
        place: declared.and_then(|unit| unit.place.clone()),
        protect: Some(owned.protect),
        broadcast: declared.is_some_and(|unit| unit.broadcast),
        ignore: declared.map(|unit| unit.ignore.clone()).unwrap_or_default(),
        record: declared.is_some_and(|unit| unit.record),
        renamed_from: declared.and_then(|unit| unit.renamed_from.clone()),
        aside: declared.map(|unit| unit.aside.clone()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::*;
    use crate::plan::Annotation;

    type Specs = &'static [(&'static str, &'static str)];

    fn address(key: &str) -> Address {
        Address::try_from(key.to_owned()).expect("an address")
    }

    fn spec(key: &str, text: &str) -> Value {
        match key.starts_with("segments/") {
            true => json!({"display_name": key, "criteria": {"tag": text}}),
            false => json!({"push": {"audience": {"segment": "s"}, "notification": {"alert": text}}}),
        }
    }

    fn unit(spec: Value) -> Unit {
        let (place, protect, renamed_from) = (None, None, None);
        Unit {
            spec: spec.into(),
            place,
            protect,
            broadcast: false,
            ignore: vec![],
            record: false,
            renamed_from,
            aside: Annotation::default(),
        }
    }

    fn side(said: Specs, applied: Specs) -> (BTreeMap<Address, Unit>, Ledger) {
        let units = said.iter().map(|(key, text)| (address(key), unit(spec(key, text)))).collect();
        let owned = |(key, text): &(&str, &str)| {
            let (refs, stamp, applied) = (BTreeMap::new(), None, Timestamp::UNIX_EPOCH);
            let owned = Owned {
                id: format!("id of {key}"),
                spec: spec(key, text).into(),
                refs,
                stamp,
                protect: false,
                past: false,
                applied,
                push_ids: vec![],
                zone: None,
            };
            (address(key), owned)
        };
        (units, Ledger { owned: applied.iter().map(owned).collect(), ..Ledger::default() })
    }

    type Gets = Vec<(String, Value)>;
    type Keeps = Vec<(String, Why)>;

    /// What production gets, and what is held back there and why.
    fn promoted(staging: (Specs, Specs), production: (Specs, Specs)) -> (Gets, Keeps) {
        let (from, to) = (side(staging.0, staging.1), side(production.0, production.1));
        let variables = ["test", "live"].map(|value| BTreeMap::from([("of".to_owned(), value.to_owned())]));
        let Promoted { units, held } = promote(
            PromotionSide::new(&from.0, &from.1, &variables[0]),
            PromotionSide::new(&to.0, &to.1, &variables[1]),
        );
        let units = units.into_iter().map(|(address, unit)| (address.to_string(), unit.spec.into_value())).collect();
        (units, held.into_iter().map(|held| (held.address.to_string(), held.why)).collect())
    }

    const A: &str = "segments/a";

    #[test]
    fn what_is_on_staging_comes_with_the_values_of_production() {
        let got = promoted((&[(A, "staging")], &[(A, "staging")]), (&[(A, "production")], &[(A, "old")]));
        assert_eq!(got, (vec![(A.into(), spec(A, "production"))], vec![]));
    }

    #[test]
    fn what_is_not_on_staging_yet_stays_as_production_has_it() {
        let got = promoted((&[(A, "new")], &[(A, "old")]), (&[(A, "new")], &[(A, "old")]));
        assert_eq!(got, (vec![(A.into(), spec(A, "old"))], vec![(A.into(), Why::Older)]), "an older one is there");
        let got = promoted((&[(A, "new")], &[]), (&[(A, "new")], &[]));
        assert_eq!(got, (vec![], vec![(A.into(), Why::NotYet)]));
    }

    #[test]
    fn what_staging_has_is_promoted_where_git_has_gone_on() {
        let got = promoted((&[(A, "v3")], &[(A, "v2")]), (&[(A, "v3")], &[(A, "v1")]));
        assert_eq!(got, (vec![(A.into(), spec(A, "v2"))], vec![(A.into(), Why::Newer)]));
        let got = promoted((&[(A, "v3")], &[(A, "v2")]), (&[(A, "v3")], &[]));
        assert_eq!(got, (vec![(A.into(), spec(A, "v2"))], vec![(A.into(), Why::Newer)]));
    }

    #[test]
    fn what_is_of_staging_alone_is_held_back_where_git_has_gone_on() {
        let why = || vec![(A.to_owned(), Why::OfTarget("criteria.tag".to_owned()))];
        let got = promoted((&[(A, "v3-test")], &[(A, "v2-test")]), (&[(A, "v3-live")], &[(A, "v1-live")]));
        assert_eq!(got, (vec![(A.into(), spec(A, "v1-live"))], why()));
        // Git now has the same value for both, but not at the time of the apply.
        let got = promoted((&[(A, "v3")], &[(A, "v2-test")]), (&[(A, "v3")], &[]));
        assert_eq!(got, (vec![], why()));
    }

    #[test]
    fn what_staging_has_and_git_has_no_more_is_held_back_where_production_does_not_have_it() {
        let got = promoted((&[], &[(A, "x")]), (&[], &[]));
        assert_eq!(got, (vec![], vec![(A.into(), Why::NotInGit)]));
        let got = promoted((&[], &[(A, "v2")]), (&[], &[(A, "v1")]));
        assert_eq!(got, (vec![(A.into(), spec(A, "v1"))], vec![(A.into(), Why::NotInGit)]));
    }

    #[test]
    fn what_staging_has_removed_goes_and_what_it_has_not_stays() {
        assert_eq!(promoted((&[], &[]), (&[], &[(A, "x")])), (vec![], vec![]));
        let got = promoted((&[], &[(A, "x")]), (&[], &[(A, "x")]));
        assert_eq!(got, (vec![(A.into(), spec(A, "x"))], vec![(A.into(), Why::NotGoneYet)]));
    }

    #[test]
    fn what_only_production_declares_is_not_promoted() {
        let got = promoted((&[], &[]), (&[(A, "new")], &[(A, "old")]));
        assert_eq!(got, (vec![(A.into(), spec(A, "old"))], vec![(A.into(), Why::NotThere)]));
        let same = promoted((&[], &[]), (&[(A, "x")], &[(A, "x")]));
        assert_eq!(same, (vec![(A.into(), spec(A, "x"))], vec![]), "there is nothing to tell of it");
    }

    #[test]
    fn what_names_a_segment_that_stays_away_waits_for_it() {
        let push = "scheduled_pushes/p";
        let said: Specs = &[("segments/s", "new"), ("scheduled_pushes/p", "Hi")];
        let (units, held) = promoted((said, &[("segments/s", "test"), ("scheduled_pushes/p", "Hi")]), (said, &[]));
        assert_eq!(units, vec![]);
        let own = Why::OfTarget("criteria.tag".to_owned());
        assert_eq!(held, vec![(push.into(), Why::Waits(address("segments/s"))), ("segments/s".into(), own)]);
        let (units, held) = promoted((said, &[("scheduled_pushes/p", "Hi")]), (said, &[]));
        assert_eq!(units, vec![]);
        assert_eq!(held, vec![(push.into(), Why::Waits(address("segments/s"))), ("segments/s".into(), Why::NotYet)]);
    }
}
