//! Several writers, killed writers, and full disks: every position has one record, acknowledged records are there, and
//! the ledger can always be read.
//!
//! Writers are separate processes: this program runs itself again, with only the test `ledger_crash::a_writer`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::ledger::{AppendError, Entry, Record, Seq};
use pushplan_testing::not_run;

use crate::files::FileLog;

const FOLDER: &str = "PUSHPLAN_TEST_FOLDER";
const NAME: &str = "PUSHPLAN_TEST_NAME";
const COUNT: &str = "PUSHPLAN_TEST_COUNT";
const SIZE: &str = "PUSHPLAN_TEST_SIZE";

fn entry(seq: Seq, who: &str, size: usize) -> Entry {
    let at: Timestamp = "2026-11-15T12:00:00Z".parse().expect("a time");
    let record = Record::Forget(vec![Address::new("segments", format!("{who}-{}", "x".repeat(size)))]);
    Entry { seq, at, actor: who.to_owned(), record }
}

/// Appends this number of records in order, and reports the result of each append.
fn write(root: &Path, who: &str, count: usize, size: usize, mut say: impl FnMut(Seq, &str)) {
    let log = FileLog::new(root, "local");
    let mut seq = log.position().expect("a sound ledger").seq;
    let mut written = 0;
    while written < count {
        let next = seq + 1;
        match log.write(&entry(next, who, size)) {
            Ok(()) => {
                say(next, "written");
                written += 1;
                seq = next;
            }
            Err(AppendError::Conflict) => {
                say(next, "lost");
                seq = log.position().expect("a sound ledger").seq;
                assert!(seq >= next, "somebody has taken {next}, and the ledger ends with {seq}");
            }
            Err(AppendError::NotWritten(why)) => return say(next, &format!("not written: {why}")),
            Err(AppendError::Unknown(why)) => {
                // The system reports a failing disk once. A second attempt must not be reported as a success.
                let again = log.write(&entry(next, who, size));
                assert!(matches!(again, Err(AppendError::Unknown(_))), "{again:?} after {why}");
                return say(next, &format!("unknown: {why}"));
            }
        }
    }
}

/// Not a test: the program that the others run as a separate process.
#[test]
fn a_writer() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let number = |name: &str| std::env::var(name).unwrap().parse().unwrap();
    let who = std::env::var(NAME).unwrap();
    let mut out = std::io::stdout().lock();
    write(Path::new(&folder), &who, number(COUNT), number(SIZE), |seq, how| {
        writeln!(out, "append {seq} {how}").unwrap();
        out.flush().unwrap();
    });
}

/// A writer, started by the shell with this prefix.
fn writer(how: &str, root: &Path, who: &str, count: usize, size: usize) -> Child {
    Command::new("sh")
        .args(["-c", &format!("{how} \"$0\" \"$@\"")])
        .arg(std::env::current_exe().expect("it works"))
        .args(["--exact", "ledger_crash::a_writer", "--nocapture", "--test-threads", "1"])
        .env(FOLDER, root)
        .env(NAME, who)
        .env(COUNT, count.to_string())
        .env(SIZE, size.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a writer")
}

/// The reported results of a writer's appends, until it ended.
fn said(child: &mut Child) -> Vec<(Seq, String)> {
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let append = |line: String| {
        let (_, rest) = line.split_once("append ")?;
        let (seq, how) = rest.split_once(' ')?;
        Some((seq.parse().ok()?, how.to_owned()))
    };
    let said = lines.filter_map(append).collect();
    child.wait().expect("it ended");
    said
}

/// The writer of each position; a ledger that cannot be read fails the test.
fn places(root: &Path) -> BTreeMap<Seq, String> {
    let entries = FileLog::new(root, "local").history().unwrap_or_else(|error| panic!("{error}: {:?}", error.help));
    let mut places = BTreeMap::new();
    for Entry { seq, actor, .. } in entries {
        assert!(places.insert(seq, actor).is_none());
    }
    assert_eq!(places.len() as Seq, places.keys().max().copied().unwrap_or_default());
    places
}

fn check(root: &Path, who: &str, said: &[(Seq, String)], places: &BTreeMap<Seq, String>) {
    for (seq, how) in said {
        match how.as_str() {
            "written" => assert_eq!(places.get(seq).map(String::as_str), Some(who), "{seq} in {}", root.display()),
            "lost" => assert_ne!(places.get(seq).map(String::as_str), Some(who), "{seq}"),
            how => panic!("{seq}: {how}"),
        }
    }
}

#[test]
fn of_two_processes_and_four_threads_one_gets_each_place() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let mut processes: Vec<Child> = ["p1", "p2"].map(|who| writer("exec", root, who, 60, 10)).into();
    let mut all: Vec<(String, Vec<(Seq, String)>)> = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = ["t1", "t2", "t3", "t4"]
            .map(|who| {
                scope.spawn(move || {
                    let mut said = Vec::new();
                    write(root, who, 60, 10, |seq, how| said.push((seq, how.to_owned())));
                    (who.to_owned(), said)
                })
            })
            .into();
        all.extend(threads.into_iter().map(|thread| thread.join().unwrap()));
    });
    for (who, child) in ["p1", "p2"].iter().zip(&mut processes) {
        all.push(((*who).to_owned(), said(child)));
    }
    let places = places(root);
    assert_eq!(places.len(), 6 * 60);
    let mut lost = 0;
    for (who, said) in &all {
        check(root, who, said, &places);
        assert_eq!(said.iter().filter(|(_, how)| how == "written").count(), 60, "{who}");
        lost += said.iter().filter(|(_, how)| how == "lost").count();
    }
    assert!(lost > 0, "nobody ever lost: they did not race");
}

