//! Single requests: reads run directly, writes ask first, and every answer is explained.

use std::process::{Command, Stdio};

use pushplan_testing::{Project, Ran, says, stand_in};
use serde_json::{Value, json};

const BROKEN: &str = "segments:\n  a: {criteria: {tagg: [\n";

/// A project whose only target is a server with scripted answers, and the credentials for it.
fn far(project: &Project, origin: &str, arguments: &[&str]) -> Ran {
    project.folder.write("pushplan.toml", format!("[targets.far]\nbase_url = \"{origin}\"\nledger = \"file:\"\n"));
    let env = [("PUSHPLAN_ORIGIN", origin), ("PUSHPLAN_APP_KEY", "key"), ("PUSHPLAN_MASTER_SECRET", "hunter2-hunter2")];
    let ran = project.run_as(arguments, &env);
    for secret in ["hunter2", "a2V5Omh1bnRlcjI"] {
        assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{ran}");
    }
    ran
}

#[test]
fn a_get_is_free_and_needs_neither_manifests_nor_a_ledger() {
    let project = Project::new(BROKEN);
    let service = project.serve();
    service.segment("VIP", "vip");
    service.forget();
    let ran = project.good(&["api", "GET", "/api/segments"]);
    let body: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(body["segments"][0]["display_name"], "VIP");
    says(&ran.stdout, &["{\n  \"segments\": [\n    {\n"]);
    assert_eq!(service.asked(), ["GET /api/segments"]);
    assert!(!project.folder.path().join(".pushplan/ledger").exists());
}

#[test]
fn raw_is_as_it_came_and_include_shows_the_header() {
    let project = Project::new("");
    let origin = stand_in(|_| ("200 OK\r\nset-cookie: session=hunter2", "application/json", "{\"b\":1.50, \"a\":2}"));
    let ran = far(&project, &origin, &["api", "get", "/api/x", "--raw"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "{\"b\":1.50, \"a\":2}"));
    let ran = far(&project, &origin, &["api", "GET", "/api/x", "-i"]);
    says(
        &ran.stdout,
        &[
            "HTTP 200\n",
            "set-cookie: (not shown)\n",
            "content-type: application/json\n",
            "\n\n{\n  \"b\": 1.50,\n  \"a\": 2\n}\n",
        ],
    );
}

#[test]
fn a_write_without_anybody_to_ask_is_refused_and_leaves_nothing() {
    let project = Project::new(BROKEN);
    let service = project.serve();
    project.folder.write("push.json", json!({"display_name": "B", "criteria": {"tag": "b"}}).to_string());
    service.forget();
    for arguments in [
        &["api", "POST", "/api/segments", "--body", "push.json"][..],
        &["api", "POST", "/api/segments", "--body", "-"],
        &["api", "DELETE", "/api/tags/x"],
    ] {
        let ran = project.folder.run_with(arguments, b"{}");
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["needs a confirmation", "pass --yes", "ledger"]);
    }
    assert_eq!(service.asked(), Vec::<String>::new());
    let ran = project.good(&["api", "POST", "/api/segments", "--body", "push.json", "--yes"]);
    says(&ran.stdout, &["segment_id"]);
    assert_eq!(service.segments(), ["B"]);
    let ran = project.folder.run_with(
        &["api", "POST", "/api/segments", "--body", "-", "--yes"],
        br#"{"display_name": "C", "criteria": {"tag": "c"}}"#,
    );
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(service.segments(), ["B", "C"]);
}

