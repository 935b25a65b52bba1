//! `history`, `forget` and `resolve`, from the user's point of view.

use std::collections::{BTreeMap, BTreeSet};

use pushplan::address::Address;
use pushplan::digest::Digest;
use pushplan::ledger::{Begin, Done, Ended, Entry, Intent, Ledger, Outcome, Record, Resolution, Verb};
use pushplan_testing::{Folder, Ran, checked};
use serde_json::{Value, json};

use crate::files::FileLog;

/// A project with a ledger that is written through the library, like in `apply`.
struct Story {
    folder: Folder,
    log: FileLog,
    seq: u64,
}

fn intent(address: &str, verb: Verb, id: Option<&str>, spec: Value) -> Intent {
    Intent {
        address: Address::try_from(address.to_owned()).expect("an address"),
        verb,
        id: id.map(str::to_owned),
        spec: Some(spec.into()),
        refs: BTreeMap::new(),
        seen: BTreeSet::from(["seen-before".to_owned()]),
        deadline: "2026-11-15T12:01:00Z".parse().expect("a time"),
        protect: false,
        zone: None,
    }
}

fn outcome(address: &str, verb: Verb, result: Done) -> Outcome {
    let address = Address::try_from(address.to_owned()).expect("an address");
    Outcome { address, verb, result, unsettled: None }
}

fn done(id: Option<&str>) -> Done {
    Done::Done { id: id.map(str::to_owned), push_ids: Vec::new() }
}

impl Story {
    fn new() -> Self {
        let folder = Folder::project("");
        let log = FileLog::new(folder.path(), "local");
        Self { folder, log, seq: 0 }
    }

    fn add(&mut self, record: Record) {
        self.seq += 1;
        let at = format!("2026-11-15T12:00:{:02}Z", self.seq).parse().expect("a time");
        self.log.write(&Entry { seq: self.seq, at, actor: "ada on build-7".into(), record }).expect("a sound ledger");
    }

    fn begin(&mut self, run: &str) {
        let changes = BTreeMap::from([("create".to_owned(), 2)]);
        let plan = Digest::of(run.as_bytes());
        self.add(Record::Begin(Begin {
            run: run.into(),
            plan,
            app: String::new(),
            tool: "0.1.0".into(),
            changes,
            lease: None,
            home: None,
            checkout: None,
            safeguards: None,
            reverts: None,
        }));
    }

    fn end(&mut self, run: &str, ended: Ended) {
        self.add(Record::End { run: run.into(), ended });
    }

    /// Three runs: one that created two resources, one that updated, replaced and failed, and one that was killed.
    fn told() -> Self {
        let mut story = Self::new();
        let greeting = |alert: &str| json!({"name": "winback", "push": {"notification": {"alert": alert}}});
        story.begin("r1");
        story.add(Record::Intents(vec![
            intent(
                "segments/lapsed",
                Verb::Create,
                None,
                json!({"display_name": "Lapsed", "criteria": {"tag": "old"}}),
            ),
            intent("templates/winback", Verb::Create, None, greeting("Hi")),
        ]));
        story.add(Record::Outcomes(vec![
            outcome("segments/lapsed", Verb::Create, done(Some("seg-1"))),
            outcome("templates/winback", Verb::Create, done(Some("tpl-1"))),
        ]));
        story.end("r1", Ended::Done);
        story.begin("r2");
        story.add(Record::Intents(vec![
            intent("templates/winback", Verb::Update, Some("tpl-1"), greeting("Hello \u{1b}[2J")),
            intent(
                "segments/lapsed",
                Verb::Create,
                None,
                json!({"display_name": "Lapsed", "criteria": {"tag": "new"}}),
            ),
            intent("templates/bad", Verb::Create, None, greeting("x")),
        ]));
        story.add(Record::Outcomes(vec![
            outcome("templates/winback", Verb::Update, done(None)),
            outcome("segments/lapsed", Verb::Create, done(Some("seg-2"))),
            outcome("templates/bad", Verb::Create, Done::Not { why: "HTTP 400: no".into() }),
        ]));
        story.add(Record::Intents(vec![intent("segments/lapsed", Verb::Delete, Some("seg-1"), json!(null))]));
        story.add(Record::Outcomes(vec![outcome("segments/lapsed", Verb::Delete, done(None))]));
        story.end("r2", Ended::Partly);
        story.begin("r3");
        let push = json!({"schedule": {"scheduled_time": "2026-11-27T09:00"}});
        story.add(Record::Intents(vec![intent("scheduled_pushes/sale", Verb::Create, None, push)]));
        let why = "no answer within 30 seconds".to_owned();
        story.add(Record::Outcomes(vec![outcome("scheduled_pushes/sale", Verb::Create, Done::Unknown { why })]));
        story
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.folder.run(arguments)
    }

