//! The target `local`: the service of a project, which is found if it runs and started if not.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use pushplan::engine::target::{self, Opened};
use pushplan::exchange::Request;
use pushplan::failure::{Failure, FailureKind};
use pushplan::manifest::Project;
use pushplan::nouns::level::Level;
use pushplan_testing::Folder;
use serde_json::{Value, json};

const NOTE: &str = ".pushplan/service.json";

async fn open(folder: &Folder) -> Result<Opened, Failure> {
    target::open(&Project::open(folder.path()), None).await
}

async fn get(opened: &Opened, path: &str) -> Value {
    opened.reading().get(path).await.expect("an answer").body.expect("JSON")
}

async fn create(opened: &Opened, name: &str) {
    let body = json!({"display_name": name, "criteria": {"tag": "vip"}});
    let answer = opened.writing().send(&Request::post("/api/segments", &body), || true).await.expect("an answer");
    assert_eq!(answer.status, 201);
}

fn names(listing: &Value) -> Vec<&str> {
    let items = listing["segments"].as_array().expect("a listing");
    items.iter().map(|one| one["display_name"].as_str().expect("a name")).collect()
}

/// `pushplan serve` in a folder of the project.
struct Serve(Child);

impl Serve {
    fn start(folder: &Folder, below: &str, arguments: &[&str]) -> (Self, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pushplan"))
            .args(["serve", "--port", "0"])
            .args(arguments)
            .current_dir(folder.path().join(below))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut screen = String::new();
        for line in BufReader::new(child.stdout.take().expect("piped")).lines() {
            screen.push_str(&line.expect("a line"));
            screen.push('\n');
            if screen.contains("Ctrl-C") {
                break;
            }
        }
        (Self(child), screen)
    }

    fn end(mut self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.0.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        self.0.wait().expect("it ends");
    }
}

impl Drop for Serve {
    /// A failing test leaves nothing running.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn where_no_service_runs_one_is_started_that_remembers() {
    let folder = Folder::project("segments: {}\n");
    let opened = open(&folder).await.unwrap();
    assert_eq!((opened.name.as_str(), opened.level, opened.place.as_str()), ("local", Level::Extended, "built-in"));
    create(&opened, "Kept").await;
    let first = opened.origin().to_string();
    opened.close().await;

    let opened = open(&folder).await.unwrap();
    assert_ne!(opened.origin().to_string(), first, "any free port");
    assert_eq!(names(&get(&opened, "/api/segments").await), ["Kept"]);
    assert_eq!(get(&opened, "/api/channels").await["channels"].as_array().unwrap().len(), 200);
    opened.close().await;
    assert!(!folder.path().join(NOTE).exists(), "it is nobody else's to use");
}

#[tokio::test]
async fn the_level_is_the_one_that_the_target_says() {
    let folder = Folder::project("segments: {}\n");
    folder.write("pushplan.toml", "[targets.local]\napi = \"documented\"\n");
    let opened = open(&folder).await.unwrap();
    assert_eq!(opened.level, Level::Documented);
    let answer = opened.reading().get("/api/schedules").await.unwrap();
    assert!(answer.status == 404 || answer.status == 405, "{answer:?}");
    opened.close().await;
}

#[tokio::test]
async fn two_commands_at_once_are_told_what_to_do() {
    let folder = Folder::project("segments: {}\n");
    let opened = open(&folder).await.unwrap();
    let failure = open(&folder).await.unwrap_err();
    assert!(failure.message.contains("in use by another command"), "{}", failure.message);
    assert!(failure.help.unwrap().contains("pushplan serve"));
    opened.close().await;
}

