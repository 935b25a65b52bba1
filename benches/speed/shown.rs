//! Showing a plan in which everything changes, against making it.

use std::hint::black_box;
use std::time::Instant;

use pushplan::check::{Subject, check};
use pushplan::plan::Plan;
use pushplan::render::Style;
use pushplan::render::html::report::html;
use pushplan::render::plan::{Ahead, markdown, text};
use serde_json::Value;

#[path = "../render/project.rs"]
mod world;

use world::{World, units_of};

type Form = fn(&Plan, &Ahead) -> String;
pub const FORMS: [(&str, Form); 3] =
    [("text", |plan, ahead| text(plan, ahead, Style::PLAIN)), ("Markdown", markdown), ("HTML", html)];

/// A project of which something changes in each resource.
pub struct Shown(World);

/// The seconds of a round.
pub struct Times {
    pub planning: f64,
    pub forms: [f64; FORMS.len()],
}

fn seconds<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let begin = Instant::now();
    let made = black_box(run());
    (begin.elapsed().as_secs_f64(), made)
}

impl Shown {
    pub fn prepare(resources: usize) -> Self {
        Self(World::edited(resources))
    }

    /// Planning is what `pushplan plan` does before it shows anything, without the network and the disk.
    pub fn round(&self) -> Times {
        let world = &self.0;
        let (planning, plan) = seconds(|| {
            let manifests = world.manifests();
            let (desired, _) = manifests.resolve(None);
            black_box(check(&Subject { desired: &desired, target: None, now: world.now }));
            let answered: Vec<Value> = serde_json::from_str(&world.answers).expect("JSON");
            black_box(answered);
            world.plan(&units_of(&manifests))
        });
        let ahead = Ahead::default();
        let forms = FORMS.map(|(name, form)| {
            let (took, made) = seconds(|| form(&plan, &ahead));
            assert!(!made.is_empty(), "{name} is empty");
            took
        });
        Times { planning, forms }
    }
}
