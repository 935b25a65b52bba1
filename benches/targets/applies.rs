//! Applies of many targets, one after the other and several at a time.

use std::time::Duration;

use super::applications::{Applications, names};

/// The number of targets that are applied at the same time: as many as by default.
pub const PARALLEL: usize = 8;

/// The seconds of each round.
#[derive(Debug, Default)]
pub struct ApplyTimes {
    pub sequential: Vec<f64>,
    pub parallel: Vec<f64>,
}

/// Measures the first apply of targets with `each` resources. Each apply has a new service, which answers after a delay.
pub fn measure(targets: usize, each: usize, delay: Duration, rounds: usize) -> ApplyTimes {
    let names = names(targets);
    let apply = |parallel: usize| {
        let applications = Applications::start(&names, delay);
        let project = applications.project("project", &names, "file:", each);
        let arguments = ["apply", "--all-targets", "--yes", "--parallel", &parallel.to_string()];
        applications.timed(&project, &arguments, &format!("{targets} targets: {targets} applied."))
    };
    let mut times = ApplyTimes::default();
    for _ in 0..rounds {
        times.sequential.push(apply(1));
        times.parallel.push(apply(PARALLEL));
    }
    times
}
