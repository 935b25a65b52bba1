//! The output of `pushplan send`: the message, its recipients, and the result.

use super::Repetition;
use super::layout::{Row, Style, Words, rows};
use super::preview::Preview;
use crate::nouns::recipient::Recipient;
use crate::test_send::{Reached, RecipientDevice, Why};
use crate::text;

/// A test that is about to be sent.
#[derive(Debug)]
pub struct TestSendView<'v> {
    pub recipient: &'v Recipient,
    pub reached: &'v Reached,
    pub target: &'v str,
    pub origin: String,
}

impl TestSendView<'_> {
    /// The text before it is sent.
    pub fn before(&self, preview: &Preview, style: Style) -> String {
        let mut out = preview.text(style);
        out.push('\n');
        let Reached { devices, left_out } = self.reached;
        let count = text::count(devices.len(), "device");
        let mut to = Row::new("to", Words::new("").copy(&self.recipient.to_string()).and(&format!(", on {count}")));
        to = devices.iter().fold(to, |row, device| row.line(Words::new(&named(device))));
        let mut all = vec![to];
        if let Some(((first, why), others)) = left_out.split_first() {
            let words = |device: &RecipientDevice, why: Why| Words::new(&format!("{}: {}", named(device), reason(why)));
            let row = Row::new("not to", words(first, *why));
            all.push(others.iter().fold(row, |row, (device, why)| row.line(words(device, *why))));
        }
        all.push(Row::new("target", Words::new(self.target).and(", at ").copy(&self.origin)));
        rows(&mut out, &all, 2, style);
        out
    }

    /// The text after it was sent.
    pub fn sent(&self, push_ids: &[String], again: &Repetition) -> String {
        let count = text::count(self.reached.devices.len(), "device");
        let head = format!("\nSent to {}, on {count}.", super::one_line(&self.recipient.to_string()));
        let Some(id) = push_ids.first() else {
            return format!("{head} The service returned no push id, so there is no report.");
        };
        let report = again.other(&format!("report push {}", text::shell_word(id)));
        format!("{head} Push id: {}\nTo see the report: {}", super::one_line(id), super::one_line(&report))
    }

    /// The error if nobody would get it, with help.
    pub fn nobody(&self) -> (String, String) {
        let (who, target) = (self.recipient, self.target);
        let left_out = &self.reached.left_out;
        if left_out.is_empty() {
            let lacks = match who.channel {
                None => format!("the target `{target}` has no {who}, or it has no device"),
                Some(_) => format!("the target `{target}` has no {who}"),
            };
            let message = format!("{lacks}: nobody would get the message, so nothing was sent");
            return (message, "check the id; a device is registered when its user opens the app".to_owned());
        }
        let whys: Vec<String> =
            left_out.iter().map(|(device, why)| format!("{}: {}", named(device), reason(*why))).collect();
        let message = format!("nobody would get the message, so nothing was sent. {who} has {}", whys.join("; "));
        let help = match left_out[0].1 {
            Why::OptedOut => "allow notifications on the device, or choose another recipient",
            Why::Uninstalled => "install the app and open it, or choose another recipient",
            Why::OtherKind => {
                "choose a recipient with such a device, or add the device type to device_types of the \
                push"
            }
            Why::NotAsNamed => "use the channel's own type, or channel:ID",
            Why::Untold => "choose another recipient",
        };
        (message, help.to_owned())
    }
}

/// A device in words: `ios 5f2b…`.
fn named(device: &RecipientDevice) -> String {
    let kind = device.kind.as_ref().map_or_else(|| "a device".to_owned(), ToString::to_string);
    format!("{kind} {}", device.id)
}

fn reason(why: Why) -> &'static str {
    match why {
        Why::OptedOut => "opted out of notifications",
        Why::Uninstalled => "the app is not installed",
        Why::OtherKind => "the message does not go to this device type",
        Why::NotAsNamed => "it is a channel of another type",
        Why::Untold => "the service does not return the device type",
    }
}
