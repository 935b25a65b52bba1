//! Resources that get another key.

use pushplan::nouns::level::Level;
use pushplan::plan::{Action, Reason};

use super::world::{World, address};

const BEFORE: &str = "\
segments:
  old: {display_name: Lapsed, criteria: {tag: x}}
  other: {criteria: {and: [{segment: old}, {tag: y}]}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2031-01-01T10:00}
    push: {audience: {segment: old}, device_types: [ios], notification: {alert: Sale}}
";

const AFTER: &str = "\
segments:
  new: {display_name: Lapsed, criteria: {tag: x}, lifecycle: {renamed_from: old}}
  other: {criteria: {and: [{segment: new}, {tag: y}]}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2031-01-01T10:00}
    push: {audience: {segment: new}, device_types: [ios], notification: {alert: Sale}}
";

#[test]
fn a_resource_with_another_key_is_moved_and_those_who_name_it_stay() {
    for level in [Level::Documented, Level::Extended] {
        let mut world = World::in_sync(BEFORE, level);
        assert_eq!(world.told(AFTER), "0 move segments/new\n");
        let (changes, steps) = world.plan(AFTER);
        let moved = changes.iter().find(|change| change.address == address("segments/new")).unwrap();
        assert_eq!(moved.action, Action::Keep);
        assert_eq!(moved.reasons, [Reason::Renamed { from: address("segments/old") }]);
        assert_eq!(steps[0].from, Some(address("segments/old")));
        assert!(changes.iter().all(|change| change.address != address("segments/old")));

        world.ledger.rename(&address("segments/old"), &address("segments/new"));
        let seen = world.live.units.remove(&address("segments/old")).unwrap();
        world.live.units.insert(address("segments/new"), seen);
        assert_eq!(world.told(AFTER), "", "what has been moved is not moved again");
    }
}

#[test]
fn what_is_moved_is_compared_as_ever() {
    let world = World::in_sync(BEFORE, Level::Extended);
    assert_eq!(
        world.told(&AFTER.replace("criteria: {tag: x}", "criteria: {tag: z}")),
        "~ segments/new (git) Renamed\n0 move segments/new\n1 update segments/new PUT /api/segments/%23old after 0\n"
    );
    // If the key is the name, a new key changes the name.
    let before = "pipelines: {old: {enabled: true, immediate_trigger: {tag_added: v}, outcome: {push: {device_types: [ios], notification: {alert: A}}}}}";
    let after = before.replace("old: {", "new: {lifecycle: {renamed_from: old}, ");
    assert_eq!(
        World::in_sync(before, Level::Extended).told(&after),
        "~ pipelines/new (git) Renamed\n0 move pipelines/new\n1 update pipelines/new PUT /api/pipelines/%23old after 0\n"
    );
    assert_eq!(
        World::in_sync(before, Level::Documented).told(&after),
        "! pipelines/new (git) InDashboard Renamed\n0 move pipelines/new\n"
    );
}

#[test]
fn parts_move_along() {
    let before = "named_users: {u: {channels: [{channel_id: 00000000-0000-4000-8000-000000000001, device_type: ios}]}}";
    let after = before.replace("u: {", "v: {lifecycle: {renamed_from: u}, ");
    let world = World::in_sync(before, Level::Documented);
    let told = world.told(&after);
    assert!(told.contains("0 move named_users/v\n1 update named_users/v/0000"), "{told}");
    assert!(told.contains(" after 0\n") && !told.contains("delete") && !told.contains("create"), "{told}");
}

#[test]
fn a_tag_group_is_another_one_under_another_key() {
    let before = "tag_groups: {g: {tags: [a], members: {named_users: {u-1: [a]}}}}";
    let after = before.replace("g: {", "h: {lifecycle: {renamed_from: g}, ");
    let told = World::in_sync(before, Level::Documented).told(&after);
    assert!(told.contains("+ tag_groups/h/named_users/u-1 NothingRenamed\n"), "{told}");
    assert!(told.contains("- tag_groups/g/named_users/u-1\n"), "{told}");
}

#[test]
fn an_old_key_that_nobody_knows_is_told_until_the_new_one_is_ours() {
    let yaml = "segments: {new: {criteria: {tag: x}, lifecycle: {renamed_from: old}}}";
    let told = World::in_sync("", Level::Documented).told(yaml);
    assert_eq!(told, "+ segments/new NothingRenamed\n0 create segments/new POST /api/segments\n");
    assert_eq!(World::in_sync(yaml, Level::Documented).told(yaml), "");
}

