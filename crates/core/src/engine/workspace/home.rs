//! Which project this is, for the ledger to remember.

use std::path::Path;
use std::sync::OnceLock;

use pushplan_io::git::Git;
use pushplan_ledger::Home;
use pushplan_project::manifest::Project;

/// The project in a folder, as it is the same on every machine.
pub fn home(root: &Path, project: &Project) -> Home {
    // A command is about one project, and git takes a while to start.
    static PLACE: OnceLock<Option<String>> = OnceLock::new();
    let name = project.file.project.as_ref().and_then(|about| about.name.as_ref()).map(|name| name.value.clone());
    Home { name, place: PLACE.get_or_init(|| place(root)).clone() }
}

/// Its folder in the repository that it is in, where that has a remote.
fn place(root: &Path) -> Option<String> {
    let git = Git::find_now(root).ok()??;
    let remote = git.setting("remote.origin.url").filter(|remote| !remote.is_empty())?;
    Some(Home::place(remote, &git.prefix()?))
}
