//! The beginning of a plan for reviewers: the changed messages, with audience, time and causes.

use pushplan_testing::{Project, Ran, says};
use serde_json::Value;

/// A push, an experiment and a pipeline; the push goes to people who are not on an exclusion list.
const BASE: &str = "\
segments:
  do-not-contact: {criteria: {or: [{tag: unsubscribed}, {tag: complained}]}}
  readers: {criteria: {and: [{tag: newsletter}, {not: {segment: do-not-contact}}]}}
templates:
  hello: {push: {notification: {alert: Hello}}}
scheduled_pushes:
  april:
    schedule: {scheduled_time: 2035-04-01T10:00}
    push: {audience: {segment: readers}, device_types: [ios], notification: {alert: What is new}}
  greeting:
    schedule: {scheduled_time: 2035-04-02T10:00}
    push: {audience: {tag: vip}, device_types: [ios], template: hello}
experiments:
  trial:
    audience: {tag: vip}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: One}}, schedule: {scheduled_time: 2035-03-01T10:00}}
      - {push: {notification: {alert: Two}}, schedule: {scheduled_time: 2035-03-02T10:00}}
      - {push: {notification: {alert: Three}}, schedule: {scheduled_time: 2035-03-03T10:00}}
pipelines:
  steps:
    enabled: true
    immediate_trigger: [{tag_added: a}, {tag_added: b}]
    outcome:
      - {delay: 1h, push: {audience: triggered, device_types: [ios], notification: {alert: Step one}}}
      - {delay: 1d, push: {audience: triggered, device_types: [ios], notification: {alert: Step two}}}
";

/// Each message of a plan: its address, its class, its text before and after.
fn messages(ran: &Ran) -> Vec<String> {
    let plan: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let told = |message: &Value| {
        let content = &message["content"];
        let (class, address) = (text(&message["class"]), text(&message["address"]));
        format!("{class} {address} {} > {}", text(&content["old"]), text(&content["new"]))
    };
    plan["messages"].as_array().expect("messages").iter().map(told).collect()
}

#[test]
fn every_edit_names_the_messages_that_it_changes() {
    let project = Project::new(BASE);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let edits: [(&str, &str, &[&str]); 11] = [
        ("{tag: unsubscribed}, ", "", &["more scheduled_pushes/april What is new > What is new"]),
        ("{or: [{tag: unsub", "{and: [{tag: unsub", &["more scheduled_pushes/april What is new > What is new"]),
        ("{and: [{tag: news", "{or: [{tag: news", &["more scheduled_pushes/april What is new > What is new"]),
        (
            "{tag: complained}",
            "{tag: complained}, {tag: bounced}",
            &["fewer scheduled_pushes/april What is new > What is new"],
        ),
        ("alert: Hello", "alert: Good day", &["text scheduled_pushes/greeting Hello > Good day"]),
        ("2035-04-01T10:00", "2035-04-01T11:00", &["time scheduled_pushes/april What is new > What is new"]),
        (
            "schedule: {scheduled_time: 2035-04-01T10:00}",
            "schedule: [{scheduled_time: 2035-04-01T10:00}, {scheduled_time: 2035-04-03T10:00}]",
            &["more scheduled_pushes/april What is new > What is new"],
        ),
        (
            "      - {push: {notification: {alert: Two}}, schedule: {scheduled_time: 2035-03-02T10:00}}\n",
            "",
            &[
                "more experiments/trial One > One",
                "more experiments/trial Three > Three",
                "cancelled experiments/trial Two > -",
            ],
        ),
        (
            "      - {delay: 1h, push: {audience: triggered, device_types: [ios], notification: {alert: Step one}}}\n",
            "",
            &["cancelled pipelines/steps Step one > -"],
        ),
        ("[{tag_added: a}, {tag_added: b}]", "[{tag_added: b}, {tag_added: a}]", &[]),
        (
            "enabled: true",
            "enabled: false",
            &["cancelled pipelines/steps Step one > -", "cancelled pipelines/steps Step two > -"],
        ),
    ];
    for (old, new, expected) in edits {
        assert!(BASE.contains(old), "{old}");
        project.write(&BASE.replace(old, new));
        let ran = project.good(&["plan", "--format", "json"]);
        assert_eq!(messages(&ran), expected, "{old} becomes {new}");
    }
    // A time that has passed is refused, and the push goes out at its old time.
    project.write(&BASE.replace("2035-04-01T10:00", "2025-04-01T10:00"));
    let ran = project.refused(&["--format", "json"]);
    assert_eq!(messages(&ran), [""; 0]);
}

