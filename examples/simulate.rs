//! Lives through many seeds of the simulation in `tests/simulation`.
//!
//! `tests/simulation/optimized run --example simulate -- --seeds 250000` prints how often each fault met each kind of step, and
//! fails where something went wrong or never happened. `--from N` begins elsewhere, and `--long` takes the
//! long stories alone; `--seed N` tells one seed's story; `--without Adopt` turns a protection off.

#![expect(clippy::print_stdout, reason = "it is a program of its own")]

#[path = "../tests/simulation/sim/mod.rs"]
mod sim;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use mimalloc::MiMalloc;
use sim::{LONG, Protection, Tally, run};

/// All that a story takes it takes in small pieces, which this one gives out fastest.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How many seeds a thread takes at once: neighbours share how they begin.
const AT_ONCE: u64 = 64;

/// The value of an option.
fn option(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

fn number(name: &str) -> Option<u64> {
    option(name).and_then(|text| text.replace('_', "").parse().ok())
}

fn main() -> ExitCode {
    let off = option("--without").and_then(|name| Protection::ALL.into_iter().find(|one| format!("{one:?}") == name));
    if let Some(seed) = number("--seed") {
        let outcome = run(seed, off, true);
        println!("{}", outcome.trace.join("\n"));
        println!("seed {seed}: {}", outcome.violation.as_deref().unwrap_or("nothing went wrong"));
        return ExitCode::from(u8::from(outcome.violation.is_some()));
    }
    let (from, seeds) = (number("--from").unwrap_or(0), number("--seeds").unwrap_or(10_000));
    let every = if std::env::args().any(|argument| argument == "--long") { LONG } else { 1 };
    let (end, step) = (from + seeds * every, usize::try_from(every).expect("it is small"));
    let most = number("--violations").unwrap_or(10);
    let quiet = AtomicU64::new(0);
    let (next, wrong, all) = (AtomicU64::new(from), AtomicU64::new(0), Mutex::new(Tally::default()));
    let begun = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut tally = Tally::default();
                while next.load(Ordering::Relaxed) < end && wrong.load(Ordering::Relaxed) < most {
                    let first = next.fetch_add(AT_ONCE * every, Ordering::Relaxed);
                    for seed in (first..end.min(first + AT_ONCE * every)).step_by(step) {
                        if wrong.load(Ordering::Relaxed) >= most {
                            break;
                        }
                        let outcome = run(seed, off, false);
                        quiet.fetch_add(u64::from(outcome.tally.is_quiet()), Ordering::Relaxed);
                        tally.add(&outcome.tally);
                        if let Some(violation) = outcome.violation {
                            wrong.fetch_add(1, Ordering::Relaxed);
                            println!("seed {seed}: {violation}");
                        }
                    }
                }
                all.lock().expect("nobody died with it").add(&tally);
            });
        }
    });
    let tally = all.into_inner().expect("nobody died with it");
    let (wrong, zeros) = (wrong.into_inner(), tally.zeros());
    println!("{tally}");
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{seeds} seeds in {seconds:.1} s, {wrong} violations; nothing went wrong in {} of them",
        quiet.into_inner()
    );
    if !zeros.is_empty() {
        println!("never happened: {}", zeros.join(", "));
    }
    ExitCode::from(u8::from(wrong > 0 || !zeros.is_empty()))
}
