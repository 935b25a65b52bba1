//! Texts for users: audiences, their changes and contradictions in plain words.

use std::collections::HashMap;

use pushplan::audience::{self, Answer, Audience, Relation, TreeLine};
use pushplan::finding::Findings;
use pushplan::node::{Decode, Node, Reader};
use pushplan::nouns::audience::{SegmentRef, Selector};
use pushplan::nouns::device::{DeviceType, DeviceTypes};
use pushplan::nouns::many::{Many, Set};
use pushplan::nouns::vocabulary::{COUNTRIES, ZONES};
use serde_json::{Value, json};

use super::world::{any, at, grouped};

/// A selector as a manifest writes it.
fn selector(written: &Value) -> Selector {
    let mut reader = Reader::new(Findings::default());
    let read = Selector::decode(&Node::from_json_value(written), &mut reader);
    read.unwrap_or_else(|| panic!("{written} cannot be read"))
}

fn audience(written: &Value) -> Audience {
    Audience::of(&selector(written), |_| None)
}

#[test]
fn an_audience_is_conditions_on_one_line() {
    for (written, words) in [
        (json!("all"), "everyone"),
        (json!({"not": "all"}), "nobody"),
        (json!("triggered"), "the device that triggered the pipeline"),
        (json!({"tag": "vip"}), "tag vip"),
        (json!({"and": [{"tag": "vip"}, {"not": {"tag": "opted-out"}}]}), "tag vip; not tag opted-out"),
        (
            json!({"and": [{"not": {"timezone": "America/New_York"}}, {"tag": "vip"}]}),
            "tag vip; not time zone = America/New_York",
        ),
        (json!({"country": ["US", "CA", "GB"]}), "country = CA, GB or US"),
        (json!({"not": {"country": "US"}}), "everyone except country = US"),
        (json!({"not": {"country": ["US", "CA"]}}), "everyone except (country = CA or US)"),
        (json!({"tag": "buyer", "group": "lifecycle"}), "lifecycle = buyer"),
        (
            json!({"and": [
                {"tag": "buyer", "group": "lifecycle"}, {"country": ["US", "CA"]}, {"tag": "lapsed", "group": "lifecycle"},
            ]}),
            "lifecycle = buyer and lapsed; country = CA or US",
        ),
        (
            json!({"or": [{"tag": "buyer", "group": "lifecycle"}, {"tag": "lapsed", "group": "lifecycle"}]}),
            "lifecycle = buyer or lapsed",
        ),
        (json!({"and": [{"country": "US"}, {"country": "CA"}]}), "country = US; country = CA"),
        (json!({"segment": "lapsed-buyers"}), "segment lapsed-buyers"),
        (json!({"segment": {"id": "3e9c"}}), "segment ID 3e9c"),
        (json!({"opt_in": true}), "opted in to notifications"),
        (json!({"opt_in": false}), "not opted in to notifications"),
        (json!({"not": {"opt_in": false}}), "opted in to notifications"),
        (json!({"not": {"location_enabled": true}}), "not enabled for location (or unknown)"),
        (json!({"ios_version": "8.3.X"}), "iOS version = 8.3.X"),
        (json!({"timezone": "NO_TIME_ZONE"}), "time zone = unknown"),
        (json!({"named_user": "u-1"}), "named user u-1"),
        (json!({"or": [{"named_user": "u-1"}, {"named_user": "u-2"}]}), "named user u-1 or u-2"),
        (json!({"channel": "9c36"}), "channel 9c36"),
        (json!({"ios_channel": "9c36"}), "iOS channel 9c36"),
        (json!({"open_channel": "+49"}), "open channel +49"),
        (json!({"static_list": "ticket-holders"}), "static list ticket-holders"),
        (json!({"subscription_list": "news"}), "subscribed to news"),
        (json!({"location": {"id": "us-co", "date": {"recent": {"months": 3}}}}), "seen at us-co in the last 3 months"),
        (json!({"attribute": "age", "operator": "greater_than", "value": 18}), "attribute age > 18"),
        (json!({"attribute": "age"}), "attribute age"),
        (json!({"attribute": "age", "value": 18}), "attribute age = 18"),
        (json!({"attribute": "age", "value": ""}), "attribute age = \"\""),
        (json!({"attribute": "age", "operator": "less"}), "attribute age < nothing"),
        (json!({"attribute": "age", "operator": "is_empty"}), "attribute age is empty"),
        (json!({"attribute": "age", "operator": "in_range"}), "attribute age in range"),
        (
            json!({"attribute": "plan", "operator": "not_contains", "value": "pro"}),
            "attribute plan does not contain pro",
        ),
        (json!({"or": [{"tag": "a"}, {"tag": "b"}]}), "tag a or tag b"),
        (json!({"and": [{"tag": "a"}, {"or": [{"tag": "b"}, {"country": "US"}]}]}), "tag a; (tag b or country = US)"),
        (
            json!({"or": [{"tag": "a"}, {"and": [{"tag": "b"}, {"country": ["US", "CA"]}]}]}),
            "tag a or (tag b and (country = CA or US))",
        ),
        (json!({"or": [{"tag": "a"}, {"country": ["US", "CA"]}]}), "tag a or (country = CA or US)"),
        (
            json!({"and": [{"or": [{"tag": "a"}, {"tag": "b"}]}, {"or": [{"tag": "c"}, {"tag": "d"}]}]}),
            "(tag a or tag b); (tag c or tag d)",
        ),
        (json!({"and": [{"tag": "a"}, {"and": [{"tag": "b"}, {"tag": "c"}]}]}), "tag a; tag b; tag c"),
        (json!({"or": [{"not": {"tag": "a"}}, {"tag": "b"}]}), "tag b or not tag a"),
        (
            json!({"and": [
                {"not": {"and": [{"tag": "a"}, {"tag": "b"}]}}, {"not": {"tag": "c"}},
                {"and": [{"or": [{"tag": "d"}, {"tag": "e"}]}]},
            ]}),
            "(tag d or tag e); not (tag a and tag b); not tag c",
        ),
        (json!({"and": [{"not": {"tag": "a"}}, {"not": {"tag": "b"}}]}), "everyone except (tag a or tag b)"),
        (json!({"tag": "evil\u{202e}\u{1b}[31m"}), "tag \"evil\\u202E\\x1B[31m\""),
        (json!({"tag": ">= 5.2, or so"}), "tag \">= 5.2, or so\""),
        (json!({"tag": "or", "group": "country"}), "\"country\" = \"or\""),
    ] {
        assert_eq!(audience::words(&selector(&written)), words, "{written}");
    }
}

