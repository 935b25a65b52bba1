//! The messages of a resource before and after, and the pairing of both.

use pushplan_model::kinds::{Parts, ReadableText, Role, Spec};
use pushplan_model::node::At;
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::device::DeviceTypes;
use pushplan_model::nouns::localization::Localization;
use pushplan_model::nouns::notification::is_override;
use pushplan_model::nouns::split::Split;
use pushplan_project::look::{self, Values};
use serde_json::Value;

use super::FieldChange;
use crate::plan::Change;
use crate::review::fields::{Difference, partners};
use crate::review::{after, before};

/// The messages of one side of a resource.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub each: &'static str,
    /// The division of the audience, if a device gets at most one of them.
    pub split: Option<Split>,
    pub delays: Vec<Delay>,
    pub texts: Vec<String>,
    /// The device types of each message.
    pub devices: Vec<Option<DeviceTypes>>,
    /// The content of each message, without its audience and its times.
    pub contents: Vec<Value>,
}

impl Messages {
    /// Reads the messages of a resource. Empty if it messages nobody.
    pub fn of(spec: &dyn Spec, key: &At<String>) -> Self {
        let mut parts = Parts::new(key);
        spec.parts(&mut parts);
        if !parts.audiences.iter().any(|audience| audience.role != Role::Criteria) {
            return Self::default();
        }
        let none = Values::new();
        Self {
            each: parts.each,
            split: parts.split,
            delays: parts.delays,
            texts: parts.said.iter().map(|said| look::text(said, &none)).collect(),
            devices: parts.said.iter().map(|said| said.devices.map(|devices| devices.value.clone())).collect(),
            contents: parts.said.iter().map(content).collect(),
        }
    }

    /// For each new message, the old one with the same content, or else the next one that is left.
    fn by_content(&self, new: &Self) -> Vec<Option<usize>> {
        let mut left: Vec<usize> = (0..self.contents.len()).collect();
        let take = |left: &mut Vec<usize>, at: Option<usize>| at.map(|at| left.remove(at));
        let same = |content: &Value, left: &mut Vec<usize>| {
            let at = left.iter().position(|at| self.contents[*at] == *content);
            take(left, at)
        };
        let mut found: Vec<Option<usize>> = new.contents.iter().map(|content| same(content, &mut left)).collect();
        for one in found.iter_mut().filter(|one| one.is_none()) {
            let first = (!left.is_empty()).then_some(0);
            *one = take(&mut left, first);
        }
        found
    }

    /// The delay between its trigger and a message, if it has a trigger.
    pub fn delay(&self, at: Option<usize>) -> Option<Delay> {
        self.delays.get(at?).copied()
    }

    /// The pairs of messages before and after.
    pub fn pairs(&self, change: &Change, new: &Self) -> Vec<(Option<usize>, Option<usize>)> {
        let variants =
            |spec: Option<&'_ Value>| spec.and_then(|spec| spec["variants"].as_array()).cloned().unwrap_or_default();
        let was = match self.texts.len().max(new.texts.len()) > 1 {
            true if !variants(after(change)).is_empty() => {
                partners(&variants(before(change)), &variants(after(change)))
            }
            true => self.by_content(new),
            false => (0..new.texts.len()).map(Some).collect(),
        };
        let was = |at: usize| was.get(at).copied().flatten().filter(|at| *at < self.texts.len());
        let kept: Vec<(Option<usize>, Option<usize>)> = (0..new.texts.len()).map(|at| (was(at), Some(at))).collect();
        let gone = (0..self.texts.len()).filter(|at| !kept.iter().any(|(was, _)| *was == Some(*at)));
        let gone: Vec<_> = gone.map(|at| (Some(at), None)).collect();
        kept.into_iter().chain(gone).collect()
    }
}

/// The content of a message.
fn content(said: &ReadableText) -> Value {
    let ReadableText { notification, message, localizations, campaigns, rest, .. } = said;
    let notification = notification.map(|part| serde_json::to_value(&part.value).map(effective));
    let message = message.map(|part| serde_json::to_value(&part.value));
    let localized = localizations.iter().map(|own| Some((own.locale(), localization(&own.value)?)));
    let localized = (!localizations.is_empty()).then(|| Ok(Value::Object(localized.flatten().collect())));
    let campaigns = campaigns.map(serde_json::to_value);
    let rest = rest.map(serde_json::to_value);
    let parts = [("notification", notification), ("message", message), (LOCALIZATIONS, localized)];
    let parts = parts.into_iter().chain([("campaigns", campaigns), ("rest", rest)]);
    let parts = parts.into_iter().filter_map(|(name, part)| Some((name.to_owned(), part?.ok()?)));
    Value::Object(parts.collect())
}

/// The field with the content for each locale.
pub(super) const LOCALIZATIONS: &str = "localizations";

/// The content for one locale, without the locale.
fn localization(own: &Localization) -> Option<Value> {
    let mut content = serde_json::to_value(own).ok()?;
    let fields = content.as_object_mut()?;
    fields.retain(|key, _| !["language", "country"].contains(&key.as_str()));
    if let Some(notification) = fields.get_mut("notification") {
        *notification = effective(notification.take());
    }
    Some(content)
}

/// Removes the texts of single platforms that equal the common one: they change nothing for anybody.
fn effective(mut notification: Value) -> Value {
    let Some(common) = notification.get("alert").cloned() else { return notification };
    if let Some(fields) = notification.as_object_mut() {
        fields.retain(|_, value| {
            let Some(own) = value.as_object_mut().filter(|own| own.get("alert") == Some(&common)) else { return true };
            own.remove("alert");
            !own.is_empty()
        });
    }
    notification
}

/// The different fields of a message, without its alert. The text of a platform is compared with the common one if it
/// has no own.
pub(super) fn other_fields(old: &Value, new: &Value) -> Vec<FieldChange> {
    let differs = Difference::between(Some(old), Some(new)).fields;
    let other = differs.into_iter().filter(|field| field.moved.is_none() && field.path != "notification.alert");
    let named = |path: &str| path.strip_prefix("notification.").unwrap_or(path).to_owned();
    let common = |side: &Value| as_text(side["notification"].get("alert"));
    other
        .map(|field| {
            let is_text = is_own_text(&field.path);
            let shown = |value, side| as_text(value).or_else(|| common(side).filter(|_| is_text));
            FieldChange { path: named(&field.path), old: shown(field.old, old), new: shown(field.new, new) }
        })
        .filter(|field| field.old != field.new)
        .collect()
}

/// Whether a path is the text of one platform: `notification.ios.alert`.
fn is_own_text(path: &str) -> bool {
    let own = path.strip_prefix("notification.").and_then(|path| path.strip_suffix(".alert"));
    own.is_some_and(is_override)
}

/// A value of a field as shown to readers.
pub(super) fn as_text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
