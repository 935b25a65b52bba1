//! What `pushplan validate` says, as people see it.

use pushplan_testing::{Folder, Ran};
use unicode_width::UnicodeWidthStr;

#[track_caller]
fn assert_ran(ran: &Ran, code: i32, stdout: &str, stderr: &str) {
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), (stdout, stderr, code), "\n{}", ran.stdout);
}

/// The places of all findings.
fn places(ran: &Ran) -> Vec<&str> {
    ran.stdout.lines().filter_map(|line| line.trim_start().strip_prefix("--> ")).collect()
}

#[test]
fn a_clean_project_is_summed_up_in_one_line() {
    let folder = Folder::project("segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n");
    folder.write("more/tags.yaml", "tag_groups:\n  loyalty:\n");
    assert_ran(&folder.run(&["validate"]), 0, "No problems in 3 resources (2 files).\n", "");
    assert_ran(&folder.run(&["validate", "more"]), 0, "No problems in 1 resource (1 file).\n", "");
}

#[test]
fn findings_stand_in_the_layout_of_compilers() {
    let folder = Folder::project(
        "segments:\n  buyers:\n    criteria: {tag: true}\n  lapsed:\n    display_name: ${var.nope} off\n    criteria: {tag: a}\n",
    );
    folder.write("more.yaml", "segments:\n  x: {criteria: {tag: a}}\n\n  lapsed: {criteria: {tag: b}}\n");
    let expected = r#"error[YM204]: `true` without quotes is read as true or false, but this field is a text
 --> messages.yaml:3:21
  |
3 |     criteria: {tag: true}
  |                     ^^^^ needs quotes
  |
  = note: without quotes, `6.10` becomes 6.1, and many YAML parsers read `no` as false
  = help: write "true"; `pushplan validate --fix` does it

error[RF104]: the variable `nope` has no value
 --> messages.yaml:5:19
  |
5 |     display_name: ${var.nope} off
  |                   ^^^^^^^^^^^ not known
  |
  = help: add `nope = "..."` under [targets.local.variables] in pushplan.toml, or write ${var.nope:-a default}

error[RF105]: the segment `lapsed` is declared twice
 --> more.yaml:4:3
  |
4 |   lapsed: {criteria: {tag: b}}
  |   ^^^^^^ the second
  |
 ::: messages.yaml:4:3
  |
4 |   lapsed:
  |   ------ the first
  |
  = help: rename one of them, or remove it

3 errors in 2 files; 1 can be fixed with --fix
"#;
    assert_ran(&folder.run(&["validate"]), 3, expected, "");
}

#[test]
fn related_places_nearby_share_the_excerpt() {
    let folder = Folder::project("segments:\n  a: {criteria: {tag: a}}\n  # between\n  a: {criteria: {tag: b}}\n");
    let expected = "error[YM102]: `a` is repeated here
 --> messages.yaml:4:3
  |
2 |   a: {criteria: {tag: a}}
  |   - the first
3 |   # between
4 |   a: {criteria: {tag: b}}
  |   ^ the second
  |
  = note: one of the two would be lost silently
  = help: remove one of them, or rename it

1 error in 1 file
";
    assert_ran(&folder.run(&["validate"]), 3, expected, "");
}

