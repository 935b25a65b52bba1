//! Undeclared resources of the service, if a target prunes them.

use std::collections::{BTreeMap, BTreeSet};

use pushplan::guard::{Guard, Limits, guards};
use pushplan::kinds::Found;
use pushplan::ledger::{Intent, Ledger, Record, Unconfirmed, Verb};
use pushplan::nouns::level::Level;
use pushplan::plan::{About, Action, Aim, Annotations, Choice, Plan, Position, Reason, RemoteThing, Step};
use pushplan::unmanaged::{others, tell, users};
use serde_json::{Value, json};

use super::world::{World, address, declared};

const OURS: &str = "segments: {a: {criteria: {tag: x}}}";

/// Creates a resource in the dashboard.
fn somebodys(world: &mut World, kind: &str, id: &str, name: &str, spec: Value) {
    let made = "2029-05-01T10:00:00Z".parse().ok();
    let found = Found { id: id.into(), name: name.into(), spec: Some(spec.into()), made, ..Found::default() };
    world.put(&address(&format!("{kind}/somebodys")), found);
}

pub fn segment(world: &mut World, id: &str, name: &str, criteria: &Value) {
    somebodys(world, "segments", id, name, json!({ "display_name": name, "criteria": criteria }));
}

pub fn push(world: &mut World, id: &str, name: &str, time: &str, audience: &Value) {
    let push = json!({ "audience": audience, "device_types": ["ios"], "notification": { "alert": "Hi" } });
    let spec = json!({ "name": name, "schedule": [{ "scheduled_time": time }], "push": push });
    somebodys(world, "scheduled_pushes", id, name, spec);
}

pub fn pipeline(world: &mut World, id: &str, name: &str, enabled: bool) {
    let outcome =
        json!([{ "push": { "audience": "triggered", "device_types": "all", "notification": { "alert": "Hi" } } }]);
    let spec = json!({ "name": name, "enabled": enabled, "immediate_trigger": [{ "tag_added": { "tag": "vip", "group": "loyalty" } }], "outcome": outcome });
    somebodys(world, "pipelines", id, name, spec);
}

