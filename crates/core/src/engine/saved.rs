//! Saved plans: one in a file, or a folder with one for each of several targets.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use pushplan_io::failure::{Failure, FailureKind};
use pushplan_io::files::describe;
use pushplan_model::text::one_line;
use serde::{Deserialize, Serialize};

use super::workspace::PlanRequest;
use crate::plan::{NoPlan, Plan};

/// The extension of a saved plan's file, after the name of its target, if there are several.
pub const SAVED: &str = ".plan";
/// The extension of the file about a target that has no plan, because planning failed.
pub const FAILED: &str = ".failed";
/// The format of such a file.
const FAILED_FORMAT: u32 = 1;

/// A target that could not be planned, and why.
#[derive(Clone, Debug)]
pub struct FailedTarget {
    pub target: String,
    pub why: Failure,
}

/// The content of a file about a target that could not be planned.
#[derive(Debug, Serialize, Deserialize)]
struct FailedFile {
    format: u32,
    /// The version of pushplan that wrote it.
    tool: String,
    target: String,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl FailedTarget {
    /// A target of which nothing was saved.
    fn missing(target: &str) -> Self {
        let why = Failure::new("no plan was saved").help("the log of the job that plans it shows why");
        Self { target: target.to_owned(), why }
    }

    /// The text of its file.
    pub fn save(target: &str, why: &Failure) -> String {
        let file = FailedFile {
            format: FAILED_FORMAT,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            target: target.to_owned(),
            message: why.message.clone(),
            help: why.help.clone(),
        };
        let mut text = serde_json::to_string_pretty(&file).expect("the file has text keys only");
        text.push('\n');
        text
    }

    fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::new(format!("{shown} cannot be read: {}", describe(&error))))?;
        let file: FailedFile = serde_json::from_str(&text)
            .map_err(|error| Failure::new(format!("{shown} does not say why a target has no plan: {error}")))?;
        if file.format != FAILED_FORMAT {
            let message = format!("{shown} was written by another version of pushplan, {}", file.tool);
            return Err(Failure::new(message).kind(FailureKind::Stale).help("make the plans again with this version"));
        }
        let why = Failure { help: file.help, ..Failure::new(file.message) };
        Ok(Self { target: file.target, why })
    }
}

/// Saved plans, and the targets whose planning failed.
#[derive(Debug, Default)]
pub struct SavedPlans {
    pub plans: Vec<Plan>,
    pub failed: Vec<FailedTarget>,
}

/// Reads the plan in a file, also one that cannot be applied.
pub fn read(path: &Path) -> Result<Plan, Failure> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::new(format!("the plan {shown} cannot be read: {}", describe(&error)))
            .help("`pushplan plan --out FILE` writes one")
    })?;
    Plan::load(&text).map_err(|no| {
        let failure = match no {
            NoPlan::NotAPlan(why) => Failure::new(format!("{shown} is not a saved plan: {why}")),
            NoPlan::OtherForm(form) => {
                Failure::new(format!("the plan {shown} has the format {form}, which this version cannot read"))
            }
            NoPlan::Newer { tool, why } => {
                let own = env!("CARGO_PKG_VERSION");
                let message = format!(
                    "the plan {shown} was written by a newer pushplan, {tool}; this is {own}, which cannot read it: {why}"
                );
                return Failure::new(message).kind(FailureKind::Stale).help(format!("use pushplan {tool} or later"));
            }
            NoPlan::Changed => Failure::new(format!("the plan {shown} was changed after it was saved")),
        };
        failure.kind(FailureKind::Stale).help("make a new plan: pushplan plan --out FILE")
    })
}

/// Reads the plan in a file, to be applied.
pub fn load(path: &Path) -> Result<Plan, Failure> {
    let plan = read(path)?;
    not_applied(path, &plan).map_or(Ok(plan), Err)
}

/// Reads the plans in a folder, by target, to be applied. An invalid one is an error for all.
pub fn load_all(folder: &Path) -> Result<BTreeMap<String, Plan>, Failure> {
    in_folder(folder, load)
}

