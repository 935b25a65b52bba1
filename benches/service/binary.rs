//! The real binary, run for a measurement.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use pushplan_testing::outside_ci;

/// Runs the binary, and says how many seconds it took and what it said.
pub fn run(folder: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> (f64, String) {
    let begin = Instant::now();
    let output = outside_ci(&mut Command::new(env!("CARGO_BIN_EXE_pushplan")))
        .args(arguments)
        .current_dir(folder)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    let took = begin.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    (took, said)
}
