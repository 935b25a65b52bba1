//! A ledger in PostgreSQL, on a real server: every record is stored once and in order, with any number of writers.

mod access;
mod faults;
mod proxy;
mod records;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pushplan::digest::Digest;
use pushplan::ledger::postgres::PostgresStore;
use pushplan::ledger::store::{New, Pending, Start, Store, Unread};
use pushplan::ledger::{AppendError, Chain, Entry, Log, Record, Seq};
use pushplan_testing::missing;
use pushplan_testing::postgres::{REQUIRED, Server, place};
use records::{Sample, create, fill, not_written, numbered, read, store_in};

use crate::suite::Place;

/// A schema of the server.
struct Schema(&'static Server, String);

impl Place for Schema {
    fn open(&self, target: &str) -> Arc<dyn Store> {
        Arc::new(PostgresStore::new(&self.0.place(&self.1), target).expect("a place"))
    }

    fn tamper<'a>(&'a self, target: &'a str, seq: Seq, bytes: Option<&'a [u8]>) -> Pending<'a, ()> {
        let hex: Option<String> = bytes.map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect());
        let row = format!("{}.ledger", self.1);
        Box::pin(async move {
            self.0.run(&match hex {
                None => format!("delete from {row} where target = '{target}' and seq = {seq}"),
                Some(hex) => format!(
                    "insert into {row} (target, seq, record, checksum, checkpoint) values ('{target}', {seq}, '\\x{hex}', '', false) \
                     on conflict (target, seq) do update set record = excluded.record"
                ),
            })
            .await;
        })
    }
}

fn schema() -> Option<Schema> {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    Server::shared().map(|server| Schema(server, format!("suite_{number}")))
}

crate::behaves!(schema());

#[tokio::test]
async fn what_is_created_is_read_back_from_any_place() {
    let Some(server) = Server::shared() else { return };
    let store = store_in(server, "basics");
    for start in [Start::Checkpoint, Start::At(1), Start::Newest] {
        assert_eq!(read(&store, start).await, [], "there is no table yet");
    }
    let samples = fill(&store, 3).await;
    let expected = numbered(&samples);
    assert_eq!(read(&store, Start::Checkpoint).await, expected);
    assert_eq!(read(&store, Start::At(2)).await, expected[1..]);
    assert_eq!(read(&store, Start::At(4)).await, []);
    assert_eq!(read(&store, Start::Newest).await, expected[2..]);
    let other = PostgresStore::new(&server.place("basics"), "staging").expect("a place");
    assert_eq!(read(&other, Start::Checkpoint).await, [], "another target has a ledger of its own");
}

#[tokio::test]
async fn bytes_and_names_of_any_sort_are_kept_as_they_are() {
    let Some(server) = Server::shared() else { return };
    let place = server.place("O%27Neill%20%22ledger%22%20%C3%A9");
    let store = PostgresStore::new(&place, "prod-é'\\\"").expect("a place");
    let sample = Sample { bytes: (0..=255).collect(), checksum: Digest::of(b"") };
    create(&store, 1, &sample, None).await.expect("created");
    assert_eq!(read(&store, Start::Newest).await, [(1, sample.bytes)]);
    let large = Sample { bytes: vec![7; 20 << 20], checksum: Digest::of(b"") };
    create(&PostgresStore::new(&place, "large").expect("a place"), 1, &large, None).await.expect("created");
    // The statement in the help can be run unchanged.
    let go_on = store.go_on(1);
    let sql = go_on.split('`').nth(1).expect("a statement");
    server.run(sql).await;
    assert_eq!(read(&store, Start::Newest).await, []);
    assert_eq!(read(&PostgresStore::new(&place, "large").expect("a place"), Start::Newest).await.len(), 1);
    let told = PostgresStore::new("postgres://h/db", "prod").expect("a place");
    assert_eq!(told.record(7), "row (prod, 7) of pushplan.ledger");
    let told = told.go_on(7);
    let expected = "run `delete from \"pushplan\".ledger where target = 'prod' and seq >= 7; update \
                    \"pushplan\".ledger_newest set seq = 6 where target = 'prod' and seq > 6` to continue from record 6. Later";
    assert!(told.starts_with(expected) && told.contains("nothing is sent twice"), "{told}");
}

#[tokio::test]
async fn one_of_two_records_for_a_place_is_created_and_the_same_one_twice_is_no_conflict() {
    let Some(server) = Server::shared() else { return };
    let (store, other) = (store_in(server, "conflict"), store_in(server, "conflict"));
    let samples = fill(&store, 1).await;
    let previous = Some(&samples[0].checksum);
    let (mine, theirs) = (Sample::new("mine", previous), Sample::new("theirs", previous));
    create(&store, 2, &mine, previous).await.expect("created");
    create(&store, 2, &mine, previous).await.expect("it is there already");
    create(&other, 2, &mine, previous).await.expect("whoever asks");
    assert!(matches!(create(&other, 2, &theirs, previous).await, Err(AppendError::Conflict)));
    assert_eq!(read(&store, Start::Newest).await, [(2, mine.bytes)]);
}

