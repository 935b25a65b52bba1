//! Counters and health of a reconcile.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use pushplan_ledger::Verb;

use super::{RoundOutcome, Standing};

/// The number of intervals for which a success counts as recent.
const FRESH: u32 = 3;

/// The counters since the start.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    pub last_success: Option<Timestamp>,
    /// When a round last did everything that it could: it succeeded, or waited for another user's apply.
    pub last_fine: Option<Timestamp>,
    /// The last round.
    pub last: Option<(Timestamp, RoundOutcome)>,
    /// How many consecutive rounds have failed.
    pub failures: u32,
    /// The state of each target when it was last planned.
    pub targets: BTreeMap<String, Counts>,
    pub runs: BTreeMap<RoundOutcome, u64>,
    /// Steps by action, and whether they were done.
    pub steps: BTreeMap<(&'static str, bool), u64>,
    /// The duration of requests to the service, by method.
    pub requests: BTreeMap<&'static str, Histogram>,
    pub posted: u64,
    pub not_posted: u64,
}

/// The state of a target, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub drift: usize,
    /// How many of them were caused by a change on the service.
    pub edited: usize,
    /// How many guards refuse to apply the plan.
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
    /// No round has succeeded yet.
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

/// The action of a step that is not reported to users: it only updates the ledger.
const REFRESH: &str = "refresh";

/// The action of a step, for machine-readable output. `is_news`: whether the plan shows it as a change.
pub fn action(verb: Verb, is_news: bool) -> &'static str {
    match ACTIONS.iter().find(|(other, _)| *other == verb) {
        Some((_, word)) if is_news => word,
        _ => REFRESH,
    }
}

/// The actions of steps, for machine-readable output.
pub(super) const ACTIONS: [(Verb, &str); 6] = [
    (Verb::Create, "create"),
    (Verb::Update, "update"),
    (Verb::Delete, "delete"),
    (Verb::Adopt, "adopt"),
    (Verb::Forget, "forget"),
    (Verb::Move, "move"),
];

impl Metrics {
    /// Starts all known counters at zero, so that monitoring sees the rise to one.
    pub fn new() -> Self {
        let words = ACTIONS.iter().map(|(_, word)| *word).chain([REFRESH]);
        let steps = words.flat_map(|word| [((word, true), 0), ((word, false), 0)]).collect();
        Self { runs: RoundOutcome::ALL.map(|outcome| (outcome, 0)).into(), steps, ..Self::default() }
    }

    /// Counts a round that has ended.
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
            // The service was not read, so earlier failures still count.
            RoundOutcome::Held | RoundOutcome::Stopped => {}
            _ => self.failures = 0,
        }
    }

    /// Counts a step, by its [`action`].
    pub fn step(&mut self, action: &'static str, is_done: bool) {
        *self.steps.entry((action, is_done)).or_default() += 1;
    }

    pub fn request(&mut self, method: &'static str, took: Duration) {
        self.requests.entry(method).or_default().observe(took);
    }

    /// Whether a round did everything that it could within the last three intervals.
    pub fn health(&self, every: Duration, now: Timestamp) -> Health {
        let Some(last) = self.last_fine else { return Health::Starting };
        let age = Duration::try_from(now.duration_since(last)).unwrap_or_default();
        if age < every.saturating_mul(FRESH) { Health::Fine } else { Health::Stale }
    }
}

/// The upper bounds of the buckets, in seconds. A request times out after thirty.
pub(super) const BOUNDS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// The distribution of durations.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// The count of each bucket, not cumulative.
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

    /// The number of durations up to each bound.
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
