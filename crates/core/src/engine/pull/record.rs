//! Recording a pull: files and ledger together, or neither.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_io::files;
use pushplan_ledger::{Adopted, AppendError, Entry, Ledger, Log, Record, Seq};
use pushplan_model::address::Address;
use pushplan_model::text::one_line;
use pushplan_project::manifest::{FILE_LIMIT, Manifests, read_project};

use crate::engine::actor;
use crate::engine::ledger::unreadable;
use crate::engine::workspace::Workspace;
use crate::pull::PulledFile;

/// The records for the ledger, in an order in which each prefix is correct: renames come before records under the new
/// keys. Nothing is adopted that another address has.
pub fn records(
    known: &Ledger,
    moves: &BTreeMap<Address, Address>,
    adopted: Vec<Adopted>,
    forgotten: Vec<Address>,
) -> Result<Vec<Record>, Failure> {
    for one in adopted.iter().filter(|one| one.address.part().is_none()) {
        let has_it = |(address, id): (&Address, &str)| {
            *address != one.address && address.kind == one.address.kind && address.part().is_none() && *id == one.id
        };
        let owned = known.owned.iter().map(|(address, owned)| (address, owned.id.as_str()));
        if let Some((other, _)) = owned.into_iter().find(|it| has_it(*it)) {
            let message = format!("{} is already managed, as {other}, so it cannot also be {}", one.id, one.address);
            return Err(Failure::new(one_line(&message)).kind(FailureKind::Refused).help(format!(
                "a resource has one address: run `pushplan mv {other} {}`, or remove one of them",
                one.address
            )));
        }
    }
    let mut records = Vec::new();
    if !adopted.is_empty() || !forgotten.is_empty() {
        records.extend(moves.iter().map(|(to, from)| Record::Move { from: from.clone(), to: to.clone() }));
    }
    records.extend((!adopted.is_empty()).then_some(Record::Adopt(adopted)));
    records.extend((!forgotten.is_empty()).then_some(Record::Forget(forgotten)));
    Ok(records)
}

/// The files to be written, with their previous content.
#[derive(Debug)]
pub struct Files {
    root: PathBuf,
    all: Vec<Before>,
    /// Folders that do not exist yet, the innermost first.
    folders: Vec<PathBuf>,
    /// Files that this run has written. Another user may have written the same content.
    written: RefCell<BTreeSet<PathBuf>>,
}

#[derive(Debug)]
struct Before {
    path: PathBuf,
    was: Option<Vec<u8>>,
    /// The successive contents that this run writes.
    becomes: Vec<String>,
}

impl Files {
    pub fn before(manifests: &Manifests, edited: &BTreeMap<String, String>, added: &[(String, PulledFile)]) -> Self {
        let root = manifests.project.root.clone();
        let mut becomes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let added = added.iter().map(|(name, file)| (name.as_str(), &file.text));
        for (name, text) in edited.iter().map(|(name, text)| (name.as_str(), text)).chain(added) {
            becomes.entry(name).or_default().push(text.clone());
        }
        let one = |(name, becomes): (&str, Vec<String>)| {
            let path = root.join(name);
            Before { was: files::read_unlinked(&path, FILE_LIMIT).ok(), path, becomes }
        };
        let all: Vec<Before> = becomes.into_iter().map(one).collect();
        let above = |before: &Before| before.path.ancestors().skip(1).map(Path::to_owned).collect::<Vec<_>>();
        let mut folders: Vec<PathBuf> = all.iter().flat_map(above).filter(|folder| !folder.exists()).collect();
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
        folders.dedup();
        Self { root, all, folders, written: RefCell::default() }
    }

    /// Restores the files that this run wrote, except those that were changed since. Returns the files that remain.
    fn take_back(&self) -> Vec<String> {
        let mut stay = Vec::new();
        let written = self.written.borrow();
        for Before { path, was, becomes } in self.all.iter().filter(|it| written.contains(&it.path)) {
            let is = files::read_unlinked(path, FILE_LIMIT).ok();
            if is == *was {
                continue;
            }
            let is_ours = is.is_some_and(|is| becomes.iter().any(|text| text.as_bytes() == is));
            let done = is_ours
                && match was {
                    None => fs::remove_file(path).is_ok(),
                    Some(was) => files::replace(path, was).is_ok(),
                };
            if !done {
                stay.push(pushplan_project::manifest::shown(&self.root, path));
            }
        }
        for folder in &self.folders {
            // A folder that is no longer empty is kept.
            let _ = fs::remove_dir(folder);
        }
        stay
    }

    /// The failure of a run that another one interfered with.
    fn not_alone(stay: &[String]) -> Failure {
        let message = "another pull or apply has run, or the files were edited";
        match stay {
            [] => Failure::new(format!("{message}; this run changed nothing")).help("run it again"),
            stay => Failure::new(format!("{message}; this run wrote only: {}", one_line(&stay.join(", "))))
                .help("check it, then run the command again"),
        }
    }
}

/// Writes the files and the records. If another user wrote first, the files are restored.
pub async fn write(
    workspace: &Workspace,
    after: Seq,
    files: &Files,
    records: Vec<Record>,
    put: impl Fn(&Path, &dyn Fn(&str)) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let is_alone = async || -> Result<bool, Failure> {
        Ok(workspace.log.position().await.map_err(unreadable)?.seq == after && is_as_read(&workspace.manifests))
    };
    if !is_alone().await? {
        return Err(Files::not_alone(&[]));
    }
    let wrote = |name: &str| {
        files.written.borrow_mut().insert(files.root.join(name));
    };
    if let Err(failure) = put(&files.root, &wrote) {
        let stay = files.take_back();
        return Err(if stay.is_empty() && is_alone().await? { failure } else { Files::not_alone(&stay) });
    }
    let mut told = false;
    for (seq, record) in (after + 1..).zip(records) {
        let moves = matches!(record, Record::Move { .. } | Record::End { .. } | Record::About { .. });
        let entry = Entry { seq, at: Timestamp::now(), actor: actor::name(), record };
        match workspace.log.append(&entry).await {
            Ok(()) => told |= !moves,
            Err(AppendError::Conflict) if !told => return Err(Files::not_alone(&files.take_back())),
            Err(error) => return Err(unrecorded(error, files)),
        }
    }
    Ok(())
}

/// Whether the project's files are those that were read, and no others.
fn is_as_read(manifests: &Manifests) -> bool {
    let texts = |manifests: &Manifests| -> BTreeMap<String, String> {
        manifests.sources.iter().map(|(_, source)| (source.path.to_string(), source.text.clone())).collect()
    };
    texts(&read_project(&manifests.project.root, None)) == texts(manifests)
}

fn unrecorded(error: AppendError, files: &Files) -> Failure {
    let failure = match error {
        AppendError::Conflict => {
            Failure::new("another process has changed the ledger").kind(FailureKind::Busy).help("try again")
        }
        AppendError::NotWritten(why) => Failure::new(format!("the ledger cannot be written: {why}")),
        AppendError::Unknown(why) => Failure::new(format!("whether the ledger was written is unknown: {why}"))
            .help("check with `pushplan history`"),
    };
    if files.all.is_empty() {
        return failure;
    }
    failure.help(
        "the files were written, but not the whole ledger: run `pushplan pull` again, which writes nothing \
        twice",
    )
}
