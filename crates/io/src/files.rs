//! Finds and opens files, so that nothing on the disk can block a run, lead it out of the project or exhaust its
//! memory.

use std::fmt;
use std::fs::{self, File, FileType};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

/// Something in a folder that looks like a manifest but cannot be one.
#[derive(Debug)]
pub struct Unreadable {
    pub path: PathBuf,
    pub why: FileError,
}

/// Why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// It is not a manifest, because it contains device tests.
    HoldsCases,
    TooLarge {
        size: u64,
        limit: u64,
    },
    Other(String),
}

impl From<&str> for FileError {
    fn from(why: &str) -> Self {
        Self::Other(why.to_owned())
    }
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        Self::Other(describe(&error))
    }
}

impl std::error::Error for FileError {}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MIB: u64 = 1024 * 1024;
        match self {
            Self::HoldsCases => f.write_str("it is a file of device tests: run `pushplan test`"),
            Self::TooLarge { size, limit } => {
                write!(f, "it is larger than {} MiB ({} MiB)", limit / MIB, size.div_ceil(MIB))
            }
            Self::Other(why) => f.write_str(why),
        }
    }
}

/// The maximum depth of folders.
pub const DEPTH_LIMIT: usize = 64;

/// Returns every manifest at or beneath the given paths, in order and once each; and what could not be read.
///
/// Hidden folders and symbolic links are skipped; a link that would have been read is reported. No other file decides
/// what is read, because git or a pull request could bring it along.
pub fn manifests(root: &Path, places: &[PathBuf]) -> (Vec<PathBuf>, Vec<Unreadable>) {
    let walk = walk(root, places, is_manifest);
    // A file of device tests has no resources, even if it was named explicitly.
    let (cases, found): (Vec<PathBuf>, Vec<PathBuf>) = walk.found.into_iter().partition(|path| is_cases(path));
    let cases = cases.into_iter().map(|path| Unreadable { path, why: FileError::HoldsCases });
    (found, walk.unreadable.into_iter().chain(cases).collect())
}

/// Returns every file of device tests at or beneath the given paths, in order and once each; and what could not be
/// read.
pub fn cases(root: &Path, places: &[PathBuf]) -> (Vec<PathBuf>, Vec<Unreadable>) {
    let walk = walk(root, places, is_cases);
    (walk.found, walk.unreadable)
}

fn walk(root: &Path, places: &[PathBuf], wants: fn(&Path) -> bool) -> Walk {
    let mut walk = Walk { found: Vec::new(), unreadable: Vec::new(), wants };
    for place in places {
        // The project itself may be reached through a link, but nothing in it may be.
        if place == root && place.is_symlink() {
            walk.folder(place, 0);
        } else {
            walk.entry(place, fs::symlink_metadata(place).map(|found| found.file_type()), 0);
        }
    }
    walk.found.sort();
    walk.found.dedup();
    walk
}

struct Walk {
    found: Vec<PathBuf>,
    unreadable: Vec<Unreadable>,
    /// Selects the files to find.
    wants: fn(&Path) -> bool,
}

impl Walk {
    /// Visits a file or folder. A path that was named explicitly, at depth 0, is read whatever its name is.
    fn entry(&mut self, path: &Path, kind: io::Result<FileType>, depth: usize) {
        let wanted = depth == 0 || (self.wants)(path);
        match kind {
            Err(error) => self.cannot(path, &describe(&error)),
            Ok(kind) if kind.is_symlink() => {
                if wanted || path.is_dir() {
                    self.cannot(path, "it is a symbolic link, which is not followed");
                }
            }
            Ok(kind) if kind.is_dir() => self.folder(path, depth),
            Ok(kind) if kind.is_file() => {
                if wanted {
                    self.found.push(path.to_owned());
                }
            }
            Ok(_) if wanted => self.cannot(path, "it is not a regular file"),
            Ok(_) => {}
        }
    }

