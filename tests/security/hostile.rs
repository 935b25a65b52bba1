//! No input panics, hangs or exhausts memory. Each leads to a finding, within limits of memory and time.

use std::fmt::Write;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pushplan_testing::Folder;
use serde_json::Value;

/// The maximal computing time of a run in seconds. A slow and busy machine needs 30 for the largest of these inputs;
/// quadratic behaviour would need hours.
const COMPUTING: usize = 300;
/// A run that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(900);
/// The maximal address space of a run, in KiB. It uses less: each thread reserves some that it never touches.
const ADDRESS_SPACE: usize = 600_000;
const MIB: usize = 1024 * 1024;

/// Validates a folder within the limits and returns the codes of the findings in their order. They are errors.
fn codes(folder: &Folder) -> Vec<String> {
    let report: Value = serde_json::from_str(&run(folder, "json")).expect("JSON");
    let findings = report["findings"].as_array().expect("a list").iter();
    findings.map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect()
}

/// The output in this format, within the limits.
fn run(folder: &Folder, format: &str) -> String {
    let said = folder_outside();
    let (out, err) = (said.path().join("out"), said.path().join("err"));
    let limited = format!("ulimit -v {ADDRESS_SPACE}; ulimit -t {COMPUTING}; exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_pushplan"), "validate", "--color", "never", "--format", format])
        .args(["--now", "2026-01-01T00:00Z"])
        .current_dir(folder.path())
        .env("RAYON_NUM_THREADS", "2")
        .env("MALLOC_ARENA_MAX", "2")
        .stdin(Stdio::null())
        .stdout(File::create(&out).expect("a file"))
        .stderr(File::create(&err).expect("a file"))
        .spawn()
        .expect("a shell");
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the binary ends") {
            break status;
        }
        if begin.elapsed() > PATIENCE {
            child.kill().expect("it can be ended");
            child.wait().expect("it ends");
            panic!("still running after {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let (out, err) = (read(&out), read(&err));
    let beginning = out.chars().take(2_000).collect::<String>();
    assert_eq!(status.code(), Some(3), "{status}\n{beginning}\n{err}");
    assert!(!err.contains("panicked"), "{err}");
    out
}

fn folder_outside() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn read(path: &Path) -> String {
    String::from_utf8(fs::read(path).expect("what it said")).expect("UTF-8")
}

/// The codes after `error[`.
fn found(out: &str) -> Vec<String> {
    out.split("error[").skip(1).filter_map(|rest| rest.get(..5)).map(str::to_owned).collect()
}

/// The codes for a project with this one manifest.
fn codes_of(manifest: impl AsRef<[u8]>) -> Vec<String> {
    let folder = Folder::project("");
    folder.write("messages.yaml", manifest);
    codes(&folder)
}

fn assert_found(codes: &[String], code: &str) {
    assert!(codes.iter().any(|found| found == code), "{code} is not among {:?}", &codes[..codes.len().min(20)]);
}

#[test]
fn a_bomb_of_aliases_in_aliases_is_refused() {
    let mut bomb = String::from("x-a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for (inner, outer) in ('a'..='y').zip('b'..='z') {
        let _ = writeln!(bomb, "x-{outer}: &{outer} [{}]", vec![format!("*{inner}"); 10].join(", "));
    }
    assert_eq!(codes_of(bomb), ["YM104"]);
}

#[test]
fn many_aliases_to_one_large_list_are_refused() {
    let bomb = format!("x-a: &a [{}]\nx-b:\n{}", "b, ".repeat(100_000), "  - *a\n".repeat(100_000));
    assert_eq!(codes_of(bomb), ["YM104"]);
}

#[test]
fn many_aliases_to_one_large_text_are_refused() {
    let bomb = format!("x-a: &a \"{}\"\nx-b:\n{}", "b".repeat(4 * MIB), "  - *a\n".repeat(10_000));
    assert_eq!(codes_of(bomb), ["YM104"]);
}

#[test]
fn anchors_in_anchors_keep_no_copies_of_each_other() {
    let open: String = (0..60).map(|n| format!("&a{n} [")).collect();
    let nested = format!("x-a: {open}{}{}\nx-b: *a0\n", "b, ".repeat(500_000), "]".repeat(60));
    assert_eq!(codes_of(nested), ["YM104"]);
}

#[test]
fn very_many_anchors_are_refused() {
    let anchors: String = (0..300_000).fold("x-a:\n".into(), |mut all, n| {
        let _ = writeln!(all, "  - &a{n} b");
        all
    });
    assert_eq!(codes_of(anchors), ["YM104"]);
}

#[test]
fn lists_and_maps_ten_thousand_deep_are_refused() {
    for manifest in [
        format!("x-a: {}{}\n", "[".repeat(10_000), "]".repeat(10_000)),
        format!("x-a: {}{}\n", "{a: ".repeat(10_000), "}".repeat(10_000)),
        "[".repeat(10 * MIB),
        format!("{}a\n", "- ".repeat(10_000)),
        format!("{}a\n", "? ".repeat(10_000)),
        (0..10_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect(),
    ] {
        assert_eq!(codes_of(&manifest), ["YM105"], "{:?}", &manifest[..40]);
    }
}

#[test]
fn a_scalar_of_one_gibibyte_is_refused_unread() {
    let folder = Folder::project("");
    let path = folder.write("messages.yaml", "x-a: \"");
    File::options().write(true).open(path).expect("a file").set_len(1 << 30).expect("a sparse file");
    assert_eq!(codes(&folder), ["YM106"]);
}

#[test]
fn a_scalar_as_large_as_a_file_may_be_is_refused() {
    for (before, after) in [("x-a: \"", "\"\n"), ("x-a: ", "\n"), ("x-a: |\n  ", "\n")] {
        let manifest = format!("{before}{}{after}", "b".repeat(95 * MIB));
        assert_eq!(codes_of(&manifest), ["YM106"], "{before:?}");
    }
}

#[test]
fn what_is_not_text_is_refused_where_it_begins() {
    assert_eq!(codes_of(b"segments:\n  a: \xff\n"), ["YM107"]);
    assert_eq!(codes_of(b"segments:\n  a: \xe2\x82"), ["YM107"]);
    assert_eq!(codes_of(b"segments:\n  a\0b: {criteria: all}\n"), ["YM107"]);
    assert_eq!(codes_of(vec![0; 50 * MIB]), ["YM107"]);
    let wide = |order: fn(u16) -> [u8; 2]| -> Vec<u8> { "segments: {}\n".encode_utf16().flat_map(order).collect() };
    for text in [wide(u16::to_le_bytes), wide(u16::to_be_bytes)] {
        assert_eq!(codes_of(&text), ["YM107"]);
        let marked = if text[0] == 0 { [0xfe, 0xff] } else { [0xff, 0xfe] };
        assert_eq!(codes_of([&marked[..], &text].concat()), ["YM107"]);
    }
}

#[test]
fn very_many_values_or_documents_are_refused() {
    assert_eq!(codes_of("---\n".repeat(20 * MIB)), ["YM106"]);
    assert_eq!(codes_of("--- a\n...\n".repeat(MIB)), ["YM106"]);
}

#[test]
fn a_file_of_problems_ends_with_a_word_about_the_rest() {
    for (manifest, code) in [
        ("x-a: 1\n".repeat(100_000), "YM102"),
        ("- *a\n".repeat(100_000), "YM104"),
        ("- !a b\n".repeat(100_000), "YM103"),
        ("- {{NAME}}\n".repeat(100_000), "YM109"),
        ("--- a: [}\n".repeat(100_000), "YM101"),
    ] {
        let codes = codes_of(&manifest);
        assert_eq!(codes.len(), 1_001, "{code}");
        assert_eq!(codes.iter().filter(|found| *found == code).count(), 1_000);
        assert_found(&codes, "YM106");
    }
}

#[test]
fn a_hundred_thousand_findings_are_all_reported() {
    for separator in ["\n", " "] {
        let mut manifest = String::from("segments: {\n");
        for n in 0..99_999 {
            let _ = write!(manifest, "  s{n}: {{criteria: all, oops: 1}},{separator}");
        }
        manifest.push_str("  }\n");
        let report: serde_json::Value =
            serde_json::from_str(&run(&Folder::project(&manifest), "json")).expect("a report");
        let findings = report["findings"].as_array().expect("findings");
        assert_eq!(findings.len(), 99_999);
        assert!(findings.iter().all(|finding| finding["code"] == "YM201"));
    }
}

#[test]
fn an_audience_of_very_many_time_zones_is_answered() {
    let mut manifest = String::from(
        "scheduled_pushes:\n  a:\n    schedule: {scheduled_time: 2036-01-01T22:00}\n    push:\n      \
         device_types: all\n      notification: {alert: Hi}\n      audience:\n        or:\n",
    );
    for n in 0..15_000 {
        let _ = writeln!(manifest, "          - {{tag: Zone/{n}, group: timezone}}");
    }
    let folder = Folder::project(&manifest);
    folder.write("pushplan.toml", "[targets.local]\nquiet_hours = {from = \"21:00\", to = \"08:00\"}\n");
    assert_found(&codes(&folder), "AU104");
}

#[test]
fn lines_and_words_of_a_million_characters_are_answered() {
    let long = "é".repeat(1_000_000);
    assert_found(&codes_of(format!("segments: {{a: {{criteria: {{tag: \"{long}\", oops: 1}}}}}}\n")), "YM201");
    assert_eq!(codes_of(format!("segments:\n  a: {{criteria: {long}}}\n")), ["YM206"]);
    assert_eq!(codes_of(format!("segments:\n  a:\n    criteria: all\n    ? {long}\n    : 1\n")), ["YM201"]);
    assert_eq!(codes_of(format!("segments:\n  ? {long}\n  : 1\n")), ["YM208"]);
    assert_found(&codes_of(format!("segments: {{{long}: 1}}\n")), "YM101");
    assert_found(&codes_of(format!("segments: !<{}> a\n", "a".repeat(1_000_000))), "YM103");
}

#[test]
fn a_text_full_of_variables_is_answered() {
    let with = |text: &str| codes_of(format!("segments:\n  a: {{criteria: {{tag: \"{text}\"}}}}\n"));
    assert_found(&with(&"${var.x}".repeat(500_000)), "RF104");
    assert_found(&with(&"${}".repeat(1_000_000)), "RF112");
    assert_found(&with(&"${".repeat(2_000_000)), "RF112");
    let different: String = (0..100_000).map(|n| format!("${{var.x{n}}}")).collect();
    assert_found(&with(&different), "RF104");
}

#[test]
fn a_text_full_of_placeholders_is_answered() {
    let different: String = (0..60_000).map(|n| format!("{{{{a{n}}}}} ")).collect();
    for (text, count) in [
        ("{{a ".repeat(100_000), 100_000),
        ("{{a}} ".repeat(60_000), 60_000),
        (different, 60_000),
        ("{{".repeat(60_000), 60_000),
    ] {
        let manifest = format!("templates:\n  t: {{push: {{notification: {{alert: \"{text}\"}}}}}}\n");
        let report = run(&Folder::project(&manifest), "json");
        assert_eq!(report.matches("\"code\": \"MS101\"").count(), count, "{}", &text[..20]);
    }
}

/// Repeats this text for each number below ten thousand, with the number in place of `NUMBER`.
fn ten_thousand(one: &str) -> String {
    (0..10_000).map(|n| one.replace("NUMBER", &format!("{n:05}"))).collect()
}

#[test]
fn ten_thousand_wrong_names_among_ten_thousand_right_ones_are_answered() {
    let segments = ten_thousand("  s-NUMBER: {criteria: {tag: \"${var.nameNUMBERx}\"}}\n");
    let folder = Folder::project(&format!("segments:\n{segments}"));
    folder.write("pushplan.toml", format!("[targets.a.variables]\n{}", ten_thousand("nameNUMBER = \"a\"\n")));
    assert_eq!(codes(&folder).len(), 10_000);

    let variables = ten_thousand("{key: nameNUMBER, default_value: a}, ");
    let template = |alert: &str| {
        format!("templates: {{t: {{variables: [{variables}], push: {{notification: {{alert: \"{alert}\"}}}}}}}}\n")
    };
    let wrong = codes_of(template(&ten_thousand("{{nameNUMBERx}} ")));
    assert_eq!(wrong.iter().filter(|code| *code == "MS101").count(), 10_000);

    let push = |values: &str| {
        let push = format!("{{audience: all, device_types: all, template: t, substitutions: {{{values}}}}}");
        format!("{{schedule: {{scheduled_time: 2026-11-27T09:00}}, push: {push}}}")
    };
    let one = format!("scheduled_pushes: {{p: {}}}\n", push(&ten_thousand("nameNUMBERx: a, ")));
    let wrong = codes_of(template("a") + &one);
    assert_eq!(wrong.iter().filter(|code| *code == "MS114").count(), 10_000);

    let each = ten_thousand(&format!("  p-NUMBER: {}\n", push("nameNUMBERx: a")));
    assert_eq!(codes_of(template("a") + "scheduled_pushes:\n" + &each), ["YM106"]);
}

#[test]
fn ten_thousand_pushes_to_a_chain_of_ten_thousand_segments_are_answered() {
    let next = |n: usize| format!("{{and: [{{tag: a}}, {{segment: s{:05}}}]}}", n + 1);
    let chain: String = (0..10_000).map(|n| format!("  s{n:05}: {{criteria: {}}}\n", next(n))).collect();
    let end = "  s10000: {criteria: {ios_version: 9.0.X}}\n";
    let push = "{audience: {segment: sNUMBER}, device_types: [android], notification: {alert: a}}";
    let push = format!("  p-NUMBER: {{schedule: {{scheduled_time: 2026-11-27T09:00}}, push: {push}}}\n");
    let manifest = format!("segments:\n{chain}{end}scheduled_pushes:\n{}oops: 1\n", ten_thousand(&push));
    let folder = Folder::project(&manifest);
    let codes = codes(&folder);
    assert_eq!(codes.iter().filter(|code| *code == "AU111").count(), 10_000);
}

#[test]
fn a_project_file_of_problems_ends_with_a_word_about_the_rest() {
    let folder = Folder::project("segments: {}\n");
    folder.write("pushplan.toml", "= 1\n".repeat(5_000));
    let out = run(&folder, "text");
    assert_eq!(out.matches("more than 1000 problems").count(), 1);
}

#[test]
fn a_thousand_targets_of_five_thousand_segments_are_not_all_checked() {
    let segments = &ten_thousand("  s-NUMBER: {criteria: all}\n")[..4_999 * "  s-00000: {criteria: all}\n".len()];
    let folder = Folder::project(&format!("segments:\n  x: {{criteria: {{tag: \"${{var.x}}\"}}}}\n{segments}"));
    let targets = |x: fn(usize) -> usize| -> String {
        (0..1_000).map(|n| format!("[targets.t{n}.variables]\nx = \"{}\"\n", x(n))).collect()
    };
    // Targets with equal inputs are checked once.
    folder.write("pushplan.toml", targets(|_| 1));
    assert_eq!(folder.run(&["validate"]).code, 0);
    folder.write("pushplan.toml", targets(|n| n));
    let out = run(&folder, "text");
    assert_eq!(found(&out), ["YM106"]);
    assert!(out.contains("800 targets not checked"), "{out}");
}

#[test]
fn what_a_project_grows_to_is_limited() {
    let large = "a".repeat(4 * MIB);
    let many = |one: &str| (0..5_000).fold(String::new(), |all, n| all + &one.replace("NUMBER", &n.to_string()));

    let default = format!("defaults: {{templates: {{description: {large}}}}}\ntemplates:\n");
    let default = default + &many("  t-NUMBER: {push: {notification: {alert: a}}}\n");
    assert_eq!(codes_of(default), ["YM106"]);

    let keys: Vec<String> = (0..5_000).map(|n| format!("x-{n}: 1")).collect();
    let default = format!("defaults: {{segments: {{{}}}}}\nsegments:\n", keys.join(", "));
    assert_eq!(codes_of(default + &many("  s-NUMBER: {criteria: all}\n")), ["YM106"]);

    let template = format!("templates: {{t: {{push: {{notification: {{alert: {large}}}}}}}}}\nscheduled_pushes:\n");
    let push = "{audience: all, device_types: all, template: t}";
    let push = format!("  p-NUMBER: {{schedule: {{scheduled_time: 2026-11-27T09:00}}, push: {push}}}\n");
    assert_eq!(codes_of(template + &many(&push)), ["YM106"]);

    let folder = Folder::project(&format!("segments:\n{}", many("  s-NUMBER: {criteria: {tag: \"${var.x}\"}}\n")));
    folder.write("pushplan.toml", format!("[targets.local.variables]\nx = \"{}\"\n", "a".repeat(MIB - 100)));
    assert_eq!(codes(&folder), ["YM106"]);

    let message = "{title: a, body: {file: body.html}}";
    let template = format!("  t-NUMBER: {{push: {{notification: {{alert: a}}, message: {message}}}}}\n");
    let folder = Folder::project(&format!("templates:\n{}", many(&template)));
    folder.write("body.html", &large);
    assert_eq!(codes(&folder), ["YM106"]);
}

#[test]
fn a_project_file_of_any_shape_is_answered() {
    for (text, code) in [
        (format!("x = {}", "[".repeat(100_000)), "YM301"),
        (format!("x = {}1{}", "[".repeat(100_000), "]".repeat(100_000)), "YM301"),
        (format!("x = {}1{}", "{a=".repeat(100_000), "}".repeat(100_000)), "YM301"),
        (format!("a{} = 1", ".a".repeat(100_000)), "YM301"),
        (format!("[a{}]", ".a".repeat(100_000)), "YM301"),
        ("= 1\n".repeat(100_000), "YM301"),
        ("\0".repeat(100_000), "YM107"),
        (format!("x = \"{}\"", "a".repeat(2 * MIB)), "YM106"),
        (format!("[checks]\n{}", (0..20_000).map(|n| format!("A{n} = \"off\"\n")).collect::<String>()), "YM206"),
    ] {
        let folder = Folder::project("segments: {}\n");
        folder.write("pushplan.toml", &text);
        assert_found(&codes(&folder), code);
    }
}

#[cfg(unix)]
mod on_the_disk {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn fifo(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
    }

    #[test]
    fn a_pipe_in_the_place_of_a_manifest_is_not_waited_for() {
        let folder = Folder::project("");
        fifo(&folder.path().join("more.yaml"));
        assert_eq!(codes(&folder), ["YM302"]);
    }

    #[test]
    fn a_pipe_in_the_place_of_the_project_file_is_not_waited_for() {
        let folder = Folder::project("");
        fs::remove_file(folder.path().join("pushplan.toml")).expect("it was there");
        fifo(&folder.path().join("pushplan.toml"));
        let ran = folder.run(&["validate"]);
        assert_ne!(ran.code, 0, "{ran:?}");
    }

    #[test]
    fn folders_that_hold_themselves_are_not_walked_for_ever() {
        let folder = Folder::project("");
        folder.write("messages/more.yaml", "segments: {}\n");
        symlink("..", folder.path().join("messages/up")).expect("a link");
        symlink("itself", folder.path().join("messages/itself")).expect("a link");
        assert_eq!(codes(&folder), ["YM302"]);
    }

    #[test]
    fn a_manifest_behind_a_link_is_refused() {
        let (folder, other) = (Folder::project(""), Folder::project("segments: {}\n"));
        symlink(other.path().join("messages.yaml"), folder.path().join("more.yaml")).expect("a link");
        symlink("/dev/zero", folder.path().join("zero.yaml")).expect("a link");
        assert_eq!(codes(&folder), ["YM302", "YM302"]);
    }

    #[test]
    fn a_folder_with_the_name_of_a_manifest_is_a_folder() {
        let folder = Folder::project("");
        folder.write("folder.yaml/inside.yaml", "oops: {}\n");
        assert_eq!(codes(&folder), ["YM201"]);
    }

    #[test]
    fn a_file_that_may_not_be_read_is_named() {
        let folder = Folder::project("");
        let path = folder.write("secret.yaml", "segments: {}\n");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).expect("a mode");
        // The superuser can read everything.
        if File::open(&path).is_err() {
            assert_eq!(codes(&folder), ["YM302"]);
        }
    }

    #[test]
    fn a_body_comes_from_a_regular_file_of_the_project_alone() {
        let with = |name: &str| {
            let message = format!("{{title: a, body: {{file: \"{name}\"}}}}");
            Folder::project(&format!(
                "templates:\n  t:\n    push: {{notification: {{alert: a}}, message: {message}}}\n"
            ))
        };
        let body = with("body.html");
        fifo(&body.path().join("body.html"));
        assert_eq!(codes(&body), ["RF108"]);

        for outside in ["/dev/zero", "../body.html", "/etc/passwd", "a/../../body.html"] {
            assert_eq!(codes(&with(outside)), ["RF106"], "{outside}");
        }

        for hidden in [".git/config", "./.git/config", ".pushplan/service.env", "bodies/.env", ".netrc"] {
            let body = with(hidden);
            let secret = "AUTHORIZATION: basic c2VjcmV0";
            body.write(hidden, secret);
            assert_eq!(codes(&body), ["RF106"], "{hidden}");
            assert!(!run(&body, "json").contains(secret), "{hidden}");
        }

        let body = with("body.html");
        symlink("/dev/zero", body.path().join("body.html")).expect("a link");
        assert_eq!(codes(&body), ["RF107"]);

        let body = with("folder/body.html");
        symlink("/etc", body.path().join("folder")).expect("a link");
        assert_found(&codes(&body), "RF107");

        let body = with("body.html");
        body.write("body.html", "a".repeat(6 * MIB));
        assert_eq!(codes(&body), ["RF108"]);

        let body = with("body.html");
        let path = body.write("body.html", "");
        File::options().write(true).open(path).expect("a file").set_len(1 << 40).expect("a sparse file");
        assert_eq!(codes(&body), ["RF108"]);

        let body = with("body.html");
        fs::create_dir(body.path().join("body.html")).expect("a folder");
        assert_eq!(codes(&body), ["RF108"]);
    }
}
