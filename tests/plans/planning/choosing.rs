//! Resources that are left out are not touched, regardless of changes around them.

use pushplan::nouns::level::Level;

use super::recovering::in_doubt_in;
use super::world::{World, address};

const TRIAL: &str = r#"
segments:
  a: {criteria: {tag: x}}
experiments:
  e:
    audience: {segment: a}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: A}}, schedule: {scheduled_time: 2031-02-01T10:00}}
      - {push: {notification: {alert: B}}, schedule: {scheduled_time: 2031-02-01T10:00}}
"#;

fn except(mut world: World, pattern: &str) -> World {
    world.choice.except.push(pattern.to_owned());
    world
}

fn only(mut world: World, pattern: &str) -> World {
    world.choice.only.push(pattern.to_owned());
    world
}

#[test]
fn what_is_left_out_keeps_pointing_at_the_old_segment_which_stays() {
    let edited = TRIAL.replace("tag: x", "tag: y").replace("alert: A", "alert: C");
    let told = "± segments/a (git) NotInPlace StillUsed\n0 create segments/a POST /api/segments\n";
    assert_eq!(except(World::in_sync(TRIAL, Level::Documented), "experiments/e").told(&edited), told);
    assert_eq!(only(World::in_sync(TRIAL, Level::Documented), "segments/a").told(&edited), told);
    // Also if only the segment was edited.
    let edited = TRIAL.replace("tag: x", "tag: y");
    assert_eq!(except(World::in_sync(TRIAL, Level::Documented), "experiments/*").told(&edited), told);
}

#[test]
fn a_segment_stays_while_a_push_in_doubt_may_point_at_it() {
    let push = "scheduled_pushes: {p: {schedule: {scheduled_time: 2031-01-01T10:00}, push: {audience: {segment: a}, device_types: [ios], notification: {alert: A}}}}";
    let segment = "segments: {a: {criteria: {tag: x}}}\n";
    let yaml = format!("{segment}{push}");
    let mut world = in_doubt_in(World::in_sync(segment, Level::Documented), &yaml, "scheduled_pushes/p");
    let open = world.ledger.open.get_mut(&address("scheduled_pushes/p")).unwrap();
    open.intent.refs.insert("a".into(), "#a".into());
    let held = "± segments/a (git) NotInPlace StillUsed\n0 create segments/a POST /api/segments\n";
    let edited = yaml.replace("tag: x", "tag: y");
    assert_eq!(world.told(&edited), format!("! scheduled_pushes/p InDoubt\n{held}"));
    let world = except(world, "scheduled_pushes/p");
    assert_eq!(world.told(&edited), held);
    let gone = "segments: {b: {criteria: {tag: z}}}\n";
    assert_eq!(world.told(gone), "! segments/a StillUsed\n+ segments/b\n0 create segments/b POST /api/segments\n");
}

#[test]
fn what_is_declared_elsewhere_and_left_out_there_is_not_let_go_of() {
    let world = World::in_sync("tags: {old: {tag: vip}, other: {tag: x}}", Level::Documented);
    let renamed = "tags: {new: {tag: vip}, other: {tag: x}}";
    let told = "+ tags/new\n. tags/old HandedOver\n0 create tags/new PUT /api/tags/vip\n1 forget tags/old after 0\n";
    assert_eq!(world.told(renamed), told);
    assert_eq!(except(world, "tags/new").told(renamed), "");
}

#[test]
fn an_old_version_goes_with_its_address() {
    let yaml = "segments: {a: {criteria: {tag: x}}, b: {criteria: {tag: y}}}";
    let old = || {
        let mut world = World::in_sync(yaml, Level::Documented);
        world.retire("segments/a", "old");
        world
    };
    let deleted = "- segments/a Retired\n0 delete segments/a DELETE /api/segments/old\n";
    assert_eq!(old().told(yaml), deleted);
    assert_eq!(except(old(), "segments/b").told(yaml), deleted);
    assert_eq!(only(old(), "segments/a").told(yaml), deleted);
    assert_eq!(except(old(), "segments/a").told(yaml), "");
    assert_eq!(only(old(), "segments/b").told(yaml), "");
    assert_eq!(old().told(""), "", "a project that declares nothing deletes nothing");
    // Nothing else of it is left.
    let mut alone = old();
    alone.ledger.owned.remove(&address("segments/a"));
    let b = "segments: {b: {criteria: {tag: y}}}";
    assert_eq!(alone.told(b), deleted);
    assert_eq!(only(alone, "segments/b").told(b), "");
}
