//! Plans that are large in one place.

use std::fmt::Write;

use super::project::{World, manifest};

/// A name, and the world of it with so many of what it is about.
pub type Extreme = (&'static str, fn(usize) -> World);

pub const EXTREMES: [Extreme; 5] = [
    ("members of one tag group", members),
    ("users of one segment", users),
    ("pushes to another tag", edits),
    ("segments in a chain", chain),
    ("members of one audience", wide),
];

/// One tag group whose members all get another tag.
fn members(count: usize) -> World {
    let text = |tag: &str| {
        let mut out = "  likes:\n    tags: [old, new]\n    members:\n      named_users:\n".to_owned();
        for n in 0..count {
            let _ = writeln!(out, "        user-{n}: [{tag}]");
        }
        manifest([("tag_groups", out)])
    };
    World::new(&text("old"), text("new"))
}

fn segment(key: &str, criteria: &str) -> (&'static str, String) {
    ("segments", format!("  {key}:\n    display_name: The {key}\n    criteria:\n{criteria}"))
}

/// One segment that changes, and as many pushes to it as there are.
pub fn users(count: usize) -> World {
    let buyers = |tag: &str| segment("buyers", &format!("      tag: {tag}\n"));
    let text = |tag: &str| manifest((0..count).map(|n| push(n, "{segment: buyers}")).chain([buyers(tag)]));
    World::new(&text("buyer"), text("customer"))
}

/// Pushes whose own audience changes, as many as there are.
pub fn edits(count: usize) -> World {
    let text = |tag: &str| manifest((0..count).map(|n| push(n, &format!("{{tag: {tag}}}"))));
    World::new(&text("buyer"), text("customer"))
}

fn push(n: usize, audience: &str) -> (&'static str, String) {
    let (month, day, hour) = (n / 224 % 11 + 2, n / 8 % 28 + 1, n % 8 + 9);
    let text = format!(
        "  push-{n}:\n    schedule: {{scheduled_time: 2026-{month:02}-{day:02}T{hour:02}:00}}\n    push:\n\
         \x20     audience: {audience}\n      device_types: [ios]\n      notification: {{alert: Sale {n}}}\n"
    );
    ("scheduled_pushes", text)
}

/// Segments each of which names the one before. The first of them changes, and so all do.
fn chain(count: usize) -> World {
    let one = |n: usize, tag: &str| match n {
        0 => segment("link-0", &format!("      tag: {tag}\n")),
        n => segment(
            &format!("link-{n}"),
            &format!("      and:\n        - segment: link-{}\n        - tag: step-{n}\n", n - 1),
        ),
    };
    let text = |tag: &str| manifest((0..count).map(|n| one(n, tag)));
    World::new(&text("buyer"), text("customer"))
}

/// One audience of many tags, of which every second one changes.
fn wide(count: usize) -> World {
    let text = |word: &str| {
        let tag = |n: usize| format!("        - tag: {}-{n}\n", if n.is_multiple_of(2) { word } else { "any" });
        let criteria: String = (0..count).map(tag).collect();
        manifest([segment("wide", &format!("      or:\n{criteria}"))])
    };
    World::new(&text("old"), text("new"))
}
