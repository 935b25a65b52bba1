//! Random numbers from a seed.

use std::time::Duration;

/// A random number generator (SplitMix64). The same seed gives the same numbers on every machine.
///
/// The methods are inlined, so a test whose own crate is optimized gets optimized dice.
#[derive(Clone, Debug)]
pub struct Dice(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Dice {
    #[inline]
    pub fn new(seed: u64) -> Self {
        Self(seed ^ STEP)
    }

    /// Returns any number.
    #[inline]
    pub fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, and 0 if `end` is 0.
    #[inline]
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.throw() % end.max(1) as u64).expect("it is below a size")
    }

    /// Returns a number from `from`, below `to`.
    #[inline]
    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        from + (self.throw() % (to - from).max(1).unsigned_abs()).cast_signed()
    }

    /// Returns a number of milliseconds from `from`, below `to`.
    #[inline]
    pub fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.throw() % (to - from))
    }

    /// Returns `true` in this many of a thousand cases.
    #[inline]
    pub fn chance(&mut self, of_thousand: u64) -> bool {
        self.throw() % 1000 < of_thousand
    }

    /// Returns `true` in one of this many cases.
    #[inline]
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    #[inline]
    pub fn pick<'t, T>(&mut self, among: &'t [T]) -> &'t T {
        &among[self.below(among.len())]
    }

    #[inline]
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            all.swap(at, self.below(at + 1));
        }
    }
}
