//! How fast the service is, as ratios that hold on any machine: each pair is measured in turns in the same run, and a ratio
//! that misses its target by more than its spread ends the run with a failure.

mod audience;
mod client;
mod durable;
mod fair;
mod memory;
mod pages;
mod report;
mod servers;

use std::process::ExitCode;

use report::Report;

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let runs = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    let mut report = Report::default();
    if runs("memory") {
        memory::run(&mut report);
    }
    if runs("durable") {
        durable::run(&mut report);
    }
    if runs("pages") {
        pages::run(&mut report);
    }
    if runs("fair") {
        fair::run(&mut report);
    }
    if runs("audience") {
        audience::run(&mut report);
    }
    report.end()
}
