//! The commit that the files of a run were, so that files that are older than what was applied are noticed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How many digits of a commit's id people get to see.
const DIGITS: usize = 12;

/// What was checked out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkout {
    pub commit: String,
    /// `None`: no branch, but the commit itself.
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
    /// It has the other one in its history.
    Descendant,
    /// It is at the commit of the other one, without the changes that were applied and not committed.
    Uncommitted,
    /// The other one has it in its history: it is older.
    Behind,
    /// Neither has the other one in its history.
    Diverged,
    /// This clone has all of its history, and not the other commit: it is older or diverged.
    Missing,
    /// This clone has only the newest commits, or git could not be asked.
    Unknown,
    /// The project is in no git repository.
    Outside,
}

impl Ancestry {
    /// Whether the files contain what the other checkout had. Where there is no git, nobody expects an answer.
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
    /// What was applied last.
    pub applied: Checkout,
    /// What is checked out here, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub here: Option<Checkout>,
    pub ancestry: Ancestry,
}

impl Descent {
    /// What a reader of the plan should know first. Nothing where the files contain what was applied.
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

    /// How to get files that contain what was applied.
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

/// `1f3870be274f (main, with uncommitted changes)`.
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
