//! Selection of targets by names and patterns.

use pushplan_io::failure::Failure;
use pushplan_model::text;
use pushplan_project::manifest::{PROJECT_FILE, Project};

use super::target::few;

/// Whether it is a name, not a pattern.
pub fn is_plain(name: &str) -> bool {
    !name.contains('*')
}

/// The selected targets, each once and sorted by name. A word that is no name, group or pattern may be a value of the matrix. A
/// word that matches nothing is a failure.
pub fn select(project: &Project, wanted: &[String]) -> Result<Vec<String>, Failure> {
    let names = project.target_names();
    let mut chosen = vec![false; names.len()];
    for word in wanted {
        let of_group = project.targets_of(word);
        let is_meant = |name: &&str| text::is_like(word, name) || of_group.contains(name);
        let with_value = match names.iter().any(&is_meant) {
            true => Vec::new(),
            false => project.targets_with(word),
        };
        let mut any = false;
        let is_chosen = |name: &&str| is_meant(name) || with_value.contains(name);
        for (_, chosen) in names.iter().zip(&mut chosen).filter(|(name, _)| is_chosen(name)) {
            (any, *chosen) = (true, true);
        }
        if !any {
            return Err(nothing(project, word));
        }
    }
    Ok(names.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(name, _)| (*name).to_owned()).collect())
}

/// The separators of the parts of a name.
const BETWEEN: [char; 4] = ['-', '_', '.', '*'];

/// A pattern with one of its parts corrected to that of a name: `shp-*` is `shop-*`.
fn near(pattern: &str, names: &[&str]) -> Option<String> {
    let parts: Vec<&str> = names.iter().flat_map(|name| name.split(BETWEEN)).filter(|part| !part.is_empty()).collect();
    pattern.split(BETWEEN).filter(|part| !part.is_empty() && !parts.contains(part)).find_map(|part| {
        let near = pattern.replacen(part, text::nearest(part, parts.iter().copied())?, 1);
        names.iter().any(|name| text::is_like(&near, name)).then_some(near)
    })
}

/// The failure for a name or pattern that matches no target.
fn nothing(project: &Project, word: &str) -> Failure {
    let (names, groups) = (project.target_names(), project.group_names());
    let failure = Failure::usage(match is_plain(word) {
        true => format!("no target has the name `{word}`"),
        false => format!("no target is called `{word}`"),
    });
    let known = || names.iter().chain(&groups).copied();
    match text::nearest(word, known()).map(str::to_owned).or_else(|| near(word, &names)) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None if names.is_empty() => failure.help(format!("add [targets.<name>] to {PROJECT_FILE}")),
        None => {
            let groups = if groups.is_empty() { String::new() } else { format!("; the groups are {}", few(&groups)) };
            failure.help(format!("the targets are {}{groups}", few(&names)))
        }
    }
}
