//! The machine-readable forms of `pushplan validate`, read back as a program would.

mod rules;

use pushplan::codes::CODES;
use pushplan::render::findings::json::FindingsDocument;
use pushplan_testing::{Folder, Ran};
use serde_json::{Value, json};

/// A project with a fix, a place in another file, a warning, a suppressed finding, and awkward texts.
fn project() -> Folder {
    let folder = Folder::new();
    folder.write("pushplan.toml", "[checks]\nAU107 = \"off\"\n[targets.local]\n");
    folder.write("a b/ü,1.yaml", "segments:\n  wide: {display_name: 日本, criteria: {tag: true}}\n");
    folder.write("messages.yaml", "segments:\n  wide: {criteria: {tag: a}}\n  100%:\n    criteria: {tag: a}\n");
    folder.write("clean.yaml", "segments: {c: {criteria: {country: us}}}\n");
    folder.write(
        "warned.yaml",
        "scheduled_pushes:\n  x:\n    schedule: {scheduled_time: 2026-03-01T12:00}\n    push: {audience: all, device_types: all, notification: {alert: hi, \"<&\\\"\\a>\": 1}}\n",
    );
    folder.write("bad.yaml", [0xff]);
    folder
}

fn run(folder: &Folder, format: &str, more: &[&str]) -> Ran {
    let ran = folder.run(&[&["validate", "--now", "2026-01-01T00:00Z", "--format", format], more].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (3, ""), "{}", ran.stdout);
    ran
}

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}\n{}", ran.stdout))
}

#[test]
fn json_holds_all_of_every_finding_and_follows_its_schema() {
    let report = parsed(&run(&project(), "json", &[]));
    let schema = schemars::schema_for!(FindingsDocument);
    let validator = jsonschema::validator_for(schema.as_value()).expect("a valid schema");
    let errors: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");

    let codes: Vec<_> = report["findings"].as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["YM204", "YM107", "RF105", "YM208", "YM202"]);
    let counts = ["version", "errors", "warnings", "suppressed"].map(|key| report[key].as_u64().unwrap());
    assert_eq!(counts, [1, 4, 1, 1]);
    assert_eq!(
        report["findings"][0],
        json!({
            "code": "YM204",
            "severity": "error",
            "message": "`true` without quotes is read as true or false, but this field is a text",
            "file": "a b/ü,1.yaml", "line": 2, "column": 44, "end_line": 2, "end_column": 48,
            "label": "needs quotes",
            "notes": ["without quotes, `6.10` becomes 6.1, and many YAML parsers read `no` as false"],
            "help": "write \"true\"",
            "related": [],
            "fix": {
                "file": "a b/ü,1.yaml", "start_byte": 57, "end_byte": 61,
                "line": 2, "column": 44, "end_line": 2, "end_column": 48,
                "text": "\"true\"", "safe": true,
            },
            "address": "segments/wide",
        })
    );
    let whole_file = &report["findings"][1];
    assert_eq!((&whole_file["file"], &whole_file["line"]), (&json!("bad.yaml"), &Value::Null));
    let related = json!([{ "file": "a b/ü,1.yaml", "line": 2, "column": 3, "label": "the first" }]);
    assert_eq!(report["findings"][2]["related"], related);
    assert_eq!(report["findings"][3]["fix"]["safe"], false, "a suggestion is not safe");
}

