//! The settings for unmanaged resources in `pushplan.toml`: which to ignore, and of which kinds to delete them.

use std::collections::BTreeSet;

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{KINDS, Kind, kind};
use pushplan_model::node::At;
use pushplan_model::nouns::level::Level;
use pushplan_model::text;

use super::project::{Project, Target};

impl Project {
    /// The patterns of ignored resources on a target: the project's, then the target's own.
    pub fn ignore_unmanaged(&self, target: &str) -> Vec<&At<String>> {
        let of_project = self.file.project.iter().filter_map(|about| about.ignore_unmanaged.as_ref()).flatten();
        let of_target = self.target(target).and_then(|target| target.ignore_unmanaged.as_ref());
        of_project.chain(of_target.into_iter().flatten()).collect()
    }

    pub(super) fn inspect_unmanaged(&self, findings: &mut Findings) {
        let of_project = self.file.project.iter().filter_map(|about| about.ignore_unmanaged.as_ref()).flatten();
        let of_targets = self.file.targets.values().filter_map(|target| target.ignore_unmanaged.as_ref()).flatten();
        for pattern in of_project.chain(of_targets) {
            if let Some(finding) = inspect_pattern(pattern) {
                findings.push(finding);
            }
        }
        for target in self.file.targets.values() {
            for (key, _) in target.prune.iter().filter(|(_, is_on)| is_on.value) {
                if let Some(finding) = inspect_pruned(key, target) {
                    findings.push(finding);
                }
            }
        }
    }
}

impl Target {
    /// The kinds whose unmanaged resources are deleted.
    pub fn pruned(&self) -> BTreeSet<&'static str> {
        let asked = self.prune.iter().filter(|(_, is_on)| is_on.value);
        asked.filter_map(|(key, _)| kind(key)).map(|kind| kind.key).collect()
    }
}

/// Whether the service can list a kind at all: then its resources are configuration, and not those of single people.
fn is_listed(kind: &Kind) -> bool {
    !kind.api.list(Level::Extended).is_empty()
}

fn listed() -> Vec<&'static str> {
    KINDS.iter().filter(|kind| is_listed(kind)).map(|kind| kind.key).collect()
}

/// The finding for a pattern that cannot match anything.
fn inspect_pattern(pattern: &At<String>) -> Option<Finding> {
    let wrong = |message: String| Finding::new(&codes::YM206, pattern.span, message);
    let Some((key, _)) = pattern.split_once('/') else {
        let finding = wrong(format!("`{}` is not a pattern such as `segments/Test *`", pattern.value));
        let finding = finding.label("expected a kind, a slash and a name");
        return Some(match kind(pattern) {
            Some(kind) => finding.help(format!("did you mean `{}/*`?", kind.key)),
            None if &**pattern == "*" => finding.help("write `*/*` for everything of every kind"),
            None => finding.help(format!("write `*/{0}` for every kind, or one kind: `segments/{0}`", pattern.value)),
        });
    };
    if key.contains('*') {
        return None;
    }
    match kind(key) {
        Some(kind) if is_listed(kind) => None,
        Some(kind) => Some(
            wrong(format!("{} are never listed, so this has no effect", text::many(kind.noun)))
                .label("matches nothing")
                .help("remove the pattern"),
        ),
        None => Some(unknown(wrong(format!("no kind has the key `{key}`")).label("not known"), key)),
    }
}

/// The finding for a kind that cannot be pruned.
fn inspect_pruned(key: &At<String>, target: &Target) -> Option<Finding> {
    let wrong = |message: String| Finding::new(&codes::YM206, key.span, message);
    let Some(kind) = kind(key) else {
        return Some(unknown(wrong(format!("no kind has the key `{key}`")).label("not known"), key));
    };
    let nouns = text::many(kind.noun);
    if !is_listed(kind) {
        return Some(
            wrong(format!("{nouns} cannot be pruned: the service does not list them"))
                .label("cannot be pruned")
                .help(format!("remove it; {} can be", text::all_of(&listed()))),
        );
    }
    let is_documented = target.api.as_ref().is_some_and(|level| level.value == Level::Documented);
    (is_documented && kind.api.list(Level::Documented).is_empty()).then(|| {
        wrong(format!("{nouns} cannot be pruned here: the API of this target cannot list them"))
            .label("cannot be pruned")
            .help("remove it, or set `api = \"extended\"` if the service supports it")
    })
}

fn unknown(finding: Finding, key: &str) -> Finding {
    match text::nearest(key, listed()) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding.help(format!("expected {}", text::any_of(&listed()))),
    }
}
