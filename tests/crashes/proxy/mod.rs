//! Drives the real binary through a faulty proxy against the real service, with random projects of all kinds, random edits and
//! kills. Each story is judged by what devices received and by what the service holds, never by what the program prints.
//!
//! `PUSHPLAN_PROXY_STORIES` is the number of stories, `PUSHPLAN_PROXY_SEED` the seed of the first one: the next story has the
//! next seed. A seed decides on the project, its edits, the faults and the kills.
#![cfg(unix)]

mod declared;
mod faults;
mod found;
mod judge;
mod person;
mod relay;
mod story;
mod yaml;

mod service;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use pushplan::nouns::level::Level;
use story::Story;

/// Stories that run at a time. They spend most of their time waiting for the settle time.
const AT_A_TIME: u64 = 4;
/// Stories of a plain run, for each API level.
const STORIES: u64 = 6;

#[test]
fn with_the_documented_api_nothing_is_sent_twice_lost_or_taken_from_others() {
    tell_stories(Level::Documented);
}

#[test]
fn with_the_extended_api_nothing_is_sent_twice_lost_or_taken_from_others() {
    tell_stories(Level::Extended);
}

/// Runs stories with consecutive seeds, and fails with the stories of those that went wrong.
fn tell_stories(level: Level) {
    let number = |variable: &str| std::env::var(variable).ok().map(|text| text.parse().expect("a number"));
    let stories: u64 = number("PUSHPLAN_PROXY_STORIES").unwrap_or(STORIES);
    let first: u64 = number("PUSHPLAN_PROXY_SEED").unwrap_or(1);
    let (next, failed) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME.min(stories) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + stories {
                        return;
                    }
                    let mut story = Story::new(level, seed);
                    let ended = catch_unwind(AssertUnwindSafe(|| story.run())).unwrap_or_else(|why| {
                        let text = why.downcast_ref::<String>().map(String::as_str);
                        Err(format!("panicked: {}", text.or(why.downcast_ref::<&str>().copied()).unwrap_or("?")))
                    });
                    if stories == 1 {
                        let _ = writeln!(std::io::stderr(), "{}", story.told());
                    }
                    if let Err(why) = ended {
                        let told = format!("PUSHPLAN_PROXY_SEED={seed}, {level:?}: {why}\n{}", story.told());
                        let _ = writeln!(std::io::stderr(), "{told}\n");
                        failed.lock().expect("sound").push(told);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("sound");
    let seconds = start.elapsed().as_secs();
    let _ = writeln!(std::io::stderr(), "{stories} stories from seed {first} in {seconds} s, {} failed", failed.len());
    assert!(failed.is_empty(), "{} of {stories} stories failed:\n\n{}", failed.len(), failed.join("\n\n"));
}
