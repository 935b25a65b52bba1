//! Finding, reading and checking a project, for several commands.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use jiff::Timestamp;
use pushplan_io::failure::Failure;
use pushplan_io::files;
use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::At;
use pushplan_model::source::{Sources, Span};
use pushplan_model::text;
use pushplan_project::check::{self, Subject, Verdict};
use pushplan_project::manifest::{self, Desired, FILE_LIMIT, Input, Manifests, PROJECT_FILE, Project, TargetInputs};

/// The current folder.
pub fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| Failure::new(format!("the current folder cannot be read: {error}")))
}

/// The checkout of the repository that contains a folder. Code hosts name files relative to it.
pub fn checkout(folder: &Path) -> Option<PathBuf> {
    let own = folder.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned);
    let told = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"].into_iter().filter_map(std::env::var_os);
    let mut told = told.filter_map(|told| Path::new(&told).canonicalize().ok());
    own.or_else(|| told.find(|told| folder.starts_with(told)))
}

/// The project that contains `start`, or a failure with the commands to create one.
pub fn root(start: &Path) -> Result<PathBuf, Failure> {
    Project::find(start).ok_or_else(|| {
        Failure::new(format!("no {PROJECT_FILE} in {} or above it", start.display()))
            .help("`pushplan init` writes a sample project; `pushplan validate FILE` checks a manifest on its own")
    })
}

/// Standard input, within the limit of a manifest.
pub fn stdin() -> Result<Vec<u8>, Failure> {
    files::read_to_limit(io::stdin().lock(), FILE_LIMIT)
        .map_err(|why| Failure::new(format!("standard input cannot be read: {why}")))
}

/// Checks manifests that belong to no project.
pub fn alone(root: &Path, inputs: Vec<Input>) -> Manifests {
    manifest::read(Project::bare(root), inputs, Sources::default(), Findings::default())
}

/// The maximal number of resources that are checked, counted once for each target.
const MOST: usize = 1_000_000;

/// Resolves the manifests for each of the targets and checks them. Findings that several targets share are reported
/// once.
pub fn check(manifests: &Manifests, targets: &[Option<&str>], now: Timestamp) -> Verdict {
    let most = (MOST / manifests.resource_count().max(1)).max(1);
    let keys: Vec<String> = match targets {
        [_] => vec![String::new()],
        _ => {
            let alike = TargetInputs::new(manifests);
            targets.iter().map(|target| alike.key(*target)).collect()
        }
    };
    // Targets with the same inputs as an earlier one cost nothing.
    let mut distinct = HashSet::new();
    let is_checked = |key: &&String| {
        distinct.insert((*key).clone());
        distinct.len() <= most
    };
    let (checked, left) = targets.split_at(keys.iter().take_while(is_checked).count());
    let mut known: HashMap<&str, TargetFindings> = HashMap::new();
    let mut rest: HashMap<&str, usize> = HashMap::new();
    keys.iter().for_each(|key| *rest.entry(key).or_default() += 1);
    let resolved = checked.iter().zip(&keys).map(|(target, key)| {
        if let Some(known) = known.get(key.as_str()) {
            return known.of(*target);
        }
        let (mut desired, mut found) = manifests.resolve(*target);
        let settings = target.and_then(|name| manifests.project.target(name));
        found.extend(check::check(&Subject { desired: &desired, target: settings, now }));
        if rest[key.as_str()] > 1 {
            known.insert(key, TargetFindings::new(&desired, &found));
        }
        // Only one target at a time is held in memory. The memory of the last is freed when the process ends, which is
        // faster.
        let resources = std::mem::take(&mut desired.resources);
        if targets.len() == 1 {
            std::mem::forget(resources);
        } else {
            drop(resources);
        }
        (desired, found)
    });
    let unchecked = left.first().map(|first| unchecked(manifests, *first, left.len()));
    let general = manifests.findings.iter().cloned().chain(unchecked);
    check::judge(general, resolved, &manifests.project, &manifests.sources)
}

/// Checks one target whose manifests are resolved already. `found` has the findings from resolving them.
pub fn check_one(
    manifests: &Manifests,
    target: Option<&str>,
    desired: &Desired,
    mut found: Vec<Finding>,
    now: Timestamp,
) -> Verdict {
    let settings = target.and_then(|name| manifests.project.target(name));
    found.extend(check::check(&Subject { desired, target: settings, now }));
    let judged = TargetFindings::new(desired, &found).of(target);
    let general = manifests.findings.iter().cloned();
    check::judge(general, [judged], &manifests.project, &manifests.sources)
}

/// The findings of a target, for other targets with the same inputs.
struct TargetFindings {
    allowed: BTreeMap<Address, Vec<At<String>>>,
    warned: BTreeMap<Address, Vec<At<String>>>,
    complete: bool,
    found: Vec<Finding>,
}

impl TargetFindings {
    fn new(desired: &Desired, found: &[Finding]) -> Self {
        let (allowed, warned) = (desired.allowed.clone(), desired.warned.clone());
        Self { allowed, warned, complete: desired.complete, found: found.to_vec() }
    }

    fn of(&self, target: Option<&str>) -> (Desired, Vec<Finding>) {
        let desired = Desired {
            resources: BTreeMap::new(),
            broken: BTreeSet::new(),
            readable: Vec::new(),
            allowed: self.allowed.clone(),
            warned: self.warned.clone(),
            complete: self.complete,
            target: target.map(str::to_owned),
            deep_links: Vec::new(),
            conditions: OnceLock::new(),
            possible: OnceLock::new(),
        };
        (desired, self.found.clone())
    }
}

/// The finding for too many targets and resources.
fn unchecked(manifests: &Manifests, first: Option<&str>, left: usize) -> Finding {
    let name = first.unwrap_or_default();
    let at = manifests.project.target_place(name).unwrap_or(Span::NONE);
    let targets = text::count(left, "target");
    Finding::new(&codes::YM106, at, format!("too many resources and targets: {targets} not checked"))
        .label("the first target that is not checked")
        .note(format!("all targets together have more than {MOST} resources"))
        .help(format!("check fewer targets at once: `pushplan validate --target {name}`"))
}
