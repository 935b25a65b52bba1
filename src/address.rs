//! What a resource is called: before it exists, while it lives and after it is gone.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// `segments/lapsed-buyers`: the kind's manifest key and the resource's own key.
///
/// An address never contains an id chosen by the service. A part of a resource that is applied by itself has the resource's
/// address and its own name behind it: `tag_groups/loyalty/named_users/u-1001`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Address {
    pub kind: Cow<'static, str>,
    pub key: String,
}

impl Address {
    pub fn new(kind: impl Into<Cow<'static, str>>, key: impl Into<String>) -> Self {
        Self { kind: kind.into(), key: key.into() }
    }

    /// The address of the resource that this is a part of; itself where it is a whole one.
    pub fn resource(&self) -> Self {
        let key = self.key.split('/').next().unwrap_or_default();
        Self { kind: self.kind.clone(), key: key.to_owned() }
    }

    /// What it is of its resource; `None` where it is a whole one.
    pub fn part(&self) -> Option<&str> {
        self.key.split_once('/').map(|(_, part)| part)
    }
}

impl Address {
    /// What it is called once a resource has another key; `None` where it is neither that nor a part of it.
    pub fn renamed(&self, from: &Self, to: &Self) -> Option<Self> {
        if self.resource() != *from {
            return None;
        }
        let key = self.part().map_or_else(|| to.key.clone(), |part| format!("{}/{part}", to.key));
        Some(Self { kind: to.kind.clone(), key })
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.to_string()
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split_once('/') {
            Some((kind, key)) if !kind.is_empty() && !key.is_empty() => Ok(Self::new(kind.to_owned(), key)),
            _ => Err(format!("`{text}` is not an address such as segments/lapsed-buyers")),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.key)
    }
}

/// The longest key; the service's own names end here too.
pub const KEY_LENGTH: usize = 128;

/// Whether `key` can be a resource's key: letters, digits, `-`, `_` and `.`, beginning with a letter or a digit.
pub fn is_key(key: &str) -> bool {
    key.len() <= KEY_LENGTH
        && key.starts_with(|c: char| c.is_ascii_alphanumeric())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Whether a key is its author's own: what begins with `x-` declares nothing.
pub fn is_own(key: &str) -> bool {
    key.starts_with("x-")
}

/// The key that a name suggests: `Lapsed buyers!` gives `lapsed-buyers`. Empty where less than half of its letters
/// are left.
pub fn to_key(name: &str) -> String {
    let mut key = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || "_.".contains(c) {
            key.push(c.to_ascii_lowercase());
        } else if !key.ends_with('-') {
            key.push('-');
        }
        if key.len() == KEY_LENGTH {
            break;
        }
    }
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    if letters(&key) * 2 < letters(name).min(KEY_LENGTH) {
        return String::new();
    }
    key.trim_matches(|c: char| "-_.".contains(c)).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_plain_words() {
        for good in ["a", "lapsed-buyers", "v1.2_x", "9"] {
            assert!(is_key(good), "{good}");
        }
        for bad in ["", "-a", "a b", "a/b", "é", ".hidden", &"x".repeat(129)] {
            assert!(!is_key(bad), "{bad}");
        }
        assert_eq!(to_key("Lapsed  buyers!"), "lapsed-buyers");
        assert_eq!(to_key("../é"), "");
        assert_eq!(to_key("été"), "", "a `t` would be no help");
        assert_eq!(to_key("Größe"), "gr-e");
        assert_eq!(to_key(&"long ".repeat(100)).len(), KEY_LENGTH);
    }
}
