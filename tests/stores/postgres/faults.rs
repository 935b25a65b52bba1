//! Lost messages, and servers that are slow, gone, restarted or replaced.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pushplan::client::Patience;
use pushplan::ledger::AppendError;
use pushplan::ledger::postgres::PostgresStore;
use pushplan::ledger::store::{Start, Store, Unread};
use pushplan_testing::postgres::{Server, place};

use super::proxy::{Fault, Proxy};
use super::records::{Sample, create, fill, not_written, numbered, read, store_in};

const HASTE: Patience = Patience { connect: Duration::from_secs(5), whole: Duration::from_secs(5) };

/// A store whose next `times` creations meet a fault, and the same location without the fault, with one record.
async fn spoiled(server: &Server, schema: &str, fault: Fault, times: usize) -> (PostgresStore, PostgresStore, Proxy) {
    let sound = store_in(server, schema);
    fill(&sound, 1).await;
    let proxy = Proxy::new(server.port, fault, times).await;
    let place = format!("{}?sslmode=disable", place(proxy.port, schema));
    (PostgresStore::new(&place, "prod").expect("a place").patience(HASTE), sound, proxy)
}

fn second() -> (Sample, Sample) {
    let first = Sample::new("record 1", None);
    (Sample::new("mine", Some(&first.checksum)), first)
}

#[tokio::test]
async fn a_record_whose_request_or_answer_is_lost_is_created_once() {
    let Some(server) = Server::shared() else { return };
    for (fault, schema) in
        [(Fault::RequestLost, "request_lost"), (Fault::AnswerLost, "answer_lost"), (Fault::Late, "late")]
    {
        let (store, sound, proxy) = spoiled(server, schema, fault, 1).await;
        let (mine, first) = second();
        create(&store, 2, &mine, Some(&first.checksum)).await.expect(schema);
        // The late request arrives now, and finds its position taken.
        tokio::time::sleep(Duration::from_secs(if fault == Fault::Late { 2 } else { 0 })).await;
        assert!(proxy.met.load(Ordering::SeqCst) > 0, "the fault was met");
        assert_eq!(read(&sound, Start::At(2)).await, [(2, mine.bytes)], "{fault:?}");
    }
}

