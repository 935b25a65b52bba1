//! A valid request for every row of the contract's endpoint tables and every additional verb of the live service.

use pushplan::service::Level::{self, Documented, Extended};
use serde_json::{Value, json};

use super::NOBODY;

/// A valid request, its answer, and the same request for a missing object.
pub struct Row {
    pub method: &'static str,
    /// The row of the service's own table that answers it.
    pub route: &'static str,
    pub level: Level,
    pub path: String,
    pub body: Option<Value>,
    pub status: u16,
    /// The body; null if it is empty.
    pub answer: Value,
    pub location: Option<&'static str>,
    /// Status and body with only the documented API, if they differ there.
    pub documented: Option<(u16, Value)>,
    /// The path and body with an id that does not exist.
    pub unknown: Option<(String, Option<Value>)>,
}

impl Row {
    pub(super) fn new(method: &'static str, route: &'static str, path: &str, status: u16, answer: Value) -> Self {
        let path = path.to_owned();
        // An id in the path can always be replaced by one that does not exist.
        let word = path.split('/').find(|part| part.starts_with('$')).map(str::to_owned);
        let unknown = word.map(|word| (path.replace(&word, NOBODY), None));
        let (level, body, location, documented) = (Documented, None, None, None);
        Self { method, route, level, path, body, status, answer, location, documented, unknown }
    }

    pub(super) fn body(mut self, body: Value) -> Self {
        if let Some((_, unknown)) = &mut self.unknown {
            *unknown = Some(body.clone());
        }
        self.body = Some(body);
        self
    }

    fn extended(self) -> Self {
        Self { level: Extended, ..self }
    }

    fn documented(self, status: u16, answer: Value) -> Self {
        Self { documented: Some((status, answer)), ..self }
    }

    /// The row as the service answers it at a level.
    pub fn on(self, level: Level) -> Self {
        match self.documented.clone() {
            Some((status, answer)) if level == Documented => Self { status, answer, ..self },
            _ => self,
        }
    }

    fn at(self, location: &'static str) -> Self {
        Self { location: Some(location), ..self }
    }

    pub(super) fn unknown(mut self, path: &str, body: Option<Value>) -> Self {
        self.unknown = Some((path.to_owned(), body));
        self
    }
}

pub fn push() -> Value {
    json!({ "audience": "all", "notification": { "alert": "Hello" }, "device_types": ["ios", "android"] })
}

/// A push with every field of the contract.
pub fn full_push() -> Value {
    json!({
        "audience": { "OR": [
            { "tag": "news", "group": "interests" },
            { "AND": [{ "ios_channel": "$phone" }, { "named_user": "user-1" }] },
            { "segment": "$segment" },
            { "android_channel": "$robot" },
        ] },
        "notification": {
            "alert": "Hello",
            "actions": { "add_tag": ["a", "b"], "remove_tag": "c", "share": "Look", "open": { "type": "url", "content": "https://example.com/" } },
            "interactive": { "type": "ua_follow", "button_actions": { "follow": { "add_tag": "story" } } },
            "web": { "title": "Hello", "icon": { "url": "https://example.com/icon.png" }, "extra": { "story": "1" } },
        },
        "device_types": ["ios", "android", "amazon"],
        "message": { "title": "News", "body": "<p>Hello</p>", "content_type": "text/html" },
        "campaigns": { "categories": ["autumn"] },
    })
}

pub fn schedule() -> Value {
    json!({ "name": "Morning", "schedule": { "scheduled_time": "2026-12-01T0900" }, "push": push() })
}

pub fn experiment() -> Value {
    let variant = |alert: &str| json!({ "push": { "notification": { "alert": alert } }, "schedule": { "scheduled_time": "2026-12-01T0900" } });
    json!({
        "name": "Two greetings",
        "description": "Which one is better",
        "audience": { "tag": "news" },
        "device_types": "all",
        "variants": [variant("Hello"), variant("Hi")],
    })
}

pub fn pipeline() -> Value {
    json!({
        "name": "Welcome",
        "enabled": true,
        "immediate_trigger": { "tag_added": "new" },
        "outcome": { "delay": 3600, "push": { "audience": "triggered", "device_types": "all", "notification": { "alert": "Welcome" } } },
    })
}

pub fn segment() -> Value {
    let place = json!({ "location": { "id": "place", "date": { "recent": { "months": 1 } } } });
    json!({
        "display_name": "Readers",
        "criteria": { "and": [{ "tag": "news" }, { "or": [{ "tag": "true", "group": "ua_opt_in" }, place, { "static_list": "vip" }] }] },
    })
}

