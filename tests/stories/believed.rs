//! The ledgers that are used: none from a pull request, and none in a location that only the project file names.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::thread;

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::ledger::{Adopted, Chain, Entry, Log, Record};
use pushplan_testing::{Project, Ran, Service, says};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const OWN: &str = "segments:\n  a: {criteria: {tag: a}}\n";

/// A project with a remote target, and the service behind it. The service also has the segment `theirs`.
struct Story {
    project: Project,
    service: Service,
    /// The id of `theirs`.
    theirs: String,
    _elsewhere: Project,
}

impl Story {
    fn new() -> Self {
        let elsewhere = Project::new("");
        let service = elsewhere.serve();
        let theirs = service.segment("theirs", "t");
        let story = Self { project: Project::new(OWN), service, theirs, _elsewhere: elsewhere };
        story.set("file:");
        story
    }

    fn set(&self, place: &str) {
        let origin = &self.service.origin;
        let text = format!(
            "[targets.prod]\nbase_url = {origin:?}\napi = \"extended\"\nsettle = \"1s\"\nsend_within = \"2s\"\nledger = {place:?}\n"
        );
        self.project.folder.write("pushplan.toml", text);
    }

    fn run_as(&self, arguments: &[&str], env: &[(&str, &str)]) -> Ran {
        self.project.run_as(arguments, &[&self.service.credentials()[..], env].concat())
    }

    #[track_caller]
    fn ends(&self, arguments: &[&str], code: i32) -> Ran {
        let ran = self.run_as(arguments, &[]);
        assert_eq!(ran.code, code, "{arguments:?}: {ran}");
        ran
    }

    fn git(&self, arguments: &[&str]) {
        git(self.project.folder.path(), arguments);
    }

    /// A ledger as an older `adopt` left it: it manages `theirs`, and names no application.
    fn adopted(&self) {
        let adopted = Adopted {
            address: Address::new("segments", "theirs"),
            id: self.theirs.clone(),
            spec: json!({"display_name": "theirs", "criteria": {"tag": "t"}}).into(),
            refs: BTreeMap::new(),
            stamp: None,
            protect: false,
            past: false,
            push_ids: Vec::new(),
            zone: None,
            pruned: false,
        };
        let record = Record::Adopt(vec![adopted]);
        let entry = Entry { seq: 1, at: Timestamp::now(), actor: "mallory on home".to_owned(), record };
        let log = Chain::in_files(self.project.folder.path(), "prod");
        Runtime::new().expect("a runtime").block_on(log.append(&entry)).expect("appended");
    }

