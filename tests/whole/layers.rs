//! The layers of the crate: a module uses only those before it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use pushplan::kinds::KINDS;

/// From the words that everybody uses to what people see. Modules of one row may use each other, but not in a circle.
const LAYERS: &[&[&str]] = &[
    &["address", "codes", "cores", "digest", "exchange", "failure", "files", "finding", "node", "source", "text"],
    &["model"],
    &["service"],
    &["kinds"],
    &["client", "fetch", "git", "ledger", "live", "manifest", "query"],
    &["cases"],
    &[
        "arrange",
        "audience",
        "check",
        "compare",
        "drift",
        "guard",
        "look",
        "plan",
        "planner",
        "promote",
        "pull",
        "reach",
        "reconcile",
        "rekey",
        "review",
        "test_send",
        "timing",
        "unmanaged",
    ],
    &["apply", "forge"],
    &["render"],
    &["cli"],
];

fn rank(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// The modules that a text names as `crate::module`, with the line of each; an empty name for `crate::{...}`.
fn uses(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        for part in line.split("crate::").skip(1) {
            let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push((number + 1, name));
        }
    }
    found
}

#[test]
fn a_module_uses_only_the_layers_before_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    let mut offenders = Vec::new();
    for path in files {
        let name = path.strip_prefix(&root).expect("beneath src").to_string_lossy().into_owned();
        let module = name.split(['/', '.']).next().expect("a first part");
        if matches!(module, "main" | "lib") {
            continue;
        }
        let Some(own) = rank(module) else {
            offenders.push(format!("src/{name}: `{module}` is in no layer"));
            continue;
        };
        for (line, used) in uses(&fs::read_to_string(&path).expect("a text")) {
            if used.is_empty() {
                offenders
                    .push(format!("src/{name}:{line}: name one module after `crate::`, so that this test sees it"));
            }
            // The service stands at the other end of HTTP: the rest of the crate knows only how to start it.
            if used == "service" && !matches!(module, "service" | "cli") {
                offenders.push(format!("src/{name}:{line}: `{module}` uses `service`"));
            }
            if rank(&used).is_some_and(|used| used > own) {
                offenders.push(format!("src/{name}:{line}: `{module}` uses `{used}`, which is a later layer"));
            }
        }
    }
    assert!(offenders.is_empty(), "{}", offenders.join("\n"));
}

#[test]
fn no_modules_use_each_other_in_a_circle() {
    let root = pushplan_testing::root().join("src");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files {
        let name = path.strip_prefix(&root).expect("beneath src").to_string_lossy().into_owned();
        let module = name.split(['/', '.']).next().expect("a first part").to_owned();
        let names = uses(&fs::read_to_string(&path).expect("a text")).into_iter().map(|(_, name)| name);
        let others = names.filter(|name| *name != module && rank(name).is_some());
        used.entry(module.clone()).or_default().extend(others);
    }
    // What a module uses, and what that uses, to the end.
    loop {
        let before = used.clone();
        for names in used.values_mut() {
            let more: Vec<String> = names.iter().filter_map(|name| before.get(name)).flatten().cloned().collect();
            names.extend(more);
        }
        if used == before {
            break;
        }
    }
    let circles: Vec<&String> =
        used.iter().filter(|(module, names)| names.contains(*module)).map(|(module, _)| module).collect();
    assert!(circles.is_empty(), "these use each other in a circle: {circles:?}");
}

#[test]
fn every_module_of_the_crate_has_a_layer() {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).expect("lib.rs");
    let modules = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let missing: Vec<&str> = modules.filter(|module| rank(module).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_file_of_a_kind_is_in_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/kinds");
    let text = fs::read_to_string(folder.join("mod.rs")).expect("the table");
    let table = text.split("\nkinds! {").nth(1).expect("the table of kinds");
    let mut files = Vec::new();
    rust_files(&folder, &mut files);
    let names = files.iter().map(|path| path.file_stem().expect("a name").to_string_lossy());
    let kinds: Vec<_> = names
        .filter(|name| {
            !matches!(&**name, "mod" | "census" | "firing" | "lifecycle" | "runs" | "parts" | "references" | "remote")
        })
        .collect();
    for name in &kinds {
        assert!(table.contains(&format!("\n    {name}::")), "src/kinds/{name}.rs is not in the table of kinds");
    }
    assert_eq!(kinds.len(), KINDS.len());
}

#[test]
fn files_are_short_enough_to_read() {
    let mut files = Vec::new();
    for folder in ["src", "tests", "crates"] {
        rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
    let long = files.iter().filter(|path| fs::read_to_string(path).expect("a text").lines().count() > 500);
    let long: Vec<_> = long.collect();
    assert!(long.is_empty(), "over 500 lines: {long:?}");
}
