//! Changes that need an explicit permission: exit 7, with numbers and help, and nothing is sent.

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use pushplan_testing::{Project, Ran, Service, says};
use serde_json::{Value, json};

/// This number of segments.
fn segments(count: usize) -> String {
    let mut text = String::from("segments:\n");
    for number in 0..count {
        let _ = writeln!(text, "  s{number}: {{criteria: {{tag: t{number}}}}}");
    }
    text
}

/// Checks that a plan shows what apply would refuse, instead of naming apply as the next step.
#[track_caller]
fn announced(project: &Project, guard: &str, words: &[&str]) {
    let ran = project.refused(&[]);
    let (_, end) = ran.stdout.split_once("Apply will refuse this plan:").expect("what would be refused");
    says(&end.split_whitespace().collect::<Vec<_>>().join(" "), words);
    assert!(!ran.stdout.contains("Next:"), "{ran}");
    let ran = project.refused(&["--format", "json"]);
    let plan: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(plan["refused"][0]["guard"], guard, "{ran}");
    says(&plan["refused"][0].to_string(), &words[..1]);
}

/// Checks that a plan is refused, and nothing is sent.
#[track_caller]
fn refused(project: &Project, service: &Service, arguments: &[&str], words: &[&str]) -> Ran {
    service.forget();
    let ran = project.run(&[&["apply", "--yes"], arguments].concat());
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, words);
    assert_eq!(service.writes(), Vec::<String>::new());
    ran
}

#[test]
fn many_deletions_need_a_word() {
    let project = Project::new(&segments(12));
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&segments(7));
    project.good(&["plan"]);
    project.write(&segments(6));
    let words = [
        "6 deletions (6 of 12 in segments (50 %)); the limit is 5, not counting kinds that lose at most 20 %",
        "--allow-deletes 6",
    ];
    announced(&project, "deletes", &words);
    refused(&project, &service, &[], &words);
    refused(&project, &service, &["--allow-deletes", "5"], &["6 deletions; --allow-deletes allows 5"]);
    project.good(&["apply", "--yes", "--allow-deletes", "6"]);
    assert_eq!(service.segments().len(), 6);
}

#[test]
fn a_tag_that_leaves_every_device_needs_a_word() {
    let project = Project::new("tags:\n  vip: {}\n  gold: {}\n");
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write("tags:\n  gold: {}\n");
    says(
        &project.refused(&[]).stdout,
        &["every device that has this legacy tag loses it, also if another system added it"],
    );
    let words = ["tags/vip would be deleted and removed from every device", "--allow-deletes 1"];
    refused(&project, &service, &[], &words);
    project.good(&["apply", "--yes", "--allow-deletes", "1"]);
    assert_eq!(service.get("/api/tags/")["tags"], json!(["gold"]));
    // With another name, the old one is deleted too. With another key, nothing is.
    project.write("tags:\n  gold: {tag: golden}\n");
    refused(&project, &service, &[], &["tags/gold would be deleted and removed from every device"]);
    project.write("tags:\n  golden: {tag: gold}\n");
    project.good(&["apply", "--yes"]);
    assert_eq!(service.get("/api/tags/")["tags"], json!(["gold"]));
}

#[test]
fn five_deletions_are_always_allowed() {
    let project = Project::new(&segments(6));
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&segments(1));
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["s0"]);
}

#[test]
fn a_target_says_how_many_deletions_are_fine() {
    let project = Project::with(&segments(4), "max_deletes = 1\n");
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&segments(2));
    refused(&project, &service, &[], &["2 deletions (2 of 4 in segments (50 %)); the limit is 1"]);
    project.good(&["apply", "--yes", "--allow-deletes", "2"]);
}

#[test]
fn what_is_protected_stays_also_when_its_whole_block_is_gone() {
    let manifest = "segments:\n  a: {criteria: {tag: a}, lifecycle: {protect: true}}\n  b: {criteria: {tag: b}}\n";
    let project = Project::new(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write("segments:\n  b: {criteria: {tag: b}}\n");
    let words = ["segments/a is protected and would be deleted or replaced", "lifecycle: {protect: false}"];
    announced(&project, "protect", &words);
    refused(&project, &service, &[], &words);
    refused(&project, &service, &["--allow-deletes", "9"], &words);
    // The advice that it gives.
    project.good(&["apply", "--yes", "--except", "segments/a"]);
    project.write("segments:\n  a: {criteria: {tag: a}, lifecycle: {protect: false}}\n  b: {criteria: {tag: b}}\n");
    project.good(&["apply", "--yes"]);
    project.write("segments:\n  b: {criteria: {tag: b}}\n");
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["b"]);
}

