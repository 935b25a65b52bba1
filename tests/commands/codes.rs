//! Every code has a page with a wrong and a right sample, and both are run.
//!
//! A sample is all fenced blocks under `## Wrong` or `## Right`. A block's info string is its language and, behind it, the
//! file it is written to: ```` ```yaml ```` is `messages.yaml`, ```` ```toml ```` is `pushplan.toml`, and
//! ```` ```html bodies/sale.html ```` is that file. A `sh` block is run in the folder, after the files are written.

use std::process::Command;

use pushplan::codes::{CODES, Code, FAMILIES};
use pushplan_testing::{Folder, Ran};

/// The time at which samples are checked, so that times in them are always past or always future.
const NOW: &str = "2026-11-15T12:00Z";

struct Block {
    info: String,
    text: String,
}

/// The fenced blocks of one section of a page.
fn sample(code: &Code, section: &str) -> Vec<Block> {
    let heading = format!("\n## {section}\n");
    let page = code.page.split_once(&heading).map(|(_, rest)| rest).unwrap_or_default();
    let page = page.split("\n## ").next().unwrap_or_default();
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(Block { info: info.to_owned(), text: text.join("\n") + "\n" });
        }
    }
    blocks
}

fn run(blocks: &[Block]) -> Ran {
    let folder = Folder::project("");
    for Block { info, text } in blocks {
        match info.as_str() {
            "sh" => {
                let shell = Command::new("sh").args(["-euc", text]).current_dir(folder.path()).status();
                assert!(shell.expect("a shell").success(), "{text}");
            }
            "yaml" => drop(folder.write("messages.yaml", text)),
            "toml" => drop(folder.write("pushplan.toml", text)),
            other => {
                let (_, name) = other.split_once(' ').unwrap_or_else(|| panic!("a block `{other}` without a file"));
                folder.write(name, text);
            }
        }
    }
    folder.run(&["validate", "--format", "json", "--now", NOW])
}

/// The codes of all findings that were printed.
fn found(ran: &Ran) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no report: {ran:?}"));
    let findings = report["findings"].as_array().expect("findings");
    findings.iter().map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect()
}

fn problems(code: &Code) -> Vec<String> {
    let mut problems = Vec::new();
    let heading = format!("# {}: {}\n", code.name, code.title);
    if !code.page.starts_with(&heading) {
        problems.push(format!("{}: the page does not begin with `{}`", code.name, heading.trim()));
    }
    let (wrong, right) = (sample(code, "Wrong"), sample(code, "Right"));
    if wrong.is_empty() || right.is_empty() {
        problems.push(format!("{}: the page lacks a sample", code.name));
        return problems;
    }
    let ran = run(&wrong);
    let codes = found(&ran);
    if codes.is_empty() || codes.iter().any(|found| *found != code.name) {
        problems.push(format!("{}: the wrong sample gives {codes:?}\n{}{}", code.name, ran.stdout, ran.stderr));
    }
    let ran = run(&right);
    if ran.code != 0 || !found(&ran).is_empty() {
        problems.push(format!("{}: the right sample is not clean\n{}{}", code.name, ran.stdout, ran.stderr));
    }
    problems
}

/// `PUSHPLAN_CODES=AU,SC101` limits the run to families or single codes, for authors of their pages.
#[test]
fn every_code_has_a_page_whose_samples_do_what_they_say() {
    let only = std::env::var("PUSHPLAN_CODES").unwrap_or_default();
    let chosen = |code: &&&Code| only.is_empty() || only.split(',').any(|part| code.name.starts_with(part));
    let problems: Vec<String> = CODES.iter().filter(chosen).flat_map(|code| problems(code)).collect();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn codes_stand_in_the_order_of_their_families() {
    let rank = |code: &Code| FAMILIES.iter().position(|(family, _)| code.name.starts_with(family));
    let order: Vec<_> = CODES.iter().map(|code| (rank(code).expect(code.name), code.name)).collect();
    assert!(order.is_sorted(), "{order:?}");
}
