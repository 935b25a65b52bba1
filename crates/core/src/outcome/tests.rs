use pushplan_ledger::Owned;
use serde_json::json;

use super::*;

fn at(time: &str) -> Timestamp {
    time.parse().expect("a time")
}

/// A ledger with scheduled pushes: their keys, times and push ids.
fn ledger(all: &[(&str, &[&str], &[&str])]) -> Ledger {
    let mut ledger = Ledger::default();
    for (key, times, push_ids) in all {
        let schedule: Vec<Value> = times.iter().map(|time| json!({ "scheduled_time": time })).collect();
        let spec = json!({
            "name": key,
            "schedule": schedule,
            "push": { "audience": { "tag": "vip" }, "device_types": ["ios"], "notification": { "alert": "x" } },
        });
        let owned =
            json!({ "id": format!("id-{key}"), "spec": spec, "applied": "2035-01-01T00:00:00Z", "push_ids": push_ids });
        let owned: Owned = serde_json::from_value(owned).expect("owned");
        ledger.owned.insert(Address::new("scheduled_pushes", *key), owned);
    }
    ledger
}

fn report(id: &str, time: &str, sends: u64) -> PushReport {
    let record =
        json!({ "push_uuid": id, "push_time": time, "push_type": SCHEDULED, "sends": sends, "direct_responses": 1 });
    PushReport::read(&record).expect("a report")
}

fn judged(ledger: &Ledger, by_id: &[PushReport], listed: &[PushReport], now: &str) -> Vec<String> {
    let all = occasions(ledger);
    let by_id = by_id.iter().map(|report| (report.push_id.clone(), report.clone())).collect();
    let word = |outcome: PushOutcome| match outcome {
        PushOutcome::NotYet => "not yet".to_owned(),
        PushOutcome::UnderWay(counted) => format!("under way {}", counted.sends),
        PushOutcome::Reached(counted) => format!(
            "{} by {}{}",
            counted.sends,
            counted.push_ids.join("+"),
            if counted.matched { ", matched" } else { "" }
        ),
        PushOutcome::Nobody(counted) => format!("nobody by {}", counted.push_ids.join("+")),
        PushOutcome::Unknown(why) => format!("{why:?}"),
    };
    reached(&all, &by_id, listed, at(now)).into_iter().map(word).collect()
}

#[test]
fn each_time_of_a_push_is_counted_by_itself() {
    let ledger = ledger(&[("a", &["2035-01-22T1000", "2035-01-23T1000", "2035-01-24T1000"], &["p1", "p2", "p3"])]);
    let known = [report("p1", "2035-01-22 10:00:00", 5), report("p2", "2035-01-23 10:00:00", 0)];
    assert_eq!(judged(&ledger, &known, &[], "2035-01-23T12:00:00Z"), ["5 by p1", "nobody by p2", "not yet"]);
    assert_eq!(judged(&ledger, &known[..1], &[], "2035-01-23T12:00:00Z"), ["5 by p1", "NoReport", "not yet"]);
}

#[test]
fn a_push_without_an_id_is_matched_where_one_report_alone_fits() {
    let one = ledger(&[("a", &["2035-01-22T1000"], &[]), ("b", &["2035-01-22T1000"], &["known"])]);
    let now = "2035-01-22T12:00:00Z";
    let known = [report("known", "2035-01-22 10:00:00", 9)];
    let listed = |others: &[PushReport]| [&known[..], others].concat();
    assert_eq!(judged(&one, &known, &listed(&[]), now), ["NoneFits", "9 by known"]);
    let fits = report("x", "2035-01-22 10:00:03", 4);
    assert_eq!(judged(&one, &known, &listed(std::slice::from_ref(&fits)), now)[0], "4 by x, matched");
    let two = [fits.clone(), report("y", "2035-01-22 10:00:00", 4)];
    assert_eq!(judged(&one, &known, &listed(&two), now)[0], "SeveralFit");
    let late = report("z", "2035-01-22 10:30:00", 4);
    let test = PushReport { push_type: "UNICAST_PUSH".into(), ..report("u", "2035-01-22 10:00:00", 1) };
    let others = PushReport { group: Some("id-of-somebody".into()), ..report("g", "2035-01-22 10:00:00", 1) };
    assert_eq!(judged(&one, &known, &listed(&[late, test, others]), now)[0], "NoneFits");
    let both = ledger(&[("a", &["2035-01-22T1000"], &[]), ("b", &["2035-01-22T1001"], &[])]);
    assert_eq!(judged(&both, &[], std::slice::from_ref(&fits), now), ["SeveralFit", "SeveralFit"]);
    let told = PushReport { group: Some("id-a".into()), ..fits };
    assert_eq!(judged(&both, &[], &[told], now), ["4 by x, matched", "NoneFits"]);
}

#[test]
fn by_each_devices_clock_nobody_yet_is_not_nobody() {
    let mut ledger = ledger(&[("a", &[], &["p"])]);
    for owned in ledger.owned.values_mut() {
        owned.spec["schedule"] = json!([{ "local_scheduled_time": "2035-01-22T1000" }]);
    }
    let none = [report("p", "2035-01-21 20:00:00", 0)];
    assert_eq!(judged(&ledger, &none, &[], "2035-01-21T19:00:00Z"), ["not yet"]);
    assert_eq!(judged(&ledger, &none, &[], "2035-01-22T10:00:00Z"), ["under way 0"]);
    assert_eq!(judged(&ledger, &none, &[], "2035-01-22T22:00:00Z"), ["nobody by p"]);
}

#[test]
fn who_was_meant_is_told_with_the_segment_and_the_devices() {
    let mut ledger = ledger(&[("a", &["2035-01-22T1000"], &[])]);
    let spec = json!({ "display_name": "vips", "criteria": { "tag": "vip" } });
    let owned = json!({ "id": "s", "spec": spec, "applied": "2035-01-01T00:00:00Z" });
    ledger.owned.insert(Address::new("segments", "vips"), serde_json::from_value(owned).expect("owned"));
    let push = &mut ledger.owned.get_mut(&Address::new("scheduled_pushes", "a")).expect("a push").spec["push"];
    push["audience"] = json!({ "segment": "vips" });
    let all = occasions(&ledger);
    assert_eq!(all.len(), 1, "a segment sends nothing");
    assert!(all[0].who.contains("vips") && all[0].who.contains("tag vip"), "{}", all[0].who);
    assert_eq!(all[0].devices, "ios");
}

#[test]
fn the_list_is_asked_for_about_the_time_of_the_push() {
    let all = occasions(&ledger(&[("a", &["2035-01-22T1000"], &[]), ("b", &["2035-01-22T1100"], &["x y"])]));
    let asked: Vec<String> = all.iter().flat_map(Occasion::reports).map(|request| request.to_string()).collect();
    assert_eq!(
        asked,
        [
            "GET /api/reports/responses/list?start=2035-01-22%2009%3A59&end=2035-01-22%2010%3A11",
            "GET /api/reports/responses/x%20y",
        ]
    );
}
