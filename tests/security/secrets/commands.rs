//! Every command, with secrets in all of its inputs: its output, files, requests and child processes reveal none of
//! them.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use pushplan_testing::hosts::{Host, Kind, TOKEN};
use pushplan_testing::{Folder, Project, Service, says};

use super::canary::{CANARY, KEY, escaped, is_told};

const MANIFEST: &str = "\
segments:
  a: {criteria: {tag: a}}
templates:
  winback: {push: {notification: {alert: Hello}}}
";

/// Commands whose purpose is to print secrets: the service shows its credentials.
const EXEMPT: [&str; 1] = ["serve"];

type Env = Vec<(&'static str, String)>;

/// A project whose service, ledger, code host and webhook all need a secret.
struct World {
    project: Project,
    env: Env,
    host: Host,
    /// The requests to the webhook: headers and body.
    posts: Receiver<String>,
    /// The folder in which every started git leaves a record.
    programs: Folder,
    _service: (Project, Service),
    _server: Folder,
}

impl World {
    fn new() -> Self {
        let elsewhere = Project::new(MANIFEST);
        let service = elsewhere.serve_with(&["--app", &format!("{KEY}:{CANARY}")]);
        let server = Folder::new();
        git(&server, &["init", "-q", "--bare"]);
        let project = Project::new(MANIFEST);
        let origin = &service.origin;
        project.folder.write(
            "pushplan.toml",
            format!("[targets.local]\nbase_url = \"{origin}\"\napi = \"extended\"\nledger = \"git\"\nsettle = \"1s\"\ntest_sends = true\n"),
        );
        project.folder.write("moved/README", "The ledger goes here.");
        git(&project.folder, &["init", "-q"]);
        git(&project.folder, &["remote", "add", "origin", server.path().to_str().expect("UTF-8")]);
        git(&project.folder, &["add", "."]);
        git(&project.folder, &["commit", "-q", "-m", "First"]);
        let host = Host::start(Kind::GitHub);
        host.open(7);
        let (hook, posts) = webhook();
        let programs = programs();
        let path = format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap_or_default());
        let set = |name, value: &str| (name, value.to_owned());
        let env = vec![
            set("PATH", &path),
            set("PUSHPLAN_ORIGIN", origin),
            set("PUSHPLAN_APP_KEY", KEY),
            set("PUSHPLAN_MASTER_SECRET", CANARY),
            set("PUSHPLAN_WEBHOOK", &format!("{hook}/{}", escaped(CANARY))),
            set("GITHUB_ACTIONS", "true"),
            set("GITHUB_API_URL", &format!("{}/api/v3", host.origin)),
            set("GITHUB_REPOSITORY", "shop/messages"),
            set("GITHUB_REF", "refs/pull/7/merge"),
            set("GITHUB_SHA", "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00"),
            set("GITHUB_TOKEN", TOKEN),
            set("GITHUB_STEP_SUMMARY", "summary.md"),
            set("GITLAB_TOKEN", CANARY),
            set("CI_JOB_TOKEN", CANARY),
            set("PGPASSWORD", CANARY),
            set("AWS_SECRET_ACCESS_KEY", CANARY),
            set("AWS_SESSION_TOKEN", CANARY),
            set("AZURE_STORAGE_ACCOUNT_KEY", CANARY),
            set("HTTPS_PROXY", &format!("http://ada:{}@127.0.0.1:9", escaped(CANARY))),
            set("SOME_SECRET", CANARY),
            // Everything with a verbose mode uses it.
            set("RUST_LOG", "trace"),
            set("RUST_BACKTRACE", "full"),
        ];
        Self { project, env, host, posts, programs, _service: (elsewhere, service), _server: server }
    }

    fn env(&self) -> Vec<(&str, &str)> {
        self.env.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }
}

fn git(folder: &Folder, arguments: &[&str]) {
    let settings = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"];
    let said = Command::new("git").current_dir(folder.path()).args(settings).args(arguments).output().expect("git");
    assert!(said.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
}

/// A `git` that records its arguments and environment, and then runs the real one.
fn programs() -> Folder {
    let folder = Folder::new();
    let real = Command::new("sh").args(["-c", "command -v git"]).output().expect("sh").stdout;
    let real = String::from_utf8(real).expect("UTF-8");
    let here = folder.path().display();
    let script = format!(
        "#!/bin/sh\nprintf '%s ' \"$@\" >>'{here}/arguments'\necho >>'{here}/arguments'\n\
         tr '\\0' '\\n' </proc/$$/environ >>'{here}/environment'\nexec {} \"$@\"\n",
        real.trim()
    );
    let file = folder.write("git", script);
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("a mode");
    folder
}

/// A server for webhooks: its address, and all but the first line of each request.
fn webhook() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    let (send, posts) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut reader = BufReader::new(stream.try_clone().expect("a connection"));
            let (mut first, mut rest, mut length) = (String::new(), String::new(), 0);
            let _ = reader.read_line(&mut first);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    if let Some(said) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = said.trim().parse().unwrap_or(0);
                    }
                    rest.push_str(&line);
                    continue;
                }
                break;
            }
            let mut body = vec![0; length];
            let _ = reader.read_exact(&mut body);
            rest.push_str(&String::from_utf8_lossy(&body));
            let _ = send.send(rest);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    (origin, posts)
}

