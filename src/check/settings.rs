//! Turning checks off, or changing how much they matter: in the project file, or on one resource.

use std::collections::{HashMap, HashSet};

use super::{Check, One, Run, Subject};
use crate::codes::{self, CODES};
use crate::finding::{Finding, Findings, Severity};
use crate::manifest::{Desired, Project};
use crate::source::Sources;
use crate::text;

/// What is left of the findings, in the order of files and places.
#[derive(Debug, Default)]
pub struct Verdict {
    pub findings: Vec<Finding>,
    /// What was turned off in the project file or on its resource.
    pub suppressed: Vec<Finding>,
}

impl Verdict {
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Keeps what is asked for, also of what was turned off.
    pub fn retain(&mut self, asked: impl Fn(&Finding) -> bool) {
        self.findings.retain(&asked);
        self.suppressed.retain(&asked);
    }
}

/// Narrows each finding to the part that is meant, applies the project's settings and each resource's `lifecycle.allow`, drops what was found twice, and sorts.
pub fn judge<'d>(
    found: impl IntoIterator<Item = (Finding, Option<&'d Desired>)>,
    project: &Project,
    sources: &Sources,
) -> Verdict {
    let mut verdict = Verdict::default();
    let mut seen = HashSet::new();
    // A project file may list many checks and there may be many findings: each code is looked up once.
    let mut weights = HashMap::new();
    for (mut finding, desired) in found {
        finding.narrow(sources);
        if !seen.insert((finding.code.name, finding.at, finding.message.clone())) {
            continue;
        }
        let allowed = || {
            let codes = desired?.allowed.get(finding.address.as_ref()?)?;
            codes.iter().find(|code| code.eq_ignore_ascii_case(finding.code.name))
        };
        let weight = weights
            .entry((finding.code.name, finding.severity))
            .or_insert_with(|| project.weight(finding.code, finding.severity));
        match *weight {
            Some(severity) if allowed().is_none() => {
                finding.severity = severity;
                // What a variable filled in is not what the file says there: an edit would lose the variable.
                finding.fix = finding.fix.filter(|fix| !sources.text(fix.at).contains("${"));
                verdict.findings.push(finding);
            }
            _ => verdict.suppressed.push(finding),
        }
    }
    let path = |finding: &Finding| finding.at.file().map_or("", |file| sources.get(file).path.as_str());
    verdict.findings.sort_by(|a, b| {
        let place = |finding: &Finding| (finding.at.range().start, finding.at.range().end, finding.code.name);
        path(a).cmp(path(b)).then_with(|| place(a).cmp(&place(b))).then_with(|| a.message.cmp(&b.message))
    });
    verdict
}

/// A code in `lifecycle.allow` that does not exist would silently allow nothing.
pub const ALLOWED_CODES: Check = Check { codes: &[&codes::YM206], run: Run::Each(allowed_codes) };

fn allowed_codes(_: &Subject, one: &One, findings: &mut Findings) {
    for name in one.declared.lifecycle.allowed().filter(|name| codes::code(name).is_none()) {
        let finding =
            Finding::new(&codes::YM206, name.span, format!("no check has the code `{name}`")).label("not a code");
        findings.push(match text::nearest(name, CODES.iter().map(|code| code.name)) {
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(name.span, near),
            None => finding.help("`pushplan explain` lists all codes"),
        });
    }
}
