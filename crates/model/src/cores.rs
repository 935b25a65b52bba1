//! Parallel work on many items on all cores. The calling thread does small amounts of work itself, because starting a
//! thread takes longer.

use std::sync::{Once, OnceLock};
use std::thread::{self, ThreadId};

use rayon::prelude::*;

/// The number of items from which several threads are worthwhile.
const MANY: usize = 64;

/// The thread that works together with the others.
static MAIN: OnceLock<ThreadId> = OnceLock::new();

/// Makes the current thread work together with the others, once there are any: the memory of the main thread grows more
/// cheaply than theirs. Otherwise, the others work alone.
pub fn with_this_thread() {
    let _ = MAIN.set(thread::current().id());
}

/// Applies `one` to each item and returns the results in order.
pub fn each<T: Sync, R: Send>(all: &[T], one: impl Fn(&T) -> R + Sync) -> Vec<R> {
    each_of(all.iter().collect(), one)
}

/// Applies `one` to each owned item and returns the results in order. It uses several threads if there are many items.
pub fn each_of<T: Send, R: Send>(all: Vec<T>, one: impl Fn(T) -> R + Sync) -> Vec<R> {
    if all.len() < MANY { one_by_one(all, one) } else { side_by_side(all, one) }
}

/// Applies `one` to each item and returns the results in order. Because single items may be large, the caller decides with
/// `heavy` whether all of them together are worth several threads.
pub fn each_if<T: Send, R: Send>(heavy: bool, all: Vec<T>, one: impl Fn(T) -> R + Sync) -> Vec<R> {
    if heavy && all.len() > 1 { side_by_side(all, one) } else { one_by_one(all, one) }
}

fn one_by_one<T, R>(all: Vec<T>, one: impl Fn(T) -> R) -> Vec<R> {
    all.into_iter().map(one).collect()
}

/// Computes two results about this number of items in parallel.
pub fn both<A: Send, B: Send>(
    things: usize,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if things < MANY {
        return (one(), other());
    }
    begin();
    rayon::join(one, other)
}

/// Drops many items in the background, so that nobody waits for it.
pub fn let_go<T: Send + 'static>(all: Vec<T>) {
    if all.len() < MANY {
        return drop(all);
    }
    begin();
    rayon::spawn(move || drop(all));
}

fn side_by_side<T: Send, R: Send>(all: Vec<T>, one: impl Fn(T) -> R + Sync) -> Vec<R> {
    begin();
    all.into_par_iter().map(&one).collect()
}

fn begin() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        if MAIN.get() == Some(&thread::current().id()) {
            // At least one other thread is needed, so that work next to the main thread does not wait for it. If this
            // fails, the others work alone.
            let threads = thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).use_current_thread().build_global();
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn results_are_in_the_order_of_what_they_are_of() {
        for count in [0, 1, MANY - 1, MANY, 10 * MANY] {
            let all: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = all.iter().map(|number| number * 2).collect();
            assert_eq!(each(&all, |number| number * 2), doubled);
            assert_eq!(each_if(true, all.clone(), |number| number * 2), doubled);
            assert_eq!(both(count, || all.len(), || doubled.len()), (count, count));
            assert_eq!(each_if(false, all, |number| number * 2), doubled);
        }
    }

    #[test]
    fn what_is_let_go_of_is_gone_sooner_or_later() {
        for count in [1, 10 * MANY] {
            let one = Arc::new(());
            let_go(vec![Arc::clone(&one); count]);
            let until = Instant::now() + Duration::from_secs(60);
            while Arc::strong_count(&one) > 1 {
                assert!(Instant::now() < until, "{} of {count} are left", Arc::strong_count(&one) - 1);
                thread::yield_now();
            }
        }
    }
}