#[test]
fn what_goes_and_what_comes_with_the_same_words_may_be_a_rename() {
    let before = "segments: {old: {criteria: {tag: x}}, b: {criteria: {tag: y}}}";
    let after = "segments: {new: {criteria: {tag: x}}, b: {criteria: {tag: y}}}";
    let world = World::in_sync(before, Level::Documented);
    let told = world.told(after);
    assert!(told.starts_with("+ segments/new LooksRenamed\n- segments/old\n0 create segments/new"), "{told}");
    assert!(!world.told(&after.replace("tag: x", "tag: z")).contains("LooksRenamed"));
}

/// An experiment with the time and the audience of a push replaces it: people would get both.
#[test]
fn a_message_that_becomes_one_of_another_kind_waits_for_the_old_one() {
    let push = "scheduled_pushes: {sale: {schedule: {scheduled_time: 2031-01-01T10:00}, push: {audience: {tag: x}, \
                device_types: [ios], notification: {alert: The sale begins}}}}";
    let trial = "experiments: {sale: {audience: {tag: x}, device_types: [ios], variants: [\
                 {push: {notification: {alert: The sale begins}}, schedule: {scheduled_time: 2031-01-01T10:00}}, \
                 {push: {notification: {alert: It begins}}, schedule: {scheduled_time: 2031-01-01T10:00}}]}}";
    assert_eq!(
        World::in_sync(push, Level::Documented).told(trial),
        "! experiments/sale LooksRenamed\n! scheduled_pushes/sale InDashboard\n"
    );
    let told = World::in_sync(push, Level::Extended).told(trial);
    let deletes = "0 delete scheduled_pushes/sale DELETE /api/schedules/%23sale\n";
    assert!(
        told.contains(deletes) && told.ends_with("1 create experiments/sale POST /api/experiments after 0\n"),
        "{told}"
    );
    let other = trial.replace("tag: x", "tag: y").replace("2031-01-01", "2032-01-01");
    assert!(World::in_sync(push, Level::Documented).told(&other).starts_with("+ experiments/sale\n"));
}

const PIPELINE: &str = "pipelines: {old: {name: Welcome, enabled: true, immediate_trigger: {tag_added: v}, outcome: {push: {device_types: [ios], notification: {alert: A}}}}}";

#[test]
fn a_second_one_is_not_made_while_the_first_cannot_be_deleted() {
    let renamed = PIPELINE.replace("old: {", "new: {");
    let mut world = World::in_sync(PIPELINE, Level::Documented);
    let waits = "! pipelines/new LooksRenamed\n! pipelines/old InDashboard\n";
    assert_eq!(world.told(&renamed), waits);
    assert_eq!(world.told(&renamed.replace("alert: A", "alert: B")), waits, "it has the same name");
    assert_eq!(world.told(&renamed.replace("name: Welcome, ", "")), waits, "it says the same under another name");
    let other = renamed.replace("name: Welcome, ", "").replace("alert: A", "alert: B");
    assert_eq!(world.told(&other).lines().next(), Some("+ pipelines/new"));
    let moved = PIPELINE.replace("old: {", "new: {lifecycle: {renamed_from: old}, ");
    assert_eq!(world.told(&moved), "0 move pipelines/new\n");
    world.done.insert(address("pipelines/old"));
    world.edit("pipelines/old", |spec| spec["enabled"] = false.into());
    assert!(world.told(&renamed).contains("create pipelines/new"), "{}", world.told(&renamed));

    let push = "scheduled_pushes: {old: {schedule: {scheduled_time: 2031-01-01T10:00}, push: {audience: {tag: x}, device_types: [ios], notification: {alert: A}}}}";
    let told = World::in_sync(push, Level::Documented).told(&push.replace("old: {", "new: {"));
    let waits = "! scheduled_pushes/new LooksRenamed\n! scheduled_pushes/old InDashboard\n";
    assert_eq!(told, waits);
    // Also if its audience has another name, or changes.
    let named = push.replace("{tag: x}", "{segment: a}");
    let segment = |key: &str, tag: &str| format!("segments: {{{key}: {{criteria: {{tag: {tag}}}}}}}\n");
    let world = World::in_sync(&[segment("a", "x"), named.clone()].concat(), Level::Documented);
    let named = named.replace("old: {", "new: {");
    for after in [
        [segment("b", "x"), named.replace("segment: a", "segment: b")].concat(),
        [segment("a", "z"), named.clone()].concat(),
    ] {
        assert!(world.told(&after).contains(waits), "{}", world.told(&after));
    }
    let named = named.replace("segment: a", "segment: b");
    let other = [segment("b", "z"), named.replace("2031-01-01", "2031-07-01")].concat();
    assert!(world.told(&other).contains("+ scheduled_pushes/new\n"), "{}", world.told(&other));
}

