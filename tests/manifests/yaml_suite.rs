//! The YAML test suite: what is not YAML is refused, and what is YAML is read as the suite says or refused for a stated
//! reason. `tests/yaml-test-suite/fetch` gets the cases; they are not kept in git.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use pushplan::finding::Findings;
use pushplan::manifest::{Parsed, parse};
use pushplan::node::Node;
use pushplan::source::{Source, Sources};
use pushplan_testing::missing;
use serde_json::Value;

/// Where a case that is well-formed YAML is refused all the same: the code, why, and the cases.
const REFUSED: &[(&str, &str, &[&str])] = &[
    ("YM102", "empty keys are keys like any other, and these two are the same", &["2JQS"]),
    (
        "YM103",
        "every field has its own type, so that a tag has nothing to say",
        &[
            "2AUY", "2XXW", "33X3", "35KP", "52DL", "565N", "57H4", "5TYM", "6CK3", "6JWB", "6WLZ", "735Y", "74H7",
            "7FWL", "8MK2", "9KAX", "9WXW", "BU8L", "C4HZ", "CC74", "CUP7", "EHF6", "F2C7", "FH7J", "HMQ5", "J7PZ",
            "L94M", "LE5A", "M5C3", "P76L", "S4JQ", "U3C3", "UGM3", "UKK6-2", "WZ62", "Z67P", "Z9M4",
        ],
    ),
    (
        "YM110",
        "a list or a map as a key: every key of a manifest is a name",
        &[
            "4FJ6", "6BFJ", "6PBE", "9MMW", "KK5P", "LX3P", "M2N8-0", "M2N8-1", "M5DY", "Q9WF", "RZP5", "SBG9", "V9D5",
            "X38W", "XW4D",
        ],
    ),
];

struct Case {
    id: String,
    yaml: String,
    /// The documents as JSON, one behind the other, where JSON can hold them.
    json: Option<String>,
    fail: bool,
}

/// What became of a case: its documents, or the codes it was refused with.
fn read(yaml: &str) -> Result<Vec<Value>, BTreeSet<&'static str>> {
    let mut sources = Sources::default();
    let id = sources.add(Source::new("case.yaml", yaml));
    let mut findings = Findings::default();
    let Parsed { documents, complete, .. } = parse(id, sources.get(id), &mut findings);
    let codes: BTreeSet<_> = findings.into_vec().iter().map(|finding| finding.code.name).collect();
    assert!(complete || !codes.is_empty(), "incomplete without a finding: {yaml:?}");
    if codes.is_empty() { Ok(documents.iter().map(Node::to_json).collect()) } else { Err(codes) }
}

/// The cases, or `None` where nobody has fetched them.
fn cases() -> Option<Vec<Case>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/yaml-test-suite/cases.json");
    let text = fs::read_to_string(path).ok()?;
    let cases: Vec<Value> = serde_json::from_str(&text).expect("the cases are JSON");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let case = |case: &Value| Case {
        id: text(&case["id"]).expect("an id"),
        yaml: text(&case["yaml"]).expect("a text"),
        json: text(&case["json"]),
        fail: case["fail"] == true,
    };
    Some(cases.iter().map(case).collect())
}

/// What is wrong with the reading of one case.
fn problem(case: &Case, stated: &BTreeMap<&str, &str>) -> Option<String> {
    let Case { id, yaml, json, fail } = case;
    let wrong = match (read(yaml), fail) {
        (Err(_), true) => return None,
        (Ok(got), true) => format!("is not YAML and is read as {got:?}"),
        (Err(codes), false) => match stated.get(id.as_str()) {
            Some(code) if codes.iter().eq([code]) => return None,
            Some(code) => format!("is refused with {codes:?}, but the table says {code}"),
            None => format!("is YAML and is refused with {codes:?}, for no stated reason"),
        },
        (Ok(_), false) if stated.contains_key(id.as_str()) => "is read, but the table says that it is refused".into(),
        (Ok(got), false) => {
            let json = json.as_ref()?;
            let wanted: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(json).into_iter().collect();
            if got == wanted.expect("JSON") {
                return None;
            }
            format!("is read as {}\n    and means {json}", Value::from(got))
        }
    };
    Some(format!("{id} {wrong}\n    {yaml:?}"))
}

#[test]
fn yaml_is_read_as_the_test_suite_says() {
    let Some(cases) = cases() else {
        return missing("the YAML test suite", "run tests/yaml-test-suite/fetch", "PUSHPLAN_REQUIRE_YAML_SUITE");
    };
    assert!(cases.len() >= 400, "only {} cases", cases.len());
    assert!(cases.iter().filter(|case| case.fail).count() >= 90);
    let stated: BTreeMap<&str, &str> =
        REFUSED.iter().flat_map(|(code, _, ids)| ids.iter().map(|id| (*id, *code))).collect();
    let problems: Vec<String> = cases.iter().filter_map(|case| problem(case, &stated)).collect();
    assert!(problems.is_empty(), "{} of {} cases:\n{}", problems.len(), cases.len(), problems.join("\n"));
}
