//! The JSON Schemas, looked at by a validator that knows nothing of pushplan.

use std::fs;
use std::path::Path;

use jsonschema::Validator;
use pushplan::codes::CODES;
use pushplan::files::is_catalogue;
use pushplan::finding::Findings;
use pushplan::kinds::KINDS;
use pushplan::manifest::parse;
use pushplan::node::Node;
use pushplan::render::schema::{SCHEMAS, text};
use pushplan::source::{Source, Sources};
use pushplan_testing::Folder;
use serde_json::Value;

/// Every kind, and every way of writing that a schema could forget.
const EVERY_KIND: &str = r#"
x-owner: growth team
defaults:
  scheduled_pushes:
    push: {device_types: [ios, android]}
tag_groups:
  loyalty:
  lifecycle:
    description: Where a customer is in their life with us
    tags: [new, buyer, lapsed]
    members:
      named_users: {qa-team: [buyer], qa-two: new}
segments:
  lapsed-buyers:
    display_name: Lapsed buyers
    x-note: free
    criteria:
      and:
        - {tag: buyer, group: lifecycle}
        - {tag: [lapsed], group: lifecycle}
        - country: [US, CA]
        - opt_in: true
        - not: {ios_version: 8.3.X}
    lifecycle: {protect: true, ignore: [display_name], allow: AU103}
  everyone-else:
    criteria: {not: {segment: lapsed-buyers}}
  by-id:
    criteria: {segment: {id: 00000000-0000-0000-0000-000000000000}}
templates:
  winback:
    variables: [{key: FIRST_NAME, name: First name, default_value: there}]
    push: {notification: {alert: "Hi {{FIRST_NAME}}, come back"}}
pipelines:
  remind-later:
    enabled: true
    immediate_trigger: {tag_added: remind-me}
    outcome:
      delay: 1h30m
      push: {audience: triggered, device_types: [ios, android], notification: {alert: Still interested?}}
  welcome:
    enabled: ${var.welcome:-true}
    immediate_trigger: first_open
    outcome:
      delay: ${var.delay}
      push: {audience: triggered, device_types: "${var.devices}", notification: {alert: Hello}}
scheduled_pushes:
  black-friday:
    schedule: {scheduled_time: 2026-11-27T09:00, time_zone: America/New_York}
    push:
      audience: {segment: lapsed-buyers}
      device_types: [ios, android]
      notification:
        alert: ${var.sale} off
        actions: {add_tag: remind-me, open: {type: url, content: "https://shop.example/sale"}}
        interactive: {type: ua_remind_me_later, button_actions: {remind: {add_tag: remind-me}}}
      message: {title: Sale, body: {file: bodies/sale.html}}
      campaigns: {categories: [sale]}
  from-template:
    schedule: {scheduled_time: 2026-11-27T09:00}
    push: {audience: all, device_types: [ios], template: winback, substitutions: {FIRST_NAME: you}}
experiments:
  subject-lines:
    audience: all
    device_types: all
    variants:
      - {push: {notification: {alert: One}}, schedule: {scheduled_time: 2026-12-01T10:00}}
      - {push: {notification: {alert: Two}}, schedule: {scheduled_time: 2026-12-01T10:00}}
named_users:
  qa-team:
    channels: [{channel_id: 11111111-0000-0000-0000-000000000000, device_type: ios}]
open_channels:
  sms-ada:
    address: "+15550100"
    opt_in: true
    tags: [vip]
    timezone: Europe/Paris
    locale_country: FR
    locale_language: fr
    open: {open_platform_name: sms, identifiers: {number: "+15550100"}}
tags:
  remind-me:
overlays:
  local:
    segments:
      lapsed-buyers: {criteria: {and: [{tag: buyer, group: lifecycle}]}}
      by-id:
    scheduled_pushes:
      black-friday: {push: {message: null, notification: {alert: Test}}}
"#;

