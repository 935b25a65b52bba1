//! Failures of a store, or of the connection to it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pushplan::ledger::AppendError;
use pushplan::ledger::object::ObjectStore;
use pushplan::ledger::store::{Start, Store as _, Unread};
use pushplan_testing::servers;
use pushplan_testing::wire::{Asked, Between, forward, say, serve};

use super::{LIMIT, SECRET, TOKEN, azure, bytes, create, fill, google, read, run, s3, s3_within, said, variables};

/// Loses one request that creates a record, or its answer.
fn losing(port: u16, seq: u64, lose: fn(u16, &Asked) -> Option<Vec<u8>>) -> Between {
    let name = format!("/{seq:08}.json");
    Between::new(port, move |asked| (asked.method == "PUT" && asked.target.ends_with(&name)).then(|| lose(port, asked)))
}

#[test]
fn a_record_whose_answer_was_lost_is_looked_for_and_created_once() {
    let Some(port) = servers::moto() else { return };
    run(async {
        let between = losing(port, 2, |port, asked| {
            forward(port, asked);
            None
        });
        let store = s3(between.port, "lost-answer");
        fill(&store, 1..=1, &[]).await;
        create(&store, 2, &bytes(2, "a")).await.expect("it was written");
        let puts =
            between.seen().into_iter().filter(|line| line.starts_with("PUT") && line.contains("00000002")).count();
        assert_eq!(puts, 1, "a create is never tried again");
        assert_eq!(read(&store, Start::Checkpoint).await, [1, 2]);
        // Another user's record exists, and the answer about it is lost.
        assert!(matches!(create(&store, 2, &bytes(2, "b")).await, Err(AppendError::Conflict)));
    });
}

#[test]
fn a_record_that_may_still_come_is_unknown() {
    let Some(port) = servers::moto() else { return };
    run(async {
        let between = losing(port, 1, |_, _| None);
        let error = create(&s3(between.port, "lost"), 1, &bytes(1, "a")).await.expect_err("lost");
        assert!(matches!(error, AppendError::Unknown(_)), "{error:?}");
        let why = said(&error);
        assert!(why.contains("s3://team/lost/local/00000001.json") && why.contains("may still be written"), "{why}");
        // A record that arrives during the check was written.
        let between = losing(port, 1, |port, asked| {
            let asked = asked.clone();
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(600));
                forward(port, &asked);
            });
            None
        });
        create(&s3(between.port, "lost"), 1, &bytes(1, "a")).await.expect("it came");
    });
}

#[test]
fn a_refusal_that_wrote_nothing_is_definite() {
    let Some(port) = servers::moto() else { return };
    run(async {
        type Refuse = fn(u16, &Asked) -> Option<Vec<u8>>;
        let refusals: [(Refuse, usize); 3] = [
            // S3 answers this for concurrent writes, although neither may have been written.
            (|_, _| say("409 Conflict", "", b"<Error><Code>ConditionalRequestConflict</Code></Error>"), 3),
            (|_, _| say("503 Slow Down", "", b"<Error><Code>SlowDown</Code></Error>"), 3),
            (|_, _| say("400 Bad Request", "", b"<Error><Code>EntityTooLarge</Code></Error>"), 1),
        ];
        for (refuse, tries) in refusals {
            let between = losing(port, 1, refuse);
            let error = create(&s3(between.port, "refused"), 1, &bytes(1, "a")).await.expect_err("refused");
            assert!(matches!(error, AppendError::NotWritten(_)), "{error:?}");
            let seen: Vec<_> = between.seen().into_iter().filter(|line| line.ends_with("1.json")).collect();
            assert_eq!(seen.len(), 2 * tries, "after each try a look: {seen:#?}");
        }
        let between = losing(port, 1, |_, _| say("500 Internal Server Error", "", b""));
        let error = create(&s3(between.port, "refused"), 1, &bytes(1, "a")).await.expect_err("refused");
        assert!(matches!(error, AppendError::Unknown(_)), "{error:?}");
    });
}

#[test]
fn a_store_that_is_busy_for_a_moment_is_asked_again() {
    let Some(port) = servers::moto() else { return };
    run(async {
        let count = AtomicUsize::new(0);
        let between = Between::new(port, move |asked| {
            let is_create = asked.method == "PUT" && asked.target.ends_with(".json");
            (is_create && count.fetch_add(1, Ordering::SeqCst) == 0).then(|| say("503 Slow Down", "", b""))
        });
        let store = s3(between.port, "busy");
        create(&store, 1, &bytes(1, "a")).await.expect("written");
        assert_eq!(read(&store, Start::Newest).await, [1]);
    });
}

#[test]
fn a_read_that_fails_once_is_tried_again() {
    let Some(port) = servers::moto() else { return };
    run(async {
        fill(&s3(port, "again"), 1..=3, &[]).await;
        let count = AtomicUsize::new(0);
        let between = Between::new(port, move |_| match count.fetch_add(1, Ordering::SeqCst) % 2 {
            0 => Some(say("503 Slow Down", "", b"")),
            _ => None,
        });
        assert_eq!(read(&s3(between.port, "again"), Start::Checkpoint).await, [1, 2, 3]);
    });
}