#[test]
fn a_message_that_was_edited_under_a_new_key_waits_for_the_old_one() {
    let push = "scheduled_pushes: {old: {schedule: {scheduled_time: 2031-01-01T10:00}, push: {audience: {tag: x}, device_types: [ios], notification: {alert: The sale ends on Sunday}}}}";
    let renamed = push.replace("old: {", "new: {");
    let waits = "! scheduled_pushes/new LooksRenamed\n! scheduled_pushes/old InDashboard\n";
    let world = World::in_sync(push, Level::Documented);
    for edited in [
        renamed.replace("The sale ends on Sunday", "Last chance"),
        renamed.replace("ends on Sunday", "ends on Monday").replace("T10:00", "T18:00"),
        renamed.replace("tag: x", "tag: y"),
        renamed.replace("2031-01-01", "2031-02-01"),
    ] {
        assert_eq!(world.told(&edited), waits, "{edited}");
    }
    let other = renamed.replace("tag: x", "tag: y").replace("2031-01-01", "2031-02-01");
    assert!(world.told(&other).starts_with("+ scheduled_pushes/new\n"), "{}", world.told(&other));

    // If the API can delete the old one, it does so first.
    let edited = renamed.replace("The sale ends on Sunday", "Last chance");
    let told = World::in_sync(push, Level::Extended).told(&edited);
    let (gone, made) = (told.find("delete scheduled_pushes/old"), told.find("create scheduled_pushes/new"));
    assert!(gone.is_some() && gone < made, "{told}");
}

#[test]
fn a_message_is_made_once_all_that_say_the_same_are_gone() {
    let one = |key: &str| {
        format!(
            "{key}: {{schedule: {{scheduled_time: 2031-01-01T10:00}}, push: {{audience: {{tag: x}}, device_types: [ios], notification: {{alert: A}}}}}}"
        )
    };
    let before = format!("scheduled_pushes: {{{}, {}, {}}}", one("a"), one("b"), one("keep"));
    let after = format!("scheduled_pushes: {{{}, {}}}", one("z"), one("keep"));
    let told = World::in_sync(&before, Level::Extended).told(&after);
    let made = told.find("create scheduled_pushes/z").expect("a creation");
    for gone in ["delete scheduled_pushes/a", "delete scheduled_pushes/b"] {
        assert!(told.find(gone).is_some_and(|gone| gone < made), "{told}");
    }
}

/// A message is edited, and a new one has its old content. If the edit fails, both would be sent.
#[test]
fn a_message_is_made_once_the_one_that_said_the_same_is_changed() {
    let one = |key: &str, alert: &str| {
        format!(
            "{key}: {{schedule: {{scheduled_time: 2031-01-01T10:00}}, push: {{audience: {{tag: x}}, device_types: [ios], notification: {{alert: {alert}}}}}}}"
        )
    };
    let push = |all: &[String]| format!("scheduled_pushes: {{{}}}", all.join(", "));
    let world = World::in_sync(&push(&[one("old", "A")]), Level::Extended);
    let told = |alert: &str| {
        World::in_sync(&push(&[one("old", "A")]), Level::Extended).told(&push(&[one("old", "B"), one("a-new", alert)]))
    };
    assert!(told("A").contains("0 update scheduled_pushes/old PUT /api/schedules/%23old\n1 create scheduled_pushes/a-new POST /api/schedules after 0\n"), "{}", told("A"));
    assert!(!told("C").contains("after"), "{}", told("C"));

    // If the edit is left out, so is the new one; selecting only the new one includes the edit.
    let both = push(&[one("old", "B"), one("a-new", "A")]);
    let (mut without, mut alone) = (World::in_sync(&push(&[one("old", "A")]), Level::Extended), world);
    without.choice.except = vec!["scheduled_pushes/old".to_owned()];
    assert_eq!(without.told(&both), "");
    alone.choice.only = vec!["scheduled_pushes/a-new".to_owned()];
    assert!(alone.told(&both).starts_with("+ scheduled_pushes/a-new\n~ scheduled_pushes/old (git)\n"));
}
