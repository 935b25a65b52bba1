//! The folder of a ledger, and its durability on disk.
//!
//! A record is written under a temporary name, synced to disk, and then linked to its final name. Linking fails if the
//! name exists, so only one of two writers succeeds. A reader that sees the name sees the whole record, even after a
//! power failure.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{anyhow, bail};
use pushplan_io::files::{self, describe};
use uuid::Uuid;

use super::super::AppendError;
use super::super::codec::{LIMIT, TAIL};
use super::super::intent::Seq;
use super::super::store::plain;

/// The folder for pushplan's own files, next to a project's manifests.
pub const OWN: &str = ".pushplan";

/// A folder of one target in [`OWN`].
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    /// The names of the folders beneath the root, outermost first.
    parts: Vec<String>,
    path: PathBuf,
    /// A sync to disk has failed. The system reports that once: a later sync that succeeds proves nothing.
    failed: AtomicBool,
}

/// The meaning of a file name in the folder.
#[derive(Debug, PartialEq, Eq)]
enum Name {
    Record(Seq),
    /// An unfinished write of this record.
    Unfinished(Seq),
    /// A hidden file of the file system or of a desktop, or the note of the newest record.
    Hidden,
    Other,
}

impl Folder {
    pub fn new(root: &Path, section: &str, target: &str) -> Self {
        let parts = vec![OWN.to_owned(), section.to_owned(), plain(target)];
        let path = parts.iter().fold(root.to_owned(), |path, part| path.join(part));
        Self { root: root.to_owned(), parts, path, failed: AtomicBool::new(false) }
    }

    /// Returns a target's folder that is not in the project's own folder.
    pub fn shared(folder: &Path, target: &str) -> Self {
        let parts = vec![plain(target)];
        Self { root: folder.to_owned(), path: folder.join(&parts[0]), parts, failed: AtomicBool::new(false) }
    }

