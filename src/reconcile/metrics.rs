//! What is counted, and whether that is healthy.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::{Outcome, Standing};
use crate::ledger::Verb;

/// How many intervals a success counts for.
const FRESH: u32 = 3;

/// Everything that is counted since the start.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    pub last_success: Option<Timestamp>,
    /// The last round of all.
    pub last: Option<(Timestamp, Outcome)>,
    /// How many rounds in a row have failed.
    pub failures: u32,
    /// How each target stood when it was last looked at.
    pub targets: BTreeMap<String, Counts>,
    pub runs: BTreeMap<Outcome, u64>,
    /// Steps by what they do, and whether they were done.
    pub steps: BTreeMap<(&'static str, bool), u64>,
    /// How long requests to the service took, by their method.
    pub requests: BTreeMap<&'static str, Histogram>,
    pub posted: u64,
    pub not_posted: u64,
}

/// How a target stands, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub drift: usize,
    /// Those of them that are somebody's doing on the service.
    pub edited: usize,
    /// How many guards refuse to make it so.
    pub refused: usize,
}

impl From<&Standing> for Counts {
    fn from(standing: &Standing) -> Self {
        Self { drift: standing.items.len(), edited: standing.edited(), refused: standing.refused.len() }
    }
}

/// Whether rounds succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    Fine,
    /// None has succeeded yet.
    Starting,
    /// The last success is too long ago.
    Stale,
}

impl Health {
    pub fn word(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Starting => "starting",
            Self::Stale => "stale",
        }
    }
}

/// What a step does, as programs know it.
pub(super) const ACTIONS: [(Verb, &str); 6] = [
    (Verb::Create, "create"),
    (Verb::Update, "update"),
    (Verb::Delete, "delete"),
    (Verb::Adopt, "adopt"),
    (Verb::Forget, "forget"),
    (Verb::Move, "move"),
];

impl Metrics {
    /// Nothing has happened yet; what can happen is known, so that a rise from none to one is seen.
    pub fn new() -> Self {
        let steps = ACTIONS.iter().flat_map(|(_, word)| [((*word, true), 0), ((*word, false), 0)]).collect();
        Self { runs: Outcome::ALL.map(|outcome| (outcome, 0)).into(), steps, ..Self::default() }
    }

    /// A round has ended.
    pub fn ended(&mut self, outcome: Outcome, now: Timestamp) {
        *self.runs.entry(outcome).or_default() += 1;
        self.last = Some((now, outcome));
        if outcome.is_success() {
            self.last_success = Some(now);
        }
        match outcome {
            _ if outcome.is_failure() => self.failures = self.failures.saturating_add(1),
            // Nobody looked, so that nothing is known of what failed before.
            Outcome::Held | Outcome::Stopped => {}
            _ => self.failures = 0,
        }
    }

    pub fn step(&mut self, verb: Verb, is_done: bool) {
        let word = ACTIONS.iter().find(|(other, _)| *other == verb).map_or("other", |(_, word)| *word);
        *self.steps.entry((word, is_done)).or_default() += 1;
    }

    pub fn request(&mut self, method: &'static str, took: Duration) {
        self.requests.entry(method).or_default().observe(took);
    }

    /// Whether the last success is younger than three intervals.
    pub fn health(&self, every: Duration, now: Timestamp) -> Health {
        let Some(last) = self.last_success else { return Health::Starting };
        let age = Duration::try_from(now.duration_since(last)).unwrap_or_default();
        if age < every.saturating_mul(FRESH) { Health::Fine } else { Health::Stale }
    }
}

/// The upper ends of the buckets, in seconds. A request is given up after thirty.
pub(super) const BOUNDS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// How long things took.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// By bucket, each for itself.
    within: [u64; BOUNDS.len()],
    pub count: u64,
    pub sum: Duration,
}

impl Histogram {
    pub fn observe(&mut self, took: Duration) {
        self.count += 1;
        self.sum = self.sum.saturating_add(took);
        if let Some(bucket) = BOUNDS.iter().position(|end| took.as_secs_f64() <= *end) {
            self.within[bucket] += 1;
        }
    }

    /// How many took at most so many seconds, for each bound.
    pub fn up_to(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut sum = 0;
        BOUNDS.iter().zip(self.within).map(move |(end, count)| {
            sum += count;
            (*end, sum)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).expect("a time")
    }

    #[test]
    fn a_success_is_healthy_for_three_intervals() {
        let every = Duration::from_secs(60);
        let mut metrics = Metrics::new();
        assert_eq!(metrics.health(every, at(0)), Health::Starting);
        metrics.ended(Outcome::Failed, at(0));
        assert_eq!(metrics.health(every, at(0)), Health::Starting);
        metrics.ended(Outcome::Drift, at(1));
        assert_eq!(metrics.health(every, at(180)), Health::Fine);
        assert_eq!(metrics.health(every, at(181)), Health::Stale);
        assert_eq!(metrics.health(every, at(-50)), Health::Fine, "a clock may be set back");
        for outcome in [Outcome::Failed, Outcome::Partly, Outcome::Invalid, Outcome::Held, Outcome::Stopped] {
            metrics.ended(outcome, at(500));
        }
        assert_eq!(metrics.last_success, Some(at(1)));
    }

    #[test]
    fn failures_in_a_row_are_counted_until_something_succeeds() {
        let mut metrics = Metrics::new();
        for outcome in [Outcome::Failed, Outcome::Held, Outcome::Partly] {
            metrics.ended(outcome, at(0));
        }
        assert_eq!(metrics.failures, 2);
        metrics.ended(Outcome::Invalid, at(1));
        assert_eq!(metrics.failures, 0, "the manifests are read again soon");
        assert_eq!(metrics.runs.values().sum::<u64>(), 4);
    }

    #[test]
    fn every_action_of_a_step_has_a_word() {
        let mut metrics = Metrics::new();
        for (verb, _) in ACTIONS {
            metrics.step(verb, true);
        }
        assert!(metrics.steps.iter().all(|((word, done), count)| *word != "other" && *count == u64::from(*done)));
    }

    #[test]
    fn buckets_hold_all_that_took_no_longer() {
        let mut histogram = Histogram::default();
        for millis in [5, 6, 90, 400_000] {
            histogram.observe(Duration::from_millis(millis));
        }
        let up_to: Vec<(f64, u64)> = histogram.up_to().collect();
        assert_eq!(&up_to[..5], [(0.005, 1), (0.01, 2), (0.025, 2), (0.05, 2), (0.1, 3)]);
        assert_eq!((up_to[11], histogram.count), ((30.0, 3), 4));
        assert_eq!(histogram.sum, Duration::from_millis(400_101));
    }
}