/// Reads the plans in files and folders, also ones that cannot be applied, and the targets that could not be planned. A target
/// that is expected and missing could not be planned either: the job that plans it ended before.
pub fn read_all(paths: &[PathBuf], expected: &[String]) -> Result<SavedPlans, Failure> {
    let mut all = SavedPlans::default();
    for path in paths {
        if path.is_dir() {
            let failed = failed_in(path)?;
            if failed.is_empty() && expected.is_empty() || !names(path)?.is_empty() {
                all.plans.extend(in_folder(path, read)?.into_values());
            }
            all.failed.extend(failed);
        } else if path.to_string_lossy().ends_with(FAILED) {
            all.failed.push(FailedTarget::read(path)?);
        } else {
            all.plans.push(read(path)?);
        }
    }
    let planned = all.plans.iter().map(|plan| &plan.target);
    let mut targets = BTreeSet::new();
    if let Some(second) =
        planned.chain(all.failed.iter().map(|failed| &failed.target)).find(|target| !targets.insert(*target))
    {
        return Err(Failure::usage(format!("there are two plans for the target {second}"))
            .help("remove one of them: each target can have one plan"));
    }
    let missing =
        expected.iter().filter(|target| !targets.contains(target)).map(|target| FailedTarget::missing(target));
    let missing: Vec<FailedTarget> = missing.collect();
    all.failed.extend(missing);
    Ok(all)
}

/// The targets of a folder that could not be planned, sorted by name.
pub fn failed_in(folder: &Path) -> Result<Vec<FailedTarget>, Failure> {
    names_with(folder, FAILED)?.iter().map(|name| FailedTarget::read(&folder.join(name))).collect()
}

/// The plans of a folder: at least one, and at most one for each target.
fn in_folder(folder: &Path, load: fn(&Path) -> Result<Plan, Failure>) -> Result<BTreeMap<String, Plan>, Failure> {
    let shown = folder.display();
    let mut plans: BTreeMap<String, Plan> = BTreeMap::new();
    for name in names(folder)? {
        let plan = load(&folder.join(&name))?;
        let target = plan.target.clone();
        if plans.insert(target.clone(), plan).is_some() {
            return Err(Failure::usage(format!("{shown} holds two plans for the target {target}"))
                .help(format!("remove one of them; `{name}` is the second")));
        }
    }
    if plans.is_empty() {
        return Err(Failure::usage(format!("{shown} is a folder without a plan"))
            .help(format!("`pushplan plan --target 'NAME-*' --out DIR` saves a file NAME{SAVED} for each target")));
    }
    Ok(plans)
}

/// The files of a folder that are named like saved plans, sorted by name.
pub fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    names_with(folder, SAVED)
}

fn names_with(folder: &Path, end: &str) -> Result<Vec<String>, Failure> {
    let cannot = |error| Failure::new(format!("the folder {} cannot be read: {}", folder.display(), describe(&error)));
    let mut names = Vec::new();
    for file in fs::read_dir(folder).map_err(cannot)? {
        let name = file.map_err(cannot)?.file_name();
        names.extend(name.into_string().ok().filter(|name| name.ends_with(end)));
    }
    names.sort();
    Ok(names)
}

/// The request of a saved plan: the choice with which it was made still applies.
pub fn request(plan: &Plan) -> PlanRequest {
    let Plan { choice, aim, on_drift, .. } = plan;
    PlanRequest { choice: choice.clone(), aim: aim.clone(), on_drift: Some(*on_drift), ..PlanRequest::default() }
}

/// Refuses a saved plan that differs from a new one.
pub fn holds(saved: &Plan, fresh: &Plan) -> Result<(), Failure> {
    let moved = saved.moved(fresh);
    if moved.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("the plan is stale: {}", moved.join("; ")))
        .kind(FailureKind::Stale)
        .help("nothing was changed; make a new plan and have it reviewed: pushplan plan --out FILE"))
}

/// The failure for applying a plan that was not compared with the service.
fn not_applied(file: &Path, plan: &Plan) -> Option<Failure> {
    plan.compared_with()?;
    let message = format!("the plan {} cannot be applied: it was not compared with the service", file.display());
    Some(
        Failure::new(one_line(&message))
            .kind(FailureKind::Refused)
            .help("make a plan that is compared with the service: pushplan plan --out FILE"),
    )
}
