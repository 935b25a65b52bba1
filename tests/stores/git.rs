//! The ledger as commits on a git server, tested with real servers.

mod lost;
mod places;
#[cfg(unix)]
mod ssh;
mod together;
mod untouched;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use pushplan::digest::Digest;
use pushplan::ledger::git::GitStore;
use pushplan::ledger::store::{New, Start, Store, Unread};
use pushplan::ledger::{AppendError, Chain, Entry, Log, Record};

use places::{Daemon, TIP, Team, bytes, create, fill, git, http, read, stored, try_git, why_unread};

crate::behaves!(Some(Team::new()));

#[tokio::test]
async fn what_was_created_is_read_by_everybody() {
    let team = Team::new();
    let (_, ada) = team.member("ada");
    assert_eq!(read(&ada).await, []);
    fill(&ada, &["a", "b", "c"]).await;
    let (_, bob) = team.member("bob");
    let all = [stored(1, "a"), stored(2, "b"), stored(3, "c")];
    assert_eq!(read(&bob).await, all);
    assert_eq!(bob.read(Start::Newest).await, Ok(vec![stored(3, "c")]));
    assert_eq!(bob.read(Start::At(2)).await, Ok(all[1..].to_vec()));
    assert_eq!(bob.read(Start::At(4)).await, Ok(vec![]));
    create(&bob, 4, "d").await.expect("it goes on");
    assert_eq!(read(&ada).await.last(), Some(&stored(4, "d")));
    let authors = git(&team.server(), &["log", "--format=%an <%ae> %s", TIP]);
    assert!(authors.starts_with("pushplan <pushplan@noreply.invalid> pushplan wrote record 4\n"), "{authors}");
}

