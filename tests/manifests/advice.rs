//! Typical mistakes of beginners, and their findings: one each, at its position, with the correct text.

use pushplan_testing::{Folder, Ran};

const NOW: &str = "2026-11-15T12:00Z";

fn validate(folder: &Folder) -> Ran {
    folder.run(&["validate", "--color", "never", "--now", NOW])
}

/// The codes and places of all findings, such as `YM206 3:15`. A file other than `messages.yaml` is named.
fn found(ran: &Ran) -> Vec<String> {
    let mut lines = ran.stdout.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let Some(code) = line.strip_prefix("error[").or_else(|| line.strip_prefix("warning[")) else { continue };
        let place = lines.next().and_then(|line| line.trim().strip_prefix("--> ")).unwrap_or("nowhere");
        found.push(format!("{} {}", &code[..5], place.trim_start_matches("messages.yaml:")));
    }
    found
}

/// Checks that a manifest gives only this finding, with these words.
fn assert_told(manifest: &str, finding: &str, words: &[&str]) {
    let ran = validate(&Folder::project(manifest));
    assert_eq!(found(&ran), [finding], "{manifest}\n{}", ran.stdout);
    for words in words {
        assert!(ran.stdout.contains(words), "`{words}` is not said of\n{manifest}\n{}", ran.stdout);
    }
}

fn assert_clean(manifest: &str) {
    let ran = validate(&Folder::project(manifest));
    assert_eq!((ran.code, found(&ran).len()), (0, 0), "{manifest}\n{}", ran.stdout);
}

fn segment(criteria: &str) -> String {
    format!("segments:\n  s:\n    criteria: {criteria}\n")
}

/// A scheduled push, with one of its lines replaced. The lines are 3: schedule, 5: audience, 6: device_types, 7: notification.
fn push(line: &str) -> String {
    let mut lines = vec![
        "    schedule: {scheduled_time: 2026-11-27T12:00}",
        "    push:",
        "      audience: all",
        "      device_types: all",
        "      notification: {alert: Hi}",
    ];
    let key = |line: &str| line.trim().split(':').next().map(str::to_owned);
    match lines.iter_mut().find(|known| key(known) == key(line)) {
        Some(known) => *known = line,
        None => lines.push(line),
    }
    format!("scheduled_pushes:\n  p:\n{}\n", lines.join("\n"))
}

fn schedule(schedule: &str) -> String {
    push(&format!("    schedule: {schedule}"))
}

fn notification(notification: &str) -> String {
    push(&format!("      notification: {notification}"))
}

fn pipeline(lines: &str) -> String {
    format!("pipelines:\n  p:\n    enabled: true\n{lines}\n")
}

#[test]
fn a_word_for_an_audience_is_told_in_all_its_forms() {
    let help =
        "for a segment write {segment: vip}, for a tag {tag: vip}, or {tag: vip, group: ...} if it is in a group";
    assert_told(&push("      audience: vip"), "YM206 5:17", &[help]);
}

#[test]
fn messages_with_nothing_to_read_are_told() {
    for (manifest, place, words) in [
        (notification("{alert: \"\"}"), "7:29", "the text of the notification is empty"),
        (notification("{alert: \" \\n\"}"), "7:29", "the text of the notification is empty"),
        (notification("{}"), "7:21", "the notification has no text"),
        (notification("{actions: {add_tag: a}}"), "7:21", "the notification has no text"),
        (push("      message: {title: \"\", body: b}"), "8:24", "the title of the message is empty"),
        (push("      message: {title: t, body: \" \"}"), "8:33", "the body of the message is empty"),
        (
            "templates:\n  t:\n    push:\n      notification: {alert: \"\"}\n".to_owned(),
            "4:29",
            "the text of the notification is empty",
        ),
        (
            "experiments:\n  e:\n    audience: all\n    device_types: all\n    variants:\n      - push: {notification: \
             {alert: \"\"}}\n        schedule: {scheduled_time: 2026-11-27T12:00}\n      - push: {notification: {alert: \
             B}}\n        schedule: {scheduled_time: 2026-11-27T12:00}\n"
                .to_owned(),
            "6:38",
            "the text of the notification is empty",
        ),
    ] {
        assert_told(&manifest, &format!("MS116 {place}"), &[words]);
    }
}

