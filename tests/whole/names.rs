//! The names of types: one name has one meaning, and says something.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_testing::{crates, sources};

/// In how many modules a name may be defined.
const MOST: usize = 4;

/// Names that say nothing, or that the standard library has.
const VAGUE: [&str; 20] = [
    "Again", "Ahead", "Alike", "Aside", "Asked", "Beside", "Early", "From", "Glimpse", "Head", "Held", "Known", "Once",
    "One", "Said", "Seen", "Send", "Struck", "Told", "What",
];

/// The types that a text defines, without those of its tests. Associated types are indented.
fn defined(text: &str) -> BTreeSet<&str> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().filter_map(name).collect()
}

fn name(line: &str) -> Option<&str> {
    let item = line.trim_start();
    let item = item.strip_prefix("pub").map_or(item, |rest| match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
        None => rest,
    });
    let item = item.trim_start();
    let rest = ["struct ", "enum ", "trait ", "union "].iter().find_map(|word| item.strip_prefix(word));
    let rest = rest.or_else(|| item.strip_prefix("type ").filter(|_| !line.starts_with(' ')))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

fn definitions() -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in sources(&crates()) {
        for name in defined(&file.text) {
            found.entry(name.to_owned()).or_default().push(file.name.clone());
        }
    }
    found
}

#[test]
fn a_type_name_is_defined_in_at_most_four_modules() {
    let many: BTreeMap<_, _> = definitions().into_iter().filter(|(_, files)| files.len() > MOST).collect();
    assert!(many.is_empty(), "find names that say more: {many:#?}");
}

#[test]
fn type_names_say_something() {
    let vague: BTreeMap<_, _> = definitions().into_iter().filter(|(name, _)| VAGUE.contains(&name.as_str())).collect();
    assert!(vague.is_empty(), "find names that the field uses: {vague:#?}");
}

#[test]
fn definitions_are_found() {
    let text = "pub struct A<'a> {\n    pub(crate) enum B {\nstruct C(u8);\npub(super) trait D: E {}\ntype F = u8;\n    type G = u8;\n\
                // struct H\nlet struct_ = 1;\n#[cfg(test)]\nmod tests {\n    struct I;\n";
    assert_eq!(defined(text), ["A", "B", "C", "D", "F"].into());
}

/// "The same" makes a reader look for another comment.
#[test]
fn comments_speak_for_themselves() {
    let begins = |line: &str| {
        let line = line.trim_start();
        line.starts_with("//") && line.trim_start_matches(['/', '!']).trim_start().starts_with("The same")
    };
    let found: Vec<String> = sources(&["src", "crates", "tests", "benches", "examples"])
        .iter()
        .flat_map(|file| {
            file.text.lines().filter(|line| begins(line)).map(|line| format!("{}: {}", file.name, line.trim()))
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}
