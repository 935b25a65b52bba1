//! Manifests written by pushplan mean exactly what they were written from, in the layout of `pushplan fmt`.

mod specs;
mod texts;

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use pushplan::codes::Severity;
use pushplan::finding::Findings;
use pushplan::kinds;
use pushplan::manifest::layout::layout;
use pushplan::manifest::{self, Input, InputSource, Project, author, write};
use pushplan::node::Node;
use pushplan::source::{Source, Sources};
use serde_json::Value;

use crate::generated::{meaning, writing};

fn settings(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// The canonical specs that a text declares, by kind and key. The text must have no findings.
fn canonical(text: &str) -> BTreeMap<(String, String), Value> {
    let input = Input { name: "all.yaml".into(), from: InputSource::Bytes(text.as_bytes().to_vec()) };
    let (mut sources, mut findings) = (Sources::default(), Findings::default());
    let project = "[targets.local]\n".to_owned();
    let project = Project::read(Path::new("/nowhere"), project, &mut sources, &mut findings);
    let manifests = manifest::read(project, vec![input], sources, findings);
    let (desired, found) = manifests.resolve(Some("local"));
    let mut wrong = manifests.findings.iter().chain(&found).filter(|finding| finding.severity == Severity::Error);
    if let Some(finding) = wrong.next() {
        panic!("{} {finding:#?}\n{text}", manifests.sources.place(finding.at));
    }
    let specs = desired.resources.iter();
    specs.map(|(at, declared)| ((at.kind.to_string(), at.key.clone()), declared.spec.canonical())).collect()
}

/// The manifest that is written for some specs.
fn authored(specs: &BTreeMap<(String, String), Value>) -> String {
    let mut nodes: BTreeMap<&str, Vec<(&str, Node)>> = BTreeMap::new();
    for ((kind, key), spec) in specs {
        let row = kinds::kind(kind).expect("a kind");
        nodes.entry(kind).or_default().push((key, author::authored(row, key, spec)));
    }
    let sections = nodes.iter().map(|(kind, all)| (*kind, all.iter().map(|(key, node)| (*key, node)).collect()));
    write::manifest(sections)
}

/// A text after `pushplan fmt`.
fn laid_out(text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add(Source::new("all.yaml", text));
    layout(file, sources.get(file)).unwrap_or_else(|kept| panic!("{kept:?}\n{text}"))
}

proptest! {
    #![proptest_config(settings(300))]

    #[test]
    fn what_is_written_of_a_project_reads_back_the_same(project in meaning::project()) {
        let specs = canonical(&writing::plainly(&project));
        let text = authored(&specs);
        prop_assert_eq!(&canonical(&text), &specs, "{}", text);
        prop_assert_eq!(laid_out(&text), text);
    }

    #[test]
    fn awkward_texts_and_fields_that_are_passed_through_survive(specs in specs::specs()) {
        let text = authored(&specs);
        prop_assert_eq!(&canonical(&text), &specs, "{}", text);
        prop_assert_eq!(laid_out(&text), text);
    }

    #[test]
    fn any_value_is_written_as_it_is(value in specs::value()) {
        let text = write::text(&Node::from_json_value(&value));
        let mut sources = Sources::default();
        let file = sources.add(Source::new("all.yaml", text.as_str()));
        let mut findings = Findings::default();
        let parsed = manifest::parse(file, sources.get(file), &mut findings);
        prop_assert!(findings.is_empty(), "{:#?}\n{}", findings.into_vec(), text);
        prop_assert_eq!(parsed.documents[0].to_json(), value, "{}", text);
        prop_assert_eq!(laid_out(&text), text);
    }
}
