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
