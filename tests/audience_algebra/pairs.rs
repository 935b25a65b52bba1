//! Random pairs of audiences, each compared with every device that the rules allow.
//!
//! `PUSHPLAN_AUDIENCE_PAIRS=100000 tests/simulation/optimized test --test audience_algebra` tries as many as `.ci/run`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use pushplan::audience::{self, Answer, Audience, ExampleDevice, Relation};
use pushplan::nouns::audience::{SegmentRef, Selector};
use pushplan::nouns::device::{DeviceType, DeviceTypes};
use pushplan::nouns::many::{Many, Set as Listed};
use pushplan_testing::Dice;

use super::world::{Set, World, all, any, at, not, segment, worlds};

pub static WORLDS: LazyLock<Vec<World>> = LazyLock::new(worlds);

/// A selector whose conditions are not chosen yet.
#[derive(Clone, Debug)]
pub enum Shape {
    Everyone,
    Condition(usize),
    Segment(usize),
    All(Vec<Shape>),
    Any(Vec<Shape>),
    Not(Box<Shape>),
}

impl Shape {
    /// With conditions of a world, and references to segments that come before this one.
    pub fn selector(&self, world: &World, segments: usize) -> Selector {
        let each = |members: &[Shape]| members.iter().map(|member| member.selector(world, segments)).collect();
        match self {
            Self::Everyone => Selector::All,
            Self::Condition(number) => world.conditions[number % world.conditions.len()].clone(),
            Self::Segment(number) if segments > 0 => segment(&format!("s{}", number % segments)),
            Self::Segment(number) => world.conditions[number % world.conditions.len()].clone(),
            Self::All(members) => all(each(members)),
            Self::Any(members) => any(each(members)),
            Self::Not(member) => not(member.selector(world, segments)),
        }
    }
}

pub fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        1 => Just(Shape::Everyone),
        24 => (0..64usize).prop_map(Shape::Condition),
        4 => (0..64usize).prop_map(Shape::Segment),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 0..5).prop_map(Shape::All),
            4 => prop::collection::vec(inner.clone(), 0..5).prop_map(Shape::Any),
            2 => inner.prop_map(|inner| Shape::Not(Box::new(inner))),
        ]
    })
}

/// The device types of a push, if it does not go to all.
pub fn kinds(bits: u8) -> Option<Vec<DeviceType>> {
    let pool = ["ios", "android", "amazon", "web", "wns", "open::sms"];
    let some = pool.iter().enumerate().filter(|(place, _)| bits >> place & 1 == 1);
    let some: Vec<DeviceType> = some.filter_map(|(_, name)| DeviceType::parse(name)).collect();
    (bits < 64 && !some.is_empty()).then_some(some)
}

/// Writes an audience differently, with an unchanged meaning.
fn rewritten(selector: &Selector, dice: &mut Dice) -> Selector {
    let roll = dice.below(4);
    let turned = dice.below(5);
    let mut each = |members: &[pushplan::node::At<Selector>]| {
        let mut members: Vec<Selector> = members.iter().map(|member| rewritten(member, dice)).collect();
        if turned < members.len() {
            members.rotate_left(turned);
        }
        members
    };
    let nested = |mut members: Vec<Selector>, join: fn(Vec<Selector>) -> Selector| {
        if roll == 0 && members.len() > 1 {
            let rest = members.split_off(1);
            members.push(join(rest));
        } else if roll == 1 && !members.is_empty() {
            members.push(members[0].clone());
        }
        join(members)
    };
    let written = match selector {
        Selector::And(members) if roll == 2 && !members.is_empty() => {
            not(any(each(members).into_iter().map(not).collect()))
        }
        Selector::Or(members) if roll == 2 && !members.is_empty() => {
            not(all(each(members).into_iter().map(not).collect()))
        }
        Selector::And(members) => nested(each(members), all),
        Selector::Or(members) => nested(each(members), any),
        Selector::Not(member) => not(rewritten(member, dice)),
        single => single.clone(),
    };
    if roll == 3 { not(not(written)) } else { written }
}

pub fn minus(a: &Set, b: &Set) -> Set {
    a.iter().zip(b).map(|(a, b)| a & !b).collect()
}

fn both(a: &Set, b: &Set) -> Set {
    a.iter().zip(b).map(|(a, b)| a & b).collect()
}

pub fn is_empty(set: &Set) -> bool {
    set.iter().all(|bits| *bits == 0)
}

/// Fails unless every device with the traits of an example is in the set, and at least one device has them.
fn exemplifies(world: &World, example: &ExampleDevice, set: &Set) -> Result<(), TestCaseError> {
    let traits: Vec<_> = example.traits().collect();
    let mut found = false;
    for (place, device) in world.devices.iter().enumerate() {
        if traits.iter().all(|(fact, so)| device.is(fact) == *so) {
            found = true;
            prop_assert!(set[place / 64] >> (place % 64) & 1 == 1, "{example}: {device:?}");
        }
    }
    prop_assert!(found, "{example}: there is no such device");
    Ok(())
}

