//! `pushplan explain`: codes, kinds and fields.

use pushplan::codes::{CODES, LIMITS};
use pushplan::kinds::KINDS;
use pushplan_testing::{Folder, Ran};

fn explain(topic: &[&str]) -> Ran {
    let arguments: Vec<&str> = ["explain", "--color", "never"].iter().chain(topic).copied().collect();
    Folder::new().run(&arguments)
}

#[test]
fn without_a_topic_every_code_and_every_kind_is_listed() {
    let ran = explain(&[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for code in CODES {
        let row = format!("  {}  {:<7}  {}", code.name, code.severity.word(), code.title);
        assert!(ran.stdout.contains(&row), "{}", code.name);
    }
    for kind in KINDS {
        assert!(
            ran.stdout.contains(&format!("\n  {} ", kind.key)) && ran.stdout.contains(kind.purpose),
            "{}",
            kind.key
        );
    }
    for file in ["faults.toml", "service.toml"] {
        assert!(ran.stdout.contains(&format!("\n  {file} ")), "{file}");
        assert!(Folder::new().run(&["serve", "--help"]).stdout.contains(&format!("pushplan explain {file}")), "{file}");
    }
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn a_code_in_any_case_prints_its_page() {
    for code in CODES {
        let ran = explain(&[&code.name.to_lowercase()]);
        assert_eq!(ran.code, 0, "{}", code.name);
        assert!(ran.stdout.starts_with(&format!("{}: {}\n", code.name, code.title)), "{}", ran.stdout);
        assert!(!ran.stdout.contains("```") && !ran.stdout.contains("\n#"), "{}", ran.stdout);
    }
}

#[test]
fn what_the_api_does_not_allow_has_a_page_too() {
    let listed = explain(&[]).stdout;
    for limit in LIMITS {
        assert!(listed.contains(&format!("{}  {}", limit.name, limit.title)), "{listed}");
        let ran = explain(&[&limit.name.to_lowercase()]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.starts_with(&format!("{}: {}\n", limit.name, limit.title)), "{}", ran.stdout);
    }
}

#[test]
fn headings_are_bold_where_there_is_colour() {
    let folder = Folder::new();
    let ran = folder.run(&["explain", "AU101", "--color", "always"]);
    assert!(ran.stdout.starts_with("\u{1b}[1mAU101: "), "{:?}", ran.stdout);
    let ran = folder.run(&["explain", "AU101"]);
    assert!(!ran.stdout.contains('\u{1b}'), "a pipe gets no colour");
}

#[test]
fn a_kind_prints_its_fields() {
    let expected = "segments

A stored audience for pushes and other segments.

  Type      a map (key: a name; value: a map)
  Required  no

Fields
  criteria      required  The conditions for its members.
  display_name            The name in the dashboard [default: the key].
  lifecycle               How pushplan manages it. Never sent to the service.

Example
    segments:
      lapsed-buyers:
";
    assert!(explain(&["segments"]).stdout.starts_with(expected), "{}", explain(&["segments"]).stdout);
    assert_eq!(explain(&["segment"]).stdout, explain(&["segments"]).stdout, "what people call one of them");
    for kind in KINDS {
        let ran = explain(&[kind.key]);
        assert!(
            ran.code == 0 && ran.stdout.contains(kind.purpose) && ran.stdout.contains("\nFields\n"),
            "{}",
            kind.key
        );
        let example = ran.stdout.split("\nExample\n").nth(1).unwrap_or_default();
        assert!(example.starts_with(&format!("    {}:\n", kind.key)), "{}", ran.stdout);
    }
}

#[test]
fn a_field_of_every_kind_the_device_tests_and_each_heading_are_topics() {
    for (topic, line) in [
        ("lifecycle", "lifecycle"),
        ("lifecycle.protect", "lifecycle.protect"),
        ("tests", "*.test.yaml"),
        ("tests.cases", "tests.cases"),
        ("cases", "cases"),
        ("cases.device", "cases.device"),
        ("kinds", "kinds"),
        ("audiences", "audiences"),
        ("AU", "audiences"),
        ("yaml", "YAML and shape"),
        ("files", "files of pushplan serve"),
        ("ap", "what the API does not allow"),
    ] {
        let ran = explain(&[topic]);
        assert_eq!(ran.code, 0, "{topic}: {}", ran.stderr);
        assert_eq!(ran.stdout.lines().next(), Some(line), "{topic}");
    }
    let listed = explain(&[]).stdout;
    let headings = listed.lines().filter(|line| !line.is_empty() && !line.starts_with([' ', '`', 'w']));
    for heading in headings {
        assert_eq!(explain(&[heading]).code, 0, "{heading}");
    }
}

#[test]
fn a_field_says_what_can_stand_there() {
    for (topic, lines) in [
        (
            "pipelines.outcome.delay",
            &["The time from the trigger to the push [default: at once].", "  Required  no"][..],
        ),
        ("templates.variables.key", &["  Type      text", "  Required  yes"]),
        ("targets.quiet_hours", &["  from  required  Its start."]),
        ("targets.production.api", &["  Type      `documented` or `extended`"]),
        ("pushplan.toml", &["  checks   Severity of each check, by code [default: the severity of the code]."]),
        ("scheduled_pushes.push.template", &["  Type      the key of a template"]),
        (
            "overlays",
            &["Differences for one target: the name of a target or group, and below it the changed fields as in a"],
        ),
    ] {
        let ran = explain(&[topic]);
        assert_eq!(ran.code, 0, "{topic}: {}", ran.stderr);
        for line in lines {
            assert!(ran.stdout.lines().any(|found| found == *line), "{topic} lacks `{line}`:\n{}", ran.stdout);
        }
    }
}

#[test]
fn an_unknown_topic_is_a_usage_error_with_the_nearest_one() {
    for (topic, near) in [
        ("AU1O1", "AU101"),
        ("segmets", "segments"),
        ("pipelines.outcom.delay", "pipelines.outcome.delay"),
        ("delay", "pipelines.outcome.delay"),
        ("quiet_hour", "targets.quiet_hours"),
        ("fault.toml", "faults.toml"),
    ] {
        let ran = explain(&[topic]);
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{topic}");
        assert!(ran.stderr.contains(&format!("did you mean `{near}`?")), "{topic}: {}", ran.stderr);
    }
    for topic in ["quaternion", "", " "] {
        let ran = explain(&[topic]);
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{topic:?}");
        assert!(ran.stderr.contains("`pushplan explain` lists all codes and kinds"), "{}", ran.stderr);
    }
}

#[test]
fn a_field_does_not_repeat_what_its_form_says() {
    let ran = explain(&["scheduled_pushes.schedule"]);
    assert_eq!(ran.stdout.matches("When it is sent.").count(), 1, "{ran}");
}

#[test]
fn device_tests_are_explained_with_an_example_and_the_next_topic() {
    for topic in ["tests", "test", "tests.yaml"] {
        let told = explain(&[topic]).stdout;
        assert!(told.contains("\nExample\n    cases:\n") && told.contains("    expect: {"), "{told}");
        assert!(told.ends_with("`pushplan explain tests.cases.FIELD` explains a field.\n"), "{told}");
    }
}
