//! What is left of a run: the results as a page, as data, and as a picture.

mod json;
mod page;
mod svg;

use std::fs;
use std::path::Path;
use std::process::Command;

use jiff::Timestamp;

use crate::options::Options;
use crate::requests::Requests;
use crate::rounds::Measured;
use crate::simulate::cores;
use crate::table::Row;

/// Where and when it was measured, and of what.
#[derive(Clone, Debug)]
pub struct About {
    pub cores: usize,
    pub processor: String,
    pub date: String,
    pub commit: String,
    /// What the peers run on, or why there are none.
    pub peers: String,
    pub minutes: f64,
}

impl About {
    pub fn new(peers: String, minutes: f64) -> Self {
        let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = information.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
        Self {
            cores: cores(),
            processor: model.unwrap_or("an unknown processor").trim().to_owned(),
            date: Timestamp::now().strftime("%Y-%m-%d").to_string(),
            commit: commit(),
            peers,
            minutes,
        }
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What was built: results that are written again are no change of it.
fn commit() -> String {
    let Some(name) = git(&["rev-parse", "--short=10", "HEAD"]) else { return "an unknown commit".to_owned() };
    let built = ["src", "crates", "benches/speed", "tests/simulation", "Cargo.toml", "Cargo.lock"];
    let changed = git(&[&["status", "--porcelain", "--"], &built[..]].concat()).is_none_or(|lines| !lines.is_empty());
    if changed { format!("{name} and what was not committed yet") } else { name }
}

/// All that was found.
pub struct Found<'f> {
    pub about: About,
    pub options: &'f Options,
    pub measured: &'f Measured,
    pub requests: &'f Requests,
    pub rows: &'f [Row],
}

/// Writes `results.json` and `results.svg` into a folder, and `RESULTS.md` beside them.
pub fn write(folder: &Path, found: &Found) {
    let put = |name: &str, text: &str| fs::write(folder.join(name), text).expect("results can be written");
    put("results.json", &json::text(found));
    put("results.svg", &svg::plot(found.measured, &found.options.sizes));
    put("RESULTS.md", &page::markdown(found));
}