pub fn template() -> Value {
    json!({
        "name": "Greeting",
        "description": "Greets by name",
        "variables": [{ "key": "NAME", "name": "First name", "description": "Of the reader", "default_value": null }],
        "push": { "notification": { "alert": "Hello {{NAME}}" } },
    })
}

fn template_push(id: &str) -> Value {
    json!({
        "device_types": ["ios"],
        "audience": { "tag": "news" },
        "merge_data": { "template_id": id, "substitutions": { "NAME": "Ada" } },
    })
}

pub fn open_channel() -> Value {
    json!({ "channel": {
        "type": "open",
        "opt_in": true,
        "address": "number-one",
        "tags": ["tall"],
        "timezone": "Europe/Paris",
        "locale_country": "FR",
        "locale_language": "fr",
        "open": { "open_platform_name": "sms", "identifiers": { "customer": "1" } },
    } })
}

/// The answer to a change: the fields besides `ok` and `operation_id`.
fn done(fields: Value) -> Value {
    with(json!({ "ok": true, "operation_id": "<uuid>" }), fields)
}

fn with(mut body: Value, fields: Value) -> Value {
    let (Some(body_fields), Value::Object(fields)) = (body.as_object_mut(), fields) else { panic!("two objects") };
    body_fields.extend(fields);
    body
}

fn ok() -> Value {
    json!({ "ok": true })
}

/// A scheduled push in an answer: the time has seconds.
fn schedule_record(url: &str) -> Value {
    let back = json!({ "url": url, "push_ids": ["<uuid>"], "schedule": { "scheduled_time": "2026-12-01T09:00:00" } });
    with(schedule(), back)
}

fn experiment_record() -> Value {
    let back = json!({
        "id": "$experiment", "experiment_id": "$experiment", "push_id": "<uuid>", "status": "scheduled",
        "created_at": "2026-11-27T09:00:00.000Z",
    });
    let mut record = with(experiment(), back);
    for variant in record["variants"].as_array_mut().expect("a list") {
        variant["schedule"] = json!({ "scheduled_time": "2026-12-01T09:00:00" });
    }
    record
}

fn pipeline_record() -> Value {
    let back = json!({
        "uid": "$pipeline", "url": "<origin>/api/pipelines/$pipeline", "status": "live",
        "creation_time": "2026-11-27T09:00:00.000Z", "last_modified_time": "2026-11-27T09:00:00.000Z",
    });
    with(pipeline(), back)
}

fn template_record() -> Value {
    let back = json!({
        "id": "$template", "template_id": "$template", "created_at": "2026-11-27T09:00:00.000Z",
        "modified_at": "2026-11-27T09:00:00.000Z", "last_used": null,
    });
    with(template(), back)
}

/// The open channel as it is registered in every world.
fn open_record() -> Value {
    json!({
        "channel_id": "$open", "device_type": "open", "installed": true, "opt_in": true, "background": false,
        "push_address": "number-one", "address": "number-one", "named_user_id": null, "tags": ["tall"],
        "tag_groups": {
            "timezone": ["Europe/Paris"], "ua_locale_country": ["FR"], "ua_locale_language": ["fr"],
            "ua_background_enabled": ["false"], "ua_opt_in": ["true"],
        },
        "open": { "open_platform_name": "sms", "identifiers": { "customer": "1" } },
        "created": "2026-11-27T09:00:00.000Z", "last_registration": "2026-11-27T09:00:00.000Z",
    })
}

fn feature() -> Value {
    json!({
        "id": "<any>", "type": "Feature", "bounds": ["<any>", "<any>", "<any>", "<any>"], "centroid": ["<any>", "<any>"],
        "properties": {
            "name": "Paris", "boundary_type": "city", "boundary_type_string": "<any>", "context": "<any>", "source": "<any>",
        },
    })
}

/// Every row, in the order of the contract.
pub fn rows() -> Vec<Row> {
    [sending(), testing_and_automating(), tagging(), reporting(), finding(), keeping()].into_iter().flatten().collect()
}

