use serde_json::{Value, json};

use super::harness::Service;

const NOW: &str = "2026-11-27T08:00:00.250Z";

fn welcome() -> Value {
    json!({
        "name": "Welcome", "description": "The first text",
        "variables": [
            { "key": "FIRST_NAME", "name": "First name", "description": "", "default_value": "you" },
            { "key": "CITY", "name": "City", "description": "", "default_value": null },
        ],
        "push": { "notification": { "alert": "Hello {{FIRST_NAME}} in {{CITY}}" } },
    })
}

#[tokio::test]
async fn a_template_is_made_read_changed_and_removed() {
    let service = Service::at(NOW).await;
    let made = service.post("/api/templates", welcome()).await;
    let location = made.location.clone().expect("a location");
    let id = made.expect(201)["template_id"].as_str().expect("an id").to_owned();
    assert!(location.ends_with(&format!("/api/templates/{id}")));
    let read = service.get(&location).await.expect(200);
    let mut expected = welcome();
    for (key, value) in [
        ("id", json!(id)),
        ("template_id", json!(id)),
        ("created_at", json!(NOW)),
        ("modified_at", json!(NOW)),
        ("last_used", Value::Null),
    ] {
        expected[key] = value;
    }
    assert_eq!(read, json!({ "ok": true, "template": expected }));

    service.move_clock("2026-11-27T09:00:00Z").await;
    service.post(&location, json!({ "description": "Changed" })).await.expect(200);
    expected["description"] = "Changed".into();
    expected["modified_at"] = "2026-11-27T09:00:00.000Z".into();
    assert_eq!(service.get(&location).await.expect(200)["template"], expected);

    service.post(&location, json!({ "variables": [] })).await.expect(200);
    assert_eq!(service.get(&location).await.expect(200)["template"]["variables"], json!([]));

    service.delete(&location).await.expect(200);
    service.get(&location).await.refusal(404);
    service.delete(&location).await.refusal(404);
    service.post(&location, json!({ "name": "x" })).await.refusal(404);
}

#[tokio::test]
async fn the_contract_does_not_let_variables_be_changed() {
    let service = Service::documented(NOW).await;
    let id = service.post("/api/templates", welcome()).await.expect(201)["template_id"].clone();
    let path = format!("/api/templates/{}", id.as_str().expect("an id"));
    let refused = service.post(&path, json!({ "name": "x", "variables": [] })).await.refusal(400);
    assert!(refused.contains("`variables`"), "{refused}");
    assert_eq!(service.get(&path).await.expect(200)["template"]["name"], "Welcome");
}

#[tokio::test]
async fn templates_are_listed_page_by_page_in_the_order_of_their_making() {
    let service = Service::at(NOW).await;
    for number in 0..5 {
        let mut template = welcome();
        template["name"] = format!("t{number}").into();
        service.post("/api/templates", template).await.expect(201);
    }
    let mut names = Vec::new();
    let mut next = Some("/api/templates/?page_size=2".to_owned());
    let mut pages = 0;
    while let Some(url) = next {
        let page = service.get(&url).await.expect(200);
        assert_eq!(page["total_count"], 5);
        assert_eq!(page["prev_page"].is_null(), pages == 0);
        let templates = page["templates"].as_array().expect("templates");
        assert_eq!(page["count"], templates.len());
        names.extend(templates.iter().map(|template| template["name"].as_str().expect("a name").to_owned()));
        next = page["next_page"].as_str().map(str::to_owned);
        assert!(page.get("next_page").is_some(), "null at the end, never absent");
        pages += 1;
    }
    assert_eq!(pages, 3);
    assert_eq!(names, ["t0", "t1", "t2", "t3", "t4"]);
    service.get("/api/templates?page=x").await.refusal(400);
    assert_eq!(service.get("/api/templates?page=9").await.expect(200)["templates"], json!([]));
}

#[tokio::test]
async fn a_push_of_a_template_fills_it_in_and_moves_last_used() {
    let service = Service::at(NOW).await;
    service.device("a", "ios").await;
    let mut template = welcome();
    template["push"]["message"] = json!({ "title": "{{CITY}}", "body": "<p>{{FIRST_NAME}}</p>" });
    let id = service.post("/api/templates", template).await.expect(201)["template_id"].clone();
    let push = |substitutions: Value| {
        json!({
            "device_types": ["ios"], "audience": "all",
            "merge_data": { "template_id": id, "substitutions": substitutions },
        })
    };
    let refused = service.post("/api/templates/push", push(json!({ "FIRST_NAME": "Ann" }))).await.refusal(400);
    assert!(refused.contains("`CITY`"), "{refused}");
    let path = format!("/api/templates/{}", id.as_str().expect("an id"));
    assert!(service.get(&path).await.expect(200)["template"]["last_used"].is_null());
    assert!(service.got("a").is_empty());

    service.move_clock("2026-11-27T09:00:00Z").await;
    let answer = service.post("/api/templates/push", push(json!({ "CITY": "Oslo" }))).await.expect(202);
    assert_eq!(answer["push_ids"].as_array().expect("ids").len(), 1);
    assert_eq!(service.shown("a"), ["Hello you in Oslo"]);
    let message = service.got("a")[0].message.clone().expect("a message");
    assert_eq!(message, json!({ "title": "Oslo", "body": "<p>you</p>" }));
    let read = service.get(&path).await.expect(200);
    assert_eq!(read["template"]["last_used"], "2026-11-27T09:00:00.000Z");
    assert_eq!(read["template"]["modified_at"], NOW);

    let mut to_wns = push(json!({ "CITY": "Oslo" }));
    to_wns["device_types"] = json!(["wns"]);
    service.post("/api/templates/push", to_wns).await.refusal(400);
    let mut unknown = push(json!({}));
    unknown["merge_data"]["template_id"] = "none".into();
    service.post("/api/templates/push", unknown).await.refusal(404);
}

#[tokio::test]
async fn a_template_that_cannot_be_is_refused() {
    let service = Service::at(NOW).await;
    let with = |key: &str, value: Value| {
        let mut template = welcome();
        template[key] = value;
        template
    };
    let keyed = |key: &str| with("variables", json!([{ "key": key, "name": "x" }]));
    let content = json!({ "notification": { "alert": "x" }, "audience": "all" });
    for (template, expected) in [
        (keyed(""), "1 to 32"),
        (keyed("first-name"), "1 to 32"),
        (keyed(&"k".repeat(33)), "1 to 32"),
        (with("variables", json!([{ "key": "A", "name": "x" }, { "key": "A", "name": "y" }])), "declared twice"),
        (with("push", json!({})), "`notification` is missing"),
        (with("push", content), "unknown key `audience`"),
        (with("template_id", json!("x")), "unknown key `template_id`"),
    ] {
        let refused = service.post("/api/templates", template).await.refusal(400);
        assert!(refused.contains(expected), "{refused}");
    }
    assert_eq!(service.get("/api/templates").await.expect(200)["total_count"], 0);
    service.post("/api/templates", keyed(&"k".repeat(32))).await.expect(201);
}
