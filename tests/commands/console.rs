//! Documents whose `console` blocks are run, one after the other, as in one shell: `cd DIR` holds for all commands behind it.
//!
//! A line that begins with `$ ` is a command, which lines that begin with `>` continue, and the lines up to the next
//! one are its output. A line `<!-- $ COMMAND -->` outside of a block runs a command that readers do not see; it must
//! succeed. `PUSHPLAN_BLESS=1` writes the outputs again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pushplan_testing::root;

/// A document that was run.
pub struct Document {
    name: String,
    text: String,
    fresh: String,
    pub commands: usize,
}

/// The state of the shell for a document's commands.
struct Shell {
    here: PathBuf,
    home: PathBuf,
}

impl Shell {
    /// Runs a command line with the binary of this build first on the path, and a minimal environment.
    fn run(&self, line: &str) -> Output {
        let own = Path::new(env!("CARGO_BIN_EXE_pushplan")).parent().expect("a folder").display().to_string();
        let path = format!("{own}:{}", std::env::var("PATH").unwrap_or_default());
        // What a command behind a pipe says is left out, as `| tail` leaves out the rest of the output.
        let line = if line.contains('\n') { format!("{{ {line}\n}} 2>&1") } else { format!("{line} 2>&1") };
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(&self.here).stdin(Stdio::null());
        shell.env_clear().env("PATH", path).env("HOME", &self.home).env("LANG", "C.UTF-8");
        for who in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{who}_NAME"), "Ada").env(format!("GIT_{who}_EMAIL"), "ada@shop.example");
        }
        shell.output().expect("a shell")
    }

    /// Runs a command of a block and returns its output.
    fn show(&mut self, command: &str) -> String {
        if let Some(below) = command.strip_prefix("cd ").filter(|rest| !rest.contains(['&', ';', '|'])) {
            self.here = self.here.join(below).canonicalize().unwrap_or_else(|_| panic!("`{command}` leads nowhere"));
            return String::new();
        }
        let mut text = String::from_utf8(self.run(command).stdout).expect("UTF-8");
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        lasting(&text)
    }

    /// Runs a command that readers do not see.
    fn prepare(&mut self, command: &str) {
        if command.starts_with("cd ") {
            self.show(command);
            return;
        }
        let ran = self.run(command);
        assert!(ran.status.success(), "`{command}` fails: {}", String::from_utf8_lossy(&ran.stdout));
    }
}

impl Document {
    /// Runs a document of the repository.
    pub fn run(name: &str) -> Self {
        let text = fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let folder = tempfile::tempdir().expect("a folder");
        let (here, home) = (folder.path().join("work"), folder.path().join("home"));
        [&here, &home].iter().for_each(|folder| fs::create_dir(folder).expect("a folder"));
        let mut shell = Shell { here, home };
        let mut fresh: Vec<String> = Vec::new();
        let mut commands = 0;
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            fresh.push(line.to_owned());
            if let Some(command) = line.strip_prefix("<!-- $ ").and_then(|rest| rest.strip_suffix(" -->")) {
                shell.prepare(command);
            }
            if line.trim_start() != "```console" {
                continue;
            }
            let indent = &line[..line.len() - line.trim_start().len()];
            let mut block = lines.by_ref().take_while(|line| line.trim_start() != "```").peekable();
            while let Some(line) = block.next() {
                let Some(command) = line.trim_start().strip_prefix("$ ") else { continue };
                commands += 1;
                fresh.push(line.to_owned());
                let mut command = command.to_owned();
                while let Some(line) = block.next_if(|line| line.trim_start().starts_with('>')) {
                    fresh.push(line.to_owned());
                    let rest = line.trim_start();
                    let rest = rest.strip_prefix("> ").or(rest.strip_prefix('>')).unwrap_or_default();
                    command = format!("{command}\n{rest}");
                }
                let output = shell.show(&command);
                fresh.extend(output.lines().map(|shown| format!("{indent}{shown}").trim_end().to_owned()));
            }
            fresh.push(format!("{indent}```"));
        }
        Self { name: name.to_owned(), fresh: fresh.join("\n") + "\n", text, commands }
    }

    /// Writes the real output if requested. Otherwise returns the difference from the document.
    pub fn check(&self) -> Option<String> {
        if std::env::var_os("PUSHPLAN_BLESS").is_some() {
            fs::write(root().join(&self.name), &self.fresh).expect("the document");
            return None;
        }
        let text: String = self.text.lines().map(|line| format!("{line}\n")).collect();
        (self.fresh != text).then(|| {
            let diff = similar::TextDiff::from_lines(&text, &self.fresh);
            diff.unified_diff().header(&self.name, "what happens").to_string()
        })
    }
}

/// A text with what differs from run to run left open: ids that the service chooses, digests of plans, commits, times, and who ran it
/// where.
fn lasting(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let end = rest[at..].find(|c: char| !c.is_ascii_hexdigit() && c != '-').map_or(rest.len(), |end| at + end);
        let lengths: Vec<usize> = rest[at..end].split('-').map(str::len).collect();
        out.push_str(&rest[..at]);
        let is_digest = lengths == [4, 4] && out.to_ascii_lowercase().ends_with("plan ");
        out.push_str(match lengths[..] {
            [8, 4, 4, 4, 12] => "<id>",
            _ if is_digest => "<digest>",
            _ => &rest[at..end],
        });
        rest = &rest[end..];
    }
    undated(&(out + rest))
}

/// The sample's times are counted from today: `Sun 29 Nov 2026 16:00 UTC` is another one tomorrow, and so is `in 20 days`.
fn undated(text: &str) -> String {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let mut out: Vec<String> = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let is_zone = |word: &&str| word.starts_with("UTC") || word.contains('/');
            let (before, day) = words[at].split_at(words[at].len() - words[at].trim_start_matches('(').len());
            let is_time = DAYS.contains(&day) && words.get(at + 5).is_some_and(is_zone);
            if is_time {
                let zone = words[at + 5];
                let behind = &zone[zone.trim_end_matches([')', ',', '.', ':', ';']).len()..];
                out.push(format!("{before}<time>{behind}"));
            } else {
                let is_count = out.last().is_some_and(|word| word == "in")
                    && words.get(at + 1).is_some_and(|word| word.starts_with("day"))
                    && out.iter().rev().nth(1).is_some_and(|word| word.starts_with("<time>") || word == "UTC,");
                out.push(if is_count { "<number>".to_owned() } else { words[at].to_owned() });
            }
            at += if is_time { 6 } else { 1 };
        }
        out.join(" ")
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
