//! Records in git: one blob each, in folders of a hundred, in the tree of a commit.
//!
//! A commit's tree has every record since the newest checkpoint, so only the newest commit has to be read. Folders keep
//! the objects that an append writes small, even if there are thousands of records.

use std::collections::BTreeMap;

use pushplan_io::git::{Git, Ran};

use super::super::intent::Seq;
use super::told::Trouble;

/// The number of records in a folder.
const FOLDER: Seq = 100;

/// The line in the message of a checkpoint's commit that names the commit which it replaced.
const BEFORE: &str = "Pushplan-Before: ";

/// The line in the message of a commit that was written while the mark existed. A mark is never deleted, so it exists
/// from then on.
const MARKED: &str = "Pushplan-Mark: there";

/// A commit and its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    pub commit: String,
    /// The blob of each record.
    pub records: BTreeMap<Seq, String>,
    /// The tree of each folder.
    folders: BTreeMap<Seq, String>,
    /// Whether the mark existed when the commit was written.
    pub is_marked: bool,
}

/// An object that exists locally.
struct GitObject {
    id: String,
    bytes: Vec<u8>,
}

impl Tip {
    pub fn last(&self) -> Seq {
        self.records.last_key_value().map_or(0, |(seq, _)| *seq)
    }

    pub fn first(&self) -> Seq {
        self.records.first_key_value().map_or(0, |(seq, _)| *seq)
    }

    /// Returns the first missing record that has a later one, with that later one.
    pub fn gap(&self) -> Option<(Seq, Seq)> {
        let follows = self.records.keys().zip(self.records.keys().skip(1));
        follows.map(|(seq, next)| (seq + 1, *next)).find(|(expected, next)| expected != next)
    }
}

fn folder_name(folder: Seq) -> String {
    format!("{folder:06}")
}

fn file_name(seq: Seq) -> String {
    format!("{seq:08}.json")
}

/// Returns the path of a record in the tree.
pub fn path(seq: Seq) -> String {
    format!("{}/{}", folder_name(seq / FOLDER), file_name(seq))
}

/// The records in a repository.
#[derive(Clone, Copy, Debug)]
pub struct RecordTree<'a>(pub &'a Git);

impl RecordTree<'_> {
    /// Runs a git command that needs no network.
    async fn local(&self, args: &[&str], input: &[u8]) -> Result<Ran, Trouble> {
        let ran = self.0.run(args, input).await?;
        if ran.is_ok { Ok(ran) } else { Err(Trouble::of(&ran.err)) }
    }

    /// Returns objects by name; `None` for those that do not exist locally.
    async fn objects(&self, names: &[String]) -> Result<Vec<Option<GitObject>>, Trouble> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let ran = self.local(&["cat-file", "--batch"], (names.join("\n") + "\n").as_bytes()).await?;
        let mut rest = &ran.out[..];
        let mut found = Vec::new();
        for _ in names {
            let object = next_object(&mut rest).ok_or_else(|| Trouble::new("git stopped while its output was read"))?;
            found.push(object);
        }
        Ok(found)
    }

    /// Returns the bytes of blobs; `None` if one of them does not exist locally.
    pub(crate) async fn blobs(&self, ids: &[String]) -> Result<Option<Vec<Vec<u8>>>, Trouble> {
        let found = self.objects(ids).await?;
        Ok(found.into_iter().map(|found| found.map(|found| found.bytes)).collect())
    }

    /// Those of these objects that are here, by their ids.
    pub async fn present(&self, names: &[String]) -> Result<Vec<String>, Trouble> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let ran =
            self.local(&["cat-file", "--batch-check=%(objectname)"], (names.join("\n") + "\n").as_bytes()).await?;
        let told = String::from_utf8_lossy(&ran.out);
        Ok(told.lines().filter(|line| !line.contains(' ')).map(str::to_owned).collect())
    }

    /// Returns a commit and its records, by its id or its ref; `None` if a part of it does not exist locally.
    pub async fn tip(&self, name: &str) -> Result<Option<Tip>, Trouble> {
        let found = self.objects(&[format!("{name}^{{commit}}"), format!("{name}^{{tree}}")]).await?;
        let [Some(commit), Some(tree)] = &found[..] else { return Ok(None) };
        let odd = |name: &str| Trouble::new(&format!("{} holds `{name}`, which is not a record", commit.id));
        let mut folders = BTreeMap::new();
        for (name, id) in entries(tree) {
            let folder = name.parse().ok().filter(|folder| folder_name(*folder) == name);
            folders.insert(folder.ok_or_else(|| odd(&name))?, id);
        }
        let mut records = BTreeMap::new();
        for (found, folder) in
            self.objects(&folders.values().cloned().collect::<Vec<_>>()).await?.iter().zip(folders.keys())
        {
            let Some(found) = found else { return Ok(None) };
            for (name, id) in entries(found) {
                let seq = name.strip_suffix(".json").and_then(|digits| digits.parse().ok());
                let is_its = |seq: &Seq| *seq > 0 && seq / FOLDER == *folder && file_name(*seq) == name;
                records.insert(seq.filter(is_its).ok_or_else(|| odd(&name))?, id);
            }
        }
        let is_marked = commit.bytes.split(|byte| *byte == b'\n').any(|line| line == MARKED.as_bytes());
        Ok(Some(Tip { commit: commit.id.clone(), records, folders, is_marked }))
    }

    /// Writes a blob and returns its id.
    pub async fn blob(&self, bytes: &[u8]) -> Result<String, Trouble> {
        Ok(self.local(&["hash-object", "-w", "--stdin"], bytes).await?.line())
    }

    async fn tree(&self, lines: &[String]) -> Result<String, Trouble> {
        Ok(self.local(&["mktree"], (lines.join("\n") + "\n").as_bytes()).await?.line())
    }

    /// Writes a commit with one more record: after these, or alone in their place. `is_marked`: the mark exists.
    pub async fn commit(
        &self,
        seq: Seq,
        blob: &str,
        after: Option<&Tip>,
        alone: Option<Alone>,
        is_marked: bool,
    ) -> Result<Tip, Trouble> {
        let kept = if alone.is_some() { None } else { after };
        let mut records = kept.map(|tip| tip.records.clone()).unwrap_or_default();
        let mut folders = kept.map(|tip| tip.folders.clone()).unwrap_or_default();
        records.insert(seq, blob.to_owned());
        let folder = seq / FOLDER;
        let files = records.range(folder * FOLDER..=seq);
        let files: Vec<String> = files.map(|(seq, id)| format!("100644 blob {id}\t{}", file_name(*seq))).collect();
        folders.insert(folder, self.tree(&files).await?);
        let lines = folders.iter().map(|(folder, id)| format!("040000 tree {id}\t{}", folder_name(*folder)));
        let tree = self.tree(&lines.collect::<Vec<_>>()).await?;
        let mut message = format!("pushplan wrote record {seq}\n");
        if is_marked {
            message.push_str(&format!("\n{MARKED}\n"));
        }
        let mut args = vec!["commit-tree", &tree];
        match (after, alone) {
            (Some(tip), Some(Alone::Rooted)) => message.push_str(&format!("\n{BEFORE}{}\n", tip.commit)),
            (Some(tip), _) => args.extend(["-p", &tip.commit]),
            (None, _) => {}
        }
        let commit = self.local(&args, message.as_bytes()).await?.line();
        Ok(Tip { commit, records, folders, is_marked })
    }

    /// Returns the commit that a record was added to or that it replaced; `None` if it is unknown.
    pub async fn before(&self, commit: &str, seq: Seq) -> Result<Option<String>, Trouble> {
        let ran = self.local(&added(commit, seq).each_ref().map(String::as_str), b"").await?;
        Ok(named_before(&ran.line()))
    }

    /// Returns the commit that a record was added to or that it replaced, for callers that cannot await. `None` if it
    /// is unknown or git fails.
    pub(crate) fn before_now(&self, commit: &str, seq: Seq) -> Option<String> {
        named_before(&self.0.ask(&added(commit, seq).each_ref().map(String::as_str))?)
    }
}

