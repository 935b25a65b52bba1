use serde_json::{Value, json};

use super::{Service, ids, many};

#[tokio::test]
async fn a_named_user_has_channels_and_tags() {
    let service = Service::with(&[("a", "ios"), ("b", "android")]).await;
    let (to, from) = ("/api/named_users/associate", "/api/named_users/disassociate/");
    let pair =
        |id: &str, kind: &str, user: &str| json!({ "channel_id": id, "device_type": kind, "named_user_id": user });
    assert_eq!(service.get("/api/named_users?id=ann").await.status, 404);
    service.ok(to, pair("a", "ios", "ann")).await;
    service.ok(to, pair("b", "android", "ann")).await;
    service
        .ok("/api/named_users/tags", json!({ "audience": { "named_user_id": "ann" }, "add": { "crm": "vip" } }))
        .await;
    let found = service.get("/api/named_users/?id=ann").await;
    let user = &found.body["named_user"];
    assert_eq!((found.status, &user["named_user_id"]), (200, &json!("ann")));
    assert_eq!(user["tags"], json!({ "crm": ["vip"] }));
    assert_eq!(ids(&user["channels"], "channel_id"), ["a", "b"]);
    assert_eq!(user["created"], "2026-11-27T09:00:00.000Z");
    assert_eq!(user["last_modified"], "2026-11-27T09:00:00.000Z");
    assert_eq!(service.channel("a").await["named_user_id"], "ann");
    assert_eq!(service.tags("a", "crm").await, Value::Null, "the tags are the user's");
    let vip = json!({ "tag": "vip", "group": "crm" });
    assert_eq!(service.audience(&vip), ["a", "b"], "and all its channels carry them");
    assert_eq!(service.audience(&json!({ "named_user": "ann" })), ["a", "b"]);

    service.ok(to, pair("a", "ios", "bob")).await;
    assert_eq!(service.channel("a").await["named_user_id"], "bob", "a channel has one named user");
    assert_eq!(service.audience(&vip), ["b"]);
    service.refused(from, pair("a", "ios", "ann"), 40001).await;
    service.ok(from, pair("a", "ios", "bob")).await;
    assert_eq!(service.channel("a").await["named_user_id"], Value::Null);
    let all = service.get("/api/named_users").await;
    assert_eq!(ids(&all.body["named_users"], "named_user_id"), ["ann", "bob"], "bob is known without a channel");
}

#[tokio::test]
async fn an_association_that_breaks_a_rule_changes_nothing() {
    let mut devices = many("d", 101);
    devices.push("z".into());
    let service = Service::with(&devices.iter().map(|id| (id.as_str(), "ios")).collect::<Vec<_>>()).await;
    let path = "/api/named_users/associate";
    let pair = |id: &str, user: &str| json!({ "channel_id": id, "device_type": "ios", "named_user_id": user });
    for user in ["", " ann", "ann\n", &"x".repeat(129)] {
        service.refused(path, pair("z", user), 40001).await;
        let tags = json!({ "audience": { "named_user_id": user }, "add": { "crm": ["x"] } });
        service.refused("/api/named_users/tags", tags, 40001).await;
    }
    service.refused(path, pair("none", "ann"), 40404).await;
    service.refused(path, json!({ "channel_id": "z", "device_type": "android", "named_user_id": "ann" }), 40404).await;
    service.refused(path, json!({ "channel_id": "z" }), 40000).await;
    assert_eq!(service.get("/api/named_users").await.body["named_users"], json!([]));
    service.ok(path, pair("z", &"é".repeat(128))).await;
    for id in &devices[..100] {
        service.ok(path, pair(id, "ann")).await;
    }
    service.refused(path, pair("d0100", "ann"), 41301).await;
    service.ok(path, pair("d0000", "ann")).await;
}

#[tokio::test]
async fn the_tags_of_a_named_user_follow_the_rules_of_channels() {
    let service = Service::new().await;
    let (path, ann) = ("/api/named_users/tags", json!({ "named_user_id": "ann" }));
    service.ok(path, json!({ "audience": ann, "remove": { "crm": "x" } })).await;
    assert_eq!(service.get("/api/named_users?id=ann").await.status, 404, "nothing to remove makes nobody");
    service.ok(path, json!({ "audience": ann, "add": { "crm": ["x", "y"], "loyalty": "gold" } })).await;
    service.ok(path, json!({ "audience": ann, "set": { "crm": "z" } })).await;
    let user = service.get("/api/named_users?id=ann").await;
    assert_eq!(user.body["named_user"]["tags"], json!({ "crm": ["z"], "loyalty": ["gold"] }));
    for (body, code) in [
        (json!({ "audience": ann }), 40001),
        (json!({ "audience": ann, "set": { "crm": "x" }, "add": { "crm": "x" } }), 40001),
        (json!({ "audience": ann, "add": { "ua_opt_in": "true" } }), 40001),
        (json!({ "audience": { "named_user": "ann" }, "add": { "crm": "x" } }), 40000),
        (json!({ "audience": { "named_user_id": [] }, "add": { "crm": "x" } }), 40001),
    ] {
        service.refused(path, body, code).await;
    }
    assert_eq!(service.get("/api/named_users?id=ann").await.body, user.body);
}

#[tokio::test]
async fn named_users_come_in_pages() {
    let service = Service::new().await;
    let names = ["a&b", "ann", "bob c", "é"];
    for name in names {
        let tags = json!({ "audience": { "named_user_id": name }, "add": { "crm": "x" } });
        service.ok("/api/named_users/tags", tags).await;
    }
    let (mut found, mut next) = (Vec::new(), Some("/api/named_users?limit=1".to_owned()));
    while let Some(path) = next {
        let page = service.get(&path).await;
        found.extend(ids(&page.body["named_users"], "named_user_id"));
        next = page.body["next_page"].as_str().map(str::to_owned);
        assert!(found.len() <= names.len(), "the pages go round");
    }
    assert_eq!(found, names);
}
