//! Changes made in the dashboard.

use pushplan::nouns::level::Level;
use serde_json::json;

use super::world::{World, address};

const PUSH: &str = "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2031-01-01T10:00}
    push: {audience: {tag: x}, device_types: [ios], notification: {alert: Sale}}
segments: {s: {criteria: {tag: x}}}
";

/// A managed push that was postponed by a month in the dashboard, on the day after its original time.
fn put_off() -> World {
    let mut world = World::in_sync(PUSH, Level::Extended);
    world.edit("scheduled_pushes/sale", |spec| spec["schedule"] = json!([{"scheduled_time": "2031-02-01T1000"}]));
    world.now = "2031-01-02T00:00:00Z".parse().expect("a time");
    world
}

#[test]
fn a_push_that_was_put_off_is_pending_whatever_the_ledger_says() {
    let mut world = put_off();
    assert_eq!(world.told(PUSH), "! scheduled_pushes/sale (service) TooLate\n", "its own time has passed");
    let other = PUSH.replace("2031-01-01T10:00", "2031-03-01T10:00");
    let update = "0 update scheduled_pushes/sale PUT /api/schedules/%23sale\n";
    assert_eq!(world.told(&other), format!("~ scheduled_pushes/sale (both)\n{update}"));
    let same = PUSH.replace("2031-01-01T10:00", "2031-02-01T10:00");
    assert_eq!(world.told(&same), "0 adopt scheduled_pushes/sale\n", "the ledger follows");
    let without = "segments: {s: {criteria: {tag: x}}}";
    let delete = "- scheduled_pushes/sale (both)\n0 delete scheduled_pushes/sale DELETE /api/schedules/%23sale\n";
    assert_eq!(world.told(without), delete);

    // Also one that an earlier plan treated as past.
    world.ledger.owned.get_mut(&address("scheduled_pushes/sale")).unwrap().past = true;
    assert_eq!(world.told(without), delete);
    assert_eq!(world.told(&other), format!("~ scheduled_pushes/sale (both)\n{update}"));
    let (_, steps) = world.plan(&same);
    assert_eq!((steps.len(), steps[0].past), (1, false));

    world.now = "2031-02-01T10:00:00Z".parse().unwrap();
    assert_eq!(world.told(PUSH), "", "it has had its time, and that was told");
}

#[test]
fn a_push_that_was_brought_forward_is_past_once_its_time_has_come() {
    let mut world = World::in_sync(PUSH, Level::Extended);
    world.edit("scheduled_pushes/sale", |spec| spec["schedule"] = json!([{"scheduled_time": "2030-06-01T1000"}]));
    world.now = "2030-06-01T10:00:00Z".parse().unwrap();
    assert_eq!(world.told(PUSH), "· scheduled_pushes/sale Went\n0 adopt scheduled_pushes/sale\n");
}

#[test]
fn a_segment_that_a_push_names_stays_while_the_push_was_put_off() {
    let yaml = PUSH.replace("audience: {tag: x}", "audience: {segment: s}");
    let mut world = World::in_sync(&yaml, Level::Extended);
    world.edit("scheduled_pushes/sale", |spec| spec["schedule"] = json!([{"scheduled_time": "2031-02-01T1000"}]));
    world.now = "2031-01-02T00:00:00Z".parse().unwrap();
    let other = yaml.replace("{segment: s}", "{tag: x}").replace("segments: {s:", "segments: {t:");
    assert!(world.told(&other).contains("! segments/s StillUsed"), "{}", world.told(&other));
}

/// A user confirmed that it was sent, and the files have a later time since: the remaining sends on the service are
/// over.
#[test]
fn a_segment_goes_once_the_push_that_names_it_was_sent() {
    let yaml = PUSH.replace("audience: {tag: x}", "audience: {segment: s}");
    let later = yaml.replace("2031-01-01T10:00", "2031-06-01T10:00");
    let mut world = World::in_sync(&later, Level::Extended);
    world.edit("scheduled_pushes/sale", |spec| spec["schedule"] = json!([{"scheduled_time": "2031-01-01T1000"}]));
    world.now = "2031-01-02T00:00:00Z".parse().unwrap();
    let other = later.replace("{segment: s}", "{tag: x}").replace("segments: {s:", "segments: {t:");
    assert!(world.told(&other).contains("! segments/s StillUsed"), "{}", world.told(&other));
    world.ledger.owned.get_mut(&address("scheduled_pushes/sale")).unwrap().past = true;
    assert!(world.told(&other).contains("delete segments/s"), "{}", world.told(&other));
}

#[test]
fn variables_that_were_changed_in_the_dashboard_are_put_back_as_the_api_allows() {
    let yaml = "templates: {t: {variables: [{key: A, default_value: b}], push: {notification: {alert: \"{{A}}\"}}}}";
    for (level, told) in [
        (
            Level::Documented,
            "± templates/t (service) NotInPlace\n0 create templates/t POST /api/templates\n\
             1 delete templates/t DELETE /api/templates/%23t after 0\n",
        ),
        (Level::Extended, "~ templates/t (service)\n0 update templates/t POST /api/templates/%23t\n"),
    ] {
        let mut world = World::in_sync(yaml, level);
        world.edit("templates/t", |spec| spec["variables"][0]["default_value"] = "theirs".into());
        assert_eq!(world.told(yaml), told);
        // If both sides made the same change, the rest is an update.
        let same = yaml.replace("default_value: b", "default_value: theirs").replace("alert: \"{{A}}\"", "alert: Hi");
        assert!(world.told(&same).starts_with("~ templates/t (both)\n"), "{}", world.told(&same));
    }
}

const PIPELINE: &str = "\
pipelines:
  remind:
    enabled: true
    immediate_trigger: {tag_added: vip}
    outcome: {push: {device_types: [ios], notification: {alert: Hello}}}
    lifecycle: {ignore: [outcome.push.notification.alert]}
";

#[test]
fn a_field_is_left_to_the_dashboard_by_the_path_that_a_plan_shows() {
    let mut world = World::in_sync(PIPELINE, Level::Documented);
    world.edit("pipelines/remind", |spec| spec["outcome"][0]["push"]["notification"]["alert"] = "Theirs".into());
    assert_eq!(world.told(PIPELINE), "0 adopt pipelines/remind\n");
    let (changes, _) = world.plan(PIPELINE);
    assert_eq!(changes[0].ignored, ["outcome.push.notification.alert"]);
    let whole = PIPELINE.replace("ignore: [outcome.push.notification.alert]", "ignore: [outcome]");
    assert_eq!(world.told(&whole), "0 adopt pipelines/remind\n");
    let other = PIPELINE.replace("ignore: [outcome.push.notification.alert]", "ignore: [immediate_trigger]");
    assert_eq!(world.told(&other), "! pipelines/remind (service) InDashboard\n");
}
