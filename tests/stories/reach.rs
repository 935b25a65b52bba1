//! `pushplan reach`, and the numbers of devices in plans.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use pushplan_testing::{Project, Ran, Service, checked, ended, says, signal};
use serde_json::{Value, json};

const PUSH: &str = "\
segments:
  buyers: {criteria: {tag: buyer}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {segment: buyers}, device_types: [ios, android], notification: {alert: Sale}}
  team:
    schedule: {scheduled_time: 2035-01-22T11:00}
    push: {audience: {named_user: qa}, device_types: [ios, android], notification: {alert: Hello}}
";
const WIDER: (&str, &str) = ("{tag: buyer}", "{or: [{tag: buyer}, {tag: lapsed}]}");
const FILE: &str = ".pushplan/population-remote";

/// A project with a target on a remote service, with 8 buyers and 4 lapsed ones.
struct Remote {
    project: Project,
    service: Service,
}

impl Remote {
    fn new(faults: &str) -> Self {
        let project = Project::new(PUSH);
        let path = project.folder.write("faults.toml", faults);
        let service = project.serve_with(&["--faults", path.to_str().expect("UTF-8"), "--clock", "2035-01-20T00:00Z"]);
        for number in 0..20 {
            let tags = json!(["buyer", "lapsed", "new"][[0, 0, 1, 2, 2][number % 5]]);
            let device = json!({ "device_type": "ios", "tags": [tags], "push_address": "an-address", "opt_in": true });
            service.put(&format!("/local/devices/d-{number}"), &device);
        }
        let remote = Self { project, service };
        remote.settings("");
        remote
    }

    fn settings(&self, more: &str) {
        let origin = &self.service.origin;
        let text = format!("[targets.remote]\nbase_url = \"{origin}\"\napi = \"extended\"\nledger = \"file:\"\n{more}");
        self.project.folder.write("pushplan.toml", text);
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.project.run_as(arguments, &self.service.credentials())
    }

    fn good(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{ran}");
        ran
    }

    /// The stored population.
    fn bytes(&self) -> Vec<u8> {
        fs::read(self.project.folder.path().join(FILE)).expect("a population")
    }

    /// Stores a population like the command.
    fn keep(&self, bytes: &[u8]) {
        let path = self.project.folder.path().join(FILE);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, bytes).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
    }

    fn reach(&self, address: &str) -> Value {
        let plan = checked(&self.good(&["plan", "--format", "json"]), "plan.schema.json");
        let messages = plan["messages"].as_array().expect("messages");
        let own = messages.iter().find(|message| message["address"] == address);
        own.unwrap_or_else(|| panic!("{address} is not in {plan:#}"))["reach"].clone()
    }
}

#[test]
fn a_plan_shows_how_many_devices_a_change_adds() {
    let remote = Remote::new("");
    remote.good(&["apply", "--yes"]);
    remote.project.edit(WIDER.0, WIDER.1);
    assert_eq!(remote.reach("scheduled_pushes/sale"), Value::Null, "nobody asked for numbers");
    remote.service.forget();
    let ran = remote.good(&["reach"]);
    says(&ran.stdout, &["remote has 20 devices.", "scheduled_pushes/sale", "12", "scheduled_pushes/team"]);
    assert_eq!(remote.service.writes(), Vec::<String>::new(), "it only reads");
    let ran = remote.good(&["plan"]);
    says(&ran.stdout, &["about 8 → 12 of 20 devices (+4)", "Counted on the 20 devices that were read "]);
    let reach = remote.reach("scheduled_pushes/sale");
    assert_eq!((&reach["before"], &reach["after"], &reach["devices"]), (&json!(8), &json!(12), &json!(20)));
    assert_eq!((&reach["exact"], &reach["population"]["source"]), (&json!(true), &json!("channels")));
    // Counts decide nothing: a saved plan with counts can be applied.
    remote.good(&["plan", "--out", "saved.plan"]);
    remote.good(&["reach"]);
    remote.good(&["apply", "saved.plan"]);
    let ran = remote.good(&["plan"]);
    assert!(!ran.stdout.contains("devices"), "nothing changes, so nothing is counted: {ran}");
}

/// Tags that the project declares for people are not on the devices yet.
#[test]
fn reach_counts_the_devices_as_they_are() {
    let remote = Remote::new("");
    let groups =
        "tag_groups:\n  tier: {tags: [gold], members: {named_users: {ann: [gold], bob: [gold], cleo: [gold]}}}\n";
    remote.project.edit("{tag: buyer}", "{tag: gold, group: tier}");
    remote.project.write(&format!("{}{groups}", remote.project.folder.read("messages.yaml")));
    let document = checked(&remote.good(&["reach", "--format", "json"]), "reach.schema.json");
    assert_eq!(
        document["messages"][0],
        json!({
            "address": "scheduled_pushes/sale",
            "devices": 0,
            "bounds": { "at_least": 0, "at_most": 0 },
        })
    );
}

