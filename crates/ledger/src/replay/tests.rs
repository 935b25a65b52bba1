//! The state after the records of a ledger.

use std::collections::BTreeSet;

use crate::Seq;
use pushplan_model::digest::Digest;

use super::*;

fn after(records: Vec<Record>) -> Ledger {
    let at = "2026-11-15T12:00:00Z".parse().expect("a time");
    let entry = |(place, record)| Entry { seq: place as Seq + 1, at, actor: "ada".into(), record };
    Ledger::replay(records.into_iter().enumerate().map(entry))
}

fn intent(verb: Verb, id: Option<&str>) -> Record {
    Record::Intents(vec![Intent {
        address: Address::new("segments", "a"),
        verb,
        id: id.map(str::to_owned),
        spec: None,
        refs: BTreeMap::new(),
        seen: BTreeSet::new(),
        deadline: "2026-11-15T12:01:00Z".parse().expect("a time"),
        protect: false,
        zone: None,
    }])
}

#[test]
fn a_refused_repetition_leaves_the_first_creation_unknown() {
    let unknown = |why: &str| {
        let (address, why) = (Address::new("segments", "a"), why.to_owned());
        Record::Outcomes(vec![Outcome { address, verb: Verb::Create, result: Done::Not { why }, unsettled: None }])
    };
    let create = || intent(Verb::Create, None);
    assert!(after(vec![create(), unknown("429")]).open.is_empty(), "it was refused");
    let ledger = after(vec![create(), create(), unknown("429")]);
    let open = &ledger.open[&Address::new("segments", "a")];
    assert_eq!((open.why.as_deref(), open.repeats), (Some("429"), true));
    assert!(after(vec![create(), create(), unknown("429"), created("x")]).open.is_empty());
}

#[test]
fn a_refused_repetition_leaves_the_first_deletion_unknown() {
    let refused = || {
        let (address, result) = (Address::new("segments", "a"), Done::Not { why: "429".to_owned() });
        Record::Outcomes(vec![Outcome { address, verb: Verb::Delete, result, unsettled: None }])
    };
    let delete = |id: &str| intent(Verb::Delete, Some(id));
    assert!(after(vec![delete("x"), refused()]).open.is_empty());
    assert_eq!(after(vec![delete("x"), delete("x"), refused()]).open.len(), 1);
    assert!(after(vec![delete("x"), delete("y"), refused()]).open.is_empty(), "another one was to be deleted");
}

fn created(id: &str) -> Record {
    let result = Done::Done { id: Some(id.into()), push_ids: vec![] };
    let address = Address::new("segments", "a");
    Record::Outcomes(vec![Outcome { address, verb: Verb::Create, result, unsettled: None }])
}

fn resolve(found: Resolution) -> Record {
    Record::Resolve { address: Address::new("segments", "a"), found }
}

#[test]
fn a_replacement_that_was_not_made_leaves_the_old_one_ours() {
    let old = [intent(Verb::Create, None), created("old"), intent(Verb::Create, None)];
    let ledger = after([old.to_vec(), vec![resolve(Resolution::Absent)]].concat());
    let owned = ledger.owned.values().map(|owned| &*owned.id).collect::<Vec<_>>();
    assert_eq!((owned, ledger.open.len(), ledger.retired.len()), (vec!["old"], 0, 0));
    let made = resolve(Resolution::Created { id: "new".into() });
    let ledger = after([old.to_vec(), vec![made]].concat());
    assert_eq!(ledger.owned.values().map(|owned| &*owned.id).collect::<Vec<_>>(), ["new"]);
    assert_eq!(ledger.retired.len(), 1);
}

#[test]
fn an_old_version_that_is_gone_leaves_the_new_one_ours() {
    let replaced = [intent(Verb::Create, None), created("old"), intent(Verb::Create, None), created("new")];
    let ledger =
        after([replaced.to_vec(), vec![intent(Verb::Delete, Some("old")), resolve(Resolution::Absent)]].concat());
    let owned = ledger.owned.values().map(|owned| &*owned.id).collect::<Vec<_>>();
    assert_eq!((owned, ledger.open.len(), ledger.retired.len()), (vec!["new"], 0, 0));
}

#[test]
fn what_was_sent_before_its_deletion_came_stays_known() {
    let deleting = [intent(Verb::Create, None), created("old"), intent(Verb::Delete, Some("old"))];
    let sent = resolve(Resolution::Created { id: "old".into() });
    let ledger = after([deleting.to_vec(), vec![sent]].concat());
    let owned = ledger.owned.values().map(|owned| &*owned.id).collect::<Vec<_>>();
    assert_eq!((owned, ledger.open.len(), ledger.retired.len()), (vec!["old"], 0, 0));
}

