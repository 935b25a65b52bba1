//! The address of a resource: the same before it exists, while it exists and after it is deleted.

use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize, Serializer};

/// The manifest keys of all kinds, in the order of the table in `kinds`. The table does not compile if its keys differ.
pub const KIND_KEYS: [&str; 9] = [
    "tag_groups",
    "segments",
    "templates",
    "pipelines",
    "scheduled_pushes",
    "experiments",
    "named_users",
    "open_channels",
    "tags",
];

/// The manifest key of a kind that this version knows. There is no other value, so every address has a row in the table
/// of kinds. A newer version may have more kinds; text from outside is parsed with [`KindKey::find`] and may be
/// refused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindKey {
    key: &'static str,
    row: usize,
}

impl KindKey {
    /// Returns the kind with this manifest key; `None` if this version has no such kind.
    pub fn find(key: &str) -> Option<Self> {
        let row = KIND_KEYS.iter().position(|known| *known == key)?;
        Some(Self { key: KIND_KEYS[row], row })
    }

    /// The row in the table of kinds.
    pub fn row(self) -> usize {
        self.row
    }
}

/// For keys in the source code. Panics if the key is not a kind, which is a bug in the program.
impl From<&'static str> for KindKey {
    fn from(key: &'static str) -> Self {
        Self::find(key).unwrap_or_else(|| panic!("`{key}` is not a kind"))
    }
}

impl Deref for KindKey {
    type Target = str;

    fn deref(&self) -> &str {
        self.key
    }
}

impl fmt::Debug for KindKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.key, f)
    }
}

impl fmt::Display for KindKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

impl PartialEq<str> for KindKey {
    fn eq(&self, other: &str) -> bool {
        self.key == other
    }
}

impl PartialEq<&str> for KindKey {
    fn eq(&self, other: &&str) -> bool {
        self.key == *other
    }
}

impl PartialEq<KindKey> for &str {
    fn eq(&self, other: &KindKey) -> bool {
        *self == other.key
    }
}

/// `segments/lapsed-buyers`: the kind's manifest key and the resource's own key.
///
/// An address never contains an id chosen by the service. The address of a part that is applied by itself is the
/// resource's address followed by the part's own name: `tag_groups/loyalty/named_users/u-1001`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Address {
    pub kind: KindKey,
    pub key: String,
}

impl Address {
    pub fn new(kind: impl Into<KindKey>, key: impl Into<String>) -> Self {
        Self { kind: kind.into(), key: key.into() }
    }

    /// Returns the address of the resource that this is a part of; a whole resource returns its own.
    pub fn resource(&self) -> Self {
        let key = self.key.split('/').next().unwrap_or_default();
        Self { kind: self.kind, key: key.to_owned() }
    }

    /// Returns the kind and the key of the resource that this is a part of.
    pub fn whole(&self) -> (KindKey, &str) {
        (self.kind, self.key.split('/').next().unwrap_or_default())
    }

    /// Returns the name of the part within its resource; `None` for a whole resource.
    pub fn part(&self) -> Option<&str> {
        self.key.split_once('/').map(|(_, part)| part)
    }
}

impl Address {
    /// Returns the address after a resource got another key; `None` if this is neither that resource nor a part of it.
    pub fn renamed(&self, from: &Self, to: &Self) -> Option<Self> {
        if self.resource() != *from {
            return None;
        }
        let key = self.part().map_or_else(|| to.key.clone(), |part| format!("{}/{part}", to.key));
        Some(Self { kind: to.kind, key })
    }
}

/// Counts resources. One that is applied in parts counts once: every number of resources is counted in this way.
pub fn count_resources<'a>(addresses: impl IntoIterator<Item = &'a Address>) -> usize {
    addresses.into_iter().map(Address::whole).collect::<HashSet<_>>().len()
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

/// Why a text is not an address.
#[derive(Debug)]
pub struct NotAnAddress(String);

impl fmt::Display for NotAnAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotAnAddress {}

impl TryFrom<String> for Address {
    type Error = NotAnAddress;

    fn try_from(text: String) -> Result<Self, NotAnAddress> {
        match text.split_once('/') {
            Some((kind, key)) if !kind.is_empty() && !key.is_empty() => match KindKey::find(kind) {
                Some(kind) => Ok(Self { kind, key: key.to_owned() }),
                None => Err(NotAnAddress(format!("`{text}` has an unknown kind: `{kind}`"))),
            },
            _ => Err(NotAnAddress(format!("`{text}` is not an address such as segments/lapsed-buyers"))),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.key)
    }
}

/// The maximum length of a key, which is also that of the service's names.
pub const KEY_LENGTH: usize = 128;

/// Whether `key` is a valid key of a resource: letters, digits, `-`, `_` and `.`, beginning with a letter or a digit.
pub fn is_key(key: &str) -> bool {
    key.len() <= KEY_LENGTH
        && key.starts_with(|c: char| c.is_ascii_alphanumeric())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Whether a key is reserved for its author: keys that begin with `x-` declare nothing.
pub fn is_own(key: &str) -> bool {
    key.starts_with("x-")
}

/// Derives a key from a name: `Lapsed buyers!` becomes `lapsed-buyers`. Empty if less than half of the letters are
/// left.
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
    fn a_resource_counts_once_with_all_of_its_parts() {
        let parts = ["u/channels/1", "u/channels/2", "v"].map(|key| Address::new("named_users", key));
        assert_eq!(count_resources(&parts), 2);
        assert_eq!(count_resources(parts.iter().chain([&Address::new("segments", "u")])), 3);
        assert_eq!(count_resources([]), 0);
    }

    #[test]
    fn an_address_of_an_unknown_kind_is_not_read() {
        let read = |text: &str| serde_json::from_value::<Address>(serde_json::json!(text));
        assert_eq!(read("segments/a").expect("a kind"), Address::new("segments", "a"));
        let why = read("journeys/a").expect_err("no kind").to_string();
        assert!(why.contains("`journeys/a` has an unknown kind: `journeys`"), "{why}");
        for text in ["", "segments", "segments/", "/a"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

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
