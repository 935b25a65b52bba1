//! Ledgers of several targets on one remote share its connections.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pushplan::ledger::git::GitStore;
use pushplan::ledger::store::{Start, Store};
use pushplan::ledger::{AppendError, Chain};

use super::places::{Cut, Daemon, Proxy, Team, create, git, read, stored, url};

const TARGETS: [&str; 4] = ["one", "two", "three", "four"];

fn stores(clone: &Path, remote: Option<&str>) -> Vec<GitStore> {
    let store = |target| GitStore::new(clone, remote, target).within(Duration::from_secs(60));
    TARGETS.map(store).into()
}

/// Creates a record in each of these at the same time.
async fn all(stores: &[GitStore], seq: u64, what: &str) -> Vec<Result<(), AppendError>> {
    let [a, b, c, d] = stores else { panic!("four stores") };
    let (a, b, c, d) =
        tokio::join!(create(a, seq, what), create(b, seq, what), create(c, seq, what), create(d, seq, what));
    vec![a, b, c, d]
}

#[tokio::test]
async fn records_of_several_targets_go_with_one_push() {
    let team = Team::new();
    let Some(daemon) = Daemon::start(&team) else { return };
    let (clone, _) = team.member("ada");
    let proxy = Proxy::start(daemon.port, &[]);
    let stores = stores(&clone, Some(&url(proxy.port)));
    for seq in 1..=3 {
        let before = proxy.pushes.load(Ordering::SeqCst);
        assert!(all(&stores, seq, "x").await.iter().all(Result::is_ok));
        let pushes = proxy.pushes.load(Ordering::SeqCst) - before;
        assert!(pushes <= 2, "{pushes} pushes for record {seq}");
    }
    for store in &stores {
        assert_eq!(read(store).await, [stored(1, "x"), stored(2, "x"), stored(3, "x")]);
    }
}

#[tokio::test]
async fn announced_targets_push_together_although_their_requests_take_different_times() {
    let team = Team::new();
    let Some(daemon) = Daemon::start(&team) else { return };
    let (clone, _) = team.member("ada");
    let proxy = Proxy::start(daemon.port, &[]);
    let stores = stores(&clone, Some(&url(proxy.port)));
    let server = stores[0].server().expect("a server");
    TARGETS.iter().for_each(|target| server.announce(target));
    let run = async |number: usize| {
        for seq in 1..=4 {
            tokio::time::sleep(Duration::from_millis(40 * number as u64)).await;
            create(&stores[number], seq, "x").await.expect("a record");
        }
        // The others do not wait for a target that has ended.
        server.withdraw(TARGETS[number]);
    };
    tokio::join!(run(0), run(1), run(2), run(3));
    let pushes = proxy.pushes.load(Ordering::SeqCst);
    assert!((4..=8).contains(&pushes), "{pushes} pushes for 4 records of each target");
    for store in &stores {
        assert_eq!(read(store).await.len(), 4);
    }
}

#[tokio::test]
async fn a_target_that_is_behind_and_one_that_is_refused_stop_no_other() {
    let team = Team::new();
    let (clone, _) = team.member("ada");
    let (other, _) = team.member("bob");
    let stores = stores(&clone, None);
    assert!(all(&stores, 1, "x").await.iter().all(Result::is_ok));
    let bob = GitStore::new(&other, None, "two");
    read(&bob).await;
    create(&bob, 2, "bob's").await.expect("he is first");
    team.hook("update", "case $1 in */three) exit 1;; esac");
    let told = all(&stores, 2, "ada's").await;
    assert!(told[0].is_ok() && told[3].is_ok(), "{told:?}");
    assert!(matches!(told[1], Err(AppendError::Conflict)), "{told:?}");
    assert!(matches!(told[2], Err(AppendError::NotWritten(_))), "{told:?}");
    let newest = async |target: &str| GitStore::new(&other, None, target).read(Start::Newest).await.expect("records");
    assert_eq!(newest("one").await, [stored(2, "ada's")]);
    assert_eq!(newest("two").await, [stored(2, "bob's")]);
    assert_eq!(newest("three").await, [stored(1, "x")]);
}

#[tokio::test]
async fn a_lost_answer_leaves_each_record_there_once() {
    let team = Team::new();
    let Some(daemon) = Daemon::start(&team) else { return };
    let (clone, _) = team.member("ada");
    let proxy = Proxy::start(daemon.port, &[Cut::Nothing, Cut::Answer]);
    let stores = stores(&clone, Some(&url(proxy.port)));
    // The first push may have all of the first records, or the second one the rest of them.
    for seq in 1..=2 {
        let told = all(&stores, seq, "x").await;
        assert!(told.iter().all(Result::is_ok), "{told:?}");
    }
    for target in TARGETS {
        assert_eq!(git(&team.server(), &["rev-list", "--count", &format!("refs/pushplan/{target}")]), "2");
    }
}

#[tokio::test]
async fn what_was_read_ahead_answers_one_read_and_is_forgotten() {
    let team = Team::new();
    let (clone, _) = team.member("ada");
    let (other, _) = team.member("bob");
    let of = |folder: &Path| TARGETS.map(|target| GitStore::new(folder, None, target));
    for store in &of(&other) {
        create(store, 1, "x").await.expect("a record");
    }
    let [one, two, ..] = of(&clone);
    let [bobs, ..] = of(&other);
    let server = one.server().expect("a server");
    assert!(!server.is_ahead("one"));
    server.read_ahead(&["one".to_owned(), "two".to_owned()]).await;
    assert!(server.is_ahead("one") && server.is_ahead("two"));
    read(&bobs).await;
    create(&bobs, 2, "later").await.expect("a record");
    assert_eq!(read(&one).await, [stored(1, "x")], "as it was when it was read ahead");
    assert_eq!(read(&one).await, [stored(1, "x"), stored(2, "later")], "as it is");
    server.forget_ahead();
    assert!(!server.is_ahead("two"));
    assert_eq!(read(&two).await, [stored(1, "x")]);
    // A ledger by itself is not read ahead.
    let chain = Chain::new(std::sync::Arc::new(GitStore::new(&clone, None, "three")), &clone, "three");
    let _ahead = Chain::read_ahead([&chain]).await;
    assert!(!chain.is_read_ahead());
}