/// How a checkpoint leaves out earlier records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alone {
    /// In a commit without a parent, so that nobody fetches earlier records.
    Rooted,
    /// In an ordinary commit, if the server refuses one without a parent.
    Following,
}

/// Returns the arguments that find the newest commit which added a record.
fn added(commit: &str, seq: Seq) -> [String; 8] {
    let path = format!(":(top){}", path(seq));
    let args = ["log", "-1", "--first-parent", "--diff-filter=A", "--format=%P%n%B", commit, "--", &path];
    args.map(str::to_owned)
}

/// Returns the first parent of a commit, or the commit that its message names.
fn named_before(text: &str) -> Option<String> {
    let named = || text.lines().find_map(|line| line.strip_prefix(BEFORE));
    let is_id = |word: &&str| word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parent = text.lines().next().and_then(|line| line.split(' ').next()).filter(is_id);
    parent.or_else(|| named().filter(is_id)).map(str::to_owned)
}

/// Reads the next object of `cat-file --batch`: a line with its id, its type and its size, and its bytes.
#[expect(clippy::option_option, reason = "one is for the end of what was said, the other for what is not here")]
fn next_object(rest: &mut &[u8]) -> Option<Option<GitObject>> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let head = str::from_utf8(&rest[..end]).ok()?;
    *rest = &rest[end + 1..];
    if head.ends_with(" missing") || head.ends_with(" ambiguous") {
        return Some(None);
    }
    let mut words = head.split(' ');
    let (id, size) = (words.next()?, words.nth(1)?.parse::<usize>().ok()?);
    let bytes = rest.get(..size)?.to_vec();
    *rest = rest.get(size + 1..)?;
    Some(Some(GitObject { id: id.to_owned(), bytes }))
}

/// Returns the names in a tree, with their ids. Each entry is a mode, a name, a zero byte and the bytes of an id.
fn entries(tree: &GitObject) -> Vec<(String, String)> {
    let length = tree.id.len() / 2;
    let mut rest = &tree.bytes[..];
    let mut found = Vec::new();
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        let Some(id) = rest.get(end + 1..=end + length) else { break };
        let head = String::from_utf8_lossy(&rest[..end]);
        let name = head.split_once(' ').map_or("", |(_, name)| name).to_owned();
        found.push((name, id.iter().map(|byte| format!("{byte:02x}")).collect()));
        rest = &rest[end + 1 + length..];
    }
    found
}
