//! Recipients that the service leaves out although it answers that all is well.

use pushplan_testing::{Project, says};
use serde_json::{Value, json};

const MEMBERS: &str = "\
tag_groups:
  loyalty:
    tags: [gold, vip]
    members:
      named_users:
        u-1: [gold]
      ios_channels:
        phone: [vip]
";

/// The service answers 200 and leaves out the tags of a group that it does not know. An apply that believed the answer
/// would report a member whom no message for the group reaches.
#[test]
fn tags_of_a_group_that_the_dashboard_lacks_are_not_reported_as_applied() {
    let project = Project::new(MEMBERS);
    let service = project.serve();
    service.put("/local/devices/phone", &json!({ "device_type": "ios", "opt_in": true }));
    service.put("/local/tag-groups", &json!({ "tag_groups": ["crm"] }));
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 1, "{ran}");
    let shown = format!("{}{}", ran.stdout, ran.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    says(
        &shown,
        &[
            "the service left the tags out (unknown tag group: loyalty)",
            "the service left tags out: the tag group `loyalty` does not exist; its tags were left out",
            "create the group there, then apply again",
        ],
    );
    service.put("/local/tag-groups", &json!({ "tag_groups": ["crm", "loyalty"] }));
    assert_eq!(project.good(&["apply", "--yes"]).code, 0);
    let user = service.get("/api/named_users/?id=u-1");
    assert_eq!(user["named_user"]["tags"], json!({ "loyalty": ["gold"] }));
    assert!(project.good(&["plan"]).stdout.starts_with("No changes."));
    // Without the group, its tags are gone as well: nothing is left to remove.
    service.put("/local/tag-groups", &json!({ "tag_groups": ["crm"] }));
    project.write("segments: {}\n");
    assert_eq!(project.run(&["apply", "--yes"]).code, 0);
}

const LOCAL: &str = "\
scheduled_pushes:
  breakfast:
    schedule: {local_scheduled_time: 2035-01-22T08:00}
    push: {audience: {tag: buyer}, device_types: [ios], notification: {alert: Good morning}}
";

/// A device without a time zone has no local time, so a message at a local time is not for it.
#[test]
fn a_plan_counts_only_devices_with_a_time_zone_for_a_message_at_a_local_time() {
    let project = Project::new(LOCAL);
    let service = project.serve_with(&["--clock", "2035-01-20T00:00Z"]);
    for (id, zone) in [("a", Some("Europe/Paris")), ("b", Some("Asia/Tokyo")), ("c", None), ("d", None)] {
        let device =
            json!({ "device_type": "ios", "opt_in": true, "tags": ["buyer"], "properties": { "timezone": zone } });
        service.put(&format!("/local/devices/{id}"), &device);
    }
    let message = || -> Value {
        let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("JSON");
        plan["messages"][0].clone()
    };
    assert_eq!(message()["reach"]["after"], 2, "{:#}", message());
    project.good(&["apply", "--yes"]);
    project.edit("local_scheduled_time: 2035-01-22T08:00", "scheduled_time: 2035-01-22T08:00");
    let widened = message();
    assert_eq!(widened["audience"]["relation"], "broader", "{widened:#}");
    assert_eq!([&widened["reach"]["before"], &widened["reach"]["after"]], [&json!(2), &json!(4)]);
    project.good(&["apply", "--yes"]);
    service.post("/local/clock", &json!({ "to": "2035-01-23T00:00:00Z" }));
    let got = ["a", "b", "c", "d"].map(|id| service.get(&format!("/local/devices/{id}/received"))["count"].clone());
    assert_eq!(got, [1, 1, 1, 1]);
}
