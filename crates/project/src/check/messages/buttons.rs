//! Interactive types and their buttons.

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::nouns::notification::{INTERACTIVE_TYPES, Interactive};
use pushplan_model::text;

use super::super::{Check, CheckScope, Dissected, Subject};
use super::own;

pub const BUTTONS: Check = Check { codes: &[&codes::MS109], run: CheckScope::Each(buttons) };

fn buttons(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for said in own(subject, one) {
        for interactive in said.notification.into_iter().flat_map(|notification| notification.all_interactive()) {
            look(interactive, findings);
        }
    }
}

fn look(Interactive { r#type: name, button_actions }: &Interactive, findings: &mut Findings) {
    let Some(known) = INTERACTIVE_TYPES.iter().find(|known| *known.name == **name) else {
        let names = || INTERACTIVE_TYPES.iter().map(|known| known.name);
        let shown = text::short(name, 40);
        let finding = Finding::new(&codes::MS109, name.span, format!("no interactive type has the name `{shown}`"))
            .label("not known");
        findings.push(match text::nearest(name, names()) {
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(name.span, near),
            None => finding.help(format!("expected {}", text::any_of(&names().collect::<Vec<_>>()))),
        });
        return;
    };
    for button in button_actions.keys().filter(|button| *button.value != *known.button) {
        let finding = Finding::new(
            &codes::MS109,
            button.span,
            format!("the type `{name}` has no button `{}`", text::short(button, 40)),
        )
        .label("never shown")
        .related(name.span, format!("its only button is `{}`", known.button));
        let other = INTERACTIVE_TYPES.iter().find(|other| *other.button == **button);
        findings.push(match other {
            Some(other) => finding.help(format!("the button `{button}` belongs to the type `{}`", other.name)),
            None if button_actions.len() == 1 => {
                finding.help(format!("write `{}`", known.button)).suggest(button.span, known.button)
            }
            None => finding.help(format!("`{name}` takes `{}` ({})", known.button, known.purpose)),
        });
    }
}
