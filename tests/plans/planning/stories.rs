use pushplan::kinds::Found;
use pushplan::nouns::level::Level;
use serde_json::json;

use super::world::{World, address};

const SHOP: &str = r#"
segments:
  lapsed: {criteria: {tag: lapsed, group: lifecycle}}
  east: {criteria: {and: [{segment: lapsed}, {timezone: America/New_York}]}}
templates:
  winback: {variables: [{key: NAME, default_value: you}], push: {notification: {alert: "Hi {{NAME}}"}}}
pipelines:
  remind: {enabled: true, immediate_trigger: {tag_added: {tag: vip, group: loyalty}}, outcome: {push: {device_types: [ios], notification: {alert: Hello}}}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2031-01-01T10:00}
    push: {audience: {segment: lapsed}, device_types: [ios], notification: {alert: Sale}}
experiments:
  texts:
    audience: {segment: east}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: A}}, schedule: {scheduled_time: 2031-02-01T10:00}}
      - {push: {notification: {alert: B}}, schedule: {scheduled_time: 2031-02-01T10:00}}
tag_groups:
  loyalty: {tags: [gold, vip], members: {named_users: {u-1: [gold], u-2: [gold]}}}
"#;

fn told(level: Level, from: &str, to: &str) -> String {
    assert!(from.is_empty() || SHOP.contains(from), "{from}");
    World::in_sync(SHOP, level).told(&SHOP.replacen(from, to, 1))
}

#[test]
fn a_project_in_sync_has_no_changes() {
    for level in [Level::Documented, Level::Extended] {
        assert_eq!(told(level, "", ""), "");
    }
}

#[test]
fn a_first_plan_creates_segments_before_those_who_name_them() {
    let world = World::in_sync("", Level::Documented);
    assert_eq!(
        world.told(SHOP),
        "\
+ experiments/texts
+ pipelines/remind
+ scheduled_pushes/sale
+ segments/east
+ segments/lapsed
+ tag_groups/loyalty/named_users/u-1
+ tag_groups/loyalty/named_users/u-2
+ templates/winback
0 create pipelines/remind POST /api/pipelines
1 create segments/lapsed POST /api/segments
2 create scheduled_pushes/sale POST /api/schedules after 1
3 create segments/east POST /api/segments after 1
4 create experiments/texts POST /api/experiments after 3
5 create tag_groups/loyalty/named_users/u-1 POST /api/named_users/tags
6 create tag_groups/loyalty/named_users/u-2 POST /api/named_users/tags
7 create templates/winback POST /api/templates
"
    );
}

#[test]
fn with_the_extended_api_a_changed_segment_is_updated() {
    assert_eq!(
        told(Level::Extended, "tag: lapsed", "tag: gone"),
        "~ segments/lapsed (git)\n0 update segments/lapsed PUT /api/segments/%23lapsed\n"
    );
}

#[test]
fn a_replaced_segment_takes_its_users_along_and_waits_for_the_last() {
    assert_eq!(
        told(Level::Documented, "tag: lapsed", "tag: gone"),
        "\
± experiments/texts Repoint NotInPlace
! scheduled_pushes/sale Repoint InDashboard
± segments/east Repoint NotInPlace
± segments/lapsed (git) NotInPlace StillUsed
0 create segments/lapsed POST /api/segments
1 create segments/east POST /api/segments after 0
2 delete experiments/texts DELETE /api/experiments/scheduled/%23texts after 1
3 create experiments/texts POST /api/experiments after 1,2
4 delete segments/east DELETE /api/segments/%23east after 1,3
"
    );
}

#[test]
fn a_replaced_segment_that_nothing_holds_is_deleted_last() {
    let yaml = "segments:\n  a: {criteria: {tag: x}}\n  b: {criteria: {and: [{segment: a}, {tag: y}]}}\n";
    let world = World::in_sync(yaml, Level::Documented);
    assert_eq!(
        world.told(&yaml.replace("tag: x", "tag: z")),
        "\
± segments/a (git) NotInPlace
± segments/b Repoint NotInPlace
0 create segments/a POST /api/segments
1 create segments/b POST /api/segments after 0
2 delete segments/b DELETE /api/segments/%23b after 1
3 delete segments/a DELETE /api/segments/%23a after 0,2
"
    );
}

