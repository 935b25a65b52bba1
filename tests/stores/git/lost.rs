//! Lost responses, and servers that refuse, are slow or do not exist.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use pushplan::ledger::AppendError;
use pushplan::ledger::git::GitStore;
use pushplan::ledger::store::{Start, Store};

use super::places::{Cut, Daemon, Proxy, TIP, Team, create, fill, git, read, stored, url, why_unread};

/// A store whose pushes meet these faults, after its first record. `limit` is git's time limit in seconds.
async fn through(team: &Team, daemon: &Daemon, cuts: &'static [Cut], limit: u64) -> (Proxy, GitStore) {
    let (clone, direct) = team.member("proxied");
    fill(&direct, &["a"]).await;
    let proxy = Proxy::start(daemon.port, cuts);
    let store = GitStore::new(&clone, Some(&url(proxy.port)), "prod").within(Duration::from_secs(limit));
    assert_eq!(read(&store).await, [stored(1, "a")]);
    (proxy, store)
}

#[tokio::test]
async fn a_lost_answer_is_looked_for_and_the_record_is_there_once() {
    let team = Team::new();
    let Some(daemon) = Daemon::start(&team) else { return };
    let (proxy, store) = through(&team, &daemon, &[Cut::Answer], 60).await;
    create(&store, 2, "b").await.expect("it is found there");
    assert_eq!(proxy.pushes.load(Ordering::SeqCst), 1, "it is not pushed again");
    assert_eq!(git(&team.server(), &["rev-list", "--count", TIP]), "2");
    create(&store, 3, "c").await.expect("it goes on");
}

