//! Shared JSON values.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::reserialized::Reserialized;
use super::sorted::{sorted, sorted_from};

/// A JSON value. A copy is free: all copies share one text, until one of them is changed.
///
/// Most of a plan is unchanged, which its texts show. Only a value that is inspected becomes a tree.
#[derive(Clone, Default)]
pub struct Shared(Arc<TextOrValue>);

/// At least one of the two exists; the other is created from it on demand.
#[derive(Clone, Default)]
struct TextOrValue {
    /// In sorted form, so that equal values have equal texts.
    text: OnceLock<Box<str>>,
    value: OnceLock<Value>,
}

impl From<Value> for Shared {
    fn from(value: Value) -> Self {
        Self(Arc::new(TextOrValue { text: OnceLock::new(), value: value.into() }))
    }
}

impl From<&Value> for Shared {
    fn from(value: &Value) -> Self {
        Self::from(value.clone())
    }
}

impl From<Box<str>> for TextOrValue {
    fn from(text: Box<str>) -> Self {
        Self { text: text.into(), value: OnceLock::new() }
    }
}

impl Shared {
    /// Serializes data as JSON.
    pub fn of(data: &impl Serialize) -> Self {
        let text = sorted(data).expect("what is kept has text keys only");
        Self(Arc::new(TextOrValue::from(text.into_boxed_str())))
    }

    /// Returns the JSON in sorted form.
    pub fn text(&self) -> &str {
        self.0.text.get_or_init(|| (**self).to_string().into_boxed_str())
    }

    /// Returns the JSON in sorted form; `None` if it has not been written yet.
    pub fn written(&self) -> Option<&str> {
        self.0.text.get().map(|text| &**text)
    }

    /// Returns the value for a short look. A value that exists only as a text remains one.
    pub fn tree(&self) -> Cow<'_, Value> {
        match self.0.value.get() {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(read(&self.0.text)),
        }
    }

    /// Whether a key may be in it. Only a text is searched; a tree may have any key.
    pub(crate) fn may_have(&self, key: &str) -> bool {
        let Some(text) = self.0.text.get() else { return true };
        let is_key =
            |(at, _): (usize, &str)| text[..at].ends_with(['{', ',']) && text[at + key.len() + 2..].starts_with(':');
        text.match_indices(&format!("\"{key}\"")).any(is_key)
    }

    /// Returns the text of a field.
    pub fn field(&self, key: &str) -> Option<String> {
        match (self.0.value.get(), self.0.text.get()) {
            (None, Some(text)) => serde_json::from_str(field(text, key)?).ok(),
            _ => self[key].as_str().map(str::to_owned),
        }
    }

    /// Returns the value itself, or a copy of it if it is shared.
    pub fn into_value(self) -> Value {
        match Arc::try_unwrap(self.0) {
            Ok(mut said) => said.value.take().unwrap_or_else(|| read(&said.text)),
            Err(shared) => Self(shared).deref().clone(),
        }
    }

    /// Shares the value of another one if both are equal, so that comparing them again is free.
    pub fn join(&mut self, other: &Self) {
        if self == other {
            self.0 = other.0.clone();
        }
    }
}

/// Returns the value of a field of an object in sorted form, as written.
fn field<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let mut rest = text.strip_prefix('{')?;
    loop {
        let own = &rest[..closed(rest)?];
        rest = rest[own.len()..].strip_prefix(':')?;
        let value = &rest[..closed(rest)?];
        if own.strip_prefix('"').and_then(|own| own.strip_suffix('"')) == Some(key) {
            return Some(value);
        }
        rest = rest[value.len()..].strip_prefix(',')?;
    }
}

/// Returns where the first value of a sorted text ends.
fn closed(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' | b':' if depth == 0 => return Some(at),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    Some(text.len())
}

/// Parses a text; null if there is none.
fn read(text: &OnceLock<Box<str>>) -> Value {
    let text = text.get();
    text.map(|text| serde_json::from_str(text).expect("it was written by serde_json")).unwrap_or_default()
}

impl Deref for Shared {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.0.value.get_or_init(|| read(&self.0.text))
    }
}

impl DerefMut for Shared {
    fn deref_mut(&mut self) -> &mut Value {
        let said = Arc::make_mut(&mut self.0);
        let value = said.value.take().unwrap_or_else(|| read(&said.text));
        *said = TextOrValue { text: OnceLock::new(), value: value.into() };
        said.value.get_mut().expect("it was set just now")
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        if Arc::ptr_eq(&self.0, &other.0) {
            return true;
        }
        match (self.0.value.get(), other.0.value.get()) {
            (Some(one), Some(two)) => one == two,
            _ => self.text() == other.text(),
        }
    }
}

impl Eq for Shared {}

impl PartialEq<Value> for Shared {
    fn eq(&self, other: &Value) -> bool {
        **self == *other
    }
}

impl PartialEq<Shared> for Value {
    fn eq(&self, other: &Shared) -> bool {
        *self == **other
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Shared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.value.get() {
            Some(value) => value.serialize(serializer),
            None => Reserialized(self.text()).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Shared {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        sorted_from(deserializer).map(|text| Self(Arc::new(TextOrValue::from(text.into_boxed_str()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_is_read_in_order_and_written_in_the_form_that_is_asked_for() {
        let text = r#"{"b": [1, -0, 1e3, "\u0041\n\u001f", {}], "a": {"y": null, "x": true}, "b": [0.5, [], "\"\\"]}"#;
        let value: Value = serde_json::from_str(text).expect("JSON");
        let shared: Shared = serde_json::from_str(text).expect("JSON");
        assert_eq!(shared.written(), Some(value.to_string().as_str()));
        for shared in [shared, serde_json::from_value(value.clone()).expect("JSON")] {
            let all = vec![Some(shared.clone())];
            let whole = json!([value]);
            assert_eq!(serde_json::to_string(&all).expect("JSON"), whole.to_string());
            assert_eq!(
                serde_json::to_string_pretty(&all).expect("JSON"),
                serde_json::to_string_pretty(&whole).expect("JSON")
            );
            assert_eq!(serde_json::to_value(&all).expect("JSON"), whole);
            assert_eq!(Shared::of(&all).text(), whole.to_string());
            let again: Vec<Shared> = serde_json::from_str(&whole.to_string()).expect("JSON");
            assert_eq!(again[0].written(), Some(value.to_string().as_str()));
        }
        let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        assert!(serde_json::from_str::<Shared>(&deep).is_err(), "nobody could read it");
    }

    #[test]
    fn a_copy_that_is_changed_leaves_the_others_as_they_are() {
        let one = Shared::from(json!({"a": 1}));
        let mut other = one.clone();
        assert_eq!(one, other);
        other["a"] = 2.into();
        assert_eq!((&one["a"], &other["a"]), (&json!(1), &json!(2)));
        let mut same = Shared::from(json!({"a": 1}));
        same.join(&other);
        assert_eq!(same, one, "it says something else");
        same.join(&one);
        assert!(Arc::ptr_eq(&same.0, &one.0));
        assert_eq!(other.into_value(), json!({"a": 2}));
    }
}
