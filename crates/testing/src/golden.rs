//! Outputs that are compared with a file of the repository.

use std::{env, fs};

use similar::TextDiff;

use crate::root;

/// Compares an output with the file that holds the expected one, by its path from the root. `PUSHPLAN_BLESS=1` writes the file.
#[track_caller]
pub fn golden(path: &str, shown: &str) {
    let file = root().join(path);
    if env::var_os("PUSHPLAN_BLESS").is_some() {
        fs::write(&file, shown).expect("the expected output");
        return;
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    if expected != shown {
        let diff = TextDiff::from_lines(&expected, shown).unified_diff().header(path, "what is shown").to_string();
        panic!("the output differs from the expected one (PUSHPLAN_BLESS=1 writes it):\n{diff}");
    }
}
