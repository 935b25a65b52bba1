//! Stories: a person with years of things in a dashboard, and a project that is empty or not.

use pushplan_testing::{Project, Ran, Service, ended, says};
use reqwest::Method;
use serde_json::json;

use super::in_sync;

/// A project that declares nothing.
fn empty() -> Project {
    Project::new("")
}

fn push(audience: &serde_json::Value) -> serde_json::Value {
    json!({"audience": audience, "device_types": ["ios", "android"], "notification": {"alert": "The sale is on"}})
}

/// Something of each kind that is configured, made in the dashboard. Gives the id of the segment.
fn shop(service: &Service) -> String {
    let id = service.segment("Lapsed buyers", "lapsed");
    service.post(
        "/api/segments",
        &json!({"display_name": "On the coast", "criteria": {"and": [
            {"segment": id}, {"tag": "America/New_York", "group": "timezone"},
        ]}}),
    );
    service.post("/api/templates", &json!({"name": "Win back", "push": {"notification": {"alert": "Come back"}}}));
    let outcome = json!({"delay": 3600, "push": push(&json!("triggered"))});
    service.post("/api/pipelines", &json!({
        "name": "Remind later", "enabled": true, "immediate_trigger": {"tag_added": "remind-me"}, "outcome": outcome,
    }));
    service.post("/api/schedules", &json!({
        "name": "Black Friday", "schedule": {"scheduled_time": "2036-11-28T1400"}, "push": push(&json!({"segment": id})),
    }));
    id
}

#[test]
fn a_pull_writes_a_file_for_each_kind_and_leaves_nothing_to_do() {
    let project = empty();
    let service = project.serve();
    let id = shop(&service);
    service.forget();
    let ran = project.good(&["pull"]);
    says(&ran.stdout, &["Wrote segments.yaml: 2 segments", "Wrote templates.yaml: 1 template"]);
    says(&ran.stdout, &["Wrote scheduled_pushes.yaml: 1 scheduled push", "5 resources pulled and adopted."]);
    assert_eq!(service.writes(), Vec::<String>::new(), "nothing is touched");
    assert_eq!(
        project.folder.read("segments.yaml"),
        "segments:
  lapsed-buyers:
    display_name: Lapsed buyers
    criteria: {tag: lapsed}

  on-the-coast:
    display_name: On the coast
    criteria:
      and:
        - segment: lapsed-buyers
        - timezone: America/New_York
"
    );
    assert!(!project.folder.read("scheduled_pushes.yaml").contains(&id), "segments have names");
    in_sync(&project);
    let ran = project.good(&["pull"]);
    assert_eq!(
        ran.stdout,
        "Nothing to pull: nothing changed on the service since the last apply or pull. pushplan plan shows differences in your files.\n"
    );
}

#[test]
fn a_kind_or_an_address_or_a_name_or_an_id_is_pulled_alone() {
    let project = empty();
    let service = project.serve();
    let id = shop(&service);
    says(&project.good(&["pull", "templates/win-back"]).stdout, &["1 resource pulled"]);
    in_sync(&project);
    // The segment that it names is not ours, and stays by its id.
    project.good(&["pull", "scheduled_pushes"]);
    says(&project.folder.read("scheduled_pushes.yaml"), &["segment:", "id:", &id]);
    in_sync(&project);
    says(&project.good(&["pull", "segments/Lapsed buyers"]).stdout, &["Wrote segments.yaml: 1 segment"]);
    in_sync(&project);
    // By now it is, and what names it says so.
    says(&project.good(&["pull", "segments/on-*"]).stdout, &["Added to segments.yaml: 1 segment"]);
    says(&project.folder.read("segments.yaml"), &["- segment: lapsed-buyers"]);
    in_sync(&project);
    says(&project.good(&["pull", "segments"]).stdout, &["Nothing to pull"]);
}