#[test]
fn a_shrunk_exclusion_list_is_the_first_sentence_of_every_form() {
    let project = Project::new(BASE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&BASE.replace("{tag: unsubscribed}, ", ""));
    let verdict = "scheduled_pushes/april reaches more people: the exclusion list do-not-contact shrinks.";
    let text = project.good(&["plan"]).stdout;
    assert!(text.starts_with(verdict), "{text}");
    says(&text, &["MORE", "scheduled_pushes/april", "because segments/do-not-contact no longer includes"]);
    for format in ["markdown", "html"] {
        let page = project.good(&["plan", "--format", format]).stdout;
        says(&page, &[verdict]);
        assert!(!page.contains("No message reaches more people"), "{page}");
    }
    // A person does it in the dashboard.
    project.write(BASE);
    let id = service.segment_id("do-not-contact");
    let body = serde_json::json!({ "display_name": "do-not-contact", "criteria": { "tag": "complained" } });
    service.put(&format!("/api/segments/{id}"), &body);
    says(&project.run(&["drift"]).stdout, &[verdict, "MORE", "scheduled_pushes/april"]);
}

/// A plan that apply would refuse is shown, and its exit code says so.
#[test]
fn a_plan_that_a_guard_refuses_exits_with_7() {
    let project = Project::new(BASE);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&BASE.replace("audience: {segment: readers}", "audience: all"));
    let ran = project.refused(&[]);
    says(
        &ran.stdout,
        &[
            "scheduled_pushes/april reaches everyone. Apply refuses this plan: scheduled_pushes/april addresses\nevery device.",
            "EVERYONE",
            "refused: ",
        ],
    );
    project.refused(&["--detailed-exitcode"]);
    project.refused(&["--offline"]);
}

/// A tag or a channel that the plan adds or removes changes the members of an audience whose text is unchanged.
#[test]
fn tags_and_channels_of_members_name_the_messages_that_they_change() {
    let base = "\
segments:
  no-mail: {criteria: {tag: muted, group: choice}}
scheduled_pushes:
  gold:
    schedule: {scheduled_time: 2035-04-01T10:00}
    push: {audience: {tag: gold, group: tier}, device_types: [ios], notification: {alert: Thanks}}
  news:
    schedule: {scheduled_time: 2035-04-02T10:00}
    push: {audience: {not: {segment: no-mail}}, device_types: [ios], notification: {alert: News}}
  ann:
    schedule: {scheduled_time: 2035-04-03T10:00}
    push: {audience: {named_user: ann}, device_types: [ios], notification: {alert: Hello}}
tag_groups:
  tier: {tags: [gold, silver], members: {named_users: {bob: [silver]}}}
  choice: {tags: [muted], members: {named_users: {cleo: [muted]}}}
";
    let project = Project::new(base);
    let service = project.serve();
    let device = serde_json::json!({ "device_type": "ios", "opt_in": true });
    service.put("/local/devices/phone-1", &device);
    project.good(&["apply", "--yes"]);
    let edits: [(&str, &str, &[&str], &str); 4] = [
        (
            "{bob: [silver]}",
            "{bob: [gold]}",
            &["more scheduled_pushes/gold Thanks > Thanks"],
            "because tag_groups/tier adds the tag gold to named user bob",
        ),
        (
            "{cleo: [muted]}",
            "{cleo: [muted], dan: [muted]}",
            &["fewer scheduled_pushes/news News > News"],
            "because tag_groups/choice adds the tag muted to named user dan",
        ),
        (
            "{cleo: [muted]}",
            "{dan: [muted]}",
            &["different scheduled_pushes/news News > News"],
            "because tag_groups/choice changes the tags of several members",
        ),
        (
            "tag_groups:",
            "named_users:\n  ann: {channels: [{channel_id: phone-1, device_type: ios}]}\ntag_groups:",
            // The channel may be one of cleo's, and then it loses her tag.
            &["more scheduled_pushes/news News > News", "more scheduled_pushes/ann Hello > Hello"],
            "because named_users/ann gets the channel phone-1",
        ),
    ];
    for (old, new, expected, because) in edits {
        assert!(base.contains(old), "{old}");
        project.write(&base.replace(old, new));
        assert_eq!(messages(&project.good(&["plan", "--format", "json"])), expected, "{old} becomes {new}");
        says(&project.good(&["plan"]).stdout, &[because]);
    }
}

