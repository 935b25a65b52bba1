//! Which ledgers are trusted: none that arrives with the files, and none in a folder outside of the project that only
//! the project file names. Otherwise, anyone who can change the files decides what is deleted.

use std::path::{Component, Path, PathBuf};
use std::{env, fs};

use pushplan_io::git::tracked;
use pushplan_model::text::shell_word;

use super::AppendError;
use super::file::OWN;
#[cfg(feature = "git")]
use super::git::folder_of;
use super::intent::Seq;
use super::place;
use super::store::{New, Pending, Start, Store, Stored, Unread};

/// The variable that lists folders outside of the project that may hold a ledger.
const ALLOWED: &str = "PUSHPLAN_LEDGER_DIR";

/// The one file that git may track in [`OWN`]: pushplan writes it so that git tracks nothing else there.
const HARMLESS: &str = ".gitignore";

/// Why a ledger is not used, and how to proceed.
#[derive(Clone, Debug)]
pub struct Untrusted {
    pub why: String,
    pub help: String,
}

/// A store that is never read or written.
impl Store for Untrusted {
    fn shown(&self) -> String {
        "an unused ledger".to_owned()
    }

    fn record(&self, seq: Seq) -> String {
        format!("record {seq} of {}", self.shown())
    }

    fn go_on(&self, _: Seq) -> String {
        self.help.clone()
    }

    fn untrusted(&self) -> Option<&Untrusted> {
        Some(self)
    }

    fn read(&self, _: Start) -> Pending<'_, Result<Vec<Stored>, Unread>> {
        Box::pin(async { Err(Unread::Failed { why: self.why.clone(), help: Some(self.help.clone()) }) })
    }

    fn read_as_is(&self, from: Start) -> Pending<'_, Result<Vec<Stored>, Unread>> {
        self.read(from)
    }

    fn create<'a>(&'a self, _: New<'a>) -> Pending<'a, Result<(), AppendError>> {
        Box::pin(async { Err(AppendError::NotWritten(self.why.clone())) })
    }
}

/// Refuses a place that only the files chose. Reads no record of the ledger.
pub fn trusted(place: Option<&str>, root: &Path, target: &str) -> Result<(), Untrusted> {
    let place = place.unwrap_or(place::HOME);
    confirmed(place, root)?;
    untracked(&root.join(OWN), OWN)?;
    match place.strip_prefix("file:").filter(|folder| !folder.is_empty()) {
        Some(folder) => {
            let records = place::folder_in(Path::new(folder), target);
            untracked(&root.join(&records), &records.display().to_string())
        }
        None => Ok(()),
    }
}

/// Refuses a folder outside of the project, unless the environment names it.
fn confirmed(place: &str, root: &Path) -> Result<(), Untrusted> {
    let on_disk = match place.strip_prefix("file:") {
        Some("") => None,
        Some(folder) => Some(root.join(folder)),
        #[cfg(feature = "git")]
        None => place.strip_prefix("git:").and_then(|remote| folder_of(root, remote)),
        #[cfg(not(feature = "git"))]
        None => None,
    };
    let Some(folder) = on_disk.map(|folder| real(&folder)) else { return Ok(()) };
    let listed = env::var_os(ALLOWED).unwrap_or_default();
    let mut allowed = env::split_paths(&listed).filter(|folder| folder.is_absolute());
    if folder.starts_with(real(root)) || allowed.any(|allowed| folder.starts_with(real(&allowed))) {
        return Ok(());
    }
    let shown = folder.display().to_string();
    Err(Untrusted {
        why: format!("`{place}` is outside of the project, and {ALLOWED} does not allow {shown}"),
        help: format!(
            "anyone who can change the project file could name any folder. To use this one, set {ALLOWED}={} where pushplan runs",
            shell_word(&shown)
        ),
    })
}

/// Returns a path without symbolic links, even if its end does not exist yet.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    match (path.components().next_back(), path.parent()) {
        (Some(Component::Normal(name)), Some(parent)) => real(parent).join(name),
        (Some(Component::ParentDir), Some(parent)) => {
            let parent = real(parent);
            parent.parent().map_or(parent.clone(), Path::to_owned)
        }
        (Some(Component::CurDir), Some(parent)) => real(parent),
        _ => path.to_owned(),
    }
}

/// Refuses a folder if git tracks a file in it.
fn untracked(folder: &Path, shown: &str) -> Result<(), Untrusted> {
    let found = tracked(folder).map_err(|unusable| {
        let (why, help) = unusable.told();
        let help = help.unwrap_or_else(|| "check that `git status` works in the project".to_owned());
        Untrusted { why: format!("whether git tracks {shown} is unknown: {why}"), help }
    })?;
    let Some(file) = found.into_iter().find(|file| file != HARMLESS) else { return Ok(()) };
    Err(Untrusted {
        why: format!("git tracks {shown}/{file}"),
        help: format!(
            "anyone who can change the files could change what pushplan manages and deletes. Run `git rm -r --cached {}` and commit that. \
             A team keeps its ledger in git, s3:// or postgres://",
            shell_word(shown)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_outside_of_the_project_is_found_however_it_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("project");
        fs::create_dir_all(root.join("inside")).expect("a folder");
        #[cfg(unix)]
        std::os::unix::fs::symlink("..", root.join("link")).expect("a link");
        let is_confirmed = |place: &str| confirmed(place, &root).is_ok();
        for place in
            ["file:", "file:inside", "file:inside/new", "file:inside/..", "file:new/../other", "git", "s3://b/p"]
        {
            assert!(is_confirmed(place), "{place}");
        }
        for place in ["git:origin", "git:https://git.example/x", "git:git@git.example:x", "postgres://db/x"] {
            assert!(is_confirmed(place), "{place}");
        }
        let absolute = folder.path().display();
        for place in ["file:..", "file:../other", "file:inside/../../other", "file:new/../../other", "git:../other"] {
            assert!(!is_confirmed(place), "{place}");
        }
        for place in [format!("file:{absolute}"), format!("git:{absolute}/x.git"), format!("git:file://{absolute}/x")] {
            assert!(!is_confirmed(&place), "{place}");
        }
        assert!(is_confirmed(&format!("file:{absolute}/project/inside")));
        #[cfg(unix)]
        assert!(!is_confirmed("file:link") && !is_confirmed("file:link/other") && is_confirmed("file:link/project"));
    }
}