    fn folder(&mut self, path: &Path, depth: usize) {
        if depth == DEPTH_LIMIT {
            return self.cannot(path, "its folders are nested too deeply");
        }
        match fs::read_dir(path) {
            Err(error) => self.cannot(path, &describe(&error)),
            Ok(entries) => {
                for entry in entries.flatten() {
                    if !entry.file_name().as_encoded_bytes().starts_with(b".") {
                        self.entry(&entry.path(), entry.file_type(), depth + 1);
                    }
                }
            }
        }
    }

    fn cannot(&mut self, path: &Path, why: &str) {
        self.unreadable.push(Unreadable { path: path.to_owned(), why: why.into() });
    }
}

/// Returns the text of an I/O error without its number.
pub fn describe(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// Whether a file contains resources, by its name.
pub fn is_manifest(path: &Path) -> bool {
    let is = |name: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(name));
    (is("yaml") || is("yml")) && !is_cases(path)
}

/// The name of folders with message catalogues.
pub const CATALOGUES: &str = "locales";

/// Whether a file is a message catalogue, by its path in the project: a YAML file directly in a folder of catalogues.
pub fn is_catalogue(path: &Path) -> bool {
    is_manifest(path) && path.parent().and_then(Path::file_name).is_some_and(|folder| folder == CATALOGUES)
}

/// Whether a file contains device tests, by its name.
pub fn is_cases(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.ends_with(".test.yaml") || name.ends_with(".test.yml")
}

/// Reads at most `limit` bytes of a regular file. Pipes, devices and larger files are refused before anything is read.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let kind = fs::metadata(path)?;
    if kind.is_dir() {
        return Err("it is a folder".into());
    }
    if !kind.is_file() {
        return Err("it is not a regular file".into());
    }
    if kind.len() > limit {
        return Err(FileError::TooLarge { size: kind.len(), limit });
    }
    let mut file = File::open(path)?;
    // One byte more than its size, so that its end is detected without another read.
    let mut bytes = vec![0; kind.len() as usize + 1];
    let read = match file.read(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
        other => other?,
    };
    bytes.truncate(read);
    if read as u64 != kind.len() {
        // It has changed since, or is returned in parts.
        file.take((limit + 1).saturating_sub(read as u64)).read_to_end(&mut bytes)?;
    }
    within(bytes, limit)
}

/// Reads at most `limit` bytes of a regular file. Unlike [`read`], it refuses a symbolic link to one.
pub fn read_unlinked(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    if path.is_symlink() {
        return Err("it is a symbolic link, which is not followed".into());
    }
    read(path, limit)
}

/// Reads a stream to its end, or to the limit.
pub fn read_to_limit(from: impl Read, limit: u64) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes)?;
    within(bytes, limit)
}

fn within(bytes: Vec<u8>, limit: u64) -> Result<Vec<u8>, FileError> {
    let size = bytes.len() as u64;
    if size > limit { Err(FileError::TooLarge { size, limit }) } else { Ok(bytes) }
}

/// Why a file that a manifest names is refused.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    Outside,
    /// It is hidden, like git's settings and the credentials of the built-in service.
    Hidden,
    Link(PathBuf),
    Unreadable(FileError),
}

/// Returns the parts of a name. Fails if it leads out of its folder or to a hidden file.
pub fn parts(name: &str) -> Result<impl Iterator<Item = Component<'_>>, Refused> {
    let parts = || Path::new(name).components().filter(|part| *part != Component::CurDir);
    if !parts().all(|part| matches!(part, Component::Normal(_))) {
        return Err(Refused::Outside);
    }
    if parts().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b".")) {
        return Err(Refused::Hidden);
    }
    Ok(parts())
}

/// Returns the path of a file that a manifest names: in the project's folder, and reached without a link.
pub fn beneath(root: &Path, name: &str) -> Result<PathBuf, Refused> {
    let mut path = root.to_owned();
    for part in parts(name)? {
        path.push(part);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => return Err(Refused::Link(path)),
            Ok(_) => {}
            Err(error) => return Err(Refused::Unreadable(error.into())),
        }
    }
    Ok(path)
}

