//! The simulation of `tests/simulation`: how many seeds it lives through.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{available_parallelism, scope};
use std::time::Instant;

#[path = "../../tests/simulation/sim/mod.rs"]
#[expect(dead_code, unused_imports, reason = "nothing is turned off here, and nothing told")]
mod sim;

use crate::program::{own, timed};

/// How many seeds a thread takes at once: neighbours share how they begin.
const AT_ONCE: u64 = 64;

/// What keeps the allocator from giving memory back that the next story takes again.
const TUNED: (&str, &str) = (
    "GLIBC_TUNABLES",
    "glibc.malloc.tcache_count=2000:glibc.malloc.trim_threshold=1073741824:glibc.malloc.mmap_threshold=1073741824",
);

pub fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The program: lives through seeds on all cores, and says how many of them it did in a second and on a core.
pub fn run(from: u64, seeds: u64) -> f64 {
    let (next, begin) = (AtomicU64::new(from), Instant::now());
    let live = || {
        while next.load(Ordering::Relaxed) < from + seeds {
            let first = next.fetch_add(AT_ONCE, Ordering::Relaxed);
            for seed in first..(from + seeds).min(first + AT_ONCE) {
                let outcome = sim::run(seed, None, false);
                assert_eq!(outcome.violation, None, "seed {seed}");
            }
        }
    };
    scope(|scope| {
        for _ in 0..cores() {
            scope.spawn(live);
        }
    });
    seeds as f64 / begin.elapsed().as_secs_f64() / cores() as f64
}

/// Runs it as a process of its own.
pub fn rate(from: u64, seeds: u64) -> f64 {
    let mut command: Command = own("simulate", &[&from.to_string(), &seeds.to_string()]);
    let ran = timed(command.env(TUNED.0, TUNED.1)).well("the simulation");
    ran.said.trim().parse().expect("a number")
}
