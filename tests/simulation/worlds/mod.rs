//! Small worlds, explored to the end: every order of events, every fault, every edit. The example `worlds` explores larger ones.

mod space;

use std::collections::BTreeSet;

use pushplan::nouns::level::Level;
use space::{Limits, Outcome, Protection, Setup, search};

/// More states than any of these worlds has.
const MOST: usize = 1_000_000;

#[test]
fn every_small_world_ends_well() {
    // The largest takes half of the time without optimization. `.ci/run` explores all of them, and larger ones.
    for setup in Setup::small().into_iter().filter(|setup| setup.applied || setup.level == Level::Documented) {
        let outcome: Outcome = search(&setup, Limits::first(MOST));
        if let Some(violation) = outcome.violations.first() {
            panic!("{}: {}\n{}", setup.name(), violation.what, violation.story);
        }
        assert!(!outcome.is_cut, "{}: more than {MOST} states", setup.name());
        assert!(outcome.states > 1_000 && outcome.depth > 10 && outcome.calms > 500, "{}: {outcome:?}", setup.name());
    }
}

#[test]
fn each_protection_is_needed() {
    for off in Protection::ALL {
        let setup = Setup::without(off);
        let outcome = search(&setup, Limits::first(MOST));
        // `worlds --protections` in `.ci/run` also explores these worlds with the protection: then nothing goes wrong.
        assert!(!outcome.violations.is_empty(), "without {off:?}, nothing goes wrong in {} states", outcome.states);
    }
}

#[test]
fn the_same_world_has_the_same_states_and_stories() {
    let setup = Setup::without(Protection::SettleWait);
    let [one, other] = [(); 2].map(|()| search(&setup, Limits::first(MOST)));
    assert_eq!((one.states, one.steps, one.depth), (other.states, other.steps, other.depth));
    assert_eq!(one.violations[0].story, other.violations[0].story);
}

#[test]
fn a_search_in_parts_finds_the_same_states() {
    let setup = Setup::without(Protection::SettleWait);
    let setup = Setup { off: Vec::new(), ..setup };
    let [whole, parts] = [usize::MAX, 50].map(|breadth| search(&setup, Limits { breadth, ..Limits::first(MOST) }));
    assert!(whole.violations.is_empty() && parts.violations.is_empty(), "{whole:?} {parts:?}");
    assert!(whole.states > 500, "{whole:?}");
    assert_eq!((whole.states, whole.steps, whole.calms), (parts.states, parts.steps, parts.calms));
}

#[test]
fn no_world_of_a_size_is_explored_twice() {
    for size in [Setup::small(), Setup::medium(), Setup::large()] {
        let names: BTreeSet<String> = size.iter().map(Setup::name).collect();
        assert_eq!(names.len(), size.len());
    }
}