#[test]
fn a_notification_without_text_may_bring_something_else_to_read() {
    let message =
        push("      message: {title: t, body: b}").replace("{alert: Hi}", "{}").replace("types: all", "types: ios");
    assert_clean(&message);
    assert_clean(&notification("{web: {title: Hi}}"));
    assert_clean(&notification("{ios: {alert: Hi}}"));
    assert_clean(&notification("{ios: {content_available: true}}"));
    let passed = validate(&Folder::project(&notification("{wns: {further: Hi}}")));
    assert_eq!(found(&passed), ["YM202 7:22"], "{}", passed.stdout);
}

#[test]
fn an_empty_body_file_says_nothing_and_one_that_is_missing_is_told_once() {
    let manifest = push("      message: {title: t, body: {file: b.html}}").replace("types: all", "types: ios");
    let folder = Folder::project(&manifest);
    assert_eq!(found(&validate(&folder)), ["RF108 8:40"]);
    folder.write("b.html", "\n");
    assert_eq!(found(&validate(&folder)), ["MS116 8:40"]);
}

#[test]
fn an_empty_value_of_any_group_is_told() {
    for criteria in [
        "{tag: \"\"}",
        "{country: \"\"}",
        "{language: \"\"}",
        "{timezone: \"\"}",
        "{opt_in: \"\"}",
        "{ios_version: \"\"}",
        "{ios_model: \"\"}",
        "{android_app_version: \"\"}",
        "{tag: \"\", group: ua_locale_country}",
    ] {
        let ran = validate(&Folder::project(&segment(criteria)));
        assert_eq!(
            found(&ran).iter().map(|found| &found[..5]).collect::<Vec<_>>(),
            ["TG103"],
            "{criteria}\n{}",
            ran.stdout
        );
    }
    let channel = "open_channels:\n  c: {opt_in: true, locale_country: \"\", open: {open_platform_name: email}}\n";
    assert_told(channel, "TG103 2:37", &["the value of `country` is empty"]);
}

#[test]
fn time_zones_are_named_by_the_place_that_is_meant() {
    for (zone, words) in [
        ("PST", "did you mean `America/Los_Angeles`?"),
        ("EST", "did you mean `America/New_York`?"),
        ("EST5EDT", "did you mean `America/New_York`?"),
        ("MST", "did you mean `America/Denver`?"),
        ("HST", "did you mean `Pacific/Honolulu`?"),
        ("CET", "did you mean `Europe/Paris`?"),
        ("Eastern Time", "did you mean `America/New_York`?"),
        ("Paris", "did you mean `Europe/Paris`?"),
        ("Los Angeles", "did you mean `America/Los_Angeles`?"),
        ("Europe/Pariss", "did you mean `Europe/Paris`?"),
        ("GMT+1", "write `Etc/GMT-1`, which has the opposite sign"),
        ("+02:00", "write `Etc/GMT-2`, which has the opposite sign"),
        ("-5", "write `Etc/GMT+5`, which has the opposite sign"),
        ("UTC+0", "write `UTC`"),
    ] {
        let manifest = schedule(&format!("{{scheduled_time: 2026-11-27T12:00, time_zone: {zone}}}"));
        assert_told(&manifest, "SC106 3:61", &[words]);
    }
    for zone in ["UTC", "Europe/Paris", "Etc/GMT-1", "Japan"] {
        assert_clean(&schedule(&format!("{{scheduled_time: 2026-11-27T12:00, time_zone: {zone}}}")));
    }
    assert_told(&segment("{timezone: Paris}"), "AU104 3:26", &["did you mean `Europe/Paris`?"]);
}

#[test]
fn a_wrong_time_is_told_with_what_is_wrong_with_it() {
    for (time, words) in [
        ("2026-11-27T24:00", "write 2026-11-28T00:00"),
        ("2026-02-30T10:00", "February 2026 has 28 days"),
        ("2026-13-01T10:00", "months go from 01 to 12"),
        ("2026-11-27T10:00 am", "write 2026-11-27T10:00"),
        ("2026-11-27 10:00", "write a T between date and time"),
        ("20261127", "a number has neither day nor hour"),
        ("27/11/2026", "write a date as year-month-day"),
    ] {
        assert_told(&schedule(&format!("{{scheduled_time: {time}}}")), "SC106 3:32", &[words]);
    }
    let both = validate(&Folder::project(&schedule("{scheduled_time: 2026-11-27T25:00, time_zone: PST}")));
    assert_eq!(found(&both), ["SC106 3:32", "SC106 3:61"], "{}", both.stdout);
    // A number is not a time even with quotes: no fix adds them.
    let folder = Folder::project(&schedule("{local_scheduled_time: 900}"));
    let ran = folder.run(&["validate", "--color", "never", "--now", NOW, "--fix"]);
    assert!(ran.stdout.contains("SC106") && ran.stdout.contains("Fixed nothing."), "{}", ran.stdout);
    let folder = Folder::project(&schedule("{scheduled_time: 2026-11-27 10:00}"));
    folder.run(&["validate", "--fix", "--now", NOW]);
    assert!(folder.read("messages.yaml").contains("{scheduled_time: 2026-11-27T10:00}"));
}

