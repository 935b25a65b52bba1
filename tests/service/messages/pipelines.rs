use pushplan::service::state::PushType;
use serde_json::{Value, json};

use super::harness::{Service, time, to_all};

const NOW: &str = "2026-11-27T08:00:00Z";

fn on_tag(delay: Option<u64>) -> Value {
    let mut outcome = json!({
        "push": { "audience": "triggered", "device_types": ["ios"], "notification": { "alert": "Still there?" } },
    });
    if let Some(delay) = delay {
        outcome["delay"] = delay.into();
    }
    json!({ "name": "Cart", "enabled": true, "immediate_trigger": { "tag_added": "cart" }, "outcome": outcome })
}

async fn created(service: &Service, pipeline: Value) -> String {
    service.post("/api/pipelines", pipeline).await.expect(201)["pipeline_urls"][0].as_str().expect("a URL").to_owned()
}

#[tokio::test]
async fn a_tag_sets_off_a_push_to_that_device_alone() {
    let service = Service::at(NOW).await;
    for (id, device_type) in [("a", "ios"), ("b", "ios"), ("c", "android")] {
        service.device(id, device_type).await;
    }
    let url = created(&service, on_tag(None)).await;
    service.tag("a", "cart").await;
    service.tag("a", "cart").await;
    service.tag("c", "cart").await;
    service.tag("b", "other").await;
    assert_eq!(service.shown("a"), ["Still there?"]);
    assert!(service.got("b").is_empty());
    assert!(service.got("c").is_empty(), "not among the device types");
    let sent = service.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].push_type, PushType::UnicastPush);
    assert_eq!(sent[0].group_id.as_deref(), url.rsplit('/').next());
}

#[tokio::test]
async fn a_tag_that_comes_in_several_groups_at_once_sets_a_pipeline_off_once() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    let mut pipeline = on_tag(None);
    let in_group = |group: &str| json!({ "tag_added": { "tag": "cart", "group": group } });
    pipeline["immediate_trigger"] = json!([in_group("shop"), in_group("app")]);
    created(&service, pipeline).await;
    let tags = json!({ "shop": ["cart", "other"], "app": ["cart"] });
    let body = json!({ "audience": { "ios_channel": "a" }, "add": tags });
    service.post("/api/channels/tags", body).await.expect(200);
    assert_eq!(service.shown("a"), ["Still there?"]);
}

/// A tag without a group is one of the device itself, whose group has the name `device`, in triggers as in audiences.
#[tokio::test]
async fn a_trigger_without_a_group_means_the_tags_of_the_device_itself() {
    let service = Service::at(NOW).await;
    let removed = |group: &str| json!({ "tag_removed": { "tag": "cart", "group": group } });
    let triggers = [
        ("plain", json!({ "tag_added": "cart" })),
        ("device", json!({ "tag_added": { "tag": "cart", "group": "device" } })),
        ("shop", json!({ "tag_added": { "tag": "cart", "group": "shop" } })),
        ("plain again", json!({ "tag_removed": "cart" })),
        ("device again", removed("device")),
        ("shop again", removed("shop")),
    ];
    for (name, trigger) in &triggers {
        let mut pipeline = on_tag(None);
        pipeline["immediate_trigger"] = trigger.clone();
        pipeline["outcome"]["push"]["notification"]["alert"] = (*name).into();
        created(&service, pipeline).await;
    }
    let both = [["plain", "device"], ["plain again", "device again"]];
    let grouped = [["shop"], ["shop again"]];
    for (id, group, expected) in
        [("a", "shop", &grouped.concat()), ("b", "device", &both.concat()), ("c", "other", &Vec::new())]
    {
        service.device(id, "ios").await;
        for verb in ["add", "remove"] {
            let body = json!({ "audience": { "ios_channel": id }, verb: { group: ["cart"] } });
            service.post("/api/channels/tags", body).await.expect(200);
        }
        let mut shown = service.shown(id);
        shown.sort();
        let mut expected: Vec<&str> = expected.clone();
        expected.sort_unstable();
        assert_eq!(shown, expected, "{group}");
    }
    // A named user's tags reach its devices in the same way.
    service.device("d", "ios").await;
    let association = json!({ "channel_id": "d", "device_type": "ios", "named_user_id": "user-1" });
    service.post("/api/named_users/associate", association).await.expect(200);
    let body = json!({ "audience": { "named_user_id": "user-1" }, "add": { "device": ["cart"] } });
    service.post("/api/named_users/tags", body).await.expect(200);
    let mut shown = service.shown("d");
    shown.sort();
    assert_eq!(shown, ["device", "plain"]);
    let user = service.get("/api/named_users/?id=user-1").await.expect(200);
    assert_eq!(user["named_user"]["tags"], json!({ "device": ["cart"] }));
}