    #[track_caller]
    fn says(&self, arguments: &[&str], code: i32, expected: &str) -> Ran {
        let ran = self.run(arguments);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            ran.code == code && said.contains(expected),
            "expected {code} and {expected:?}: {} and\n{said}",
            ran.code
        );
        ran
    }

    fn ledger(&self) -> Ledger {
        Ledger::replay(FileLog::new(self.folder.path(), "local").load(0).expect("a sound ledger"))
    }

    fn owned(&self) -> Vec<String> {
        self.ledger().owned.iter().map(|(address, owned)| format!("{address} {}", owned.id)).collect()
    }
}

#[test]
fn history_lists_who_applied_what_when() {
    let story = Story::told();
    let ran = story.run(&["history"]);
    assert_eq!(
        ran.stdout,
        "3  2026-11-15 12:00:11Z  ada on build-7  not ended  1 unconfirmed\n\
         2  2026-11-15 12:00:05Z  ada on build-7  in part    1 replaced, 1 updated, 1 failed\n\
         1  2026-11-15 12:00:01Z  ada on build-7  done       2 created\n\
         \n\
         `pushplan history N` shows the changes of one run.\n"
    );
    assert_eq!((ran.stderr.as_str(), ran.code), ("", 0));
}

#[test]
fn history_of_a_run_shows_what_was_before_and_after() {
    let story = Story::told();
    let ran = story.run(&["history", "2"]);
    assert_eq!(
        ran.stdout,
        format!(
            "2 of local: in part\n\
             \x20 when       2026-11-15 12:00:05Z\n\
             \x20 who        ada on build-7\n\
             \x20 plan       {}, pushplan 0.1.0\n\
             \n\
             ~ templates/winback  updated, id tpl-1\n\
             \x20   push.notification.alert  Hi → \"Hello \\x1B[2J\"\n\
             \n\
             ± segments/lapsed  replaced, id seg-2\n\
             \x20   criteria.tag  old → new\n\
             \n\
             + templates/bad  not created: HTTP 400: no\n\
             \x20   name                     + winback\n\
             \x20   push.notification.alert  + x\n\
             \n\
             - segments/lapsed  deleted, id seg-1\n\
             \x20   criteria.tag  - old\n\
             \x20   display_name  - Lapsed\n",
            Digest::of(b"r2").short()
        )
    );
    story.says(&["history", "3"], 0, "+ scheduled_pushes/sale  unconfirmed, created: no answer within 30 seconds");
    story.says(&["history", "3"], 0, "3 of local: not ended: it is running or was interrupted");
    story.says(&["history", "4"], 64, "the runs are 1 to 3");
    story.says(&["history", "0"], 64, "has no run 0");
}

#[test]
fn history_is_json_for_programs() {
    let story = Story::told();
    let json = |arguments: &[&str]| checked(&story.run(arguments), "history.schema.json");
    let list = json(&["history", "--format", "json"]);
    assert_eq!(list["entries"].as_array().map(Vec::len), Some(3));
    assert_eq!(list["entries"][1]["counts"], json!({"replaced": 1, "updated": 1, "failed": 1}));
    assert_eq!(list["entries"][2]["ended"], "not ended");
    let one = json(&["history", "2", "--format", "json"]);
    assert_eq!(one["changes"][1]["before"]["criteria"]["tag"], "old");
    assert_eq!(one["changes"][2]["why"], "HTTP 400: no");
    assert_eq!(one["run"]["id"], "r2");
}

#[test]
fn an_empty_and_a_damaged_ledger_say_so() {
    let story = Story::new();
    story.says(&["history"], 0, "Nothing was applied to local yet.");
    story.says(&["history", "1"], 64, "nothing was applied yet");
    assert!(!story.folder.path().join(".pushplan").exists(), "reading makes nothing");
    let story = Story::told();
    story.folder.write(".pushplan/ledger/local/00000004.json", "{}");
    let ran = story.says(&["history"], 1, "record 4 is damaged");
    assert!(ran.stderr.contains("the last intact record is 3;"), "{}", ran.stderr);
    story.says(&["forget", "segments/lapsed"], 1, "record 4 is damaged");
}

#[test]
fn the_target_is_named_or_the_projects_own() {
    let story = Story::told();
    story.folder.write("pushplan.toml", "[project]\ndefault_target = \"local\"\n[targets.local]\n[targets.other]\n");
    story.says(&["history"], 0, "2 created");
    story.says(&["history", "--target", "other"], 0, "Nothing was applied to other yet.");
    story.says(&["history", "--target", "locl"], 64, "did you mean `local`?");
    story.says(
        &["forget", "segments/lapsed", "--target", "other"],
        64,
        "the ledger of `other` has nothing at segments/lapsed",
    );
}

