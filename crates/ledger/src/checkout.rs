//! The commit of a run's files, used to detect files that are older than the last apply.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of digits of a commit id to show.
const DIGITS: usize = 12;

/// A checked-out commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkout {
    pub commit: String,
    /// `None` if a commit is checked out without a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The project's folder had changes that were not committed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dirty: bool,
}

/// How a checkout relates to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ancestry {
    Same,
    /// Its history contains the other commit.
    Descendant,
    /// It is the same commit, without the uncommitted changes that were applied.
    Uncommitted,
    /// The other commit's history contains it, so it is older.
    Behind,
    /// Neither history contains the other commit.
    Diverged,
    /// This clone has its complete history but not the other commit, so it is older or diverged.
    Missing,
    /// This clone has only the newest commits, or git failed.
    Unknown,
    /// The project is not in a git repository.
    Outside,
}

impl Ancestry {
    /// Whether the files contain what the other checkout had. Always true outside of git.
    pub fn may_undo(self) -> bool {
        matches!(self, Self::Same | Self::Descendant | Self::Outside)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Descendant => "descendant",
            Self::Uncommitted => "uncommitted",
            Self::Behind => "behind",
            Self::Diverged => "diverged",
            Self::Missing => "missing",
            Self::Unknown => "unknown",
            Self::Outside => "outside",
        }
    }
}

/// How the files of a plan relate to those that were applied last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descent {
    /// The last applied checkout.
    pub applied: Checkout,
    /// The current checkout, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub here: Option<Checkout>,
    pub ancestry: Ancestry,
}

impl Descent {
    /// Returns a warning for readers of the plan; `None` if the files contain what was applied.
    pub fn words(&self) -> Option<String> {
        let applied = &self.applied;
        let here =
            self.here.as_ref().map_or_else(|| "this checkout".to_owned(), |here| format!("this checkout, {here},"));
        Some(match self.ancestry {
            Ancestry::Same | Ancestry::Descendant => return None,
            Ancestry::Uncommitted => format!(
                "These files may not contain the last apply: it was made from {applied}, and those changes are not \
                    in this checkout."
            ),
            Ancestry::Behind => format!("These files are older than the last apply: {here} is behind {applied}."),
            Ancestry::Diverged => {
                format!("These files do not contain the last apply: {here} is not a descendant of {applied}.")
            }
            Ancestry::Missing => format!(
                "These files do not contain the last apply: it was made from {applied}, which this clone does not have."
            ),
            Ancestry::Unknown => format!(
                "These files may be older than the last apply: whether {here} is a descendant of {applied} is unknown."
            ),
            Ancestry::Outside => format!(
                "These files may be older than the last apply: it was made from {applied}, and this project is not \
                    in a git repository."
            ),
        })
    }

    /// Returns how to get files that contain what was applied.
    pub fn help(&self) -> &'static str {
        match self.ancestry {
            Ancestry::Unknown => {
                "get the whole history with `git fetch --unshallow` (GitHub Actions: `fetch-depth: 0`, GitLab: `GIT_DEPTH: 0`)"
            }
            Ancestry::Uncommitted => "commit the changes that were applied, and update this clone with `git pull`",
            Ancestry::Diverged => "merge or rebase onto the commit that was applied",
            _ => "update this clone with `git pull`",
        }
    }
}

/// Such as `1f3870be274f (main, with uncommitted changes)`.
impl fmt::Display for Checkout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dirty = self.dirty.then_some("with uncommitted changes");
        let aside: Vec<&str> = self.branch.as_deref().into_iter().chain(dirty).collect();
        f.write_str(self.commit.get(..DIGITS).unwrap_or(&self.commit))?;
        if aside.is_empty() { Ok(()) } else { write!(f, " ({})", aside.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_is_shown_with_its_branch_and_edits() {
        let clean = Checkout { commit: "1f3870be274f6c49b3e31a0c6728957f".into(), branch: None, dirty: false };
        assert_eq!(clean.to_string(), "1f3870be274f");
        let dirty = Checkout { branch: Some("main".into()), dirty: true, ..clean };
        assert_eq!(dirty.to_string(), "1f3870be274f (main, with uncommitted changes)");
    }

    #[test]
    fn files_may_undo_something_only_if_they_contain_it() {
        use Ancestry::{Behind, Diverged, Missing, Uncommitted, Unknown};
        let all = [Uncommitted, Behind, Diverged, Missing, Unknown];
        assert!(all.iter().all(|ancestry| !ancestry.may_undo()));
        assert!([Ancestry::Same, Ancestry::Descendant, Ancestry::Outside].iter().all(|ancestry| ancestry.may_undo()));
    }
}