#[test]
fn variables_of_a_template_are_replaced_where_an_update_cannot_say_them() {
    let to = "default_value: friend";
    assert_eq!(
        told(Level::Documented, "default_value: you", to),
        "\
± templates/winback (git) NotInPlace
0 create templates/winback POST /api/templates
1 delete templates/winback DELETE /api/templates/%23winback after 0
"
    );
    assert_eq!(
        told(Level::Extended, "default_value: you", to),
        "~ templates/winback (git)\n0 update templates/winback POST /api/templates/%23winback\n"
    );
}

#[test]
fn a_pipeline_is_changed_by_hand_until_somebody_turned_the_old_one_off() {
    let changed = SHOP.replace("alert: Hello", "alert: Welcome");
    let mut world = World::in_sync(SHOP, Level::Documented);
    assert_eq!(world.told(&changed), "! pipelines/remind (git) InDashboard\n");
    world.done.insert(address("pipelines/remind"));
    assert_eq!(world.told(&changed), "! pipelines/remind (git) InDashboard\n", "it is still on");
    world.edit("pipelines/remind", |spec| spec["enabled"] = false.into());
    assert_eq!(
        world.told(&changed),
        "\
+ pipelines/remind (both)
0 forget pipelines/remind
1 create pipelines/remind POST /api/pipelines after 0
"
    );
}

#[test]
fn what_was_changed_on_the_service_is_put_back_and_called_drift() {
    let mut world = World::in_sync(SHOP, Level::Extended);
    world.edit("templates/winback", |spec| spec["push"]["notification"]["alert"] = "Hey".into());
    assert_eq!(
        world.told(SHOP),
        "~ templates/winback (service)\n0 update templates/winback POST /api/templates/%23winback\n"
    );
    let changed = SHOP.replace("Hi {{NAME}}", "Hello {{NAME}}");
    assert!(world.told(&changed).starts_with("~ templates/winback (both)\n"));
    let same = SHOP.replace("Hi {{NAME}}", "Hey");
    assert_eq!(world.told(&same), "0 adopt templates/winback\n", "both made the same change: the ledger follows");
}

#[test]
fn what_was_removed_on_the_service_is_made_again_unless_it_would_message_people_twice() {
    let mut world = World::in_sync(SHOP, Level::Extended);
    world.remove("segments/lapsed");
    world.remove("scheduled_pushes/sale");
    assert_eq!(
        world.told(SHOP),
        "\
! scheduled_pushes/sale (removed) NeverTwice
~ segments/east Repoint
+ segments/lapsed (removed)
0 create segments/lapsed POST /api/segments
1 update segments/east PUT /api/segments/%23east after 0
"
    );
}

#[test]
fn a_resource_that_is_no_longer_declared_is_deleted_after_its_users() {
    let world = World::in_sync(SHOP, Level::Extended);
    let without = SHOP
        .split("experiments:")
        .next()
        .unwrap()
        .replace("  east: {criteria: {and: [{segment: lapsed}, {timezone: America/New_York}]}}\n", "");
    assert_eq!(
        world.told(&without),
        "\
- experiments/texts
- segments/east
- tag_groups/loyalty/named_users/u-1
- tag_groups/loyalty/named_users/u-2
0 delete experiments/texts DELETE /api/experiments/scheduled/%23texts
1 delete segments/east DELETE /api/segments/%23east after 0
2 delete tag_groups/loyalty/named_users/u-1 POST /api/named_users/tags
3 delete tag_groups/loyalty/named_users/u-2 POST /api/named_users/tags
"
    );
    assert_eq!(world.told(""), "", "a project that declares nothing deletes nothing");
}

#[test]
fn a_name_that_somebody_else_uses_is_a_collision() {
    let mut world = World::in_sync("", Level::Documented);
    for id in ["one", "two"] {
        let found = Found { id: id.into(), name: "lapsed".into(), stamp: None, spec: None, ..Found::default() };
        world.put(&address("segments/x"), found);
    }
    let (changes, steps) = world.plan("segments: {lapsed: {criteria: {tag: x}}}");
    assert_eq!(json!(changes[0].reasons), json!([{ "collision": { "ids": ["one", "two"] } }]));
    assert!(steps.is_empty());
}

