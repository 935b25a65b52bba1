use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;

use super::*;

const USERS: [&str; 3] = ["ann", "bob", "cid"];
const DEVICES: [&str; 8] = ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"];
const SEGMENTS: [&str; 4] = ["s0", "s1", "s2", "gone"];
const ADDRESSES: [&str; 2] = ["+1", "+2"];

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = String> + Clone {
    proptest::sample::select(words).prop_map(str::to_owned)
}

/// Groups of the users, none, and one that the service derives as well: the three can overlap.
fn group() -> impl Strategy<Value = String> + Clone {
    one_of(&["", "crm", "ua_opt_in", "ua_locale_country"])
}

fn tag() -> impl Strategy<Value = String> + Clone {
    one_of(&["vip", "true", "US", "new"])
}

fn some_tags() -> impl Strategy<Value = Tags> {
    btree_map(group(), btree_set(tag(), 1..4), 0..3)
}

prop_compose! {
    fn some_device()(
        device_type in one_of(&["ios", "android", "web", "open::sms"]),
        installed in prop::bool::weighted(0.8),
        opt_in: bool,
        named_user in option::of(one_of(&USERS)),
        tags in some_tags(),
        country in option::of(one_of(&["US", "de"])),
        address in option::of(one_of(&ADDRESSES)),
        lists in btree_set(one_of(&["big"]), 0..2),
        plan in option::of(0..3),
        seen in option::of(one_of(&["2026-11-20T00:00:00Z", "2026-01-01T00:00:00Z"])),
    ) -> Device {
        Device {
            device_type, installed, opt_in, named_user, tags: tags.into(), address, lists,
            properties: Properties { country, ..Properties::default() }.into(),
            attributes: plan.map(|plan| ("plan".to_owned(), json!(plan))).into_iter().collect(),
            seen_at: seen.map(|seen| ("paris".to_owned(), moment(&seen))).into_iter().collect(),
            ..Device::default()
        }
    }
}

fn leaf() -> impl Strategy<Value = Selector> {
    let recent = Recent { months: at(Months(1)) };
    let paris = Selector::Location(Location { id: at(Name("paris".into())), date: Some(Period { recent }) });
    let key = proptest::sample::select(&ChannelKey::ALL[..4]);
    prop_oneof![
        1 => Just(Selector::All),
        1 => Just(Selector::Triggered),
        8 => (tag(), option::of(group())).prop_map(|(tag, group)| Selector::Tag(Tag { tag: at(tag), group: group.map(at) })),
        2 => (key, one_of(&DEVICES)).prop_map(|(key, id)| Selector::Channel(key, at(id))),
        1 => one_of(&ADDRESSES).prop_map(|address| Selector::Channel(ChannelKey::Open, at(address))),
        2 => one_of(&USERS).prop_map(|user| Selector::NamedUser(at(user))),
        3 => one_of(&SEGMENTS).prop_map(|id| Selector::Segment(at(SegmentRef::Key(id)))),
        1 => Just(Selector::StaticList(at("big".into()))),
        1 => Just(paris),
        1 => (0..3).prop_map(|plan| Selector::Attribute(Attribute {
            attribute: at("plan".into()), operator: None, value: Some(json!(plan)),
        })),
    ]
}

fn some_selector() -> impl Strategy<Value = Selector> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        let members = vec(inner.clone().prop_map(at), 0..4);
        prop_oneof![
            3 => members.clone().prop_map(Selector::And),
            3 => members.prop_map(Selector::Or),
            1 => inner.prop_map(|member| Selector::Not(Box::new(at(member)))),
        ]
    })
}

/// An event for the devices of an application.
#[derive(Clone, Debug)]
enum Step {
    Put(String, Box<Device>),
    Uninstall(String),
    Associate(String, Option<String>),
    UserTags(String, Tags),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (one_of(&DEVICES), some_device()).prop_map(|(id, device)| Step::Put(id, Box::new(device))),
        1 => one_of(&DEVICES).prop_map(Step::Uninstall),
        2 => (one_of(&DEVICES), option::of(one_of(&USERS))).prop_map(|(id, user)| Step::Associate(id, user)),
        3 => (one_of(&USERS), some_tags()).prop_map(|(user, tags)| Step::UserTags(user, tags)),
    ]
}

fn take(step: Step, index: &mut Index, user_tags: &mut BTreeMap<String, Tags>) {
    match step {
        Step::Put(id, device) => index.put(&mut journal(), &id, *device),
        Step::Uninstall(id) => {
            index.change(&mut journal(), &id, |device| device.installed = false);
        }
        Step::Associate(id, user) => {
            index.change(&mut journal(), &id, |device| device.named_user = user);
        }
        Step::UserTags(user, tags) => {
            index.set_user_tags(&user, &tags);
            user_tags.insert(user, tags);
        }
    }
}

proptest! {
    #[test]
    fn the_index_is_at_any_time_what_a_new_one_would_be(steps in vec(step(), 1..40)) {
        let (mut index, mut user_tags) = (Index::new(), BTreeMap::new());
        for step in steps {
            take(step, &mut index, &mut user_tags);
            index.assert_as_if_rebuilt();
        }
    }

    #[test]
    fn an_audience_has_those_of_whom_its_selector_holds(
        steps in vec(step(), 1..30),
        audience in some_selector(),
        criteria in vec(some_selector(), 3),
    ) {
        let (mut index, mut user_tags) = (Index::new(), BTreeMap::new());
        for step in steps {
            take(step, &mut index, &mut user_tags);
        }
        let segments: Segments = SEGMENTS.iter().map(ToString::to_string).zip(criteria.into_iter().map(at)).collect();
        let devices = index.iter().filter(|(_, device)| device.installed);
        let expected: Vec<String> = devices
            .filter(|(id, device)| holds(&audience, id, device, &user_tags, &segments))
            .map(|(id, _)| id.to_owned())
            .collect();
        prop_assert_eq!(ids(&index, &segments, &audience), expected.clone());
        let members = Members { devices: &index, segments: &segments, now: now() };
        for (id, _) in index.iter() {
            let number = index.by_id(id).expect("a device has a number");
            prop_assert_eq!(members.matches(&audience, number), expected.iter().any(|one| one == id));
        }
    }
}
