//! Files of a newer pushplan, read by this version: a ledger, a saved plan. Nothing is dropped, and nothing is sent.

use std::fs;
use std::path::Path;
use std::process::Command;

use pushplan::digest::Digest;
use pushplan::ledger::place;
use pushplan::ledger::store::{New, Start, Store};
use pushplan_testing::{Project, Service, says};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const ONE: &str = "\
segments:
  a: {criteria: {tag: a}}
";

/// The ledger locations that need no server except git's.
const PLACES: [&str; 3] = ["file:", "file:shared", "git"];

/// A project that was applied once, in a repository with a server.
pub struct Stage {
    pub project: Project,
    pub service: Service,
    server: TempDir,
}

impl Stage {
    /// Creates it with its ledger in a location.
    pub fn new(place: &str) -> Self {
        let project = Project::with(ONE, &format!("ledger = \"{place}\"\n"));
        let server = tempfile::tempdir().expect("a folder");
        fs::create_dir(project.folder.path().join("shared")).expect("a folder");
        git(server.path(), &["init", "--quiet", "--bare", "--initial-branch=main", "."]);
        git(project.folder.path(), &["init", "--quiet", "--initial-branch=main", "."]);
        git(project.folder.path(), &["remote", "add", "origin", server.path().to_str().expect("UTF-8")]);
        let service = project.serve();
        project.good(&["apply", "--yes"]);
        service.forget();
        Self { project, service, server }
    }

    pub fn server(&self) -> &Path {
        self.server.path()
    }
}

/// The output of git.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let ran = Command::new("git").args(arguments).current_dir(folder).output().expect("git");
    assert!(ran.status.success(), "{arguments:?}: {ran:?}");
    String::from_utf8(ran.stdout).expect("UTF-8").trim().to_owned()
}

/// Appends a record as another version of pushplan would write it, and returns all records.
pub fn append(project: &Project, place: &str, record: &Value, more: &str) -> Vec<Vec<u8>> {
    let store = place::open(Some(place), project.folder.path(), "local").expect("a place");
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let newest = store.read(Start::Newest).await.expect("a ledger").pop().expect("a record");
        let before: Value = serde_json::from_slice(&newest.bytes).expect("JSON");
        let (seq, previous) = (newest.seq + 1, before["checksum"].as_str().expect("a checksum"));
        let lineage = before["lineage"].as_str().expect("a lineage");
        let body = format!(
            "{{\"format\":1,\"tool\":\"9.1.0\",\"lineage\":\"{lineage}\",\"previous\":\"{previous}\",\"seq\":{seq},\
             \"at\":\"2026-11-17T12:00:00Z\",\"actor\":\"ada\"{more},\"record\":{record}"
        );
        let bytes = format!("{body},\"checksum\":\"{}\"}}\n", Digest::of(body.as_bytes())).into_bytes();
        let previous = serde_json::from_value(json!(previous)).expect("a digest");
        let new =
            New { seq, bytes: &bytes, previous: Some(&previous), is_checkpoint: record.get("checkpoint").is_some() };
        store.create(new).await.expect("created");
        all_of(&*store).await
    })
}

async fn all_of(store: &dyn Store) -> Vec<Vec<u8>> {
    store.read(Start::At(1)).await.expect("a ledger").into_iter().map(|stored| stored.bytes).collect()
}

/// A checkpoint with a field that this version does not know.
fn checkpoint(field: &str, value: &Value) -> Value {
    let mut state = json!({
        "seq": 4, "owned": {}, "retired": [], "open": {}, "unsettled": null, "run": null, "applied": null,
    });
    state[field] = value.clone();
    json!({ "checkpoint": state })
}

