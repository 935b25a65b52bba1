//! Secrets of all kinds: given in every possible way, and never shown or stored.
#![cfg(unix)]

mod canary;
mod commands;
mod echoed;
mod repositories;
mod wrong_places;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use pushplan_testing::{Project, Ran, postgres, servers};

use canary::{CANARY, escaped, is_told};

const ONE: &str = "segments:\n  a: {criteria: {tag: a}}\n";

/// Every command that reads a ledger, or reports about one.
const LOOKS: [&[&str]; 9] = [
    &["plan"],
    &["plan", "--format", "json"],
    &["drift"],
    &["history"],
    &["ledger", "status"],
    &["ledger", "status", "--format", "json"],
    &["ledger", "verify"],
    &["ledger", "export"],
    &["ledger", "export", "--records"],
];

/// Runs a command, and checks that its output does not contain the password.
#[track_caller]
fn quiet(project: &Project, arguments: &[&str], env: &[(&str, &str)]) -> Ran {
    let ran = project.run_as(arguments, env);
    for (name, text) in [("standard output", &ran.stdout), ("standard error", &ran.stderr)] {
        assert!(!is_told(text.as_bytes()), "{name} of {arguments:?} tells a password: {ran}");
    }
    assert!(!ran.stderr.contains("panicked"), "{arguments:?}: {ran}");
    ran
}

/// All operations of a ledger in a location, without errors.
fn lives(project: &Project, env: &[(&str, &str)]) {
    let good = |arguments: &[&str]| {
        let ran = quiet(project, arguments, env);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran}");
    };
    good(&["plan", "--out", "saved.plan"]);
    good(&["apply", "saved.plan"]);
    project.edit("tag: a", "tag: b");
    good(&["apply", "--yes"]);
    good(&["ledger", "compact"]);
    LOOKS.iter().for_each(|arguments| good(arguments));
    kept(project.folder.path());
}

/// All operations of a ledger that cannot be reached, or not with this password.
fn fails(project: &Project, env: &[(&str, &str)], why: &str) {
    let others: [&[&str]; 3] = [&["apply", "--yes"], &["ledger", "compact"], &["forget", "segments/a"]];
    for arguments in LOOKS.iter().chain(&others) {
        let ran = quiet(project, arguments, env);
        assert_ne!(ran.code, 0, "{why}: {arguments:?}: {ran}");
    }
    kept(project.folder.path());
}

/// Checks that pushplan's files next to the manifests contain no password, and that only their owner can read them.
fn kept(project: &Path) {
    let own = project.join(".pushplan");
    if own.exists() {
        look_at(&own, true);
    }
    for file in ["saved.plan", "messages.yaml"].map(|name| project.join(name)).iter().filter(|file| file.exists()) {
        assert!(!is_told(&fs::read(file).expect("a file")), "{} tells a password", file.display());
    }
}

fn look_at(path: &Path, is_private: bool) {
    let found = fs::symlink_metadata(path).expect("it is there");
    let mode = found.permissions().mode() & 0o777;
    let expected = if found.is_dir() { 0o700 } else { 0o600 };
    assert!(!is_private || mode == expected, "{} has the mode {mode:o}", path.display());
    if found.is_dir() {
        for entry in fs::read_dir(path).expect("a folder") {
            look_at(&entry.expect("an entry").path(), is_private);
        }
    } else {
        assert!(!is_told(&fs::read(path).expect("a file")), "{} tells a password", path.display());
    }
}

/// The password of the database at a port of this machine.
fn given(port: &str) -> [(&str, &str); 3] {
    [("PGPASSWORD", CANARY), ("PGHOST", "127.0.0.1"), ("PGPORT", port)]
}

fn with_ledger(place: &str) -> Project {
    Project::with(ONE, &format!("ledger = \"{place}\"\n"))
}

/// A role whose password is the canary, with its rights.
fn database() -> Option<&'static postgres::Server> {
    let server = postgres::Server::shared()?;
    let role = format!(
        "do $$ begin if not exists (select from pg_roles where rolname = 'ada') then \
         create role ada login password '{CANARY}'; grant create on database ledgers to ada; end if; end $$"
    );
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| tokio::runtime::Runtime::new().expect("a runtime").block_on(server.run(&role)));
    Some(server)
}

#[test]
fn the_password_of_a_database_is_told_nowhere() {
    let Some(server) = database() else { return };
    let place = format!("postgres://ada@127.0.0.1:{}/ledgers/quiet", server.port);
    let project = with_ledger(&place);
    let _service = project.serve();
    lives(&project, &given(&server.port.to_string()));
    let rows = tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let rows = server.admin("ledgers").await.query("select record from quiet.ledger", &[]).await;
        rows.expect("rows").iter().map(|row| row.get::<_, Vec<u8>>(0)).collect::<Vec<_>>()
    });
    assert!(rows.len() > 8, "{} records", rows.len());
    assert!(!rows.iter().any(|row| is_told(row)), "a record tells the password");
}