fn sending() -> Vec<Row> {
    let scheduled = |url: &str| {
        let id = url.rsplit('/').next().expect("an id").to_owned();
        done(json!({ "schedule_urls": [url], "schedule_ids": [id], "schedules": [schedule_record(url)] }))
    };
    let (list, one) = ("/api/schedules", "/api/schedules/{id}");
    let record = schedule_record("<origin>/api/schedules/$schedule");
    let listed = json!({ "ok": true, "count": 1, "total_count": 1, "schedules": [record.clone()] });
    vec![
        Row::new(
            "POST",
            "/api/push",
            "/api/push",
            202,
            done(json!({ "push_ids": ["<uuid>"], "message_ids": ["<uuid>"] })),
        )
        .documented(200, done(json!({ "push_id": "<uuid>", "push_ids": ["<uuid>"], "message_ids": ["<uuid>"] })))
        .body(full_push()),
        Row::new("POST", "/api/push/validate", "/api/push/validate", 200, done(json!({}))).body(full_push()).extended(),
        Row::new("POST", list, list, 201, scheduled("<origin>/api/schedules/<uuid>")).body(schedule()),
        Row::new("GET", list, list, 200, listed).extended(),
        Row::new("GET", one, "/api/schedules/$schedule", 200, record).extended(),
        Row::new("PUT", one, "/api/schedules/$schedule", 200, scheduled("<origin>/api/schedules/$schedule"))
            .body(schedule())
            .extended(),
        Row::new("DELETE", one, "/api/schedules/$schedule", 204, Value::Null).extended(),
        Row::new("POST", "/api/schedules/{id}/pause", "/api/schedules/$schedule/pause", 200, done(json!({})))
            .extended(),
        Row::new("POST", "/api/schedules/{id}/resume", "/api/schedules/$schedule/resume", 200, done(json!({})))
            .extended(),
        Row::new("POST", "/api/templates/push", "/api/templates/push", 202, done(json!({ "push_ids": ["<uuid>"] })))
            .documented(200, done(json!({ "push_id": "<uuid>", "push_ids": ["<uuid>"] })))
            .body(template_push("$template"))
            .unknown("/api/templates/push", Some(template_push(NOBODY))),
    ]
}

fn testing_and_automating() -> Vec<Row> {
    let (tests, test) = ("/api/experiments", "/api/experiments/{id}");
    let (pipelines, one) = ("/api/pipelines", "/api/pipelines/{id}");
    let listed = json!({ "ok": true, "count": 1, "total_count": 1, "experiments": [experiment_record()] });
    let made = done(json!({ "experiment_id": "<uuid>", "push_id": "<uuid>" }));
    vec![
        Row::new("POST", tests, tests, 201, made).body(experiment()).at("<origin>/api/experiments/<uuid>"),
        Row::new(
            "DELETE",
            "/api/experiments/scheduled/{id}",
            "/api/experiments/scheduled/$experiment",
            200,
            done(json!({})),
        ),
        Row::new("GET", tests, tests, 200, listed.clone()).extended(),
        Row::new("GET", "/api/experiments/scheduled", "/api/experiments/scheduled", 200, listed).extended(),
        Row::new(
            "GET",
            test,
            "/api/experiments/$experiment",
            200,
            with(ok(), json!({ "experiment": experiment_record() })),
        )
        .extended(),
        Row::new("POST", "/api/experiments/validate", "/api/experiments/validate", 200, done(json!({})))
            .body(experiment())
            .extended(),
        Row::new(
            "POST",
            pipelines,
            pipelines,
            201,
            done(json!({ "pipeline_urls": ["<origin>/api/pipelines/<uuid>"] })),
        )
        .body(pipeline()),
        Row::new(
            "GET",
            pipelines,
            "/api/pipelines?enabled=true",
            200,
            with(ok(), json!({ "pipelines": [pipeline_record()] })),
        ),
        Row::new("GET", one, "/api/pipelines/$pipeline", 200, with(ok(), json!({ "pipeline": pipeline_record() })))
            .extended(),
        Row::new("PUT", one, "/api/pipelines/$pipeline", 200, done(json!({}))).body(pipeline()).extended(),
        Row::new("DELETE", one, "/api/pipelines/$pipeline", 204, Value::Null).extended(),
        Row::new("POST", "/api/pipelines/validate", "/api/pipelines/validate", 200, done(json!({})))
            .body(pipeline())
            .extended(),
    ]
}

