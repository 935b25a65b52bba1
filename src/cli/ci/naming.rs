//! Adding the ledger of each target to the project file, for `ci init`.

use std::fs;
use std::path::Path;

use crate::failure::Failure;
use crate::files::{describe, read_unlinked};
use crate::manifest::{FILE_LIMIT, PROJECT_FILE, Project, to_text};
use crate::source::Span;

/// The place that every project in a repository has.
pub const PLACE: &str = "git";

/// Writes a ledger below the `base_url` of every target without one, and returns the names of these targets. A file in
/// which that is not on a separate line is not changed; `validate` reports what is missing.
pub(crate) fn name_ledgers(root: &Path) -> Result<Vec<String>, Failure> {
    let path = root.join(PROJECT_FILE);
    let Some((before, None)) = read_unlinked(&path, FILE_LIMIT).ok().map(to_text) else { return Ok(Vec::new()) };
    let project = Project::open(root);
    let lacking = unnamed(&project);
    let mut places: Vec<Span> = lacking.iter().map(|(_, at)| *at).collect();
    places.sort_by_key(|at| at.range().start);
    places.dedup();
    let mut text = before.clone();
    for at in places.iter().rev() {
        let Some(end) = line_end(&before, *at) else { return Ok(Vec::new()) };
        text.insert_str(end, &format!("\nledger = \"{PLACE}\""));
    }
    if lacking.is_empty() || !is_sound(root, &text) {
        return Ok(Vec::new());
    }
    fs::write(&path, text)
        .map_err(|error| Failure::new(format!("{} cannot be written: {}", path.display(), describe(&error))))?;
    Ok(lacking.into_iter().map(|(name, _)| name).collect())
}

/// The targets without a ledger, with the position of their `base_url`. Those of a matrix share one.
fn unnamed(project: &Project) -> Vec<(String, Span)> {
    let names = project.target_names().into_iter();
    let all = names.filter_map(|name| Some((name, project.target(name)?)));
    let lacking = all.filter(|(_, target)| target.ledger.is_none());
    lacking.filter_map(|(name, target)| Some((name.to_owned(), target.base_url.as_ref()?.span))).collect()
}

/// The end of the line of a setting that is alone on its line.
fn line_end(text: &str, at: Span) -> Option<usize> {
    let (before, after) = (text.get(..at.range().start)?, text.get(at.range().end..)?);
    let key = before.rsplit('\n').next()?.split('=').next()?.trim();
    let rest = after.lines().next().unwrap_or_default();
    let is_alone = key == "base_url" && (rest.trim().is_empty() || rest.trim_start().starts_with('#'));
    is_alone.then(|| at.range().end + rest.len())
}

fn is_sound(root: &Path, text: &str) -> bool {
    let (mut sources, mut findings) = Default::default();
    let project = Project::read(root, text.to_owned(), &mut sources, &mut findings);
    unnamed(&project).is_empty()
}
