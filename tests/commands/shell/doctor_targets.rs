//! `pushplan doctor`: services that are gone, hang, refuse, or have a wrong clock.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, Instant};

use pushplan_testing::says;

use super::doctor::{check, json, project};
use super::pushplan;

/// A service that answers every request in the same way, with a date.
fn stand_in(status: &'static str, date: String, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut reader = BufReader::new(stream.try_clone().expect("a connection"));
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\ndate: {date}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n"
            );
            let _ = stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes());
        }
    });
    origin
}

/// The date of a clock that is this number of seconds ahead.
fn date(ahead: i64) -> String {
    let now = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(ahead);
    now.to_zoned(jiff::tz::TimeZone::UTC).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[test]
fn each_target_is_told_of_by_itself_whatever_the_others_do() {
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a port").port();
    // It accepts connections and never answers.
    let hanging = TcpListener::bind("127.0.0.1:0").expect("a port");
    let refused = r#"{"ok": false, "error": "Unauthorized"}"#;
    let good = r#"{"segments": []}"#;
    let origins = [
        ("fine", stand_in("200 OK", date(0), good)),
        ("gone", format!("http://127.0.0.1:{closed}")),
        ("hangs", format!("http://{}", hanging.local_addr().expect("an address"))),
        ("late", stand_in("200 OK", date(3600), good)),
        ("missing", stand_in("401 Unauthorized", date(0), refused)),
        ("refuses", stand_in("401 Unauthorized", date(0), refused)),
        ("slow", stand_in("200 OK", date(-90), good)),
        ("webpage", stand_in("200 OK", date(0), "<html>")),
    ];
    let targets: String = origins
        .iter()
        .map(|(name, origin)| format!("[targets.{name}]\nbase_url = \"{origin}\"\nledger = \"file:\"\n"))
        .collect();
    let folder = project(&targets);
    let known = origins.iter().filter(|(name, _)| *name != "missing");
    let section = |(name, origin): &(&str, String)| {
        format!("[\"{origin}\"]\napp_key = \"key-of-{name}\"\nmaster_secret = \"s3cr3t-of-{name}\"\n")
    };
    let file = folder.write(".config/pushplan/credentials.toml", known.map(section).collect::<String>());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
    let began = Instant::now();
    let ran = pushplan(&folder, &["doctor", "--format", "json", "--within", "2s"], &[]);
    assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
    let document = json(&ran);
    assert!(!ran.stdout.contains("s3cr3t-of") && !ran.stdout.contains("key-of"), "{ran}");
    let told = |target: &str, about: &str, state: &str, words: &[&str]| {
        let check = check(&document, Some(target), about);
        assert_eq!(check["state"], state, "{target}: {check:#}");
        says(&format!("{} {}", check["says"], check["help"]), words);
    };
    told("fine", "service", "fine", &["answers, in ", " ms"]);
    told("fine", "credentials", "fine", &["from .config/pushplan/credentials.toml; application "]);
    told("fine", "clock", "fine", &["have the same time"]);
    told("gone", "service", "trouble", &["cannot be reached", "connection refused", "HTTPS_PROXY"]);
    told("hangs", "service", "trouble", &["no answer within 2s"]);
    told("late", "service", "fine", &[]);
    told("late", "clock", "warning", &["this machine is 1 hour behind", "online plans use the service's clock"]);
    told("missing", "credentials", "trouble", &["not for ", "PUSHPLAN_APP_KEY"]);
    told("missing", "service", "fine", &["answers, and requires credentials"]);
    told("refuses", "service", "trouble", &["refuses these credentials", "check the app key"]);
    told("slow", "clock", "warning", &["ahead of the service's"]);
    told("webpage", "service", "trouble", &["GET /api/segments?limit=1"]);
    told("gone", "ledger", "fine", &["no record yet"]);
    for (target, code) in [("fine", 0), ("gone", 1), ("late", 0), ("missing", 4), ("refuses", 4), ("slow", 0)] {
        let ran = pushplan(&folder, &["doctor", "--target", target], &[]);
        assert_eq!(ran.code, code, "{target}: {ran}");
    }
}
