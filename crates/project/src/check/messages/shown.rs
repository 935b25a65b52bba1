//! The part of a text that a screen shows before a tap.

use pushplan_model::codes::{self, Code};
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::At;
use pushplan_model::nouns::device::DeviceType;
use pushplan_model::nouns::notification::Effective;
use pushplan_model::source::Span;
use pushplan_model::text;

use super::super::{Check, CheckScope, Dissected, Subject};
use super::own;
use crate::look::{Screen, screens, width, with_defaults};

pub const LENGTH: Check = Check { codes: &[&codes::MS106, &codes::MS107], run: CheckScope::Each(length) };

fn length(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for said in own(subject, one) {
        let Some(notification) = said.notification else { continue };
        for screen in screens(said.devices.map(|devices| &devices.value)) {
            let Effective { alert, title, subtitle, .. } = notification.on(&screen.device);
            let fill = |text: &At<String>| with_defaults(text, said.variables);
            findings.extend(alert.and_then(|alert| too_long(screen, &fill(alert), alert.span)));
            for (name, head) in [("title", title), ("subtitle", subtitle)] {
                findings.extend(head.and_then(|head| long_head(screen, name, &fill(head), head.span)));
            }
        }
    }
}

/// The code for texts that a screen cuts.
fn code(device: &DeviceType) -> &'static Code {
    if *device == DeviceType::Ios { &codes::MS106 } else { &codes::MS107 }
}

/// The finding for a title that does not fit on its line.
fn long_head(screen: &Screen, name: &str, shown: &str, at: Span) -> Option<Finding> {
    let cut = screen.cut_head(shown.trim_end())?;
    let message =
        format!("{} shows one line of the {name}, which has {}", screen.place, text::count(width(shown), "column"));
    Some(
        Finding::new(code(&screen.device), at, message)
            .label(format!("cut after {}", text::count(width(cut), "column")))
            .note(format!("shown as: {}", text::quoted(&format!("{cut}…"))))
            .help("shorten it, or put the most important part first"),
    )
}

/// The finding for a text that does not fit.
pub(crate) fn too_long(screen: &Screen, shown: &str, at: Span) -> Option<Finding> {
    let shown = shown.trim_end();
    let cut = screen.cut(shown)?;
    let is_at_line_end = shown[cut.len()..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    let (most, unit, has) = match is_at_line_end {
        true => (cut.lines().count(), "line", shown.lines().count()),
        false => (screen.columns?, "column", width(shown)),
    };
    let most = text::count(most, unit);
    let message = format!("{} shows {most} of this text, which has {has}", screen.place);
    Some(
        Finding::new(code(&screen.device), at, message)
            .label(format!("cut after {most}"))
            .note(format!("shown as: {}", text::quoted(&format!("{cut}…"))))
            .help("shorten it, or put the most important part first"),
    )
}