#[test]
fn at_a_terminal_a_write_is_shown_and_asked_about() {
    let project = Project::new("");
    let service = project.serve();
    project.folder.write("b.json", json!({"display_name": "B \u{202e}", "criteria": {"tag": "b"}}).to_string());
    let typed = |answer: &str| {
        let command = format!("{} api POST /api/segments --body b.json", env!("CARGO_BIN_EXE_pushplan"));
        let mut child = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .current_dir(project.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        std::io::Write::write_all(child.stdin.as_mut()?, format!("{answer}\n").as_bytes()).ok()?;
        let output = child.wait_with_output().ok()?;
        Some((output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned()))
    };
    // `script` creates a terminal; without it, there is nothing to test.
    let Some((code, screen)) = typed("y") else { return };
    assert_eq!(code, Some(7), "{screen}");
    says(
        &screen,
        &["/api/segments", "local, the built-in service at http://127.0.0.1", "\"B \\u202E\"", "Send it?", "not sent"],
    );
    assert_eq!(service.segments(), Vec::<String>::new());
    let (code, screen) = typed("yes").expect("it ran before");
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(service.segments().len(), 1);
}

#[test]
fn a_body_that_is_no_json_is_not_sent() {
    let project = Project::new("");
    let service = project.serve();
    service.forget();
    for (body, says_so) in [("{\"a\": ", "is not JSON"), ("\u{1b}[2J", "is not JSON"), ("", "is not JSON")] {
        project.folder.write("b.json", body);
        let ran = project.run(&["api", "POST", "/api/push", "--body", "b.json", "--yes"]);
        assert_eq!(ran.code, 1, "{ran}");
        says(&ran.stderr, &[says_so, "nothing was sent"]);
    }
    let ran = project.run(&["api", "POST", "/api/push", "--body", "missing.json", "--yes"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(service.asked(), Vec::<String>::new());
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    let project = Project::new("");
    let service = project.serve();
    service.forget();
    for arguments in [
        &["api", "GET", "https://evil.example/api/x"][..],
        &["api", "GET", "//evil.example/api/x"],
        &["api", "GET", "/api/../local/clock"],
        &["api", "GET", "/api/%2e%2e/x"],
        &["api", "GET", "/api/a b"],
        &["api", "GET", "/api/a\nb"],
        &["api", "GET", "segments"],
        &["api", "PATCH", "/api/segments"],
        &["api", "GET", "/api/segments", "--body", "x.json"],
        &["api", "POST", "/api/segments", "--paginate", "--yes"],
        &["api", "GET", "/api/segments", "--paginate", "--raw"],
        &["api", "GET", "/api/segments", "--target", "nowhere"],
    ] {
        let ran = project.run(arguments);
        assert_eq!(ran.code, 64, "{arguments:?}: {ran}");
    }
    assert_eq!(service.asked(), Vec::<String>::new());
}

#[test]
fn pages_are_followed_and_joined() {
    let project = Project::new("");
    let service = project.serve();
    for number in 0..5 {
        service.segment(&format!("S{number}"), "x");
    }
    service.forget();
    let ran = project.good(&["api", "GET", "/api/segments?limit=2", "--paginate"]);
    let body: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(body["segments"].as_array().map(Vec::len), Some(5));
    assert_eq!(body.as_object().map(serde_json::Map::len), Some(1), "{body}");
    assert_eq!(service.asked().len(), 3);
}

#[test]
fn pages_elsewhere_and_in_a_circle_are_not_followed() {
    let project = Project::new("");
    for (next, why) in [
        (r#"{"a": [1], "next_page": "https://evil.example/api/x"}"#, "is on another server"),
        (r#"{"a": [1], "next_page": "/api/x"}"#, "form a loop"),
        (r#"{"a": [1], "next_page": 7}"#, "is not a string"),
    ] {
        let origin = stand_in(move |_| ("200 OK", "application/json", next));
        let ran = far(&project, &origin, &["api", "GET", "/api/x", "--paginate"]);
        assert_eq!(ran.code, 1, "{ran}");
        says(&ran.stderr, &[why]);
    }
}

#[test]
fn the_exit_code_and_the_words_follow_the_answer() {
    let project = Project::new("");
    for (status, kind, body, code, words) in [
        ("401 Unauthorized", "text/plain", "no", 4, "refuses these credentials"),
        ("403 Forbidden", "application/json", "{\"message\": \"not you\"}", 4, "not you"),
        (
            "404 Not Found",
            "application/json",
            "{\"error\": \"Segment not found\"}",
            1,
            "found nothing: HTTP 404: Segment not found",
        ),
        (
            "400 Bad Request",
            "application/json",
            "{\"error\": \"bad\", \"details\": {\"path\": \"a.b\"}}",
            1,
            "was refused: HTTP 400: bad at a.b",
        ),
        ("302 Found\r\nlocation: https://evil.example/", "text/html", "<html>", 1, "HTTP 302"),
        ("200 OK", "text/html", "<html>Welcome\u{1b}[2J</html>", 1, "the answer is not JSON"),
    ] {
        let origin = stand_in(move |_| (status, kind, body));
        for method in ["GET", "DELETE"] {
            let ran = far(&project, &origin, &["api", method, "/api/segments/x", "--yes"]);
            assert_eq!(ran.code, code, "{method} {status}: {ran}");
            says(&ran.stderr, &[words]);
            assert!(!ran.stdout.is_empty() && !ran.stdout.contains('\u{1b}'), "{ran}");
        }
    }
}

#[test]
fn a_write_that_fails_is_sent_once_and_said_to_be_open() {
    let project = Project::new("");
    project.folder.write("b.json", r#"{"display_name": "B", "criteria": {"tag": "b"}}"#);
    let write = ["api", "POST", "/api/segments", "--body", "b.json", "--yes"];
    for (fault, words) in [
        ("kind = \"status\"\nstatus = 500", "failed, but may have taken effect: HTTP 500"),
        ("kind = \"close\"\nwhen = \"after\"", "got no answer, and may have taken effect"),
    ] {
        let service = project.faulty(&format!("[[fault]]\nmethod = \"POST\"\n{fault}\n"));
        let ran = project.run(&write);
        assert_eq!(ran.code, 1, "{ran}");
        says(&ran.stderr, &[words, "check the service before you send it again"]);
        assert_eq!(service.writes(), ["POST /api/segments"]);
    }
    // A read is retried until it succeeds.
    let service = project.faulty("[[fault]]\nkind = \"status\"\nstatus = 500\ntimes = 2\n");
    project.good(&["api", "GET", "/api/segments"]);
    assert_eq!(service.asked().len(), 3);
}

#[test]
fn a_project_file_with_an_error_is_not_used() {
    let project =
        Project::new("segments: {a: {criteria: {tag: a}}}\ntemplates: {t: {push: {notification: {alert: Hi}}}}\n");
    let service = project.serve();
    service.put("/local/devices/phone", &json!({"device_type": "ios"}));
    project.good(&["apply", "--yes"]);
    project.folder.write("pushplan.toml", "[targets.local]\napp_key_fingerprnt = \"000000000000\"\n");
    service.forget();
    for arguments in [
        &["api", "GET", "/api/segments"][..],
        &["lookup", "channel", "x"],
        &["report", "devices"],
        &["report", "push", "segments/a"],
        &["send", "templates/t", "--to", "ios_channel:phone", "--yes"],
        &["outcome"],
        &["drift"],
        &["forget", "segments/a"],
        &["resolve", "segments/a", "--absent"],
    ] {
        let ran = project.run(arguments);
        assert_eq!(ran.code, 3, "{ran}");
        says(&ran.stderr, &["app_key_fingerprnt", "pushplan.toml has errors"]);
    }
    assert_eq!(service.asked(), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn a_body_comes_through_a_pipe_that_has_a_name() {
    let project = Project::new("");
    let service = project.serve();
    let pipe = project.folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let child = project.start(&["api", "POST", "/api/segments", "--body", "pipe", "--yes"]);
    let body = json!({"display_name": "VIP", "criteria": {"tag": "vip"}}).to_string();
    let writer = std::thread::spawn(move || std::fs::write(pipe, body));
    let ended = child.wait_with_output().expect("it ends");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    writer.join().expect("no panic").expect("it is written");
    service.segment_id("VIP");
}
