use pushplan::nouns::split::Split;
use pushplan::service::state::{PushType, variant_of};
use serde_json::{Value, json};

use super::harness::{Service, time};

const NOW: &str = "2026-11-27T08:00:00Z";

fn variant(alert: &str, at: Option<&str>) -> Value {
    let mut variant = json!({ "push": { "notification": { "alert": alert } } });
    if let Some(at) = at {
        variant["schedule"] = json!({ "scheduled_time": at });
    }
    variant
}

fn test_of(variants: &[Value]) -> Value {
    json!({
        "name": "Wording", "description": "Which one?", "audience": "all", "device_types": ["ios", "android"],
        "variants": variants,
    })
}

#[tokio::test]
async fn every_device_gets_exactly_one_variant() {
    let service = Service::at(NOW).await;
    for number in 0..200 {
        service.device(&format!("device-{number}"), if number % 2 == 0 { "ios" } else { "web" }).await;
    }
    let body = test_of(&[variant("A", Some("2026-11-27T0900")), variant("B", Some("2026-11-27T1000"))]);
    let made = service.post("/api/experiments", body).await;
    let location = made.location.clone().expect("a location");
    let answer = made.expect(201);
    let id = answer["experiment_id"].as_str().expect("an id");
    assert!(location.ends_with(&format!("/api/experiments/{id}")));

    service.move_clock("2026-11-27T09:30:00Z").await;
    let mut counts = [0, 0];
    for number in (0..200).step_by(2) {
        let device = format!("device-{number}");
        let expected = variant_of(id, &device, &Split::even(2)).expect("a variant");
        let shown = service.shown(&device);
        assert_eq!(shown, if expected == 0 { vec!["A"] } else { vec![] }, "{device}");
    }
    service.move_clock("2026-11-27T11:00:00Z").await;
    for number in 0..200 {
        let shown = service.shown(&format!("device-{number}"));
        match shown.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["A"] => counts[0] += 1,
            ["B"] => counts[1] += 1,
            ref other => assert!(other.is_empty() && number % 2 == 1, "{number}: {other:?}"),
        }
    }
    assert_eq!(counts[0] + counts[1], 100);
    assert!(counts.iter().all(|count| *count > 25), "{counts:?}");
    let sent = service.sent_as(&answer["push_id"]).expect("a record");
    assert_eq!(sent.sends, [("ios".to_owned(), 100)].into());
    assert_eq!(sent.time, time("2026-11-27T09:00:00Z"));
    assert_eq!(sent.push_type, PushType::ScheduledPush);
    assert_eq!(sent.group_id.as_deref(), Some(id));
}

#[tokio::test]
async fn what_a_device_got_what_was_sent_and_events_tell_the_variant() {
    let service = Service::at(NOW).await;
    let devices: Vec<String> = (0..20).map(|number| format!("device-{number}")).collect();
    for device in &devices {
        service.device(device, "ios").await;
    }
    let made = service.post("/api/experiments", test_of(&[variant("A", None), variant("B", None)])).await.expect(201);
    let id = made["experiment_id"].as_str().expect("an id");
    let mut sends = [0_u64, 0];
    for device in &devices {
        let got = service.get(&format!("/local/devices/{device}/received")).await.expect(200)["received"][0].clone();
        let number = variant_of(id, device, &Split::even(2)).expect("a variant");
        assert_eq!((&got["experiment_id"], &got["variant"]), (&json!(id), &json!(number)), "{got}");
        assert_eq!(got["notification"]["alert"], ["A", "B"][number]);
        sends[number] += 1;
    }
    let events = service.get("/local/events").await.expect(200);
    let of_type = |kind: &str| -> Vec<Value> {
        let all = events["events"].as_array().expect("events").iter();
        all.filter(|event| event["type"] == kind).map(|event| event["body"].clone()).collect()
    };
    assert_eq!(of_type("SEND").len(), 20);
    for number in [0, 1] {
        let of_it = |body: &&Value| body["experiment_id"] == id && body["variant"] == number;
        assert_eq!(of_type("SEND").iter().filter(of_it).count() as u64, sends[number]);
        let bodies: Vec<Value> = of_type("PUSH_BODY").into_iter().filter(|body| of_it(&body)).collect();
        assert_eq!(bodies.len(), 1, "what each variant says is told once");
        assert_eq!(bodies[0]["payload"]["notification"]["alert"], ["A", "B"][number]);
    }
    let sent = service.get("/local/sent").await.expect(200)["sent"][0].clone();
    assert_eq!(sent["variants"], json!({ "0": sends[0], "1": sends[1] }));

    let tap = json!({ "push_id": made["push_id"] });
    service.post(&format!("/local/devices/{}/tap", devices[0]), tap).await.expect(200);
    let results = service.get("/local/experiments").await.expect(200)["experiments"][0].clone();
    assert_eq!((&results["experiment_id"], &results["push_id"]), (&json!(id), &made["push_id"]));
    for number in [0, 1] {
        let taps = u64::from(variant_of(id, &devices[0], &Split::even(2)) == Some(number));
        let expected = json!({ "variant": number, "sends": sends[number], "taps": taps, "opens": 0 });
        assert_eq!(results["variants"][number], expected);
    }
}

