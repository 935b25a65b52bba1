use std::collections::BTreeSet;

use pushplan::kinds::{self, Found};
use pushplan::ledger::{Gap, Intent, Unconfirmed, Verb};
use pushplan::live::LiveState;
use pushplan::nouns::level::Level;

use super::world::{World, address, declared};

const ONE: &str = "segments: {a: {criteria: {tag: x}}}";

/// An earlier run recorded the intent to create this, and then stopped.
fn in_doubt(yaml: &str, name: &str, level: Level) -> World {
    in_doubt_in(World::in_sync("", level), yaml, name)
}

pub fn in_doubt_in(mut world: World, yaml: &str, name: &str) -> World {
    let level = world.level;
    let spec = declared(yaml)[&address(name)].spec.clone();
    let intent = Intent {
        address: address(name),
        verb: Verb::Create,
        id: None,
        spec: Some(spec),
        refs: Default::default(),
        seen: BTreeSet::from(["before".to_owned()]),
        deadline: world.now,
        protect: false,
        zone: None,
    };
    let open = Unconfirmed::new(intent, world.now);
    world.ledger.open.insert(address(name), open);
    if let Some(kind) = kinds::kind(&address(name).kind).filter(|kind| !kind.api.list(level).is_empty()) {
        world.live.whole.insert(kind.key);
        world.live.disproved.insert(address(name));
    }
    world
}

fn there(id: &str, tag: &str) -> Found {
    let spec = serde_json::json!({ "display_name": "a", "criteria": { "tag": tag } });
    Found { id: id.into(), name: "a".into(), stamp: Some("7".into()), spec: Some(spec.into()), ..Found::default() }
}

#[test]
fn what_was_made_before_its_answer_was_lost_is_taken_up() {
    let mut world = in_doubt(ONE, "segments/a", Level::Documented);
    world.put(&address("segments/a"), there("new", "x"));
    assert_eq!(world.told(ONE), "0 adopt segments/a\n");
    let (changes, steps) = world.plan(ONE);
    assert_eq!(steps[0].id.as_deref(), Some("new"));
    assert_eq!(changes.len(), 1);
}

#[test]
fn what_was_never_made_is_made_now() {
    let world = in_doubt(ONE, "segments/a", Level::Documented);
    assert_eq!(world.told(ONE), "+ segments/a\n0 create segments/a POST /api/segments\n");
    assert_eq!(world.told(""), "0 forget segments/a\n", "nobody wants it any more");
}

#[test]
fn what_was_there_before_is_not_ours_and_what_says_something_else_by_now_may_be() {
    let mut world = in_doubt(ONE, "segments/a", Level::Documented);
    world.put(&address("segments/a"), there("before", "x"));
    assert_eq!(world.told(ONE), "! segments/a Collision\n");
    world.put(&address("segments/a"), there("edited", "y"));
    assert_eq!(world.told(ONE), "! segments/a InDoubt\n", "somebody may have edited it since");
}

#[test]
fn two_that_may_be_ours_are_left_to_a_person() {
    let mut world = in_doubt(ONE, "segments/a", Level::Documented);
    world.put(&address("segments/a"), there("one", "x"));
    world.put(&address("segments/a"), there("two", "x"));
    assert_eq!(world.told(ONE), "! segments/a InDoubt\n");
    let mut world = in_doubt(ONE, "segments/a", Level::Documented);
    world.put(&address("segments/a"), there("edited", "y"));
    world.put(&address("segments/a"), there("copy", "x"));
    assert_eq!(world.told(ONE), "! segments/a InDoubt\n", "one may be a copy of ours, which was edited since");
}

#[test]
fn lists_that_do_not_disprove_it_prove_nothing() {
    let mut world = in_doubt(ONE, "segments/a", Level::Documented);
    world.live.disproved.clear();
    assert_eq!(world.told(ONE), "! segments/a InDoubt\n");
}

const TAG: &str = "tags: {vip: {}}";

fn tag() -> Found {
    let spec = serde_json::json!({ "tag": "vip" });
    Found { id: "vip".into(), name: "vip".into(), spec: Some(spec.into()), ..Found::default() }
}

#[test]
fn a_tag_that_was_made_before_its_answer_was_lost_is_taken_up() {
    let mut world = in_doubt(TAG, "tags/vip", Level::Documented);
    world.put(&address("tags/vip"), tag());
    assert_eq!(world.told(TAG), "0 adopt tags/vip\n");
    let gone = world.told(ONE);
    assert!(gone.contains("adopt tags/vip\n") && gone.contains("delete tags/vip DELETE /api/tags/vip"), "{gone}");
}

