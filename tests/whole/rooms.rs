//! The crates and their modules: which there are, and that no two of them use each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use pushplan::kinds::KINDS;
use pushplan_testing::{crates, root, sources};

/// The maximal number of crates below `crates`.
const MOST: usize = 7;

/// The crates beneath `crates`, with the text of each manifest.
fn manifests() -> BTreeMap<String, String> {
    let entries = fs::read_dir(root().join("crates")).expect("the crates");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let each = |path: std::path::PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(path.join("Cargo.toml")).expect("a manifest"))
    };
    paths.map(each).collect()
}

#[test]
fn there_are_at_most_seven_crates_and_each_says_what_it_is_for() {
    let manifests = manifests();
    assert!(manifests.len() <= MOST, "{} crates, at most {MOST}: {:?}", manifests.len(), manifests.keys());
    for (name, manifest) in manifests {
        let described = manifest.lines().find_map(|line| line.strip_prefix("description = "));
        assert!(described.is_some_and(|text| text.len() > 20), "crates/{name}/Cargo.toml needs a description");
    }
}

/// The rest of the program meets the service over HTTP. Only the engine starts it for a project, and commands run it.
#[test]
fn only_the_engine_and_commands_start_the_service() {
    let depends = |(_, manifest): &(String, String)| manifest.contains("pushplan-service.");
    let crates: Vec<String> = manifests().into_iter().filter(depends).map(|(name, _)| name).collect();
    assert_eq!(crates, ["core"]);
    let is_user = |name: &str, text: &str| {
        (text.contains("pushplan_service::") && !name.starts_with("crates/core/src/engine/"))
            || (text.contains("crate::service::") && name.starts_with("src/render/"))
    };
    let files = sources(&["crates/core/src", "src/render"]).into_iter();
    let users: Vec<String> = files.filter(|file| is_user(&file.name, &file.text)).map(|file| file.name).collect();
    assert!(users.is_empty(), "{users:?} use the service");
}

/// The path of a file's module within its crate: `client::transport` for `client/transport.rs`.
fn module(file: &str) -> Vec<&str> {
    file.trim_end_matches(".rs").trim_end_matches("/mod").split('/').collect()
}

/// The modules beside `module`, or beside one that it is in, that a text names: those at `depth`, with `crate::` or with `super::`.
/// A type that is named through the module around both does not count. Tests may use what they like.
fn used(module: &[&str], depth: usize, text: &str) -> BTreeSet<String> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let around: String = module[..depth].iter().map(|name| format!("{name}::")).collect();
    let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
    let mut found = BTreeSet::new();
    for way in [format!("crate::{around}"), "super::".repeat(module.len() - depth)] {
        for (at, _) in code.match_indices(&way).filter(|(at, _)| !code[..*at].ends_with("super::")) {
            let path = &code[at + way.len()..];
            let names = match path.strip_prefix('{') {
                Some(list) => list.split(['}', ';']).next().unwrap_or_default().split(',').collect(),
                None => vec![path],
            };
            let names = names.iter().map(|name| name.trim().chars().take_while(is_part).collect::<String>());
            found.extend(names.filter(|name| name.starts_with(char::is_lowercase) && name != "super"));
        }
    }
    found
}

/// The names in a map that lead back to themselves.
fn circle(mut uses: BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    // The modules that a module uses directly or indirectly.
    loop {
        let before = uses.clone();
        for names in uses.values_mut() {
            let more: Vec<String> = names.iter().filter_map(|name| before.get(name)).flatten().cloned().collect();
            names.extend(more);
        }
        if uses == before {
            break;
        }
    }
    uses.into_iter().filter(|(module, names)| names.contains(module)).map(|(module, _)| module).collect()
}

/// The modules of a folder that use each other in a circle: those at its top, and those in each of these.
fn circles(folder: &str) -> Vec<String> {
    let files = sources(&[folder]);
    let mut uses: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for file in &files {
        let path = module(file.name.strip_prefix(&format!("{folder}/")).expect("beneath its crate"));
        for depth in 0..path.len().min(2) {
            let used = used(&path, depth, &file.text).into_iter().filter(|name| *name != path[depth]);
            let around = uses.entry(path[..depth].join("::")).or_default();
            around.entry(path[depth].to_owned()).or_default().extend(used);
        }
    }
    let circles = uses.into_iter().map(|(around, uses)| (around, circle(uses)));
    circles
        .filter(|(_, circle)| !circle.is_empty())
        .map(|(around, all)| format!("{folder} {around}: {all:?}"))
        .collect()
}

#[test]
fn no_modules_of_a_crate_use_each_other_in_a_circle() {
    let circles: Vec<String> = crates().iter().flat_map(|folder| circles(folder)).collect();
    assert!(circles.is_empty(), "these use each other in a circle: {circles:#?}");
}

#[test]
fn uses_of_modules_are_found() {
    let text = "use super::b::X;\nuse super::{Y, c, d::Z};\nuse crate::a::{e, f};\nuse super::super::g;\nuse crate::h; // super::i\n\
                use crate::a::{\n    J, k,\n};\n#[cfg(test)]\nuse super::l;\n";
    let names = |depth| used(&["a", "me"], depth, text).into_iter().collect::<Vec<_>>();
    assert_eq!(names(1), ["b", "c", "d", "e", "f", "k"]);
    assert_eq!(names(0), ["a", "g", "h"]);
}

#[test]
fn every_file_of_a_kind_is_in_the_table() {
    const OTHERS: [&str; 9] = ["mod", "census", "firing", "json", "lifecycle", "runs", "parts", "references", "remote"];
    let files = sources(&["crates/model/src/kinds"]);
    let table = files.iter().find_map(|file| file.text.split_once("\nkinds! {")).expect("the table of kinds").1;
    let names = files.iter().filter_map(|file| file.name.rsplit('/').next()?.strip_suffix(".rs"));
    let kinds: Vec<&str> = names.filter(|name| !OTHERS.contains(name)).collect();
    for name in &kinds {
        assert!(
            table.contains(&format!("\n    {name}::")),
            "crates/model/src/kinds/{name}.rs is not in the table of kinds"
        );
    }
    assert_eq!(kinds.len(), KINDS.len());
}

#[test]
fn files_are_short_enough_to_read() {
    let files = sources(&["src", "tests", "crates"]);
    let long: Vec<String> =
        files.into_iter().filter(|file| file.text.lines().count() > 500).map(|file| file.name).collect();
    assert!(long.is_empty(), "over 500 lines: {long:?}");
}

/// A stranger reads it first.
#[test]
fn the_architecture_fits_on_four_screens() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page");
    assert!(text.lines().count() <= 200, "ARCHITECTURE.md has {} lines", text.lines().count());
    let glossary = text.split("\n## ").find(|section| section.starts_with("Glossary")).expect("a glossary");
    let words = glossary.lines().filter(|line| line.starts_with("| ")).count() - 1;
    assert!((1..=40).contains(&words), "the glossary has {words} words");
}
