//! Reach of messages: reads the devices of a target, stores them as a population, and counts on it.

mod channels;
mod counting;
mod kept;
mod sample;

use std::path::{Path, PathBuf};

use pushplan_io::failure::Failure;
use pushplan_ledger::{Ledger, Position};
use pushplan_model::address::Address;
use pushplan_model::population::{DeviceCount, Population, PopulationAbout};
use pushplan_project::manifest::Project;

use super::offline::decided;
use super::target::is_built_in;
use super::workspace::{PlanRequest, Workspace};
use super::{Opened, Session};
use crate::plan::{Basis, Plan, Reach};
use crate::review::{Review, Side};

pub use channels::{ChannelList, ReachProgress};
pub use sample::device_facts;

/// Whether a target has a stored population or a sample.
pub fn has_population(project: &Project, target: &str) -> bool {
    kept::is_kept(&project.root, target) || project.target(target).is_some_and(|target| target.population.is_some())
}

/// The result of `pushplan reach`.
#[derive(Debug)]
pub struct ReachFound {
    pub target: String,
    pub population: PopulationAbout,
    /// The file with the population.
    pub file: PathBuf,
    /// The messages of the project, each with the number of devices in its audience, if that can be counted.
    pub messages: Vec<(Address, Option<DeviceCount>)>,
    /// Whether the target is the built-in service, whose devices every plan counts itself.
    pub is_built_in: bool,
}

impl Workspace {
    /// Reads the channel list of the target and stores it as the population of the target. If this fails or is
    /// cancelled, the previous population is kept.
    pub async fn read_population(
        &self,
        opened: &Opened,
        progress: &dyn Fn(ReachProgress),
    ) -> Result<ReachFound, Failure> {
        let population = channels::read(opened, progress).await?;
        self.keep_population(&population, opened.now())
    }

    /// Stores the devices of a file as the population of the target.
    pub fn sample_population(&self, file: &Path) -> Result<ReachFound, Failure> {
        let population = sample::read(file)?;
        self.keep_population(&population, jiff::Timestamp::now())
    }

    fn keep_population(&self, population: &Population, now: jiff::Timestamp) -> Result<ReachFound, Failure> {
        let file = kept::keep(&self.manifests.project.root, &self.target, population)?;
        let messages = self.reached(population, now)?;
        let target = self.manifests.project.target(&self.target);
        let is_built_in = target.is_some_and(|target| is_built_in(&self.target, target));
        Ok(ReachFound { target: self.target.clone(), population: population.about(), file, messages, is_built_in })
    }

    /// Counts the devices that one message of the project reaches, on the stored population of the target or on the sample
    /// of the project; `None` without any of these.
    pub fn reach_of(&self, address: &Address, session: &Session, now: jiff::Timestamp) -> Option<Reach> {
        let plan = self.declared_plan(now).ok()?;
        let population = self.population(&plan, session).filter(|population| !population.is_empty())?;
        let mut audiences = Review::as_declared(&plan).counted_audiences();
        audiences.retain(|one| one.address == *address && one.side == Side::After);
        let counts = audiences.iter().map(|one| counting::claimed(&population, &one.audience)).collect();
        Some(counting::joined(population.about(), audiences, counts))
    }

    /// A plan of the files compared with an empty ledger: every message is new.
    fn declared_plan(&self, now: jiff::Timestamp) -> Result<Plan, Failure> {
        let request = PlanRequest::default();
        decided(self, &Ledger::default(), Position::default(), Basis::Ledger, &request, now)
    }

    /// Counts the devices that each message of the project reaches.
    fn reached(
        &self,
        population: &Population,
        now: jiff::Timestamp,
    ) -> Result<Vec<(Address, Option<DeviceCount>)>, Failure> {
        let plan = self.declared_plan(now)?;
        let all = Review::as_declared(&plan).counted_audiences();
        let after = all.into_iter().filter(|one| one.side == Side::After && one.locale.is_none());
        Ok(after.map(|one| (one.address, counting::claimed(population, &one.audience))).collect())
    }
}
