//! Similar messages: an edited message may be declared under a new key.

use jiff::{SignedDuration, Timestamp};
use pushplan_model::digest::Digest;
use pushplan_model::kinds::{Api, Firing};
use pushplan_model::node::Shared;
use serde_json::Value;

use crate::plan::Likeness;

/// The largest distance between the send times of similar messages.
const NEAR: SignedDuration = SignedDuration::from_hours(24);
/// The smallest similarity of two texts, from 0 to 1.
const ALIKE: f64 = 0.6;
/// The length of the part of a text that is compared, in characters.
const COMPARED: usize = 500;
/// How many features two similar messages share at least.
const ENOUGH: usize = 2;

/// The features by which messages are compared.
#[derive(Clone, Debug)]
pub struct Sketch {
    times: Vec<Timestamp>,
    firing: Option<Firing>,
    /// With segments by their keys, and by their content. Empty if the kind has no audience of its own.
    audiences: Vec<Digest>,
    text: String,
}

impl Sketch {
    /// Creates the sketch of a message of a kind. The second spec names segments by their content.
    pub fn new(api: &dyn Api, spec: &Shared, by_meaning: &Shared) -> Self {
        let tree = spec.tree();
        let audience = |spec: &Value| {
            let found: Vec<Value> = api.audiences().iter().filter_map(|at| spec.pointer(at)).cloned().collect();
            (!found.is_empty()).then(|| Digest::of_value(&Value::Array(found)))
        };
        let mut content = tree.clone().into_owned();
        for at in api.audiences() {
            if let Some(audience) = content.pointer_mut(at) {
                *audience = Value::Null;
            }
        }
        if let (Value::Object(fields), Some(name)) = (&mut content, api.name_field()) {
            fields.remove(name);
        }
        let mut text = String::new();
        gather(&content, &mut text);
        Self {
            times: api.times(&tree).into_iter().filter_map(|runs| runs.first).collect(),
            firing: api.firing(&tree),
            audiences: audience(&tree).into_iter().chain(audience(&by_meaning.tree())).collect(),
            text: text.chars().take(COMPARED).collect(),
        }
    }

    /// Returns the similarities of two messages, if they are enough to treat one as an edited version of the other.
    pub fn common(&self, other: &Self) -> Option<Vec<Likeness>> {
        let near = |one: &Timestamp| other.times.iter().any(|time| one.duration_since(*time).abs() <= NEAR);
        let triggers = |sketch: &Self| sketch.firing.as_ref().map(|firing| firing.triggers.clone());
        let mut common = Vec::new();
        if self.times.iter().any(near) {
            common.push(Likeness::Time);
        }
        if triggers(self).is_some_and(|own| triggers(other) == Some(own)) {
            common.push(Likeness::Trigger);
        }
        if self.audiences.iter().any(|audience| other.audiences.contains(audience)) {
            common.push(Likeness::Audience);
        }
        // Comparing texts is slowest: it is done only if it can decide.
        if common.len() + 1 >= ENOUGH && alike(&self.text, &other.text) {
            common.push(Likeness::Text);
        }
        (common.len() >= ENOUGH).then_some(common)
    }
}

fn alike(one: &str, other: &str) -> bool {
    !one.is_empty() && (one == other || strsim::sorensen_dice(one, other) >= ALIKE)
}

/// All texts of a message, without its times and without words that most messages share.
fn gather(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            const SETTINGS: [&str; 6] =
                ["schedule", "scheduled_time", "local_scheduled_time", "device_types", "audience", "delay"];
            let says = |name: &str| !SETTINGS.contains(&name) && !name.ends_with("_trigger");
            fields.iter().filter(|(name, _)| says(name)).for_each(|(_, value)| gather(value, text));
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, text)),
        Value::String(words) => {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(words);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use pushplan_model::address::Address;
    use pushplan_model::kinds;
    use serde_json::json;

    use super::*;

    fn push(time: &str, tag: &str, alert: &str) -> Sketch {
        let spec = json!({
            "name": "x",
            "schedule": [{"scheduled_time": time}],
            "push": {"audience": {"tag": tag}, "device_types": ["ios"], "notification": {"alert": alert}},
        });
        let spec = Shared::of(&spec);
        Sketch::new(kinds::api(&Address::new("scheduled_pushes", "x")), &spec, &spec)
    }

    #[test]
    fn two_of_time_audience_and_text_make_messages_similar() {
        let old = push("2031-01-01T1000", "vip", "The sale ends on Sunday");
        for (new, expected) in [
            (push("2031-01-01T1800", "vip", "Something else entirely"), Some(vec![Likeness::Time, Likeness::Audience])),
            (push("2031-03-01T1000", "vip", "The sale ends on Monday"), Some(vec![Likeness::Audience, Likeness::Text])),
            (push("2031-01-01T1000", "all", "The sale ends on Sunday!"), Some(vec![Likeness::Time, Likeness::Text])),
            (push("2031-03-01T1000", "vip", "Something else entirely"), None),
            (push("2031-03-01T1000", "all", "The sale ends on Sunday"), None),
            (push("2031-01-01T1000", "all", "Something else entirely"), None),
        ] {
            assert_eq!(old.common(&new), expected, "{new:?}");
            assert_eq!(new.common(&old), expected, "{new:?}");
        }
    }
}
