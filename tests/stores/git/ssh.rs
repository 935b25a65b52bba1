//! Git servers over ssh: each has its own port and its own keys.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pushplan::ledger::git::GitStore;
use pushplan::ledger::store::{Pending, Store};
use pushplan_testing::missing;

use super::places::{Team, create, read, stored, why_unread};
use crate::suite::Place;

// The tests about access; the others are the same as with any other server, and ssh is slow.
crate::behaves!(@ Server::start(),
    what_is_appended_is_read_back_by_anybody, a_place_is_taken_once, a_record_whose_answer_was_lost_is_known_again);

/// A team whose repository is reached through `sshd`.
struct Server {
    team: Team,
    sshd: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
    }
}

/// The path of the server's program, which has to be started by its full path.
fn program() -> Option<PathBuf> {
    let found = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].map(PathBuf::from).into_iter().find(|path| path.exists());
    if found.is_none() {
        missing("sshd", "run tests/stores/git/install-sshd", "PUSHPLAN_REQUIRE_SSHD");
    }
    found
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().expect("it runs");
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Makes a pair of keys.
fn key(path: &Path) {
    said("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", path.to_str().expect("UTF-8")]);
}

impl Server {
    fn start() -> Option<Self> {
        let program = program()?;
        let team = Team::new();
        let at = |name: &str| team.path().join(name);
        ["host", "ada", "eve"].iter().for_each(|name| key(&at(name)));
        let port = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a port").port();
        let public = |name: &str| fs::read_to_string(at(name).with_extension("pub")).expect("a key");
        fs::write(at("authorized"), public("ada")).expect("a file");
        fs::write(at("known"), format!("[127.0.0.1]:{port} {}", public("host"))).expect("a file");
        let folder = team.path().display();
        let settings = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\n\
             PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n\
             MaxStartups 100\n"
        );
        fs::write(at("sshd_config"), settings).expect("a file");
        // A server that root starts needs a folder for its unprivileged processes.
        let _ = fs::create_dir_all("/run/sshd");
        let log = fs::File::create(at("log")).expect("a file");
        let mut sshd = Command::new(program);
        sshd.arg("-D").arg("-e").arg("-f").arg(at("sshd_config"));
        let sshd = sshd.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().expect("it starts");
        let server = Self { team, sshd, port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = fs::read_to_string(server.team.path().join("log")).unwrap_or_default();
            assert!(begun.elapsed() < Duration::from_secs(120), "sshd does not answer: {log}");
            thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    fn url(&self) -> String {
        format!("ssh://{}@127.0.0.1:{}{}", said("id", &["-un"]), self.port, self.team.server().display())
    }

    /// The ssh command for a user with one of the keys.
    fn ssh(&self, key: &str) -> String {
        let folder = self.team.path().display();
        format!(
            "ssh -F none -i {folder}/{key} -o IdentitiesOnly=yes -o UserKnownHostsFile={folder}/known -o BatchMode=yes"
        )
    }

    /// A clone whose settings contain the ssh command.
    fn clone(&self) -> PathBuf {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let name = format!("clone-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let ssh = format!("core.sshCommand={}", self.ssh("ada"));
        self.team.clone_of(&self.url(), &name, &["-c", &ssh])
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
    super::git(&clone, &["config", "core.sshCommand", &server.ssh("eve")]);
    let why = why_unread(&GitStore::new(&clone, None, "prod")).await;
    assert!(why.contains("permission was denied") && why.contains("may read and push there"), "{why}");
    // Without the user's settings, ssh does not ask whether to trust the server.
    super::git(&clone, &["config", "--unset", "core.sshCommand"]);
    let why = why_unread(&GitStore::new(&clone, None, "prod")).await;
    assert!(why.contains("this machine has no key of the server") && why.contains("known_hosts"), "{why}");
    super::git(&clone, &["config", "core.sshCommand", &server.ssh("ada")]);
    assert_eq!(read(&GitStore::new(&clone, None, "prod")).await, [stored(1, "a")]);
}
