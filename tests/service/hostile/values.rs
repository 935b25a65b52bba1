//! Every body of the table, invalid in one place at a time.

use reqwest::Method;
use serde_json::{Value, json};

use super::{assert_no_failure, assert_well, world};
use crate::support::local;
use crate::support::table::rows;
use crate::support::{KEY, PHONE, SECRET};

/// Every value of a body, by its JSON pointer.
fn pointers(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                pointers(field, &format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| pointers(item, &format!("{path}/{at}"), found));
        }
        _ => {}
    }
}

/// The replacements for a value.
fn replacements() -> Vec<Value> {
    let huge: Value = serde_json::from_str("123456789012345678901234567890").expect("a number");
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        huge,
        json!(""),
        json!(" "),
        json!("\u{0}"),
        json!("all"),
        json!("triggered"),
        json!("9999-12-31T23:59:59"),
        json!("{{"),
        json!("é".repeat(10_000)),
        json!([]),
        json!([null]),
        json!([[]]),
        json!(["a", 1]),
        json!({}),
        json!({ "": "" }),
        json!({ "unknown": 1 }),
    ]
}

/// All bodies that are invalid, or at least odd, in one place.
fn mutated(right: &Value) -> Vec<Value> {
    let mut places = Vec::new();
    pointers(right, "", &mut places);
    let mut bodies = Vec::new();
    for place in &places {
        for replacement in replacements() {
            let mut body = right.clone();
            *body.pointer_mut(place).expect("it is there") = replacement;
            bodies.push(body);
        }
        let mut longer = right.clone();
        match longer.pointer_mut(place).expect("it is there") {
            Value::Object(fields) => {
                let keys: Vec<String> = fields.keys().cloned().collect();
                fields.insert("unknown".into(), json!({ "a": [1] }));
                for key in keys {
                    let mut shorter = right.clone();
                    let fields = shorter.pointer_mut(place).and_then(Value::as_object_mut).expect("an object");
                    fields.remove(&key);
                    bodies.push(shorter);
                }
            }
            Value::Array(items) => {
                let twice = items.clone();
                items.extend(twice);
            }
            _ => continue,
        }
        bodies.push(longer);
    }
    bodies
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_value_of_no_body_can_break_anything() {
    let world = world().await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();
    let mut sent = 0;
    for row in rows().iter().chain(&local::rows()).filter(|row| row.body.is_some()) {
        let right = row.body.as_ref().expect("a body");
        for body in mutated(right) {
            let text = world.with_ids(&body.to_string());
            let url = format!("http://{}{}", world.running.address, world.with_ids(&row.path));
            let method = Method::from_bytes(row.method.as_bytes()).expect("a method");
            let request = client.request(method, url).basic_auth(KEY, Some(SECRET)).body(text.clone());
            let what = || format!("{} {} with {:.300}", row.method, row.path, text);
            let reply = request.send().await.unwrap_or_else(|error| panic!("{}: {error}", what()));
            assert_no_failure(&what(), reply.status().as_u16());
            sent += 1;
        }
    }
    assert!(sent > 5_000, "{sent} bodies");
    // Every accepted resource can be triggered, listed and sent without harm.
    let tag = json!({ "audience": { "ios_channel": PHONE }, "add": { "g": ["new", "news", "all", "triggered", " "] } });
    assert_eq!(world.call("POST", "/api/channels/tags", Some(&tag)).await.status, 200);
    for path in ["/api/pipelines", "/api/schedules", "/api/experiments", "/api/segments", "/api/templates"] {
        let mut next = Some(format!("http://{}{path}", world.running.address));
        while let Some(url) = next {
            let reply = client.get(&url).basic_auth(KEY, Some(SECRET)).send().await.expect("an answer");
            assert_eq!(reply.status().as_u16(), 200, "{url}");
            let body: Value = reply.json().await.expect("JSON");
            next = body["next_page"].as_str().map(str::to_owned);
        }
    }
    let later = "2126-01-01T00:00:00Z".parse().expect("a time");
    assert!(world.running.engine.move_clock(later).await.expect("kept").is_some());
    assert_well(&world).await;
    world.stop().await;
}
