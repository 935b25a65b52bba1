//! The project of a run. Two projects with one ledger would delete each other's resources.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A project, identified in the same way on every machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Home {
    /// The name in its project file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its repository and its folder in it, such as `git.example/team/shop/messages`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl Home {
    /// Whether this is certainly another project. A name is only a claim; without one on both sides, the place decides.
    pub fn is_other(&self, than: &Self) -> bool {
        match (&self.name, &than.name) {
            (Some(one), Some(other)) => one != other,
            _ => matches!((&self.place, &than.place), (Some(one), Some(other)) if one != other),
        }
    }

    pub fn is_known(&self) -> bool {
        self.name.is_some() || self.place.is_some()
    }

    /// Returns the place of a folder in a repository with this remote. It has no scheme, user or password, so that it
    /// is the same for every protocol and user.
    pub fn place(remote: &str, folder: &str) -> String {
        let (rest, is_url) = remote.split_once("://").map_or((remote, false), |(_, rest)| (rest, true));
        let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        // `host:path` is the form of ssh.
        let rest = if is_url { rest.to_owned() } else { rest.replacen(':', "/", 1) };
        let rest = rest.trim_end_matches('/');
        let rest = rest.strip_suffix(".git").unwrap_or(rest);
        let folder = folder.trim_matches('/');
        if folder.is_empty() { rest.to_owned() } else { format!("{rest}/{folder}") }
    }
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, &self.place) {
            (Some(name), Some(place)) => write!(f, "`{name}` ({place})"),
            (Some(one), None) | (None, Some(one)) => write!(f, "`{one}`"),
            (None, None) => f.write_str("one without a name"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(name: &str, place: &str) -> Home {
        let filled = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Home { name: filled(name), place: filled(place) }
    }

    #[test]
    fn a_project_is_another_one_only_where_that_is_certain() {
        for (one, other, expected) in [
            (home("shop", "a"), home("cafe", "a"), true),
            (home("shop", "a"), home("shop", "b"), false),
            (home("", "a"), home("", "b"), true),
            (home("shop", "a"), home("", "b"), true),
            (home("shop", "a"), home("", "a"), false),
            (home("shop", ""), home("", "b"), false),
            (home("", ""), home("shop", "b"), false),
        ] {
            assert_eq!((one.is_other(&other), other.is_other(&one)), (expected, expected), "{one} {other}");
        }
    }

    #[test]
    fn a_place_is_the_same_however_it_is_reached() {
        for remote in [
            "https://git.example/team/shop.git",
            "https://ada:geheim@git.example/team/shop",
            "https://ada:ge/he@im@git.example/team/shop/",
            "ssh://git@git.example/team/shop.git",
            "git@git.example:team/shop.git",
        ] {
            assert_eq!(Home::place(remote, "messages/"), "git.example/team/shop/messages", "{remote}");
        }
        assert_eq!(Home::place("/srv/shop.git", ""), "/srv/shop");
    }
}
