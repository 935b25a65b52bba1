//! Managed resources, unmanaged ones, and those that may not be deleted.

use pushplan::kinds::Found;
use pushplan::nouns::level::Level;
use pushplan::plan::Action;
use serde_json::json;

use super::world::{World, address};

const PROTECTED: &str = "segments: {a: {criteria: {tag: x}, lifecycle: {protect: true}}, b: {criteria: {tag: y}}}";
const SILENT: &str = "segments: {a: {criteria: {tag: x}}, b: {criteria: {tag: y}}}";
const LIFTED: &str = "segments: {a: {criteria: {tag: x}, lifecycle: {protect: false}}, b: {criteria: {tag: y}}}";

#[test]
fn only_a_word_lifts_a_protection() {
    for level in [Level::Documented, Level::Extended] {
        let world = World::in_sync(PROTECTED, level);
        assert_eq!(world.told(SILENT), "", "the block is gone, the protection is not");
        let (changes, _) = world.plan("segments: {b: {criteria: {tag: y}}}");
        assert!(changes.iter().any(|change| change.action == Action::Delete && change.protect));
    }
    let world = World::in_sync(PROTECTED, Level::Extended);
    let (_, steps) = world.plan(&SILENT.replace("tag: x", "tag: z"));
    assert!(steps[0].protect, "an update does not lift it either");
    let world = World::in_sync(SILENT, Level::Extended);
    assert_eq!(world.told(LIFTED), "", "there was none");
}

#[test]
fn a_protection_that_is_lifted_is_shown() {
    let world = World::in_sync(PROTECTED, Level::Extended);
    let (changes, steps) = world.plan(LIFTED);
    assert_eq!(json!(changes[0].reasons), json!(["unprotected"]));
    assert_eq!((changes[0].action, steps.len(), steps[0].protect), (Action::Keep, 1, false));
    let (changes, steps) = world.plan(&LIFTED.replace("tag: x", "tag: z"));
    assert_eq!(json!(changes[0].reasons), json!(["unprotected"]));
    assert_eq!((changes[0].action, steps[0].protect), (Action::Update, false));
}

const PIPELINE: &str = "pipelines: {q: {enabled: true, immediate_trigger: {tag_added: vip}, outcome: {push: {device_types: [ios], notification: {alert: Hello}}}}}";

/// Another user's resource with the same name.
fn twin(id: &str, enabled: bool) -> Found {
    let spec = json!({
        "name": "q", "enabled": enabled, "immediate_trigger": [{"tag_added": "vip"}],
        "outcome": [{"push": {"audience": "triggered", "device_types": ["ios"], "notification": {"alert": "Hi"}}}],
    });
    Found { id: id.into(), name: "q".into(), stamp: None, spec: Some(spec.into()), ..Found::default() }
}

#[test]
fn a_successor_is_not_made_beside_one_that_is_not_ours() {
    let changed = PIPELINE.replace("Hello", "Bye");
    let mut world = World::in_sync(PIPELINE, Level::Documented);
    world.edit("pipelines/q", |spec| spec["enabled"] = false.into());
    world.done.insert(address("pipelines/q"));
    world.put(&address("pipelines/other"), twin("off", false));
    assert!(world.told(&changed).contains("create pipelines/q"), "one that is off does nothing");
    world.put(&address("pipelines/other"), twin("on", true));
    let (changes, steps) = world.plan(&changed);
    assert_eq!(json!(changes[0].reasons), json!([{ "collision": { "ids": ["on"] } }]));
    assert_eq!((changes[0].action, steps.len()), (Action::ByHand, 0));
}

#[test]
fn what_somebody_removed_and_made_anew_is_not_made_a_second_time() {
    for level in [Level::Documented, Level::Extended] {
        let mut world = World::in_sync(PIPELINE, level);
        world.remove("pipelines/q");
        assert!(world.told(PIPELINE).contains("create pipelines/q"));
        world.put(&address("pipelines/other"), twin("theirs", true));
        assert_eq!(world.told(PIPELINE), "! pipelines/q (removed) Collision\n");
    }
}

#[test]
fn a_name_that_somebody_else_uses_is_not_taken_by_a_change_either() {
    for level in [Level::Documented, Level::Extended] {
        let mut world = World::in_sync(SILENT, level);
        world.put(
            &address("segments/x"),
            Found { id: "one".into(), name: "taken".into(), stamp: None, spec: None, ..Found::default() },
        );
        let renamed = SILENT.replace("criteria: {tag: x}", "display_name: taken, criteria: {tag: x}");
        assert_eq!(world.told(&renamed), "! segments/a (git) Collision\n");
        // If both already have the name, it is no new collision.
        let mut world = World::in_sync(SILENT, level);
        world.put(
            &address("segments/x"),
            Found { id: "one".into(), name: "a".into(), stamp: None, spec: None, ..Found::default() },
        );
        assert_eq!(world.told(SILENT), "");
        assert!(!world.told(&SILENT.replace("tag: x", "tag: z")).contains("Collision"));
    }
}
