//! No file of a work tree chooses a program: settings of git that name one, in every place that a pull request can write to, with
//! every command that may start git.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use pushplan_testing::{Folder, Project, Service, copy};

const MANIFEST: &str = "segments:\n  a: {criteria: {tag: a}}\n";

/// The folder of the project in its repository.
const INSIDE: &str = "team/messages";

/// Every command that may start git. Their results are ignored.
const COMMANDS: [&[&str]; 31] = [
    &["plan"],
    &["plan", "--offline"],
    &["plan", "--against-git", "HEAD"],
    &["plan", "--offline", "--against-git", "origin/main"],
    &["diff", "HEAD"],
    &["drift"],
    &["history"],
    &["unmanaged"],
    &["outcome"],
    &["reach"],
    &["report", "sends"],
    &["doctor"],
    &["ledger", "status"],
    &["ledger", "verify"],
    &["ledger", "export"],
    &["ledger", "compact"],
    &["ledger", "move", "--to", "git"],
    &["pull", "--dry-run"],
    &["adopt", "--all-matching"],
    &["mv", "--dry-run", "segments/a", "segments/b"],
    &["reconcile", "--once"],
    &["revert", "1"],
    &["ci", "init", "github"],
    &["ci", "comment", "--plan", "saved.plan"],
    &["apply", "saved.plan"],
    &["forget", "segments/none"],
    &["resolve", "segments/none", "--absent"],
    &["destroy", "--confirm", "none"],
    &["send", "segments/none", "--to", "named_user:nobody"],
    &["apply", "--yes"],
    &["unlock", "--lease", "none"],
];

/// A setting that names a program: its text, and a git command that runs the program if git trusts the setting.
struct Trap {
    name: &'static str,
    config: &'static str,
    runs: &'static [&'static str],
}

/// In each, GRAB is the program, HOOKS a folder of hooks, SERVER a repository and ASKS a server that asks for a password.
const TRAPS: [Trap; 15] = [
    Trap {
        name: "uploadpack",
        config: "[remote \"origin\"]\nurl = SERVER\nuploadpack = GRAB\n",
        runs: &["ls-remote", "origin"],
    },
    Trap {
        name: "receivepack",
        config: "[remote \"origin\"]\nurl = SERVER\nreceivepack = GRAB\n",
        runs: &["push", "origin", "HEAD:x"],
    },
    Trap {
        name: "ext::",
        config: "[remote \"origin\"]\nurl = \"ext::GRAB\"\n[protocol]\nallow = always\n",
        runs: &["ls-remote", "origin"],
    },
    Trap {
        name: "vcs",
        config: "[remote \"origin\"]\nurl = GRAB\nvcs = ext\n[protocol \"ext\"]\nallow = always\n",
        runs: &["ls-remote", "origin"],
    },
    Trap {
        name: "insteadOf",
        config: "[remote \"origin\"]\nurl = https://git.example/x\n[url \"ext::GRAB \"]\ninsteadOf = https://git.example/\n\
                 [protocol \"ext\"]\nallow = always\n",
        runs: &["ls-remote", "origin"],
    },
    Trap {
        name: "core.sshCommand",
        config: "[remote \"origin\"]\nurl = ssh://git@127.0.0.1:9/x\n[core]\nsshCommand = GRAB\n",
        runs: &["ls-remote", "origin"],
    },
    Trap {
        name: "core.gitProxy",
        config: "[remote \"origin\"]\nurl = git://127.0.0.1:9/x\n[core]\ngitProxy = GRAB\n",
        runs: &["ls-remote", "origin"],
    },
    Trap {
        name: "credential.helper",
        config: "[remote \"origin\"]\nurl = ASKS\n[credential]\nhelper = GRAB\n",
        runs: &["ls-remote", "origin"],
    },
    Trap {
        name: "core.askPass",
        config: "[remote \"origin\"]\nurl = ASKS\n[core]\naskPass = GRAB\n",
        runs: &["ls-remote", "origin"],
    },
    Trap {
        name: "core.hooksPath",
        config: "[remote \"origin\"]\nurl = SERVER\n[core]\nhooksPath = HOOKS\n",
        runs: &["update-ref", "refs/x/y", "HEAD"],
    },
    Trap {
        name: "core.fsmonitor",
        config: "[core]\nbare = false\nfsmonitor = GRAB\n",
        runs: &["--work-tree=.", "status"],
    },
    Trap {
        name: "filter",
        config: "[filter \"x\"]\nclean = GRAB\nsmudge = GRAB\nrequired = true\n",
        runs: &["--work-tree=.", "hash-object", "--path=README", "README"],
    },
    Trap { name: "diff.external", config: "[diff]\nexternal = GRAB\n", runs: &["--work-tree=.", "diff", "HEAD"] },
    Trap {
        name: "gpg.program",
        config: "[gpg]\nprogram = GRAB\n[commit]\ngpgSign = true\n[log]\nshowSignature = true\n",
        runs: &["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-S", "-m", "x", "HEAD^{tree}"],
    },
    Trap { name: "include.path", config: "[include]\npath = INCLUDED\n", runs: &["ls-remote", "origin"] },
];