#[test]
fn a_tag_that_was_there_before_is_not_ours() {
    let mut world = in_doubt(TAG, "tags/vip", Level::Documented);
    let open = world.ledger.open.get_mut(&address("tags/vip")).expect("it is in doubt");
    open.intent.seen.insert("vip".to_owned());
    world.put(&address("tags/vip"), tag());
    assert_eq!(world.told(TAG), "! tags/vip Collision\n");
    assert!(!world.told(ONE).contains("DELETE"), "{}", world.told(ONE));
}

#[test]
fn a_tag_that_no_list_shows_is_made_again_or_left_to_a_person() {
    let mut world = in_doubt(TAG, "tags/vip", Level::Documented);
    assert_eq!(world.told(TAG), "+ tags/vip\n0 create tags/vip PUT /api/tags/vip\n");
    assert!(world.told(ONE).contains("forget tags/vip\n"), "two lists do not show it");
    world.live.disproved.clear();
    assert_eq!(world.told(TAG), "+ tags/vip\n0 create tags/vip PUT /api/tags/vip\n");
    assert!(world.told(ONE).contains("! tags/vip InDoubt\n"), "{}", world.told(ONE));
}

#[test]
fn what_cannot_be_listed_is_left_to_a_person() {
    let yaml = "scheduled_pushes: {p: {schedule: {scheduled_time: 2031-01-01T10:00}, push: {audience: {tag: x}, device_types: [ios], notification: {alert: A}}}}";
    let world = in_doubt(yaml, "scheduled_pushes/p", Level::Documented);
    assert_eq!(world.told(yaml), "! scheduled_pushes/p InDoubt\n");
    let renamed = yaml.replace("{p: {", "{q: {");
    let waits = "! scheduled_pushes/p InDoubt\n! scheduled_pushes/q LooksRenamed\n";
    assert_eq!(world.told(&renamed), waits, "it may be there, and two would message people twice");
    let mut world = in_doubt(yaml, "scheduled_pushes/p", Level::Extended);
    assert_eq!(world.told(yaml), "+ scheduled_pushes/p\n0 create scheduled_pushes/p POST /api/schedules\n");
    // A list does not contain sent pushes.
    world.now = "2031-01-01T10:00:00Z".parse().unwrap();
    let later = yaml.replace("2031", "2032");
    assert_eq!(world.told(&later), "! scheduled_pushes/p InDoubt\n");
}

#[test]
fn what_may_be_there_counts_before_what_is_deleted() {
    let with = |key: &str| {
        format!(
            "experiments: {{{key}: {{audience: {{tag: x}}, device_types: [ios], variants: [\
             {{push: {{notification: {{alert: A}}}}, schedule: {{scheduled_time: 2031-01-01T10:00}}}}, \
             {{push: {{notification: {{alert: B}}}}, schedule: {{scheduled_time: 2031-01-01T10:00}}}}]}}}}"
        )
    };
    let world = World::in_sync(&with("one"), Level::Documented);
    let world = in_doubt_in(world, &with("two"), "experiments/two");
    let told = world.told(&with("three"));
    assert!(told.contains("! experiments/three LooksRenamed\n"), "{told}");
}

#[test]
fn what_names_a_segment_that_was_found_again_points_at_the_new_one() {
    let before = "segments: {a: {criteria: {tag: x}}, b: {criteria: {not: {segment: a}}}}";
    let after =
        "segments: {a: {criteria: {tag: y}}, b: {criteria: {not: {segment: a}}}, c: {criteria: {not: {segment: a}}}}";
    let mut world = in_doubt_in(World::in_sync(before, Level::Documented), after, "segments/a");
    let found = there("new", "y");
    world.live.listed.get_mut("segments").unwrap().insert("new".into(), found);
    let told = "- segments/a Retired\n± segments/b Repoint NotInPlace\n+ segments/c\n0 adopt segments/a\n\
                1 create segments/b POST /api/segments after 0\n2 delete segments/b DELETE /api/segments/%23b after 1\n\
                3 create segments/c POST /api/segments after 0\n4 delete segments/a DELETE /api/segments/%23a after 0,2\n";
    assert_eq!(world.told(after), told);
    let (_, steps) = world.plan(after);
    assert!([1, 3].iter().all(|at| steps[*at].refs["a"] == "new"), "{steps:#?}");
}

