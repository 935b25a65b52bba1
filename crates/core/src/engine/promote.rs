//! Checks before a target is promoted to others. [`crate::plan::Aim::Promoted`] plans it.

use std::path::Path;

use pushplan_io::failure::Failure;
use pushplan_project::manifest::Project;

use super::several::TargetSelection;
use super::target;

/// Refuses to promote from a target that the project does not have.
pub fn check_source(root: &Path, from: &str) -> Result<(), Failure> {
    let project = Project::open(root);
    let names = project.target_names();
    // A project file without targets has another error, which is reported when it is read.
    let is_known = project.target(from).is_some() || names.is_empty();
    if is_known { Ok(()) } else { Err(target::unknown(from, &names)) }
}

/// Refuses to promote a target to itself.
pub fn check_destination(from: &str, to: Option<&str>) -> Result<(), Failure> {
    match to == Some(from) {
        true => {
            Err(Failure::usage(format!("`{from}` cannot be promoted to itself"))
                .help("choose another target with --to"))
        }
        false => Ok(()),
    }
}

/// Refuses to promote a target to several that include it.
pub fn check_destinations(from: &str, to: &TargetSelection) -> Result<(), Failure> {
    to.targets()?.iter().try_for_each(|to| check_destination(from, Some(to)))
}
