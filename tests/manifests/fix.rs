//! `pushplan validate --fix` changes what it fixes and nothing else.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use pushplan_testing::Folder;

/// A file beside the one at `path`, or that one itself.
fn beside(path: &Path, name: &str) -> String {
    fs::read_to_string(path.with_file_name(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn safe_fixes_are_carried_out_and_the_rest_is_reported() {
    let folder = Folder::project("");
    let before =
        "# Who buys\r\nsegments:\r\n\r\n  a:   {criteria: {tag: true}} # 'kept'\r\n  b: {criteria: {tag: 'x'}}\r\n";
    folder.write("messages.yaml", before);
    folder.write("more.yaml", "segments:\n  c: {display_name: 1.10, criteria: {tag: no}}\n  b: {criteria: {tag: y}}\n");
    let untouched = folder.write("untouched.yaml", "segments: { d: { criteria: { tag: z } } }");
    let ran = folder.run(&["validate", "--fix"]);
    let expected = "Fixed 3 problems in 2 files.
error[RF105]: the segment `b` is declared twice
 --> more.yaml:3:3
  |
3 |   b: {criteria: {tag: y}}
  |   ^ the second
  |
 ::: messages.yaml:5:3
  |
5 |   b: {criteria: {tag: 'x'}}
  |   - the first
  |
  = help: rename one of them, or remove it

1 error in 1 file
";
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), (expected, "", 3));
    assert_eq!(beside(&untouched, "messages.yaml"), before.replace("true", "\"true\""));
    let more = "segments:\n  c: {display_name: \"1.10\", criteria: {tag: \"no\"}}\n  b: {criteria: {tag: y}}\n";
    assert_eq!(beside(&untouched, "more.yaml"), more);
    assert_eq!(beside(&untouched, "untouched.yaml"), "segments: { d: { criteria: { tag: z } } }");
    let names: Vec<_> =
        fs::read_dir(untouched.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 4, "nothing else is left behind: {names:?}");
}

#[test]
fn what_was_hidden_behind_a_fixed_problem_is_fixed_too() {
    // The placeholder breaks the syntax, so nothing behind it is read at first.
    let folder = Folder::project("");
    let path = folder
        .write("messages.yaml", "segments:\n  a:\n    display_name: {{NAME}} and more\n    criteria: {tag: yes}\n");
    let ran = folder.run(&["validate", "--fix"]);
    let said = "Fixed 2 problems in 1 file.\nNo problems in 1 resource (1 file).\n";
    assert_eq!((ran.stdout.as_str(), ran.code), (said, 0));
    let fixed = "segments:\n  a:\n    display_name: \"{{NAME}} and more\"\n    criteria: {tag: \"yes\"}\n";
    assert_eq!(beside(&path, "messages.yaml"), fixed);
}

#[test]
fn only_the_named_files_are_fixed() {
    let folder = Folder::project("segments: {a: {criteria: {tag: true}}}\n");
    let path = folder.write("sub/b.yaml", "\u{feff}segments: {b: {criteria: {tag: true}}}\n");
    let ran = folder.run_in("sub", &["validate", "--fix", "b.yaml", "--format", "json"], b"");
    assert_eq!((ran.stderr.as_str(), ran.code), ("Fixed 1 problem in 1 file.\n", 0));
    assert_eq!(beside(&path, "b.yaml"), "\u{feff}segments: {b: {criteria: {tag: \"true\"}}}\n");
    assert_eq!(beside(&path, "../messages.yaml"), "segments: {a: {criteria: {tag: true}}}\n");
}

#[test]
fn a_project_with_nothing_to_fix_says_so() {
    let ran = Folder::project("segments: {a: {criteria: {tag: a}}}\n").run(&["validate", "--fix"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("Fixed nothing.\nNo problems in 1 resource (1 file).\n", 0));
}

#[test]
fn standard_input_is_fixed_to_standard_output() {
    let folder = Folder::project("");
    let input = b"segments: {a: {criteria: {tag: true}}, A b: {}} # no end of line";
    let ran = folder.run_with(&["validate", "-", "--fix"], input);
    assert_eq!(ran.stdout, "segments: {a: {criteria: {tag: \"true\"}}, A b: {}} # no end of line");
    assert!(ran.stderr.starts_with("error[YM208]") && ran.stderr.ends_with("\n1 error in 1 file\n"), "{}", ran.stderr);
    assert_eq!(ran.code, 3);
    // What needs no fix, or cannot be read, comes out as it went in.
    let ran = folder.run_with(&["validate", "-", "--fix"], b"segments: {a: \x1b[0m}\r");
    assert_eq!((ran.stdout.as_str(), ran.code), ("segments: {a: \u{1b}[0m}\r", 3));
}

#[test]
fn nobody_is_told_that_a_fix_is_made_which_is_not() {
    let repeated = "segments: {a: {criteria: {tag: &x true}}, b: {criteria: {tag: *x}}}\n";
    let mixed = "segments: {a: {criteria: {tag: &x true}}, b: {criteria: {tag: *x}}, c: {criteria: {tag: no}}}\n";
    let block = "segments:\n  a: {criteria: {opt_in: !!str # why\n    true}}\n";
    for (manifest, fixable) in [(repeated, 0), (mixed, 1), (block, 0)] {
        let folder = Folder::project(manifest);
        let ran = folder.run(&["validate"]);
        assert_eq!(ran.code, 3, "{}", ran.stdout);
        assert_eq!(ran.stdout.matches("`pushplan validate --fix` does it").count(), fixable, "{}", ran.stdout);
        assert_eq!(ran.stdout.contains("can be fixed with --fix"), fixable > 0, "{}", ran.stdout);
        let ran = folder.run(&["validate", "--fix"]);
        assert_eq!(ran.code, 3, "{}", ran.stdout);
        assert!(!ran.stdout.contains("--fix"), "{}", ran.stdout);
        assert_eq!(folder.read("messages.yaml"), manifest.replace("tag: no", "tag: \"no\""));
    }
}

#[cfg(unix)]
#[test]
fn permissions_stay_and_links_are_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::new();
    let path = folder.write("a.yaml", "segments: {a: {criteria: {tag: true}}}\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("a.yaml", path.with_file_name("link.yaml")).unwrap();

    let ran = folder.run(&["validate", "--fix", "link.yaml"]);
    let said = "error[YM302]: `link.yaml` cannot be read: it is a symbolic link, which is not followed\n";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
    assert_eq!(ran.code, 3);
    assert_eq!(beside(&path, "a.yaml"), "segments: {a: {criteria: {tag: true}}}\n");

    assert_eq!(folder.run(&["validate", "--fix", "a.yaml"]).code, 0);
    assert_eq!(beside(&path, "a.yaml"), "segments: {a: {criteria: {tag: \"true\"}}}\n");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn what_is_wrong_with_a_read_only_file_is_still_told() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::project("segments: {a: {criteria: {tag: true}}, b: {criteria: {segment: c}}}\n");
    let path = folder.path().join("messages.yaml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let ran = folder.run(&["validate", "--fix"]);
    let told: Vec<&str> =
        ran.stdout.lines().filter(|line| line.starts_with("error[")).map(|line| &line[..12]).collect();
    assert_eq!(told, ["error[YM204]", "error[RF101]"], "{}", ran.stdout);
    let said = "error: `messages.yaml` cannot be written: it is read-only\n";
    assert_eq!((ran.stderr.as_str(), ran.code), (said, 1));
}

/// Lines that a person may have written around what is fixed.
fn around() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[ ]{0,6}# [a-z{}\"'é😀:true]{0,20}",
        "  k[0-9]{6}: [{]display_name: '[a-zé😀 ]{1,9}',  criteria:  [{]tag: \"true\"[}][}] {0,3}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_byte_outside_the_fixed_values_stays(
        lines in proptest::collection::vec((around(), prop_oneof!["true", "no", "1\\.10", "plain", "'quoted'"]), 1..6),
        end in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let (mut before, mut after) = (format!("segments:{end}"), format!("segments:{end}"));
        for (number, (line, value)) in lines.iter().enumerate() {
            let fixed = if ["true", "no", "1.10"].contains(&value.as_str()) { format!("\"{value}\"") } else { value.clone() };
            before += &format!("{line}{end}  s{number}: {{criteria: {{tag: {value}}}}}{end}");
            after += &format!("{line}{end}  s{number}: {{criteria: {{tag: {fixed}}}}}{end}");
        }
        let ran = Folder::new().run_with(&["validate", "-", "--fix"], before.as_bytes());
        prop_assert_eq!(ran.stdout, after, "{}", ran.stderr);
    }
}

/// A fix is made from one value; what stands around it must not suffer.
#[test]
fn what_a_fix_would_damage_is_left_for_a_person() {
    for manifest in [
        "pipelines:\n  p:\n    enabled: |-\n      true\n    immediate_trigger: first_open\n    outcome: {push: {audience: triggered, device_types: all, notification: {alert: hi}}}\n",
        "segments:\n  s:\n    criteria:\n      and:\n        - country: |-\n            us\n        - tag: x\n",
        "segments:\n  a: {criteria: {tag: &t no}}\n  b: {criteria: {country: *t}}\n",
        "segments:\n  a: {criteria: {tag: !!str &n 42}}\n  b: {criteria: {tag: *n}}\n",
        "segments:\n  a:\n    criteria:\n      tag: !!str # why\n        42\n",
        "templates:\n  t:\n    push:\n      notification:\n        alert: {{A}} b\t# note\n",
        "templates:\n  t: {push: {notification: {alert: {{A}}, hi}}}\n",
    ] {
        let folder = Folder::project(manifest);
        let ran = folder.run(&["validate", "--fix"]);
        assert_eq!(ran.code, 3, "{manifest}\n{}", ran.stdout);
        assert_eq!(folder.read("messages.yaml"), manifest);
    }
}
