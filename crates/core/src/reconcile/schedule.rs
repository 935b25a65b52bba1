//! The start of the next round.

use std::time::Duration;

/// The longest wait after failures, unless the interval is longer.
const LONGEST: Duration = Duration::from_secs(3600);
/// The longest wait after failures, in intervals.
const MOST_INTERVALS: u32 = 8;

/// Rounds at an interval, which is longer after failures.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    every: Duration,
    seed: u64,
}

impl Schedule {
    /// Creates a schedule. `seed` spreads the waits after failures, so that processes that failed together do not retry
    /// together.
    pub fn new(every: Duration, seed: u64) -> Self {
        Self { every: every.max(Duration::from_millis(1)), seed }
    }

    /// The longest wait.
    pub fn limit(&self) -> Duration {
        self.every.max(self.every.saturating_mul(MOST_INTERVALS).min(LONGEST))
    }

    /// The time from the end of a round to the start of the next one. `took` is the duration of the round, and
    /// `failures` the number of consecutive failures up to it.
    ///
    /// Rounds start at multiples of their interval: a round that takes longer skips some. After failures, the wait
    /// doubles up to a limit, minus a random part of up to a quarter.
    pub fn wait(&self, round: u64, took: Duration, failures: u32) -> Duration {
        if failures == 0 {
            let into = Duration::from_nanos_u128(took.as_nanos() % self.every.as_nanos());
            return self.every - into;
        }
        let doubled = self.every.saturating_mul(1 << failures.min(16));
        let wait = doubled.min(self.limit());
        let part = (scatter(self.seed.wrapping_add(round)) >> 40) as f64 / f64::from(1 << 24);
        wait - (wait / 4).mul_f64(part)
    }
}

/// A pseudo-random number from a seed.
fn scatter(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn rounds_keep_to_the_beat_of_their_interval() {
        let schedule = Schedule::new(5 * MINUTE, 1);
        assert_eq!(schedule.wait(1, seconds(0), 0), 5 * MINUTE);
        assert_eq!(schedule.wait(2, seconds(20), 0), seconds(280));
        assert_eq!(schedule.wait(3, seconds(310), 0), seconds(290), "a beat is left out");
        assert_eq!(schedule.wait(4, 5 * MINUTE, 0), 5 * MINUTE);
    }

    #[test]
    fn each_failure_doubles_the_wait_up_to_a_limit() {
        let schedule = Schedule::new(5 * MINUTE, 7);
        for (failures, whole) in [(1, 10), (2, 20), (3, 40), (4, 40), (400, 40)] {
            let wait = schedule.wait(9, seconds(3), failures);
            assert!(wait <= whole * MINUTE && wait > whole * MINUTE * 3 / 4, "{failures}: {wait:?}");
        }
        let rare = Schedule::new(24 * 60 * MINUTE, 7);
        assert_eq!(rare.limit(), 24 * 60 * MINUTE, "a wait is never shorter for a failure");
        assert_eq!(Schedule::new(30 * MINUTE, 7).limit(), 60 * MINUTE);
    }

    #[test]
    fn a_seed_decides_how_waits_are_spread() {
        let waits = |seed| -> Vec<Duration> {
            (0..20).map(|round| Schedule::new(MINUTE, seed).wait(round, seconds(0), 3)).collect()
        };
        assert_eq!(waits(1), waits(1));
        assert_ne!(waits(1), waits(2));
        let mut spread = waits(1);
        spread.sort();
        spread.dedup();
        assert_eq!(spread.len(), 20, "{spread:?}");
    }
}