/// A ledger from a backup has an id that was replaced since, by an unknown one.
#[test]
fn nothing_new_names_a_segment_that_is_gone() {
    let after = "segments: {a: {criteria: {tag: x}}, b: {criteria: {and: [{tag: b}, {segment: a}]}}}";
    let mut world = in_doubt_in(World::in_sync(ONE, Level::Documented), after, "segments/a");
    world.live.disproved.clear();
    assert_eq!(world.told(after), "! segments/a InDoubt\n+ segments/b\n0 create segments/b POST /api/segments\n");
    world.remove("segments/a");
    assert_eq!(world.told(after), "! segments/a InDoubt\n! segments/b Blocked\n");
}

/// A ledger from a backup: it has the new version of a segment, but not the later update of a push that refers to it.
#[test]
fn the_ledger_learns_that_a_message_names_the_new_version_of_a_segment() {
    let push = "segments: {a: {criteria: {tag: x}}}\nscheduled_pushes: {p: {schedule: {scheduled_time: 2030-02-01T10:00}, \
                push: {audience: {segment: a}, device_types: [ios], notification: {alert: Hi}}}}";
    let mut world = World::in_sync(push, Level::Extended);
    world.retire("segments/a", "#a");
    world.ledger.owned.get_mut(&address("segments/a")).unwrap().id = "new".to_owned();
    let LiveState::There(mut segment) = world.live.units[&address("segments/a")].clone() else { panic!("it is there") };
    segment.id = "new".to_owned();
    world.put(&address("segments/a"), segment);
    world.edit("scheduled_pushes/p", |push| push["push"]["audience"]["segment"] = "new".into());
    assert_eq!(world.told(push), "! segments/a Retired StillUsed\n0 adopt scheduled_pushes/p\n");
    let (_, steps) = world.plan(push);
    assert_eq!(steps[0].refs["a"], "new");
    world.ledger.owned.get_mut(&address("scheduled_pushes/p")).unwrap().refs.insert("a".into(), "new".into());
    assert_eq!(world.told(push), "- segments/a Retired\n0 delete segments/a DELETE /api/segments/%23a\n");
}

/// The object has the name of the new declaration, and another declaration may have created it.
#[test]
fn what_another_address_may_have_made_is_not_called_foreign() {
    let after = "segments: {b: {display_name: a, criteria: {tag: y}}}";
    let mut world = in_doubt(ONE, "segments/a", Level::Extended);
    let list = |world: &mut World, all: &[Found]| {
        let listed = world.live.listed.entry("segments").or_default();
        listed.clear();
        listed.extend(all.iter().map(|found| (found.id.clone(), found.clone())));
    };
    // It was found again, and is deleted because it is no longer declared.
    list(&mut world, &[there("new", "x")]);
    let told = world.told(after);
    assert!(told.starts_with("- segments/a Recovered\n+ segments/b\n"), "{told}");
    // It was edited since, so it may be either one: the plan asks once, and the other declaration waits.
    list(&mut world, &[there("new", "z")]);
    assert_eq!(world.told(after), "! segments/a InDoubt\n! segments/b Blocked\n");
    // Objects that existed before are unmanaged.
    list(&mut world, &[there("before", "x")]);
    assert!(world.told(after).contains("! segments/b Collision\n"), "{}", world.told(after));
}

const TRIAL: &str = "experiments: {e: {audience: {tag: x}, device_types: all, variants: [\
                     {push: {notification: {alert: A}}, schedule: {scheduled_time: 2031-01-01T10:00}}, \
                     {push: {notification: {alert: B}}, schedule: {scheduled_time: 2031-01-01T10:00}}]}}";

