use serde_json::{Value, json};

use super::*;
use crate::node::{At, Decode, Node, Reader};

fn hours(kind: &str, miss: &str, dayparts: &Value) -> SendHours {
    let object = json!({ "type": kind, "miss_behavior": miss, "dayparts": dayparts });
    let mut reader = Reader::of_wire();
    let read = At::<SendHours>::decode(&Node::from_json_value(&object), &mut reader);
    read.unwrap_or_else(|| panic!("{:?}", reader.findings)).value
}

fn window(days: &[&str], start: &str, end: &str) -> Value {
    json!({ "days_of_week": days, "allowed_times": [{ "start": start, "end": end }] })
}

const WORK: [&str; 5] = ["monday", "tuesday", "wednesday", "thursday", "friday"];

fn work(miss: &str) -> SendHours {
    hours("local", miss, &json!([window(&WORK, "09:00", "21:00")]))
}

fn evening(miss: &str) -> SendHours {
    hours("local", miss, &json!([{ "days_of_week": ["friday"], "allowed_times": [{ "preferred": "18:00" }] }]))
}

fn at(text: &str) -> DateTime {
    text.parse().expect("a time")
}

#[test]
fn a_message_waits_for_the_next_allowed_time_or_is_cancelled() {
    // 2026-11-27 is a Friday.
    for (hours, due, sent) in [
        (work("wait"), "2026-11-27T09:00", Some("2026-11-27T09:00")),
        (work("wait"), "2026-11-27T20:59:59", Some("2026-11-27T20:59:59")),
        (work("wait"), "2026-11-27T21:00", Some("2026-11-30T09:00")),
        (work("wait"), "2026-11-27T08:59:59", Some("2026-11-27T09:00")),
        (work("wait"), "2026-11-28T12:00", Some("2026-11-30T09:00")),
        (work("cancel"), "2026-11-27T09:00", Some("2026-11-27T09:00")),
        (work("cancel"), "2026-11-27T08:59:59", None),
        (work("cancel"), "2026-11-28T12:00", None),
        (evening("wait"), "2026-11-27T09:00", Some("2026-11-27T18:00")),
        (evening("wait"), "2026-11-27T18:00", Some("2026-11-27T18:00")),
        (evening("wait"), "2026-11-27T18:00:01", Some("2026-12-04T18:00")),
        (evening("cancel"), "2026-11-27T09:00", Some("2026-11-27T18:00")),
        (evening("cancel"), "2026-11-27T18:00:01", None),
        (evening("cancel"), "2026-11-26T18:00", None),
    ] {
        let shown = hours.next(at(due), hours.miss).map(|at| at.to_string());
        assert_eq!(shown, sent.map(|sent| at(sent).to_string()), "{hours} due {due}");
    }
}

#[test]
fn clocks_that_change_neither_lose_nor_repeat_a_message() {
    // In Berlin, clocks go from 02:00 to 03:00 on Sunday 2026-03-29, and from 03:00 to 02:00 on 2026-10-25.
    let berlin = TimeZone::get("Europe/Berlin").expect("a zone");
    let sunday = |start: &str, end: &str| hours("local", "wait", &json!([window(&["sunday"], start, end)]));
    let preferred = |time: &str| {
        hours("local", "wait", &json!([{ "days_of_week": ["sunday"], "allowed_times": [{ "preferred": time }] }]))
    };
    for (hours, due, sent) in [
        // The window begins in the hour that is skipped, or is all of it.
        (sunday("02:30", "04:00"), "2026-03-29T00:00:00Z", "2026-03-29T01:30:00Z"),
        (sunday("02:15", "02:45"), "2026-03-29T00:00:00Z", "2026-04-05T00:15:00Z"),
        (preferred("02:30"), "2026-03-29T00:00:00Z", "2026-03-29T01:30:00Z"),
        // 02:30 comes twice.
        (preferred("02:30"), "2026-10-24T23:00:00Z", "2026-10-25T00:30:00Z"),
        (preferred("02:30"), "2026-10-25T01:10:00Z", "2026-10-25T01:30:00Z"),
    ] {
        let next = hours.next_in(&berlin, due.parse().expect("a moment"));
        assert_eq!(next.expect("a time").to_string(), sent, "{hours} due {due}");
    }
    let utc = hours("utc", "wait", &json!([window(&["sunday"], "12:00", "13:00")]));
    let next = utc.next_in(&berlin, "2026-03-29T00:00:00Z".parse().expect("a moment")).expect("a time");
    assert_eq!(next.to_string(), "2026-03-29T12:00:00Z");
}

#[test]
fn other_spellings_are_equal() {
    let one = hours("local", "wait", &json!([window(&WORK[..2], "09:00", "21:00")]));
    let other = hours(
        "local",
        "wait",
        &json!([
            window(&["Tuesday"], "14:00:00", "21:00"),
            window(&["tuesday", "tuesday"], "09:00", "14:00"),
            window(&["monday"], "09:00:00", "21:00:00"),
        ]),
    );
    assert_eq!(one, other);
    assert_eq!(serde_json::to_value(&one).expect("JSON"), serde_json::to_value(&other).expect("JSON"));
    assert_eq!(one.written(), other.written());
}