#[tokio::test]
async fn both_forms_of_a_delay_are_waited_for() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    created(&service, on_tag(Some(3_600))).await;
    let mut newer = on_tag(None);
    newer["timing"] = json!({ "delay": { "seconds": 7_200 } });
    newer["outcome"] = json!([newer["outcome"]]);
    newer["immediate_trigger"] = json!([{ "tag_added": { "tag": "cart" } }]);
    created(&service, newer).await;
    service.tag("a", "cart").await;
    service.move_clock("2026-11-27T08:59:59Z").await;
    assert!(service.got("a").is_empty());
    service.move_clock("2026-11-28T00:00:00Z").await;
    let times: Vec<_> = service.got("a").iter().map(|receipt| receipt.time).collect();
    assert_eq!(times, [time("2026-11-27T09:00:00Z"), time("2026-11-27T10:00:00Z")]);
}

#[tokio::test]
async fn the_first_opening_of_the_app_sets_off_a_push() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    let mut pipeline = on_tag(None);
    pipeline["immediate_trigger"] = "first_open".into();
    created(&service, pipeline).await;
    service
        .change(|app, now| {
            let number = app.devices.by_id("a").expect("the device");
            app.first_opened(number, now);
        })
        .await;
    assert_eq!(service.shown("a"), ["Still there?"]);
}

#[tokio::test]
async fn what_a_deleted_or_disabled_pipeline_was_about_to_send_is_not_sent() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    let deleted = created(&service, on_tag(Some(60))).await;
    let disabled = created(&service, on_tag(Some(60))).await;
    let mut idle = on_tag(None);
    idle["enabled"] = false.into();
    created(&service, idle).await;
    service.tag("a", "cart").await;
    service.delete(&deleted).await.expect(204);
    service.delete(&deleted).await.refusal(404);
    let mut off = on_tag(Some(60));
    off["enabled"] = false.into();
    service.put(&disabled, off).await.expect(200);
    service.move_clock("2026-11-27T09:00:00Z").await;
    assert!(service.got("a").is_empty());
    assert!(service.sent().is_empty());
}

