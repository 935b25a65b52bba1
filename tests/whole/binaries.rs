//! The integration tests: few binaries, because each one links the whole program.

use std::fs;

use pushplan_testing::root;

/// The maximal number of binaries. A new file of tests is a module of one of them.
const MOST: usize = 12;

#[test]
fn there_are_at_most_twelve_integration_test_binaries() {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("tests")).expect("the tests") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "rs") || path.join("main.rs").is_file() {
            names.push(path.file_stem().expect("a name").to_string_lossy().into_owned());
        }
    }
    names.sort();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml");
    let others = manifest.lines().filter(|line| line.trim() == "[[test]]").count();
    assert!(
        names.len() + others <= MOST,
        "{} integration test binaries, at most {MOST}: make the new one a module of another ({others} in Cargo.toml, {})",
        names.len() + others,
        names.join(", ")
    );
}
