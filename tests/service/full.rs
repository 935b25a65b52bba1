//! A full disk: clients that request a change get an error, no change is incomplete, and existing data can be read.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use reqwest::{Client, Method};
use serde_json::{Value, json};

const KEY: &str = "application-key-000000";
const SECRET: &str = "master-secret-00000000";

struct Service {
    child: Child,
    origin: String,
    client: Client,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Service {
    /// Starts the service; with a limit, none of its files grows beyond this number of blocks of 512 bytes.
    fn start(data: &Path, limit: Option<u32>) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        // The service inherits the ignored signal: it gets an error instead of being killed.
        let limit = limit.map_or_else(String::new, |blocks| format!("trap '' XFSZ; ulimit -f {blocks};"));
        let mut child = Command::new("sh")
            .args(["-c", &format!("{limit} exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_pushplan")])
            .args(["serve", "--port", "0", "--app", &format!("{KEY}:{SECRET}"), "--data"])
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let origin = lines.find_map(|line| {
            let start = line.find("http://127.0.0.1:")?;
            line[start..].split_whitespace().next().map(|url| url.trim_end_matches('/').to_owned())
        });
        let origin = origin.expect("it says where it listens");
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, origin, client: Client::new() }
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> (u16, Value) {
        let mut request = self.client.request(method, format!("{}{path}", self.origin)).basic_auth(KEY, Some(SECRET));
        if let Some(body) = body {
            request = request.json(body);
        }
        let reply = request.send().await.expect("an answer");
        let status = reply.status().as_u16();
        (status, serde_json::from_str(&reply.text().await.expect("a body")).unwrap_or_default())
    }

    async fn names(&self) -> Vec<String> {
        let (status, list) = self.send(Method::GET, "/api/templates?page_size=100", None).await;
        assert_eq!(status, 200, "{list:#}");
        let templates = list["templates"].as_array().expect("a list");
        templates.iter().filter_map(|template| template["name"].as_str()).map(str::to_owned).collect()
    }
}

fn template(name: &str) -> Value {
    json!({ "name": name, "push": { "notification": { "alert": "x".repeat(100_000) } } })
}

/// Writes until the disk is full, and then checks the stored data.
async fn fill_up(data: &Path, limit: Option<u32>) {
    let mut service = Service::start(data, limit);
    let mut kept = Vec::new();
    let refused = loop {
        let name = format!("template {}", kept.len());
        let (status, answer) = service.send(Method::POST, "/api/templates", Some(&template(&name))).await;
        if status != 201 {
            assert_eq!(status, 503, "{answer:#}");
            break answer;
        }
        kept.push(name);
        assert!(kept.len() < 90, "the disk is never full");
    };
    assert!(!kept.is_empty(), "nothing fitted at all: {refused:#}");
    assert_eq!(refused["error_code"], 50301, "{refused:#}");
    assert!(refused["error"].as_str().is_some_and(|error| error.contains("nothing can be kept")), "{refused:#}");
    // A refused change did not happen, and no further one is accepted, however small.
    assert_eq!(service.names().await, kept);
    let small = json!({ "display_name": "a", "criteria": { "tag": "a" } });
    let refused = [
        service.send(Method::POST, "/api/segments", Some(&small)).await,
        service.send(Method::PUT, "/api/tags/a", None).await,
        service.send(Method::POST, "/api/templates", Some(&template("late"))).await,
    ];
    assert!(refused.iter().all(|(status, _)| *status == 503), "{refused:#?}");
    assert_eq!(service.names().await, kept);
    // The user who started it gets an error.
    let stderr = service.child.stderr.take().expect("piped");
    let (said, told) = mpsc::channel();
    thread::spawn(move || BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| said.send(line)));
    let line = told.recv_timeout(Duration::from_secs(120)).expect("a line");
    assert!(line.contains("Storage failed"), "{line:?}");
    let _ = service.child.kill();
    drop(service);

    // With more room, it continues from there.
    let folder = tempfile::tempdir().expect("a folder");
    let moved = folder.path().join("data");
    for suffix in ["", "-wal"] {
        let from = format!("{}{suffix}", data.display());
        if Path::new(&from).exists() {
            std::fs::copy(from, format!("{}{suffix}", moved.display())).expect("a copy");
        }
    }
    let service = Service::start(&moved, None);
    assert_eq!(service.names().await, kept);
    assert_eq!(service.send(Method::POST, "/api/templates", Some(&template("after"))).await.0, 201);
    kept.push("after".to_owned());
    assert_eq!(service.names().await, kept);
}

#[tokio::test]
async fn a_file_that_may_not_grow_stops_changes_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    fill_up(&folder.path().join("data"), Some(4_000)).await;
}

/// A separate file system, which needs privileges.
struct Mounted<'p>(&'p Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[tokio::test]
async fn a_full_disk_stops_changes_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"]).arg(folder.path());
    if !mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        // The test above shows the same without a file system.
        return;
    }
    let _mounted = Mounted(folder.path());
    fill_up(&folder.path().join("data"), None).await;
}
