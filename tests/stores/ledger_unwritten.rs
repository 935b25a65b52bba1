//! Results that the ledger could not store are kept in a second place and added later, unless they are outdated by
//! then.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::digest::Digest;
use pushplan::ledger::{Begin, Done, Entry, Intent, Lease, Ledger, Outcome, Record, Resolution, Seq, Verb, history};

use crate::files::FileLog;

fn at() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().expect("a time")
}

fn entry(seq: Seq, record: Record) -> Entry {
    Entry { seq, at: at(), actor: "ada on build-7".into(), record }
}

fn intents(keys: &[&str]) -> Record {
    let intent = |key: &&str| Intent {
        address: Address::new("segments", *key),
        verb: Verb::Create,
        id: None,
        spec: None,
        refs: BTreeMap::new(),
        seen: BTreeSet::new(),
        deadline: at(),
        protect: false,
        zone: None,
    };
    Record::Intents(keys.iter().map(intent).collect())
}

fn created(keys: &[&str]) -> Record {
    let outcome = |key: &&str| {
        let result = Done::Done { id: Some(format!("id-{key}")), push_ids: Vec::new() };
        Outcome { address: Address::new("segments", *key), verb: Verb::Create, result, unsettled: None }
    };
    Record::Outcomes(keys.iter().map(outcome).collect())
}

/// A run that has created two segments and lost its ledger.
fn lost() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let log = FileLog::new(folder.path(), "local");
    log.write(&entry(1, intents(&["a", "b"]))).expect("a sound ledger");
    let file = log.0.keep(&entry(2, created(&["a", "b"]))).expect("it works");
    assert!(file.starts_with(".pushplan/unwritten/local/00000002."), "{file}");
    (folder, file)
}

fn state(root: &Path) -> Ledger {
    Ledger::replay(FileLog::new(root, "local").load(0).expect("a sound ledger"))
}

#[test]
fn what_was_kept_is_told_and_taken_in_once() {
    let (folder, file) = lost();
    let log = FileLog::new(folder.path(), "local");
    let kept = log.0.kept().unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].file, file);
    assert_eq!(
        kept[0].to_string(),
        "2 results of ada on build-7 at 2026-11-15T12:00:00Z could not be written to the ledger:\n  \
         created: segments/a, id id-a\n  created: segments/b, id id-b"
    );
    assert_eq!(state(folder.path()).open.len(), 2);
    let bytes = fs::read(folder.path().join(&file)).unwrap();
    let taken = log.take_in().unwrap();
    assert_eq!((taken.taken.len(), taken.outdated.len()), (2, 0));
    assert!(!folder.path().join(&file).exists());
    let ledger = state(folder.path());
    assert_eq!((ledger.open.len(), ledger.owned.len(), ledger.seq), (0, 2, 2));
    // A crash before the file was removed changes nothing.
    fs::write(folder.path().join(&file), bytes).unwrap();
    let taken = log.take_in().unwrap();
    assert_eq!((taken.taken.len(), taken.outdated.len()), (0, 2));
    assert_eq!(state(folder.path()).seq, 2);
    assert_eq!(log.take_in().unwrap(), Default::default());
}

fn resolved(key: &str, found: Resolution) -> Record {
    Record::Resolve { address: Address::new("segments", key), found }
}

fn keys(outcomes: &[Outcome]) -> Vec<&str> {
    outcomes.iter().map(|outcome| &*outcome.address.key).collect()
}

fn ids(root: &Path) -> Vec<String> {
    state(root).owned.into_values().map(|owned| owned.id).collect()
}

#[test]
fn what_others_have_dealt_with_since_is_outdated() {
    let (folder, _) = lost();
    let log = FileLog::new(folder.path(), "local");
    log.write(&entry(2, resolved("a", Resolution::Created { id: "id-a".into() }))).unwrap();
    let taken = log.take_in().unwrap();
    assert_eq!((keys(&taken.taken), keys(&taken.outdated)), (vec!["b"], vec!["a"]));
    assert_eq!(ids(folder.path()), ["id-a", "id-b"]);
}

