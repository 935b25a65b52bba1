//! Any project, applied to the built-in service, leaves nothing to do; and neither does any edit of it.

mod stories;

use proptest::prelude::*;
use pushplan::nouns::level::Level;

use crate::generated::meaning::{Meant, project};
use crate::generated::sound;
use crate::generated::world::{World, written};

fn settings() -> ProptestConfig {
    let cases = std::env::var("PUSHPLAN_RANDOM_PROJECTS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60);
    ProptestConfig { cases, failure_persistence: None, max_shrink_time: 15_000, ..ProptestConfig::default() }
}

/// A project, and what someone makes of it: some resources stay, some go, some get the content of another, some are
/// new.
fn edited() -> impl Strategy<Value = (Vec<Meant>, Vec<Meant>)> {
    (project(), project(), project(), any::<u64>()).prop_map(|(one, more, other, seed)| {
        let mut before = [one, more].concat();
        sound::unique(&mut before);
        let mut after = Vec::new();
        for (n, meant) in before.iter().enumerate() {
            let same = other.iter().find(|it| it.kind == meant.kind);
            match ((seed >> (2 * n)) & 3, same) {
                (0, _) => {}
                (1, Some(same)) => after.push(Meant { tree: same.tree.clone(), ..meant.clone() }),
                _ => after.push(meant.clone()),
            }
        }
        after.extend(other.iter().skip(1).cloned());
        sound::unique(&mut after);
        (sound::sound(before), sound::sound(after))
    })
}

/// Applies one project and then the other. Each time, nothing is left to do.
fn story(level: Level, before: &str, after: &str) {
    runtime().block_on(World::story(level, before, after));
}

/// A project without the fields that the contract lacks.
fn documented(mut project: Vec<Meant>) -> Vec<Meant> {
    project.iter_mut().for_each(|meant| meant.tree.document());
    project
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn an_applied_project_leaves_nothing_to_do_where_everything_can_be_changed((before, after) in edited()) {
        story(Level::Extended, &written(&before), &written(&after));
    }

    #[test]
    fn an_applied_project_leaves_nothing_to_do_but_by_hand_where_the_contract_alone_holds((before, after) in edited()) {
        story(Level::Documented, &written(&documented(before)), &written(&documented(after)));
    }
}
