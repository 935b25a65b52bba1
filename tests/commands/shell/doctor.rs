//! `pushplan doctor`: one project with various problems.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use pushplan_testing::{Folder, Ran, checked, says};
use serde_json::Value;

use super::{contents, pushplan};

pub const TWO: &str =
    "segments:\n  a: {criteria: {tag: a}}\ntemplates:\n  winback: {push: {notification: {alert: Hello}}}\n";

pub fn project(settings: &str) -> Folder {
    let folder = Folder::project(TWO);
    folder.write("pushplan.toml", settings);
    folder
}

/// The result of a check, by its subject and its target.
pub fn check<'d>(document: &'d Value, target: Option<&str>, about: &str) -> &'d Value {
    let all = document["checks"].as_array().expect("checks");
    let found = all.iter().find(|check| check["target"].as_str() == target && check["about"] == about);
    found.unwrap_or_else(|| panic!("{about} of {target:?} in {document:#}"))
}

pub fn json(ran: &Ran) -> Value {
    checked(ran, "doctor.schema.json")
}

#[test]
fn a_healthy_project_is_told_to_be_and_is_only_looked_at() {
    let folder = project("[targets.local]\n");
    assert_eq!(pushplan(&folder, &["apply", "--yes"], &[]).code, 0);
    let before = contents(folder.path());
    let ran = pushplan(&folder, &["doctor"], &[("USER", "grace"), ("GITHUB_ACTIONS", "true")]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
    says(
        &ran.stdout,
        &[
            concat!("pushplan ", env!("CARGO_PKG_VERSION"), " on "),
            "project      pushplan.toml, 1 target: local",
            "manifests    2 resources in 1 file: 1 segment, 1 template",
            "credentials  none were found",
            "git          2.",
            "ledgers      format 2",
            "zones, version 20",
            "CI           GitHub Actions; GITHUB_TOKEN is not set",
            "\nlocal\n",
            "built in; each command starts it, with its data in .pushplan/service.db",
            "ledger       .pushplan/ledger/local",
            "records (ledger ",
            "No problems found.",
        ],
    );
    assert_eq!(contents(folder.path()), before, "nothing is written");
    // Neither the home folder nor the user name.
    let home = folder.path().to_str().expect("UTF-8");
    assert!(!ran.stdout.contains(home) && !ran.stdout.contains("grace"), "{ran}");
    let document = json(&pushplan(&folder, &["doctor", "--format", "json"], &[]));
    assert_eq!((document["troubles"].as_u64(), document["warnings"].as_u64()), (Some(0), Some(0)), "{document:#}");
    assert_eq!(check(&document, Some("local"), "ledger")["state"], "fine");
}

#[test]
fn without_a_project_everything_else_is_looked_at() {
    let folder = Folder::new();
    let ran = pushplan(&folder, &["doctor"], &[]);
    assert_eq!(ran.code, 1, "{ran}");
    says(
        &ran.stdout,
        &["x project", "no pushplan.toml in ~ or above it", "= help: `pushplan init`", "  git ", "1 problem."],
    );
}

#[test]
fn a_broken_project_is_told_by_code_and_place_and_not_repeated() {
    let folder = project("[targets.local]\nledgr = \"hidden-words\"\n[checks]\nNO101 = \"off\"\n");
    folder.write("more.yaml", "segments:\n  b: {criteria: {country: UK}}\n");
    let ran = pushplan(&folder, &["doctor"], &[]);
    assert_eq!(ran.code, 3, "{ran}");
    says(
        &ran.stdout,
        &[
            "x project",
            "pushplan.toml has 2 errors",
            "pushplan.toml:2",
            "x manifests",
            "AU107",
            "more.yaml:2",
            "`pushplan validate` shows",
        ],
    );
    says(&ran.stdout, &["\nlocal\n", "no record yet"]);
    assert!(!ran.stdout.contains("hidden-words"), "{ran}");
    let folder = project("[targets.local\n");
    let ran = pushplan(&folder, &["doctor"], &[]);
    assert_eq!(ran.code, 3, "{ran}");
    says(&ran.stdout, &["pushplan.toml has 1 error", "pushplan.toml:1"]);
    let ran = pushplan(&project("[targets.local]\n"), &["doctor", "--target", "locl"], &[]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["did you mean `local`?"]);
}

#[test]
fn a_ledger_that_is_damaged_or_away_is_told() {
    let folder = project("[targets.local]\n");
    assert_eq!(pushplan(&folder, &["apply", "--yes"], &[]).code, 0);
    let record = folder.path().join(".pushplan/ledger/local/00000002.json");
    let text = fs::read_to_string(&record).expect("a record");
    fs::write(&record, &text[..text.len() / 2]).expect("it is written");
    let ran = pushplan(&folder, &["doctor"], &[]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stdout, &["x ledger", "00000002.json", "= help:", "1 problem."]);
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a port").port();
    let away = format!("[targets.local]\nledger = \"postgres://ada@127.0.0.1:{closed}/db/x\"\n");
    let ran = pushplan(&project(&away), &["doctor", "--within", "5s"], &[]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stdout, &["x ledger", &format!("postgres://127.0.0.1:{closed}/db/x")]);
    assert!(!ran.stdout.contains("ada"), "{ran}");
}

#[test]
fn damage_before_a_checkpoint_is_told_though_nobody_reads_it() {
    let folder = project("[targets.local]\n");
    assert_eq!(pushplan(&folder, &["apply", "--yes"], &[]).code, 0);
    assert_eq!(pushplan(&folder, &["ledger", "compact"], &[]).code, 0);
    let ran = pushplan(&folder, &["doctor"], &[]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &["No problems found."]);
    fs::write(folder.path().join(".pushplan/ledger/local/00000002.json"), "{}").expect("a record");
    let before = contents(folder.path());
    let ran = pushplan(&folder, &["doctor"], &[]);
    assert_eq!(ran.code, 0, "plans go on: {ran}");
    says(&ran.stdout, &["history", "has lost some of its history: record 2 is damaged", "restore it from a backup"]);
    assert!(!ran.stdout.contains("No problems found"), "{ran}");
    assert_eq!(contents(folder.path()), before, "nothing is written");
    let document = json(&pushplan(&folder, &["doctor", "--format", "json"], &[]));
    assert_eq!(check(&document, Some("local"), "history")["state"], "warning");
    assert_eq!(pushplan(&folder, &["ledger", "verify"], &[]).code, 1);
}

/// Like in a container that runs as another user than the owner of the clone.
#[test]
fn a_repository_of_another_user_is_told_with_what_to_do() {
    let folder = project("[targets.local]\n");
    let made = Command::new("git").current_dir(folder.path()).args(["init", "-q"]).output().expect("git");
    assert!(made.status.success());
    let other = [("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")];
    let told = [
        "the repository belongs to another user",
        "docker run -u \"$(id -u):$(id -g)\"",
        "git config --global --add safe.directory ",
    ];
    let ran = pushplan(&folder, &["doctor"], &other);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &told);
    for arguments in [&["plan", "--against-git", "HEAD"][..], &["diff", "HEAD"]] {
        let ran = pushplan(&folder, arguments, &other);
        assert_eq!(ran.code, 1, "{ran}");
        says(&ran.stderr, &told);
    }
    folder.write("pushplan.toml", "[targets.local]\nledger = \"git\"\n");
    let ran = pushplan(&folder, &["plan"], &other);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &told);
    // `validate` still works.
    assert_eq!(pushplan(&folder, &["validate"], &other).code, 0);
}

