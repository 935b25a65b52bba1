//! Safety settings that are looser than at the last apply, each with what it now allows.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Time;
use pushplan_ledger::{CheckWeight, Exemption, Ledger, Safeguards};
use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::on_drift::OnDrift;
use pushplan_model::nouns::quiet::Quiet;
use pushplan_model::text::{all_of, count};
use pushplan_project::timing::APART;

use super::{MAX_DELETES, MIN_LEAD};
use crate::compare::Unit;
use crate::plan::{DeclaredAt, Loosened};

/// The safety settings of a target without any setting.
pub fn usual() -> Safeguards {
    Safeguards {
        on_drift: OnDrift::usual(),
        max_deletes: MAX_DELETES,
        quiet_hours: None,
        apart_seconds: None,
        min_lead_seconds: MIN_LEAD.as_secs(),
        test_sends: false,
        test_recipients: BTreeSet::new(),
        prune: BTreeSet::new(),
        is_pinned: false,
        checks: BTreeMap::new(),
        exempt: BTreeMap::new(),
    }
}

/// The positions of safety settings in the project file.
#[derive(Clone, Debug, Default)]
pub struct SettingsPlaces {
    pub target: Option<DeclaredAt>,
    /// Those of the severities of checks, by code.
    pub checks: BTreeMap<String, DeclaredAt>,
}

impl SettingsPlaces {
    /// The position of a check's severity, or of the target.
    pub(super) fn of(&self, code: Option<&str>) -> Option<&DeclaredAt> {
        code.and_then(|code| self.checks.get(code)).or(self.target.as_ref())
    }
}

/// The settings that are looser than in the ledger. Settings that the ledger does not have are skipped.
pub fn loosened(
    now: &Safeguards,
    ledger: &Ledger,
    units: &BTreeMap<Address, Unit>,
    left_out: &BTreeSet<Address>,
    composites: &BTreeMap<Address, DeclaredAt>,
    settings_at: Option<&SettingsPlaces>,
) -> Vec<Loosened> {
    let is_first = ledger.applied.is_none() && ledger.owned.is_empty();
    let usual = usual();
    let before = ledger.safeguards.as_ref().or(is_first.then_some(&usual));
    let of_target = before.map(|before| of_target(before, now)).unwrap_or_default();
    let of_target = of_target.into_iter().map(|(setting, words)| {
        let code = setting.strip_prefix("checks.").map(str::to_owned);
        let place = settings_at.and_then(|places| places.of(code.as_deref())).cloned();
        Loosened { address: None, code, setting, words, place, lets_through: None }
    });
    let place = |address: &Address| {
        let whole = units.get(address).and_then(|unit| unit.place.clone());
        whole.or_else(|| composites.get(address).cloned())
    };
    let owned: BTreeSet<Address> = match before {
        None => ledger.owned.keys().map(Address::resource).collect(),
        Some(_) => BTreeSet::new(),
    };
    let mut out: Vec<Loosened> = of_target.collect();
    for (address, exemptions) in now.exempt.iter().filter(|(address, _)| !left_out.contains(address)) {
        let known: BTreeSet<&Exemption> = match before {
            Some(before) => before.exemptions(address).collect(),
            // An older version did not record it.
            None if owned.contains(address) => continue,
            None => BTreeSet::new(),
        };
        for exemption in exemptions.iter().filter(|exemption| !known.contains(exemption)) {
            let (setting, words) = exempt(exemption);
            let code = match exemption {
                Exemption::Allow(code) | Exemption::Warn(code) => Some(code.clone()),
                Exemption::Broadcast | Exemption::Ignore(_) => None,
            };
            let (address, place) = (Some(address.clone()), place(address));
            out.push(Loosened { address, setting, code, words, place, lets_through: None });
        }
    }
    let was_protected = |address: &Address| ledger.owned.get(address).is_some_and(|owned| owned.protect);
    let unprotected = units.iter().filter(|(address, unit)| {
        unit.protect == Some(false) && was_protected(address) && !left_out.contains(&address.resource())
    });
    let unprotected: BTreeMap<Address, &Unit> = unprotected.map(|(address, unit)| (address.resource(), unit)).collect();
    out.extend(unprotected.into_iter().map(|(address, unit)| Loosened {
        address: Some(address),
        setting: "lifecycle.protect".to_owned(),
        code: None,
        words: "protect is now false: it can be deleted".to_owned(),
        place: unit.place.clone(),
        lets_through: None,
    }));
    out
}

/// The safety settings to record if only a part of the files is applied: excluded resources keep their previous
/// settings.
pub fn remembered(now: &Safeguards, ledger: &Ledger, left_out: &BTreeSet<Address>) -> Safeguards {
    let mut kept = now.clone();
    for address in left_out {
        let had = ledger.safeguards.as_ref().and_then(|before| before.exempt.get(address));
        match had {
            Some(had) => kept.exempt.insert(address.clone(), had.clone()),
            None => kept.exempt.remove(address),
        };
    }
    kept
}

