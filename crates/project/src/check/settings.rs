//! Turning checks off, or changing their severity: in the project file, or on one resource.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::codes::Severity;
use pushplan_model::finding::{Finding, Findings, Signs};
use pushplan_model::node::At;
use pushplan_model::source::{Sources, Span};
use pushplan_model::text;

use super::fix::safe_edits;
use super::sound::promising;
use super::{Check, CheckScope, Subject};
use crate::manifest::{Desired, Project, no_code, not_free};

/// The final findings, in the order of files and positions.
#[derive(Debug, Default)]
pub struct Verdict {
    pub findings: Vec<Finding>,
    /// The findings that were turned off in the project file or on their resources.
    pub suppressed: Vec<Finding>,
    /// The findings that a setting turned off or made warnings, by target.
    pub softened: BTreeMap<Option<String>, BTreeSet<SoftenedFinding>>,
    /// The warnings about resources, by target.
    pub warnings: BTreeMap<String, Vec<ResourceWarning>>,
}

/// A warning about a resource of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceWarning {
    pub address: Address,
    pub code: &'static str,
    pub message: String,
    pub at: Span,
}

/// A finding that a setting turned off or made a warning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SoftenedFinding {
    /// The name of its code.
    pub code: &'static str,
    /// The resource of the finding, if it has one.
    pub address: Option<Address>,
    /// The severity without any setting.
    pub usual: Severity,
}

impl Verdict {
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Keeps the findings that match, also among those that were turned off.
    pub fn retain(&mut self, asked: impl Fn(&Finding) -> bool) {
        self.findings.retain(&asked);
        self.suppressed.retain(&asked);
    }
}

/// A finding, and its targets.
struct Case {
    finding: Finding,
    /// Ranges of indexes of targets. Empty if it does not depend on the target.
    targets: Vec<Range<usize>>,
    /// Whether it is not turned off.
    counts: bool,
}

/// The number of targets in a finding.
const NAMED: usize = 20;
/// The number of warnings that are kept for each target.
const WARNINGS: usize = 1_000;

/// Narrows each finding to the relevant part, applies the project's settings and each resource's `lifecycle`, and
/// sorts. Equal findings are reported once; if only some of the targets have one, they are named.
pub fn judge(
    general: impl IntoIterator<Item = Finding>,
    targets: impl IntoIterator<Item = (Desired, Vec<Finding>)>,
    project: &Project,
    sources: &Sources,
) -> Verdict {
    let mut names: Vec<String> = Vec::new();
    let mut cases = Cases {
        project,
        signs: Signs::new(sources),
        list: Vec::new(),
        index: HashMap::new(),
        weights: HashMap::new(),
        softened: BTreeMap::new(),
    };
    for finding in general {
        cases.add(finding, None);
    }
    // Each target is dropped before the next one is read, because there can be many.
    for (number, (desired, found)) in targets.into_iter().enumerate() {
        names.push(desired.target.clone().unwrap_or_default());
        for finding in found {
            cases.add(finding, Some((number, &desired)));
        }
    }
    let Cases { list, index, softened, .. } = cases;
    // For a hundred thousand findings, it takes many megabytes.
    drop(index);
    let mut verdict = Verdict { findings: Vec::with_capacity(list.len()), softened, ..Verdict::default() };
    for Case { mut finding, targets: some, counts } in list {
        if !counts {
            verdict.suppressed.push(finding);
            continue;
        }
        if let Some(address) = finding.address.as_ref().filter(|_| finding.severity == Severity::Warning) {
            let (code, message, at) = (finding.code.name, &finding.message, finding.at);
            let own = some.iter().cloned().flatten();
            let all = (0..names.len()).filter(|_| some.is_empty());
            for name in own.chain(all).map(|number| &names[number]) {
                let warnings = verdict.warnings.entry(name.clone()).or_default();
                if warnings.len() < WARNINGS {
                    warnings.push(ResourceWarning { address: address.clone(), code, message: message.clone(), at });
                }
            }
        }
        let count: usize = some.iter().map(ExactSizeIterator::len).sum();
        if count > 0 && count < names.len() {
            let mut some: Vec<String> =
                some.into_iter().flatten().take(NAMED).map(|number| format!("`{}`", names[number])).collect();
            if count > NAMED {
                some.push(format!("{} more", count - NAMED));
            }
            let noun = if count == 1 { "target" } else { "targets" };
            finding.notes.push(format!("this is reported for the {noun} {}", text::all_of(&some)));
        }
        // The value of a variable differs from the text in the file: an edit would remove the variable.
        finding.fix = finding.fix.filter(|fix| !sources.text(fix.at).contains("${"));
        verdict.findings.push(finding);
    }
    promise(&mut verdict.findings, sources);
    let path = |finding: &Finding| finding.at.file().map_or("", |file| &*sources.get(file).path);
    verdict.findings.sort_by(|a, b| {
        let place = |finding: &Finding| (finding.at.range().start, finding.at.range().end, finding.code.name);
        path(a).cmp(path(b)).then_with(|| place(a).cmp(&place(b))).then_with(|| a.message.cmp(&b.message))
    });
    verdict
}

