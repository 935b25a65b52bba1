//! The ledger in stores of objects: on a server that speaks S3 (`tests/stores/object/start-moto`), on one that speaks Azure's
//! blob storage (`tests/stores/object/start-azurite`), and on a small one in memory that speaks what Google Cloud Storage does.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pushplan::ledger::object::ObjectStore;
use pushplan::ledger::store::{New, Pending, Start, Store, Stored, Unread};
use pushplan::ledger::{AppendError, Seq};
use pushplan_testing::servers;
use pushplan_testing::wire::{Asked, Between, forward, say, store_in_memory};

mod failing;

use crate::suite::Place;

const LIMIT: Duration = Duration::from_secs(20);
const SECRET: &str = "hush-hush-hush";
const TOKEN: &str = "tok-tok-tok";

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(future)
}

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// A separate store for a test.
fn s3_within(port: u16, name: &str, limit: Duration) -> ObjectStore {
    s3_of(port, name, "local", limit)
}

fn s3_of(port: u16, name: &str, target: &str, limit: Duration) -> ObjectStore {
    let endpoint = format!("http://127.0.0.1:{port}");
    let settings = variables(&[
        ("AWS_ENDPOINT_URL", &endpoint),
        ("AWS_ACCESS_KEY_ID", "someone"),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_SESSION_TOKEN", TOKEN),
        ("AWS_REGION", "us-east-1"),
    ]);
    ObjectStore::with(&format!("s3://team/{name}"), target, settings, limit).expect("a place")
}

/// A prefix of a bucket.
struct Prefix(u16, String);

impl Place for Prefix {
    fn open(&self, target: &str) -> Arc<dyn Store> {
        Arc::new(s3_of(self.0, &self.1, target, LIMIT))
    }

    fn tamper<'a>(&'a self, target: &'a str, seq: Seq, bytes: Option<&'a [u8]>) -> Pending<'a, ()> {
        Box::pin(async move { put(self.0, &format!("{}/{target}/{seq:08}.json", self.1), bytes).await })
    }
}

fn prefix() -> Option<Prefix> {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    servers::moto().map(|port| Prefix(port, format!("suite-{number}")))
}

crate::behaves!(prefix());

fn s3(port: u16, name: &str) -> ObjectStore {
    s3_within(port, name, LIMIT)
}

fn google(port: u16, name: &str) -> ObjectStore {
    let endpoint = format!("http://127.0.0.1:{port}");
    // No credentials are requested.
    let account = r#"{"disable_oauth":true,"client_email":"","private_key":"","private_key_id":""}"#;
    let settings = variables(&[("GOOGLE_BASE_URL", &endpoint), ("GOOGLE_SERVICE_ACCOUNT_KEY", account)]);
    ObjectStore::with(&format!("gs://team/{name}"), "local", settings, LIMIT).expect("a place")
}

fn azure(port: u16, name: &str) -> ObjectStore {
    let endpoint = format!("http://127.0.0.1:{port}/devstoreaccount1");
    let settings = variables(&[
        ("AZURE_STORAGE_ENDPOINT", &endpoint),
        ("AZURE_STORAGE_ACCOUNT_NAME", "devstoreaccount1"),
        (
            "AZURE_STORAGE_ACCOUNT_KEY",
            "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
        ),
    ]);
    ObjectStore::with(&format!("az://team/{name}"), "local", settings, LIMIT).expect("a place")
}

