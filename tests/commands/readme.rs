//! The README shows real output. `PUSHPLAN_BLESS=1 cargo test --test commands readme` rewrites it.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::console::Document;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// The maximal number of lines of the README: one page.
const LONGEST: usize = 250;

#[test]
fn the_console_blocks_of_the_readme_do_what_they_show() {
    let readme = Document::run("README.md");
    assert!(readme.commands > 3, "the README shows {} commands", readme.commands);
    if let Some(diff) = readme.check() {
        panic!("the README shows something else than what happens (PUSHPLAN_BLESS=1 writes it anew):\n{diff}");
    }
}

#[test]
fn the_readme_is_one_page() {
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).expect("the README");
    let lines = readme.lines().count();
    assert!(lines <= LONGEST, "{lines} lines, at most {LONGEST}: move facts to a page of the book");
}

/// The two set-up commands, which a newcomer copies first.
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