/// Normalizes the name of a file that a manifest names: `./a//b` becomes `a/b`.
pub fn plain(name: &str) -> String {
    let parts = Path::new(name).components().filter(|part| *part != Component::CurDir);
    parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Creates a file, with the folders that it needs. A reader sees the whole file, and an existing file is never
/// replaced.
pub fn create(root: &Path, name: &str, bytes: &[u8]) -> Result<(), FileError> {
    let path = root.join(name);
    let folder = path.parent().unwrap_or(root);
    let link = folder.ancestors().take_while(|folder| *folder != root).find(|folder| folder.is_symlink());
    if let Some(link) = link {
        return Err(FileError::Other(format!("{} is a symbolic link, which is not followed", link.display())));
    }
    fs::create_dir_all(folder)?;
    let own = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{own}.{}.new", std::process::id()));
    let mut file = File::create_new(&beside)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    // Creating a link fails if the name exists.
    let placed = written.and_then(|()| fs::hard_link(&beside, &path));
    let _ = fs::remove_file(&beside);
    Ok(placed?)
}

/// Returns a builder of folders that only their owner can read.
pub fn private_folder() -> fs::DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Makes git ignore a folder, unless the folder already has a `.gitignore`. Git and pushplan would also work without
/// one.
pub fn hide_from_git(folder: &Path) {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(folder.join(".gitignore")).and_then(|mut file| file.write_all(b"*\n"));
}

/// Replaces the content of a file, so that a reader sees the old or the new content and never a part. Refuses a
/// symbolic link and a file that may not be written; keeps permissions.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    Ok(stage(path, bytes)?.put()?)
}

/// Replaces the contents of several files. Each has its path, and its bytes before and after. All new bytes are on the disk
/// before the first file is replaced. If a file cannot be replaced, those before it get their old bytes back. The error names
/// that file, and each file that could not be restored.
pub fn replace_all(all: &[(PathBuf, [&[u8]; 2])]) -> Result<(), (PathBuf, FileError)> {
    let mut staged = Vec::new();
    for (path, [_, after]) in all {
        staged.push(stage(path, after).map_err(|why| (path.clone(), why))?);
    }
    for (number, file) in staged.into_iter().enumerate() {
        let path = &all[number].0;
        if let Err(error) = file.put() {
            let undone = all[..number].iter().filter(|(path, [before, _])| replace(path, before).is_err());
            let left: Vec<String> = undone.map(|(path, _)| path.display().to_string()).collect();
            let told = if left.is_empty() { String::new() } else { format!("; already changed: {}", left.join(", ")) };
            return Err((path.clone(), FileError::Other(format!("{}{told}", describe(&error)))));
        }
    }
    Ok(())
}

/// New bytes next to a file. They are removed unless they replace the file.
struct Staged {
    beside: PathBuf,
    path: PathBuf,
}

impl Staged {
    fn put(self) -> io::Result<()> {
        fs::rename(&self.beside, &self.path)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.beside);
    }
}

fn stage(path: &Path, bytes: &[u8]) -> Result<Staged, FileError> {
    let found = fs::symlink_metadata(path)?;
    if found.is_symlink() {
        return Err("it is a symbolic link, which is not followed".into());
    }
    if !found.is_file() {
        return Err("it is not a regular file".into());
    }
    if found.permissions().readonly() {
        return Err("it is read-only".into());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.new", std::process::id()));
    // Only a file that this call created is removed: an existing one belongs to someone else.
    let mut file = File::create_new(&beside)?;
    let staged = Staged { beside, path: path.to_owned() };
    let written = file.write_all(bytes).and_then(|()| file.set_permissions(found.permissions()));
    written.and_then(|()| file.sync_all())?;
    Ok(staged)
}
