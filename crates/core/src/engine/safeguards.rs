//! The safety settings of a target in the files.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_ledger::{CheckWeight, Exemption, Safeguards};
use pushplan_model::address::Address;
use pushplan_model::codes::{self, Severity};
use pushplan_model::node::At;
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::on_drift::OnDrift;
use pushplan_model::source::Span;
use pushplan_project::manifest::{Desired, Lifecycle, Manifests, Target};

use crate::compare::place_at;
use crate::guard::{self, SettingsPlaces};

/// The safety settings of a target and of its resources.
pub(super) fn of(manifests: &Manifests, target: &str, desired: &Desired) -> Safeguards {
    let usual = guard::usual();
    let checks = codes::CODES.iter().filter_map(|code| {
        let weight = match (manifests.project.weight(code, code.severity), code.severity) {
            (None, _) => CheckWeight::Off,
            (Some(Severity::Warning), Severity::Error) => CheckWeight::Warning,
            _ => return None,
        };
        Some((code.name.to_owned(), weight))
    });
    let exempt = desired.resources.iter().filter_map(|(address, declared)| {
        let exemptions = exemptions(&declared.lifecycle);
        (!exemptions.is_empty()).then(|| (address.clone(), exemptions))
    });
    let exempt: BTreeMap<Address, BTreeSet<Exemption>> = exempt.collect();
    let Some(target) = manifests.project.target(target) else { return Safeguards { exempt, ..usual } };
    let seconds = |delay: &Option<At<Delay>>| delay.as_ref().map(|delay| delay.value.0);
    let max_deletes = target.max_deletes.as_ref().and_then(|most| usize::try_from(most.value).ok());
    Safeguards {
        on_drift: target.on_drift.as_ref().map_or_else(OnDrift::usual, |on_drift| on_drift.value),
        max_deletes: max_deletes.unwrap_or(usual.max_deletes),
        quiet_hours: target.quiet_hours.as_ref().map(|hours| hours.quiet()),
        apart_seconds: seconds(&target.apart),
        min_lead_seconds: seconds(&target.min_lead).unwrap_or(usual.min_lead_seconds),
        test_sends: target.test_sends.as_ref().is_some_and(|is_on| is_on.value),
        test_recipients: target.test_recipients.iter().flatten().map(|who| who.value.clone()).collect(),
        prune: Target::pruned(target).into_iter().map(str::to_owned).collect(),
        is_pinned: target.app_key_fingerprint.is_some(),
        checks: checks.collect(),
        exempt,
    }
}

/// The positions of the settings of a target, and of the severities of checks.
pub(super) fn places(manifests: &Manifests, target: &str) -> SettingsPlaces {
    let place = |span: Span| place_at(span, &manifests.sources);
    let checks = manifests.project.file.checks.keys();
    SettingsPlaces {
        target: manifests.project.target_place(target).and_then(place),
        checks: checks.filter_map(|code| Some((code.value.to_ascii_uppercase(), place(code.span)?))).collect(),
    }
}

fn exemptions(lifecycle: &Lifecycle) -> BTreeSet<Exemption> {
    let Lifecycle { protect: _, ignore, renamed_from: _, broadcast, allow, warn } = lifecycle;
    let broadcast = (*broadcast == Some(true)).then_some(Exemption::Broadcast);
    let allow = allow.iter().flatten().map(|code| Exemption::Allow(code.value.clone()));
    let warn = warn.iter().flatten().map(|code| Exemption::Warn(code.value.clone()));
    let ignore = ignore.iter().flatten().map(|path| Exemption::Ignore(path.value.clone()));
    broadcast.into_iter().chain(allow).chain(warn).chain(ignore).collect()
}
