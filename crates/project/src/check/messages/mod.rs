//! The content of messages: placeholders, length, hidden characters, buttons, URLs.

mod buttons;
mod deep_links;
mod devices;
mod empty;
mod filled;
mod hidden;
mod hosts;
mod level;
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
pub use placeholders::{DECLARED, KEYS, TWICE, USED};
pub use previews::PREVIEWS;
pub use shown::LENGTH;
pub use size::SIZE;
pub use urls::URLS;

use pushplan_model::kinds::{ReadableText, Template};
use pushplan_model::node::At;

use super::{Dissected, Subject};

/// The own texts of a resource. Texts from a template are checked there; a message next to the template's name is the
/// push's own.
fn own<'d>(subject: &'d Subject, one: &Dissected<'d>) -> Vec<ReadableText<'d>> {
    let own = one.parts.said.iter().filter(|said| !said.borrowed).copied();
    let beside = one.parts.pushes.iter().filter_map(|push| {
        let template = subject.desired.get::<Template>(&push.template.as_ref()?.0);
        let message = push.message.as_ref()?;
        let from = template.and_then(|template| template.push.message.as_ref());
        if from.is_some_and(|from| from.span == message.span) {
            return None;
        }
        let devices = Some(&push.device_types);
        Some(ReadableText {
            notification: None,
            message: Some(message),
            devices,
            variables: None,
            borrowed: false,
            campaigns: None,
            rest: None,
        })
    });
    own.chain(beside).collect()
}

/// Every text of a notification and a message that can hold a placeholder.
fn fillable<'d>(said: &ReadableText<'d>) -> impl Iterator<Item = &'d At<String>> + use<'d> {
    said.notification.into_iter().flat_map(|notification| notification.fillable()).chain(message_texts(said))
}

/// Title and body of a message.
fn message_texts<'d>(said: &ReadableText<'d>) -> impl Iterator<Item = &'d At<String>> + use<'d> {
    said.message.into_iter().flat_map(|message| [&message.title, &message.body])
}
