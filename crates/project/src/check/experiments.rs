//! Experiments: the requirements of an A/B test.

use std::collections::HashMap;

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{self, Experiment, Variant, of_kind};
use pushplan_model::node::At;
use pushplan_model::nouns::clock::authored;
use pushplan_model::nouns::schedule::{Schedule, When};
use pushplan_model::source::Span;

use super::{Check, CheckScope, Dissected, Subject};

/// The maximal number of variants that the service accepts.
const MOST_VARIANTS: usize = *kinds::VARIANT_COUNT.end();

/// Two variants with the same content and time, which a test cannot distinguish.
pub(crate) const SAME_VARIANTS: Check = Check { codes: &[&codes::EX101], run: CheckScope::Each(same_variants) };

fn same_variants(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(experiment) = of_kind::<Experiment>(&*one.declared.spec) else { return };
    let mut firsts: HashMap<String, usize> = HashMap::new();
    for (number, variant) in experiment.variants.iter().enumerate() {
        // Its name and its weight do not make it another variant.
        let Variant { push, schedule, name: _, description: _, weight: _ } = &variant.value;
        let Ok(canonical) = serde_json::to_string(&(push, schedule)) else { continue };
        let first = *firsts.entry(canonical).or_insert(number);
        if first == number {
            continue;
        }
        findings.push(
            Finding::new(
                &codes::EX101,
                place(variant),
                format!("variant {} has the same content and time as variant {}", number + 1, first + 1),
            )
            .label(format!("the same as variant {}", first + 1))
            .related(place(&experiment.variants[first]), format!("variant {}", first + 1))
            .note("each variant goes to a part of the audience, so any difference in their results is chance")
            .help("change the content or the time of this variant, or remove it"),
        );
    }
}

/// A variant without a time, which does not wait for the others.
pub(crate) const UNSCHEDULED: Check = Check { codes: &[&codes::EX102], run: CheckScope::Each(unscheduled) };

fn unscheduled(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(experiment) = of_kind::<Experiment>(&*one.declared.spec) else { return };
    let other = experiment.variants.iter().find_map(|variant| variant.schedule.as_ref());
    for (number, variant) in experiment.variants.iter().enumerate().filter(|(_, variant)| variant.schedule.is_none()) {
        let example = other.map_or_else(|| "{scheduled_time: ..., time_zone: ...}".to_owned(), |other| written(other));
        findings.push(
            Finding::new(
                &codes::EX102,
                variant.span,
                format!("variant {} has no schedule: it is sent at once", number + 1),
            )
            .within("push", 0)
            .label("sent as soon as it is applied")
            .note("a sent message cannot be cancelled")
            .help(format!("add `schedule: {example}`")),
        );
    }
}

/// A schedule in a form that its author can copy.
fn written(schedule: &Schedule) -> String {
    let time = authored(schedule.written.value);
    match (schedule.when, schedule.zone.iana_name()) {
        (When::EachZone(_), _) => format!("{{local_scheduled_time: {time}}}"),
        (When::At(_), Some(zone)) if zone != "UTC" => format!("{{scheduled_time: {time}, time_zone: {zone}}}"),
        (When::At(_), _) => format!("{{scheduled_time: {time}}}"),
    }
}

/// A wrong number of variants: a single one is no comparison, and the service names them by the letters of the
/// alphabet.
pub const VARIANT_COUNT: Check = Check { codes: &[&codes::EX103], run: CheckScope::Each(variant_count) };

fn variant_count(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(experiment) = of_kind::<Experiment>(&*one.declared.spec) else { return };
    let variants = &experiment.variants;
    let (at, label, help) = match &variants[..] {
        [] => (variants.span, "no variant", "add at least two different variants"),
        [only] => {
            (only.span, "the only variant", "add a variant to compare it with; for one message, use a scheduled push")
        }
        [..] if variants.len() > MOST_VARIANTS => {
            (variants[MOST_VARIANTS].span, "one variant too many", "remove variants, or write two experiments")
        }
        _ => return,
    };
    let message = match variants.len() {
        0 => "an experiment has 2 to 26 variants; this one has none".to_owned(),
        count => format!("an experiment has 2 to 26 variants; this one has {count}"),
    };
    // A variant has no name, so the key of its push is shown.
    findings.push(Finding::new(&codes::EX103, at, message).within("push", 0).label(label).help(help));
}

/// Fields that the contract lacks.
pub(crate) const LEVEL: Check = Check { codes: &[&codes::EX106], run: CheckScope::Each(level) };

fn level(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(experiment) = of_kind::<Experiment>(&*one.declared.spec).filter(|_| subject.is_documented()) else {
        return;
    };
    let control = experiment.control.as_ref().map(|control| ("control", control.span));
    let of_variant = |variant: &At<Variant>| {
        let Variant { name, description, weight, push: _, schedule: _ } = &variant.value;
        [
            ("name", name.as_ref().map(|name| name.span)),
            ("description", description.as_ref().map(|description| description.span)),
            ("weight", weight.as_ref().map(|weight| weight.span)),
        ]
    };
    let variants = experiment.variants.iter().flat_map(of_variant).filter_map(|(key, span)| Some((key, span?)));
    for (key, span) in control.into_iter().chain(variants) {
        let message = match key {
            "control" => "`control` cannot be sent to this target".to_owned(),
            _ => format!("`{key}` of a variant cannot be sent to this target"),
        };
        findings.push(
            Finding::new(&codes::EX106, span, message)
                .label("the contract does not have it")
                .help(format!("remove `{key}`, or set `api = \"extended\"` if the service supports it")),
        );
    }
}

/// A short position for a variant: its text if that is within it, otherwise the whole.
fn place(variant: &At<Variant>) -> Span {
    let alert = variant.push.notification.alert.as_ref().map(|alert| alert.span);
    // A text from an alias is elsewhere, possibly for several variants at once.
    alert.filter(|alert| variant.span.contains(*alert)).unwrap_or(variant.span)
}
