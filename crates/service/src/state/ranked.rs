use std::ops::Range;
use std::sync::Arc;

/// The maximum number of ids in a chunk.
const MOST: usize = 512;

/// Ids in the order of their numbers. The id of any rank is found without visiting those before it.
#[derive(Debug, Default)]
pub struct Ranked {
    /// No chunk is empty.
    chunks: Vec<Vec<(u64, Arc<str>)>>,
    len: usize,
}

impl Ranked {
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the largest number.
    pub fn last(&self) -> Option<u64> {
        self.chunks.last()?.last().map(|(number, _)| *number)
    }

    /// Returns all ids, those with the smallest numbers first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.chunks.iter().flatten().map(|(_, id)| &**id)
    }

    /// Returns the ids of some ranks, counted from 0.
    pub fn range(&self, ranks: Range<usize>) -> Vec<&str> {
        let (mut at, mut before) = (0, 0);
        while let Some(chunk) = self.chunks.get(at).filter(|chunk| before + chunk.len() <= ranks.start) {
            before += chunk.len();
            at += 1;
        }
        let rest = self.chunks.get(at..).unwrap_or_default().iter().flatten();
        rest.skip(ranks.start.saturating_sub(before)).take(ranks.len()).map(|(_, id)| &**id).collect()
    }

    /// Inserts an id at a number, or replaces the one that is there.
    pub fn insert(&mut self, number: u64, id: Arc<str>) {
        let mut at = self.chunk_of(number);
        if at == self.chunks.len() {
            match self.chunks.last() {
                Some(last) if last.len() < MOST => at -= 1,
                _ => self.chunks.push(Vec::new()),
            }
        }
        let chunk = &mut self.chunks[at];
        match chunk.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(place) => chunk[place].1 = id,
            Err(place) => {
                chunk.insert(place, (number, id));
                self.len += 1;
                if chunk.len() > MOST {
                    let half = chunk.split_off(MOST / 2);
                    self.chunks.insert(at + 1, half);
                }
            }
        }
    }

    pub fn remove(&mut self, number: u64) {
        let at = self.chunk_of(number);
        let Some(chunk) = self.chunks.get_mut(at) else { return };
        let Ok(place) = chunk.binary_search_by_key(&number, |(number, _)| *number) else { return };
        chunk.remove(place);
        self.len -= 1;
        if chunk.is_empty() {
            self.chunks.remove(at);
        }
    }

    /// Returns the index of the first chunk that may have a number.
    fn chunk_of(&self, number: u64) -> usize {
        self.chunks.partition_point(|chunk| chunk.last().is_some_and(|(last, _)| *last < number))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_ranks_are_those_of_a_plain_list(
            steps in vec((any::<bool>(), 0..3_000_u64), 0..4_000),
            ranges in vec((0..3_500_usize, 0..200_usize), 1..10),
        ) {
            let (mut ranked, mut plain) = (Ranked::default(), BTreeMap::new());
            for (is_new, number) in steps {
                // About a third of the steps are removals, so most items remain.
                if is_new || number % 3 > 0 {
                    ranked.insert(number, number.to_string().into());
                    plain.insert(number, number.to_string());
                } else {
                    ranked.remove(number);
                    plain.remove(&number);
                }
            }
            let plain: Vec<&str> = plain.values().map(String::as_str).collect();
            prop_assert_eq!(ranked.len(), plain.len());
            prop_assert_eq!(ranked.iter().collect::<Vec<_>>(), plain.clone());
            for (start, length) in ranges {
                let expected: Vec<&str> = plain.iter().skip(start).take(length).copied().collect();
                prop_assert_eq!(ranked.range(start..start + length), expected);
            }
        }
    }
}
