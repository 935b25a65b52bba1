//! The recipients of messages that a plan causes, and the times.

use pushplan::kinds::Found;
use pushplan::nouns::level::Level;
use serde_json::{Value, json};

use super::world::{World, address};

const SHOP: &str = r#"
pipelines:
  remind: {enabled: true, immediate_trigger: {tag_added: {tag: vip, group: loyalty}}, outcome: {push: {device_types: [ios, android], notification: {alert: Hello}}}}
tag_groups:
  loyalty: {members: {named_users: {u-1: [gold]}}}
"#;

fn given(yaml: &str) -> String {
    yaml.replace("u-1: [gold]", "u-1: [gold, vip]")
}

fn first_line(told: &str) -> &str {
    told.lines().find(|line| line.contains("u-1")).unwrap_or(told)
}

/// A pipeline that was created in the dashboard, with one trigger or several.
fn somebodys(world: &mut World, triggers: &Value) {
    let outcome =
        json!([{ "push": { "audience": "triggered", "device_types": "all", "notification": { "alert": "Hi" } } }]);
    let spec = json!({ "name": "Theirs", "enabled": true, "immediate_trigger": triggers, "outcome": outcome });
    let found =
        Found { id: "9f".into(), name: "Theirs".into(), stamp: None, spec: Some(spec.into()), ..Found::default() };
    world.put(&address("pipelines/theirs"), found);
}

#[test]
fn a_pipeline_that_was_turned_on_in_the_dashboard_sends() {
    let off = SHOP.replace("enabled: true", "enabled: false");
    let mut world = World::in_sync(&off, Level::Documented);
    world.edit("pipelines/remind", |spec| spec["enabled"] = true.into());
    assert_eq!(
        world.told(&given(&off)),
        "\
! pipelines/remind (service) InDashboard
~ tag_groups/loyalty/named_users/u-1 (git) sends pipelines/remind to named user u-1
0 update tag_groups/loyalty/named_users/u-1 POST /api/named_users/tags
"
    );
    world.choice.except.push("pipelines/*".into());
    assert_eq!(
        first_line(&world.told(&given(&off))),
        "~ tag_groups/loyalty/named_users/u-1 (git) sends pipelines/remind to named user u-1"
    );
}

#[test]
fn a_tag_waits_until_the_pipeline_is_off_that_it_would_set_off() {
    let mut world = World::in_sync(&SHOP.replace("enabled: true", "enabled: false"), Level::Extended);
    world.edit("pipelines/remind", |spec| spec["enabled"] = true.into());
    let turned_off = "\
~ pipelines/remind (service)
~ tag_groups/loyalty/named_users/u-1 (git)
0 update pipelines/remind PUT /api/pipelines/%23remind
1 update tag_groups/loyalty/named_users/u-1 POST /api/named_users/tags after 0
";
    assert_eq!(world.told(&given(&SHOP.replace("enabled: true", "enabled: false"))), turned_off);
    let deleted = "\
- pipelines/remind
~ tag_groups/loyalty/named_users/u-1 (git)
0 delete pipelines/remind DELETE /api/pipelines/%23remind
1 update tag_groups/loyalty/named_users/u-1 POST /api/named_users/tags after 0
";
    let rest = &SHOP[SHOP.find("tag_groups:").unwrap()..];
    assert_eq!(World::in_sync(SHOP, Level::Extended).told(&given(rest)), deleted);
}

#[test]
fn a_tag_waits_until_the_pipeline_is_made_or_changed_that_it_sets_off() {
    let made = "\
+ pipelines/remind
~ tag_groups/loyalty/named_users/u-1 (git) sends pipelines/remind to named user u-1
0 create pipelines/remind POST /api/pipelines
1 update tag_groups/loyalty/named_users/u-1 POST /api/named_users/tags after 0
";
    let rest = &SHOP[SHOP.find("tag_groups:").unwrap()..];
    assert_eq!(World::in_sync(rest, Level::Extended).told(&given(SHOP)), made);
    let changed = "\
~ pipelines/remind (git)
~ tag_groups/loyalty/named_users/u-1 (git) sends pipelines/remind to named user u-1
0 update pipelines/remind PUT /api/pipelines/%23remind
1 update tag_groups/loyalty/named_users/u-1 POST /api/named_users/tags after 0
";
    let edited = given(SHOP).replace("alert: Hello", "alert: Bye");
    assert_eq!(World::in_sync(SHOP, Level::Extended).told(&edited), changed);
    // It sends its new content, not the old one.
    let later = given(SHOP).replace("outcome: {push", "outcome: {delay: 1d, push");
    let told = World::in_sync(SHOP, Level::Extended).told(&later);
    assert!(first_line(&told).ends_with("sends pipelines/remind to named user u-1 after 86400 s"), "{told}");
    // A pipeline that waits for another tag does not matter.
    let other = given(SHOP).replace("{tag: vip, group: loyalty}", "{tag: other, group: loyalty}");
    let told = World::in_sync(rest, Level::Extended).told(&other);
    assert!(!told.contains(" after "), "{told}");
}

#[test]
fn a_tag_that_sends_waits_for_the_devices_of_its_named_user() {
    let device = "named_users:\n  u-1: {channels: [{channel_id: c-1, device_type: ios}]}\n  u-2: {channels: [{channel_id: c-2, device_type: ios}]}\n";
    let told = World::in_sync(SHOP, Level::Extended).told(&format!("{}{device}", given(SHOP)));
    let steps = "\
0 create named_users/u-1/c-1 POST /api/named_users/associate
1 create named_users/u-2/c-2 POST /api/named_users/associate
2 update tag_groups/loyalty/named_users/u-1 POST /api/named_users/tags after 0
";
    assert!(told.ends_with(steps), "{told}");
}

