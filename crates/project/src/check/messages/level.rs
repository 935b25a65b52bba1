//! Fields that the API of the target does not have.

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};

use super::super::{Check, CheckScope, Dissected, Subject};
use super::own;

pub const LEVEL: Check = Check { codes: &[&codes::MS120], run: CheckScope::Each(level) };

fn level(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    if !subject.is_documented() {
        return;
    }
    let report = |what: &str, at| {
        Finding::new(&codes::MS120, at, format!("{what} cannot be sent to this target"))
            .label("not part of the contract")
            .note("the API level of the target is `documented`")
            .help("remove it, or set `api = \"extended\"` if the service supports it")
    };
    for said in own(subject, one) {
        findings.extend(said.localizations.first().map(|first| report("`localizations`", first.span)));
        for (what, at) in said.notification.into_iter().flat_map(|notification| notification.extended()) {
            findings.push(report(&what, at));
        }
    }
}