#[test]
fn what_is_forgotten_is_no_longer_ours() {
    let mut story = Story::told();
    story.end("r3", Ended::Partly);
    story.says(&["forget", "segments/lapsd"], 64, "did you mean segments/lapsed?");
    story.says(&["forget", "pipelines/quite-another"], 64, "it has 3 resources; `pushplan list` shows them");
    story.says(&["forget", "lapsd"], 64, "did you mean segments/lapsed?");
    story.says(&["forget"], 64, "ADDRESS");
    // All or nothing.
    story.says(&["forget", "segments/lapsed", "segments/none"], 64, "nothing at segments/none");
    assert_eq!(story.owned(), ["segments/lapsed seg-2", "templates/winback tpl-1"]);
    let ran = story.says(&["forget", "segments/lapsed"], 0, "Forgot segments/lapsed\nlocal still has it.");
    assert_eq!(ran.stderr, "");
    assert_eq!(story.owned(), ["templates/winback tpl-1"]);
    story.says(&["history"], 0, "ledger only  forgotten segments/lapsed");
    story.says(&["history", "4"], 0, ". segments/lapsed  forgotten, id seg-2\n    criteria.tag  - new\n");
    story.says(&["forget", "segments/lapsed"], 64, "nothing at segments/lapsed");
}

#[test]
fn a_resource_is_forgotten_with_its_parts() {
    let mut story = Story::new();
    let parts = [
        "tag_groups/loyalty/named_users/u-1",
        "tag_groups/loyalty/named_users/u-2",
        "tag_groups/loyal/named_users/u-1",
    ];
    story.add(Record::Intents(parts.iter().map(|part| intent(part, Verb::Create, None, json!(["gold"]))).collect()));
    story.add(Record::Outcomes(parts.iter().map(|part| outcome(part, Verb::Create, done(Some("x")))).collect()));
    story.says(
        &["forget", "tag_groups/loyalty"],
        0,
        "Forgot tag_groups/loyalty/named_users/u-1\nForgot tag_groups/loyalty/named_users/u-2\n",
    );
    assert_eq!(story.owned(), ["tag_groups/loyal/named_users/u-1 x"]);
}

#[test]
fn what_is_in_doubt_is_resolved_before_it_is_forgotten() {
    let story = Story::told();
    let ran = story.says(&["forget", "scheduled_pushes/sale"], 7, "it could be created again");
    assert!(ran.stderr.contains("pushplan resolve scheduled_pushes/sale --created ID | --absent"), "{}", ran.stderr);
    assert_eq!(story.ledger().open.len(), 1);
    story.says(&["resolve", "scheduled_pushes/sale"], 64, "--created ID, or --absent");
    story.says(&["resolve", "scheduled_pushes/sale", "--absent", "--created", "x"], 64, "cannot be used with");
    story.says(&["resolve", "scheduled_pushes/sal", "--absent"], 64, "did you mean scheduled_pushes/sale?");
    story.says(&["resolve", "scheduled_pushes/sale", "--created", "seen-before"], 64, "already existed before");
    story.says(&["resolve", "scheduled_pushes/sale", "--created", ""], 64, "an id cannot be empty");
    assert_eq!(story.ledger().seq, 13, "nothing was written");
    let ran = story.says(
        &["resolve", "scheduled_pushes/sale", "--created", "push-9"],
        0,
        "is managed now, with the id push-9",
    );
    assert!(
        ran.stderr.contains("The unfinished run of ada on build-7 since 2026-11-15T12:00:11Z is now ended."),
        "{}",
        ran.stderr
    );
    assert_eq!(story.owned()[0], "scheduled_pushes/sale push-9");
    assert!(story.ledger().open.is_empty() && story.ledger().run.is_none());
    story.says(&["history"], 0, "ledger only  resolved scheduled_pushes/sale");
    story.says(&["history", "4"], 0, "! scheduled_pushes/sale  resolved, id push-9");
    story.says(&["history", "3"], 0, "3 of local: interrupted");
    story.says(&["resolve", "scheduled_pushes/sale", "--created", "push-9"], 64, "it is managed, with the id push-9");
    story.says(&["forget", "scheduled_pushes/sale"], 0, "Forgot scheduled_pushes/sale");
}

