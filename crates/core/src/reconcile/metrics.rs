//! What is counted, and whether that is healthy.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use pushplan_ledger::Verb;

use super::{RoundOutcome, Standing};

/// How many intervals a success counts for.
const FRESH: u32 = 3;

/// Everything that is counted since the start.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    pub last_success: Option<Timestamp>,
    /// When a round last did all that it could: it succeeded, or another user was at work.
    pub last_fine: Option<Timestamp>,
    /// The last round of all.
    pub last: Option<(Timestamp, RoundOutcome)>,
    /// How many rounds in a row have failed.
    pub failures: u32,
    /// How each target stood when it was last looked at.
    pub targets: BTreeMap<String, Counts>,
    pub runs: BTreeMap<RoundOutcome, u64>,
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
    /// Those of them that are someone's doing on the service.
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
    /// None has done what it could yet.
    Starting,
    /// The last that did is too long ago.
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

/// What a step is that people are told nothing of: the ledger takes note of how something is by now.
const REFRESH: &str = "refresh";

/// What a step does, as programs know it. `is_news`: whether the plan shows it as a change.
pub fn action(verb: Verb, is_news: bool) -> &'static str {
    match ACTIONS.iter().find(|(other, _)| *other == verb) {
        Some((_, word)) if is_news => word,
        _ => REFRESH,
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
        let words = ACTIONS.iter().map(|(_, word)| *word).chain([REFRESH]);
        let steps = words.flat_map(|word| [((word, true), 0), ((word, false), 0)]).collect();
        Self { runs: RoundOutcome::ALL.map(|outcome| (outcome, 0)).into(), steps, ..Self::default() }
    }

    /// A round has ended.
    pub fn ended(&mut self, outcome: RoundOutcome, now: Timestamp) {
        *self.runs.entry(outcome).or_default() += 1;
        self.last = Some((now, outcome));
        if outcome.is_success() {
            self.last_success = Some(now);
        }
        if outcome.is_fine() {
            self.last_fine = Some(now);
        }
        match outcome {
            _ if outcome.is_failure() => self.failures = self.failures.saturating_add(1),
            // Nobody looked, so nothing is known of what failed before.
            RoundOutcome::Held | RoundOutcome::Stopped => {}
            _ => self.failures = 0,
        }
    }

    /// A step was taken, with what [`action`] calls it.
    pub fn step(&mut self, action: &'static str, is_done: bool) {
        *self.steps.entry((action, is_done)).or_default() += 1;
    }

    pub fn request(&mut self, method: &'static str, took: Duration) {
        self.requests.entry(method).or_default().observe(took);
    }

    /// Whether a round did all that it could within the last three intervals.
    pub fn health(&self, every: Duration, now: Timestamp) -> Health {
        let Some(last) = self.last_fine else { return Health::Starting };
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
        metrics.ended(RoundOutcome::Failed, at(0));
        assert_eq!(metrics.health(every, at(0)), Health::Starting);
        metrics.ended(RoundOutcome::Drift, at(1));
        assert_eq!(metrics.health(every, at(180)), Health::Fine);
        assert_eq!(metrics.health(every, at(181)), Health::Stale);
        assert_eq!(metrics.health(every, at(-50)), Health::Fine, "a clock may be set back");
        for outcome in [
            RoundOutcome::Failed,
            RoundOutcome::Partly,
            RoundOutcome::Invalid,
            RoundOutcome::Held,
            RoundOutcome::Stopped,
        ] {
            metrics.ended(outcome, at(500));
        }
        assert_eq!(metrics.last_success, Some(at(1)));
    }

    #[test]
    fn a_round_that_finds_somebody_at_work_is_healthy_and_no_success() {
        let every = Duration::from_secs(60);
        let mut metrics = Metrics::new();
        metrics.ended(RoundOutcome::Held, at(0));
        assert_eq!(metrics.health(every, at(1)), Health::Fine);
        metrics.ended(RoundOutcome::InSync, at(60));
        (2..20).for_each(|round| metrics.ended(RoundOutcome::Held, at(60 * round)));
        assert_eq!(metrics.health(every, at(60 * 20)), Health::Fine, "somebody's apply takes long");
        assert_eq!(metrics.last_success, Some(at(60)));
        metrics.ended(RoundOutcome::Failed, at(60 * 22));
        assert_eq!(metrics.health(every, at(60 * 23)), Health::Stale);
    }

    #[test]
    fn failures_in_a_row_are_counted_until_something_succeeds() {
        let mut metrics = Metrics::new();
        for outcome in [RoundOutcome::Failed, RoundOutcome::Held, RoundOutcome::Partly] {
            metrics.ended(outcome, at(0));
        }
        assert_eq!(metrics.failures, 2);
        metrics.ended(RoundOutcome::Invalid, at(1));
        assert_eq!(metrics.failures, 0, "the manifests are read again soon");
        assert_eq!(metrics.runs.values().sum::<u64>(), 4);
    }

    #[test]
    fn every_action_of_a_step_has_a_word() {
        let mut metrics = Metrics::new();
        for (verb, word) in ACTIONS {
            assert_eq!((action(verb, true), action(verb, false)), (word, REFRESH));
            metrics.step(word, true);
        }
        metrics.step(REFRESH, true);
        assert!(metrics.steps.iter().all(|((_, done), count)| *count == u64::from(*done)));
        assert_eq!(metrics.steps.len(), 2 * (ACTIONS.len() + 1));
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
