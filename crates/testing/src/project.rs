//! A project in a folder of its own, and the service that runs for it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{Folder, Ran};

/// The application of a service that a test says nothing else of.
const KEY: &str = "local-application-key0";
const SECRET: &str = "local-master-secret-00";

/// What a target says where a test says nothing else: lost answers are not waited for as long as in earnest.
const QUICK: &str = "settle = \"1s\"\nsend_within = \"2s\"\n";

#[derive(Debug)]
pub struct Project {
    pub folder: Folder,
}

impl Project {
    /// One manifest, and the target `local` with all that the service offers.
    pub fn new(manifest: &str) -> Self {
        Self::with(manifest, "")
    }

    /// Creates a project with one manifest and the target `local`, which gets these further settings.
    pub fn with(manifest: &str, settings: &str) -> Self {
        let folder = Folder::project(manifest);
        folder.write("pushplan.toml", format!("[targets.local]\n{QUICK}{settings}"));
        Self { folder }
    }

    /// The contract's verbs alone.
    pub fn documented(manifest: &str) -> Self {
        Self::with(manifest, "api = \"documented\"\n")
    }

    pub fn write(&self, manifest: &str) {
        self.folder.write("messages.yaml", manifest);
    }

    /// Changes one place of the manifest.
    pub fn edit(&self, from: &str, to: &str) {
        let text = self.folder.read("messages.yaml");
        assert_eq!(text.matches(from).count(), 1, "{from} stands in {text} once");
        self.write(&text.replace(from, to));
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.folder.run(arguments)
    }

    /// Runs the binary with these arguments and environment variables in the folder of the project.
    pub fn run_as(&self, arguments: &[&str], env: &[(&str, &str)]) -> Ran {
        let output = binary()
            .args(arguments)
            .current_dir(self.folder.path())
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("the binary runs");
        Ran {
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
            code: output.status.code().expect("no signal"),
        }
    }

    /// Runs a command that has to exit with 0.
    #[track_caller]
    pub fn good(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran}");
        ran
    }

    /// Runs `plan` with these arguments. It has to show a plan that `apply` refuses, and to exit with 7.
    #[track_caller]
    pub fn refused(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(&[&["plan"], arguments].concat());
        assert_eq!(ran.code, 7, "plan {arguments:?}: {ran}");
        ran
    }

    /// Runs a command that does all that it can, and leaves the rest to people.
    pub fn manual(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 6, "{arguments:?}: {ran}");
        says(&ran.stderr, &["left, so the exit code is 6. To accept that, pass --allow-manual."]);
        ran
    }

    /// The lines of a plan that stand at the margin and name a change: `+ segments/a`.
    #[track_caller]
    pub fn changes(&self, arguments: &[&str]) -> Vec<String> {
        changes(&self.good(&[&["plan"], arguments].concat()))
    }

    /// The binary, started and not awaited.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.start_as(arguments, &[])
    }

    /// Starts the binary with these arguments and environment variables, and does not wait for its end.
    pub fn start_as(&self, arguments: &[&str], env: &[(&str, &str)]) -> Child {
        binary()
            .args(arguments)
            .current_dir(self.folder.path())
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts")
    }

    pub fn serve(&self) -> Service {
        self.serve_with(&[])
    }

    /// A service in which something goes wrong on purpose.
    pub fn faulty(&self, rules: &str) -> Service {
        let path = self.folder.write("faults.toml", rules);
        self.serve_with(&["--faults", path.to_str().expect("UTF-8")])
    }

    pub fn serve_with(&self, arguments: &[&str]) -> Service {
        let app = format!("{KEY}:{SECRET}");
        // A target that is named has its own application.
        let names_one = arguments.contains(&"--app") || arguments.contains(&"--target");
        let given = if names_one { &[][..] } else { &["--app", &*app] };
        let mut child = self.start(&[&["serve", "--port", "0"], given, arguments].concat());
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut screen = String::new();
        for line in lines {
            screen.push_str(&line.expect("a line"));
            screen.push('\n');
            if screen.contains("Ctrl-C") {
                break;
            }
        }
        let origin = screen.lines().next().and_then(|line| line.strip_prefix("Ready on "));
        let origin = origin.unwrap_or_else(|| panic!("{screen}")).to_owned();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
        let runtime = Runtime::new().expect("a runtime");
        Service { child: Some(child), origin, client, runtime }
    }
}

/// The binary, which does not know whether a CI system runs this test.
fn binary() -> Command {
    let mut command = Command::new(crate::binary());
    ["CI", "GITHUB_ACTIONS", "GITLAB_CI"].into_iter().for_each(|name| {
        command.env_remove(name);
    });
    command
}

/// The lines of a plan that stand at the margin and name a change, without where it is declared.
pub fn changes(ran: &Ran) -> Vec<String> {
    let is_sign = |word: &str| word.chars().count() == 1;
    let is_change = |line: &&str| {
        let mut words = line.split(' ');
        words.next().is_some_and(is_sign) && words.next().is_some_and(|it| it.contains('/'))
    };
    let short = |line: &str| line.split("  ").next().unwrap_or_default().to_owned();
    ran.stdout.lines().filter(is_change).map(short).collect()
}

