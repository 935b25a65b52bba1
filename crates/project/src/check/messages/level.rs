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
    for said in own(subject, one) {
        for (what, at) in said.notification.into_iter().flat_map(|notification| notification.extended()) {
            findings.push(
                Finding::new(&codes::MS120, at, format!("{what} cannot be sent to this target"))
                    .label("not part of the contract")
                    .note("the API level of the target is `documented`")
                    .help("remove it, or set `api = \"extended\"` if the service supports it"),
            );
        }
    }
}
