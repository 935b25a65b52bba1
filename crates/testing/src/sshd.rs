//! An ssh server with its own port and its own keys, which runs as the user who runs the test.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::missing;

/// The key that the server accepts.
pub const ACCEPTED: &str = "accepted";
/// A key that it refuses.
pub const REFUSED: &str = "refused";

/// A running ssh server.
#[derive(Debug)]
pub struct Sshd {
    /// Its keys, settings and log.
    folder: PathBuf,
    server: Child,
    port: u16,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The path of the server's program, which has to be started by its full path.
fn program() -> Option<PathBuf> {
    ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].map(PathBuf::from).into_iter().find(|path| path.exists())
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().expect("it runs");
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn create_key(path: &Path) {
    output("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", path.to_str().expect("UTF-8")]);
}

impl Sshd {
    /// Starts a server with its files in a folder; `None` if there is no `sshd` and need not be.
    pub fn start(folder: &Path) -> Option<Self> {
        let Some(program) = program() else {
            missing("sshd", "run tests/stores/git/install-sshd", "PUSHPLAN_REQUIRE_SSHD");
            return None;
        };
        let at = |name: &str| folder.join(name);
        ["host", ACCEPTED, REFUSED].iter().for_each(|name| create_key(&at(name)));
        let port = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a port").port();
        let public = |name: &str| fs::read_to_string(at(name).with_extension("pub")).expect("a key");
        fs::write(at("authorized"), public(ACCEPTED)).expect("a file");
        fs::write(at("known"), format!("[127.0.0.1]:{port} {}", public("host"))).expect("a file");
        let shown = folder.display();
        let settings = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {shown}/host\nAuthorizedKeysFile {shown}/authorized\n\
             PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n\
             MaxStartups 100\nLogLevel INFO\n"
        );
        fs::write(at("sshd_config"), settings).expect("a file");
        // A server that root starts needs a folder for its unprivileged processes.
        let _ = fs::create_dir_all("/run/sshd");
        let log = fs::File::create(at("log")).expect("a file");
        let mut sshd = Command::new(program);
        sshd.arg("-D").arg("-e").arg("-f").arg(at("sshd_config"));
        let server = sshd.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().expect("it starts");
        let started = Self { folder: folder.to_owned(), server, port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(120), "sshd does not answer: {}", started.log());
            thread::sleep(Duration::from_millis(20));
        }
        Some(started)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// The address of a repository on this machine.
    pub fn url(&self, repository: &Path) -> String {
        format!("ssh://{}@127.0.0.1:{}{}", output("id", &["-un"]), self.port, repository.display())
    }

    /// The ssh command of a user with one of the keys.
    pub fn ssh(&self, key: &str) -> String {
        let folder = self.folder.display();
        format!(
            "ssh -F none -i {folder}/{key} -o IdentitiesOnly=yes -o UserKnownHostsFile={folder}/known -o BatchMode=yes"
        )
    }

    /// The number of connections since the server was started whose key was accepted.
    pub fn connections(&self) -> usize {
        self.log().lines().filter(|line| line.contains("Accepted publickey")).count()
    }
}