pub fn pruning(yaml: &str, level: Level, kinds: &[&'static str]) -> World {
    let mut world = World::in_sync(yaml, level);
    world.prune = kinds.iter().copied().collect();
    world
}

#[test]
fn what_nobody_declares_is_taken_over_and_then_deleted() {
    let mut world = pruning(OURS, Level::Documented, &["segments"]);
    assert_eq!(world.told(OURS), "");
    segment(&mut world, "s1", "Old buyers", &json!({ "tag": "old" }));
    let told = "- segments/old-buyers Pruned\n0 adopt segments/old-buyers\n\
                1 delete segments/old-buyers DELETE /api/segments/s1 after 0\n";
    assert_eq!(world.told(OURS), told);
    let (changes, steps) = world.plan(OURS);
    let change = changes.iter().find(|change| change.action == Action::Delete).unwrap();
    assert_eq!((change.ledger.as_ref(), change.desired.as_ref(), change.protect), (None, None, false));
    assert_eq!(change.live.as_ref().unwrap()["criteria"], json!({ "tag": "old" }));
    assert_eq!((steps[0].id.as_deref(), steps[0].spec.as_ref()), (Some("s1"), change.live.as_ref()));
    world.prune.clear();
    assert_eq!(world.told(OURS), "", "nobody asks for it");
}

#[test]
fn only_kinds_that_are_asked_for_are_pruned_and_an_empty_project_prunes_nothing() {
    let mut world = pruning(OURS, Level::Documented, &["templates"]);
    segment(&mut world, "s1", "Old", &json!({ "tag": "old" }));
    assert_eq!(world.told(OURS), "");
    world.prune.insert("segments");
    assert!(world.told(OURS).contains("- segments/old Pruned"));
    assert_eq!(world.told(""), "", "a project that declares nothing deletes nothing");
}

#[test]
fn a_second_run_after_a_crash_goes_on_with_the_deletion() {
    let mut world = pruning(OURS, Level::Documented, &["segments"]);
    segment(&mut world, "s1", "Old", &json!({ "tag": "old" }));
    let (_, steps) = world.plan(OURS);
    // The first step was recorded, and then the run stopped.
    world.ledger = after(&world.ledger, &steps[0]);
    let found = world.live.listed["segments"]["s1"].clone();
    world.put(&address("segments/old"), found);
    let told = "- segments/old Pruned\n0 adopt segments/old\n\
                1 delete segments/old DELETE /api/segments/s1 after 0\n";
    assert_eq!(world.told(OURS), told);
    let mine = format!("{} old: {{display_name: Old, criteria: {{tag: mine}}}}}}", OURS.replace("}}}", "}},"));
    assert_eq!(world.told(&mine), "! segments/old Collision\n", "it is not ours to rewrite");
    world.prune.clear();
    assert_eq!(world.told(OURS), "", "nobody asks for it any more, and it never was ours");
}

/// A ledger that contains a recorded step.
fn after(ledger: &Ledger, step: &Step) -> Ledger {
    use pushplan::ledger::{Adopted, Entry};
    let adopted = Adopted {
        address: step.address.clone(),
        id: step.id.clone().expect("an id"),
        spec: step.spec.clone().expect("a spec"),
        refs: step.refs.clone(),
        stamp: step.stamp.clone(),
        push_ids: step.push_ids.clone(),
        protect: step.protect,
        past: step.past,
        zone: None,
        pruned: step.pruned,
    };
    let mut after = ledger.clone();
    let at = "2030-01-01T00:00:00Z".parse().expect("a time");
    after.add(&Entry { seq: ledger.seq + 1, at, actor: "ada".into(), record: Record::Adopt(vec![adopted]) });
    after
}

#[test]
fn what_is_ignored_is_never_pruned() {
    let mut world = pruning(OURS, Level::Documented, &["segments"]);
    segment(&mut world, "s1", "Test one", &json!({ "tag": "old" }));
    segment(&mut world, "s2", "Old / new", &json!({ "tag": "old" }));
    for (pattern, left) in [
        ("segments/Test *", &["segments/old-new"][..]),
        ("segments/Old / *", &["segments/test-one"]),
        ("*", &[]),
        ("segments/*", &[]),
        ("*/*one", &["segments/old-new"]),
        ("templates/*", &["segments/old-new", "segments/test-one"]),
        ("segments/test one", &["segments/old-new", "segments/test-one"]),
    ] {
        world.ignore = vec![pattern.to_owned()];
        let (changes, _) = world.plan(OURS);
        let deleted: Vec<String> =
            changes.iter().filter(|it| it.is_pruned()).map(|it| it.address.to_string()).collect();
        assert_eq!(deleted, left, "{pattern}");
    }
}

#[test]
fn a_segment_that_somebody_uses_stays_and_is_not_taken_over() {
    let declared = "segments: {a: {criteria: {tag: x}}}\nscheduled_pushes: {p: {schedule: {scheduled_time: 2031-01-01T10:00}, push: {audience: {segment: {id: s1}}, device_types: [ios], notification: {alert: A}}}}";
    let mut world = pruning(OURS, Level::Extended, &["segments"]);
    segment(&mut world, "s1", "Old", &json!({ "tag": "old" }));
    // Used by a resource that is yet to be created.
    let told = world.told(declared);
    assert!(told.contains("! segments/old Pruned StillUsed\n") && !told.contains(" segments/old\n"), "{told}");
    assert!(!told.contains("adopt") && !told.contains("DELETE"), "{told}");
    // Used by a managed resource that was applied.
    let mut world = pruning(declared, Level::Documented, &["segments"]);
    segment(&mut world, "s1", "Old", &json!({ "tag": "old" }));
    assert_eq!(world.told(declared), "! segments/old Pruned StillUsed\n");
    // Used by an unmanaged resource.
    let mut world = pruning(OURS, Level::Extended, &["segments"]);
    segment(&mut world, "s1", "Old", &json!({ "tag": "old" }));
    push(&mut world, "p1", "Theirs", "2031-01-01T1000", &json!({ "segment": "s1" }));
    assert_eq!(world.told(OURS), "! segments/old Pruned StillUsed\n");
    let (changes, _) = world.plan(OURS);
    let theirs = RemoteThing::Other { kind: "scheduled_pushes".into(), id: "p1".into(), name: "Theirs".into() };
    let held = changes.iter().find(|change| change.is_pruned()).unwrap();
    assert_eq!(held.reasons[1], Reason::StillUsed { id: "s1".into(), by: vec![theirs] });
    // If the user is deleted too, it is deleted first.
    world.prune.insert("scheduled_pushes");
    assert_eq!(
        world.told(OURS),
        "- scheduled_pushes/theirs Pruned\n- segments/old Pruned\n0 adopt scheduled_pushes/theirs\n\
         1 delete scheduled_pushes/theirs DELETE /api/schedules/p1 after 0\n2 adopt segments/old\n\
         3 delete segments/old DELETE /api/segments/s1 after 1,2\n"
    );
    world.choice.except.push("scheduled_pushes/*".into());
    let (changes, _) = world.plan(OURS);
    assert!(!changes.iter().any(|change| change.address == address("scheduled_pushes/theirs")), "it stays theirs");
    assert_eq!(world.told(OURS), "! segments/old Pruned StillUsed\n");
}

#[test]
fn where_it_is_not_known_who_points_at_segments_none_is_pruned() {
    let mut world = pruning(OURS, Level::Extended, &["segments"]);
    segment(&mut world, "s1", "Old", &json!({ "tag": "old" }));
    let strange = Found { id: "s2".into(), name: "Strange".into(), ..Found::default() };
    world.put(&address("segments/strange"), strange);
    assert_eq!(world.told(OURS), "! segments/old Pruned StillUsed\n");
    world.live.listed.get_mut("segments").unwrap().remove("s2");
    assert!(world.told(OURS).starts_with("- segments/old Pruned\n"));
    world.live.unlisted.insert("templates", "no".into());
    assert!(world.told(OURS).starts_with("- segments/old Pruned\n"), "templates point at nobody");
    world.live.unlisted.insert("scheduled_pushes", "no".into());
    assert_eq!(world.told(OURS), "");
}

#[test]
fn segments_that_name_each_other_go_one_after_the_other() {
    let mut world = pruning(OURS, Level::Documented, &["segments"]);
    segment(&mut world, "s1", "Base", &json!({ "tag": "old" }));
    segment(&mut world, "s2", "Above", &json!({ "AND": [{ "segment": "s1" }, { "segment": "#a" }] }));
    assert_eq!(
        world.told(OURS),
        "- segments/above Pruned\n- segments/base Pruned\n0 adopt segments/above\n\
         1 delete segments/above DELETE /api/segments/s2 after 0\n2 adopt segments/base\n\
         3 delete segments/base DELETE /api/segments/s1 after 1,2\n"
    );
    let (_, steps) = world.plan(OURS);
    assert_eq!(steps[0].refs, BTreeMap::from([("a".to_owned(), "#a".to_owned())]), "ours, by its key");
    world.ignore.push("segments/Above".into());
    assert_eq!(world.told(OURS), "! segments/base Pruned StillUsed\n");
}

#[test]
fn what_has_begun_to_message_people_is_never_pruned() {
    let mut world = pruning(OURS, Level::Extended, &["scheduled_pushes", "experiments"]);
    push(&mut world, "p1", "Gone out", "2029-12-31T2359", &json!({ "tag": "x" }));
    push(&mut world, "p2", "Ahead", "2030-01-01T0001", &json!({ "tag": "x" }));
    let variants = |time: Value| {
        let mut variant = json!({ "push": { "notification": { "alert": "A" } } });
        if time.is_string() {
            variant["schedule"] = json!({ "scheduled_time": time });
        }
        json!({ "name": "E", "audience": { "tag": "x" }, "device_types": "all", "variants": [variant.clone(), variant] })
    };
    somebodys(&mut world, "experiments", "e1", "At once", variants(Value::Null));
    somebodys(&mut world, "experiments", "e2", "Begun", variants("2029-12-31T2359".into()));
    somebodys(&mut world, "experiments", "e3", "Later", variants("2030-02-01T1000".into()));
    let (changes, _) = world.plan(OURS);
    let deleted: Vec<String> = changes.iter().filter(|it| it.is_pruned()).map(|it| it.address.to_string()).collect();
    assert_eq!(deleted, ["experiments/later", "scheduled_pushes/ahead"]);
}

#[test]
fn a_pipeline_that_the_api_cannot_remove_is_left_to_people_and_stays_theirs() {
    let mut world = pruning(OURS, Level::Documented, &["pipelines"]);
    pipeline(&mut world, "q1", "Theirs", true);
    pipeline(&mut world, "q2", "Off", false);
    assert_eq!(world.told(OURS), "! pipelines/theirs Pruned\n");
    let mut world = pruning(OURS, Level::Extended, &["pipelines"]);
    pipeline(&mut world, "q1", "Theirs", true);
    pipeline(&mut world, "q2", "Off", false);
    assert_eq!(
        world.told(OURS),
        "- pipelines/off Pruned\n- pipelines/theirs Pruned\n0 adopt pipelines/off\n\
         1 delete pipelines/off DELETE /api/pipelines/q2 after 0\n2 adopt pipelines/theirs\n\
         3 delete pipelines/theirs DELETE /api/pipelines/q1 after 2\n"
    );
}

#[test]
fn a_tag_that_would_set_off_a_pruned_pipeline_waits_until_that_is_gone() {
    let groups = "tag_groups: {loyalty: {members: {named_users: {u-1: [gold]}}}}";
    let mut world = pruning(groups, Level::Extended, &["pipelines"]);
    pipeline(&mut world, "q1", "Theirs", true);
    let given = groups.replace("[gold]", "[gold, vip]");
    assert_eq!(
        world.told(&given),
        "- pipelines/theirs Pruned\n~ tag_groups/loyalty/named_users/u-1 (git)\n0 adopt pipelines/theirs\n\
         1 delete pipelines/theirs DELETE /api/pipelines/q1 after 0\n\
         2 update tag_groups/loyalty/named_users/u-1 POST /api/named_users/tags after 1\n"
    );
}

#[test]
fn a_legacy_tag_that_is_pruned_sets_off_what_waits_for_its_removal() {
    let mut world = pruning("tags: {gold: {}}", Level::Documented, &["tags"]);
    somebodys(&mut world, "tags", "vip", "vip", json!({ "tag": "vip" }));
    let outcome =
        json!([{ "push": { "audience": "triggered", "device_types": "all", "notification": { "alert": "Hi" } } }]);
    let spec =
        json!({ "name": "Bye", "enabled": true, "immediate_trigger": [{ "tag_removed": "vip" }], "outcome": outcome });
    somebodys(&mut world, "pipelines", "q1", "Bye", spec);
    assert_eq!(world.told("tags: {gold: {}}"), "! tags/vip Pruned StillUsed\n", "what names it keeps it");
    // A managed resource may be deleted, and the messages that this causes are listed.
    let (mut ours, theirs) = (World::in_sync("tags: {gold: {}, vip: {}}", Level::Documented), world.live);
    somebodys(
        &mut ours,
        "pipelines",
        "q1",
        "Bye",
        theirs.listed["pipelines"]["q1"].spec.clone().expect("a spec").into_value(),
    );
    let told = ours.told("tags: {gold: {}}");
    assert!(told.starts_with("- tags/vip sends unmanaged pipeline \"Bye\" (q1) to every device"), "{told}");
}

#[test]
fn a_legacy_tag_that_somebody_names_is_not_pruned() {
    let mine = "segments: {a: {criteria: {and: [{tag: mine}, {tag: crm-only, group: crm}]}}}\ntag_groups: {crm: {}}";
    let mut world = pruning(mine, Level::Extended, &["tags"]);
    for tag in ["mine", "theirs", "pushed", "went", "crm-only", "idle"] {
        somebodys(&mut world, "tags", tag, tag, json!({ "tag": tag }));
    }
    segment(&mut world, "s1", "Theirs", &json!({ "or": [{ "tag": ["theirs", "other"] }] }));
    push(&mut world, "p1", "Soon", "2031-01-01T0000", &json!({ "tag": "pushed", "group": "device" }));
    push(&mut world, "p2", "Went", "2029-01-01T0000", &json!({ "tag": "went" }));
    let told = world.told(mine);
    let lines: Vec<&str> = told.lines().filter(|line| line.contains(" Pruned")).collect();
    assert_eq!(
        lines,
        [
            "- tags/crm-only Pruned",
            "- tags/idle Pruned",
            "! tags/mine Pruned StillUsed",
            "! tags/pushed Pruned StillUsed",
            "! tags/theirs Pruned StillUsed",
            "- tags/went Pruned",
        ]
    );
    let (changes, _) = world.plan(mine);
    let by = changes.iter().find(|change| change.address.key == "mine").map(|change| change.reasons.clone());
    let held = Reason::StillUsed { id: "mine".into(), by: vec![RemoteThing::from(address("segments/a"))] };
    assert!(by.expect("it is told").contains(&held));
}

#[test]
fn what_has_a_declared_name_or_may_be_ours_is_not_pruned() {
    let two = "segments: {a: {criteria: {tag: x}}, b: {display_name: Taken, criteria: {tag: y}}}";
    let mut world = pruning(OURS, Level::Documented, &["segments"]);
    segment(&mut world, "s1", "Taken", &json!({ "tag": "y" }));
    assert_eq!(world.told(two), "! segments/b Collision\n");
    assert!(world.told(OURS).contains("- segments/taken Pruned"));
    // An earlier run was about to create it, and it may be one of these.
    let intent = Intent {
        address: address("segments/b"),
        verb: Verb::Create,
        id: None,
        spec: Some(declared(two)[&address("segments/b")].spec.clone()),
        refs: BTreeMap::new(),
        seen: BTreeSet::new(),
        deadline: world.now,
        protect: false,
        zone: None,
    };
    world.ledger.open.insert(address("segments/b"), Unconfirmed::new(intent, world.now));
    assert_eq!(world.told(two), "0 adopt segments/b\n", "it is ours");
    segment(&mut world, "s2", "Taken", &json!({ "tag": "y" }));
    assert_eq!(world.told(two), "! segments/b InDoubt\n");
    // An old version of a managed resource is not unmanaged either.
    let mut world = pruning(OURS, Level::Documented, &["segments"]);
    segment(&mut world, "s1", "a", &json!({ "tag": "y" }));
    world.retire("segments/a", "s1");
    assert_eq!(world.told(OURS), "- segments/a Retired\n0 delete segments/a DELETE /api/segments/s1\n");
}

#[test]
fn a_twin_of_ours_is_not_ours() {
    let mut world = pruning(OURS, Level::Documented, &["segments"]);
    segment(&mut world, "s1", "a", &json!({ "tag": "x" }));
    segment(&mut world, "s2", "a", &json!({ "tag": "x" }));
    let (changes, _) = world.plan(OURS);
    let deleted: Vec<(String, Option<&str>)> =
        changes.iter().filter(|it| it.is_pruned()).map(|it| (it.address.to_string(), it.id.as_deref())).collect();
    let ids: Vec<Option<&str>> = deleted.iter().map(|(_, id)| *id).collect();
    assert_eq!(ids.iter().flatten().copied().collect::<BTreeSet<_>>(), BTreeSet::from(["s1", "s2"]));
    assert!(deleted.iter().all(|(address, _)| address.starts_with("segments/a-")), "{deleted:?}");
}

#[test]
fn what_is_left_out_is_not_pruned() {
    let mut world = pruning(OURS, Level::Documented, &["segments"]);
    segment(&mut world, "s1", "One", &json!({ "tag": "x" }));
    segment(&mut world, "s2", "Two", &json!({ "tag": "x" }));
    world.choice.except.push("segments/one".into());
    let told = "- segments/two Pruned\n0 adopt segments/two\n1 delete segments/two DELETE /api/segments/s2 after 0\n";
    assert_eq!(world.told(OURS), told);
    world.choice = Choice { only: vec!["segments/two".into()], except: Vec::new() };
    assert_eq!(world.told(OURS), told);
    let (changes, _) = world.plan(OURS);
    assert!(changes.iter().all(|change| change.address != address("segments/one")), "it is no part of the plan");
}

fn planned(world: &World, yaml: &str) -> Plan {
    let (changes, steps) = world.plan(yaml);
    let about = About {
        target: "production".into(),
        origin: "https://messaging.example".into(),
        app: String::new(),
        level: world.level,
        manifests: pushplan::digest::Digest::of(yaml.as_bytes()),
        ledger: Position { lineage: "l".into(), seq: 0 },
        aim: Aim::Manifests,
        choice: Choice::default(),
        min_lead_seconds: 300,
    };
    Plan::new(about, changes, steps, Vec::new(), world.now)
}

#[test]
fn the_guards_count_what_is_pruned_like_any_deletion() {
    let mut world = pruning(OURS, Level::Documented, &["segments"]);
    for number in 0..5 {
        segment(&mut world, &format!("s{number}"), &format!("Old {number}"), &json!({ "tag": "x" }));
    }
    assert!(guards(&planned(&world, OURS), &Limits::default()).is_empty());
    segment(&mut world, "s5", "Old 5", &json!({ "tag": "x" }));
    let refused = guards(&planned(&world, OURS), &Limits::default());
    assert_eq!(refused[0].guard, Guard::Deletes);
    assert!(refused[0].message.starts_with("6 deletions (6 of 7 in segments (85 %))"), "{}", refused[0].message);
    // A tag is removed from every device.
    let mut world = pruning("tags: {gold: {}}", Level::Documented, &["tags"]);
    somebodys(&mut world, "tags", "vip", "vip", json!({ "tag": "vip" }));
    let refused = guards(&planned(&world, "tags: {gold: {}}"), &Limits::default());
    assert!(refused[0].message.contains("tags/vip would be deleted and removed from every device"));
}

#[test]
fn a_saved_plan_deletes_what_it_showed_and_nothing_else() {
    let mut world = pruning(OURS, Level::Documented, &["segments"]);
    segment(&mut world, "s1", "One", &json!({ "tag": "x" }));
    let saved = planned(&world, OURS);
    assert!(saved.moved(&planned(&world, OURS)).is_empty());
    segment(&mut world, "s2", "Two", &json!({ "tag": "x" }));
    assert_eq!(saved.moved(&planned(&world, OURS)), ["segments/two is planned differently now"]);
    world.live.listed.get_mut("segments").unwrap().retain(|id, _| id == "#a");
    assert_eq!(saved.moved(&planned(&world, OURS)), ["segments/one no longer exists, so it cannot be deleted"]);
}

#[test]
fn what_is_not_in_git_is_counted_without_what_the_plan_tells_or_somebody_ignores() {
    let two = "segments: {a: {criteria: {tag: x}}, b: {display_name: Taken, criteria: {tag: y}}}";
    let mut world = pruning(OURS, Level::Extended, &["pipelines"]);
    segment(&mut world, "s1", "Taken", &json!({ "tag": "y" }));
    segment(&mut world, "s2", "Test", &json!({ "tag": "y" }));
    segment(&mut world, "s3", "Old", &json!({ "tag": "y" }));
    pipeline(&mut world, "q1", "Theirs", true);
    let counted = |world: &World, ignore: &[&str]| -> BTreeMap<String, usize> {
        let ignore: Vec<String> = ignore.iter().map(|it| (*it).to_owned()).collect();
        let (changes, _) = world.plan(two);
        let mut told = Annotations::default();
        let all = others(&world.live, &world.ledger, &declared(two));
        tell(&mut told, &world.live, &all, &changes, &ignore);
        told.unmanaged.into_iter().map(|(kind, counted)| (kind, counted.number)).collect()
    };
    assert_eq!(counted(&world, &[]), BTreeMap::from([("segments".into(), 2)]));
    assert_eq!(counted(&world, &["segments/T*"]), BTreeMap::from([("segments".into(), 1)]));
    assert_eq!(counted(&world, &["*"]), BTreeMap::new());
    world.prune.clear();
    assert_eq!(counted(&world, &[]), BTreeMap::from([("pipelines".into(), 1), ("segments".into(), 2)]));
}

#[test]
fn who_uses_a_segment_is_told_whoever_it_is() {
    let yaml = "segments: {a: {criteria: {segment: {id: s1}}}}";
    let mut world = World::in_sync(yaml, Level::Extended);
    segment(&mut world, "s1", "Base", &json!({ "tag": "x" }));
    segment(&mut world, "s2", "Above", &json!({ "segment": "s1" }));
    push(&mut world, "p1", "Over", "2029-12-31T1000", &json!({ "segment": "s1" }));
    push(&mut world, "p2", "Ahead", "2030-12-31T1000", &json!({ "segment": "s1" }));
    let users = users(&world.live, &world.ledger, &declared(yaml), world.now);
    let told: Vec<String> = users["s1"].iter().map(ToString::to_string).collect();
    assert_eq!(told, ["segments/a", "unmanaged scheduled push \"Ahead\" (p2)", "unmanaged segment \"Above\" (s2)"]);
}
