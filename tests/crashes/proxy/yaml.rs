//! A story's declarations as a manifest.

use std::fmt::Write;

use super::declared::{Audience, Declared, KINDS, Kind, Thing};

/// The first day of every story's calendar.
pub const FIRST_DAY: &str = "2090-01-01T00:00:00Z";

/// A day of the story's calendar, as manifests write a time in UTC.
pub fn time_of(day: usize) -> String {
    let first: jiff::Timestamp = FIRST_DAY.parse().expect("a time");
    let at = first + jiff::SignedDuration::from_hours(24 * day as i64 + 10);
    at.strftime("%Y-%m-%dT%H:%M").to_string()
}

impl Declared {
    pub fn manifest(&self) -> String {
        // A project without any resource is refused as a mistake.
        let mut text = String::from("segments:\n  always: {criteria: {tag: always, group: crm}}\n");
        for kind in KINDS {
            let things = self.things.iter().filter(|thing| thing.kind == kind).peekable();
            let (first, head) = match kind {
                Kind::TagGroup => ("  crm: {}\n", true),
                Kind::Segment => ("", false),
                _ => ("", things.clone().next().is_some()),
            };
            if head {
                writeln!(text, "{}:", kind.key()).expect("a text");
            }
            let lines: String = things.map(|thing| format!("  {}\n", self.line(thing))).collect();
            match kind {
                Kind::Segment => text = text.replacen("segments:\n", &format!("segments:\n{lines}"), 1),
                _ => write!(text, "{first}{lines}").expect("a text"),
            }
        }
        text
    }

    fn line(&self, thing: &Thing) -> String {
        let (text, word, device) = (thing.text(), thing.word(), thing.device());
        let name = |field: &str| thing.name.as_ref().map(|name| format!("{field}: {name}, ")).unwrap_or_default();
        let all = "device_types: all";
        let body = match thing.kind {
            Kind::TagGroup => {
                let [first, _] = thing.devices();
                format!(
                    "members: {{ios_channels: {{{first}: [{word}]}}, named_users: {{member-{}: [{word}]}}}}",
                    thing.number
                )
            }
            Kind::Segment => format!("{}criteria: {{tag: {word}, group: crm}}", name("display_name")),
            Kind::Template => format!("{}push: {{notification: {{alert: {text}}}}}", name("name")),
            Kind::Pipeline => format!(
                "{}enabled: true, immediate_trigger: {{tag_added: {{tag: {}, group: crm}}}}, outcome: {{push: {{audience: \
                 triggered, {all}, notification: {{alert: {text}}}}}}}",
                name("name"),
                trigger(thing)
            ),
            Kind::Push => format!(
                "{}schedule: {{scheduled_time: \"{}\"}}, push: {{audience: {}, {all}, notification: {{alert: {text}}}}}",
                name("name"),
                time_of(thing.day),
                self.audience_of(thing)
            ),
            Kind::Experiment => {
                let variant = |letter: &str| {
                    format!(
                        "{{push: {{notification: {{alert: {text} {letter}}}}}, schedule: {{scheduled_time: \"{}\"}}}}",
                        time_of(thing.day)
                    )
                };
                format!(
                    "{}audience: {}, {all}, variants: [{}, {}]",
                    name("name"),
                    self.audience_of(thing),
                    variant("a"),
                    variant("b")
                )
            }
            Kind::NamedUser => format!("channels: [{{channel_id: {device}, device_type: ios}}]"),
            Kind::OpenChannel => format!(
                "address: address-{}, opt_in: true, open: {{open_platform_name: sms}}, tags: [{word}]",
                thing.number
            ),
            Kind::LegacyTag => format!("tag: legacy-{}, ios_channels: [{device}]", thing.number),
        };
        let renamed = thing.renamed_from.as_ref().map(|from| format!("renamed_from: {from}"));
        let broadcast =
            (thing.kind.is_timed() && thing.audience == Audience::Everyone).then(|| "broadcast: true".to_owned());
        let said: Vec<String> = renamed.into_iter().chain(broadcast).collect();
        let lifecycle = if said.is_empty() { String::new() } else { format!(", lifecycle: {{{}}}", said.join(", ")) };
        format!("{}: {{{body}{lifecycle}}}", thing.key)
    }

    fn audience_of(&self, thing: &Thing) -> String {
        match thing.audience {
            Audience::Everyone => "all".to_owned(),
            Audience::Tag(tag) => format!("{{tag: {tag}, group: crm}}"),
            Audience::Segment(number) => {
                format!("{{segment: {}}}", self.thing(number).expect("a declared segment").key)
            }
        }
    }
}

/// The tag that starts a pipeline.
pub fn trigger(thing: &Thing) -> String {
    format!("start-{}", thing.number)
}
