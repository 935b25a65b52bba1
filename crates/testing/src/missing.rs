//! Tests that did not run because something is not installed.
//!
//! Such a test passes, and the harness hides what it prints. It is recorded in a folder for this run of cargo instead. The test
//! `not_run` of this crate runs last and prints the list.

use std::path::PathBuf;
use std::{env, fs};

/// Records that a test did not run because something is missing; fails if this variable is set.
#[track_caller]
pub fn missing(what: &str, remedy: &str, required: &str) {
    assert!(env::var_os(required).is_none(), "{what} is missing, and {required} is set: {remedy}");
    not_run(what, remedy);
}

/// Records that a test did not run because something is missing.
pub fn not_run(what: &str, remedy: &str) {
    let test = env::current_exe().expect("a test is a file");
    let name = test.file_stem().expect("a name").to_string_lossy().into_owned();
    let binary = name.rsplit_once('-').map_or(name.as_str(), |(binary, _)| binary);
    let folder = records();
    fs::create_dir_all(&folder).expect("a folder");
    let file: String = what.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    fs::write(folder.join(format!("{binary}-{file}")), format!("{binary}: {what}: {remedy}")).expect("a record");
}

/// Returns what was recorded in this run of cargo, one line each, and forgets it.
pub fn take_not_run() -> Vec<String> {
    let folder = records();
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut lines: Vec<String> = entries.filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect();
    lines.sort();
    let _ = fs::remove_dir_all(folder);
    lines
}

/// The folder for this run of cargo, which starts every test binary: `target/tmp/not-run/4711`.
fn records() -> PathBuf {
    let test = env::current_exe().expect("a test is a file");
    let target = test.ancestors().nth(3).expect("a test is three folders deep");
    target.join("tmp/not-run").join(run().to_string())
}

#[cfg(unix)]
fn run() -> u32 {
    std::os::unix::process::parent_id()
}

#[cfg(not(unix))]
fn run() -> u32 {
    0
}
