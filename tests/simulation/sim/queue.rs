//! Pending events, in the order of their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events that wait for their times. Of two at the same time, the one added first comes first.
#[derive(Debug)]
pub struct Queue<T> {
    /// The time, the sequence number, and the index in the storage.
    order: BinaryHeap<Reverse<(i64, u64, usize)>>,
    waiting: Vec<Option<T>>,
    free: Vec<usize>,
    next: u64,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { order: BinaryHeap::new(), waiting: Vec::new(), free: Vec::new(), next: 0 }
    }
}

impl<T> Queue<T> {
    pub fn put(&mut self, at: i64, what: T) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.waiting.push(None);
            self.waiting.len() - 1
        });
        self.waiting[place] = Some(what);
        self.next += 1;
        self.order.push(Reverse((at, self.next, place)));
    }

    pub fn take(&mut self) -> Option<(i64, T)> {
        let Reverse((at, _, place)) = self.order.pop()?;
        self.free.push(place);
        Some((at, self.waiting[place].take()?))
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<i64> {
        self.order.peek().map(|Reverse((at, ..))| *at)
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}
