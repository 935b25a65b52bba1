//! A local server of releases, and a machine that has no pushplan.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use pushplan_testing::wire::{Asked, say, serve};
use pushplan_testing::{Folder, Ran};

use crate::team::{outside, ran};

pub const VERSION: &str = "9.8.7";
pub const COMMIT: &str = "0123456789012345678901234567890123456789";
const TARGET: &str = "x86_64-unknown-linux-musl";

pub type Answer = Option<Vec<u8>>;
pub type Files = BTreeMap<String, Vec<u8>>;

pub fn archive() -> String {
    format!("pushplan-{VERSION}-{TARGET}.tar.gz")
}

pub fn program(folder: &Folder, name: &str, text: &str) -> PathBuf {
    let path = folder.write(name, text);
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permissions");
    path
}

fn checksum(bytes: &[u8]) -> String {
    let folder = Folder::new();
    let ran = ran(Command::new("sha256sum").arg(folder.write("bytes", bytes)));
    ran.stdout[..64].to_owned()
}

pub fn not_found() -> Answer {
    say("404 Not Found", "", b"no such file")
}

/// A server of releases, and a machine that has no pushplan.
pub struct Releases {
    pub folder: Folder,
    pub files: Files,
    pub port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Releases {
    /// Serves a release as the release workflow packs it. `on` says what to answer instead, if anything.
    pub fn serve(on: impl Fn(&str, &Files) -> Option<Answer> + Send + Sync + 'static) -> Self {
        Self::of(VERSION, on)
    }

    /// The binary in the release reports `version`.
    pub fn of(version: &str, on: impl Fn(&str, &Files) -> Option<Answer> + Send + Sync + 'static) -> Self {
        let folder = Folder::new();
        // It records that it ran.
        let binary = program(
            &folder,
            "binary",
            &format!(
                "#!/bin/sh\necho \"$1\" >>'{}'\n[ \"$1\" != --version ] || {{ echo 'pushplan {version}'; exit; }}\nexec '{}' \"$@\"\n",
                folder.path().join("ran").display(),
                env!("CARGO_BIN_EXE_pushplan")
            ),
        );
        let out = folder.path().join("release");
        for target in [TARGET, "x86_64-pc-windows-msvc"] {
            let pack = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/release/pack");
            let ran = ran(Command::new(pack).args([VERSION, target]).args([&binary, &out]));
            assert_eq!(ran.code, 0, "{ran}");
        }
        let mut files: Files = fs::read_dir(&out)
            .expect("a folder")
            .map(|file| file.expect("a file").path())
            .map(|path| {
                (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(&path).expect("bytes"))
            })
            .collect();
        files.insert("COMMIT".to_owned(), format!("{COMMIT}\n").into_bytes());
        let sums: String = files.iter().map(|(name, bytes)| format!("{}  {name}\n", checksum(bytes))).collect();
        files.insert("SHA256SUMS".to_owned(), sums.into_bytes());
        files.insert("attestation.json".to_owned(), b"{}".to_vec());
        program(&folder, "tools/uname", "#!/bin/sh\n[ \"$1\" = -s ] && echo Linux || echo x86_64\n");
        // A cargo that records its arguments and installs the binary of this build.
        program(
            &folder,
            "tools/cargo",
            &format!(
                "#!/bin/sh\necho \"$@\" >>'{}'\nwhile [ \"$1\" != --root ]; do shift; done\nmkdir -p \"$2/bin\" && ln -sf '{}' \"$2/bin/pushplan\"\n",
                folder.path().join("built").display(),
                env!("CARGO_BIN_EXE_pushplan")
            ),
        );
        program(&folder, "tools/rustup", "#!/bin/sh\n");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (served, log) = (files.clone(), Arc::clone(&asked));
        let port = serve(move |request: &Asked| {
            log.lock().expect("sound").push(request.target.clone());
            let Some(name) = request.target.strip_prefix(&format!("/releases/v{VERSION}/")) else { return not_found() };
            on(name, &served).unwrap_or_else(|| match served.get(name) {
                Some(bytes) => say("200 OK", "", bytes),
                None => not_found(),
            })
        });
        Self { folder, files, port, asked }
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/releases", self.port)
    }

    /// A `gh` that verifies attestations, records its arguments and ends with this code.
    pub fn with_gh(self, code: u8) -> Self {
        let text = format!(
            "#!/bin/sh\n[ \"$3\" != --help ] || {{ echo '  --source-ref string'; exit; }}\necho \"$@\" >>'{}'\nexit {code}\n",
            self.folder.path().join("verified").display()
        );
        program(&self.folder, "tools/gh", &text);
        self
    }

    /// The path of a machine with its tools, without the pushplan of the machine that the tests run on.
    pub fn path(&self) -> String {
        let path = std::env::var("PATH").unwrap_or_default();
        let others = path.split(':').filter(|folder| !Path::new(folder).join("pushplan").exists());
        let tools = self.folder.path().join("tools").display().to_string();
        [vec![tools.as_str()], others.collect()].concat().join(":")
    }

    /// Runs the script alone.
    pub fn download(&self, env: &[(&str, &str)]) -> Ran {
        let mut command = outside("sh");
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("action/download")).env("PATH", self.path());
        command.env("PUSHPLAN_VERSION", VERSION).env("PUSHPLAN_RELEASES", self.address());
        command.env("PUSHPLAN_ROOT", self.root()).envs(env.iter().copied());
        ran(&mut command)
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// The paths that were asked for since the last time.
    pub fn paths(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("sound"))
    }

    /// The files that were asked for since the last time.
    pub fn asked(&self) -> Vec<String> {
        self.paths().iter().map(|target| target.rsplit('/').next().unwrap_or_default().to_owned()).collect()
    }

    /// Nothing that was downloaded ran, and nothing is there to run.
    #[track_caller]
    pub fn ran_nothing(&self) {
        assert!(!self.folder.path().join("ran").exists());
        assert!(!self.root().join("release/pushplan").exists());
    }
}