#[test]
fn a_store_that_does_not_answer_keeps_nobody_waiting() {
    let Some(port) = servers::moto() else { return };
    run(async {
        let limit = Duration::from_millis(700);
        let silent = serve(|_| {
            thread::sleep(Duration::from_secs(30));
            None
        });
        let unread = s3_within(silent, "slow", limit).read(Start::Checkpoint).await.expect_err("silence");
        let Unread::Failed { why, help } = unread else { panic!("{unread:?}") };
        assert!(why.contains("s3://team/slow/local/") && why.contains("no answer within 700ms"), "{why}");
        assert!(help.as_deref().is_some_and(|help| help.contains("bucket `team`")), "{help:?}");
        let error = create(&s3_within(silent, "slow", limit), 1, &bytes(1, "a")).await.expect_err("silence");
        assert!(matches!(error, AppendError::NotWritten(_)), "nothing of it was sent: {error:?}");

        // It stops answering in the middle of a creation.
        let between = losing(port, 1, |_, _| {
            thread::sleep(Duration::from_secs(30));
            None
        });
        let error = create(&s3_within(between.port, "slow", limit), 1, &bytes(1, "a")).await.expect_err("silence");
        assert!(matches!(error, AppendError::Unknown(_)), "{error:?}");
        assert!(said(&error).contains("no answer within 700ms"), "{error:?}");
    });
}

#[test]
fn a_place_that_cannot_be_reached_says_what_to_check() {
    run(async {
        // A port without a listener.
        let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port();
        for (store, checked) in [
            (s3(port, "far"), ["AWS_REGION", "AWS_ENDPOINT_URL"]),
            (azure(port, "far"), ["AZURE_STORAGE_ACCOUNT_NAME", "container `team`"]),
            (google(port, "far"), ["GOOGLE_APPLICATION_CREDENTIALS", "bucket `team`"]),
        ] {
            let unread = store.read(Start::Newest).await.expect_err("nobody is there");
            let Unread::Failed { why, help } = unread else { panic!("{unread:?}") };
            assert!(why.contains("://team/far/local/") && why.to_lowercase().contains("connection refused"), "{why}");
            assert!(checked.iter().all(|word| help.as_deref().is_some_and(|help| help.contains(word))), "{help:?}");
            let error = create(&store, 1, &bytes(1, "a")).await.expect_err("nobody is there");
            assert!(matches!(error, AppendError::NotWritten(_)), "{error:?}");
            assert!(!why.contains('\n') && !said(&error).contains('\n'), "{why}");
        }
    });
}

#[test]
fn a_bucket_that_is_not_there_is_no_empty_ledger() {
    let Some(port) = servers::moto() else { return };
    run(async {
        let endpoint = format!("http://127.0.0.1:{port}");
        let settings = [
            ("AWS_ENDPOINT_URL", endpoint.as_str()),
            ("AWS_ACCESS_KEY_ID", "someone"),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
        ];
        let store = ObjectStore::with("s3://nowhere/x", "local", variables(&settings), LIMIT).expect("a place");
        let unread = store.read(Start::Checkpoint).await.expect_err("no bucket");
        assert!(
            matches!(&unread, Unread::Failed { why, .. } if why.contains("404 Not Found: NoSuchBucket")),
            "{unread:?}"
        );
        let error = create(&store, 1, &bytes(1, "a")).await.expect_err("no bucket");
        assert!(matches!(&error, AppendError::NotWritten(why) if why.contains("NoSuchBucket")), "{error:?}");
    });
}

#[test]
fn no_secret_is_in_any_message() {
    run(async {
        // If a signature does not match, S3 repeats the signed text.
        let port = serve(|asked| {
            let token = asked.header("x-amz-security-token").unwrap_or_default();
            let body = format!(
                "<Error><Code>SignatureDoesNotMatch</Code><Message>It does not match: {token}</Message>\
                 <CanonicalRequest>x-amz-security-token:{token}\n{SECRET}</CanonicalRequest></Error>"
            );
            say("403 Forbidden", "", body.as_bytes())
        });
        let store = s3(port, "secret");
        let unread = format!("{:?}", store.read(Start::Checkpoint).await.expect_err("refused"));
        let error = format!("{:?}", create(&store, 1, &bytes(1, "a")).await.expect_err("refused"));
        for text in [unread, error, format!("{store:?}")] {
            assert!(!text.contains(SECRET) && !text.contains(TOKEN), "{text}");
            assert!(text.contains("s3://team/secret/local"), "{text}");
        }
        let refused =
            ObjectStore::new("s3://someone:hush-hush-hush@team/x", "local").expect_err("a password").to_string();
        assert!(!refused.contains(SECRET), "{refused}");
    });
}