/// A channel keeps its own tags, whichever named user it belongs to.
#[test]
fn a_tagged_channel_that_comes_to_a_named_user_is_excluded_as_before() {
    let base = "\
scheduled_pushes:
  news:
    lifecycle: {broadcast: true}
    schedule: {scheduled_time: 2035-04-01T10:00}
    push: {audience: {not: {tag: muted, group: choice}}, device_types: [ios], notification: {alert: News}}
tag_groups:
  choice: {tags: [muted], members: {ios_channels: {phone-1: [muted]}}}
";
    let project = Project::new(base);
    let service = project.serve();
    service.put("/local/devices/phone-1", &serde_json::json!({ "device_type": "ios", "opt_in": true }));
    project.good(&["apply", "--yes"]);
    project.write(&format!("{base}named_users:\n  ann: {{channels: [{{channel_id: phone-1, device_type: ios}}]}}\n"));
    assert_eq!(messages(&project.good(&["plan", "--format", "json"])), [""; 0]);
}

/// The examined members depend on the condition: the last of many is found like the first.
#[test]
fn one_of_very_many_members_and_channels_is_found() {
    let base = "\
scheduled_pushes:
  badge:
    schedule: {scheduled_time: 2035-04-01T10:00}
    push: {audience: {tag: t55, group: tier}, device_types: [ios], notification: {alert: Thanks}}
  user:
    schedule: {scheduled_time: 2035-04-02T10:00}
    push: {audience: {named_user: u55}, device_types: [ios], notification: {alert: Hello}}
tag_groups:
  tier: {tags: [t0, t55]}
";
    let project = Project::new(base);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let numbers = || (0..60).map(|n| n.to_string());
    let listed = |one: fn(&str) -> String| numbers().map(|n| one(&n)).collect::<Vec<_>>().join(", ");
    let tags = listed(|n| format!("t{n}"));
    let members = listed(|n| format!("m{n}: [t{n}]"));
    let tier = format!("tier: {{tags: [{tags}], members: {{named_users: {{{members}}}}}}}");
    project.write(&base.replace("tier: {tags: [t0, t55]}", &tier));
    let found = messages(&project.good(&["plan", "--format", "json"]));
    assert_eq!(found, ["more scheduled_pushes/badge Thanks > Thanks"]);
    let users = listed(|n| format!("u{n}: {{channels: [{{channel_id: phone-{n}, device_type: ios}}]}}"));
    project.write(&format!("{base}named_users: {{{users}}}\n"));
    let ran = project.good(&["plan", "--format", "json"]);
    // One of the other channels may still belong to this user.
    assert_eq!(messages(&ran), ["different scheduled_pushes/user Hello > Hello"]);
    says(&project.good(&["plan"]).stdout, &["because named_users/u55 gets the channel phone-55"]);
}

