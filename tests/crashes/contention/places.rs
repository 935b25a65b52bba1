//! The location of a team's ledger, and the settings that its members need to reach it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use pushplan_testing::{postgres, servers};
use tempfile::TempDir;

/// An unshared location for a ledger.
pub struct Place {
    /// The value of `ledger` of the target.
    pub setting: String,
    /// The environment variables of all members.
    pub environment: Vec<(String, String)>,
    /// The repository that the project is cloned from, if any.
    server: Option<String>,
    _folder: TempDir,
}

impl Place {
    fn new(setting: impl Into<String>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { setting: setting.into(), environment: Vec::new(), server: None, _folder: folder }
    }

    /// A folder that several machines share.
    pub fn folder() -> Self {
        let mut place = Self::new("");
        place.setting = format!("file:{}", place._folder.path().display());
        place.environment.push(("PUSHPLAN_LEDGER_DIR".to_owned(), place._folder.path().display().to_string()));
        place
    }

    /// A bare repository, which everybody has a clone of.
    pub fn git() -> Self {
        let mut place = Self::new("git");
        let folder = place._folder.path();
        git(folder, &["init", "-q", "--bare", "-b", "main", "server.git"]);
        git(folder, &["clone", "-q", "server.git", "first"]);
        fs::write(folder.join("first/readme.txt"), "a project").expect("a file");
        git(&folder.join("first"), &["add", "."]);
        git(&folder.join("first"), &["commit", "-qm", "first"]);
        git(&folder.join("first"), &["push", "-q", "origin", "HEAD:main"]);
        place.server = Some(format!("file://{}", folder.join("server.git").display()));
        place
    }

    /// A bucket of a server with the S3 API; `None` if there is no server.
    pub fn objects() -> Option<Self> {
        let port = servers::moto()?;
        let mut place = Self::new(format!("s3://team/contention-{}", fresh()));
        let endpoint = format!("http://127.0.0.1:{port}");
        let values = [
            ("AWS_ENDPOINT_URL", endpoint.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "someone"),
            ("AWS_SECRET_ACCESS_KEY", "hush-hush-hush"),
            ("AWS_REGION", "us-east-1"),
        ];
        place.environment = values.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Some(place)
    }

    /// A schema in a PostgreSQL; `None` if there is no server.
    pub fn database() -> Option<Self> {
        let server = postgres::Server::shared()?;
        let mut place =
            Self::new(format!("postgres://keeper@127.0.0.1:{}/ledgers/contention_{}", server.port, fresh()));
        let port = server.port.to_string();
        let values = [("PGPASSWORD", "hunter2"), ("PGHOST", "127.0.0.1"), ("PGPORT", &port)];
        place.environment = values.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Some(place)
    }

    /// Creates the folder of a new member, without any files of the project.
    pub fn join(&self, folder: &Path) {
        match &self.server {
            Some(server) => {
                let name = folder.file_name().and_then(|name| name.to_str()).expect("a name");
                git(folder.parent().expect("a folder"), &["clone", "-q", server, name]);
            }
            None => fs::create_dir(folder).expect("a folder"),
        }
    }
}

/// A number that is unique in this process.
fn fresh() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn git(folder: &Path, arguments: &[&str]) {
    let said = Command::new("git")
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@host.example"])
        .args(arguments)
        .output()
        .expect("git");
    assert!(said.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
}
