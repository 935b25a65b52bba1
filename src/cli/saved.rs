//! Plans in files.

use std::fs;
use std::path::{Path, PathBuf};

use super::many::plan::SAVED;
use crate::failure::{Exit, Failure};
use crate::manifest::files::describe;
use crate::plan::{NoPlan, Plan};

/// The plan that a file holds.
pub fn load(path: &Path) -> Result<Plan, Failure> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    Plan::load(&text).map_err(|no| {
        let failure = match no {
            NoPlan::NotAPlan(why) => Failure::new(format!("{shown} is not a plan: {why}")),
            NoPlan::OtherForm(form) => {
                Failure::new(format!("the plan {shown} has the form {form}, which this version does not read"))
            }
            NoPlan::Changed => Failure::new(format!("the plan {shown} is not as it was saved")),
        };
        failure.exit(Exit::Stale).help("make a new one: pushplan plan --out FILE")
    })
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("the plan {} cannot be read: {}", path.display(), describe(error)))
        .help("`pushplan plan --out FILE` writes one")
}

/// The plans that files hold, and those in folders that `pushplan plan --out FOLDER` made for several targets.
pub fn load_all(paths: &[PathBuf]) -> Result<Vec<Plan>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = fs::read_dir(path).map_err(|error| unreadable(path, &error))?;
        let is_plan = |file: &PathBuf| file.to_string_lossy().ends_with(SAVED);
        let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_plan).collect();
        if found.is_empty() {
            return Err(Failure::new(format!("there is no plan in {}", path.display()))
                .help("`pushplan plan --all-targets --out FOLDER` writes one for each target"));
        }
        found.sort();
        files.extend(found);
    }
    files.iter().map(|file| load(file)).collect()
}
