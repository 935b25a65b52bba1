//! Samples of a template: their values, and the resulting texts.

use std::collections::HashSet;

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{Sample, Variable};
use pushplan_model::node::At;
use pushplan_model::text;

use super::super::{Check, CheckScope, Dissected, Subject};
use super::shown;
use crate::look::{self, filled, screens, with_defaults};

pub const PREVIEWS: Check =
    Check { codes: &[&codes::MS106, &codes::MS107, &codes::MS117, &codes::YM106], run: CheckScope::Each(previews) };

/// The maximal number of samples: as many as a plan shows.
const MOST: usize = 50;

fn previews(_: &Subject, one: &Dissected, findings: &mut Findings) {
    let variables = one.parts.said.iter().find_map(|said| said.variables).unwrap_or(&[]);
    if let Some((name, _)) = one.parts.previews.get(MOST) {
        findings.push(
            Finding::new(&codes::YM106, name.span, format!("more than {MOST} previews"))
                .label("the first one over the limit")
                .help("keep those that differ from the others"),
        );
    }
    for (name, sample) in one.parts.previews.iter().take(MOST) {
        if sample.is_empty() {
            findings.push(
                Finding::new(&codes::MS117, name.span, format!("the preview `{}` sets no values", told(name)))
                    .label("the same as the defaults")
                    .help("set values for variables, or remove it"),
            );
        }
        superfluous(name, sample, variables, findings);
        length(one, name, sample, findings);
    }
}

fn told(name: &str) -> String {
    text::short(name, 40)
}

fn superfluous(name: &At<String>, sample: &Sample, variables: &[Variable], findings: &mut Findings) {
    let known = || variables.iter().map(|variable| variable.key.as_str());
    let all: HashSet<&str> = known().collect();
    for key in sample.keys().filter(|key| !all.contains(key.as_str())) {
        let message = format!("the template has no variable `{}`, which the preview `{}` sets", told(key), told(name));
        let finding = Finding::new(&codes::MS117, key.span, message).label("goes nowhere");
        findings.push(match text::nearest_of_few(key, known()) {
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(key.span, near),
            None => finding.help("write one of the template's variables, or remove it"),
        });
    }
}

/// A text that fits with the defaults and is too long with the sample.
fn length(one: &Dissected, name: &At<String>, sample: &Sample, findings: &mut Findings) {
    let values = look::values(sample);
    let all = one.parts.said.iter().flat_map(|said| std::iter::once(*said).chain(said.localized().map(|(_, own)| own)));
    for said in all {
        let Some(notification) = said.notification else { continue };
        for screen in screens(said.devices.map(|devices| &devices.value)) {
            let Some(alert) = notification.on(&screen.device).alert else { continue };
            let (before, after) = (with_defaults(alert, said.variables), filled(alert, said.variables, &values));
            if shown::too_long(screen, &before, name.span).is_none()
                && let Some(finding) = shown::too_long(screen, &after, name.span)
            {
                let message = format!("with the preview `{}`, {}", told(name), finding.message);
                findings.push(Finding { message, ..finding }.note("with the template's defaults, it fits"));
            }
        }
    }
}
