//! What many targets cost: `cargo bench --bench targets`.
//!
//! - `plans`: plans of 120 targets with 200 resources each against one plan of 24,000 resources. All of them are in sync.
//! - `applies`: the first apply of 24 such targets, one after the other against 8 at a time. The service answers after 50 ms.
//! - `connections`: how many connections 40 targets open whose ledgers are on one git server behind ssh.
//!
//! The real binary is run in turns on applications of one built-in service, so that the ratios mean the same on any machine.
//! `-- plans` runs one part, and `PUSHPLAN_TARGETS=10` takes another number of targets.

mod applications;
mod applies;
#[path = "../service/binary.rs"]
mod binary;
mod connections;
mod plans;
#[path = "../service/report.rs"]
mod report;

use std::process::ExitCode;
use std::time::Duration;

use applies::PARALLEL;
use report::{ROUNDS, Report, Sample, Target, ratios};

/// The resources of each target.
const EACH: usize = 200;
/// The resources of each target whose connections are counted.
const FEW: usize = 20;
/// How long the service takes to answer while applies are measured.
const DELAY: Duration = Duration::from_millis(50);
/// How often the parts are measured that take long.
const FEW_ROUNDS: usize = 3;

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let runs = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    let targets: Option<usize> = std::env::var("PUSHPLAN_TARGETS").ok().and_then(|number| number.parse().ok());
    let mut report = Report::default();
    if runs("plans") {
        plans(targets.unwrap_or(120), &mut report);
    }
    if runs("applies") {
        applies(targets.unwrap_or(24), &mut report);
    }
    if runs("connections") {
        connections(targets.unwrap_or(40), &mut report);
    }
    report.end()
}

fn plans(targets: usize, report: &mut Report) {
    report.line(&format!("{targets} targets with {EACH} resources each, and one with {}", targets * EACH));
    let measured = plans::measure(targets, EACH, ROUNDS);
    seconds(report, "plan of all targets", &measured.many);
    seconds(report, "plan of the one", &measured.one);
    seconds(report, "validate, all targets", &measured.validate_all);
    seconds(report, "validate, one of them", &measured.validate_one);
    report.ratio("plan of all ÷ plan of the one", &ratios(&measured.many, &measured.one), &Target::AtMost(1.3));
}

fn applies(targets: usize, report: &mut Report) {
    report.line(&format!(
        "{targets} targets with {EACH} resources each, on a service that answers after {} ms",
        DELAY.as_millis()
    ));
    let measured = applies::measure(targets, EACH, DELAY, FEW_ROUNDS);
    seconds(report, "apply, one after the other", &measured.sequential);
    seconds(report, &format!("apply, {PARALLEL} at a time"), &measured.parallel);
    let ratio = ratios(&measured.sequential, &measured.parallel);
    report.ratio(&format!("one after the other ÷ {PARALLEL} at a time"), &ratio, &Target::AtLeast(3.0));
}

fn connections(targets: usize, report: &mut Report) {
    report
        .line(&format!("{targets} targets with {FEW} resources each, and their ledgers on one git server behind ssh"));
    let Some(counted) = connections::count(targets, FEW, FEW_ROUNDS) else {
        return report.line("  not counted: sshd is not installed");
    };
    report.ratio("connections of the first plan", &Sample::new(counted.first_plan), &Target::AtMost(3.0));
    let apply = Sample::new(counted.apply.clone());
    let batches = Sample::new(counted.batches.clone());
    report.line(&format!("  connections of an apply: {}, batches of records: {}", apply.median(), batches.median()));
    report.ratio("connections of an apply ÷ batches", &ratios(&counted.apply, &counted.batches), &Target::AtMost(2.0));
    report.ratio("connections of a plan in a new clone", &Sample::new(counted.clone_plan), &Target::AtMost(3.0));
}

fn seconds(report: &Report, name: &str, times: &[f64]) {
    let times = Sample::new(times.to_vec());
    report.line(&format!("  {name:<40} {:>7.2} s", times.median()));
}