const PROJECT: &str = "[targets.local.variables]\nsale = '20 %'\ndelay = '1d'\ndevices = 'ios'\n";

fn validator(schema: &Value) -> Validator {
    jsonschema::draft7::new(schema).expect("a schema of draft 7")
}

fn manifest_schema() -> Validator {
    validator(&pushplan::manifest::schema::manifest())
}

/// What a YAML file holds, as the JSON that an editor checks.
fn json(text: &str) -> Vec<Value> {
    let mut sources = Sources::default();
    let id = sources.add(Source::new("m.yaml", text));
    let mut findings = Findings::default();
    let parsed = parse(id, sources.get(id), &mut findings);
    assert!(findings.is_empty(), "{text}: {findings:?}");
    parsed.documents.iter().map(Node::to_json).collect()
}

/// What the validator says is wrong, with the path to it.
fn problems(schema: &Validator, text: &str) -> Vec<String> {
    let documents = json(text);
    documents
        .iter()
        .flat_map(|document| schema.iter_errors(document))
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[test]
fn the_committed_schemas_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    for (name, make) in SCHEMAS {
        let expected = text(&make());
        let found = fs::read_to_string(folder.join(name)).unwrap_or_default();
        if found != expected {
            let diff = similar::TextDiff::from_lines(&found, &expected).unified_diff().context_radius(2).to_string();
            panic!("schema/{name} is out of date; `cargo run -- schema` writes it\n{diff}");
        }
    }
    let names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    for name in names {
        assert!(SCHEMAS.iter().any(|(known, _)| *known == name), "schema/{name} is not written by `pushplan schema`");
    }
}

#[test]
fn every_schema_is_a_schema() {
    for (name, make) in SCHEMAS {
        let schema = make();
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        let _ = validator(&schema);
    }
}