#[tokio::test]
async fn one_of_two_writers_wins_and_the_same_record_twice_is_no_conflict() {
    let team = Team::new();
    let ((_, ada), (_, bob)) = (team.member("ada"), team.member("bob"));
    fill(&ada, &["a"]).await;
    read(&bob).await;
    create(&ada, 2, "ada's").await.expect("she is first");
    assert!(matches!(create(&bob, 2, "bob's").await, Err(AppendError::Conflict)));
    create(&bob, 2, "ada's").await.expect("the same record");
    create(&ada, 2, "ada's").await.expect("the same record");
    create(&bob, 3, "bob's").await.expect("he goes on");
    assert!(matches!(create(&ada, 2, "another").await, Err(AppendError::Conflict)));
    assert!(matches!(create(&ada, 3, "ada's").await, Err(AppendError::Conflict)));
    let all = [stored(1, "a"), stored(2, "ada's"), stored(3, "bob's")];
    assert_eq!(read(&ada).await, all);
    assert_eq!(git(&team.server(), &["rev-list", "--count", TIP]), "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_writers_at_once_one_wins_each_place() {
    let team = Team::new();
    let url = team.url();
    let stores: Vec<_> = (0..6).map(|n| team.member(&format!("m{n}")).1).collect();
    // Two of them share a clone, like two jobs on one machine.
    let shared = GitStore::new(&team.path().join("m0"), Some(&url), "prod");
    let stores: Vec<_> = stores.into_iter().chain([shared]).map(std::sync::Arc::new).collect();
    for seq in 1..=4 {
        let tasks: Vec<_> = (0..)
            .zip(&stores)
            .map(|(n, store)| {
                let store = std::sync::Arc::clone(store);
                tokio::spawn(async move { (n, create(&*store, seq, &format!("by {n}")).await) })
            })
            .collect();
        let mut winners = Vec::new();
        for task in tasks {
            match task.await.expect("no panic") {
                (n, Ok(())) => winners.push(n),
                (_, Err(AppendError::Conflict)) => {}
                (n, Err(other)) => panic!("{n}: {other:?}"),
            }
        }
        assert_eq!(winners.len(), 1, "record {seq}");
        assert_eq!(read(&*stores[3]).await.last(), Some(&stored(seq, &format!("by {}", winners[0]))));
    }
    assert_eq!(git(&team.server(), &["rev-list", "--count", TIP]), "4");
}

#[tokio::test]
async fn a_record_follows_the_one_before_it_or_is_not_written() {
    let team = Team::new();
    let (_, ada) = team.member("ada");
    let not_written = |result: Result<(), AppendError>| match result {
        Err(AppendError::NotWritten(why)) => why,
        other => panic!("{other:?}"),
    };
    let why = not_written(create(&ada, 2, "b").await);
    assert!(why.contains("record 2 of refs/pushplan/prod on origin: record 1 must exist before it"), "{why}");
    fill(&ada, &["a"]).await;
    let other = Digest::of(b"another");
    let new = New { seq: 2, bytes: &bytes(2, "b"), previous: Some(&other), is_checkpoint: false };
    let why = not_written(ada.create(new).await);
    assert!(why.contains("the record before it has changed"), "{why}");
    assert_eq!(git(&team.server(), &["rev-list", "--count", TIP]), "1");
}

#[tokio::test]
async fn a_fresh_shallow_clone_fetches_what_came_since_the_checkpoint() {
    let team = Team::new();
    let (_, ada) = team.member("ada");
    fill(&ada, &["a", "b", "c", "checkpoint 1", "d", "checkpoint 2", "e", "f"]).await;
    let clone = team.clone_of(&team.url(), "ci", &["--depth=1"]);
    let count = || {
        git(&clone, &["cat-file", "--batch-all-objects", "--batch-check=%(objecttype)", "--unordered"]).lines().count()
    };
    let (before, shallow) = (count(), fs::read(clone.join(".git/shallow")).expect("it is shallow"));
    let ci = GitStore::new(&clone, None, "prod");
    let since = [stored(6, "checkpoint 2"), stored(7, "e"), stored(8, "f")];
    assert_eq!(read(&ci).await, since);
    // Three records, three commits, and for each of them two trees.
    assert_eq!(count() - before, 3 + 3 + 6);
    create(&ci, 9, "g").await.expect("it pushes from there");
    create(&ci, 10, "checkpoint 3").await.expect("and a checkpoint");
    assert_eq!(fs::read(clone.join(".git/shallow")).expect("it is shallow"), shallow);
    assert_eq!(read(&ada).await, [stored(10, "checkpoint 3")]);
    // The earlier records are all there.
    for (from, first) in [(1, "a"), (2, "b"), (5, "d"), (6, "checkpoint 2"), (9, "g")] {
        let (_, fresh) = team.member(&format!("from-{from}"));
        let read = fresh.read(Start::At(from)).await.expect("older records");
        assert_eq!(read.iter().map(|stored| stored.seq).collect::<Vec<_>>(), (from..=10).collect::<Vec<_>>());
        assert_eq!(read[0], stored(from, first));
    }
    git(&team.server(), &["-c", "gc.reflogExpire=now", "gc", "-q", "--prune=now"]);
    assert_eq!(team.member("later").1.read(Start::At(1)).await.expect("no history is lost").len(), 10);
}

#[tokio::test]
async fn a_server_that_refuses_to_begin_anew_gets_an_ordinary_commit() {
    let team = Team::new();
    team.hook("update", "case $2 in *[1-9a-f]*) git merge-base --is-ancestor $2 $3;; esac");
    let (_, ada) = team.member("ada");
    fill(&ada, &["a", "b", "checkpoint 1", "c", "checkpoint 2", "d"]).await;
    let (_, bob) = team.member("bob");
    assert_eq!(read(&bob).await, [stored(5, "checkpoint 2"), stored(6, "d")]);
    assert_eq!(bob.read(Start::At(2)).await.expect("older records").len(), 5);
    assert_eq!(git(&team.server(), &["rev-list", "--count", TIP]), "6");
    assert_eq!(git(&team.server(), &["for-each-ref", "refs/pushplan-history"]), "", "nothing half done");
}

#[tokio::test]
async fn a_shared_repository_keeps_its_branches_alone_from_being_moved_back() {
    let team = Team::new();
    git(&team.server(), &["config", "receive.denyNonFastForwards", "true"]);
    let (_, ada) = team.member("ada");
    fill(&ada, &["a", "b", "checkpoint", "c"]).await;
    assert_eq!(git(&team.server(), &["rev-list", "--count", TIP]), "2");
}

#[tokio::test]
async fn a_server_that_moves_one_ref_at_a_time_keeps_the_history_first() {
    let team = Team::new();
    git(&team.server(), &["config", "receive.advertiseAtomic", "false"]);
    let (_, ada) = team.member("ada");
    fill(&ada, &["a", "b", "checkpoint", "c"]).await;
    assert_eq!(git(&team.server(), &["rev-list", "--count", TIP]), "2");
    assert_eq!(team.member("bob").1.read(Start::At(1)).await.expect("older records").len(), 4);
}

#[tokio::test]
async fn a_record_that_was_written_before_a_checkpoint_is_found_again() {
    let team = Team::new();
    let ((_, ada), (_, bob)) = (team.member("ada"), team.member("bob"));
    fill(&ada, &["a", "b", "checkpoint", "c"]).await;
    create(&bob, 2, "b").await.expect("it is there, in the history");
    assert!(matches!(create(&bob, 1, "other").await, Err(AppendError::Conflict)));
}

#[tokio::test]
async fn gaps_and_what_is_no_record_are_told() {
    let team = Team::new();
    let (_, ada) = team.member("ada");
    fill(&ada, &["a", "b", "c", "d"]).await;
    let file = |tree: &Path, seq: u64| tree.join(format!("000000/{seq:08}.json"));
    team.damage(|tree| fs::write(file(tree, 2), "damaged").expect("a file"));
    let found = read(&team.member("b1").1).await;
    assert_eq!(found[1].bytes, b"damaged", "what is there is handed on: the chain of checksums tells");
    team.damage(|tree| fs::remove_file(file(tree, 3)).expect("a file"));
    let (clone, bob) = team.member("b2");
    assert_eq!(bob.read(Start::Checkpoint).await, Err(Unread::Missing { seq: 3, there: 4 }));
    // The suggested command works exactly as printed.
    let go_on = bob.go_on(2);
    assert!(go_on.contains("Later changes are then unknown"), "{go_on}");
    let typed: Vec<&str> = go_on.split('`').nth(1).expect("a command").split(' ').skip(1).collect();
    git(&clone, &typed);
    // Every clone reports it, by its own memory or by the mark, until a person accepts that the other records are lost.
    let b3 = team.member("b3").1;
    assert_eq!(b3.read(Start::Checkpoint).await, Err(Unread::CutShort { last: 1, was: 4 }));
    assert_eq!(b3.read_as_is(Start::Checkpoint).await, Ok(vec![stored(1, "a")]));
    assert_eq!(ada.read(Start::Checkpoint).await, Err(Unread::CutShort { last: 1, was: 4 }));
    let fresh = GitStore::new(&clone, None, "prod");
    assert_eq!(fresh.read(Start::Checkpoint).await, Err(Unread::CutShort { last: 1, was: 4 }));
    let typed: Vec<&str> = go_on.split('`').nth(3).expect("a command").split(' ').skip(1).collect();
    git(&clone, &typed);
    assert_eq!(fresh.read(Start::Checkpoint).await, Err(Unread::CutShort { last: 1, was: 4 }), "by the mark");
    team.damage(|tree| fs::write(tree.join("readme.txt"), "hello").expect("a file"));
    let why = why_unread(&team.member("b4").1).await;
    assert!(why.contains("holds `readme.txt`, which is not a record"), "{why}");
}

#[tokio::test]
async fn a_deleted_ledger_is_not_an_empty_one() {
    let team = Team::new();
    let (clone, ada) = team.member("ada");
    fill(&ada, &["a", "checkpoint", "c"]).await;
    git(&team.server(), &["update-ref", "-d", TIP]);
    let fresh = GitStore::new(&clone, None, "prod");
    let why = why_unread(&fresh).await;
    assert!(why.contains("refs/pushplan/prod is missing, although its history exists"), "{why}");
    git(&team.server(), &["update-ref", "-d", "refs/pushplan-history/prod/00000001"]);
    assert_eq!(fresh.read(Start::Newest).await, Err(Unread::CutShort { last: 0, was: 3 }));
    assert!(matches!(create(&ada, 4, "d").await, Err(AppendError::NotWritten(_))));
    assert_eq!(team.tip(), None);
}

#[tokio::test]
async fn a_ref_that_was_moved_back_is_put_back_or_accepted_as_the_help_says() {
    let team = Team::new();
    let (clone, ada) = team.member("ada");
    let chain = |store| Chain::new(Arc::new(store), &clone, "prod");
    let forget =
        |seq| Entry { seq, at: jiff::Timestamp::UNIX_EPOCH, actor: "ada".into(), record: Record::Forget(Vec::new()) };
    let ada = chain(ada);
    for seq in 1..=5 {
        ada.append(&forget(seq)).await.expect("a record");
    }
    let fresh = || chain(GitStore::new(&clone, None, "prod"));
    let run = |command: &str| {
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[0], "git", "{command}");
        git(&clone, &words[1..]);
    };
    let back = || git(&team.server(), &["update-ref", TIP, &format!("{TIP}~2")]);
    back();
    let error = fresh().read(0).await.expect_err("records are gone");
    assert!(error.message.contains("it ends with record 3, but record 5 existed before"), "{error}");
    let help = error.help.expect("help");
    let commands: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
    run(commands[0]);
    assert_eq!(fresh().read(0).await.expect("all of them are back").len(), 5, "{help}");
    back();
    assert!(fresh().read(0).await.is_err());
    // A clone that has never read it learns it from the mark.
    let (elsewhere, stranger) = team.member("stranger");
    let stranger = Chain::new(Arc::new(stranger), &elsewhere, "prod");
    let told = stranger.read(0).await.expect_err("records are gone");
    assert!(told.message.contains("it ends with record 3, but record 5 existed before"), "{told}");
    assert_eq!(commands[1], "pushplan ledger restore --accept-gap --target prod");
    let restored = stranger.restored().await.expect("what is there");
    stranger.accept_gap(&restored, "bob", jiff::Timestamp::UNIX_EPOCH).await.expect("a gap");
    for chain in [fresh(), stranger] {
        let records = chain.read(0).await.expect("it is accepted");
        assert_eq!(
            records.last().map(|entry| &entry.record),
            Some(&Record::Gap { since: Some(forget(1).at), upto: 5 })
        );
    }
    fresh().append(&forget(5)).await.expect("it goes on");
}

