//! Conditions with `and`, `or` and `not`, written so that they are unambiguous.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{About, Fact};
use super::phrases::{self, NAMED, plain_condition, tags};
use super::value::Value;
use crate::nouns::audience::Selector;
use crate::nouns::vocabulary::Values;

/// Replaces conditions that are left out.
const MORE: &str = "more conditions";

/// A condition that devices meet or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// A condition on one thing, and whether it lists several values.
    One(String, bool),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

/// A member of an `and` or `or`.
enum Member<'s> {
    /// Tags of one group.
    Tags(&'s str, Vec<&'s str>),
    /// Values of one thing.
    Values(About, Vec<Value>),
    Other(&'s Selector),
}

impl Condition {
    /// Returns the condition of a selector, cut off at a depth.
    pub(super) fn of(selector: &Selector, depth: usize) -> Self {
        let (mut selector, mut not) = (selector, false);
        while let Selector::Not(member) = selector {
            (selector, not) = (&member.value, !not);
        }
        let plain = match selector {
            Selector::And(members) | Selector::Or(members) if members.is_empty() => {
                return Self::word(if not { "everyone" } else { "nobody" });
            }
            Selector::All => return Self::word(if not { "nobody" } else { "everyone" }),
            Selector::And(_) | Selector::Or(_) if depth == 0 => Self::One(MORE.to_owned(), true),
            Selector::And(members) | Selector::Or(members) if members.len() == 1 => Self::of(&members[0], depth - 1),
            Selector::And(_) => Self::joined(&members(selector), true, depth),
            Selector::Or(_) => Self::joined(&members(selector), false, depth),
            single => return Fact::of(single).map_or_else(|| Self::word(""), |fact| Self::fact(&fact, not)),
        };
        if not { plain.opposite() } else { plain }
    }

    /// Returns a fact or its negation.
    pub(super) fn fact(fact: &Fact, not: bool) -> Self {
        // The negation of a flag is not always its opposite.
        if fact.about.group().is_some_and(|group| group.values == Values::Flag) {
            return Self::One(phrases::condition(fact, not), false);
        }
        let (text, is_list) = plain_condition(&fact.about, &fact.values);
        let plain = Self::One(text, is_list);
        if not { plain.opposite() } else { plain }
    }

    pub(super) fn word(word: &str) -> Self {
        Self::One(word.to_owned(), false)
    }

    /// Joins members with `and` or `or`. If there are very many, the first are shown and the rest are counted.
    pub(super) fn of_all(members: impl ExactSizeIterator<Item = Self>, is_and: bool) -> Self {
        let number = members.len();
        let shown = if number > NAMED + 1 { NAMED } else { number };
        let mut all: Vec<Self> = members.take(shown).collect();
        // `not a and b` could be taken for `not (a and b)`.
        all.sort_by_key(Self::is_negated);
        if shown < number {
            all.push(Self::One(format!("{} {MORE}", number - shown), false));
        }
        match all.len() {
            1 => all.remove(0),
            _ if is_and => Self::All(all),
            _ => Self::Any(all),
        }
    }

    fn joined(selectors: &[&Selector], is_and: bool, depth: usize) -> Self {
        let word = if is_and { "and" } else { "or" };
        let members = merged(selectors, is_and);
        let members = members.into_iter().map(|member| match member {
            Member::Tags(group, names) => Self::One(tags(group, &names, word), names.len() > 1),
            Member::Values(about, values) => Self::fact(&Fact::new(about, values), false),
            Member::Other(selector) => Self::of(selector, depth - 1),
        });
        Self::of_all(members, is_and)
    }

    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Not(member) => *member,
            other => Self::Not(Box::new(other)),
        }
    }

    fn is_negated(&self) -> bool {
        match self {
            Self::Not(_) => true,
            Self::One(text, _) => text.starts_with("not "),
            Self::All(_) | Self::Any(_) => false,
        }
    }

    /// Returns the condition on its own.
    pub(super) fn text(&self) -> String {
        let joined = |members: &[Self], word: &str| members.iter().map(Self::enclosed).collect::<Vec<_>>().join(word);
        match self {
            Self::One(text, _) => text.clone(),
            Self::Not(member) => format!("not {}", member.enclosed()),
            Self::All(members) => joined(members, " and "),
            Self::Any(members) => joined(members, " or "),
        }
    }

    /// Returns the condition for use next to `and`, `or` or `not`.
    pub(super) fn enclosed(&self) -> String {
        match self {
            Self::One(_, false) | Self::Not(_) => self.text(),
            Self::One(_, true) | Self::All(_) | Self::Any(_) => format!("({})", self.text()),
        }
    }

    /// Returns the condition for use next to a semicolon. A list of values is unambiguous without parentheses.
    pub(super) fn clause(&self) -> String {
        match self {
            Self::One(text, _) => text.clone(),
            other => other.enclosed(),
        }
    }
}

/// Returns the members of an `and` or `or`, including those of nested members that are joined by the same word.
fn members(whole: &Selector) -> Vec<&Selector> {
    let is_and = matches!(whole, Selector::And(_));
    let (mut found, mut open) = (Vec::new(), vec![whole]);
    while let Some(selector) = open.pop() {
        match selector {
            Selector::And(members) if is_and && !members.is_empty() => {
                open.extend(members.iter().rev().map(|member| &member.value));
            }
            Selector::Or(members) if !is_and && !members.is_empty() => {
                open.extend(members.iter().rev().map(|member| &member.value));
            }
            other => found.push(other),
        }
    }
    found
}

/// Groups members about the same thing at the place of the first one: tags of one group, and values of which a device
/// has only one.
fn merged<'s>(selectors: &[&'s Selector], is_and: bool) -> Vec<Member<'s>> {
    let mut found: Vec<Member<'s>> = Vec::with_capacity(selectors.len());
    let (mut groups, mut abouts) = (BTreeMap::<&str, usize>::new(), BTreeMap::<About, usize>::new());
    let mut seen = BTreeSet::new();
    for selector in selectors {
        let fact = match selector {
            Selector::Tag(_) | Selector::Channel(..) | Selector::NamedUser(_) => Fact::of(selector),
            _ => None,
        };
        match (selector, fact) {
            (Selector::Tag(tag), Some(Fact { about: About::Tag { group: Some(_), .. }, .. })) => {
                let group = tag.group.as_ref().map_or("", |group| group.value.as_str());
                let place = *groups.entry(group).or_insert(found.len());
                match found.get_mut(place) {
                    _ if !seen.insert((group, tag.tag.value.as_str())) => {}
                    Some(Member::Tags(_, names)) => names.push(&tag.tag.value),
                    _ => found.push(Member::Tags(group, vec![&tag.tag.value])),
                }
            }
            (_, Some(Fact { about, values })) if !is_and && phrases::noun(&about).is_some() && !is_flag(&about) => {
                let place = *abouts.entry(about.clone()).or_insert(found.len());
                match found.get_mut(place) {
                    Some(Member::Values(_, all)) => all.extend(values),
                    _ => found.push(Member::Values(about, values.into_iter().collect())),
                }
            }
            _ => found.push(Member::Other(selector)),
        }
    }
    found
}

/// Whether each of its values has its own words.
fn is_flag(about: &About) -> bool {
    about.group().is_some_and(|group| group.values == Values::Flag)
}
