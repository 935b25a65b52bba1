//! The file with the population of a target.

use std::fmt::Display;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use pushplan_io::client::only_its_owner;
use pushplan_io::failure::Failure;
use pushplan_io::files::{self, describe};
use pushplan_io::git::tracked;
use pushplan_io::private;
use pushplan_model::exchange::part;
use pushplan_model::population::Population;

use crate::engine::local;

/// The largest size of a file.
const LARGEST: u64 = 4 << 30;

/// The path of a target's population.
fn path(root: &Path, target: &str) -> PathBuf {
    local::own(root).join(format!("population-{}", part(target)))
}

/// Writes the population of a target. The previous file is replaced only when the new one is complete.
pub fn keep(root: &Path, target: &str, population: &Population) -> Result<PathBuf, Failure> {
    local::own_folder(root)?;
    let path = path(root, target);
    private::write(&path, &population.to_bytes())
        .map_err(|error| Failure::new(format!("{} cannot be written: {}", path.display(), describe(&error))))?;
    Ok(path)
}

/// Whether a population is stored for a target.
pub fn is_kept(root: &Path, target: &str) -> bool {
    path(root, target).symlink_metadata().is_ok()
}

/// Reads the population of a target, or returns why it cannot be used.
pub fn load(root: &Path, target: &str) -> anyhow::Result<Population> {
    let path = path(root, target);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let cannot = |why: &dyn Display| anyhow!("The population in .pushplan/{name} cannot be used: {why}.");
    if local::own(root).is_symlink() {
        return Err(cannot(&"its folder is a symbolic link, which is not followed"));
    }
    // A population that comes with the files of a project may not be that of its target.
    let is_private = File::open(&path).is_ok_and(|file| only_its_owner(&file).is_ok());
    if !is_private || tracked(&local::own(root)).is_ok_and(|names| names.contains(&name)) {
        return Err(cannot(&"others can read it, or it is in git"));
    }
    let bytes = files::read_unlinked(&path, LARGEST).map_err(|error| cannot(&error))?;
    Population::of_bytes(&bytes).map_err(|why| cannot(&why))
}
