//! Counting the devices that the messages of a plan reach.

use std::collections::{BTreeMap, HashMap};

use pushplan_io::files;
use pushplan_model::audience::Audience;
use pushplan_model::population::{DeviceCount, Population, PopulationAbout, PopulationSource};
use serde_json::{Value, json};

use super::{kept, sample};
use crate::engine::workspace::Workspace;
use crate::engine::{Opened, Session};
use crate::plan::{Change, Plan, Reach};
use crate::review::{CountedAudience, Review, Side};

/// How many devices are evaluated for one plan: a few seconds. Messages beyond that have no numbers.
const MOST_LOOKS: usize = 500_000_000;

/// How many different audiences are counted by the built-in service for one plan.
const MOST_QUERIES: usize = 2_000;

/// Counts an audience. `None` if the result says nothing: the audience is too complex, or any number of devices is
/// possible.
pub fn claimed(population: &Population, audience: &Audience) -> Option<DeviceCount> {
    let counted = population.count(audience)?;
    let is_anything = !counted.is_exact() && counted.at_least == 0 && counted.at_most == population.len() as u64;
    (!is_anything).then_some(counted)
}

impl Workspace {
    /// Adds the number of devices that its messages reach to a plan: counted on the devices of the built-in service, on
    /// the stored population of the target, or on the sample of the project. Does nothing without any of these, and
    /// without a change. Numbers are optional, so messages that cannot be counted are skipped.
    pub(in crate::engine) async fn count_reach(&self, plan: &mut Plan, opened: Option<&Opened>, session: &Session) {
        if !plan.changes.iter().any(Change::is_told) {
            return;
        }
        let reach = match opened.filter(|opened| opened.is_built_in()) {
            Some(opened) => by_service(plan, opened).await,
            None => self.population(plan, session).and_then(|population| by_population(plan, &population)),
        };
        plan.told.reach = reach;
    }

    /// The population of the target, if it can be used.
    pub(super) fn population(&self, plan: &Plan, session: &Session) -> Option<Population> {
        let project = &self.manifests.project;
        let unusable = |why: &str| self.note(&format!("{why} The plan has no numbers of devices."), session);
        if kept::is_kept(&project.root, &self.target) {
            let loaded = kept::load(&project.root, &self.target);
            let loaded = loaded.map_err(|why| unusable(&format!("{why} Run `pushplan reach` again.")));
            let population = loaded.ok()?;
            let is_other = |app: &str| !app.is_empty() && !plan.app.is_empty() && app != plan.app;
            if is_other(population.app()) {
                unusable("The population of this target is of another application. Run `pushplan reach` again.");
                return None;
            }
            return Some(population);
        }
        let named = project.target(&self.target)?.population.as_ref()?;
        let read = match files::beneath(&project.root, named) {
            Ok(path) => sample::read(&path).map_err(|failure| failure.message),
            Err(files::Refused::Outside) => Err(format!("{named} is outside the project's folder")),
            Err(files::Refused::Hidden) => Err(format!("{named} is hidden")),
            Err(files::Refused::Link(_)) => Err(format!("{named} is a symbolic link, which is not followed")),
            Err(files::Refused::Unreadable(why)) => Err(format!("{named} cannot be read: {why}")),
        };
        read.map_err(|why| unusable(&format!("The sample population cannot be used: {why}."))).ok()
    }
}

fn by_population(plan: &Plan, population: &Population) -> Option<Reach> {
    if population.is_empty() {
        return None;
    }
    let audiences = Review::of(plan).counted_audiences();
    // Many messages share an audience.
    let mut known: HashMap<String, Option<DeviceCount>> = HashMap::new();
    let most = (MOST_LOOKS / population.len()).max(1);
    let mut counts = Vec::new();
    for one in &audiences {
        let written = match &one.query {
            Some(query) => query.to_string(),
            None => format!("{} {:?} {:?}", one.address, one.side, one.locale),
        };
        let is_within = known.len() < most;
        let count =
            known.entry(written).or_insert_with(|| if is_within { claimed(population, &one.audience) } else { None });
        counts.push(*count);
    }
    Some(joined(population.about(), audiences, counts))
}

async fn by_service(plan: &Plan, opened: &Opened) -> Option<Reach> {
    let audiences = Review::of(plan).counted_audiences();
    if audiences.is_empty() {
        return None;
    }
    let devices = opened.count(&json!({ "audience": "all" })).await.filter(|devices| *devices > 0)?;
    // Many messages share an audience.
    let mut known: HashMap<String, Option<u64>> = HashMap::new();
    let mut counts = Vec::new();
    for one in &audiences {
        let count = match &one.query {
            None => None,
            Some(query) => asked(query, opened, &mut known).await,
        };
        counts.push(count.map(DeviceCount::exact));
    }
    let population = PopulationAbout { source: PopulationSource::BuiltIn, taken: None, devices };
    Some(joined(population, audiences, counts))
}

async fn asked(query: &Value, opened: &Opened, known: &mut HashMap<String, Option<u64>>) -> Option<u64> {
    let written = query.to_string();
    if let Some(count) = known.get(&written) {
        return *count;
    }
    if known.len() >= MOST_QUERIES {
        return None;
    }
    let count = opened.count(query).await;
    known.insert(written, count);
    count
}

pub fn joined(population: PopulationAbout, audiences: Vec<CountedAudience>, counts: Vec<Option<DeviceCount>>) -> Reach {
    let mut reach = Reach { population, of: BTreeMap::new(), locales: BTreeMap::new() };
    for (one, count) in audiences.into_iter().zip(counts) {
        let Some(counted) = count else { continue };
        if let Some(locale) = one.locale {
            reach.locales.entry(one.address).or_default().insert(locale, counted);
            continue;
        }
        let change = reach.of.entry(one.address).or_default();
        match one.side {
            Side::Before => change.before = count,
            Side::After => change.after = count,
        }
    }
    reach
}
