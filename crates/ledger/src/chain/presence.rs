//! A lock file for each run on this machine: the system releases the lock when the process ends, however that happens.
//!
//! A file that can be locked proves that its run has ended here. A missing file proves nothing: the run may be on another machine or
//! in another checkout.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::PathBuf;

use super::Chain;

/// Shows other processes of this machine that a run is in progress, until it is dropped or its process ends.
#[derive(Debug)]
pub struct Presence {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Drop for Presence {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Chain {
    /// Locks a file for a run that is about to begin. Returns `None` if the file system does not allow it; other
    /// processes then have to observe the run's lease for its whole length.
    pub fn show_presence(&self, run: &str) -> Option<Presence> {
        let folder = &self.0.presence;
        folder.make_quickly().ok()?;
        self.sweep();
        let path = folder.path_of(run)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).ok()?;
        match file.try_lock() {
            Ok(()) => Some(Presence { path, _file: file }),
            Err(_) => {
                // An unlocked file would claim that the run has ended.
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Whether a run of this machine has certainly ended: its file exists, and no process holds its lock.
    pub fn is_gone(&self, run: &str) -> bool {
        let folder = &self.0.presence;
        if !folder.exists().unwrap_or(false) {
            return false;
        }
        folder.path_of(run).is_some_and(|path| {
            let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
            // A shared lock: several processes may ask at the same time.
            is_file && File::open(&path).is_ok_and(|file| file.try_lock_shared().is_ok())
        })
    }

    /// Removes the files of runs that were killed.
    fn sweep(&self) {
        let folder = &self.0.presence;
        for name in folder.names().unwrap_or_default() {
            let Some(path) = folder.path_of(&name) else { continue };
            let is_held =
                File::open(&path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
            if !is_held {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_gone_once_nobody_holds_its_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let chain = Chain::in_files(folder.path(), "local");
        assert!(!chain.is_gone("r"), "nothing is known of it");
        let present = chain.show_presence("r").expect("a lock");
        assert!(!chain.is_gone("r"));
        let path = present.path.clone();
        assert!(path.exists());
        drop(present);
        assert!(!path.exists() && !chain.is_gone("r"), "a run that ended leaves nothing");
        fs::write(&path, b"").expect("as a killed process leaves it");
        assert!(chain.is_gone("r"));
        let _other = chain.show_presence("s").expect("a lock");
        assert!(!path.exists(), "the next run removes it");
    }

    #[test]
    fn a_run_cannot_name_a_file_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let chain = Chain::in_files(folder.path(), "local");
        fs::create_dir_all(folder.path().join(".pushplan/running/local")).expect("a folder");
        fs::write(folder.path().join("pushplan.toml"), b"").expect("a file");
        assert!(!chain.is_gone("../../../pushplan.toml"));
        assert!(chain.show_presence("../../../x").is_none());
    }
}
