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

use super::Opened;
use super::offline::decided;
use super::target::is_built_in;
use super::workspace::{PlanRequest, Workspace};
use crate::plan::Basis;
use crate::review::{Review, Side};

pub use channels::{ChannelList, ReachProgress};
pub use sample::device_facts;

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

    /// Counts the devices that each message of the project reaches.
    fn reached(
        &self,
        population: &Population,
        now: jiff::Timestamp,
    ) -> Result<Vec<(Address, Option<DeviceCount>)>, Failure> {
        // Compared with an empty ledger, every message in the files is new.
        let request = PlanRequest::default();
        let plan = decided(self, &Ledger::default(), Position::default(), Basis::Ledger, &request, now)?;
        let all = Review::as_declared(&plan).counted_audiences();
        let after = all.into_iter().filter(|one| one.side == Side::After);
        Ok(after.map(|one| (one.address, counting::claimed(population, &one.audience))).collect())
    }
}
