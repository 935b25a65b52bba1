//! The exit codes of commands, on which scripts depend.

use std::thread::sleep;
use std::time::{Duration, Instant};

use pushplan_testing::{Project, ended, says, signal, stand_in};

const ONE: &str = "segments:\n  a: {criteria: {tag: a}}\n";

#[test]
fn exit_0_and_2_tell_whether_there_are_changes_where_that_is_asked() {
    let project = Project::new(ONE);
    let _service = project.serve();
    assert_eq!(project.run(&["plan"]).code, 0);
    assert_eq!(project.run(&["plan", "--detailed-exitcode"]).code, 2);
    assert_eq!(project.run(&["apply", "--yes"]).code, 0);
    assert_eq!(project.run(&["plan", "--detailed-exitcode"]).code, 0);
}

#[test]
fn exit_1_when_the_service_does_not_answer() {
    let project = Project::new(ONE);
    project.folder.write("pushplan.toml", "[targets.far]\nbase_url = \"http://127.0.0.1:9\"\nledger = \"file:\"\n");
    let env =
        [("PUSHPLAN_ORIGIN", "http://127.0.0.1:9"), ("PUSHPLAN_APP_KEY", "key"), ("PUSHPLAN_MASTER_SECRET", "secret")];
    let ran = project.run_as(&["plan"], &env);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["GET /api/segments failed", "nothing was changed"]);
}

#[test]
fn exit_1_when_the_list_cannot_be_understood() {
    for kind in ["truncate", "garble", "html"] {
        let project = Project::new(ONE);
        let service = project.faulty(&format!("[[fault]]\nkind = \"{kind}\"\nmethod = \"GET\"\n"));
        service.segment("b", "b");
        service.forget();
        let ran = project.run(&["apply", "--yes"]);
        assert_eq!(ran.code, 1, "{kind}: {ran}");
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}

#[test]
fn exit_3_when_the_manifests_are_wrong() {
    let project = Project::new("segments:\n  a: {criteria: {tag: }}\n");
    assert_eq!(project.run(&["plan"]).code, 3);
    assert_eq!(project.run(&["apply", "--yes"]).code, 3);
}

#[test]
fn programs_are_told_what_is_wrong_with_the_manifests() {
    let project = Project::new("segments:\n  a: {criteria: {tagg: a}}\n");
    for arguments in [&["plan", "--format", "json"][..], &["apply", "--yes", "--format", "json"]] {
        let ran = project.run(arguments);
        assert_eq!(ran.code, 3, "{ran}");
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(report["errors"], 1, "{ran}");
    }
}

#[test]
fn exit_1_when_a_page_for_people_answers() {
    let project = Project::new(ONE);
    let origin = stand_in(|_| ("200 OK", "text/html", "<html>Welcome</html>"));
    project.folder.write("pushplan.toml", format!("[targets.far]\nbase_url = \"{origin}\"\nledger = \"file:\"\n"));
    let env = [("PUSHPLAN_ORIGIN", origin.as_str()), ("PUSHPLAN_APP_KEY", "key"), ("PUSHPLAN_MASTER_SECRET", "secret")];
    let ran = project.run_as(&["plan"], &env);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["HTTP 200, and the answer is not JSON"]);
}

#[test]
fn exit_4_when_credentials_are_missing_or_refused() {
    let project = Project::new(ONE);
    let service = project.serve();
    project
        .folder
        .write("pushplan.toml", format!("[targets.far]\nbase_url = \"{}\"\nledger = \"file:\"\n", service.origin));
    let ran = project.run(&["plan"]);
    assert_eq!(ran.code, 4, "{ran}");
    assert_eq!(service.asked(), Vec::<String>::new());
    let env = |secret: &'static str| {
        [
            ("PUSHPLAN_ORIGIN", service.origin.as_str()),
            ("PUSHPLAN_APP_KEY", "local-application-key0"),
            ("PUSHPLAN_MASTER_SECRET", secret),
        ]
    };
    let ran = project.run_as(&["apply", "--yes"], &env("wrong"));
    assert_eq!(ran.code, 4, "{ran}");
    assert!(!ran.stderr.contains("wrong"), "{ran}");
    assert_eq!(service.writes(), Vec::<String>::new());
    assert_eq!(project.run_as(&["apply", "--yes"], &env("local-master-secret-00")).code, 0);
}

#[test]
fn exit_4_when_a_change_is_refused_for_its_credentials() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let project = Project::new(ONE);
        let origin = stand_in(move |request| match request.starts_with("GET ") {
            true => ("200 OK", "application/json", r#"{"segments": []}"#),
            false => (status, "application/json", r#"{"ok": false, "error": "Unauthorized"}"#),
        });
        project.folder.write(
            "pushplan.toml",
            format!("[targets.far]\nbase_url = \"{origin}\"\nledger = \"file:\"\nsettle = \"1s\"\n"),
        );
        let env =
            [("PUSHPLAN_ORIGIN", origin.as_str()), ("PUSHPLAN_APP_KEY", "key"), ("PUSHPLAN_MASTER_SECRET", "secret")];
        let ran = project.run_as(&["apply", "--yes"], &env);
        assert_eq!(ran.code, 4, "{ran}");
        says(&ran.stdout, &["Failed: 1", "The service refuses these credentials.", "was not applied to far."]);
        says(&ran.stdout, &["Check the app key and the master secret, then run: pushplan apply"]);
    }
}