fn tagging() -> Vec<Row> {
    let of_channels = |phone: &str| {
        json!({
            "audience": { "ios_channel": phone, "android_channel": "$robot" },
            "add": { "interests": ["sport", "news"] },
            "remove": { "interests": ["politics"] },
        })
    };
    let of_users =
        json!({ "audience": { "named_user_id": "user-1" }, "set": { "loyalty": "gold", "interests": ["sport"] } });
    let carriers =
        |phone: &str| json!({ "ios_channels": { "add": [phone] }, "android_channels": { "remove": ["$robot"] } });
    let lists = |phone: &str| json!([{ "ios_channel": phone, "tags": ["a", "b"] }, { "android_channel": "$robot", "tags": [] }]);
    let (tag, batch) = ("/api/tags/{tag}", "/api/tags/batch");
    vec![
        Row::new("POST", "/api/channels/tags", "/api/channels/tags", 200, ok())
            .body(of_channels("$phone"))
            .unknown("/api/channels/tags", Some(of_channels(NOBODY))),
        Row::new("POST", "/api/named_users/tags", "/api/named_users/tags", 200, ok()).body(of_users),
        Row::new("GET", "/api/tags", "/api/tags/", 200, json!({ "tags": ["news", "tall"] })),
        Row::new("PUT", tag, "/api/tags/fresh", 201, done(json!({}))),
        Row::new("POST", tag, "/api/tags/news", 200, done(json!({})))
            .body(carriers("$phone"))
            .unknown("/api/tags/news", Some(carriers(NOBODY))),
        Row::new("DELETE", tag, "/api/tags/news", 204, Value::Null).unknown("/api/tags/nobody", None),
        Row::new("PUT", batch, batch, 200, done(json!({}))).body(lists("$phone")).unknown(batch, Some(lists(NOBODY))),
        Row::new("POST", batch, batch, 200, done(json!({}))).body(lists("$phone")).unknown(batch, Some(lists(NOBODY))),
    ]
}

fn reporting() -> Vec<Row> {
    let days = "start=2026-11-27&end=2026-11-27%2023:59&precision=DAILY";
    let date = "2026-11-27 00:00:00";
    let counts =
        |name: &str, ios: Value, android: Value| json!({ name: [{ "date": date, "ios": ios, "android": android }] });
    let none = || json!({ "direct": 0, "influenced": 0 });
    let of_push =
        json!({ "push_time": "2026-11-27 09:00:00", "push_type": "BROADCAST_PUSH", "direct_responses": 0, "sends": 2 });
    let listed = with(of_push.clone(), json!({ "push_uuid": "$push", "group_id": null }));
    let platform =
        |number: u32| json!({ "unique_devices": number, "opted_in": number, "opted_out": 0, "uninstalled": 0 });
    let devices = json!({
        "total_unique_devices": 3, "date_computed": "2026-11-27T09:00:00.000Z", "date_closed": "2026-11-27T09:00:00.000Z",
        "counts": { "ios": platform(1), "android": platform(1), "open::sms": platform(1) },
    });
    let row = |name: &'static str, path: &'static str, answer: Value| {
        Row::new("GET", path, &format!("/api/reports/{name}/?{days}"), 200, answer)
    };
    vec![
        row("sends", "/api/reports/sends", counts("sends", json!(1), json!(1))),
        row("responses", "/api/reports/responses", counts("responses", none(), none())),
        Row::new(
            "GET",
            "/api/reports/responses/{push_id}",
            "/api/reports/responses/$push",
            200,
            with(of_push, json!({ "push_id": "$push" })),
        ),
        row("responses/list", "/api/reports/responses/list", json!({ "pushes": [listed] })),
        Row::new(
            "GET",
            "/api/reports/experiment/overview/{push_id}",
            "/api/reports/experiment/overview/$push",
            200,
            json!({ "push_id": "$push", "variants": [] }),
        )
        .extended(),
        row("opens", "/api/reports/opens", counts("opens", json!(0), json!(0))),
        row("timeinapp", "/api/reports/timeinapp", counts("timeinapp", json!(0), json!(0))),
        Row::new("GET", "/api/reports/devices", "/api/reports/devices/?date=2026-11-27", 200, devices),
        row("optins", "/api/reports/optins", counts("optins", json!(0), json!(0))),
        row("optouts", "/api/reports/optouts", counts("optouts", json!(0), json!(0))),
    ]
}

