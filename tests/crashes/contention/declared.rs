//! The manifests of a round.

use std::collections::BTreeMap;
use std::fmt::Write;

use pushplan_testing::Dice;

/// The maximal number of resources of each kind.
const MOST: u64 = 16;

/// Segments and templates by their keys, each with a word for its version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    pub segments: BTreeMap<String, String>,
    pub templates: BTreeMap<String, String>,
}

impl Declared {
    /// Another declaration: about a third is unchanged, and the rest is added, removed or changed.
    pub fn next(&self, dice: &mut Dice) -> Self {
        let mut next = Self::default();
        for number in 0..MOST {
            let (segment, template) = (format!("segment-{number}"), format!("template-{number}"));
            vary(&mut next.segments, &self.segments, segment, dice);
            vary(&mut next.templates, &self.templates, template, dice);
        }
        // An empty project would be taken for a mistake.
        next.segments.entry("always".to_owned()).or_insert_with(|| "w0".to_owned());
        next.templates.entry("always".to_owned()).or_insert_with(|| "w0".to_owned());
        next
    }

    pub fn manifest(&self) -> String {
        let mut text = String::from("segments:\n");
        for (key, word) in &self.segments {
            writeln!(text, "  {key}: {{criteria: {{tag: {word}}}}}").expect("a text");
        }
        text.push_str("templates:\n");
        for (key, word) in &self.templates {
            writeln!(text, "  {key}: {{push: {{notification: {{alert: {word}}}}}}}").expect("a text");
        }
        text
    }
}

fn vary(next: &mut BTreeMap<String, String>, before: &BTreeMap<String, String>, key: String, dice: &mut Dice) {
    let word = match (dice.below(6), before.get(&key)) {
        (0 | 1, Some(same)) => same.clone(),
        (0 | 1, None) | (2, _) => return,
        _ => format!("w{}", dice.between(1, 1_000_000)),
    };
    next.insert(key, word);
}
