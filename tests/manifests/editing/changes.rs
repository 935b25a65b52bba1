//! Arbitrary changes on arbitrary manifests: of sets, groups, devices and times, of parts that are added or removed,
//! and of values with several positions.

use std::collections::BTreeMap;

use proptest::prelude::*;
use pushplan::address::Address;
use pushplan::manifest::Manifests;
use pushplan::node::{At, Node, Reader};
use pushplan::source::Span;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use super::random::{new_text, read_back, settings, texts};
use super::{edited, read, spec};
use crate::generated::meaning::{Meant, project};
use crate::generated::writing::{Choices, somehow};

/// One change in the dashboard: its path, and the new value.
#[derive(Clone, Debug)]
struct Deed {
    path: String,
    /// `None` if it is removed.
    now: Option<Value>,
    /// The value existed before, and differs.
    is_change: bool,
}

/// All single changes of a spec, except those of `texts`.
fn deeds(value: &Value, key: &str, path: &str, all: &mut Vec<Deed>) {
    let mut deed = |path: String, now: Option<Value>, is_change: bool| all.push(Deed { path, now, is_change });
    match (key, value) {
        ("scheduled_time", Value::String(_)) => deed(path.to_owned(), Some("2031-02-03T0405".into()), true),
        ("group", Value::String(_)) => deed(path.to_owned(), Some("other-group".into()), true),
        ("device_type", Value::String(_)) => deed(path.to_owned(), Some("web".into()), true),
        ("device_types", Value::Array(items)) => {
            deed(format!("{path}/{}", items.len() - 1), Some("open::mail".into()), true);
            deed(format!("{path}/-"), Some("open::mail".into()), false);
            deed(path.to_owned(), Some("all".into()), true);
        }
        ("device_types", Value::String(_)) => deed(path.to_owned(), Some(json!(["ios"])), true),
        ("tags" | "add_tag" | "remove_tag" | "categories" | "ios_channels", Value::Array(items)) => {
            deed(format!("{path}/-"), Some("one-more".into()), false);
            deed(format!("{path}/0"), Some("another".into()), true);
            if items.len() > 1 {
                deed(format!("{path}/0"), None, false);
            }
        }
        ("named_users" | "ios_channels", Value::Object(members)) => {
            deed(format!("{path}/a-new-one"), Some(json!(["gold"])), false);
            members.keys().for_each(|id| deed(format!("{path}/{id}"), None, false));
            for (id, tags) in members {
                deeds(tags, "tags", &format!("{path}/{id}"), all);
            }
        }
        ("channels", Value::Array(items)) => {
            deed(format!("{path}/-"), Some(json!({ "channel_id": "ffffffff", "device_type": "ios" })), false);
            if items.len() > 1 {
                deed(format!("{path}/0"), None, false);
            }
            items.iter().enumerate().for_each(|(n, item)| deeds(item, "", &format!("{path}/{n}"), all));
        }
        ("OR" | "AND", Value::Array(items)) => {
            let owner = path.rsplit_once('/').map_or("", |(owner, _)| owner);
            let other = if key == "OR" { "AND" } else { "OR" };
            deed(owner.to_owned(), Some(json!({ other: items })), false);
            deed(owner.to_owned(), Some(items[0].clone()), false);
            let renamed = |item: &Value| match item.get("tag") {
                Some(Value::String(tag)) => {
                    let mut item = item.clone();
                    item["tag"] = format!("{tag}-2").into();
                    item
                }
                _ => item.clone(),
            };
            deed(owner.to_owned(), Some(json!({ key: items.iter().map(renamed).collect::<Vec<_>>() })), false);
            deed(format!("{path}/-"), Some(json!({ "tag": "one-more" })), false);
            if items.len() > 2 {
                deed(format!("{path}/1"), None, false);
            }
            items.iter().enumerate().for_each(|(n, item)| deeds(item, "", &format!("{path}/{n}"), all));
        }
        (_, Value::Object(map)) => map.iter().for_each(|(key, value)| deeds(value, key, &format!("{path}/{key}"), all)),
        (_, Value::Array(items)) => {
            items.iter().enumerate().for_each(|(n, item)| deeds(item, key, &format!("{path}/{n}"), all));
        }
        _ => {}
    }
}