#[test]
fn a_ledger_on_a_git_server_is_looked_at_and_the_clone_stays_as_it_is() {
    let git = |folder: &Folder, arguments: &[&str]| {
        let settings = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"];
        let said = Command::new("git").current_dir(folder.path()).args(settings).args(arguments).output().expect("git");
        assert!(said.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
    };
    let server = Folder::new();
    git(&server, &["init", "-q", "--bare"]);
    let url = server.path().to_str().expect("UTF-8").to_owned();
    let first = project("[targets.local]\nledger = \"git\"\n");
    git(&first, &["init", "-q"]);
    git(&first, &["remote", "add", "origin", &url]);
    let applied = pushplan(&first, &["apply", "--yes"], &[]);
    assert_eq!(applied.code, 0, "{applied}");
    // Another user's clone has not seen the ledger yet.
    let second = project("[targets.local]\nledger = \"git\"\n");
    git(&second, &["init", "-q"]);
    git(&second, &["remote", "add", "origin", &url]);
    let before = contents(second.path());
    let ran = pushplan(&second, &["doctor"], &[]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &["ledger       refs/pushplan/local on origin, ", " records (ledger "]);
    assert_eq!(contents(second.path()), before, "nothing is written");
    // A project outside a repository is not changed either.
    let third = project(&format!("[targets.local]\nledger = \"git:{url}\"\n"));
    let before = contents(third.path());
    let ran = pushplan(&third, &["doctor"], &[("PUSHPLAN_LEDGER_DIR", server.path().to_str().expect("UTF-8"))]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &[" records (ledger "]);
    assert_eq!(contents(third.path()), before, "nothing is written");
}