#[test]
fn of_very_many_conditions_some_are_told_and_the_rest_is_counted() {
    let tags: Vec<Value> = (0..1_000).map(|n| json!({"tag": format!("t{n}")})).collect();
    let words = audience::words(&selector(&json!({"and": tags})));
    assert!(words.starts_with("tag t0; tag t1; "), "{words}");
    assert!(words.ends_with("; 992 more conditions"), "{words}");
}

#[test]
fn an_audience_is_a_tree() {
    let written = json!({"and": [
        {"tag": "buyer", "group": "lifecycle"},
        {"country": ["US", "CA"]},
        {"not": {"or": [{"tag": "staff"}, {"opt_in": false}]}},
    ]});
    let lines: Vec<String> = audience::tree(&selector(&written))
        .into_iter()
        .map(|TreeLine { depth, text }| format!("{}{text}", "  ".repeat(depth)))
        .collect();
    assert_eq!(
        lines,
        [
            "all of",
            "  lifecycle = buyer",
            "  any of",
            "    country = US",
            "    country = CA",
            "  none of",
            "    tag staff",
            "    not opted in to notifications",
        ]
    );
}

#[test]
fn the_canonical_form_is_flat_sorted_and_without_repetition() {
    let criteria = selector(&json!({"or": [{"tag": "z"}, {"tag": "a"}]}));
    let written = json!({"and": [
        {"not": {"or": [{"country": "US"}, {"not": {"tag": "z"}}]}},
        {"and": [{"segment": "s"}, {"not": {"country": "CA"}}]},
        {"not": {"opt_in": true}},
        {"or": [{"language": ["de", "en"]}, {"tag": "m"}]},
        {"or": [{"tag": "m"}, {"tag": "n"}, {"language": "en"}, {"language": "de"}]},
    ]});
    let selector = selector(&written);
    let audience =
        Audience::of(&selector, |reference| (*reference == SegmentRef::Key("s".to_owned())).then_some(&criteria));
    let lines: Vec<String> = audience
        .canonical()
        .expect("a small form")
        .into_iter()
        .map(|TreeLine { depth, text }| format!("{}{text}", "  ".repeat(depth)))
        .collect();
    assert_eq!(
        lines,
        [
            "all of",
            "  tag z",
            "  not opted in to notifications",
            "  not (country = CA or US)",
            "  any of",
            "    tag m",
            "    language = de or en",
        ]
    );
}

