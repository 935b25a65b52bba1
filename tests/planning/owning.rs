//! What is ours, what is not, and what may not be deleted.

use pushplan::kinds::Found;
use pushplan::model::level::Level;
use pushplan::plan::Action;
use serde_json::json;

use crate::world::{World, address};

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
