//! Digests, which show whether something has changed.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::node::sorted;

/// A SHA-256 hash in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self::hexadecimal(&Sha256::digest(bytes))
    }

    fn hexadecimal(hash: &[u8]) -> Self {
        let mut digits = String::with_capacity(2 * hash.len());
        for byte in hash {
            let digit = |four: u8| char::from(b"0123456789abcdef"[usize::from(four)]);
            digits.push(digit(byte >> 4));
            digits.push(digit(byte & 15));
        }
        Self(digits)
    }

    /// Returns the digest of a JSON value. Keys are sorted, so equal values have equal digests.
    pub fn of_value(value: &Value) -> Self {
        Self::of(value.to_string().as_bytes())
    }

    /// Returns the digest of anything that can be serialized as JSON.
    pub fn of_data(data: &impl Serialize) -> Self {
        Self::of(written(data).as_bytes())
    }

    /// Returns the digest of data whose keys are sorted already, as in JSON values and lists of them. It makes no copy.
    pub fn of_sorted(data: &impl Serialize) -> Self {
        Self::of(&serde_json::to_vec(data).expect("what is kept has text keys only"))
    }

    /// Returns enough characters for people to distinguish two digests: `7c1e-03fa`.
    pub fn short(&self) -> String {
        let at = |range| self.0.get(range).unwrap_or_default();
        format!("{}-{}", at(0..4), at(4..8))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Serializes data as JSON with sorted keys.
pub fn written(data: &impl Serialize) -> String {
    sorted(data).expect("what is kept has text keys only")
}

/// A JSON object that is digested field by field, in the order of the keys. Its digest is that of the whole object.
#[derive(Clone, Debug, Default)]
pub struct Keyed {
    text: Vec<u8>,
}

impl Keyed {
    /// Adds a field of any form.
    pub fn field(mut self, key: &str, data: &impl Serialize) -> Self {
        self.key(key);
        self.text.extend_from_slice(written(data).as_bytes());
        self
    }

    /// Adds a field that is sorted already.
    pub fn sorted(mut self, key: &str, data: &impl Serialize) -> Self {
        self.key(key);
        serde_json::to_writer(&mut self.text, data).expect("what is kept has text keys only");
        self
    }

    /// Adds a field that is serialized already, in sorted form.
    pub fn text(mut self, key: &str, data: &str) -> Self {
        self.key(key);
        self.text.extend_from_slice(data.as_bytes());
        self
    }

    fn key(&mut self, key: &str) {
        self.text.reserve(512);
        self.text.push(if self.text.is_empty() { b'{' } else { b',' });
        self.text.push(b'"');
        self.text.extend_from_slice(key.as_bytes());
        self.text.extend_from_slice(b"\":");
    }

    pub fn digest(mut self) -> Digest {
        self.text.extend_from_slice(if self.text.is_empty() { b"{}" } else { b"}" });
        Digest::of(&self.text)
    }
}

/// The number of bytes of a list that are buffered before they are digested.
const WAITING: usize = 64 * 1024;

/// A JSON list that is digested item by item, so that no copy of all of it is made. Its digest is that of the whole list.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    hash: Sha256,
    /// The text that is not digested yet.
    text: Vec<u8>,
    begun: bool,
}

impl Listed {
    fn before(&mut self) {
        if self.text.len() >= WAITING {
            self.hash.update(&self.text);
            self.text.clear();
        }
        self.text.push(if self.begun { b',' } else { b'[' });
        self.begun = true;
    }

    fn end(&mut self) {
        self.text.extend_from_slice(if self.begun { b"]" } else { b"[]" });
    }

    /// Adds an item of any form.
    pub fn item(self, item: &impl Serialize) -> Self {
        self.text(&written(item))
    }

    /// Adds an item that is serialized already, in sorted form.
    pub fn text(mut self, item: &str) -> Self {
        self.before();
        self.text.extend_from_slice(item.as_bytes());
        self
    }

    /// Adds an item that is sorted already.
    pub fn sorted(mut self, item: &impl Serialize) -> Self {
        self.before();
        serde_json::to_writer(&mut self.text, item).expect("what is kept has text keys only");
        self
    }

    /// Adds a list as one item. Its content is sorted already.
    pub fn items(mut self, items: &[impl Serialize]) -> Self {
        self.before();
        self.begun = false;
        let mut within = items.iter().fold(self, Self::sorted);
        within.end();
        Self { begun: true, ..within }
    }

    pub fn digest(mut self) -> Digest {
        self.end();
        self.hash.update(&self.text);
        Digest::hexadecimal(&self.hash.finalize())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_values_have_equal_digests() {
        let one = Digest::of_value(&json!({"a": 1, "b": [2]}));
        assert_eq!(one, Digest::of_value(&json!({"b": [2], "a": 1})));
        assert_ne!(one, Digest::of_value(&json!({"a": 1, "b": [3]})));
        assert_eq!(Digest::of(b"").short(), "e3b0-c442");
    }

    #[test]
    fn a_list_has_the_same_digest_item_by_item() {
        let (number, texts, none) = (7, ["b", "a"], [0; 0]);
        let listed = Listed::default().items(&texts).sorted(&number).items(&none).item(&json!({"b": 1, "a": []}));
        assert_eq!(listed.digest(), Digest::of_data(&(texts, number, none, json!({"a": [], "b": 1}))));
        let many: Vec<usize> = (0..2 * WAITING).collect();
        assert_eq!(Listed::default().items(&many).digest(), Digest::of_data(&[&many]));
        assert_eq!(Listed::default().digest(), Digest::of_value(&json!([])));
    }

    #[test]
    fn an_object_has_the_same_digest_field_by_field() {
        #[derive(Serialize)]
        struct Turned {
            z: u8,
            a: u8,
        }
        let turned = Turned { z: 1, a: 2 };
        let keyed = Keyed::default().text("a", "[\"\\\"é\",true]").field("b", &turned);
        let keyed = keyed.sorted("c", &json!({"y": 1, "x": 2}));
        let whole = json!({"c": {"x": 2, "y": 1}, "b": {"a": 2, "z": 1}, "a": ["\"é", true]});
        assert_eq!(keyed.digest(), Digest::of_value(&whole));
        assert_eq!(Keyed::default().digest(), Digest::of_value(&json!({})));
        assert_eq!(Digest::of_sorted(&whole), Digest::of_value(&whole));
    }
}
