//! Programs that are run and timed: the real one, the floors, and others.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::service::App;

/// How often the memory of a running program is looked at. What it had at most it has until it ends, so that little is missed.
const LOOK: Duration = Duration::from_millis(5);

/// What a program did.
#[derive(Debug)]
pub struct Ran {
    pub seconds: f64,
    pub status: ExitStatus,
    pub said: String,
    pub complained: String,
}

impl Ran {
    fn new(seconds: f64, Output { status, stdout, stderr }: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { seconds, status, said: text(stdout), complained: text(stderr) }
    }

    /// Returns the run if it ended well. A program that failed has no time.
    pub fn well(self, what: &str) -> Self {
        assert!(self.status.success(), "{what} failed: {}{}", start(&self.said), start(&self.complained));
        self
    }

    /// Returns the run of a plan, also of one that apply would refuse.
    pub fn planned(self) -> Self {
        let is_plan = matches!(self.status.code(), Some(0 | 7));
        assert!(is_plan, "plan failed: {}{}", start(&self.said), start(&self.complained));
        self
    }

    /// Returns the run if these words are all that it printed: `10 differences` has `0 differences` in it.
    pub fn saying_only(self, what: &str, words: &str) -> Self {
        assert_eq!(self.said.trim(), words, "{what}");
        self
    }

    /// Returns the run if its output has these words.
    pub fn saying(self, what: &str, words: &str) -> Self {
        assert!(self.said.contains(words), "{what} does not say `{words}`: {}", start(&self.said));
        self
    }
}

fn start(text: &str) -> String {
    text.chars().take(2_000).collect()
}

/// Runs a command from its start to its end.
pub fn timed(command: &mut Command) -> Ran {
    command.stdin(Stdio::null());
    let begin = Instant::now();
    let output = command.output();
    let seconds = begin.elapsed().as_secs_f64();
    Ran::new(seconds, output.unwrap_or_else(|error| panic!("{command:?} does not run: {error}")))
}

/// The program that is measured, as people have it.
pub fn pushplan() -> Command {
    static INSTALLED: LazyLock<PathBuf> = LazyLock::new(|| installed(Path::new(env!("CARGO_BIN_EXE_pushplan"))));
    Command::new(&*INSTALLED)
}

/// A program as it is once someone installed it: a copy. What a linker has just written is kept in memory in single
/// pages, and takes a quarter longer to start than a file that was written from its beginning to its end.
pub fn installed(program: &Path) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("speed").join("installed");
    fs::create_dir_all(&folder).expect("a folder");
    let copy = folder.join(program.file_name().expect("a program has a name"));
    // One that still runs stays as it is.
    if copy.exists() {
        fs::remove_file(&copy).expect("the copy of before goes");
    }
    fs::copy(program, &copy).expect("a copy");
    copy
}

/// A command in a project's folder, with the credentials of its application.
pub fn at(mut command: Command, folder: &Path, origin: &str, app: &App) -> Command {
    command
        .current_dir(folder)
        .env("PUSHPLAN_ORIGIN", origin)
        .env("PUSHPLAN_APP_KEY", &app.key)
        .env("PUSHPLAN_MASTER_SECRET", &app.secret);
    command
}

/// A command as a shell takes it.
pub fn to_paste(command: &Command) -> String {
    let variables =
        command.get_envs().filter_map(|(name, value)| Some(format!("{}={}", name.display(), value?.display())));
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(|word| word.display().to_string());
    let line: Vec<String> = variables.chain(words).collect();
    let folder = command.get_current_dir().unwrap_or(Path::new("."));
    format!("cd {} && {}", folder.display(), line.join(" "))
}

/// This benchmark once more, as one of the small programs that it holds.
pub fn own(name: &str, arguments: &[&str]) -> Command {
    static INSTALLED: LazyLock<PathBuf> =
        LazyLock::new(|| installed(&std::env::current_exe().expect("the benchmark is a file")));
    let mut command = Command::new(&*INSTALLED);
    command.arg(name).args(arguments);
    command
}

/// Runs a command like [`timed`], and also returns its peak memory in bytes; `None` if the system does not report it.
pub fn watched(command: &mut Command) -> (Ran, Option<u64>) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begin = Instant::now();
    let child = command.spawn().unwrap_or_else(|error| panic!("{command:?} does not run: {error}"));
    let path = format!("/proc/{}/status", child.id());
    let (ended, most) = (AtomicBool::new(false), AtomicU64::new(0));
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                let now = high_water(&fs::read_to_string(&path).unwrap_or_default());
                most.fetch_max(now.unwrap_or_default(), Ordering::Relaxed);
                std::thread::sleep(LOOK);
            }
        });
        let output = child.wait_with_output();
        let seconds = begin.elapsed().as_secs_f64();
        ended.store(true, Ordering::Relaxed);
        Ran::new(seconds, output.expect("a child"))
    });
    (ran, Some(most.into_inner()).filter(|most| *most > 0))
}

fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