#[tokio::test]
async fn a_service_that_runs_for_the_project_is_used() {
    let folder = Folder::project("segments: {}\n");
    folder.write("below/here.yaml", "segments: {}\n");
    let (serve, screen) = Serve::start(&folder, "below", &["--api", "documented", "--app", "own-key:own-secret"]);
    assert!(screen.contains("Project     commands of this project use it as the target `local`"), "{screen}");
    let mode = fs::metadata(folder.path().join(NOTE)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let opened = open(&folder).await.unwrap();
    assert!(screen.contains(&format!("Ready on {}\n", opened.origin())), "{screen}");
    assert_eq!((opened.level, opened.place.as_str()), (Level::Documented, "built-in"), "it has no more than that");
    create(&opened, "There").await;
    opened.close().await;
    let opened = open(&folder).await.unwrap();
    assert_eq!(names(&get(&opened, "/api/segments").await), ["There"], "it still runs");
    assert!(!folder.path().join(".pushplan/service.db").exists());

    serve.end("-TERM");
    assert!(!folder.path().join(NOTE).exists());
}

#[tokio::test]
async fn a_note_that_was_left_behind_is_not_believed() {
    let folder = Folder::project("segments: {}\n");
    let (serve, _) = Serve::start(&folder, "", &[]);
    serve.end("-KILL");
    assert!(folder.path().join(NOTE).exists());
    let opened = open(&folder).await.unwrap();
    assert!(folder.path().join(".pushplan/service.db").exists(), "one was started");
    opened.close().await;

    // The service of another project may use its port.
    let other = Folder::project("segments: {}\n");
    let (serve, screen) = Serve::start(&other, "", &[]);
    let origin = screen.lines().next().unwrap().strip_prefix("Ready on ").unwrap().to_owned();
    let mut note: Value = serde_json::from_str(&folder.read(NOTE)).unwrap();
    note["origin"] = json!(origin);
    fs::write(folder.path().join(NOTE), note.to_string()).unwrap();
    let opened = open(&folder).await.unwrap();
    assert_ne!(opened.origin().to_string(), origin);
    opened.close().await;

    // A cloned project does not determine the address either: files from git are readable for others.
    fs::copy(other.path().join(NOTE), folder.path().join(NOTE)).unwrap();
    fs::set_permissions(folder.path().join(NOTE), fs::Permissions::from_mode(0o644)).unwrap();
    let opened = open(&folder).await.unwrap();
    assert_ne!(opened.origin().to_string(), origin);
    opened.close().await;
    // A note that only its owner can read is trusted.
    fs::set_permissions(folder.path().join(NOTE), fs::Permissions::from_mode(0o600)).unwrap();
    let opened = open(&folder).await.unwrap();
    assert_eq!(opened.origin().to_string(), origin);
    opened.close().await;
    serve.end("-INT");
}

#[tokio::test]
async fn a_service_that_may_run_is_not_passed_over_for_another() {
    let folder = Folder::project("segments: {}\n");
    let refused = async |says: &str, helps: &str| {
        let failure = open(&folder).await.unwrap_err();
        assert!(failure.message.contains(says), "{}", failure.message);
        assert!(failure.help.as_ref().is_some_and(|help| help.contains(helps)), "{:?}", failure.help);
        assert!(!folder.path().join(".pushplan/service.db").exists(), "none was started");
    };
    // A note that cannot be read.
    fs::create_dir_all(folder.path().join(NOTE)).unwrap();
    fs::set_permissions(folder.path().join(NOTE), fs::Permissions::from_mode(0o700)).unwrap();
    refused("service.json cannot be read: ", "run the command again").await;
    fs::remove_dir(folder.path().join(NOTE)).unwrap();

    // A listener that never answers.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let note = json!({
        "origin": format!("http://{}", listener.local_addr().unwrap()), "pid": 1, "app_key": "k",
        "master_secret": "s", "api": "extended",
    });
    let hangs_up = tokio::spawn(async move {
        loop {
            drop(listener.accept().await);
        }
    });
    folder.write(NOTE, note.to_string());
    fs::set_permissions(folder.path().join(NOTE), fs::Permissions::from_mode(0o600)).unwrap();
    refused("the service of this project does not answer", "remove ").await;

    // No listener is left, so no running service is bypassed.
    hangs_up.abort();
    let _ = hangs_up.await;
    open(&folder).await.unwrap().close().await;
}