#[test]
fn a_ledger_moves_to_a_place_with_a_password_and_leaves_no_word_of_it() {
    let Some(server) = database() else { return };
    let project = Project::new(ONE);
    let _service = project.serve();
    lives(&project, &[]);
    let place = |user: &str| format!("postgres://{user}@127.0.0.1:{}/ledgers/moved", server.port);
    // The old location would keep it where everybody can read it.
    let ran = quiet(&project, &["ledger", "move", "--to", &place(&format!("ada:{}", escaped(CANARY)))], &[]);
    assert_eq!(ran.code, 64, "{ran}");
    let port = server.port.to_string();
    let ran = quiet(&project, &["ledger", "move", "--to", &place("ada")], &given(&port));
    assert_eq!(ran.code, 0, "{ran}");
    kept(project.folder.path());
    for arguments in LOOKS {
        quiet(&project, arguments, &given(&port));
    }
}

#[test]
fn a_database_that_cannot_be_reached_is_told_without_its_password() {
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a port").port();
    let mut places = vec![
        ("no such host", "no-such-host.invalid/ledgers/x".to_owned()),
        ("refused", format!("127.0.0.1:{closed}/ledgers/x")),
    ];
    if let Some(server) = database() {
        places.push(("no such database", format!("127.0.0.1:{}/nothing/x", server.port)));
        places.push(("no TLS for this name", format!("127.0.0.2:{}/ledgers/x?sslmode=verify-full", server.port)));
        let wrong = with_ledger(&format!("postgres://keeper@127.0.0.1:{}/ledgers/x", server.port));
        let _service = wrong.serve();
        fails(&wrong, &given(&server.port.to_string()), "the wrong password");
    }
    for (why, rest) in places {
        let project = with_ledger(&format!("postgres://ada@{rest}"));
        let _service = project.serve();
        let mut address = rest.split('/').next().expect("an address").split(':');
        let (host, port) = (address.next().expect("a host"), address.next().unwrap_or("5432"));
        fails(&project, &[("PGPASSWORD", CANARY), ("PGHOST", host), ("PGPORT", port)], why);
        fails(&project, &[("PGPASSWORD", CANARY), ("PGHOST", "db.example")], why);
        let moving = Project::new(ONE);
        let _service = moving.serve();
        assert_eq!(moving.run(&["apply", "--yes"]).code, 0);
        let password = escaped(CANARY);
        // The correct form, the form that users write, and the wrong place.
        for place in [
            format!("postgres://ada:{password}@{rest}"),
            format!("postgres://ada:{CANARY}@{rest}"),
            format!("postgres://{rest}{}password={password}", if rest.contains('?') { '&' } else { '?' }),
        ] {
            let ran = quiet(&moving, &["ledger", "move", "--to", &place], &[]);
            assert_ne!(ran.code, 0, "{why}: {ran}");
        }
        kept(moving.folder.path());
    }
}

/// A server that asks for the password and records the answer.
fn asks_for_password() -> (u16, thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let heard = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a limit");
        let mut begins = [0; 4];
        stream.read_exact(&mut begins).expect("a first word");
        let mut rest = vec![0; u32::from_be_bytes(begins) as usize - 4];
        stream.read_exact(&mut rest).expect("all of it");
        // AuthenticationCleartextPassword
        stream.write_all(&[b'R', 0, 0, 0, 8, 0, 0, 0, 3]).expect("asked");
        let mut answer = vec![0; 1000];
        let length = stream.read(&mut answer).unwrap_or_default();
        answer.truncate(length);
        answer
    });
    (port, heard)
}

#[test]
fn a_password_is_given_to_no_server_that_only_the_project_file_names() {
    for (named, names_port, is_given) in
        [("db.example", true, false), ("127.0.0.1", false, false), ("127.0.0.1", true, true)]
    {
        let (port, heard) = asks_for_password();
        let project = with_ledger(&format!("postgres://ada@127.0.0.1:{port}/ledgers/x?sslmode=disable"));
        let port = if names_port { port.to_string() } else { String::new() };
        let ran = quiet(&project, &["history"], &[("PGPASSWORD", CANARY), ("PGHOST", named), ("PGPORT", &port)]);
        assert_ne!(ran.code, 0, "{ran}");
        let heard = heard.join().expect("it listened");
        assert_eq!(is_told(&heard), is_given, "with PGHOST={named}: {}", String::from_utf8_lossy(&heard));
        let words = "PGPASSWORD was not used: a password without a server is for the server in PGHOST";
        assert_eq!(ran.stderr.contains(words), !is_given, "{ran}");
    }
}

