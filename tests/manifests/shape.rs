//! What people are told about the shape of their manifests: one finding for one slip, at the exact place.

use std::fmt::Write;

use pushplan_testing::{Folder, Ran};

/// A finding as it was printed: its code, its place and its message.
#[derive(Debug, PartialEq)]
struct Told {
    code: String,
    place: String,
    message: String,
}

/// The findings of a run, in their order. The place stands before the code, or behind an arrow on a line of its own.
fn told(ran: &Ran) -> Vec<Told> {
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some((before, rest)) = line.split_once("error[").or_else(|| line.split_once("warning[")) else { continue };
        let Some((code, message)) = rest.split_once(']') else { continue };
        let arrow = || lines[number..].iter().find_map(|line| line.split_once("--> ")).map(|(_, place)| place);
        let place = Some(before.trim_end_matches([' ', ':'])).filter(|place| !place.is_empty()).or_else(arrow);
        found.push(Told {
            code: code.to_owned(),
            place: place.unwrap_or_default().trim().to_owned(),
            message: message.trim_start_matches([':', ' ']).to_owned(),
        });
    }
    found
}

fn validate(folder: &Folder) -> Ran {
    folder.run(&["validate", "--color", "never", "--now", "2026-11-15T12:00Z"])
}

/// The codes and places that a manifest gives.
fn places(manifest: &str) -> Vec<(String, String)> {
    let ran = validate(&Folder::project(manifest));
    told(&ran).into_iter().map(|told| (told.code, told.place.replace("messages.yaml:", ""))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(code, place)| ((*code).to_owned(), (*place).to_owned())).collect()
}

/// A pipeline on a tag whose push adds a tag.
fn pipeline(key: &str, starts: &str, adds: &str) -> String {
    format!(
        "  {key}:\n    enabled: true\n    immediate_trigger: {{tag_added: {starts}}}\n    outcome:\n      push:\n        \
         audience: triggered\n        device_types: [ios]\n        notification: {{alert: Hi, actions: {{add_tag: \
         {adds}}}}}\n"
    )
}

#[test]
fn one_slip_gives_one_finding_at_its_place() {
    let criteria = |value: &str| format!("segments:\n  s:\n    criteria: {value}\n");
    let alert = |value: &str| {
        let head =
            "templates:\n  t:\n    variables: [{key: NAME, default_value: you}]\n    push:\n      notification:\n";
        format!("{head}        alert: {value}\n")
    };
    for (manifest, code, place) in [
        (criteria("{tag: true}"), "YM204", "3:21"),
        (criteria("{country: no}"), "YM204", "3:25"),
        (criteria("{country: [US, no]}"), "YM204", "3:30"),
        (criteria("{ios_version: 6.10}"), "YM204", "3:29"),
        (criteria("{tag: !!str 42}"), "YM103", "3:21"),
        (criteria("{tag: *nope}"), "YM104", "3:21"),
        (criteria("&all {and: [*all]}"), "YM104", "3:27"),
        (criteria("{tag: }"), "YM207", "3:16"),
        (criteria("{tag: ~}"), "YM207", "3:21"),
        (criteria("{tag: [a, b}"), "YM101", "3:21"),
        (criteria("{tag: \"x}"), "YM101", "3:21"),
        (criteria("{[tag]: x}"), "YM110", "3:16"),
        (criteria("{tagg: x}"), "YM201", "3:16"),
        (alert("{{NAME}}"), "YM109", "6:16"),
        (alert("{{NAME}}, hello"), "YM109", "6:16"),
        (alert("Hello: {{NAME}}"), "YM101", "6:16"),
        (alert("*Now* or never"), "YM101", "6:16"),
        (alert("@home"), "YM101", "6:16"),
        (alert("[SALE] today"), "YM101", "6:16"),
        (alert("\"Big\" sale"), "YM101", "6:22"),
        (alert("'It's on'"), "YM101", "6:20"),
        ("segments:\n  s:\n    critera: {tag: x}\n".into(), "YM201", "3:5"),
        ("segments:\n  s:\n    criteria:{tag: x}\n".into(), "YM201", "3:13"),
        ("segments:\n  s\n    criteria: {tag: x}\n".into(), "YM101", "2:3"),
        ("segments:\n  s:\n    criteria: {tag: x}\n   display_name: S\n".into(), "YM101", "4:4"),
        ("segments:\n  s:\n    display_name: S\n      criteria: {tag: x}\n".into(), "YM101", "4:7"),
        ("segments:\n  s:\n    criteria: {tag: x}\n    display_name\n".into(), "YM101", "4:5"),
        ("segments:\n\ts:\n\t\tcriteria: {tag: x}\n".into(), "YM108", "2:1"),
        ("segments:\n  s:\n    criteria:\n    \ttag: x\n".into(), "YM108", "4:5"),
        ("segments:\n  a: &a\n    criteria: {tag: x}\n  b:\n    <<: *a\n".into(), "YM201", "5:5"),
        ("x-a: &a {tag: x}\nsegments:\n  b:\n    criteria:\n      <<: *a\n".into(), "YM201", "5:7"),
    ] {
        assert_eq!(places(&manifest), pairs(&[(code, place)]), "{manifest}");
    }
}

