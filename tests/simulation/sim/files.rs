//! The files that are applied: a version of the project, or a branch that started from one.

use std::collections::BTreeMap;
use std::rc::Rc;

use pushplan::address::Address;
use pushplan::kinds;
use pushplan::ledger::{Ancestry, Checkout, Descent, Ledger, Verb};
use pushplan_testing::Dice;

use super::project::{Project, Units};
use super::tally::Fault;
use super::world::World;

/// The files that a process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    Version(usize),
    Branch(usize),
}

impl Default for Files {
    fn default() -> Self {
        Self::Version(0)
    }
}

/// An edit that is not in the project's own history, at least not yet.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The version that it started from.
    base: usize,
    units: Rc<Units>,
    /// The first version that contains it.
    merged: Option<usize>,
}

impl Files {
    /// The commit of the files.
    pub fn checkout(self) -> Checkout {
        let commit = match self {
            Self::Version(version) => version.to_string(),
            Self::Branch(branch) => format!("branch {branch}"),
        };
        Checkout { commit, branch: None, dirty: false }
    }

    /// The files of a commit that the ledger knows.
    pub fn of(checkout: &Checkout) -> Option<Self> {
        let commit = &checkout.commit;
        match commit.strip_prefix("branch ") {
            Some(branch) => branch.parse().ok().map(Self::Branch),
            None => commit.parse().ok().map(Self::Version),
        }
    }
}

impl Project {
    /// The newest version.
    pub fn newest(&self) -> Files {
        Files::Version(self.history.len())
    }

    pub fn files(&self, files: Files) -> &Rc<Units> {
        match files {
            Files::Version(version) => self.version(version),
            Files::Branch(branch) => &self.branches[branch].units,
        }
    }

    /// Whether the files `others` are in the history of `files`.
    pub fn contains(&self, files: Files, others: Files) -> bool {
        let since = self.base(files);
        match others {
            Files::Version(other) => since >= other,
            Files::Branch(_) if files == others => true,
            Files::Branch(other) => self.branches[other].merged.is_some_and(|merged| since >= merged),
        }
    }

    /// The newest version in the history of some files.
    fn base(&self, files: Files) -> usize {
        match files {
            Files::Version(version) => version,
            Files::Branch(branch) => self.branches[branch].base,
        }
    }

    /// The relation of some files to the last applied ones.
    pub fn descent(&self, ledger: &Ledger, files: Files) -> Option<Descent> {
        let applied = ledger.checkout.clone()?;
        let last = Files::of(&applied)?;
        let ancestry = match (self.contains(files, last), self.contains(last, files)) {
            _ if last == files => Ancestry::Same,
            (true, _) => Ancestry::Descendant,
            (false, true) => Ancestry::Behind,
            (false, false) => Ancestry::Diverged,
        };
        Some(Descent { applied, here: Some(files.checkout()), ancestry })
    }

    /// Starts a branch from one of the newest versions, and edits it.
    pub fn branch(&mut self, dice: &mut Dice, now: i64) -> Files {
        let newest = self.history.len();
        let base = newest - dice.below(newest.min(2) + 1);
        let mut other = Self { units: Rc::clone(self.version(base)), ..self.clone() };
        other.edit(dice, now);
        self.fresh = other.fresh;
        self.branches.push(Branch { base, units: other.units, merged: None });
        Files::Branch(self.branches.len() - 1)
    }

    /// Merges all branches into a new version, with the content of the latest one. Only messages that a branch removed
    /// are gone: a key that is declared again would be another message.
    pub fn merge(&mut self) {
        let open = self.branches.iter().filter(|branch| branch.merged.is_none());
        let removed = open.clone().flat_map(|branch| {
            let before = self.version(branch.base).keys();
            before.filter(|address| is_sent_once(address) && !branch.units.contains_key(*address))
        });
        let removed: Vec<Address> = removed.cloned().collect();
        if open.count() > 0 {
            self.history.push(Rc::clone(&self.units));
            removed.iter().for_each(|address| self.remove(address));
            let newest = self.history.len();
            for branch in &mut self.branches {
                branch.merged.get_or_insert(newest);
            }
        }
    }
}

impl Project {
    /// Keeps the messages that replace others according to the project. If a branch has other content for either, they
    /// may have little in common.
    fn keep_successors(&self, files: Files, successors: &mut BTreeMap<Address, Address>) {
        let branch = self.files(files);
        let spec = |address: &Address| {
            let mut versions = [&self.units].into_iter().chain(self.history.iter().rev());
            versions.find_map(|units| units.get(address)).map(|unit| &unit.spec)
        };
        let is_other = |address: &Address| branch.get(address).is_some_and(|unit| Some(&unit.spec) != spec(address));
        successors.retain(|new, old| !is_other(new) && !is_other(old));
    }
}

fn is_sent_once(address: &Address) -> bool {
    matches!(&*address.kind, "scheduled_pushes" | "experiments")
}

impl World {
    /// The checked-out files of a process: mostly the newest, sometimes older ones, or those of a branch.
    pub fn checked_out(&mut self, process: usize) -> Files {
        let newest = self.project.history.len();
        if self.faults == 0 || newest == 0 {
            return self.project.newest();
        }
        if self.dice.chance(80) {
            let version = newest - 1 - self.dice.below(newest.min(2));
            self.tally.met(Fault::OlderManifests, "run");
            self.note(|| format!("process {process} has the manifests of version {version} of {newest}"));
            return Files::Version(version);
        }
        if self.dice.chance(60) {
            let now = self.now;
            let files = self.project.branch(&mut self.dice, now);
            self.tally.met(Fault::OtherBranch, "run");
            let base = self.project.base(files);
            self.project.keep_successors(files, &mut self.service.successors);
            self.note(|| {
                format!(
                    "process {process} has the manifests of {}, which began at version {base} of {newest}",
                    files.checkout()
                )
            });
            return files;
        }
        self.project.newest()
    }

    /// The change that a process with files older than the last applied ones would revert.
    pub fn set_back(&self, process: usize, address: &Address, verb: Verb) -> Option<String> {
        let (files, last) = (self.processes[process].files, self.log.applied);
        if self.project.contains(files, last) {
            return None;
        }
        let (mine, applied) = (self.project.files(files).get(address), self.project.files(last).get(address));
        let before = self.project.version(self.project.base(files).min(self.project.base(last))).get(address);
        let is_message = |spec| kinds::api(address).messages(spec);
        match (verb, mine, applied) {
            (Verb::Delete, None, Some(_)) => {
                Some(format!("{address} is deleted by a process without the newest files"))
            }
            (Verb::Create | Verb::Update, Some(mine), Some(applied)) => {
                let is_applied = self.log.ledger.owned.get(address).is_some_and(|owned| owned.spec == applied.spec);
                (is_applied && mine.spec != applied.spec)
                    .then(|| format!("{address} is set back by a process without the newest files"))
            }
            (Verb::Create, Some(mine), None) if before.is_some() && is_message(&mine.spec) => {
                Some(format!("{address} was cancelled, and is created by a process without the newest files"))
            }
            _ => None,
        }
    }
}