#[tokio::test]
async fn pipelines_are_listed_newest_first_and_by_whether_they_are_enabled() {
    let service = Service::documented(NOW).await;
    let mut many = Vec::new();
    for number in 0..5 {
        let mut pipeline = on_tag(None);
        pipeline["name"] = format!("p{number}").into();
        pipeline["enabled"] = (number % 2 == 0).into();
        many.push(pipeline);
    }
    let answer = service.post("/api/pipelines/", json!(many)).await.expect(201);
    assert_eq!(answer["pipeline_urls"].as_array().expect("URLs").len(), 5);
    let names = |page: &Value| {
        let all = page["pipelines"].as_array().expect("pipelines").iter();
        all.map(|one| one["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    let all = service.get("/api/pipelines").await.expect(200);
    assert_eq!(names(&all), ["p4", "p3", "p2", "p1", "p0"]);
    let mut expected = many[4].clone();
    let url = &answer["pipeline_urls"][4];
    for (key, value) in [
        ("uid", json!(url.as_str().expect("a URL").rsplit('/').next())),
        ("url", url.clone()),
        ("status", json!("live")),
        ("creation_time", json!("2026-11-27T08:00:00.000Z")),
        ("last_modified_time", json!("2026-11-27T08:00:00.000Z")),
    ] {
        expected[key] = value;
    }
    assert_eq!(all["pipelines"][0], expected);
    assert_eq!(names(&service.get("/api/pipelines?enabled=False").await.expect(200)), ["p3", "p1"]);
    let first = service.get("/api/pipelines/?enabled=true&limit=2").await.expect(200);
    assert_eq!(names(&first), ["p4", "p2"]);
    let second = service.get(first["next_page"].as_str().expect("a URL")).await.expect(200);
    assert_eq!(names(&second), ["p0"]);
    assert!(second.get("next_page").is_none());
    service.get("/api/pipelines?enabled=maybe").await.refusal(400);
    let url = url.as_str().expect("a URL");
    service.get(url).await.refusal(404);
    service.put(url, on_tag(None)).await.refusal(404);
}

#[tokio::test]
async fn a_pipeline_is_replaced_as_a_whole_and_keeps_its_place() {
    let service = Service::at(NOW).await;
    let first = created(&service, on_tag(None)).await;
    created(&service, on_tag(None)).await;
    service.move_clock("2026-11-27T09:00:00Z").await;
    let mut changed = on_tag(Some(60));
    changed.as_object_mut().expect("a pipeline").remove("name");
    service.put(&first, changed).await.expect(200);
    let read = service.get(&first).await.expect(200);
    assert!(read["pipeline"].get("name").is_none());
    assert_eq!(read["pipeline"]["creation_time"], "2026-11-27T08:00:00.000Z");
    assert_eq!(read["pipeline"]["last_modified_time"], "2026-11-27T09:00:00.000Z");
    let all = service.get("/api/pipelines").await.expect(200);
    assert_eq!(all["pipelines"][1]["url"], first.as_str());
    service.put("/api/pipelines/none", on_tag(None)).await.refusal(404);
}

#[tokio::test]
async fn a_pipeline_that_cannot_be_is_refused() {
    let service = Service::at(NOW).await;
    let with = |key: &str, value: Value| {
        let mut pipeline = on_tag(None);
        pipeline[key] = value;
        pipeline
    };
    let mut negative = on_tag(None);
    negative["outcome"]["delay"] = (-1).into();
    let mut worded = on_tag(None);
    worded["outcome"]["delay"] = "1h".into();
    for (body, expected) in [
        (with("outcome", json!({ "push": to_all("x") })), "`triggered`"),
        (with("outcome", json!([])), "at least one outcome"),
        (with("immediate_trigger", json!([])), "at least one trigger"),
        (with("immediate_trigger", json!("frist_open")), "not a trigger"),
        (with("uid", json!("x")), "unknown key `uid`"),
        (with("enabled", json!("yes")), "true or false"),
        (negative, "negative"),
        (worded, "not a duration"),
        (json!([on_tag(None), {}]), "is missing"),
    ] {
        for path in ["/api/pipelines/validate", "/api/pipelines"] {
            let refused = service.post(path, body.clone()).await.refusal(400);
            assert!(refused.contains(expected), "{refused}");
        }
    }
    assert_eq!(service.get("/api/pipelines").await.expect(200)["pipelines"], json!([]));
    service.post("/api/pipelines", with("activation_time", json!("2027-01-01T00:00:00"))).await.expect(201);
}

/// A pipeline with a trigger that only the live service supports.
fn on(trigger: Value) -> Value {
    let mut pipeline = on_tag(None);
    pipeline["immediate_trigger"] = trigger;
    pipeline
}

async fn untag(service: &Service, device: &str, tag: &str) {
    service
        .change(|app, now| {
            let number = app.devices.by_id(device).expect("the device");
            app.change_tags(number, now, |tags| tags.values_mut().for_each(|tags| drop(tags.take(tag))));
        })
        .await;
}

#[tokio::test]
async fn a_tag_that_is_gone_sets_off_a_push() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    created(&service, on(json!({ "tag_removed": "cart" }))).await;
    created(&service, on(json!([{ "tag_removed": { "tag": "cart", "group": "crm" } }]))).await;
    service.tag("a", "cart").await;
    service.tag("a", "other").await;
    untag(&service, "a", "other").await;
    assert!(service.got("a").is_empty());
    untag(&service, "a", "cart").await;
    untag(&service, "a", "cart").await;
    assert_eq!(service.got("a").len(), 1, "it was without a group, and is gone once");
}

#[tokio::test]
async fn every_opening_sets_off_a_push_that_waits_for_one() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    created(&service, on("open".into())).await;
    for opened in 1..=3 {
        service.change(|app, now| app.opened(app.devices.by_id("a").expect("the device"), now, 0)).await;
        assert_eq!(service.got("a").len(), opened);
    }
}

#[tokio::test]
async fn only_the_first_opt_in_sets_off_a_push() {
    let service = Service::at(NOW).await;
    created(&service, on(json!({ "first_opt_in": {} }))).await;
    for (opt_in, got) in [(false, 0), (true, 1), (false, 1), (true, 1)] {
        let device = json!({ "device_type": "ios", "opt_in": opt_in });
        let reply = service.put("/local/devices/new", device).await;
        assert!(reply.status < 300, "{}", reply.body);
        assert_eq!(service.got("new").len(), got, "opt_in: {opt_in}");
    }
}

#[tokio::test]
async fn a_pipeline_is_set_off_between_its_times() {
    let service = Service::at(NOW).await;
    let mut pipeline = on_tag(None);
    pipeline["activation_time"] = "2026-11-27T09:00:00".into();
    pipeline["deactivation_time"] = "2026-11-27T10:00:00Z".into();
    created(&service, pipeline.clone()).await;
    for (id, at, got) in [("early", "08:59:59", 0), ("a", "09:00:00", 1), ("b", "09:59:59", 1), ("late", "10:00:00", 0)]
    {
        service.move_clock(&format!("2026-11-27T{at}Z")).await;
        service.device(id, "ios").await;
        service.tag(id, "cart").await;
        assert_eq!(service.got(id).len(), got, "{id}");
    }
    pipeline["activation_time"] = "soon".into();
    let refused = service.post("/api/pipelines", pipeline).await.expect(400);
    assert_eq!(refused["details"]["path"], "activation_time");
}

#[tokio::test]
async fn what_waits_is_called_off_for_that_device_alone() {
    let service = Service::at(NOW).await;
    let mut pipeline = on_tag(Some(3_600));
    pipeline["cancellation_trigger"] = json!({ "tag_added": "bought" });
    created(&service, pipeline).await;
    for id in ["a", "b"] {
        service.device(id, "ios").await;
        service.tag(id, "cart").await;
    }
    service.tag("a", "bought").await;
    service.move_clock("2026-11-27T12:00:00Z").await;
    assert!(service.got("a").is_empty());
    assert_eq!(service.shown("b"), ["Still there?"]);
}

#[tokio::test]
async fn the_status_of_a_pipeline_follows_its_times() {
    let service = Service::at(NOW).await;
    let mut pipeline = on_tag(Some(3_600));
    pipeline["activation_time"] = "2026-11-27T09:00:00".into();
    pipeline["deactivation_time"] = "2026-11-27T12:00:00".into();
    let url = created(&service, pipeline.clone()).await;
    service.device("a", "ios").await;
    for (at, status) in [("08:59:59", "pending"), ("09:00:00", "live"), ("11:59:59", "live"), ("12:00:00", "completed")]
    {
        service.move_clock(&format!("2026-11-27T{at}Z")).await;
        assert_eq!(service.get(&url).await.expect(200)["pipeline"]["status"], status);
        assert_eq!(service.get("/api/pipelines").await.expect(200)["pipelines"][0]["status"], status);
        service.tag("a", "cart").await;
        untag(&service, "a", "cart").await;
    }
    service.move_clock("2026-11-27T14:00:00Z").await;
    assert_eq!(service.got("a").len(), 1, "the last one would have come after the end");
    pipeline["enabled"] = false.into();
    service.put(&url, pipeline).await.expect(200);
    assert_eq!(service.get(&url).await.expect(200)["pipeline"]["status"], "disabled");
}

#[tokio::test]
async fn a_field_that_the_contract_lacks_is_refused_at_level_documented() {
    let service = Service::documented(NOW).await;
    for (key, value) in [
        ("historical_trigger", json!({ "event": "open", "equals": 0, "days": 30 })),
        ("constraint", json!([{ "rate": { "pushes": 1, "days": 1 } }])),
        ("cancellation_trigger", json!({ "tag_added": "bought" })),
        ("condition", json!([{ "or": [{ "tag": { "tag_name": "vip" } }] }])),
        ("activation_time", json!("2027-01-01T00:00:00")),
        ("deactivation_time", json!("2027-01-01T00:00:00")),
    ] {
        let mut pipeline = on_tag(None);
        pipeline[key] = value;
        let refused = service.post("/api/pipelines", pipeline).await.refusal(400);
        assert!(refused.contains(&format!("unknown key `{key}`")), "{refused}");
    }
    let mut pipeline = on_tag(None);
    pipeline["timing"] = json!({ "schedule": office_hours("local", "wait") });
    let refused = service.post("/api/pipelines", pipeline).await.refusal(400);
    assert!(refused.contains("unknown key `schedule`"), "{refused}");
}

/// From 09:00 to 17:00 on Fridays.
fn office_hours(kind: &str, miss: &str) -> Value {
    let times = json!([{ "start": "09:00:00", "end": "17:00:00" }]);
    let dayparts = json!([{ "days_of_week": ["friday"], "allowed_times": times }]);
    json!({ "type": kind, "miss_behavior": miss, "dayparts": dayparts })
}

/// Each zone has its own 09:00. A device without a zone has none.
#[tokio::test]
async fn each_device_gets_a_message_at_the_hours_of_its_own_zone() {
    let zones = [
        ("tokyo", Some("Asia/Tokyo"), "2026-11-27T00:00:00Z"),
        ("paris", Some("Europe/Paris"), "2026-11-27T08:00:00Z"),
        ("la", Some("America/Los_Angeles"), "2026-11-27T17:00:00Z"),
        ("none", None, ""),
        ("wrong", Some("Europe/Atlantis"), ""),
    ];
    for (kind, miss) in [("local", "wait"), ("local", "cancel"), ("utc", "wait"), ("utc", "cancel")] {
        let service = Service::at("2026-11-26T20:00:00Z").await;
        let mut pipeline = on_tag(None);
        pipeline["timing"] = json!({ "schedule": office_hours(kind, miss) });
        created(&service, pipeline).await;
        for (id, zone, _) in zones {
            service.device_with(id, "ios", |device| device.properties.timezone = zone.map(str::to_owned)).await;
            service.tag(id, "cart").await;
        }
        service.move_clock("2026-12-04T00:00:00Z").await;
        for (id, _, at) in zones {
            let expected = match (kind, miss) {
                (_, "cancel") => "",
                ("utc", _) => "2026-11-27T09:00:00Z",
                _ => at,
            };
            let times: Vec<String> = service.got(id).iter().map(|receipt| receipt.time.to_string()).collect();
            let expected: Vec<&str> = (!expected.is_empty()).then_some(expected).into_iter().collect();
            assert_eq!(times, expected, "{kind} {miss} {id}");
        }
    }
}
