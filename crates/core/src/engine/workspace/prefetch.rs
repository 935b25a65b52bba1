//! Looking ahead: the ledger and the service's lists are read while the manifests are.
//!
//! It is only ever a head start. Where anything is unusual, nothing was seen ahead, and whoever plans looks for itself and says
//! what is wrong.

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

/// A look that is under way.
#[derive(Debug)]
pub struct Prefetch(JoinHandle<Option<Prefetched>>);

/// What was seen.
#[derive(Debug)]
pub struct Prefetched {
    pub opened: Opened,
    pub state: PrefetchedState,
}

/// What a plan need not ask for again. The ledger was read before the lists: they show at least what it speaks of.
#[derive(Debug, Default)]
pub struct PrefetchedState {
    pub remembered: Option<(Ledger, Position)>,
    pub lists: PrefetchedLists,
}

impl Prefetch {
    /// Begins to look, where the service runs already.
    pub fn start(location: &Location, runtime: &Handle) -> Option<Self> {
        let (root, name) = (location.root().ok()?, location.target.clone());
        // An error in the project file may hide what says which application it is.
        let project = Project::open_sound(&root)?;
        let look = async move {
            let (name, target) = target::choose(&project, name.as_deref()).ok()?;
            let log = ledger::of(&project, &root, &name).ok()?;
            let opened = target::open_running(&project, &name).await?;
            let (reading, level, settle) = (opened.reading(), opened.level, settle_of(Some(target)));
            // What is under way is given up where this ends without a look.
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
            // Where people are pruned, all of their lists are read later.
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

    /// What was seen of a target.
    pub async fn finish(self, target: &str) -> Option<Prefetched> {
        self.0.await.ok().flatten().filter(|seen| seen.opened.name == target)
    }
}

/// Whether no apply was running and everything that was lost on its way had taken effect or never will, when the service was
/// asked. Lists that were read earlier than that are dropped.
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
