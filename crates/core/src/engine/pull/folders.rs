//! The folders and files that a pull writes to.

use std::path::{Component, Path, PathBuf};

use pushplan_io::failure::Failure;
use pushplan_io::files::{self, FileError};
use pushplan_model::text::one_line;
use pushplan_project::manifest::{FILE_LIMIT, Manifests, PROJECT_FILE, Project};

use crate::engine::project;
use crate::pull::PulledFile;

/// Creates the missing folders that the project names, and returns them: git does not store empty folders.
pub fn create(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut made = Vec::new();
    for place in Project::open(root).places() {
        let is_file = place.extension().is_some();
        let stays_inside = |inside: &&Path| inside.components().all(|part| matches!(part, Component::Normal(_)));
        let Some(inside) = place.strip_prefix(root).ok().filter(|_| !is_file).filter(stays_inside) else { continue };
        let mut path = root.to_owned();
        for part in inside {
            path.push(part);
            if path.is_symlink() || path.is_file() {
                break;
            }
            if !path.exists() {
                std::fs::create_dir(&path).map_err(|error| {
                    Failure::new(format!("{} cannot be created: {}", path.display(), files::describe(&error)))
                })?;
                made.push(path.clone());
            }
        }
    }
    Ok(made)
}

/// Removes folders that were created and are still empty.
pub fn remove(created: &[PathBuf]) {
    created.iter().rev().for_each(|folder| drop(std::fs::remove_dir(folder)));
}

/// The folder for new files, relative to the project. It must be one whose manifests the project reads; otherwise the
/// pulled resources would be managed but not declared.
pub(super) fn folder(manifests: &Manifests, out: Option<&Path>) -> Result<String, Failure> {
    let root = &manifests.project.root;
    let places = manifests.project.places();
    let folder = match out {
        Some(out) => lexical(&project::here()?.join(out)),
        None => places.iter().find(|place| !place.is_file()).cloned().ok_or_else(|| {
            Failure::usage(format!("{PROJECT_FILE} lists only files, and no folder to write to"))
                .help("add a folder to `manifests`, and pass it with --out")
        })?,
    };
    let shown = folder.display();
    let inside = folder.strip_prefix(root).ok().filter(|_| places.iter().any(|place| folder.starts_with(place)));
    let Some(inside) = inside else {
        return Err(Failure::usage(format!("{shown} is not a folder with manifests of the project"))
            .help(format!("choose a folder below one of those, or add it to `manifests` in {PROJECT_FILE}")));
    };
    let parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.iter().any(|part| part.starts_with('.')) {
        return Err(Failure::usage(format!("{shown} is hidden, so its manifests are not read"))
            .help("choose a folder whose name begins with a letter"));
    }
    let mut path = root.clone();
    for part in inside {
        path.push(part);
        if path.is_symlink() || path.is_file() {
            return Err(Failure::usage(format!("{} is not a folder of the project", path.display()))
                .help("choose a folder that is not reached through a symbolic link"));
        }
    }
    Ok(parts.join("/"))
}

/// A path relative to the project's folder.
pub(super) fn within(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

/// Removes `.` and `..` from a path, without following links.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}

/// Writes a file. An existing file is only extended, and only if it is unchanged since it was read.
pub(super) fn write(root: &Path, name: &str, file: &PulledFile) -> Result<(), Failure> {
    let path = root.join(name);
    let cannot = |why: FileError| {
        Failure::new(format!("{} cannot be written: {why}", one_line(name)))
            .help("nothing was recorded; make it writable and run the command again")
    };
    match &file.before {
        None => files::create(root, name, file.text.as_bytes()).map_err(cannot),
        Some(before) => {
            let found = files::read_unlinked(&path, FILE_LIMIT).map_err(cannot)?;
            if found != before.as_bytes() {
                return Err(cannot("another process has changed it".into()));
            }
            files::replace(&path, file.text.as_bytes()).map_err(cannot)
        }
    }
}
