//! Devices that join, leave or stay excluded, compared with every device that the rules allow and with the built-in
//! service.

use std::collections::BTreeMap;

use jiff::Timestamp;
use proptest::prelude::*;
use pushplan::audience::{Audience, ExampleDevice, Neighbors};
use pushplan::engine::local::credentials::APP_KEY;
use pushplan::engine::people::whole_device;
use pushplan::engine::stage;
use pushplan::nouns::audience::{SegmentRef, Selector};
use pushplan::nouns::device::DeviceTypes;
use pushplan::nouns::many::{Many, Set as Listed};
use pushplan::service::request::Request;
use pushplan::service::{Engine, Settings, local};
use serde_json::{Value, json};

use super::pairs::{WORLDS, is_empty, kinds, minus, shape};
use super::world::{Set, all, any, at};

fn start() -> Timestamp {
    "2026-11-16T09:00:00Z".parse().expect("a time")
}

/// A selector with its segments replaced by their criteria. The service would refuse an undeclared segment.
fn opened(selector: &Selector, segments: &BTreeMap<String, Selector>) -> Selector {
    let each = |members: &[pushplan::node::At<Selector>]| members.iter().map(|one| at(opened(one, segments))).collect();
    match selector {
        Selector::And(members) => Selector::And(each(members)),
        Selector::Or(members) => Selector::Or(each(members)),
        Selector::Not(member) => Selector::Not(Box::new(at(opened(member, segments)))),
        Selector::Segment(reference) => match &reference.value {
            SegmentRef::Key(key) if segments.contains_key(key) => opened(&segments[key], segments),
            _ => selector.clone(),
        },
        single => single.clone(),
    }
}

/// Whether the service has a device in each of the audiences.
fn asked(form: &Value, id: &str, audiences: &[&Selector]) -> Vec<bool> {
    let settings =
        Settings { apps: vec![(APP_KEY.to_owned(), "secret".to_owned())], clock: Some(start()), ..Settings::default() };
    let row = stage::device(id, form, true, start()).unwrap_or_else(|why| panic!("{why}: {form}"));
    let engine = Engine::open_from(settings, vec![row]).expect("a service");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let one = |audience: &&Selector| {
        let body = json!({ "audience": audience, "device": id }).to_string().into_bytes();
        let path = "/local/audience/explain".to_owned();
        let request = Request { method: "POST".to_owned(), path, body, ..Request::default() };
        let answer = runtime.block_on(local::answer(&engine, None, request)).expect("an answer");
        let answer = answer.unwrap_or_else(|refusal| panic!("{}: {audience:?}", refusal.error));
        let body: Value = serde_json::from_str(&answer.body.expect("a body")).expect("JSON");
        body["in"] == true
    };
    audiences.iter().map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_service_agrees_with_the_solver_on_every_device(
        world in 0..WORLDS.len(),
        shapes in (shape(), shape(), shape()),
        on in 0..96u8,
        near in 0..3u8,
    ) {
        let world = &WORLDS[world];
        let segments: BTreeMap<String, Selector> = [("s0".to_owned(), shapes.2.selector(world, 0))].into();
        let lookup = |reference: &SegmentRef| match reference {
            SegmentRef::Key(key) => segments.get(key),
            SegmentRef::Id(_) => None,
        };
        let before = shapes.0.selector(world, 1);
        let other = shapes.1.selector(world, 1);
        let after = match near {
            0 => other,
            1 => any(vec![before.clone(), other]),
            _ => all(vec![before.clone(), other]),
        };
        let types = kinds(on).filter(|_| world.kinds);
        let listed = types.clone().map(|kinds| DeviceTypes::Some(Listed(Many(kinds.into_iter().map(at).collect()))));
        let build = |selector| {
            let (audience, set) = (Audience::of(selector, lookup), world.members(selector, &segments));
            match (&listed, &types) {
                (Some(listed), Some(types)) => {
                    let reached = world.of_kinds(types);
                    (audience.on(listed), set.iter().zip(&reached).map(|(one, other)| one & other).collect::<Set>())
                }
                _ => (audience, set),
            }
        };
        let ((one, ones), (two, twos)) = (build(&before), build(&after));
        let Neighbors { joins, leaves, excluded } = Neighbors::of(Some(&one), Some(&two));
        prop_assert_eq!(joins.is_none(), is_empty(&minus(&twos, &ones)), "{:?}", joins);
        prop_assert_eq!(leaves.is_none(), is_empty(&minus(&ones, &twos)), "{:?}", leaves);
        let cases: [(Option<ExampleDevice>, [bool; 2]); 3] =
            [(joins, [false, true]), (leaves, [true, false]), (excluded, [false, false])];
        for (example, expected) in cases {
            let Some(example) = example else { continue };
            // Only the real service knows the members of an undeclared segment.
            let Some(whole) = whole_device(&example, start()) else {
                prop_assert_eq!(world.name, "places", "{}", example);
                continue;
            };
            let id = whole.channel.clone().unwrap_or_else(|| "device".to_owned());
            let is_of_kind = listed.as_ref().is_none_or(|listed| {
                pushplan::nouns::device::DeviceType::parse(&whole.device_type).is_some_and(|kind| listed.includes(&kind))
            });
            let selectors = [opened(&before, &segments), opened(&after, &segments)];
            let found = asked(&whole.form, &id, &[&selectors[0], &selectors[1]]);
            let found: Vec<bool> = found.into_iter().map(|is_in| is_in && is_of_kind).collect();
            prop_assert_eq!(found, expected, "{}: {}\n{:?}", example, whole.form, selectors);
        }
    }
}

#[test]
fn an_excluded_device_misses_one_condition_by_the_exclusion() {
    use super::world::{not, tag};
    let before = all(vec![tag("reader"), not(tag("unsubscribed")), not(tag("bounced"))]);
    let after = all(vec![tag("reader"), not(tag("unsubscribed"))]);
    let audience = |selector: &Selector| Audience::of(selector, |_| None);
    let found = Neighbors::of(Some(&audience(&before)), Some(&audience(&after)));
    assert_eq!(found.joins.map(|device| device.to_string()).as_deref(), Some("a device with the tag bounced"));
    assert_eq!(found.leaves, None);
    assert_eq!(found.excluded.map(|device| device.to_string()).as_deref(), Some("a device with the tag unsubscribed"));
}