/// A clone with the project in one of its folders, and everything that its remote, its service and its traps need.
struct Clone {
    folder: Folder,
    project: PathBuf,
    server: Folder,
    service: Service,
    /// A server that asks everybody for a password.
    asks: String,
    /// The folder with the program and the record that it writes when it runs.
    programs: Folder,
    _elsewhere: Project,
}

impl Clone {
    fn new() -> Self {
        let elsewhere = Project::new("");
        let service = elsewhere.serve();
        let (server, folder, programs) = (Folder::new(), Folder::new(), Folder::new());
        git(server.path(), &["init", "-q", "--bare", "-b", "main"]);
        let clone = Self {
            project: folder.path().join(INSIDE),
            folder,
            server,
            asks: asking(),
            programs,
            service,
            _elsewhere: elsewhere,
        };
        let origin = &clone.service.origin;
        let settings =
            format!("[targets.local]\nbase_url = {origin:?}\napi = \"extended\"\nsettle = \"1s\"\nledger = \"git\"\n");
        clone.write("pushplan.toml", &settings);
        clone.write("messages.yaml", MANIFEST);
        clone.write("README", "What comes with the project.\n");
        clone.write(".gitattributes", "README filter=x diff=x\n");
        let top = clone.folder.path();
        git(top, &["init", "-q", "-b", "main"]);
        git(top, &["remote", "add", "origin", clone.server.path().to_str().expect("UTF-8")]);
        git(top, &["add", "."]);
        git(top, &["commit", "-q", "-m", "First"]);
        git(top, &["push", "-q", "origin", "main"]);
        git(top, &["fetch", "-q"]);
        assert!(clone.run(&["plan", "--out", "saved.plan"]).0);
        let ran = clone.run(&["apply", "--yes"]);
        assert!(ran.0, "git works where nothing is wrong: {}", ran.1);
        // The record says who ran it, and which of their data it could read.
        let left = clone.programs.path().join("ran").display().to_string();
        let script =
            format!("#!/bin/sh\n{{ echo \"$0 $*\"; tr '\\0' '\\n' </proc/$PPID/environ; }} >>'{left}' 2>&1\nexit 1\n");
        let grab = clone.programs.write("grab.sh", script);
        fs::set_permissions(&grab, fs::Permissions::from_mode(0o755)).expect("a mode");
        for hook in ["reference-transaction", "pre-push", "post-index-change", "post-checkout"] {
            fs::create_dir_all(clone.programs.path().join("hooks")).expect("a folder");
            symlink(&grab, clone.programs.path().join("hooks").join(hook)).expect("a link");
        }
        clone
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        self.folder.write(&format!("{INSIDE}/{name}"), text)
    }

    fn run(&self, arguments: &[&str]) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_pushplan"))
            .args(arguments)
            .current_dir(&self.project)
            .envs(self.service.credentials())
            .env("PUSHPLAN_LEDGER_DIR", "/")
            .envs([("GITHUB_REPOSITORY", "shop/messages"), ("GITHUB_REF", "refs/pull/7/merge"), ("GITHUB_TOKEN", "t")])
            .envs([("GITHUB_ACTIONS", "true"), ("GITHUB_API_URL", self.asks.trim_end_matches("/x.git"))])
            .env_remove("GITHUB_SHA")
            .output()
            .expect("the binary runs");
        (output.status.success(), format!("{output:?}"))
    }

    /// The settings of a trap, with the names of this clone.
    fn config(&self, trap: &Trap) -> String {
        let programs = self.programs.path().display();
        let included =
            self.write("included", &trap_config(&TRAPS[0], &self.asks, self.server.path(), &programs.to_string(), ""));
        trap_config(trap, &self.asks, self.server.path(), &programs.to_string(), &included.display().to_string())
    }

    /// Makes a folder of the work tree look like a repository: every file for that can be committed.
    fn make_repository(&self, folder: &Path, config: &str) {
        let own = self.folder.path().join(".git");
        for name in ["objects", "refs"] {
            let _ = fs::remove_dir_all(folder.join(name));
            copy(&own.join(name), &folder.join(name));
        }
        fs::copy(own.join("HEAD"), folder.join("HEAD")).expect("a copy");
        fs::copy(own.join("index"), folder.join("index")).expect("a copy");
        fs::write(folder.join("config"), format!("[core]\nrepositoryformatversion = 0\nbare = true\n{config}"))
            .expect("a file");
    }

    /// Returns and deletes the record of the program.
    fn left(&self) -> Option<String> {
        let file = self.programs.path().join("ran");
        let left = fs::read_to_string(&file).ok()?;
        fs::remove_file(file).expect("removed");
        Some(left)
    }

    /// Runs every command, and checks that none runs the program.
    fn tries(&self, way: &str, trap: &str) {
        for arguments in COMMANDS {
            let (_, said) = self.run(arguments);
            assert!(!said.contains("panicked"), "{said}");
            if let Some(left) = self.left() {
                panic!("{way}, {trap}: `pushplan {}` ran it:\n{left}\n{said}", arguments.join(" "));
            }
        }
    }
}

