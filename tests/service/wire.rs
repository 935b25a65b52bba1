//! The wire form, pinned: requests as clients of the live service send them, and answers down to the last key.
//!
//! The JSON here is written from the contract and the facts of the live service, not from this crate's types. The clock stands
//! at 2026-11-27T09:00:00Z. Ids are replaced by a word where the test knows them and by `<uuid>` where it does not.

use pushplan::service::Level;
use serde_json::{Value, json};

use crate::support::wire::{Reply, alike, exchange, request};
use crate::support::{World, settings};

/// A world with the words that replace ids in the answers of this test.
struct Wire(World);

impl Wire {
    async fn new() -> Self {
        Self(World::bare(settings(Level::Extended)).await)
    }

    /// Sends a request as written here: the request line, headers, and after an empty line the body.
    async fn send(&self, text: &str) -> Reply {
        let text = self.0.with_ids(text);
        let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
        let mut lines = head.lines().map(str::trim);
        let line = lines.next().expect("a request line");
        let (method, target) = line.split_once(' ').expect("a method and a target");
        let headers: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(": ")).collect();
        exchange(self.0.running.address, &request(method, target, &headers, body.trim().as_bytes())).await
    }

    /// Sends a request and compares its answer.
    async fn answers(&self, text: &str, status: u16, expected: Value) {
        let reply = self.send(text).await;
        let body = self.0.named(&reply.json());
        assert_eq!(reply.status, status, "{text}\n{body:#}");
        assert!(alike(&expected, &body), "{text}\nanswers {body:#}\nand not {expected:#}");
    }

    /// Sends a request and compares its answer. From then on, `word` stands for the id in the answer.
    async fn makes(&mut self, word: &'static str, pointer: &str, text: &str, status: u16, expected: Value) {
        let reply = self.send(text).await;
        let body = reply.json();
        let id = body.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{text}\n{body:#}"));
        self.0.names.push((word, id.rsplit('/').next().expect("a part").to_owned()));
        let body = self.0.named(&body);
        assert_eq!(reply.status, status, "{text}\n{body:#}");
        assert!(alike(&expected, &body), "{text}\nanswers {body:#}\nand not {expected:#}");
    }
}

#[tokio::test]
async fn segments() {
    let mut wire = Wire::new().await;
    let create = r#"POST /api/segments/
        Content-Type: application/json
        Accept: application/vnd.messaging+json; version=3;

        {"display_name": "News fans", "criteria": {"and": [{"tag": "news"}, {"or": [{"tag": "de", "group": "ua_locale_language"},
            {"location": {"id": "4oFkxX7RcUdirjtaenEQIV", "date": {"recent": {"months": 6}}}}]}]}}"#;
    let made = json!({ "ok": true, "operation_id": "<uuid>", "segment_id": "$segment" });
    wire.makes("$segment", "/segment_id", create, 201, made).await;
    // At once, as sent, and nothing else.
    let expected = json!({
        "display_name": "News fans",
        "criteria": { "and": [
            { "tag": "news" },
            { "or": [
                { "tag": "de", "group": "ua_locale_language" },
                { "location": { "id": "4oFkxX7RcUdirjtaenEQIV", "date": { "recent": { "months": 6 } } } },
            ] },
        ] },
    });
    wire.answers("GET /api/segments/$segment", 200, expected).await;
    let item = json!({
        "id": "$segment", "display_name": "News fans",
        "creation_date": 1795770000000_i64, "modification_date": 1795770000000_i64,
    });
    wire.answers("GET /api/segments", 200, json!({ "segments": [item] })).await;
    let update = "PUT /api/segments/$segment\n\n{\"display_name\": \"Fans\", \"criteria\": {\"OR\": [{\"tag\": [\"a\", \"b\"]}]}}";
    wire.answers(update, 200, json!({ "ok": true, "operation_id": "<uuid>" })).await;
    let changed = json!({ "display_name": "Fans", "criteria": { "OR": [{ "tag": ["a", "b"] }] } });
    wire.answers("GET /api/segments/$segment/", 200, changed).await;
    wire.answers("DELETE /api/segments/$segment", 204, Value::Null).await;
    wire.answers("GET /api/segments", 200, json!({ "segments": [] })).await;
    // Two of one name are two; a page tells of the next, with every parameter of this one.
    for _ in 0..3 {
        let reply = wire.send("POST /api/segments\n\n{\"display_name\":\"Twin\",\"criteria\":{\"tag\":\"a\"}}").await;
        assert_eq!(reply.status, 201);
        assert_eq!(wire.0.named(&json!(reply.header("location"))), "<origin>/api/segments/<uuid>");
    }
    let page = wire.send("GET /api/segments?limit=2").await.json();
    assert_eq!(page["segments"].as_array().map(Vec::len), Some(2));
    let next = page["next_page"].as_str().expect("a next page");
    let path = next.strip_prefix(&format!("http://{}", wire.0.running.address)).expect("the same origin");
    assert!(path.starts_with("/api/segments?limit=2&start="), "{path}");
    let last = wire.send(&format!("GET {path}")).await.json();
    assert_eq!((last["segments"].as_array().map(Vec::len), last.get("next_page")), (Some(1), None));
}