#[test]
fn a_change_is_told_with_who_joins_and_who_leaves() {
    let buyers = |countries: Value| json!({"and": [{"tag": "buyer", "group": "lifecycle"}, {"country": countries}]});
    for (before, after, words) in [
        (
            buyers(json!(["US", "CA"])),
            buyers(json!(["US", "CA", "GB"])),
            "broader: everyone who matched still matches; others join, such as a device in GB",
        ),
        (
            buyers(json!(["US", "CA"])),
            buyers(json!("CA")),
            "narrower: nobody joins; some leave, such as a device in US",
        ),
        (
            json!({"country": "US"}),
            json!({"country": "CA"}),
            "disjoint: everyone who matched leaves, such as a device in US; others join, such as a device in CA",
        ),
        (
            json!({"tag": "a"}),
            json!({"tag": "b"}),
            "different: some join, such as a device with the tag b and without the tag a; some leave, such as a device with the tag a and without the tag b",
        ),
        (json!({"opt_in": true}), json!({"not": {"opt_in": false}}), "same: exactly those who matched before"),
        (
            json!({"location_enabled": true}),
            json!({"not": {"location_enabled": false}}),
            "broader: everyone who matched still matches; others join, such as a device with unknown `location_enabled`",
        ),
        (
            json!({"ios_channel": "c"}),
            json!({"channel": "c"}),
            "broader: everyone who matched still matches; others join, such as a device with the channel c of another platform",
        ),
    ] {
        assert_eq!(audience::compare(&audience(&before), &audience(&after)).to_string(), words, "{before} {after}");
    }
}

/// Conditions on one attribute are compared by their values.
#[test]
fn conditions_on_attributes_are_compared_exactly() {
    let age = |operator: &str, value: Value| json!({"attribute": "age", "operator": operator, "value": value});
    let plan = |operator: &str, value: &str| json!({"attribute": "plan", "operator": operator, "value": value});
    for (before, after, relation) in [
        (age("greater_than", json!(100)), age("greater_than", json!(10)), "broader"),
        (age("greater_than", json!(10)), age("greater_than", json!(100)), "narrower"),
        (age("less_than", json!(10)), age("less", json!(10)), "same"),
        (age("less_than", json!(10)), age("less_than", json!(10.0)), "same"),
        (age("less_than", json!(10)), age("greater_than", json!(10)), "disjoint"),
        (age("less_than", json!(10)), age("greater_than", json!(9)), "different"),
        (age("equals", json!(10)), age("greater_than", json!(9)), "broader"),
        (age("equals", json!(10)), age("not_equals", json!(10)), "disjoint"),
        (age("equals", json!(10)), age("equals", json!("10")), "disjoint"),
        (age("greater_than", json!(10)), age("is_not_empty", json!(null)), "broader"),
        (age("is_empty", json!(null)), age("less_than", json!(10)), "disjoint"),
        (json!({"not": age("is_empty", json!(null))}), age("is_not_empty", json!(null)), "same"),
        (age("not_equals", json!(10)), json!({"not": age("equals", json!(10))}), "same"),
        (plan("contains", "pro-plus"), plan("equals", "pro-plus"), "narrower"),
        (plan("equals", "pro"), plan("contains", "plus"), "disjoint"),
        (plan("contains", "pro"), plan("not_contains", "pro"), "disjoint"),
        (plan("before", "2026-02-01"), plan("before", "2026-03-01"), "broader"),
        // Values of an unknown operator are either equal or different.
        (age("in_range", json!([1, 2])), age("in_range", json!([1, 2])), "same"),
        (age("in_range", json!([1, 2])), age("in_range", json!([1, 3])), "different"),
        // Conditions on two attributes are independent.
        (age("equals", json!(1)), plan("equals", "pro"), "different"),
    ] {
        let found = audience::compare(&audience(&before), &audience(&after));
        assert_eq!(found.word(), relation, "{before} becomes {after}: {found}");
    }
}