fn trap_config(trap: &Trap, asks: &str, server: &Path, programs: &str, included: &str) -> String {
    let named = [
        ("GRAB", format!("{programs}/grab.sh")),
        ("HOOKS", format!("{programs}/hooks")),
        ("SERVER", server.display().to_string()),
        ("ASKS", asks.to_owned()),
        ("INCLUDED", included.to_owned()),
    ];
    named.iter().fold(trap.config.to_owned(), |text, (name, value)| text.replace(name, value))
}

fn git(folder: &Path, arguments: &[&str]) {
    let settings = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"];
    let said = Command::new("git").current_dir(folder).args(settings).args(arguments).output().expect("git");
    assert!(said.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
}

/// An HTTP server that asks everybody for a password.
fn asking() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/x.git", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut lines = BufReader::new(stream.try_clone().expect("a connection")).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let _ = stream.write_all(
                b"HTTP/1.1 401 No\r\nwww-authenticate: Basic realm=\"x\"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            );
        }
    });
    url
}

#[test]
fn a_folder_that_looks_like_a_repository_runs_nothing() {
    let clone = Clone::new();
    for trap in &TRAPS {
        clone.make_repository(&clone.project, &clone.config(trap));
        // The trap works: git itself runs the program if it takes the folder for a repository.
        let dir = format!("--git-dir={}", clone.project.display());
        let _ = Command::new("git").current_dir(&clone.project).arg(dir).args(trap.runs).output().expect("git");
        assert!(clone.left().is_some(), "{} runs nothing in git {:?}", trap.name, trap.runs);
        clone.tries("a bare repository around the manifests", trap.name);
    }
    // And all commands work there.
    let (is_good, said) = clone.run(&["plan", "--detailed-exitcode"]);
    assert!(is_good && said.contains("No changes"), "{said}");
}

#[test]
fn no_file_of_a_work_tree_is_taken_for_git() {
    let clone = Clone::new();
    let grab = clone.programs.path().join("grab.sh");
    symlink(&grab, clone.project.join("git")).expect("a link");
    let path = std::env::var("PATH").expect("a path");
    for relative in [".", ""] {
        let env = [("PATH", format!("{relative}:{path}"))];
        let output = Command::new(env!("CARGO_BIN_EXE_pushplan"))
            .args(["history"])
            .current_dir(&clone.project)
            .envs(clone.service.credentials())
            .envs(env)
            .output()
            .expect("the binary runs");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(clone.left(), None);
    }
}