#[tokio::test]
async fn a_push_that_never_arrives_is_ended_and_made_again() {
    let team = Team::new();
    let Some(daemon) = Daemon::start(&team) else { return };
    let (proxy, store) = through(&team, &daemon, &[Cut::Silence], 4).await;
    create(&store, 2, "b").await.expect("the second attempt arrives");
    assert_eq!(proxy.pushes.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn what_stays_open_is_said_to_be_unknown() {
    let team = Team::new();
    let Some(daemon) = Daemon::start(&team) else { return };
    let (_proxy, store) = through(&team, &daemon, &[Cut::Silence; 3], 3).await;
    let Err(AppendError::Unknown(why)) = create(&store, 2, "b").await else { panic!("it is not known") };
    assert!(why.contains("record 2 of refs/pushplan/prod on git://127.0.0.1"), "{why}");
    assert!(why.contains("had not finished after 3 s"), "{why}");
    create(&store, 2, "b").await.expect("the same record, later");
}

#[tokio::test]
async fn a_server_that_dies_after_the_update_has_the_record() {
    let team = Team::new();
    let (_, store) = team.member("ada");
    fill(&store, &["a"]).await;
    // The ref has moved, and the process that would report it is killed.
    team.hook("post-receive", "kill -9 $PPID; sleep 0.2");
    create(&store, 2, "b").await.expect("it is found there");
    team.no_hook("post-receive");
    assert_eq!(git(&team.server(), &["rev-list", "--count", TIP]), "2");
}

#[tokio::test]
async fn a_server_that_dies_before_the_update_is_asked_again() {
    let team = Team::new();
    let (_, store) = team.member("ada");
    fill(&store, &["a"]).await;
    team.hook("pre-receive", "[ -e died ] && exit 0; touch died; kill -9 $PPID; sleep 0.2");
    create(&store, 2, "b").await.expect("the second attempt");
    assert_eq!(git(&team.server(), &["rev-list", "--count", TIP]), "2");
}

#[tokio::test]
async fn a_refusal_is_told_with_the_servers_words() {
    let team = Team::new();
    let (_, store) = team.member("ada");
    fill(&store, &["a"]).await;
    team.hook("pre-receive", "echo 'no pushes on Sundays' >&2; exit 1");
    let Err(AppendError::NotWritten(why)) = create(&store, 2, "b").await else { panic!("it is refused") };
    assert!(why.contains("record 2 of refs/pushplan/prod on origin") && why.contains("no pushes on Sundays"), "{why}");
    team.no_hook("pre-receive");
    create(&store, 2, "other").await.expect("its place is free");
}

#[tokio::test]
async fn places_that_cannot_be_reached_say_what_to_check() {
    let team = Team::new();
    let (clone, ada) = team.member("ada");
    fill(&ada, &["a"]).await;
    let plain = tempfile::tempdir().expect("a folder");
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let closed = format!("http://ada:s3cret@127.0.0.1:{port}/x.git");
    for (folder, remote, says) in [
        (&*clone, Some(&*closed), ["ada:***@127.0.0.1", "check the address and the network"]),
        (&clone, Some("upstream"), ["no remote called `upstream`", "git remote add upstream"]),
        (&clone, Some("/nowhere/x.git"), ["there is no such repository", "git init --bare"]),
        (&clone, Some("--upload-pack=touch /tmp/x"), ["is not a git remote", "name of a remote"]),
        (&clone, Some("ext::sh -c true"), ["is not a git remote", "https://"]),
        (&clone, Some("./.git"), ["is in the project itself", "elsewhere"]),
        (plain.path(), None, ["not in a git repository", "run pushplan in a clone"]),
    ] {
        let store = GitStore::new(folder, remote, "prod");
        let Err(AppendError::NotWritten(unwritten)) = create(&store, 1, "a").await else { panic!("{remote:?}") };
        for told in [why_unread(&store).await, unwritten] {
            assert!(says.iter().all(|part| told.contains(part)), "{says:?}: {told}");
            assert!(!told.contains("s3cret") && told.contains("refs/pushplan/prod"), "{told}");
        }
        assert!(!format!("{store:?}{}{}", store.shown(), store.record(1)).contains("s3cret"));
    }
    let missing = ada.read(Start::At(1)).await.expect("the others do no harm");
    assert_eq!(missing, [stored(1, "a")]);
}

#[tokio::test]
async fn a_server_that_says_nothing_is_not_waited_for() {
    let team = Team::new();
    let (clone, _) = team.member("ada");
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("an address").port();
    for address in [url(port), format!("http://127.0.0.1:{port}/server.git")] {
        let store = GitStore::new(&clone, Some(&address), "prod").within(Duration::from_secs(1));
        let told = why_unread(&store).await;
        assert!(told.contains(&address) && told.contains("had not finished after 1 s"), "{told}");
        assert!(matches!(create(&store, 1, "a").await, Err(AppendError::NotWritten(_))), "nothing was sent");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_that_are_killed_at_any_moment_leave_one_line_of_records() {
    let team = Team::new();
    let clones = [team.member("ada").0, team.member("bob").0];
    let begun = Instant::now();
    fill(&GitStore::new(&clones[0], None, "prod"), &["first"]).await;
    let unit = begun.elapsed();
    let writers = (0..4_usize).map(|writer| {
        let clone = clones[writer % 2].clone();
        tokio::spawn(async move {
            let mut written = Vec::new();
            for round in 0..12_u64 {
                // Like a new process: nothing is known, and git is ended with it.
                let store = GitStore::new(&clone, None, "prod");
                let what = format!("by {writer} in {round}");
                let life = unit * u32::try_from(1 + (round * 7 + writer as u64 * 3) % 24).expect("a small number") / 2;
                let work = async {
                    let read = store.read(Start::Checkpoint).await.expect("what is there can be read");
                    let seq = read.last().map_or(0, |last| last.seq) + 1;
                    let what = if seq % 7 == 0 { format!("checkpoint {what}") } else { what };
                    (seq, create(&store, seq, &what).await, what)
                };
                match tokio::time::timeout(life, work).await {
                    Ok((seq, Ok(()), what)) => written.push(stored(seq, &what)),
                    Ok((_, Err(AppendError::Conflict), _)) | Err(_) => {}
                    Ok((seq, Err(other), _)) => panic!("record {seq}: {other:?}"),
                }
            }
            written
        })
    });
    let mut written = Vec::new();
    for writer in writers.collect::<Vec<_>>() {
        written.extend(writer.await.expect("no panic"));
    }
    let all = team.member("reader").1.read(Start::At(1)).await.expect("all of it");
    assert_eq!(all.iter().map(|stored| stored.seq).collect::<Vec<_>>(), (1..=all.len() as u64).collect::<Vec<_>>());
    for record in &written {
        assert_eq!(Some(record), all.get(record.seq as usize - 1), "what was said to be written is there");
    }
    assert!(written.len() >= 5, "{}", written.len());
}
