//! The statements of the API contract about statuses and answers, one by one, against a service with only the
//! documented API.
//!
//! A row is a request, its status, and fields that its answer must have; it may have more. `<any>` stands for any value but null.

use pushplan::service::Level;
use serde_json::{Value, json};

use crate::support::{World, table};

/// The required answer to a request.
struct Row {
    /// The section of the contract, and its statement.
    says: &'static str,
    method: &'static str,
    path: &'static str,
    body: Value,
    status: u16,
    answer: Value,
}

fn row(says: &'static str, line: &'static str, body: Value, status: u16, answer: Value) -> Row {
    let (method, path) = line.split_once(' ').expect("a method and a path");
    Row { says, method, path, body, status, answer }
}

/// Whether a value contains everything that is expected.
fn has(expected: &Value, value: &Value) -> bool {
    match (expected, value) {
        (Value::String(word), value) if word == "<any>" => !value.is_null(),
        (Value::Array(expected), Value::Array(items)) => {
            expected.len() == items.len() && expected.iter().zip(items).all(|(expected, item)| has(expected, item))
        }
        (Value::Object(expected), Value::Object(fields)) => {
            expected.iter().all(|(key, expected)| fields.get(key).is_some_and(|field| has(expected, field)))
        }
        _ => expected == value,
    }
}

fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}

