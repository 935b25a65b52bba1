//! The repository of a folder, and the meaning of names in it. Neither its files nor its index change.

use std::fmt;
use std::path::Path;

use pushplan_model::text::{shell_word, short};
use serde::{Deserialize, Serialize};

use super::{Commit, Git, Ran, Unusable};
use crate::failure::Failure;

/// The number of digits of a commit id to show.
const DIGITS: usize = 12;

/// The repository of a folder.
#[derive(Clone, Debug)]
pub struct Repository {
    git: Git,
}

/// A commit, and the name that it was requested by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    pub name: String,
    pub id: String,
}

/// Such as `origin/main (1f3870be274f)`, or only the digits if it was requested by them.
impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.id.get(..DIGITS).unwrap_or(&self.id);
        match self.id.starts_with(&self.name) {
            true => f.write_str(digits),
            false => write!(f, "{} ({digits})", self.name),
        }
    }
}

impl Repository {
    pub fn of(root: &Path) -> Result<Self, Failure> {
        match Git::find_now(root) {
            Ok(Some(git)) => Ok(Self { git }),
            Ok(None) => {
                Err(Failure::new("the project is not in a git repository, so there are no commits to compare with")
                    .help("run pushplan in a clone"))
            }
            Err(unusable) => Err(failure(&unusable)),
        }
    }

    /// Returns the commit of a name: a branch, a tag, or the digits of an id.
    pub fn revision(&self, name: &str) -> Result<Revision, Failure> {
        if name.is_empty() || name.starts_with('-') || name.contains(|c: char| c.is_control()) {
            return Err(Failure::usage(format!("`{}` is not a valid name of a commit", short(name, 60)))
                .help("write a branch, a tag or a commit, such as origin/main"));
        }
        let said = self.say(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")])?;
        match said.is_ok {
            true => Ok(Revision { name: name.to_owned(), id: said.line() }),
            false => Err(self.unknown(name)),
        }
    }

    /// Returns the newest commit that two commits have in common.
    pub fn merge_base(&self, one: &Revision, other: &Revision) -> Result<Revision, Failure> {
        let said = self.say(&["merge-base", &one.id, &other.id])?;
        if said.is_ok {
            return Ok(Revision { name: format!("merge base of {} and {}", one.name, other.name), id: said.line() });
        }
        let failure = Failure::new(format!("{one} and {other} have no commit in common here"));
        Err(match self.is_shallow() {
            true => failure.help(DEEPEN),
            false => failure.help(format!("compare them as they are: {}..{}", one.name, other.name)),
        })
    }

    /// Returns the files of a commit in the folder.
    pub fn commit(&self, revision: &Revision) -> Result<Commit, Failure> {
        let said = self.say(&["ls-tree", "-r", "-z", &revision.id])?;
        if !said.is_ok {
            return Err(refused(&said));
        }
        Ok(Commit::new(self.git.clone(), &said.out))
    }

    /// Returns the main branch of the remote `origin`, if this clone knows it; otherwise `main` if the remote has it;
    /// otherwise the current branch.
    pub fn main_branch(&self) -> Option<String> {
        let said = self.git.ask(&["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
        let told = said.as_ref().and_then(|said| said.strip_prefix("origin/")).map(str::to_owned);
        let is_there = || self.git.ask(&["rev-parse", "--verify", "--quiet", "refs/remotes/origin/main"]).is_some();
        let here = || match is_there() {
            true => Some("main".to_owned()),
            false => self.git.ask(&["symbolic-ref", "--quiet", "--short", "HEAD"]),
        };
        told.or_else(here).filter(|branch| !branch.is_empty())
    }

    fn say(&self, args: &[&str]) -> Result<Ran, Failure> {
        self.git.say(args).map_err(|silent| failure(&silent.into()))
    }

    fn is_shallow(&self) -> bool {
        self.git.ask(&["rev-parse", "--is-shallow-repository"]).is_some_and(|said| said == "true")
    }

    fn unknown(&self, name: &str) -> Failure {
        let failure = Failure::new(format!("the commit `{}` is not in this clone", short(name, 120)));
        let remotes = self.git.ask(&["remote"]).unwrap_or_default();
        let of_remote = name.split_once('/').filter(|(remote, _)| remotes.lines().any(|line| line == *remote));
        match (of_remote, self.is_shallow()) {
            (Some((remote, branch)), _) => {
                let branch = format!("+refs/heads/{branch}:refs/remotes/{remote}/{branch}");
                failure.help(format!(
                    "fetch it: git fetch --depth=1 {} {}\n          in GitHub Actions, `fetch-depth: 0` of actions/checkout \
                     fetches all branches; in GitLab, `GIT_DEPTH: 0`",
                    shell_word(remote),
                    shell_word(&branch)
                ))
            }
            (None, true) => failure.help(DEEPEN),
            (None, false) => failure.help("`git fetch` gets new commits; `git branch -a` lists the branches"),
        }
    }
}

/// How to fix a clone that has only some commits.
const DEEPEN: &str = "this clone has only the newest commits: git fetch --unshallow\n          in GitHub Actions, \
                      `fetch-depth: 0` of actions/checkout; in GitLab, `GIT_DEPTH: 0`";

fn refused(said: &Ran) -> Failure {
    failure(&Unusable::Refused(said.err.clone()))
}

fn failure(unusable: &Unusable) -> Failure {
    let (why, help) = unusable.told();
    Failure { help, ..Failure::new(why) }
}
