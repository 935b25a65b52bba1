//! The content of messages: placeholders, length, hidden characters, buttons, URLs.

mod buttons;
mod deep_links;
mod devices;
mod empty;
mod filled;
mod hidden;
mod hosts;
mod level;
mod locales;
mod placeholders;
mod previews;
mod shown;
mod size;
mod urls;

pub use buttons::BUTTONS;
pub use deep_links::DEEP_LINKS;
pub use devices::{MESSAGE_CENTER, OVERRIDES};
pub use empty::EMPTY;
pub use filled::{RESULT, VALUES};
pub use hidden::CONTROLS;
pub use hosts::HOSTS;
pub use level::LEVEL;
pub use locales::{LOCALES, LOCALIZED};
pub use placeholders::{DECLARED, KEYS, TWICE, USED};
pub use previews::PREVIEWS;
pub use shown::LENGTH;
pub use size::SIZE;
pub use urls::URLS;

use pushplan_model::kinds::{ReadableText, Template};
use pushplan_model::node::At;
use pushplan_model::nouns::localization::Localizations;

use super::{Dissected, Subject};

/// The own texts of a resource, followed by those of its localizations. Texts from a template are checked there; a
/// message and localizations next to the template's name are the push's own.
fn own<'d>(subject: &'d Subject, one: &Dissected<'d>) -> Vec<ReadableText<'d>> {
    let own = one.parts.said.iter().filter(|said| !said.borrowed).copied();
    let beside = one.parts.pushes.iter().filter_map(|push| {
        let template = subject.desired.get::<Template>(&push.template.as_ref()?.0);
        let from = template.and_then(|template| template.push.message.as_ref()).map(|from| from.span);
        let message = push.message.as_ref().filter(|message| Some(message.span) != from);
        let first = |localizations: &Localizations| localizations.first().map(|first| first.span);
        let from = template.and_then(|template| first(&template.push.localizations));
        let is_own = first(&push.localizations) != from;
        let localizations: &[_] = if is_own { &push.localizations } else { &[] };
        if message.is_none() && localizations.is_empty() {
            return None;
        }
        let devices = Some(&push.device_types);
        Some(ReadableText {
            notification: None,
            message,
            localizations,
            devices,
            variables: None,
            borrowed: false,
            campaigns: None,
            rest: None,
        })
    });
    own.chain(beside).flat_map(|said| std::iter::once(said).chain(said.localized().map(|(_, own)| own))).collect()
}

/// Every text of a notification and a message that can hold a placeholder.
fn fillable<'d>(said: &ReadableText<'d>) -> impl Iterator<Item = &'d At<String>> + use<'d> {
    said.notification.into_iter().flat_map(|notification| notification.fillable()).chain(message_texts(said))
}

/// Title and body of a message.
fn message_texts<'d>(said: &ReadableText<'d>) -> impl Iterator<Item = &'d At<String>> + use<'d> {
    said.message.into_iter().flat_map(|message| [&message.title, &message.body])
}
