//! The repository that git runs in: the project's own, with its remotes and credentials, or one in `.pushplan`.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{anyhow, bail};
use pushplan_io::files::describe;
use pushplan_io::git::Git;

use super::objects::RecordTree;
use super::remote::{Refs, Remote, is_ssh};
use super::told::Trouble;

/// The folder for pushplan's own files, next to a project's manifests.
const OWN: &str = ".pushplan";
const FOLDER: &str = "git";

/// The repository that git runs in, and the remote that it pushes to.
#[derive(Clone, Debug)]
pub struct Home {
    pub git: Git,
    /// The argument for git.
    pub remote: String,
    /// The name for display.
    pub shown: String,
    /// The local ref of what was last seen on the server. It keeps the fetched objects, and shows if the server has
    /// lost something.
    pub seen: String,
    address: String,
    /// The folder of pushplan's own repository, if that is used.
    own: Option<PathBuf>,
    /// Whether it is for one read, in a folder that is removed afterwards.
    is_apart: bool,
}

impl Home {
    /// The records in its repository.
    pub fn records(&self) -> RecordTree<'_> {
        RecordTree(&self.git)
    }

    /// Finds the repository. Creates nothing yet. For readers only, everything that is created is in the folder
    /// `apart`.
    pub async fn find(
        root: &Path,
        remote: Remote,
        refs: &Refs,
        limit: Duration,
        apart: Option<&Path>,
    ) -> Result<Self, Trouble> {
        let inside = Git::find(root, limit).await?;
        let own = inside.is_none().then(|| root.join(OWN).join(FOLDER));
        let is_made = own.as_ref().is_none_or(|own| own.join("HEAD").exists());
        let own = match apart {
            Some(apart) if !is_made => Some(apart.join(FOLDER)),
            _ => own,
        };
        let git = match (inside, &own) {
            (Some(git), None) => git,
            (_, own) => {
                let git = Git::outside(root, limit);
                own.iter().fold(git, |git, own| git.own(PathBuf::clone(own))).vetted().await?
            }
        };
        let shown = remote.shown();
        let address = match &remote {
            Remote::Named(name) if own.is_some() => {
                let why = format!("the project is not in a git repository, so it has no remote `{name}`");
                let help = "run pushplan in a clone, or give the address of a repository instead of a name";
                return Err(Trouble::with(&why, help));
            }
            Remote::Named(name) => named(&git, name).await?,
            Remote::Address(address) => address.clone(),
            Remote::Folder(folder) => {
                refuse_inside(git.top(), folder)?;
                folder.display().to_string()
            }
        };
        let git = if is_ssh(&address) && !has_ssh(&git) { git.batch() } else { git };
        let git = match apart.filter(|_| is_made) {
            Some(apart) => keeping_apart(git, root, apart).await?,
            None => git,
        };
        let is_apart = apart.is_some();
        Ok(Self { git, remote: remote.argument(), shown, seen: refs.seen(&address), address, own, is_apart })
    }

    /// Returns the place of another target on this server.
    pub fn for_target(&self, refs: &Refs) -> Self {
        Self { seen: refs.seen(&self.address), ..self.clone() }
    }

    /// Whether the repository exists.
    pub fn is_made(&self) -> bool {
        self.own.as_ref().is_none_or(|own| own.join("HEAD").exists())
    }

    /// Creates pushplan's own repository if it is needed and does not exist.
    pub async fn make(&self, root: &Path) -> Result<(), Trouble> {
        let Some(own) = &self.own else { return Ok(()) };
        if self.is_apart {
            make_private(own).map_err(|why| Trouble::new(&why.to_string()))?;
        } else {
            for folder in [&root.join(OWN), own] {
                make_private(folder).map_err(|why| Trouble::new(&why.to_string()))?;
            }
        }
        if self.is_made() {
            return Ok(());
        }
        // Git and pushplan would also work without this file.
        if !self.is_apart {
            let ignore = OpenOptions::new().write(true).create_new(true).open(root.join(OWN).join(".gitignore"));
            let _ = ignore.and_then(|mut file| file.write_all(b"*\n"));
        }
        let made = self.git.run(&["init", "--quiet", "--bare", "--template="], b"").await?;
        if made.is_ok { Ok(()) } else { Err(Trouble::of(&made.err)) }
    }
}

/// Returns a git that writes objects into another folder, and reads them there and in the repository.
async fn keeping_apart(git: Git, root: &Path, apart: &Path) -> Result<Git, Trouble> {
    let told = git.run(&["rev-parse", "--git-path", "objects"], b"").await?;
    if !told.is_ok {
        return Err(Trouble::of(&told.err));
    }
    let objects = apart.join("objects");
    make_private(&objects).map_err(|why| Trouble::new(&why.to_string()))?;
    Ok(git.apart(objects, root.join(told.line())))
}

/// Returns the address of a remote of the repository.
async fn named(git: &Git, name: &str) -> Result<String, Trouble> {
    let told = git.run(&["remote", "get-url", "--", name], b"").await?;
    if told.is_ok {
        return Ok(told.line());
    }
    let why = format!("the project's repository has no remote called `{name}`");
    let help = format!("add it with `git remote add {name} ADDRESS`, or name another one in the target's `ledger`");
    Err(Trouble::with(&why, &help))
}

/// Whether the user configured how to start ssh.
fn has_ssh(git: &Git) -> bool {
    let by_environment = ["GIT_SSH_COMMAND", "GIT_SSH"].iter().any(|name| std::env::var_os(name).is_some());
    by_environment || git.setting("core.sshcommand").is_some()
}

/// Refuses a repository in the project: it could contain hooks, which a push to it runs.
fn refuse_inside(top: &Path, folder: &Path) -> Result<(), Trouble> {
    let (Ok(top), Ok(folder)) = (fs::canonicalize(top), fs::canonicalize(folder)) else { return Ok(()) };
    if !folder.starts_with(&top) {
        return Ok(());
    }
    let why = format!("{} is in the project itself", folder.display());
    Err(Trouble::with(
        &why,
        "keep the ledger's repository elsewhere: a repository in the project could contain programs that a push runs",
    ))
}

/// Creates a folder that only its owner can read. Refuses a symbolic link: a project does not choose where on the
/// machine pushplan writes.
fn make_private(folder: &Path) -> anyhow::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let shown = folder.display();
    match builder.create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            bail!("{shown} cannot be created: {}", describe(&error));
        }
        _ => {}
    }
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(anyhow!("{shown} is not a folder, or is a symbolic link, which is not followed")),
        Err(error) => Err(anyhow!("{shown} cannot be read: {}", describe(&error))),
    }
}
