//! How long the program takes to start, against an empty one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{installed, pushplan, timed};
use crate::project::{self, KINDS, Layout, Wording};
use crate::report::Sample;

/// How often each is started in a round.
const TIMES: usize = 21;

/// An empty program, and a project of one file.
pub struct Startup {
    empty: PathBuf,
    project: PathBuf,
}

/// The median seconds of a round.
pub struct Started {
    pub empty: f64,
    pub version: f64,
    pub validate: f64,
}

impl Startup {
    pub fn prepare(folder: &Path) -> Self {
        let (source, empty, project) = (folder.join("empty.rs"), folder.join("empty"), folder.join("started"));
        fs::write(&source, "fn main() {}\n").expect("a source");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        timed(Command::new(rustc).arg("-O").arg("-o").arg(&empty).arg(&source)).well("rustc");
        let empty = installed(&empty);
        project::write(&project, "[targets.local]\n", Wording { resources: KINDS, layout: Layout::One, before: false });
        Self { empty, project }
    }

    /// All in turns.
    pub fn round(&self) -> Started {
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..TIMES {
            times[0].push(timed(&mut Command::new(&self.empty)).well("an empty program").seconds);
            let version = timed(pushplan().arg("--version")).well("--version").saying("--version", "pushplan");
            times[1].push(version.seconds);
            times[2].push(timed(pushplan().arg("validate").current_dir(&self.project)).well("validate").seconds);
        }
        let [empty, version, validate] = times.map(|times| Sample::new(times).median());
        Started { empty, version, validate }
    }
}
