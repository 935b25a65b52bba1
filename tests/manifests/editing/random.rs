//! In any manifest, one changed value is one changed line, or one block of text.

use std::collections::BTreeMap;

use proptest::prelude::*;
use pushplan::address::Address;
use pushplan::manifest::Manifests;
use serde_json::Value;

use super::{edited, read, spec};
use crate::generated::meaning::{Meant, project};
use crate::generated::writing::{Choices, somehow};

/// Independent texts of a spec: each changes alone. Items of sets may occur twice.
pub fn texts(value: &Value, path: &str, into: &mut Vec<String>) {
    const OTHERS: [&str; 11] = [
        "scheduled_time",
        "device_types",
        "group",
        "add_tag",
        "remove_tag",
        "categories",
        "tags",
        "audience",
        "type",
        "members",
        "channels",
    ];
    match value {
        Value::String(_) => into.push(path.to_owned()),
        Value::Object(map) => {
            for (key, value) in map
                .iter()
                .filter(|(key, value)| !OTHERS.contains(&key.as_str()) || (*key == "audience" && value.is_object()))
            {
                texts(value, &format!("{path}/{key}"), into);
            }
        }
        Value::Array(items) => items.iter().enumerate().for_each(|(n, item)| texts(item, &format!("{path}/{n}"), into)),
        _ => {}
    }
}

pub fn new_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{3,9}-changed",
        "[-A-Za-z0-9 .,:#'\"\\[\\]{}&*!|>%@é日😀$]{1,14}[a-z]",
        Just("two\nlines".to_owned()),
        Just("cost ${5}".to_owned()),
        Just("no".to_owned()),
    ]
}

/// The lines of two texts that differ: from the first to the last of each.
fn differing<'t>(old: &'t str, new: &'t str) -> (Vec<&'t str>, Vec<&'t str>) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let behind = old[before..].iter().rev().zip(new[before..].iter().rev()).take_while(|(a, b)| a == b).count();
    (old[before..old.len() - behind].to_vec(), new[before..new.len() - behind].to_vec())
}

pub fn settings(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, max_shrink_time: 20_000, ..ProptestConfig::default() }
}

/// Whether a range of a file is a block of text with its indicator, or is inside one.
fn is_block(manifests: &Manifests, placed: &pushplan::manifest::edit::Placed) -> bool {
    placed.edits.iter().any(|edit| {
        let text = &manifests.sources.get(edit.file).text;
        let line = text[..edit.range.start]
            .trim_end_matches(' ')
            .trim_end_matches('\n')
            .rsplit('\n')
            .next()
            .unwrap_or_default();
        text[edit.range.clone()].starts_with('|') || line.trim_end().ends_with("|-")
    })
}

fn one_value(project: &[Meant], seed: u64, pick: usize, new: &str) -> Result<(), TestCaseError> {
    let files = somehow(project, &mut Choices::new(seed));
    let before: BTreeMap<String, String> =
        files.into_iter().enumerate().map(|(n, text)| (format!("{n}.yaml"), text)).collect();
    let manifests = read(&before);
    let meant = &project[pick % project.len()];
    let address = Address::new(meant.kind, meant.key.clone());
    let mut live = spec(&manifests, &address);
    let mut paths = Vec::new();
    texts(&live, "", &mut paths);
    prop_assume!(!paths.is_empty() && !["tag_groups", "named_users", "tags"].contains(&meant.kind));
    let path = &paths[pick % paths.len()];
    let was = live.pointer(path).cloned();
    *live.pointer_mut(path).expect("a value") = new.into();
    prop_assume!(was != Some(new.into()) && read_back(&live, &address));
    let (placed, settled) = edited(&before, &address, &live);
    // These lists are sorted by their content: a new value can move an item, which is reported with its place instead.
    // Nothing else may be reported, and nothing is silently left as it was.
    let list = ["condition", "localizations"].into_iter().find(|list| path.contains(&format!("/{list}/")));
    let reported: Vec<&str> =
        placed.unplaced.iter().chain(&settled.placed[&address].unplaced).map(|one| one.path.as_str()).collect();
    if let Some(list) = list.filter(|_| !reported.is_empty()) {
        prop_assert!(reported.iter().all(|path| path.contains(list)), "{path}: {reported:?}");
        return Ok(());
    }
    let whole = before.values().map(String::as_str).collect::<Vec<_>>().join("=====\n");
    prop_assert!(placed.unplaced.is_empty(), "{path} {:?}\n{whole}", placed.unplaced);
    prop_assert!(settled.placed[&address].unplaced.is_empty(), "{path} -> {new:?}: {:?}\n{whole}", placed.edits);
    prop_assert_eq!(settled.texts.len(), 1);
    let mut after = before.clone();
    after.extend(settled.texts.clone());
    prop_assert_eq!(spec(&read(&after), &address), live);
    let (name, text) = settled.texts.iter().next().expect("a file");
    let (gone, come) = differing(&before[name], text);
    let inserted = gone.iter().all(|line| line.is_empty());
    let lines = new.matches('\n').count() + 1;
    let may = if is_block(&manifests, &placed) { 4 } else { 1 };
    let is_key = was.as_ref().and_then(Value::as_str) == Some(&meant.key) || inserted;
    prop_assert!(gone.len() <= may || is_key, "{path}\n{}\n->\n{}\n{whole}", gone.join("\n"), come.join("\n"));
    prop_assert!(come.len() <= may.max(lines + 1), "{path}\n{}\n->\n{}\n{whole}", gone.join("\n"), come.join("\n"));
    Ok(())
}

/// Whether manifests can express it.
pub fn read_back(live: &Value, address: &Address) -> bool {
    let kind = pushplan::kinds::kind(&address.kind).expect("a kind");
    kind.api.read(live).is_some_and(|read| read.canonical() == *live)
}

proptest! {
    #![proptest_config(settings(400))]

    #[test]
    fn one_value_that_changed_is_one_line_that_changes(project in project(), seed: u64, pick in 0..1_000_usize, new in new_text()) {
        one_value(&project, seed, pick, &new)?;
    }
}
