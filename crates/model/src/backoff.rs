//! The pauses between attempts.

use std::time::Duration;

/// An iterator over the pauses between attempts. Each is twice the one before, up to the longest.
#[derive(Clone, Debug)]
pub struct Backoff {
    next: Duration,
    longest: Duration,
    left: u32,
}

impl Backoff {
    /// Returns the pauses between this number of attempts.
    pub fn between(attempts: u32, first: Duration) -> Self {
        Self { next: first, longest: Duration::MAX, left: attempts.saturating_sub(1) }
    }

    /// Returns an endless sequence of pauses.
    pub fn endless(first: Duration, longest: Duration) -> Self {
        Self { next: first, longest, left: u32::MAX }
    }
}

impl Iterator for Backoff {
    type Item = Duration;

    /// Returns the next pause; `None` if there are no more attempts.
    fn next(&mut self) -> Option<Duration> {
        if self.left == 0 {
            return None;
        }
        if self.left < u32::MAX {
            self.left -= 1;
        }
        let wait = self.next.min(self.longest);
        self.next = wait.saturating_mul(2);
        Some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let seconds =
            |waits: &mut dyn Iterator<Item = Duration>| -> Vec<u64> { waits.map(|wait| wait.as_secs()).collect() };
        assert_eq!(seconds(&mut Backoff::between(4, Duration::from_secs(1))), [1, 2, 4]);
        assert!(seconds(&mut Backoff::between(1, Duration::from_secs(1))).is_empty());
        let endless = Backoff::endless(Duration::from_secs(10), Duration::from_secs(60));
        assert_eq!(seconds(&mut endless.take(6)), [10, 20, 40, 60, 60, 60]);
    }
}
