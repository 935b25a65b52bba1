//! The points at which a run is killed or fails: its system calls.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pushplan_testing::missing;

use super::shop::Seed;

/// One call: the nth of its name in the thread that reaches it first.
#[derive(Clone, Debug)]
pub struct Point {
    pub call: String,
    pub nth: usize,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.call, self.nth)
    }
}

/// The fault at the point.
#[derive(Clone, Copy, Debug)]
pub enum Tampering {
    Kill,
    /// This call fails with an error.
    Once(&'static str),
    /// So does every later one of its name.
    FromThenOn(&'static str),
}

impl Point {
    /// The argument for strace.
    pub fn injection(&self, tampering: Tampering) -> String {
        let Self { call, nth } = self;
        match tampering {
            Tampering::Kill => format!("inject={call}:signal=SIGKILL:when={nth}"),
            Tampering::Once(error) => format!("inject={call}:error={error}:when={nth}"),
            Tampering::FromThenOn(error) => format!("inject={call}:error={error}:when={nth}+"),
        }
    }
}

/// Whether every call of every name is tried.
pub fn all() -> bool {
    std::env::var("PUSHPLAN_CRASH").is_ok_and(|value| value == "all")
}

/// Whether strace is installed and may trace.
pub fn may_run() -> bool {
    let traces = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
    if traces.is_ok_and(|status| status.success()) {
        return true;
    }
    missing("strace", "run tests/crashes/apply_crash/install-strace", "CI");
    false
}

/// The points of one run, each with whether it is the last of its name.
pub struct Points(Vec<(Point, bool)>);

impl Points {
    /// The calls of an undisturbed run, limited per name. The last call of a name is marked: in another run, more may
    /// follow.
    pub fn of(seed: &Seed, names: Option<&[&str]>, most: usize) -> Self {
        let trace = seed.open().traced();
        let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for line in trace.lines() {
            // `1234  openat(AT_FDCWD, ...`; lines that continue an earlier call begin with `<`.
            let Some((thread, rest)) = line.split_once(' ') else { continue };
            let Some((call, _)) = rest.trim_start().split_once('(') else { continue };
            if call.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                *counts.entry(call).or_default().entry(thread).or_default() += 1;
            }
        }
        let mut points = Vec::new();
        for (call, threads) in counts {
            let last = threads.into_values().max().unwrap_or(0);
            if names.is_some_and(|names| !names.contains(&call)) || call.starts_with("exit") || call == "execve" {
                continue;
            }
            let step = last.div_ceil(most).max(1);
            for nth in (1..=last).rev().step_by(step) {
                points.push((Point { call: call.to_owned(), nth }, nth == last));
            }
        }
        assert!(!points.is_empty(), "no calls: {trace}");
        Self(points)
    }
}

/// Runs at every point, several at a time, and beyond the last call of a name as long as that has an effect. Returns
/// the number of disturbed runs.
pub fn each(points: Points, run: impl Fn(Point) -> bool + Sync) -> usize {
    let (queue, disturbed) = (Mutex::new(points.0), AtomicUsize::new(0));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while let Some((point, is_last)) = next() {
                    let Point { call, nth } = point.clone();
                    if run(point) {
                        disturbed.fetch_add(1, Ordering::Relaxed);
                        if is_last && nth < 10_000 {
                            queue
                                .lock()
                                .unwrap_or_else(PoisonError::into_inner)
                                .push((Point { call, nth: nth + 1 }, true));
                        }
                    }
                }
            });
        }
    });
    disturbed.into_inner()
}

/// Whether a run was killed from outside.
pub fn is_killed(output: &Output) -> bool {
    output.status.signal() == Some(9) || output.status.code() == Some(137)
}

pub fn was_killed(output: &Output) -> bool {
    let killed = is_killed(output);
    assert!(killed || output.status.code() == Some(0), "{output:?}");
    killed
}