/// Checks that no file in a folder contains a secret.
fn nothing_in(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            nothing_in(&path);
        } else {
            assert!(!is_told(&fs::read(&path).unwrap_or_default()), "{} tells a secret", path.display());
        }
    }
}

#[test]
fn no_command_tells_a_secret() {
    let world = World::new();
    let done: [(&[&str], i32); 76] = [
        (&["validate"], 0),
        (&["validate", "--format", "json"], 0),
        (&["validate", "--format", "sarif"], 0),
        (&["validate", "--format", "github"], 0),
        (&["validate", "--format", "junit"], 0),
        (&["plan", "--out", "saved.plan"], 0),
        (
            &[
                "plan",
                "--format",
                "json",
                "--out",
                "plan.json",
                "--format",
                "markdown",
                "--out",
                "plan.md",
                "--format",
                "html",
                "--out",
                "report.html",
            ],
            0,
        ),
        (&["plan", "--offline"], 0),
        (&["plan", "--against-git", "HEAD"], 0),
        (&["ci", "comment", "--plan", "saved.plan"], 0),
        (&["ci", "summary", "--plan", "saved.plan"], 0),
        (&["doctor"], 0),
        (&["reconcile", "--once", "--drift", "report"], 2),
        (&["apply", "saved.plan"], 0),
        (&["doctor", "--format", "json"], 0),
        (&["apply", "--approved", "--yes"], 0),
        (&["drift"], 0),
        (&["drift", "--format", "json"], 0),
        (&["drift", "--format", "markdown"], 0),
        (&["history"], 0),
        (&["history", "--format", "json"], 0),
        (&["list"], 0),
        (&["list", "--format", "json"], 0),
        (&["show", "segments/a"], 0),
        (&["graph"], 0),
        (&["calendar"], 0),
        (&["preview", "templates/winback"], 0),
        (&["send", "templates/winback", "--to", "named_user:nobody", "--yes"], 7),
        (&["outcome"], 0),
        (&["outcome", "--format", "json"], 0),
        (&["reach"], 0),
        (&["reach", "--format", "json"], 0),
        (&["lookup", "segment", "a"], 0),
        (&["lookup", "location", "Portland"], 0),
        (&["lookup", "channel", "nobody"], 1),
        (&["report", "sends"], 0),
        (&["report", "devices", "--format", "csv"], 0),
        (&["api", "GET", "/api/segments"], 0),
        (&["api", "GET", "/api/segments", "--include"], 0),
        (&["api", "GET", "/api/nothing"], 1),
        (&["unmanaged"], 0),
        (&["unmanaged", "--format", "json"], 0),
        (&["pull", "--dry-run"], 0),
        (&["pull"], 0),
        (&["schema"], 0),
        (&["fmt", "--check"], 0),
        (&["test"], 0),
        (&["diff", "HEAD"], 0),
        (&["explain", "AU107"], 0),
        (&["help", "environment"], 0),
        (&["man"], 0),
        (&["docs", "--out", "book"], 0),
        (&["completions", "bash"], 0),
        (&["adopt", "segments/a"], 1),
        (&["mv", "segments/a", "segments/b"], 0),
        (&["apply", "--yes", "--format", "jsonl"], 0),
        (&["ledger", "status"], 0),
        (&["ledger", "status", "--format", "json"], 0),
        (&["ledger", "verify"], 0),
        (&["ledger", "export"], 0),
        (&["ledger", "export", "--records"], 0),
        (&["ledger", "compact"], 0),
        (&["ledger", "restore", "nothing"], 64),
        (&["ledger", "confirm", "--app", "nothing"], 7),
        (&["promote", "--from", "local", "--to", "local"], 64),
        (&["reconcile", "--once", "--format", "jsonl"], 0),
        (&["unlock", "--lease", "none"], 1),
        (&["resolve", "segments/b", "--absent"], 64),
        (&["revert", "1"], 7),
        (&["forget", "segments/b"], 0),
        (&["destroy", "--confirm", "local"], 0),
        (&["ledger", "move", "--to", "file:moved"], 0),
        (&["doctor"], 1),
        (&["locales"], 0),
        (&["locales", "export"], 1),
        (&["init", "other"], 0),
    ];
    let mut others = String::new();
    for (arguments, code) in done {
        let ran = super::quiet(&world.project, arguments, &world.env());
        if ran.code != code {
            others.push_str(&format!("{arguments:?}, which was to end with {code}: {ran}\n"));
        }
    }
    assert!(others.is_empty(), "{others}");
    // None was left out.
    let listed = world.project.run(&["--help"]).stdout;
    let (commands, _) = listed.split_once("\nOptions:\n").expect("options come last");
    let names: Vec<&str> =
        commands.lines().filter_map(|line| Some(line.strip_prefix("  ")?.split_once("  ")?.0)).collect();
    assert!(names.len() > 35, "{names:?}");
    for name in names {
        let is_run = done.iter().any(|(arguments, _)| arguments[0] == name);
        assert!(is_run || EXEMPT.contains(&name), "`pushplan {name}` is not tried");
    }
    // The stored files: plans, reports, the summary, the ledger on the server and next to the manifests.
    world.project.run(&["plan"]);
    nothing_in(world.project.folder.path());
    nothing_in(world._server.path());
    says(&world.project.folder.read("summary.md"), &["Plan for local"]);
    // The messages to others.
    let comment = world.host.only(7);
    assert!(comment.contains("Plan for local") && !is_told(comment.as_bytes()), "{comment}");
    let posts: Vec<String> = world.posts.try_iter().collect();
    assert!(!posts.is_empty(), "the webhook was told of drift");
    assert!(!posts.iter().any(|post| is_told(post.as_bytes())), "{posts:#?}");
    // The started programs: git, without secrets in its arguments, and in its environment only those that its helpers
    // may need.
    let arguments = world.programs.read("arguments");
    assert!(arguments.lines().count() > 20 && !is_told(arguments.as_bytes()), "{arguments}");
    let mut given: Vec<String> = Vec::new();
    for line in world.programs.read("environment").lines().filter(|line| is_told(line.as_bytes())) {
        given.push(line.split('=').next().unwrap_or_default().to_owned());
    }
    given.sort();
    given.dedup();
    let helpers = [
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "CI_JOB_TOKEN",
        "GITHUB_TOKEN",
        "GITLAB_TOKEN",
        "HTTPS_PROXY",
        "SOME_SECRET",
    ];
    assert_eq!(given, helpers);
}