#[test]
fn a_manifest_of_every_kind_is_valid() {
    for kind in KINDS {
        assert!(EVERY_KIND.contains(&format!("\n{}:\n", kind.key)), "{} is missing", kind.key);
    }
    assert_eq!(problems(&manifest_schema(), EVERY_KIND), [""; 0]);
    // And pushplan itself agrees that the sample is right.
    let folder = Folder::project(EVERY_KIND);
    folder.write("pushplan.toml", PROJECT);
    folder.write("bodies/sale.html", "<p>Sale</p>");
    let ran = folder.run(&["validate", "--now", "2026-11-15T12:00Z"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn wrong_manifests_are_refused_where_they_are_wrong() {
    let schema = manifest_schema();
    for (wrong, place) in [
        ("segmants: {}", ""),
        ("segments: []", "/segments"),
        ("segments: {a b: {criteria: all}}", "/segments"),
        ("segments: {a: {}}", "/segments/a"),
        ("segments: {a: }", "/segments/a"),
        ("segments: {a: {criteria: all, critera: all}}", "/segments/a"),
        ("segments: {a: {criteria: none}}", "/segments/a/criteria"),
        ("segments: {a: {criteria: {tag: true}}}", "/segments/a/criteria"),
        ("segments: {a: {criteria: {and: []}}}", "/segments/a/criteria"),
        ("segments: {a: {criteria: {tag: x, gruop: y}}}", "/segments/a/criteria"),
        ("segments: {a: {criteria: all, lifecycle: {protect: maybe}}}", "/segments/a/lifecycle/protect"),
        ("segments: {a: {criteria: all, lifecycle: {protekt: true}}}", "/segments/a/lifecycle"),
        ("templates: {a: {push: {notification: {}}, variables: [{name: x}]}}", "/templates/a/variables/0"),
        ("templates: {a: {push: {notification: {alert: 1}}}}", "/templates/a/push/notification/alert"),
        (
            "templates: {a: {push: {notification: {}, message: {title: x, body: {fil: y}}}}}",
            "/templates/a/push/message",
        ),
        ("pipelines: {a: {enabled: 'yes', immediate_trigger: first_open, outcome: []}}", "/pipelines/a/enabled"),
        (
            "pipelines: {a: {enabled: true, immediate_trigger: frist_open, outcome: []}}",
            "/pipelines/a/immediate_trigger",
        ),
        ("{defaults: {templates: {}}, segments: {a: {}}}", "/segments/a"),
        ("{defaults: {segments: {}}, segments: {a: {critera: all}}}", "/segments/a"),
        ("defaults: {segments: {critera: all}}", "/defaults/segments"),
        ("defaults: {segment: {}}", "/defaults"),
        ("overlays: {local: {segment: {}}}", "/overlays/local"),
        // A list is replaced as a whole, so that what is in it must be whole as well.
        ("overlays: {local: {segments: {a: {criteria: {and: [{group: x}]}}}}}", "/overlays/local/segments/a/criteria"),
        (
            "named_users: {a: {channels: [{channel_id: x, device_type: phone}]}}",
            "/named_users/a/channels/0/device_type",
        ),
    ] {
        let found = problems(&schema, wrong);
        assert!(!found.is_empty(), "accepted: {wrong}");
        assert!(found.iter().any(|problem| problem.starts_with(&format!("{place}: "))), "{wrong}: {found:#?}");
    }
}

/// What both the schema and the binary take, and what both refuse.
#[test]
fn the_schema_and_the_binary_agree() {
    let schema = manifest_schema();
    let push = |rest: &str| {
        format!(
            "scheduled_pushes: {{a: {{schedule: {{scheduled_time: 2035-01-01T12:00}}, push: {{audience: all, device_types: [ios]{rest}}}}}}}"
        )
    };
    let at = |schedule: &str| {
        format!(
            "scheduled_pushes: {{a: {{schedule: {schedule}, push: {{audience: all, device_types: all, notification: {{alert: Hi}}}}}}}}"
        )
    };
    let criteria = |criteria: &str| format!("segments: {{a: {{criteria: {criteria}}}}}");
    let template = "templates: {t: {push: {notification: {alert: Hi}}}}\n";
    let variant = |alert: &str| {
        format!("{{push: {{notification: {{alert: {alert}}}}}, schedule: {{scheduled_time: 2035-01-01T12:00}}}}")
    };
    let variants = |list: &str| format!("experiments: {{a: {{audience: all, device_types: all, variants: [{list}]}}}}");
    let members = |members: &str| format!("tag_groups: {{g: {{tags: [a], members: {{{members}}}}}}}");
    let open_channel =
        |address: &str, open: &str| format!("open_channels: {{a: {{{address}, opt_in: true, open: {{{open}}}}}}}");
    let devices = |devices: &str| push(", notification: {alert: Hi}").replace("[ios]", devices);
    let pipeline = |trigger: &str, outcome: &str| {
        format!("pipelines: {{a: {{enabled: true, immediate_trigger: {trigger}, outcome: {outcome}}}}}")
    };
    let outcome = "{push: {device_types: all, notification: {alert: Hi}}}";
    let conditions = ["tag", "named_user", "ios_channel", "amazon_channel", "channel", "static_list", "attribute"];
    let nameless = conditions.map(|key| (criteria(&format!("{{{key}: ''}}")), false));
    for (manifest, right) in [
        (criteria("all"), true),
        (criteria("ALL"), true),
        (criteria("everybody"), false),
        (criteria("{and: [{tag: x}]}"), true),
        (criteria("{And: [{tag: x}]}"), true),
        (criteria("{OR: [{tag: x}]}"), true),
        (criteria("{Not: {tag: x}}"), true),
        (criteria("{And: []}"), false),
        (criteria("{Andy: [{tag: x}]}"), false),
        (criteria("{x-note: y}"), false),
        (criteria("{tag: x, group: null}"), true),
        (criteria("{tag: x, group: 1}"), false),
        (criteria("{open_channel: [x, '']}"), false),
        (criteria("{segment: {id: ''}}"), false),
        (criteria("{attribute: age}"), true),
        (criteria("{attribute: age, operator: null, value: ''}"), true),
        (criteria("{attribute: age, operator: ''}"), false),
        (criteria("{location: {id: ''}}"), false),
        (criteria("{location: {id: x, date: {recent: {months: 1}}}}"), true),
        (criteria("{location: {id: x, date: {recent: {months: 0}}}}"), false),
        (members("named_users: {u: [a]}, ios_channels: {x: [a]}, android_channels: {y: [a]}"), true),
        (members("ios_channels: {'': [a]}"), false),
        ("tags: {t: {ios_channels: [x], android_channels: y}}".into(), true),
        ("tags: {t: {ios_channels: [x, '']}}".into(), false),
        ("named_users: {u: {channels: [{channel_id: '', device_type: ios}]}}".into(), false),
        (open_channel("address: ''", "open_platform_name: sms"), false),
        (open_channel("address: x", "open_platform_name: ''"), false),
        (open_channel("address: x", "open_platform_name: sms, identifiers: {a: ''}"), true),
        (open_channel("address: x", "open_platform_name: sms, identifiers: {'': a}"), false),
        (push(", notification: {alert: Hi}, campaigns: {categories: [x, '']}"), false),
        ("segments: {a: {criteria: all, lifecycle: null}}".into(), true),
        ("segments: {a: {criteria: all, lifecycle: true}}".into(), false),
        (devices("ALL"), true),
        (devices("All"), true),
        (devices("[all]"), false),
        (at("{scheduled_time: 2035-01-01T12:00}"), true),
        (at("[{scheduled_time: 2035-01-01T12:00}]"), true),
        (at("{local_scheduled_time: 2035-01-01T12:00}"), true),
        (at("{}"), false),
        (at("[]"), false),
        (at("{time_zone: Europe/Paris}"), false),
        (at("{local_scheduled_time: 2035-01-01T12:00, time_zone: Europe/Paris}"), false),
        (at("{local_scheduled_time: 2035-01-01T12:00, scheduled_time: 2035-01-01T12:00}"), false),
        (push(", notification: {alert: Hi}"), true),
        (push(", notification: {alert: Hi}, template: null"), true),
        (push(""), false),
        (push(", notification: null"), false),
        (format!("{template}{}", push(", template: t")), true),
        (format!("{template}{}", push(", template: t, notification: {alert: Hi}")), false),
        (pipeline("first_open", outcome), true),
        (pipeline("{tag_added: {tag: x, group: null}}", outcome), true),
        (pipeline("[]", outcome), false),
        (pipeline("first_open", "[]"), false),
        (pipeline("first_open", "{push: {device_types: all}}"), false),
        (variants(&format!("{}, {}", variant("A"), variant("B"))), true),
        (variants(&variant("A")), false),
        (variants(""), false),
    ]
    .into_iter()
    .chain(nameless)
    {
        assert_eq!(problems(&schema, &manifest).is_empty(), right, "the schema: {manifest}");
        let ran = Folder::project(&manifest).run(&["validate", "--now", "2026-11-15T12:00Z"]);
        assert_eq!(ran.code == 0, right, "the binary: {manifest}\n{}", ran.stdout);
    }
}

#[test]
fn every_right_sample_of_a_page_is_valid() {
    let general = manifest_schema();
    for code in CODES {
        let section = code.page.split_once("\n## Right\n").map_or("", |(_, rest)| rest);
        let section = section.split("\n## ").next().unwrap_or_default();
        for block in section.split("```yaml").skip(1) {
            let (name, body) = block.split_once('\n').unwrap_or_default();
            if is_catalogue(Path::new(name.trim())) {
                continue;
            }
            let sample = body.split("\n```").next().unwrap_or_default();
            let found = problems(&general, sample);
            assert_eq!(found, [""; 0], "{}: {sample}", code.name);
        }
    }
}

#[test]
fn every_example_follows_the_general_schema() {
    let schema = manifest_schema();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = pushplan::files::manifests(&examples, std::slice::from_ref(&examples)).0;
    assert!(files.len() >= 3, "{files:?}");
    for path in files.into_iter().filter(|path| !is_catalogue(path)) {
        let text = std::fs::read_to_string(&path).expect("a text");
        assert_eq!(problems(&schema, &text), [""; 0], "{}", path.display());
    }
}

#[test]
fn a_project_gets_a_schema_that_knows_its_names() {
    let folder = Folder::project(EVERY_KIND);
    folder.write("pushplan.toml", PROJECT);
    folder.write("campaigns/sale.yaml", "");
    folder.write("messages/more.yaml", "");
    folder.write("messages/old/past.yaml", "");
    let ran = folder.run(&["schema"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(
        ran.stdout,
        "Wrote .pushplan/schema.json\n\nBegin each manifest with this line. The path is relative to the manifest's folder:\n\n  \
         # yaml-language-server: $schema=../../.pushplan/schema.json\n    in messages/old/\n  \
         # yaml-language-server: $schema=../.pushplan/schema.json\n    in campaigns/ and messages/\n  \
         # yaml-language-server: $schema=.pushplan/schema.json\n    in the project's folder\n"
    );
    assert!(!folder.path().join("schema").exists(), "a project has no use for the general schemas");
    #[cfg(unix)]
    for (path, expected) in [(".pushplan", 0o700), (".pushplan/schema.json", 0o600), (".pushplan/.gitignore", 0o600)] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.path().join(path)).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode, expected, "{path} has the mode {mode:o}");
    }
    let schema = validator(&serde_json::from_str(&folder.read(".pushplan/schema.json")).expect("JSON"));
    assert_eq!(problems(&schema, EVERY_KIND), [""; 0]);
    for right in [
        "segments: {a: {criteria: {segment: by-id}}}",
        "segments: {a: {criteria: {segment: '${var.segment}'}}}",
        "segments: {a: {criteria: {tag: x, group: ua_opt_in}}}",
        "scheduled_pushes: {a: {push: {audience: all, template: winback}}}",
    ] {
        assert_eq!(problems(&schema, right), [""; 0], "{right}");
    }
    for wrong in [
        "segments: {a: {criteria: {segment: lapsed-buyer}}}",
        "segments: {a: {criteria: {or: [{segment: [by-id, nobody]}]}}}",
        "segments: {a: {criteria: {tag: x, group: lifecycles}}}",
        "scheduled_pushes: {a: {push: {audience: all, template: win-back}}}",
        "overlays: {production: {}}",
    ] {
        assert_ne!(problems(&schema, wrong), [""; 0], "{wrong}");
        // Without the project nothing is known of its names.
        if wrong.starts_with("segments") {
            assert_eq!(problems(&manifest_schema(), wrong), [""; 0], "{wrong}");
        }
    }
}

#[test]
fn the_project_file_has_a_schema_too() {
    let schema = validator(&pushplan::manifest::schema::project_file());
    for (text, valid) in [
        ("{project: {name: x, manifests: [a, b]}, checks: {AU101: 'off'}, targets: {local: {api: extended}}}", true),
        ("{targets: {p: {variables: {a: 1, b: true, c: x}, quiet_hours: {from: '21:00', to: '08:00'}}}}", true),
        ("{target: {}}", false),
        ("{targets: {p: {api: extnded}}}", false),
        ("{targets: {p: {quiet_hours: {from: '25:00', to: '08:00'}}}}", false),
        ("{checks: {AU101: never}}", false),
    ] {
        assert_eq!(problems(&schema, text).is_empty(), valid, "{text}");
    }
}

#[test]
fn check_names_what_is_not_current_and_writes_nothing() {
    let folder = Folder::project("segments: {a: {criteria: all}}\n");
    // Where nobody has written one, nobody uses it.
    let ran = folder.run(&["schema", "--check"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("the project has no schema; `pushplan schema` writes one"), "{}", ran.stderr);
    let ran = folder.run(&["schema", "--check", "--out", "schema"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stdout.contains("schema/manifest.schema.json is out of date: "), "{}", ran.stdout);
    assert!(!folder.path().join("schema").exists() && !folder.path().join(".pushplan").exists());

    assert_eq!(folder.run(&["schema", "--out", "schema"]).code, 0);
    // From now on the folder is kept current.
    let ran = folder.run(&["schema", "--check"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));

    folder.write("messages.yaml", "segments: {a: {criteria: all}, b: {criteria: all}}\n");
    let project = folder.read("schema/project.schema.json").replacen("pushplan.toml", "pullplan.toml", 1);
    folder.write("schema/project.schema.json", project);
    let ran = folder.run(&["schema", "--check"]);
    assert_eq!(ran.code, 3);
    let named: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("is out of date")).collect();
    assert_eq!(named, ["schema/project.schema.json is out of date", ".pushplan/schema.json is out of date"]);
    assert!(
        ran.stdout.contains("pullplan.toml") && ran.stdout.contains("+                        \"a\","),
        "{}",
        ran.stdout
    );
}

#[test]
fn without_a_project_only_the_general_schemas_are_written() {
    let folder = Folder::new();
    let ran = folder.run(&["schema", "--out", "for/editors"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.ends_with("$schema=for/editors/manifest.schema.json\n"), "{}", ran.stdout);
    assert_eq!(folder.read("for/editors/manifest.schema.json"), text(&pushplan::manifest::schema::manifest()));
    assert!(!folder.path().join(".pushplan").exists());
}

#[test]
fn without_a_project_nothing_is_written_into_just_any_folder() {
    let folder = Folder::new();
    folder.write("schema/theirs.sql", "");
    for arguments in [&["schema"][..], &["schema", "--check"]] {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{arguments:?}");
        assert!(
            ran.stderr.contains("\n  = help: `pushplan schema --out DIR` writes the general schemas"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(fs::read_dir(folder.path().join("schema")).unwrap().count(), 1);
    // One that holds them already is kept current.
    assert_eq!(folder.run(&["schema", "--out", "schema"]).code, 0);
    folder.write("schema/manifest.schema.json", "{}");
    assert_eq!(folder.run(&["schema", "--check"]).code, 3);
    assert_eq!(folder.run(&["schema"]).code, 0);
    assert_eq!(folder.run(&["schema", "--check"]).code, 0);
}

#[test]
fn the_sample_project_is_valid_and_in_canonical_layout() {
    let folder = Folder::new();
    for command in [&["init", "."][..], &["schema", "--out", "schema"], &["schema", "--check"], &["fmt", "--check"]] {
        let ran = folder.run(command);
        assert_eq!(ran.code, 0, "{command:?}: {}{}", ran.stdout, ran.stderr);
    }
    let read = |name: &str| validator(&serde_json::from_str(&folder.read(name)).expect("JSON"));
    let (general, own) = (read("schema/manifest.schema.json"), read(".pushplan/schema.json"));
    let mut manifests = 0;
    for below in ["messages", "campaigns"] {
        for entry in fs::read_dir(folder.path().join(below)).expect("a folder of manifests") {
            let text = fs::read_to_string(entry.expect("a manifest").path()).expect("text");
            assert_eq!(problems(&own, &text), [""; 0], "{text}");
            assert_eq!(problems(&general, &text), [""; 0], "{text}");
            manifests += 1;
        }
    }
    assert!(manifests > 1, "the sample has manifests");
    let project: Value = toml::from_str(&folder.read("pushplan.toml")).expect("TOML");
    assert!(read("schema/project.schema.json").is_valid(&project), "{project}");
}
