//! Checking manifests, and making safe fixes. Does not contact the service.

mod fix;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pushplan_io::failure::Failure;
use pushplan_model::finding::Finding;
use pushplan_model::source::FileId;
use pushplan_model::text;
use pushplan_project::check::Verdict;
use pushplan_project::manifest::{Manifests, ManifestsHandle, Project, SingleTarget};

use self::fix::Fixed;
use super::scope::{Scope, Texts, scopes};
use super::select::select;
use super::{project, target};

/// The settings of a check.
#[derive(Clone, Debug)]
pub struct ValidateRequest {
    /// Files or folders, or `-` for standard input. Default: the whole project.
    pub paths: Vec<PathBuf>,
    /// The file that standard input replaces.
    pub stdin_path: Option<PathBuf>,
    /// Names, groups and patterns of targets. Default: all targets.
    pub targets: Vec<String>,
    pub now: Timestamp,
    /// Whether to make safe fixes, in memory.
    pub fix: bool,
    /// Whether to name files relative to the checkout, like code hosts, instead of the current folder.
    pub from_checkout: bool,
}

/// A project, or files that belong to none: read, checked and, on request, fixed.
#[derive(Debug)]
pub struct CheckedFiles {
    scope: Scope,
    pub manifests: Manifests,
    pub verdict: Verdict,
    fixed: Fixed,
    /// The covered files.
    pub asked: BTreeSet<FileId>,
    /// Notes for users, a line each.
    pub notes: Vec<String>,
}

/// The number of fixes.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedCount {
    pub problems: usize,
    pub files: usize,
}

impl CheckedFiles {
    fn new(scope: Scope, mut manifests: Manifests, verdict: Verdict, fixed: Fixed, here: &Path, root: &Path) -> Self {
        let asked = asked(&scope, &manifests);
        let mut notes = Vec::new();
        let empty = scope.without_manifests(here, &manifests);
        if !empty.is_empty() {
            notes.push(format!("No manifests in {}.", text::any_of(&empty)));
        }
        if scope.is_apart() && verdict.findings.iter().any(|finding| finding.code.name.starts_with("RF")) {
            notes.push(
                "Standard input was checked without the project. --stdin-path FILE checks it as a file of the \
                    project."
                    .into(),
            );
        }
        scope.show_from(root, &mut manifests.sources);
        Self { scope, manifests, verdict, fixed, asked, notes }
    }

    /// The text of standard input after the fixes, if it was checked.
    pub fn fixed_stdin(&self) -> Option<&[u8]> {
        let stdin = self.scope.stdin.as_ref()?;
        Some(self.fixed.after.values().next().unwrap_or(stdin))
    }

    /// Writes the fixed files.
    pub fn write(&self) -> Result<FixedCount, Failure> {
        self.fixed.write(&self.scope.root)?;
        Ok(FixedCount { problems: self.fixed.problems, files: self.fixed.after.len() })
    }
}

impl ValidateRequest {
    /// Reads, checks and, on request, fixes in memory: each project separately, and the files that belong to none.
    pub fn check(&self) -> Result<Vec<CheckedFiles>, Failure> {
        let here = project::here()?;
        let mut all = Vec::new();
        for scope in scopes(&here, &self.paths, self.stdin_path.as_deref())? {
            let judge = |manifests: &Manifests| self.judge(&scope, manifests);
            let (manifests, verdict, fixed) = if self.fix {
                fix::fix(&scope, judge)?
            } else {
                let (manifests, verdict) = match scope.read_as(|project| self.only(project).is_some()) {
                    ManifestsHandle::Often(manifests) => {
                        let verdict = judge(&manifests)?;
                        (manifests, verdict)
                    }
                    ManifestsHandle::Once(once) => self.judge_once(&scope, once),
                };
                (manifests, verdict, Fixed::default())
            };
            let root = self.shown_from(&scope, &here);
            all.push(CheckedFiles::new(scope, manifests, verdict, fixed, &here, &root));
        }
        Ok(all)
    }

