//! The identity of this project in the ledger.

use std::path::Path;
use std::sync::OnceLock;

use pushplan_io::git::Git;
use pushplan_ledger::Home;
use pushplan_project::manifest::Project;

/// The identity of the project in a folder, the same on every machine.
pub fn home(root: &Path, project: &Project) -> Home {
    // A command works on one project, and git is slow to start.
    static PLACE: OnceLock<Option<String>> = OnceLock::new();
    let name = project.file.project.as_ref().and_then(|about| about.name.as_ref()).map(|name| name.value.clone());
    Home { name, place: PLACE.get_or_init(|| place(root)).clone() }
}

/// Its folder in its repository, if that has a remote.
fn place(root: &Path) -> Option<String> {
    let git = Git::find_now(root).ok()??;
    let remote = git.setting("remote.origin.url").filter(|remote| !remote.is_empty())?;
    Some(Home::place(remote, &git.prefix()?))
}
