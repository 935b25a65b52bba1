//! The files of a commit in one folder.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::{Mutex, PoisonError};

use super::{Git, Silent};
use crate::files::{FileError, describe};

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeEntry {
    /// A regular file, with the id of its content.
    File(String),
    /// A symbolic link, which is not followed.
    Link,
}

/// The files of a commit in one folder, by their names with forward slashes. Their content is read on demand.
pub struct Commit {
    git: Git,
    entries: BTreeMap<String, TreeEntry>,
    /// The git process that reads content, once something was requested.
    pipe: Mutex<Option<Pipe>>,
}

impl fmt::Debug for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commit").field("entries", &self.entries.len()).finish_non_exhaustive()
    }
}

impl Commit {
    /// Parses the output of `git ls-tree -r -z`. Content of other repositories is left out.
    pub(super) fn new(git: Git, listed: &[u8]) -> Self {
        let entry = |line: &[u8]| {
            let line = String::from_utf8_lossy(line);
            let (head, name) = line.split_once('\t')?;
            let mut words = head.split(' ');
            let entry = match (words.next()?, words.next()?, words.next()?) {
                ("120000", ..) => TreeEntry::Link,
                (_, "blob", id) => TreeEntry::File(id.to_owned()),
                _ => return None,
            };
            Some((name.to_owned(), entry))
        };
        Self { git, entries: listed.split(|byte| *byte == 0).filter_map(entry).collect(), pipe: Mutex::new(None) }
    }

    pub fn entries(&self) -> &BTreeMap<String, TreeEntry> {
        &self.entries
    }

    /// Whether a folder of this name exists. The empty name is the folder that contains all of them.
    pub fn has_folder(&self, name: &str) -> bool {
        let start = format!("{name}/");
        name.is_empty() || self.entries.range(start.clone()..).next().is_some_and(|(name, _)| name.starts_with(&start))
    }

    /// Reads at most `limit` bytes of a file.
    pub fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, FileError> {
        let id = match self.entries.get(name) {
            Some(TreeEntry::File(id)) => id,
            Some(TreeEntry::Link) => return Err("it is a symbolic link, which is not followed".into()),
            None if self.has_folder(name) => return Err("it is a folder".into()),
            None => return Err("no such file or directory".into()),
        };
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        if pipe.is_none() {
            *pipe = Some(Pipe::open(&self.git)?);
        }
        let Some(open) = &mut *pipe else { return Err("git has stopped".into()) };
        match open.read(id, limit) {
            Ok(read) => read,
            Err(error) => {
                // Its next output would answer another request.
                *pipe = None;
                Err(FileError::Other(format!("git stopped while its output was read: {}", describe(&error))))
            }
        }
    }
}

/// A `git cat-file --batch` that waits for names.
struct Pipe {
    child: Child,
    ask: ChildStdin,
    said: BufReader<ChildStdout>,
}

impl Pipe {
    fn open(git: &Git) -> io::Result<Self> {
        let mut child = git.start(&["cat-file", "--batch"]).map_err(|silent| match silent {
            Silent::NotStarted(why) | Silent::Broken(why) => io::Error::other(why),
            Silent::TooSlow(_) => io::ErrorKind::TimedOut.into(),
        })?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(ask), Some(said)) => Ok(Self { child, ask, said: BufReader::new(said) }),
            _ => Err(io::Error::other("the connection to git failed")),
        }
    }

    /// Returns the bytes of an object. After an outer failure, git must not be used any further.
    fn read(&mut self, id: &str, limit: u64) -> io::Result<Result<Vec<u8>, FileError>> {
        writeln!(self.ask, "{id}")?;
        self.ask.flush()?;
        let mut head = String::new();
        self.said.read_line(&mut head)?;
        if head.ends_with(" missing\n") {
            return Ok(Err("this clone does not have its content: clone without --filter, or fetch it".into()));
        }
        let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse::<u64>().ok());
        let size = size.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut bytes = Vec::new();
        let mut rest = self.said.by_ref().take(size);
        if size <= limit {
            rest.read_to_end(&mut bytes)?;
        } else {
            io::copy(&mut rest, &mut io::sink())?;
        }
        let mut end = [0];
        self.said.read_exact(&mut end)?;
        Ok(if size <= limit { Ok(bytes) } else { Err(FileError::TooLarge { size, limit }) })
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
