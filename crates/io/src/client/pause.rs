//! A shared pause: if the service is busy for one request, all of them wait.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The time until which nothing is sent.
#[derive(Debug, Default)]
pub struct Pause(Mutex<Option<Instant>>);

impl Pause {
    /// Extends the pause to at least this duration from now.
    pub fn extend(&self, wait: Duration) {
        let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *until = (*until).max(Some(Instant::now() + wait));
    }

    /// Returns once the pause is over, even if it is extended while waiting.
    pub async fn over(&self) {
        loop {
            let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match until.filter(|until| *until > Instant::now()) {
                Some(until) => tokio::time::sleep_until(until).await,
                None => return,
            }
        }
    }
}

/// Returns a random duration between half of `wait` and `wait`, so that requests that failed together are not retried
/// together.
pub(crate) fn jittered(wait: Duration) -> Duration {
    // The random bits of an id are good enough.
    let (_, random) = uuid::Uuid::new_v4().as_u64_pair();
    wait / 2 + wait.mul_f64((random & 0xffff) as f64 / f64::from(0x1_0000)) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_spread_and_never_longer_than_said() {
        let waits: Vec<Duration> = (0..100).map(|_| jittered(Duration::from_secs(4))).collect();
        assert!(waits.iter().all(|wait| (2.0..=4.0).contains(&wait.as_secs_f64())), "{waits:?}");
        assert!(waits.iter().any(|wait| wait != &waits[0]));
    }

    #[tokio::test]
    async fn a_pause_that_is_extended_is_waited_for_to_its_new_end() {
        let (pause, start) = (Pause::default(), Instant::now());
        pause.over().await;
        pause.extend(Duration::from_millis(50));
        tokio::join!(pause.over(), async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            pause.extend(Duration::from_millis(140));
            pause.extend(Duration::from_millis(10));
        });
        assert!(start.elapsed() >= Duration::from_millis(150), "{:?}", start.elapsed());
    }
}
