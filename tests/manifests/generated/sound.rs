//! Making a project of random resources one that could be someone's: references lead somewhere, and nothing is an
//! error.

use std::collections::BTreeSet;

use jiff::Timestamp;
use pushplan::check::{self, Subject};
use pushplan::codes::Severity;

use super::meaning::{Field, Meant, Tree};
use super::world::{read, written};

/// Each address once.
pub fn unique(project: &mut Vec<Meant>) {
    project.sort_by(|a, b| (a.kind, &a.key).cmp(&(b.kind, &b.key)));
    project.dedup_by(|a, b| (a.kind, &a.key) == (b.kind, &b.key));
}

/// Returns a project without what `validate` refuses. Segments name only earlier segments; everything else names any segment.
/// All scheduled times are in the future.
pub fn sound(mut project: Vec<Meant>) -> Vec<Meant> {
    let segments: Vec<String> =
        project.iter().filter(|meant| meant.kind == "segments").map(|meant| meant.key.clone()).collect();
    for meant in &mut project {
        let usable: Vec<&String> =
            segments.iter().filter(|key| meant.kind != "segments" || **key < meant.key).collect();
        mend(&mut meant.tree, &usable);
        if meant.kind == "tags" {
            apart(&mut meant.tree);
        }
    }
    loop {
        let refused = refused(&project);
        if refused.is_empty() {
            return project;
        }
        project.retain(|meant| !refused.contains(&format!("{}/{}", meant.kind, meant.key)));
    }
}

/// The addresses of what is refused.
fn refused(project: &[Meant]) -> BTreeSet<String> {
    let manifests = read(&written(project));
    let (desired, found) = manifests.resolve(None);
    let now = Timestamp::now();
    let checked = check::check(&Subject { desired: &desired, target: None, now });
    let all = manifests.findings.iter().chain(&found).chain(&checked);
    let errors = all.filter(|finding| finding.severity == Severity::Error);
    errors
        .map(|finding| match &finding.address {
            Some(address) => address.to_string(),
            None => panic!("{finding:#?}\n{project:?}"),
        })
        .collect()
}

fn mend(tree: &mut Tree, segments: &[&String]) {
    match tree {
        Tree::Text(_) | Tree::Bare(_) => {}
        Tree::List(items) | Tree::Many(items) | Tree::Set(items) | Tree::Either(items) => {
            items.iter_mut().for_each(|item| mend(item, segments));
        }
        Tree::Map(fields) | Tree::Free(fields) => {
            for field in fields {
                match field.keys[0].as_str() {
                    "segment" => refer(field, segments),
                    "scheduled_time" => later(&mut field.value),
                    _ => mend(&mut field.value, segments),
                }
            }
        }
    }
}

/// Names a segment that there is, or a tag where there is none.
fn refer(field: &mut Field, segments: &[&String]) {
    let names: Vec<&mut String> = match &mut field.value {
        Tree::Text(name) => vec![name],
        Tree::List(items) => items
            .iter_mut()
            .filter_map(|item| match item {
                Tree::Text(name) => Some(name),
                _ => None,
            })
            .collect(),
        _ => return,
    };
    if segments.is_empty() {
        field.keys = vec!["tag".into()];
        return;
    }
    for name in names {
        let sum: usize = name.bytes().map(usize::from).sum();
        name.clone_from(segments[sum % segments.len()]);
    }
}

/// A legacy tag that no device has by itself: one that is there already is another user's.
fn apart(tag: &mut Tree) {
    let Tree::Map(fields) = tag else { panic!("a resource is a map") };
    for field in fields.iter_mut().filter(|field| field.keys[0] == "tag") {
        let Tree::Text(text) = &mut field.value else { panic!("a tag is a text") };
        text.insert_str(0, "legacy-");
        field.optional = false;
    }
}

/// Ten years later.
fn later(time: &mut Tree) {
    let Tree::Text(text) = time else { panic!("a time is a text") };
    let year: i32 = text[..4].parse().expect("a year");
    *text = format!("{}{}", year + 10, &text[4..]);
}