#[test]
fn devices_are_known_by_their_everyday_names() {
    for (devices, place, words) in [
        ("[iphone]", "6:22", "did you mean `ios`?"),
        ("iPads", "6:21", "did you mean `ios`?"),
        ("[ios, Browser]", "6:27", "did you mean `web`?"),
        ("chrome", "6:21", "did you mean `web`?"),
        ("[toaster]", "6:22", "expected `all`, or a list of ios, android, amazon, web and open::<platform>"),
        ("[all]", "6:22", "write `device_types: all`"),
    ] {
        assert_told(&push(&format!("      device_types: {devices}")), &format!("YM206 {place}"), &[words]);
    }
}

#[test]
fn the_audience_of_a_pipeline_can_be_left_out() {
    let with = |audience: &str| {
        pipeline(&format!(
            "    immediate_trigger: first_open\n    outcome: {{push: {{{audience}device_types: all, notification: {{alert: Hi}}}}}}"
        ))
    };
    assert_clean(&with(""));
    let canonical = |manifest: &str| {
        let folder = Folder::project(manifest);
        let (desired, _) = pushplan::manifest::read_project(folder.path(), None).resolve(Some("local"));
        desired.resources.values().map(|declared| declared.spec.canonical()).collect::<Vec<_>>()
    };
    assert_eq!(canonical(&with("")), canonical(&with("audience: triggered, ")));
    assert_eq!(canonical(&with("")).len(), 1);
    let other = validate(&Folder::project(&with("audience: all, ")));
    assert_eq!(found(&other), ["PL101 5:32"], "{}", other.stdout);
}

#[test]
fn a_part_of_a_keys_name_is_enough_to_know_it() {
    let outcome = "    outcome: {push: {device_types: all, notification: {alert: Hi}}}";
    let manifest = pipeline(&format!("    trigger: first_open\n{outcome}"));
    assert_told(&manifest, "YM201 4:5", &["did you mean `immediate_trigger`?"]);
    let group = "tag_groups:\n  loyalty: {}\n";
    let manifest = format!("{}{group}", segment("{tag: vip, tag_group: loyalty}"));
    assert_told(&manifest, "YM201 3:26", &["did you mean `group`?"]);
}

#[test]
fn a_value_in_another_shape_is_told_how_to_write_it() {
    for (manifest, finding, words) in [
        (notification("Hello there"), "YM205 7:21", "write {alert: \"Hello there\"}"),
        (notification("{alert: Hi, actions: {add_tag: {tag: a, group: b}}}"), "YM205 7:53", "write only the tag"),
        (notification("{alert: {file: a.txt}}"), "YM205 7:30", "only the `body` of a message can be in a file"),
        (
            push("      notification: null").replace("notification: null", "template: {id: 123}"),
            "YM205 7:18",
            "write `template: <key>`",
        ),
    ] {
        assert_told(&manifest, finding, &[words]);
    }
}

#[test]
fn keys_on_the_wrong_level_are_told_where_they_belong() {
    let flat = "scheduled_pushes:\n  p:\n    schedule: {scheduled_time: 2026-11-27T12:00}\n    audience: all\n    \
                device_types: all\n    notification: {alert: Hi}\n";
    assert_told(flat, "YM201 4:5", &["`audience`, `device_types` and `notification` belong under `push`"]);

    assert_told(
        "scheduled_pushes:\n  p:\n    schedule: {scheduled_time: 2026-11-27T12:00}\n    campaigns: {categories: a}\n    push: \
         {audience: all, device_types: all, notification: {alert: Hi}}\n",
        "YM201 4:5",
        &["`campaigns` belongs under `push`", "write it under `push`"],
    );

    let deep = notification("{alert: Hi}") + "      schedule: {scheduled_time: 2026-11-28T12:00}\n";
    assert_told(&deep, "YM201 8:7", &["`schedule` belongs one level higher"]);

    let outcome =
        "    immediate_trigger: first_open\n    delay: 1h\n    push: {device_types: all, notification: {alert: Hi}}";
    assert_told(&pipeline(outcome), "YM201 5:5", &["`delay` and `push` belong under `outcome`"]);

    let experiment = "experiments:\n  e:\n    audience: all\n    device_types: all\n    schedule: {scheduled_time: \
                      2026-11-27T12:00}\n    variants:\n      - push: {notification: {alert: A}}\n      - push: \
                      {notification: {alert: B}}\n";
    let ran = validate(&Folder::project(experiment));
    assert_eq!(found(&ran), ["YM201 5:5", "EX102 7:9", "EX102 8:9"], "{}", ran.stdout);
    assert!(ran.stdout.contains("`schedule` belongs in each of `variants`"), "{}", ran.stdout);
}

