//! How many steps are intended ahead of their turn.
//!
//! An intent has to be durable before its request leaves. If appends are slow, a record has many intents, so that
//! requests never wait for one; if they are fast, a record has few, so that little is unconfirmed after a crash.

use std::time::Duration;

/// The minimum of steps that are intended ahead, so that one append covers many steps.
const LEAST: usize = 128;
/// The maximum.
const MOST: usize = 4096;
/// The maximum before the speed of the service is known.
const FIRST: usize = 1024;
/// The minimal duration of a request.
const QUICK: Duration = Duration::from_millis(1);
/// The largest growth in one adjustment.
const GROWTH: u32 = 16;

/// Measurements of appends and requests, by the boot clock.
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

    /// Notes the duration of the first append. Intents and outcomes take turns, so the next intents come after two
    /// appends.
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

    /// Notes that an intent waited too long to be sent: there are too many.
    pub fn late(&mut self) {
        if !self.late {
            self.late = true;
            self.steps = (self.steps / 2).max(LEAST);
        }
    }

    /// Notes that intents became durable while `left` earlier ones were not yet sent.
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
