//! The files that `ci init` writes, and the allowed contents of those and of the action.

use pushplan_testing::hosts::Kind;
use pushplan_testing::{Folder, says};
use serde_json::{Value, json};

use crate::team::{outside, ran};
use crate::yaml::{document, documents, own, scripts, texts};

/// A project with a target on a service, in a folder of a repository. `ledger` is the line with the location of its
/// ledger.
pub fn project(ledger: &str) -> Folder {
    let folder = Folder::new();
    folder.write(".git/HEAD", "ref: refs/heads/main\n");
    let target = |name: &str| format!("[targets.{name}]\nbase_url = \"https://{name}.example\"\n{ledger}\n");
    folder.write("shop/pushplan.toml", format!("[targets.local]\n{}", target("production")));
    folder.write("both/pushplan.toml", format!("{}{}", target("one"), target("two")));
    folder
}

#[test]
fn a_workflow_of_few_lines_is_written_once() {
    for (host, file) in [("github", ".github/workflows/pushplan.yml"), ("gitlab", ".gitlab-ci.yml")] {
        let folder = project("");
        let run = |below: &str, more: &[&str]| folder.run_in(below, &[&["ci", "init", host], more].concat(), b"");
        let ran = run("shop", &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(
            &ran.stdout,
            &[
                "PUSHPLAN_APP_KEY and PUSHPLAN_MASTER_SECRET",
                "https://production.example",
                "ledger = \"git\" for production",
            ],
        );
        let text = folder.read(file);
        assert!(text.lines().count() <= 25, "{text}");
        says(
            &text,
            &[
                "\"production\"",
                "\"shop\"",
                "\"https://production.example\"",
                concat!("v", env!("CARGO_PKG_VERSION")).trim_start_matches(if host == "github" { "" } else { "v" }),
            ],
        );
        document(&text);
        // An existing file is kept.
        folder.write(file, "mine\n");
        let ran = run("shop", &[]);
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &["is there already", "--force"]);
        assert_eq!(folder.read(file), "mine\n");
        assert_eq!(run("shop", &["--force"]).code, 0);
        assert_eq!(folder.read(file), text);
        // Several applications use a credentials file; the location of a fork is pinned too.
        let ran = run("both", &["--force", "--uses", "shop/pushplan@v1.2.3"]);
        assert_eq!(ran.code, 0, "{ran}");
        let text = folder.read(file);
        says(&text, &["\"one,two\"", "\"both\"", " shop/pushplan@v1.2.3\n"]);
        says(
            &ran.stdout,
            &[match host {
                "github" => "PUSHPLAN_CREDENTIALS_TOML",
                _ => "PUSHPLAN_CREDENTIALS of the type file, not protected",
            }],
        );
        assert!(text.lines().count() <= 25, "{text}");
        for wrong in ["shop/pushplan", "shop/pushplan@v1.2.3\nx: y", "@v1.2.3"] {
            assert_eq!(run("both", &["--force", "--uses", wrong]).code, 64, "{wrong}");
        }
        // A reference that can move gets no credentials.
        for moves in ["main", "v1", "1.2", "latest", "deadbeef", "v1.x.3"] {
            let ran = run("both", &["--force", "--uses", &format!("shop/pushplan@{moves}")]);
            assert_eq!(ran.code, 64, "{moves}: {ran}");
            says(&ran.stderr, &[&format!("`{moves}` can be something else tomorrow"), "write a release or a commit"]);
        }
        assert_eq!(folder.read(file), text);
        let commit = format!("shop/pushplan@{}", "0123456789".repeat(4));
        assert_eq!(run("both", &["--force", "--uses", &commit]).code, 0);
        // The targets must exist in the project.
        let text = folder.read(file);
        for (wrong, help) in
            [("nosuch", "the targets are one, two"), ("one,twoo", "did you mean `two`?"), ("x-*", "one, two")]
        {
            let ran = run("both", &["--force", "--target", wrong]);
            assert_eq!(ran.code, 64, "{wrong}: {ran}");
            says(&ran.stderr, &["no target ", help]);
        }
        assert_eq!(folder.read(file), text);
        // A single target has a single origin.
        let ran = run("both", &["--force", "--target", "two"]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&folder.read(file), &["\"two\"", "\"https://two.example\""]);
        says(&ran.stdout, &["PUSHPLAN_APP_KEY and PUSHPLAN_MASTER_SECRET", "https://two.example"]);
    }
}