#[tokio::test]
async fn templates() {
    let mut wire = Wire::new().await;
    let create = r#"POST /api/templates/
        Content-Type: application/json

        {"name": "Welcome Message", "description": "Our welcome message",
         "variables": [{"key": "TITLE", "name": "Title", "description": "e.g. Mr, Ms, Dr", "default_value": ""},
                       {"key": "LAST_NAME", "name": "Last Name", "description": "Last name", "default_value": null}],
         "push": {"notification": {"alert": "Hello {{TITLE}} {{LAST_NAME}}, this is your welcome message!"}}}"#;
    let made = json!({ "ok": true, "operation_id": "<uuid>", "template_id": "$template" });
    wire.makes("$template", "/template_id", create, 201, made).await;
    let variables = json!([
        { "key": "TITLE", "name": "Title", "description": "e.g. Mr, Ms, Dr", "default_value": "" },
        { "key": "LAST_NAME", "name": "Last Name", "description": "Last name", "default_value": null },
    ]);
    let mut record = json!({
        "id": "$template", "template_id": "$template", "name": "Welcome Message", "description": "Our welcome message",
        "variables": variables,
        "push": { "notification": { "alert": "Hello {{TITLE}} {{LAST_NAME}}, this is your welcome message!" } },
        "created_at": "2026-11-27T09:00:00.000Z", "modified_at": "2026-11-27T09:00:00.000Z", "last_used": null,
    });
    wire.answers("GET /api/templates/$template", 200, json!({ "ok": true, "template": record })).await;
    // Fields that an update leaves out are unchanged.
    let update = "POST /api/templates/$template/\n\n{\"name\": \"Welcome\", \"push\": {\"notification\": {\"alert\": \"Hi {{LAST_NAME}}\"}}}";
    wire.answers(update, 200, json!({ "ok": true, "operation_id": "<uuid>" })).await;
    record["name"] = "Welcome".into();
    record["push"] = json!({ "notification": { "alert": "Hi {{LAST_NAME}}" } });
    let list = json!({ "ok": true, "count": 1, "total_count": 1, "templates": [record], "next_page": null, "prev_page": null });
    wire.answers("GET /api/templates/", 200, list).await;
    let push = r#"POST /api/templates/push/

        {"device_types": ["ios"], "audience": {"ios_channel": "$phone"},
         "merge_data": {"template_id": "$template", "substitutions": {"LAST_NAME": "Prufrock"}}}"#;
    wire.answers(push, 202, json!({ "ok": true, "operation_id": "<uuid>", "push_ids": ["<uuid>"] })).await;
    record["last_used"] = "2026-11-27T09:00:00.000Z".into();
    wire.answers("GET /api/templates/$template", 200, json!({ "ok": true, "template": record })).await;
    let missing = push.replace("\"LAST_NAME\": \"Prufrock\"", "");
    let reply = wire.send(&missing).await;
    assert_eq!(reply.status, 400);
    assert!(
        reply.json()["details"]["error"].as_str().is_some_and(|error| error.contains("LAST_NAME")),
        "{}",
        reply.text()
    );
    wire.answers("DELETE /api/templates/$template", 200, json!({ "ok": true, "operation_id": "<uuid>" })).await;
}

