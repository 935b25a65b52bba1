//! Limits, cancellations, conditions and times of pipelines, from the manifest to the service and back.

use pushplan_testing::{Folder, Project, says};
use serde_json::{Value, json};

const CART: &str = "\
pipelines:
  cart:
    enabled: true
    immediate_trigger: {tag_added: cart-left}
    FIELD
    outcome: {delay: 1h, push: {audience: triggered, device_types: [ios], notification: {alert: Still interested?}}}
";

const GROUP: &str = "tag_groups:\n  shop: {tags: [vip]}\n";

fn with(field: &str) -> String {
    let group = if field.contains("group: shop") { GROUP } else { "" };
    CART.replace("FIELD", field).replace("    \n", "") + group
}

/// A condition with the tags t0, t1 and so on.
fn tags(number: usize) -> String {
    let tags: Vec<String> = (0..number).map(|number| format!("{{tag: {{tag_name: t{number}}}}}")).collect();
    format!("condition: [{{or: [{}]}}]", tags.join(", "))
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Each field with valid values: its form on the wire, and its words in a plan.
#[test]
fn limits_reach_the_service_and_come_back() {
    let rate = |key: &str, number: i64, pushes: i64| json!([{ "rate": { "pushes": pushes, key: number } }]);
    let tag = |tag: Value| json!([{ "or": [{ "tag": tag }] }]);
    let is = |tag: &str| json!({ "tag": { "tag_name": tag } });
    let most = tags(20);
    for (written, wire, words) in [
        ("constraint: [{rate: {pushes: 1, days: 1}}]", rate("days", 1, 1), "at most 1 push in 1 day to one device"),
        ("constraint: {rate: {pushes: 2, days: 90}}", rate("days", 90, 2), "at most 2 pushes in 90 days to one device"),
        (
            "constraint: [{rate: {pushes: 3, hours: 1}}]",
            rate("hours", 1, 3),
            "at most 3 pushes in 1 hour to one device",
        ),
        (
            "constraint: [{rate: {pushes: 1, hours: 72}}]",
            rate("hours", 72, 1),
            "at most 1 push in 72 hours to one device",
        ),
        (
            "constraint: [{rate: {pushes: 1, lifetimes: 1}}]",
            rate("lifetimes", 1, 1),
            "at most 1 push ever to one device",
        ),
        (
            "constraint: [{rate: {pushes: 1, hours: 24}}, {rate: {pushes: 3, days: 7}}]",
            json!([{ "rate": { "pushes": 1, "hours": 24 } }, { "rate": { "pushes": 3, "days": 7 } }]),
            "at most 1 push in 24 hours to one device and at most 3 pushes in 7 days to one device",
        ),
        ("constraint: []", Value::Null, ""),
        ("cancellation_trigger: []", Value::Null, ""),
        (
            "cancellation_trigger: {tag_added: bought}",
            json!({ "tag_added": "bought" }),
            "when the tag bought is added to a device, before it is sent",
        ),
        ("condition: [{or: [{tag: {tag_name: vip}}]}]", tag(json!({ "tag_name": "vip" })), "who tag vip"),
        ("condition: {or: [{tag: {tag_name: vip, group: device}}]}", tag(json!({ "tag_name": "vip" })), "tag vip"),
        (
            "condition: [{or: [{tag: {tag_name: vip, negated: true}}]}]",
            tag(json!({ "tag_name": "vip", "negated": true })),
            "tag vip",
        ),
        ("condition: [{or: [{tag: {tag_name: vip, negated: false}}]}]", tag(json!({ "tag_name": "vip" })), "tag vip"),
        (
            "condition: [{or: [{tag: {tag_name: vip, group: shop}}]}]",
            tag(json!({ "tag_name": "vip", "group": "shop" })),
            "vip",
        ),
        (
            "condition: [{or: [{tag: {tag_name: b}}, {tag: {tag_name: a}}, {tag: {tag_name: b}}]}]",
            json!([{ "or": [is("a"), is("b")] }]),
            "who tag a or tag b",
        ),
        (&most, Value::from(true), "or tag t15 or 12 more conditions"),
        ("condition: []", Value::Null, ""),
        ("activation_time: 2034-01-01T00:00:00", json!("2034-01-01T00:00:00"), "activation_time"),
        ("activation_time: 2034-01-01T09:30Z", json!("2034-01-01T09:30:00"), "2034-01-01T09:30:00"),
        ("activation_time: '2034-01-01T01:00:00+01:00'", json!("2034-01-01T00:00:00"), "2034-01-01T00:00:00"),
        ("deactivation_time: 2034-01-01T00:00:01", json!("2034-01-01T00:00:01"), "deactivation_time"),
    ] {
        let key = written.split(':').next().expect("a key");
        let project = Project::new(&with(written));
        let service = project.serve();
        let shown = project.good(&["plan"]).stdout;
        says(&on_one_line(&shown), &[words]);
        project.good(&["apply", "--yes"]);
        let pipeline = |service: &pushplan_testing::Service| service.get("/api/pipelines")["pipelines"][0][key].clone();
        let is_sent =
            |sent: &Value| *sent == wire || wire == true && sent[0]["or"].as_array().map(Vec::len) == Some(20);
        assert!(is_sent(&pipeline(&service)), "{written}: {}", pipeline(&service));
        says(&project.good(&["plan"]).stdout, &["No changes."]);
        project.good(&["forget", "pipelines/cart"]);
        std::fs::remove_file(project.folder.path().join("messages.yaml")).expect("a file");
        project.good(&["pull", "--all"]);
        says(&project.good(&["plan"]).stdout, &["No changes."]);
        assert!(is_sent(&pipeline(&service)), "{written}: {}", pipeline(&service));
        drop(service);

        let folder = Folder::project(&with(written));
        folder.write("pushplan.toml", "[targets.local]\napi = \"documented\"\n");
        let ran = folder.run(&["validate", "--format", "json"]);
        let refused = ran.stdout.contains("\"PL107\"");
        assert_eq!((refused, ran.code), (!wire.is_null(), if wire.is_null() { 0 } else { 3 }), "{written}\n{ran}");
    }
}

#[test]
fn wrong_values_are_reported() {
    let rate = |rate: &str| format!("constraint: [{{rate: {rate}}}]");
    for (field, code, said) in [
        (rate("{pushes: 0, days: 1}"), "PL106", "it is at least 1"),
        (rate("{pushes: 1, hours: 0}"), "PL106", "`hours` of a limit is 1 to 72, not 0"),
        (rate("{pushes: 1, hours: 73}"), "PL106", "`hours` of a limit is 1 to 72, not 73"),
        (rate("{pushes: 1, days: 0}"), "PL106", "`days` of a limit is 1 to 90, not 0"),
        (rate("{pushes: 1, days: 91}"), "PL106", "`days` of a limit is 1 to 90, not 91"),
        (rate("{pushes: 1, lifetimes: 2}"), "PL106", "`lifetimes` of a limit is 1, not 2"),
        (rate("{pushes: 1}"), "PL106", "a limit needs a time"),
        (rate("{pushes: 1, hours: 1, days: 1}"), "PL106", "a limit has one time only"),
        (rate("{pushes: many, days: 1}"), "YM205", "expected a whole number"),
        ("condition: [{or: []}]".to_owned(), "PL108", "a condition without tags never holds"),
        (tags(21), "PL108", "a condition has at most 20 tags; this one has 21"),
        (
            "condition: [{or: [{tag: {tag_name: a}}]}, {or: [{tag: {tag_name: b}}]}]".to_owned(),
            "PL108",
            "a condition has one `or`",
        ),
        ("condition: [{or: [{tag: {name: a}}]}]".to_owned(), "YM201", "unknown key `name`"),
        ("activation_time: soon".to_owned(), "SC106", "`soon` is not a time"),
        ("deactivation_time: 2034-13-01T00:00:00".to_owned(), "SC106", "is not a time"),
        (
            "activation_time: 2034-01-01T00:00:00\n    deactivation_time: 2034-01-01T00:00:00".to_owned(),
            "PL109",
            "becomes inactive before it becomes active",
        ),
    ] {
        let ran = Folder::project(&with(&field)).run(&["validate"]);
        assert_eq!(ran.code, 3, "{field}\n{ran}");
        says(&ran.stdout, &[&format!("error[{code}]"), said]);
    }
}

#[test]
fn a_looser_limit_is_shown_with_the_old_one() {
    let project = Project::new(&with("constraint: [{rate: {pushes: 1, days: 1}}]"));
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("pushes: 1, days: 1", "pushes: 2, hours: 12");
    says(
        &project.good(&["plan"]).stdout,
        &[
            "limit",
            "at most 1 push in 1 day to one device",
            "at most 2 pushes in 12 hours to one device",
            "is sent more often",
        ],
    );
}

#[test]
fn a_condition_is_compared_like_an_audience() {
    let vip = "condition: [{or: [{tag: {tag_name: vip}}]}]";
    let either = "condition: [{or: [{tag: {tag_name: vip}}, {tag: {tag_name: buyer}}]}]";
    let not_vip = "condition: [{or: [{tag: {tag_name: vip, negated: true}}]}]";
    for (old, new, class, words) in [
        ("", vip, "fewer", "leaves, for example"),
        (vip, "", "more", "joins, for example"),
        (vip, either, "more", "joins, for example"),
        (either, vip, "fewer", "leaves, for example"),
        (vip, not_vip, "different", "joins, for example"),
    ] {
        let project = Project::new(&with(old));
        let _service = project.serve();
        project.good(&["apply", "--yes"]);
        project.write(&with(new));
        says(&project.good(&["plan"]).stdout, &["who ", "effect ", words]);
        let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("a plan");
        assert_eq!(plan["messages"][0]["class"], class, "{old} becomes {new}");
    }
}

/// The status is the service's own: it changes with the time, and is no drift.
#[test]
fn the_status_of_a_pipeline_is_no_drift() {
    let project = Project::new(&with("activation_time: 2034-01-01T00:00:00"));
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    assert_eq!(service.get("/api/pipelines")["pipelines"][0]["status"], "pending");
    says(&project.good(&["drift"]).stdout, &["No drift"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
}