#[test]
fn a_variant_is_pointed_at_as_a_whole() {
    let experiment = |variants: &str| {
        format!("experiments:\n  e:\n    audience: all\n    device_types: all\n    variants:\n{variants}")
    };
    let variant =
        |alert: &str, schedule: &str| format!("      - push: {{notification: {{alert: {alert}}}}}\n{schedule}");
    let timed = "        schedule: {scheduled_time: 2026-11-27T12:00}\n";
    assert_told(&experiment(&(variant("A", timed) + &variant("B", ""))), "EX102 8:9", &["variant 2 has no schedule"]);
    assert_told(&experiment(&variant("A", timed)), "EX103 6:9", &["the only variant"]);
}

#[test]
fn braces_that_are_not_closed_are_told() {
    assert_told(&notification("{alert: \"Hi {{NAME}\"}"), "MS101 7:33", &["`{{` is not closed"]);
    let template = "templates:\n  t:\n    variables: [{key: NAME, default_value: you}]\n    push:\n      notification: {alert: \"{{NAME} \
                    or {{NAME}}\"}\n";
    assert_told(template, "MS101 5:30", &["`{{` is not closed"]);
}

#[test]
fn braces_in_a_value_are_told() {
    let template = |default: &str| {
        format!(
            "templates:\n  t:\n    variables:\n      - {{key: A, default_value: \"{default}\"}}\n      - {{key: B, default_value: bee}}\n    \
             push: {{notification: {{alert: \"Hi {{{{A}}}} and {{{{B}}}}\"}}}}\n"
        )
    };
    assert_told(
        &template("by {{B}}"),
        "MS101 4:37",
        &["`{{B}}` in a value is not filled in", "recipients see the braces"],
    );
    assert_told(&template("by {{B"), "MS101 4:37", &["`{{` is not closed"]);
    assert_clean(&template("by {B}"));
    let push = |value: &str| {
        format!(
            "{}scheduled_pushes:\n  p:\n    schedule: {{scheduled_time: 2026-11-27T12:00}}\n    push:\n      audience: {{tag: x}}\n      \
             device_types: [ios]\n      template: t\n      substitutions: {{A: \"{value}\"}}\n",
            template("you")
        )
    };
    assert_told(&push("sub {{NOPE}} x"), "MS101 14:31", &["`{{NOPE}}` in a value is not filled in"]);
    assert_clean(&push("sub"));
}

#[test]
fn conditions_that_exclude_each_other_are_told() {
    for (criteria, place, words) in [
        ("{and: [{country: US}, {country: CA}]}", "3:47", "write {country: [US, CA]}"),
        ("{and: [{opt_in: true}, {tag: a}, {opt_in: false}]}", "3:57", "remove one of the two"),
        ("{or: [{tag: a}, {and: [{language: en}, {tag: de, group: ua_locale_language}]}]}", "3:60", "`en` and `de`"),
    ] {
        assert_told(&segment(criteria), &format!("AU119 {place}"), &[words]);
    }
    for criteria in [
        "{and: [{country: US}, {language: en}]}",
        "{or: [{country: US}, {country: CA}]}",
        "{and: [{country: [US, CA]}, {country: CA}]}",
        "{and: [{tag: a}, {tag: b}]}",
        "{and: [{country: US}, {not: {country: CA}}]}",
    ] {
        assert_clean(&segment(criteria));
    }
}

#[test]
fn the_same_time_twice_is_told() {
    let times = "[{scheduled_time: 2026-11-27T12:00}, {scheduled_time: 2026-11-27T13:00, time_zone: Europe/Paris}]";
    assert_told(&schedule(times), "SC107 3:69", &["this schedule has the same time twice"]);
}

#[test]
fn a_key_of_which_little_is_left_is_not_suggested() {
    let ran = validate(&Folder::project("segments:\n  été: {criteria: {tag: a}}\n  Größe: {criteria: {tag: a}}\n"));
    assert_eq!(found(&ran), ["YM208 2:3", "YM208 3:3"]);
    assert!(!ran.stdout.contains("write `t`") && ran.stdout.contains("write `gr-e`"), "{}", ran.stdout);
}
