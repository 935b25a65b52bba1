//! Read commands for one target also work for several: their outputs are combined.

use serde_json::Value;

use super::{MANIFEST, World};
use pushplan_testing::{checked, says};

fn names(told: &Value) -> Vec<&str> {
    told["targets"].as_array().expect("a list").iter().map(|one| one["target"].as_str().expect("a name")).collect()
}

#[test]
fn every_command_that_looks_at_a_target_looks_at_several() {
    let manifest = format!(
        "{MANIFEST}scheduled_pushes:\n  sale:\n    schedule: {{scheduled_time: \"2035-01-22T10:00\"}}\n    push: {{audience: {{tag: vip}}, \
         device_types: [ios], notification: {{alert: Sale}}}}\n"
    );
    let world = World::new(&manifest, &["cafe-de", "shop-de"]);
    let case = "cases:\n  A stranger is no vip:\n    device: {device_type: ios}\n    expect: {not_in: vip}\n";
    world.project.folder.write("vip.test.yaml", case);
    world.good(&["apply", "--target", "*-de", "--yes"]);
    for (command, schema, says_so) in [
        (&["history"][..], "histories.schema.json", "1 "),
        (&["calendar"], "calendars.schema.json", "scheduled_pushes/sale"),
        (&["unmanaged"], "unmanaged-lists.schema.json", "cafe-de"),
        (&["outcome"], "outcomes.schema.json", ""),
        (&["ledger", "status"], "ledgers.schema.json", "cafe-de"),
        (&["test"], "test-reports.schema.json", "1 case"),
    ] {
        let ran = world.good(&[command, &["--target", "*-de"]].concat());
        says(&ran.stdout, &["On cafe-de:\n", "\nOn shop-de:\n", says_so]);
        let ran = world.good(&[command, &["--target", "germany", "--format", "json"]].concat());
        let told = checked(&ran, schema);
        assert_eq!(names(&told), ["cafe-de", "shop-de"], "{command:?}: {told}");
        assert!(told["targets"][0]["result"].is_object() && told["targets"][0]["error"].is_null(), "{told}");
        // A pattern that matches a single target is a single target.
        let ran = world.good(&[command, &["--target", "cafe-d*"]].concat());
        assert!(!ran.stdout.contains("On cafe-de:"), "{ran}");
    }
    let ran = world.good(&["ledger", "verify", "--target", "*-de"]);
    says(&ran.stdout, &["On cafe-de:\n", "\nOn shop-de:\n"]);
    let ran = world.run(&["doctor", "--all-targets"]);
    says(&ran.stdout, &["cafe-us", "shop-us"]);
}

#[test]
fn a_target_that_fails_leaves_the_others_to_be_seen() {
    let world = World::new(MANIFEST, &["cafe-de", "shop-de"]);
    world.good(&["apply", "--target", "*-de", "--yes"]);
    let ran = world.run(&["unmanaged", "--all-targets"]);
    assert_eq!(ran.code, 4, "{ran}");
    says(&ran.stdout, &["On cafe-de:\n", "On cafe-us:\n\n  cafe-us    failed: "]);
    says(&ran.stderr, &["error: cafe-us: ", "(and 1 more target)"]);
    let ran = world.run(&["unmanaged", "--all-targets", "--format", "json"]);
    let told = checked(&ran, "unmanaged-lists.schema.json");
    assert_eq!(names(&told), ["cafe-de", "cafe-us", "shop-de", "shop-us"]);
    assert!(told["targets"][1]["result"].is_null(), "{told}");
    assert_eq!(told["targets"][1]["error"]["exit"], 4, "{told}");
    let ran = world.run(&["history", "1", "--all-targets"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["number 1 is of the history of one target", "--target NAME"]);
    let ran = world.run(&["history", "--target", "nix*"]);
    assert_eq!(ran.code, 64, "{ran}");
}

#[test]
fn a_calendar_of_several_targets_is_one_calendar() {
    let manifest = "scheduled_pushes:\n  sale:\n    schedule: {scheduled_time: \"2035-01-22T10:00\"}\n    push: {audience: {tag: vip}, \
                    device_types: [ios], notification: {alert: Sale}}\n";
    let world = World::new(manifest, &[]);
    let ran = world.good(&["calendar", "--all-targets", "--format", "ics"]);
    let all = |text: &str| ran.stdout.matches(text).count();
    assert_eq!((all("BEGIN:VCALENDAR"), all("BEGIN:VEVENT"), all("END:VCALENDAR")), (1, 4, 1), "{ran}");
    says(&ran.stdout, &["SUMMARY:cafe-de: \"Sale\"", "SUMMARY:shop-us: \"Sale\"", "X-WR-CALNAME:pushplan\r\n"]);
    world.good(&["calendar", "--all-targets", "--format", "ics", "--out", "all.ics"]);
    assert_eq!(world.project.folder.read("all.ics"), ran.stdout);
}

#[test]
fn ledgers_of_several_targets_move_one_after_the_other() {
    let world = World::new(MANIFEST, &["cafe-de", "shop-de"]);
    world.good(&["apply", "--target", "*-de", "--yes"]);
    std::fs::create_dir(world.project.folder.path().join("shared")).expect("a folder");
    let ran = world.good(&["ledger", "move", "--to", "file:shared", "--target", "*-de"]);
    says(&ran.stdout, &["On cafe-de:\n", "\nOn shop-de:\n"]);
    let ran = world.good(&["ledger", "status", "--target", "*-de"]);
    assert!(ran.stdout.matches("shared").count() >= 2, "{ran}");
    // After a failed one, nothing is moved.
    let ran = world.run(&["ledger", "move", "--to", "file:nowhere", "--from", "file:shared", "--target", "*-de"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(!ran.stdout.contains("On shop-de"), "{ran}");
}
