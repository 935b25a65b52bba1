//! The content of a push that its device types do not support.

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::At;
use pushplan_model::nouns::device::DeviceType;
use pushplan_model::nouns::overrides::Web;
use pushplan_model::source::Span;
use pushplan_model::text;

use super::super::{Check, CheckScope, Dissected, Subject};
use super::own;

pub const MESSAGE_CENTER: Check =
    Check { codes: &[&codes::MS104, &codes::MS105], run: CheckScope::Each(message_center) };
pub const OVERRIDES: Check = Check { codes: &[&codes::MS111], run: CheckScope::Each(overrides) };

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

fn overrides(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for said in own(subject, one) {
        let (Some(shown), Some(devices)) = (said.notification, said.devices) else { continue };
        let web = shown.web.iter().map(|web| (DeviceType::Web, place(web)));
        let ios = shown.ios.iter().map(|ios| (DeviceType::Ios, ios.0.span));
        let android = shown.android.iter().map(|android| (DeviceType::Android, android.0.span));
        let amazon = shown.amazon.iter().map(|amazon| (DeviceType::Amazon, amazon.0.span));
        let open = shown.open.keys().filter_map(|key| Some((DeviceType::parse(key)?, key.span)));
        for (device, at) in web.chain(ios).chain(android).chain(amazon).chain(open) {
            if devices.includes(&device) {
                continue;
            }
            let name = text::short(&device.to_string(), 40);
            let only = if device == DeviceType::Web { "browsers".to_owned() } else { name.clone() };
            findings.push(
                Finding::new(&codes::MS111, at, format!("the overrides for `{name}` have no effect"))
                    .label(format!("for {only} only"))
                    .related(devices.span, format!("`{name}` is not among these"))
                    .help(format!("add `{name}` to device_types, or remove the {name} overrides")),
            );
        }
    }
}

/// The position of the first override, because a map with several lines cannot be underlined.
fn place(web: &At<Web>) -> Span {
    let Web { title, icon, extra, .. } = &web.value;
    let title = title.iter().map(|title| title.span);
    let icon = icon.iter().map(|icon| icon.url.span);
    let own = title.chain(icon).chain(extra.keys().map(|key| key.span));
    own.chain(web.extended().into_iter().filter_map(|(_, at)| at)).min().unwrap_or(web.span)
}