#[test]
fn a_project_file_makes_no_connection_weak_that_a_password_goes_over() {
    for query in ["sslmode=disable", "sslmode=require", "sslrootcert=own.pem"] {
        let project = with_ledger(&format!("postgres://ada@no-such-host.invalid/ledgers/x?{query}"));
        let ran = quiet(&project, &["history"], &[("PGPASSWORD", CANARY), ("PGHOST", "no-such-host.invalid")]);
        assert_eq!(ran.code, 1, "{ran}");
        let words = format!("only the place sets {query}, and passwords are sent only to a checked server");
        assert!(ran.stderr.contains(&words), "{ran}");
    }
}

#[test]
fn a_place_with_a_password_in_the_project_file_is_refused_without_repeating_it() {
    for place in [
        format!("postgres://ada:{}@db.example/ledgers", escaped(CANARY)),
        format!("postgres://ada:{CANARY}@db.example/ledgers"),
        format!("git:https://ada:{}@git.example/team.git", escaped(CANARY)),
        // These are not understood, so any part of them may be a password.
        format!("host=127.0.0.1 user=x password={CANARY}"),
        format!("git:ada:{}@git.example/team.git", escaped(CANARY)),
        format!("postgres:ada:{}@db.example/ledgers", escaped(CANARY)),
        format!("ada:{}", escaped(CANARY)),
    ] {
        let project = with_ledger(&place);
        for arguments in LOOKS.iter().chain(&[&["validate"][..], &["validate", "--format", "json"]]) {
            let ran = quiet(&project, arguments, &[]);
            assert_ne!(ran.code, 0, "{place}: {arguments:?}: {ran}");
        }
        let project = Project::new(ONE);
        let ran = quiet(&project, &["ledger", "move", "--to", &place], &[]);
        assert_eq!(ran.code, 64, "{place}: {ran}");
    }
}

#[test]
fn a_password_under_a_key_that_nobody_knows_is_not_repeated() {
    for line in [
        format!("ledgr = \"postgres://ada:{}@db.example/ledgers\"", escaped(CANARY)),
        format!("ledgr = \"host=db user=x password={CANARY}\""),
        format!("base_url = \"https://ada:{}@messaging.example\"", escaped(CANARY)),
    ] {
        let project = Project::with(ONE, &format!("{line}\n"));
        let ran = quiet(&project, &["validate"], &[]);
        assert_ne!(ran.code, 0, "{line}: {ran}");
    }
}

#[test]
fn the_secret_of_a_store_of_objects_is_told_nowhere() {
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a port").port();
    let keys = |port: u16| {
        let endpoint = format!("http://127.0.0.1:{port}");
        [
            ("AWS_ENDPOINT_URL", endpoint),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_ACCESS_KEY_ID", "someone".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", CANARY.to_owned()),
            ("AWS_SESSION_TOKEN", format!("token-{CANARY}")),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
    };
    let mut tried = vec![(closed, "team/quiet", "refused")];
    if let Some(port) = servers::moto() {
        tried.push((port, "no-such-bucket/quiet", "no such bucket"));
        let keys = keys(port);
        let project = with_ledger("s3://team/quiet");
        let _service = project.serve();
        lives(&project, &keys.each_ref().map(|(name, value)| (*name, value.as_str())));
    }
    for (port, place, why) in tried {
        let keys = keys(port);
        let project = with_ledger(&format!("s3://{place}"));
        let _service = project.serve();
        fails(&project, &keys.each_ref().map(|(name, value)| (*name, value.as_str())), why);
    }
}

#[test]
fn the_password_of_a_git_server_is_told_nowhere() {
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a port").port();
    let git = |project: &Project, arguments: &[&str]| {
        let said = Command::new("git").current_dir(project.folder.path()).args(arguments).output().expect("git");
        assert!(said.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
    };
    for host in [format!("127.0.0.1:{closed}"), "no-such-host.invalid".to_owned()] {
        let url = format!("http://ada:{}@{host}/team.git", escaped(CANARY));
        let token = format!("http://{}@{host}/team.git", escaped(CANARY));
        for url in [&url, &token] {
            let project = with_ledger("git");
            git(&project, &["init", "-q"]);
            git(&project, &["remote", "add", "origin", url]);
            let _service = project.serve();
            fails(&project, &[], "a remote that cannot be reached");
            let moving = Project::new(ONE);
            git(&moving, &["init", "-q"]);
            let _service = moving.serve();
            assert_eq!(moving.run(&["apply", "--yes"]).code, 0);
            let ran = quiet(&moving, &["ledger", "move", "--to", &format!("git:{url}")], &[]);
            assert_ne!(ran.code, 0, "{ran}");
            kept(moving.folder.path());
        }
    }
}
