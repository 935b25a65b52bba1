//! An account with a thousand things that have awkward names, taken into git as it is.

use std::collections::BTreeMap;
use std::fs;

use pushplan_testing::{Project, Service, says};
use reqwest::Method;
use serde_json::json;

use super::in_sync;

/// Names that break something somewhere.
const AWKWARD: &[&str] = &[
    "Sale",
    "Sale",
    "sale",
    "🎉",
    "🎉🎉",
    "a/b",
    "../up",
    "true",
    "No",
    "null",
    "~",
    "1e3",
    "6.10",
    "0x10",
    "${var.x}",
    "${",
    "$${",
    "{{NAME}}",
    "{{",
    "x-mas",
    "foo.test",
    "CON",
    "日本語",
    "Größe",
    " both ends ",
    "a: b",
    "- dash",
    "# hash",
    "'quote\"",
    "line\nbreak",
    "tab\there",
    "back\\slash",
    "\u{202e}right",
    "[list]",
    "{map}",
    "*alias",
    "&anchor",
    "!tag",
    "%",
    "@",
    "`",
    "|",
    ">",
    "?",
    "defaults",
    "lifecycle",
    "-",
    ".",
    "2026-11-27",
    "12:30:45",
    "=",
    "<<",
];

fn name(number: usize) -> String {
    match (number / AWKWARD.len(), AWKWARD[number % AWKWARD.len()]) {
        (0, name) => name.to_owned(),
        (1, name) => format!("{name} {}", "long ".repeat(40)),
        (round, name) => format!("{name} {round}"),
    }
}

/// Fills an account with so many of each kind, and says how many resources that makes.
fn fill(service: &Service, of_each: usize) -> usize {
    let mut segments: Vec<String> = Vec::new();
    for number in 0..of_each * 2 {
        let name = name(number);
        let last = segments.last().cloned().unwrap_or_else(|| "no-such-segment".to_owned());
        let criteria = match number % 6 {
            0 => json!({"tag": name, "group": "loyalty"}),
            1 => {
                json!({"and": [{"segment": last}, {"or": [{"tag": name}, {"not": {"tag": "8.3.1", "group": "ua_ios_version"}}]}]})
            }
            2 => {
                json!({"or": [{"tag": "US", "group": "ua_locale_country"}, {"tag": "XX", "group": "ua_locale_country"}]})
            }
            3 => json!({"segment": last}),
            4 => json!({"and": [{"tag": name, "group": "My Group"}, {"static_list": name}]}),
            _ => json!({"attribute": "age", "operator": "greater", "value": number}),
        };
        let made = service.post("/api/segments", &json!({"display_name": name, "criteria": criteria}));
        segments.push(made["segment_id"].as_str().expect("an id").to_owned());
    }
    for (number, segment) in segments.iter().enumerate().take(of_each) {
        let name = name(number);
        let said = json!({"alert": format!("{name} {{{{WHO}}}} ${{x}}"), "actions": {"open": {"type": "url", "content": "ftp://a.example"}}});
        let push = json!({"audience": {"segment": segment}, "device_types": ["ios", "web", "open::sms"], "notification": said,
            "message": {"title": name, "body": format!("<p>\n  {name}\n</p>\n\n ${{var.z}}")}});
        let variables = json!([{"key": "WHO", "name": name, "default_value": null}, {"key": "OTHER", "name": "o", "description": name}]);
        let variables = if number % 2 == 0 { variables } else { json!([]) };
        service.post(
            "/api/templates",
            &json!({"name": name, "description": name, "variables": variables, "push": {"notification": said}}),
        );
        let mut triggered = push.clone();
        triggered["audience"] = "triggered".into();
        let outcome =
            if number % 2 == 0 { json!({"push": triggered}) } else { json!({"delay": 90, "push": triggered}) };
        let trigger =
            if number % 3 == 0 { json!("first_open") } else { json!({"tag_added": {"tag": name, "group": "loyalty"}}) };
        let mut pipeline = json!({"enabled": number % 2 == 0, "immediate_trigger": trigger, "outcome": outcome});
        if number % 5 != 0 {
            pipeline["name"] = name.as_str().into();
        }
        service.post("/api/pipelines", &pipeline);
        let time = json!({"scheduled_time": "2036-11-27T0900"});
        let mut scheduled = json!({"schedule": time, "push": push});
        if number % 5 != 0 {
            scheduled["name"] = name.as_str().into();
        }
        service.post("/api/schedules", &scheduled);
        let variant = json!({"push": {"notification": said}, "schedule": time});
        let variants = vec![variant; 1 + number % 3];
        service.post("/api/experiments", &json!({
            "name": name, "audience": {"or": [{"segment": segment}, {"tag": name}]}, "device_types": "all", "variants": variants,
        }));
    }
    let mut tags = 0;
    for number in 0..of_each {
        let name = name(number);
        let phone = format!("phone-{number}");
        let device_type = ["ios", "android", "web"][number % 3];
        service.put(&format!("/local/devices/{phone}"), &json!({"device_type": device_type, "opt_in": true}));
        let user = name.trim().to_owned();
        let body = json!({"channel_id": phone, "device_type": device_type, "named_user_id": user});
        let is_short = user.chars().count() <= 128;
        if is_short {
            service.post("/api/named_users/associate", &body);
            service.post(
                "/api/named_users/tags",
                &json!({"audience": {"named_user_id": user}, "set": {"loyalty": [user]}}),
            );
            let tags = json!({"audience": {format!("{device_type}_channel"): phone}, "add": {"My Group": ["x"], name.as_str(): ["y"]}});
            let _ = service.ask(Method::POST, "/api/channels/tags", Some(&tags));
        }
        let channel = json!({"type": "open", "opt_in": number % 2 == 0, "address": name, "tags": ["news"], "timezone": "Europe/Berlin",
            "locale_country": "DE", "locale_language": "de", "open": {"open_platform_name": "sms", "identifiers": {"name": name}}});
        service.post("/api/channels/open", &json!({"channel": channel}));
        let path =
            format!("/api/tags/{}", percent_encoding::utf8_percent_encode(&name, percent_encoding::NON_ALPHANUMERIC));
        if tags < 60 && is_short && service.ask(Method::PUT, &path, None).0 == 201 {
            tags += 1;
        }
    }
    of_each * 6
}

