//! Finding and opening files, so that nothing on the disk can hang, leave or exhaust a run.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use ignore::WalkBuilder;

/// Something in a folder that cannot be a manifest though it looks like one.
#[derive(Debug)]
pub struct Unreadable {
    pub path: PathBuf,
    pub why: String,
}

/// Every manifest at or beneath the given places, by path, each once; and what could not be read.
///
/// Hidden folders, what git ignores and symbolic links are passed over; a link that would have been read is reported.
pub fn manifests(root: &Path, places: &[PathBuf]) -> (Vec<PathBuf>, Vec<Unreadable>) {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    for place in places {
        // The project may itself be reached through a link; only what lies within it may not.
        let start = if place == root { place.canonicalize().unwrap_or_else(|_| place.clone()) } else { place.clone() };
        let named = |path: &Path| {
            if place == root { root.join(path.strip_prefix(&start).unwrap_or(path)) } else { path.to_owned() }
        };
        for entry in WalkBuilder::new(&start).follow_links(false).max_depth(Some(64)).build() {
            match entry {
                Err(error) => unreadable.push(Unreadable { path: place.clone(), why: plain(&error) }),
                Ok(entry) => {
                    let path = named(entry.path());
                    let kind = entry.file_type();
                    let looks = is_manifest(&path);
                    if kind.is_some_and(|kind| kind.is_symlink()) {
                        if looks || path.is_dir() {
                            unreadable
                                .push(Unreadable { path, why: "it is a symbolic link, which is not followed".into() });
                        }
                    } else if kind.is_some_and(|kind| kind.is_file()) {
                        // A file that is named outright is read whatever it is called.
                        if looks || entry.depth() == 0 {
                            found.push(path);
                        }
                    } else if (looks || entry.depth() == 0) && !kind.is_some_and(|kind| kind.is_dir()) {
                        unreadable.push(Unreadable { path, why: "it is not a regular file".into() });
                    }
                }
            }
        }
    }
    found.sort();
    found.dedup();
    (found, unreadable)
}

fn plain(error: &ignore::Error) -> String {
    match error.io_error() {
        Some(error) => describe(error),
        None => error.to_string(),
    }
}

/// An I/O error without its number.
pub fn describe(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

fn is_manifest(path: &Path) -> bool {
    let is = |name: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(name));
    is("yaml") || is("yml")
}

/// Reads at most `limit` bytes of a regular file. Pipes, devices and larger files are refused before anything is read.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let kind = fs::metadata(path).map_err(|error| describe(&error))?;
    if kind.is_dir() {
        return Err("it is a folder".into());
    }
    if !kind.is_file() {
        return Err("it is not a regular file".into());
    }
    if kind.len() > limit {
        return Err(too_large(kind.len(), limit));
    }
    let file = File::open(path).map_err(|error| describe(&error))?;
    // One byte more, so that the end is seen without asking for more room.
    to_limit(file, limit, kind.len() as usize + 1)
}

/// Reads a stream to its end, or to the limit.
pub fn read_to_limit(from: impl Read, limit: u64) -> Result<Vec<u8>, String> {
    to_limit(from, limit, 0)
}

fn to_limit(from: impl Read, limit: u64, expected: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(expected);
    from.take(limit + 1).read_to_end(&mut bytes).map_err(|error| describe(&error))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64, limit));
    }
    Ok(bytes)
}

fn too_large(size: u64, limit: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    format!("it is larger than {} MiB ({} MiB)", limit / MIB, size.div_ceil(MIB))
}

/// Why a file that a manifest names is not read.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    Outside,
    Link(PathBuf),
    Unreadable(String),
}

/// The path of a file that a manifest names: beneath the project's folder and reached without a link.
pub fn beneath(root: &Path, name: &str) -> Result<PathBuf, Refused> {
    let mut path = root.to_owned();
    let parts = || Path::new(name).components().filter(|part| *part != Component::CurDir);
    if !parts().all(|part| matches!(part, Component::Normal(_))) {
        return Err(Refused::Outside);
    }
    for part in parts() {
        path.push(part);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => return Err(Refused::Link(path)),
            Ok(_) => {}
            Err(error) => return Err(Refused::Unreadable(describe(&error))),
        }
    }
    Ok(path)
}

/// Puts other bytes in the place of a file's content, so that whoever reads it sees the old or the new and never a part.
/// A symbolic link and a file that may not be written are refused; permissions stay as they are.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let found = fs::symlink_metadata(path).map_err(|error| describe(&error))?;
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
    let written = File::create_new(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.set_permissions(found.permissions())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    written.map_err(|error| {
        // Only what this call made is cleaned up: a name that was taken belongs to somebody else.
        if error.kind() != io::ErrorKind::AlreadyExists {
            let _ = fs::remove_file(&beside);
        }
        describe(&error)
    })
}