#[test]
fn a_pipeline_sends_from_its_activation_until_its_deactivation() {
    let sends = |times: &[(&str, &str)]| {
        let mut world = World::in_sync(SHOP, Level::Documented);
        let set = |spec: &mut Value| times.iter().for_each(|(key, time)| spec[*key] = Value::from(*time));
        world.edit("pipelines/remind", set);
        first_line(&world.told(&given(SHOP))).contains(" sends ")
    };
    // It is the first of January 2030, with a tolerance for clocks.
    assert!(sends(&[("activation_time", "2029-12-31T00:00:00")]));
    assert!(sends(&[("activation_time", "2030-01-01T00:01:00")]));
    assert!(sends(&[("deactivation_time", "2030-01-02T00:00:00")]));
    assert!(sends(&[("activation_time", "2029-12-31T00:00:00Z"), ("deactivation_time", "2030-01-02T00:00:00Z")]));
    assert!(!sends(&[("activation_time", "2030-01-02T00:00:00")]));
    assert!(!sends(&[("activation_time", "2031-01-01")]));
    assert!(!sends(&[("deactivation_time", "2029-12-31T00:00:00")]));
}

#[test]
fn a_pipeline_that_is_not_ours_sends_too() {
    let mut world = World::in_sync(&SHOP[SHOP.find("tag_groups:").unwrap()..], Level::Documented);
    let yaml = given(&SHOP[SHOP.find("tag_groups:").unwrap()..]);
    somebodys(&mut world, &json!([{ "tag_added": { "tag": "vip", "group": "loyalty" } }]));
    assert_eq!(
        first_line(&world.told(&yaml)),
        "~ tag_groups/loyalty/named_users/u-1 (git) sends unmanaged pipeline \"Theirs\" (9f) to named user u-1"
    );
    somebodys(&mut world, &json!([{ "tag_added": { "tag": "vip", "group": "another" } }]));
    assert_eq!(first_line(&world.told(&yaml)), "~ tag_groups/loyalty/named_users/u-1 (git)");
}

#[test]
fn a_tag_that_is_taken_away_sends_where_a_pipeline_waits_for_that() {
    let whole = "tags: {vip: {ios_channels: [c-1]}, other: {}}\ntag_groups: {loyalty: {members: {named_users: {u-1: [gold, vip], u-2: [x]}}}}";
    let mut world = World::in_sync(whole, Level::Documented);
    let in_group = json!({ "tag_removed": { "tag": "vip", "group": "loyalty" } });
    somebodys(&mut world, &json!([{ "tag_removed": "vip" }, in_group]));
    let sends = |yaml: &str| -> Vec<String> {
        let told = world.told(yaml);
        let lines = told.lines().filter(|line| line.contains(" sends "));
        lines.map(|line| line.replace(" sends unmanaged pipeline \"Theirs\" (9f)", "")).collect()
    };
    assert_eq!(
        sends(&whole.replace("[gold, vip]", "[gold]")),
        ["~ tag_groups/loyalty/named_users/u-1 (git) to named user u-1"]
    );
    assert_eq!(
        sends(&whole.replace("u-1: [gold, vip], ", "")),
        ["- tag_groups/loyalty/named_users/u-1 to named user u-1"]
    );
    assert_eq!(
        sends(&whole.replace("vip: {ios_channels: [c-1]}, ", "")),
        ["- tags/vip to every device that has it", "- tags/vip/ios_channels/c-1 to iOS channel c-1"]
    );
    assert_eq!(
        sends(&whole.replace("vip: {ios", "vip: {tag: other-vip, ios")),
        [
            "± tags/vip (git) NotInPlace to every device that has it",
            "± tags/vip/ios_channels/c-1 (git) NotInPlace to iOS channel c-1"
        ]
    );
    assert_eq!(sends(&whole.replace("[gold, vip]", "[gold, vip, more]")), [""; 0]);
}

#[test]
fn a_delay_is_told() {
    let yaml = SHOP.replace("outcome: {push", "outcome: {delay: 1d, push");
    assert_eq!(
        first_line(&World::in_sync(&yaml, Level::Documented).told(&given(&yaml))),
        "~ tag_groups/loyalty/named_users/u-1 (git) sends pipelines/remind to named user u-1 after 86400 s"
    );
}

#[test]
fn a_device_that_the_pipeline_does_not_message_is_not_marked() {
    let yaml = format!(
        "{}open_channels:\n  sms: {{address: '555', opt_in: true, open: {{open_platform_name: sms}}}}\n",
        SHOP.replace("{tag: vip, group: loyalty}", "vip")
    );
    let tagged = yaml.replace("opt_in: true,", "opt_in: true, tags: [vip],");
    let line = |from: &str, to: &str| {
        let world = World::in_sync(&yaml.replace(from, to), Level::Documented);
        let told = world.told(&tagged.replace(from, to));
        told.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(line("", ""), "~ open_channels/sms (git)");
    let sends = "~ open_channels/sms (git) sends pipelines/remind to the open channel 555";
    assert_eq!(line("[ios, android]", "[ios, 'open::sms']"), sends);
    assert_eq!(line("[ios, android]", "all"), sends);
    let android = SHOP.replace("named_users: {u-1", "android_channels: {u-1");
    let told = World::in_sync(&android, Level::Documented).told(&given(&android));
    assert!(first_line(&told).ends_with("sends pipelines/remind to Android channel u-1"), "{told}");
    let apple = android.replace("[ios, android]", "[ios]");
    let told = World::in_sync(&apple, Level::Documented).told(&given(&apple));
    assert_eq!(first_line(&told), "~ tag_groups/loyalty/android_channels/u-1 (git)");
}