    /// The output of `ledger export`.
    fn known(&self) -> Value {
        serde_json::from_str(&self.ends(&["ledger", "export"], 0).stdout).expect("JSON")
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let settings = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"];
    let said = Command::new("git").current_dir(folder).args(settings).args(arguments).output().expect("git");
    assert!(said.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
}

#[test]
fn a_ledger_that_git_tracks_deletes_nothing() {
    let story = Story::new();
    story.adopted();
    story.git(&["init", "-q"]);
    story.git(&["add", "--force", "."]);
    story.git(&["commit", "-q", "-m", "A ledger comes along"]);
    for arguments in [
        &["plan"][..],
        &["apply", "--yes"],
        &["drift"],
        &["history"],
        &["ledger", "status"],
        &["ledger", "verify"],
        &["ledger", "export"],
        &["ledger", "move", "--to", "git"],
        &["adopt", "segments/a"],
        &["forget", "segments/theirs"],
        &["reconcile", "--once", "--drift", "fix"],
        &["unmanaged"],
        &["destroy", "--confirm", "prod"],
        &["pull"],
    ] {
        let ran = story.run_as(arguments, &[]);
        assert_ne!(ran.code, 0, "{arguments:?}: {ran}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        says(&said, &["git tracks .pushplan/ledger/prod/00000001.json", "git rm -r --cached .pushplan"]);
    }
    for arguments in [&["plan"][..], &["apply", "--yes"], &["drift"], &["destroy", "--confirm", "prod"], &["history"]] {
        story.ends(arguments, 7);
    }
    says(&story.run_as(&["doctor"], &[]).stdout, &["git tracks .pushplan/ledger/prod/00000001.json"]);
    assert_eq!(story.service.segments(), ["theirs"]);
    assert_eq!(story.service.writes(), ["POST /api/segments"], "the test's own");
    // The advice works: the remaining ledger has no application, which is the next question.
    story.git(&["rm", "-r", "-q", "--cached", ".pushplan"]);
    story.git(&["commit", "-q", "-m", "Without it"]);
    says(&story.ends(&["plan"], 7).stderr, &["does not name their application"]);
}

#[test]
fn notes_that_git_tracks_are_not_believed() {
    for note in [".pushplan/seen/prod/place", ".pushplan/unwritten/prod/x.json", ".pushplan/git/config"] {
        let story = Story::new();
        story.git(&["init", "-q"]);
        story.project.folder.write(note, "x");
        story.git(&["add", "--force", "."]);
        says(&story.ends(&["plan"], 7).stderr, &[&format!("git tracks {note}")]);
        story.git(&["rm", "-r", "-q", "--cached", ".pushplan"]);
        fs::remove_dir_all(story.project.folder.path().join(".pushplan")).expect("removed");
        story.ends(&["plan"], 0);
    }
    // A repository in place of the folder contains all of its files.
    let story = Story::new();
    story.git(&["init", "-q"]);
    let commit = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";
    story.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},.pushplan")]);
    story.adopted();
    says(&story.ends(&["plan"], 7).stderr, &["git tracks .pushplan/"]);
    // Files that pushplan writes itself may be tracked, others may not.
    let story = Story::new();
    story.git(&["init", "-q"]);
    story.ends(&["apply", "--yes"], 0);
    story.git(&["add", "--force", ".pushplan/.gitignore"]);
    story.ends(&["plan"], 0);
    // A folder of the project with a ledger counts, whatever its name.
    story.project.folder.write("state/README", "The ledger goes here.");
    story.ends(&["ledger", "move", "--to", "file:state"], 0);
    story.set("file:state");
    story.git(&["add", "state/README"]);
    story.ends(&["plan"], 0);
    story.git(&["add", "."]);
    says(&story.ends(&["plan"], 7).stderr, &["git tracks state/prod/", "git rm -r --cached state/prod"]);
}

#[test]
fn a_ledger_without_an_application_deletes_nothing_until_a_person_confirms_it() {
    let story = Story::new();
    story.adopted();
    let ran = story.ends(&["apply", "--yes"], 7);
    says(&ran.stderr, &["the ledger of `prod` has 1 resource but does not name their application"]);
    for arguments in
        [&["plan"][..], &["drift"], &["unmanaged"], &["reconcile", "--once"], &["destroy", "--confirm", "prod"]]
    {
        story.ends(arguments, 7);
    }
    assert_eq!(story.service.segments(), ["theirs"]);
    let help = ran.stderr.split_once("pushplan ledger confirm --app ").expect("a command").1;
    let app = help.split_whitespace().next().expect("a fingerprint");
    says(&story.ends(&["ledger", "confirm", "--app", "0123456789ab"], 7).stderr, &[app, "0123456789ab"]);
    story.ends(&["plan"], 7);
    story.ends(&["ledger", "confirm", "--app", app, "--target", "prod"], 0);
    assert_eq!(story.known()["app"], app);
    says(&story.ends(&["plan"], 0).stdout, &["- segments/theirs"]);
    story.ends(&["ledger", "confirm", "--app", app], 64);
}

#[test]
fn every_command_that_begins_a_ledger_names_the_application() {
    for arguments in [&["adopt", "segments/theirs"][..], &["pull"]] {
        let story = Story::new();
        if arguments[0] == "adopt" {
            story.project.write("segments:\n  theirs: {criteria: {tag: t}}\n");
        } else {
            story.project.write("");
        }
        story.ends(arguments, 0);
        let app = story.known()["app"].as_str().expect("a text").to_owned();
        assert!(!app.is_empty(), "{}", story.known());
        says(&story.ends(&["plan"], 0).stdout, &["No changes"]);
        // Another application has none of it.
        let env = [("PUSHPLAN_APP_KEY", "another-application-k0")];
        let ran = story.run_as(&["apply", "--yes"], &env);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &[&format!("is for the application {app}")]);
    }
}

#[test]
fn a_folder_outside_of_the_project_needs_a_word_from_outside() {
    let story = Story::new();
    let there = tempfile::tempdir().expect("a folder");
    let there = there.path().canonicalize().expect("a folder");
    let (shared, server) = (there.join("shared"), there.join("server.git"));
    fs::create_dir(&shared).expect("a folder");
    git(&there, &["init", "-q", "--bare", "server.git"]);
    let root = story.project.folder.path().canonicalize().expect("a folder");
    std::os::unix::fs::symlink(&shared, root.join(".link")).expect("a link");
    let up = "../".repeat(root.components().count());
    for place in [
        format!("file:{}", shared.display()),
        format!("file:{up}{}", shared.display()),
        "file:.link".to_owned(),
        format!("git:{}", server.display()),
        format!("git:file://{}", server.display()),
    ] {
        story.set(&place);
        for arguments in [&["plan"][..], &["apply", "--yes"], &["history"], &["ledger", "status"]] {
            says(&story.ends(arguments, 7).stderr, &["is outside of the project", "PUSHPLAN_LEDGER_DIR="]);
        }
        // A permission for another folder does not apply to this one.
        let others = root.join(".link").display().to_string();
        for allowed in ["", ".", "shared", "/nowhere", &format!("{}x", there.display()), &others] {
            let ran = story.run_as(&["plan"], &[("PUSHPLAN_LEDGER_DIR", allowed)]);
            let is_same = allowed == others && !place.starts_with("git");
            assert_eq!(ran.code, if is_same { 0 } else { 7 }, "{place} {allowed}: {ran}");
        }
        let allowed = format!("/nowhere:{}", there.display());
        let ran = story.run_as(&["plan"], &[("PUSHPLAN_LEDGER_DIR", &allowed)]);
        assert_eq!(ran.code, 0, "{place}: {ran}");
    }
    assert_eq!(fs::read_dir(&shared).expect("a folder").count(), 0, "nothing was written there");
}

/// The first bytes that are sent to a database.
fn first_bytes(story: &Story, query: &str, env: &[(&str, &str)]) -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let heard = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut bytes = [0; 8];
        stream.read_exact(&mut bytes).expect("a request");
        bytes.to_vec()
    });
    story.set(&format!("postgres://ada@127.0.0.1:{port}/db{query}"));
    let ran = story.run_as(&["ledger", "status"], env);
    assert_eq!(ran.code, 1, "{ran}");
    heard.join().expect("bytes")
}

#[test]
fn a_project_file_asks_a_database_for_no_less_than_the_environment() {
    let story = Story::new();
    let encrypts = [0, 0, 0, 8, 4, 210, 22, 47];
    assert_ne!(first_bytes(&story, "?sslmode=disable", &[]), encrypts);
    for mode in ["require", "verify-full"] {
        assert_eq!(first_bytes(&story, "?sslmode=disable", &[("PGSSLMODE", mode)]), encrypts, "{mode}");
    }
    // The authority in the environment takes precedence.
    let own = story.project.folder.write("own.pem", "not a certificate");
    story.set(&format!("postgres://ada@127.0.0.1:9/db?sslrootcert={}", own.display()));
    let ran = story.run_as(&["ledger", "status"], &[("PGSSLROOTCERT", "/nowhere/ca.pem")]);
    says(&ran.stderr, &["sslrootcert /nowhere/ca.pem cannot be used"]);
    let ran = story.run_as(&["ledger", "status"], &[("PGSSLMODE", "verify-full")]);
    says(&ran.stderr, &["set PGSSLROOTCERT"]);
}