/// A number of pushes at ten o'clock, one on each day, to one tag.
fn pushes(number: usize, alert: &str) -> String {
    let one = |day: usize| {
        format!(
            "  p{day:02}:\n    schedule: {{scheduled_time: 2035-04-{day:02}T10:00}}\n    push: {{audience: {{tag: vip}}, \
             device_types: [ios], notification: {{alert: \"Day {day}: {alert}\"}}}}\n"
        )
    };
    format!("scheduled_pushes:\n{}", (1..=number).map(one).collect::<String>())
}

#[test]
fn a_variable_that_changes_many_messages_is_their_cause() {
    let project = Project::new(&pushes(9, "${var.discount} off"));
    let _service = project.serve();
    let settings = project.folder.read("pushplan.toml");
    let with = |discount: &str| {
        let variables = format!("\n[targets.local.variables]\ndiscount = \"{discount}\"\n");
        project.folder.write("pushplan.toml", format!("{settings}{variables}"));
    };
    with("10 %");
    project.good(&["apply", "--yes"]);
    with("15 %");
    let line =
        project.folder.read("pushplan.toml").lines().position(|line| line.starts_with("discount")).expect("it") + 1;
    let because = format!("because var.discount changes from \"10 %\" to \"15 %\" (pushplan.toml:{line})");
    let told = project.good(&["plan"]).stdout;
    says(
        &told,
        &[
            "9 messages change their text: var.discount changes from \"10 %\" to \"15 %\".",
            "9 scheduled pushes (",
            "Day 1: [-10-]{+15+} % off",
            &because,
        ],
    );
    // The edit is shown twice, and the others are named.
    assert_eq!(told.matches("\n~ scheduled_pushes/").count(), 2, "{told}");
    says(&told, &["~ 7 more scheduled pushes have the same edit: scheduled_pushes/p03, scheduled_pushes/p04,"]);
    let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("JSON");
    let causes = plan["messages"][0]["causes"].as_array().expect("causes");
    assert_eq!(causes.last().expect("one")["address"], "var.discount");
    assert_eq!(plan["changes"].as_array().expect("changes").len(), 9);
}

#[test]
fn many_messages_that_move_alike_are_one_row() {
    let base = pushes(9, "Hi");
    let project = Project::new(&base);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&base.replace("T10:00", "T11:30"));
    let told = project.good(&["plan"]).stdout;
    says(
        &told,
        &[
            "9 messages are sent at another time: 1 hour 30 minutes later.",
            "TIME       9 scheduled pushes (",
            "1 hour 30 minutes later",
        ],
    );
    // A push that moves by another length has its own row.
    project.write(&base.replace("T10:00", "T11:30").replacen("T11:30", "T12:00", 1));
    let told = project.good(&["plan"]).stdout;
    says(
        &told,
        &["TIME       8 scheduled pushes (", "TIME       scheduled_pushes/p01  Sun 1 Apr 2035 10:00 → 12:00 UTC"],
    );
}

/// One message on many days is one row if it is added or removed; a message with another text has its own row.
#[test]
fn many_messages_that_come_or_go_alike_are_one_row() {
    let all = pushes(9, "Hi").replace("Day ", "").replace(": Hi", "").replace("alert: \"3\"", "alert: Other");
    let same = (1..=9).fold(all, |text, day| text.replace(&format!("alert: \"{day}\""), "alert: Hi"));
    let project = Project::new(&same);
    let _service = project.serve();
    let names = "8 scheduled pushes (scheduled_pushes/p01,";
    let days = "Sun 1 Apr 2035 10:00 UTC to Mon 9 Apr 2035 10:00 UTC";
    let rows = |told: &str, class: &str| {
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        says(&told, &[&format!("{class} {names}"), days, &format!("{class} scheduled_pushes/p03 Tue 3 Apr"), "\"Hi\""]);
    };
    rows(&project.good(&["plan"]).stdout, "NEW");
    project.good(&["apply", "--yes"]);
    project.write("segments: {a: {criteria: {tag: x}}}\n");
    rows(&project.run(&["plan"]).stdout, "CANCELLED");
}