#[test]
fn who_can_be_nobody_is_told_why() {
    for (written, words) in [
        (
            json!({"and": [{"country": "US"}, {"tag": "a"}, {"country": "CA"}]}),
            "no device meets both `country = CA` and `country = US`: a device has one country",
        ),
        (
            json!({"and": [{"tag": "a"}, {"tag": "b"}, {"not": {"tag": "a"}}]}),
            "no device meets both `tag a` and `not tag a`",
        ),
        (
            json!({"and": [{"ios_version": "8.3.X"}, {"android_version": "5.1.X"}]}),
            "no device meets both `iOS version = 8.3.X` and `Android version = 5.1.X`: only Android devices have an Android \
             version and only iOS devices have an iOS version",
        ),
        (
            json!({"and": [{"ios_version": "8.3.X"}, {"android_channel": "c"}]}),
            "no device meets both `iOS version = 8.3.X` and `Android channel c`: only Android devices have such a \
             channel and only iOS devices have an iOS version",
        ),
        (
            json!({"and": [{"named_user": "u"}, {"named_user": "v"}]}),
            "no device meets both `named user u` and `named user v`: a device has one named user",
        ),
        (
            json!({"and": [{"location_enabled": true}, {"ios_sdk_version": "5.1.X"}]}),
            "no device meets both `enabled for location` and `iOS SDK version = 5.1.X`: devices report whether location is enabled since SDK 6.0",
        ),
        (
            json!({"and": [{"opt_in": true}, {"opt_in": false}]}),
            "no device meets both `not opted in to notifications` and `opted in to notifications`: a device is either opted in to \
             notifications or not",
        ),
        (
            json!({"and": [{"tag": "x"}, {"ios_version": "8.3.1"}]}),
            "no device meets `iOS version = 8.3.1`: versions have the form 8.3.X, not `8.3.1`",
        ),
        (
            json!({"and": [
                {"location": {"id": "here", "date": {"recent": {"months": 1}}}},
                {"not": {"location": {"id": "here", "date": {"recent": {"months": 6}}}}},
            ]}),
            "no device meets both `seen at here in the last 1 month` and `not seen at here in the last 6 months`: a longer period includes the shorter ones",
        ),
        (
            json!({"and": [{"or": [{"tag": "a"}, {"tag": "b"}]}, {"not": {"tag": "a"}}, {"not": {"tag": "b"}}]}),
            "no device meets all of `not tag a`, `not tag b` and `tag a or tag b`",
        ),
    ] {
        let Answer::Yes(conflict) = audience::nobody(&audience(&written)) else { panic!("{written}") };
        assert_eq!(conflict.to_string(), words, "{written}");
    }
}

#[test]
fn device_types_and_segments_count() {
    let criteria = selector(&json!({"ios_version": "8.3.X"}));
    let segments = HashMap::from([("new-phones", &criteria)]);
    let reference = selector(&json!({"segment": "new-phones"}));
    let audience = Audience::of(&reference, |reference| match reference {
        SegmentRef::Key(key) => segments.get(key.as_str()).copied(),
        SegmentRef::Id(_) => None,
    });
    let on = |kind| DeviceTypes::Some(Set(Many(vec![at(kind)])));
    assert!(matches!(audience::nobody(&audience.clone().on(&on(DeviceType::Ios))), Answer::No(_)));
    let Answer::Yes(conflict) = audience::nobody(&audience.clone().on(&on(DeviceType::Android))) else {
        panic!("only iOS devices have an iOS version");
    };
    assert_eq!(
        conflict.to_string(),
        "no device meets both `iOS version = 8.3.X` and `device type = Android`: only iOS devices have an iOS version"
    );
    let unknown = Audience::of(&reference, |_| None);
    assert!(matches!(audience::compare(&unknown, &audience), Relation::Different { .. }));
    assert_eq!(audience::compare(&unknown, &unknown), Relation::Same);
}

#[test]
fn everyone_is_meant_by_both_of_two_and_by_all_of_a_list() {
    let flags = json!({"or": [{"opt_in": true}, {"opt_in": false}]});
    assert_eq!(audience::everyone(&audience(&flags)), Answer::Yes(()));
    let Answer::No(left_out) = audience::everyone(&audience(&json!({"location_enabled": [true, false]}))) else {
        panic!("a device with an old SDK says neither");
    };
    assert_eq!(left_out.to_string(), "a device with unknown `location_enabled`");

    let zones = ZONES.iter().map(|zone| grouped("timezone", zone.tag));
    let listed = any(zones.collect());
    let Answer::No(left_out) = audience::everyone(&Audience::of(&listed, |_| None)) else { panic!("or none is known") };
    assert!(
        left_out.to_string().starts_with("a device not in the time zone Africa/Addis_Ababa, Africa/Harare"),
        "{left_out}"
    );
    let every = any(vec![listed, grouped("timezone", "NO_TIME_ZONE")]);
    assert_eq!(audience::everyone(&Audience::of(&every, |_| None)), Answer::Yes(()));
    let countries = COUNTRIES.iter().map(|(code, _)| *code).chain(["Unknown"]);
    let every = any(countries.map(|code| grouped("ua_locale_country", code)).collect());
    assert_eq!(audience::everyone(&Audience::of(&every, |_| None)), Answer::Yes(()));
}

#[test]
fn sends_that_can_reach_one_device_are_told_with_it() {
    let (one, two) = (audience(&json!({"country": "US"})), audience(&json!({"tag": "vip"})));
    let Answer::Yes(device) = audience::overlap(&one, &two) else { panic!("they can") };
    assert_eq!(device.to_string(), "a device with the tag vip and in US");
    assert_eq!(audience::overlap(&one, &audience(&json!({"country": "CA"}))), Answer::No(()));
}
