//! Prefetching: the ledger and the service's lists are read while the manifests are read.
//!
//! It only saves time. In any unusual case it returns nothing, and the plan reads everything itself and reports the
//! problem.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::{Ledger, Position, Settling};
use pushplan_model::kinds::KINDS;
use pushplan_project::manifest::Project;
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, JoinSet};

use super::{same_app, settle_of};
use crate::engine::target::{self, Opened};
use crate::engine::{Location, actor, ledger};
use crate::fetch::{list, seek};
use crate::live::{People, PrefetchedLists};

/// A running prefetch.
#[derive(Debug)]
pub struct Prefetch(JoinHandle<Option<Prefetched>>);

/// The result of a prefetch.
#[derive(Debug)]
pub struct Prefetched {
    pub opened: Opened,
    pub state: PrefetchedState,
}

/// Data that a plan need not read again. The ledger was read before the lists, so they contain at least its resources.
#[derive(Debug, Default)]
pub struct PrefetchedState {
    pub remembered: Option<(Ledger, Position)>,
    pub lists: PrefetchedLists,
}

impl Prefetch {
    /// Starts a prefetch, if the service is already running.
    pub fn start(location: &Location, runtime: &Handle) -> Option<Self> {
        let (root, name) = (location.root().ok()?, location.target.clone());
        // An error in the project file may hide the pinned application.
        let project = Project::open_sound(&root)?;
        let look = async move {
            let (name, target) = target::choose(&project, name.as_deref()).ok()?;
            let log = ledger::of(&project, &root, &name).ok()?;
            let opened = target::open_running(&project, &name).await?;
            let (reading, level, settle) = (opened.reading(), opened.level, settle_of(Some(target)));
            // Running requests are cancelled if this ends early.
            let mut listing = JoinSet::new();
            let mut asked = Timestamp::MAX;
            let entries = log.read_telling(|| {
                asked = Timestamp::now();
                let reading = reading.clone();
                listing.spawn(async move { list(&reading, level, settle).await });
            });
            let ledger = Ledger::replay(entries.await.ok()?);
            same_app(&ledger, &opened).ok()?;
            if !is_quiet(&ledger, settle, asked) {
                return None;
            }
            // If people are pruned, all of their lists are read later.
            let pruned = target.pruned();
            let lists_later = KINDS.iter().any(|kind| pruned.contains(kind.key) && !kind.api.census().is_empty());
            let ledger = Arc::new(ledger);
            let people = if lists_later { People::default() } else { seek(&reading, &ledger, level).await };
            let lists = PrefetchedLists { people, ..listing.join_next().await?.ok()? };
            let remembered = Some((Arc::into_inner(ledger)?, log.known()));
            Some(Prefetched { opened, state: PrefetchedState { remembered, lists } })
        };
        Some(Self(runtime.spawn(look)))
    }

    /// Waits for the prefetched data of a target.
    pub async fn finish(self, target: &str) -> Option<Prefetched> {
        self.0.await.ok().flatten().filter(|seen| seen.opened.name == target)
    }
}

/// Whether no apply was running and every lost request had taken effect or never will, when the service was read. Lists
/// that were read before that are dropped.
fn is_quiet(ledger: &Ledger, settle: SignedDuration, read_at: Timestamp) -> bool {
    let clock = actor::clock();
    let settling = Settling { settle, read_at, clock: clock.as_deref(), is_over: false, by_own_clock: true };
    ledger.run.is_none() && ledger.settled_at(&settling).is_none_or(|at| at <= read_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_lists_are_not_believed_while_something_may_be_on_its_way() {
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        let settle = SignedDuration::from_secs(10);
        let is_quiet = |ledger: &Ledger, now: &str| is_quiet(ledger, settle, at(now));
        assert!(is_quiet(&Ledger::default(), "2030-01-01T00:00:00Z"));
        let lost = Ledger { unsettled: Some(at("2030-01-01T00:00:00Z")), ..Ledger::default() };
        assert!(!is_quiet(&lost, "2030-01-01T00:00:09Z"));
        assert!(!is_quiet(&lost, "2030-01-01T00:09:00Z"), "the clocks may be minutes apart");
        assert!(is_quiet(&lost, "2030-01-01T00:30:10Z"));
    }
}