#[tokio::test]
async fn a_record_follows_the_one_that_was_read_and_no_other() {
    let Some(server) = Server::shared() else { return };
    let store = store_in(server, "follows");
    let samples = fill(&store, 2).await;
    let other = Digest::of(b"another ledger");
    let why = not_written(create(&store, 3, &Sample::new("3", Some(&other)), Some(&other)).await);
    assert!(why.contains("record 2 has changed since it was read"), "{why}");
    let previous = Some(&samples[1].checksum);
    let why = not_written(create(&store, 4, &Sample::new("4", previous), previous).await);
    assert!(why.contains("record 3 no longer exists"), "{why}");
    assert_eq!(read(&store, Start::Checkpoint).await, numbered(&samples));
}

#[tokio::test]
async fn a_record_that_is_missing_is_named() {
    let Some(server) = Server::shared() else { return };
    let store = store_in(server, "gaps");
    let samples = fill(&store, 5).await;
    server.run("delete from gaps.ledger where seq = 3").await;
    for start in [Start::Checkpoint, Start::At(1), Start::At(3)] {
        assert_eq!(store.read(start).await, Err(Unread::Missing { seq: 3, there: 4 }), "{start:?}");
    }
    assert_eq!(read(&store, Start::At(4)).await, numbered(&samples)[3..]);
    server.run("delete from gaps.ledger where seq < 3").await;
    assert_eq!(store.read(Start::Checkpoint).await, Err(Unread::Missing { seq: 1, there: 4 }));
}

#[tokio::test]
async fn the_newest_records_are_missed_and_all_of_them_are() {
    let Some(server) = Server::shared() else { return };
    let store = store_in(server, "ends");
    fill(&store, 5).await;
    server.run("delete from ends.ledger where seq > 3").await;
    let every = [Start::Checkpoint, Start::At(1), Start::At(4), Start::At(9), Start::Newest];
    for start in every {
        assert_eq!(store.read(start).await, Err(Unread::CutShort { last: 3, was: 5 }), "{start:?}");
    }
    server.run("delete from ends.ledger").await;
    for start in every {
        assert_eq!(store.read(start).await, Err(Unread::CutShort { last: 0, was: 5 }), "{start:?}");
    }
    // A table of an early version has no note, and gets one with the next record.
    server.run("drop schema ends cascade").await;
    let samples = fill(&store, 3).await;
    server.run("drop table ends.ledger_newest").await;
    assert_eq!(read(&store, Start::Checkpoint).await, numbered(&samples));
    let previous = Some(&samples[2].checksum);
    create(&store, 4, &Sample::new("4", previous), previous).await.expect("created");
    server.run("delete from ends.ledger where seq = 4").await;
    assert_eq!(store.read(Start::Newest).await, Err(Unread::CutShort { last: 3, was: 4 }));
}

#[tokio::test]
async fn a_server_that_was_restored_from_a_backup_is_noticed_by_who_has_seen_more() {
    let Some(server) = Server::shared() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let chain = || Chain::new(Arc::new(store_in(server, "restored")), folder.path(), "prod");
    let forget =
        |seq| Entry { seq, at: jiff::Timestamp::UNIX_EPOCH, actor: "ada".into(), record: Record::Forget(Vec::new()) };
    for seq in 1..=3 {
        chain().append(&forget(seq)).await.expect("a record");
    }
    server.run("delete from restored.ledger where seq = 3; update restored.ledger_newest set seq = 2").await;
    let error = chain().read(0).await.expect_err("it is gone");
    assert!(error.message.contains("it ends with record 2, but record 3 existed before"), "{error}");
    let help = error.help.expect("help");
    assert!(help.contains("pushplan ledger restore --accept-gap"), "{help}");
    // The effect of that command.
    let restored = chain().restored().await.expect("two sound records");
    chain().accept_gap(&restored, "ada", jiff::Timestamp::UNIX_EPOCH).await.expect("written");
    assert_eq!(chain().read(0).await.expect("accepted").len(), 3);
    chain().append(&forget(4)).await.expect("a record");
    server.run("drop schema restored cascade").await;
    let error = chain().history().await.expect_err("all of it is gone");
    assert!(error.message.contains("it ends with record 0, but record 4 existed before"), "{error}");
}

