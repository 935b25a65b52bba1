//! Git in the repository that a folder belongs to: located by pushplan, accepted by git, and without settings from the work tree.

use std::path::Path;
use std::time::Duration;

use super::locate::{Located, locate, real};
use super::settings::{Foreign, GitSettings};
use super::{Git, LIMIT, OF_ANOTHER, Ran, Silent, trust};

/// Asks git for the repository of a folder that has a `.git`. Git then checks the owner, which it does not do for a git
/// directory that is named.
const ASK: [&str; 2] = ["rev-parse", "--absolute-git-dir"];
const LIST: [&str; 4] = ["config", "--list", "--show-origin", "-z"];

/// Why git does not run in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    Silent(Silent),
    /// Git refuses, with this message.
    Refused(String),
    /// A file that comes with the project could choose what git runs.
    Unsafe {
        why: String,
        help: String,
    },
}

impl Unusable {
    /// Returns what is wrong, and how to fix it.
    pub fn told(&self) -> (String, Option<String>) {
        match self {
            Self::Unsafe { why, help } => (why.clone(), Some(help.clone())),
            Self::Silent(Silent::NotStarted(why) | Silent::Broken(why)) => {
                (why.clone(), Some("install git 2.30 or later".to_owned()))
            }
            Self::Silent(Silent::TooSlow(_)) => ("git did not answer in time".to_owned(), None),
            Self::Refused(err) => match trust(err) {
                Some(help) => (OF_ANOTHER.to_owned(), Some(help)),
                None => {
                    let line = err.lines().next().unwrap_or("without a reason");
                    (format!("git refuses: {}", line.trim_start_matches("fatal: ")), None)
                }
            },
        }
    }
}

impl From<Silent> for Unusable {
    fn from(silent: Silent) -> Self {
        Self::Silent(silent)
    }
}

impl Git {
    /// Returns git in the repository of a folder, or `None` if the folder is in none.
    pub async fn find(root: &Path, limit: Duration) -> Result<Option<Self>, Unusable> {
        let Some(located) = located(root)? else { return Ok(None) };
        let ran = Self::outside(&located.top, limit).run(&ASK, b"").await?;
        accepted(&located, &ran)?;
        Ok(Some(Self::outside(root, limit).inside(located).vetted().await?))
    }

    /// Like [`Self::find`], but without an async runtime.
    pub fn find_now(root: &Path) -> Result<Option<Self>, Unusable> {
        let Some(located) = located(root)? else { return Ok(None) };
        accepted(&located, &Self::outside(&located.top, LIMIT).say(&ASK)?)?;
        let git = Self::outside(root, LIMIT).inside(located);
        let listed = git.say(&LIST)?;
        git.judged(&listed).map(Some)
    }

    /// Reads the settings, and refuses those that come with the project.
    pub async fn vetted(self) -> Result<Self, Unusable> {
        let listed = self.run(&LIST, b"").await?;
        self.judged(&listed)
    }

    fn judged(self, listed: &Ran) -> Result<Self, Unusable> {
        if !listed.is_ok {
            return Err(Unusable::Refused(listed.err.clone()));
        }
        match GitSettings::read(&listed.out, self.root(), self.top(), self.own_dir()) {
            Ok(settings) => Ok(self.with(settings)),
            Err(foreign) => Err(self.refused(&foreign)),
        }
    }

    fn refused(&self, Foreign { name, file }: &Foreign) -> Unusable {
        let shown = file.display();
        let why = format!("git reads the setting {name} from {shown}, which is part of the project");
        let is_own = self.own_dir().and_then(|own| own.canonicalize().ok()).is_some_and(|own| file.starts_with(own));
        let help = match is_own {
            true => format!("pushplan does not write it: delete {shown}"),
            false => "anyone who can change the project could choose the programs that git runs: keep the setting in ~/.gitconfig or \
                      in .git/config, without an include"
                .to_owned(),
        };
        Unusable::Unsafe { why, help }
    }
}

pub(super) fn located(root: &Path) -> Result<Option<Located>, Unusable> {
    locate(root).map_err(|why| {
        let help =
            "anyone who can change the project could choose the programs that git runs: delete that `.git`, or clone \
                the repository again";
        Unusable::Unsafe { why: why.to_string(), help: help.to_owned() }
    })
}

/// Whether git uses the same repository, and accepts its owner.
fn accepted(located: &Located, ran: &Ran) -> Result<(), Unusable> {
    if !ran.is_ok {
        return Err(Unusable::Refused(ran.err.clone()));
    }
    let found = ran.line();
    if real(Path::new(&found)).is_ok_and(|found| found == located.dir) {
        return Ok(());
    }
    let why = format!("git uses {found} as the repository of {}, not {}", located.top.display(), located.dir.display());
    Err(Unusable::Unsafe { why, help: "check the `.git` of that folder".to_owned() })
}
