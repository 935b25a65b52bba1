use std::collections::BTreeMap;

use pushplan::service::state::devices::{Device, NO_GROUP, Properties};
use serde_json::{Value, json};

use super::{Service, ids, many, plain};

#[tokio::test]
async fn a_channel_is_looked_up_with_all_that_is_known_of_it() {
    let service = Service::new().await;
    let device = Device {
        push_address: Some("FE66489F".into()),
        named_user: Some("ann".into()),
        tags: BTreeMap::from([(NO_GROUP.into(), ["vip".into()].into()), ("crm".into(), ["new".into()].into())]).into(),
        properties: Properties { timezone: Some("Europe/Berlin".into()), ..Properties::default() }.into(),
        ..plain("web")
    };
    service.register("w1", device).await;
    let answer = service.get("/api/channels/w1").await;
    let expected = json!({
        "ok": true,
        "channel": {
            "channel_id": "w1",
            "device_type": "web",
            "installed": true,
            "opt_in": true,
            "background": false,
            "push_address": "FE66489F",
            "named_user_id": "ann",
            "tags": ["vip"],
            "tag_groups": {
                "crm": ["new"],
                "timezone": ["Europe/Paris"],
                "ua_opt_in": ["true"],
                "ua_background_enabled": ["false"],
                "ua_locale_language": ["Unknown"],
                "ua_locale_country": ["Unknown"],
            },
            "created": "2026-11-27T09:00:00.000Z",
            "last_registration": "2026-11-27T09:00:00.000Z",
        },
    });
    assert_eq!((answer.status, answer.body), (200, expected));
    let none = service.get("/api/channels/none").await;
    assert_eq!((none.status, &none.body["error_code"]), (404, &json!(40401)));
}

#[tokio::test]
async fn channels_come_in_pages_that_keep_every_parameter() {
    let all = many("d", 7);
    let service = Service::with(&all.iter().map(|id| (id.as_str(), "ios")).collect::<Vec<_>>()).await;
    let mut next = Some("/api/channels?limit=3&note=a%26b".to_owned());
    let mut pages = Vec::new();
    while let Some(path) = next {
        let page = service.get(&path).await;
        assert_eq!((page.status, &page.body["ok"]), (200, &json!(true)));
        pages.push(ids(&page.body["channels"], "channel_id"));
        next = page.body["next_page"].as_str().map(str::to_owned);
        if let Some(url) = &next {
            assert!(url.starts_with(&service.url("/api/channels?note=a%26b&limit=3&start=")), "{url}");
        }
    }
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 1]);
    assert_eq!(pages.concat(), all);
    assert_eq!(service.get("/api/channels?limit=many").await.status, 400);
    assert!(service.get("/api/channels/").await.body["next_page"].is_null());
}

#[tokio::test]
async fn a_page_of_channels_has_at_most_a_thousand() {
    let all = many("d", 1_001);
    let service = Service::with(&all.iter().map(|id| (id.as_str(), "web")).collect::<Vec<_>>()).await;
    let page = service.get("/api/channels?limit=5000").await;
    assert_eq!(page.body["channels"].as_array().map(Vec::len), Some(1_000));
    let rest = service.get(page.body["next_page"].as_str().expect("a second page")).await;
    assert_eq!(ids(&rest.body["channels"], "channel_id"), ["d1000"]);
}

#[tokio::test]
async fn channels_are_uninstalled_one_or_several_at_a_time() {
    let service = Service::with(&[("a", "ios"), ("b", "ios"), ("c", "android")]).await;
    let path = "/api/channels/uninstall/";
    let one = service.post(path, json!({ "channel_id": "a", "device_type": "ios" })).await;
    assert_eq!((one.status, one.body), (202, json!({ "ok": true })));
    let named = |id: &str, device_type: &str| json!({ "channel_id": id, "device_type": device_type });
    service.refused(path, json!([named("b", "ios"), named("none", "ios")]), 40404).await;
    service.refused(path, json!([named("b", "ios"), named("c", "ios")]), 40404).await;
    service.refused(path, json!([named("b", "ios"), { "channel_id": "c" }]), 40000).await;
    service.refused(path, json!([]), 40001).await;
    assert_eq!(service.post(path, json!([named("b", "ios"), named("c", "android")])).await.status, 202);
    for id in ["a", "b", "c"] {
        assert_eq!(service.channel(id).await["installed"], false, "{id}");
    }
    assert!(service.audience(&json!("all")).is_empty());
}

