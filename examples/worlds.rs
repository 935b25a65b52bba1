//! Explores the small worlds of `tests/simulation/worlds`.
//!
//! `tests/simulation/optimized run --example worlds` explores every world with two faults, and every world with one fault and
//! one edit. It prints the number of distinct states and the depth of each, and fails with a story where something goes wrong.
//! `--large` allows two faults and one edit at once, in parts that fit into memory; `--small` takes seconds. `--without Adopt` prints the shortest story that
//! happens without a protection, `--protections` that of each. `--only documented` explores the worlds whose names contain this.

#![expect(clippy::print_stdout, reason = "it is a program of its own")]

#[path = "../tests/simulation/worlds/space/mod.rs"]
mod space;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use mimalloc::MiMalloc;
use space::{Limits, Outcome, Protection, Setup, search};

/// Worlds are made of many small pieces, which this one gives out fastest.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// No world of the sizes here has more states.
const MOST: usize = 1_000_000_000;

/// How many states of a large world are kept at each depth: a few gigabytes for all depths.
const BREADTH: usize = 4_000;

fn flag(name: &str) -> bool {
    std::env::args().any(|argument| argument == name)
}

/// The value of an option.
fn option(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

fn number(name: &str) -> Option<usize> {
    option(name).and_then(|text| text.replace('_', "").parse().ok())
}

fn main() -> ExitCode {
    let off = option("--without");
    if off.is_some() || flag("--protections") {
        let all = Protection::ALL.into_iter().filter(|one| off.as_ref().is_none_or(|off| format!("{one:?}") == *off));
        return stories(&all.collect::<Vec<_>>());
    }
    let mut setups = match (flag("--small"), flag("--large")) {
        (true, _) => Setup::small(),
        (_, true) => Setup::large(),
        _ => Setup::medium(),
    };
    if let Some(only) = option("--only") {
        setups.retain(|setup| setup.name().contains(&only));
    }
    let limits = Limits {
        states: number("--most").unwrap_or(MOST),
        violations: number("--violations").unwrap_or(1),
        breadth: number("--breadth").unwrap_or(if flag("--large") { BREADTH } else { usize::MAX }),
    };
    explore(&setups, limits)
}

/// Explores each world, as many at a time as there are cores.
fn explore(setups: &[Setup], limits: Limits) -> ExitCode {
    let begun = Instant::now();
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Outcome::default()));
    let threads = number("--threads").or_else(|| std::thread::available_parallelism().ok().map(usize::from));
    std::thread::scope(|scope| {
        for _ in 0..threads.unwrap_or(1).min(setups.len()) {
            scope.spawn(|| {
                while let Some(setup) = setups.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begun = Instant::now();
                    let outcome = search(setup, limits);
                    let seconds = begun.elapsed().as_secs_f64();
                    let Outcome { states, steps, depth, calms, is_cut, violations } = outcome;
                    let cut = if is_cut { ", broken off" } else { "" };
                    let name = setup.name();
                    let mut all = all.lock().expect("no thread panicked");
                    println!(
                        "{name}: {states} states, depth {depth}, {steps} steps, {calms} ends, {seconds:.1} s{cut}"
                    );
                    for violation in &violations {
                        println!("  {}\n{}", violation.what, violation.story);
                    }
                    all.states += states;
                    all.depth = all.depth.max(depth);
                    all.steps += steps;
                    all.calms += calms;
                    all.is_cut |= is_cut;
                    all.violations.extend(violations);
                }
            });
        }
    });
    let Outcome { states, depth, steps, calms, is_cut, violations } = all.into_inner().expect("no thread panicked");
    let (worlds, wrong, seconds) = (setups.len(), violations.len(), begun.elapsed().as_secs_f64());
    println!(
        "{worlds} worlds: {states} distinct states, depth {depth}, {steps} steps, {calms} distinct ends, {wrong} violations, \
         {seconds:.1} s"
    );
    ExitCode::from(u8::from(wrong > 0 || is_cut))
}

/// Prints what happens without each of these protections. With it, nothing may happen in the same world.
fn stories(all: &[Protection]) -> ExitCode {
    let mut missed = !all.is_empty();
    for off in all {
        let setup = Setup::without(*off);
        let outcome = search(&setup, Limits::first(MOST));
        missed &= !outcome.violations.is_empty();
        match outcome.violations.first() {
            Some(violation) => println!("Without {off:?}, {}:\n{}", violation.what, violation.story),
            None => println!("Without {off:?}, nothing goes wrong in {} states.\n", outcome.states),
        }
        let others = setup.off.iter().copied().filter(|other| other != off).collect();
        let outcome = search(&Setup { off: others, ..setup }, Limits::first(MOST));
        missed &= outcome.violations.is_empty();
        if let Some(violation) = outcome.violations.first() {
            println!("Also with {off:?}, {}:\n{}", violation.what, violation.story);
        }
    }
    ExitCode::from(u8::from(!missed))
}