fn exempt(exemption: &Exemption) -> (String, String) {
    let title = |code: &str| codes::code(code).map(|code| format!(" ({})", code.title)).unwrap_or_default();
    match exemption {
        Exemption::Broadcast => ("lifecycle.broadcast".to_owned(), "broadcast: true was added".to_owned()),
        Exemption::Allow(code) => (
            "lifecycle.allow".to_owned(),
            format!("allow: {code} was added: this check no longer applies to it{}", title(code)),
        ),
        Exemption::Warn(code) => (
            "lifecycle.warn".to_owned(),
            format!("warn: {code} was added: its errors are only warnings here{}", title(code)),
        ),
        Exemption::Ignore(path) => (
            "lifecycle.ignore".to_owned(),
            format!("ignore: {path} was added: edits of this field in the dashboard are no longer shown"),
        ),
    }
}

/// The loosened settings of a target: name and description.
fn of_target(before: &Safeguards, now: &Safeguards) -> Vec<(String, String)> {
    let Safeguards {
        on_drift,
        max_deletes,
        quiet_hours,
        apart_seconds,
        min_lead_seconds,
        test_sends,
        test_recipients,
        prune,
        is_pinned,
        checks,
        exempt: _,
    } = now;
    let mut out: Vec<(String, String)> = Vec::new();
    let mut add = |setting: &str, words: String| out.push((setting.to_owned(), words));
    if (before.on_drift, *on_drift) == (OnDrift::Stop, OnDrift::Overwrite) {
        add("on_drift", "on_drift is now overwrite, was stop: edits in the dashboard are undone".to_owned());
    }
    if *max_deletes > before.max_deletes {
        let (was, now) = (before.max_deletes, count(*max_deletes, "resource"));
        add("max_deletes", format!("max_deletes is now {max_deletes}, was {was}: one plan may delete {now}"));
    }
    if let Some(was) = before.quiet_hours.filter(|was| is_shortened(*was, *quiet_hours)) {
        let words = match quiet_hours {
            None => format!("quiet_hours ({was}) was removed: messages at night are no longer reported"),
            Some(now) => {
                format!("quiet_hours is now {now}, was {was}: messages in the time between are no longer reported")
            }
        };
        add("quiet_hours", words);
    }
    let [was_apart, is_apart] = [before.apart_seconds, *apart_seconds].map(|apart| apart.unwrap_or(APART.as_secs()));
    if was_apart > is_apart {
        let word = |set: Option<i64>, apart: i64| match set {
            Some(_) => Delay(apart).to_string(),
            None => format!("{} (the default)", Delay(apart)),
        };
        let (was, now) = (word(before.apart_seconds, was_apart), word(*apart_seconds, is_apart));
        add("apart", format!("apart is now {now}, was {was}: messages closer than before are no longer reported"));
    }
    if *min_lead_seconds < before.min_lead_seconds {
        let (was, now) = (Delay(before.min_lead_seconds), Delay(*min_lead_seconds));
        add("min_lead", format!("min_lead is now {now}, was {was}: a push may be scheduled closer to its send time"));
    }
    if *test_sends && !before.test_sends {
        add("test_sends", "test_sends is now true: test messages may be sent to real recipients".to_owned());
    }
    let recipients: Vec<String> = test_recipients.difference(&before.test_recipients).cloned().collect();
    if !recipients.is_empty() && !before.test_sends {
        add("test_recipients", format!("{} may now get test messages", all_of(&recipients)));
    }
    let kinds: Vec<String> = prune.difference(&before.prune).cloned().collect();
    if !kinds.is_empty() {
        add("prune", format!("prune now deletes {} that are not in git", all_of(&kinds)));
    }
    if before.is_pinned && !is_pinned {
        let words = "app_key_fingerprint was removed: any application's credentials are accepted";
        add("app_key_fingerprint", words.to_owned());
    }
    for (code, weight) in
        checks.iter().filter(|(code, weight)| before.checks.get(*code).is_none_or(|was| *was > **weight))
    {
        let title = codes::code(code).map(|code| format!(" ({})", code.title)).unwrap_or_default();
        let words = match weight {
            CheckWeight::Off => format!("{code} is now off: it is no longer reported{title}"),
            CheckWeight::Warning => format!("{code} is now a warning: it no longer blocks an apply{title}"),
        };
        add(&format!("checks.{code}"), words);
    }
    out
}

/// Whether a minute was in quiet hours and no longer is.
fn is_shortened(was: Quiet, now: Option<Quiet>) -> bool {
    let minutes = (0..24).flat_map(|hour| (0..60).map(move |minute| Time::constant(hour, minute, 0, 0)));
    minutes.filter(|minute| was.contains(*minute)).any(|minute| now.is_none_or(|now| !now.contains(minute)))
}
