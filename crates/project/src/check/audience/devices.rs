//! Conditions that no device type of the push can meet.

use std::collections::HashSet;

use pushplan_model::codes::{self, Code};
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::Audience;
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{ChannelKey, Selector, Tag};
use pushplan_model::nouns::device::{DeviceType, DeviceTypes};
use pushplan_model::nouns::vocabulary::{self, Platform};
use pushplan_model::source::Span;
use pushplan_model::text;

use super::super::{Dissected, Subject};
use super::possible::can_match;
use super::{Reached, reach};

/// A condition that none of a push's devices can meet.
struct Unmet {
    code: &'static Code,
    /// The condition, and its position.
    what: String,
    at: Span,
    /// The device types that would meet it.
    needs: String,
}

pub fn devices(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for audience in &one.parts.audiences {
        let Audience { selector, devices: Some(devices), .. } = audience else { continue };
        if devices.value == DeviceTypes::All {
            continue;
        }
        let can_match = |device: &At<DeviceType>| can_match(subject.desired, device, selector);
        let nobody = !devices.named().iter().any(can_match);
        let mut seen = HashSet::new();
        reach(subject.desired, selector, &mut |reached| {
            let Reached { selector, through, negated } = reached;
            let Some(unmet) = unmet(selector, devices).filter(|_| !negated) else { return };
            // The author of a channel condition wants to reach that channel. A version condition may be one of several
            // alternatives in an audience.
            if unmet.code == &codes::AU111 && !nobody {
                return;
            }
            // A list of tags has one group, and a segment has one cause per device type.
            let cause = match through {
                Some(reference) => (reference, unmet.needs.clone()),
                None => (unmet.at, String::new()),
            };
            if seen.insert(cause) {
                findings.push(report(&unmet, through, devices));
            }
        });
    }
}

fn unmet(selector: &Selector, devices: &DeviceTypes) -> Option<Unmet> {
    match selector {
        Selector::Tag(Tag { group: Some(id), .. }) => {
            let group = vocabulary::group(id)?;
            let (device, name) = match group.platform? {
                Platform::Ios => (DeviceType::Ios, "iOS"),
                Platform::Android => (DeviceType::Android, "Android"),
            };
            (!devices.includes(&device)).then(|| Unmet {
                code: &codes::AU111,
                what: format!("only {name} devices have tags of the group `{}`", group.id),
                at: id.span,
                needs: device.to_string(),
            })
        }
        Selector::Channel(key, id) => {
            let needs = match key {
                ChannelKey::Any => return None,
                ChannelKey::Open => "open::<platform>".to_owned(),
                ChannelKey::Ios | ChannelKey::Android | ChannelKey::Amazon => key.device()?.to_string(),
            };
            let included = match key.device() {
                Some(device) => devices.includes(&device),
                None => devices.named().iter().any(|device| matches!(device.value, DeviceType::Open(_))),
            };
            (!included).then(|| Unmet {
                code: &codes::AU112,
                what: format!("an `{}` has the device type `{needs}`", key.key()),
                at: id.span,
                needs,
            })
        }
        _ => None,
    }
}

fn report(unmet: &Unmet, through: Option<Span>, devices: &At<DeviceTypes>) -> Finding {
    let Unmet { code, what, at, needs } = unmet;
    let named: Vec<String> = devices.named().iter().map(ToString::to_string).collect();
    let message = format!("{what}, but this goes to {} only", text::all_of(&named));
    let finding = match through {
        None => Finding::new(code, *at, message).label(format!("needs `{needs}`")),
        Some(reference) => Finding::new(code, reference, message)
            .label(format!("a condition in this segment needs `{needs}`"))
            .related(*at, "the condition"),
    };
    finding
        .related(devices.span, format!("`{needs}` is not among these"))
        .note("the service accepts this silently; the condition matches nobody")
        .help(format!("add `{needs}` to device_types, or remove the condition"))
}
