//! Features for users of a shell: completions in real shells, manual pages, help, and the doctor.
#![cfg(unix)]

mod completing;
mod doctor;
mod doctor_targets;
mod examples;
mod help;
mod man;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pushplan_testing::{Folder, Ran, missing};

/// A program by its name, or `None` if it is optional and not installed.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file());
    if found.is_none() {
        missing(name, "run tests/commands/shell/install-shells", "PUSHPLAN_REQUIRE_SHELLS");
    }
    found
}

/// A command with this build of pushplan first on the path, and a minimal environment.
fn command(program: impl AsRef<Path>, folder: &Folder) -> Command {
    let own = Path::new(env!("CARGO_BIN_EXE_pushplan")).parent().expect("a folder").display().to_string();
    let path = format!("{own}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(program.as_ref());
    command.current_dir(folder.path()).env_clear().env("PATH", path).env("HOME", folder.path()).stdin(Stdio::null());
    command.env("LANG", "C.UTF-8").env("TERM", "xterm");
    command
}

fn ran(mut command: Command) -> Ran {
    let output = command.output().expect("it starts");
    Ran {
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        code: output.status.code().expect("no signal"),
    }
}

/// Runs pushplan with its own environment.
fn pushplan(folder: &Folder, arguments: &[&str], env: &[(&str, &str)]) -> Ran {
    let mut command = command(env!("CARGO_BIN_EXE_pushplan"), folder);
    command.args(arguments).envs(env.iter().copied());
    ran(command)
}

/// Every file in a folder, with its content.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path.clone());
                all.insert(path, Vec::new());
            } else {
                all.insert(path.clone(), fs::read(&path).unwrap_or_default());
            }
        }
    }
    all
}
