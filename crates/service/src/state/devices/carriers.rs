use std::fmt;

/// The devices that have a tag, by number. The most frequent question is whether a device is one of them, which is
/// cheap however many there are.
#[derive(Clone, Default)]
pub struct Carriers {
    count: usize,
    form: Form,
}

#[derive(Clone)]
enum Form {
    /// Sorted.
    Few(Vec<u32>),
    /// A bit for each existing device.
    Many(Vec<u64>),
}

impl Default for Form {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Carriers {
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn contains(&self, number: &u32) -> bool {
        match &self.form {
            Form::Few(numbers) => numbers.binary_search(number).is_ok(),
            Form::Many(words) => words.get(word(*number)).is_some_and(|word| word & bit(*number) != 0),
        }
    }

    /// Iterates in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let (few, many) = match &self.form {
            Form::Few(numbers) => (numbers.as_slice(), &[][..]),
            Form::Many(words) => (&[][..], words.as_slice()),
        };
        let of_word = |(at, word): (usize, &u64)| {
            let word = *word;
            (0..64).filter(move |place| word & (1 << place) != 0).map(move |place| at as u32 * 64 + place)
        };
        few.iter().copied().chain(many.iter().enumerate().flat_map(of_word))
    }

    pub fn insert(&mut self, number: u32) {
        if self.contains(&number) {
            return;
        }
        self.count += 1;
        match &mut self.form {
            Form::Few(numbers) => {
                let at = numbers.partition_point(|other| *other < number);
                numbers.insert(at, number);
                let last = numbers.last().copied().unwrap_or_default();
                // As soon as bits take less memory than numbers.
                if self.count > FEW && self.count > last as usize / 32 {
                    let mut words = vec![0; word(last) + 1];
                    numbers.iter().for_each(|number| words[word(*number)] |= bit(*number));
                    self.form = Form::Many(words);
                }
            }
            Form::Many(words) => {
                if words.len() <= word(number) {
                    words.resize(word(number) + 1, 0);
                }
                words[word(number)] |= bit(number);
            }
        }
    }

    pub fn remove(&mut self, number: &u32) {
        if !self.contains(number) {
            return;
        }
        self.count -= 1;
        match &mut self.form {
            Form::Few(numbers) => {
                let at = numbers.partition_point(|other| other < number);
                numbers.remove(at);
            }
            Form::Many(words) => {
                words[word(*number)] &= !bit(*number);
                // Well below the threshold of the other conversion, so that the form does not change with every change.
                if self.count < words.len() / 2 {
                    self.form = Form::Few(self.iter().collect());
                }
            }
        }
    }
}

/// Up to this number, bits are never worthwhile.
const FEW: usize = 64;

fn word(number: u32) -> usize {
    number as usize / 64
}

fn bit(number: u32) -> u64 {
    1 << (number % 64)
}

impl FromIterator<u32> for Carriers {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut carriers = Self::default();
        numbers.into_iter().for_each(|number| carriers.insert(number));
        carriers
    }
}

impl PartialEq for Carriers {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Carriers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn carriers_are_those_that_came_and_did_not_go(
            steps in prop::collection::vec((any::<bool>(), prop_oneof![0..300_u32, 0..20_000_u32]), 0..1_500),
            leave in any::<bool>(),
        ) {
            let (mut carriers, mut expected) = (Carriers::default(), BTreeSet::new());
            for (comes, number) in steps {
                if comes {
                    carriers.insert(number);
                    expected.insert(number);
                } else {
                    carriers.remove(&number);
                    expected.remove(&number);
                }
            }
            if leave {
                for number in expected.clone().into_iter().skip(3) {
                    carriers.remove(&number);
                    expected.remove(&number);
                }
            }
            prop_assert_eq!(carriers.len(), expected.len());
            prop_assert!(carriers.iter().eq(expected.iter().copied()));
            prop_assert!((0..20_100).all(|number| carriers.contains(&number) == expected.contains(&number)));
        }
    }

    #[test]
    fn bits_and_numbers_turn_into_each_other() {
        let mut carriers: Carriers = (0..10_000).collect();
        assert!(matches!(carriers.form, Form::Many(_)));
        (50..10_000).for_each(|number| carriers.remove(&number));
        assert!(matches!(carriers.form, Form::Few(_)));
        assert_eq!(carriers, (0..50).collect());
    }
}