/// Marks an edit as unsafe if it would change more of its file than intended, so that it is not announced as automatic.
/// The project file has no aliases.
fn promise(findings: &mut [Finding], sources: &Sources) {
    let mut doubtful = HashSet::new();
    for (file, edits) in safe_edits(&*findings) {
        let source = sources.get(file);
        if source.path.ends_with(".toml") {
            continue;
        }
        let promising: HashSet<_> = promising(&source.text, &edits).into_iter().map(|edit| edit.at).collect();
        let others = edits.into_iter().filter(|edit| !promising.contains(&edit.at));
        doubtful.extend(others.map(|edit| Span::new(file, edit.at)));
    }
    for fix in findings.iter_mut().filter_map(|finding| finding.fix.as_mut()) {
        fix.safe &= !doubtful.contains(&fix.at);
    }
}

/// Codes by the resource with the setting.
type CodesByResource = BTreeMap<Address, Vec<At<String>>>;

/// Every finding once, in the order in which they were found.
struct Cases<'p> {
    project: &'p Project,
    signs: Signs<'p>,
    list: Vec<Case>,
    index: HashMap<(&'static str, Span, String), usize>,
    /// Many checks can have settings, and there may be many findings: each code is looked up once.
    weights: HashMap<(&'static str, Severity), Option<Severity>>,
    softened: BTreeMap<Option<String>, BTreeSet<SoftenedFinding>>,
}

impl Cases<'_> {
    /// Adds a finding for a target, with its index. `None`: the finding was found without a target.
    fn add(&mut self, mut finding: Finding, target: Option<(usize, &Desired)>) {
        finding.narrow(&mut self.signs);
        let names = |by: fn(&Desired) -> &CodesByResource| {
            let codes =
                target.zip(finding.address.as_ref()).and_then(|((_, desired), address)| by(desired).get(address));
            let is_it = |code: &At<String>| code.eq_ignore_ascii_case(finding.code.name);
            finding.code.is_free() && codes.is_some_and(|codes| codes.iter().any(is_it))
        };
        let (is_allowed, is_warned) = (names(|desired| &desired.allowed), names(|desired| &desired.warned));
        let weight = self.weights.entry((finding.code.name, finding.severity));
        let weight = *weight.or_insert_with(|| self.project.weight(finding.code, finding.severity));
        let counts = weight.is_some() && !is_allowed;
        let usual = finding.severity;
        finding.severity = weight.unwrap_or(usual);
        if is_warned {
            finding.severity = Severity::Warning;
        }
        if !counts || finding.severity < usual {
            let name = target.and_then(|(_, desired)| desired.target.clone());
            let softened = SoftenedFinding { code: finding.code.name, address: finding.address.clone(), usual };
            self.softened.entry(name).or_default().insert(softened);
        }
        let number = target.filter(|(_, desired)| desired.target.is_some()).map(|(number, _)| number..number + 1);
        match self.index.entry((finding.code.name, finding.at, finding.message.clone())) {
            Entry::Vacant(entry) => {
                entry.insert(self.list.len());
                self.list.push(Case { finding, targets: number.into_iter().collect(), counts });
            }
            Entry::Occupied(entry) => {
                let case = &mut self.list[*entry.get()];
                if counts && !case.counts {
                    *case = Case { finding, targets: number.into_iter().collect(), counts };
                } else if counts == case.counts
                    && let (Some(last), Some(number)) = (case.targets.last_mut(), number)
                {
                    // A target can have a finding twice, in places that share an alias.
                    match number.start {
                        start if start < last.end => {}
                        start if start == last.end => last.end = number.end,
                        _ => case.targets.push(number),
                    }
                }
            }
        }
    }
}

/// A code in `lifecycle.allow` or `warn` that does not exist, or cannot be turned off, and would have no effect.
pub(crate) const ALLOWED_CODES: Check = Check { codes: &[&codes::YM206], run: CheckScope::All(allowed_codes) };

fn allowed_codes(subject: &Subject, findings: &mut Findings) {
    let Desired { allowed, warned, .. } = subject.desired;
    for (address, names) in allowed.iter().chain(warned) {
        let mut found = Findings::about(address);
        for name in names {
            match codes::code(name) {
                None => found.push(no_code(name)),
                Some(code) if !code.is_free() => found.push(not_free(code, name)),
                Some(_) => {}
            }
        }
        findings.extend(found.into_vec());
    }
}
