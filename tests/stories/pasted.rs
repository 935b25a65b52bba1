//! Commands that pushplan prints can be pasted in the current folder of the user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pushplan_testing::{Project, Ran, Service, ended, says};

const ONE: &str = "segments:\n  a: {criteria: {tag: a}}\n";
const SLOW: &str = "[[fault]]\nkind = \"delay\"\nms = 2500\nmethod = \"POST\"\n";
/// The name of the folder needs quotes in a shell.
const FOLDER: &str = "q em3";
const TARGET: &str = "e-f";

/// A user in a folder above the project, whose ledger is in a shared folder.
struct Above {
    outer: Project,
    service: Service,
}

impl Above {
    fn new(rules: &str) -> Self {
        let outer = Project::new("");
        let service = outer.faulty(rules);
        let above = Self { outer, service };
        fs::create_dir(above.shared()).expect("a folder");
        let settings = format!(
            "[targets.{TARGET}]\nbase_url = {:?}\nledger = \"file:{}\"\nsettle = \"1s\"\nsend_within = \"30s\"\n\
             [targets.other]\n",
            above.service.origin,
            above.shared().display()
        );
        above.outer.folder.write(&format!("{FOLDER}/pushplan.toml"), settings);
        above.outer.folder.write(&format!("{FOLDER}/messages.yaml"), ONE);
        above
    }

    fn shared(&self) -> PathBuf {
        self.path("shared4")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.outer.folder.path().join(name)
    }

    fn arguments<'a>(&self, arguments: &[&'a str]) -> Vec<&'a str> {
        [arguments, &["--project", FOLDER, "--target", TARGET]].concat()
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let shared = self.shared().display().to_string();
        self.outer.run_as(&self.arguments(arguments), &self.environment(&shared, &[]))
    }

    /// Credentials, and the permission for a ledger outside the project.
    fn environment<'a>(&'a self, shared: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        [&self.service.credentials()[..], &[("PUSHPLAN_LEDGER_DIR", shared)], more].concat()
    }

    /// An apply whose request is under way.
    fn start(&self, env: &[(&str, &str)]) -> Child {
        let shared = self.shared().display().to_string();
        let child = self.outer.start_as(&self.arguments(&["apply", "--yes"]), &self.environment(&shared, env));
        let began = Instant::now();
        let is_written = || {
            let folders = fs::read_dir(self.shared()).expect("a folder").flatten();
            folders.into_iter().any(|folder| folder.path().join("00000002.json").exists())
        };
        while !is_written() {
            assert!(began.elapsed() < Duration::from_secs(120), "an intent is written");
            sleep(Duration::from_millis(20));
        }
        child
    }

    /// A command as a shell reads it.
    fn paste(&self, line: &str) -> Ran {
        let binary = Path::new(env!("CARGO_BIN_EXE_pushplan")).parent().expect("a folder");
        let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(self.outer.folder.path())
            .env("PATH", path)
            .envs(self.service.credentials())
            .env("PUSHPLAN_LEDGER_DIR", self.shared())
            .stdin(Stdio::null())
            .output()
            .expect("a shell");
        Ran {
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
            code: output.status.code().expect("no signal"),
        }
    }

    /// The ledger's folder disappears while a request is under way, and is back after the run has ended.
    fn lose_the_store(&self, env: &[(&str, &str)], meanwhile: impl Fn()) -> Ran {
        let child = self.start(env);
        fs::rename(self.shared(), self.path("away")).expect("moved");
        meanwhile();
        let ran = ended(child);
        assert_ne!(ran.code, 0, "{ran}");
        fs::rename(self.path("away"), self.shared()).expect("moved back");
        ran
    }
}

/// The rest of the line after these words.
#[track_caller]
fn after<'r>(ran: &'r Ran, words: &str) -> &'r str {
    let line = ran.stderr.lines().find_map(|line| Some(line.split_once(words)?.1));
    line.unwrap_or_else(|| panic!("{words:?} in {ran}")).trim()
}