fn done(spec: &Value, Deed { path, now, .. }: &Deed) -> Value {
    let mut spec = spec.clone();
    let (owner, key) = path.rsplit_once('/').expect("a path");
    match (spec.pointer_mut(owner).expect("an owner"), now) {
        (Value::Object(map), Some(now)) => drop(map.insert(key.to_owned(), now.clone())),
        (Value::Object(map), None) => drop(map.remove(key)),
        (Value::Array(items), Some(now)) if key == "-" => items.push(now.clone()),
        (Value::Array(items), Some(now)) => items[key.parse::<usize>().expect("a number")] = now.clone(),
        (Value::Array(items), None) => drop(items.remove(key.parse().expect("a number"))),
        _ => panic!("{path} leads nowhere"),
    }
    spec
}

/// The canonical form of a spec; `None` if manifests cannot express it.
fn canonical(spec: &Value, address: &Address) -> Option<Value> {
    let kind = pushplan::kinds::kind(&address.kind).expect("a kind");
    let key = At::new(address.key.clone(), Span::NONE);
    Some((kind.decode)(&key, &Node::from_json_value(spec), &mut Reader::default())?.canonical())
}

fn written(project: &[Meant], choices: &mut Choices) -> BTreeMap<String, String> {
    let files = somehow(project, choices);
    files.into_iter().enumerate().map(|(n, text)| (format!("{n}.yaml"), numbered(&text))).collect()
}

fn all_specs(manifests: &Manifests) -> BTreeMap<Address, Value> {
    let (desired, _) = manifests.resolve(Some("local"));
    desired.resources.iter().map(|(address, declared)| (address.clone(), declared.spec.canonical())).collect()
}

const REMARKS: [&str; 4] = ["# a note: [not, a, list]", "# another", "# below", "# why"];

/// Adds a number to every remark of a text, so that each can be recognized.
fn numbered(text: &str) -> String {
    let number = |(n, line): (usize, &str)| match REMARKS.iter().any(|remark| line.ends_with(remark)) {
        true => format!("{line} {n}"),
        false => line.to_owned(),
    };
    text.split('\n').enumerate().map(number).collect::<Vec<_>>().join("\n")
}

/// The remarks that end a line.
fn remarks(texts: &BTreeMap<String, String>) -> Vec<String> {
    let of = |line: &str| {
        let at = REMARKS.iter().filter_map(|remark| line.rfind(remark)).max()?;
        let words = line[at..].rsplit_once(' ')?;
        (REMARKS.contains(&words.0) && words.1.parse::<usize>().is_ok()).then(|| line[at..].to_owned())
    };
    texts.iter().flat_map(|(name, text)| text.lines().filter_map(of).map(move |it| format!("{name} {it}"))).collect()
}

/// The removed and the added lines. Unchanged lines between them are not included.
fn changed_lines(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
    let diff = TextDiff::from_lines(old, new);
    let of = |tag: ChangeTag| {
        let lines = diff.iter_all_changes().filter(|line| line.tag() == tag);
        lines.map(|line| line.value().to_owned()).collect::<Vec<_>>()
    };
    (of(ChangeTag::Delete), of(ChangeTag::Insert))
}

