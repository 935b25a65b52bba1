//! Finds the repository that a folder belongs to. Git's own search also accepts a folder of the work tree that looks like a bare
//! repository, and the settings of a repository name programs that git runs.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};

/// The name that git never tracks: a file with this name cannot come from a commit.
const NAME: &str = ".git";
/// A file that names a git directory is one short line.
const LONGEST: u64 = 8192;

/// A git directory and its work tree, both without symbolic links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    pub dir: PathBuf,
    pub top: PathBuf,
}

/// Returns the repository of the innermost folder with a `.git`, or `None` if there is none. The error says why git must not run
/// there.
pub fn locate(folder: &Path) -> anyhow::Result<Option<Located>> {
    let Ok(folder) = real(folder) else { return Ok(None) };
    for top in folder.ancestors() {
        let entry = top.join(NAME);
        let Ok(found) = fs::metadata(&entry) else { continue };
        let dir = match found.is_file() {
            true => named_by(&entry)?,
            false => entry.clone(),
        };
        let dir = real(&dir).map_err(|_| anyhow!("{} does not name a git directory", entry.display()))?;
        if found.is_dir() && !is_git_dir(&dir) {
            continue;
        }
        if let Some(outer) = top.ancestors().find(|outer| is_content(&dir, outer)) {
            bail!(
                "{} names the git directory {}, which is part of the work tree {}",
                entry.display(),
                dir.display(),
                outer.display()
            );
        }
        if !is_git_dir(&dir) {
            bail!("{} names {}, which is not a git directory", entry.display(), dir.display());
        }
        return Ok(Some(Located { dir, top: top.to_owned() }));
    }
    Ok(None)
}

/// A path without symbolic links, as git takes it: not in the long form of Windows.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    let path = fs::canonicalize(path)?;
    let short = path.to_str().filter(|_| cfg!(windows)).and_then(|text| text.strip_prefix(r"\\?\"));
    Ok(short.filter(|text| !text.starts_with(r"UNC\")).map(PathBuf::from).unwrap_or(path))
}

/// The git directory that the `.git` file of a worktree or a submodule names.
fn named_by(file: &Path) -> anyhow::Result<PathBuf> {
    let unreadable = || anyhow!("{} does not name a git directory", file.display());
    let mut text = String::new();
    let read = File::open(file).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    read.map_err(|_| unreadable())?;
    let named = text.strip_prefix("gitdir: ").ok_or_else(unreadable)?.trim_end_matches(['\r', '\n']);
    Ok(file.parent().unwrap_or(Path::new("/")).join(named))
}

fn is_git_dir(dir: &Path) -> bool {
    let has_objects = dir.join("objects").is_dir() && dir.join("refs").is_dir();
    fs::symlink_metadata(dir.join("HEAD")).is_ok() && (has_objects || dir.join("commondir").is_file())
}

/// Whether a path is in a work tree and outside of every `.git`, so that it may come from a commit.
pub(crate) fn is_content(path: &Path, top: &Path) -> bool {
    let is_tree = fs::symlink_metadata(top.join(NAME)).is_ok();
    let inside = path.strip_prefix(top).ok().filter(|_| is_tree);
    inside.is_some_and(|inside| inside.iter().all(|part| part != OsStr::new(NAME)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_git_dir(dir: &Path) {
        for folder in ["objects", "refs"] {
            fs::create_dir_all(dir.join(folder)).expect("a folder");
        }
        fs::write(dir.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
    }

    #[test]
    fn a_git_directory_that_a_commit_could_bring_is_not_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let top = fs::canonicalize(folder.path()).expect("a folder");
        let sub = top.join("team/sub");
        fs::create_dir_all(&sub).expect("a folder");
        // A bare repository in the work tree, with no `.git` anywhere.
        make_git_dir(&sub);
        assert_eq!(locate(&sub).expect("none"), None);
        make_git_dir(&top.join(".git"));
        let outer = Located { dir: top.join(".git"), top: top.clone() };
        assert_eq!(locate(&sub).expect("outer"), Some(outer.clone()));
        assert_eq!(locate(&top).expect("outer"), Some(outer.clone()));
        // An empty `.git` is no repository.
        fs::create_dir(sub.join(".git")).expect("a folder");
        assert_eq!(locate(&sub).expect("outer"), Some(outer));
        fs::remove_dir(sub.join(".git")).expect("removed");
        // A submodule.
        make_git_dir(&top.join(".git/modules/sub"));
        fs::write(sub.join(".git"), "gitdir: ../../.git/modules/sub\n").expect("a file");
        let module = Located { dir: top.join(".git/modules/sub"), top: sub.clone() };
        assert_eq!(locate(&sub.join("objects")).expect("a submodule"), Some(module));
        // A file that names a folder of the work tree, or of the one around it.
        make_git_dir(&top.join("evil"));
        make_git_dir(&sub.join("evil"));
        for named in ["../../evil", "./evil", ".", "evil/../evil"] {
            fs::write(sub.join(".git"), format!("gitdir: {named}\n")).expect("a file");
            let why = locate(&sub).expect_err(named);
            assert!(why.to_string().contains("part of the work tree"), "{why}");
        }
        for named in ["gitdir: gone\n", "gitdir: ../../../\n", "x\n", ""] {
            fs::write(sub.join(".git"), named).expect("a file");
            assert!(locate(&sub).is_err(), "{named}");
        }
        #[cfg(unix)]
        {
            fs::remove_file(sub.join(".git")).expect("removed");
            std::os::unix::fs::symlink("evil", sub.join(".git")).expect("a link");
            assert!(locate(&sub).is_err());
        }
    }
}