#[test]
fn a_service_outside_a_project_leaves_no_note() {
    let folder = Folder::new();
    let (serve, screen) = Serve::start(&folder, "", &[]);
    assert!(!screen.contains("Project"), "{screen}");
    serve.end("-INT");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_service_of_a_project_has_what_was_applied_before() {
    let folder = Folder::project("segments:\n  a: {criteria: {tag: a}}\n");
    folder.write("pushplan.toml", "[targets.local]\nsettle = \"1s\"\n");
    let applied = folder.run(&["apply", "--yes"]);
    assert_eq!(applied.code, 0, "{applied}");
    let (serve, screen) = Serve::start(&folder, "", &["--listen", "127.0.0.1:0"]);
    assert!(screen.contains("  Storage     .pushplan/service.db\n"), "{screen}");
    let plan = folder.run(&["plan"]);
    assert!(plan.stdout.contains("No changes."), "{plan}");
    serve.end("-INT");
    let (serve, screen) = Serve::start(&folder, "", &["--memory"]);
    assert!(screen.contains("in memory") && screen.contains("empty at each start"), "{screen}");
    serve.end("-INT");
}

#[test]
fn a_service_that_can_leave_no_note_runs_all_the_same() {
    let folder = Folder::project("segments: {}\n");
    std::os::unix::fs::symlink("/nowhere", folder.path().join(".pushplan")).unwrap();
    // Its own credentials cannot be stored there either.
    let ran = folder.run(&["serve", "--port", "0"]);
    assert!(ran.code == 1 && ran.stderr.contains("is a symbolic link"), "{ran}");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pushplan"))
        .args(["serve", "--port", "0", "--app", "key:own-secret"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("Ready on"), "{first}");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    child.wait().unwrap();
    assert!(said.contains("do not find it: ") && said.contains("is a symbolic link"), "{said}");
}

#[tokio::test]
async fn a_target_is_chosen_by_name_by_default_or_because_it_is_the_only_one() {
    let chosen = |toml: &str, name: Option<&str>| {
        let folder = Folder::new();
        folder.write("pushplan.toml", toml);
        let project = Project::open(folder.path());
        target::choose(&project, name).map(|(name, _)| name).map_err(|failure| (failure.kind, failure.message))
    };
    let two = "[targets.production]\n[targets.staging]\n";
    assert_eq!(chosen("[targets.staging]\n", None).unwrap(), "staging");
    assert_eq!(chosen(two, Some("staging")).unwrap(), "staging");
    assert_eq!(chosen(&format!("[project]\ndefault_target = \"production\"\n{two}"), None).unwrap(), "production");
    for (toml, name, exit, says) in [
        ("", None, FailureKind::Other, "pushplan.toml has no target"),
        (two, None, FailureKind::Usage, "the project has several targets: production and staging"),
        (two, Some("stagin"), FailureKind::Usage, "no target has the name `stagin`"),
    ] {
        assert_eq!(chosen(toml, name).unwrap_err(), (exit, says.to_owned()));
    }
}

#[tokio::test]
async fn a_target_that_cannot_be_opened_says_why() {
    for (toml, exit, says) in [
        ("[targets.staging]\n", FailureKind::Other, "the target `staging` has no base_url"),
        (
            "[targets.p]\nbase_url = \"http://messaging.example\"\nledger = \"file:\"\n",
            FailureKind::Other,
            "the target `p` has a wrong base_url",
        ),
        (
            "[targets.local]\napp_key_fingerprint = \"0123456789ab\"\n",
            FailureKind::Refused,
            "the target `local` is the application 0123456789ab, but the credentials are for 75c818826c2b",
        ),
    ] {
        let folder = Folder::new();
        folder.write("pushplan.toml", toml);
        let failure = open(&folder).await.unwrap_err();
        assert_eq!(failure.kind, exit, "{}", failure.message);
        assert!(failure.message.contains(says), "{}", failure.message);
    }
}
