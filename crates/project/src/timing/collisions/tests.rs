use pushplan_model::node::{Decode, Node, Reader};
use serde_json::{Value, json};

use super::*;

fn selector(written: &Value) -> Selector {
    Selector::decode(&Node::from_json_value(written), &mut Reader::default()).expect("a selector")
}

fn at(text: &str) -> When {
    match text.ends_with('Z') {
        true => When::At(text.parse().expect("a moment")),
        false => When::EachZone(text.parse().expect("a time")),
    }
}

/// The pairs of messages with these audiences and times that are too close together.
fn near(hours: i64, sends: &[(&str, Value)]) -> Vec<(usize, usize, i64)> {
    let address = Address::new("scheduled_pushes", "x");
    let audiences: Vec<Selector> = sends.iter().map(|(_, written)| selector(written)).collect();
    let upcoming: Vec<Upcoming> = sends
        .iter()
        .zip(&audiences)
        .map(|((time, _), audience)| Upcoming {
            address: &address,
            variant: None,
            when: at(time),
            audience,
            people: None,
            devices: None,
            news: false,
        })
        .collect();
    let result = collisions(&upcoming, SignedDuration::from_hours(hours), |_| None);
    assert_eq!(result.uncompared, 0);
    result.found.iter().map(|one| (one.one.number, one.other.number, one.apart_seconds / 60)).collect()
}

#[test]
fn messages_to_the_same_people_are_too_near() {
    let (us, ca) = (json!({"country": "US"}), json!({"country": "CA"}));
    let noon = "2026-11-27T12:00Z";
    let later = "2026-11-27T14:30Z";
    assert_eq!(near(4, &[(later, json!("all")), (noon, us.clone())]), [(1, 0, 150)]);
    assert_eq!(near(4, &[(later, ca), (noon, us.clone())]), []);
    assert_eq!(near(4, &[(noon, us.clone()), ("2026-11-27T16:00Z", us.clone())]), []);
    assert_eq!(near(0, &[(noon, us.clone()), (noon, us)]), []);
}

#[test]
fn times_by_each_own_clock_are_near_all_day() {
    let all = json!("all");
    let each = "2026-11-27T09:00";
    assert_eq!(near(4, &[(each, all.clone()), ("2026-11-27T11:00", all.clone())]), [(0, 1, 120)]);
    assert_eq!(near(4, &[(each, all.clone()), ("2026-11-27T20:00", all.clone())]), []);
    assert_eq!(near(4, &[(each, all.clone()), ("2026-11-27T23:00Z", all.clone())]), [(0, 1, 120)]);
    assert_eq!(near(4, &[(each, all.clone()), ("2026-11-27T12:00Z", all.clone())]), [(0, 1, 0)]);
    assert_eq!(near(4, &[(each, all.clone()), ("2026-11-28T02:00Z", all.clone())]), []);
    // In Japan it is nine o'clock once, at midnight in London.
    let japan = json!({"country": "JP"});
    assert_eq!(near(4, &[(each, all.clone()), ("2026-11-27T12:00Z", japan.clone())]), []);
    assert_eq!(near(4, &[(each, japan), ("2026-11-27T01:00Z", all)]), [(0, 1, 60)]);
}

#[test]
fn of_very_many_pairs_those_with_something_new_come_first_and_the_rest_is_counted() {
    let addresses: Vec<Address> = (0..3_000).map(|n| Address::new("scheduled_pushes", format!("p{n}"))).collect();
    let audience = Selector::All;
    let send = |(number, address)| Upcoming {
        address,
        variant: None,
        when: at("2026-11-27T12:00Z"),
        audience: &audience,
        people: None,
        devices: None,
        news: number == 2_999,
    };
    let sends: Vec<Upcoming> = addresses.iter().enumerate().map(send).collect();
    let result = collisions(&sends, SignedDuration::from_hours(4), |_| None);
    assert_eq!(result.found.len(), FOUND);
    assert_eq!(result.uncompared, 3_000 * 2_999 / 2 - FOUND);
    assert!(result.found[..2_999].iter().all(|one| one.news));
    assert!(!result.found[2_999].news);
}

#[test]
fn each_person_gets_one_variant() {
    let address = Address::new("experiments", "x");
    let audience = Selector::All;
    let send = |variant| Upcoming {
        address: &address,
        variant: Some(variant),
        when: at("2026-11-27T12:00Z"),
        audience: &audience,
        people: None,
        devices: None,
        news: true,
    };
    let result = collisions(&[send(1), send(2)], SignedDuration::from_hours(4), |_| None);
    assert_eq!((result.found.len(), result.uncompared), (0, 0));
}

#[test]
fn a_time_by_each_own_clock_counts_where_those_are_who_get_both() {
    let each = "2026-12-20T09:00";
    let both = json!({"timezone": ["America/New_York", "Europe/Paris"]});
    let elsewhere = json!({"not": {"timezone": "America/New_York"}});
    // Nine o'clock is 14:00 in New York and 08:00 in Paris.
    assert_eq!(near(4, &[(each, both.clone()), ("2026-12-20T14:30Z", elsewhere.clone())]), []);
    assert_eq!(near(4, &[(each, both.clone()), ("2026-12-20T08:30Z", elsewhere)]), [(0, 1, 30)]);
    let east = json!({"timezone": ["Europe/Paris", "Asia/Tokyo"]});
    assert_eq!(near(4, &[(each, both.clone()), ("2026-12-20T14:00Z", east)]), []);
    assert_eq!(near(4, &[(each, both), ("2026-12-20T14:30Z", json!("all"))]), [(0, 1, 30)]);
}
