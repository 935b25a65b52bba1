//! The Rust sources of the repository, for tests that read them.

use std::fs;
use std::path::Path;

use crate::root;

/// A file of the repository.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path from the root of the repository, with `/`.
    pub name: String,
    pub text: String,
}

/// The folders of the program: the front ends and the library crates, without this one.
pub fn crates() -> Vec<String> {
    let mut found = vec!["src".to_owned()];
    for entry in fs::read_dir(root().join("crates")).expect("the crates") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if name != "testing" {
            found.push(format!("crates/{name}/src"));
        }
    }
    found.sort();
    found
}

/// Returns every Rust file beneath folders of the repository, in the order of their names.
pub fn sources<S: AsRef<str>>(folders: &[S]) -> Vec<SourceFile> {
    let mut found = Vec::new();
    for folder in folders {
        walk(&root().join(folder.as_ref()), &mut found);
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn walk(folder: &Path, found: &mut Vec<SourceFile>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root()).expect("beneath the root").to_string_lossy().replace('\\', "/");
            found.push(SourceFile { name, text: fs::read_to_string(&path).expect("a text") });
        }
    }
}