#[test]
fn a_population_holds_no_ids_and_addresses_and_only_its_owner_reads_it() {
    let remote = Remote::new("");
    let document = checked(&remote.good(&["reach", "--format", "json"]), "reach.schema.json");
    let told = |message: &Value| (message["address"].clone(), message["devices"].clone(), message["bounds"].clone());
    let messages: Vec<_> = document["messages"].as_array().expect("messages").iter().map(told).collect();
    let bounds = json!({ "at_least": 8, "at_most": 8 });
    // Named users are not stored. No device has one, so nobody is in its audience.
    let none = json!({ "at_least": 0, "at_most": 0 });
    assert_eq!(
        messages,
        [(json!("scheduled_pushes/sale"), json!(8), bounds), (json!("scheduled_pushes/team"), json!(0), none),]
    );
    let path = remote.project.folder.path().join(FILE);
    let bytes = fs::read(&path).expect("a population");
    let text = String::from_utf8_lossy(&bytes);
    for secret in ["d-1", "an-address"] {
        assert!(!text.contains(secret), "it holds {secret}");
    }
    assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    assert_eq!(remote.project.folder.read(".pushplan/.gitignore").trim(), "*");
}

#[test]
fn a_population_that_cannot_be_used_leaves_a_plan_without_numbers() {
    let remote = Remote::new("");
    remote.good(&["reach"]);
    let path = remote.project.folder.path().join(FILE);
    let good = fs::read(&path).expect("a population");
    let mut damaged = good.clone();
    *damaged.last_mut().expect("bytes") ^= 1;
    let newer = String::from_utf8_lossy(&good[..21]).replace("population 1", "population 9").into_bytes();
    for (bytes, why) in [
        (&damaged[..], "it is damaged"),
        (&good[..good.len() / 2], "it is damaged"),
        (b"something else", "it is not a population"),
        (&[&newer, &good[21..]].concat()[..], "it has form 9, and this version of pushplan reads form 1"),
    ] {
        fs::write(&path, bytes).expect("written");
        let ran = remote.good(&["plan"]);
        says(&ran.stderr, &["population-remote cannot be used", why, "Run `pushplan reach` again."]);
        says(&ran.stdout, &["scheduled_pushes/sale"]);
        assert!(!ran.stdout.contains("devices ("), "{ran}");
    }
    // A population from a checkout is not used for the target.
    fs::write(&path, &good).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("a mode");
    says(&remote.good(&["plan"]).stderr, &["others can read it, or it is in git"]);
    remote.good(&["reach"]);
    says(&remote.good(&["plan"]).stdout, &["about 8 of 20 devices"]);
}

#[test]
fn an_incomplete_list_is_an_error_and_the_old_population_stays() {
    let remote = Remote::new("");
    remote.good(&["reach"]);
    let old = remote.bytes();
    for fault in [
        // The second page, repeatedly.
        "kind = \"status\"\nstatus = 503\nafter = 1",
        "kind = \"garble\"",
        "kind = \"loop\"",
        "kind = \"truncate\"",
    ] {
        let faults = format!("[[fault]]\n{fault}\nmethod = \"GET\"\npath = \"/api/channels*\"\n");
        let remote = Remote::new(&faults);
        remote.keep(&old);
        for number in 20..1_100 {
            remote.service.put(&format!("/local/devices/d-{number}"), &json!({ "device_type": "ios" }));
        }
        let ran = remote.run(&["reach"]);
        assert_eq!(ran.code, 1, "{fault}: {ran}");
        says(&ran.stderr, &["/api/channels?"]);
        assert_eq!(remote.bytes(), old, "{fault}");
    }
}

