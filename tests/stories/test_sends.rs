//! `pushplan send`: one message to one named recipient, once or not at all.

use pushplan_testing::{Project, Service, says};
use serde_json::{Value, json};

const MESSAGES: &str = "\
templates:
  winback:
    variables: [{key: NAME, default_value: there}, {key: SALE}]
    push: {notification: {alert: \"Hi {{NAME}}, {{SALE}} off\"}, message: {title: \"For {{NAME}}\", body: \"<p>{{SALE}}</p>\"}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: vip}, device_types: [ios, android], notification: {alert: Sale}, campaigns: {categories: [spring]}}
  filled:
    schedule: {scheduled_time: 2035-01-22T12:00}
    push: {audience: {tag: vip}, device_types: [ios], template: winback, substitutions: {SALE: 10 %}}
  mail:
    schedule: {scheduled_time: 2035-01-22T14:00}
    push: {audience: {tag: vip}, device_types: [\"open::email\"], notification: {alert: Mail}}
pipelines:
  remind: {enabled: true, immediate_trigger: {tag_added: later}, outcome: {push: {device_types: [ios], notification: {alert: Still here}}}}
experiments:
  words:
    audience: {tag: vip}
    device_types: [ios, web]
    variants:
      - {push: {notification: {alert: One}}, schedule: {scheduled_time: 2035-01-22T10:00}}
      - {push: {notification: {alert: Two}}, schedule: {scheduled_time: 2035-01-22T10:00}}
segments:
  vips: {criteria: {tag: vip}}
";

/// A service with a tester and her devices, and another user.
fn with_devices(project: &Project, faults: Option<&str>) -> Service {
    let service = faults.map_or_else(|| project.serve(), |rules| project.faulty(rules));
    for (id, form) in [
        ("phone", json!({"device_type": "ios", "named_user": "qa-1"})),
        ("tablet", json!({"device_type": "android", "named_user": "qa-1"})),
        ("kindle", json!({"device_type": "amazon"})),
        ("browser", json!({"device_type": "web"})),
        ("mail", json!({"device_type": "open::email", "address": "qa@example.com"})),
        ("silent", json!({"device_type": "ios", "named_user": "qa-2", "opt_in": false})),
        ("customer", json!({"device_type": "ios", "tags": ["vip"]})),
    ] {
        service.put(&format!("/local/devices/{id}"), &form);
    }
    service.forget();
    service
}

/// The sent messages: recipient, device types, and content.
fn pushes(service: &Service) -> Vec<Value> {
    let body = service.get("/local/sent");
    body["sent"].as_array().unwrap_or_else(|| panic!("{body}")).iter().map(|sent| sent["push"].clone()).collect()
}

fn received(service: &Service, device: &str) -> Vec<String> {
    let body = service.get(&format!("/local/devices/{device}/received"));
    let all = body["received"].as_array().unwrap_or_else(|| panic!("{body}"));
    all.iter().map(|one| one["notification"]["alert"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_message_goes_to_each_kind_of_recipient_and_to_nobody_else() {
    let project = Project::new(MESSAGES);
    let service = with_devices(&project, None);
    for (address, to, audience, types, device) in [
        ("scheduled_pushes/sale", "named_user:qa-1", json!({"named_user": "qa-1"}), json!(["ios", "android"]), "phone"),
        ("scheduled_pushes/sale", "ios_channel:phone", json!({"ios_channel": "phone"}), json!(["ios"]), "phone"),
        (
            "scheduled_pushes/sale",
            "android_channel:tablet",
            json!({"android_channel": "tablet"}),
            json!(["android"]),
            "tablet",
        ),
        (
            "scheduled_pushes/mail",
            "open_channel:qa@example.com",
            json!({"open_channel": "qa@example.com"}),
            json!(["open::email"]),
            "mail",
        ),
    ] {
        let before = pushes(&service).len();
        let ran = project.good(&["send", address, "--to", to, "--yes"]);
        says(
            &ran.stdout,
            &[address, to, "target     local, at http://127.0.0.1:", "Push id: ", "pushplan report push "],
        );
        let sent = pushes(&service);
        assert_eq!(sent.len(), before + 1, "{to}");
        let push = &sent[before];
        assert_eq!((&push["audience"], &push["device_types"]), (&audience, &types), "{to}");
        assert!(!received(&service, device).is_empty(), "{to}");
    }
    let sale = &pushes(&service)[0];
    assert_eq!(sale["campaigns"], json!({"categories": ["spring"]}), "what the push says beside stays");
    for (address, to, audience, types) in [
        ("templates/winback", "amazon_channel:kindle", json!({"amazon_channel": "kindle"}), json!(["amazon"])),
        ("templates/winback", "channel:browser", json!({"channel": "browser"}), json!(["web"])),
    ] {
        let ran = project.good(&["send", address, "--to", to, "--with", "SALE=20 %", "--yes"]);
        says(&ran.stdout, &["Hi there, 20 % off"]);
        let push = pushes(&service).pop().expect("a push");
        assert_eq!((&push["audience"], &push["device_types"]), (&audience, &types), "{to}");
        assert_eq!(push["notification"]["alert"], "Hi there, 20 % off");
    }
    assert_eq!(received(&service, "customer"), [""; 0]);
    assert_eq!(service.writes().iter().filter(|line| *line == "POST /api/push").count(), 6);
    assert_eq!(service.writes().len(), 6, "nothing else was changed");
}

#[test]
fn values_come_from_the_option_then_from_the_push_then_from_the_template() {
    let project = Project::new(MESSAGES);
    let service = with_devices(&project, None);
    project.good(&["send", "scheduled_pushes/filled", "--to", "ios_channel:phone", "--yes"]);
    project.good(&["send", "scheduled_pushes/filled", "--to", "ios_channel:phone", "--with", "SALE=50 %", "--yes"]);
    project.good(&[
        "send",
        "templates/winback",
        "--to",
        "ios_channel:phone",
        "--with",
        "SALE=1 %",
        "--with",
        "NAME=Ann",
        "--yes",
    ]);
    let mut seen = received(&service, "phone");
    seen.sort();
    assert_eq!(seen, ["Hi Ann, 1 % off", "Hi there, 10 % off", "Hi there, 50 % off"]);
    assert_eq!(pushes(&service)[2]["message"], json!({"title": "For Ann", "body": "<p>1 %</p>"}));
    let ran = project.run(&["send", "templates/winback", "--to", "ios_channel:phone", "--with", "SAEL=1", "--yes"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["no variable `SAEL`", "did you mean `SALE`?"]);
}

#[test]
fn a_permission_that_the_checks_refuse_allows_nothing() {
    let project = Project::new(MESSAGES);
    let service = with_devices(&project, None);
    let origin = &service.origin;
    let toml = format!("[targets.far]\nbase_url = \"{origin}\"\nledger = \"file:\"\ntest_recipients = [\"*\"]\n");
    project.folder.write("pushplan.toml", toml);
    let env = [
        ("PUSHPLAN_ORIGIN", origin.as_str()),
        ("PUSHPLAN_APP_KEY", "local-application-key0"),
        ("PUSHPLAN_MASTER_SECRET", "local-master-secret-00"),
    ];
    let ran = project.run_as(&["send", "scheduled_pushes/sale", "--to", "named_user:qa-1", "--yes"], &env);
    assert_eq!(ran.code, 3, "{ran}");
    says(&ran.stderr, &["YM206", "pushplan.toml has errors: nothing was sent"]);
    assert_eq!(service.asked(), [""; 0]);
}

#[test]
fn a_placeholder_without_a_value_is_refused_by_its_name() {
    let project = Project::new(MESSAGES);
    let service = with_devices(&project, None);
    let ran = project.run(&["send", "templates/winback", "--to", "named_user:qa-1", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["{{SALE}} of templates/winback has no value", "nothing was sent", "--with SALE=VALUE"]);
    assert_eq!(service.writes(), [""; 0]);
}

#[test]
fn one_of_several_messages_is_chosen_by_its_number() {
    let project = Project::new(MESSAGES);
    let service = with_devices(&project, None);
    let to = ["--to", "named_user:qa-1", "--yes"];
    let ran = project.run(&[&["send", "experiments/words"], &to[..]].concat());
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["experiments/words has 2 variants", "--variant 1 or --variant 2"]);
    let ran = project.run(&[&["send", "experiments/words", "--variant", "3"], &to[..]].concat());
    assert_eq!(ran.code, 64, "{ran}");
    project.good(&[&["send", "experiments/words", "--variant", "2"], &to[..]].concat());
    project.good(&[&["send", "pipelines/remind"], &to[..]].concat());
    assert_eq!(received(&service, "phone").len(), 2);
    let sent = pushes(&service);
    assert_eq!(sent[0]["notification"]["alert"], "Two");
    assert_eq!(
        (&sent[1]["audience"], &sent[1]["notification"]["alert"]),
        (&json!({"named_user": "qa-1"}), &json!("Still here"))
    );
    assert!(service.get("/api/experiments")["experiments"].as_array().expect("a list").is_empty());
    let ran = project.run(&[&["send", "segments/vips"], &to[..]].concat());
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["segments/vips has no message"]);
}

#[test]
fn many_people_are_never_a_recipient() {
    let project = Project::new(MESSAGES);
    let service = with_devices(&project, None);
    for to in ["all", "tag:vip", "segment:vips", "static_list:x", "triggered"] {
        let ran = project.run(&["send", "scheduled_pushes/sale", "--to", to, "--yes"]);
        assert_eq!(ran.code, 64, "{to}: {ran}");
        says(&ran.stderr, &["many people", "one recipient", "such as named_user:qa-1"]);
    }
    for to in ["qa-1", "named_usr:qa-1", "named_user:"] {
        assert_eq!(project.run(&["send", "scheduled_pushes/sale", "--to", to, "--yes"]).code, 64, "{to}");
    }
    assert_eq!(service.asked(), [""; 0], "nobody was even looked for");
}

#[test]
fn nothing_is_sent_where_nobody_would_get_it() {
    let project = Project::new(MESSAGES);
    let service = with_devices(&project, None);
    service.delete("/local/devices/kindle");
    for (address, to, why) in [
        ("scheduled_pushes/sale", "named_user:nobody", "has no named_user:nobody"),
        ("scheduled_pushes/sale", "ios_channel:missing", "has no ios_channel:missing"),
        ("scheduled_pushes/mail", "open_channel:other@example.com", "has no open_channel:other@example.com"),
        ("scheduled_pushes/sale", "named_user:qa-2", "ios silent: opted out of notifications"),
        ("scheduled_pushes/sale", "ios_channel:silent", "ios silent: opted out of notifications"),
        ("scheduled_pushes/sale", "channel:browser", "web browser: the message does not go to this device type"),
        ("pipelines/remind", "android_channel:tablet", "android tablet: the message does not go to this device type"),
        ("scheduled_pushes/sale", "android_channel:phone", "it is a channel of another type"),
        ("scheduled_pushes/sale", "channel:kindle", "amazon kindle: the app is not installed"),
    ] {
        let ran = project.run(&["send", address, "--to", to, "--yes"]);
        assert_eq!(ran.code, 7, "{to}: {ran}");
        says(&ran.stderr, &["nobody would get the message", "nothing was sent", why]);
    }
    assert_eq!(service.writes(), [""; 0]);
}

#[test]
fn a_person_is_asked_and_without_one_nothing_is_sent() {
    let project = Project::new(MESSAGES);
    let service = with_devices(&project, None);
    let ran = project.run(&["send", "scheduled_pushes/sale", "--to", "named_user:qa-1"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stdout, &["Sale", "named_user:qa-1, on 2 devices", "ios phone", "android tablet"]);
    says(&ran.stderr, &["this message needs a confirmation", "--yes"]);
    assert_eq!(service.writes(), [""; 0]);
}

/// Declares the running service as the target `production`, with more settings.
fn far(project: &Project, service: &Service, settings: &str) {
    let text = format!("[targets.production]\nbase_url = \"{}\"\nledger = \"file:\"\n{settings}", service.origin);
    project.folder.write("pushplan.toml", text);
}

#[test]
fn a_target_that_is_not_built_in_has_to_allow_tests() {
    let project = Project::new(MESSAGES);
    let service = with_devices(&project, None);
    let env = [
        ("PUSHPLAN_ORIGIN", service.origin.as_str()),
        ("PUSHPLAN_APP_KEY", "local-application-key0"),
        ("PUSHPLAN_MASTER_SECRET", "local-master-secret-00"),
    ];
    let send = |to: &str| project.run_as(&["send", "scheduled_pushes/sale", "--to", to, "--yes"], &env);
    for settings in ["", "test_sends = false\n", "test_sends = false\ntest_recipients = [\"named_user:qa-*\"]\n"] {
        far(&project, &service, settings);
        let ran = send("named_user:qa-1");
        assert_eq!(ran.code, 7, "{settings}: {ran}");
        says(
            &ran.stderr,
            &[
                "`production` does not allow test messages",
                "test_recipients = [\"named_user:qa-1\"]",
                "test_sends = true",
            ],
        );
    }
    for settings in
        ["test_recipients = [\"named_user:qa-*\"]\n", "test_sends = true\ntest_recipients = \"named_user:qa-*\"\n"]
    {
        far(&project, &service, settings);
        let ran = send("ios_channel:customer");
        assert_eq!(ran.code, 7, "{settings}: {ran}");
        says(&ran.stderr, &["allows test messages only to named_user:qa-*, not to ios_channel:customer"]);
    }
    assert_eq!(service.asked(), [""; 0], "the service was not asked for anything");
    assert_eq!(send("named_user:qa-1").code, 0);
    far(&project, &service, "test_sends = true\n");
    let ran = send("ios_channel:customer");
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &[&format!("target     production, at {}", service.origin)]);
    assert_eq!(pushes(&service).len(), 2);
    far(&project, &service, "test_recipients = [\"segment:*\"]\n");
    let ran = project.run(&["validate"]);
    assert_eq!(ran.code, 3, "{ran}");
    says(&ran.stdout, &["`segment:*` does not select single recipients"]);
}

#[test]
fn where_the_answer_is_lost_it_is_sent_once_and_that_is_said() {
    for loss in [
        "kind = \"close\"\nwhen = \"after\"",
        "kind = \"status\"\nstatus = 503\nwhen = \"after\"",
        "kind = \"truncate\"",
        "kind = \"html\"\nwhen = \"after\"",
    ] {
        let project = Project::new(MESSAGES);
        let rules = format!("[[fault]]\n{loss}\nmethod = \"POST\"\npath = \"/api/push\"\n");
        let service = with_devices(&project, Some(&rules));
        let ran = project.run(&["send", "scheduled_pushes/sale", "--to", "named_user:qa-1", "--yes"]);
        assert_eq!(ran.code, 6, "{loss}: {ran}");
        says(&ran.stderr, &["the message may have been sent", "it was not sent again"]);
        assert_eq!(service.writes(), ["POST /api/push"], "{loss}");
        assert_eq!(pushes(&service).len(), 1, "{loss}");
    }
}

#[test]
fn what_is_put_off_or_cut_off_is_not_sent_later() {
    for (fault, code, words) in
        [("kind = \"rate-limit\"", 1, "limits the rate"), ("kind = \"refuse\"", 6, "may have been sent")]
    {
        let project = Project::new(MESSAGES);
        let rules = format!("[[fault]]\n{fault}\nmethod = \"POST\"\npath = \"/api/push\"\n");
        let service = with_devices(&project, Some(&rules));
        let ran = project.run(&["send", "scheduled_pushes/sale", "--to", "named_user:qa-1", "--yes"]);
        assert_eq!(ran.code, code, "{fault}: {ran}");
        says(&ran.stderr, &[words]);
        assert_eq!(pushes(&service).len(), 0, "{fault}");
        assert!(service.writes().len() < 2, "{fault}");
    }
}