#[test]
fn who_names_a_segment_in_a_collision_waits_for_it() {
    let mut world = World::in_sync("", Level::Documented);
    world.put(
        &address("segments/x"),
        Found { id: "one".into(), name: "a".into(), stamp: None, spec: None, ..Found::default() },
    );
    assert_eq!(
        world.told("segments: {a: {criteria: {tag: x}}, b: {criteria: {and: [{segment: a}, {tag: y}]}}}"),
        "! segments/a Collision\n! segments/b Blocked\n"
    );
}

#[test]
fn a_past_push_is_never_sent_again() {
    let mut world = World::in_sync(SHOP, Level::Documented);
    world.now = "2031-01-01T10:00:00Z".parse().unwrap();
    assert_eq!(world.told(SHOP), "· scheduled_pushes/sale Went\n0 adopt scheduled_pushes/sale\n");
    let edited = SHOP.replace("2031-01-01T10:00", "2032-01-01T10:00");
    assert_eq!(world.told(&edited), "· scheduled_pushes/sale Went\n0 adopt scheduled_pushes/sale\n");
    world.ledger.owned.get_mut(&address("scheduled_pushes/sale")).unwrap().past = true;
    assert_eq!(world.told(SHOP), "", "it is told once");
    assert_eq!(world.told(&edited), "· scheduled_pushes/sale Went\n", "an edit that does nothing is told each time");
}

#[test]
fn a_past_push_that_nobody_declares_is_let_go_of_once_it_is_past_by_every_clock() {
    let mut world = World::in_sync(SHOP, Level::Documented);
    let start = SHOP.find("scheduled_pushes:").unwrap();
    let without = format!("{}{}", &SHOP[..start], &SHOP[SHOP.find("experiments:").unwrap()..]);
    world.now = "2031-01-01T10:04:59Z".parse().unwrap();
    assert_eq!(world.told(&without), "", "it may be on its way");
    world.now = "2031-01-01T10:05:00Z".parse().unwrap();
    assert_eq!(world.told(&without), ". scheduled_pushes/sale\n0 forget scheduled_pushes/sale\n");
}

/// The clock of an earlier run was slightly fast, so it recorded a time in the future.
#[test]
fn a_push_that_is_past_too_early_stays_managed_until_it_is_past_by_every_clock() {
    let mut world = World::in_sync(SHOP, Level::Documented);
    let start = SHOP.find("scheduled_pushes:").unwrap();
    let without = format!("{}{}", &SHOP[..start], &SHOP[SHOP.find("experiments:").unwrap()..]);
    world.ledger.owned.get_mut(&address("scheduled_pushes/sale")).unwrap().past = true;
    for (time, told) in [
        ("2031-01-01T09:59:50Z", ""),
        ("2031-01-01T10:04:59Z", ""),
        ("2031-01-01T10:05:00Z", ". scheduled_pushes/sale\n0 forget scheduled_pushes/sale\n"),
    ] {
        world.now = time.parse().unwrap();
        assert_eq!(world.told(&without), told, "{time}");
    }
    // A user confirmed long ago that it was sent.
    world.now = "2030-12-01T10:00:00Z".parse().unwrap();
    assert_eq!(world.told(&without), ". scheduled_pushes/sale\n0 forget scheduled_pushes/sale\n");
}

/// A list is read shortly before a plan is made: the push may have been postponed in between.
#[test]
fn a_past_push_that_nobody_declares_stays_managed_while_a_list_shows_it() {
    let mut world = World::in_sync(SHOP, Level::Extended);
    let start = SHOP.find("scheduled_pushes:").unwrap();
    let without = format!("{}{}", &SHOP[..start], &SHOP[SHOP.find("experiments:").unwrap()..]);
    world.now = "2031-01-01T11:00:00Z".parse().unwrap();
    assert_eq!(world.told(&without), "");
    world.remove("scheduled_pushes/sale");
    assert_eq!(world.told(&without), ". scheduled_pushes/sale\n0 forget scheduled_pushes/sale\n");
}

