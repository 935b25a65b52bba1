//! Whether and when pipelines can send: their triggers and hours.

use jiff::SignedDuration;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{Pipeline, Role, Trigger, of_kind};
use pushplan_model::node::{Decode, missing};
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::inactivity::Inactivity;
use pushplan_model::nouns::send_hours::{HoursClock, SendHours};

use super::schedules::segment;
use super::{Check, CheckScope, Dissected, Subject};
use crate::timing::{Country, can_disturb, places, words};

/// A pipeline that nothing triggers.
pub(crate) const UNTRIGGERED: Check = Check { codes: &[&codes::YM203], run: CheckScope::Each(untriggered) };

fn untriggered(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(pipeline) = of_kind::<Pipeline>(&*one.declared.spec) else { return };
    let is_triggered = !pipeline.immediate_trigger.is_empty() || pipeline.historical_trigger.is_some();
    if !is_triggered && !one.declared.has_unknown_keys {
        findings.push(
            Finding::new(&codes::YM203, one.declared.key.span, missing("immediate_trigger"))
                .label("needs `immediate_trigger`")
                .help(format!(
                    "add `immediate_trigger`: {}; or `historical_trigger`: {}",
                    Trigger::WHAT,
                    Inactivity::WHAT
                )),
        );
    }
}

/// Hours that never come while the pipeline is active.
pub(crate) const NEVER: Check = Check { codes: &[&codes::PL111], run: CheckScope::Each(never) };

fn never(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(pipeline) = of_kind::<Pipeline>(&*one.declared.spec) else { return };
    let (Some(hours), Some(until)) = (&pipeline.timing.schedule, &pipeline.deactivation_time) else { return };
    let from = pipeline.active().0.unwrap_or(subject.now).max(subject.now);
    let due = |seconds: i64| from.checked_add(SignedDuration::from_secs(seconds.max(0))).ok();
    let delays = one.parts.delays.iter().filter_map(|delay| due(delay.0));
    let mut dues = delays.filter(|due| *due < until.value.0).peekable();
    if dues.peek().is_none() || dues.any(|due| hours.has_time_between(due, until.value.0)) {
        return;
    }
    let place = if hours.clock == HoursClock::Local { " in any time zone" } else { "" };
    let message = format!("none of these hours is before {}{place}", words::moment(until.value.0));
    let mut finding = Finding::new(&codes::PL111, hours.span, message).label(hours.to_string());
    finding = finding.related(until.span, "inactive from here on");
    if let Some(from) = &pipeline.activation_time {
        finding = finding.related(from.span, "active from here on");
    }
    findings.push(
        finding
            .note("it would never send anything")
            .help("add days or times in which it is active, or write a later `deactivation_time`"),
    );
}

/// A pipeline that can send in the quiet hours of the target.
pub(crate) const QUIET: Check = Check { codes: &[&codes::PL112], run: CheckScope::Each(quiet) };

fn quiet(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    let Some(quiet) = subject.target.and_then(|target| target.quiet_hours.as_ref()) else { return };
    let Some(pipeline) = of_kind::<Pipeline>(&*one.declared.spec).filter(|pipeline| pipeline.enabled) else { return };
    if pipeline.active().1.is_some_and(|until| until <= subject.now) {
        return;
    }
    let condition = one.parts.audiences.iter().find(|audience| audience.role == Role::Condition);
    let there = condition.map(|own| places(own.selector, |reference| segment(subject, reference), Country::Main));
    let (hours, range) = (&pipeline.timing.schedule, quiet.quiet());
    if !can_disturb(hours.as_ref().map(|hours| &hours.value), range, there.as_ref(), subject.now) {
        return;
    }
    let place = hours.as_ref().map_or(one.declared.key.span, |hours| hours.span);
    let longest = one.parts.delays.iter().map(|delay| delay.0.max(0)).max().unwrap_or_default();
    let (message, label) = match hours {
        Some(hours) if hours.clock == HoursClock::Utc => {
            (format!("these hours are in UTC, and for some recipients in the quiet hours ({range})"), hours.to_string())
        }
        Some(hours) => (format!("these hours are partly in the quiet hours ({range})"), hours.to_string()),
        None if longest > 0 => (
            format!("this pipeline sends {} after its trigger, also in the quiet hours ({range})", Delay(longest)),
            "at any hour".to_owned(),
        ),
        None => (
            format!("this pipeline sends when it is triggered, also in the quiet hours ({range})"),
            "at any hour".to_owned(),
        ),
    };
    let finding = Finding::new(&codes::PL112, place, message)
        .label(label)
        .related(quiet.span, "the quiet hours of the target")
        .note("if this is intended, set `lifecycle: {allow: [PL112]}` on the resource");
    // Hours in UTC cannot suit all recipients.
    let local = hours.as_ref().filter(|hours| hours.clock == HoursClock::Local);
    let free = local.and_then(|hours| hours.without(range));
    let Some(written) = free.or_else(|| SendHours::outside(range)).map(|free| free.written()) else { return };
    findings.push(match hours {
        Some(hours) => finding.help(format!("write `schedule: {written}`")).suggest(hours.span, written),
        None if subject.is_documented() => finding.help(format!(
            "if the service supports hours, set `api = \"extended\"` and add `timing: {{schedule: {written}}}`; if there is a \
                `timing`, add the `schedule` to it"
        )),
        None => finding.help(format!("add `timing: {{schedule: {written}}}`; if there is a `timing`, add the `schedule` to it")),
    });
}
