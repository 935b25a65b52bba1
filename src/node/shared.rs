//! JSON that many hold.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// What something says, as JSON. A copy costs nothing: all copies share one value, until one of them is changed.
#[derive(Clone, Default)]
pub struct Shared(Arc<Value>);

impl From<Value> for Shared {
    fn from(value: Value) -> Self {
        Self(Arc::new(value))
    }
}

impl From<&Value> for Shared {
    fn from(value: &Value) -> Self {
        Self::from(value.clone())
    }
}

impl Shared {
    /// The value itself; a copy of it where others hold it too.
    pub fn into_value(self) -> Value {
        Arc::unwrap_or_clone(self.0)
    }

    /// Holds the value of another where both say the same, and lets go of its own: to compare them again costs nothing.
    pub fn join(&mut self, other: &Self) {
        if self == other {
            self.0 = other.0.clone();
        }
    }
}

impl Deref for Shared {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl DerefMut for Shared {
    fn deref_mut(&mut self) -> &mut Value {
        Arc::make_mut(&mut self.0)
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || *self.0 == *other.0
    }
}

impl PartialEq<Value> for Shared {
    fn eq(&self, other: &Value) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<Shared> for Value {
    fn eq(&self, other: &Shared) -> bool {
        *self == *other.0
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Shared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Shared {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
