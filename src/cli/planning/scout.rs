//! Looking ahead: the ledger and the service's lists are read while the manifests are.
//!
//! It is only ever a head start. Where anything is unusual, nothing was seen ahead, and whoever plans looks for itself and says
//! what is wrong.

use tokio::task::JoinHandle;

use super::{Place, same_app, settle_of};
use crate::cli::target::{self, Opened};
use crate::cli::{ledger, runtime};
use crate::client::list;
use crate::ledger::{Ledger, Log, Position};
use crate::live::Early;
use crate::manifest::Project;

/// A look that is under way.
#[derive(Debug)]
pub struct Scout(JoinHandle<Option<Glimpse>>);

/// What was seen.
#[derive(Debug)]
pub struct Glimpse {
    pub opened: Opened,
    pub head: Head,
}

/// What a plan need not ask for again. The ledger was read before the lists: they show at least what it speaks of.
#[derive(Debug, Default)]
pub struct Head {
    pub remembered: Option<(Ledger, Position)>,
    pub early: Early,
}

impl Scout {
    /// Begins to look, where the service runs already.
    pub fn start(place: &Place) -> Option<Self> {
        let (root, name) = (place.root().ok()?, place.target().map(str::to_owned));
        // An error in the project file may hide what says which application it is.
        let project = Project::open_sound(&root)?;
        let look = async move {
            let (name, target) = target::choose(&project, name.as_deref()).ok()?;
            let log = ledger::of(&project, &root, &name).ok()?;
            let opened = target::open_running(&project, &name).await?;
            let ledger = Ledger::replay(log.read(0).await.ok()?);
            same_app(&ledger, &opened).ok()?;
            let remembered = Some((ledger, log.known()));
            let early = list(&opened.reading(), opened.level, settle_of(Some(target))).await;
            Some(Glimpse { opened, head: Head { remembered, early } })
        };
        Some(Self(runtime().ok()?.spawn(look)))
    }

    /// What was seen of a target.
    pub async fn glimpse(self, target: &str) -> Option<Glimpse> {
        self.0.await.ok().flatten().filter(|seen| seen.opened.name == target)
    }
}