#[tokio::test]
async fn an_experiment_can_be_deleted_only_before_it_starts() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    let body = test_of(&[variant("A", Some("2026-11-27T0900")), variant("B", Some("2026-11-27T0900"))]);
    let mut paths = Vec::new();
    for _ in 0..2 {
        let id = service.post("/api/experiments", body.clone()).await.expect(201)["experiment_id"].clone();
        paths.push(format!("/api/experiments/scheduled/{}", id.as_str().expect("an id")));
    }
    service.delete(&paths[0]).await.expect(200);
    service.delete(&paths[0]).await.refusal(404);
    service.move_clock("2026-11-27T09:00:00Z").await;
    let refused = service.delete(&paths[1]).await.refusal(405);
    assert!(refused.contains("started"), "{refused}");
    assert_eq!(service.shown("a").len(), 1, "the deleted one sent nothing");
    service.delete("/api/experiments/scheduled/none").await.refusal(404);
}

#[tokio::test]
async fn a_variant_without_a_schedule_is_sent_at_once() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    let answer = service.post("/api/experiments", test_of(&[variant("Now", None)])).await.expect(201);
    assert_eq!(service.shown("a"), ["Now"]);
    assert_eq!(service.sent_as(&answer["push_id"]).expect("a record").push_type, PushType::BroadcastPush);
    let id = answer["experiment_id"].as_str().expect("an id");
    service.delete(&format!("/api/experiments/scheduled/{id}")).await.refusal(405);
}

#[tokio::test]
async fn an_experiment_that_cannot_be_is_refused() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    let later = || variant("A", Some("2026-11-27T0900"));
    let mut messaged = variant("A", None);
    messaged["push"]["message"] = json!({ "title": "t", "body": "b" });
    let mut to_wns = test_of(&[messaged]);
    to_wns["device_types"] = json!(["wns"]);
    let mut triggered = test_of(&[later()]);
    triggered["audience"] = "triggered".into();
    let mut addressed = later();
    addressed["push"]["audience"] = "all".into();
    for (body, expected) in [
        (test_of(&[]), "1 to 26"),
        (test_of(&vec![later(); 27]), "27 variants"),
        (test_of(&[variant("now", None), variant("A", Some("2026-11-27T0700"))]), "has passed"),
        (to_wns, "WNS"),
        (triggered, "pipeline only"),
        (test_of(&[addressed]), "unknown key `audience`"),
    ] {
        for path in ["/api/experiments/validate", "/api/experiments"] {
            let refused = service.post(path, body.clone()).await.refusal(400);
            assert!(refused.contains(expected), "{refused}");
        }
    }
    service.post("/api/experiments/validate", test_of(&vec![variant("A", None); 26])).await.expect(200);
    assert!(service.sent().is_empty());
    assert_eq!(service.get("/api/experiments").await.expect(200)["total_count"], 0);
}

#[tokio::test]
async fn experiments_are_listed_with_and_without_those_that_have_started() {
    let service = Service::at(NOW).await;
    for number in 0..3 {
        let mut body = test_of(&[variant("A", Some("2026-11-27T0900"))]);
        body["name"] = format!("e{number}").into();
        service.post("/api/experiments", body).await.expect(201);
    }
    let started = service.post("/api/experiments", test_of(&[variant("Now", None)])).await.expect(201);
    let page = service.get("/api/experiments?limit=3").await.expect(200);
    let names: Vec<&str> =
        page["experiments"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["Wording", "e2", "e1"]);
    let rest = service.get(page["next_page"].as_str().expect("a URL")).await.expect(200);
    assert_eq!(rest["experiments"][0]["name"], "e0");
    assert!(rest.get("next_page").is_none());
    let waiting = service.get("/api/experiments/scheduled").await.expect(200);
    assert_eq!(waiting["total_count"], 3);
    let id = started["experiment_id"].as_str().expect("an id");
    let one = service.get(&format!("/api/experiments/{id}")).await.expect(200);
    assert_eq!(one["experiment"]["push_id"], started["push_id"]);
    assert_eq!(one["experiment"]["variants"], json!([variant("Now", None)]));
    service.get("/api/experiments/none").await.refusal(404);
}