#[test]
fn what_was_made_is_ours_whoever_said_that_it_is_not_there() {
    let (folder, _) = lost();
    let log = FileLog::new(folder.path(), "local");
    log.write(&entry(2, resolved("a", Resolution::Absent))).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(log.0.unwritten()).unwrap()[0].outcomes().len(), 2, "both are told");
    let taken = log.take_in().unwrap();
    assert_eq!((keys(&taken.taken), keys(&taken.outdated)), (vec!["b", "a"], vec![]));
    assert_eq!(ids(folder.path()), ["id-a", "id-b"]);
    assert_eq!(log.take_in().unwrap(), Default::default());
}

#[test]
fn what_the_ledger_has_another_id_of_is_told_until_somebody_has_looked() {
    let (folder, first) = lost();
    let log = FileLog::new(folder.path(), "local");
    log.write(&entry(2, resolved("a", Resolution::Created { id: "other".into() }))).unwrap();
    let taken = log.take_in().unwrap();
    assert_eq!((keys(&taken.taken), keys(&taken.outdated)), (vec!["b"], vec![]));
    let twice = &taken.twice[0];
    assert_eq!((&*twice.made.address.key, twice.other.as_deref()), ("a", Some("other")));
    assert_eq!(ids(folder.path()), ["other", "id-b"]);
    assert!(twice.file != first && !folder.path().join(&first).exists());
    // The locked one is skipped, and reported again.
    let again = log.take_in().unwrap();
    assert_eq!((again.taken.len(), again.outdated.len(), again.twice.len()), (0, 0, 1));
    fs::remove_file(folder.path().join(&again.twice[0].file)).unwrap();
    assert_eq!(log.take_in().unwrap(), Default::default());
}

#[test]
fn what_a_later_run_was_about_to_make_as_well_is_ours_and_told() {
    let (folder, _) = lost();
    let log = FileLog::new(folder.path(), "local");
    log.write(&entry(2, resolved("a", Resolution::Absent))).unwrap();
    log.write(&entry(3, intents(&["a"]))).unwrap();
    let taken = log.take_in().unwrap();
    assert_eq!((keys(&taken.taken), taken.twice.len()), (vec!["b", "a"], 1));
    assert_eq!(taken.twice[0].other, None);
    assert_eq!(ids(folder.path()), ["id-a", "id-b"]);
    assert!(state(folder.path()).open.is_empty());
}

#[test]
fn what_was_brought_back_elsewhere_is_no_longer_unwritten() {
    let (folder, file) = lost();
    let log = FileLog::new(folder.path(), "local");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(log.0.unwritten()).unwrap(), log.0.kept().unwrap());
    let copy = log.0.kept_in("copy.json", &fs::read(folder.path().join(&file)).unwrap()).unwrap();
    runtime.block_on(log.0.restore(&copy)).unwrap();
    assert_eq!(log.0.kept().unwrap().len(), 1, "the file stays");
    assert_eq!(runtime.block_on(log.0.unwritten()).unwrap(), []);
}

#[test]
fn what_was_kept_for_another_ledger_stays_where_it_is() {
    let (folder, file) = lost();
    fs::remove_dir_all(folder.path().join(".pushplan/ledger")).unwrap();
    let log = FileLog::new(folder.path(), "local");
    log.write(&entry(1, intents(&["a"]))).unwrap();
    let error = log.take_in().expect_err("another ledger");
    assert!(error.message.contains("created: segments/a, id id-a"), "{error}");
    assert!(error.message.contains("they belong to another ledger"), "{error}");
    assert!(error.help.unwrap().contains(&file));
    assert!(folder.path().join(&file).exists());
}

