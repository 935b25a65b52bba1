//! Finding files in a commit like [`super::files`] finds them on the disk: the same files are read, skipped and
//! refused.

use std::path::{Path, PathBuf};

use pushplan_io::files::{self, DEPTH_LIMIT, FileError, Refused, Unreadable};
use pushplan_io::git::{Commit, TreeEntry};

/// Every manifest at or below the given places, by path, each once; and the files that could not be read.
pub fn manifests(commit: &Commit, root: &Path, places: &[PathBuf]) -> (Vec<PathBuf>, Vec<Unreadable>) {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    for place in places {
        let name = super::shown(root, place);
        let mut cannot = |path: PathBuf, why: FileError| unreadable.push(Unreadable { path, why });
        // A file that is named explicitly is read whatever its name.
        match commit.entries().get(&name) {
            Some(TreeEntry::Link) => cannot(place.clone(), "it is a symbolic link, which is not followed".into()),
            Some(TreeEntry::File(_)) if files::is_cases(place) => cannot(place.clone(), FileError::HoldsCases),
            Some(TreeEntry::File(_)) => found.push(place.clone()),
            None if !commit.has_folder(&name) => cannot(place.clone(), "no such file or directory".into()),
            None => {
                for (name, entry) in beneath_folder(commit, &name) {
                    let path = root.join(name);
                    match entry {
                        _ if !files::is_manifest(&path) => {}
                        _ if Path::new(name).components().count() > DEPTH_LIMIT => {
                            cannot(path, "its folders are nested too deeply".into());
                        }
                        TreeEntry::Link => cannot(path, "it is a symbolic link, which is not followed".into()),
                        TreeEntry::File(_) => found.push(path),
                    }
                }
            }
        }
    }
    found.sort();
    found.dedup();
    (found, unreadable)
}

/// All files below a folder that are not hidden in it.
fn beneath_folder<'c>(commit: &'c Commit, folder: &str) -> impl Iterator<Item = (&'c str, &'c TreeEntry)> {
    let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let inside = commit.entries().range(start.clone()..).take_while({
        let start = start.clone();
        move |(name, _)| name.starts_with(&start)
    });
    inside
        .filter(move |(name, _)| !name[start.len()..].split('/').any(|part| part.starts_with('.')))
        .map(|(name, entry)| (name.as_str(), entry))
}

/// The path of a file that a manifest names: it must be below the project's folder, and reached without a link.
pub fn beneath(commit: &Commit, root: &Path, name: &str) -> Result<PathBuf, Refused> {
    let mut path = PathBuf::new();
    for part in files::parts(name)? {
        path.push(part);
        let name = files::plain(&path.to_string_lossy());
        match commit.entries().get(&name) {
            Some(TreeEntry::Link) => return Err(Refused::Link(root.join(path))),
            Some(TreeEntry::File(_)) => {}
            None if commit.has_folder(&name) => {}
            None => return Err(Refused::Unreadable("no such file or directory".into())),
        }
    }
    Ok(root.join(path))
}
