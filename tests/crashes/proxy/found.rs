//! Bugs that random stories have found, each as a minimal story.

use pushplan::nouns::level::Level;

use super::declared::{Declared, Kind};
use super::faults::{Fault, On, Rule, When};
use super::story::World;

const LEVELS: [Level; 2] = [Level::Documented, Level::Extended];

/// Declares one thing, applies it, edits it, applies the edit with one fault, and checks the calm end.
fn story(level: Level, kind: Kind, edit: fn(&mut Declared), on: On, nth: usize, fault: Fault) {
    let mut world = World::new(level, 0);
    let line = world.declared.add(kind, world.today, &mut world.dice);
    world.tell(line);
    world.apply(Vec::new());
    edit(&mut world.declared);
    world.apply(vec![Rule { on, nth, fault, seen: 0 }]);
    let wrong = world.end().unwrap_or_else(|why| vec![why]);
    assert!(wrong.is_empty(), "{level:?}, {kind:?}, {fault:?} for {on:?} {nth}: {wrong:#?}\n{}", world.told.join("\n"));
}

fn edit_text(declared: &mut Declared) {
    declared.things[0].version += 1;
}

fn remove(declared: &mut Declared) {
    declared.remove(0);
}

/// Runs several stories in parallel, because they mostly wait.
fn each<T: Copy + Send + Sync>(cases: &[T], story: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            let story = &story;
            scope.spawn(move || story(*case));
        }
    });
}

#[test]
fn one_false_404_about_a_device_leaves_nothing_behind_unmanaged() {
    for kind in [Kind::NamedUser, Kind::LegacyTag, Kind::TagGroup, Kind::OpenChannel] {
        for edit in [edit_text, remove] {
            each(&[1, 2, 3], |nth| story(Level::Extended, kind, edit, On::One, nth, Fault::NotFound));
        }
    }
}

#[test]
fn an_experiment_whose_deletion_was_not_carried_out_does_not_run_beside_the_new_one() {
    let faults = [Fault::NotFound, Fault::NotOk(When::Before), Fault::Status(408, When::Before)];
    for level in LEVELS {
        each(&faults, |fault| story(level, Kind::Experiment, edit_text, On::Delete, 1, fault));
    }
}