#[test]
fn words_that_mean_nothing_are_refused() {
    let project = empty();
    let service = project.serve();
    shop(&service);
    for (words, said) in [
        ("segmnets", "did you mean `segments`?"),
        ("segments/lapsed-buyer", "did you mean segments/lapsed-buyers?"),
        ("things/x", "no kind has the name `things`"),
    ] {
        let ran = project.run(&["pull", words]);
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &[said]);
    }
    assert!(!project.folder.path().join("segments.yaml").exists());
}

#[test]
fn people_are_pulled_when_they_are_asked_for() {
    let project = empty();
    let service = project.serve();
    for (id, device_type) in [("phone-1", "ios"), ("phone-2", "android"), ("page-1", "web")] {
        let device = json!({"device_type": device_type, "opt_in": true, "tags": {"": ["news"]}});
        let (status, answer) = service.ask(Method::PUT, &format!("/local/devices/{id}"), Some(&device));
        assert!(status < 300, "{answer}");
    }
    for (id, device_type) in [("phone-1", "ios"), ("page-1", "web")] {
        let body = json!({"channel_id": id, "device_type": device_type, "named_user_id": "Ada 1"});
        service.post("/api/named_users/associate", &body);
    }
    service
        .post("/api/named_users/tags", &json!({"audience": {"named_user_id": "Ada 1"}, "set": {"loyalty": ["gold"]}}));
    let tags = json!({"audience": {"android_channel": "phone-2"}, "set": {"loyalty": ["silver"], "My Group": ["x"]}});
    service.post("/api/channels/tags", &tags);
    let open = json!({"type": "open", "opt_in": true, "address": "+1555", "locale_country": "US",
        "open": {"open_platform_name": "sms", "identifiers": {"number": "+1555"}}});
    service.post("/api/channels/open", &json!({"channel": open}));

    says(&project.good(&["pull"]).stdout, &["Wrote tags.yaml: 1 legacy tag"]);
    assert_eq!(project.folder.read("tags.yaml"), "tags:\n  news: {}\n", "carriers are people");
    project.good(&["pull", "named_users"]);
    assert_eq!(
        project.folder.read("named_users.yaml"),
        "named_users:
  ada-1:
    named_user_id: Ada 1
    channels:
      - {channel_id: page-1, device_type: web}
      - {channel_id: phone-1, device_type: ios}
"
    );
    in_sync(&project);
    let ran = project.good(&["pull", "--all"]);
    says(&ran.stdout, &["Wrote tag_groups.yaml: 1 tag group", "Wrote open_channels.yaml: 1 open channel"]);
    says(&ran.stderr, &["Skipped: 1 tag group: its name cannot be a key in a manifest: My Group"]);
    says(&ran.stderr, &["in git, only iOS and Android channels can have it"]);
    says(&project.folder.read("tags.yaml"), &["news:", "ios_channels: [phone-1]", "android_channels: [phone-2]"]);
    assert_eq!(
        project.folder.read("tag_groups.yaml"),
        "tag_groups:
  loyalty:
    members:
      named_users: {\"Ada 1\": [gold]}
      android_channels: {phone-2: [silver]}
"
    );
    says(&project.folder.read("open_channels.yaml"), &["address: \"+1555\"", "locale_country: US"]);
    in_sync(&project);
}

#[test]
fn each_resource_can_have_a_file_of_its_own() {
    let project = empty();
    let service = project.serve();
    shop(&service);
    service.segment("a.test", "x");
    project.good(&["pull", "--layout", "resource", "--out", "from-service"]);
    says(&project.folder.read("from-service/segments/lapsed-buyers.yaml"), &["segments:\n  lapsed-buyers:\n"]);
    // A name that ends so is one of device tests.
    says(&project.folder.read("from-service/segments/a-test.yaml"), &["a.test"]);
    in_sync(&project);
}

#[test]
fn a_folder_that_the_project_does_not_read_is_refused() {
    let project = empty();
    let _service = project.serve();
    for folder in ["../elsewhere", ".hidden"] {
        let ran = project.run(&["pull", "--out", folder]);
        assert_eq!(ran.code, 64, "{ran}");
    }
}

#[test]
fn a_dry_run_shows_the_files_and_writes_nothing() {
    let project = empty();
    let service = project.serve();
    shop(&service);
    let ran = project.good(&["pull", "--dry-run"]);
    says(&ran.stdout, &["--- /dev/null", "+++ b/segments.yaml", "+  lapsed-buyers:"]);
    says(&ran.stdout, &["5 resources would be pulled and adopted. Nothing was written."]);
    assert!(!project.folder.path().join("segments.yaml").exists());
    assert_eq!(project.good(&["history"]).stdout.matches("adopt").count(), 0);
    project.good(&["pull", "segments/lapsed-buyers"]);
    let ran = project.good(&["pull", "segments", "--dry-run"]);
    says(&ran.stdout, &["--- a/segments.yaml", "+  on-the-coast:"]);
}

#[test]
fn what_stands_in_a_file_is_never_lost() {
    let project = empty();
    let service = project.serve();
    shop(&service);
    // One that can be added to keeps all that it has.
    let mine = "# Mine.\ntemplates:\n    mine: # and this\n        push: {notification: {alert: Hello}}\n# The end.";
    project.folder.write("templates.yaml", mine);
    // This one is written in a way that nothing can be added to.
    project.folder.write("segments.yaml", "segments: {own: {criteria: {tag: own}}}\n");
    let ran = project.good(&["pull"]);
    says(&ran.stdout, &["Added to templates.yaml: 1 template"]);
    says(&ran.stdout, &["Wrote segments.pulled.yaml: 2 segments, since segments.yaml is there and cannot be added to"]);
    assert!(project.folder.read("templates.yaml").starts_with(mine));
    assert_eq!(project.folder.read("segments.yaml"), "segments: {own: {criteria: {tag: own}}}\n");
    assert_eq!(project.changes(&[]), ["+ segments/own", "+ templates/mine"]);
}

#[test]
fn a_pull_that_could_not_reach_the_ledger_is_finished_by_the_next() {
    let project = empty();
    let service = project.serve();
    shop(&service);
    service.segment("Twice", "a");
    service.segment("Twice", "a");
    project.good(&["pull"]);
    let names = ["segments.yaml", "templates.yaml", "pipelines.yaml", "scheduled_pushes.yaml"];
    let before: Vec<String> = names.iter().map(|name| project.folder.read(name)).collect();
    // As if the last step had failed: files are there, and the ledger knows nothing of them.
    for part in [".pushplan/ledger", ".pushplan/seen"] {
        std::fs::remove_dir_all(project.folder.path().join(part)).expect("a ledger");
    }
    let ran = project.good(&["pull"]);
    says(&ran.stdout, &["Adopted as declared: pipelines/remind-later, scheduled_pushes/black-friday, segments/"]);
    says(&ran.stdout, &["and 2 more\n7 resources adopted as declared. Next: pushplan plan\n"]);
    let after: Vec<String> = names.iter().map(|name| project.folder.read(name)).collect();
    assert_eq!(before, after);
    in_sync(&project);
}

#[test]
fn something_declared_with_the_same_name_is_not_written_twice() {
    let project = Project::new("segments:\n  lapsed: {display_name: Lapsed buyers, criteria: {tag: other}}\n");
    let service = project.serve();
    let id = service.segment("Lapsed buyers", "lapsed");
    let ran = project.run(&["pull"]);
    assert_eq!(ran.code, 6, "a plan waits for a decision: {ran}");
    says(&ran.stderr, &["segments/lapsed has its name but is different", "pushplan adopt segments/lapsed", &id]);
    says(&ran.stdout, &["1 resource left for you to decide about. Next: pushplan plan"]);
}

#[test]
fn names_that_would_give_keys_of_one_s_own_are_pulled_with_others() {
    let project = empty();
    let service = project.serve();
    for name in ["x", "X!", "x-ray"] {
        service.segment(name, "a");
    }
    let ran = project.good(&["pull"]);
    says(&ran.stdout, &["Wrote segments.yaml: 3 segments", "3 resources pulled and adopted."]);
    assert_eq!(ran.stderr, "");
    assert_eq!(project.folder.read("segments.yaml").matches("  segment-x-").count(), 3);
    in_sync(&project);
}

#[test]
fn what_is_ours_and_in_no_file_is_written_anew_where_it_is_named() {
    let both = "segments:\n  a: {display_name: Alpha, criteria: {tag: a}}\n  b: {criteria: {segment: a}}\n";
    let (project, service) = super::applied(both);
    let other = "segments:\n  c: {criteria: {tag: c}}\n";
    project.write(other);
    let edited = json!({"display_name": "Beta", "criteria": {"tag": "theirs"}});
    service.put(&format!("/api/segments/{}", service.segment_id("Alpha")), &edited);
    says(&project.good(&["drift"]).stdout, &["to keep    pushplan pull segments/a"]);
    says(&project.good(&["pull"]).stdout, &["Nothing to pull"]);
    let ran = project.good(&["pull", "segments/a", "segments/b"]);
    says(&ran.stdout, &["2 resources pulled and adopted."]);
    let written = project.folder.read("segments.yaml");
    says(&written, &["  a:\n    display_name: Beta\n    criteria: {tag: theirs}\n", "criteria: {segment: a}"]);
    project.write("");
    in_sync(&project);
}

#[test]
fn the_numbers_of_a_pull_add_up() {
    let project = Project::new("segments:\n  mine: {display_name: Same, criteria: {tag: a}}\n");
    let service = project.serve();
    service.segment("Same", "a");
    service.post("/api/segments", &json!({"display_name": "Gold", "criteria": {"tag": "gold", "group": "loyalty"}}));
    let ran = project.good(&["pull", "--layout", "resource"]);
    says(&ran.stdout, &["Wrote segments/gold.yaml: 1 segment", "Wrote tag_groups/loyalty.yaml: 1 tag group"]);
    says(&ran.stdout, &["Adopted as declared: segments/mine\n"]);
    let last = "1 resource adopted as declared, 1 resource pulled and adopted, 1 tag group added to the files. Next: ";
    says(&ran.stdout, &[last]);
    in_sync(&project);
}

#[test]
fn what_cannot_be_listed_is_said_with_what_to_do() {
    let project = Project::documented("");
    let service = project.serve();
    shop(&service);
    let ran = project.good(&["pull"]);
    says(
        &ran.stderr,
        &["Not checked: scheduled pushes and experiments", "pushplan adopt scheduled_pushes/KEY --id ID"],
    );
    assert!(!project.folder.path().join("scheduled_pushes.yaml").exists());
    in_sync(&project);
}

#[test]
fn what_has_had_its_time_stays_where_it_is() {
    let project = empty();
    let service = project.serve_with(&["--clock", "2026-11-27T09:00:00Z"]);
    let variant = |alert: &str, time: &str| json!({"push": {"notification": {"alert": alert}}, "schedule": {"scheduled_time": time}});
    let test = |name: &str, time: &str| {
        let variants = [variant("a", time), variant("b", time)];
        json!({"name": name, "audience": "all", "device_types": ["ios"], "variants": variants})
    };
    service.post("/api/experiments", &test("Soon over", "2026-11-27T1000"));
    service.post("/api/experiments", &test("Later", "2026-12-27T1000"));
    let (status, _) = service.ask(Method::POST, "/local/clock", Some(&json!({"by": "2h"})));
    assert!(status < 300, "{status}");
    let told = project.good(&["unmanaged"]).stdout;
    says(
        &told,
        &["its time has passed, so there is nothing to pull", "To add one to git: pushplan pull experiments/later"],
    );
    let ran = project.good(&["pull"]);
    says(&ran.stderr, &["Skipped: 1 experiment: its time has passed: Soon over"]);
    says(&ran.stdout, &["1 resource pulled"]);
    in_sync(&project);
    let told = project.good(&["unmanaged"]).stdout;
    assert!(told.contains("experiments/Soon over") && !told.contains("To add one to git"), "{told}");
}

#[test]
fn what_the_account_really_has_is_no_error() {
    let project = empty();
    let service = project.serve();
    service.segment("Declarable", "x");
    let criteria = |tag: &str, group: &str| json!({"tag": tag, "group": group});
    for (name, criteria) in [
        ("Old version", criteria("8.3.1", "ua_ios_version")),
        ("Own group", criteria("gold", "loyalty")),
        ("Own group again", criteria("silver", "loyalty")),
        ("Group that is no key", criteria("gold", "My Group")),
        ("Group of the service", criteria("110", "ua_chrome_version")),
    ] {
        service.post("/api/segments", &json!({"display_name": name, "criteria": criteria}));
    }
    service.post(
        "/api/templates",
        &json!({"name": "t", "push": {"notification": {"alert": "Hi {{WHO}} ${x} $${var.y}"}}}),
    );
    let ran = project.good(&["pull"]);
    says(&ran.stdout, &["Wrote tag_groups.yaml: 1 tag group"]);
    assert_eq!(project.folder.read("tag_groups.yaml"), "tag_groups:\n  loyalty: {}\n");
    let segments = project.folder.read("segments.yaml");
    assert_eq!(segments.matches("RF103").count(), 2, "a group that can be declared is: {segments}");
    says(&segments, &["# Pulled from the service", "lifecycle: {warn: [AU101]}", "lifecycle: {warn: [RF103]}"]);
    says(&project.folder.read("templates.yaml"), &["lifecycle: {warn: [MS101]}"]);
    in_sync(&project);
    let ran: Ran = project.run(&["validate", "--fail-on", "warning"]);
    says(&ran.stdout, &["warning[AU101]", "warning[RF103]", "warning[MS101]"]);
}

#[test]
fn a_code_that_cannot_be_turned_off_cannot_be_a_warning_either() {
    let project = Project::new("segments:\n  a: {criteria: {tag: x}, lifecycle: {warn: [YM101, XX999]}}\n");
    let ran = project.run(&["validate"]);
    assert_eq!(ran.code, 3, "{ran}");
    says(&ran.stdout, &["`YM101` cannot be turned off", "the code `XX999` does not exist"]);
}

#[test]
fn of_two_pulls_at_once_one_leaves_nothing() {
    let project = empty();
    let rules = "[[fault]]\nkind = \"delay\"\nms = 3000\nmethod = \"GET\"\npath = \"/api/templates\"\n";
    let service = project.faulty(rules);
    service.post("/api/templates", &json!({"name": "Win back", "push": {"notification": {"alert": "Come back"}}}));
    let both = [project.start(&["pull", "templates"]), project.start(&["pull", "templates"])];
    let mut ran = both.map(ended);
    ran.sort_by_key(|ran| ran.code);
    assert_eq!(ran.each_ref().map(|ran| ran.code), [0, 1], "{} {}", ran[0], ran[1]);
    says(&ran[1].stderr, &["another pull or apply has run", "this run changed nothing", "run it again"]);
    let names = std::fs::read_dir(project.folder.path()).expect("a folder").flatten();
    let mut names: Vec<String> = names.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.contains("templates"));
    assert_eq!(names, ["templates.yaml"]);
    project.good(&["validate"]);
    says(&project.good(&["pull", "templates"]).stdout, &["Nothing to pull"]);
    in_sync(&project);
}