#[test]
fn what_an_earlier_run_was_deleting_to_replace_it_is_made_anew() {
    let after = TRIAL.replace("alert: A", "alert: C");
    let deleting_on = |level: Level, time: &str| {
        let mut world = in_doubt_in(World::in_sync(TRIAL, level), TRIAL, "experiments/e");
        let open = world.ledger.open.get_mut(&address("experiments/e")).unwrap();
        (open.intent.verb, open.intent.id) = (Verb::Delete, Some("#e".to_owned()));
        world.now = time.parse().unwrap();
        world
    };
    let deleting = |time: &str| deleting_on(Level::Extended, time);
    // A service that cannot be asked leaves it open whether the old one is there: it is deleted once more. Files that have the
    // old one are no proof that it is there.
    let world = deleting_on(Level::Documented, "2030-06-01T00:00:00Z");
    assert!(world.told(&after).contains("delete experiments/e"), "{}", world.told(&after));
    // Until the new intent is written, the old one stays open: a run may stop between the two.
    assert!(!world.told(&after).contains("adopt"), "{}", world.told(&after));
    assert_eq!(world.told(TRIAL), "! experiments/e DeletedOrSent\n");
    let mut world = deleting("2030-06-01T00:00:00Z");
    assert!(world.told(&after).contains("delete experiments/e"), "it is still there: {}", world.told(&after));
    world.remove("experiments/e");
    let made = "+ experiments/e\n0 forget experiments/e\n1 create experiments/e POST /api/experiments after 0\n";
    assert_eq!(world.told(&after), made);
    assert_eq!(world.told("segments: {s: {criteria: {tag: x}}}").matches("forget experiments/e").count(), 1);

    let mut world = deleting("2031-01-02T00:00:00Z");
    world.remove("experiments/e");
    // It is neither treated as sent nor created again before a person has checked. This also applies if these files are
    // older and still have the past time, because newer ones may have a later time.
    let later = after.replace("2031-01-01", "2031-01-09");
    for files in [TRIAL, &after.replace("10:00", "23:59"), &later] {
        assert_eq!(world.told(files), "! experiments/e DeletedOrSent\n");
    }
    world.ledger.open.clear();
    assert!(!world.told(&later).contains("create"), "it was sent");
    world.ledger.owned.clear();
    assert_eq!(world.told(&later), "+ experiments/e\n0 create experiments/e POST /api/experiments\n", "it was deleted");
}

/// It waits for a person, and no list shows whether it was deleted: if it was treated as sent, its new time would
/// silently be missed.
#[test]
fn a_lost_deletion_stays_open_while_its_change_is_blocked() {
    let mut world = in_doubt_in(World::in_sync(TRIAL, Level::Documented), TRIAL, "experiments/e");
    let open = world.ledger.open.get_mut(&address("experiments/e")).unwrap();
    (open.intent.verb, open.intent.id) = (Verb::Delete, Some("#e".to_owned()));
    world.put(&address("segments/theirs"), Found { id: "one".into(), name: "c".into(), ..Found::default() });
    let after = ["segments: {c: {criteria: {tag: y}}}\n", &TRIAL.replace("{tag: x}", "{segment: c}")].concat();
    let told = world.told(&after);
    assert!(told.contains("! segments/c Collision\n") && told.contains("! experiments/e"), "{told}");
    assert!(!told.contains("adopt"), "{told}");
}

const PUSH: &str = "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: Sale}}
";

fn listed(push_ids: &[&str]) -> Found {
    let spec = declared(PUSH)[&address("scheduled_pushes/sale")].spec.clone();
    let push_ids = push_ids.iter().map(|id| (*id).to_owned()).collect();
    Found { id: "new".into(), name: "sale".into(), spec: Some(spec), push_ids, ..Found::default() }
}

#[test]
fn what_is_taken_up_brings_the_pushes_that_its_listing_tells() {
    let mut world = in_doubt(PUSH, "scheduled_pushes/sale", Level::Extended);
    world.put(&address("scheduled_pushes/sale"), listed(&["p1"]));
    let (_, steps) = world.plan(PUSH);
    assert_eq!((steps[0].verb, &*steps[0].push_ids), (Verb::Adopt, &["p1".to_owned()][..]));
}

#[test]
fn the_ledger_learns_of_pushes_where_it_is_written_to_anyway() {
    let mut world = World::in_sync(PUSH, Level::Extended);
    let sale = address("scheduled_pushes/sale");
    let known = world.live.units.get(&sale).cloned();
    let Some(pushplan::live::LiveState::There(known)) = known else { panic!("it is there") };
    world.put(&sale, Found { push_ids: vec!["p1".into()], ..known });
    assert_eq!(world.told(PUSH), "", "nothing is written for that alone");
    let (_, steps) = world.plan(&format!("{PUSH}{ONE}"));
    let learnt = steps.iter().find(|step| step.address == sale).expect("a step");
    assert_eq!((learnt.verb, &*learnt.push_ids), (Verb::Adopt, &["p1".to_owned()][..]));
}