#[test]
fn an_interrupt_leaves_the_old_population() {
    let remote = Remote::new("[[fault]]\nkind = \"delay\"\nms = 20000\npath = \"/api/channels*\"\n");
    remote.keep(b"what was there");
    let child = remote.project.start_as(&["reach"], &remote.service.credentials());
    // Wait until it reads the channel list.
    let is_asked = || remote.service.asked().iter().any(|line| line.contains("/api/named_users"));
    for _ in 0..200 {
        if is_asked() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(is_asked(), "it reads the named users first");
    signal(&child, "-INT");
    let ran = ended(child);
    assert_eq!(ran.code, 130, "{ran}");
    says(&ran.stderr, &["Interrupted. The earlier population is kept."]);
    assert_eq!(remote.bytes(), b"what was there");
}

#[test]
fn a_project_ships_a_sample_population() {
    let remote = Remote::new("");
    let line = |number: usize| {
        let tag = if number < 30 { "buyer" } else { "other" };
        json!({ "id": format!("s-{number}"), "device_type": "android", "opt_in": true, "tags": { "": [tag] } })
            .to_string()
    };
    let lines: Vec<String> = (0..100).map(line).collect();
    remote.project.folder.write("sample.jsonl", lines.join("\n"));
    remote.settings("population = \"sample.jsonl\"\n");
    says(&remote.good(&["plan"]).stdout, &["about 30 of 100 devices", "Counted on a sample of 100 devices."]);
    // Also without the service, as in a pull request from a fork.
    let ran = remote.project.run(&["plan", "--offline"]);
    says(&ran.stdout, &["about 30 of 100 devices", "Counted on a sample of 100 devices."]);
    // The devices of the target itself take precedence.
    remote.good(&["reach"]);
    says(&remote.good(&["plan"]).stdout, &["about 8 of 20 devices"]);
    let ran = remote.good(&["reach", "--from", "sample.jsonl"]);
    says(&ran.stdout, &["remote has a sample population of 100 devices.", "30"]);
    says(&remote.good(&["plan"]).stdout, &["about 30 of 100 devices"]);
    fs::remove_file(remote.project.folder.path().join(FILE)).expect("removed");
    remote.project.folder.write("sample.jsonl", "{\"id\": \"a\"}\n");
    says(&remote.good(&["plan"]).stderr, &["The sample population cannot be used", "`device_type` is missing"]);
    remote.settings("population = \"../sample.jsonl\"\n");
    says(&remote.good(&["plan"]).stderr, &["is outside the project's folder"]);
}

#[test]
fn the_built_in_service_is_counted_at_every_plan() {
    let project = Project::new(PUSH);
    let service = project.serve();
    for number in 0..6 {
        let tags = if number < 4 { json!(["buyer"]) } else { json!(["lapsed"]) };
        let mut device = json!({ "device_type": "ios", "tags": tags });
        if number == 5 {
            device["named_user"] = "qa".into();
        }
        service.put(&format!("/local/devices/d-{number}"), &device);
    }
    project.good(&["apply", "--yes"]);
    project.edit(WIDER.0, WIDER.1);
    project.edit("named_user: qa", "named_user: qa-team");
    let plan = checked(&project.run(&["plan", "--format", "json"]), "plan.schema.json");
    let messages = plan["messages"].as_array().expect("messages").iter();
    let mut reach: Vec<(&Value, &Value, &Value)> = messages
        .map(|message| (&message["address"], &message["reach"]["before"], &message["reach"]["after"]))
        .collect();
    reach.sort_by_key(|(address, ..)| address.to_string());
    assert_eq!(
        reach,
        [
            (&json!("scheduled_pushes/sale"), &json!(4), &json!(6)),
            (&json!("scheduled_pushes/team"), &json!(1), &json!(0)),
        ]
    );
    let ran = project.run(&["plan"]);
    says(&ran.stdout, &["scheduled_pushes/team reaches no device today.", "1 → 0 of 6 devices, nobody today"]);
    says(&ran.stdout, &["4 → 6 of 6 devices (+2)", "1 → 0 of 6 devices", "the 6 devices of the built-in service"]);
}

/// A channel that the plan deletes is not counted for a message that the plan creates.
#[test]
fn a_new_message_is_counted_without_the_channels_that_the_plan_deletes() {
    let till = |key: &str| {
        format!("  {key}: {{opt_in: true, open: {{open_platform_name: pos}}, address: {key}, tags: [till]}}\n")
    };
    let (kept, gone) = (till("till-1"), till("till-2"));
    let project = Project::new(&format!("open_channels:\n{kept}{gone}"));
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let push = "scheduled_pushes:\n  hello: {schedule: {scheduled_time: 2035-02-01T10:00}, push: {audience: {tag: till}, \
                device_types: [\"open::pos\"], notification: {alert: Hello}}}\n";
    project.write(&format!("open_channels:\n{kept}{push}"));
    let plan: Value = serde_json::from_str(&project.run(&["plan", "--format", "json"]).stdout).expect("JSON");
    let message = &plan["messages"][0];
    assert_eq!(
        (&message["address"], &message["reach"]["after"]),
        (&json!("scheduled_pushes/hello"), &json!(1)),
        "{plan:#}"
    );
    project.good(&["apply", "--yes"]);
    project.edit("alert: Hello", "alert: Good morning");
    let plan: Value = serde_json::from_str(&project.run(&["plan", "--format", "json"]).stdout).expect("JSON");
    assert_eq!(plan["messages"][0]["reach"]["after"], 1, "the apply did what was counted: {plan:#}");
}
