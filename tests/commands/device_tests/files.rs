//! The files with cases, the selected cases, and the forms of the result.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pushplan::finding::Findings;
use pushplan::manifest;
use pushplan::source::{Source, Sources};
use serde_json::Value;

use super::{Folder, case, case_of, is_wrong, shop};

const TWO: &str = "\
cases:
  A phone passes:
    device: {device_type: ios}
    expect: {in: not-new}
  A browser fails:
    device: {device_type: web}
    expect: {in: lapsed-buyers}
";

fn two() -> Folder {
    let folder = shop();
    folder.write("tests/two.test.yaml", TWO);
    folder
}

/// A text as an editor reads it.
fn yaml(text: &str) -> Value {
    let mut sources = Sources::default();
    let id = sources.add(Source::new("cases", text));
    manifest::parse(id, sources.get(id), &mut Findings::default()).documents[0].to_json()
}

fn everything(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        found.insert(format!("{} {:?}", path.display(), fs::read(&path).ok()));
        if path.is_dir() {
            found.extend(everything(&path));
        }
    }
    found
}

#[test]
fn nothing_is_left_behind() {
    let folder = two();
    let before = everything(folder.path());
    assert_eq!(folder.run(&["test"]).code, 1);
    assert_eq!(everything(folder.path()), before);
}

#[test]
fn cases_are_no_manifests_and_manifests_no_cases() {
    let folder = two();
    let ran = folder.run(&["validate"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!ran.stdout.contains("test.yaml") && !ran.stdout.contains("unknown kind"), "{ran}");
    let ran = folder.run(&["validate", "tests/two.test.yaml"]);
    assert_eq!(ran.code, 3, "{ran}");
    assert!(ran.stdout.contains("it is a file of device tests: run `pushplan test`"), "{ran}");
    let ran = folder.run(&["test", "messages.yaml"]);
    assert_eq!(ran.code, 64, "{ran}");
    assert!(ran.stderr.contains("`messages.yaml` is not a file of device tests"), "{ran}");
}

#[test]
fn files_folders_and_words_choose_cases() {
    let folder = two();
    folder.write("other.test.yml", "cases: {Another: {device: {device_type: ios}, expect: {receives: []}}}\n");
    let ran = folder.run(&["test", "--list"]);
    let all = "other.test.yml:1  Another\ntests/two.test.yaml:2  A phone passes\ntests/two.test.yaml:5  A browser fails\n3 cases.\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (0, all), "{ran}");
    for (arguments, code, end) in [
        (&["test", "PHONE"][..], 0, "1 case passed.\n"),
        (&["test", "tests"], 1, "1 case passed, 1 failed.\n"),
        (&["test", "tests/two.test.yaml", "browser"], 1, "0 cases passed, 1 failed.\n"),
        (&["test", "other.test.yml"], 0, "1 case passed.\n"),
    ] {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, code, "{ran}");
        assert!(ran.stdout.ends_with(end), "{ran}");
    }
    let ran = folder.run_in("tests", &["test", "two.test.yaml"], b"");
    assert!(ran.stdout.contains("\n  two.test.yaml:7, when"), "{ran}");
    assert!(ran.stdout.contains("(this decides; ../messages.yaml:7)"), "{ran}");
    for (word, help) in
        [("A phone pases", "did you mean `A phone passes`?"), ("zzz", "--list"), ("no.test.yaml", "no file")]
    {
        let ran = folder.run(&["test", word]);
        assert_eq!(ran.code, 64, "{ran}");
        assert!(ran.stderr.contains(help), "{ran}");
    }
}