#[tokio::test]
async fn pipelines() {
    let mut wire = Wire::new().await;
    let create = r#"POST /api/pipelines/
        Content-Type: application/json

        {"name": "The Darkest Pipeline", "enabled": true, "immediate_trigger": {"tag_added": "new_customer"},
         "outcome": {"delay": 86400, "push": {"audience": "triggered", "notification": {"alert": "Hello new friend!"}, "device_types": "all"}}}"#;
    let made = json!({ "ok": true, "operation_id": "<uuid>", "pipeline_urls": ["<origin>/api/pipelines/$pipeline"] });
    wire.makes("$pipeline", "/pipeline_urls/0", create, 201, made).await;
    let record = json!({
        "name": "The Darkest Pipeline", "enabled": true, "immediate_trigger": { "tag_added": "new_customer" },
        "outcome": { "delay": 86400, "push": {
            "audience": "triggered", "notification": { "alert": "Hello new friend!" }, "device_types": "all",
        } },
        "uid": "$pipeline", "url": "<origin>/api/pipelines/$pipeline", "status": "live",
        "creation_time": "2026-11-27T09:00:00.000Z", "last_modified_time": "2026-11-27T09:00:00.000Z",
    });
    wire.answers("GET /api/pipelines/?enabled=True", 200, json!({ "ok": true, "pipelines": [record] })).await;
    wire.answers("GET /api/pipelines?enabled=False", 200, json!({ "ok": true, "pipelines": [] })).await;
    wire.answers("GET /api/pipelines/$pipeline/", 200, json!({ "ok": true, "pipeline": record })).await;
    // A whole object: what is left out is cleared. Both places for the delay, both spellings of the trigger.
    let update = r#"PUT /api/pipelines/$pipeline

        {"enabled": false, "immediate_trigger": [{"tag_added": {"tag": "vip", "group": "loyalty"}}, "first_open"], "timing": {"delay": {"seconds": 60}},
         "outcome": [{"push": {"audience": "triggered", "notification": {"alert": "Hello"}, "device_types": ["ios"]}}]}"#;
    wire.answers(update, 200, json!({ "ok": true, "operation_id": "<uuid>" })).await;
    let changed = json!({
        "enabled": false, "immediate_trigger": [{ "tag_added": { "tag": "vip", "group": "loyalty" } }, "first_open"],
        "timing": { "delay": { "seconds": 60 } },
        "outcome": [{ "push": { "audience": "triggered", "notification": { "alert": "Hello" }, "device_types": ["ios"] } }],
        "uid": "$pipeline", "url": "<origin>/api/pipelines/$pipeline", "status": "disabled",
        "creation_time": "2026-11-27T09:00:00.000Z", "last_modified_time": "2026-11-27T09:00:00.000Z",
    });
    wire.answers("GET /api/pipelines?enabled=false", 200, json!({ "ok": true, "pipelines": [changed] })).await;
    let valid = create.replace("/api/pipelines/", "/api/pipelines/validate/");
    wire.answers(&valid, 200, json!({ "ok": true, "operation_id": "<uuid>" })).await;
    wire.answers("DELETE /api/pipelines/$pipeline", 204, Value::Null).await;
}