    /// Checks files without fixes, after fixes could not be written.
    pub fn check_unfixed(&self, all: Vec<CheckedFiles>) -> Result<Vec<CheckedFiles>, Failure> {
        let here = project::here()?;
        let one = |CheckedFiles { scope, .. }: CheckedFiles| {
            let manifests = scope.read(&Texts::new());
            let verdict = self.judge(&scope, &manifests)?;
            let root = self.shown_from(&scope, &here);
            Ok(CheckedFiles::new(scope, manifests, verdict, Fixed::default(), &here, &root))
        };
        all.into_iter().map(one).collect()
    }

    /// The folder to which shown paths are relative: the current folder or, for code hosts, the checkout.
    fn shown_from(&self, scope: &Scope, here: &Path) -> PathBuf {
        self.from_checkout.then(|| project::checkout(&scope.root)).flatten().unwrap_or_else(|| here.to_owned())
    }

    /// The only requested target, which has no name in a project without targets.
    fn only(&self, project: &Project) -> Option<Option<String>> {
        let names = project.target_names();
        match (self.targets.as_slice(), names.as_slice()) {
            _ if project.is_unmade() => None,
            ([], []) => Some(None),
            ([], [name]) => Some(Some((*name).to_owned())),
            ([], _) => None,
            (asked, _) => match select(project, asked).ok()?.as_slice() {
                [name] => Some(Some(name.clone())),
                _ => None,
            },
        }
    }

    /// The findings for the only target, in the covered files.
    fn judge_once(&self, scope: &Scope, once: SingleTarget) -> (Manifests, Verdict) {
        let target = self.only(once.project()).flatten();
        let (manifests, desired, found) = once.resolve(target.as_deref());
        let mut verdict = project::check_one(&manifests, target.as_deref(), &desired, found, self.now);
        // Its memory is freed when the process ends, which is faster.
        std::mem::forget(desired);
        let asked = asked(scope, &manifests);
        verdict.retain(|finding| finding.at.file().is_none_or(|file| asked.contains(&file)));
        (manifests, verdict)
    }

    /// The findings for the requested targets, in the covered files.
    fn judge(&self, scope: &Scope, manifests: &Manifests) -> Result<Verdict, Failure> {
        let names = manifests.project.target_names();
        let asked = asked(scope, manifests);
        let is_asked = |finding: &Finding| finding.at.file().is_none_or(|file| asked.contains(&file));
        let chosen = select(&manifests.project, &self.targets);
        let targets: Vec<Option<&str>> = match (&chosen, self.targets.as_slice()) {
            (_, []) if names.is_empty() && manifests.project.is_unmade() => Vec::new(),
            (_, []) if names.is_empty() => vec![None],
            (_, []) => names.iter().copied().map(Some).collect(),
            (Ok(chosen), _) => chosen.iter().map(|name| Some(name.as_str())).collect(),
            // The unreadable part of the project file may define the target: its error is reported instead.
            (Err(_), _) if hides_targets(manifests, &asked) => Vec::new(),
            (Err(_), [name]) if !name.contains('*') => return Err(target::unknown(name, &names)),
            (Err(failure), _) => return Err(failure.clone()),
        };
        let mut verdict = project::check(manifests, &targets, self.now);
        verdict.retain(is_asked);
        Ok(verdict)
    }
}

/// The covered files of the scope.
fn asked(scope: &Scope, manifests: &Manifests) -> BTreeSet<FileId> {
    let asked = manifests.sources.iter().filter(|(_, source)| scope.covers(&source.path));
    asked.map(|(file, _)| file).collect()
}

/// Whether a part of the covered project file cannot be read. It may define a target.
fn hides_targets(manifests: &Manifests, asked: &BTreeSet<FileId>) -> bool {
    let own = manifests.project_file().filter(|file| asked.contains(file));
    own.is_some() && manifests.findings.iter().any(|finding| finding.at.file() == own)
}
