use std::collections::HashSet;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that is shared by many: a million devices have only a few combinations of tags and properties. A change only
/// affects one's own copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shared<T>(Arc<T>);

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

/// The shared values, each once.
#[derive(Debug)]
pub struct Pool<T> {
    values: HashSet<Shared<T>>,
    /// The number of values at which unused ones are removed.
    swept_at: usize,
}

impl<T: Eq + Hash> Pool<T> {
    /// Replaces a value by an equal one from the pool.
    pub fn share(&mut self, value: &mut Shared<T>) {
        if let Some(known) = self.values.get(value) {
            value.0 = known.0.clone();
            return;
        }
        if self.values.len() >= self.swept_at {
            self.values.retain(|value| Arc::strong_count(&value.0) > 1);
            // Not before the number has doubled, so that the removal is cheap however many values there are.
            self.swept_at = 2 * self.values.len().max(FEW);
        }
        self.values.insert(Shared(value.0.clone()));
    }
}

/// Fewer values than this are not worth a removal.
const FEW: usize = 64;

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { values: HashSet::new(), swept_at: FEW }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one_until_one_of_them_changes() {
        let mut pool = Pool::default();
        let [mut one, mut other] = [Shared::from(vec![1]), Shared::from(vec![1])];
        pool.share(&mut one);
        pool.share(&mut other);
        assert!(Arc::ptr_eq(&one.0, &other.0));
        other.push(2);
        assert_eq!((&*one, &*other), (&vec![1], &vec![1, 2]));
    }

    #[test]
    fn values_that_nobody_has_are_forgotten() {
        let mut pool = Pool::default();
        let mut kept = Shared::from(0);
        pool.share(&mut kept);
        for n in 1..100 * FEW {
            pool.share(&mut Shared::from(n));
            assert!(pool.values.len() <= 2 * FEW);
        }
        assert!(pool.values.contains(&kept));
    }
}
