//! Making safe fixes.

use std::path::Path;

use pushplan_io::failure::Failure;
use pushplan_io::files;
use pushplan_project::check::Verdict;
use pushplan_project::check::fix::{apply, safe_edits};
use pushplan_project::check::sound::sound;
use pushplan_project::manifest::Manifests;

use crate::engine::scope::{Scope, Texts};

/// How many times a text is fixed and checked again: a fix can reveal further findings.
const ROUNDS: usize = 100;

/// The fixes, before they are written.
#[derive(Debug, Default)]
pub(crate) struct Fixed {
    pub problems: usize,
    /// The changed texts, by file.
    pub after: Texts,
    before: Texts,
}

/// Makes safe fixes in the files of the scope, in memory, until none is left. Returns the resulting state.
pub(crate) fn fix(
    scope: &Scope,
    judge: impl Fn(&Manifests) -> Result<Verdict, Failure>,
) -> Result<(Manifests, Verdict, Fixed), Failure> {
    let mut fixed = Fixed::default();
    for round in 0.. {
        let manifests = scope.read(&fixed.after);
        let mut verdict = judge(&manifests)?;
        let edits = safe_edits(&verdict.findings);
        let mut changed = 0;
        for (file, edits) in edits.iter().filter(|_| round < ROUNDS) {
            let source = manifests.sources.get(*file);
            if !scope.covers(&source.path) {
                continue;
            }
            let is_manifest = Some(*file) != manifests.project_file();
            let edits = if is_manifest { sound(&source.text, edits) } else { edits.clone() };
            let (text, count) = apply(&source.text, &edits);
            if text != source.text {
                changed += count;
                fixed.before.entry(source.path.to_string()).or_insert_with(|| source.text.clone().into_bytes());
                fixed.after.insert(source.path.to_string(), text.into_bytes());
            }
        }
        fixed.problems += changed;
        if changed == 0 {
            // The next run would not make these fixes either.
            if round < ROUNDS {
                verdict.findings.iter_mut().filter_map(|finding| finding.fix.as_mut()).for_each(|fix| fix.safe = false);
            }
            return Ok((manifests, verdict, fixed));
        }
    }
    unreachable!("the rounds end when nothing changes, at the latest after the last one that edits")
}

impl Fixed {
    /// Writes the changed files.
    pub fn write(&self, root: &Path) -> Result<(), Failure> {
        for (name, after) in &self.after {
            let path = root.join(name);
            let now = files::read(&path, u64::MAX - 1).map_err(|why| failed(name, &why.to_string()))?;
            if self.before.get(name) != Some(&now) {
                return Err(failed(name, "it has changed since it was read").help("run the command again"));
            }
            files::replace(&path, after).map_err(|why| failed(name, &why.to_string()))?;
        }
        Ok(())
    }
}

fn failed(name: &str, why: &str) -> Failure {
    Failure::new(format!("`{name}` cannot be written: {why}"))
}