#[test]
fn who_lets_go_by_hand_means_older_versions_and_a_run_does_not() {
    let replaced = [intent(Verb::Create, None), created("old"), intent(Verb::Create, None), created("new")];
    let forget = Record::Forget(vec![Address::new("segments", "a")]);
    let left = |records: Vec<Record>| {
        let ledger = after(records);
        (ledger.owned.len(), ledger.retired.len())
    };
    assert_eq!(left([replaced.to_vec(), vec![forget.clone()]].concat()), (0, 0));
    let begin = serde_json::json!({ "run": "r", "plan": Digest::of(b""), "tool": "", "changes": {} });
    let begin = Record::Begin(serde_json::from_value(begin).expect("a run"));
    assert_eq!(left([replaced.to_vec(), vec![begin, forget]].concat()), (0, 1));
}

fn pushes(ledger: &Ledger) -> Vec<String> {
    ledger.owned.values().flat_map(|owned| owned.push_ids.clone()).collect()
}

#[test]
fn the_pushes_of_a_thing_are_remembered_until_the_service_tells_others() {
    let done = |verb, push_ids: &[&str]| {
        let push_ids = push_ids.iter().map(|id| (*id).to_owned()).collect();
        let result = Done::Done { id: Some("one".into()), push_ids };
        Record::Outcomes(vec![Outcome { address: Address::new("segments", "a"), verb, result, unsettled: None }])
    };
    let made = vec![intent(Verb::Create, None), done(Verb::Create, &["p1"])];
    let adopt = |id: &str| {
        let spec = serde_json::json!({ "id": id, "spec": {}, "refs": {}, "protect": false, "past": true, "address": "segments/a" });
        Record::Adopt(vec![serde_json::from_value(spec).expect("a record of a version that knew no pushes")])
    };
    let updated = |push_ids: &[&str]| vec![intent(Verb::Update, Some("one")), done(Verb::Update, push_ids)];
    assert_eq!(pushes(&after(made.clone())), ["p1"]);
    assert_eq!(pushes(&after([made.clone(), vec![adopt("one")]].concat())), ["p1"], "it is the same thing");
    assert_eq!(pushes(&after([made.clone(), vec![adopt("two")]].concat())), [""; 0], "it is another thing");
    assert_eq!(pushes(&after([made.clone(), updated(&[])].concat())), ["p1"]);
    assert_eq!(pushes(&after([made, updated(&["p1", "p2"])].concat())), ["p1", "p2"]);
}

#[test]
fn what_knows_no_pushes_is_written_as_before() {
    let written = serde_json::to_string(&created("one")).expect("JSON");
    assert_eq!(written, r#"{"outcomes":[{"address":"segments/a","verb":"create","result":{"done":{"id":"one"}}}]}"#);
}

fn adopt(more: &Value) -> Record {
    let mut adopted = serde_json::json!({ "id": "one", "spec": {}, "refs": {}, "protect": false, "past": false });
    let fields = more.as_object().expect("an object").clone();
    adopted.as_object_mut().expect("an object").extend(fields);
    Record::Adopt(vec![serde_json::from_value(adopted).expect("a record")])
}

#[test]
fn what_is_adopted_under_another_address_has_one_owner() {
    let ledger = after(vec![
        intent(Verb::Create, None),
        created("one"),
        adopt(&serde_json::json!({ "address": "segments/b" })),
        adopt(&serde_json::json!({ "address": "templates/b" })),
    ]);
    let owners: Vec<String> = ledger.owned.keys().map(ToString::to_string).collect();
    assert_eq!(owners, ["segments/b", "templates/b"], "ids are told apart by kind");
}

#[test]
fn what_is_taken_up_to_be_deleted_is_never_ours() {
    let pruned = adopt(&serde_json::json!({ "address": "segments/a", "pruned": true }));
    let delete = intent(Verb::Delete, Some("one"));
    let not = Record::Outcomes(vec![Outcome {
        address: Address::new("segments", "a"),
        verb: Verb::Delete,
        result: Done::Not { why: "503".into() },
        unsettled: None,
    }]);
    let ledger = after(vec![pruned, delete, not]);
    assert!(ledger.owned.is_empty() && ledger.open.is_empty(), "{ledger:?}");
}

#[test]
fn what_is_not_there_any_more_is_not_ours() {
    let ledger = after(vec![intent(Verb::Create, None), created("old"), resolve(Resolution::Absent)]);
    assert!(ledger.owned.is_empty());
}
