//! Every field of a notification that only one platform has: its values, its limits, its wire form and its round trip.
#![cfg(unix)]

use std::path::Path;

use pushplan::check::{self, Subject};
use pushplan::finding::Findings;
use pushplan::manifest::{self, Input, InputSource, Project as ProjectFile};
use pushplan::source::Sources;
use pushplan_testing::{Folder, Project, says};
use serde_json::{Value, json};

/// A field: its platform, its name, values with their wire form, and wrong values with their code.
struct Row {
    platform: &'static str,
    field: &'static str,
    good: Vec<(&'static str, Value)>,
    wrong: &'static [(&'static str, &'static str)],
}

fn row(
    platform: &'static str,
    field: &'static str,
    good: &[(&'static str, Value)],
    wrong: &'static [(&'static str, &'static str)],
) -> Row {
    Row { platform, field, good: good.to_vec(), wrong }
}

const NO_TEXT: &[(&str, &str)] = &[("[x]", "YM205"), ("7", "YM204")];
const NO_BOOL: &[(&str, &str)] = &[("\"true\"", "YM205"), ("1", "YM205")];

fn rows() -> Vec<Row> {
    let text = || vec![("Hi", json!("Hi"))];
    let mut rows = Vec::new();
    for (platform, fields) in [
        ("ios", &["alert", "title", "subtitle", "sound", "category", "thread_id", "collapse_id"][..]),
        (
            "android",
            &[
                "alert",
                "title",
                "summary",
                "icon",
                "sound",
                "notification_channel",
                "notification_tag",
                "collapse_key",
                "category",
            ],
        ),
        ("amazon", &["alert", "title", "summary", "consolidation_key"]),
        ("open::sms", &["alert", "title", "summary"]),
        ("web", &["alert", "title"]),
    ] {
        rows.extend(fields.iter().map(|field| Row { platform, field, good: text(), wrong: NO_TEXT }));
    }
    let seconds = [("0", json!(0)), ("86400", json!(86400))];
    let lifetime = [
        ("0", json!(0)),
        ("3600", json!(3600)),
        ("2026-12-01T09:00:00", json!("2026-12-01T09:00:00")),
        ("2026-12-01T09:00:00Z", json!("2026-12-01T09:00:00")),
    ];
    let wrong_lifetime = &[("-1", "YM206"), ("soon", "YM206"), ("\"3600\"", "YM205"), ("1.5", "YM204")];
    let extra = [("{a: b}", json!({"a": "b"}))];
    let wrong_extra = &[("{a: 1}", "YM204"), ("[a]", "YM205")];
    let actions = [("{add_tag: x}", json!({"add_tag": ["x"]}))];
    let wrong_actions = &[("{add_tags: x}", "YM201")];
    let interactive = [(
        "{type: ua_follow, button_actions: {follow: {add_tag: x}}}",
        json!({"type": "ua_follow", "button_actions": {"follow": {"add_tag": ["x"]}}}),
    )];
    let wrong_interactive = &[("{type: ua_follower, button_actions: {}}", "MS109")];
    for platform in ["ios", "android", "amazon", "open::sms", "web"] {
        rows.push(row(platform, "actions", &actions, wrong_actions));
        rows.push(row(platform, "interactive", &interactive, wrong_interactive));
        if platform != "ios" {
            rows.push(row(platform, "extra", &extra, wrong_extra));
        }
    }
    let style = [
        ("{type: big_text, big_text: Long}", json!({"type": "big_text", "big_text": "Long"})),
        (
            "{type: big_picture, big_picture: 'https://x.example/a.png', title: T, summary: S}",
            json!({"type": "big_picture", "big_picture": "https://x.example/a.png", "title": "T", "summary": "S"}),
        ),
        ("{type: inbox, lines: [a, b]}", json!({"type": "inbox", "lines": ["a", "b"]})),
    ];
    let wrong_style = &[
        ("{type: big}", "YM206"),
        ("big_text", "YM205"),
        ("{big_text: x}", "YM203"),
        ("{type: big_picture, big_picture: a.png}", "MS110"),
    ];
    let media = [
        ("{url: 'https://x.example/a.png'}", json!({"url": "https://x.example/a.png"})),
        (
            "{url: 'https://x.example/a.png', content: {title: T, subtitle: S, body: B}}",
            json!({"url": "https://x.example/a.png", "content": {"title": "T", "subtitle": "S", "body": "B"}}),
        ),
    ];
    rows.extend([
        row(
            "ios",
            "badge",
            &[("0", json!(0)), ("7", json!(7)), ("auto", json!("auto")), ("'+1'", json!("+1")), ("'-1'", json!("-1"))],
            &[
                ("+1", "YM204"),
                ("-1", "YM204"),
                ("many", "YM206"),
                ("1.5", "YM206"),
                ("true", "YM206"),
                ("[1]", "YM205"),
            ],
        ),
        row("ios", "expiry", &lifetime, wrong_lifetime),
        row(
            "ios",
            "interruption_level",
            &["passive", "active", "time-sensitive", "critical"].map(|level| (level, json!(level))),
            &[("loud", "YM206")],
        ),
        row(
            "ios",
            "relevance_score",
            &[("0", json!(0)), ("0.5", json!(0.5)), ("1", json!(1)), ("1.0", json!(1))],
            &[("1.01", "YM206"), ("-0.1", "YM206"), ("\"0.5\"", "YM205"), ("high", "YM205")],
        ),
        row("ios", "media_attachment", &media, &[("{content: {body: x}}", "YM203"), ("{url: a.png}", "MS110")]),
        row("ios", "content_available", &[("true", json!(true)), ("false", json!(false))], NO_BOOL),
        row("ios", "mutable_content", &[("true", json!(true)), ("false", json!(false))], NO_BOOL),
        row("ios", "priority", &[("5", json!(5)), ("10", json!(10))], &[("7", "YM206"), ("\"5\"", "YM205")]),
        row("ios", "extra", &[("{a: {b: [1, x]}}", json!({"a": {"b": [1, "x"]}}))], &[("[a]", "YM205")]),
        row(
            "android",
            "icon_color",
            &[("'#ff8800'", json!("#ff8800")), ("'#FF8800'", json!("#ff8800"))],
            &[("red", "YM206"), ("'#ff88'", "YM206"), ("'#gg8800'", "YM206")],
        ),
        row("android", "style", &style, wrong_style),
        row("amazon", "style", &style, wrong_style),
        row("android", "priority", &[("-2", json!(-2)), ("2", json!(2))], &[("-3", "YM206"), ("3", "YM206")]),
        row("android", "visibility", &[("-1", json!(-1)), ("1", json!(1))], &[("-2", "YM206"), ("2", "YM206")]),
        row(
            "android",
            "delivery_priority",
            &[("high", json!("high")), ("normal", json!("normal"))],
            &[("low", "YM206")],
        ),
        row("android", "time_to_live", &seconds, &[("-1", "YM206"), ("1h", "YM205")]),
        row("amazon", "expires_after", &lifetime, wrong_lifetime),
        row("open::sms", "media_attachment", &media, &[("{url: a.png}", "MS110"), ("a.png", "MS110")]),
        row(
            "open::sms",
            "media_attachment",
            &[("'https://x.example/a.png'", json!("https://x.example/a.png"))],
            &[("[a]", "YM205")],
        ),
        row(
            "web",
            "image",
            &[("{url: 'https://x.example/a.png'}", json!({"url": "https://x.example/a.png"}))],
            &[("{url: a.png}", "MS110"), ("'https://x.example/a.png'", "YM205")],
        ),
        row(
            "web",
            "buttons",
            &[(
                "[{id: a, label: A, actions: {add_tag: x}}]",
                json!([{"id": "a", "label": "A", "actions": {"add_tag": ["x"]}}]),
            )],
            &[("[{label: A}]", "YM203"), ("{id: a}", "YM205")],
        ),
        row("web", "require_interaction", &[("true", json!(true)), ("false", json!(false))], NO_BOOL),
        row("web", "time_to_live", &seconds, &[("-1", "YM206")]),
    ]);
    rows
}

fn manifest(platform: &str, field: &str, value: &str) -> String {
    format!(
        "scheduled_pushes:\n  sale:\n    schedule: {{scheduled_time: 2027-01-22T10:00}}\n    push:\n      audience: {{tag: x}}\n      \
         device_types: [\"{platform}\"]\n      notification:\n        alert: Hi\n        \"{platform}\":\n          {field}: {value}\n"
    )
}

/// The codes that are found in a manifest, and the notification of its push as it is sent.
pub fn read(text: &str, project: &str) -> (Vec<&'static str>, Value) {
    let (mut sources, mut findings) = (Sources::default(), Findings::default());
    let project = ProjectFile::read(Path::new("/nowhere"), project.to_owned(), &mut sources, &mut findings);
    let input = Input { name: "m.yaml".to_owned(), from: InputSource::Bytes(text.as_bytes().to_vec()) };
    let manifests = manifest::read(project, vec![input], sources, findings);
    let (desired, mut found) = manifests.resolve(Some("local"));
    let now = "2026-11-15T12:00Z".parse().expect("a time");
    let target = manifests.project.target("local");
    found.extend(check::check(&Subject { desired: &desired, target, now }));
    let mut specs = desired.resources.values().map(|declared| declared.spec.canonical());
    let push = specs.find(|spec| spec["push"]["audience"].is_object());
    let sent = push.map(|push| push["push"]["notification"].clone()).unwrap_or_default();
    (manifests.findings.iter().chain(&found).map(|finding| finding.code.name).collect(), sent)
}

pub const EXTENDED: &str = "[targets.local]\n";
pub const DOCUMENTED: &str = "[targets.local]\napi = \"documented\"\n";

#[test]
fn every_field_takes_its_values_and_refuses_others() {
    for Row { platform, field, good, wrong } in rows() {
        for (value, wire) in good {
            let text = manifest(platform, field, value);
            let (codes, sent) = read(&text, EXTENDED);
            assert_eq!(codes, Vec::<&str>::new(), "{text}");
            assert_eq!(sent[platform][field], wire, "{text}");
            let is_of_contract = platform == "web" && ["title", "icon", "extra"].contains(&field);
            let expected: &[&str] = if is_of_contract { &[] } else { &["MS120"] };
            assert_eq!(read(&text, DOCUMENTED).0, expected, "{text}");
        }
        for (value, code) in wrong {
            let text = manifest(platform, field, value);
            assert_eq!(read(&text, EXTENDED).0, [*code], "{text}");
        }
    }
}

#[test]
fn an_unknown_field_passes_with_a_warning_and_a_typo_does_not() {
    for platform in ["ios", "android", "amazon", "open::sms"] {
        let (codes, sent) = read(&manifest(platform, "brand_new", "{a: 1}"), EXTENDED);
        assert_eq!((codes, &sent[platform]["brand_new"]), (vec!["YM202"], &json!({"a": 1})));
        assert_eq!(read(&manifest(platform, "titel", "x"), EXTENDED).0, ["YM201"], "{platform}");
    }
    assert_eq!(read(&manifest("web", "brand_new", "1"), EXTENDED).0, ["YM201"]);
}

#[test]
fn overrides_for_other_devices_have_no_effect() {
    for platform in ["ios", "android", "amazon", "open::sms", "web"] {
        let text = manifest(platform, "title", "T").replace(&format!("[\"{platform}\"]"), "[\"open::mail\"]");
        assert_eq!(read(&text, EXTENDED).0, ["MS111"], "{platform}");
    }
}

fn actions(open: &str) -> String {
    manifest("ios", "x", "").replace("        \"ios\":\n          x: \n", &format!("        actions: {{{open}}}\n"))
}

#[test]
fn what_a_tap_opens_is_checked_by_its_type() {
    let declared = "[project]\ndeep_links = [\"shop\"]\n[targets.local]\n";
    for (open, project, codes) in [
        ("open: {type: url, content: 'https://x.example/'}", EXTENDED, &[][..]),
        ("open: {type: url, content: 'https://x.example/'}", DOCUMENTED, &[]),
        ("open: {type: url, content: 'shop://sale'}", declared, &["MS110"]),
        ("open: {type: urls, content: 'https://x.example/'}", EXTENDED, &["MS110"]),
        ("open: {type: deep_link, content: 'shop://sale'}", declared, &[]),
        ("open: {type: deep_link, content: 'SHOP://sale'}", declared, &[]),
        ("open: {type: deep_link, content: 'https://x.example/sale'}", EXTENDED, &[]),
        ("open: {type: deep_link, content: 'shop://sale'}", EXTENDED, &[]),
        ("open: {type: deep_link, content: 'shop:sale'}", declared, &[]),
        ("open: {type: deep_link, content: 'shpo://sale'}", declared, &["MS121"]),
        ("open: {type: deep_link, content: sale}", declared, &["MS121"]),
        (
            "open: {type: deep_link, content: 'shop://sale'}",
            "[project]\ndeep_links = \"shop\"\n[targets.local]\napi = \"documented\"\n",
            &["MS120"],
        ),
        ("open: {type: landing_page, content: {body: '<p>Hi</p>', content_type: text/html}}", EXTENDED, &[]),
        ("open: {type: landing_page, content: {body: '<p>Hi</p>'}}", DOCUMENTED, &["MS120"]),
        ("open: {type: url, content: {body: '<p>Hi</p>'}}", EXTENDED, &["MS110"]),
        ("open: {type: deep_link, content: {body: '<p>Hi</p>'}}", EXTENDED, &["MS110"]),
        ("app_defined: {offer: 7}", EXTENDED, &[]),
        ("app_defined: {offer: 7}", DOCUMENTED, &["MS120"]),
        ("app_defined: 7", EXTENDED, &["YM205"]),
        ("share: Look at this", DOCUMENTED, &[]),
        ("remove_tag: lapsed", DOCUMENTED, &[]),
    ] {
        assert_eq!(read(&actions(open), project).0, codes, "{open}");
    }
    let page = read(&actions("open: {type: landing_page, content: {body: '<p>Hi</p>'}}"), EXTENDED).1;
    assert_eq!(page["actions"]["open"], json!({"type": "landing_page", "content": {"body": "<p>Hi</p>"}}));
}

#[test]
fn placeholders_and_links_are_seen_in_every_field() {
    let texts = "        ios: {title: '{{A}}', subtitle: '{{B}}', badge: '{{C}}', extra: {x: ['{{D}}']}, media_attachment: {url: 'https://x/{{E}}', content: {body: '{{F}}'}}}
        android: {summary: '{{G}}', style: {type: inbox, lines: ['{{H}}']}, extra: {x: '{{I}}'}, actions: {share: '{{J}}'}}
        amazon: {consolidation_key: '{{K}}', new_field: '{{L}}'}
        open::sms: {media_attachment: 'https://x/{{M}}'}
        web: {alert: '{{N}}', buttons: [{id: '{{O}}', actions: {app_defined: {x: '{{P}}'}}}]}
        actions: {open: {type: landing_page, content: {body: '{{Q}}'}}}
";
    let keys: Vec<String> = ('A'..='Q').map(|key| format!("{{key: {key}, default_value: '7'}}")).collect();
    let template = |keys: &[String]| {
        format!("templates:\n  t:\n    variables: [{}]\n    push:\n      notification:\n{texts}", keys.join(", "))
    };
    assert_eq!(read(&template(&keys), EXTENDED).0, ["YM202"]);
    let codes = read(&template(&[]), EXTENDED).0;
    assert_eq!(codes.iter().filter(|code| **code == "MS101").count(), 17, "{codes:?}");
    let push = "scheduled_pushes:\n  a:\n    schedule: {scheduled_time: 2027-01-22T10:00}\n    push: {audience: {tag: x}, \
                device_types: all, template: t}\n";
    let sent = read(&format!("{}{push}", template(&keys)), EXTENDED).1;
    assert!(!sent.to_string().contains("{{"), "{sent}");
    assert_eq!(sent["ios"]["badge"], 7);
}

#[test]
fn every_field_comes_back_as_it_was_sent() {
    let mut text = String::from("templates:\n");
    for (number, Row { platform, field, good, .. }) in rows().iter().enumerate() {
        let value = good.last().expect("a value").0;
        text.push_str(&format!(
            "  t{number}:\n    push: {{notification: {{alert: Hi, \"{platform}\": {{{field}: {value}}}}}}}\n"
        ));
    }
    let project = Project::new(&text);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);

    let other = Project::new("");
    let elsewhere = other.serve();
    let mut next = "/api/templates?page_size=100".to_owned();
    loop {
        let page = service.get(&next);
        for template in page["templates"].as_array().expect("templates") {
            elsewhere.post("/api/templates", &json!({"name": template["name"], "push": template["push"]}));
        }
        match page["next_page"].as_str().and_then(|url| url.find("/api/").map(|at| url[at..].to_owned())) {
            Some(path) => next = path,
            None => break,
        }
    }
    other.good(&["pull"]);
    says(&other.good(&["plan"]).stdout, &["No changes."]);
}

#[test]
fn a_live_override_of_another_shape_is_still_read() {
    let project = Project::new("");
    let service = project.serve();
    let push = json!({"notification": {"alert": "Hi", "ios": {"title": "T", "new_field": 1}, "android": {}}});
    service.post("/api/templates", &json!({"name": "t", "push": push}));
    project.run(&["pull"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    let read = pushplan::kinds::kind("templates").expect("a kind").api;
    let found = read.found(
        &json!({"id": "1", "name": "t", "push": {"notification": {"ios": {"title": "T", "sound": {"name": "x"}}}}}),
    );
    let spec = found.and_then(|found| found.spec).expect("it is read");
    assert_eq!(spec.tree()["push"]["notification"]["ios"], json!({"title": "T", "sound": {"name": "x"}}));
}

const PLATFORMS: &str = "\
scheduled_pushes:
  sale:
    lifecycle: {broadcast: true}
    schedule: {scheduled_time: 2035-01-22T10:00}
    push:
      audience: all
      device_types: [ios, android]
      notification:
        alert: The sale is on
        ios: {title: Sale, subtitle: Today only, actions: {add_tag: tapped}}
        android: {alert: Sale today, title: Shop, summary: Until midnight, style: {type: big_picture, big_picture: 'https://shop.example/sale.png', title: All of it}}
        actions: {open: {type: deep_link, content: 'shop://sale'}}
";

#[test]
fn a_preview_and_a_plan_show_each_platform() {
    let project = Project::new(PLATFORMS);
    let _service = project.serve();
    let shown = project.good(&["preview", "scheduled_pushes/sale"]).stdout;
    says(
        &shown,
        &[
            "Sale",
            "Today only",
            "The sale is on",
            "Shop",
            "Sale today",
            "Until midnight",
            "on android: https://shop.example/sale.png, “All of it”",
            "on ios: adds the tag tapped",
            "opens shop://sale",
        ],
    );
    project.good(&["apply", "--yes"]);
    project.edit("title: Shop", "title: Our shop");
    says(&project.good(&["plan"]).stdout, &["android: title changed", "android title: "]);
    project.edit("title: Our shop", "title: Shop");
    // A platform that repeats the common text changes nothing for anybody.
    project.edit("alert: Sale today", "alert: Sale now");
    says(&project.good(&["plan"]).stdout, &["android: text changed"]);
    project.edit("alert: Sale now", "alert: Sale today");
    project.edit("sale.png", "shop.png");
    says(&project.good(&["plan"]).stdout, &["android: style.big_picture changed"]);
    project.edit("shop.png", "sale.png");
    project.edit("shop://sale", "shop://new");
    says(&project.good(&["plan"]).stdout, &["link: [-shop://sale-] {+shop://new+}"]);
    project.edit("shop://new", "shop://sale");
    project.edit("alert: Sale today", "alert: Sale now");
    let long = "x".repeat(60);
    project.edit("title: Shop", &format!("title: {long}"));
    says(&project.good(&["plan"]).stdout, &["Android collapsed: shows all 8", "characters, title \"xxx"]);
}

#[test]
fn a_device_gets_the_text_and_the_actions_of_its_platform() {
    let folder = Folder::project(PLATFORMS);
    folder.write(
        "sale.test.yaml",
        "\
cases:
  an iPhone shows the common text:
    at: 2035-01-22T09:00Z
    device: {device_type: ios}
    expect: {receives: {from: scheduled_pushes/sale, after: 1h, alert: The sale is on}}
  an Android device shows its own:
    at: 2035-01-22T09:00Z
    device: {device_type: android}
    expect: {receives: {from: scheduled_pushes/sale, after: 1h, alert: Sale today, title: Shop}}
",
    );
    let ran = folder.run(&["test"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    folder.write(
        "sale.test.yaml",
        "cases:\n  wrong:\n    at: 2035-01-22T09:00Z\n    device: {device_type: android}\n    expect: {receives: {from: scheduled_pushes/sale, after: 1h, title: Sale}}\n",
    );
    let ran = folder.run(&["test"]);
    assert_ne!(ran.code, 0);
    says(&ran.stdout, &["with the title \"Sale\"", "with the title \"Shop\""]);
}
