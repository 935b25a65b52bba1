//! The members of audiences, and the reasons.

use serde_json::{Value, json};

use super::harness::{APP, Service};

#[tokio::test]
async fn an_audience_is_counted_and_its_first_members_are_named() {
    let service = Service::start().await;
    for number in 0..120 {
        let kind = if number < 100 { "ios" } else { "android" };
        let device = json!({"device_type": kind, "opt_in": number % 2 == 0, "tags": ["x"]});
        service.put(&format!("d{number:03}"), &device).await;
    }
    let all = service.post("/audience", &json!({"audience": {"tag": "x"}})).await;
    assert_eq!((&all["count"], &all["reachable"]), (&json!(120), &json!(60)));
    let named = all["devices"].as_array().unwrap();
    assert_eq!((named.len(), named[0].as_str()), (100, Some("d000")));
    let some = service.post("/audience", &json!({"audience": "all", "device_types": ["android"]})).await;
    assert_eq!(some["count"], 20);
    for body in [json!({}), json!({"audience": "nobody"}), json!({"audience": "all", "device_types": ["x"]})] {
        assert_eq!(service.local("POST", "/audience", &body).await.0, 400, "{body}");
    }
}

#[tokio::test]
async fn why_a_device_is_in_or_out_is_told_in_words() {
    let service = Service::start().await;
    let device = json!({
        "device_type": "ios", "opt_in": false, "named_user": "ada",
        "tags": {"": ["vip"], "loyalty": ["gold", "early"]},
        "properties": {"country": "DE", "timezone": "Europe/Berlin", "os_version": "8.3"},
        "lists": ["l1"], "attributes": {"points": 5}, "seen_at": {"berlin": "2026-01-02T00:00:00Z"},
    });
    service.put("a", &device).await;
    let words = async |audience: Value| {
        let answer = service.post("/audience/explain", &json!({"audience": audience, "device": "a"})).await;
        assert_eq!(answer["in"], answer["why"]["holds"]);
        answer["why"]["words"].as_str().unwrap().to_owned()
    };
    let tag = |tag: &str, group: &str| json!({"tag": tag, "group": group});
    for (audience, says) in [
        (json!("all"), "everyone: yes"),
        (tag("US", "ua_locale_country"), "country = US: no, it is DE"),
        (tag("DE", "ua_locale_country"), "country = DE: yes"),
        (tag("en", "ua_locale_language"), "language = en: no, it is not known"),
        (tag("true", "ua_opt_in"), "opted in to notifications: no, it is not"),
        (tag("false", "ua_opt_in"), "not opted in to notifications: yes"),
        (tag("5.1.X", "ua_android_version"), "Android version = 5.1.X: no, its type is ios"),
        (tag("8.3.1", "ua_ios_version"), "iOS version = 8.3.1: no, it is 8.3.X"),
        (tag("UTC", "timezone"), "time zone = UTC: no, it is Europe/Paris, the nearest to Europe/Berlin"),
        (json!({"tag": "vip"}), "tag vip: yes"),
        (json!({"tag": "gold"}), "tag gold: no, it has it in the group loyalty"),
        (json!({"tag": "new"}), "tag new: no, it has vip"),
        (tag("silver", "loyalty"), "loyalty = silver: no, it has early and gold"),
        (tag("x", "none"), "none = x: no, it has none there"),
        (json!({"ios_channel": "b"}), "iOS channel b: no, it is a"),
        (json!({"android_channel": "a"}), "Android channel a: no, its type is ios"),
        (json!({"named_user": "ada"}), "named user ada: yes"),
        (json!({"named_user": "bob"}), "named user bob: no, its named user is ada"),
        (json!({"static_list": "l2"}), "static list l2: no, it is on l1"),
        (json!({"subscription_list": "s"}), "subscribed to s: no, it is on none"),
        (json!({"segment": "none"}), "segment none: no, there is no such segment"),
        (
            json!({"location": {"id": "berlin", "date": {"recent": {"months": 1}}}}),
            "seen at berlin in the last 1 month: no, it was last seen there at 2026-01-02T00:00:00Z",
        ),
        (json!({"attribute": "points", "operator": "equals", "value": 7}), "attribute points = 7: no, it is 5"),
    ] {
        assert_eq!(words(audience).await, says);
    }
}

#[tokio::test]
async fn compound_audiences_and_segments_are_explained_part_by_part() {
    let service = Service::start().await;
    service.put("a", &json!({"device_type": "ios", "opt_in": false, "tags": ["vip"]})).await;
    let segment = json!({"display_name": "Vips", "criteria": {"AND": [{"tag": "vip"}, {"NOT": {"tag": "banned"}}]}});
    let created = service.request("POST", "/api/segments").basic_auth(APP.0, Some(APP.1)).body(segment.to_string());
    let created: Value = serde_json::from_str(&created.send().await.unwrap().text().await.unwrap()).unwrap();
    let id = created["segment_id"].as_str().unwrap();
    let audience = json!({"OR": [{"tag": "new"}, {"AND": [{"segment": id}, {"segment": id}]}]});
    let answer = service.post("/audience/explain", &json!({"audience": audience, "device": "a"})).await;
    assert_eq!(answer["in"], true);
    assert_eq!(answer["reachable"], false);
    assert_eq!(answer["unreachable_because"], "it has not opted in to notifications");
    assert_eq!(answer["why"]["words"], "any of these: yes, 1 of 2 match");
    let both = &answer["why"]["conditions"][1];
    assert_eq!(both["words"], "all of these: yes, 2 of 2 match");
    let first = &both["conditions"][0];
    assert_eq!(first["words"], format!("segment Vips ({id}): yes"));
    let not = &first["conditions"][0]["conditions"][1];
    assert_eq!((&not["words"], &not["conditions"][0]["holds"]), (&json!("none of this: yes"), &json!(false)));
    assert!(both["conditions"][1].get("conditions").is_none(), "a segment is explained once");

    service.local("DELETE", "/devices/a", &Value::Null).await;
    let gone = service.post("/audience/explain", &json!({"audience": "all", "device": "a"})).await;
    assert_eq!(gone["in"], false);
    assert_eq!(gone["why"]["words"], "has the app: no, and a device without the app is in no audience");
    let unknown = json!({"audience": "all", "device": "b"});
    assert_eq!(service.local("POST", "/audience/explain", &unknown).await.0, 404);
}