#[test]
fn what_can_go_without_quotes_is_left_alone() {
    for value in ["{tag: yesterday}", "{tag: 8.3.1}", "{tag: 2026-11-27}", "{tag: \"{{NAME}}\"}", "{country: NL}"] {
        let ran = validate(&Folder::project(&format!("segments:\n  s:\n    criteria: {value}\n")));
        assert_eq!((ran.code, ran.stdout.contains("YM")), (0, false), "{value}: {}", ran.stdout);
    }
}

#[test]
fn columns_count_characters_with_tabs_wide_letters_emoji_and_crlf() {
    let manifest = "\u{feff}segments:\r\n  日本: {criteria: {tag: x}}\r\n  a:\r\n    display_name: 😀😀\r\n    \
                    criteria: {and: [{tag: \"日本語😀\"}, {tag: true}]}\r\n  b:\r\n    criteria:\t{tag:\tno}\r\n";
    assert_eq!(places(manifest), pairs(&[("YM208", "2:3"), ("YM204", "5:43"), ("YM204", "7:21")]));
}

#[test]
fn all_problems_of_a_file_are_reported_in_their_order() {
    let manifest = "segmnts: {}\nsegments:\n  a:\n    criteria: {tag: true}\n    display_nam: A\n  b: {}\n  \
                    c:\n    criteria: {and: [{tga: x}, {tag: [1, two, no]}]}\npipelines:\n  p:\n    enabled: \
                    yes\n    immediate_trigger: first_opn\n    outcome: {delay: soon}\n";
    let expected = [
        ("YM201", "1:1"),
        ("YM204", "4:21"),
        ("YM201", "5:5"),
        ("YM203", "6:3"),
        ("YM201", "8:23"),
        ("YM204", "8:39"),
        ("YM204", "8:47"),
        ("YM205", "11:14"),
        ("YM206", "12:24"),
        ("YM203", "13:5"),
        ("YM206", "13:22"),
    ];
    assert_eq!(places(manifest), pairs(&expected));
}

#[test]
fn a_document_that_cannot_be_read_does_not_hide_the_next_one() {
    let manifest = "segments:\n  a: [\n---\nsegments:\n  b: {criteria: {tag: no}}\n";
    assert_eq!(places(manifest), pairs(&[("YM101", "2:6"), ("YM204", "5:23")]));
}

