//! Real git servers: a folder, `git daemon`, and `git http-backend` behind a small HTTP server.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pushplan::digest::Digest;
use pushplan::ledger::AppendError;
use pushplan::ledger::git::GitStore;
use pushplan::ledger::store::{New, Pending, Start, Store, Stored, Unread};
use tempfile::TempDir;

use crate::suite::Place;

pub const TIP: &str = "refs/pushplan/prod";

/// Git as a user runs it, in a folder.
pub fn git(folder: &Path, args: &[&str]) -> String {
    let (is_ok, out, err) = try_git(folder, args);
    assert!(is_ok, "git {args:?}: {out}{err}");
    out.trim().to_owned()
}

pub fn try_git(folder: &Path, args: &[&str]) -> (bool, String, String) {
    let said = command(folder).args(args).output().expect("git");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (said.status.success(), text(&said.stdout), text(&said.stderr))
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(["-c", "user.name=Ada", "-c", "user.email=ada@host.example", "-c", "protocol.file.allow=always"]);
    command
}

/// A folder with a bare repository, and clones of it.
pub struct Team {
    pub folder: TempDir,
}

impl Team {
    /// A server's repository with one commit on `main`.
    pub fn new() -> Self {
        let team = Self { folder: tempfile::tempdir().expect("a folder") };
        git(team.path(), &["init", "-q", "--bare", "-b", "main", "server.git"]);
        git(&team.server(), &["config", "http.receivepack", "true"]);
        let first = team.clone_of(&team.server().display().to_string(), "first", &[]);
        for name in ["one", "two", "three"] {
            fs::write(first.join("a.txt"), name).expect("a file");
            git(&first, &["add", "."]);
            git(&first, &["commit", "-qm", name]);
        }
        git(&first, &["push", "-q", "origin", "HEAD:main"]);
        team
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn server(&self) -> PathBuf {
        self.path().join("server.git")
    }

    pub fn url(&self) -> String {
        format!("file://{}", self.server().display())
    }

    pub fn clone_of(&self, address: &str, name: &str, options: &[&str]) -> PathBuf {
        git(self.path(), &[&["clone", "-q"], options, &[address, name]].concat());
        self.path().join(name)
    }

    /// A new clone, and a store in it.
    pub fn member(&self, name: &str) -> (PathBuf, GitStore) {
        let clone = self.clone_of(&self.url(), name, &[]);
        let store = GitStore::new(&clone, None, "prod");
        (clone, store)
    }

    /// A hook of the server.
    pub fn hook(&self, name: &str, script: &str) {
        let path = self.server().join("hooks").join(name);
        let _ = fs::create_dir(self.server().join("hooks"));
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a hook");
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    }

    pub fn no_hook(&self, name: &str) {
        fs::remove_file(self.server().join("hooks").join(name)).expect("a hook");
    }

    /// The commit at the server's ref.
    pub fn tip(&self) -> Option<String> {
        let (is_ok, out, _) = try_git(&self.server(), &["rev-parse", "--verify", "-q", TIP]);
        is_ok.then(|| out.trim().to_owned())
    }

    /// Replaces the tree on the server: all files of the newest commit, changed by `change`.
    pub fn damage(&self, change: impl Fn(&Path)) {
        self.damage_at(TIP, change);
    }

    fn damage_at(&self, at: &str, change: impl Fn(&Path)) {
        let tree = tempfile::tempdir().expect("a folder");
        let work = format!("--work-tree={}", tree.path().display());
        let index = tree.path().join("index");
        let run = |args: &[&str]| {
            let said = command(&self.server()).env("GIT_INDEX_FILE", &index).args(args).output().expect("git");
            assert!(said.status.success(), "{args:?}: {}", String::from_utf8_lossy(&said.stderr));
            String::from_utf8_lossy(&said.stdout).trim().to_owned()
        };
        run(&[&work, "read-tree", at]);
        run(&[&work, "checkout-index", "-a"]);
        change(tree.path());
        fs::rename(&index, self.path().join("index")).expect("an index");
        fs::rename(self.path().join("index"), &index).expect("an index");
        run(&[&work, "add", "-A", "--", ".", ":!index", ":!index.lock"]);
        let tree = run(&["write-tree"]);
        let commit = run(&["commit-tree", &tree, "-p", at, "-m", "damage"]);
        run(&["update-ref", at, &commit]);
    }
}

/// Every user of the ledger has a separate clone.
impl Place for Team {
    fn open(&self, target: &str) -> Arc<dyn Store> {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let name = format!("clone-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        Arc::new(GitStore::new(&self.clone_of(&self.url(), &name, &[]), None, target))
    }

    fn tamper<'a>(&'a self, target: &'a str, seq: u64, with: Option<&'a [u8]>) -> Pending<'a, ()> {
        let pattern = format!("refs/pushplan*/{target}");
        let all = git(&self.server(), &["for-each-ref", "--format=%(refname)", &pattern, &format!("{pattern}/*")]);
        let file = |at: &str| {
            let files = git(&self.server(), &["ls-tree", "-r", "--name-only", at]);
            files.lines().find(|file| file.ends_with(&format!("{seq:08}.json"))).map(str::to_owned)
        };
        let own = all.lines().filter(|name| !name.starts_with("refs/pushplan_mark/"));
        let (at, file) = own.clone().find_map(|at| Some((at, file(at)?))).expect("a record");
        self.damage_at(at, |tree| match with {
            Some(bytes) => fs::write(tree.join(&file), bytes).expect("a file"),
            None => fs::remove_file(tree.join(&file)).expect("a file"),
        });
        Box::pin(async {})
    }