    /// Returns the folders of other targets next to it.
    pub fn beside(&self) -> anyhow::Result<Vec<Self>> {
        let Some(above) = self.path.parent().filter(|above| above.is_dir()) else { return Ok(Vec::new()) };
        let failed = |error: io::Error| anyhow!("{} cannot be read: {}", above.display(), describe(&error));
        let mut all = Vec::new();
        for entry in fs::read_dir(above).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
            if path == self.path || name.starts_with('.') || !entry.file_type().map_err(failed)?.is_dir() {
                continue;
            }
            let parts = self.parts.iter().take(self.parts.len() - 1).cloned().chain([name]).collect();
            all.push(Self { root: self.root.clone(), parts, path, failed: AtomicBool::new(false) });
        }
        all.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(all)
    }

    /// The name of the target in its path.
    pub fn target(&self) -> &str {
        self.parts.last().map(String::as_str).unwrap_or_default()
    }

    /// Whether it is in pushplan's own folder, next to a project's manifests.
    fn is_own(&self) -> bool {
        self.parts[0] == OWN && self.parts.len() > 1
    }

    /// The path of a file in it for display, relative to the project's folder if it is in [`OWN`].
    pub fn shown(&self, name: &str) -> String {
        let inside = format!("{}/{name}", self.parts.join("/"));
        if self.is_own() { inside } else { self.root.join(inside).display().to_string() }
    }

    pub fn file_name(seq: Seq) -> String {
        format!("{seq:08}.json")
    }

    fn file(&self, seq: Seq) -> PathBuf {
        self.path.join(Self::file_name(seq))
    }

    /// Whether it exists. A symbolic link or anything but a folder is refused: a project does not choose where on the
    /// machine pushplan writes.
    pub fn exists(&self) -> anyhow::Result<bool> {
        // An unmounted disk would look like a ledger without records.
        if !self.is_own() && !self.root.is_dir() {
            bail!("{} does not exist; create it, or mount its file system", self.root.display());
        }
        let mut path = self.root.clone();
        for part in &self.parts {
            path.push(part);
            let shown = || path.strip_prefix(&self.root).unwrap_or(&path).display().to_string();
            match fs::symlink_metadata(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
                Err(error) => bail!("{} cannot be read: {}", shown(), describe(&error)),
                Ok(found) if found.is_symlink() => {
                    bail!("{} is a symbolic link, which is not followed", shown());
                }
                Ok(found) if !found.is_dir() => bail!("{} is not a folder", shown()),
                Ok(_) => {}
            }
        }
        Ok(true)
    }

    /// Creates it, private to its owner, and syncs its name to disk. Git ignores pushplan's own folder.
    pub fn make(&self) -> anyhow::Result<()> {
        self.make_quickly()?;
        let mut folder = self.root.clone();
        for part in [None].into_iter().chain(self.parts.iter().map(Some)) {
            folder.extend(part);
            let failed = |error| anyhow!("{} cannot be synced to disk: {}", folder.display(), describe(&error));
            self.sync(&folder).map_err(failed)?;
        }
        Ok(())
    }

    /// Creates it. Its name need not survive a power failure.
    pub(crate) fn make_quickly(&self) -> anyhow::Result<()> {
        self.exists()?;
        let mut path = self.root.clone();
        for part in &self.parts {
            path.push(part);
            if let Err(error) = files::private_folder().create(&path)
                && error.kind() != ErrorKind::AlreadyExists
            {
                bail!("{} cannot be created: {}", self.shown(""), describe(&error));
            }
        }
        if self.is_own() {
            files::hide_from_git(&self.root.join(OWN));
        }
        Ok(())
    }

    /// Returns the path of a file in it; `None` for a name that could lead elsewhere.
    pub(crate) fn path_of(&self, name: &str) -> Option<PathBuf> {
        let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_plain.then(|| self.path.join(name))
    }

    /// Returns the numbers of all records, in order. Refuses unexpected names and skips unfinished records.
    pub fn records(&self) -> anyhow::Result<Vec<Seq>> {
        let mut found = Vec::new();
        self.each(|name, entry| {
            let kind = entry.file_type()?;
            let shown = self.shown(&entry.file_name().to_string_lossy());
            let refused = match name {
                _ if kind.is_symlink() => "is a symbolic link, which is not followed",
                Name::Record(_) | Name::Unfinished(_) if !kind.is_file() => "is not a regular file",
                Name::Other => "is not a record and does not belong there",
                Name::Record(seq) => {
                    found.push(seq);
                    return Ok(());
                }
                Name::Unfinished(_) | Name::Hidden => return Ok(()),
            };
            Err(io::Error::other(format!("{shown} {refused}")))
        })?;
        found.sort_unstable();
        Ok(found)
    }

    /// Removes unfinished writes of earlier records: those records exist by now.
    pub fn clean(&self, before: Seq) {
        // A file that cannot be removed does no harm.
        let _ = self.each(|name, entry| match name {
            Name::Unfinished(seq) if seq < before => fs::remove_file(entry.path()),
            _ => Ok(()),
        });
    }

    fn each(&self, mut look: impl FnMut(Name, &fs::DirEntry) -> io::Result<()>) -> anyhow::Result<()> {
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => bail!("{} cannot be read: {}", self.shown(""), describe(&error)),
            Ok(entries) => entries,
        };
        for entry in entries {
            let looked = entry.and_then(|entry| look(Name::of(&entry.file_name().to_string_lossy()), &entry));
            looked.map_err(|error| match error.kind() {
                ErrorKind::Other => error.into(),
                _ => anyhow!("{} cannot be read: {}", self.shown(""), describe(&error)),
            })?;
        }
        Ok(())
    }

    /// Returns the bytes of a record; `None` if it does not exist.
    pub fn read(&self, seq: Seq) -> anyhow::Result<Option<Vec<u8>>> {
        self.read_file(&Self::file_name(seq))
    }

    pub(crate) fn read_file(&self, name: &str) -> anyhow::Result<Option<Vec<u8>>> {
        let path = self.path.join(name);
        let failed = |why: &dyn Display| anyhow!("{} cannot be read: {why}", self.shown(name));
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&describe(&error))),
            Ok(_) => files::read_unlinked(&path, LIMIT).map(Some).map_err(|why| failed(&why)),
        }
    }

    /// Returns the last bytes of a record, which hold its checksum; `None` if it does not exist.
    pub fn tail(&self, seq: Seq) -> anyhow::Result<Option<Vec<u8>>> {
        let read = || {
            let path = self.file(seq);
            if !fs::symlink_metadata(&path)?.is_file() {
                return Err(io::Error::other("it is not a regular file"));
            }
            let mut file = File::open(path)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(TAIL as u64)))?;
            let mut bytes = Vec::new();
            file.take(TAIL as u64).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        match read() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(anyhow!("{} cannot be read: {}", self.shown(&Self::file_name(seq)), describe(&error))),
        }
    }

    /// Creates record `seq` if it does not exist. When this returns, it is synced to disk.
    pub fn create(&self, seq: Seq, bytes: &[u8]) -> Result<(), AppendError> {
        let unfinished = self.path.join(format!(".{seq:08}.{}.new", Uuid::new_v4().simple()));
        let not_written = |error: &io::Error| {
            AppendError::NotWritten(format!("{} cannot be written: {}", self.name(seq), describe(error)))
        };
        if let Err(error) = write(&unfinished, bytes) {
            let _ = fs::remove_file(&unfinished);
            return Err(not_written(&error));
        }
        let linked = fs::hard_link(&unfinished, self.file(seq));
        let _ = fs::remove_file(&unfinished);
        if let Err(error) = linked {
            // The answer alone proves nothing: over a network, it may belong to a second attempt after the first one
            // succeeded.
            match self.read(seq) {
                Ok(Some(found)) if found == bytes => {}
                Ok(Some(_)) => return Err(AppendError::Conflict),
                Ok(None) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(not_linked(&self.name(seq), &error));
                }
                Ok(None) => return Err(AppendError::Unknown(format!("whether {} exists is unclear", self.name(seq)))),
                Err(_) if error.kind() == ErrorKind::AlreadyExists => return Err(AppendError::Conflict),
                Err(why) => return Err(AppendError::Unknown(why.to_string())),
            }
        }
        // A name that was not synced may be lost in a power failure.
        self.sync(&self.path).map_err(|error| {
            AppendError::Unknown(format!("{} may not be synced to disk: {}", self.name(seq), describe(&error)))
        })
    }

    /// Syncs the names in a folder to disk. If folders cannot be opened, the file system does this itself.
    fn sync(&self, folder: &Path) -> io::Result<()> {
        if self.failed.load(Ordering::Acquire) {
            return Err(io::Error::other("the disk has failed before; run the command again"));
        }
        let synced = if cfg!(unix) { File::open(folder).and_then(|folder| folder.sync_all()) } else { Ok(()) };
        synced.inspect_err(|_| self.failed.store(true, Ordering::Release))
    }

    fn name(&self, seq: Seq) -> String {
        self.shown(&Self::file_name(seq))
    }

    /// Writes a small file that replaces another of its name. It need not survive a power failure. A file of the same
    /// length is overwritten, so that no new file is needed: a reader detects a half-written one by its checksum.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|there| there.len() == bytes.len() as u64 && is_alone(&there)) {
            return OpenOptions::new().write(true).open(&path)?.write_all(bytes);
        }
        let unfinished = self.path.join(format!(".{:08}.{}.new", 0, Uuid::new_v4().simple()));
        let written = private_file().open(&unfinished).and_then(|mut file| file.write_all(bytes));
        written.and_then(|()| fs::rename(&unfinished, path)).inspect_err(|_| {
            let _ = fs::remove_file(&unfinished);
        })
    }

    /// Removes a file, and syncs the removal to disk.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))?;
        self.sync(&self.path)
    }

    /// Returns the names of all regular files that are not hidden, in order.
    pub fn names(&self) -> anyhow::Result<Vec<String>> {
        let mut names = Vec::new();
        self.each(|name, entry| {
            if !matches!(name, Name::Hidden | Name::Unfinished(_)) && entry.file_type()?.is_file() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
            Ok(())
        })?;
        names.sort_unstable();
        Ok(names)
    }

    /// Creates a file that is not a record. When this returns, it is synced to disk.
    pub(crate) fn create_file(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let failed = |error: &io::Error| anyhow!("{} cannot be written: {}", self.shown(name), describe(error));
        let unfinished = self.path.join(format!(".{name}.new"));
        let written = write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, self.path.join(name)));
        if let Err(error) = written {
            let _ = fs::remove_file(&unfinished);
            return Err(failed(&error));
        }
        self.sync(&self.path).map_err(|error| failed(&error))
    }
}