fn pairs() -> u32 {
    std::env::var("PUSHPLAN_AUDIENCE_PAIRS").map_or(2_000, |number| number.parse().expect("a number of pairs"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: pairs(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_answer_is_that_of_the_truth_table(
        world in 0..WORLDS.len(),
        shapes in (shape(), shape(), shape(), shape()),
        on in (0..96u8, 0..96u8),
        near: bool,
        choice: u64,
    ) {
        let world = &WORLDS[world];
        let mut segments = BTreeMap::new();
        for (number, shape) in [&shapes.2, &shapes.3].into_iter().enumerate() {
            segments.insert(format!("s{number}"), shape.selector(world, number));
        }
        let lookup = |reference: &SegmentRef| match reference {
            SegmentRef::Key(key) => segments.get(key),
            SegmentRef::Id(_) => None,
        };
        let a = shapes.0.selector(world, 2);
        // Unrelated audiences mostly differ: half of the time the second is the first with an addition.
        let b = shapes.1.selector(world, 2);
        let b = match (near, choice % 3) {
            (false, _) => b,
            (true, 0) => any(vec![a.clone(), b]),
            (true, 1) => all(vec![b, a.clone()]),
            (true, _) => rewritten(&a, &mut Dice::new(choice)),
        };
        let build = |selector, bits: u8| {
            let (audience, set) = (Audience::of(selector, lookup), world.members(selector, &segments));
            match kinds(bits).filter(|_| world.kinds) {
                Some(kinds) => {
                    let listed = DeviceTypes::Some(Listed(Many(kinds.iter().cloned().map(at).collect())));
                    (audience.on(&listed), both(&set, &world.of_kinds(&kinds)))
                }
                None => (audience, set),
            }
        };
        let ((one, ones), (two, twos)) = (build(&a, on.0), build(&b, on.1));
        let (joining, leaving, shared) = (minus(&twos, &ones), minus(&ones, &twos), both(&ones, &twos));
        let said = format!("{}: {one:?}\n{two:?}", world.name);

        match audience::compare(&one, &two) {
            Relation::Same => prop_assert!(is_empty(&joining) && is_empty(&leaving), "{said}"),
            Relation::Broader { joins } => {
                prop_assert!(is_empty(&leaving), "{said}");
                exemplifies(world, &joins, &joining)?;
            }
            Relation::Narrower { leaves } => {
                prop_assert!(is_empty(&joining), "{said}");
                exemplifies(world, &leaves, &leaving)?;
            }
            relation @ (Relation::Disjoint { .. } | Relation::Different { .. }) => {
                prop_assert_eq!(matches!(relation, Relation::Disjoint { .. }), is_empty(&shared), "{}", said);
                let (Relation::Disjoint { joins, leaves } | Relation::Different { joins, leaves }) = relation else {
                    unreachable!()
                };
                exemplifies(world, &joins, &joining)?;
                exemplifies(world, &leaves, &leaving)?;
            }
            Relation::TooComplex => prop_assert!(false, "{said}"),
        }
        match audience::overlap(&one, &two) {
            Answer::Yes(device) => exemplifies(world, &device, &shared)?,
            Answer::No(()) => prop_assert!(is_empty(&shared), "{said}"),
            Answer::TooComplex => prop_assert!(false, "{said}"),
        }
        match audience::nobody(&one) {
            Answer::Yes(conflict) => {
                prop_assert!(is_empty(&ones), "{said}");
                prop_assert!(!conflict.conditions.is_empty());
            }
            Answer::No(device) => exemplifies(world, &device, &ones)?,
            Answer::TooComplex => prop_assert!(false, "{said}"),
        }
        let outside = minus(&world.members(&Selector::All, &segments), &ones);
        match audience::everyone(&one) {
            Answer::Yes(()) => prop_assert!(is_empty(&outside), "{said}"),
            Answer::No(device) => exemplifies(world, &device, &outside)?,
            Answer::TooComplex => prop_assert!(false, "{said}"),
        }
    }

    #[test]
    fn however_it_is_written_the_canonical_form_is_one(world in 0..WORLDS.len(), shape in shape(), choice: u64) {
        let selector = shape.selector(&WORLDS[world], 0);
        let again = rewritten(&selector, &mut Dice::new(choice));
        let [one, two] = [&selector, &again].map(|selector| Audience::of(selector, |_| None));
        prop_assert_eq!(one.canonical(), two.canonical());
        prop_assert!(one == two);
    }
}
