//! Git servers over ssh: each has its own port and its own keys.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pushplan::ledger::git::GitStore;
use pushplan::ledger::store::{Pending, Store};
use pushplan_testing::sshd::{ACCEPTED, REFUSED, Sshd};

use super::places::{Team, create, read, stored, why_unread};
use crate::suite::Place;

// The tests about access; the others are the same as with any other server, and ssh is slow.
crate::behaves!(@ Server::start(),
    what_is_appended_is_read_back_by_anybody, a_place_is_taken_once, a_record_whose_answer_was_lost_is_known_again);

/// A team whose repository is reached through `sshd`.
struct Server {
    sshd: Sshd,
    team: Team,
}

impl Server {
    fn start() -> Option<Self> {
        let team = Team::new();
        Some(Self { sshd: Sshd::start(team.path())?, team })
    }

    /// A clone whose settings contain the ssh command.
    fn clone(&self) -> PathBuf {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let name = format!("clone-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let ssh = format!("core.sshCommand={}", self.sshd.ssh(ACCEPTED));
        self.team.clone_of(&self.sshd.url(&self.team.server()), &name, &["-c", &ssh])
    }
}

impl Place for Server {
    fn open(&self, target: &str) -> Arc<dyn Store> {
        Arc::new(GitStore::new(&self.clone(), None, target))
    }

    fn tamper<'a>(&'a self, target: &'a str, seq: u64, with: Option<&'a [u8]>) -> Pending<'a, ()> {
        self.team.tamper(target, seq, with)
    }

    fn seals_the_past(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn who_may_not_in_is_told_and_asked_for_nothing() {
    let Some(server) = Server::start() else { return };
    let clone = server.clone();
    let ada = GitStore::new(&clone, None, "prod");
    create(&ada, 1, "a").await.expect("she may");
    super::git(&clone, &["config", "core.sshCommand", &server.sshd.ssh(REFUSED)]);
    let why = why_unread(&GitStore::new(&clone, None, "prod")).await;
    assert!(why.contains("permission was denied") && why.contains("may read and push there"), "{why}");
    // Without the user's settings, ssh does not ask whether to trust the server.
    super::git(&clone, &["config", "--unset", "core.sshCommand"]);
    let why = why_unread(&GitStore::new(&clone, None, "prod")).await;
    assert!(why.contains("this machine has no key of the server") && why.contains("known_hosts"), "{why}");
    super::git(&clone, &["config", "core.sshCommand", &server.sshd.ssh(ACCEPTED)]);
    assert_eq!(read(&GitStore::new(&clone, None, "prod")).await, [stored(1, "a")]);
}