    fn seals_the_past(&self) -> bool {
        true
    }
}

/// The bytes of a record, in the form of a ledger's.
pub fn bytes(seq: u64, what: &str) -> Vec<u8> {
    let kind = if what.contains("checkpoint") { "checkpoint" } else { "forget" };
    let body = format!("{{\"format\":1,\"seq\":{seq},\"record\":{{\"{kind}\":[\"{what}\"]}}");
    format!("{body},\"checksum\":\"{}\"}}\n", Digest::of(body.as_bytes())).into_bytes()
}

pub fn stored(seq: u64, what: &str) -> Stored {
    Stored { seq, bytes: bytes(seq, what) }
}

pub async fn create(store: &dyn Store, seq: u64, what: &str) -> Result<(), AppendError> {
    let is_checkpoint = what.contains("checkpoint");
    store.create(New { seq, bytes: &bytes(seq, what), previous: None, is_checkpoint }).await
}

/// Creates records with these contents, from 1 on.
pub async fn fill(store: &dyn Store, contents: &[&str]) {
    for (seq, what) in (1..).zip(contents) {
        create(store, seq, what).await.unwrap_or_else(|error| panic!("record {seq}: {error:?}"));
    }
}

pub async fn read(store: &dyn Store) -> Vec<Stored> {
    store.read(Start::Checkpoint).await.expect("it is read")
}

pub async fn why_unread(store: &dyn Store) -> String {
    match store.read(Start::Checkpoint).await.expect_err("it is refused") {
        Unread::Failed { why, help } => format!("{why}; {}", help.unwrap_or_default()),
        other => panic!("{other:?}"),
    }
}

/// `git daemon` on its own port; `None` if this git has none.
pub struct Daemon {
    child: Child,
    pub port: u16,
}

impl Daemon {
    pub fn start(team: &Team) -> Option<Self> {
        let here = git(team.path(), &["--exec-path"]);
        if !Path::new(&here).join("git-daemon").exists() {
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let base = format!("--base-path={}", team.path().display());
        let args = ["daemon", "--reuseaddr", "--listen=127.0.0.1", &format!("--port={port}"), &base, "--export-all"];
        let child = command(team.path())
            .args(args)
            .args(["--enable=receive-pack", "--informative-errors"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a daemon");
        let daemon = Self { child, port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(120), "git daemon does not answer");
            thread::sleep(Duration::from_millis(20));
        }
        Some(daemon)
    }

    pub fn url(&self) -> String {
        url(self.port)
    }
}

pub fn url(port: u16) -> String {
    format!("git://127.0.0.1:{port}/server.git")
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The wrapper `git` passes on signals that it can handle to the daemon; it cannot handle SIGKILL.
        let _ = Command::new("sh").args(["-c", &format!("kill {}", self.child.id())]).status();
        let _ = self.child.wait();
    }
}

/// The proxy's action for a connection that pushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Lets it pass.
    Nothing,
    /// Ends it after the request was passed on, before the answer.
    Answer,
    /// Passes nothing on and keeps the connection open.
    Silence,
}

/// A proxy in front of a server. The first connections that push meet the given actions.
pub struct Proxy {
    pub port: u16,
    pub pushes: Arc<AtomicUsize>,
}

impl Proxy {
    pub fn start(to: u16, cuts: &'static [Cut]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let pushes = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&pushes);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                thread::spawn(move || pass(client, to, cuts, &counted));
            }
        });
        Self { port, pushes }
    }
}