fn one_deed(project: &[Meant], seed: u64, pick: usize) -> Result<(), TestCaseError> {
    let before = written(project, &mut Choices::new(seed));
    let meant = &project[pick % project.len()];
    let address = Address::new(meant.kind, meant.key.clone());
    let old = spec(&read(&before), &address);
    let mut all = Vec::new();
    deeds(&old, "", "", &mut all);
    prop_assume!(!all.is_empty());
    let deed = &all[pick % all.len()];
    let live = canonical(&done(&old, deed), &address);
    prop_assume!(live.as_ref().is_some_and(|live| *live != old));
    let live = live.expect("a spec");
    let (placed, settled) = edited(&before, &address, &live);
    let whole = before.values().map(String::as_str).collect::<Vec<_>>().join("=====\n");
    let told = &settled.placed[&address].unplaced;
    prop_assert!(told.is_empty(), "{deed:?} of {address}: {told:?} {:?}\n{whole}", placed.edits);
    let mut after = before.clone();
    after.extend(settled.texts.clone());
    let mut expected = all_specs(&read(&before));
    expected.insert(address, live);
    prop_assert_eq!(all_specs(&read(&after)), expected);
    prop_assert_eq!(settled.texts.len(), 1);
    let (name, text) = settled.texts.iter().next().expect("a file");
    let (gone, come) = changed_lines(&before[name], text);
    let said = format!("{deed:?}\n{}\n->\n{}\n{whole}", gone.join("\n"), come.join("\n"));
    let is_another = deed.path.ends_with("device_types") || deed.path.ends_with("/group");
    let left = remarks(&after);
    let lost: Vec<String> = remarks(&before).into_iter().filter(|remark| !left.contains(remark)).collect();
    prop_assert_eq!(lost.len(), settled.remarks_gone.values().sum::<usize>(), "{:?} {}", lost, said);
    // A remark after an item of a set is about that item, and is removed with it.
    let is_item = deed.is_change && deed.path.rsplit('/').next().is_some_and(|key| key.parse::<usize>().is_ok());
    // Of an item that occurs several times, all but one are removed.
    let items = |lines: &[String]| lines.iter().filter(|line| line.trim_start().starts_with('-')).count();
    // Where one member takes the place of all, its members may be what is left of the others.
    let is_collapsed =
        !deed.is_change && deed.now.as_ref().is_some_and(Value::is_object) && items(&gone) > items(&come);
    let is_told =
        is_collapsed || is_item && (lost.iter().any(|remark| remark.contains("# why")) || items(&gone) > items(&come));
    prop_assert!(deed.now.is_none() || lost.is_empty() || is_told, "{:?} {}", lost, said);
    // A block of text is an indicator and a line; if the order has no meaning, a new item may be put after others.
    let block = gone.iter().any(|line| line.contains('|')) || come.iter().any(|line| line.contains('|'));
    // In a set, the same item may occur up to three times.
    let most = if deed.path.ends_with("/0") { 3 } else { 1 };
    prop_assert!(!deed.is_change || block || gone.len() <= most || is_another, "{}", said);
    Ok(())
}

/// A value with several positions is reported with both, or it is edited where it occurs alone. Nothing else changes.
fn one_of_several(project: &[Meant], seed: u64, pick: usize, new: &str) -> Result<(), TestCaseError> {
    let meant = &project[pick % project.len()];
    let address = Address::new(meant.kind, meant.key.clone());
    let twin = Meant { key: format!("{}-twin", meant.key), ..meant.clone() };
    let project: Vec<Meant> = project.iter().cloned().chain([twin]).collect();
    let before = written(&project, &mut Choices::with_anchors(seed));
    let specs = all_specs(&read(&before));
    let mut live = specs[&address].clone();
    let mut paths = Vec::new();
    texts(&live, "", &mut paths);
    // An item of a set may occur twice in it.
    prop_assume!(!paths.is_empty() && address.kind != "tags");
    let path = &paths[pick % paths.len()];
    *live.pointer_mut(path).expect("a value") = new.into();
    prop_assume!(live != specs[&address] && read_back(&live, &address));
    let (_, settled) = edited(&before, &address, &live);
    let whole = before.values().map(String::as_str).collect::<Vec<_>>().join("=====\n");
    let mut after = before.clone();
    after.extend(settled.texts.clone());
    let mut expected = specs;
    let told = &settled.placed[&address].unplaced;
    if told.is_empty() {
        expected.insert(address, live);
    } else {
        prop_assert!(settled.texts.is_empty());
        prop_assert!(whole.contains("*a"), "{path}: {told:?}\n{whole}");
        let places = &told[0].places;
        let is_told = places.iter().any(|(_, why)| why.starts_with("an anchor")) && places.len() > 1;
        prop_assert!(is_told, "{path}: {told:?}\n{whole}");
    }
    prop_assert_eq!(all_specs(&read(&after)), expected, "{}\n{}", path, whole);
    Ok(())
}

/// A project without the lists whose items are edited by hand if their order changes or they have anchors.
fn editable() -> impl Strategy<Value = Vec<Meant>> {
    project().prop_map(|mut project| {
        project.iter_mut().for_each(|meant| meant.tree.remove(&["localizations", "condition"]));
        project
    })
}

proptest! {
    #![proptest_config(settings(400))]

    #[test]
    fn whatever_is_done_in_the_dashboard_is_brought_into_git(project in editable(), seed: u64, pick in 0..10_000_usize) {
        one_deed(&project, seed, pick)?;
    }

    #[test]
    fn a_value_that_stands_in_several_places_changes_in_none_of_them(
        project in editable(), seed: u64, pick in 0..1_000_usize, new in new_text(),
    ) {
        one_of_several(&project, seed, pick, &new)?;
    }
}
