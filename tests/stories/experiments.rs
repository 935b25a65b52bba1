//! Experiments with weights and a control group, from the manifest to the devices and back.

use pushplan_testing::{Folder, Project, Ran, Service, checked, says};
use serde_json::{Value, json};

const TEST: &str = "\
experiments:
  words:
    audience: {tag: vip}
    device_types: [ios, android]
    variants:
      - {push: {notification: {alert: One}}, schedule: {scheduled_time: 2035-01-22T10:30}}
      - {push: {notification: {alert: Two}}, schedule: {scheduled_time: 2035-01-22T10:30}}
";
const CONTROL: &str = "    variants:\n";
const VARIANT: &str = "      - {push: {notification: {alert: One}}, ";

/// The manifest with a field of the experiment or of its first variant.
fn with(field: &str, value: &str) -> String {
    match field {
        "control" => TEST.replace(CONTROL, &format!("    control: {value}\n{CONTROL}")),
        _ => TEST.replace(VARIANT, &format!("{VARIANT}{field}: {value}, ")),
    }
}

fn served(project: &Project) -> Service {
    project.serve_with(&["--clock", "2035-01-20T00:00Z"])
}

/// The field as the service has it.
fn on_service(service: &Service, field: &str) -> Value {
    let experiment = &service.get("/api/experiments")["experiments"][0];
    if field == "control" { experiment[field].clone() } else { experiment["variants"][0][field].clone() }
}

