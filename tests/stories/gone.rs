//! Resources that were removed on the service: how soon that is detected, and the effect of creating them again.

use pushplan_testing::{Project, Service, says};

const TWO: &str = "\
segments:
  gone: {criteria: {tag: lapsed}}
templates:
  t:
    name: T
    push: {notification: {alert: Hi}}
";

fn delete_template(service: &Service) {
    let listed = service.get("/api/templates");
    service.delete(&format!("/api/templates/{}", listed["templates"][0]["id"].as_str().expect("an id")));
}

#[test]
fn a_look_that_has_to_wait_says_why() {
    let project = Project::new(TWO);
    project.folder.write("pushplan.toml", "[targets.local]\nsettle = \"4s\"\n");
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    delete_template(&service);
    let ran = project.good(&["drift"]);
    says(&ran.stdout, &["templates/t"]);
    says(&ran.stderr, &["the service does not list templates/t; it may be slow, so this is checked again in "]);
    assert_eq!(ran.stderr.matches("this is checked again").count(), 1, "{ran}");
}

#[test]
fn a_push_that_was_sent_is_not_waited_for() {
    let push = "push: {audience: {tag: x}, device_types: [ios], notification: {alert: Hi}}";
    let project = Project::new(&format!(
        "scheduled_pushes:\n  p:\n    schedule: {{scheduled_time: 2035-07-01T10:00}}\n    {push}\n"
    ));
    project.folder.write("pushplan.toml", "[targets.local]\nsettle = \"4s\"\n");
    let service = project.serve_with(&["--clock", "2035-06-01T00:00Z"]);
    project.good(&["apply", "--yes"]);
    service.post("/local/clock", &serde_json::json!({"to": "2035-07-01T10:00:05Z"}));
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["scheduled_pushes/p was due on"]);
    assert!(!ran.stderr.contains("checking again"), "{ran}");
}

#[test]
fn putting_back_a_segment_shows_who_it_is() {
    let project = Project::new(TWO);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    service.delete(&format!("/api/segments/{}", service.segment_id("gone")));
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["+ segments/gone", "lapsed", "removed on the service since the last apply; this puts it back"]);
}
