//! Plans of many targets against a plan of one target with as many resources.

use std::time::Duration;

use super::applications::{Applications, names};

/// The seconds of each round.
#[derive(Debug, Default)]
pub struct PlanTimes {
    pub many: Vec<f64>,
    pub one: Vec<f64>,
    pub validate_all: Vec<f64>,
    pub validate_one: Vec<f64>,
}

/// Measures plans of targets with `each` resources, which are all in sync.
pub fn measure(targets: usize, each: usize, rounds: usize) -> PlanTimes {
    let (names, one) = (names(targets), "one".to_owned());
    let applications = Applications::start(&[&names[..], std::slice::from_ref(&one)].concat(), Duration::ZERO);
    let many = applications.project("many", &names, "file:", each);
    let single = applications.project("one", &[one], "file:", targets * each);
    let concurrency = ["--yes", "--concurrency", "64"];
    applications.run(&many, &[&["apply", "--all-targets"], &concurrency[..]].concat());
    applications.run(&single, &[&["apply"], &concurrency[..]].concat());
    let all = format!("{targets} targets, none with changes.");
    let mut times = PlanTimes::default();
    for _ in 0..rounds {
        times.many.push(applications.timed(&many, &["plan", "--all-targets"], &all));
        times.one.push(applications.timed(&single, &["plan"], "No changes."));
        times.validate_all.push(applications.timed(&many, &["validate"], ""));
        times.validate_one.push(applications.timed(&many, &["validate", "--target", &names[0]], ""));
    }
    times
}
