//! The checks: rules that types cannot express. One file per family, and the table of all.
//!
//! A check reads one resource or all of them, and reports findings. It reads no file and no clock: its inputs are in
//! the [`Subject`].

mod audience;
mod circles;
mod content;
mod experiments;
pub mod fix;
mod hours;
mod identities;
mod lifecycle;
mod messages;
mod named_users;
mod pipelines;
mod references;
mod schedules;
mod settings;
pub mod sound;
mod tags;

use jiff::Timestamp;
use pushplan_model::address::Address;
use pushplan_model::codes::{self, Code};
use pushplan_model::cores;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::Parts;
use pushplan_model::nouns::level::Level;
use pushplan_model::source::Span;

use crate::manifest::{Declared, Desired, Target};

pub use settings::{ResourceWarning, SoftenedFinding, Verdict, judge};

/// The input of the checks.
#[derive(Debug)]
pub struct Subject<'d> {
    pub desired: &'d Desired,
    pub target: Option<&'d Target>,
    pub now: Timestamp,
}

impl Subject<'_> {
    /// Whether the target supports only what the contract describes.
    fn is_documented(&self) -> bool {
        self.target.is_some_and(|target| match &target.api {
            Some(level) => level.value == Level::Documented,
            None => target.base_url.is_some(),
        })
    }
}

/// One resource, with its parts.
#[derive(Debug)]
pub struct Dissected<'d> {
    pub address: &'d Address,
    pub declared: &'d Declared,
    pub parts: Parts<'d>,
}

/// A row of the table.
#[derive(Debug)]
pub struct Check {
    /// The codes that it can report.
    pub codes: &'static [&'static Code],
    pub run: CheckScope,
}

impl Check {
    /// Whether a check only reports the codes in its row. Every test of a check verifies this.
    fn reports_only_its_codes(&self, found: &[Finding]) -> bool {
        found.iter().all(|finding| self.codes.contains(&finding.code))
    }
}

/// Whether a check runs for each resource or once for all of them.
#[derive(Debug)]
pub enum CheckScope {
    Each(fn(&Subject, &Dissected, &mut Findings)),
    All(fn(&Subject, &mut Findings)),
}

/// All checks.
pub(crate) static CHECKS: &[Check] = &[
    settings::ALLOWED_CODES,
    audience::TAGS,
    audience::DEVICES,
    audience::COMPOUNDS,
    audience::LOCATION,
    audience::EXCLUSIVE,
    audience::EXTREMES,
    schedules::PAST,
    schedules::SECONDS,
    schedules::QUIET,
    schedules::CLOCKS,
    schedules::TWICE,
    schedules::NEAR,
    content::DAYS,
    content::LANGUAGE,
    content::AUDIENCE_LOCALES,
    pipelines::AUDIENCE,
    pipelines::DELAY,
    pipelines::TIMING,
    pipelines::LEVEL,
    pipelines::WINDOW,
    hours::UNTRIGGERED,
    hours::NEVER,
    hours::QUIET,
    pipelines::TRIGGER_TAG,
    pipelines::CIRCLE,
    pipelines::SAME_TRIGGER,
    experiments::SAME_VARIANTS,
    experiments::UNSCHEDULED,
    experiments::VARIANT_COUNT,
    experiments::LEVEL,
    tags::VOCABULARY,
    tags::RESERVED_GROUP,
    tags::TAG_LENGTH,
    tags::MEMBER_TAGS,
    tags::USER_ID,
    tags::USER_CHANNELS,
    tags::CHANNEL_TAGS,
    named_users::WITHOUT_CHANNELS,
    identities::TWICE,
    identities::HELD_TWICE,
    lifecycle::IGNORED,
    lifecycle::RENAMED,
    references::NAMES,
    references::CIRCLES,
    messages::DECLARED,
    messages::USED,
    messages::KEYS,
    messages::TWICE,
    messages::VALUES,
    messages::RESULT,
    messages::MESSAGE_CENTER,
    messages::OVERRIDES,
    messages::LEVEL,
    messages::DEEP_LINKS,
    messages::LOCALES,
    messages::LOCALIZED,
    messages::LENGTH,
    messages::CONTROLS,
    messages::BUTTONS,
    messages::URLS,
    messages::HOSTS,
    messages::SIZE,
    messages::EMPTY,
    messages::PREVIEWS,
];

/// Runs every check. The order of the findings has no meaning.
pub fn check(subject: &Subject) -> Vec<Finding> {
    let resources: Vec<_> = subject.desired.resources.iter().collect();
    let count = resources.len();
    let each = || cores::each_of(resources, |(address, declared)| each(subject, address, declared));
    let all = || CHECKS.iter().flat_map(|check| all(subject, check)).collect();
    let (each, all): (_, Vec<Finding>) = cores::both(count, each, all);
    let readable = subject.desired.readable.iter().flat_map(|(address, declared, uncertain)| {
        let mut found = self::each(subject, address, declared);
        // A value without a position is not the author's.
        found.retain(|finding| is_certain(finding.code, uncertain) && finding.at != Span::NONE);
        found
    });
    each.into_iter().flatten().chain(all).chain(readable).collect()
}

/// Codes about one condition. Malformed conditions next to it do not cause them.
const OF_ONE_CONDITION: &[&Code] = &[
    &codes::AU101,
    &codes::AU102,
    &codes::AU103,
    &codes::AU104,
    &codes::AU105,
    &codes::AU106,
    &codes::AU107,
    &codes::AU108,
    &codes::AU110,
    &codes::AU121,
];

/// Codes about one value. A malformed field elsewhere in the resource does not cause them.
const OF_ONE_VALUE: &[&Code] = &[
    &codes::SC101,
    &codes::SC105,
    &codes::SC107,
    &codes::SC109,
    &codes::PL101,
    &codes::PL102,
    &codes::EX102,
    &codes::TG102,
    &codes::TG103,
    &codes::TG105,
    &codes::TG107,
    &codes::MS101,
    &codes::MS106,
    &codes::MS107,
    &codes::MS108,
    &codes::MS109,
    &codes::MS110,
    &codes::MS112,
    &codes::MS115,
    &codes::MS120,
    &codes::MS121,
];

/// Whether a finding in the readable part of a resource also applies to the whole resource.
fn is_certain(code: &'static Code, uncertain: &[&str]) -> bool {
    let is_of_one = OF_ONE_VALUE.contains(&code) || code.name.starts_with("AU");
    let is_uncertain = uncertain.iter().any(|beginning| code.name.starts_with(beginning));
    OF_ONE_CONDITION.contains(&code) || (is_of_one && !is_uncertain)
}

/// The findings in one resource.
fn each(subject: &Subject, address: &Address, declared: &Declared) -> Vec<Finding> {
    let mut parts = Parts::new(&declared.key);
    declared.spec.parts(&mut parts);
    let one = Dissected { address, declared, parts };
    let mut findings = Findings::about(address);
    for check in CHECKS {
        if let CheckScope::Each(run) = check.run {
            let before = findings.len();
            run(subject, &one, &mut findings);
            debug_assert!(check.reports_only_its_codes(findings.since(before)));
        }
    }
    findings.into_vec()
}

/// The findings of a check for all resources.
fn all(subject: &Subject, check: &Check) -> Vec<Finding> {
    let mut findings = Findings::default();
    if let CheckScope::All(run) = check.run {
        run(subject, &mut findings);
        debug_assert!(check.reports_only_its_codes(findings.since(0)));
    }
    findings.into_vec()
}