/// The bytes of a record, with the fields that a store reads.
fn bytes(seq: u64, run: &str) -> Vec<u8> {
    format!(r#"{{"format":1,"tool":"0.1.0","lineage":"one","seq":{seq},"record":{{"forget":["{run}"]}}}}"#).into_bytes()
}

fn checkpoint(seq: u64) -> Vec<u8> {
    format!(r#"{{"format":1,"tool":"0.1.0","lineage":"one","seq":{seq},"record":{{"checkpoint":{{}}}}}}"#).into_bytes()
}

async fn create(store: &ObjectStore, seq: u64, bytes: &[u8]) -> Result<(), AppendError> {
    let is_checkpoint = bytes.windows(10).any(|window| window == b"checkpoint");
    store.create(New { seq, bytes, previous: None, is_checkpoint }).await
}

/// Writes records, some of which are checkpoints.
async fn fill(store: &ObjectStore, places: std::ops::RangeInclusive<u64>, checkpoints: &[u64]) {
    for seq in places {
        let record = if checkpoints.contains(&seq) { checkpoint(seq) } else { bytes(seq, "a") };
        create(store, seq, &record).await.expect("written");
    }
}

async fn read(store: &ObjectStore, start: Start) -> Vec<u64> {
    store.read(start).await.expect("readable").iter().map(|stored| stored.seq).collect()
}

/// Puts or removes an object without the store.
async fn put(port: u16, key: &str, bytes: Option<&[u8]>) {
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
    let url = format!("http://127.0.0.1:{port}/team/{key}");
    let request = match bytes {
        Some(bytes) => client.put(url).body(bytes.to_vec()),
        None => client.delete(url),
    };
    let credential =
        "AWS4-HMAC-SHA256 Credential=someone/20261115/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
    let answer = request.header("authorization", credential).send().await.expect("an answer");
    assert!(answer.status().is_success(), "{answer:?}");
}

fn said(error: &AppendError) -> &str {
    match error {
        AppendError::Conflict => "conflict",
        AppendError::NotWritten(why) | AppendError::Unknown(why) => why,
    }
}

/// The behaviour of every store.
async fn behaves(open: impl Fn(&str) -> ObjectStore) {
    let (store, other) = (open("plain"), open("plain"));
    for start in [Start::Checkpoint, Start::Newest, Start::At(1), Start::At(5)] {
        assert_eq!(store.read(start).await.expect("nothing is there"), Vec::new());
    }
    fill(&store, 1..=2, &[]).await;
    fill(&other, 3..=7, &[3, 5]).await;
    assert_eq!(read(&store, Start::Checkpoint).await, [5, 6, 7]);
    assert_eq!(read(&store, Start::Newest).await, [7]);
    assert_eq!(read(&store, Start::At(1)).await, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(read(&store, Start::At(6)).await, [6, 7]);
    assert_eq!(read(&store, Start::At(8)).await, [0; 0]);
    let records = store.read(Start::At(2)).await.expect("readable");
    assert_eq!(records[0], Stored { seq: 2, bytes: bytes(2, "a") });

    // Creating an identical record again is not a conflict; creating a different one is.
    create(&other, 7, &bytes(7, "a")).await.expect("it is there");
    assert!(matches!(create(&other, 7, &bytes(7, "b")).await, Err(AppendError::Conflict)));
    assert_eq!(store.read(Start::Newest).await.expect("readable")[0].bytes, bytes(7, "a"));

    // Of many concurrent writers, one wins.
    let stores: Vec<_> = (0..8).map(|_| open("plain")).collect();
    let mut writers = tokio::task::JoinSet::new();
    for (number, store) in stores.into_iter().enumerate() {
        writers.spawn(async move { create(&store, 8, &bytes(8, &format!("writer {number}"))).await });
    }
    let results = writers.join_all().await;
    let won = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!(won, 1, "{results:?}");
    assert!(
        results.iter().flat_map(|result| result.as_ref().err()).all(|error| matches!(error, AppendError::Conflict))
    );
    assert_eq!(read(&store, Start::Checkpoint).await, [5, 6, 7, 8]);

    // Targets and prefixes do not see each other.
    assert_eq!(read(&open("plain/local"), Start::Checkpoint).await, [0; 0]);
    assert_eq!(read(&open("plai"), Start::Checkpoint).await, [0; 0]);
}

#[test]
fn records_are_kept_in_s3() {
    let Some(port) = servers::moto() else { return };
    run(behaves(|name| s3(port, &format!("kept-{name}"))));
    let store = s3(port, "team/pushes");
    assert_eq!(store.shown(), "s3://team/team/pushes/local");
    assert_eq!(store.record(7), "s3://team/team/pushes/local/00000007.json");
    assert!(store.go_on(7).starts_with("move record 7, all later records and the object `newest` out of s3://team/"));
}

#[test]
fn records_are_kept_in_azure() {
    let Some(port) = servers::azurite() else { return };
    run(behaves(|name| azure(port, &format!("kept-{name}"))));
}

#[test]
fn records_are_kept_in_google_cloud_storage() {
    let (port, objects) = store_in_memory(true);
    run(behaves(|name| google(port, &format!("kept-{name}"))));
    let names: Vec<String> = objects.lock().unwrap().keys().cloned().collect();
    assert_eq!(names[0], "kept-plain/local/00000001.json");
    assert_eq!(names.last().expect("some"), "kept-plain/local/newest", "nothing else is left");
    assert_eq!(names.len(), 9);
}

#[test]
fn reading_asks_for_nothing_before_the_last_checkpoint() {
    let Some(port) = servers::moto() else { return };
    run(async {
        let between = Between::new(port, |_| None);
        let store = s3(between.port, "linear");
        fill(&store, 1..=40, &[10, 37]).await;
        between.seen();
        assert_eq!(read(&s3(between.port, "linear"), Start::Checkpoint).await, [37, 38, 39, 40]);
        let seen = between.seen();
        assert_eq!(seen.len(), 7, "the note, the list, four records and the next one: {seen:#?}");
        let lists: Vec<_> = seen.iter().filter(|line| line.contains("list-type")).collect();
        assert!(lists.iter().all(|line| line.contains("start-after=linear%2Flocal%2F00000036.json")), "{lists:#?}");
        assert!(
            !seen.iter().any(|line| line.contains("/00000010.json") || line.contains("/00000036.json")),
            "{seen:#?}"
        );

        // A writer that has read nothing still passes on the start of reading.
        create(&s3(between.port, "linear"), 41, &bytes(41, "a")).await.expect("written");
        between.seen();
        assert_eq!(read(&s3(between.port, "linear"), Start::Checkpoint).await, [37, 38, 39, 40, 41]);
        assert_eq!(between.seen().len(), 8);
        assert_eq!(read(&s3(between.port, "linear"), Start::Newest).await, [41]);
        assert_eq!(between.seen().len(), 4, "the note, the list, the record and the next one");
    });
}

#[test]
fn a_note_that_is_gone_damaged_or_behind_hides_nothing() {
    let Some(port) = servers::moto() else { return };
    run(async {
        let store = s3(port, "notes");
        fill(&store, 1..=40, &[3]).await;
        let fresh = || s3(port, "notes");
        let all: Vec<u64> = (3..=40).collect();
        put(port, "notes/local/newest", None).await;
        assert_eq!(read(&fresh(), Start::Checkpoint).await, all);
        assert_eq!(read(&fresh(), Start::Newest).await, [40]);
        put(port, "notes/local/newest", Some(b"40 38 one\nno digest\n")).await;
        assert_eq!(read(&fresh(), Start::Checkpoint).await, all);
        // A valid note with a wrong checkpoint.
        let line = "40 38 one\n";
        let wrong = format!("{line}{}\n", pushplan::digest::Digest::of(line.as_bytes()));
        put(port, "notes/local/newest", Some(wrong.as_bytes())).await;
        assert_eq!(read(&fresh(), Start::Checkpoint).await, all);
        // An outdated note, with a newer checkpoint.
        put(port, "notes/local/00000041.json", Some(&checkpoint(41))).await;
        put(port, "notes/local/00000042.json", Some(&bytes(42, "a"))).await;
        assert_eq!(read(&fresh(), Start::Checkpoint).await, [41, 42]);
        assert_eq!(read(&fresh(), Start::Newest).await, [42]);
        // Other objects may exist next to the records.
        put(port, "notes/local/readme.txt", Some(b"hello")).await;
        put(port, "notes/local/deeper/00000099.json", Some(b"hello")).await;
        assert_eq!(read(&fresh(), Start::Checkpoint).await, [41, 42]);
    });
}

#[test]
fn a_record_that_a_listing_lacks_is_found() {
    let Some(port) = servers::moto() else { return };
    run(async {
        fill(&s3(port, "listing"), 1..=5, &[]).await;
        for lacking in [2, 4, 5] {
            let between = Between::new(port, move |asked: &Asked| {
                asked.target.contains("list-type").then(|| {
                    let text = String::from_utf8(forward(port, asked)).expect("text");
                    let body = text.split_once("\r\n\r\n").expect("a body").1;
                    let contents = body.split("<Contents>").map(str::to_owned);
                    let rest: Vec<_> = contents.filter(|part| !part.contains(&format!("{lacking:08}.json"))).collect();
                    let end = if rest.last().is_some_and(|part| part.ends_with("Result>")) {
                        ""
                    } else {
                        "</ListBucketResult>"
                    };
                    say("200 OK", "", format!("{}{end}", rest.join("<Contents>")).as_bytes())
                })
            });
            // The note would show that the last one is missing.
            put(port, "listing/local/newest", None).await;
            assert_eq!(read(&s3(between.port, "listing"), Start::At(1)).await, [1, 2, 3, 4, 5], "{lacking}");
        }
    });
}

#[test]
fn what_was_removed_is_missed() {
    let Some(port) = servers::moto() else { return };
    run(async {
        fill(&s3(port, "gaps"), 1..=9, &[4]).await;
        let store = s3(port, "gaps");
        put(port, "gaps/local/00000006.json", None).await;
        assert_eq!(store.read(Start::Checkpoint).await, Err(Unread::Missing { seq: 6, there: 7 }));
        put(port, "gaps/local/00000006.json", Some(&bytes(6, "a"))).await;
        put(port, "gaps/local/00000004.json", None).await;
        assert_eq!(store.read(Start::Checkpoint).await, Err(Unread::Missing { seq: 4, there: 5 }));
        put(port, "gaps/local/00000004.json", Some(&checkpoint(4))).await;
        for gone in [9, 8] {
            put(port, &format!("gaps/local/{gone:08}.json"), None).await;
            for start in [Start::Checkpoint, Start::Newest, Start::At(2)] {
                assert_eq!(store.read(start).await, Err(Unread::CutShort { last: gone - 1, was: 9 }), "{start:?}");
            }
        }
        for gone in 1..=7 {
            put(port, &format!("gaps/local/{gone:08}.json"), None).await;
        }
        assert_eq!(store.read(Start::Checkpoint).await, Err(Unread::CutShort { last: 0, was: 9 }));
    });
}

#[test]
fn the_newest_record_of_another_ledger_is_told() {
    let Some(port) = servers::moto() else { return };
    run(async {
        fill(&s3(port, "foreign"), 1..=2, &[]).await;
        let other = String::from_utf8(bytes(2, "a")).expect("text").replace("\"one\"", "\"two\"");
        put(port, "foreign/local/00000002.json", Some(other.as_bytes())).await;
        let expected = Unread::Foreign { seq: 2, lineage: "two".into(), expected: "one".into() };
        assert_eq!(s3(port, "foreign").read(Start::Checkpoint).await, Err(expected));
    });
}

#[test]
fn a_store_that_ignores_conditions_is_refused_and_left_as_it_was() {
    run(async {
        let (port, objects) = store_in_memory(false);
        for store in [s3(port, "lax"), google(port, "lax")] {
            let error = create(&store, 1, &bytes(1, "a")).await.expect_err("refused");
            assert!(matches!(error, AppendError::NotWritten(_)), "{error:?}");
            let why = said(&error);
            assert!(why.contains("://team/lax/local/") && why.contains("If-None-Match"), "{why}");
            assert!(why.contains("Two machines could write the same record"), "{why}");
            assert_eq!(*objects.lock().unwrap(), BTreeMap::new());
        }
    });
}

#[test]
fn the_store_is_tried_once_in_a_process() {
    let Some(port) = servers::moto() else { return };
    run(async {
        let between = Between::new(port, |_| None);
        let store = s3(between.port, "once");
        fill(&store, 1..=1, &[]).await;
        let seen = between.seen();
        assert_eq!(seen.iter().filter(|line| line.starts_with("PUT")).count(), 4, "{seen:#?}");
        fill(&store, 2..=2, &[]).await;
        assert_eq!(between.seen().len(), 2, "the record and the note");
        let other = s3(between.port, "once");
        fill(&other, 3..=3, &[]).await;
        assert_eq!(between.seen().len(), 4, "the note that is there is looked at, and refused");
        assert_eq!(read(&store, Start::Checkpoint).await, [1, 2, 3]);
    });
}

#[test]
fn readers_see_every_record_that_was_there_when_they_began() {
    let Some(port) = servers::moto() else { return };
    run(async {
        let written = Arc::new(Mutex::new(0));
        let mut readers = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let written = Arc::clone(&written);
            readers.spawn(async move {
                let store = s3(port, "readers");
                loop {
                    let least = *written.lock().unwrap();
                    let seen = read(&store, Start::Checkpoint).await;
                    let last = seen.last().copied().unwrap_or(0);
                    assert!(last >= least, "{last} of {least}");
                    let first = seen.first().copied().unwrap_or(1);
                    assert!(first == 1 || first % 10 == 0, "{seen:?}");
                    assert_eq!(seen, (first..=last).collect::<Vec<_>>());
                    if least == 40 {
                        return;
                    }
                }
            });
        }
        let store = s3(port, "readers");
        for seq in 1..=40 {
            fill(&store, seq..=seq, &[10, 20, 30, 40]).await;
            *written.lock().unwrap() = seq;
        }
        readers.join_all().await;
    });
}
