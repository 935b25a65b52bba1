//! A temporary folder, and the real binary run in it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder that is deleted when the test ends.
#[derive(Debug)]
pub struct Folder(tempfile::TempDir);

/// What a run of the binary said, and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A folder with a project file that has one target, and the given manifest.
    pub fn project(manifest: &str) -> Self {
        let folder = Self::new();
        folder.write("pushplan.toml", "[targets.local]\n");
        folder.write("messages.yaml", manifest);
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs the binary with these arguments in the folder.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, b"")
    }

    /// Runs the binary with these arguments in the folder, with `input` on standard input.
    pub fn run_with(&self, arguments: &[&str], input: &[u8]) -> Ran {
        self.run_in("", arguments, input)
    }

    /// Runs the binary with these arguments and this input in the subfolder `below`.
    pub fn run_in(&self, below: &str, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = Command::new(crate::binary())
            .args(arguments)
            .current_dir(self.path().join(below))
            .env_remove("COLUMNS")
            .env_remove("CI")
            .env_remove("GITHUB_ACTIONS")
            .env_remove("GITLAB_CI")
            .env_remove("GITHUB_BASE_REF")
            .env_remove("CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR")
            .env_remove("CLICOLOR_FORCE")
            .env_remove("LC_ALL")
            .env_remove("LC_CTYPE")
            .env_remove("LANG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        // A command that does not read its input closes it: that is no failure of the test.
        let _ = child.stdin.take().expect("piped").write_all(input);
        let output = child.wait_with_output().expect("the binary ends");
        Ran {
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
            code: output.status.code().expect("no signal"),
        }
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { stdout, stderr, code } = self;
        write!(f, "exit {code}\n{stdout}--- stderr\n{stderr}")
    }
}

/// Copies a folder with all that is in it.
pub fn copy(from: &Path, to: &Path) {
    copy_but(from, to, &[]);
}

/// Copies a folder without some of its folders, such as what a run left there.
pub fn copy_but(from: &Path, to: &Path, but: &[&str]) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (name, to) = (entry.file_name(), to.join(entry.file_name()));
        match entry.file_type().expect("a type").is_dir() {
            true if but.iter().any(|but| name == *but) => {}
            true => copy_but(&entry.path(), &to, but),
            false => drop(fs::copy(entry.path(), to).expect("a copy")),
        }
    }
}

/// Returns a copy of the example project.
pub fn shop() -> Folder {
    let folder = Folder::new();
    copy_but(&crate::root().join("examples/shop"), folder.path(), &[".pushplan"]);
    folder
}