/// A running `pushplan serve`, looked at from outside: what people do in the dashboard, and what was asked of it.
#[derive(Debug)]
pub struct Service {
    child: Option<Child>,
    pub origin: String,
    client: Client,
    runtime: Runtime,
}

impl Service {
    pub fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> (u16, Value) {
        self.ask_as((KEY, SECRET), method, path, body)
    }

    /// Sends a request for another application, by its key and secret. It returns the status and the JSON body.
    pub fn ask_as(
        &self,
        (key, secret): (&str, &str),
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> (u16, Value) {
        let mut request = self.client.request(method, format!("{}{path}", self.origin)).basic_auth(key, Some(secret));
        if let Some(body) = body {
            request = request.json(body);
        }
        self.runtime.block_on(async {
            let answer = request.send().await.expect("an answer");
            let status = answer.status().as_u16();
            (status, answer.json().await.unwrap_or(Value::Null))
        })
    }

    /// Who may do everything, as the environment says it.
    pub fn credentials(&self) -> [(&'static str, &str); 3] {
        [("PUSHPLAN_ORIGIN", &self.origin), ("PUSHPLAN_APP_KEY", KEY), ("PUSHPLAN_MASTER_SECRET", SECRET)]
    }

    /// Sends a signal to it.
    pub fn signal(&self, name: &str) {
        signal(self.child.as_ref().expect("it runs"), name);
    }

    pub fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask(Method::GET, path, None);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    pub fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(Method::POST, path, Some(body));
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    pub fn put(&self, path: &str, body: &Value) {
        let (status, answer) = self.ask(Method::PUT, path, Some(body));
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
    }

    pub fn delete(&self, path: &str) {
        let (status, answer) = self.ask(Method::DELETE, path, None);
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
    }

    /// A segment that someone makes in the dashboard.
    pub fn segment(&self, name: &str, tag: &str) -> String {
        let made = self.post("/api/segments", &json!({"display_name": name, "criteria": {"tag": tag}}));
        made["segment_id"].as_str().expect("an id").to_owned()
    }

    /// Everything of a listing, by a field of its items.
    pub fn names(&self, path: &str, list: &str, field: &str) -> Vec<String> {
        let body = self.get(path);
        let items = body[list].as_array().unwrap_or_else(|| panic!("{path}: {body}"));
        let mut names: Vec<String> =
            items.iter().map(|item| item[field].as_str().unwrap_or_default().to_owned()).collect();
        names.sort();
        names
    }

    pub fn segments(&self) -> Vec<String> {
        self.names("/api/segments", "segments", "display_name")
    }

    pub fn templates(&self) -> Vec<String> {
        self.names("/api/templates", "templates", "name")
    }

    /// The id of the only segment with a name.
    pub fn segment_id(&self, name: &str) -> String {
        let body = self.get("/api/segments");
        let all = body["segments"].as_array().expect("a listing");
        let ids: Vec<&str> = all
            .iter()
            .filter(|one| one["display_name"] == name)
            .map(|one| one["id"].as_str().expect("an id"))
            .collect();
        assert_eq!(ids.len(), 1, "{name} in {body}");
        ids[0].to_owned()
    }

    /// Forgets what was asked so far.
    pub fn forget(&self) {
        self.delete("/local/requests");
    }

    /// What was asked since, but for what the test asked after it: `POST /api/segments`.
    pub fn asked(&self) -> Vec<String> {
        let body = self.get("/local/requests");
        let all = body["requests"].as_array().expect("a log");
        all.iter()
            .map(|one| format!("{} {}", one["method"].as_str().unwrap_or("?"), one["path"].as_str().unwrap_or("?")))
            .collect()
    }

    /// What was asked since that may have changed something.
    pub fn writes(&self) -> Vec<String> {
        self.asked().into_iter().filter(|line| !line.starts_with("GET ")).collect()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A service that answers every request as it is told, by its first line: with a status, a content type and a body.
pub fn stand_in(answer: impl Fn(&str) -> (&'static str, &'static str, &'static str) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut reader = BufReader::new(stream.try_clone().expect("a connection"));
            let (mut first, mut line, mut length) = (String::new(), String::new(), 0);
            let _ = reader.read_line(&mut first);
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                if let Some(said) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = said.trim().parse().unwrap_or(0);
                }
                line.clear();
            }
            let _ = reader.read_exact(&mut vec![0; length]);
            let (status, kind, body) = answer(&first);
            let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n", body.len());
            let _ = stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes());
        }
    });
    origin
}

/// Sends a signal to a process of the test.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

/// How a started command ended.
pub fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().expect("it ends");
    Ran {
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        code: output.status.code().expect("no signal"),
    }
}

/// That each of these is in a text.
#[track_caller]
pub fn says(text: &str, all: &[&str]) {
    for words in all {
        assert!(text.contains(words), "{words:?} is missing in:\n{text}");
    }
}
