//! The content of a push that its device types do not support.

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::At;
use pushplan_model::nouns::device::DeviceType;
use pushplan_model::nouns::notification::Web;
use pushplan_model::source::Span;

use super::super::{Check, CheckScope, Dissected, Subject};
use super::own;

pub const MESSAGE_CENTER: Check =
    Check { codes: &[&codes::MS104, &codes::MS105], run: CheckScope::Each(message_center) };
pub const WEB: Check = Check { codes: &[&codes::MS111], run: CheckScope::Each(web) };

/// A Message Center message on device types without one. A message from a template counts as well, because only the
/// push defines its device types.
fn message_center(_: &Subject, one: &Dissected, findings: &mut Findings) {
    for said in one.parts.said.iter().filter(|said| said.message.is_some()) {
        for device in said.devices.iter().flat_map(|devices| devices.named()) {
            let finding = match &device.value {
                DeviceType::Ios | DeviceType::Android | DeviceType::Amazon => continue,
                DeviceType::Wns => {
                    Finding::new(&codes::MS105, device.span, "a push with a Message Center message cannot go to `wns`")
                        .label("no Message Center")
                        .note("the service refuses the whole push")
                }
                DeviceType::Web | DeviceType::Open(_) => Finding::new(
                    &codes::MS104,
                    device.span,
                    format!("the Message Center message does not reach `{}`", device.value),
                )
                .label("no Message Center")
                .note("Message Center exists on ios, android and amazon"),
            };
            let finding = match said.borrowed {
                true => finding.note("the message may come from the push's template"),
                false => finding,
            };
            findings.push(
                finding.help(format!("remove `{0}`, or send `{0}` a separate push without `message`", device.value)),
            );
        }
    }
}

fn web(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for said in own(subject, one) {
        let (Some(web), Some(devices)) = (said.notification.and_then(|shown| shown.web.as_ref()), said.devices) else {
            continue;
        };
        if !devices.includes(&DeviceType::Web) {
            findings.push(
                Finding::new(&codes::MS111, place(web), "the overrides for `web` have no effect")
                    .label("for browsers only")
                    .related(devices.span, "`web` is not among these")
                    .help("add `web` to device_types, or remove the web overrides"),
            );
        }
    }
}

/// The position of the first override, because a map with several lines cannot be underlined.
fn place(web: &At<Web>) -> Span {
    let Web { title, icon, extra } = &web.value;
    let title = title.iter().map(|title| title.span);
    let icon = icon.iter().map(|icon| icon.url.span);
    title.chain(icon).chain(extra.keys().map(|key| key.span)).min().unwrap_or(web.span)
}
