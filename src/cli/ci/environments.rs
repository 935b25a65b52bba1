//! Environments: groups of targets in the order of a rollout, from development to production.

use crate::manifest::Project;

/// Words at the beginning or the end of the names of environments, with their order. Others are in between.
const ORDER: [(&[&str], u8); 3] = [
    (&["dev", "test", "qa", "sandbox", "int"], 0),
    (&["staging", "stage", "uat", "preprod", "preview"], 1),
    (&["production", "prod", "live"], 3),
];
const BETWEEN: u8 = 2;

/// A group of targets, or one target, with the name of an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    pub name: String,
    pub targets: Vec<String>,
}

/// The order of an environment; `None` for an unknown name.
fn known(name: &str) -> Option<u8> {
    let name = name.to_ascii_lowercase();
    let mut words = name.split(['-', '_', '.']).filter(|word| !word.is_empty());
    let (first, last) = (words.next(), words.next_back());
    let is_word = |known: &str| {
        let is_it = |word: &str| word == known || (known == "dev" && word == "development");
        first.is_some_and(is_it) || last.is_some_and(is_it)
    };
    ORDER.iter().find(|(words, _)| words.iter().any(|word| is_word(word))).map(|(_, place)| *place)
}

/// The order of an environment.
pub fn place(name: &str) -> u8 {
    known(name).unwrap_or(BETWEEN)
}

/// The environments of these targets, in the order of a rollout. Empty if there are none: groups that share a target or
/// exclude one are no environments, and neither are targets without such names.
pub fn of(project: &Project, targets: &[&str]) -> Vec<Environment> {
    let group = |name: &str| {
        let members = project.targets_of(name);
        let own = targets.iter().filter(|target| members.contains(target)).map(|target| (*target).to_owned());
        Environment { name: name.to_owned(), targets: own.collect() }
    };
    let groups: Vec<Environment> =
        project.group_names().into_iter().map(group).filter(|group| !group.targets.is_empty()).collect();
    let is_once =
        |target: &&str| groups.iter().filter(|group| group.targets.iter().any(|own| own == target)).count() == 1;
    let single = |target: &&str| Environment { name: (*target).to_owned(), targets: vec![(*target).to_owned()] };
    let mut found: Vec<Environment> = match () {
        () if groups.len() > 1 && targets.iter().all(is_once) => groups,
        () if targets.len() > 1 && targets.iter().all(|target| known(target).is_some()) => {
            targets.iter().map(single).collect()
        }
        () => Vec::new(),
    };
    found.sort_by_key(|environment| place(&environment.name));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_gets_to_production_last() {
        let mut names = ["prod-eu", "acceptance", "staging", "development", "eu-production", "test"];
        names.sort_by_key(|name| place(name));
        assert_eq!(names, ["development", "test", "staging", "acceptance", "prod-eu", "eu-production"]);
        assert_eq!(known("shop"), None);
        assert_eq!(known("livestream"), None);
    }
}
