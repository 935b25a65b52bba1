//! The `git` program: how it is started, its time limit, and what of its output is shown.

use std::env;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::io::AsyncWriteExt;

use super::locate::{Located, real};
use super::masked;
use super::settings::GitSettings;
use crate::files::describe;

/// The time limit of git.
pub const LIMIT: Duration = Duration::from_secs(60);

/// The protocols that git may use. Others run programs that a project could name.
const PROTOCOLS: [&str; 5] = ["file", "git", "http", "https", "ssh"];

/// Variables that would lead git to another repository. A hook that runs pushplan sets them.
const REMOVED: [&str; 17] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_DATE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
    "GIT_PROTOCOL",
];

/// Secrets that neither git nor its programs need: names, or starts of names with a star.
const KEPT_BACK: [&str; 3] = ["AZURE_STORAGE_*", "PGPASS*", "PUSHPLAN_*"];

/// Secrets that a credential helper may need, so that only a git that talks to a server gets them.
const FOR_SERVERS: [&str; 8] =
    ["AWS_*", "AZURE_*", "CI_JOB_*", "GH_*", "GITHUB_TOKEN", "GITLAB_TOKEN", "GOOGLE_*", "SERVICE_ACCOUNT"];

/// The commands of git that talk to a server.
const TALKING: [&str; 3] = ["fetch", "ls-remote", "push"];

/// The author of every commit. The records contain who did what.
const NAME: &str = "pushplan";
const EMAIL: &str = "pushplan@noreply.invalid";

/// Overrides settings of the user that would do more than was requested, or prompt for input.
const SETTINGS: [&str; 12] = [
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.logAllRefUpdates=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "i18n.commitEncoding=UTF-8",
    "log.showSignature=false",
    "submodule.recurse=false",
    "push.pushOption=",
    "advice.pushUpdateRejected=false",
];

/// Git in one repository, which is always named explicitly: git does not search for one.
#[derive(Clone, Debug)]
pub struct Git {
    root: PathBuf,
    /// The repository that contains the folder.
    located: Option<Located>,
    /// pushplan's own repository, which is used instead.
    own: Option<PathBuf>,
    /// The settings that apply there, if they were read.
    settings: Arc<GitSettings>,
    /// Nobody can answer a prompt of ssh, and the user has not configured how to start it.
    is_batch: bool,
    /// The folders of new objects and of all others, if the repository must not change.
    apart: Option<(PathBuf, PathBuf)>,
    limit: Duration,
}

/// The output of git.
#[derive(Debug)]
pub struct Ran {
    pub is_ok: bool,
    pub out: Vec<u8>,
    pub err: String,
}

/// Why git has no output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Silent {
    /// It was not started.
    NotStarted(String),
    /// It was stopped after this time.
    TooSlow(Duration),
    /// Its output could not be read.
    Broken(String),
}

impl Git {
    /// Returns git without a repository.
    pub fn outside(root: &Path, limit: Duration) -> Self {
        let settings = Arc::default();
        Self { root: root.to_owned(), located: None, own: None, settings, is_batch: false, apart: None, limit }
    }

    pub(super) fn inside(self, located: Located) -> Self {
        Self { located: Some(located), ..self }
    }

    /// Uses a repository of pushplan's own.
    pub fn own(self, folder: PathBuf) -> Self {
        Self { own: Some(folder), ..self }
    }

