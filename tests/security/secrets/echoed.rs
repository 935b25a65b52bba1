//! Services that repeat a request in an error: the output does not contain it.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use pushplan_testing::hosts::http::{Answered, Asked, serve};
use pushplan_testing::hosts::{Host, Kind, TOKEN};
use pushplan_testing::{Project, says};
use serde_json::json;

use super::canary::{CANARY, KEY, escaped, is_told};
use super::{ONE, kept, quiet};

/// An empty service that can be told to refuse everything: its origin, and the status of its refusals.
fn service() -> (String, Arc<AtomicU16>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    let refuses = Arc::new(AtomicU16::new(200));
    let status = refuses.clone();
    serve(listener, move |asked| {
        Some(match status.load(Ordering::SeqCst) {
            200 => Answered::new(200, json!({"ok": true, "segments": []})),
            status => repeated(status, asked),
        })
    });
    (origin, refuses)
}

/// A refusal that repeats the request in every encoding.
fn repeated(status: u16, asked: &Asked) -> Answered {
    let sent = asked.header("authorization").expect("credentials");
    let pair = BASE64_STANDARD.decode(sent.strip_prefix("Basic ").expect("a pair")).expect("base64");
    let pair = String::from_utf8(pair).expect("UTF-8");
    assert_eq!(pair, format!("{KEY}:{CANARY}"));
    let hex: String = CANARY.bytes().map(|byte| format!("{byte:02X}")).collect();
    let error = format!("Denied for {sent}");
    let detail = format!("{pair} {} {hex} {}", escaped(CANARY), BASE64_URL_SAFE_NO_PAD.encode(CANARY));
    let body =
        json!({"ok": false, "error": error, "details": {"error": detail, "path": json!({CANARY: pair}).to_string()}});
    Answered::new(status, body).with("x-got", sent.to_owned())
}

/// The words of a text, regardless of line breaks.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_service_that_repeats_credentials_in_an_error_makes_nobody_tell_them() {
    for status in [400, 401, 403] {
        let (origin, refuses) = service();
        let project = Project::new(ONE);
        project.folder.write(
            "pushplan.toml",
            format!(
                "[targets.local]\nbase_url = \"{origin}\"\nledger = \"file:\"\nsettle = \"1s\"\ntest_sends = true\n"
            ),
        );
        let host = Host::start(Kind::GitHub);
        host.open(7);
        let api = format!("{}/api/v3", host.origin);
        let on_pull = [
            ("PUSHPLAN_PERSISTENT_CHECKOUT", "1"),
            ("PUSHPLAN_ORIGIN", origin.as_str()),
            ("PUSHPLAN_APP_KEY", KEY),
            ("PUSHPLAN_MASTER_SECRET", CANARY),
            ("GITHUB_API_URL", &api),
            ("GITHUB_REPOSITORY", "shop/messages"),
            ("GITHUB_TOKEN", TOKEN),
            ("GITHUB_REF", "refs/pull/7/merge"),
            ("GITHUB_SHA", "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00"),
        ];
        let ran = quiet(&project, &["plan", "--out", "saved.plan"], &on_pull);
        assert_eq!(ran.code, 0, "{ran}");
        let ran = quiet(&project, &["ci", "comment", "--plan", "saved.plan"], &on_pull);
        assert_eq!(ran.code, 0, "{ran}");
        let commit = host.merge(7);
        refuses.store(status, Ordering::SeqCst);
        let on_main = [&on_pull[..7], &[("GITHUB_REF", "refs/heads/main"), ("GITHUB_SHA", commit.as_str())]].concat();
        let words = format!("HTTP {status}: Denied for Basic [hidden] [hidden] [hidden]");
        for arguments in [
            &["plan"][..],
            &["apply", "--yes"],
            &["apply", "saved.plan"],
            &["apply", "--approved", "--yes"],
            &["api", "GET", "/api/segments", "--include"],
            &["api", "GET", "/api/segments", "--raw"],
            &["doctor"],
        ] {
            let ran = quiet(&project, arguments, &on_main);
            assert_ne!(ran.code, 0, "{arguments:?}: {ran}");
            says(&unwrapped(&ran.to_string()), &[&words]);
            // The outputs for the next steps of a job.
            project.folder.write("log", ran.stderr.as_str());
            let ran = quiet(&project, &["ci", "outputs", "--failed", "1", "--log", "log"], &[]);
            assert_eq!(ran.code, 0, "{ran}");
        }
        let comment = host.only(7);
        says(&comment, &["**Held, not applied to** `local`", &format!("HTTP {status}: Denied for Basic")]);
        assert!(!is_told(comment.as_bytes()), "{comment}");
        kept(project.folder.path());
    }
}

/// Requests to a failing service are retried, so a single command is enough.
#[test]
fn a_service_with_a_problem_that_repeats_credentials_makes_nobody_tell_them() {
    let (origin, refuses) = service();
    refuses.store(500, Ordering::SeqCst);
    let project = Project::new(ONE);
    project.folder.write("pushplan.toml", format!("[targets.local]\nbase_url = \"{origin}\"\nledger = \"file:\"\n"));
    let env = [("PUSHPLAN_ORIGIN", origin.as_str()), ("PUSHPLAN_APP_KEY", KEY), ("PUSHPLAN_MASTER_SECRET", CANARY)];
    for arguments in [&["plan"][..], &["doctor"]] {
        let ran = quiet(&project, arguments, &env);
        assert_ne!(ran.code, 0, "{ran}");
        says(&unwrapped(&ran.to_string()), &["HTTP 500: Denied for Basic [hidden] [hidden]"]);
    }
}

/// The content of a service is data, whatever it looks like.
#[test]
fn an_answer_that_is_no_error_is_not_altered() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    serve(listener, |_| Some(Answered::new(200, json!({"segments": [], "note": "local-master-secret-00"}))));
    let project = Project::new(ONE);
    project.folder.write("pushplan.toml", format!("[targets.local]\nbase_url = \"{origin}\"\nledger = \"file:\"\n"));
    let env = [
        ("PUSHPLAN_ORIGIN", origin.as_str()),
        ("PUSHPLAN_APP_KEY", "local-application-0000"),
        ("PUSHPLAN_MASTER_SECRET", "local-master-secret-00"),
    ];
    let ran = project.run_as(&["api", "GET", "/api/segments"], &env);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &["\"note\": \"local-master-secret-00\""]);
}
