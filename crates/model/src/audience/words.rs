//! An audience in plain words, as its author wrote it: a sentence, or a tree of lines.

use super::facts::{About, Fact};
use super::phrases::{condition, said, some_of};
use super::value::Value;
use crate::node::At;
use crate::nouns::audience::Selector;

/// How deep a sentence may be.
const DEPTH: usize = 4;

/// What is beyond its length.
const MORE: &str = "more conditions";

/// A line of a tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeLine {
    pub depth: usize,
    pub text: String,
}

/// An audience as lines, each compound above its members. Segments are named and not opened.
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

/// An audience as one sentence: `people with the tag vip, but not those in GB`.
pub fn words(selector: &Selector) -> String {
    match selector {
        Selector::All => "everyone".to_owned(),
        Selector::Triggered => "the device that set off the pipeline".to_owned(),
        Selector::Channel(..) | Selector::NamedUser(_) => {
            let whole = Fact::of(selector).map(|fact| said(&fact, false)).unwrap_or_default();
            let name = whole.trim_start_matches("on ").trim_start_matches("of ");
            name.to_owned()
        }
        Selector::And(members) if !members.is_empty() => all_of(members),
        Selector::Not(member) => match &member.value {
            Selector::Not(twice) => format!("people {}", phrase(twice, DEPTH, true)),
            _ => format!("everyone but those {}", phrase(member, DEPTH, true)),
        },
        Selector::And(_) => "nobody".to_owned(),
        Selector::Or(members) if members.is_empty() => "nobody".to_owned(),
        Selector::Or(members) if alike(members).is_none() => {
            format!("people {}", several(members.iter().map(|member| &member.value), "or"))
        }
        single => format!("people {}", phrase(single, DEPTH, true)),
    }
}

/// Those who meet all conditions, but not those who are left out.
fn all_of(members: &[At<Selector>]) -> String {
    let (mut within, mut without): (Vec<&Selector>, Vec<&Selector>) = (vec![], vec![]);
    for member in members {
        match &member.value {
            Selector::Not(inner) if !matches!(inner.value, Selector::Not(_)) => without.push(inner),
            kept => within.push(kept),
        }
    }
    let (kept, left) = (several(within.iter().copied(), "and"), several(without.iter().copied(), "or"));
    match (within.is_empty(), without.is_empty()) {
        (_, true) => format!("people {kept}"),
        (true, false) => format!("everyone but those {left}"),
        (false, false) => format!("people {kept}, but not those {left}"),
    }
}

/// Several conditions. A compound that another one follows has brackets: where it ends could be taken for where that one does.
fn several<'s>(members: impl ExactSizeIterator<Item = &'s Selector>, word: &str) -> String {
    let last = members.len().saturating_sub(1);
    some_of(members.enumerate().map(|(number, member)| phrase(member, DEPTH, number == last)), word, MORE)
}

/// What follows `people`; a compound has brackets unless it is `bare`.
fn phrase(selector: &Selector, depth: usize, bare: bool) -> String {
    let inner = |members: &[At<Selector>], word: &str| {
        let all = some_of(members.iter().map(|member| phrase(member, depth - 1, false)), word, MORE);
        if bare { all } else { format!("({all})") }
    };
    match selector {
        Selector::All => "of any kind".to_owned(),
        Selector::And(members) | Selector::Or(members) if members.is_empty() => "of no kind".to_owned(),
        Selector::And(members) | Selector::Or(members) if members.len() == 1 && depth > 0 => {
            phrase(&members[0], depth - 1, bare)
        }
        Selector::Or(members) if alike(members).is_some() => {
            alike(members).map(|fact| said(&fact, false)).unwrap_or_default()
        }
        Selector::And(_) | Selector::Or(_) | Selector::Not(_) if depth == 0 => "who meet more conditions".to_owned(),
        Selector::And(members) if members.len() == 2 => format!("both {}", inner(members, "and")),
        Selector::And(members) => format!("at once {}", inner(members, "and")),
        Selector::Or(members) => format!("either {}", inner(members, "or")),
        Selector::Not(member) => match Fact::of(member) {
            Some(fact) => said(&fact, true),
            None => format!("not {}", phrase(member, depth - 1, false)),
        },
        single => Fact::of(single).map(|fact| said(&fact, false)).unwrap_or_default(),
    }
}

/// Several values of one thing as one fact, such as a list of countries.
fn alike(members: &[At<Selector>]) -> Option<Fact> {
    let mut facts = members.iter().map(|member| Fact::of(member));
    let whole = facts.next()??;
    let one_of_many = matches!(whole.about, About::Property(_) | About::Channel | About::Address | About::NamedUser);
    let mut values: Vec<Value> = whole.values.into_iter().collect();
    for fact in facts {
        let fact = fact.filter(|fact| one_of_many && fact.about == whole.about)?;
        values.extend(fact.values);
    }
    one_of_many.then(|| Fact::new(whole.about, values))
}