#[tokio::test]
async fn after_a_lost_answer_somebody_elses_record_is_a_conflict() {
    let Some(server) = Server::shared() else { return };
    let (store, sound, proxy) = spoiled(server, "lost_conflict", Fault::AnswerLost, 1).await;
    let (mine, first) = second();
    let theirs = Sample::new("theirs", Some(&first.checksum));
    create(&sound, 2, &theirs, Some(&first.checksum)).await.expect("created");
    let result = create(&store, 2, &mine, Some(&first.checksum)).await;
    assert!(matches!(result, Err(AppendError::Conflict)), "{result:?}");
    assert_eq!(proxy.met.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn where_looking_does_not_help_nothing_is_claimed() {
    let Some(server) = Server::shared() else { return };
    let (mine, first) = second();
    let (store, sound, _proxy) = spoiled(server, "lost_for_good", Fault::AnswerLostForGood, 1).await;
    let result = create(&store, 2, &mine, Some(&first.checksum)).await;
    let Err(AppendError::Unknown(why)) = result else { panic!("{result:?}") };
    assert!(why.contains(&store.shown()) && why.contains("a second attempt failed too"), "{why}");
    assert!(!why.contains("hunter2"), "{why}");
    assert_eq!(read(&sound, Start::At(2)).await.len(), 1, "it was written");

    let (store, sound, _proxy) = spoiled(server, "lost_twice", Fault::RequestLost, 2).await;
    let result = create(&store, 2, &mine, Some(&first.checksum)).await;
    assert!(matches!(result, Err(AppendError::Unknown(_))), "{result:?}");
    assert_eq!(read(&sound, Start::At(2)).await.len(), 0, "it was not");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_not_waited_for() {
    let Some(server) = Server::shared() else { return };
    let (store, _sound, _proxy) = spoiled(server, "swallowed", Fault::Swallowed, 1).await;
    let (mine, first) = second();
    let result = create(&store, 2, &mine, Some(&first.checksum)).await;
    let Err(AppendError::Unknown(why)) = result else { panic!("{result:?}") };
    assert!(why.contains("did not answer within 5s") && why.contains("pg_stat_activity"), "{why}");
    create(&store, 2, &mine, Some(&first.checksum)).await.expect("the next one has a connection of its own");
}

#[tokio::test]
async fn what_waits_for_a_lock_too_long_is_stopped_and_never_written() {
    let Some(server) = Server::shared() else { return };
    let store = store_in(server, "locked").patience(HASTE);
    let samples = fill(&store, 1).await;
    let admin = server.admin("ledgers").await;
    admin.batch_execute("begin; lock table locked.ledger in access exclusive mode").await.expect("locked");
    let (mine, first) = second();
    let why = not_written(create(&store, 2, &mine, Some(&first.checksum)).await);
    assert!(why.contains("did not answer within 5s, so the statement was cancelled"), "{why}");
    let unread = store.read(Start::Newest).await.expect_err("locked");
    assert!(matches!(&unread, Unread::Failed { why, .. } if why.contains("within 5s")), "{unread:?}");
    admin.batch_execute("commit").await.expect("unlocked");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(read(&store, Start::Checkpoint).await, numbered(&samples));
}

#[tokio::test]
async fn an_append_whose_session_is_ended_by_somebody_is_made_over_another_one() {
    let Some(server) = Server::shared() else { return };
    let store = Arc::new(store_in(server, "killed"));
    fill(&*store, 1).await;
    let admin = server.admin("ledgers").await;
    admin.batch_execute("begin; lock table killed.ledger in access exclusive mode").await.expect("locked");
    let (mine, first) = second();
    let (appending, sample) = (store.clone(), mine.clone());
    let append = tokio::spawn(async move { create(&*appending, 2, &sample, Some(&first.checksum)).await });
    let kill = "select pg_terminate_backend(pid) from pg_stat_activity where query like 'with durable%killed%' and \
                wait_event_type = 'Lock'";
    let mut killed = false;
    for _ in 0..200 {
        killed = !admin.query_typed(kill, &[]).await.expect("asked").is_empty();
        if killed {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(killed);
    tokio::time::sleep(Duration::from_millis(200)).await;
    admin.batch_execute("commit").await.expect("unlocked");
    append.await.expect("no panic").expect("created");
    assert_eq!(read(&*store, Start::At(2)).await, [(2, mine.bytes)]);
}

#[tokio::test]
async fn a_server_that_is_restarted_between_two_appends_is_connected_to_anew() {
    let Some(server) = Server::start() else { return };
    let store = store_in(&server, "restarted");
    let first = fill(&store, 1).await.remove(0);
    server.order("restart");
    let second = Sample::new("second", Some(&first.checksum));
    create(&store, 2, &second, Some(&first.checksum)).await.expect("created");
    server.order("restart");
    assert_eq!(read(&store, Start::Checkpoint).await, numbered(&[first, second.clone()]));
    server.order("stop");
    let third = Sample::new("third", Some(&second.checksum));
    let result = create(&store, 3, &third, Some(&second.checksum)).await;
    let (Err(AppendError::Unknown(why)) | Err(AppendError::NotWritten(why))) = result else { panic!("{result:?}") };
    assert!(why.contains("check that the server runs"), "{why}");
    server.order("start");
    create(&store, 3, &third, Some(&second.checksum)).await.expect("created");
}

#[tokio::test]
async fn a_record_outlives_a_crash_also_where_the_server_answers_early() {
    let Some(server) = Server::start() else { return };
    let admin = server.admin("ledgers").await;
    for sql in ["alter system set synchronous_commit = off", "alter system set wal_writer_delay = '10s'"] {
        admin.batch_execute(sql).await.expect("set");
    }
    server.order("restart");
    let store = store_in(&server, "durable");
    let mut samples = fill(&store, 1).await;
    // Earlier records may have been flushed by the server's own work after its start.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let last = Sample::new("last", Some(&samples[0].checksum));
    create(&store, 2, &last, Some(&samples[0].checksum)).await.expect("created");
    server.order("crash");
    server.order("start");
    samples.push(last);
    assert_eq!(read(&store, Start::Checkpoint).await, numbered(&samples));
}

#[tokio::test]
async fn a_standby_is_neither_believed_nor_written_to() {
    let Some(server) = Server::start() else { return };
    let store = store_in(&server, "standby");
    let first = fill(&store, 1).await.remove(0);
    server.order("standby");
    let (empty, next) = (store_in(&server, "not_there_yet"), Sample::new("next", Some(&first.checksum)));
    for store in [&store, &empty] {
        let unread = store.read(Start::Checkpoint).await.expect_err("a standby");
        assert!(matches!(&unread, Unread::Failed { why, .. } if why.contains("standby")), "{unread:?}");
    }
    let why = not_written(create(&store, 2, &next, Some(&first.checksum)).await);
    assert!(why.contains("name the primary server"), "{why}");
    assert!(not_written(create(&empty, 1, &first, None).await).contains("name the primary server"));
}

#[tokio::test]
async fn a_place_that_cannot_be_reached_is_named_with_what_to_check() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let store = PostgresStore::new(&place(closed, "s"), "prod").expect("a place");
    let Err(Unread::Failed { why, help: Some(help) }) = store.read(Start::Newest).await else { panic!("unreachable") };
    assert_eq!(why, format!("postgres://keeper@127.0.0.1:{closed}/ledgers/s cannot be reached: Connection refused"));
    assert!(help.contains("check that the server runs"), "{help}");

    // It accepts the connection and never answers.
    let mute = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = mute.local_addr().expect("an address").port();
    let store = PostgresStore::new(&place(port, "s"), "prod").expect("a place").patience(HASTE);
    let why = not_written(create(&store, 1, &Sample::new("first", None), None).await);
    assert!(why.contains("no answer within 5s") && why.contains("check that"), "{why}");
    assert!(!why.contains("hunter2"), "{why}");
}
