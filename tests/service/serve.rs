//! `pushplan serve`, as the real binary.
#![cfg(unix)]

mod access;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use pushplan_testing::{Folder, not_run};
use serde_json::{Value, json};

/// A service that runs until it is dropped.
struct Served {
    child: Child,
    address: String,
    /// Its whole output when it was ready.
    screen: String,
}

impl Served {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        Self::start_in(folder.path(), arguments)
    }

    fn start_in(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pushplan"))
            .args(["serve", "--port", "0"])
            .args(arguments)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut screen = String::new();
        while let Some(Ok(line)) = lines.next() {
            screen.push_str(&line);
            screen.push('\n');
            if line.contains("Ctrl-C") {
                break;
            }
        }
        let first = screen.lines().next().unwrap_or_default();
        let address = first.rsplit("http://").next().unwrap_or_default().to_owned();
        assert!(address.contains(':'), "{screen}");
        Self { child, address, screen }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// Waits for the end, and returns the exit code.
    fn end(mut self) -> Option<i32> {
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(120) {
            if let Some(status) = self.child.try_wait().expect("a status") {
                return status.code();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end");
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        stream
    }

    fn get(&self, path: &str, app: Option<(&str, &str)>) -> (u16, Value) {
        self.request("GET", path, app, "")
    }

    fn request(&self, method: &str, path: &str, app: Option<(&str, &str)>, body: &str) -> (u16, Value) {
        let mut stream = self.connect();
        stream.write_all(head(method, path, app, body.len()).as_bytes()).expect("sent");
        stream.write_all(body.as_bytes()).expect("sent");
        answer(stream)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn head(method: &str, path: &str, app: Option<(&str, &str)>, length: usize) -> String {
    let credentials = app.map_or(String::new(), |(key, secret)| {
        format!("Authorization: Basic {}\r\n", BASE64_STANDARD.encode(format!("{key}:{secret}")))
    });
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{credentials}Content-Length: {length}\r\n\r\n"
    )
}

fn answer(mut stream: TcpStream) -> (u16, Value) {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{text}"));
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

/// The values of `export` lines on the screen.
fn exported<'s>(screen: &'s str, name: &str) -> Option<&'s str> {
    screen.lines().find_map(|line| line.trim().strip_prefix("export ")?.strip_prefix(name)?.strip_prefix('='))
}

#[test]
fn the_screen_tells_all_that_a_newcomer_needs() {
    let served = Served::start(&Folder::new(), &["--devices", "25", "--clock", "2026-11-27T08:59Z"]);
    let screen = &served.screen;
    assert!(screen.lines().count() <= 20, "one screen:\n{screen}");
    assert_eq!(exported(screen, "PUSHPLAN_ORIGIN"), Some(format!("http://{}", served.address).as_str()));
    let key = exported(screen, "PUSHPLAN_APP_KEY").expect("a key");
    let secret = exported(screen, "PUSHPLAN_MASTER_SECRET").expect("a secret");
    assert_eq!(served.get("/api/segments", Some((key, secret))).0, 200);
    assert_eq!(served.get("/api/segments", Some((key, "wrong"))).0, 401);
    for words in ["in memory", "25 (samples, seed 1)", "stands at 2026-11-27T08:59:00Z", "extended", "Ctrl-C"] {
        assert!(screen.contains(words), "`{words}` is missing:\n{screen}");
    }
    assert_eq!(served.get("/local/devices", None).1["count"], 25);
    assert_eq!(served.get("/local/clock", None).1["now"], "2026-11-27T08:59:00Z");
}

#[test]
fn the_first_ctrl_c_finishes_requests_in_flight_and_is_success() {
    let app = ("key", "own-secret");
    let served = Served::start(&Folder::new(), &["--app", "key:own-secret"]);
    let segment = json!({"display_name": "x", "criteria": {"tag": "x"}}).to_string();
    let mut stream = served.connect();
    stream.write_all(head("POST", "/api/segments", Some(app), segment.len()).as_bytes()).expect("sent");
    stream.write_all(&segment.as_bytes()[..10]).expect("sent");
    thread::sleep(Duration::from_millis(200));
    served.signal("-INT");
    thread::sleep(Duration::from_millis(200));
    assert!(TcpStream::connect(&served.address).is_err(), "no more connections are taken");
    stream.write_all(&segment.as_bytes()[10..]).expect("sent");
    assert_eq!(answer(stream).0, 201);
    assert_eq!(served.end(), Some(0));
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    let served = Served::start(&Folder::new(), &["--app", "key:own-secret"]);
    let mut stream = served.connect();
    stream.write_all(head("POST", "/api/segments", Some(("key", "own-secret")), 100).as_bytes()).expect("sent");
    thread::sleep(Duration::from_millis(200));
    served.signal("-INT");
    thread::sleep(Duration::from_millis(200));
    let since = Instant::now();
    served.signal("-INT");
    assert_eq!(served.end(), Some(130));
    assert!(since.elapsed() < Duration::from_secs(8), "it does not wait 10 seconds for the rest of a request");
}

#[test]
fn sigterm_stops_it_as_ctrl_c_does() {
    let served = Served::start(&Folder::new(), &[]);
    served.signal("-TERM");
    assert_eq!(served.end(), Some(0));
}

#[test]
fn a_port_in_use_is_named_with_the_flag() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let ran = Folder::new().run(&["serve", "--port", &port]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains(&format!("port {port} is in use")), "{}", ran.stderr);
    assert!(ran.stderr.contains("--listen 127.0.0.1:0"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}

#[test]
fn other_machines_are_not_let_in_by_a_secret_that_everybody_knows() {
    let folder = Folder::new();
    for arguments in [
        &["serve", "--port", "0", "--listen", "0.0.0.0"][..],
        &["serve", "--port", "0", "--listen", "::", "--app", "key:local-master-secret-00"],
    ] {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, 64, "{ran:?}");
        assert!(ran.stderr.contains("--listen") && ran.stderr.contains("--app"), "{}", ran.stderr);
    }
    let served = Served::start(&folder, &["--listen", "0.0.0.0", "--app", "key:own-secret"]);
    assert!(served.screen.contains("other machines too"), "{}", served.screen);
    assert_eq!(served.get("/api/segments", Some(("key", "own-secret"))).0, 200);
}

#[test]
fn a_secret_of_ones_own_is_not_printed_and_not_logged() {
    let served = Served::start(&Folder::new(), &["--app", "one:first-secret", "--app", "two:second-secret"]);
    assert!(!served.screen.contains("-secret"), "{}", served.screen);
    assert!(served.screen.contains("one, two"), "{}", served.screen);
    served.get("/api/segments?a=second-secret", Some(("two", "second-secret")));
    let (_, log) = served.get("/local/requests", None);
    assert_eq!(log["count"], 1);
    assert!(!log.to_string().contains("-secret"), "{log}");
}

#[test]
fn wrong_arguments_say_what_is_wrong() {
    let folder = Folder::new();
    let file = folder.write("devices.json", "[{\"id\": \"a\", \"device_type\": \"phone\"}]");
    let text = folder.write("text.txt", "not a database, though long enough to have the header of one ".repeat(20));
    let text = text.to_str().expect("UTF-8");
    let file = file.to_str().expect("UTF-8");
    for (arguments, code, says) in [
        (&["--app", "key"][..], 64, "KEY:SECRET"),
        (&["--app", "k:a", "--app", "k:b"], 64, "k is given twice"),
        (&["--clock", "noon"], 64, "--clock"),
        (&["--clock", "2026-11-27T08:59"], 64, "such as 2026-11-27T08:59Z"),
        (&["--vendor", "two words"], 1, "`two words` is not the name of a vendor"),
        (&["--data", "no-such-folder/kept.db"], 1, "error: no-such-folder/kept.db cannot be opened: a file is needed"),
        (&["--data", text], 1, "is no file of this service"),
        (&["--devices", "no-such-file.json"], 1, "no-such-file.json cannot be read"),
        (&["--devices", "99999999999"], 64, "up to 10000000 samples"),
        (&["--devices", file], 1, ":1:29: `phone` is not a device type"),
        (&["--listen", "noon"], 64, "such as 127.0.0.1:8420"),
        (&["--memory", "--data", "kept.db"], 64, "cannot be used with"),
        (&["--listen", "192.0.2.1", "--app", "k:own"], 1, "192.0.2.1 is not an address of this machine"),
    ] {
        let ran = folder.run(&[&["serve", "--port", "0"], arguments].concat());
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
}

#[test]
fn the_same_seed_gives_the_same_devices_and_a_file_of_them_can_be_loaded() {
    let folder = Folder::new();
    let ids = |page: &Value| -> Vec<String> {
        page["devices"].as_array().expect("devices").iter().map(|device| device["id"].to_string()).collect()
    };
    let first = Served::start(&folder, &["--devices", "40", "--seed", "5"]).get("/local/devices", None).1;
    let again = Served::start(&folder, &["--devices", "40", "--seed", "5"]).get("/local/devices", None).1;
    let other = Served::start(&folder, &["--devices", "40", "--seed", "6"]).get("/local/devices", None).1;
    assert_eq!(first, again);
    assert!(ids(&first).iter().all(|id| !ids(&other).contains(id)));
    folder.write("devices.json", first["devices"].to_string());
    let loaded = Served::start(&folder, &["--devices", "devices.json"]);
    assert!(loaded.screen.contains("40 (from devices.json)"), "{}", loaded.screen);
    assert_eq!(loaded.get("/local/devices", None).1, first);
}

#[test]
fn several_applications_have_their_devices_told_by_key_where_they_differ() {
    let folder = Folder::new();
    let two = ["--app", "one:a-secret", "--app", "two:b-secret", "--data", "kept.db"];
    let served = Served::start(&folder, &two);
    assert!(served.screen.contains("Devices     none; --devices 200 creates some\n"), "{}", served.screen);
    let taken = folder.run(&["serve", "--port", "0", "--data", "kept.db"]);
    assert!(taken.stderr.contains("kept.db is in use by another service"), "{}", taken.stderr);
    let body = json!({"device_type": "ios"}).to_string();
    assert_eq!(served.request("PUT", "/local/devices/mine?app=two", None, &body).0, 201);
    served.signal("-INT");
    assert_eq!(served.end(), Some(0));
    let served = Served::start(&folder, &two);
    assert!(served.screen.contains("one: none; --devices 200 creates some · two: 1, unchanged"), "{}", served.screen);
}

#[test]
fn devices_that_were_kept_are_not_added_to() {
    let folder = Folder::new();
    let served = Served::start(&folder, &["--data", "kept.db", "--devices", "10"]);
    let body = json!({"device_type": "ios"}).to_string();
    assert_eq!(served.request("PUT", "/local/devices/mine", None, &body).0, 201);
    served.signal("-INT");
    assert_eq!(served.end(), Some(0));
    let served = Served::start(&folder, &["--data", "kept.db", "--devices", "50"]);
    assert!(served.screen.contains("11, unchanged"), "{}", served.screen);
    assert_eq!(served.get("/local/devices", None).1["count"], 11);
}

#[test]
fn the_screen_shows_webhooks_and_faults_where_they_are_given() {
    let folder = Folder::new();
    folder.write("faults.toml", folder.run(&["explain", "faults.toml"]).stdout);
    folder.write("service.toml", folder.run(&["explain", "service.toml"]).stdout);
    let files = ["--faults", "faults.toml", "--config", "service.toml"];
    let served = Served::start(&folder, &[&files[..], &["--webhook", "http://127.0.0.1:9000/own"]].concat());
    let screen = &served.screen;
    assert!(screen.lines().count() <= 20, "one screen:\n{screen}");
    for words in [
        "  Webhooks    http://127.0.0.1:9000/own, http://127.0.0.1:9000/events and http://127.0.0.1:9000/orders\n",
        "  Faults      status on POST /api/segments*, rate-limit on /api/push, refuse on /api/templates and 10 more; seed 7\n",
    ] {
        assert!(screen.contains(words), "`{words}` is missing:\n{screen}");
    }
    folder.write("faults.toml", "");
    folder.write("service.toml", "");
    let served = Served::start(&folder, &files);
    for words in ["none: faults.toml has no [[fault]]\n", "none: service.toml has no [[webhook]]\n"] {
        assert!(served.screen.contains(words), "`{words}` is missing:\n{}", served.screen);
    }
    let served = Served::start(&folder, &[]);
    assert!(!served.screen.contains("Webhooks") && !served.screen.contains("Faults"), "{}", served.screen);
}

#[test]
fn a_virtual_clock_is_kept_and_never_goes_back() {
    let folder = Folder::new();
    let data = ["--data", "kept.db"];
    let served = Served::start(&folder, &[&data[..], &["--clock", "2035-11-23T08:59Z"]].concat());
    assert_eq!(served.request("POST", "/local/clock", None, r#"{"by": "2h"}"#).0, 200);
    served.signal("-INT");
    assert_eq!(served.end(), Some(0));

    let served = Served::start(&folder, &data);
    let words = "Clock       stands at 2035-11-23T10:59:00Z, as it was kept, until POST /local/clock moves it\n";
    assert!(served.screen.contains(words), "{}", served.screen);
    assert_eq!(served.get("/local/clock", None).1["now"], "2035-11-23T10:59:00Z");
    served.signal("-INT");
    assert_eq!(served.end(), Some(0));

    let back = folder.run(&["serve", "--port", "0", "--data", "kept.db", "--clock", "2035-11-23T08:59Z"]);
    assert_eq!(back.code, 1, "{back:?}");
    for words in ["stands at 2035-11-23T10:59:00Z", "never goes back", "leave --clock out"] {
        assert!(back.stderr.contains(words), "{}", back.stderr);
    }
    let served = Served::start(&folder, &[&data[..], &["--clock", "2035-11-24T00:00Z"]].concat());
    assert!(served.screen.contains("stands at 2035-11-24T00:00:00Z until"), "{}", served.screen);
}

#[test]
fn a_file_that_holds_other_applications_says_so() {
    let folder = Folder::new();
    let served = Served::start(&folder, &["--data", "kept.db", "--app", "shop:a-secret", "--devices", "3"]);
    assert!(served.screen.contains("Storage     kept.db\n"), "{}", served.screen);
    served.signal("-INT");
    assert_eq!(served.end(), Some(0));
    let served = Served::start(&folder, &["--data", "kept.db"]);
    let words = "kept.db; it also has data of shop: --app serves it\n";
    assert!(served.screen.contains(words), "{}", served.screen);
    served.signal("-INT");
    assert_eq!(served.end(), Some(0));
    let served = Served::start(&folder, &["--data", "kept.db", "--app", "shop:a-secret"]);
    assert!(served.screen.contains("3, unchanged"), "{}", served.screen);
}

/// Whether an answer matches an expected text, in which `...` stands for anything.
fn is_like(answer: &str, shown: &str) -> bool {
    let mut parts: Vec<&str> = shown.split("...").collect();
    let last = parts.pop().unwrap_or_default();
    let Some(mut rest) = answer.strip_prefix(parts.first().copied().unwrap_or(last)) else { return false };
    if parts.is_empty() {
        return rest.is_empty();
    }
    for part in &parts[1..] {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The book's tour of the service, in a shell: a line `#> ` shows the answer to the command before it.
#[test]
fn the_walk_of_the_book_answers_what_it_shows() {
    let page = include_str!("../../docs/src/how-to/built-in-service.md");
    let blocks: Vec<&str> = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
    let arguments: Vec<&str> = blocks[0].strip_prefix("pushplan serve ").expect("a command").split(' ').collect();
    if Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_err() {
        return not_run("curl, which the book uses", "install it");
    }
    // After each expected answer, a line is added that marks its end.
    let shown: Vec<&str> = blocks[1].lines().filter_map(|line| line.strip_prefix("#> ")).collect();
    assert!(shown.len() > 5, "{shown:?}");
    let mut script = String::new();
    for line in blocks[1].lines() {
        match line.strip_prefix("#> ") {
            Some(_) => script.push_str("printf '\\n<end>\\n'"),
            None => script.push_str(line),
        }
        script.push('\n');
    }
    let folder = Folder::project("segments: {}\n");
    let served = Served::start(&folder, &arguments);
    // The lines that the screen says to copy.
    let copied: String =
        served.screen.lines().skip(2).take_while(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect();
    let mut shell = Command::new("sh");
    shell.args(["-euc", &format!("{copied}{script}")]).env("NO_PROXY", "*");
    let ran = shell.output().expect("a shell");
    let answers = String::from_utf8(ran.stdout).expect("UTF-8");
    assert!(ran.status.success(), "{answers}\n{}", String::from_utf8_lossy(&ran.stderr));
    let answers: Vec<&str> = answers.split("\n<end>\n").collect();
    assert_eq!(answers.len(), shown.len() + 1, "{answers:?}");
    for (shown, answer) in shown.into_iter().zip(answers) {
        assert!(is_like(answer, shown), "the book shows {shown}\nand it answers {answer}");
    }
}