#[test]
fn a_damaged_file_is_refused_and_other_records_are_not_kept() {
    let (folder, file) = lost();
    fs::write(folder.path().join(&file), "{}").unwrap();
    let log = FileLog::new(folder.path(), "local");
    let error = log.0.kept().expect_err("damaged");
    assert!(error.message.contains(&format!("{file} is damaged")), "{error}");
    assert!(log.0.keep(&entry(3, intents(&["c"]))).is_err());
}

#[test]
fn what_was_moved_since_is_taken_in_under_its_new_address() {
    let (folder, _) = lost();
    let log = FileLog::new(folder.path(), "local");
    let [from, to] = ["a", "moved"].map(|key| Address::new("segments", key));
    log.write(&entry(2, Record::Move { from, to })).unwrap();
    let taken = log.take_in().unwrap();
    assert_eq!((taken.taken.len(), taken.outdated.len()), (2, 0), "to be moved is not to be dealt with");
    let owned: Vec<String> =
        state(folder.path()).owned.iter().map(|(at, owned)| format!("{at} {}", owned.id)).collect();
    assert_eq!(owned, ["segments/b id-b", "segments/moved id-a"]);
    let ledger = state(folder.path());
    assert!(ledger.open.is_empty(), "nothing is in doubt");
}

#[test]
fn what_was_moved_and_then_dealt_with_belongs_to_its_new_address() {
    for (found, expected) in [(Resolution::Created { id: "id-a".into() }, (1, 1)), (Resolution::Absent, (2, 0))] {
        let (folder, _) = lost();
        let log = FileLog::new(folder.path(), "local");
        let [from, to] = ["a", "moved"].map(|key| Address::new("segments", key));
        log.write(&entry(2, Record::Move { from, to })).unwrap();
        log.write(&entry(3, resolved("moved", found))).unwrap();
        let taken = log.take_in().unwrap();
        assert_eq!((taken.taken.len(), taken.outdated.len()), expected);
        let ledger = state(folder.path());
        assert_eq!(ledger.owned[&Address::new("segments", "moved")].id, "id-a");
    }
}

fn begin(run: &str) -> Record {
    let (plan, changes, lease) = (Digest::of(b""), BTreeMap::new(), Some(Lease::of("ada on build-7")));
    Record::Begin(Begin {
        run: run.into(),
        plan,
        app: String::new(),
        tool: "0".into(),
        changes,
        lease,
        home: None,
        checkout: None,
        safeguards: None,
        reverts: None,
    })
}

#[test]
fn what_is_taken_in_leaves_the_lease_of_a_later_run_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = FileLog::new(folder.path(), "local");
    log.write(&entry(1, begin("r"))).expect("a sound ledger");
    log.write(&entry(2, intents(&["a"]))).expect("a sound ledger");
    log.0.keep(&entry(3, created(&["a"]))).expect("it works");
    let later = at() + jiff::SignedDuration::from_secs(100);
    log.write(&Entry { at: later, ..entry(3, begin("later")) }).expect("a sound ledger");
    let before = state(folder.path()).run;
    log.take_in().expect("taken in");
    let ledger = state(folder.path());
    assert_eq!((ledger.owned.len(), ledger.run), (1, before));
}

#[test]
fn what_is_taken_in_does_not_lengthen_the_lease_of_a_run_that_is_dead() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = FileLog::new(folder.path(), "local");
    log.write(&entry(1, begin("r"))).expect("a sound ledger");
    log.write(&entry(2, intents(&["a"]))).expect("a sound ledger");
    let later = at() + jiff::SignedDuration::from_secs(100);
    log.0.keep(&Entry { at: later, ..entry(3, created(&["a"])) }).expect("it works");
    log.take_in().expect("taken in");
    let ledger = state(folder.path());
    assert_eq!((ledger.owned.len(), ledger.run), (1, None), "the results are there, and nobody is at work");
    let deeds = history::deeds(&log.history().expect("a sound ledger"));
    assert_eq!(deeds.len(), 1, "they are the run's own: {deeds:?}");
    assert_eq!(deeds[0].state(&log.history().expect("a sound ledger")).owned.len(), 1);
}