/// Segments, places and named users.
fn finding() -> Vec<Row> {
    let (segments, one) = ("/api/segments", "/api/segments/{id}");
    let listed = json!({ "segments": [{
        "id": "$segment", "display_name": "Readers", "creation_date": 1_795_770_000_000_u64, "modification_date": 1_795_770_000_000_u64,
    }] });
    let association = |channel: &str| json!({ "channel_id": channel, "device_type": "ios", "named_user_id": "user-1" });
    let user = json!({
        "named_user_id": "user-1", "tags": {}, "channels": ["<any>"],
        "created": "2026-11-27T09:00:00.000Z", "last_modified": "2026-11-27T09:00:00.000Z",
    });
    let (associate, disassociate) = ("/api/named_users/associate", "/api/named_users/disassociate");
    vec![
        Row::new("GET", segments, segments, 200, listed),
        Row::new("GET", one, "/api/segments/$segment", 200, segment()),
        Row::new("POST", segments, segments, 201, done(json!({ "segment_id": "<uuid>" })))
            .body(segment())
            .at("<origin>/api/segments/<uuid>"),
        Row::new("DELETE", one, "/api/segments/$segment", 204, Value::Null),
        Row::new("PUT", one, "/api/segments/$segment", 200, done(json!({}))).body(segment()).extended(),
        Row::new("GET", "/api/location", "/api/location/?q=Paris&type=city", 200, json!({ "features": [feature()] })),
        Row::new(
            "GET",
            "/api/location/{place}",
            "/api/location/48.8566,2.3522?type=city",
            200,
            json!({ "features": [feature()] }),
        ),
        Row::new(
            "GET",
            "/api/location/{place}",
            "/api/location/48.8,2.3,48.9,2.4?type=city",
            200,
            json!({ "features": [feature()] }),
        ),
        Row::new("POST", associate, associate, 200, ok())
            .body(association("$phone"))
            .unknown(associate, Some(association(NOBODY))),
        Row::new("POST", disassociate, disassociate, 200, ok())
            .body(association("$phone"))
            .unknown(disassociate, Some(association(NOBODY))),
        Row::new(
            "GET",
            "/api/named_users",
            "/api/named_users/?id=user-1",
            200,
            with(ok(), json!({ "named_user": user.clone() })),
        )
        .unknown("/api/named_users/?id=nobody", None),
        Row::new("GET", "/api/named_users", "/api/named_users", 200, with(ok(), json!({ "named_users": [user] }))),
    ]
}

/// Templates and channels.
fn keeping() -> Vec<Row> {
    let (templates, template_id) = ("/api/templates", "/api/templates/{id}");
    let listed = json!({
        "ok": true, "count": 1, "total_count": 1, "templates": [template_record()], "next_page": null, "prev_page": null,
    });
    let update =
        json!({ "name": "Greeting", "description": "Greets", "push": { "notification": { "alert": "Hi {{NAME}}" } } });
    let channel = |id: &str| json!({ "channel_id": id, "device_type": "ios" });
    let address = |address: &str| json!({ "address": address, "open_platform_name": "sms" });
    let (uninstall, open) = ("/api/channels/uninstall", "/api/channels/open");
    let uninstall_open = "/api/channels/open/uninstall";
    vec![
        Row::new("POST", templates, templates, 201, done(json!({ "template_id": "<uuid>" })))
            .body(template())
            .at("<origin>/api/templates/<uuid>"),
        Row::new("POST", template_id, "/api/templates/$template", 200, done(json!({}))).body(update),
        Row::new(
            "GET",
            template_id,
            "/api/templates/$template",
            200,
            with(ok(), json!({ "template": template_record() })),
        ),
        Row::new("GET", templates, templates, 200, listed),
        Row::new("DELETE", template_id, "/api/templates/$template", 200, done(json!({}))),
        Row::new("GET", "/api/channels/{id}", "/api/channels/$phone", 200, with(ok(), json!({ "channel": "<any>" }))),
        Row::new(
            "GET",
            "/api/channels",
            "/api/channels",
            200,
            with(ok(), json!({ "channels": ["<any>", "<any>", "<any>"] })),
        ),
        Row::new("POST", uninstall, uninstall, 202, ok())
            .body(channel("$phone"))
            .unknown(uninstall, Some(channel(NOBODY))),
        Row::new("POST", open, open, 200, with(ok(), json!({ "channel_id": "$open" })))
            .documented(200, with(ok(), json!({ "channel_id": "$open", "channel": open_record() })))
            .body(open_channel())
            .at("<origin>/api/channels/$open"),
        Row::new("POST", uninstall_open, uninstall_open, 202, ok())
            .body(address("number-one"))
            .unknown(uninstall_open, Some(address("nobody"))),
    ]
}
