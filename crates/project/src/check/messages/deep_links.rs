//! Deep links: places in the app that a tap opens.

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::At;
use pushplan_model::nouns::notification::{DEEP_LINK, OpenAction, OpenContent};
use pushplan_model::nouns::placeholder::placeholders;
use pushplan_model::text;

use super::super::{Check, CheckScope, Dissected, Subject};
use super::own;
use super::urls::scheme;
use crate::look::with_defaults;

pub const DEEP_LINKS: Check = Check { codes: &[&codes::MS121], run: CheckScope::Each(deep_links) };

fn deep_links(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    if subject.desired.deep_links.is_empty() {
        return;
    }
    for said in own(subject, one) {
        let actions = said.notification.into_iter().flat_map(|notification| notification.all_actions());
        for OpenAction { r#type, content } in actions.filter_map(|actions| actions.open.as_ref()) {
            let OpenContent::Text(link) = content else { continue };
            if **r#type == *DEEP_LINK {
                let filled = with_defaults(link, said.variables);
                findings.extend(undeclared(link, &filled, &subject.desired.deep_links));
            }
        }
    }
}

/// The finding for a link whose scheme the project does not declare. Links to websites need no declaration, because
/// apps open them as well.
fn undeclared(link: &At<String>, filled: &str, declared: &[String]) -> Option<Finding> {
    if placeholders(filled).any(|placeholder| placeholder.range.start == 0) {
        return None;
    }
    let wrong = |message: String| Finding::new(&codes::MS121, link.span, message);
    let Some(scheme) = scheme(filled).map(str::to_ascii_lowercase) else {
        let finding = wrong(format!("the deep link `{}` has no scheme", text::short(filled, 60)));
        let help = declared.first().map(|example| format!("write the whole link, such as {example}://sale"));
        return Some(finding.label("opens nothing").help(help.unwrap_or_default()));
    };
    if ["http", "https"].contains(&scheme.as_str()) || declared.contains(&scheme) {
        return None;
    }
    let shown = text::short(&scheme, 40);
    let finding = wrong(format!("the project does not declare the scheme `{shown}` of this deep link"))
        .label("may open nothing")
        .note("a link with a scheme that the app does not have opens nothing, and no error is reported");
    Some(match text::nearest(&scheme, declared.iter().map(String::as_str)) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding.help(format!("if the app has it, add \"{shown}\" to `deep_links` under `[project]`")),
    })
}