fn manifests(project: &Project) -> BTreeMap<String, String> {
    let entries = fs::read_dir(project.folder.path()).expect("a folder").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let yaml = names.filter(|name| name.ends_with(".yaml") && !name.starts_with('.'));
    yaml.map(|name| (name.clone(), project.folder.read(&name))).collect()
}

#[test]
fn a_thousand_things_with_awkward_names_are_pulled_as_they_are() {
    let project = Project::new("");
    let service = project.serve();
    let configured = fill(&service, 130);
    service.forget();
    let ran = project.good(&["pull", "--all"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    let last = ran.stdout.lines().last().expect("a line");
    let pulled: usize = last.split(' ').next().and_then(|word| word.parse().ok()).expect("a number");
    assert!(pulled >= 1_000, "{ran}");
    let of = |file: &str| {
        project.folder.read(file).lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")).count()
    };
    let kinds = ["segments", "templates", "pipelines", "scheduled_pushes", "experiments"];
    let written: usize = kinds.iter().map(|kind| of(&format!("{kind}.yaml"))).sum();
    assert_eq!(written, configured, "nothing that is configured is left out: {}", ran.stderr);
    let before = manifests(&project);
    in_sync(&project);

    let ran = project.good(&["pull", "--all"]);
    says(&ran.stdout, &["Nothing to pull"]);
    assert_eq!(manifests(&project), before, "the second time, nothing is written");

    project.good(&["fmt"]);
    assert_eq!(manifests(&project), before, "it is written as fmt would");
    in_sync(&project);
}

#[test]
fn the_same_account_is_pulled_where_the_contract_alone_holds_and_with_a_file_for_each() {
    let project = Project::documented("");
    let service = project.serve();
    fill(&service, AWKWARD.len());
    project.good(&["pull", "--all", "--layout", "resource"]);
    in_sync(&project);
    let ran = project.good(&["pull", "--all", "--layout", "resource"]);
    says(&ran.stdout, &["Nothing to pull"]);
}

/// Names that give keys by themselves make the same keys each time.
#[test]
fn a_pull_into_another_folder_gives_the_same_keys() {
    let texts = || {
        let project = Project::new("");
        let service = project.serve();
        let body = json!({"display_name": "Sale", "criteria": {"tag": "a"}});
        service.post("/api/segments", &body);
        service.post("/api/segments", &json!({"display_name": "Lapsed buyers", "criteria": {"tag": "b"}}));
        project.good(&["pull"]);
        let text = project.folder.read("segments.yaml");
        project.folder.write("segments.yaml", "");
        for part in [".pushplan/ledger", ".pushplan/seen"] {
            fs::remove_dir_all(project.folder.path().join(part)).expect("a ledger");
        }
        project.good(&["pull"]);
        (text, project.folder.read("segments.yaml"))
    };
    let (first, second) = texts();
    assert_eq!(first, second);
}
