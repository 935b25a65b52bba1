//! Each form against the rules of those who read it, with texts that try to break out of it.

use std::collections::{BTreeMap, BTreeSet};

use pushplan::render::findings::json::FindingLine;
use pushplan_testing::{Folder, Ran};
use serde_json::{Value, json};

use super::{Element, element};

/// A project whose names and texts would be commands, ends of lines, ends of strings or markup, if anybody let them.
fn hostile() -> Folder {
    let folder = Folder::new();
    folder.write("pushplan.toml", "[targets.local]\n");
    let names = [
        r"a\r\n::error::b",
        "c%0A::set-output name=x::y",
        r"d,title=e:f::g",
        r#"]]><!-- </failure>&<\u0000\u001b[31m\"'"#,
        "##[error]h ##vso[task.complete]i",
        r"\u202ej\u2028k",
    ];
    for (number, name) in names.iter().enumerate() {
        let text = format!("segments:\n  s{number}: {{criteria: {{country: \"{}\"}}}}\n", name.replace("\\\\", "\\"));
        folder.write(&format!("m,{number}:%0A #?[x] & ü/n::error::{number}.yaml"), text);
    }
    folder
}

fn run(folder: &Folder, format: &str) -> Ran {
    let ran = folder.run(&["validate", "--now", "2026-01-01T00:00Z", "--format", format]);
    assert_eq!(ran.code, 3, "{}\n{}", ran.stdout, ran.stderr);
    ran
}

/// What the forms for programs say of the same findings: code, file, line.
fn told(folder: &Folder) -> BTreeSet<(String, String, u64)> {
    let report: Value = serde_json::from_str(&run(folder, "json").stdout).expect("JSON");
    let findings = report["findings"].as_array().expect("findings");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let told: BTreeSet<_> = findings
        .iter()
        .map(|it| (text(&it["code"]), text(&it["file"]), it["line"].as_u64().unwrap_or_default()))
        .collect();
    assert!(told.len() >= 6, "{told:?}");
    told
}

