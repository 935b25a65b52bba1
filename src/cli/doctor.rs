mod around;
mod ledger;
mod service;

use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use jiff::SignedDuration;
use tokio::task::JoinSet;

use super::forms::{PLAIN, described};
use super::{Context, Ended, runtime, turn};
use crate::client::Keyring;
use crate::engine::project;
use crate::engine::select::select;
use crate::failure::Failure;
use crate::manifest::{Manifests, Project, read_project};
use crate::render::Format;
use crate::render::doctor::{Check, Checkup, Discreet};

/// Check everything that pushplan needs.
///
/// It checks the project, the manifests, the CI system and versions, and for each target credentials, clock, service
/// and ledger. It changes nothing and does not block other runs. The output has no secrets, home folders or user names,
/// so you can paste it into a report. The exit code is 0 if there are no problems or only warnings, and otherwise that
/// of the first problem.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Folder of the project [default: this one or the nearest above it]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,

    /// Targets to check: names, groups, or patterns such as `prod-*`; separate several with commas, or repeat the
    /// option [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    target: Vec<String>,

    /// Check all targets (the default)
    #[arg(long, conflicts_with = "target")]
    all_targets: bool,

    /// How long to wait for each answer, such as 10s
    #[arg(long, value_name = "TIME", value_parser = turn::length, default_value = "10s")]
    within: SignedDuration,

    /// Form: text for people, json for programs
    #[arg(long, value_parser = described(PLAIN), default_value_t = Format::Text)]
    format: Format,
}

/// The number of targets that are checked at a time.
const AT_A_TIME: usize = 32;

/// A variable of the environment that is not empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The inputs of the checks of each target.
#[derive(Debug)]
struct Inspection {
    project: Project,
    root: PathBuf,
    keyring: Keyring,
    within: Duration,
    /// Temporary folders for fetched files.
    apart: around::Apart,
}

impl Doctor {
    pub fn run(&self, context: &Context) -> Ended {
        let here = project::here()?;
        let start = self.project.as_ref().map_or(here.clone(), |folder| here.join(folder));
        let found = project::root(&start);
        let home = variable("HOME");
        let users = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(variable).collect();
        let discreet = Discreet::new(found.as_deref().ok(), home.as_deref(), users);
        let within = Duration::try_from(self.within).unwrap_or(Duration::from_secs(10));
        let keyring = Keyring::default();
        let mut checks = Vec::new();
        let read = match &found {
            Ok(root) => {
                let manifests = read_project(root, None);
                checks.extend(around::project(&manifests));
                Some((root, manifests))
            }
            Err(failure) => {
                checks.push(Check::trouble("project", failure));
                None
            }
        };
        checks.push(around::credentials(&keyring));
        checks.push(runtime()?.block_on(around::git(&start, within)));
        checks.extend(around::versions());
        checks.push(around::ci());
        if let Some((root, manifests)) = read {
            let Manifests { project, .. } = manifests;
            let names = match self.all_targets || self.target.is_empty() {
                true => project.target_names().into_iter().map(str::to_owned).collect(),
                false => select(&project, &self.target)?,
            };
            let apart = around::Apart::default();
            let inspection = Inspection { project, root: root.clone(), keyring, within, apart };
            checks.extend(runtime()?.block_on(look(inspection, names))?);
        }
        let checkup = Checkup::new(checks, &discreet);
        match self.format {
            Format::Json => context.out.json(&checkup.json()),
            _ => context.out.print(&checkup.text()),
        }
        Ok(checkup.exit())
    }
}

/// Checks all targets, some at a time, and returns the results in their order.
async fn look(inspection: Inspection, names: Vec<String>) -> Result<Vec<Check>, Failure> {
    let inspection = Arc::new(inspection);
    let mut waiting = names.into_iter().enumerate();
    let mut found = Vec::new();
    let mut under_way = JoinSet::new();
    loop {
        while under_way.len() < AT_A_TIME
            && let Some((at, name)) = waiting.next()
        {
            let inspection = inspection.clone();
            under_way.spawn(async move { (at, one(&inspection, &name).await) });
        }
        match under_way.join_next().await {
            Some(Ok(looked)) => found.push(looked),
            Some(Err(_)) => return Err(Failure::new("a check of a target failed unexpectedly")),
            None => break,
        }
    }
    found.sort_by_key(|(at, _)| *at);
    Ok(found.into_iter().flat_map(|(_, checks)| checks).collect())
}

/// Checks one target, its service and its ledger concurrently.
async fn one(inspection: &Inspection, name: &str) -> Vec<Check> {
    let (service, ledger) = tokio::join!(service::look(inspection, name), ledger::look(inspection, name));
    let service::Looked { mut checks, app } = service;
    checks.extend(ledger.told(app.as_deref()));
    checks.into_iter().map(|check| check.of(name)).collect()
}
