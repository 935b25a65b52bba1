//! An audience in words, as written: conditions on one line, or a tree of lines.

use super::condition::Condition;
use super::facts::Fact;
use super::phrases::condition;
use crate::nouns::audience::Selector;

/// The maximum depth of conditions.
const DEPTH: usize = 4;

/// A line of a tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeLine {
    pub depth: usize,
    pub text: String,
}

/// Returns an audience as lines, each compound above its members. Segments are named and not resolved.
pub fn tree(selector: &Selector) -> Vec<TreeLine> {
    let mut lines = Vec::new();
    let mut open = vec![(selector, false, 0)];
    while let Some((selector, not, depth)) = open.pop() {
        let (members, text) = match (selector, not) {
            (Selector::Not(member), _) => {
                open.push((member, !not, depth));
                continue;
            }
            (Selector::And(members) | Selector::Or(members), _) if members.is_empty() => {
                (&[][..], if not { "everyone" } else { "nobody" }.to_owned())
            }
            (Selector::And(members), false) => (&members[..], "all of".to_owned()),
            (Selector::And(members), true) => (&members[..], "not all of".to_owned()),
            (Selector::Or(members), false) => (&members[..], "any of".to_owned()),
            (Selector::Or(members), true) => (&members[..], "none of".to_owned()),
            (Selector::All, _) => (&[][..], if not { "nobody" } else { "everyone" }.to_owned()),
            (single, _) => (&[][..], Fact::of(single).map(|fact| condition(&fact, not)).unwrap_or_default()),
        };
        lines.push(TreeLine { depth, text });
        open.extend(members.iter().rev().map(|member| (&member.value, false, depth + 1)));
    }
    lines
}

/// Returns an audience as conditions on one line: `lifecycle = buyer and lapsed; country = CA or US`.
///
/// A semicolon joins conditions that must all be met. Conditions with `and` or `or` are put in parentheses next to
/// others.
pub fn words(selector: &Selector) -> String {
    if let Selector::Triggered = selector {
        return "the device that triggered the pipeline".to_owned();
    }
    match Condition::of(selector, DEPTH) {
        Condition::All(members) if members.iter().all(|member| matches!(member, Condition::Not(_))) => {
            let excluded = members.into_iter().map(Condition::opposite).collect();
            format!("everyone except {}", Condition::Any(excluded).enclosed())
        }
        Condition::All(members) => members.iter().map(Condition::clause).collect::<Vec<_>>().join("; "),
        Condition::Not(member) => format!("everyone except {}", member.enclosed()),
        single => single.text(),
    }
}
