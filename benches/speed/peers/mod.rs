//! What else does such work: a script as a team writes it by hand, and octoDNS with as many records.
//!
//! Both run in a virtual environment of Python's beneath the target folder. Where it cannot be made, they are left out.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PACKAGES: [&str; 3] = ["pyyaml", "requests", "octodns"];
const SCRIPT: &str = include_str!("script.py");
const ZONE: &str = "example.com.";

/// A Python with all that the peers need.
pub struct Peers {
    folder: PathBuf,
    /// What is installed, with versions.
    pub versions: String,
}

impl Peers {
    /// Makes the environment, or takes the one that is there. `Err` says why there is none.
    pub fn install(folder: &Path) -> Result<Self, String> {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let folder = fs::canonicalize(folder).map_err(|error| error.to_string())?;
        let (environment, script) = (folder.join("python"), folder.join("script.py"));
        let python = environment.join("bin/python");
        let works = |python: &Path| {
            quiet(Command::new(python).args(["-c", "import octodns, requests, yaml; yaml.CSafeLoader"])).is_ok()
        };
        if !works(&python) {
            quiet(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))
                .map_err(|why| format!("there is no Python that makes virtual environments: {why}"))?;
            quiet(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))
                .map_err(|why| format!("{} cannot be installed: {why}", PACKAGES.join(", ")))?;
        }
        if !works(&python) {
            return Err("PyYAML has no C loader here".to_owned());
        }
        fs::write(&script, SCRIPT).map_err(|error| error.to_string())?;
        let shown = "import importlib.metadata as m, platform; \
                     print('Python', platform.python_version(), *[f', {p} {m.version(p)}' for p in ('PyYAML', 'requests', 'octodns')], sep='')";
        let versions = quiet(Command::new(&python).args(["-c", shown]))?.replace("Python", "Python ").trim().to_owned();
        Ok(Self { folder, versions })
    }

    /// The hand-written script for the manifests beneath a folder.
    pub fn script(&self, messages: &Path, apply: bool) -> Command {
        let mut command = Command::new(self.folder.join("python/bin/python"));
        command.arg(self.folder.join("script.py")).arg(messages);
        if apply {
            command.arg("--apply");
        }
        command
    }

    /// Writes a zone of so many records twice, so that there is nothing to change.
    pub fn write_zone(&self, records: usize) {
        let mut text = "---\n".to_owned();
        for n in 0..records {
            // Names are sorted: octoDNS asks for that.
            let _ = writeln!(text, "host-{n:06}:");
            let _ = match n % 4 {
                0 => writeln!(
                    text,
                    "  ttl: 300\n  type: A\n  values:\n  - 192.0.2.{}\n  - 198.51.100.{}",
                    n % 250 + 1,
                    n % 249 + 1
                ),
                1 => writeln!(text, "  ttl: 300\n  type: TXT\n  value: what region {n} is called"),
                2 => writeln!(text, "  ttl: 300\n  type: CNAME\n  value: region-{n}.example.net."),
                _ => writeln!(
                    text,
                    "  ttl: 300\n  type: MX\n  values:\n  - exchange: mail-{n}.example.net.\n    preference: 10"
                ),
            };
        }
        for side in ["zones", "there"] {
            let place = self.folder.join(side);
            fs::create_dir_all(&place).expect("a folder");
            fs::write(place.join(format!("{ZONE}yaml")), &text).expect("a zone");
        }
        let provider = |name: &str| {
            let place = self.folder.join(name);
            format!(
                "  {name}:\n    class: octodns.provider.yaml.YamlProvider\n    directory: {}\n    default_ttl: 3600\n",
                place.display()
            )
        };
        let config = format!(
            "---\nmanager:\n  max_workers: 2\nproviders:\n{}{}zones:\n  {ZONE}:\n    sources: [zones]\n    targets: [there]\n",
            provider("zones"),
            provider("there")
        );
        fs::write(self.folder.join("octodns.yaml"), config).expect("a configuration");
    }

    /// octoDNS, planning the zone.
    pub fn octodns(&self) -> Command {
        let mut command = Command::new(self.folder.join("python/bin/octodns-sync"));
        command.arg("--config-file").arg(self.folder.join("octodns.yaml"));
        command
    }
}

/// Runs a command and gives what it prints, or the end of what it complains of.
fn quiet(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it failed and said nothing").to_owned())
}
