//! How many steps are intended before their turn comes.
//!
//! An intent has to be durable before its request leaves. If a record takes long to write, many intents go into it, so
//! that those who send always have something to send; if it takes no time, few do, so that little is unconfirmed after
//! a crash.

use std::time::Duration;

/// How many are intended ahead at least, so that a few appends do for many steps.
const LEAST: usize = 128;
/// How many at most.
const MOST: usize = 4096;
/// How many before anything is known of how fast the service is.
const FIRST: usize = 1024;
/// A request takes at least so long.
const QUICK: Duration = Duration::from_millis(1);
/// How much is added at a time at most.
const GROWTH: u32 = 16;

/// What is measured of those who write and those who send, by the clock that counts.
#[derive(Clone, Debug)]
pub struct Pace {
    steps: usize,
    /// More could have been intended.
    is_full: bool,
    /// When intents last became durable.
    since: Option<Duration>,
    /// Since when a worker has nothing to send.
    dry: Option<Duration>,
    /// Something was not sent in time since intents last became durable.
    late: bool,
}

impl Pace {
    pub fn new() -> Self {
        Self { steps: LEAST, is_full: false, since: None, dry: None, late: false }
    }

    pub fn steps(&self) -> usize {
        self.steps
    }

    pub fn full(&mut self, is_full: bool) {
        self.is_full = is_full;
    }

    /// The first append took so long. Intents and outcomes take turns, so that the next intents come after two of them.
    pub fn begun(&mut self, took: Duration, senders: usize) {
        let turns = (took * 2).as_micros() / QUICK.as_micros();
        let steps = usize::try_from(turns).unwrap_or(FIRST).saturating_mul(senders);
        self.steps = steps.clamp(LEAST, FIRST);
    }

    /// Whether a worker has nothing to send now.
    pub(crate) fn senders(&mut self, are_dry: bool, now: Duration) {
        if are_dry && self.since.is_some() {
            self.dry.get_or_insert(now);
        }
    }

    /// An intent has waited for too long to be sent: there are too many.
    pub fn late(&mut self) {
        if !self.late {
            self.late = true;
            self.steps = (self.steps / 2).max(LEAST);
        }
    }

    /// Intents are durable, while so many others have not been sent yet.
    pub fn durable(&mut self, left: usize, now: Duration) {
        let cycle = self.since.map(|since| now.saturating_sub(since)).unwrap_or_default();
        let idle = self.dry.map(|dry| now.saturating_sub(dry)).unwrap_or_default();
        if !self.late && self.is_full && idle * 8 > cycle {
            let busy = cycle.saturating_sub(idle).max(QUICK);
            let factor = u32::try_from(cycle.as_micros().div_ceil(busy.as_micros())).unwrap_or(GROWTH);
            self.steps = self.steps.saturating_mul(factor.clamp(2, GROWTH) as usize).min(MOST);
        } else if idle.is_zero() && left > self.steps / 2 {
            self.steps = (self.steps / 4 * 3).max(LEAST);
        }
        (self.since, self.dry, self.late) = (Some(now), None, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    #[test]
    fn a_slow_store_gets_more_at_a_time_and_a_fast_one_few() {
        let mut ahead = Pace::new();
        ahead.begun(ms(2), 8);
        assert_eq!(ahead.steps(), 128);
        ahead.begun(ms(100), 8);
        assert_eq!(ahead.steps(), 1024);
        let mut ahead = Pace::new();
        ahead.durable(0, ms(0));
        ahead.full(true);
        ahead.senders(true, ms(50));
        ahead.durable(0, ms(200));
        assert_eq!(ahead.steps(), 512, "they were busy for a quarter of the time");
        ahead.durable(400, ms(201));
        assert_eq!(ahead.steps(), 384, "there is more than enough");
        for time in 202..300 {
            ahead.durable(400, ms(time));
        }
        assert_eq!(ahead.steps(), 128);
    }

    #[test]
    fn what_does_not_leave_in_time_makes_it_fewer() {
        let mut ahead = Pace::new();
        ahead.begun(ms(100), 8);
        (0..500).for_each(|_| ahead.late());
        assert_eq!(ahead.steps(), 512, "many that came too late together are one sign");
        ahead.durable(0, ms(60_000));
        ahead.late();
        assert_eq!(ahead.steps(), 256);
    }

    #[test]
    fn nothing_grows_while_there_is_nothing_more_to_intend() {
        let mut ahead = Pace::new();
        ahead.durable(0, ms(0));
        ahead.senders(true, ms(1));
        ahead.durable(0, ms(200));
        assert_eq!(ahead.steps(), 128);
    }
}