fn rows() -> Vec<Row> {
    let none = || Value::Null;
    let nothing = || json!({});
    let to = |audience: Value| with(table::push(), "audience", audience);
    let to_tag = |tag: &str, group: &str| to(json!({ "tag": tag, "group": group }));
    let wns =
        with(with(table::push(), "device_types", json!(["wns"])), "message", json!({ "title": "a", "body": "b" }));
    let to_template = json!({
        "device_types": "all", "audience": "all",
        "merge_data": { "template_id": "$template", "substitutions": { "NAME": "Ada" } },
    });
    let template = json!({
        "template_id": "$template", "name": "Greeting", "variables": ["<any>"], "push": "<any>", "created_at": "<any>",
        "modified_at": "<any>",
    });
    let phone =
        json!({ "channel_id": "$phone", "device_type": "ios", "tags": [], "named_user_id": "user-1", "opt_in": true });
    let open = json!({
        "channel_id": "$open", "device_type": "open", "tags": ["tall"], "push_address": "number-one", "opt_in": true,
    });
    let tags = |audience: Value| json!({ "audience": audience, "set": { "crm": ["gold"] } });
    let association = json!({ "channel_id": "$phone", "device_type": "ios", "named_user_id": "user-1" });
    let period = |name: &str, value: Value| json!({ name: [{ "date": "<any>", "android": value, "ios": value }] });
    let counted = json!({ "sends": 2, "direct_responses": 0, "push_time": "<any>", "push_type": "BROADCAST_PUSH" });
    let place = json!({ "features": ["<any>"] });
    let first_open = with(table::pipeline(), "immediate_trigger", json!("first_open"));
    let local_tags = json!([{ "ios_channel": "$phone", "tags": ["a"] }]);
    let push = "POST /api/push";
    vec![
        row("Errors 2: any other status is a failure", push, table::push(), 200, json!({ "push_id": "<any>" })),
        row(
            "Push: to `open_channel`",
            push,
            with(to(json!({ "open_channel": "number-one" })), "device_types", json!(["open::sms"])),
            200,
            json!({ "push_id": "<any>" }),
        ),
        row("Push: a template", "POST /api/templates/push", to_template, 200, json!({ "push_id": "<any>" })),
        row("Errors 1: a message to WNS", push, wns, 400, json!({ "error": "<any>" })),
        row(
            "Errors 3: a tag that nobody has",
            push,
            to(json!({ "tag": "nobody" })),
            200,
            json!({ "push_id": "<any>" }),
        ),
        row(
            "Errors 3: a version that matches nothing",
            push,
            to_tag("0.0.1-none", "ua_ios_app_version"),
            200,
            json!({ "push_id": "<any>" }),
        ),
        row(
            "Errors 3: a version tag in another form",
            push,
            to_tag("8.3.1", "ua_ios_version"),
            200,
            json!({ "push_id": "<any>" }),
        ),
        row("Push: a scheduled push", "POST /api/schedules", table::schedule(), 201, nothing()),
        row("Experiments: create", "POST /api/experiments", table::experiment(), 201, nothing()),
        row("Rules 1: before it starts", "DELETE /api/experiments/scheduled/$experiment", none(), 200, nothing()),
        row("Pipelines: create", "POST /api/pipelines", table::pipeline(), 201, nothing()),
        row("Pipelines: `first_open`", "POST /api/pipelines", first_open, 201, nothing()),
        row(
            "Pipelines: the active ones",
            "GET /api/pipelines?enabled=true",
            none(),
            200,
            json!({ "pipelines": [{ "enabled": true }] }),
        ),
        row(
            "Pipelines: the inactive ones",
            "GET /api/pipelines?enabled=false",
            none(),
            200,
            json!({ "pipelines": [] }),
        ),
        row(
            "Channel tags",
            "POST /api/channels/tags",
            tags(json!({ "ios_channel": "$phone", "android_channel": "$robot" })),
            200,
            nothing(),
        ),
        row(
            "Named user tags: one text",
            "POST /api/named_users/tags",
            json!({ "audience": { "named_user_id": "user-1" }, "add": { "crm": "gold" } }),
            200,
            nothing(),
        ),
        row(
            "Named user tags: an array",
            "POST /api/named_users/tags",
            tags(json!({ "named_user_id": "user-1" })),
            200,
            nothing(),
        ),
        row("Legacy tags: list", "GET /api/tags/", none(), 200, json!({ "tags": ["news", "tall"] })),
        row("Legacy tags: create", "PUT /api/tags/fresh", none(), 201, nothing()),
        row(
            "Legacy tags: add and remove",
            "POST /api/tags/news",
            json!({ "ios_channels": { "add": ["$phone"] }, "android_channels": { "remove": ["$robot"] } }),
            200,
            nothing(),
        ),
        row("Legacy tags: delete", "DELETE /api/tags/news", none(), 204, none()),
        row("Legacy tags: batch", "PUT /api/tags/batch", local_tags.clone(), 200, nothing()),
        row(
            "Legacy tags: a batch validates the tag list",
            "PUT /api/tags/batch",
            json!([{ "ios_channel": "$phone" }]),
            400,
            nothing(),
        ),
        row(
            "Legacy tags: a batch validates the device",
            "PUT /api/tags/batch",
            json!([{ "ios_channel": "nobody", "tags": [] }]),
            404,
            nothing(),
        ),
        row(
            "Reports: sends",
            "GET /api/reports/sends/?start=2026-11-27&end=2026-11-27%2023:59&precision=DAILY",
            none(),
            200,
            period("sends", json!(1)),
        ),
        row(
            "Reports: a day without padding",
            "GET /api/reports/sends/?start=2026-11-5&end=2026-11-5%2023:59&precision=DAILY",
            none(),
            200,
            period("sends", json!(0)),
        ),
        row(
            "Reports: responses",
            "GET /api/reports/responses/?start=2026-11-27&end=2026-11-27%2023:59&precision=DAILY",
            none(),
            200,
            period("responses", json!({ "influenced": 0, "direct": 0 })),
        ),
        row(
            "Reports: one push",
            "GET /api/reports/responses/$push",
            none(),
            200,
            with(counted.clone(), "push_id", json!("$push")),
        ),
        row(
            "Reports: the listing",
            "GET /api/reports/responses/list?start=2026-11-27&end=2026-11-28&limit=5",
            none(),
            200,
            json!({ "pushes": [with(counted, "push_uuid", json!("$push"))] }),
        ),
        row(
            "Reports: opens",
            "GET /api/reports/opens/?start=2026-11-27&end=2026-11-27%2000:59&precision=HOURLY",
            none(),
            200,
            period("opens", json!(0)),
        ),
        row(
            "Reports: time in app",
            "GET /api/reports/timeinapp/?start=2026-11-27&end=2026-11-27%2000:59&precision=HOURLY",
            none(),
            200,
            period("timeinapp", json!(0)),
        ),
        row(
            "Reports: devices",
            "GET /api/reports/devices/?date=2026-11-27",
            none(),
            200,
            json!({ "counts": { "android": "<any>", "ios": "<any>" } }),
        ),
        row(
            "Reports: opt-ins",
            "GET /api/reports/optins/?start=2026-11-27&end=2026-11-27%2000:59&precision=HOURLY",
            none(),
            200,
            period("optins", json!(0)),
        ),
        row(
            "Reports: opt-outs",
            "GET /api/reports/optouts/?start=2026-11-27&end=2026-11-27%2000:59&precision=HOURLY",
            none(),
            200,
            period("optouts", json!(0)),
        ),
        row("Segments: list", "GET /api/segments", none(), 200, json!({ "segments": [{ "display_name": "Readers" }] })),
        row("Segments: lookup", "GET /api/segments/$segment", none(), 200, table::segment()),
        row("Segments: create", "POST /api/segments", table::segment(), 201, nothing()),
        row("Segments: delete", "DELETE /api/segments/$segment", none(), 204, none()),
        row("Location: by name", "GET /api/location/?q=Paris&type=city", none(), 200, place.clone()),
        row("Location: by point", "GET /api/location/48.8566,2.3522?type=city", none(), 200, place.clone()),
        row("Location: by bounding box", "GET /api/location/48.8,2.3,48.9,2.4?type=city", none(), 200, place),
        row("Named users: associate", "POST /api/named_users/associate", association.clone(), 200, nothing()),
        row("Named users: disassociate", "POST /api/named_users/disassociate", association, 200, nothing()),
        row(
            "Named users: lookup",
            "GET /api/named_users/?id=user-1",
            none(),
            200,
            json!({ "named_user": { "named_user_id": "user-1" } }),
        ),
        row(
            "Named users: list",
            "GET /api/named_users",
            none(),
            200,
            json!({ "named_users": [{ "named_user_id": "user-1" }] }),
        ),
        row("Templates: create", "POST /api/templates", table::template(), 201, json!({ "template_id": "<any>" })),
        row(
            "Templates: update",
            "POST /api/templates/$template",
            json!({ "name": "Hello", "description": "Greets", "push": { "notification": { "alert": "Hi {{NAME}}" } } }),
            200,
            nothing(),
        ),
        row("Templates: lookup", "GET /api/templates/$template", none(), 200, json!({ "template": template.clone() })),
        row("Templates: list", "GET /api/templates", none(), 200, json!({ "templates": [template] })),
        row("Templates: delete", "DELETE /api/templates/$template", none(), 200, nothing()),
        row("Channels: lookup", "GET /api/channels/$phone", none(), 200, json!({ "channel": phone })),
        row(
            "Channels: lookup of an open channel",
            "GET /api/channels/$open",
            none(),
            200,
            json!({ "channel": open.clone() }),
        ),
        row("Channels: list", "GET /api/channels", none(), 200, json!({ "channels": ["<any>", "<any>", "<any>"] })),
        row(
            "Channels: uninstall",
            "POST /api/channels/uninstall",
            json!({ "channel_id": "$phone", "device_type": "ios" }),
            202,
            nothing(),
        ),
        row(
            "Open channels: returns 200 and the channel",
            "POST /api/channels/open",
            table::open_channel(),
            200,
            json!({ "channel": open }),
        ),
        row(
            "Open channels: uninstall",
            "POST /api/channels/open/uninstall",
            json!({ "address": "number-one", "open_platform_name": "sms" }),
            202,
            nothing(),
        ),
    ]
}

#[tokio::test]
async fn every_statement_of_the_contract_holds_at_its_level() {
    let mut wrong = Vec::new();
    for Row { says, method, path, body, status, answer } in rows() {
        let world = World::new(Level::Documented).await;
        let reply = world.call(method, path, (!body.is_null()).then_some(&body)).await;
        let found = world.named(&reply.json());
        if reply.status != status || !has(&answer, &found) {
            wrong.push(format!("{says}\n  {method} {path}: {} {found:#}", reply.status));
        }
        world.stop().await;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn an_experiment_that_has_started_cannot_be_deleted() {
    let world = World::new(Level::Documented).await;
    let mut at_once = table::experiment();
    for variant in at_once["variants"].as_array_mut().expect("variants") {
        variant.as_object_mut().expect("a variant").remove("schedule");
    }
    let started = world.call("POST", "/api/experiments", Some(&at_once)).await.json();
    let id = started["experiment_id"].as_str().expect("an id");
    let reply = world.call("DELETE", &format!("/api/experiments/scheduled/{id}"), None).await;
    assert_eq!((reply.status, &reply.json()["ok"]), (405, &json!(false)));
    world.stop().await;
}