#[tokio::test]
async fn schedules() {
    let mut wire = Wire::new().await;
    let create = r#"POST /api/schedules/
        Content-Type: application/json

        {"name": "Booyah Sports", "schedule": {"scheduled_time": "2026-12-24T1800"},
         "push": {"audience": {"tag": "spoaaaarts"}, "notification": {"alert": "Booyah!"}, "device_types": "all"}}"#;
    let record = json!({
        "url": "<origin>/api/schedules/$schedule", "name": "Booyah Sports",
        "schedule": { "scheduled_time": "2026-12-24T18:00:00" },
        "push": { "audience": { "tag": "spoaaaarts" }, "notification": { "alert": "Booyah!" }, "device_types": "all" },
        "push_ids": ["<uuid>"],
    });
    let made = json!({
        "ok": true, "operation_id": "<uuid>", "schedule_urls": ["<origin>/api/schedules/$schedule"],
        "schedule_ids": ["$schedule"], "schedules": [record],
    });
    wire.makes("$schedule", "/schedule_ids/0", create, 201, made).await;
    wire.answers("GET /api/schedules/$schedule", 200, record.clone()).await;
    let listed = json!({ "ok": true, "count": 1, "total_count": 1, "schedules": [record] });
    wire.answers("GET /api/schedules/", 200, listed).await;
    // What is read-only cannot be sent back, and no time can have passed.
    let sent_back = create.replace("\"name\":", "\"push_ids\": [\"a\"], \"name\":");
    let passed = create.replace("2026-12-24T1800", "2026-11-27T0859");
    for (text, code) in [(sent_back, 40000), (passed, 40001)] {
        let reply = wire.send(&text).await;
        assert_eq!((reply.status, reply.json()["error_code"].as_u64()), (400, Some(code)), "{}", reply.text());
    }
    // The newer form, several of them, and several schedules in one request.
    let newer = create.replace("2026-12-24T1800", "2026-12-24T18:00:00");
    let (head, body) = newer.split_once("\n\n").expect("a body");
    let both = wire.send(&format!("{head}\n\n[{body}, {body}]")).await;
    assert_eq!((both.status, both.json()["schedule_ids"].as_array().map(Vec::len)), (201, Some(2)), "{}", both.text());
    let done = json!({ "ok": true, "operation_id": "<uuid>" });
    wire.answers("POST /api/schedules/$schedule/pause/", 200, done.clone()).await;
    wire.answers("POST /api/schedules/$schedule/resume", 200, done).await;
    wire.answers("DELETE /api/schedules/$schedule", 204, Value::Null).await;
    assert_eq!(wire.send("GET /api/schedules/$schedule").await.status, 404);
}

#[tokio::test]
async fn experiments() {
    let mut wire = Wire::new().await;
    let create = r#"POST /api/experiments/
        Content-Type: application/json

        {"name": "Experiment 1", "audience": "all", "device_types": ["ios", "android"],
         "variants": [{"push": {"notification": {"alert": "message 1"}}, "schedule": {"scheduled_time": "2026-12-24T1800"}},
                      {"push": {"notification": {"alert": "message 2"}}, "schedule": {"scheduled_time": "2026-12-24T1800"}}]}"#;
    let made = json!({ "ok": true, "operation_id": "<uuid>", "experiment_id": "$experiment", "push_id": "<uuid>" });
    wire.makes("$experiment", "/experiment_id", create, 201, made).await;
    let at = json!({ "scheduled_time": "2026-12-24T18:00:00" });
    let record = json!({
        "id": "$experiment", "experiment_id": "$experiment", "push_id": "<uuid>", "name": "Experiment 1", "audience": "all",
        "device_types": ["ios", "android"], "status": "scheduled", "created_at": "2026-11-27T09:00:00.000Z",
        "variants": [
            { "push": { "notification": { "alert": "message 1" } }, "schedule": at },
            { "push": { "notification": { "alert": "message 2" } }, "schedule": at },
        ],
    });
    let listed = json!({ "ok": true, "count": 1, "total_count": 1, "experiments": [record] });
    wire.answers("GET /api/experiments", 200, listed.clone()).await;
    wire.answers("GET /api/experiments/scheduled/", 200, listed).await;
    wire.answers("GET /api/experiments/$experiment", 200, json!({ "ok": true, "experiment": record })).await;
    wire.answers(
        "DELETE /api/experiments/scheduled/$experiment/",
        200,
        json!({ "ok": true, "operation_id": "<uuid>" }),
    )
    .await;
    // Without a schedule it is sent at once, and a test that has started stays.
    let at_once = create.replace(", \"schedule\": {\"scheduled_time\": \"2026-12-24T1800\"}", "");
    let made = json!({ "ok": true, "operation_id": "<uuid>", "experiment_id": "$started", "push_id": "<uuid>" });
    wire.makes("$started", "/experiment_id", &at_once, 201, made).await;
    assert_eq!(wire.send("DELETE /api/experiments/scheduled/$started").await.status, 405);
    let pushes = wire.send("GET /api/reports/responses/list?start=2026-11-27&end=2026-11-27").await.json();
    assert_eq!(pushes["pushes"].as_array().map(Vec::len), Some(1), "{pushes:#}");
}

