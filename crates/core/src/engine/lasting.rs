//! Whether a ledger outlives the machine that writes it: a folder in the checkout of a CI runner does not.

use std::path::Path;

use pushplan_io::failure::{Failure, FailureKind};
use pushplan_ledger::place;

use super::workspace::Workspace;
use super::{project, target};

/// Set to confirm that the checkout of a CI runner is kept between jobs, and the ledger in it as well.
const KEPT: &str = "PUSHPLAN_PERSISTENT_CHECKOUT";

/// Whether a CI system runs this command.
pub fn is_in_ci() -> bool {
    let is_set = |name: &&str| std::env::var(name).is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()));
    const SET: [&str; 9] = [
        "CI",
        "GITHUB_ACTIONS",
        "GITLAB_CI",
        "TF_BUILD",
        "JENKINS_URL",
        "TEAMCITY_VERSION",
        "CODEBUILD_BUILD_ID",
        "BUILDKITE",
        "BITBUCKET_BUILD_NUMBER",
    ];
    SET.iter().any(is_set)
}

/// Refuses a ledger that a CI runner forgets after the job: the next job would not know what this one did, and would create and
/// send everything again. The built-in service is forgotten together with its ledger.
pub fn check(workspace: &Workspace) -> Result<(), Failure> {
    let (project, name) = (&workspace.manifests.project, &workspace.target);
    let Some(settings) = project.target(name).filter(|settings| !target::is_built_in(name, settings)) else {
        return Ok(());
    };
    let place = settings.ledger.as_ref().map(|place| place.value.as_str());
    let Some(folder) = place::folder(place).filter(|folder| is_in_checkout(&project.root, folder)) else {
        return Ok(());
    };
    if std::env::var(KEPT).is_ok_and(|value| value == "1") {
        return Ok(());
    }
    let message = format!(
        "the ledger of `{name}` is in `{folder}` of this checkout, which a CI runner deletes after the job: the next \
            job would create and send everything again"
    );
    Err(Failure::new(message).kind(FailureKind::Refused).help(format!(
        "nothing was changed; write `ledger = \"git\"`, or another place that all jobs share, into [targets.{name}] of \
         pushplan.toml; if this checkout is kept between jobs, set {KEPT}=1"
    )))
}

/// Whether a folder, as a setting names it, is in the checkout that the project is in.
fn is_in_checkout(root: &Path, folder: &str) -> bool {
    let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = absolute(root);
    let checkout = project::checkout(&root).unwrap_or_else(|| root.clone());
    // A folder that does not exist yet is judged by its nearest existing ancestor.
    let folder = root.join(folder);
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(&root);
    absolute(there).starts_with(absolute(&checkout))
}