/// A push was renamed, and its segment was removed from the ledger: the intent still has the segment's id.
#[test]
fn a_renamed_push_is_known_again_without_its_segment() {
    let yaml = "segments: {b: {criteria: {tag: x}}}\nscheduled_pushes: {p: {schedule: {scheduled_time: 2030-01-01T10:00}, \
                push: {audience: {segment: b}, device_types: [ios], notification: {alert: Hi}}}}";
    let mut world = in_doubt(yaml, "scheduled_pushes/p", Level::Extended);
    let open = world.ledger.open.get_mut(&address("scheduled_pushes/p")).expect("it is unconfirmed");
    open.intent.refs.insert("b".to_owned(), "id-b".to_owned());
    let spec = serde_json::json!({
        "name": "theirs",
        "schedule": [{ "scheduled_time": "2030-01-01T1000" }],
        "push": { "audience": { "segment": "id-b" }, "device_types": ["ios"], "notification": { "alert": "Hi" } },
    });
    let renamed = Found { id: "new".into(), name: "theirs".into(), spec: Some(spec.into()), ..Found::default() };
    world.live.listed.entry("scheduled_pushes").or_default().insert("new".to_owned(), renamed);
    assert_eq!(world.told(""), "! scheduled_pushes/p InDoubt\n");
}

/// A ledger from a backup: a resource created in the gap may refer to any segment that existed, even one that is left
/// out of a plan.
#[test]
fn no_segment_is_deleted_that_something_from_a_gap_may_point_at() {
    let segments = "segments: {b: {criteria: {tag: x}}}\n";
    let after = "scheduled_pushes: {p: {schedule: {scheduled_time: 2030-02-01T10:00}, \
                 push: {audience: {tag: x}, device_types: [ios], notification: {alert: Hi}}}}";
    // A complete list without the push is no proof: one list may be wrong, and the resource created in the gap may have
    // had other content.
    for level in [Level::Documented, Level::Extended] {
        let mut world = World::in_sync(segments, level);
        world.ledger.gap = Some(Gap::new(None, world.now, 9));
        assert_eq!(world.told(after), "! scheduled_pushes/p UnknownSinceGap\n! segments/b StillUsed\n");
        world.choice.except = vec!["scheduled_pushes/p".to_owned()];
        assert_eq!(world.told(after), "! segments/b StillUsed\n");
        world.ledger.gap.as_mut().unwrap().resolved.insert(address("scheduled_pushes/p"));
        assert_eq!(world.told(after), "- segments/b\n0 delete segments/b DELETE /api/segments/%23b\n");
    }
}

/// A ledger from a backup: a resource possibly created before the gap may have been replaced in it, and may refer to
/// any segment.
#[test]
fn no_segment_is_deleted_that_a_creation_in_doubt_may_name_since_a_gap() {
    let segments = "segments: {b: {criteria: {tag: x}}}\n";
    let mut world = in_doubt_in(World::in_sync(segments, Level::Documented), TRIAL, "experiments/e");
    let deletes = "delete segments/b";
    assert!(world.told(TRIAL).contains(deletes), "{}", world.told(TRIAL));
    world.ledger.gap = Some(Gap::new(None, world.now, 9));
    for except in [Vec::new(), vec!["experiments/e".to_owned()]] {
        world.choice.except = except;
        let told = world.told(TRIAL);
        assert!(told.contains("! segments/b StillUsed\n") && !told.contains(deletes), "{told}");
    }
}

/// A ledger from a backup: it is created again because of a change elsewhere, and in the gap, another one may have
/// replaced it.
#[test]
fn nothing_is_renewed_that_may_have_been_replaced_in_a_gap() {
    let before = ["segments: {b: {criteria: {tag: x}}}\n", &TRIAL.replace("{tag: x}", "{segment: b}")].concat();
    let after = before.replace("{tag: x}", "{tag: y}");
    let mut world = World::in_sync(&before, Level::Documented);
    assert!(world.told(&after).contains("create experiments/e"), "{}", world.told(&after));
    world.ledger.gap = Some(Gap::new(None, world.now, 9));
    let told = world.told(&after);
    assert!(told.contains("! experiments/e Repoint NotInPlace UnknownSinceGap\n"), "{told}");
    assert!(!told.contains("experiments/e DELETE") && !told.contains("delete segments/b"), "{told}");
}

/// A ledger from a backup: in the gap, another one may have replaced the known one, and may have been sent.
#[test]
fn what_may_have_been_replaced_in_a_gap_is_left_to_a_person() {
    let after = TRIAL.replace("alert: A", "alert: C");
    let mut world = World::in_sync(TRIAL, Level::Documented);
    world.ledger.gap = Some(Gap::new(None, world.now, 9));
    assert_eq!(world.told(&after), "! experiments/e (git) NotInPlace UnknownSinceGap\n");
    world.ledger.gap.as_mut().unwrap().resolved.insert(address("experiments/e"));
    assert!(world.told(&after).contains("create experiments/e"), "{}", world.told(&after));
}