#[test]
fn what_a_killed_writer_acknowledged_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let mut acknowledged = 0;
    let mut round = 0;
    while round < 60 || acknowledged < 300 {
        round += 1;
        let before = places(root).len();
        let names = [format!("a{round}"), format!("b{round}")];
        let mut writers: Vec<Child> = names.iter().map(|who| writer("exec", root, who, 1_000_000, 3_000)).collect();
        // A different moment each time: before, during and after the first record is written.
        std::thread::sleep(Duration::from_millis(2 + round * 37 % 101));
        for child in &mut writers {
            child.kill().expect("kill -9");
        }
        let told: Vec<_> = writers.iter_mut().map(said).collect();
        let places = places(root);
        for (who, said) in names.iter().zip(&told) {
            check(root, who, said, &places);
        }
        let written = told.iter().flatten().filter(|(_, how)| how == "written").count();
        let new = places.len() - before;
        assert!((written..=written + names.len()).contains(&new), "{new} records, {written} acknowledged");
        acknowledged += written;
    }
    // Their leftover files are removed by the next writer.
    write(root, "last", 2, 10, |_, how| assert_eq!(how, "written"));
    write(root, "last", 1, 10, |_, how| assert_eq!(how, "written"));
    let names = std::fs::read_dir(root.join(".pushplan/ledger/local")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Writes until the disk is full, and then checks the ledger.
fn fill_up(root: &Path, how: &str, size: usize) {
    write(root, "before", 3, 100, |_, how| assert_eq!(how, "written"));
    let said = said(&mut writer(how, root, "full", 10_000, size));
    let (seq, how) = said.last().expect("an append");
    assert!(how.starts_with("not written: .pushplan/ledger/local/"), "{seq}: {how}");
    let places = places(root);
    assert_eq!(places.len() as Seq, seq - 1, "all that was acknowledged, and nothing of what was not");
    check(root, "full", &said[..said.len() - 1], &places);
    let names = std::fs::read_dir(root.join(".pushplan/ledger/local"))
        .expect("a folder")
        .map(|entry| entry.expect("a folder").file_name());
    assert_eq!(names.filter(|name| name.to_string_lossy().ends_with(".new")).count(), 0, "it was cleaned up");
}

#[test]
fn a_file_that_may_not_grow_leaves_the_ledger_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    // The writer inherits the ignored signal: it gets an error instead of being killed.
    fill_up(folder.path(), "trap '' XFSZ; ulimit -f 4; exec", 100_000);
    write(folder.path(), "after", 1, 100_000, |_, how| assert_eq!(how, "written"));
    assert_eq!(places(folder.path()).len(), 4);
}

/// A separate file system, which needs privileges.
struct Mounted<'p>(&'p Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_leaves_the_ledger_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(folder.path());
    if !mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        // The test above shows the same without a file system.
        return not_run("a full disk", "run the tests as a user who may mount a file system");
    }
    let _mounted = Mounted(folder.path());
    fill_up(folder.path(), "exec", 50_000);
}

/// Makes the system calls of a writer fail, or kills it there, one after the other, if `strace` is installed.
#[test]
fn whichever_system_call_fails_or_is_the_last_the_answer_is_true() {
    let works = |output: std::io::Result<std::process::Output>| output.is_ok_and(|output| output.status.success());
    if !works(Command::new("strace").args(["-o", "/dev/null", "-e", "inject=fsync:error=EIO", "true"]).output()) {
        return not_run("strace", "run tests/crashes/apply_crash/install-strace");
    }
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    let calls =
        ["openat", "write", "fsync", "link,linkat", "unlink,unlinkat", "mkdir,mkdirat", "rename,renameat,renameat2"];
    for call in calls {
        for fault in ["error=EIO", "error=ENOSPC", "signal=KILL"] {
            for place in 1..=50 {
                let folder = tempfile::tempdir().unwrap();
                let trace = folder.path().join("trace");
                let inject = format!("-e trace={call} -e inject={call}:{fault}:when={place}");
                let how = format!("exec strace -f -q -o '{}' {inject}", trace.display());
                let said = said(&mut writer(&how, folder.path(), "w", 2, 10));
                let traced = std::fs::read_to_string(&trace).unwrap_or_default();
                let injected = traced.contains("(INJECTED)") || traced.contains("killed by SIGKILL");
                let places = places(folder.path());
                for (seq, how) in &said {
                    let is_there = places.contains_key(seq);
                    let word = how.split(':').next().unwrap_or_default();
                    *answers.entry(word.to_owned()).or_default() += 1;
                    match word {
                        "written" => assert!(is_there, "{call} {fault} {place}: {seq} {how}"),
                        "not written" => assert!(!is_there, "{call} {fault} {place}: {seq} {how}"),
                        "unknown" => {}
                        _ => panic!("{call} {fault} {place}: {seq} {how}"),
                    }
                }
                // In all cases, the next writer can continue.
                write(folder.path(), "next", 1, 10, |_, how| assert_eq!(how, "written", "{call} {fault} {place}"));
                if !injected {
                    break;
                }
            }
        }
    }
    assert!(["written", "not written", "unknown"].iter().all(|how| answers.contains_key(*how)), "{answers:?}");
}
