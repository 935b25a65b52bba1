//! What is found in messages, and exactly where: placeholders, cuts, hidden characters, templates that are filled in.

use pushplan::check::{self, Subject};
use pushplan::finding::Finding;
use pushplan::manifest;
use pushplan_testing::Folder;

/// A finding and the text that its caret stands under.
struct Found {
    finding: Finding,
    place: String,
    under: String,
}

/// Everything that is found in the messages of a project, as `validate` tells it. Other families have tests of their own.
fn found_in(folder: &Folder) -> Vec<Found> {
    let manifests = manifest::read_project(folder.path(), None);
    let (desired, mut found) = manifests.resolve(Some("local"));
    let now = "2026-11-15T12:00Z".parse().expect("a time");
    let target = manifests.project.target("local");
    found.extend(check::check(&Subject { desired: &desired, target, now }));
    let general = manifests.findings.iter().cloned();
    let verdict = check::judge(general, vec![(desired, found)], &manifests.project, &manifests.sources);
    let sources = &manifests.sources;
    let findings = verdict.findings.into_iter().filter(|finding| finding.code.name.starts_with("MS"));
    findings
        .map(|finding| Found { place: sources.place(finding.at), under: sources.text(finding.at).to_owned(), finding })
        .collect()
}

fn found(manifest: &str) -> Vec<Found> {
    found_in(&Folder::project(manifest))
}

/// `MS101 messages.yaml:3:9 {{NAME}}` for each finding.
fn told(found: &[Found]) -> Vec<String> {
    found.iter().map(|one| format!("{} {} {}", one.finding.code.name, one.place, one.under)).collect()
}

fn push(rest: &str) -> String {
    format!(
        "scheduled_pushes:\n  sale:\n    schedule: {{scheduled_time: 2026-11-27T09:00}}\n    push:\n      audience: all\n{rest}"
    )
}

#[test]
fn every_unknown_placeholder_is_shown_to_the_character() {
    let found = found(
        r#"templates:
  a:
    variables: [{key: NAME, default_value: x}]
    push:
      notification:
        alert: "日本 {{NAM}} 😀 {{NAME}} {{NAM}}"
        actions: {share: 'it''s {{ NMAE }}', open: {type: url, content: 'https://x.example/{{CODE}}'}}
        web: {icon: {url: "{{ICON}}"}}
      message:
        title: "\"{{TITLE}}\""
        body: |
          <p>{{BODY}}</p>
"#,
    );
    assert_eq!(
        told(&found),
        [
            "MS101 messages.yaml:6:20 {{NAM}}",
            "MS101 messages.yaml:6:39 {{NAM}}",
            "MS101 messages.yaml:7:33 {{ NMAE }}",
            "MS101 messages.yaml:7:92 {{CODE}}",
            "MS101 messages.yaml:8:28 {{ICON}}",
            "MS101 messages.yaml:10:19 {{TITLE}}",
            "MS101 messages.yaml:12:14 {{BODY}}",
        ]
    );
    let fix = found[1].finding.fix.as_ref().expect("a suggestion");
    assert_eq!((fix.text.as_str(), fix.at, fix.safe), ("{{NAME}}", found[1].finding.at, false));
}