    pub(super) fn with(self, settings: GitSettings) -> Self {
        Self { settings: Arc::new(settings), ..self }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The value of a setting, whose name is in lower case.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name)
    }

    /// Returns the folder of pushplan's own repository.
    pub(super) fn own_dir(&self) -> Option<&Path> {
        self.own.as_deref()
    }

    /// Returns the folder that contains everything that comes with the project: the work tree, or the project itself
    /// outside of git.
    pub fn top(&self) -> &Path {
        self.located.as_ref().map_or(&self.root, |located| &located.top)
    }

    /// The project's folder in its work tree, with forward slashes.
    pub fn prefix(&self) -> Option<String> {
        let located = self.located.as_ref()?;
        let root = real(&self.root).ok()?;
        let parts = root.strip_prefix(&located.top).ok()?.iter().map(OsStr::to_string_lossy);
        Some(parts.collect::<Vec<_>>().join("/"))
    }

    pub fn batch(self) -> Self {
        Self { is_batch: true, ..self }
    }

    /// Uses a folder for new objects, in addition to those of the repository.
    pub fn apart(self, new: PathBuf, others: PathBuf) -> Self {
        Self { apart: Some((new, others)), ..self }
    }

    /// Returns the beginning of a command line for the same repository.
    pub fn typed(&self) -> String {
        match &self.own {
            Some(own) => format!("git --git-dir={}", own.strip_prefix(&self.root).unwrap_or(own).display()),
            None => "git".to_owned(),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.arg("-C").arg(&self.root);
        match (&self.own, &self.located) {
            (Some(own), _) => drop(command.arg("--git-dir").arg(own)),
            (None, Some(Located { dir, top })) => {
                command.arg("--git-dir").arg(dir).arg("--work-tree").arg(top);
            }
            (None, None) => {}
        }
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        for filter in self.settings.filters() {
            let required = filter.rsplit_once('.').map_or(filter, |(name, _)| name);
            command.args(["-c", &format!("{filter}="), "-c", &format!("{required}.required=false")]);
        }
        command.args(args);
        let is_talking = args.iter().any(|arg| TALKING.contains(arg));
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy();
            if is_listed(&name, &KEPT_BACK) || (!is_talking && is_listed(&name, &FOR_SERVERS)) {
                command.env_remove(&*name);
            }
        }
        for name in REMOVED {
            command.env_remove(name);
        }
        command.envs([("LC_ALL", "C"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_NO_REPLACE_OBJECTS", "1")]);
        command.envs([("GIT_NO_LAZY_FETCH", "1"), ("GIT_OPTIONAL_LOCKS", "0")]);
        command.envs([("GIT_AUTHOR_NAME", NAME), ("GIT_AUTHOR_EMAIL", EMAIL)]);
        command.envs([("GIT_COMMITTER_NAME", NAME), ("GIT_COMMITTER_EMAIL", EMAIL)]);
        command.env("GIT_ALLOW_PROTOCOL", allowed(env::var_os("GIT_ALLOW_PROTOCOL").as_deref()));
        if let Some((new, others)) = &self.apart {
            command.env("GIT_OBJECT_DIRECTORY", new).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", listed(others));
        }
        if self.is_batch {
            command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // pushplan handles Ctrl-C: a push in progress is completed.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    /// Runs git with these bytes as its input. Git is stopped if it takes too long, or if the caller stops waiting.
    pub async fn run(&self, args: &[&str], input: &[u8]) -> Result<Ran, Silent> {
        let mut command = tokio::process::Command::from(self.command(args));
        command.stdin(Stdio::piped()).kill_on_drop(cfg!(not(unix)));
        let mut child = command.spawn().map_err(|error| not_started(&error))?;
        let mut group = Group(child.id());
        let stdin = child.stdin.take();
        let write = async {
            if let Some(mut stdin) = stdin {
                // If git does not read all of it, its output says why.
                let _ = stdin.write_all(input).await;
                let _ = stdin.shutdown().await;
            }
        };
        let said = async { tokio::join!(write, child.wait_with_output()).1 };
        let said = tokio::time::timeout(self.limit, said).await.map_err(|_| Silent::TooSlow(self.limit))?;
        group.0 = None;
        let said = said.map_err(|error| Silent::Broken(describe(&error)))?;
        Ok(Ran { is_ok: said.status.success(), out: said.stdout, err: masked(&String::from_utf8_lossy(&said.stderr)) })
    }

    /// Starts a git process that answers several requests.
    pub fn start(&self, args: &[&str]) -> Result<Child, Silent> {
        let mut command = self.command(args);
        // Its error output is not read.
        command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(|error| not_started(&error))
    }

    /// Runs a git command that needs no network.
    pub fn say(&self, args: &[&str]) -> Result<Ran, Silent> {
        let said = self.command(args).output().map_err(|error| not_started(&error))?;
        Ok(Ran { is_ok: said.status.success(), out: said.stdout, err: masked(&String::from_utf8_lossy(&said.stderr)) })
    }

    /// Runs a git command that needs no network, and returns its line; `None` if it fails.
    pub fn ask(&self, args: &[&str]) -> Option<String> {
        let said = self.say(args).ok()?;
        said.is_ok.then(|| said.line())
    }
}

impl Ran {
    /// Returns the only line of the output.
    pub fn line(&self) -> String {
        String::from_utf8_lossy(&self.out).trim().to_owned()
    }
}

/// A git process and the processes that it started, such as ssh. They are stopped when the caller stops waiting.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.0.and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
            // Git removes its locks when it is asked to stop. It may have ended already.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
        }
    }
}

fn not_started(error: &std::io::Error) -> Silent {
    Silent::NotStarted(match error.kind() {
        ErrorKind::NotFound => "git is not installed, or not in the PATH".to_owned(),
        _ => format!("git cannot be started: {}", describe(error)),
    })
}

/// Returns the first git in a folder of `PATH` that is absolute. A relative folder would be one of the project.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let name = Path::new("git").with_extension(env::consts::EXE_EXTENSION);
        let path = env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = env::split_paths(&path).collect();
        if folders.iter().all(|folder| folder.is_absolute()) {
            return name;
        }
        let is_program = |file: &PathBuf| file.is_file();
        let mut files = folders.iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join(&name));
        // Nothing has this path, so the message says that git is missing.
        files.find(is_program).unwrap_or_else(|| PathBuf::from("/nowhere").join(&name))
    })
}

/// Returns a folder as an entry of git's lists: in quotes if it contains a separator.
fn listed(folder: &Path) -> PathBuf {
    match folder.to_str() {
        Some(text) if text.contains([':', '"']) => {
            PathBuf::from(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
        }
        _ => folder.to_owned(),
    }
}

/// Whether a list contains a name, or the start of it with a star.
fn is_listed(name: &str, list: &[&str]) -> bool {
    list.iter().any(|listed| listed.strip_suffix('*').map_or(*listed == name, |start| name.starts_with(start)))
}

/// Returns the protocols that git may use, unless the user allows fewer.
fn allowed(by_user: Option<&OsStr>) -> String {
    let by_user = by_user.map(OsStr::to_string_lossy);
    let is_allowed = |name: &&str| by_user.as_ref().is_none_or(|list| list.split(':').any(|item| item == *name));
    PROTOCOLS.into_iter().filter(is_allowed).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_allowed_that_the_user_forbids() {
        assert_eq!(allowed(None), "file:git:http:https:ssh");
        assert_eq!(allowed(Some(OsStr::new("https:ext"))), "https");
    }

    #[tokio::test]
    async fn git_that_takes_too_long_is_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let git = Git::outside(folder.path(), Duration::from_millis(300));
        let begun = std::time::Instant::now();
        let ran = git.run(&["-c", "alias.wait=!sleep 600", "wait"], b"").await;
        assert_eq!(ran.expect_err("too slow"), Silent::TooSlow(Duration::from_millis(300)));
        assert!(begun.elapsed() < Duration::from_secs(300), "{:?}", begun.elapsed());
    }
}