#[test]
fn what_is_not_there_is_said_to_be_absent() {
    let mut story = Story::told();
    story.says(&["resolve", "scheduled_pushes/sale", "--absent"], 0, "scheduled_pushes/sale does not exist");
    assert!(story.ledger().open.is_empty());
    // A known state does not become unknown, because the resource would be created a second time.
    let known = "the state of templates/winback is known: it is managed, with the id tpl-1";
    let ran = story.says(&["resolve", "templates/winback", "--absent"], 64, known);
    assert!(ran.stderr.contains("pushplan forget templates/winback"), "{}", ran.stderr);
    assert_eq!(story.owned(), ["segments/lapsed seg-2", "templates/winback tpl-1"]);
    // A replacement that was not created.
    story.seq = story.ledger().seq;
    story.add(Record::Intents(vec![intent("segments/lapsed", Verb::Create, None, json!({}))]));
    story.says(&["resolve", "segments/lapsed", "--created", "seg-2"], 64, "the earlier version of segments/lapsed");
    story.says(&["resolve", "segments/lapsed", "--absent"], 0, "the earlier version is still managed");
    assert_eq!(story.owned(), ["segments/lapsed seg-2", "templates/winback tpl-1"]);
    // The next plan finds out the result of an update.
    story.seq = story.ledger().seq;
    story.add(Record::Intents(vec![intent("segments/lapsed", Verb::Update, Some("seg-2"), json!({}))]));
    story.says(&["resolve", "segments/lapsed", "--created", "x"], 64, "the next plan checks this");
}

#[test]
fn results_that_could_not_be_written_are_told_and_taken_in() {
    let story = Story::told();
    let outcomes = vec![outcome("scheduled_pushes/sale", Verb::Create, done(Some("push-7")))];
    let at = "2026-11-15T12:03:00Z".parse().unwrap();
    let entry = Entry { seq: 14, at, actor: "ada on build-7".into(), record: Record::Outcomes(outcomes) };
    story.log.0.keep(&entry).unwrap();
    let ran = story.run(&["history"]);
    assert!(
        ran.stderr.contains("1 result of ada on build-7 at 2026-11-15T12:03:00Z could not be written"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("created: scheduled_pushes/sale, id push-7"), "{}", ran.stderr);
    assert_eq!(story.ledger().open.len(), 1, "reading changes nothing");
    let ran = story.says(&["forget", "templates/winback"], 0, "Forgot templates/winback");
    assert!(
        ran.stderr.contains("are in the ledger now:\n  created: scheduled_pushes/sale, id push-7"),
        "{}",
        ran.stderr
    );
    assert_eq!(story.owned(), ["scheduled_pushes/sale push-7", "segments/lapsed seg-2"]);
    story.says(&["history", "3"], 0, "+ scheduled_pushes/sale  created, id push-7");
    assert_eq!(story.run(&["history"]).stderr, "");
    assert!(matches!(story.log.history().unwrap().last().map(|entry| &entry.record), Some(Record::Forget(_))));
    let resolved = story
        .log
        .history()
        .unwrap()
        .iter()
        .any(|entry| matches!(&entry.record, Record::Resolve { found: Resolution::Created { .. }, .. }));
    assert!(!resolved);
}

#[test]
fn who_did_it_is_remembered() {
    let story = Story::told();
    let ran = std::process::Command::new(env!("CARGO_BIN_EXE_pushplan"))
        .args(["resolve", "scheduled_pushes/sale", "--absent"])
        .current_dir(story.folder.path())
        .env_clear()
        .env("USER", "eve")
        .env("HOSTNAME", "build-9")
        .output()
        .unwrap();
    assert!(ran.status.success());
    story.says(&["history", "4"], 0, "who        eve on build-9");
}

#[test]
fn an_older_version_that_is_still_to_go_out_is_forgotten_only_on_purpose() {
    let mut story = Story::new();
    story.folder.write("pushplan.toml", "[targets.local]\napi = \"documented\"\n");
    let variant = |time: &str| json!({"push": {"notification": {"alert": "Hi"}}, "schedule": {"scheduled_time": time}});
    let spec = |time: &str| json!({"name": "x", "audience": {"tag": "x"}, "device_types": ["ios"], "variants": [variant(time), variant(time)]});
    story.begin("r1");
    // The newer one was sent, and the one that it replaces was not deleted.
    for (id, time) in [("old", "2099-01-01T0900"), ("new", "2026-01-01T0900")] {
        story.add(Record::Intents(vec![intent("experiments/x", Verb::Create, None, spec(time))]));
        story.add(Record::Outcomes(vec![outcome("experiments/x", Verb::Create, done(Some(id)))]));
    }
    story.end("r1", Ended::Done);
    story.says(&["forget", "experiments/x"], 7, "experiments/x is pending, and this API cannot list it");
    story.says(&["forget", "experiments/x", "--even-if-pending"], 0, "Forgot experiments/x");
}
