//! Messages without readable content.

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::ReadableText;
use pushplan_model::node::At;
use pushplan_model::nouns::device::DeviceType;

use super::super::{Check, CheckScope, Dissected, Subject};
use super::own;

pub const EMPTY: Check = Check { codes: &[&codes::MS116], run: CheckScope::Each(empty) };

fn empty(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    for said in own(subject, one) {
        let own = said.notification.into_iter().flat_map(|shown| shown.overrides()).flat_map(|(device, shown)| {
            let what = move |name: &str| match device {
                DeviceType::Web => format!("the {name} for browsers").replace("alert", "text"),
                _ => format!("the {name} for {device}").replace("alert", "text"),
            };
            shown.heads().map(|(name, text)| (text, what(name)))
        });
        let texts = [
            (said.notification.and_then(|shown| shown.alert.as_ref()), "the text of the notification"),
            (said.message.map(|message| &message.title), "the title of the message"),
            (said.message.map(|message| &message.body), "the body of the message"),
        ];
        let texts = texts.map(|(text, what)| (text, what.to_owned())).into_iter().chain(own);
        let blank = texts.filter_map(|(text, what)| Some((text?, what))).filter(|(text, _)| is_blank(text));
        findings.extend(blank.map(|(text, what)| nothing(text, &what)));
        findings.extend(silent(&said));
    }
}

/// Whether a text has no visible character.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || pushplan_model::text::is_hidden(c))
}

fn nothing(text: &At<String>, what: &str) -> Finding {
    let finding = Finding::new(&codes::MS116, text.span, format!("{what} is empty"));
    finding.label("no text").note("a sent message cannot be cancelled").help("write a text")
}

/// A push whose notification has no text, and that has no other content.
fn silent(said: &ReadableText) -> Option<Finding> {
    let notification = said.notification.filter(|_| said.message.is_none())?;
    let is_read = notification.heads().next().is_some();
    // A push in the background has nothing to show, on purpose.
    let wakes = notification.ios.as_ref().is_some_and(|ios| ios.content_available.as_ref().is_some_and(|on| on.value));
    if is_read || wakes || notification.free().any(|free| !free.0.is_empty()) {
        return None;
    }
    let finding = Finding::new(&codes::MS116, notification.span, "the notification has no text")
        .label("no text")
        .note("a device has nothing to show");
    Some(finding.help("add `alert: ...` to it, or a Message Center message to the push"))
}