#[test]
fn a_circle_of_pipelines_is_shown_as_a_path() {
    let manifest =
        ["pipelines:\n".into(), pipeline("c", "z", "x"), pipeline("a", "x", "y"), pipeline("b", "y", "[w, z]")];
    let told = told(&validate(&Folder::project(&manifest.concat())));
    assert_eq!(told.len(), 1, "{told:?}");
    // The first in the file is the first of the path, and its trigger is the place.
    assert_eq!((told[0].code.as_str(), told[0].place.as_str()), ("PL104", "messages.yaml:4:36"));
    let path = "pipelines/c -> tag x -> pipelines/a -> tag y -> pipelines/b -> tag z -> pipelines/c";
    assert!(told[0].message.ends_with(path), "{}", told[0].message);
}

#[test]
fn circles_apart_are_each_told_and_one_can_be_allowed() {
    let allowed =
        pipeline("daily", "day", "day").replace("enabled: true", "enabled: true\n    lifecycle: {allow: [PL104]}");
    let manifest = [
        "pipelines:\n".into(),
        allowed,
        pipeline("self", "again", "again"),
        pipeline("a", "x", "y"),
        pipeline("b", "y", "x"),
    ];
    let told = told(&validate(&Folder::project(&manifest.concat())));
    let messages: Vec<&str> = told.iter().map(|told| told.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "a pipeline triggers itself: pipelines/self -> tag again -> pipelines/self",
            "pipelines trigger each other in a circle: pipelines/a -> tag y -> pipelines/b -> tag x -> pipelines/a",
        ]
    );
}

#[test]
fn thousands_of_pipelines_on_one_tag_are_one_circle() {
    let mut manifest = String::from("pipelines:\n");
    for number in 0..10_000 {
        manifest.push_str(&pipeline(&format!("p{number}"), "x", "x"));
    }
    let mut told = told(&validate(&Folder::project(&manifest)));
    // They are also told of the trigger that they share.
    told.retain(|told| told.code == "PL104");
    assert_eq!(told.len(), 1);
    assert!(told[0].message.ends_with("pipelines/p0 -> tag x -> pipelines/p0"), "{}", told[0].message);
}

#[test]
fn thousands_of_unknown_tags_are_counted() {
    let mut manifest = String::from("tag_groups:\n  g: {tags: [known]}\npipelines:\n");
    for number in 0..5_000 {
        manifest.push_str(&pipeline(&format!("p{number}"), &format!("from-{number}"), &format!("to-{number}")));
    }
    manifest.push_str("segments:\n");
    for number in 0..5_000 {
        writeln!(manifest, "  s{number}: {{criteria: {{tag: t{number}, group: g}}}}").expect("a text");
    }
    let ran = validate(&Folder::project(&manifest));
    let told = told(&ran);
    let count = |code: &str| told.iter().filter(|told| told.code == code).count();
    assert_eq!((count("PL103"), count("TG101")), (100, 100));
    for code in ["PL103", "TG101"] {
        assert!(ran.stdout.contains(&format!("\n4900 more {code} in ")), "{}", ran.stdout);
    }
}

#[test]
fn what_cannot_be_read_may_add_the_tag_of_a_trigger() {
    let folder = Folder::project(&format!("pipelines:\n{}", pipeline("p", "x", "y")));
    assert_eq!(told(&validate(&folder))[0].code, "PL103");
    folder.write("other.yaml", "segments: [\n");
    let codes: Vec<String> = told(&validate(&folder)).into_iter().map(|told| told.code).collect();
    assert_eq!(codes, ["YM101"]);
}