fn split_test(weights: [i64; 2], control: f64) -> Value {
    let mut body = test_of(&[variant("A", Some("2026-11-27T0900")), variant("B", Some("2026-11-27T0900"))]);
    body["control"] = control.into();
    for (number, weight) in weights.into_iter().enumerate() {
        body["variants"][number]["weight"] = weight.into();
        body["variants"][number]["name"] = ["First", "Second"][number].into();
        body["variants"][number]["description"] = "Why".into();
    }
    body
}

#[tokio::test]
async fn the_control_group_gets_nothing_and_an_event_tells_so() {
    let service = Service::at(NOW).await;
    let devices: Vec<String> = (0..300).map(|number| format!("device-{number}")).collect();
    for device in &devices {
        service.device(device, "ios").await;
    }
    let made = service.post("/api/experiments", split_test([3, 1], 0.5)).await.expect(201);
    let id = made["experiment_id"].as_str().expect("an id");
    let kept = service.get(&format!("/api/experiments/{id}")).await.expect(200)["experiment"].clone();
    assert_eq!((&kept["control"], &kept["variants"][0]["weight"]), (&json!(0.5), &json!(3)));
    assert_eq!(kept["variants"][1]["name"], "Second");

    service.move_clock("2026-11-27T09:30:00Z").await;
    let (split, mut groups) = (Split::new(vec![3, 1], 0.5), [0_u64; 3]);
    let mut control = None;
    for device in &devices {
        let group = variant_of(id, device, &split);
        let expected: Vec<&str> = group.map(|variant| ["A", "B"][variant]).into_iter().collect();
        assert_eq!(service.shown(device), expected, "{device}");
        groups[group.unwrap_or(2)] += 1;
        control = control.or(group.is_none().then_some(device));
    }
    assert!((80..150).contains(&groups[0]) && (20..60).contains(&groups[1]), "{groups:?}");
    let events = service.get("/local/events").await.expect(200);
    let spared: Vec<&Value> =
        events["events"].as_array().expect("events").iter().filter(|event| event["type"] == "CONTROL").collect();
    assert_eq!(spared.len() as u64, groups[2], "one for each device of the control group");
    assert_eq!(spared[0]["body"]["experiment_id"], id);

    service.post(&format!("/local/devices/{}/open", control.expect("a device")), json!({})).await.expect(200);
    let push_id = made["push_id"].as_str().expect("an id");
    let report = service.get(&format!("/api/reports/experiment/overview/{push_id}")).await.expect(200);
    assert_eq!(report["control"]["sends"], groups[2]);
    assert_eq!((&report["control"]["responses"], &report["control"]["audience_pct"]), (&json!(1), &json!(50.0)));
    for (number, name) in ["First", "Second"].into_iter().enumerate() {
        let variant = &report["variants"][number];
        assert_eq!((&variant["name"], &variant["sends"]), (&json!(name), &json!(groups[number])));
    }
    assert_eq!(report["variants"][0]["audience_pct"], 37.5);
    service.get("/api/reports/experiment/overview/none").await.refusal(404);
}

#[tokio::test]
async fn a_wrong_share_or_weight_is_refused_with_its_path() {
    let service = Service::at(NOW).await;
    for (weights, control, expected) in
        [([1, 1], 1.0, "below 1"), ([1, 1], -0.1, "below 1"), ([0, 1], 0.0, "at least 1"), ([1, -3], 0.0, "at least 1")]
    {
        let refused = service.post("/api/experiments", split_test(weights, control)).await.refusal(400);
        assert!(refused.contains(expected), "{refused}");
    }
    for control in [0.0, 0.99] {
        service.post("/api/experiments", split_test([1, 1_000_000], control)).await.expect(201);
    }
}

#[tokio::test]
async fn the_documented_level_refuses_what_the_contract_lacks() {
    let service = Service::documented(NOW).await;
    let plain = test_of(&[variant("A", Some("2026-11-27T0900")), variant("B", Some("2026-11-27T0900"))]);
    for (field, value) in [("name", json!("A")), ("description", json!("Why")), ("weight", json!(1))] {
        let mut body = plain.clone();
        body["variants"][1][field] = value;
        let refused = service.post("/api/experiments", body).await.refusal(400);
        assert!(refused.contains(&format!("unknown key `{field}`")), "{refused}");
    }
    let mut body = plain.clone();
    body["control"] = 0.into();
    let refused = service.post("/api/experiments", body).await.refusal(400);
    assert!(refused.contains("unknown key `control`"), "{refused}");
    service.post("/api/experiments", plain).await.expect(201);
}