#[test]
fn exit_1_when_nothing_was_done() {
    let manifest =
        "named_users:\n  u: {channels: [{channel_id: 04cc8283-ae38-4177-b206-6f92cf1992cb, device_type: ios}]}\n";
    let project = Project::new(manifest);
    let _service = project.serve();
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stdout, &["Failed: 1", "was not applied to local.", "Nothing done, 1 failed."]);
    says(&ran.stdout, &["If the built-in service has no devices, start it with some: pushplan serve --devices 200\n"]);
    let ran = project.run(&["apply", "--yes", "--format", "json"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stdout, &["\"ending\": \"failed\""]);
}

#[test]
fn exit_8_when_another_apply_was_first() {
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n");
    let service =
        project.faulty("[[fault]]\nkind = \"delay\"\nms = 1500\nmethod = \"GET\"\npath = \"/api/segments\"\n");
    project.good(&["apply", "--yes"]);
    project.edit("tag: b", "tag: c");
    service.forget();
    let child = project.start(&["apply", "--yes"]);
    sleep(Duration::from_millis(700));
    project.good(&["forget", "segments/a"]);
    let ran = ended(child);
    assert_eq!(ran.code, 8, "{ran}");
    says(&ran.stdout, &["Another apply to local has started: this run sent nothing. Plan ", " was not applied"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn exit_5_when_a_saved_plan_does_not_hold() {
    let project = Project::new(ONE);
    let _service = project.serve();
    project.good(&["plan", "--out", "p.plan"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(project.run(&["apply", "p.plan"]).code, 5);
}

#[test]
fn exit_6_when_a_part_was_applied() {
    let manifest = "segments:\n  a: {criteria: {tag: a}}\nnamed_users:\n  u: {channels: [{channel_id: 04cc8283-ae38-4177-b206-6f92cf1992cb, device_type: ios}]}\n";
    let project = Project::new(manifest);
    let service = project.serve();
    let ran = project.run(&["apply", "--yes", "--on-error", "continue"]);
    assert_eq!(ran.code, 6, "{ran}");
    says(&ran.stdout, &["Failed: 1", "named_users/u", "was applied to local in part"]);
    assert_eq!(service.segments(), ["a"]);
}

#[test]
fn exit_7_when_a_guard_says_no() {
    let project = Project::new(ONE);
    let _service = project.serve();
    assert_eq!(project.run(&["apply"]).code, 7);
}

#[test]
fn exit_64_when_the_command_line_makes_no_sense() {
    let project = Project::new(ONE);
    let _service = project.serve();
    for arguments in [
        &["plan", "--outt", "x"][..],
        &["apply", "--concurrency", "0"],
        &["apply", "--on-error", "panic"],
        &["apply", "--yes", "--done", "nonsense"],
        &["apply", "--yes", "--done", "segments/a"],
        &["plan", "--target", "nowhere"],
        &["adopt"],
        &["adopt", "segments/a", "segments/b", "--id", "x"],
        &["adopt", "segments/a", "--all-matching"],
        &["show", "nonsense"],
    ] {
        let ran = project.run(arguments);
        assert_eq!(ran.code, 64, "{arguments:?}: {ran}");
    }
}

#[test]
fn exit_130_and_143_when_an_apply_is_interrupted_and_what_is_on_its_way_is_awaited() {
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let manifest = "\
segments:
  a: {criteria: {tag: a}}
  b: {criteria: {and: [{segment: a}, {tag: b}]}}
  c: {criteria: {and: [{segment: b}, {tag: c}]}}
";
        let project = Project::new(manifest);
        let service = project.faulty("[[fault]]\nkind = \"delay\"\nms = 2000\nmethod = \"POST\"\n");
        let child = project.start(&["apply", "--yes"]);
        // A request is in the log once it is answered, so the next one is already under way.
        let began = Instant::now();
        while service.writes().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(120), "a request leaves");
            sleep(Duration::from_millis(20));
        }
        sleep(Duration::from_millis(500));
        signal(&child, name);
        let ran = ended(child);
        assert_eq!(ran.code, code, "{ran}");
        says(&ran.stderr, &["Stopping after the requests in progress."]);
        says(&ran.stdout, &["Not started: 1", "segments/c", "Done: 2", "segments/b", "Stopped."]);
        assert_eq!(service.segments(), ["a", "b"]);
        assert_eq!(project.changes(&[]), ["+ segments/c"]);
    }
}

#[test]
fn a_second_signal_ends_an_apply_at_once_and_the_next_one_finds_what_it_left() {
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n");
    let service = project.faulty("[[fault]]\nkind = \"delay\"\nms = 2000\nmethod = \"POST\"\n");
    let child = project.start(&["apply", "--yes"]);
    let began = Instant::now();
    let intended = || project.folder.path().join(".pushplan/ledger/local/00000002.json").exists();
    while !intended() {
        assert!(began.elapsed() < Duration::from_secs(120), "an intent is written");
        sleep(Duration::from_millis(20));
    }
    for _ in 0..2 {
        sleep(Duration::from_millis(400));
        signal(&child, "-INT");
    }
    let ran = ended(child);
    assert_eq!(ran.code, 130, "{ran}");
    says(&ran.stderr, &["Ended at once. Requests in progress may have taken effect: `pushplan plan` checks them."]);
    project.good(&["apply", "--yes", "--wait", "1m"]);
    assert_eq!(service.segments(), ["a"]);
}

#[test]
fn the_version_is_told_alike_however_it_is_asked_for() {
    let project = Project::new(ONE);
    let told = concat!("pushplan ", env!("CARGO_PKG_VERSION"), "\n");
    for arguments in [&["--version"][..], &["-V"], &["--color", "never", "--version"]] {
        let ran = project.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, told), "{ran}");
    }
}
