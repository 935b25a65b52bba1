//! Files of CI systems, read as YAML.

use pushplan::finding::Findings;
use pushplan::manifest::parse;
use pushplan::node::Node;
use pushplan::source::{Source, Sources};
use serde_json::Value;

/// The documents of a text.
#[track_caller]
pub fn documents(yaml: &str) -> Vec<Value> {
    let mut sources = Sources::default();
    let id = sources.add(Source::new("file.yaml", yaml));
    let mut findings = Findings::default();
    let parsed = parse(id, sources.get(id), &mut findings);
    let findings = findings.into_vec();
    assert!(parsed.complete && findings.is_empty(), "{findings:?}\n{yaml}");
    parsed.documents.iter().map(Node::to_json).collect()
}

/// The only document of a text.
#[track_caller]
pub fn document(yaml: &str) -> Value {
    let mut all = documents(yaml);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// A file of this repository.
pub fn own(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Calls `tell` for every text of a document, with the keys that lead to it.
pub fn texts(value: &Value, keys: &mut Vec<String>, tell: &mut dyn FnMut(&[String], &str)) {
    match value {
        Value::String(text) => tell(keys, text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, keys, tell)),
        Value::Object(map) => {
            for (key, item) in map {
                keys.push(key.clone());
                texts(item, keys, tell);
                keys.pop();
            }
        }
        _ => {}
    }
}

/// The scripts of a document: the texts for a shell, with their positions.
pub fn scripts(document: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    texts(document, &mut Vec::new(), &mut |keys, text| {
        let is_script =
            keys.iter().any(|key| ["run", "script", "before_script", "after_script"].contains(&key.as_str()));
        if is_script {
            found.push((keys.join("."), text.to_owned()));
        }
    });
    found
}
