//! Carrying out safe fixes, and writing files so that a reader sees the old text or the new one and nothing between.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::scope::{Scope, Texts};
use crate::check::Verdict;
use crate::check::fix::{apply, safe_edits};
use crate::failure::Failure;
use crate::manifest::{Manifests, files};

/// How often a text is fixed and checked again: a fix can bring to light what was hidden behind its finding.
const ROUNDS: usize = 10;

/// What was fixed, before anything is written.
#[derive(Debug, Default)]
pub struct Fixed {
    pub problems: usize,
    /// The texts that changed, by the name of their file.
    pub after: Texts,
    before: Texts,
}

/// Fixes what can be fixed safely in the files of the scope, in memory, until nothing is left to fix. Returns how things
/// are then.
pub fn fix(
    scope: &Scope,
    judge: impl Fn(&Manifests) -> Result<Verdict, Failure>,
) -> Result<(Manifests, Verdict, Fixed), Failure> {
    let mut fixed = Fixed::default();
    for round in 0.. {
        let manifests = scope.read(&fixed.after);
        let verdict = judge(&manifests)?;
        let edits = safe_edits(&verdict.findings);
        let mut changed = 0;
        for (file, edits) in edits.iter().filter(|_| round < ROUNDS) {
            let source = manifests.sources.get(*file);
            let (text, count) = apply(&source.text, edits);
            if scope.covers(&source.path) && text != source.text {
                changed += count;
                fixed.before.entry(source.path.clone()).or_insert_with(|| source.text.clone().into_bytes());
                fixed.after.insert(source.path.clone(), text.into_bytes());
            }
        }
        fixed.problems += changed;
        if changed == 0 {
            return Ok((manifests, verdict, fixed));
        }
    }
    unreachable!("the rounds end when nothing changes, at the latest after the last one that edits")
}

impl Fixed {
    /// Writes the files that changed.
    pub fn write(&self, root: &Path) -> Result<(), Failure> {
        for (name, after) in &self.after {
            let path = root.join(name);
            let now = files::read(&path, u64::MAX - 1).map_err(|why| failed(name, &why))?;
            if self.before.get(name) != Some(&now) {
                return Err(failed(name, "it was changed meanwhile").help("run the command again"));
            }
            replace(&path, after).map_err(|error| failed(name, &files::describe(&error)))?;
        }
        Ok(())
    }
}

fn failed(name: &str, why: &str) -> Failure {
    Failure::new(format!("`{name}` cannot be written: {why}"))
}

/// Puts a new text in the place of a file's old one, at once and with the same permissions. A symbolic link is refused.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let old = fs::symlink_metadata(path)?;
    if old.is_symlink() {
        return Err(io::Error::other("it is a symbolic link, which is not followed"));
    }
    if !old.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&new)?;
    let written = write(&mut file, text, old.permissions()).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // What is left behind is no manifest and harms nobody; the first failure is the one to tell.
        let _ = fs::remove_file(&new);
    }
    written
}

fn write(file: &mut File, text: &[u8], permissions: fs::Permissions) -> io::Result<()> {
    file.write_all(text)?;
    file.set_permissions(permissions)?;
    file.sync_all()
}