#[test]
fn what_runs_for_long_tells_no_secret_to_whoever_looks_at_it() {
    let world = World::new();
    let env: Vec<(&str, &str)> = world.env();
    let arguments = ["reconcile", "--every", "1h", "--listen", "127.0.0.1:0", "--format", "jsonl"];
    let mut child = world.project.start_as(&arguments, &env);
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let first = lines.next().expect("a line").expect("a text");
    let address = first.split("http://").nth(1).and_then(|rest| rest.split('"').next()).expect("an address").to_owned();
    // The first round ends with its news.
    let round = lines.next().expect("a line").expect("a text");
    for path in ["/metrics", "/healthz"] {
        let mut stream = TcpStream::connect(&address).expect("a connection");
        stream
            .write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes())
            .expect("asked");
        let mut page = String::new();
        stream.read_to_string(&mut page).expect("an answer");
        assert!(page.starts_with("HTTP/1.1 200") && !is_told(page.as_bytes()), "{page}");
    }
    let listed = fs::read(format!("/proc/{}/cmdline", child.id())).expect("a process");
    assert!(!is_told(&listed), "the list of processes tells a secret");
    pushplan_testing::signal(&child, "-TERM");
    let mut error = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut error).expect("UTF-8");
    let rest: String = lines.map_while(Result::ok).collect();
    assert!(child.wait().expect("it ends").success(), "{error}");
    for text in [&first, &round, &rest, &error] {
        assert!(!is_told(text.as_bytes()), "{text}");
    }
}

/// A panic shows values with `Debug`.
#[test]
fn what_holds_a_secret_does_not_show_it_to_debuggers() {
    use pushplan::client::{Credentials, Keyring, Origin, Patience, Secret, Transport};
    let credentials = Credentials::new(KEY, CANARY);
    let origin = Origin::parse("https://messaging.example").expect("an origin");
    let transport = Transport::new(origin.clone(), &credentials, "vendor", Patience::default()).expect("a transport");
    let keyring = Keyring::default();
    let env = |name: &str| match name {
        "PUSHPLAN_ORIGIN" => Some(origin.to_string()),
        "PUSHPLAN_APP_KEY" => Some(KEY.to_owned()),
        "PUSHPLAN_MASTER_SECRET" => Some(CANARY.to_owned()),
        _ => None,
    };
    let found = keyring.locate(&origin, "local", &env).expect("credentials");
    let ci = |name: &str| match name {
        "GITHUB_REPOSITORY" => Some("shop/messages".to_owned()),
        "GITHUB_TOKEN" => Some(TOKEN.to_owned()),
        _ => None,
    };
    let place = pushplan::forge::here(&ci, &|_| Ok(String::new())).expect("a place");
    let secret = Secret::new(CANARY);
    let shown = format!("{credentials:?} {transport:?} {keyring:?} {found:?} {place:?} {secret:?}");
    assert!(!is_told(shown.as_bytes()), "{shown}");
}
