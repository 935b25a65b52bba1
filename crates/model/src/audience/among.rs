//! A sorted list of distinct values. There are nearly always one or a few, which a list stores in the least memory.

use super::value::Value;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Among(Vec<Value>);

impl FromIterator<Value> for Among {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        let mut all: Vec<Value> = values.into_iter().collect();
        if all.len() > 1 {
            all.sort_unstable();
            all.dedup();
        }
        Self(all)
    }
}

impl IntoIterator for Among {
    type Item = Value;
    type IntoIter = std::vec::IntoIter<Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'v> IntoIterator for &'v Among {
    type Item = &'v Value;
    type IntoIter = std::slice::Iter<'v, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl Among {
    pub fn iter(&self) -> std::slice::Iter<'_, Value> {
        self.0.iter()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, value: &Value) -> bool {
        self.0.binary_search(value).is_ok()
    }

    pub fn retain(&mut self, is_kept: impl FnMut(&Value) -> bool) {
        self.0.retain(is_kept);
    }

    pub(crate) fn is_subset(&self, other: &Self) -> bool {
        self.iter().all(|value| other.contains(value))
    }

    pub fn is_disjoint(&self, other: &Self) -> bool {
        !self.iter().any(|value| other.contains(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn values() -> impl Strategy<Value = Vec<Value>> {
        vec("[abc]{1,2}".prop_map(Value::Text), 0..8)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_is_a_set(one in values(), other in values()) {
            let sets = [&one, &other].map(|all| all.iter().cloned().collect::<BTreeSet<Value>>());
            let lists = [&one, &other].map(|all| all.iter().cloned().collect::<Among>());
            prop_assert!(lists[0].iter().eq(&sets[0]));
            prop_assert_eq!(lists[0].len(), sets[0].len());
            prop_assert_eq!(lists[0].is_empty(), sets[0].is_empty());
            prop_assert_eq!(lists[0].cmp(&lists[1]), sets[0].cmp(&sets[1]));
            prop_assert_eq!(lists[0].is_subset(&lists[1]), sets[0].is_subset(&sets[1]));
            prop_assert_eq!(lists[0].is_disjoint(&lists[1]), sets[0].is_disjoint(&sets[1]));
            for value in &other {
                prop_assert_eq!(lists[0].contains(value), sets[0].contains(value));
            }
        }
    }
}
