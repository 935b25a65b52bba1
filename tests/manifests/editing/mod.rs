//! Manifests of users, edited in place: only the differences change, and all other bytes stay.

mod changes;
mod random;
mod remarks;
mod stories;

use std::collections::BTreeMap;
use std::path::Path;

use pushplan::address::Address;
use pushplan::finding::Findings;
use pushplan::manifest::edit::{Editor, Placed, Settled, settle};
use pushplan::manifest::{self, Input, InputSource, Manifests, Project};
use pushplan::source::Sources;
use serde_json::Value;

const PROJECT: &str = "\
[project]
default_target = \"local\"

[targets.local]
[targets.local.variables]
sale = \"20 %\"

[targets.staging]
[targets.staging.variables]
sale = \"30 %\"
";

fn read(texts: &BTreeMap<String, String>) -> Manifests {
    let input = |(name, text): (&String, &String)| Input {
        name: name.clone(),
        from: InputSource::Bytes(text.clone().into_bytes()),
    };
    let (mut sources, mut findings) = (Sources::default(), Findings::default());
    let project = Project::read(Path::new("/nowhere"), PROJECT.to_owned(), &mut sources, &mut findings);
    manifest::read(project, texts.iter().map(input).collect(), sources, findings)
}

fn spec(manifests: &Manifests, address: &Address) -> Value {
    let (desired, findings) = manifests.resolve(Some("local"));
    let declared = desired.resources.get(address);
    declared
        .unwrap_or_else(|| panic!("{address} is not there\n{findings:#?}\n{:#?}", manifests.findings))
        .spec
        .canonical()
}

/// The edit of some texts for one resource that differs on the service.
fn edited(texts: &BTreeMap<String, String>, address: &Address, live: &Value) -> (Placed, Settled) {
    let manifests = read(texts);
    let desired = spec(&manifests, address);
    let placed = Editor::new(&manifests, Some("local")).place(address, &desired, live).expect("it is declared");
    let all = BTreeMap::from([(address.clone(), (placed.clone(), live.clone()))]);
    let with = |changed: &BTreeMap<String, String>| {
        let mut all = texts.clone();
        all.extend(changed.clone());
        read(&all)
    };
    (placed, settle(&manifests, Some("local"), all, with))
}
