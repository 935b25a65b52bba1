//! What the README shows is what happens.
//!
//! Every `console` block is run, one after the other, as in one shell: `cd DIR` holds for all commands behind it. A line
//! beginning with `$ ` is a command, and what follows up to the next one is its output. `PUSHPLAN_BLESS=1 cargo test --test commands readme` writes the outputs anew.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Runs a command line with the binary of this build first on the path.
fn run(line: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_pushplan"));
    let path =
        format!("{}:{}", binary.parent().expect("a folder").display(), std::env::var("PATH").unwrap_or_default());
    let output =
        Command::new("sh").args(["-c", &format!("{line} 2>&1")]).current_dir(folder).env("PATH", path).output();
    let mut text = String::from_utf8(output.expect("a shell").stdout).expect("UTF-8");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    lasting(&text)
}

/// A text with what differs from run to run left open: ids that the service chooses, the digest of a plan, and
/// times.
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

/// The sample's times are counted from today: `Sun 29 Nov 2026 16:00 UTC` is another one tomorrow.
fn undated(text: &str) -> String {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let mut out: Vec<&str> = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let is_zone = |word: &&str| word.starts_with("UTC") || word.contains('/');
            let is_time = DAYS.contains(&words[at]) && words.get(at + 5).is_some_and(is_zone);
            out.push(if is_time { "<time>" } else { words[at] });
            at += if is_time { 6 } else { 1 };
        }
        out.join(" ")
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_console_blocks_of_the_readme_do_what_they_show() {
    let path = Path::new(ROOT).join("README.md");
    let readme = fs::read_to_string(&path).expect("the README");
    let folder = tempfile::tempdir().expect("a folder");
    let mut fresh = String::new();
    let mut here = folder.path().to_owned();
    let mut commands = 0;
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        writeln!(fresh, "{line}").unwrap();
        if line != "```console" {
            continue;
        }
        for line in lines.by_ref().take_while(|line| *line != "```") {
            if let Some(command) = line.strip_prefix("$ ") {
                commands += 1;
                let output = match command.strip_prefix("cd ").filter(|rest| !rest.contains(['&', ';', '|'])) {
                    Some(below) => {
                        here.push(below);
                        assert!(here.is_dir(), "`{command}` leads nowhere");
                        String::new()
                    }
                    None => run(command, &here),
                };
                write!(fresh, "{line}\n{output}").unwrap();
            }
        }
        fresh.push_str("```\n");
    }
    assert!(commands > 3, "the README shows {commands} commands");
    if std::env::var_os("PUSHPLAN_BLESS").is_some() {
        fs::write(&path, &fresh).expect("the README");
        return;
    }
    if fresh != readme {
        let diff = similar::TextDiff::from_lines(&readme, &fresh)
            .unified_diff()
            .header("README.md", "what happens")
            .to_string();
        panic!("the README shows something else than what happens (PUSHPLAN_BLESS=1 writes it anew):\n{diff}");
    }
}

/// The two commands of the set-up, which a newcomer copies first.
#[test]
fn the_first_command_of_the_readme_works_in_a_clone() {
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).expect("the README");
    let block =
        readme.split("```sh\n").nth(1).and_then(|rest| rest.split("\n```").next()).expect("a block of commands");
    let commands: Vec<&str> = block.lines().filter(|line| !line.starts_with('#')).collect();
    let [first, second] = commands[..] else { panic!("expected two commands: {commands:?}") };
    assert_eq!(second, "cargo test");
    let arguments = first.strip_prefix("cargo run -q -- ").expect("the first command runs the binary");
    let output = Command::new(env!("CARGO_BIN_EXE_pushplan")).args(arguments.split(' ')).current_dir(ROOT).output();
    let output = output.expect("the binary starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