#[tokio::test]
async fn pushes_and_their_reports() {
    let mut wire = Wire::new().await;
    let push = r#"POST /api/push/
        Content-Type: application/json

        {"audience": {"OR": [{"ios_channel": "$phone"}, {"android_channel": "$robot"}]},
         "notification": {"alert": "Hello", "actions": {"add_tag": "airplane"}}, "device_types": ["ios", "android"],
         "message": {"title": "Message", "body": "<p>Body</p>", "content_type": "text/html"}}"#;
    let made = json!({ "ok": true, "operation_id": "<uuid>", "push_ids": ["$push"], "message_ids": ["<any>"] });
    wire.makes("$push", "/push_ids/0", push, 202, made).await;
    let record = json!({
        "push_id": "$push", "push_time": "2026-11-27 09:00:00", "push_type": "TAG_PUSH", "direct_responses": 0, "sends": 2,
    });
    wire.answers("GET /api/reports/responses/$push/", 200, record).await;
    let item = json!({
        "push_uuid": "$push", "push_time": "2026-11-27 09:00:00", "push_type": "TAG_PUSH", "direct_responses": 0, "sends": 2,
        "group_id": null,
    });
    let list = "GET /api/reports/responses/list?start=2026-11-27+00%3A00%3A00&end=2026-11-28+00%3A00%3A00&limit=1";
    wire.answers(list, 200, json!({ "pushes": [item] })).await;
    let hour = |date: &str, number: u32| json!({ "date": date, "ios": number, "android": number });
    let sends = "GET /api/reports/sends/?start=2026-11-27%2008:00&end=2026-11-27%2009:59&precision=HOURLY";
    let expected = json!({ "sends": [hour("2026-11-27 08:00:00", 0), hour("2026-11-27 09:00:00", 1)] });
    wire.answers(sends, 200, expected).await;
    for name in ["opens", "timeinapp", "optins", "optouts"] {
        let text = format!("GET /api/reports/{name}/?start=2026-11-26&end=2026-11-26&precision=DAILY");
        wire.answers(&text, 200, json!({ name: [hour("2026-11-26 00:00:00", 0)] })).await;
    }
    let none = json!({ "direct": 0, "influenced": 0 });
    let responses = json!({ "responses": [{ "date": "2026-11-27 00:00:00", "ios": none, "android": none }] });
    wire.answers("GET /api/reports/responses/?start=2026-11-27&end=2026-11-27&precision=DAILY", 200, responses).await;
    let platform = json!({ "unique_devices": 1, "opted_in": 1, "opted_out": 0, "uninstalled": 0 });
    let devices = json!({
        "total_unique_devices": 2, "date_computed": "2026-11-27T09:00:00.000Z", "date_closed": "2026-11-27T09:00:00.000Z",
        "counts": { "ios": platform, "android": platform },
    });
    wire.answers("GET /api/reports/devices/?date=2026-11-27", 200, devices).await;
    // Several at once; one that only has a message, and WNS, which has no inbox.
    let simple = r#"{"audience": "all", "notification": {"alert": "a"}, "device_types": "all"}"#;
    let two = json!({ "ok": true, "operation_id": "<uuid>", "push_ids": ["<uuid>", "<uuid>"] });
    wire.answers(&format!("POST /api/push\n\n[{simple}, {simple}]"), 202, two).await;
    let many = vec![simple; 101].join(",");
    let reply = wire.send(&format!("POST /api/push\n\n[{many}]")).await;
    assert_eq!((reply.status, reply.json()["error_code"].as_u64()), (413, Some(41301)));
    let wns = push.replace("\"ios\", \"android\"]", "\"wns\"]");
    assert_eq!(wire.send(&wns).await.status, 400);
    let valid = push.replace("/api/push/", "/api/push/validate");
    wire.answers(&valid, 200, json!({ "ok": true, "operation_id": "<uuid>" })).await;
}

