//! The commit of the project's files, and its relation to the last applied one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

use pushplan_io::git::Git;
use pushplan_ledger::{Ancestry, Checkout, Descent};

/// The state of a folder in git.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Here {
    At(Checkout),
    /// It is in no repository, or one without a commit.
    Outside,
    /// It is in a repository, and git failed.
    Unknown,
}

/// A call of git that runs while files are read. The commit is read before the files: if both change at the same time,
/// the files are newer than the commit, never older.
#[derive(Clone, Debug)]
pub struct CheckoutQuery(Arc<Asking>);

#[derive(Debug)]
struct Asking {
    root: PathBuf,
    answer: OnceLock<Here>,
    thread: Mutex<Option<JoinHandle<Here>>>,
}

/// The call for the current reader: several targets of one project share it.
static LAST: Mutex<Option<CheckoutQuery>> = Mutex::new(None);

/// Starts git for the project in a folder. Call it before reading its files.
pub fn ask(root: &Path) {
    let folder = root.to_owned();
    let thread = thread::Builder::new().spawn(move || here(&folder)).ok();
    let asked =
        CheckoutQuery(Arc::new(Asking { root: root.to_owned(), answer: OnceLock::new(), thread: Mutex::new(thread) }));
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(asked);
}

/// The call that was started before the files of a folder were read.
pub fn asked(root: &Path) -> CheckoutQuery {
    let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match last().filter(|asked| asked.0.root == root) {
        Some(asked) => asked,
        None => {
            let unasked = Asking { root: root.to_owned(), answer: OnceLock::new(), thread: Mutex::default() };
            CheckoutQuery(Arc::new(unasked))
        }
    }
}

impl CheckoutQuery {
    fn answer(&self) -> &Here {
        let Asking { root, answer, thread } = &*self.0;
        answer.get_or_init(|| {
            let thread = thread.lock().unwrap_or_else(PoisonError::into_inner).take();
            thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| here(root))
        })
    }

    /// The checked out commit, if it is known.
    pub fn checkout(&self) -> Option<Checkout> {
        match self.answer() {
            Here::At(checkout) => Some(checkout.clone()),
            Here::Outside | Here::Unknown => None,
        }
    }

    /// How the files relate to the last applied ones.
    pub fn descent(&self, applied: &Checkout) -> Descent {
        let here = self.checkout();
        let is_same = |here: &Checkout| here.commit == applied.commit;
        let ancestry = match (&here, self.answer()) {
            // A dirty work tree has the applied changes; a clean clone does not.
            (Some(here), _) if is_same(here) && applied.dirty && !here.dirty => Ancestry::Uncommitted,
            (Some(here), _) => match Git::find_now(&self.0.root) {
                Ok(Some(git)) => ancestry(&git, &applied.commit, &here.commit),
                _ => Ancestry::Unknown,
            },
            (None, Here::Outside) => Ancestry::Outside,
            (None, _) => Ancestry::Unknown,
        };
        Descent { applied: applied.clone(), here, ancestry }
    }
}

fn here(root: &Path) -> Here {
    let git = match Git::find_now(root) {
        Ok(Some(git)) => git,
        Ok(None) => return Here::Outside,
        Err(_) => return Here::Unknown,
    };
    // No git is started in a submodule, because its settings were not checked.
    let options = ["--porcelain=v2", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty"];
    match git.say(&[&["status"], &options[..], &["--", "."]].concat()) {
        Ok(said) if said.is_ok => read(&String::from_utf8_lossy(&said.out)).map_or(Here::Outside, Here::At),
        _ => Here::Unknown,
    }
}

/// Parses the output of `git status`. `None` if there is no commit yet.
fn read(said: &str) -> Option<Checkout> {
    let head = |name: &str| said.lines().find_map(|line| line.strip_prefix(&format!("# branch.{name} ")));
    let commit = head("oid").filter(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    let branch = head("head").filter(|name| *name != "(detached)").map(str::to_owned);
    let dirty = said.lines().any(|line| !line.is_empty() && !line.starts_with("# "));
    Some(Checkout { commit: commit.to_owned(), branch, dirty })
}

fn ancestry(git: &Git, applied: &str, here: &str) -> Ancestry {
    if applied == here {
        return Ancestry::Same;
    }
    if applied.is_empty() || !applied.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ancestry::Unknown;
    }
    let is_shallow = || git.ask(&["rev-parse", "--is-shallow-repository"]).is_none_or(|said| said != "false");
    match git.say(&["cat-file", "-e", &format!("{applied}^{{commit}}")]) {
        Ok(said) if said.is_ok => {}
        // A complete clone would have every ancestor of the checked out commit.
        Ok(_) if !is_shallow() => return Ancestry::Missing,
        _ => return Ancestry::Unknown,
    }
    // Its exit code is the answer; a message explains why it cannot answer.
    let is_ancestor = |one: &str, other: &str| match git.say(&["merge-base", "--is-ancestor", one, other]) {
        Ok(said) if said.is_ok => Some(true),
        Ok(said) if said.err.trim().is_empty() => Some(false),
        _ => None,
    };
    match is_ancestor(applied, here) {
        Some(true) => Ancestry::Descendant,
        // The missing part of a shallow history may show it.
        Some(false) if is_shallow() => Ancestry::Unknown,
        Some(false) => match is_ancestor(here, applied) {
            Some(true) => Ancestry::Behind,
            Some(false) => Ancestry::Diverged,
            None => Ancestry::Unknown,
        },
        None => Ancestry::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_says_is_read() {
        let clean = "# branch.oid 1f38\n# branch.head main\n# branch.upstream origin/main\n# branch.ab +0 -1\n";
        let main = Checkout { commit: "1f38".into(), branch: Some("main".into()), dirty: false };
        assert_eq!(read(clean), Some(main.clone()));
        assert_eq!(read(&format!("{clean}? new.yaml\n")), Some(Checkout { dirty: true, ..main.clone() }));
        let detached = clean.replace("main\n", "(detached)\n");
        assert_eq!(read(&detached), Some(Checkout { branch: None, ..main }));
        assert_eq!(read("# branch.oid (initial)\n# branch.head main\n"), None);
    }
}