#[tokio::test]
async fn reading_begins_at_the_newest_checkpoint_and_finds_it_by_an_index() {
    let Some(server) = Server::shared() else { return };
    let store = store_in(server, "checkpoints");
    let samples = fill(&store, 3).await;
    let mut previous = samples[2].checksum.clone();
    for seq in 4..=5 {
        let sample = Sample::new("everything", Some(&previous));
        let new = New { seq, bytes: &sample.bytes, previous: Some(&previous), is_checkpoint: true };
        store.create(new).await.expect("created");
        previous = sample.checksum;
    }
    let after = Sample::new("after", Some(&previous));
    create(&store, 6, &after, Some(&previous)).await.expect("created");
    let seqs = |records: Vec<(u64, Vec<u8>)>| records.into_iter().map(|(seq, _)| seq).collect::<Vec<_>>();
    assert_eq!(seqs(read(&store, Start::Checkpoint).await), [5, 6]);
    assert_eq!(seqs(read(&store, Start::At(1)).await), [1, 2, 3, 4, 5, 6]);
    // A checkpoint replaces the records before it.
    server.run("delete from checkpoints.ledger where seq = 2").await;
    assert_eq!(seqs(read(&store, Start::Checkpoint).await), [5, 6]);

    let history = "insert into checkpoints.ledger select 'long', seq, repeat('x', 200)::bytea, '', seq % 1000 = 900 from \
                   generate_series(1, 50000) seq; analyze checkpoints.ledger; select pg_stat_reset()";
    server.run(history).await;
    let long = PostgresStore::new(&server.place("checkpoints"), "long").expect("a place");
    assert_eq!(read(&long, Start::Checkpoint).await.len(), 101);
    let admin = server.admin("ledgers").await;
    // At the end of its session, its counts are reported.
    drop(long);
    let mut counts = (0, 0);
    for _ in 0..100 {
        let sql = "select seq_tup_read + coalesce(idx_tup_fetch, 0), (select idx_scan from pg_stat_user_indexes where \
                   schemaname = 'checkpoints' and indexrelname = 'ledger_checkpoints') from pg_stat_user_tables where \
                   schemaname = 'checkpoints' and relname = 'ledger'";
        let row = admin.query_typed_one(sql, &[]).await.expect("counted");
        counts = (row.get::<_, i64>(0), row.get::<_, i64>(1));
        if counts.1 > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(counts.0 < 300 && counts.1 > 0, "rows read and uses of the index: {counts:?}");
}

/// Appends until it has created this number of records, regardless of other writers.
async fn write(store: PostgresStore, name: usize, count: usize) {
    let mut created = 0;
    while created < count {
        let newest = store.read(Start::Newest).await.expect("readable").pop();
        let (seq, previous) = newest.map_or((0, None), |stored| (stored.seq, Some(checksum(&stored.bytes))));
        let sample = Sample::new(&format!("writer {name}, {created}"), previous.as_ref());
        match create(&store, seq + 1, &sample, previous.as_ref()).await {
            Ok(()) => created += 1,
            Err(AppendError::Conflict) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// The checksum at the end of a record.
fn checksum(bytes: &[u8]) -> Digest {
    let text = str::from_utf8(bytes).expect("UTF-8");
    Digest::of(text.rsplit_once(",\"checksum\"").expect("its end").0.as_bytes())
}

/// Eight writers, and readers that never see a gap.
async fn contend(port: u16, schema: &str) {
    let store = |schema: &str| PostgresStore::new(&place(port, schema), "prod").expect("a place");
    let writers: Vec<_> = (0..8).map(|name| tokio::spawn(write(store(schema), name, 20))).collect();
    let shared = Arc::new(store(schema));
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let store = shared.clone();
            tokio::spawn(async move {
                let mut length = 0;
                while length < 160 {
                    let found = read(&*store, Start::Checkpoint).await.len();
                    assert!(found >= length, "records do not go away");
                    length = found;
                }
            })
        })
        .collect();
    for task in writers.into_iter().chain(readers) {
        task.await.expect("no panic");
    }
    let records = read(&*shared, Start::At(1)).await;
    assert_eq!(records.len(), 160);
    let mut previous = String::new();
    for (seq, bytes) in records {
        let text = String::from_utf8(bytes.clone()).expect("UTF-8");
        assert!(text.contains(&format!("\"previous\":\"{previous}\"")), "record {seq} follows the one before it");
        previous = checksum(&bytes).as_str().to_owned();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_writers_at_once_make_one_line() {
    let Some(server) = Server::shared() else { return };
    contend(server.port, "contended").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_writers_at_once_make_one_line_behind_a_proxy_that_pools_transactions() {
    let Some(server) = Server::shared() else { return };
    if server.pooled == 0 {
        missing("PgBouncer", "run tests/stores/postgres/install", REQUIRED);
        return;
    }
    contend(server.pooled, "pooled").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_who_make_the_table_at_once_succeed() {
    let Some(server) = Server::shared() else { return };
    for round in 0..10 {
        let writers: Vec<_> = (0..8)
            .map(|name| {
                let store = store_in(server, &format!("made_{round}"));
                tokio::spawn(
                    async move { create(&store, 1, &Sample::new(&format!("writer {name}"), None), None).await },
                )
            })
            .collect();
        let mut created = 0;
        for writer in writers {
            match writer.await.expect("no panic") {
                Ok(()) => created += 1,
                Err(AppendError::Conflict) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(created, 1);
    }
}

#[test]
fn a_store_outlives_what_drove_its_connection() {
    let Some(server) = Server::shared() else { return };
    let store = store_in(server, "runtimes");
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let samples = runtime().block_on(fill(&store, 1));
    let idle = runtime();
    assert_eq!(idle.block_on(read(&store, Start::Newest)), numbered(&samples));
    // The connection belongs to `idle`, which is not driven now.
    assert_eq!(runtime().block_on(read(&store, Start::Newest)), numbered(&samples));
}