#[tokio::test]
async fn tags_and_named_users() {
    let wire = Wire::new().await;
    let ok = json!({ "ok": true });
    let channel_tags = r#"POST /api/channels/tags/

        {"audience": {"ios_channel": "$phone"}, "add": {"crm": ["silver", "partner"]}, "remove": {"crm": ["gold"]}}"#;
    wire.answers(channel_tags, 200, ok.clone()).await;
    let associate = r#"POST /api/named_users/associate/

        {"channel_id": "$phone", "device_type": "ios", "named_user_id": "user-id-1234"}"#;
    wire.answers(associate, 200, ok.clone()).await;
    let user_tags = r#"POST /api/named_users/tags/

        {"audience": {"named_user_id": "user-id-1234"}, "set": {"loyalty": "gold", "interests": ["hiking", "boats"]}}"#;
    wire.answers(user_tags, 200, ok.clone()).await;
    let channel = json!({
        "channel_id": "$phone", "device_type": "ios", "installed": true, "opt_in": true, "background": false,
        "push_address": null, "named_user_id": "user-id-1234", "tags": [],
        "tag_groups": {
            "crm": ["partner", "silver"], "timezone": ["NO_TIME_ZONE"], "ua_opt_in": ["true"], "ua_background_enabled": ["false"],
            "ua_ios_app_version": ["Unknown"], "ua_ios_model": ["Unknown"], "ua_ios_sdk_version": ["Unknown"],
            "ua_ios_version": ["Unknown"], "ua_locale_country": ["Unknown"], "ua_locale_language": ["Unknown"],
        },
        "created": "2026-11-27T09:00:00.000Z", "last_registration": "2026-11-27T09:00:00.000Z",
    });
    wire.answers("GET /api/channels/$phone/", 200, json!({ "ok": true, "channel": channel })).await;
    let user = json!({
        "named_user_id": "user-id-1234", "tags": { "interests": ["boats", "hiking"], "loyalty": ["gold"] }, "channels": [channel],
        "created": "2026-11-27T09:00:00.000Z", "last_modified": "2026-11-27T09:00:00.000Z",
    });
    wire.answers("GET /api/named_users/?id=user-id-1234", 200, json!({ "ok": true, "named_user": user })).await;
    wire.answers("GET /api/named_users/", 200, json!({ "ok": true, "named_users": [user] })).await;
    wire.answers(&associate.replace("/associate", "/disassociate"), 200, ok).await;
    for (text, status) in [
        ("PUT /api/tags/new_tag", 201),
        ("PUT /api/tags/new_tag/", 200),
        (
            "POST /api/tags/new_tag\n\n{\"ios_channels\": {\"add\": [\"$phone\"]}, \"android_channels\": {\"remove\": [\"$robot\"]}}",
            200,
        ),
        ("PUT /api/tags//batch/\n\n[{\"ios_channel\": \"$phone\", \"tags\": [\"tag1\", \"tag2\"]}]", 200),
        ("POST /api/tags/batch\n\n[{\"android_channel\": \"$robot\", \"tags\": [\"tag2\", \"tag3\"]}]", 200),
    ] {
        let reply = wire.send(text).await;
        assert_eq!(reply.status, status, "{text}\n{}", reply.text());
    }
    wire.answers("GET /api/tags/", 200, json!({ "tags": ["new_tag", "tag1", "tag2", "tag3"] })).await;
    wire.answers("DELETE /api/tags/tag2", 204, Value::Null).await;
    wire.answers("GET /api/tags", 200, json!({ "tags": ["new_tag", "tag1", "tag3"] })).await;
    assert_eq!(wire.send("DELETE /api/tags/tag2").await.status, 404);
}