#[test]
fn a_ledger_with_anything_unknown_in_it_is_refused_in_every_place_and_stays_as_it_is() {
    let intent = json!({
        "address": "journeys/welcome", "verb": "create", "id": null, "spec": {}, "refs": {}, "seen": [],
        "deadline": "2026-11-17T12:00:00Z", "protect": false,
    });
    let owned = json!({"id": "1", "spec": {}, "applied": "2026-11-17T12:00:00Z"});
    let adopted = json!({
        "address": "journeys/welcome", "id": "1", "spec": {}, "refs": {}, "stamp": null, "protect": false, "past": false,
    });
    let kind = "unknown kind: `journeys`";
    for place in PLACES {
        let records: Vec<(&str, Value, &str)> = vec![
            ("", json!({ "adopt": [adopted] }), kind),
            ("", json!({ "intents": [intent] }), kind),
            (
                "",
                json!({"outcomes": [{"address": "journeys/welcome", "verb": "create", "result": {"done": {"id": "1"}}}]}),
                kind,
            ),
            ("", json!({"forget": ["journeys/welcome"]}), kind),
            ("", json!({"move": {"from": "journeys/a", "to": "journeys/b"}}), kind),
            ("", json!({"resolve": {"address": "journeys/welcome", "found": "absent"}}), kind),
            ("owned", json!({ "journeys/welcome": owned }), kind),
            ("open", json!({"journeys/welcome": {"intent": intent, "at": "2026-11-17T12:00:00Z", "why": null}}), kind),
            ("retired", json!([{"address": "journeys/welcome", "id": "1", "spec": {}}]), kind),
            ("pruning", json!({"journeys/welcome": "1"}), kind),
            ("paused", json!(true), "unknown field `paused`"),
            ("", json!({"pause": {"run": "1"}}), "unknown variant `pause`"),
            ("", json!({"forget": ["segments/a"], "because": "x"}), "which cannot read it"),
            ("", json!({"end": {"run": "1", "ended": "done", "waits": true}}), "unknown field `waits`"),
        ];
        // A single project for all cases would already be refused for its first record.
        for (field, value, why) in records {
            // In git, a few of them are enough to show the same behaviour.
            if place == "git" && !["", "owned"].contains(&field) {
                continue;
            }
            let Stage { project, service, server: _server } = Stage::new(place);
            let record = if field.is_empty() { value } else { checkpoint(field, &value) };
            let written = append(&project, place, &record, "");
            for arguments in [
                &["plan"][..],
                &["apply", "--yes"],
                &["drift"],
                &["history"],
                &["ledger", "status"],
                &["ledger", "verify"],
                &["ledger", "compact"],
                &["forget", "segments/a"],
            ] {
                let ran = project.run(arguments);
                assert_eq!(ran.code, 1, "{place} {record} {arguments:?}: {ran}");
                says(&ran.stderr, &["was written by a newer pushplan, 9.1.0", why, "use pushplan 9.1.0 or later"]);
            }
            assert_eq!(service.writes(), Vec::<String>::new(), "{place} {record}");
            let store = place::open(Some(place), project.folder.path(), "local").expect("a place");
            let now = Runtime::new().expect("a runtime").block_on(all_of(&*store));
            assert!(now == written, "{place} {record}: the records have changed");
        }
    }
}

#[test]
fn an_unknown_field_around_a_record_is_refused_also_before_a_checkpoint() {
    let Stage { project, service: _service, server: _server } = Stage::new("file:");
    append(&project, "file:", &json!({"forget": ["segments/b"]}), ",\"until\":\"2027-01-01\"");
    let ran = project.run(&["plan"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["record 5 was written by a newer pushplan", "unknown field `until`"]);
}

/// A saved plan with changed content, and the matching digest.
fn save_again(project: &Project, change: impl Fn(&mut Value)) {
    let mut saved: Value = serde_json::from_str(&project.folder.read("p.plan")).expect("a plan");
    change(&mut saved["plan"]);
    saved["plan"]["tool"] = json!("9.1.0");
    saved["digest"] = json!(Digest::of_value(&saved["plan"]));
    project.folder.write("p.plan", saved.to_string());
}

#[test]
fn a_plan_with_anything_unknown_in_it_is_refused() {
    for (change, why) in [
        (
            (|plan| plan["changes"][0]["address"] = json!("journeys/a")) as fn(&mut Value),
            "`journeys/a` has an unknown kind: `journeys`",
        ),
        (|plan| plan["steps"][0]["address"] = json!("journeys/a"), "unknown kind: `journeys`"),
        (|plan| plan["waits_for"] = json!("2027-01-01T00:00:00Z"), "it has fields that are unknown to this version"),
        (|plan| plan["changes"][0]["action"] = json!("pause"), "unknown variant `pause`"),
    ] {
        let project = Project::new(ONE);
        let service = project.serve();
        project.good(&["plan", "--out", "p.plan"]);
        save_again(&project, change);
        service.forget();
        let ran = project.run(&["apply", "p.plan"]);
        assert_eq!(ran.code, 5, "{ran}");
        says(
            &ran.stderr,
            &["the plan p.plan was written by a newer pushplan, 9.1.0", why, "use pushplan 9.1.0 or later"],
        );
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}