#[test]
fn sarif_has_a_rule_for_every_code_and_points_at_characters() {
    let log = parsed(&run(&project(), "sarif", &[]));
    assert_eq!(log["version"], "2.1.0");
    let driver = &log["runs"][0]["tool"]["driver"];
    assert_eq!(driver["name"], "pushplan");
    let rules = driver["rules"].as_array().unwrap();
    assert_eq!(rules.len(), CODES.len());
    for (rule, code) in rules.iter().zip(CODES) {
        assert_eq!((&rule["id"], &rule["shortDescription"]["text"]), (&json!(code.name), &json!(code.title)));
        assert!(!rule["fullDescription"]["text"].as_str().unwrap().is_empty(), "{}", code.name);
    }
    assert_eq!(log["runs"][0]["columnKind"], "unicodeCodePoints");
    let results = log["runs"][0]["results"].as_array().unwrap();
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    let levels: Vec<_> = results.iter().map(|it| it["level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["error", "error", "error", "error", "warning"]);

    let uri = "a%20b/%C3%BC%2C1.yaml";
    let region = json!({ "startLine": 2, "startColumn": 44, "endLine": 2, "endColumn": 48 });
    let place = json!({ "artifactLocation": { "uri": uri }, "region": region });
    assert_eq!(results[0]["locations"][0]["physicalLocation"], place);
    assert_eq!(results[0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "segments/wide");
    let change = json!({
        "artifactLocation": { "uri": uri },
        "replacements": [{ "deletedRegion": region, "insertedContent": { "text": "\"true\"" } }],
    });
    assert_eq!(results[0]["fixes"][0]["artifactChanges"], json!([change]));
    assert_eq!(results[1]["locations"][0]["physicalLocation"], json!({ "artifactLocation": { "uri": "bad.yaml" } }));
    assert_eq!(results[2]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"], uri);
    assert_eq!(results[3].get("fixes"), None, "a suggestion is not a fix");
}

#[test]
fn code_hosts_get_files_from_the_top_of_the_checkout() {
    let folder = Folder::new();
    folder.write(".git/HEAD", "ref: refs/heads/main\n");
    folder.write("push/pushplan.toml", "[targets.local]\n");
    folder.write("push/messages/a.yaml", "segments:\n  wide: {criteria: {tag: true}}\n");
    // Within the project, beside it and below it: the host knows one name.
    for (below, arguments) in [("push", &[][..]), ("push/messages", &[]), ("", &["push"])] {
        let run = |format: &str| {
            let arguments = [&["validate", "--format", format], arguments].concat();
            let ran = folder.run_in(below, &arguments, b"");
            assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
            ran
        };
        let github = run("github").stdout;
        assert!(github.starts_with("::error file=push/messages/a.yaml,line=2,"), "{below}: {github}");
        let place = &parsed(&run("sarif"))["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "push/messages/a.yaml", "{below}");
        assert_eq!(parsed(&run("code-quality"))[0]["location"]["path"], "push/messages/a.yaml", "{below}");
    }
    // A repository in another one, and a command that runs in neither.
    folder.write("push/inner/.git/HEAD", "ref: refs/heads/main\n");
    folder.write("push/inner/b.yaml", "segments:\n  wide: {criteria: {tag: true}}\n");
    folder.write("push/inner/pushplan.toml", "[targets.local]\n");
    let elsewhere = Folder::new();
    let inner = folder.path().join("push/inner");
    let github = elsewhere.run(&["validate", "--format", "github", inner.to_str().unwrap()]).stdout;
    assert!(github.starts_with("::error file=b.yaml,line=2,"), "{github}");
    // People get names that their terminal can open.
    let text = folder.run_in("push/messages", &["validate"], b"").stdout;
    assert!(text.contains(" a.yaml:2:"), "{text}");
    // What came from nowhere is nowhere.
    let stdin = folder.run_in(
        "push/messages",
        &["validate", "--format", "github", "-"],
        b"segments: {w: {criteria: {tag: true}}}\n",
    );
    assert!(stdin.stdout.contains("file=<stdin>,"), "{}", stdin.stdout);
}

#[test]
fn github_commands_are_one_line_each_with_their_values_escaped() {
    let ran = run(&project(), "github", &[]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 5, "{}", ran.stdout);
    assert_eq!(
        lines[0],
        "::error file=a b/ü%2C1.yaml,line=2,col=44,endLine=2,endColumn=48,title=YM204::`true` without quotes is read as true or false, but this field is a text%0Aneeds quotes%0A\
         note: without quotes, `6.10` becomes 6.1, and many YAML parsers read `no` as false%0Ahelp: write \"true\""
    );
    assert!(lines[1].starts_with("::error file=bad.yaml,"), "{}", lines[1]);
    assert!(lines[3].contains("::`100%25` is not a valid key of a segment%0A"), "{}", lines[3]);
    assert!(lines[4].starts_with("::warning file=warned.yaml,line=4,col=72,"), "{}", lines[4]);
}

#[test]
fn junit_is_well_formed_and_counts_what_fails() {
    let folder = project();
    let names = |xml: &Element| -> Vec<String> {
        let cases = xml.children[0].children.iter();
        let kind = |case: &Element| case.children.first().map_or("passed", |child| child.name).to_owned();
        cases.map(|case| format!("{} {}: {}", case.get("classname"), case.get("name"), kind(case))).collect()
    };
    let ran = run(&folder, "junit", &[]);
    let xml = element(&ran.stdout);
    assert_eq!((xml.name, xml.get("tests"), xml.get("failures")), ("testsuites", "6", "4"));
    assert_eq!(
        names(&xml),
        [
            "clean.yaml no problems: passed",
            "a b/ü,1.yaml YM204 at 2:44: failure",
            "bad.yaml YM107: failure",
            "messages.yaml RF105 at 2:3: failure",
            "messages.yaml YM208 at 3:3: failure",
            "warned.yaml YM202 at 4:72: system-out",
        ]
    );
    assert!(ran.stdout.contains("`&lt;&amp;&quot;\\x07&gt;` is not a documented field"), "{}", ran.stdout);
    let ran = run(&folder, "junit", &["--fail-on", "warning"]);
    let xml = element(&ran.stdout);
    assert_eq!(xml.get("failures"), "5");
    assert!(names(&xml).contains(&"warned.yaml YM202 at 4:72: failure".to_owned()));
}

#[test]
fn a_clean_project_is_told_in_every_form_and_nothing_else_is() {
    let folder = Folder::project("segments: {a: {criteria: {tag: a}}}\n");
    let run = |format| {
        let ran = folder.run(&["validate", "--format", format]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{format}");
        ran
    };
    let empty = json!({ "version": 1, "findings": [], "errors": 0, "warnings": 0, "suppressed": 0 });
    assert_eq!(parsed(&run("json")), empty);
    assert_eq!(parsed(&run("sarif"))["runs"][0]["results"], json!([]));
    assert_eq!(run("github").stdout, "");
    assert_eq!(element(&run("junit").stdout).get("tests"), "1");
}

/// An element of an XML document.
struct Element<'x> {
    name: &'x str,
    attributes: Vec<(&'x str, &'x str)>,
    children: Vec<Element<'x>>,
}

impl Element<'_> {
    fn get(&self, name: &str) -> &str {
        self.attributes.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value)
    }
}

/// Reads the only element of a document. Panics where the document is not well-formed XML 1.0.
fn element(xml: &str) -> Element<'_> {
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    assert!(xml.chars().all(allowed), "a character that XML forbids: {xml:?}");
    let body = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").expect("an XML declaration");
    let (root, rest) = read(body.trim_start());
    assert_eq!(rest.trim(), "", "behind the root element");
    root
}

/// The element that `xml` begins with, and what is behind it.
fn read(xml: &str) -> (Element<'_>, &str) {
    let open = xml.strip_prefix('<').unwrap_or_else(|| panic!("not an element: {xml}"));
    let mut rest = open.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
    let name = &open[..open.len() - rest.len()];
    assert!(!name.is_empty(), "an element without a name: {xml}");
    let mut found = Element { name, attributes: Vec::new(), children: Vec::new() };
    loop {
        let spaced = rest.trim_start();
        if let Some(after) = spaced.strip_prefix("/>") {
            return (found, after);
        }
        if let Some(after) = spaced.strip_prefix('>') {
            rest = after;
            break;
        }
        assert_ne!(spaced.len(), rest.len(), "a space before an attribute: {rest}");
        let (key, value) = spaced.split_once("=\"").expect("an attribute");
        let (value, after) = value.split_once('"').expect("the end of an attribute");
        assert!(key.chars().all(|c| c.is_ascii_lowercase()), "{key}");
        assert!(found.get(key).is_empty(), "{key} twice");
        text(value);
        found.attributes.push((key, value));
        rest = after;
    }
    loop {
        let (before, tag) = rest.split_at(rest.find('<').unwrap_or_else(|| panic!("{name} is not closed")));
        text(before);
        if let Some(closing) = tag.strip_prefix("</") {
            let (closed, after) = closing.split_once('>').expect("a closing tag");
            assert_eq!(closed, name, "the closing tag of another element");
            return (found, after);
        }
        let (child, after) = read(tag);
        found.children.push(child);
        rest = after;
    }
}

/// Text holds no bare `<`, and `&` only in a reference.
fn text(text: &str) {
    assert!(!text.contains('<'), "{text}");
    for part in text.split('&').skip(1) {
        let (name, _) = part.split_once(';').unwrap_or_else(|| panic!("a bare & in {text}"));
        let number = name.strip_prefix('#').is_some_and(|digits| matches!(digits, "9" | "10" | "13" | "35"));
        assert!(number || ["amp", "lt", "gt", "quot"].contains(&name), "&{name};");
    }
}