#[test]
fn messages_that_were_near_before_are_no_news() {
    let base = pushes(3, "Hi");
    let near = format!(
        "{base}  late: {{schedule: {{scheduled_time: 2035-04-01T11:00}}, push: {{audience: {{tag: vip}}, device_types: [ios], notification: {{alert: Late}}}}}}\n"
    );
    let project = Project::new(&near);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&near.replace("Late", "Later"));
    let told = project.good(&["plan"]).stdout;
    assert!(!told.contains("    too close "), "{told}");
    project.write(&near.replace("T11:00", "T10:30"));
    says(&project.good(&["plan"]).stdout, &["too close  30 minutes after scheduled_pushes/p01: both can reach"]);
}

#[test]
fn a_condition_that_only_moves_in_a_segment_is_not_called_news() {
    let project = Project::new(BASE);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    for (old, new, because) in [
        (
            "{or: [{tag: unsubscribed}, {tag: complained}]}",
            "{tag: complained}",
            "because segments/do-not-contact no longer includes \"tag unsubscribed\"",
        ),
        (
            "{or: [{tag: unsub",
            "{and: [{tag: unsub",
            "because segments/do-not-contact requires all of its conditions, no longer any of them",
        ),
    ] {
        assert!(BASE.contains(old), "{old}");
        project.write(&BASE.replace(old, new));
        says(&project.good(&["plan"]).stdout, &[because]);
    }
}

/// Two segments change, and only one of them changes who gets the message.
#[test]
fn a_segment_that_makes_no_difference_is_no_cause() {
    let base = "\
segments:
  a: {criteria: {and: [{tag: x}, {tag: q}]}}
  b: {criteria: {tag: y}}
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-04-01T10:00}
    push: {audience: {or: [{segment: a}, {and: [{segment: b}, {segment: a}]}]}, device_types: [ios], notification: {alert: Hi}}
";
    let project = Project::new(base);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let causes = |edits: &[(&str, &str)]| {
        project.write(&edits.iter().fold(base.to_owned(), |text, (old, new)| text.replace(old, new)));
        let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("JSON");
        let causes = plan["messages"][0]["causes"].as_array().expect("causes").clone();
        causes.iter().map(|cause| cause["address"].as_str().expect("one").to_owned()).collect::<Vec<_>>()
    };
    let (loosened, other) = (("{and: [{tag: x}, {tag: q}]}", "{tag: x}"), ("{tag: y}", "{tag: z}"));
    assert_eq!(causes(&[loosened, other]), ["segments/a"]);
    // The message no longer names the segment that changes.
    let unnamed = ("{or: [{segment: a}, {and: [{segment: b}, {segment: a}]}]}", "{segment: b}");
    assert_eq!(causes(&[loosened, unnamed]), ["scheduled_pushes/p"]);
    // Neither of them has an effect alone; together they do.
    let both = [("{and: [{tag: x}, {tag: q}]}", "{tag: y}"), ("b: {criteria: {tag: y}}", "b: {criteria: {tag: x}}")];
    assert!(!causes(&both).is_empty());
    // Both add the same people: each is a cause, even if the text is edited.
    let two = "or: [{segment: a}, {segment: b}]";
    let base = base.replace("or: [{segment: a}, {and: [{segment: b}, {segment: a}]}]", two);
    project.write(&base);
    project.good(&["apply", "--yes"]);
    let let_in =
        |text: &str| text.replace("{and: [{tag: x}, {tag: q}]}", "{or: [{tag: t}, {and: [{tag: x}, {tag: q}]}]}");
    project.write(&let_in(&base).replace("{tag: y}", "{or: [{tag: t}, {tag: y}]}").replace("alert: Hi", "alert: Ho"));
    let told = project.good(&["plan"]).stdout;
    says(&told, &["because segments/a ", "because segments/b now "]);
}

