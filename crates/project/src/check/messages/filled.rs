//! Pushes with a template: their values, and the resulting texts.

use std::collections::HashSet;

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::{Template, Variable};
use pushplan_model::node::At;
use pushplan_model::nouns::notification::Notification;
use pushplan_model::nouns::push::{Push, TemplateName};
use pushplan_model::source::Span;
use pushplan_model::text;

use super::super::{Check, CheckScope, Dissected, Subject};
use super::{shown, urls};
use crate::look::{screens, with_defaults};

pub const VALUES: Check = Check { codes: &[&codes::MS103, &codes::MS114], run: CheckScope::Each(values) };
pub const RESULT: Check =
    Check { codes: &[&codes::MS106, &codes::MS107, &codes::MS110], run: CheckScope::Each(result) };

/// The maximal number of a template's variables in a message.
const LISTED: usize = 20;

fn values(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for push in &one.parts.pushes {
        let Some(name) = &push.template else {
            findings.extend(without_template(push));
            continue;
        };
        let Some(template) = subject.desired.get::<Template>(&name.0) else { continue };
        let variables = template.variables.as_deref().unwrap_or(&[]);
        missing(push, name, variables, findings);
        superfluous(push, name, variables, findings);
    }
}

/// Values without a template.
fn without_template(push: &Push) -> Option<Finding> {
    let first = push.substitutions.keys().min_by_key(|key| key.span)?;
    Some(
        Finding::new(&codes::MS114, first.span, "the push has substitutions, but no template")
            .label("goes nowhere")
            .help("add `template:`, or remove `substitutions`"),
    )
}

fn missing(push: &Push, name: &At<TemplateName>, variables: &[Variable], findings: &mut Findings) {
    for Variable { key, default_value, .. } in variables {
        if default_value.is_none() && !push.substitutions.contains_key(key) {
            findings.push(
                Finding::new(&codes::MS103, name.span, format!("the template `{}` needs a value for `{key}`", name.0))
                    .label(format!("no value for `{key}`"))
                    .related(key.span, "has no default_value")
                    .note(format!("recipients would see {{{{{key}}}}}"))
                    .help(format!(
                        "add `substitutions: {{{key}: ...}}` to the push, or a default_value to the variable"
                    )),
            );
        }
    }
}

fn superfluous(push: &Push, name: &At<TemplateName>, variables: &[Variable], findings: &mut Findings) {
    if push.substitutions.is_empty() {
        return;
    }
    let known = || variables.iter().map(|variable| variable.key.as_str());
    let all: HashSet<&str> = known().collect();
    for key in push.substitutions.keys().filter(|key| !all.contains(key.as_str())) {
        let shown = text::short(key, 40);
        let finding =
            Finding::new(&codes::MS114, key.span, format!("the template `{}` has no variable `{shown}`", name.0))
                .label("goes nowhere");
        findings.push(match text::nearest_of_few(key, known()) {
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(key.span, near),
            None if variables.is_empty() => finding.help("remove it: the template has no variables"),
            None if variables.len() > LISTED => finding.help("write one of the template's variables, or remove it"),
            None => {
                let names: Vec<String> = known().map(|name| format!("`{name}`")).collect();
                finding.help(format!("expected {}", text::any_of(&names)))
            }
        });
    }
}

/// Problems that the values cause in a correct template. They are reported at the push, which has the values.
fn result(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for push in one.parts.pushes.iter().filter(|push| !push.substitutions.is_empty()) {
        let Some(name) = &push.template else { continue };
        let (Some(template), Some(filled)) = (subject.desired.get::<Template>(&name.0), &push.notification) else {
            continue;
        };
        let localized = template.push.localizations.iter().zip(&*push.localizations);
        // Other localizations belong to the push.
        let localized = localized.filter(|(before, after)| before.span == after.span);
        let localized = localized.filter_map(|(before, after)| {
            Some((&before.notification.as_ref()?.value, &after.notification.as_ref()?.value))
        });
        let both = std::iter::once((&template.push.notification.value, &filled.value)).chain(localized);
        for (said, filled) in both {
            compare(push, name.span, (said, template.variables.as_deref()), filled, findings);
        }
    }
}

/// Reports what is valid in a notification of a template with its defaults, and wrong with the values of a push.
fn compare(
    push: &Push,
    at: Span,
    (said, variables): (&Notification, Option<&[Variable]>),
    filled: &Notification,
    findings: &mut Findings,
) {
    for screen in screens(Some(&push.device_types)) {
        if let (Some(before), Some(after)) = (said.on(&screen.device).alert, filled.on(&screen.device).alert) {
            let before = with_defaults(before, variables);
            let fitted = shown::too_long(screen, &before, at).is_none();
            findings.extend(shown::too_long(screen, after, at).filter(|_| fitted).map(told));
        }
    }
    for (before, after) in said.urls().zip(filled.urls()) {
        if urls::wrong(&with_defaults(before, variables)).is_none()
            && let Some(why) = urls::wrong(after)
        {
            findings.push(told(urls::finding(at, "", after, why)));
        }
    }
}

fn told(finding: Finding) -> Finding {
    finding.note("the cause is the push's substitutions; the template's defaults are valid")
}
