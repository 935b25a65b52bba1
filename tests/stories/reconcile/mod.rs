//! `pushplan reconcile`: its rounds, observed from outside.

mod hooks;
mod rounds;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use pushplan_testing::{Project, Service, signal};
use serde_json::{Value, json};

const ONE: &str = "segments:\n  lapsed: {criteria: {tag: lapsed}}\n";

/// The maximal wait for an event, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `reconcile`, with its output as lines of JSON.
struct Loop {
    child: Child,
    said: Arc<Mutex<Vec<Value>>>,
    reader: Option<JoinHandle<()>>,
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Loop {
    fn start(project: &Project, arguments: &[&str]) -> Self {
        Self::start_as(project, arguments, &[])
    }

    fn start_as(project: &Project, arguments: &[&str], env: &[(&str, &str)]) -> Self {
        let usual = ["reconcile", "--every", "1s", "--listen", "127.0.0.1:0", "--format", "jsonl", "--seed", "1"];
        let mut child = project.start_as(&[&usual, arguments].concat(), env);
        let said = Arc::new(Mutex::new(Vec::new()));
        let (lines, into) = (BufReader::new(child.stdout.take().expect("piped")).lines(), said.clone());
        let reader = thread::spawn(move || {
            for line in lines {
                let line = line.expect("a line");
                into.lock().expect("lines").push(serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}")));
            }
        });
        Self { child, said, reader: Some(reader) }
    }

    fn said(&self) -> Vec<Value> {
        self.said.lock().expect("lines").clone()
    }

    /// All events of one kind so far.
    fn events(&self, event: &str) -> Vec<Value> {
        self.said().into_iter().filter(|line| line["event"] == event).collect()
    }

    /// Waits until a condition is true.
    #[track_caller]
    fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            assert!(began.elapsed() < PATIENCE, "{what} does not come: {:#?}", self.said());
            sleep(Duration::from_millis(30));
        }
    }

    /// Waits for a round with an outcome that begins after now.
    #[track_caller]
    fn round(&self, outcome: &str) -> Value {
        let before = self.events("round").len();
        // The next round may have begun already.
        let found = |all: Vec<Value>| all.into_iter().skip(before + 1).find(|round| round["outcome"] == outcome);
        self.until(outcome, |one| found(one.events("round")).is_some());
        found(self.events("round")).expect("a round")
    }

    /// Waits until this number of rounds had an outcome.
    #[track_caller]
    fn times(&self, outcome: &str, times: usize) {
        let count = |all: Vec<Value>| all.iter().filter(|round| round["outcome"] == outcome).count();
        self.until(outcome, |one| count(one.events("round")) >= times);
    }

    /// The response of `/healthz` or `/metrics`.
    fn get(&self, path: &str) -> (u16, String) {
        self.until("an address", |one| !one.events("listening").is_empty());
        let origin = self.events("listening")[0]["origin"].as_str().expect("an origin").to_owned();
        let mut stream = TcpStream::connect(origin.trim_start_matches("http://")).expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("asked");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        if path == "/metrics" {
            assert!(head.contains("content-type: text/plain; version=0.0.4"), "{head}");
        }
        (status, body.to_owned())
    }

    /// The samples of `/metrics`, each under its name and labels.
    fn metrics(&self) -> BTreeMap<String, f64> {
        let (status, text) = self.get("/metrics");
        assert_eq!(status, 200);
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        let sample = |line: &str| {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            let bare = name.split('{').next().expect("a name");
            let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| bare.strip_suffix(end)).unwrap_or(bare);
            assert!(text.contains(&format!("# TYPE {family} ")), "{family} has a type in:\n{text}");
            (name.to_owned(), value.parse().expect("a number"))
        };
        samples.map(sample).collect()
    }

    fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Stops it; returns the exit code and its last events.
    fn stop(self) -> (i32, Vec<Value>) {
        self.signal("-TERM");
        self.ended()
    }

    /// Stops it; returns the exit code, and its standard error.
    fn stop_with_notes(mut self) -> (i32, String) {
        let mut notes = self.child.stderr.take().expect("piped");
        let (code, _) = self.stop();
        let mut text = String::new();
        notes.read_to_string(&mut text).expect("UTF-8");
        (code, text)
    }

    fn ended(mut self) -> (i32, Vec<Value>) {
        let status = self.child.wait().expect("it ends");
        self.reader.take().expect("a reader").join().expect("all is read");
        let said = self.said.lock().expect("lines").clone();
        (status.code().expect("no signal"), said)
    }
}

/// A server that receives webhooks.
struct Receiver {
    url: String,
    posts: Arc<Mutex<Vec<Value>>>,
}

impl Receiver {
    /// Answers the posts with these statuses, one after the other, and then with 200.
    fn new(statuses: &[&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/hook/hunter2", listener.local_addr().expect("an address"));
        let posts = Arc::new(Mutex::new(Vec::new()));
        let statuses = statuses.to_vec();
        let into = posts.clone();
        thread::spawn(move || {
            let mut statuses = statuses.into_iter();
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let mut reader = BufReader::new(stream.try_clone().expect("a connection"));
                let (mut line, mut length) = (String::new(), 0);
                while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    if let Some(said) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = said.trim().parse().unwrap_or(0);
                    }
                    line.clear();
                }
                let mut body = vec![0; length];
                let _ = reader.read_exact(&mut body);
                into.lock().expect("posts").push(serde_json::from_slice(&body).unwrap_or(Value::Null));
                let status = statuses.next().unwrap_or("200 OK");
                let head = format!("HTTP/1.1 {status}\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n");
                let _ = stream.write_all(format!("{head}connection: close\r\n\r\n").as_bytes());
            }
        });
        Self { url, posts }
    }

    fn posts(&self) -> Vec<Value> {
        self.posts.lock().expect("posts").clone()
    }
}

/// An applied project, and its service.
fn applied(manifest: &str, settings: &str) -> (Project, Service) {
    let project = Project::with(manifest, settings);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    service.forget();
    (project, service)
}

/// Changes the segment on the service.
fn edit(service: &Service, tag: &str) {
    let id = service.segment_id("lapsed");
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": "lapsed", "criteria": {"tag": tag}}));
}

fn tag(service: &Service) -> String {
    let id = service.segment_id("lapsed");
    service.get(&format!("/api/segments/{id}"))["criteria"]["tag"].as_str().expect("a tag").to_owned()
}