#[test]
fn what_could_not_be_written_is_restored_with_the_command_that_was_printed() {
    let above = Above::new(SLOW);
    let ran = above.lose_the_store(&[], || ());
    let restored = above.paste(after(&ran, "copy that file and run: "));
    assert_eq!(restored.code, 0, "{ran}{restored}");
    says(&restored.stderr, &["are in the ledger now", "segments/a"]);
    let told = above.run(&["plan"]);
    says(&told.stdout, &["No changes."]);
}

#[test]
fn a_lease_is_ended_with_the_command_that_was_printed() {
    let above = Above::new(SLOW);
    let first = above.start(&[]);
    let second = above.run(&["apply", "--yes"]);
    assert_eq!(second.code, 8, "{second}");
    let unlocked = above.paste(&format!("{} --yes", after(&second, "if that run is dead: ")));
    assert_eq!(unlocked.code, 0, "{second}{unlocked}");
    says(&unlocked.stdout, &["Ended the lease of "]);
    ended(first);
}

#[test]
fn every_command_that_is_named_has_the_project_and_the_target() {
    let above = Above::new("");
    let ran = above.run(&["forget", "segments/nothing-of-this-name"]);
    assert_eq!(ran.code, 64, "{ran}");
    above.run(&["apply", "--yes"]);
    let ran = above.run(&["forget", "segments/nothing-of-this-name"]);
    says(&ran.stderr, &["`pushplan list --project 'q em3' --target e-f` shows them"]);
    above.outer.folder.write(&format!("{FOLDER}/messages.yaml"), "segments:\n  a: {criteria: {}}\n");
    let ran = above.run(&["plan"]);
    says(&ran.stderr, &["`pushplan validate 'q em3' --target e-f` shows them"]);
    let pasted = above.paste("pushplan validate 'q em3' --target e-f");
    assert_eq!(pasted.code, 3, "{pasted}");
}

#[test]
fn where_the_project_cannot_be_written_either_results_are_kept_for_a_short_time() {
    let above = Above::new(SLOW);
    let temporary = above.path("for a short time");
    fs::create_dir(&temporary).expect("a folder");
    let unwritten = above.path(&format!("{FOLDER}/.pushplan/unwritten"));
    let block = || fs::write(&unwritten, "no folder").expect("a file");
    let env = [("TMPDIR", temporary.to_str().expect("UTF-8"))];
    let ran = above.lose_the_store(&env, block);
    fs::remove_file(&unwritten).expect("removed");
    let folder = fs::read_dir(&temporary).expect("a folder").next().expect("one").expect("an entry").path();
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join("unwritten.json"))), (0o700, 0o600));
    let restored = above.paste(after(&ran, "Before the next apply, run: "));
    assert_eq!(restored.code, 0, "{ran}{restored}");
    says(&above.run(&["plan"]).stdout, &["No changes."]);
}

#[test]
fn where_nothing_can_be_written_results_are_printed_and_restored_from_there() {
    let above = Above::new(SLOW);
    let unwritten = above.path(&format!("{FOLDER}/.pushplan/unwritten"));
    let block = || fs::write(&unwritten, "no folder").expect("a file");
    let ran = above.lose_the_store(&[("TMPDIR", "/no/such/folder")], block);
    fs::remove_file(&unwritten).expect("removed");
    says(&ran.stderr, &["and not to a file either"]);
    let line = ran.stderr.lines().find(|line| line.starts_with("{\"format\"")).unwrap_or_else(|| panic!("{ran}"));
    above.outer.folder.write("copied.json", format!("{line}\n"));
    let command = after(&ran, "before the next apply run: ").replace("FILE", "copied.json");
    let restored = above.paste(&command);
    assert_eq!(restored.code, 0, "{ran}{restored}");
    says(&restored.stderr, &["are in the ledger now", "segments/a"]);
    says(&above.run(&["plan"]).stdout, &["No changes."]);
}