fn pass(mut client: TcpStream, to: u16, cuts: &[Cut], counted: &AtomicUsize) -> Option<()> {
    // The first line of git's own protocol: four digits and the request.
    let mut head = [0; 4];
    client.read_exact(&mut head).ok()?;
    let length = usize::from_str_radix(str::from_utf8(&head).ok()?, 16).ok()?;
    let mut line = vec![0; length - 4];
    client.read_exact(&mut line).ok()?;
    let is_push = line.starts_with(b"git-receive-pack");
    let cut = match is_push {
        true => cuts.get(counted.fetch_add(1, Ordering::SeqCst)).copied().unwrap_or(Cut::Nothing),
        false => Cut::Nothing,
    };
    if cut == Cut::Silence {
        thread::sleep(Duration::from_secs(60));
        return None;
    }
    let mut server = TcpStream::connect(("127.0.0.1", to)).ok()?;
    server.write_all(&head).ok()?;
    server.write_all(&line).ok()?;
    let (mut from_server, mut to_client) = (server.try_clone().ok()?, client.try_clone().ok()?);
    let back = thread::spawn(move || -> Option<()> {
        if cut == Cut::Answer {
            // The refs of the server are passed on; its answer to the push is not.
            loop {
                let mut head = [0; 4];
                from_server.read_exact(&mut head).ok()?;
                to_client.write_all(&head).ok()?;
                let length = usize::from_str_radix(str::from_utf8(&head).ok()?, 16).ok()?;
                if length == 0 {
                    break;
                }
                let mut line = vec![0; length - 4];
                from_server.read_exact(&mut line).ok()?;
                to_client.write_all(&line).ok()?;
            }
            let mut lost = Vec::new();
            let _ = from_server.read_to_end(&mut lost);
            let _ = to_client.shutdown(std::net::Shutdown::Both);
            return None;
        }
        let _ = std::io::copy(&mut from_server, &mut to_client);
        let _ = to_client.shutdown(std::net::Shutdown::Write);
        None
    });
    let _ = std::io::copy(&mut client, &mut server);
    let _ = server.shutdown(std::net::Shutdown::Write);
    let _ = back.join();
    None
}

/// `git http-backend` behind a small HTTP server that asks for a password. Returns its address without one.
pub fn http(team: &Team, password: &'static str) -> Option<String> {
    let here = git(team.path(), &["--exec-path"]);
    let backend = Path::new(&here).join("git-http-backend");
    if !backend.exists() {
        return None;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://127.0.0.1:{}/server.git", listener.local_addr().expect("an address").port());
    let root = team.path().to_owned();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (backend, root) = (backend.clone(), root.clone());
            thread::spawn(move || answer(&client, &backend, &root, password));
        }
    });
    Some(address)
}

fn answer(client: &TcpStream, backend: &Path, root: &Path, password: &str) -> Option<()> {
    let mut reader = BufReader::new(client);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ").map(|(a, b)| (a.to_lowercase(), b.to_owned()))
        else {
            break;
        };
        headers.push((name, value));
    }
    let header = |name: &str| headers.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value);
    let mut body = Vec::new();
    if header("transfer-encoding") == "chunked" {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).ok()?;
            if size == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..size]);
        }
    } else {
        body.resize(header("content-length").parse().unwrap_or(0), 0);
        reader.read_exact(&mut body).ok()?;
    }
    let mut to_client = client;
    if header("authorization") != format!("Basic {password}") {
        let refusal = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        return to_client.write_all(refusal.as_bytes()).ok();
    }
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut cgi = Command::new(backend);
    cgi.env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1").env("PATH_INFO", path).env("QUERY_STRING", query);
    cgi.env("REQUEST_METHOD", &method).env("REMOTE_USER", "ada").env("REMOTE_ADDR", "127.0.0.1");
    cgi.env("CONTENT_TYPE", header("content-type")).env("CONTENT_LENGTH", body.len().to_string());
    cgi.env("HTTP_CONTENT_ENCODING", header("content-encoding")).env("GIT_PROTOCOL", header("git-protocol"));
    let mut child = cgi.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    let writer = thread::spawn(move || stdin.write_all(&body));
    let out = child.wait_with_output().ok()?.stdout;
    let _ = writer.join();
    let end = out.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&out[..end]);
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let mut answer = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n", out.len() - end - 4);
    for line in head.lines().filter(|line| !line.starts_with("Status: ")) {
        write!(answer, "{line}\r\n").ok()?;
    }
    to_client.write_all(format!("{answer}\r\n").as_bytes()).ok()?;
    to_client.write_all(&out[end + 4..]).ok()
}

/// Every file in a folder with its bytes and its mode, except for paths that contain one of these.
pub fn files(folder: &Path, but: &[&str]) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = path.to_string_lossy();
            if but.iter().any(|part| name.contains(part)) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.clone(), fs::read(&path).expect("a file")));
            }
        }
    }
    found.sort();
    found
}

/// The bytes of a folder's file, if it is there.
pub fn file(path: impl AsRef<OsStr>) -> Option<Vec<u8>> {
    fs::read(Path::new(path.as_ref())).ok()
}
