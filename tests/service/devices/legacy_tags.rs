use reqwest::Method;
use serde_json::{Value, json};

use super::{Service, many};

impl Service {
    async fn put(&self, path: &str, body: Option<Value>) -> u16 {
        self.send(Method::PUT, path, body.as_ref()).await.status
    }

    async fn delete(&self, path: &str) -> u16 {
        self.send(Method::DELETE, path, None).await.status
    }

    async fn listed(&self) -> Value {
        let answer = self.get("/api/tags/").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.body.as_object().map(serde_json::Map::len), Some(1), "nothing beside the tags");
        answer.body["tags"].clone()
    }
}

#[tokio::test]
async fn a_tag_is_made_once_and_listed_and_deleted() {
    let service = Service::with(&[("a", "ios")]).await;
    assert_eq!(service.listed().await, json!([]));
    assert_eq!(service.put("/api/tags/some%20tag", None).await, 201);
    assert_eq!(service.put("/api/tags/some%20tag/", None).await, 200);
    assert_eq!(service.put(&format!("/api/tags/{}", "x".repeat(129)), None).await, 400);
    assert_eq!(service.listed().await, json!(["some tag"]));
    assert_eq!(service.delete("/api/tags/some%20tag").await, 204);
    assert_eq!(service.delete("/api/tags/some%20tag").await, 404);
    assert_eq!(service.listed().await, json!([]));
}

#[tokio::test]
async fn one_request_deletes_a_tag_from_more_devices_than_are_changed_without_a_pause() {
    let ids: Vec<String> = (0..1201).map(|n| format!("phone-{n}")).collect();
    let devices: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "ios")).collect();
    let service = Service::with(&devices).await;
    for some in ids.chunks(1000) {
        service.ok("/api/tags/vip", json!({ "ios_channels": { "add": some } })).await;
    }
    assert_eq!(service.tags("phone-1200", "").await, json!(["vip"]));
    assert_eq!(service.delete("/api/tags/vip").await, 204);
    for id in ["phone-0", "phone-499", "phone-500", "phone-1000", "phone-1200"] {
        assert_eq!(service.tags(id, "").await, json!([]), "{id}");
    }
    assert_eq!(service.listed().await, json!([]));
    assert_eq!(service.delete("/api/tags/vip").await, 404);
}

#[tokio::test]
async fn a_tag_is_put_on_channels_and_taken_off() {
    let service = Service::with(&[("a", "ios"), ("b", "android"), ("c", "amazon")]).await;
    let path = "/api/tags/vip";
    let moves = json!({
        "ios_channels": { "add": ["a"] }, "android_channels": { "add": ["b"] }, "amazon_channels": { "add": ["c"] },
    });
    service.ok(path, moves).await;
    for id in ["a", "b", "c"] {
        assert_eq!(service.tags(id, "").await, json!(["vip"]), "{id}");
    }
    assert_eq!(service.put(path, None).await, 200, "a tag that a device carries exists");
    service.ok("/api/tags/new/", json!({ "ios_channels": { "add": ["a"], "remove": ["a"] } })).await;
    service.ok(path, json!({ "ios_channels": { "remove": ["a"] } })).await;
    assert_eq!(service.tags("a", "").await, json!([]));
    assert_eq!(service.tags("b", "").await, json!(["vip"]));
    service.refused(path, json!({ "ios_channels": { "add": ["a", "none"] } }), 40404).await;
    service.refused(path, json!({ "ios_channels": { "add": ["a", "b"] } }), 40404).await;
    service.refused(path, json!({ "ios_channels": {} }), 40001).await;
    service.refused(path, json!({}), 40001).await;
    service.refused(path, json!({ "web_channels": { "add": ["a"] } }), 40000).await;
}