#[test]
fn a_vocabulary_holds_in_every_file_and_wherever_a_tag_is_named() {
    let folder = Folder::project(
        "segments:\n  s:\n    criteria: {or: [{tag: [new, lapsd], group: life}, {tag: any, group: free}, {tag: other}]}\n\
         pipelines:\n  p:\n    enabled: true\n    immediate_trigger: {tag_added: {tag: byer, group: life}}\n    outcome: \
         {push: {audience: triggered, device_types: [ios], notification: {alert: Hi}}}\n",
    );
    folder.write(
        "groups.yaml",
        "tag_groups:\n  life:\n    tags: [new, buyer, lapsed]\n    members:\n      named_users: {qa: [buyer, vip]}\n  \
         free: {}\n",
    );
    let told = told(&validate(&folder));
    let places: Vec<(&str, &str)> = told.iter().map(|told| (told.code.as_str(), told.place.as_str())).collect();
    assert_eq!(
        places,
        [("TG101", "groups.yaml:5:33"), ("TG101", "messages.yaml:3:33"), ("TG101", "messages.yaml:7:42")]
    );
    assert!(told[1].message.contains("`lapsd`") && told[1].message.contains("`life`"), "{}", told[1].message);
}

#[test]
fn one_text_at_two_times_is_a_test_of_the_time() {
    let variants = |second: &str| {
        format!(
            "experiments:\n  e:\n    audience: all\n    device_types: [ios]\n    variants:\n      - push: \
             {{notification: {{alert: Sale}}}}\n        schedule: {{scheduled_time: 2026-12-01T09:00}}\n      - push: \
             {{notification: {{alert: Sale}}}}\n        schedule: {second}\n"
        )
    };
    assert_eq!(places(&variants("{scheduled_time: 2026-12-01T18:00}")), pairs(&[]));
    // Both times are one moment, although the zones differ.
    let same = variants("{scheduled_time: 2026-12-01T10:00, time_zone: Europe/Paris}");
    assert_eq!(places(&same), pairs(&[("EX101", "8:38")]));
}

#[test]
fn what_has_no_name_is_told_at_its_place() {
    let nothing = "expected a name or an id, found an empty text";
    for (manifest, wrong, message) in [
        ("segments:\n  a: {criteria: {ios_channel: ''}}\n", "''", nothing),
        ("segments:\n  a: {criteria: {static_list: [x, '']}}\n", "''", nothing),
        ("segments:\n  a: {criteria: {segment: {id: '  '}}}\n", "'  '", "expected a name or an id, found only spaces"),
        ("tag_groups:\n  g: {tags: [a], members: {ios_channels: {'': [a]}}}\n", "''", nothing),
        ("open_channels:\n  o: {address: '', opt_in: true, open: {open_platform_name: sms}}\n", "''", nothing),
        ("named_users:\n  u: {channels: [{channel_id: '', device_type: ios}]}\n", "''", nothing),
        (
            "segments:\n  a: {criteria: {location: {id: x, date: {recent: {months: 0}}}}}\n",
            "0",
            "a period of 0 months matches nobody",
        ),
    ] {
        let found = told(&validate(&Folder::project(manifest)));
        let line = manifest.lines().nth(1).expect("a second line");
        let place = format!(":2:{}", line.find(wrong).expect("it is there") + 1);
        assert_eq!(found.len(), 1, "{manifest}: {found:?}");
        assert!(found[0].place.ends_with(&place) && found[0].message == message, "{manifest}: {found:?}");
    }
}

#[test]
fn a_placeholder_is_told_at_its_own_place() {
    for text in [
        "^{{A}} and {{B}}",
        "{{B}}, ^{{A}}",
        "{{B}} {^{{A}}",
        "${var.sale:-20 %} off, ^{{A}}, {{B}}",
        "\\\"{{B}}\\\" ^{{A}}",
        "{{B}} ^{{ A }}",
        "{{B}} ^{{A",
    ] {
        let line = format!(
            "  t: {{variables: [{{key: B, default_value: x}}], push: {{notification: {{alert: \"{text}\"}}}}}}"
        );
        let expected = format!(":2:{}", line.find('^').expect("a mark") + 1);
        let found = told(&validate(&Folder::project(&format!("templates:\n{}\n", line.replace('^', "")))));
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].code == "MS101" && found[0].place.ends_with(&expected), "{text}: {found:?}");
    }
}