#[tokio::test]
async fn an_open_channel_is_made_once_per_address_and_then_changed() {
    let service = Service::new().await;
    let registration = |platform: &str, opt_in: bool, more: Value| {
        let mut channel = json!({
            "type": "open", "opt_in": opt_in, "address": "+1 555",
            "open": { "open_platform_name": platform, "identifiers": { "account": "7" } },
        });
        channel.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        json!({ "channel": channel })
    };
    let details = json!({
        "tags": ["vip", "new"], "timezone": "America/Denver", "locale_country": "US", "locale_language": "en",
    });
    let made = service.post("/api/channels/open", registration("sms", true, details)).await;
    let id = made.body["channel_id"].as_str().expect("an id").to_owned();
    let shown = service.channel(&id).await;
    assert_eq!((made.status, &made.body), (200, &json!({ "ok": true, "channel_id": id, "channel": shown })));
    assert_eq!(made.location, Some(service.url(&format!("/api/channels/{id}"))));

    let changed = service.post("/api/channels/open/", registration("sms", false, json!({ "tags": ["old"] }))).await;
    assert_eq!((changed.status, changed.body["channel_id"].as_str()), (200, Some(id.as_str())));
    let channel = service.channel(&id).await;
    assert_eq!(channel["device_type"], "open");
    assert_eq!((&channel["opt_in"], &channel["address"]), (&json!(false), &json!("+1 555")));
    assert_eq!(channel["tags"], json!(["old"]), "the list that was sent last");
    assert_eq!(channel["tag_groups"]["timezone"], json!(["America/Denver"]), "what was left out stays");
    assert_eq!(channel["open"], json!({ "open_platform_name": "sms", "identifiers": { "account": "7" } }));

    let other = service.post("/api/channels/open", registration("chat", true, json!({}))).await;
    assert_ne!(other.body["channel_id"].as_str(), Some(id.as_str()), "another platform");

    let gone = json!({ "address": "+1 555", "open_platform_name": "sms" });
    let answer = service.post("/api/channels/open/uninstall", gone.clone()).await;
    assert_eq!((answer.status, answer.body), (202, json!({ "ok": true })));
    assert_eq!(service.channel(&id).await["installed"], false);
    assert_eq!(service.channel(other.body["channel_id"].as_str().expect("an id")).await["installed"], true);
    let unknown = json!({ "address": "+1 555", "open_platform_name": "fax" });
    service.refused("/api/channels/open/uninstall", unknown, 40404).await;

    let again = service.post("/api/channels/open", registration("sms", true, json!({}))).await;
    assert_eq!(again.body["channel_id"].as_str(), Some(id.as_str()), "it comes back as itself");
    assert_eq!(service.channel(&id).await["installed"], true);
}

#[tokio::test]
async fn an_open_channel_that_makes_no_sense_is_refused() {
    let service = Service::new().await;
    let right = json!({ "type": "open", "opt_in": true, "address": "a", "open": { "open_platform_name": "sms" } });
    let long = "x".repeat(129);
    let wrong = [
        ("type", json!("ios"), 40001),
        ("opt_in", json!("true"), 40000),
        ("address", json!(""), 40001),
        ("open", json!({}), 40000),
        ("open", json!({ "open_platform_name": "" }), 40001),
        ("tags", json!([long]), 40001),
        ("tags", json!(many("t", 1_001)), 41301),
        ("set_tags", json!(true), 40000),
    ];
    for (key, value, code) in wrong {
        let mut channel = right.clone();
        channel[key] = value;
        service.refused("/api/channels/open", json!({ "channel": channel }), code).await;
    }
    service.refused("/api/channels/open", right, 40000).await;
}