#[tokio::test]
async fn deleting_a_tag_takes_it_off_all_devices_and_leaves_groups_alone() {
    let service = Service::with(&[("a", "ios"), ("b", "ios")]).await;
    service.ok("/api/tags/vip", json!({ "ios_channels": { "add": ["a", "b"] } })).await;
    service.ok("/api/tags/new", json!({ "ios_channels": { "add": ["a"] } })).await;
    service.ok("/api/channels/tags", json!({ "audience": { "ios_channel": "a" }, "add": { "crm": ["vip"] } })).await;
    assert_eq!(service.delete("/api/tags/vip").await, 204);
    assert_eq!(service.tags("a", "").await, json!(["new"]));
    assert_eq!(service.tags("b", "").await, json!([]));
    assert_eq!(service.tags("a", "crm").await, json!(["vip"]));
    assert_eq!(service.listed().await, json!(["new"]));
    assert_eq!(service.delete("/api/tags/vip").await, 404);
}

#[tokio::test]
async fn the_first_hundred_tags_are_listed_in_order() {
    let service = Service::with(&[("a", "ios")]).await;
    service.ok("/api/tags/batch", json!([{ "ios_channel": "a", "tags": many("b", 80) }])).await;
    for tag in many("a", 10).iter().chain(&many("c", 20)) {
        assert_eq!(service.put(&format!("/api/tags/{tag}"), None).await, 201);
    }
    let expected = [many("a", 10), many("b", 80), many("c", 10)].concat();
    assert_eq!(service.listed().await, json!(expected));
}

#[tokio::test]
async fn a_batch_gives_each_device_exactly_its_list() {
    let service = Service::with(&[("a", "ios"), ("b", "android"), ("c", "amazon")]).await;
    service.ok("/api/channels/tags", json!({ "audience": { "ios_channel": "a" }, "add": { "crm": ["x"] } })).await;
    let batch = json!([
        { "ios_channel": "a", "tags": ["one", "two", "one"] },
        { "android_channel": "b", "tags": ["three"] },
        { "amazon_channel": "c", "tags": [] },
    ]);
    assert_eq!(service.put("/api/tags/batch", Some(batch)).await, 200);
    assert_eq!(service.tags("a", "").await, json!(["one", "two"]));
    assert_eq!(service.tags("a", "crm").await, json!(["x"]), "tags in groups are not meant");
    let again = json!([{ "ios_channel": "a", "tags": ["two", "four"] }]);
    assert_eq!(service.put("/api/tags//batch/", Some(again)).await, 200);
    assert_eq!(service.tags("a", "").await, json!(["four", "two"]));
    assert_eq!(service.tags("b", "").await, json!(["three"]));
    service.ok("/api/tags/batch", json!([{ "android_channel": "b", "tags": [] }])).await;
    assert_eq!(service.tags("b", "").await, json!([]));
}

#[tokio::test]
async fn a_batch_is_done_wholly_or_not_at_all() {
    let service = Service::with(&[("a", "ios"), ("b", "android")]).await;
    let good = json!({ "ios_channel": "a", "tags": ["one"] });
    let wrong = [
        (json!({ "android_channel": "b" }), 40000),
        (json!({ "android_channel": "none", "tags": ["x"] }), 40404),
        (json!({ "android_channel": "a", "tags": ["x"] }), 40404),
        (json!({ "android_channel": "b", "tags": "x" }), 40000),
        (json!({ "android_channel": "b", "tags": [""] }), 40001),
        (json!({ "android_channel": "b", "tags": many("t", 1_001) }), 41301),
        (json!({ "android_channel": "b", "ios_channel": "a", "tags": ["x"] }), 40001),
        (json!({ "tags": ["x"] }), 40001),
    ];
    for (entry, code) in wrong {
        service.refused("/api/tags/batch", json!([good, entry]), code).await;
    }
    service.refused("/api/tags/batch", good, 40000).await;
}

#[tokio::test]
async fn batch_is_not_a_tag() {
    let service = Service::with(&[("a", "ios")]).await;
    assert_eq!(service.put("/api/tags/batch", None).await, 400, "a batch without a body");
    assert_eq!(service.delete("/api/tags/batch").await, 405);
    assert_eq!(service.listed().await, json!([]));
}
