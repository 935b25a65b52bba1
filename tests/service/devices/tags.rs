use reqwest::Method;
use serde_json::{Value, json};

use super::{Service, many};

#[tokio::test]
async fn tags_are_added_removed_and_set_group_by_group() {
    let service = Service::with(&[("a", "ios"), ("b", "android"), ("c", "web")]).await;
    let path = "/api/channels/tags";
    let both = json!({ "ios_channel": "a", "android_channel": ["b"] });
    service.ok(path, json!({ "audience": both, "add": { "crm": ["x", "y"], "loyalty": ["gold"] } })).await;
    for id in ["a", "b"] {
        assert_eq!(service.tags(id, "crm").await, json!(["x", "y"]));
    }
    let one = json!({ "ios_channel": "a" });
    service.ok(path, json!({ "audience": one, "add": { "crm": ["z"] }, "remove": { "crm": ["x", "none"] } })).await;
    assert_eq!(service.tags("a", "crm").await, json!(["y", "z"]));
    service.ok(path, json!({ "audience": one, "set": { "crm": ["only"] } })).await;
    assert_eq!(service.tags("a", "crm").await, json!(["only"]));
    assert_eq!(service.tags("a", "loyalty").await, json!(["gold"]), "a group that is not named stays");
    service.ok(path, json!({ "audience": one, "set": { "crm": [] } })).await;
    assert_eq!(service.tags("a", "crm").await, Value::Null);
    service.ok(path, json!({ "audience": { "channel": ["c", "a"] }, "add": { "crm": ["any"] } })).await;
    assert_eq!(service.tags("c", "crm").await, json!(["any"]));
    assert_eq!(service.tags("b", "crm").await, json!(["x", "y"]), "nobody else's tags change");
}

#[tokio::test]
async fn a_change_of_tags_that_breaks_a_rule_changes_nothing() {
    let service = Service::with(&[("a", "ios"), ("b", "ios")]).await;
    let path = "/api/channels/tags";
    service.ok(path, json!({ "audience": { "ios_channel": "a" }, "set": { "crm": ["x"] } })).await;
    let two = json!({ "ios_channel": ["a", "b"] });
    let tags = json!({ "crm": ["new"] });
    let refused = [
        (json!({ "audience": two }), 40001),
        (json!({ "audience": two, "set": tags, "add": tags }), 40001),
        (json!({ "audience": two, "set": tags, "remove": tags }), 40001),
        (json!({ "audience": two, "add": {} }), 40001),
        (json!({ "audience": two, "add": { "crm": "new" } }), 40000),
        (json!({ "audience": two, "add": { "crm": [1] } }), 40000),
        (json!({ "audience": two, "add": tags, "put": tags }), 40000),
        (json!({ "audience": {}, "add": tags }), 40001),
        (json!({ "add": tags }), 40000),
        (json!({ "audience": { "ios_channel": ["a", "none"] }, "add": tags }), 40404),
        (json!({ "audience": { "ios_channel": "a", "android_channel": "b" }, "add": tags }), 40404),
        (json!({ "audience": two, "add": { "crm": [""] } }), 40001),
        (json!({ "audience": two, "add": { "crm": ["é".repeat(129)] } }), 40001),
        (json!({ "audience": two, "add": { "": ["x"] } }), 40001),
        (json!({ "audience": two, "add": { "crm": ["x"], "ua_opt_in": ["true"] } }), 40001),
        (json!({ "audience": two, "set": { "timezone": ["UTC"] } }), 40001),
        (json!({ "audience": two, "add": { "crm": many("t", 101) } }), 41301),
        (json!([]), 40000),
    ];
    for (body, code) in refused {
        service.refused(path, body, code).await;
    }
    service.ok(path, json!({ "audience": two, "add": { "crm": [("é").repeat(128)] } })).await;
}

#[tokio::test]
async fn a_channel_has_at_most_a_thousand_tags() {
    let service = Service::with(&[("a", "ios")]).await;
    let (path, one) = ("/api/channels/tags", json!({ "ios_channel": "a" }));
    for n in 0..10 {
        service.ok(path, json!({ "audience": one, "add": { format!("g{n}"): many("t", 100) } })).await;
    }
    service.refused(path, json!({ "audience": one, "add": { "g0": ["one more"] } }), 41301).await;
    service.refused("/api/tags/more", json!({ "ios_channels": { "add": ["a"] } }), 41301).await;
    let instead = json!({ "audience": one, "add": { "g0": ["one more"] }, "remove": { "g0": ["t0000"] } });
    service.ok(path, instead).await;
}

/// Tag groups are created in a dashboard. If they are known, the tags of another one are left out, with a warning.
#[tokio::test]
async fn tags_of_an_unknown_group_are_left_out_with_a_warning() {
    let service = Service::with(&[("a", "ios")]).await;
    let known = service.send(Method::PUT, "/local/tag-groups", Some(&json!({ "tag_groups": ["crm"] }))).await;
    assert_eq!((known.status, known.body), (200, json!({ "tag_groups": ["crm"] })));
    let tags = json!({ "crm": ["vip"], "crn": ["vip"], "device": ["beta"], "loyality": ["gold"] });
    let sent = json!({ "audience": { "ios_channel": "a" }, "set": tags });
    let answer = service.post("/api/channels/tags", sent).await;
    let warnings =
        ["crn", "loyality"].map(|group| format!("the tag group `{group}` does not exist; its tags were left out"));
    assert_eq!((answer.status, &answer.body), (200, &json!({ "ok": true, "warnings": warnings })));
    assert_eq!(service.channel("a").await["tag_groups"]["crm"], json!(["vip"]));
    assert_eq!(service.tags("a", "crn").await, Value::Null);
    assert_eq!(service.tags("a", "").await, json!(["beta"]));

    let sent = json!({ "audience": { "named_user_id": "user-1" }, "add": { "crn": "a", "crm": "b", "x": "c" } });
    let answer = service.post("/api/named_users/tags", sent).await;
    assert_eq!((answer.status, &answer.body), (200, &json!({ "ok": true, "tag_warnings": "crn,x" })));
    let user = service.get("/api/named_users/?id=user-1").await.body;
    assert_eq!(user["named_user"]["tags"], json!({ "crm": ["b"] }));

    // Without a list, every name is a tag group.
    service.send(Method::PUT, "/local/tag-groups", Some(&json!({ "tag_groups": null }))).await;
    service.ok("/api/channels/tags", json!({ "audience": { "ios_channel": "a" }, "add": { "crn": ["vip"] } })).await;
    assert_eq!(service.tags("a", "crn").await, json!(["vip"]));
    for wrong in [json!({ "tag_groups": ["ua_opt_in"] }), json!({ "tag_groups": "crm" }), json!({ "groups": [] })] {
        let answer = service.send(Method::PUT, "/local/tag-groups", Some(&wrong)).await;
        assert_eq!(answer.status, 400, "{wrong}: {answer:?}");
    }
}
