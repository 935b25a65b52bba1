//! A built-in service with many applications, and projects whose targets they are.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pushplan::service::faults::{Fault, Rule, Rules, When};
use pushplan::service::{self, Level, Running, Settings};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::binary;

/// A running service, with credentials for all of its applications.
pub struct Applications {
    folder: TempDir,
    credentials: PathBuf,
    running: Running,
    _runtime: Runtime,
}

/// The names of so many targets.
pub fn names(targets: usize) -> Vec<String> {
    (0..targets).map(|number| format!("app-{number:03}")).collect()
}

/// The key and the secret of an application.
fn pair(name: &str) -> (String, String) {
    (format!("key-of-{name}-0000000000"), format!("secret-of-{name}-0000000"))
}

impl Applications {
    /// Starts a service that has its data in memory, and answers after a delay.
    pub fn start(names: &[String], delay: Duration) -> Self {
        let fault = Fault::Delay(delay, When::Before);
        let rule = Rule { method: None, path: "/api/*".to_owned(), probability: 1.0, times: None, after: 0, fault };
        let faults = (!delay.is_zero()).then(|| Rules { seed: 0, rules: vec![rule] });
        let apps = names.iter().map(|name| pair(name)).collect();
        let settings = Settings { api: Level::Extended, apps, faults, ..Settings::default() };
        let runtime = Runtime::new().expect("a runtime");
        let running = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            service::start(settings, listener).await.expect("the service starts")
        });
        let folder = tempfile::tempdir().expect("a folder");
        let credentials = folder.path().join("credentials");
        let section = |name: &String| {
            let (key, secret) = pair(name);
            format!("[\"http://{}\".{name}]\napp_key = \"{key}\"\nmaster_secret = \"{secret}\"\n", running.address)
        };
        fs::write(&credentials, names.iter().map(section).collect::<String>()).expect("a file");
        fs::set_permissions(&credentials, fs::Permissions::from_mode(0o600)).expect("a mode");
        Self { folder, credentials, running, _runtime: runtime }
    }

    /// The folder of the projects.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Creates a project with a target for each name, and so many resources: half segments, half templates.
    pub fn project(&self, folder: &str, targets: &[String], ledger: &str, resources: usize) -> PathBuf {
        let folder = self.folder().join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        let settings = format!(
            "[matrix]\napp = {targets:?}\n[matrix.target]\nbase_url = \"http://{}\"\nledger = \"{ledger}\"\napi = \"extended\"\n",
            self.running.address
        );
        fs::write(folder.join("pushplan.toml"), settings).expect("a file");
        let numbers = || 0..resources / 2;
        let segments: String = numbers()
            .map(|it| format!("  s{it}: {{criteria: {{and: [{{tag: tag-{it}}}, {{country: US}}]}}}}\n"))
            .collect();
        let templates: String = numbers()
            .map(|it| format!("  t{it}: {{push: {{notification: {{alert: \"Sale number {it}\"}}}}}}\n"))
            .collect();
        fs::write(folder.join("segments.yaml"), format!("segments:\n{segments}")).expect("a file");
        fs::write(folder.join("templates.yaml"), format!("templates:\n{templates}")).expect("a file");
        folder
    }

    /// Runs the binary in a project. Returns its time in seconds, and its output.
    pub fn run(&self, project: &Path, arguments: &[&str]) -> (f64, String) {
        let credentials = self.credentials.to_str().expect("UTF-8");
        binary::run(project, &[("PUSHPLAN_CREDENTIALS", credentials)], arguments)
    }

    /// Runs the binary, whose output has to contain some words. Returns its time in seconds.
    pub fn timed(&self, project: &Path, arguments: &[&str], says: &str) -> f64 {
        let (took, output) = self.run(project, arguments);
        assert!(output.contains(says), "{arguments:?}: {output}");
        took
    }
}