#[test]
fn no_other_file_of_a_work_tree_has_settings() {
    let clone = Clone::new();
    // The first address of a remote is used first. With a helper for it, none is.
    let all: String = TRAPS.iter().filter(|trap| trap.name != "vcs").map(|trap| clone.config(trap)).collect();
    let evil = clone.project.join("evil");
    fs::create_dir(&evil).expect("a folder");
    clone.make_repository(&evil, &all);
    // A file that names a folder of the work tree as its git directory, and a link to it.
    fs::write(clone.project.join(".git"), "gitdir: ./evil\n").expect("a file");
    clone.tries("a .git file", "all");
    let (is_good, said) = clone.run(&["history"]);
    assert!(!is_good && said.contains("part of the work tree"), "{said}");
    fs::remove_file(clone.project.join(".git")).expect("removed");
    symlink("evil", clone.project.join(".git")).expect("a link");
    clone.tries("a .git link", "all");
    fs::remove_file(clone.project.join(".git")).expect("removed");
    // The user's own settings, which include a file of the work tree.
    let included = clone.write("shared.gitconfig", &all);
    let own = clone.folder.path().join(".git/config");
    let before = fs::read_to_string(&own).expect("settings");
    fs::write(&own, format!("{before}[include]\npath = {}\n", included.display())).expect("settings");
    let _ = Command::new("git").current_dir(&clone.project).args(["ls-remote", "origin"]).output().expect("git");
    assert!(clone.left().is_some(), "git reads the file");
    clone.tries("an included file", "all");
    let (is_good, said) = clone.run(&["history"]);
    assert!(!is_good && said.contains("shared.gitconfig, which is part of the project"), "{said}");
    fs::write(&own, &before).expect("settings");
    // A filter in the user's own settings with a relative name, which the attributes of the work tree select.
    let filter = clone.write(
        "filter.sh",
        &format!("#!/bin/sh\necho filtered >>'{}'\ncat\n", clone.programs.path().join("ran").display()),
    );
    fs::set_permissions(&filter, fs::Permissions::from_mode(0o755)).expect("a mode");
    let filter = format!("[filter \"x\"]\nclean = {INSIDE}/filter.sh\nprocess = {INSIDE}/filter.sh\nrequired = true\n");
    fs::write(&own, format!("{before}{filter}")).expect("settings");
    clone.write("README", "What comes with the PROJECT.\n");
    let _ = Command::new("git").current_dir(&clone.project).arg("status").output().expect("git");
    assert!(clone.left().is_some(), "git runs the filter");
    clone.tries("a filter with a relative name", "filter");
    fs::write(&own, &before).expect("settings");
    // Outside a repository, pushplan's own files may have come with the project.
    fs::remove_dir_all(clone.folder.path().join(".git")).expect("removed");
    let settings = fs::read_to_string(clone.project.join("pushplan.toml")).expect("settings");
    let place = format!("git:{}", clone.server.path().display());
    clone.write("pushplan.toml", &settings.replace("\"git\"", &format!("{place:?}")));
    let kept = clone.project.join(".pushplan/git");
    fs::create_dir_all(kept.parent().expect("a folder")).expect("a folder");
    fs::rename(&evil, &kept).expect("moved");
    clone.tries("a repository in .pushplan", "all");
    let (is_good, said) = clone.run(&["history"]);
    assert!(!is_good && said.contains("pushplan does not write it"), "{said}");
    fs::remove_dir_all(&kept).expect("removed");
    let (is_good, said) = clone.run(&["history"]);
    assert!(is_good, "{said}");
}

#[test]
fn what_the_user_sets_for_a_clone_still_counts() {
    let clone = Clone::new();
    // Such as the token that the checkout of a CI system leaves for git, or a key of the user.
    let grab = clone.programs.path().join("grab.sh").display().to_string();
    git(clone.folder.path(), &["config", "credential.helper", &grab]);
    git(clone.folder.path(), &["remote", "set-url", "origin", &clone.asks]);
    clone.run(&["history"]);
    let left = clone.left().expect("the helper is asked");
    assert!(left.contains("grab.sh get"), "{left}");
    assert!(!left.contains("PUSHPLAN_"), "{left}");
    git(clone.folder.path(), &["config", "core.sshCommand", &grab]);
    git(clone.folder.path(), &["remote", "set-url", "origin", "ssh://git@127.0.0.1:9/x"]);
    clone.run(&["history"]);
    assert!(clone.left().is_some(), "ssh is started as the user says");
}

/// Whether a user with this id can read the environment of a process.
#[cfg(target_os = "linux")]
fn reads_environment(user: u32, process: u32) -> bool {
    let mut cat = Command::new("cat");
    std::os::unix::process::CommandExt::uid(&mut cat, user);
    cat.arg(format!("/proc/{process}/environ")).output().expect("cat").status.success()
}

#[test]
#[cfg(target_os = "linux")]
fn no_process_of_the_same_user_reads_the_environment() {
    use std::os::unix::fs::{MetadataExt, chown};
    use std::os::unix::process::CommandExt;
    use std::process::Stdio;

    let folder = Folder::project(MANIFEST);
    let own = fs::metadata(folder.path()).expect("a folder").uid();
    // The superuser can read everything.
    let user = if own == 0 { 65534 } else { own };
    let binary = folder.path().join("pushplan");
    fs::copy(env!("CARGO_BIN_EXE_pushplan"), &binary).expect("a copy");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
    chown(folder.path(), Some(user), None).expect("an owner");
    let mut command = Command::new(&binary);
    command.args(["serve", "--port", "0"]).current_dir(folder.path()).env("HOME", folder.path()).uid(user);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    // A process that another test is starting may keep the copy open for a moment.
    let mut child = loop {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => thread::yield_now(),
            started => break started.expect("the binary starts"),
        }
    };
    let first = BufReader::new(child.stdout.take().expect("piped")).lines().next();
    let is_read = reads_environment(user, child.id());
    child.kill().expect("ended");
    child.wait().expect("ended");
    assert!(first.is_some_and(|line| line.is_ok_and(|line| line.contains("Ready"))), "it runs");
    assert!(!is_read, "the environment can be read");
    // The check itself works: it reads the environment of any other program.
    let mut other = Command::new("sleep").arg("60").uid(user).spawn().expect("a program");
    let is_read = (0..1000).any(|_| reads_environment(user, other.id()));
    other.kill().expect("ended");
    other.wait().expect("ended");
    assert!(is_read, "the way in which it looks works");
}
