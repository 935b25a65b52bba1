//! Records that are about to be pushed. A push waits a moment for them, so that one connection carries all of them.
//!
//! Waiting costs at most as much as the connection that it may save, and a target that others waited for in vain is not
//! awaited again before its next record.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// A push waits at least this long, because several records may be written here at the same time.
const LEAST: Duration = Duration::from_millis(200);
/// A push never waits longer than this, because requests have to be sent soon after their intents were made.
const MOST: Duration = Duration::from_secs(1);

/// The targets that will push soon.
#[derive(Debug, Default)]
pub(super) struct Expected {
    targets: Mutex<BTreeMap<String, Pushing>>,
    /// How long the last connection took.
    took: Mutex<Duration>,
    changed: Notify,
}

/// What is known about the pushes of a target.
#[derive(Debug, Default)]
struct Pushing {
    /// The number of runs, and of records that are being written here.
    announced: usize,
    /// The number of pushes that wait for a connection or have it.
    queued: usize,
    /// Others waited for it in vain.
    is_late: bool,
}

impl Pushing {
    fn is_awaited(&self) -> bool {
        self.announced > 0 && self.queued == 0 && !self.is_late
    }
}

/// A push that waits for a connection or has it, until it is dropped.
#[derive(Debug)]
pub(super) struct Queued(Arc<Expected>, String);

impl Drop for Queued {
    fn drop(&mut self) {
        self.0.update(&self.1, |pushing| pushing.queued -= 1);
    }
}

impl Expected {
    /// Announces that a target will push.
    pub fn announce(&self, target: &str) {
        self.update(target, |pushing| {
            pushing.announced += 1;
            pushing.is_late = false;
        });
    }

    /// Takes back an announcement.
    pub fn withdraw(&self, target: &str) {
        self.update(target, |pushing| pushing.announced = pushing.announced.saturating_sub(1));
    }

    /// Notes that a push of a target waits for a connection: nobody waits for the target until the push is answered.
    pub fn queue(self: &Arc<Self>, target: &str) -> Queued {
        self.update(target, |pushing| {
            pushing.queued += 1;
            pushing.is_late = false;
        });
        Queued(self.clone(), target.to_owned())
    }

    /// Notes how long a connection took.
    pub fn took(&self, time: Duration) {
        *self.took.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }

    /// Waits until all targets that were announced have queued their pushes, but not for long.
    pub async fn gathered(&self) {
        let all = async {
            loop {
                let changed = self.changed.notified();
                if !self.targets().values().any(Pushing::is_awaited) {
                    return;
                }
                changed.await;
            }
        };
        let took = *self.took.lock().unwrap_or_else(PoisonError::into_inner);
        if tokio::time::timeout(took.clamp(LEAST, MOST), all).await.is_err() {
            self.targets()
                .values_mut()
                .filter(|pushing| pushing.is_awaited())
                .for_each(|pushing| pushing.is_late = true);
        }
    }

    fn update(&self, target: &str, change: impl FnOnce(&mut Pushing)) {
        let mut targets = self.targets();
        let pushing = targets.entry(target.to_owned()).or_default();
        change(pushing);
        if pushing.announced + pushing.queued == 0 {
            targets.remove(target);
        }
        drop(targets);
        self.changed.notify_waiters();
    }

    fn targets(&self) -> MutexGuard<'_, BTreeMap<String, Pushing>> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a push would begin now.
    async fn is_gathered(expected: &Expected) -> bool {
        tokio::select! {
            biased;
            () = expected.gathered() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn a_push_waits_for_every_announced_target_until_its_push_is_queued() {
        let expected = Arc::new(Expected::default());
        assert!(is_gathered(&expected).await, "nobody is announced");
        ["a", "b"].iter().for_each(|target| expected.announce(target));
        let own = expected.queue("a");
        assert!(!is_gathered(&expected).await, "b is announced");
        let other = expected.queue("b");
        assert!(is_gathered(&expected).await, "all of them are queued");
        drop((own, other));
        let own = expected.queue("a");
        assert!(!is_gathered(&expected).await, "b will push again");
        expected.withdraw("b");
        assert!(is_gathered(&expected).await, "b has ended");
        drop(own);
        expected.withdraw("a");
        assert!(expected.targets().is_empty());
    }

    #[tokio::test]
    async fn a_late_target_is_awaited_once_and_again_from_its_next_record_on() {
        let expected = Arc::new(Expected::default());
        ["a", "b"].iter().for_each(|target| expected.announce(target));
        let own = expected.queue("a");
        expected.gathered().await;
        assert!(is_gathered(&expected).await, "b was late");
        drop(own);
        drop(expected.queue("b"));
        let _own = expected.queue("a");
        assert!(!is_gathered(&expected).await, "b was in time");
    }

    #[tokio::test]
    async fn a_push_that_waits_begins_as_soon_as_the_last_one_is_queued() {
        let expected = Arc::new(Expected::default());
        ["a", "b"].iter().for_each(|target| expected.announce(target));
        let _own = expected.queue("a");
        expected.took(MOST);
        let other = async {
            tokio::task::yield_now().await;
            expected.queue("b")
        };
        let ((), _other) = tokio::join!(expected.gathered(), other);
        assert!(expected.targets().values().all(|pushing| !pushing.is_late));
    }
}