#[test]
fn ledgers_move_as_the_steps_say_in_their_order() {
    let (team, _service) = crate::targets::team(Kind::GitHub);
    let folder = &team.project.folder;
    let credentials = [("PUSHPLAN_CREDENTIALS", folder.path().join("credentials.toml").display().to_string())];
    let run = |arguments: &[&str]| team.run(arguments, &credentials);
    let server = Folder::new();
    for (place, arguments) in
        [(server.path(), &["init", "-q", "--bare"][..]), (folder.path(), &["init", "-q", "-b", "main"])]
    {
        assert_eq!(ran(outside("git").args(arguments).current_dir(place)).code, 0);
    }
    let remote = server.path().display().to_string();
    assert_eq!(ran(outside("git").args(["remote", "add", "origin", &remote]).current_dir(folder.path())).code, 0);
    assert_eq!(run(&["apply", "--all-targets", "--yes"]).code, 0);
    for host in ["github", "gitlab"] {
        let told = run(&["ci", "init", host]).stdout;
        let lines: Vec<&str> = told.lines().map(str::trim).filter(|line| line.starts_with("pushplan ")).collect();
        let moving = |name: &str| format!("pushplan ledger move --from file: --to git --target {name}");
        assert_eq!(lines, [moving("first"), moving("second")], "{told}");
        // A single one is on the same line.
        let told = run(&["ci", "init", host, "--force", "--target", "second"]).stdout;
        says(&told, &[&format!("applied already: {}\n", moving("second"))]);
        if host == "gitlab" {
            let settings = folder.read("pushplan.toml").replace("\"file:\"", "\"git\"");
            folder.write("pushplan.toml", settings);
            // Without its current location, the command needs the location as an argument.
            let ran = run(&["ledger", "move", "--to", "git", "--target", "first"]);
            assert_eq!(ran.code, 64, "{ran}");
            says(
                &ran.stderr,
                &["is already in refs/pushplan/first on origin, according to pushplan.toml", &moving("first")],
            );
            for line in lines {
                let ran = run(&line.split(' ').skip(1).collect::<Vec<_>>());
                assert_eq!(ran.code, 0, "{ran}");
            }
        }
    }
    let ran = run(&["plan", "--all-targets", "--detailed-exitcode"]);
    assert_eq!(ran.code, 0, "{ran}");
    let ran = run(&["ledger", "move", "--from", "git", "--to", "git", "--target", "first"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["--from and --to of the ledger of `first` are the same place"]);
}

#[test]
fn a_target_without_a_ledger_gets_one_in_the_project_file() {
    for host in ["github", "gitlab"] {
        let folder = project("");
        let matrix = "[matrix]\ncountry = [\"de\", \"us\"]\n[matrix.target]\n\
                      base_url = \"https://${country}.example\" # each has its own\napi = \"extended\"\n";
        folder.write("all/pushplan.toml", matrix);
        folder.write("all/a.yaml", "segments: {a: {criteria: {tag: a}}}\n");
        let ran = folder.run_in("all", &["validate"], b"");
        assert_eq!(ran.code, 3, "{ran}");
        says(
            &ran.stdout,
            &[
                "error[YM304]: target `de` does not name its ledger",
                "pushplan.toml:4:12",
                "create and send everything again",
                "git or git:REMOTE, file:FOLDER, postgres://HOST/DATABASE/SCHEMA, s3://BUCKET/PREFIX",
            ],
        );
        let ran = folder.run_in("all", &["ci", "init", host], b"");
        assert_eq!(ran.code, 0, "{ran}");
        says(
            &ran.stdout,
            &["pushplan.toml now says ledger = \"git\" for de and us: commit it.", "--from file: --to git"],
        );
        let written = matrix.replace("own\n", "own\nledger = \"git\"\n");
        assert_eq!(folder.read("all/pushplan.toml"), written);
        let ran = folder.run_in("all", &["validate"], b"");
        assert_eq!(ran.code, 0, "{ran}");
        // An existing file is not overwritten, and the project file is not changed either.
        let before = folder.read("shop/pushplan.toml");
        assert_eq!(folder.run_in("shop", &["ci", "init", host], b"").code, 64);
        assert_eq!(folder.read("shop/pushplan.toml"), before);
    }
}

#[test]
fn a_password_is_written_into_no_workflow() {
    for host in ["github", "gitlab"] {
        let folder = Folder::new();
        folder.write(".git/HEAD", "ref: refs/heads/main\n");
        folder.write("pushplan.toml", "[targets.production]\nbase_url = \"https://ada:hunter2@push.example\"\n");
        let ran = folder.run_in(".", &["ci", "init", host], b"");
        assert_eq!(ran.code, 3, "{ran}");
        says(&ran.stderr, &["target production", "a base URL must not contain credentials", "pushplan.toml"]);
        assert!(!ran.to_string().contains("hunter2"), "{ran}");
        assert!(!folder.path().join(".github").exists() && !folder.path().join(".gitlab-ci.yml").exists());
    }
}

#[test]
fn a_branch_is_one_that_git_has_and_stands_for_itself_in_a_pattern() {
    let folder = project("");
    let file = ".github/workflows/pushplan.yml";
    let run = |branch: &str| {
        let option = format!("--branch={branch}");
        folder.run_in("shop", &["ci", "init", "github", "--force", &option], b"")
    };
    for wrong in [
        "",
        "feature/*",
        "a\nb",
        "a b",
        "a~1",
        "a^",
        "a:b",
        "a?",
        "[a]",
        "a\\b",
        "a..b",
        "-a",
        "/a",
        "a/",
        "a//b",
        "a.",
        "a.lock",
        "x.lock/a",
        ".a",
        "a/.b",
        "@",
        "HEAD",
        "a@{1}",
        "a${{x}}",
        "a\u{7f}",
        "a\u{85}b",
    ] {
        let ran = run(wrong);
        assert_eq!(ran.code, 64, "{wrong:?}: {ran}");
        says(&ran.stderr, &["is not the name of one branch: ", "--branch main"]);
        assert!(!folder.path().join(".github").exists(), "{wrong:?}");
    }
    for (branch, pattern) in [
        ("rel+x", "rel\\+x"),
        ("!main", "\\!main"),
        ("a!b", "a!b"),
        ("c++", "c\\+\\+"),
        ("release/1.2", "release/1.2"),
        ("@TARGET@", "@TARGET@"),
        ("größe", "größe"),
    ] {
        let ran = run(branch);
        assert_eq!(ran.code, 0, "{branch}: {ran}");
        says(&ran.stdout, &[&format!("Protect the branch {branch}:")]);
        assert_eq!(document(&folder.read(file))["on"]["push"]["branches"], json!([pattern]), "{branch}");
    }
}

#[test]
fn no_name_becomes_an_expression_in_a_workflow() {
    for (host, file, wrong) in [
        ("github", ".github/workflows/pushplan.yml", ["${{ secrets.X }}", "a\nb"]),
        ("gitlab", ".gitlab-ci.yml", ["$GITLAB_TOKEN", "a\u{1b}b"]),
    ] {
        let target = "base_url = \"https://push.example\"\n";
        let folder = Folder::new();
        folder.write(".git/HEAD", "ref: refs/heads/main\n");
        for below in wrong {
            folder.write(&format!("{below}/pushplan.toml"), format!("[targets.production]\n{target}"));
            let ran = folder.run_in(below, &["ci", "init", host], b"");
            assert_eq!(ran.code, 64, "{below:?}: {ran}");
            says(&ran.stderr, &["cannot be named in a workflow", "another name"]);
        }
        for name in ["${{ secrets.X }}", "a b,c"] {
            folder.write("shop/pushplan.toml", format!("[targets.\"{name}\"]\n{target}"));
            for more in [&[][..], &["--target", "*"]] {
                let ran = folder.run_in("shop", &[&["ci", "init", host], more].concat(), b"");
                assert_eq!(ran.code, 3, "{name}: {ran}");
                says(&ran.stderr, &[&format!("`{name}` cannot be the name of a target"), "pushplan validate"]);
            }
        }
        assert!(!folder.path().join(file).exists());
        // A folder may have the name of a placeholder of the template.
        folder.write("@CREDENTIALS@/pushplan.toml", format!("[targets.production]\n{target}"));
        let ran = folder.run_in("@CREDENTIALS@", &["ci", "init", host, "--target", " production , prod* "], b"");
        assert_eq!(ran.code, 0, "{ran}");
        says(&folder.read(file), &["project: \"@CREDENTIALS@\"", "target: \"production,prod*\""]);
    }
}

#[test]
fn a_workflow_asks_for_no_more_than_it_needs() {
    for (ledger, contents) in
        [("ledger = \"file:\"", "read"), ("ledger = \"git\"", "write"), ("ledger = \"s3://bucket/x\"", "read")]
    {
        let folder = project(ledger);
        let ran = folder.run_in("shop", &["ci", "init", "github", "--branch", "trunk"], b"");
        assert_eq!(ran.code, 0, "{ran}");
        assert_eq!(ran.stdout.contains("its credentials"), ledger.contains("s3"), "{ran}");
        let workflow = document(&folder.read(".github/workflows/pushplan.yml"));
        let rights = |of: &Value, wanted: &str| {
            let permissions = of["permissions"].as_object().expect("permissions");
            assert_eq!((&permissions["contents"], &permissions["pull-requests"]), (&wanted.into(), &"write".into()));
            assert_eq!(permissions.len(), 2);
        };
        let mut events: Vec<&str> = workflow["on"].as_object().expect("events").keys().map(String::as_str).collect();
        events.sort_unstable();
        assert_eq!(events, ["pull_request", "push", "schedule"]);
        assert_eq!(workflow["on"]["push"]["branches"][0], "trunk");
        let jobs = workflow["jobs"].as_object().expect("jobs");
        assert_eq!(jobs.len(), 2);
        let (look, apply) = (&jobs["look"], &jobs["apply"]);
        let command = |job: &Value| job["steps"][1]["with"]["command"].as_str().expect("a command").to_owned();
        // Jobs that only read may write nothing but the comment, whatever the ledger is.
        rights(&workflow, "read");
        assert_eq!(look.get("permissions"), None);
        assert_eq!(look["if"], "github.event_name != 'push'");
        assert_eq!(command(look), "${{ github.event_name == 'schedule' && 'drift' || 'plan' }}");
        assert_eq!(look["concurrency"]["cancel-in-progress"], true);
        let group = look["concurrency"]["group"].as_str().expect("a group");
        assert_eq!(group, "pushplan-shop-${{ github.event_name }}-${{ github.ref }}");
        // Merges are applied in order; none is cancelled, and none is dropped from the queue.
        rights(apply, contents);
        assert_eq!(apply["if"], "github.event_name == 'push'");
        assert_eq!(command(apply), "apply");
        assert_eq!(apply["concurrency"], json!({"group": "pushplan-shop-apply", "queue": "max"}));
    }
}

#[test]
fn what_is_set_by_hand_on_gitlab_is_told() {
    for (ledger, pushes) in
        [("ledger = \"file:\"", false), ("ledger = \"git\"", true), ("ledger = \"s3://bucket/x\"", false)]
    {
        let folder = project(ledger);
        let ran = folder.run_in("shop", &["ci", "init", "gitlab"], b"");
        assert_eq!(ran.code, 0, "{ran}");
        assert_eq!(ran.stdout.contains("Allow Git push requests to the repository"), pushes, "{ran}");
        says(&ran.stdout, &["process_mode=oldest_first", "resource_groups/pushplan"]);
        let jobs = documents(&own("templates/pushplan.yml").replace("$[[ inputs.suffix ]]", "")).pop().expect("jobs");
        assert_eq!(jobs["pushplan-apply"]["resource_group"], "pushplan");
    }
}

/// The refs of a server, by name.
fn refs(server: &Folder) -> String {
    let ran = ran(outside("git").args(["for-each-ref"]).current_dir(server.path()));
    assert_eq!(ran.code, 0, "{ran}");
    ran.stdout
}

#[test]
fn whoever_only_looks_pushes_nothing_to_a_ledger_on_a_git_server() {
    let (server, folder) = (Folder::new(), Folder::project("segments:\n  a: {criteria: {tag: a}}\n"));
    let git = |folder: &Folder, arguments: &[&str]| {
        let ran = ran(outside("git").args(arguments).current_dir(folder.path()));
        assert_eq!(ran.code, 0, "{ran}");
    };
    git(&server, &["init", "-q", "--bare"]);
    git(&folder, &["init", "-q"]);
    git(&folder, &["remote", "add", "origin", server.path().to_str().expect("UTF-8")]);
    folder.write("pushplan.toml", "[targets.local]\nledger = \"git\"\n");
    let run = |arguments: &[&str]| {
        let ran = ran(outside(env!("CARGO_BIN_EXE_pushplan")).args(arguments).current_dir(folder.path()));
        assert_eq!(ran.code, 0, "{ran}");
    };
    run(&["apply", "--yes"]);
    let before = refs(&server);
    assert!(before.contains("refs/pushplan/local"), "{before}");
    folder.write("messages.yaml", "segments:\n  a: {criteria: {tag: b}}\n");
    for arguments in [
        &["plan", "--out", "plan.json"][..],
        &["plan", "--offline"],
        &["drift"],
        &["ci", "summary", "--plan", "plan.json"],
        &["ci", "outputs", "--plan", "plan.json"],
    ] {
        run(arguments);
        assert_eq!(refs(&server), before, "{arguments:?}");
    }
    run(&["apply", "--yes"]);
    assert_ne!(refs(&server), before);
}

/// Whether an action is pinned to a commit, or is pushplan's own with its release.
fn is_pinned(uses: &str) -> bool {
    let (name, at) = uses.split_once('@').unwrap_or((uses, ""));
    let is_commit = at.len() == 40 && at.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit || (name == "pushplan/pushplan" && at == concat!("v", env!("CARGO_PKG_VERSION")))
}

#[test]
fn no_expression_reaches_a_shell_and_every_action_is_pinned() {
    let folder = project("");
    folder.run_in("shop", &["ci", "init", "github"], b"");
    let workflow = folder.read(".github/workflows/pushplan.yml");
    let action = own("action.yml");
    for text in [&workflow, &action] {
        let document = document(text);
        for (place, script) in scripts(&document) {
            assert!(!script.contains("${{"), "{place}: {script}");
        }
        texts(&document, &mut Vec::new(), &mut |keys, text| {
            if keys.last().is_some_and(|key| key == "uses") {
                assert!(is_pinned(text), "{text}");
            }
            // Texts of outsiders are in the event, and in names that they choose.
            for untrusted in ["github.event.", "head_ref", "github.actor", "pull_request_target"] {
                assert!(!text.contains(untrusted), "{text}");
            }
            let is_shell = keys.iter().any(|key| key == "shell");
            assert!(!is_shell || text == "bash", "{text}");
        });
        assert!(!text.contains("pull_request_target"), "{text}");
    }
    assert_eq!(scripts(&document(&action)).len(), 3, "what a shell gets is looked at");
    // The check itself works: it finds an unsafe expression.
    let evil = "jobs: {a: {steps: [{run: 'echo ${{ github.event.pull_request.title }}'}]}}\n";
    assert!(scripts(&document(evil)).iter().any(|(_, script)| script.contains("${{")));
    assert!(!is_pinned("actions/checkout@v4") && !is_pinned("actions/checkout"));
}

#[test]
fn without_a_remote_the_branch_is_the_one_that_is_checked_out() {
    let folder = Folder::new();
    let git = |arguments: &[&str]| {
        let ran = ran(outside("git").args(arguments).current_dir(folder.path()));
        assert_eq!(ran.code, 0, "{ran}");
    };
    git(&["init", "-q", "-b", "trunk"]);
    folder.write("pushplan.toml", "[targets.production]\nbase_url = \"https://production.example\"\n");
    let branch = || {
        let ran = folder.run_in(".", &["ci", "init", "github", "--force"], b"");
        assert_eq!(ran.code, 0, "{ran}");
        document(&folder.read(".github/workflows/pushplan.yml"))["on"]["push"]["branches"][0].clone()
    };
    assert_eq!(branch(), "trunk");
    // If the remote names its default branch, that one is used.
    git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/develop"]);
    assert_eq!(branch(), "develop");
}