#[tokio::test]
async fn hundreds_of_records_stay_in_small_folders() {
    let team = Team::new();
    let (_, ada) = team.member("ada");
    let contents: Vec<String> = (1..=203).map(|n| format!("r{n}")).collect();
    fill(&ada, &contents.iter().map(String::as_str).collect::<Vec<_>>()).await;
    assert_eq!(git(&team.server(), &["ls-tree", "--name-only", TIP]), "000000\n000001\n000002");
    assert_eq!(read(&team.member("bob").1).await.len(), 203);
}

#[tokio::test]
async fn other_servers_do_as_well() {
    let team = Team::new();
    let daemon = Daemon::start(&team);
    let password = "YWRhOnMzY3JldA==";
    let http = http(&team, password);
    for (name, url) in [("daemon", daemon.as_ref().map(Daemon::url)), ("http", http.clone())] {
        let Some(url) = url else { continue };
        let with_password = url.replace("http://", "http://ada:s3cret@");
        let clone = team.clone_of(&with_password, name, &["--depth=1"]);
        let store = GitStore::new(&clone, None, name);
        fill(&store, &["a", "checkpoint", "b"]).await;
        let fresh = GitStore::new(&team.clone_of(&with_password, &format!("{name}-2"), &[]), None, name);
        assert_eq!(read(&fresh).await, [stored(2, "checkpoint"), stored(3, "b")], "{name}");
        assert_eq!(fresh.read(Start::At(1)).await.expect("older records").len(), 3);
        assert!(matches!(create(&fresh, 3, "other").await, Err(AppendError::Conflict)));
    }
    let Some(http) = http else { return };
    // Like the checkout of CI that leaves its token.
    let clone = team.clone_of(&team.url(), "ci", &[]);
    git(&clone, &["remote", "set-url", "origin", &http]);
    let ci = GitStore::new(&clone, None, "http");
    let why = why_unread(&ci).await;
    assert!(why.contains("asks for credentials, and git has none"), "{why}");
    git(&clone, &["config", &format!("http.{http}.extraheader"), &format!("Authorization: Basic {password}")]);
    assert_eq!(read(&ci).await.len(), 2);
    create(&ci, 4, "c").await.expect("with the token of the checkout");
    let wrong = http.replace("http://", "http://ada:wr0ng@");
    let wrong = GitStore::new(&team.clone_of(&team.url(), "wrong", &[]), Some(&wrong), "http");
    let why = why_unread(&wrong).await;
    assert!(why.contains("ada:***@") && why.contains("refused the credentials"), "{why}");
    assert!(![why, format!("{wrong:?}"), wrong.shown(), wrong.go_on(2)].concat().contains("wr0ng"));
    let (is_ok, ..) = try_git(&team.server(), &["rev-parse", "--verify", "-q", "refs/pushplan/http"]);
    assert!(is_ok);
}
