//! The hours of pipelines.

use jiff::SignedDuration;
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{Pipeline, of_kind};
use pushplan_model::nouns::daypart::HoursClock;

use super::{Check, CheckScope, Dissected, Subject};
use crate::timing::words;

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
