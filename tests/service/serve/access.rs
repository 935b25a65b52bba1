//! Access to the service: clients with the project's own credentials, from this machine, and no web page.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use pushplan_testing::Folder;
use serde_json::{Value, json};

use super::{Served, answer, exported};

const ONE: &str = "segments:\n  a: {criteria: {tag: a}}\n";
const FILE: &str = ".pushplan/service.env";

/// The credentials in the `export` lines of a project's file.
fn kept(folder: &Folder) -> (String, String) {
    let text = folder.read(FILE);
    let value = |name| exported(&text, name).unwrap_or_else(|| panic!("{name} is missing")).to_owned();
    (value("PUSHPLAN_APP_KEY"), value("PUSHPLAN_MASTER_SECRET"))
}

impl Served {
    /// Sends a push with these headers, and returns the answer.
    fn push(&self, (key, secret): (&str, &str), headers: &[(&str, &str)]) -> (u16, Value) {
        let body = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hello"}}).to_string();
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let credentials = BASE64_STANDARD.encode(format!("{key}:{secret}"));
        let head = format!(
            "POST /api/push HTTP/1.1\r\n{headers}Authorization: Basic {credentials}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = self.connect();
        stream.write_all((head + &body).as_bytes()).expect("sent");
        answer(stream)
    }

    fn sent(&self) -> Value {
        self.get("/local/sent", None).1["count"].clone()
    }
}

#[test]
fn a_page_of_another_host_cannot_push_and_neither_can_the_secret_of_earlier_versions() {
    let folder = Folder::project(ONE);
    let served = Served::start(&folder, &["--devices", "5"]);
    let (key, secret) = kept(&folder);
    let own = (&*key, &*secret);
    let port = served.address.rsplit(':').next().expect("a port").to_owned();
    let host = format!("127.0.0.1:{port}");
    for (credentials, headers, status) in [
        // By DNS rebinding, a page calls the service by the page's own name.
        (own, vec![("Host", format!("evil.example:{port}"))], 403),
        (
            own,
            vec![("Host", format!("localhost.evil.example:{port}")), ("Origin", format!("http://localhost:{port}"))],
            403,
        ),
        (own, vec![("Host", host.clone()), ("Origin", "https://evil.example".to_owned())], 403),
        (own, vec![("Host", host.clone()), ("Origin", "null".to_owned())], 403),
        (("local-application-key0", "local-master-secret-00"), vec![("Host", host.clone())], 401),
        ((&*key, "local-master-secret-00"), vec![("Host", host.clone())], 401),
        ((&*key, ""), vec![("Host", host.clone())], 401),
    ] {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (found, body) = served.push(credentials, &headers);
        assert_eq!(found, status, "{headers:?}: {body}");
        if status == 403 {
            let why = body["error"].as_str().unwrap_or_default();
            assert!(why.starts_with("/api answers only requests"), "{body}");
        }
    }
    assert_eq!(served.sent(), 0, "nothing was sent");
    for name in [host.clone(), format!("localhost:{port}"), format!("[::1]:{port}")] {
        assert_eq!(served.push(own, &[("Host", &name)]).0, 202, "{name}");
    }
    assert_eq!(served.push(own, &[("Host", &host), ("Origin", &format!("http://{host}"))]).0, 202);
    assert_eq!(served.sent(), 4);
}

#[test]
fn a_service_for_other_machines_is_called_by_any_name_and_from_no_other_page() {
    let folder = Folder::project(ONE);
    let served = Served::start(&folder, &["--listen", "0.0.0.0", "--devices", "5"]);
    assert!(served.screen.contains("other machines too"), "{}", served.screen);
    let (key, secret) = kept(&folder);
    // Requests through loopback come from this machine, even if it also listens elsewhere.
    assert_eq!(served.push((&key, &secret), &[("Host", "evil.example")]).0, 403);
    assert_eq!(served.push((&key, &secret), &[("Host", "localhost")]).0, 202);
}

#[test]
fn credentials_are_a_projects_own_and_stay_over_restarts() {
    let (one, other) = (Folder::project(ONE), Folder::project(ONE));
    let first = Served::start(&one, &[]);
    let second = Served::start(&other, &[]);
    let (mine, theirs) = (kept(&one), kept(&other));
    assert_ne!(mine.1, theirs.1);
    let file = fs::canonicalize(one.path().join(FILE)).expect("a file");
    assert!(first.screen.contains(&format!("  . {}", file.display())), "{}", first.screen);
    assert!(!first.screen.contains(&mine.1), "the secret is printed: {}", first.screen);
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    assert_eq!(one.read(".pushplan/.gitignore"), "*\n");
    assert_eq!(first.get("/api/segments", Some((&mine.0, &mine.1))).0, 200);
    assert_eq!(first.get("/api/segments", Some((&theirs.0, &theirs.1))).0, 401);
    assert_eq!(second.get("/api/segments", Some((&mine.0, &mine.1))).0, 401);
    first.signal("-INT");
    assert_eq!(first.end(), Some(0));
    let again = Served::start(&one, &[]);
    assert_eq!(kept(&one), mine);
    assert_eq!(again.get("/api/segments", Some((&mine.0, &mine.1))).0, 200);
    again.signal("-INT");
    assert_eq!(again.end(), Some(0));
    // The service inside a command has the same credentials, and needs no setup.
    let ran = one.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(kept(&one), mine);
    let served = Served::start(&one, &["--data", ".pushplan/service.db"]);
    let (_, body) = served.get("/api/segments", Some((&mine.0, &mine.1)));
    assert_eq!(body["segments"][0]["display_name"], "a", "{body}");
}

#[test]
fn a_command_makes_the_credentials_that_serve_uses_later() {
    let folder = Folder::project(ONE);
    let ran = folder.run(&["plan"]);
    assert_eq!(ran.code, 0, "{ran}");
    let (key, secret) = kept(&folder);
    let served = Served::start(&folder, &[]);
    assert_eq!(served.get("/api/segments", Some((&key, &secret))).0, 200);
}

#[test]
fn credentials_outside_a_project_are_for_one_run() {
    let folder = Folder::new();
    let secret = |served: &Served| exported(&served.screen, "PUSHPLAN_MASTER_SECRET").expect("a secret").to_owned();
    let (one, other) = (Served::start(&folder, &[]), Served::start(&folder, &[]));
    assert_ne!(secret(&one), secret(&other));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

fn git(folder: &Path, arguments: &[&str]) {
    let ran = Command::new("git").args(arguments).current_dir(folder).output().expect("git");
    assert!(ran.status.success(), "{arguments:?}: {ran:?}");
}

/// Makes the credentials of a project unusable.
type Spoil = fn(&Folder);

#[test]
fn credentials_that_others_may_know_are_refused_and_never_replaced() {
    let spoil: [(&str, Spoil); 5] = [
        ("git tracks it", |folder| {
            git(folder.path(), &["init", "--quiet", "."]);
            git(folder.path(), &["add", "--force", FILE]);
        }),
        ("it is a symbolic link", |folder| {
            fs::rename(folder.path().join(FILE), folder.path().join("elsewhere")).expect("moved");
            symlink(folder.path().join("elsewhere"), folder.path().join(FILE)).expect("a link");
        }),
        ("other users can read it (mode 644)", |folder| {
            fs::set_permissions(folder.path().join(FILE), fs::Permissions::from_mode(0o644)).expect("a mode");
        }),
        ("this secret is public", |folder| {
            let (_, secret) = kept(folder);
            fs::write(folder.path().join(FILE), folder.read(FILE).replace(&secret, "local-master-secret-00"))
                .expect("a file");
        }),
        ("it has no app key or no master secret", |folder| {
            fs::write(folder.path().join(FILE), "# nothing\n").expect("a file");
        }),
    ];
    for (why, change) in spoil {
        let folder = Folder::project(ONE);
        assert_eq!(folder.run(&["plan"]).code, 0);
        change(&folder);
        let before = folder.read(FILE);
        for arguments in [&["serve", "--port", "0"][..], &["plan"], &["apply", "--yes"]] {
            let ran = folder.run(arguments);
            assert_eq!(ran.code, 4, "{arguments:?}: {ran}");
            assert!(ran.stderr.contains("service.env are not used: ") && ran.stderr.contains(why), "{why}: {ran}");
        }
        assert_eq!(folder.read(FILE), before);
        // Credentials on the command line need no file.
        let served = Served::start(&folder, &["--app", "key:own-secret"]);
        assert_eq!(served.get("/api/segments", Some(("key", "own-secret"))).0, 200);
        // A ledger next to tracked files is refused for its own reason.
        let code = if why == "git tracks it" { 7 } else { 0 };
        assert_eq!(folder.run(&["plan"]).code, code, "{why}");
    }
}