/// A push that opens a page, and an unchanged one.
fn with_link(address: &str) -> String {
    let push = |key: &str, address: &str| {
        format!(
            "  {key}:\n    schedule: {{scheduled_time: 2035-04-01T10:00}}\n    push:\n      audience: {{tag: {key}}}\n      device_types: \
             [ios]\n      notification: {{alert: Sale, actions: {{open: {{type: url, content: '{address}'}}}}}}\n"
        )
    };
    let stays = push("stays", "https://shop.example.com/sale");
    format!("scheduled_pushes:\n{stays}{}", push("sale", address))
}

#[test]
fn a_link_to_a_host_that_no_message_used_before_is_named_first() {
    let project = Project::new(&with_link("https://shop.example.com/sale"));
    let _service = project.serve();
    let first = project.good(&["plan"]);
    assert!(!first.stdout.contains("host"), "on the first day, every host is new: {first}");
    project.good(&["apply", "--yes"]);
    for (address, words) in [
        ("https://shop.exmaple.com/sale", "shop.exmaple.com, easily mistaken for shop.example.com"),
        ("http://other.example/sale", "other.example, not encrypted"),
        ("https://shop.example.com@203.0.113.7/sale", "203.0.113.7, an IP address"),
        ("https://аррӏе.com/", "xn--80ak6aa92e.com, a name with letters other than a to z"),
    ] {
        project.write(&with_link(address));
        let host = words.split(',').next().expect("a host");
        let verdict = format!("scheduled_pushes/sale links to {host} for the first time.");
        let ran = project.good(&["plan"]);
        says(&ran.stdout, &["NEW HOST", "scheduled_pushes/sale", &format!("new host: {words}"), &verdict]);
        for form in ["markdown", "html"] {
            says(&project.good(&["plan", "--format", form]).stdout, &[&verdict, "NEW HOST"]);
        }
        let plan: Value =
            serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("a plan in JSON");
        let message = &plan["messages"][0];
        assert_eq!((&message["class"], &message["new_hosts"][0]["name"]), (&"new_host".into(), &host.into()), "{plan}");
    }
    project.write(&with_link("https://shop.example.com/other?from=push"));
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["TEXT", "https://shop.example.com/other?from=push"]);
    assert!(!ran.stdout.contains("new host"), "it was used before: {ran}");
}

#[test]
fn a_pipeline_that_sends_at_any_hour_says_so_if_there_are_quiet_hours() {
    let project = Project::new("segments: {a: {criteria: {tag: a}}}\n");
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(BASE);
    let any_hour = "also in quiet hours (21:00 to 08:00)";
    assert!(!project.good(&["plan"]).stdout.contains("in quiet hours"));
    let settings = project.folder.read("pushplan.toml");
    project.folder.write("pushplan.toml", settings + "quiet_hours = {from = \"21:00\", to = \"08:00\"}\n");
    for form in ["text", "markdown", "html"] {
        says(&project.good(&["plan", "--format", form]).stdout, &[any_hour]);
    }
    let plan = project.good(&["plan", "--format", "json"]).stdout;
    let plan: Value = serde_json::from_str(&plan).expect("a plan in JSON");
    let messages = plan["messages"].as_array().expect("messages");
    let any_hour: Vec<&str> = messages
        .iter()
        .filter(|message| message["when"]["any_hour"] == "21:00 to 08:00")
        .filter_map(|message| message["address"].as_str())
        .collect();
    assert_eq!(any_hour, ["pipelines/steps", "pipelines/steps"]);
    project.good(&["apply", "--yes"]);
    project.write(&BASE.replace("Step one", "Step 1"));
    assert!(!project.good(&["plan"]).stdout.contains("in quiet hours"), "that is no news");
}
