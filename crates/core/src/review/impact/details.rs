//! Details in a sentence about a single message: its text, time and trigger.

use pushplan_model::nouns::notification::is_override;
use pushplan_model::text::{quoted, quoted_short, short};
use pushplan_project::timing::words;

use super::sides::LOCALIZATIONS;
use super::{FieldChange, MessageChange, MessageFate};

/// The field with the hours of a triggered message.
const HOURS: &str = "timing";
/// The number of characters of a text in a sentence.
const TEXT: usize = 60;
/// The number of characters of the description of a device.
const DEVICE: usize = 80;
/// The number of characters before the first difference of a long text.
const BEFORE: usize = 20;

impl FieldChange {
    /// The locale and the platform that it is for, and its name: `de, android` and `title`. None if it is for all.
    pub fn place(&self) -> Option<(String, &str)> {
        let mut of = Vec::new();
        let mut name = self.path.as_str();
        let below = name.strip_prefix(LOCALIZATIONS).and_then(|below| below.strip_prefix('.'));
        if let Some((locale, rest)) = below.and_then(|below| below.split_once('.')) {
            of.push(locale);
            name = rest.strip_prefix("notification.").unwrap_or(rest);
        }
        if let Some((platform, rest)) = name.split_once('.').filter(|(platform, _)| is_override(platform)) {
            of.push(platform);
            name = rest;
        }
        (!of.is_empty()).then(|| (of.join(", "), if name == "alert" { "text" } else { name }))
    }

    /// `changed`, `added` or `removed`.
    fn fate(&self) -> &'static str {
        match (&self.old, &self.new) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        }
    }
}

impl MessageChange {
    /// Whether its text changes, not only other content.
    pub(super) fn has_other_text(&self) -> bool {
        self.fate == MessageFate::Changed && self.text.is_changed && self.text.old != self.text.new
    }

    /// Whether one of its times changes.
    pub(super) fn has_other_time(&self) -> bool {
        let mut pairs = self.times.iter().filter_map(|(was, is)| both(was, is));
        self.fate == MessageFate::Changed && pairs.any(|(was, is)| was.when != is.when)
    }

    /// The new text: ` "A" instead of "B"`, or the changed field if the text is the same.
    pub(super) fn new_text(&self) -> Option<String> {
        let (old, new) = (self.text.old.as_deref()?, self.text.new.as_deref()?);
        if old == new {
            let [field] = &self.text.fields[..] else { return None };
            if let Some((of, name)) = field.place() {
                return Some(format!("content ({}: {} {})", short(&of, TEXT), short(name, TEXT), field.fate()));
            }
            let name = short(&field.name(), TEXT);
            return Some(match (&field.old, &field.new) {
                (Some(old), Some(new)) if field.name() != field.path => {
                    format!("{name} from {} to {}", quoted_short(old, TEXT), quoted_short(new, TEXT))
                }
                _ if field.name() != field.path => name,
                _ => format!("field {name}"),
            });
        }
        let (old, new) = (plain(old), plain(new));
        if old.is_empty() || new.is_empty() || old == new {
            return None;
        }
        let (old, new) = from_the_change(&old, &new);
        Some(format!("text from {} to {}", quoted(&words_of(&old)), quoted(&words_of(&new))))
    }

    /// The only time that changes: `Fri 27 Nov 2026 06:00 -> 09:00 America/New_York`.
    pub(super) fn new_time(&self) -> Option<String> {
        let mut moved = self.times.iter().filter_map(|(was, is)| both(was, is)).filter(|(was, is)| was.when != is.when);
        let (was, is) = moved.next()?;
        moved.next().is_none().then(|| words::brief_change(was, is))
    }

    /// A device that joins and one that leaves: `for example an iOS device in FR`.
    pub(super) fn example(&self) -> Option<String> {
        let relation = self.audience.relation.as_ref()?;
        let joins = relation.joins().map(|device| short(&device.to_string(), DEVICE));
        let leaves = relation.leaves().map(|device| short(&device.to_string(), DEVICE));
        match (joins, leaves) {
            (Some(joins), Some(leaves)) => Some(format!("for example {joins} instead of {leaves}")),
            (Some(joins), None) => Some(format!("for example {joins}")),
            (None, Some(leaves)) => Some(format!("for example no longer {leaves}")),
            (None, None) => None,
        }
    }

    /// Its trigger, and its delay as it was and as it will be, if only that changes.
    pub fn new_delay(&self) -> Option<(&str, &str, &str)> {
        let (was, before) = self.trigger.0.as_deref()?.rsplit_once(", ")?;
        let (is, delay) = self.trigger.1.as_deref()?.rsplit_once(", ")?;
        let (before, delay) = (before.strip_suffix(" later")?, delay.strip_suffix(" later")?);
        (was == is && before != delay).then_some((is, before, delay))
    }

    /// Its hours, if they change: `only Mon–Fri 09:00–21:00, recipients' local time; otherwise waits`.
    pub(super) fn new_hours(&self) -> Option<String> {
        let hours = self.text.fields.iter().find(|field| field.path == HOURS)?;
        Some(hours.new.clone().unwrap_or_else(|| "at any hour".to_owned()))
    }

    /// Its trigger: `when the tag a is added to a device, no longer when the tag b is added to a device`. A delay is
    /// only named if it changes.
    pub(super) fn new_trigger(&self) -> Option<String> {
        let (old, new) = (self.trigger.0.as_deref()?, self.trigger.1.as_deref()?);
        let words = match (old.rsplit_once(", "), new.rsplit_once(", ")) {
            (Some((was, before)), Some((is, delay))) if before == delay => format!("when {is}, no longer when {was}"),
            _ => format!("when {new}, no longer when {old}"),
        };
        (old != new).then_some(words)
    }
}

fn both<'t, T>(was: &'t Option<T>, is: &'t Option<T>) -> Option<(&'t T, &'t T)> {
    was.as_ref().zip(is.as_ref())
}

/// A text on one line.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first words of a text, at most [`TEXT`] characters if a word ends there.
fn words_of(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(TEXT) else { return text.to_owned() };
    let end = text[..end].rfind(' ').filter(|blank| *blank > end / 2).unwrap_or(end);
    format!("{}…", &text[..end])
}

/// Two long texts, from the word before their first difference.
fn from_the_change(old: &str, new: &str) -> (String, String) {
    let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
    if same <= BEFORE || old.chars().count().max(new.chars().count()) <= TEXT {
        return (old.to_owned(), new.to_owned());
    }
    let common: String = old.chars().take(same).collect();
    let start = common.char_indices().rev().map(|(at, _)| at).nth(BEFORE - 1).unwrap_or(0);
    let start = common[start..].find(' ').map_or(common.len(), |blank| start + blank + 1);
    (format!("…{}", &old[start..]), format!("…{}", &new[start..]))
}