#[test]
fn a_placeholder_that_is_written_otherwise_is_reported_on_the_whole_text_without_a_fix() {
    let found = found(
        "templates:\n  a:\n    variables: [{key: NAME, default_value: x}]\n    push: {notification: {alert: \"{{NAME}} \\x7B{NAM}}\"}}\n",
    );
    assert_eq!(told(&found), [r#"MS101 messages.yaml:4:34 "{{NAME}} \x7B{NAM}}""#]);
    assert_eq!(found[0].finding.fix, None);
}

#[test]
fn a_push_outside_templates_has_no_variables() {
    let found = found(&push("      device_types: all\n      notification: {alert: \"Hi {{NAME}}\"}\n"));
    assert_eq!(told(&found), ["MS101 messages.yaml:7:33 {{NAME}}"]);
    assert_eq!(found[0].finding.notes, ["only templates have variables"]);
}

#[test]
fn a_message_beside_a_template_is_the_pushs_own() {
    let template = "templates:\n  a:\n    push: {notification: {alert: Hi}, message: {title: T, body: B}}\n";
    let own = push(
        "      device_types: [ios]\n      template: a\n      message: {title: \"{{NAME}}\", body: \"a\u{200b}b\"}\n",
    );
    assert_eq!(
        told(&found(&format!("{template}{own}"))),
        ["MS101 messages.yaml:11:25 {{NAME}}", "MS108 messages.yaml:11:44 \u{200b}"]
    );
}

#[test]
fn a_variable_that_only_an_undescribed_field_names_is_used() {
    let found = found(
        "templates:\n  a:\n    variables: [{key: BADGE, default_value: '1'}, {key: OLD, default_value: x}]\n    push: {notification: {alert: Hi, ios: {badge: \"{{BADGE}}\"}}}\n",
    );
    assert_eq!(told(&found), ["MS102 messages.yaml:3:57 OLD"]);
}

#[test]
fn a_long_text_is_shown_as_it_is_cut() {
    for (alert, shown) in [
        (
            "Hi there, we miss you. Come back this week and get 20 % off",
            "Hi there, we miss you. Come back this week an…",
        ),
        // 22 wide characters are 44 columns; a 23rd would be 46.
        ("特別セールは明日まで開催中です。お見逃しなくどうぞよろしく", "特別セールは明日まで開催中です。お見逃しなく…"),
        // The family is one character of two columns, and would be columns 45 and 46.
        ("Bring everybody along to the sale on Friday 👨‍👩‍👧 and more", "Bring everybody along to the sale on Friday…"),
        ("Bring everybody along to the sale on Fridy 👨‍👩‍👧 and more", "Bring everybody along to the sale on Fridy 👨‍👩‍👧…"),
        // One line is shown.
        (r"Sale\nToday", "Sale…"),
    ] {
        let found =
            found(&push(&format!("      device_types: [android]\n      notification: {{alert: \"{alert}\"}}\n")));
        assert_eq!(told(&found), [format!("MS107 messages.yaml:7:29 \"{alert}\"")]);
        assert_eq!(found[0].finding.notes, [format!("shown as: \"{shown}\"")]);
    }
}

#[test]
fn a_text_is_measured_for_the_devices_that_show_it() {
    let text = "x".repeat(200);
    for (devices, codes) in [
        ("[ios]", &["MS106"] as &[&str]),
        ("[android, web]", &["MS107"]),
        ("[amazon, web]", &[]),
        ("all", &["MS106", "MS107"]),
    ] {
        let found = found(&push(&format!("      device_types: {devices}\n      notification: {{alert: {text}}}\n")));
        let told: Vec<&str> = found.iter().map(|one| one.finding.code.name).collect();
        assert_eq!(told, codes, "{devices}");
    }
}

#[test]
fn placeholders_count_with_their_defaults() {
    let manifest = |default: &str| {
        format!(
            "templates:\n  a:\n    variables: [{{key: A_LONG_KEY_OF_A_VARIABLE_NUMBER, default_value: {default}}}]\n    push: {{notification: {{alert: \"{{{{A_LONG_KEY_OF_A_VARIABLE_NUMBER}}}} is the word of the day\"}}}}\n"
        )
    };
    assert_eq!(told(&found(&manifest("sale"))), [""; 0]);
    let long = found(&manifest("supercalifragilistic"));
    assert_eq!(long.len(), 0, "20 columns and 23 more fit");
    let long = found(&manifest("supercalifragilisticexpialidocious"));
    assert_eq!(long[0].finding.notes, ["shown as: \"supercalifragilisticexpialidocious is the wor…\""]);
}

const TEMPLATE: &str = r#"templates:
  a:
    variables: [{key: WORD}, {key: LINK, default_value: "https://x.example"}]
    push:
      notification:
        alert: "The word of the day is {{WORD}}"
        actions: {open: {type: url, content: "{{LINK}}"}}
"#;

#[test]
fn what_substitutions_make_wrong_is_told_to_the_push() {
    let values = push(
        "      device_types: all\n      template: a\n      substitutions: {WORD: supercalifragilisticexpialidocious, LINK: 'javascript:x()'}\n",
    );
    assert_eq!(
        told(&found(&format!("{TEMPLATE}{values}"))),
        ["MS107 messages.yaml:14:17 a", "MS110 messages.yaml:14:17 a"]
    );
    let right = push("      device_types: all\n      template: a\n      substitutions: {WORD: sale}\n");
    assert_eq!(told(&found(&format!("{TEMPLATE}{right}"))), [""; 0]);
}

#[test]
fn values_and_variables_must_meet() {
    let wrong = push("      device_types: all\n      template: a\n      substitutions: {WORDS: sale, OTHER: x}\n");
    let found = found(&format!("{TEMPLATE}{wrong}"));
    assert_eq!(
        told(&found),
        ["MS103 messages.yaml:14:17 a", "MS114 messages.yaml:15:23 WORDS", "MS114 messages.yaml:15:36 OTHER"]
    );
    assert_eq!(found[0].finding.message, "the template `a` needs a value for `WORD`");
    assert_eq!(found[1].finding.help.as_deref(), Some("did you mean `WORD`?"));
    let alone = push("      device_types: all\n      notification: {alert: Hi}\n      substitutions: {WORD: sale}\n");
    assert_eq!(told(&self::found(&alone)), ["MS114 messages.yaml:8:23 WORD"]);
}

#[test]
fn a_message_from_a_template_meets_the_pushs_devices() {
    let template = "templates:\n  a:\n    push: {notification: {alert: Hi}, message: {title: T, body: B}}\n";
    let to = push("      device_types: [ios, web, wns, 'open::sms']\n      template: a\n");
    assert_eq!(
        told(&found(&format!("{template}{to}"))),
        ["MS104 messages.yaml:9:27 web", "MS105 messages.yaml:9:32 wns", "MS104 messages.yaml:9:37 'open::sms'"]
    );
    let all = push("      device_types: all\n      template: a\n");
    assert_eq!(told(&found(&format!("{template}{all}"))), [""; 0]);
}

#[test]
fn hidden_characters_are_named_once_each_and_joiners_are_fine() {
    let found = found(&push(
        "      device_types: all\n      notification: {alert: \"👨‍👩‍👧 Pay \u{202e}now\u{200b}\u{200b}\", actions: {share: \"a\\u2066b\"}}\n",
    ));
    assert_eq!(
        told(&found),
        [
            "MS108 messages.yaml:7:40 \u{202e}",
            "MS108 messages.yaml:7:44 \u{200b}",
            "MS108 messages.yaml:7:66 \"a\\u2066b\""
        ]
    );
    let message = &found[0].finding.message;
    assert_eq!(message, "the text contains U+202E (right-to-left override), which is invisible, after \"👨‍👩‍👧 Pay\"");
    assert!(found[1].finding.notes.contains(&"it is here 2 times".to_owned()));
    let fixes: Vec<bool> = found.iter().map(|one| one.finding.fix.is_some()).collect();
    assert_eq!(fixes, [true, true, false], "an escape is not a character that could be taken away");
}

#[test]
fn buttons_and_types_belong_together() {
    let notification = |interactive: &str| {
        push(&format!("      device_types: all\n      notification: {{alert: Hi, interactive: {{{interactive}}}}}\n"))
    };
    let help = |interactive: &str| {
        let found = found(&notification(interactive));
        let help = found[0].finding.help.clone().unwrap_or_default();
        assert_eq!(found.len(), 1, "{interactive}");
        format!("{} {}: {help}", found[0].finding.code.name, found[0].under)
    };
    assert_eq!(
        help("type: ua_folow, button_actions: {anything: {add_tag: x}}"),
        "MS109 ua_folow: did you mean `ua_follow`?"
    );
    assert_eq!(
        help("type: ua_follow, button_actions: {remind: {add_tag: x}}"),
        "MS109 remind: the button `remind` belongs to the type `ua_remind_me_later`"
    );
    assert_eq!(help("type: ua_follow, button_actions: {yes: {add_tag: x}}"), "MS109 yes: write `follow`");
    assert_eq!(told(&found(&notification("type: ua_unfollow, button_actions: {unfollow: {remove_tag: x}}"))), [""; 0]);
}

#[test]
fn variants_of_an_experiment_count_together_against_the_limit() {
    let folder = Folder::project(
        "experiments:\n  e:\n    audience: all\n    device_types: all\n    variants:\n      - {schedule: {scheduled_time: 2026-11-27T09:00}, push: {notification: {alert: A}, message: {title: T, body: {file: a.html}}}}\n      - {schedule: {scheduled_time: 2026-11-27T10:00}, push: {notification: {alert: B}, message: {title: T, body: {file: b.html}}}}\n",
    );
    let half = 5 * 1024 * 1024 / 2;
    folder.write("a.html", "x".repeat(half - 10));
    folder.write("b.html", "y".repeat(half));
    assert_eq!(told(&found_in(&folder)), ["MS113 messages.yaml:7:122 b.html"]);
    folder.write("b.html", "y".repeat(half - 500));
    assert_eq!(told(&found_in(&folder)), [""; 0]);
}

#[test]
fn the_binary_points_at_the_placeholder() {
    let folder = Folder::project("templates:\n  a:\n    push: {notification: {alert: \"Hi {{NAME}}\"}}\n");
    let ran = folder.run(&["validate", "--color", "never"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stdout.contains("messages.yaml:3:38") && ran.stdout.contains("MS101"), "{}", ran.stdout);
}