#[test]
fn a_project_without_cases_is_told_how_to_write_one() {
    let ran = shop().run(&["test"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stdout.contains("tests/first.test.yaml") && ran.stdout.contains("  cases:\n"), "{ran}");
}

#[test]
fn manifests_with_errors_are_shown_and_no_case_is_run() {
    let folder = two();
    folder.write("wrong.yaml", "segments: {x: {criteria: {country: UK}}}\n");
    let ran = folder.run(&["test"]);
    assert_eq!(ran.code, 3, "{ran}");
    assert!(ran.stderr.contains("AU107") && ran.stdout.is_empty(), "{ran}");
}

#[test]
fn variables_and_overlays_are_those_of_the_target() {
    let folder = Folder::new();
    folder.write(
        "pushplan.toml",
        "[project]\ndefault_target = \"local\"\n[targets.local.variables]\nword = \"Hi\"\n[targets.production]\nbase_url = \"https://messaging.example\"\nledger = \"file:\"\n[targets.production.variables]\nword = \"Hello\"\n",
    );
    folder.write(
        "m.yaml",
        "pipelines: {p: {enabled: true, immediate_trigger: first_open, outcome: {push: {device_types: all, notification: {alert: \"${var.word}\"}}}}}\n",
    );
    let case = |text: &str| {
        format!(
            "cases: {{a: {{device: {{device_type: ios}}, steps: [{{open: true}}], expect: {{receives: {{alert: \"{text}\"}}}}}}}}\n"
        )
    };
    folder.write("a.test.yaml", case("Hello"));
    assert_eq!(folder.run(&["test"]).code, 1);
    assert_eq!(folder.run(&["test", "--target", "production"]).code, 0);
    folder.write("a.test.yaml", case("${var.word}"));
    assert_eq!(folder.run(&["test"]).code, 0);
    assert_eq!(folder.run(&["test", "--target", "production"]).code, 0);
}

#[test]
fn the_json_has_what_the_text_has_and_its_schema_knows_it() {
    let folder = two();
    let ran = folder.run(&["test", "--format", "json"]);
    assert_eq!(ran.code, 1, "{ran}");
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&document["passed"], &document["failed"]), (&Value::from(1), &Value::from(1)));
    let failure = &document["cases"][1]["failures"][0];
    assert_eq!((failure["kind"].as_str(), failure["segment"].as_str()), (Some("member"), Some("lapsed-buyers")));
    let decided = &failure["why"]["conditions"][0];
    assert_eq!((decided["decided"].as_bool(), decided["line"].as_u64()), (Some(true), Some(7)), "{failure:#}");
    let schema = |name: &str| -> Value {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(name);
        serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON")
    };
    let report = jsonschema::validator_for(&schema("test-report.schema.json")).expect("a schema");
    assert!(report.is_valid(&document), "{document:#}");
    let listed: Value =
        serde_json::from_str(&folder.run(&["test", "--list", "--format", "json"]).stdout).expect("JSON");
    assert!(report.is_valid(&listed) && listed["cases"][0]["passed"].is_null(), "{listed:#}");

    let tests = jsonschema::validator_for(&schema("tests.schema.json")).expect("a schema");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shop/tests/sale.test.yaml");
    let example: Value = yaml(&fs::read_to_string(path).expect("the example"));
    assert!(
        tests.is_valid(&example),
        "{:?}",
        tests.iter_errors(&example).map(|error| error.to_string()).collect::<Vec<_>>()
    );
    let wrong: Value = yaml(&TWO.replace("device_type", "devicetype"));
    assert!(!tests.is_valid(&wrong));
}

#[test]
fn the_shop_example_passes() {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shop");
    let folder = Folder::new();
    for target in ["local", "production"] {
        let ran = folder.run(&["test", "--project", &shop.display().to_string(), "--target", target]);
        assert_eq!(ran.code, 0, "{ran}");
        assert!(ran.stdout.ends_with("5 cases passed.\n"), "{ran}");
    }
}

#[test]
fn nobody_is_told_that_a_test_file_is_fixed() {
    let ran = case("device: {device_type: ios, opened: no}\nexpect: {in: lapsed-buyers}");
    assert_eq!(ran.code, 3, "{ran}");
    assert!(ran.stdout.contains("write false") && !ran.stdout.contains("--fix"), "{ran}");
}

#[test]
fn a_misspelt_tag_group_is_an_error() {
    is_wrong(
        "device: {device_type: ios, tags: {lifecycel: [buyer]}}\nexpect: {not_in: lapsed-buyers}",
        &["error[RF103]: no tag group has the name `lifecycel`", "did you mean `lifecycle`?"],
    );
}

#[test]
fn a_misspelt_address_of_an_open_channel_is_an_error() {
    let manifest = "open_channels:\n  support-desk: {opt_in: true, open: {open_platform_name: sms}}\n\
                    segments:\n  staff: {criteria: {tag: staff}}\n";
    let tested = |address: &str| {
        let device = format!("{{device_type: \"open::sms\", open_channel: \"{address}\"}}");
        case_of(manifest, &format!("device: {device}\nexpect: {{not_in: staff}}"))
    };
    let ran = tested("suport-desk");
    assert_eq!(ran.code, 3, "{ran}");
    for said in [
        "error[YM206]: no open channel has the address `suport-desk`",
        "one.test.yaml:3:54",
        "did you mean `support-desk`?",
    ] {
        assert!(ran.stdout.contains(said), "`{said}` is missing\n{ran}");
    }
    // Another address may be that of a channel that the project does not declare.
    for address in ["support-desk", "front-office", "support-desk2"] {
        assert_eq!(tested(address).code, 0, "{address}: {}", tested(address));
    }
}