#[test]
fn a_protection_outlives_its_line_and_is_lifted_by_a_word_that_the_plan_shows() {
    let manifest = "segments:\n  a: {criteria: {tag: a}, lifecycle: {protect: true}}\n  b: {criteria: {tag: b}}\n";
    let project = Project::new(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit(", lifecycle: {protect: true}", "");
    says(&project.good(&["apply", "--yes"]).stdout, &["No changes."]);
    project.write("segments:\n  b: {criteria: {tag: b}}\n");
    refused(&project, &service, &[], &["segments/a is protected and would be deleted or replaced"]);
    project.write(&manifest.replace("true", "false"));
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["segments/a", "lifecycle.protect is removed: it can be deleted"]);
    assert_eq!(project.run(&["plan", "--detailed-exitcode"]).code, 2);
    project.good(&["apply", "--yes"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    project.write("segments:\n  b: {criteria: {tag: b}}\n");
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["b"]);
}

#[test]
fn protection_also_holds_against_a_replacement_and_destroy() {
    let manifest = "segments:\n  a: {criteria: {tag: a}, lifecycle: {protect: true}}\n";
    let project = Project::documented(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("tag: a", "tag: b");
    refused(&project, &service, &[], &["segments/a is protected"]);
    let ran = project.run(&["destroy", "--confirm", "local"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["segments/a is protected"]);
    assert_eq!(service.segments(), ["a"]);
}

const TAGGED: &str = "\
pipelines:
  remind:
    enabled: true
    immediate_trigger: {tag_added: {tag: vip, group: loyalty}}
    outcome: {push: {audience: triggered, device_types: [ios], notification: {alert: Hello}}}
tag_groups:
  loyalty: {tags: [gold, vip], members: {named_users: {u-1: [gold]}}}
";

#[test]
fn a_tag_that_sets_off_a_pipeline_sends() {
    let project = Project::new(TAGGED);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("u-1: [gold]", "u-1: [gold, vip]");
    let ran = project.refused(&[]);
    says(
        &ran.stdout,
        &["SENDS", "pipelines/remind starts when vip is added: named user u-1 gets a message", "1 sends at once."],
    );
    let words = ["1 message is sent at once, by tag_groups/loyalty/named_users/u-1", "--allow-sends"];
    announced(&project, "sends", &words);
    refused(&project, &service, &[], &words);
    project.good(&["apply", "--yes", "--allow-sends"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

/// An approved plan sends exactly what it shows at any speed: the tag is added after the pipeline and the device exist.
#[test]
fn a_tag_that_sets_off_a_pipeline_of_the_same_plan_sends_what_the_plan_says() {
    let manifest = "\
tag_groups:
  life: {tags: [x], members: {named_users: {u1: [x]}}}
named_users:
  u1: {channels: [{channel_id: phone, device_type: ios}]}
pipelines:
  welcome:
    enabled: true
    immediate_trigger: {tag_added: {tag: x, group: life}}
    outcome: {push: {device_types: [ios], notification: {alert: Welcome}}}
  later:
    enabled: true
    activation_time: \"2036-01-01T00:00:00\"
    immediate_trigger: {tag_added: x}
    outcome: {push: {device_types: [ios], notification: {alert: Later}}}
    lifecycle: {allow: [YM202, PL105]}
";
    for slow in ["pipelines", "named_users/tags", "named_users/associate"] {
        let project = Project::new(manifest);
        let rules = format!("[[fault]]\nkind = \"delay\"\nms = 300\nwhen = \"before\"\npath = \"/api/{slow}\"\n");
        let path = project.folder.write("faults.toml", rules);
        let faults = ["--faults", path.to_str().expect("UTF-8"), "--clock", "2035-01-20T00:00Z"];
        let service = project.serve_with(&faults);
        service.put("/local/devices/phone", &json!({"device_type": "ios", "opt_in": true}));
        let ran = project.refused(&[]);
        says(&ran.stdout, &["pipelines/welcome starts when x is added: named user u1 gets a message"]);
        assert!(!ran.stdout.contains("pipelines/later starts"), "{ran}");
        project.good(&["apply", "--yes", "--allow-sends"]);
        let sent = service.get("/local/sent");
        assert_eq!(sent["sent"].as_array().map(Vec::len), Some(1), "slow {slow}: {sent}");
    }
    // If the pipeline cannot be created, nobody gets the tag.
    let project = Project::new(manifest);
    let service =
        project.faulty("[[fault]]\nkind = \"status\"\nstatus = 500\nmethod = \"POST\"\npath = \"/api/pipelines\"\n");
    let ran = project.run(&["apply", "--yes", "--allow-sends"]);
    assert_ne!(ran.code, 0, "{ran}");
    assert!(!service.writes().contains(&"POST /api/named_users/tags".to_owned()), "{ran}");
}

#[test]
fn a_tag_sends_nothing_while_the_pipeline_is_off() {
    let project = Project::new(&TAGGED.replace("enabled: true", "enabled: false"));
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("u-1: [gold]", "u-1: [gold, vip]");
    project.good(&["apply", "--yes"]);
}

#[test]
fn a_pipeline_that_sends_later_is_told_with_its_delay() {
    let project = Project::new(&TAGGED.replace("outcome: {push", "outcome: {delay: 1d, push"));
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("u-1: [gold]", "u-1: [gold, vip]");
    let ran = project.refused(&[]);
    says(&ran.stdout, &["starts when vip is added: named user u-1 gets a message, after 1 day", "1 sends later."]);
    let words = ["1 message is sent after 1 day, by tag_groups/loyalty/named_users/u-1", "--allow-sends"];
    refused(&project, &service, &[], &words);
}

#[test]
fn a_pipeline_that_was_made_in_the_dashboard_sends_too() {
    let project = Project::documented(&TAGGED.replace("enabled: true", "enabled: false"));
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let outcome = json!({"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": "Hi"}}});
    let trigger = json!({"tag_removed": {"tag": "gold", "group": "loyalty"}});
    let pipeline = json!({"name": "Theirs", "enabled": true, "immediate_trigger": trigger, "outcome": outcome});
    service.post("/api/pipelines", &pipeline);
    project.edit("u-1: [gold]", "u-1: [vip]");
    let ran = project.refused(&[]);
    let told = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    says(&told, &["unmanaged pipeline \"Theirs\"", "gold is removed: named user u-1 gets a message"]);
    refused(&project, &service, &[], &["1 message is sent at once, by tag_groups/loyalty/named_users/u-1"]);
}

#[test]
fn an_experiment_without_a_time_sends_at_once() {
    let manifest = "\
experiments:
  texts:
    audience: {tag: vip}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: A}}}
      - {push: {notification: {alert: B}}}
    lifecycle: {allow: [EX102]}
";
    let project = Project::new(manifest);
    let service = project.serve();
    refused(&project, &service, &[], &["1 message is sent at once, by experiments/texts", "--allow-sends"]);
    project.good(&["apply", "--yes", "--allow-sends"]);
    assert_eq!(service.writes(), ["POST /api/experiments"]);
    // It was sent: nothing sends it again.
    project.edit("alert: A", "alert: C");
    service.forget();
    project.good(&["apply", "--yes", "--allow-sends"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

fn push(time: &str, audience: &str, more: &str) -> String {
    format!(
        "scheduled_pushes:\n  sale:\n    schedule: {{scheduled_time: {time}}}\n    push: {{audience: {audience}, device_types: [ios], notification: {{alert: Sale}}}}\n{more}"
    )
}

#[test]
fn a_push_to_everybody_says_that_it_is_meant() {
    let project = Project::new(&push("2035-01-22T10:00", "all", ""));
    let service = project.serve();
    let words = ["scheduled_pushes/sale addresses every device", "lifecycle: {broadcast: true}"];
    announced(&project, "broadcast", &words);
    refused(&project, &service, &[], &words);
    project.write(&push("2035-01-22T10:00", "all", "    lifecycle: {broadcast: true}\n"));
    project.good(&["apply", "--yes"]);
    assert_eq!(service.writes(), ["POST /api/schedules"]);
}

/// A segment, and a push to it.
fn to_segment(criteria: &str, time: &str, more: &str) -> String {
    format!("segments:\n  us: {{criteria: {criteria}}}\n{}", push(time, "{segment: us}", more))
}

#[test]
fn a_push_that_reaches_everybody_because_its_segment_is_widened_says_that_it_is_meant() {
    const LATER: &str = "2035-01-22T10:00";
    let either = "{or: [{country: US}, {not: {country: US}}]}";
    for everybody in ["all", either] {
        let project = Project::new(&to_segment("{country: US}", LATER, ""));
        let service = project.serve();
        project.good(&["apply", "--yes"]);
        project.write(&to_segment(everybody, LATER, ""));
        let words = [
            "scheduled_pushes/sale addresses every device, by what becomes of segments/us",
            "lifecycle: {broadcast: true}",
        ];
        announced(&project, "broadcast", &words);
        refused(&project, &service, &[], &words);
        // A resource outside the plan is affected by a resource in it.
        refused(&project, &service, &["--except", "scheduled_pushes/sale"], &words);
        project.write(&to_segment("{country: [US, CA]}", LATER, ""));
        project.good(&["apply", "--yes"]);
        project.write(&to_segment(everybody, LATER, "    lifecycle: {broadcast: true}\n"));
        project.good(&["apply", "--yes"]);
        // It addressed everybody before too, and is unchanged.
        project.write(&to_segment(&either.replace("US", "CA"), LATER, ""));
        says(&project.good(&["apply", "--yes"]).stdout, &["1 updated."]);
    }
}

#[test]
fn a_segment_in_a_segment_that_is_widened_widens_both() {
    let manifest = to_segment("{or: [{segment: within}, {country: US}]}", "2035-01-22T10:00", "");
    let project = Project::new(&manifest.replace("segments:\n", "segments:\n  within: {criteria: {tag: a}}\n"));
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("{tag: a}", "{not: {country: US}}");
    let words = ["scheduled_pushes/sale addresses every device, by what becomes of segments/within"];
    refused(&project, &service, &[], &words);
}

#[test]
fn a_segment_is_widened_under_what_has_had_its_time() {
    let project = Project::new(&to_segment("{country: US}", "2035-01-22T10:00", ""));
    let service = project.serve_with(&["--api", "extended", "--clock", "2035-01-22T09:00Z"]);
    project.good(&["apply", "--yes"]);
    project.edit("{country: US}", "all");
    refused(&project, &service, &[], &["scheduled_pushes/sale addresses every device"]);
    // Close to its time, it may still wait.
    service.post("/local/clock", &json!({ "by": "62m" }));
    refused(&project, &service, &[], &["scheduled_pushes/sale addresses every device"]);
    service.post("/local/clock", &json!({ "by": "10m" }));
    says(&project.good(&["apply", "--yes"]).stdout, &["1 updated."]);
}

#[test]
fn conditions_that_leave_nobody_out_are_everybody() {
    let either = "{or: [{country: US}, {not: {country: US}}]}";
    let project = Project::new(&push("2035-01-22T10:00", either, ""));
    let service = project.serve();
    refused(&project, &service, &[], &["scheduled_pushes/sale addresses every device"]);
    project.write(&to_segment(either, "2035-01-22T10:00", ""));
    refused(&project, &service, &[], &["scheduled_pushes/sale addresses every device"]);
}

#[test]
fn an_audience_that_nobody_can_be_in_is_not_applied() {
    let segments =
        "segments:\n  us: {criteria: {country: US}}\n  ca: {criteria: {country: CA}}\n  every: {criteria: all}\n";
    for audience in [
        "{and: [{segment: us}, {segment: ca}]}",
        "{not: {segment: every}}",
        "{and: [{named_user: u1}, {named_user: u2}]}",
    ] {
        let manifest = |more: &str| format!("{segments}{}", push("2035-01-22T10:00", audience, more));
        let project = Project::new(&manifest(""));
        let service = project.serve();
        for command in [&["plan"][..], &["apply", "--yes"]] {
            let ran = project.run(command);
            assert_eq!(ran.code, 3, "{audience}: {ran}");
            says(&format!("{}{}", ran.stdout, ran.stderr), &["error[AU119]", "no device meets"]);
        }
        assert_eq!(service.writes(), Vec::<String>::new());
        project.write(&manifest("    lifecycle: {allow: [AU119]}\n"));
        project.good(&["apply", "--yes"]);
    }
}

#[test]
fn a_push_whose_time_is_near_is_not_made() {
    let soon = Timestamp::now() + SignedDuration::from_mins(3);
    let project = Project::new(&push(&soon.strftime("%Y-%m-%dT%H:%M").to_string(), "{tag: vip}", ""));
    let service = project.serve();
    let words = ["the time of scheduled_pushes/sale is less than 5 minutes away ("];
    announced(&project, "too_late", &words);
    refused(&project, &service, &[], &words);
    project.folder.write("pushplan.toml", "[targets.local]\nmin_lead = \"1m\"\n");
    project.good(&["apply", "--yes"]);
    assert_eq!(service.writes(), ["POST /api/schedules"]);
}

#[test]
fn a_segment_is_not_replaced_under_an_experiment_that_is_about_to_start() {
    let soon = (Timestamp::now() + SignedDuration::from_mins(30)).strftime("%Y-%m-%dT%H:%M");
    let variant =
        |alert: &str| format!("{{push: {{notification: {{alert: {alert}}}}}, schedule: {{scheduled_time: {soon}}}}}");
    let project = Project::documented(&format!(
        "segments:\n  a: {{criteria: {{tag: x}}}}\nexperiments:\n  e:\n    audience: {{segment: a}}\n    device_types: [ios]\n    variants: [{}, {}]\n",
        variant("A"),
        variant("B"),
    ));
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("tag: x", "tag: y");
    project.folder.write("pushplan.toml", "[targets.local]\napi = \"documented\"\nmin_lead = \"1h\"\n");
    refused(&project, &service, &[], &["the time of experiments/e is less than 60 minutes away ("]);
    // The advice that it gives: the experiment and its segment stay unchanged.
    service.forget();
    project.good(&["apply", "--yes", "--except", "experiments/e"]);
    assert_eq!(service.writes(), ["POST /api/segments"]);
}

#[test]
fn another_application_than_the_pinned_one_is_not_even_looked_at() {
    let project = Project::with(&segments(1), "app_key_fingerprint = \"000000000000\"\n");
    let service = project.serve();
    for command in ["plan", "apply", "destroy"] {
        let ran = project.run(&[command]);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["the target `local` is the application 000000000000, but the credentials are for "]);
    }
    assert_eq!(service.asked(), Vec::<String>::new());
    let ran = project.run(&["plan"]);
    let (_, rest) = ran.stderr.split_once("app_key_fingerprint = \"").expect("the way out");
    let found = rest.split('"').next().expect("a fingerprint");
    project.folder.write("pushplan.toml", format!("[targets.local]\napp_key_fingerprint = \"{found}\"\n"));
    project.good(&["plan"]);
}

#[test]
fn without_a_terminal_somebody_has_to_say_yes() {
    let project = Project::new(&segments(1));
    let service = project.serve();
    let ran = project.folder.run_with(&["apply"], b"yes\n");
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["this plan needs a confirmation", "--yes"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    // Without changes, there is no question.
    project.good(&["apply", "--yes"]);
    project.good(&["apply"]);
}

/// Two projects with one ledger, target and application: neither deletes the other's resources as a side effect.
#[test]
fn what_another_project_applied_is_not_deleted_by_the_way() {
    let first = Project::new("segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n");
    let service = first.serve();
    let shared = first.folder.path().join("shared");
    std::fs::create_dir(&shared).expect("a folder");
    let settings = |name: &str| {
        format!(
            "[project]\nname = {name:?}\n[targets.local]\nbase_url = {:?}\nledger = \"file:{}\"\nsettle = \"1s\"\n",
            service.origin,
            shared.display()
        )
    };
    let second = Project::new("segments:\n  c: {criteria: {tag: c}}\n");
    first.folder.write("pushplan.toml", settings("shop"));
    second.folder.write("pushplan.toml", settings("cafe"));
    let shared = shared.to_str().expect("UTF-8");
    let credentials = [&service.credentials()[..], &[("PUSHPLAN_LEDGER_DIR", shared)]].concat();
    assert_eq!(first.run_as(&["apply", "--yes"], &credentials).code, 0);
    let ran = second.run_as(&["plan"], &credentials);
    let words = "2 resources would be deleted, and the last apply was from another project, `shop`; this is `cafe`";
    says(&ran.stdout.split_whitespace().collect::<Vec<_>>().join(" "), &[words, "--allow-deletes 2"]);
    let ran = second.run_as(&["apply", "--yes"], &credentials);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &[words, "use a separate ledger for each project", "to proceed, pass --allow-deletes 2"]);
    assert_eq!(service.segments(), ["a", "b"]);
    // The first project continues, also with its own deletions.
    first.write("segments:\n  a: {criteria: {tag: a}}\n");
    assert_eq!(first.run_as(&["apply", "--yes"], &credentials).code, 0);
    // The project was renamed deliberately: it says so once, and is then known by its new name.
    first.folder.write("pushplan.toml", settings("store"));
    first.write("segments:\n  d: {criteria: {tag: d}}\n");
    assert_eq!(first.run_as(&["apply", "--yes"], &credentials).code, 7);
    assert_eq!(first.run_as(&["apply", "--yes", "--allow-deletes", "1"], &credentials).code, 0);
    first.write("segments:\n  e: {criteria: {tag: e}}\n");
    assert_eq!(first.run_as(&["apply", "--yes"], &credentials).code, 0);
    assert_eq!(service.segments(), ["e"]);
}
