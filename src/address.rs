//! What a resource is called: before it exists, while it lives and after it is gone.

use std::fmt;

/// `segments/lapsed-buyers`: the kind's manifest key and the resource's own key.
///
/// An address never contains an id chosen by the service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    pub kind: &'static str,
    pub key: String,
}

impl Address {
    pub fn new(kind: &'static str, key: impl Into<String>) -> Self {
        Self { kind, key: key.into() }
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
