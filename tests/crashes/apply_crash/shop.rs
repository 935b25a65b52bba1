//! A project with a service in a separate process, and what is applied to it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use pushplan_testing::copy;

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::Value;
use tempfile::TempDir;

use super::points::{Point, Tampering};
use super::scenarios::Scenario;

/// The application of its service.
const APP: &str = "local-application-key0:local-master-secret-00";

/// The project after its first apply and an edit, with its service stopped: the start of every run.
pub struct Seed {
    folder: TempDir,
    scenario: &'static Scenario,
}

pub struct Shop {
    folder: TempDir,
    scenario: &'static Scenario,
    service: Child,
    origin: String,
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.service.kill();
        let _ = self.service.wait();
    }
}

impl Shop {
    pub fn seed(scenario: &'static Scenario) -> Seed {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("pushplan.toml"), scenario.project).expect("a file");
        fs::write(folder.path().join("all.yaml"), scenario.before).expect("a file");
        let shop = Shop::start(folder, scenario);
        let output = shop.run(&["apply", "--yes"]);
        assert!(output.status.success(), "{output:?}");
        fs::write(shop.folder.path().join("all.yaml"), scenario.after).expect("a file");
        let seed = Seed { folder: tempfile::tempdir().expect("a folder"), scenario };
        drop_service(shop, seed.folder.path());
        seed
    }

    fn start(folder: TempDir, scenario: &'static Scenario) -> Self {
        let mut service = binary(folder.path())
            .args(["serve", "--port", "0", "--app", APP, "--api", scenario.api, "--data", ".service.db"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(service.stdout.take().expect("piped")).lines();
        let first = lines.next().expect("a line").expect("a line");
        let origin = first.strip_prefix("Ready on ").unwrap_or_else(|| panic!("{first}")).to_owned();
        let ready = lines.by_ref().map_while(Result::ok).find(|line| line.contains("Ctrl-C"));
        assert!(ready.is_some(), "it says that it runs");
        // The service would end if its output was no longer read.
        std::thread::spawn(move || lines.count());
        Self { folder, scenario, service, origin }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        binary(self.folder.path()).args(arguments).output().expect("the binary runs")
    }

    /// Runs an apply under strace. A run that hangs is killed like a crash, so that the test does not hang.
    fn strace(&self, options: &[&str]) -> Output {
        let strace = Command::new("strace")
            .args(["-f", "-qq"])
            .args(options)
            .arg(env!("CARGO_BIN_EXE_pushplan"))
            .args(["apply", "--yes", "--allow-deletes", "9", "--format", "json"])
            .current_dir(self.folder.path())
            .env("TOKIO_WORKER_THREADS", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("strace runs");
        let (ended, over) = mpsc::channel::<()>();
        let id = strace.id();
        let watch = std::thread::spawn(move || {
            if over.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout) {
                let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
                for child in children.split_whitespace() {
                    let _ = Command::new("kill").args(["-9", child]).status();
                }
            }
        });
        let output = strace.wait_with_output().expect("strace ends");
        drop(ended);
        watch.join().expect("the watch ends");
        output
    }

    /// Applies, with a fault at a point.
    pub fn apply_under(&self, point: &Point, tampering: Tampering) -> Output {
        let trace = format!("trace={}", point.call);
        self.strace(&["-o", "/dev/null", "-e", &trace, "-e", &point.injection(tampering)])
    }

    /// Applies undisturbed, and returns the trace of system calls.
    pub fn traced(&self) -> String {
        let file = self.folder.path().join(".trace");
        let output = self.strace(&["-o", file.to_str().expect("a path")]);
        assert!(output.status.success(), "{output:?}");
        self.converges("undisturbed");
        fs::read_to_string(file).expect("a trace")
    }

    fn get(&self, path: &str) -> Value {
        let address = self.origin.trim_start_matches("http://");
        let credentials = BASE64_STANDARD.encode(APP);
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Basic {credentials}\r\n\
             Accept: application/vnd.messaging+json; version=3\r\nConnection: close\r\n\r\n"
        );
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{path}: {error}: {head}"))
    }

    fn requests(&self) -> Vec<(String, String)> {
        let log = self.get("/local/requests");
        let all = log["requests"].as_array().expect("a list").iter();
        let done = all.filter(|one| one["processed"] == true && one["method"] != "GET");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        done.map(|one| (text(&one["method"]), text(&one["path"]))).collect()
    }

    /// The number of writing requests that the service has carried out.
    pub fn sent(&self) -> usize {
        self.requests().len()
    }

    /// Checks that the ledger can be read, at most two runs leave nothing to do, and nothing was created twice.
    pub fn converges(&self, what: &str) {
        let plan = || {
            let output = self.run(&["plan", "--detailed-exitcode"]);
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 2)), "{what}: the ledger can be read: {output:?}");
            code == Some(0)
        };
        let mut runs = 0;
        while !plan() {
            assert!(runs < 2, "{what}: there is still something to do: {}", self.shown());
            let output = self.run(&["apply", "--yes", "--allow-deletes", "9", "--wait", "1m"]);
            assert!(output.status.success(), "{what}: {output:?}");
            runs += 1;
        }
        let mut made: BTreeMap<String, usize> = BTreeMap::new();
        for (_, path) in self.requests().into_iter().filter(|(method, _)| method == "POST") {
            *made.entry(path).or_default() += 1;
        }
        for &(path, count) in self.scenario.made {
            assert_eq!(made.get(path).copied().unwrap_or(0), count, "{what}: made at {path}: {made:?}");
        }
        for &(path, list, name, expected) in self.scenario.there {
            let listed = self.get(path);
            let mut names: Vec<&str> = listed[list]
                .as_array()
                .expect("a list")
                .iter()
                .map(|one| one[name].as_str().expect("a name"))
                .collect();
            names.sort_unstable();
            assert_eq!(names, expected, "{what}: at {path}");
        }
        let history = self.run(&["history"]);
        assert!(history.status.success(), "{what}: {history:?}");
    }

    fn shown(&self) -> String {
        let output = self.run(&["plan"]);
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    }
}

impl Seed {
    /// A separate copy, with the service running.
    pub fn open(&self) -> Shop {
        let folder = tempfile::tempdir().expect("a folder");
        copy(self.folder.path(), folder.path());
        Shop::start(folder, self.scenario)
    }
}

fn binary(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pushplan"));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// Stops a service like a user, and copies its files.
fn drop_service(mut shop: Shop, to: &Path) {
    let ended = Command::new("kill").arg(shop.service.id().to_string()).status().expect("kill runs");
    assert!(ended.success());
    shop.service.wait().expect("it ends");
    copy(shop.folder.path(), to);
}