#[test]
fn a_new_push_whose_time_is_too_near_is_not_made() {
    let mut world = World::in_sync("", Level::Documented);
    let yaml = "scheduled_pushes:\n  sale:\n    schedule: {scheduled_time: 2031-01-01T10:00}\n    push: {audience: {tag: x}, device_types: [ios], notification: {alert: Sale}}\n";
    world.now = "2031-01-01T09:56:00Z".parse().unwrap();
    assert_eq!(world.told(yaml), "+ scheduled_pushes/sale TooLate\n");
    world.now = "2031-01-01T09:55:00Z".parse().unwrap();
    assert_eq!(world.told(yaml), "+ scheduled_pushes/sale\n0 create scheduled_pushes/sale POST /api/schedules\n");
}

#[test]
fn a_tag_that_sets_off_a_pipeline_sends() {
    assert_eq!(
        told(Level::Documented, "u-1: [gold]", "u-1: [gold, vip]"),
        "\
~ tag_groups/loyalty/named_users/u-1 (git) sends pipelines/remind to named user u-1
0 update tag_groups/loyalty/named_users/u-1 POST /api/named_users/tags
"
    );
}

#[test]
fn a_protection_is_remembered_and_lifted_by_the_ledger_alone() {
    let protected = SHOP.replace("winback: {", "winback: {lifecycle: {protect: true}, ");
    let world = World::in_sync(SHOP, Level::Documented);
    assert_eq!(world.told(&protected), "0 adopt templates/winback\n");
    let world = World::in_sync(&protected, Level::Documented);
    let without: String = SHOP
        .lines()
        .filter(|line| !line.contains("winback") && !line.contains("templates:"))
        .map(|line| format!("{line}\n"))
        .collect();
    let (changes, _) = world.plan(&without);
    assert!(changes.iter().any(|change| change.address == address("templates/winback") && change.protect));
}

#[test]
fn an_experiment_that_cannot_be_made_again_in_time_keeps_its_segment() {
    let mut world = World::in_sync(SHOP, Level::Documented);
    world.now = "2031-02-01T09:56:00Z".parse().unwrap();
    world.ledger.owned.remove(&address("scheduled_pushes/sale"));
    let start = SHOP.find("scheduled_pushes:").unwrap();
    let edited = format!("{}{}", &SHOP[..start], &SHOP[SHOP.find("experiments:").unwrap()..]);
    assert_eq!(
        world.told(&edited.replace("America/New_York", "America/Chicago")),
        "\
± experiments/texts Repoint NotInPlace TooLate
± segments/east (git) NotInPlace StillUsed
0 create segments/east POST /api/segments
"
    );
}

#[test]
fn a_segment_that_somebody_elses_push_points_at_stays() {
    let mut world = World::in_sync(SHOP, Level::Extended);
    let push = json!({ "audience": { "segment": "#east" }, "device_types": ["ios"], "notification": { "alert": "x" } });
    let mut theirs = |time: &str| {
        let spec = json!({ "name": "Flash", "schedule": [{ "scheduled_time": time }], "push": push });
        let found =
            Found { id: "9f".into(), name: "Flash".into(), stamp: None, spec: Some(spec.into()), ..Found::default() };
        world.put(&address("scheduled_pushes/theirs"), found);
        let east = SHOP.find("  east:").unwrap();
        let rest = &SHOP[east..];
        let without =
            format!("{}{}", &SHOP[..east], &rest[rest.find('\n').unwrap() + 1..]).replace("segment: east", "tag: x");
        world.plan(&without)
    };
    let (changes, steps) = theirs("2031-01-01T1000");
    let held = changes.iter().find(|change| change.address == address("segments/east")).expect("the segment");
    let by = json!([{ "kind": "scheduled_pushes", "id": "9f", "name": "Flash" }]);
    assert_eq!(json!(held.reasons), json!([{ "still_used": { "id": "#east", "by": by } }]));
    assert!(!steps.iter().any(|step| step.address == held.address), "{steps:#?}");
    // A sent push does not hold its segment.
    let (_, steps) = theirs("2029-01-01T1000");
    assert!(steps.iter().any(|step| step.address == address("segments/east")), "{steps:#?}");
}
