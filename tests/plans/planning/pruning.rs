//! Random services: pruning never deletes a resource that it must not delete.

use std::collections::{BTreeMap, BTreeSet};

use pushplan::kinds;
use pushplan::ledger::Verb;
use pushplan::nouns::level::Level;
use pushplan::plan::Action;
use pushplan_testing::Dice;
use serde_json::json;

use super::unmanaged::{pipeline, pruning, push, segment};

#[test]
fn whatever_there_is_pruning_touches_neither_what_is_ours_nor_ignored_nor_used() {
    let (mut deleted, mut held, mut left) = (0, 0, 0);
    for seed in 0..400 {
        let mut dice = Dice::new(seed);
        let level = if dice.once_in(2) { Level::Documented } else { Level::Extended };
        let yaml = "segments: {a: {criteria: {tag: x}}, b: {criteria: {segment: a}}}\npipelines: {q: {enabled: true, immediate_trigger: {tag_added: vip}, outcome: {push: {device_types: [ios], notification: {alert: A}}}}}";
        let mut world = pruning(yaml, level, &[]);
        for kind in ["segments", "pipelines", "scheduled_pushes", "tags"] {
            if dice.once_in(2) {
                world.prune.insert(kind);
            }
        }
        let mut ids = vec!["#a".to_owned(), "#b".to_owned()];
        for number in 0..dice.below(6) {
            let id = format!("s{number}");
            let at = dice.below(ids.len());
            let criteria = if dice.once_in(2) { json!({ "segment": ids[at] }) } else { json!({ "tag": "y" }) };
            let name = ["Old", "Test", "a", "c"][dice.below(4)];
            segment(&mut world, &id, name, &criteria);
            ids.push(id);
        }
        for number in 0..dice.below(4) {
            let time = if dice.once_in(2) { "2029-01-01T0000" } else { "2031-01-01T0000" };
            let at = dice.below(ids.len());
            let name = if dice.once_in(2) { "Old" } else { "Test" };
            push(&mut world, &format!("p{number}"), name, time, &json!({ "segment": ids[at] }));
        }
        for number in 0..dice.below(3) {
            let on = dice.once_in(2);
            pipeline(&mut world, &format!("q{number}"), if dice.once_in(2) { "Old" } else { "q" }, on);
        }
        if dice.once_in(2) {
            world.ignore.push("*/Test".into());
        }
        if dice.once_in(2) {
            world.choice.except.push("segments/old*".into());
        }
        // A resource is declared, and an unmanaged one has its name.
        let after = if dice.once_in(2) {
            yaml.replace("segments: {", "segments: {c: {criteria: {tag: z}}, ")
        } else {
            yaml.to_owned()
        };
        let (changes, steps) = world.plan(&after);
        let before = world.ledger.ids();
        let mut adopted = BTreeSet::new();
        for step in &steps {
            let id = step.id.clone().unwrap_or_default();
            let of = (step.address.kind.to_string(), id.clone());
            match step.verb {
                Verb::Adopt => drop(adopted.insert(of)),
                Verb::Delete => {
                    let found = &world.live.listed[&*step.address.kind][&id];
                    assert!(!before.contains(&(&*step.address.kind, id.as_str())), "seed {seed}: ours is deleted");
                    assert!(adopted.contains(&of), "seed {seed}: deleted before it is ours");
                    assert!(world.prune.contains(&*step.address.kind), "seed {seed}: nobody asked for it");
                    assert!(world.ignore.is_empty() || found.name != "Test", "seed {seed}: it is ignored");
                    assert!(after == yaml || found.name != "c", "seed {seed}: its name is declared");
                    let spec = found.spec.as_ref().unwrap();
                    let runs = kinds::api(&step.address).runs(spec);
                    assert!(runs.is_none_or(|runs| runs.first > Some(world.now)), "seed {seed}: it has begun");
                    deleted += 1;
                }
                _ => {}
            }
        }
        // Whatever is deleted, no remaining resource refers to it.
        let gone: BTreeMap<&str, usize> = steps
            .iter()
            .filter(|step| step.verb == Verb::Delete)
            .map(|step| (step.id.as_deref().unwrap(), step.number))
            .collect();
        for (kind, found) in world.live.listed() {
            let spec = found.spec.as_ref().unwrap();
            let over = kind.api.runs(spec).is_some_and(|runs| runs.last <= Some(world.now));
            for id in kinds::remote::segments(kind.api.audiences(), spec).into_iter().filter(|_| !over) {
                let Some(number) = gone.get(id) else { continue };
                let first = gone.get(found.id.as_str());
                assert!(first.is_some_and(|first| first < number), "seed {seed}: {} still points at {id}", found.id);
            }
        }
        for change in changes.iter().filter(|change| change.is_pruned()) {
            held += usize::from(change.action == Action::ByHand);
            let is_adopted = adopted.contains(&(change.address.kind.to_string(), change.id.clone().unwrap()));
            assert_eq!(is_adopted, change.action == Action::Delete, "seed {seed}: what stays is not taken over");
        }
        left += usize::from(!world.choice.except.is_empty());
    }
    assert!(deleted > 100 && held > 50 && left > 50, "{deleted} deleted, {held} held, {left} left out");
}