#[track_caller]
fn follows(value: &Value, schema: &Value) {
    let validator = jsonschema::validator_for(schema).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// An object that has these properties and no others; those that end in `!` are required.
fn object(properties: &[(&str, Value)]) -> Value {
    let name = |name: &str| name.trim_end_matches('!').to_owned();
    let all: BTreeMap<String, &Value> = properties.iter().map(|(key, value)| (name(key), value)).collect();
    let required: Vec<String> =
        properties.iter().filter(|(key, _)| key.ends_with('!')).map(|(key, _)| name(key)).collect();
    json!({ "type": "object", "properties": all, "required": required, "additionalProperties": false })
}

fn list(items: &Value, least: usize) -> Value {
    json!({ "type": "array", "items": items, "minItems": least })
}

#[test]
fn sarif_follows_the_rules_of_its_standard() {
    let folder = hostile();
    let log: Value = serde_json::from_str(&run(&folder, "sarif").stdout).expect("JSON");
    let number = json!({ "type": "integer", "minimum": 1 });
    let text = json!({ "type": "string" });
    let message = object(&[("text!", text.clone())]);
    // A URI reference: nothing but what RFC 3986 lets stand there, and no colon in a first part that is no scheme.
    let uri = json!({ "type": "string", "pattern": r"^(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+$" });
    let artifact = object(&[("uri!", uri)]);
    let region = object(&[
        ("startLine!", number.clone()),
        ("startColumn", number.clone()),
        ("endLine", number.clone()),
        ("endColumn", number),
    ]);
    let physical = object(&[("artifactLocation!", artifact.clone()), ("region", region.clone())]);
    let logical = object(&[("fullyQualifiedName", text.clone()), ("kind", text.clone())]);
    let location = object(&[
        ("physicalLocation", physical),
        ("logicalLocations", list(&logical, 1)),
        ("message", message.clone()),
    ]);
    let replacement = object(&[("deletedRegion!", region), ("insertedContent", object(&[("text", text.clone())]))]);
    let change = object(&[("artifactLocation!", artifact), ("replacements!", list(&replacement, 1))]);
    let fix = object(&[("description", message.clone()), ("artifactChanges!", list(&change, 1))]);
    let level = json!({ "enum": ["none", "note", "warning", "error"] });
    let result = object(&[
        ("ruleId", text.clone()),
        ("ruleIndex", json!({ "type": "integer", "minimum": -1 })),
        ("level", level.clone()),
        ("message!", message.clone()),
        ("locations", list(&location, 0)),
        ("relatedLocations", list(&location, 0)),
        ("fixes", list(&fix, 0)),
    ]);
    let rule = object(&[
        ("id!", text.clone()),
        ("shortDescription", message.clone()),
        ("fullDescription", message),
        ("defaultConfiguration", object(&[("level", level)])),
    ]);
    let driver = object(&[("name!", text.clone()), ("version", text.clone()), ("rules", list(&rule, 0))]);
    let run = object(&[
        ("tool!", object(&[("driver!", driver)])),
        ("columnKind", json!({ "enum": ["utf16CodeUnits", "unicodeCodePoints"] })),
        ("results", list(&result, 0)),
    ]);
    follows(&log, &object(&[("$schema", text), ("version!", json!({ "const": "2.1.0" })), ("runs!", list(&run, 1))]));
    let of_log: BTreeSet<(String, String, u64)> = log["runs"][0]["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|result| {
            let place = &result["locations"][0]["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().expect("a uri");
            let path = percent_encoding::percent_decode_str(uri).decode_utf8().expect("UTF-8").into_owned();
            (
                result["ruleId"].as_str().expect("a rule").to_owned(),
                path,
                place["region"]["startLine"].as_u64().unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(of_log, told(&folder));
}

#[test]
fn code_quality_follows_the_rules_of_its_host() {
    let folder = hostile();
    let report: Value = serde_json::from_str(&run(&folder, "code-quality").stdout).expect("JSON");
    let text = json!({ "type": "string", "minLength": 1 });
    let begin = object(&[("begin!", json!({ "type": "integer", "minimum": 1 }))]);
    // Relative to the repository, without `./` before it.
    let path = json!({ "type": "string", "minLength": 1, "not": { "pattern": r"^(\./|/)" } });
    let issue = object(&[
        ("description!", text.clone()),
        ("check_name!", text),
        ("fingerprint!", json!({ "type": "string", "pattern": "^[0-9a-f]{32,64}$" })),
        ("severity!", json!({ "enum": ["info", "minor", "major", "critical", "blocker"] })),
        ("location!", object(&[("path!", path), ("lines!", begin)])),
    ]);
    follows(&report, &list(&issue, 1));
    let issues = report.as_array().expect("issues");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of_report: BTreeSet<_> = issues
        .iter()
        .map(|it| {
            let place = &it["location"];
            (text(&it["check_name"]), text(&place["path"]), place["lines"]["begin"].as_u64().unwrap_or_default())
        })
        .collect();
    assert_eq!(of_report, told(&folder));
}

#[test]
fn a_fingerprint_moves_with_its_finding_and_is_of_no_other() {
    let folder = Folder::new();
    folder.write("pushplan.toml", "[targets.local]\n");
    // Two that are alike to the letter but for their places, and one in another file.
    let body = "segments:\n  a: {criteria: {or: [{country: xx}, {country: xx}]}}\n";
    let prints = |folder: &Folder| -> Vec<(String, u64)> {
        let report: Value = serde_json::from_str(&run(folder, "code-quality").stdout).expect("JSON");
        let issues = report.as_array().expect("issues").iter();
        let line = |it: &Value| it["location"]["lines"]["begin"].as_u64().expect("a line");
        issues.map(|it| (it["fingerprint"].as_str().expect("a text").to_owned(), line(it))).collect()
    };
    folder.write("messages.yaml", body);
    folder.write("other.yaml", "segments:\n  b: {criteria: {country: xx}}\n");
    let before = prints(&folder);
    let names: BTreeSet<&String> = before.iter().map(|(print, _)| print).collect();
    assert_eq!(names.len(), before.len(), "{before:?}");
    assert!(before.len() >= 3, "{before:?}");
    folder.write("messages.yaml", format!("# Moved\n\n{body}"));
    let after = prints(&folder);
    let only = |all: &[(String, u64)]| all.iter().map(|(print, _)| print.clone()).collect::<Vec<_>>();
    assert_eq!(only(&after), only(&before));
    assert_ne!(after, before, "the lines are others");
}

#[test]
fn json_lines_are_an_object_each_and_end_with_their_sum() {
    let folder = hostile();
    let ran = run(&folder, "jsonl");
    let schema = schemars::schema_for!(FindingLine);
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    lines.iter().for_each(|line| follows(line, schema.as_value()));
    let (last, findings) = lines.split_last().expect("lines");
    let whole: Value = serde_json::from_str(&run(&folder, "json").stdout).expect("JSON");
    for (line, finding) in findings.iter().zip(whole["findings"].as_array().expect("findings")) {
        let mut of_line = line.clone();
        assert_eq!(of_line.as_object_mut().expect("an object").remove("type"), Some(json!("finding")));
        assert_eq!(&of_line, finding);
    }
    assert_eq!(findings.len(), whole["findings"].as_array().map_or(0, Vec::len));
    assert_eq!(
        last,
        &json!({ "type": "summary", "version": 1, "errors": whole["errors"], "warnings": whole["warnings"],
            "suppressed": whole["suppressed"] })
    );
}

#[test]
fn junit_follows_the_rules_of_its_readers() {
    let folder = hostile();
    let ran = run(&folder, "junit");
    let xml = element(&ran.stdout);
    fn has(element: &Element, name: &str, attributes: &[&str], children: &[&str]) {
        assert_eq!(element.name, name);
        for (key, _) in &element.attributes {
            assert!(attributes.contains(key), "{name} has {key}");
        }
        for child in &element.children {
            assert!(children.contains(&child.name), "{} in {name}", child.name);
        }
    }
    has(&xml, "testsuites", &["name", "tests", "failures", "errors"], &["testsuite"]);
    assert_eq!(xml.children.len(), 1);
    let suite = &xml.children[0];
    has(suite, "testsuite", &["name", "tests", "failures", "errors", "skipped"], &["testcase"]);
    let failures = suite.children.iter().filter(|case| case.children.iter().any(|it| it.name == "failure")).count();
    assert_eq!(
        (suite.get("tests"), suite.get("failures")),
        (&*suite.children.len().to_string(), &*failures.to_string())
    );
    for case in &suite.children {
        has(case, "testcase", &["classname", "name", "file", "line"], &["failure", "system-out"]);
        assert!(!case.get("name").is_empty() && !case.get("classname").is_empty());
        assert!(case.children.len() <= 1);
        case.children
            .iter()
            .filter(|it| it.name == "failure")
            .for_each(|it| has(it, "failure", &["type", "message"], &[]));
    }
    assert_eq!(suite.children.len(), told(&folder).len());
}

/// A workflow command as a runner reads it: its name, its properties and its text.
fn command(line: &str) -> (String, BTreeMap<String, String>, String) {
    let (head, text) =
        line.strip_prefix("::").and_then(|rest| rest.split_once("::")).unwrap_or_else(|| panic!("{line}"));
    let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
    let data = |text: &str| text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%");
    let property = |text: &str| {
        text.replace("%0D", "\r").replace("%0A", "\n").replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
    };
    let properties = properties.split(',').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or_else(|| panic!("{pair} in {line}"));
        (key.to_owned(), property(value))
    });
    (name.to_owned(), properties.collect(), data(text))
}

#[test]
fn github_commands_are_read_as_they_were_meant() {
    let folder = hostile();
    let ran = run(&folder, "github");
    assert_eq!(ran.stderr, "");
    let mut read = BTreeSet::new();
    for line in ran.stdout.lines() {
        let (name, properties, text) = command(line);
        assert!(["error", "warning"].contains(&name.as_str()), "{line}");
        let keys: Vec<&str> = properties.keys().map(String::as_str).collect();
        assert!(
            keys.iter().all(|key| ["file", "line", "col", "endLine", "endColumn", "title"].contains(key)),
            "{keys:?}"
        );
        assert!(!text.is_empty() && !line.contains("##["), "{line}");
        read.insert((
            properties["title"].clone(),
            properties["file"].clone(),
            properties["line"].parse().expect("a line"),
        ));
    }
    assert_eq!(read, told(&folder));
}

/// So many errors, with a warning behind each.
fn wrong(number: usize) -> Folder {
    let folder = Folder::new();
    folder.write("pushplan.toml", "[checks]\nAU107 = \"warning\"\n[targets.local]\n");
    let one = |number: usize| {
        format!(
            "  s{number:02}:\n    x: 1\n    criteria: {{country: x{}}}\n",
            char::from(b'a' + u8::try_from(number).expect("few"))
        )
    };
    folder.write("messages.yaml", format!("segments:\n{}", (0..number).map(one).collect::<String>()));
    folder
}

#[test]
fn ten_annotations_are_shown_and_of_more_the_worst_nine_and_a_count() {
    let read = |folder: &Folder| -> (Vec<(String, String, String)>, String) {
        let ran = run(folder, "github");
        let all = ran.stdout.lines().map(command);
        let place = |properties: &BTreeMap<String, String>| properties.get("line").cloned().unwrap_or_default();
        (all.map(|(name, properties, text)| (name, place(&properties), text)).collect(), ran.stderr)
    };
    let findings = |number: usize| -> usize {
        let report: Value = serde_json::from_str(&run(&wrong(number), "json").stdout).expect("JSON");
        report["findings"].as_array().map_or(0, Vec::len)
    };
    assert_eq!((findings(5), findings(6)), (10, 12), "each has an error and a warning");
    let (ten, stderr) = read(&wrong(5));
    let names: Vec<&str> = ten.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, [["error"; 5], ["warning"; 5]].concat(), "errors stand before warnings");
    let lines: Vec<u32> = ten.iter().map(|(_, line, _)| line.parse().expect("a line")).collect();
    assert!(lines[..5].is_sorted() && lines[5..].is_sorted(), "{lines:?}");
    assert_eq!(stderr, "");
    let (more, stderr) = read(&wrong(6));
    assert_eq!(more.len(), 10);
    let (name, line, text) = &more[9];
    assert_eq!((name.as_str(), line.as_str()), ("warning", ""));
    assert!(text.starts_with("3 more warnings; "), "{text}");
    assert_eq!(stderr.lines().count(), 3, "{stderr}");
    assert!(stderr.lines().all(|line| line.starts_with("messages.yaml:") && line.contains(": warning[")), "{stderr}");
    let (many, _) = read(&wrong(12));
    assert_eq!((many.len(), many[9].0.as_str()), (10, "error"));
    assert!(many[9].2.starts_with("3 more errors and 12 more warnings; "), "{}", many[9].2);
}
