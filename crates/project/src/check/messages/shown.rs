//! The part of a text that a screen shows before a tap.

use std::collections::BTreeMap;

use pushplan_model::codes::{self, Code};
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::ReadableText;
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
    let mut all = own(subject, one).into_iter();
    while let Some(common) = all.next() {
        // Its localizations follow it.
        let localized: Vec<ReadableText> = all.by_ref().take(common.localizations.len()).collect();
        let mut found: BTreeMap<TextPlace, Vec<(Option<String>, Finding)>> = BTreeMap::new();
        for (place, finding) in too_long_texts(&common) {
            found.entry(place).or_default().push((None, finding));
        }
        for (own, said) in common.localizations.iter().zip(&localized) {
            for (place, finding) in too_long_texts(said) {
                let of_place = found.entry(place).or_default();
                // A text of the common content is reported once.
                if of_place.iter().all(|(_, other)| other.at != finding.at) {
                    of_place.push((Some(own.locale()), finding));
                }
            }
        }
        findings.extend(found.into_values().flat_map(|of_place| match <[_; 1]>::try_from(of_place) {
            Ok([(Some(locale), finding)]) => {
                vec![finding.note(format!("only the text for `{}` is too long", text::short(&locale, 40)))]
            }
            Ok([(None, finding)]) => vec![finding],
            Err(several) => several.into_iter().map(|(_, finding)| finding).collect(),
        }));
    }
}

/// A screen, and the part of a notification that it shows.
type TextPlace = (&'static str, &'static str);

/// The findings for the texts of a content that do not fit.
fn too_long_texts(said: &ReadableText) -> Vec<(TextPlace, Finding)> {
    let Some(notification) = said.notification else { return Vec::new() };
    let mut found = Vec::new();
    for screen in screens(said.devices.map(|devices| &devices.value)) {
        let Effective { alert, title, subtitle, .. } = notification.on(&screen.device);
        let fill = |text: &At<String>| with_defaults(text, said.variables);
        let long = alert.and_then(|alert| too_long(screen, &fill(alert), alert.span));
        found.extend(long.map(|finding| ((screen.place, "text"), finding)));
        for (name, head) in [("title", title), ("subtitle", subtitle)] {
            let long = head.and_then(|head| long_head(screen, name, &fill(head), head.span));
            found.extend(long.map(|finding| ((screen.place, name), finding)));
        }
    }
    found
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
