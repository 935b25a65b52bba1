//! Limits and cancellations of pipelines, from the manifest to the service and back.

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

fn with(field: &str) -> String {
    CART.replace("FIELD", field).replace("    \n", "")
}

/// Each field with valid values: its form on the wire, and its words in a plan.
#[test]
fn limits_reach_the_service_and_come_back() {
    let rate = |key: &str, number: i64, pushes: i64| json!([{ "rate": { "pushes": pushes, key: number } }]);
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
    ] {
        let key = written.split(':').next().expect("a key");
        let project = Project::new(&with(written));
        let service = project.serve();
        let shown = project.good(&["plan"]).stdout;
        says(&shown, &[words]);
        project.good(&["apply", "--yes"]);
        let pipeline = |service: &pushplan_testing::Service| service.get("/api/pipelines")["pipelines"][0][key].clone();
        assert_eq!(pipeline(&service), wire, "{written}");
        says(&project.good(&["plan"]).stdout, &["No changes."]);
        project.good(&["forget", "pipelines/cart"]);
        std::fs::remove_file(project.folder.path().join("messages.yaml")).expect("a file");
        project.good(&["pull", "--all"]);
        says(&project.good(&["plan"]).stdout, &["No changes."]);
        assert_eq!(pipeline(&service), wire, "{written}");
        drop(service);

        let folder = Folder::project(&with(written));
        folder.write("pushplan.toml", "[targets.local]\napi = \"documented\"\n");
        let ran = folder.run(&["validate", "--format", "json"]);
        let refused = ran.stdout.contains("\"PL107\"");
        assert_eq!((refused, ran.code), (!wire.is_null(), if wire.is_null() { 0 } else { 3 }), "{written}\n{ran}");
    }
}

#[test]
fn limits_outside_their_range_are_reported() {
    for (rate, said) in [
        ("{pushes: 0, days: 1}", "it is at least 1"),
        ("{pushes: 1, hours: 0}", "`hours` of a limit is 1 to 72, not 0"),
        ("{pushes: 1, hours: 73}", "`hours` of a limit is 1 to 72, not 73"),
        ("{pushes: 1, days: 0}", "`days` of a limit is 1 to 90, not 0"),
        ("{pushes: 1, days: 91}", "`days` of a limit is 1 to 90, not 91"),
        ("{pushes: 1, lifetimes: 2}", "`lifetimes` of a limit is 1, not 2"),
        ("{pushes: 1}", "a limit needs a time"),
        ("{pushes: 1, hours: 1, days: 1}", "a limit has one time only"),
    ] {
        let ran = Folder::project(&with(&format!("constraint: [{{rate: {rate}}}]"))).run(&["validate"]);
        assert_eq!(ran.code, 3, "{rate}\n{ran}");
        says(&ran.stdout, &["error[PL106]", said]);
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