#[tokio::test]
async fn channels_and_open_channels() {
    let mut wire = Wire::new().await;
    let register = r#"POST /api/channels/open/

        {"channel": {"type": "open", "opt_in": true, "address": "Number Four", "tags": ["toaster", "caprica"],
         "timezone": "America/Los_Angeles", "locale_country": "US", "locale_language": "en",
         "open": {"open_platform_name": "email", "identifiers": {"com.example.external_id": "df6a6b50"}}}}"#;
    wire.makes("$open", "/channel_id", register, 200, json!({ "ok": true, "channel_id": "$open" })).await;
    let reply = wire.send(register).await;
    assert_eq!(wire.0.named(&json!(reply.header("location"))), "<origin>/api/channels/$open");
    let open = json!({
        "channel_id": "$open", "device_type": "open", "installed": true, "opt_in": true, "background": false,
        "push_address": "Number Four", "address": "Number Four", "named_user_id": null, "tags": ["caprica", "toaster"],
        "open": { "open_platform_name": "email", "identifiers": { "com.example.external_id": "df6a6b50" } },
        "tag_groups": "<any>", "created": "2026-11-27T09:00:00.000Z", "last_registration": "2026-11-27T09:00:00.000Z",
    });
    wire.answers("GET /api/channels/$open", 200, json!({ "ok": true, "channel": open })).await;
    let page = wire.send("GET /api/channels/?limit=2").await.json();
    assert_eq!((page["ok"].as_bool(), page["channels"].as_array().map(Vec::len)), (Some(true), Some(2)));
    assert!(
        page["next_page"].as_str().is_some_and(|next| next.contains("limit=2") && next.contains("start=")),
        "{page:#}"
    );
    let uninstall =
        "POST /api/channels/open/uninstall/\n\n{\"address\": \"Number Four\", \"open_platform_name\": \"email\"}";
    wire.answers(uninstall, 202, json!({ "ok": true })).await;
    let one = r#"{"channel_id": "$phone", "device_type": "ios"}"#;
    wire.answers(&format!("POST /api/channels/uninstall/\n\n{one}"), 202, json!({ "ok": true })).await;
    let list = format!(
        "POST /api/channels/uninstall\n\n[{one}, {{\"channel_id\": \"$robot\", \"device_type\": \"android\"}}]"
    );
    wire.answers(&list, 202, json!({ "ok": true })).await;
    for id in ["$phone", "$robot", "$open"] {
        let channel = wire.send(&format!("GET /api/channels/{id}")).await.json();
        assert_eq!(channel["channel"]["installed"], false, "{id}");
    }
}

#[tokio::test]
async fn locations() {
    let wire = Wire::new().await;
    let feature = |name: &str, kind: &str| {
        json!({
            "id": "<any>", "type": "Feature", "bounds": ["<any>", "<any>", "<any>", "<any>"], "centroid": ["<any>", "<any>"],
            "properties": {
                "name": name, "boundary_type": kind, "boundary_type_string": "<any>", "context": "<any>", "source": "<any>",
            },
        })
    };
    let tokyo = json!({ "features": [feature("Tokyo", "city")] });
    wire.answers("GET /api/location/?q=Tokyo&type=city", 200, tokyo.clone()).await;
    wire.answers("GET /api/location/35.68,139.69?type=city", 200, tokyo).await;
    let found = wire.send("GET /api/location/?q=Tokyo&type=city").await.json();
    let (bounds, centroid) = (&found["features"][0]["bounds"], &found["features"][0]["centroid"]);
    let number = |value: &Value| value.as_f64().expect("a number");
    assert!(number(&bounds[0]) < number(&centroid[0]) && number(&centroid[0]) < number(&bounds[2]), "latitudes first");
    assert!(number(&bounds[1]) < number(&centroid[1]) && number(&centroid[1]) < number(&bounds[3]), "then longitudes");
    wire.answers("GET /api/location/?q=Nowhere%20at%20all", 200, json!({ "features": [] })).await;
}