#[test]
fn hours_have_words() {
    let two = json!([
        { "days_of_week": WORK, "allowed_times": [{ "start": "09:00", "end": "12:00" }, { "preferred": "18:00" }] },
        window(&["saturday", "sunday"], "00:00", "23:59:59"),
    ]);
    let days = json!([window(&["monday", "wednesday", "thursday"], "08:00:30", "09:00")]);
    for (hours, words) in [
        (work("wait"), "only Mon–Fri 09:00–21:00, recipients' local time; otherwise waits"),
        (evening("cancel"), "only Fri at 18:00, recipients' local time; otherwise not sent"),
        (
            hours("utc", "wait", &two),
            "only Mon–Fri 09:00–12:00 and at 18:00, Sat and Sun all day, UTC; otherwise waits",
        ),
        (hours("utc", "wait", &days), "only Mon, Wed and Thu 08:00:30–09:00, UTC; otherwise waits"),
    ] {
        assert_eq!(hours.to_string(), words);
    }
}

#[test]
fn hours_outside_of_quiet_hours_avoid_them() {
    let quiet = |from: &str, to: &str| Quiet { from: from.parse().expect("a time"), to: to.parse().expect("a time") };
    for (quiet, written) in [
        (quiet("21:00", "08:00"), "{start: \"08:00\", end: \"21:00\"}"),
        (quiet("00:00", "08:00"), "{start: \"08:00\", end: \"23:59:59\"}"),
        (quiet("22:00", "00:00"), "{start: \"00:00\", end: \"22:00\"}"),
        (quiet("13:00", "14:00"), "{start: \"00:00\", end: \"13:00\"}, {start: \"14:00\", end: \"23:59:59\"}"),
    ] {
        let free = SendHours::outside(quiet).expect("free hours");
        assert!(free.avoids(quiet), "{quiet}");
        assert!(free.written().contains(&format!("allowed_times: [{written}]")), "{quiet}: {}", free.written());
        assert!(!free.written().contains("}, {days"), "one daypart: {}", free.written());
    }
    let night = quiet("21:00", "08:00");
    assert!(work("wait").avoids(night) && evening("wait").avoids(night));
    let late = hours("local", "wait", &json!([window(&["monday"], "20:00", "22:00")]));
    assert!(!late.avoids(night));
    assert_eq!(
        late.without(night).expect("a part").written(),
        "{type: local, miss_behavior: wait, dayparts: [{days_of_week: [monday], allowed_times: \
         [{start: \"20:00\", end: \"21:00\"}]}]}"
    );
    assert_eq!(hours("local", "wait", &json!([window(&["monday"], "22:00", "23:00")])).without(night), None);
    // 12:00 to 13:00 UTC is 20:00 to 21:00 in Singapore and 21:00 to 22:00 in Tokyo.
    let noon = hours("utc", "wait", &json!([window(&["monday"], "12:00", "13:00")]));
    let avoids = |hour: i8| noon.avoids_in(night, Offset::constant(hour));
    assert_eq!([0, 8, 9, -5, -4].map(avoids), [true, true, false, false, true]);
}

#[test]
fn what_other_hours_let_through() {
    let [wait, cancel] = ["wait", "cancel"].map(work);
    let utc = |miss: &str| hours("utc", miss, &json!([window(&WORK, "09:00", "21:00")]));
    let short = hours("local", "cancel", &json!([window(&WORK, "10:00", "20:00")]));
    let friday = hours("local", "cancel", &json!([window(&["friday"], "09:00", "21:00")]));
    let at_ten = json!([{ "preferred": "22:00" }]);
    let late = hours("local", "cancel", &json!([{ "days_of_week": ["friday"], "allowed_times": at_ten }]));
    for (hours, other, is_let_through) in [
        // A device without a time zone gets nothing at local times.
        (&wait, None, false),
        (&wait, Some(&utc("cancel")), false),
        (&wait, Some(&cancel), true),
        (&utc("wait"), None, true),
        (&utc("wait"), Some(&wait), true),
        // What is due in the morning waits for 18:00, and is cancelled by the window.
        (&evening("cancel"), Some(&friday), false),
        (&friday, Some(&evening("cancel")), false),
        (&late, Some(&friday), true),
        (&late, Some(&evening("cancel")), true),
        (&evening("cancel"), Some(&late), false),
        (&evening("cancel"), Some(&evening("cancel")), true),
        (&cancel, None, false),
        (&cancel, Some(&wait), false),
        (&cancel, Some(&short), true),
        (&short, Some(&cancel), false),
        (&cancel, Some(&utc("cancel")), false),
    ] {
        assert_eq!(hours.lets_through(other), is_let_through, "{hours} after {other:?}");
    }
}

#[test]
fn the_soonest_time_anywhere() {
    let noon: Timestamp = "2026-11-27T12:00:00Z".parse().expect("a moment");
    // In some zone, it is between 09:00 and 21:00.
    assert_eq!(work("cancel").soonest(When::At(noon)), When::At(noon));
    // 18:00 comes next where it is 18:00.
    assert_eq!(evening("wait").soonest(When::At(noon)), When::At(noon));
    let monday = hours("local", "wait", &json!([window(&["monday"], "12:00", "13:00")]));
    assert_eq!(monday.soonest(When::At(noon)), When::At("2026-11-29T22:00:00Z".parse().expect("a moment")));
    assert_eq!(monday.soonest(When::EachZone(at("2026-11-27T12:00"))), When::EachZone(at("2026-11-30T12:00")));
    let utc = hours("utc", "wait", &json!([window(&["monday"], "12:00", "13:00")]));
    let expected = When::At("2026-11-30T12:00:00Z".parse().expect("a moment"));
    assert_eq!(utc.soonest(When::EachZone(at("2026-11-27T12:00"))), expected);
    assert!(!monday.has_time_between(noon, "2026-11-29T22:00:00Z".parse().expect("a moment")));
    assert!(monday.has_time_between(noon, "2026-11-29T22:00:01Z".parse().expect("a moment")));
}