#[test]
fn columns_and_carets_are_right_with_tabs_wide_characters_emoji_and_crlf() {
    let folder = Folder::project(concat!(
        "segments:\r\n",
        "  tab: {criteria:\t{tag:\ttrue}}\r\n",
        "  wide: {display_name: 日本語, criteria: {tag: true}}\r\n",
        "  emoji: {display_name: 😀👍🏽, criteria: {tag: true}}\r\n",
        "  hidden: {display_name: \"a\u{202e}b\", criteria: {tag: true}}\r\n",
    ));
    let ran = folder.run(&["validate"]);
    let expected = r#"error[YM204]: `true` without quotes is read as true or false, but this field is a text
 --> messages.yaml:2:25
  |
2 |   tab: {criteria:    {tag:    true}}
  |                               ^^^^ needs quotes
  |
  = note: without quotes, `6.10` becomes 6.1, and many YAML parsers read `no` as false
  = help: write "true"; `pushplan validate --fix` does it

error[YM204]: `true` without quotes is read as true or false, but this field is a text
 --> messages.yaml:3:45
  |
3 |   wide: {display_name: 日本語, criteria: {tag: true}}
  |                                                ^^^^ needs quotes
  |
  = note: without quotes, `6.10` becomes 6.1, and many YAML parsers read `no` as false
  = help: write "true"; `pushplan validate --fix` does it

error[YM204]: `true` without quotes is read as true or false, but this field is a text
 --> messages.yaml:4:46
  |
4 |   emoji: {display_name: 😀👍🏽, criteria: {tag: true}}
  |                                                 ^^^^ needs quotes
  |
  = note: without quotes, `6.10` becomes 6.1, and many YAML parsers read `no` as false
  = help: write "true"; `pushplan validate --fix` does it

error[YM204]: `true` without quotes is read as true or false, but this field is a text
 --> messages.yaml:5:49
  |
5 |   hidden: {display_name: "a\u202Eb", criteria: {tag: true}}
  |                                                      ^^^^ needs quotes
  |
  = note: without quotes, `6.10` becomes 6.1, and many YAML parsers read `no` as false
  = help: write "true"; `pushplan validate --fix` does it

4 errors in 1 file; 4 can be fixed with --fix
"#;
    assert_ran(&ran, 3, expected, "");
}

#[test]
fn a_byte_order_mark_moves_no_column() {
    let folder = Folder::project("\u{feff}segments: {a: {criteria: {tag: true}}}\n");
    let ran = folder.run(&["validate"]);
    assert_eq!(places(&ran), ["messages.yaml:1:32"]);
    assert!(ran.stdout.contains("1 | segments: {a: {criteria: {tag: true}}}\n"), "{}", ran.stdout);
}

#[test]
fn long_lines_are_cut_to_the_width_of_a_terminal() {
    let long = "é".repeat(50_000);
    let text = format!("segments: {{a: {{display_name: {long}, criteria: {{tag: true}}, x-more: {long}}}}}\n");
    let ran = Folder::project(&text).run(&["validate"]);
    assert_eq!(places(&ran), ["messages.yaml:1:50048"]);
    let (source, caret) = {
        let mut lines = ran.stdout.lines().skip_while(|line| !line.starts_with("1 | "));
        (lines.next().expect("the source"), lines.next().expect("the caret"))
    };
    assert!(source.starts_with("1 | ...") && source.ends_with("..."), "{source}");
    assert!(source.width() <= 100, "{} columns: {source}", source.width());
    let column = caret.find("^^^^").expect("a caret");
    assert_eq!(source.chars().skip(column).take(4).collect::<String>(), "true");
}

#[test]
fn a_value_longer_than_a_line_is_marked_as_far_as_it_shows() {
    let value = "[".to_owned() + &"a, ".repeat(5_000) + "]";
    let ran = Folder::project(&format!("segments: {{a: {{criteria: {{tag: a}}, display_name: {value}}}}}\n"))
        .run(&["validate"]);
    assert_eq!(ran.code, 3);
    for line in ran.stdout.lines() {
        assert!(line.width() <= 130, "{} columns: {line}", line.width());
    }
}

#[test]
fn what_controls_a_terminal_never_reaches_it() {
    let folder = Folder::project("segments: {a: {criteria: {tag: true}, x-a: \"\u{9b}31m\u{202e}\u{2028}\"}}\n");
    folder.write("b.yaml", "segments: {b: \u{1b}[31m}\n");
    for format in ["text", "github", "junit", "json", "sarif"] {
        let ran = folder.run(&["validate", "--color", "never", "--format", format]);
        assert_eq!(ran.code, 3, "{format}: {}{}", ran.stdout, ran.stderr);
        let raw = |c: &char| (c.is_control() && *c != '\n') || matches!(c, '\u{202e}' | '\u{2028}');
        assert_eq!(ran.stdout.chars().find(raw), None, "{format}: {:?}", ran.stdout);
    }
}

#[test]
fn colour_is_used_when_it_is_asked_for() {
    let folder = Folder::project("segments: {a: {criteria: {tag: true}}}\n");
    let colored = folder.run(&["validate", "--color", "always"]);
    let plain = folder.run(&["validate"]);
    assert!(colored.stdout.contains("\u{1b}[1m\u{1b}[91merror[YM204]"), "{:?}", colored.stdout);
    assert!(colored.stdout.contains("messages.yaml:1:32\n") || colored.stdout.contains("messages.yaml:1:32\u{1b}"));
    assert_eq!(anstream::adapter::strip_str(&colored.stdout).to_string(), plain.stdout);
}

