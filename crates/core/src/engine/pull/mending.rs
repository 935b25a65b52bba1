//! Keeping edited manifests valid: findings of the checks, and the corrections for them.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::codes::Severity;
use pushplan_model::finding::Finding;
use pushplan_model::kinds;

use super::in_place::InPlace;
use crate::pull::Draft;

/// The corrections so far that make edited manifests valid.
#[derive(Debug, Default)]
pub struct Mending {
    /// Tag groups that are declared because edited resources need them.
    pub groups: BTreeSet<String>,
    /// The checks that become warnings, by resource.
    pub warn: BTreeMap<Address, BTreeSet<&'static str>>,
    /// Resources that are not edited.
    pub given_up: BTreeSet<Address>,
    /// The ids of segments that cannot be pulled.
    pub lost: BTreeSet<String>,
}

impl Mending {
    /// Adds corrections for findings. `false` if there is nothing to correct.
    pub fn learn(&mut self, findings: &[Finding], in_place: &InPlace, draft: &Draft) -> bool {
        let mut learned = false;
        let edited: BTreeSet<&Address> = in_place.edited().into_iter().collect();
        for finding in findings.iter().filter(|finding| finding.severity == Severity::Error) {
            let Some(address) = finding.address.as_ref().filter(|address| edited.contains(address)) else { continue };
            learned = true;
            let spec = in_place.settled.placed.get(address).map(|placed| &placed.expected);
            if finding.code == &codes::RF103
                && let Some(spec) = spec
            {
                let missing = draft.undeclared(kinds::of(address), &address.key, spec);
                if !missing.is_empty() {
                    self.groups.extend(missing);
                    continue;
                }
            }
            let is_new =
                finding.code.is_free() && self.warn.entry(address.clone()).or_default().insert(finding.code.name);
            if !is_new {
                self.given_up.insert(address.clone());
            }
        }
        learned
    }
}
