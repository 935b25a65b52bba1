//! Eight processes of the real binary apply concurrently, to one service and with one ledger, and are killed and
//! suspended at random moments: only one of them sends at a time, nothing is lost, nothing is duplicated, and the
//! ledger is one sequence of records.
//!
//! `PUSHPLAN_CONTENTION_ROUNDS` says how often, `PUSHPLAN_CONTENTION_TOGETHER` how often with one and the same ledger, and `PUSHPLAN_CONTENTION_SEED` what happens. When signals arrive is up to the
//! machine, so that the same seed makes the same manifests and the same strikes, and not the same interleaving.
#![cfg(unix)]

mod declared;
mod judge;
mod places;
mod storm;
mod witness;

use std::io::Write;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use pushplan_testing::Dice;

use places::Place;
use storm::Team;

#[test]
fn in_a_folder_one_sends_at_a_time_and_nothing_is_lost_or_doubled() {
    contend("file", || Some(Place::folder()));
}

#[test]
fn on_a_git_server_one_sends_at_a_time_and_nothing_is_lost_or_doubled() {
    contend("git", || Some(Place::git()));
}

#[test]
fn in_a_store_of_objects_one_sends_at_a_time_and_nothing_is_lost_or_doubled() {
    contend("s3", Place::objects);
}

#[test]
fn in_a_database_one_sends_at_a_time_and_nothing_is_lost_or_doubled() {
    contend("postgres", Place::database);
}

/// Storms over one kind of place. A ledger is read from its beginning after each of them, so that there is a new one, and a new
/// team, now and then.
fn contend(name: &str, place: impl Fn() -> Option<Place>) {
    let number = |variable: &str| std::env::var(variable).ok().map(|text| text.parse().expect("a number"));
    let rounds: u64 = number("PUSHPLAN_CONTENTION_ROUNDS").unwrap_or(2);
    let together: u64 = number("PUSHPLAN_CONTENTION_TOGETHER").unwrap_or(10);
    let seed: u64 = number("PUSHPLAN_CONTENTION_SEED").unwrap_or_else(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as u64 % 1_000_000
    });
    let mut dice = Dice::new(seed ^ name.bytes().fold(0, |sum, byte| sum * 31 + u64::from(byte)));
    let mut team = None;
    for round in 1..=rounds {
        if (round - 1) % together == 0 {
            let Some(place) = place() else { return };
            let api = ["documented", "extended"][dice.below(2)];
            tell(&format!("{name}: PUSHPLAN_CONTENTION_SEED={seed}, round {round} of {rounds}, over the {api} API"));
            team = Some(Team::new(place, api));
        }
        let team = team.as_mut().expect("it was made in the first round");
        let start = Instant::now();
        let about = format!("{name}, round {round} of seed {seed}");
        let storm = team.storm(round, &mut dice, &about);
        let calm = team.calm(round, &mut dice, &about);
        let found = team.judge(&about);
        tell(&format!("{about}: {:.1} s, {storm}, {calm}, {found}", start.elapsed().as_secs_f64()));
    }
}

fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