#[test]
fn a_file_that_cannot_be_read_is_named_without_lines() {
    let folder = Folder::project("");
    folder.write("bad.yaml", [0xff, 0xfe]);
    let expected = "error[YM107]: the file is UTF-16, not UTF-8
 --> bad.yaml
  = help: open the file in an editor and save it as UTF-8

1 error in 1 file
";
    assert_ran(&folder.run(&["validate"]), 3, expected, "");
}

#[test]
fn only_findings_in_the_named_paths_are_reported_though_all_is_read() {
    let folder = Folder::project("segments: {a: {criteria: {tag: true}}}\n");
    folder.write("sub/one.yaml", "segments: {a: {criteria: {tag: x}}}\n");
    folder.write("sub/deep/two.yaml", "segments: {b: {criteria: {tag: no}}}\n");
    let at = |below: &str, arguments: &[&str]| {
        let ran = folder.run_in(below, &[&["validate"], arguments].concat(), b"");
        places(&ran).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(at("", &[]), ["messages.yaml:1:32", "sub/deep/two.yaml:1:32", "sub/one.yaml:1:12"]);
    assert_eq!(at("", &["sub/one.yaml"]), ["sub/one.yaml:1:12"]);
    assert_eq!(at("", &["sub/deep", "messages.yaml"]), ["messages.yaml:1:32", "sub/deep/two.yaml:1:32"]);
    // Paths are those of the folder that the command runs in, also for what lies beside it.
    assert_eq!(at("sub", &["one.yaml"]), ["one.yaml:1:12"]);
    assert_eq!(at("sub/deep", &["../../messages.yaml"]), ["../../messages.yaml:1:32"]);
    assert_eq!(at("sub", &[]), ["../messages.yaml:1:32", "deep/two.yaml:1:32", "one.yaml:1:12"]);
    assert_eq!(at("sub", &["."]), ["deep/two.yaml:1:32", "one.yaml:1:12"]);
    let related = folder.run_in("sub", &["validate", "one.yaml"], b"");
    assert!(related.stdout.contains("\n ::: ../messages.yaml:1:12\n"), "{}", related.stdout);
}

#[test]
fn a_path_that_does_not_exist_is_a_usage_failure() {
    let folder = Folder::project("");
    assert_ran(&folder.run(&["validate", "nope.yaml"]), 64, "", "error: no file or folder `nope.yaml`\n");
    let ran = folder.run(&["validate", "-", "messages.yaml"]);
    let said = "error: `-` cannot be combined with other paths\n  = help: write a single `-`, or files and folders\n";
    assert_ran(&ran, 64, "", said);
    let ran = folder.run(&["validate", "--stdin-path", "a.yaml"]);
    assert_ran(&ran, 64, "", "error: `--stdin-path` needs `-`, which reads standard input\n");
}

#[test]
fn a_folder_beside_the_projects_own_is_checked_when_it_is_named() {
    let folder = Folder::new();
    folder.write("pushplan.toml", "[project]\nmanifests = [\"messages\"]\n[targets.local]\n");
    folder.write("messages/a.yaml", "segments: {a: {criteria: {tag: x}}}\n");
    folder.write("drafts/b.yaml", "segments: {b: {criteria: {segment: a}}, c: {criteria: {tag: no}}}\n");
    assert_ran(&folder.run(&["validate"]), 0, "No problems in 1 resource (1 file).\n", "");
    // It is checked together with the project, whose names it knows.
    let ran = folder.run(&["validate", "drafts"]);
    assert_eq!((places(&ran), ran.code), (vec!["drafts/b.yaml:1:61"], 3), "{}", ran.stdout);
    // The project's folder holds both, and is read as the project says.
    assert_ran(&folder.run(&["validate", "."]), 0, "No problems in 1 resource (1 file).\n", "");
}

#[test]
fn what_holds_no_manifests_is_said_to_hold_none() {
    let folder = Folder::new();
    folder.write("pushplan.toml", "[project]\nmanifests = [\"messages\", \"more\"]\n[targets.local]\n");
    folder.write("messages/notes.txt", "");
    folder.write("more/notes.txt", "");
    folder.write("bodies/sale.html", "");
    assert_ran(&folder.run(&["validate"]), 0, "No manifests in messages or more.\n", "");
    assert_ran(&folder.run(&["validate", "bodies"]), 0, "No manifests in bodies.\n", "");
    assert_ran(&folder.run_in("bodies", &["validate", "."], b""), 0, "No manifests in this folder.\n", "");
    folder.write("messages/a.yaml", "segments: {a: {criteria: {tag: x}}}\n");
    assert_ran(&folder.run(&["validate"]), 0, "No problems in 1 resource (1 file).\n", "");
    let both = "No problems in 1 resource (1 file).\nNo manifests in bodies.\n";
    assert_ran(&folder.run(&["validate", "bodies", "messages"]), 0, both, "");
    // Programs read standard output, people the other.
    let ran = folder.run(&["validate", "bodies", "--format", "github"]);
    assert_ran(&ran, 0, "", "No manifests in bodies.\n");
}

#[test]
fn the_project_file_can_be_checked_alone() {
    let folder = Folder::project("segments: {a: {criteria: {tag: no}}}\n");
    assert_ran(&folder.run(&["validate", "pushplan.toml"]), 0, "No problems in pushplan.toml.\n", "");
    folder.write("pushplan.toml", "[target.local]\n");
    let ran = folder.run(&["validate", "pushplan.toml"]);
    assert_eq!((places(&ran), ran.code), (vec!["pushplan.toml:1:2"], 3), "{}", ran.stdout);
}

#[test]
fn the_names_of_manifests_end_in_yaml_in_any_letter_case() {
    let folder = Folder::project("segments: {a: {criteria: {tag: x}}}\n");
    for (name, key) in [("b.YAML", "b"), ("c.Yml", "c"), ("d.yml", "d")] {
        folder.write(name, format!("segments: {{{key}: {{criteria: {{tag: x}}}}}}\n"));
    }
    assert_ran(&folder.run(&["validate"]), 0, "No problems in 4 resources (4 files).\n", "");
}

#[test]
fn files_outside_any_project_are_checked_together() {
    let folder = Folder::new();
    folder.write("x/a.yaml", "segments: {a: {criteria: {tag: x}}}\n");
    folder.write("y/b.txt", "segments: {a: {criteria: {tag: x}}}\n");
    let ran = folder.run(&["validate", "x/a.yaml", "y/b.txt"]);
    assert_eq!((places(&ran), ran.code), (vec!["y/b.txt:1:12"], 3), "{}", ran.stdout);
    assert_ran(&folder.run(&["validate", "x"]), 0, "No problems in 1 resource (1 file).\n", "");
    let ran = folder.run(&["validate"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("", 1), "{}", ran.stderr);
}

#[test]
fn paths_in_several_projects_are_each_checked_in_their_own() {
    let folder = Folder::new();
    for name in ["one", "two"] {
        folder.write(&format!("{name}/pushplan.toml"), "[targets.local]\n");
        folder.write(&format!("{name}/a.yaml"), "segments: {a: {criteria: {tag: true}}}\n");
    }
    let ran = folder.run(&["validate", "two/a.yaml", "one"]);
    assert_eq!(places(&ran), ["one/a.yaml:1:32", "two/a.yaml:1:32"]);
    assert!(ran.stdout.ends_with("\n2 errors in 2 files; 2 can be fixed with --fix\n"), "{}", ran.stdout);
}

#[test]
fn a_file_that_the_project_passes_over_is_read_when_it_is_named() {
    let folder = Folder::project("segments: {a: {criteria: {tag: x}}}\n");
    folder.write("notes.txt", "segments: {a: {criteria: {tag: y}}}\n");
    assert_eq!(folder.run(&["validate"]).code, 0);
    let ran = folder.run(&["validate", "notes.txt"]);
    assert_eq!((places(&ran), ran.code), (vec!["notes.txt:1:12"], 3), "{}", ran.stdout);
}

#[test]
fn standard_input_is_checked_on_its_own_or_in_the_place_of_a_file() {
    let folder = Folder::project("segments: {a: {criteria: {tag: true}}}\n");
    folder.write("sub/b.yaml", "segments: {b: {criteria: {tag: x}}}\n");
    let ran = folder.run_with(&["validate", "-"], b"segments: {b: {criteria: {tag: no}}}\n");
    assert_eq!((places(&ran), ran.code), (vec!["<stdin>:1:32"], 3), "{}", ran.stdout);
    let ran = folder.run_with(&["validate", "-"], b"segments: {b: {criteria: {tag: x}}}\n");
    assert_ran(&ran, 0, "No problems in 1 resource (1 file).\n", "");
    // What replaces a file is checked with the rest of the project, and alone reported on.
    let stand_in = b"segments:\n  b: {criteria: {tag: x}}\n  a: {criteria: {tag: x}}\n";
    let ran = folder.run_in("sub", &["validate", "-", "--stdin-path", "b.yaml"], stand_in);
    assert_eq!((places(&ran), ran.code), (vec!["b.yaml:3:3"], 3), "{}", ran.stdout);
    let ran =
        folder.run_in("sub", &["validate", "-", "--stdin-path", "new.yaml"], b"segments: {b: {criteria: {tag: x}}}\n");
    assert_eq!((places(&ran), ran.code), (vec!["new.yaml:1:12"], 3), "{}", ran.stdout);
    let ran = folder.run_with(&["validate", "-", "--stdin-path", "pushplan.toml"], b"[target.local]\n");
    assert_eq!((places(&ran), ran.code), (vec!["pushplan.toml:1:2"], 3), "{}", ran.stdout);
}

#[test]
fn standard_input_that_lacks_its_project_is_told_how_to_get_it() {
    let folder = Folder::project("segments: {a: {criteria: {tag: x}}}\n");
    let input = b"segments: {b: {criteria: {segment: a}}}\n";
    let hint =
        "Standard input was checked without the project. --stdin-path FILE checks it as a file of the project.\n";
    let ran = folder.run_with(&["validate", "-"], input);
    assert!(ran.stdout.starts_with("error[RF101]") && ran.stdout.ends_with(hint), "{}", ran.stdout);
    assert_eq!(folder.run_with(&["validate", "-", "--stdin-path", "b.yaml"], input).code, 0);
    // Where there is no project, nothing is missing.
    let ran = Folder::new().run_with(&["validate", "-"], input);
    assert!(ran.stdout.starts_with("error[RF101]") && !ran.stdout.contains("--stdin-path"), "{}", ran.stdout);
}

const WARNING: &str = "scheduled_pushes:
  x:
    schedule: {scheduled_time: 2026-03-01T12:00}
    push: {audience: all, device_types: all, notification: {alert: hi, zzz: 1}}
";

#[test]
fn warnings_fail_only_when_asked_to() {
    let folder = Folder::project(WARNING);
    let now = ["--now", "2026-01-01T00:00Z"];
    let run = |more: &[&str]| folder.run(&[&["validate"], &now[..], more].concat());
    let expected = "warning[YM202]: `zzz` is not a documented field of the API, and the built-in service refuses it
 --> messages.yaml:4:72
  |
4 |     push: {audience: all, device_types: all, notification: {alert: hi, zzz: 1}}
  |                                                                        ^^^ refused by the built-in service
  |
  = note: the API allows fields here that are not documented, so your service may accept it
  = help: if this is intended, set `lifecycle: {allow: [YM202]}` on the resource

1 warning in 1 file
";
    assert_ran(&run(&[]), 0, expected, "");
    assert_ran(&run(&["--fail-on", "warning"]), 3, expected, "");
}

#[test]
fn of_very_many_unknown_keys_in_one_map_the_rest_is_counted() {
    let keys: String = (0..5_000).map(|number| format!("    unknown_{number}: 1\n")).collect();
    let folder = Folder::project(&format!("segments:\n  a:\n    criteria: {{country: US}}\n{keys}"));
    let ran = folder.run(&["validate", "--format", "jsonl"]);
    assert_eq!(ran.code, 3);
    let found: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("YM201")).collect();
    assert_eq!(found.len(), 1_001);
    assert!(found.iter().any(|line| line.contains("4000 more unknown keys in this map")), "{:?}", found.last());
}

/// The warning and the built-in service agree: what is called refused is refused, and the rest is accepted.
#[test]
fn an_undescribed_field_is_called_refused_if_the_built_in_service_refuses_it() {
    let push = "audience: all, device_types: all";
    let templates = "templates:\n  t: {push: {notification: {alert: Hi, FIELD: {a: 1}}}}\n";
    let pipeline = format!(
        "pipelines:\n  p: {{enabled: true, immediate_trigger: first_open, outcome: {{push: {{{push}, notification: {{alert: Hi}}}}}}, FIELD: {{a: 1}}}}\n"
    )
    .replace("audience: all", "audience: triggered");
    for (manifest, field, is_refused) in
        [(templates, "wns", false), (templates, "windows_phone", true), (&pipeline, "limits", true)]
    {
        let folder = Folder::project(&manifest.replace("FIELD", field));
        let told = folder.run(&["validate"]).stdout;
        let refused = format!("`{field}` is not a documented field of the API, and the built-in service refuses it");
        let accepted = format!("`{field}` is not a documented field of the API; it is sent unchanged");
        assert!(told.contains(if is_refused { &refused } else { &accepted }), "{field}: {told}");
        let ran = folder.run(&["apply", "--yes", "--allow-sends"]);
        assert_eq!(ran.code == 0, !is_refused, "{field}: {ran}");
    }
}

#[test]
fn what_is_turned_off_is_counted() {
    let folder = Folder::project(WARNING);
    folder.write("pushplan.toml", "[checks]\nYM202 = \"off\"\n[targets.local]\n");
    let now = ["validate", "--now", "2026-01-01T00:00Z"];
    assert_ran(&folder.run(&now), 0, "No problems in 1 resource (1 file, 1 suppressed).\n", "");
    folder.write("b.yaml", "segments: {b: {criteria: {tag: no}}}\n");
    let ran = folder.run(&now);
    assert!(ran.stdout.ends_with("\n1 error in 1 file (1 suppressed); 1 can be fixed with --fix\n"), "{}", ran.stdout);
    // Of what is not checked, nothing is counted.
    let ran = folder.run(&["validate", "b.yaml"]);
    assert!(ran.stdout.ends_with("\n1 error in 1 file; 1 can be fixed with --fix\n"), "{}", ran.stdout);
}

#[test]
fn an_unknown_target_is_a_usage_failure_that_suggests_one() {
    let folder = Folder::project("segments: {a: {criteria: {tag: \"${var.x}\"}}}\n");
    folder.write("pushplan.toml", "[targets.staging]\n[targets.production.variables]\nx = \"a\"\n");
    let said = "error: no target has the name `prodution`\n  = help: did you mean `production`?\n";
    assert_ran(&folder.run(&["validate", "--target", "prodution"]), 64, "", said);
    assert_eq!(folder.run(&["validate", "--target", "production"]).code, 0);
    assert_eq!(folder.run(&["validate", "--target", "staging"]).code, 3);
}

#[test]
fn a_time_by_each_own_clock_is_looked_for_where_the_audience_says_that_people_are() {
    let said = |time: &str, audience: &str| {
        let folder = Folder::project(&format!(
            "segments:\n  spain: {{criteria: {{country: ES}}}}\nscheduled_pushes:\n  p:\n    \
             schedule: {{local_scheduled_time: {time}}}\n    \
             push: {{audience: {audience}, device_types: [ios], notification: {{alert: Hi}}}}\n    \
             lifecycle: {{broadcast: true}}\n"
        ));
        let ran = folder.run(&["validate", "--now", "2026-11-15T12:00Z"]);
        assert_eq!(ran.code, 0, "{ran}");
        ran.stdout
    };
    let zones = "{timezone: [America/New_York, America/Chicago, Europe/Paris]}";
    let skipped = said("2027-03-14T02:30", zones);
    assert!(
        skipped.contains("SC109]: 02:30 does not exist on that day in America/Chicago and America/New_York"),
        "{skipped}"
    );
    let twice = said("2027-11-07T01:30", zones);
    assert!(twice.contains("01:30 happens twice on that day in America/Chicago and America/New_York"), "{twice}");
    let segment = said("2027-03-28T02:30", "{segment: spain}");
    assert!(segment.contains("02:30 does not exist on that day in Europe/Madrid"), "{segment}");
    for (time, audience) in [
        ("2027-03-14T03:30", zones),
        ("2027-03-14T02:30", "all"),
        ("2027-03-14T02:30", "{not: {timezone: America/New_York}}"),
        ("2027-03-14T02:30", "{timezone: Europe/Paris}"),
    ] {
        let fine = said(time, audience);
        assert!(!fine.contains("SC109"), "{time} {audience}: {fine}");
    }
}
