//! Chance, from one seed.

/// A small generator of numbers: the same seed throws the same dice.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 up to, but not including, another.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.throw() % end.max(1) as u64).expect("it is below a size")
    }

    /// A time from one up to another, in milliseconds.
    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        from + (self.throw() % (to - from).max(1).unsigned_abs()).cast_signed()
    }

    /// So many times out of a thousand.
    pub fn chance(&mut self, of_thousand: u64) -> bool {
        self.throw() % 1000 < of_thousand
    }

    pub fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }

    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            all.swap(at, self.below(at + 1));
        }
    }
}
