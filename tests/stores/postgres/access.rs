//! Access to the database, its encryption, and the error messages without access.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use pushplan::ledger::AppendError;
use pushplan::ledger::postgres::PostgresStore;
use pushplan::ledger::store::{Start, Store, Unread};
use pushplan_testing::postgres::Server;

use super::records::{Sample, create, fill, not_written, numbered, read, store_in};

fn store(place: &str) -> PostgresStore {
    PostgresStore::new(place, "prod").expect("a place")
}

/// The error and the help for an unreadable location, without any password.
async fn unread(store: &PostgresStore) -> (String, String) {
    match store.read(Start::Newest).await {
        Err(Unread::Failed { why, help: Some(help) }) => {
            assert!(!format!("{why} {help} {store:?} {}", store.shown()).contains("hunter"), "{why} {help}");
            (why, help)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_must_be_the_one_that_its_authority_says() {
    let Some(server) = Server::shared() else { return };
    let Server { port, root, other, .. } = server;
    // This database accepts only encrypted connections.
    let at = |host: &str, query: &str| store(&format!("postgres://keeper:hunter2@{host}:{port}/encrypted/tls?{query}"));
    let samples = fill(&at("localhost", &format!("sslmode=verify-full&sslrootcert={root}")), 1).await;
    for (host, query) in [
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={root}")),
        ("localhost", format!("sslrootcert={root}")),
        ("127.0.0.2", format!("sslmode=verify-ca&sslrootcert={root}")),
        ("127.0.0.2", format!("sslmode=require&sslrootcert={root}")),
        ("127.0.0.2", "sslmode=require".to_owned()),
        ("127.0.0.2", "sslmode=prefer".to_owned()),
        ("localhost", String::new()),
    ] {
        assert_eq!(read(&at(host, &query), Start::Newest).await, numbered(&samples), "{host} {query}");
    }
    for (host, query, expected) in [
        ("localhost", format!("sslmode=verify-full&sslrootcert={other}"), "certificate"),
        ("localhost", format!("sslmode=verify-ca&sslrootcert={other}"), "certificate"),
        ("localhost", format!("sslmode=require&sslrootcert={other}"), "certificate"),
        ("127.0.0.2", format!("sslmode=verify-full&sslrootcert={root}"), "not valid for"),
        ("localhost", "sslmode=verify-full".to_owned(), "certificate"),
        ("localhost", "sslmode=verify-full&sslrootcert=/nowhere.pem".to_owned(), "/nowhere.pem"),
        ("localhost", "sslmode=disable".to_owned(), "no encryption"),
    ] {
        let (why, help) = unread(&at(host, &query)).await;
        assert!(why.contains(expected), "{host} {query}: {why}; {help}");
        assert!(expected != "certificate" || help.contains("sslrootcert") || why.contains("this machine's"), "{help}");
    }
}

#[tokio::test]
async fn a_unix_socket_needs_neither_password_nor_encryption() {
    let Some(server) = Server::shared() else { return };
    let place = format!("postgres://keeper@/ledgers/socket?host={}&port={}", server.socket, server.port);
    let samples = fill(&store(&place), 2).await;
    assert_eq!(read(&store_in(server, "socket"), Start::Checkpoint).await, numbered(&samples));
}

#[tokio::test]
async fn who_may_not_make_the_table_is_given_what_to_run() {
    let Some(server) = Server::shared() else { return };
    let guest = |schema: &str| store(&format!("postgres://guest:hunter3@127.0.0.1:{}/ledgers/{schema}", server.port));
    let store = guest("of_guests");
    assert_eq!(read(&store, Start::Checkpoint).await, [], "looking needs no table");
    let sample = Sample::new("first", None);
    let why = not_written(create(&store, 1, &sample, None).await);
    let (told, sql) = why.split_once("run this once: ").expect("what to run");
    assert!(told.contains("permission denied for database ledgers"), "{told}");
    server.run(sql).await;
    create(&store, 1, &sample, None).await.expect("created");
    assert_eq!(read(&store, Start::Checkpoint).await, [(1, sample.bytes)]);

    // An existing table without rights for everybody.
    let samples = fill(&store_in(server, "of_keeper"), 1).await;
    let store = guest("of_keeper");
    let (why, help) = unread(&store).await;
    assert!(why.contains("permission denied for schema of_keeper"), "{why}");
    let previous = Some(&samples[0].checksum);
    let refused = not_written(create(&store, 2, &Sample::new("second", previous), previous).await);
    let sql = help.split_once("run this once: ").expect("what to run").1;
    assert!(refused.ends_with(sql), "{refused}");
    server.run(sql).await;
    assert_eq!(read(&store, Start::Checkpoint).await, numbered(&samples));
    create(&store, 2, &Sample::new("second", previous), previous).await.expect("created");

    // A schema that allows creating tables, but no schemas.
    server.run("create schema prepared; grant all on schema prepared to guest").await;
    fill(&guest("prepared"), 1).await;
}

#[tokio::test]
async fn a_wrong_or_missing_password_and_a_wrong_database_are_told_without_the_password() {
    let Some(server) = Server::shared() else { return };
    let port = server.port;
    let (why, help) = unread(&store(&format!("postgres://keeper:hunter9@127.0.0.1:{port}/ledgers"))).await;
    assert!(why.contains("password authentication failed"), "{why}");
    assert!(help.contains("PGPASSWORD") && help.contains("PGPASSFILE"), "{help}");
    let (why, help) = unread(&store(&format!("postgres://keeper:hunter2@127.0.0.1:{port}/nowhere"))).await;
    assert!(why.contains("nowhere") && help.contains("createdb"), "{why}; {help}");
    let wrong = store(&format!("postgres://keeper:hunter9@127.0.0.1:{port}/ledgers"));
    let result = create(&wrong, 1, &Sample::new("first", None), None).await;
    assert!(matches!(&result, Err(AppendError::NotWritten(why)) if !why.contains("hunter")), "{result:?}");
}

/// The variable with the location that the tests below read.
const PLACE: &str = "PUSHPLAN_TEST_PLACE";

/// Not a test by itself: the next one runs it, with its own environment.
#[tokio::test]
async fn reads_the_place_that_it_is_given() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let told = match store(&place).read(Start::Newest).await {
        Ok(records) => format!("read {}", records.len()),
        Err(Unread::Failed { why, help }) => format!("unread {why}; {}", help.unwrap_or_default()),
        Err(other) => panic!("{other:?}"),
    };
    writeln!(std::io::stderr(), "{told}").expect("told");
}

#[test]
fn the_password_comes_from_the_environment_or_a_file() {
    let Some(server) = Server::shared() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pgpass");
    fs::write(&file, format!("127.0.0.1:{}:ledgers:keeper:hunter2\n", server.port)).expect("written");
    set_mode(&file, 0o600);
    let told = |variables: &[(&str, &str)]| {
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        command.args(["--exact", "postgres::access::reads_the_place_that_it_is_given", "--nocapture"]);
        for name in ["PGPASSWORD", "PGPASSFILE", "PGUSER", "PGHOST", "PGPORT"] {
            command.env_remove(name);
        }
        command.env("HOME", "/nowhere").env(PLACE, format!("postgres://keeper@127.0.0.1:{}/ledgers/none", server.port));
        let output = command.envs(variables.iter().copied()).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !text.contains("hunter"), "{text}");
        text
    };
    let port = server.port.to_string();
    assert!(told(&[("PGPASSWORD", "hunter2"), ("PGHOST", "127.0.0.1"), ("PGPORT", &port)]).contains("read 0"));
    let other = told(&[("PGPASSWORD", "hunter2"), ("PGHOST", "127.0.0.1")]);
    assert!(other.contains(&format!("set PGHOST=127.0.0.1 and PGPORT={port}")), "{other}");
    // A user who edits the location in the project file gets no password that was meant for another server.
    let other = told(&[("PGPASSWORD", "hunter2"), ("PGHOST", "db.example")]);
    assert!(other.contains("PGPASSWORD was not used") && other.contains("set PGHOST=127.0.0.1"), "{other}");
    let named = file.to_str().expect("UTF-8");
    assert!(told(&[("PGPASSFILE", named)]).contains("read 0"));
    let without = told(&[]);
    assert!(without.contains("password missing; set the password of `keeper` in PGPASSWORD"), "{without}");
    set_mode(&file, 0o644);
    let open = told(&[("PGPASSFILE", named)]);
    assert!(open.contains("is open to others (mode 644)"), "{open}");
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}