/// The output on one line.
fn flat(ran: &Ran) -> String {
    ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn codes(ran: &Ran) -> Vec<String> {
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no report: {ran}"));
    let codes = report["findings"].as_array().expect("findings").iter();
    codes.map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect()
}

/// Each field, with valid values and their form on the wire. `null` is a value that nothing is sent for.
#[test]
fn each_field_reaches_the_service_and_comes_back() {
    for (field, written, wire) in [
        ("control", "0.2", json!(0.2)),
        ("control", "0", json!(null)),
        ("control", "0.999", json!(0.999)),
        ("name", "Short", json!("Short")),
        ("description", "Why it is tried", json!("Why it is tried")),
        ("weight", "3", json!(3)),
        ("weight", "1", json!(null)),
        ("weight", "1000000", json!(1_000_000)),
    ] {
        let project = Project::new(&with(field, written));
        let service = served(&project);
        project.good(&["apply", "--yes"]);
        assert_eq!(on_service(&service, field), wire, "{field}: {written}");
        says(&project.good(&["plan"]).stdout, &["No changes."]);
        // The service also has its default, which is no difference.
        project.good(&["pull"]);
        says(&project.good(&["plan"]).stdout, &["No changes."]);
        // Another clone reads it from the service.
        project.good(&["forget", "experiments/words"]);
        std::fs::remove_file(project.folder.path().join("messages.yaml")).expect("a file");
        project.good(&["pull", "--all"]);
        says(&project.good(&["plan"]).stdout, &["No changes."]);
        assert_eq!(on_service(&service, field), wire, "{field}: {written}");
        drop(service);

        let folder = Folder::project(&with(field, written));
        folder.write("pushplan.toml", "[targets.local]\napi = \"documented\"\n");
        let ran = folder.run(&["validate", "--format", "json", "--now", "2034-01-01T00:00Z"]);
        let expected: &[&str] = if wire.is_null() { &[] } else { &["EX106"] };
        assert_eq!(codes(&ran), expected, "{field}: {written} at the level documented");
    }
}

#[test]
fn wrong_shares_and_weights_are_reported_with_a_correction() {
    for (field, written, code, help) in [
        ("control", "1", "EX104", "write a number such as 0.2"),
        ("control", "-0.1", "EX104", "write a number such as 0.2"),
        ("control", "20", "EX104", "write 0.2"),
        ("control", "20%", "EX104", "write 0.2"),
        ("control", "\"0.2\"", "EX104", "write 0.2 without quotes"),
        ("weight", "0", "EX105", "use `control`"),
        ("weight", "-1", "EX105", "use `control`"),
        ("weight", "0.5", "EX105", "the weights 2 and 3"),
        ("weight", "\"2\"", "EX105", "the weights 2 and 3"),
    ] {
        let folder = Folder::project(&with(field, written));
        let ran = folder.run(&["validate", "--now", "2034-01-01T00:00Z"]);
        assert_eq!(ran.code, 3, "{field}: {written}\n{ran}");
        says(&ran.stdout, &[&format!("error[{code}]"), help]);
    }
}

#[test]
fn defaults_that_someone_else_writes_are_no_difference() {
    let project = Project::new(TEST);
    let service = served(&project);
    project.good(&["apply", "--yes"]);
    let id = service.get("/api/experiments")["experiments"][0]["experiment_id"].clone();
    let mut experiment = service.get("/api/experiments")["experiments"][0].clone();
    for key in ["id", "experiment_id", "push_id", "created_at", "status"] {
        experiment.as_object_mut().expect("a map").remove(key);
    }
    experiment["control"] = json!(0);
    for number in [0, 1] {
        experiment["variants"][number]["weight"] = json!(1);
    }
    let made = service.post("/api/experiments", &experiment);
    service.delete(&format!("/api/experiments/scheduled/{}", id.as_str().expect("an id")));
    project.good(&["forget", "experiments/words"]);
    project.good(&["adopt", "experiments/words", "--id", made["experiment_id"].as_str().expect("an id")]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    says(&project.good(&["drift"]).stdout, &["No drift"]);
}

fn devices(service: &Service, count: usize) {
    for number in 0..count {
        let form = json!({ "device_type": "ios", "tags": ["vip"] });
        service.put(&format!("/local/devices/device-{number}"), &form);
    }
}

#[test]
fn a_plan_shows_the_split_and_the_devices_of_each_variant() {
    let project = Project::new(TEST);
    let service = served(&project);
    devices(&service, 15);
    says(&flat(&project.good(&["plan"])), &["about 8 of 15 devices each"]);
    project.good(&["apply", "--yes"]);
    project.write(&with("control", "0.2"));
    let shown = flat(&project.good(&["plan"]));
    says(
        &shown,
        &[
            "experiments/words shows 2 variants each to 40 % of its devices (until now 50 %).",
            "FEWER",
            "to the same people, to 40 % of them (until now 50 %)",
            "50 % / 50 % → 40 % / 40 % / 20 % nobody",
            "about 8 → 6 of 15 devices",
        ],
    );
    project.write(&with("weight", "3"));
    let shown = flat(&project.good(&["plan"]));
    says(
        &shown,
        &[
            "experiments/words shows variant 1 to 75 % of its devices (until now 50 %).",
            "It shows variant 2 to 25 % of its devices (until now 50 %).",
            "50 % / 50 % → 75 % / 25 %",
        ],
    );
    let document = checked(&project.good(&["plan", "--format", "json"]), "plan.schema.json");
    let first = &document["messages"][0];
    assert_eq!((&first["class"], &first["variant"]), (&json!("more"), &json!(1)));
    assert_eq!(first["audience"]["share_percent"], json!({ "old": 50.0, "new": 75.0 }));
    assert_eq!((&first["reach"]["before"], &first["reach"]["after"]), (&json!(8), &json!(11)));
    assert_eq!((&first["reach"]["estimated"], &first["reach"]["exact"]), (&json!(true), &json!(false)));
}

#[test]
fn another_name_or_proportional_weights_change_no_message() {
    let project = Project::new(TEST);
    let _service = served(&project);
    project.good(&["apply", "--yes"]);
    project.write(&with("name", "Short"));
    says(&project.good(&["plan"]).stdout, &["No message changes.", "experiments/words"]);
    project.write(&TEST.replace("schedule:", "weight: 5, schedule:"));
    says(&project.good(&["plan"]).stdout, &["No message changes.", "experiments/words"]);
}

#[test]
fn the_variants_are_compared_with_the_control_group() {
    let project = Project::new(
        &with("control", "0.5")
            .replace("{push: {notification: {alert: Two}}", "{name: Short, push: {notification: {alert: Two}}"),
    );
    let service = served(&project);
    devices(&service, 260);
    project.good(&["apply", "--yes"]);
    service.post("/local/clock", &json!({ "to": "2035-01-22T11:00:00Z" }));
    for number in 0..260 {
        let path = format!("/local/devices/device-{number}");
        let received = service.get(&format!("{path}/received"));
        if let Some(push_id) = received["received"][0]["push_id"].as_str() {
            service.post(&format!("{path}/tap"), &json!({ "push_id": push_id }));
        } else if number % 10 == 0 {
            service.post(&format!("{path}/open"), &json!({}));
        }
    }
    let shown = flat(&project.good(&["outcome"]));
    says(
        &shown,
        &[
            "variant 1: ",
            "variant 2 \"Short\": ",
            "control group: ",
            "100.0 % (95 %: ",
            "against the control group: +",
            "more people respond",
            "the sample is too small for a decision: a group has fewer than 100 devices",
        ],
    );
    let document = checked(&project.good(&["outcome", "--format", "json"]), "outcome.schema.json");
    let push = &document["pushes"][0];
    assert_eq!((&push["too_small"], &push["variants"][1]["name"]), (&json!(true), &json!("Short")));
    assert_eq!(push["variants"][0]["clear"], true);
    let control = push["control"]["devices"].as_u64().expect("a number");
    assert!((90..170).contains(&control), "{control}");
    assert_eq!(push["sends"].as_u64().expect("a number"), 260 - control);
}