/// The note of the newest record, next to the records, so that its removal is detected.
pub const NEWEST: &str = "newest";

impl Name {
    fn of(name: &str) -> Self {
        let seq = |digits: &str| digits.parse::<Seq>().ok().filter(|seq| format!("{seq:08}") == digits);
        if let Some(rest) = name.strip_prefix('.') {
            let place =
                rest.strip_suffix(".new").and_then(|rest| rest.split_once('.')).and_then(|(digits, _)| seq(digits));
            return place.map_or(Self::Hidden, Self::Unfinished);
        }
        match name.strip_suffix(".json").and_then(seq) {
            Some(seq) if seq > 0 => Self::Record(seq),
            _ if name == NEWEST => Self::Hidden,
            _ => Self::Other,
        }
    }
}

/// Writes a file that only its owner may read, and syncs it to disk.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private_file().open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Whether a file is regular and has no other hard link, so that writing to it changes nothing else.
fn is_alone(file: &fs::Metadata) -> bool {
    #[cfg(unix)]
    let has_one_name = std::os::unix::fs::MetadataExt::nlink(file) == 1;
    #[cfg(not(unix))]
    let has_one_name = true;
    file.is_file() && has_one_name
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn not_linked(name: &str, error: &io::Error) -> AppendError {
    let hint = match error.kind() {
        ErrorKind::Unsupported | ErrorKind::PermissionDenied => "; the file system must have hard links",
        _ => "",
    };
    AppendError::NotWritten(format!("{name} cannot be written: {}{hint}", describe(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_written_over_and_no_copy_of_it_changes() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::new(root.path(), "ledger", "local");
        folder.make().unwrap();
        let copy = root.path().join("copy");
        for (text, copied) in [("7 a", false), ("8 a", true), ("9 a", false), ("10 a", false)] {
            let before = folder.read_file(NEWEST).unwrap();
            if copied {
                fs::hard_link(folder.path.join(NEWEST), &copy).unwrap();
            }
            folder.replace(NEWEST, text.as_bytes()).unwrap();
            assert_eq!(folder.read_file(NEWEST).unwrap().as_deref(), Some(text.as_bytes()));
            if copied {
                assert_eq!(fs::read(&copy).ok(), before);
            }
        }
        assert_eq!(fs::read_dir(&folder.path).unwrap().count(), 1, "nothing is left behind");
        #[cfg(unix)]
        {
            fs::remove_file(folder.path.join(NEWEST)).unwrap();
            std::os::unix::fs::symlink(&copy, folder.path.join(NEWEST)).unwrap();
            folder.replace(NEWEST, b"1 b").unwrap();
            assert_eq!(fs::read(&copy).unwrap(), b"7 a", "a link is not followed");
        }
    }

    #[test]
    fn names_tell_what_a_file_is() {
        assert_eq!(Name::of("00000012.json"), Name::Record(12));
        assert_eq!(Name::of("123456789.json"), Name::Record(123_456_789));
        assert_eq!(Name::of(".00000012.ab.new"), Name::Unfinished(12));
        assert_eq!(Name::of(".DS_Store"), Name::Hidden);
        for odd in ["12.json", "00000000.json", "00000012 (copy).json", "+0000012.json", "00000012.JSON", "x"] {
            assert_eq!(Name::of(odd), Name::Other, "{odd}");
        }
    }
}
