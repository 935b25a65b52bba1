//! Why an audience matches nobody: the few conditions that exclude each other, and the law behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::condition::Condition;
use super::facts::{About, Fact, tells_location};
use super::phrases;
use super::question::{Question, Solution};
use super::solver::Budget;
use super::terms::{Id, Join, Term, Terms};
use super::value::Value;
use crate::nouns::device::DeviceType;
use crate::nouns::vocabulary::Values;
use crate::text;

/// The maximum depth of a condition in a text.
const DEPTH: usize = 3;

/// Conditions that no device meets together. Without any one of them, some device could.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The conditions in words, such as `country = US`.
    pub conditions: Vec<String>,
    /// The laws that forbid it, such as `a device has one country`. Empty if one condition is the opposite of another.
    pub laws: Vec<String>,
    /// The audience consists of alternatives, all of which are impossible. The conditions are those of the first one.
    pub alternatives: bool,
}

impl Conflict {
    /// Finds the conditions that exclude each other in a term that matches nobody. If the budget ends, it returns more
    /// conditions than necessary.
    pub(super) fn of(terms: &Terms, root: Id, budget: &mut Budget) -> Self {
        let (mut at, mut alternatives) = (root, false);
        let ids = loop {
            match terms.get(at) {
                Term::Joined(Join::Any, members) => (at, alternatives) = (members[0], true),
                Term::Joined(Join::All, members) => match fewest(terms, members, budget)[..] {
                    [one] if one != at => at = one,
                    ref several => break several.to_vec(),
                },
                _ => break vec![at],
            }
        };
        let conditions = ids.iter().map(|id| condition(terms, *id, DEPTH).text()).collect();
        Self { conditions, laws: laws(terms, &ids), alternatives }
    }
}

/// Such as: no device meets both `country = CA` and `country = US`: a device has one country.
impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = self.conditions.iter().map(|condition| format!("`{condition}`"));
        let conditions = phrases::some_of(quoted, "and", "more conditions");
        match self.conditions.len() {
            1 => write!(f, "no device meets {conditions}")?,
            2 => write!(f, "no device meets both {conditions}")?,
            _ => write!(f, "no device meets all of {conditions}")?,
        }
        if !self.laws.is_empty() {
            write!(f, ": {}", text::all_of(&self.laws))?;
        }
        if self.alternatives {
            f.write_str("; the other alternatives are impossible too")?;
        }
        Ok(())
    }
}

/// Returns the fewest members that exclude each other. None of them can be left out.
fn fewest(terms: &Terms, members: &[Id], budget: &mut Budget) -> Vec<Id> {
    let mut question = Question::about(terms, members);
    let mut left = match question.ask(members, &[], budget) {
        Solution::None(core) => core,
        _ => return members.to_vec(),
    };
    let mut at = 0;
    while at < left.len() {
        let others: Vec<Id> = left.iter().copied().filter(|id| *id != left[at]).collect();
        match question.ask(&others, &[], budget) {
            Solution::None(core) => left.retain(|id| core.contains(id)),
            Solution::OverBudget => break,
            Solution::Device(_) => at += 1,
        }
    }
    left.sort_unstable_by_key(|id| members.iter().position(|member| member == id));
    left
}

/// The condition of a term, cut off at a depth.
fn condition(terms: &Terms, id: Id, depth: usize) -> Condition {
    match terms.get(id) {
        Term::Everyone => Condition::word("everyone"),
        Term::Nobody => Condition::word("not everyone"),
        Term::Is { fact, not } => Condition::fact(fact, *not),
        Term::Joined(..) if depth == 0 => Condition::word("…"),
        Term::Joined(join, members) => {
            let members = members.iter().map(|member| condition(terms, *member, depth - 1));
            Condition::of_all(members, *join == Join::All)
        }
    }
}

/// Returns the laws that the facts in these terms violate.
fn laws(terms: &Terms, ids: &[Id]) -> Vec<String> {
    let facts: Vec<(&Fact, bool)> = (0..terms.len())
        .zip(terms.within(ids))
        .filter_map(|(id, needed)| match terms.get(id) {
            Term::Is { fact, not } if needed => Some((&**fact, *not)),
            _ => None,
        })
        .collect();
    let mut laws = Vec::new();
    let mut said: BTreeMap<&About, BTreeSet<&Value>> = BTreeMap::new();
    let mut sure: BTreeMap<&About, usize> = BTreeMap::new();
    for (fact, not) in &facts {
        said.entry(&fact.about).or_default().extend(&fact.values);
        *sure.entry(&fact.about).or_default() += usize::from(!not);
    }
    for (about, values) in &said {
        let wrong: Vec<&&Value> = values.iter().filter(|value| !about.can_be(value)).collect();
        if let (Some(group), [value, ..]) = (about.group(), &wrong[..]) {
            let tag = text::short(value.text().unwrap_or_default(), 40);
            laws.push(match group.values {
                Values::Flag => format!("`{}` is `true` or `false`, never `{tag}`", group.shorthand),
                Values::Version(_) => format!("versions have the form 8.3.X, not `{tag}`"),
                _ => format!("no device has `{tag}` for `{}`", group.shorthand),
            });
        } else if let Some(noun) = phrases::noun(about).filter(|_| sure[about] > 1) {
            match about.group() {
                Some(group) if group.values == Values::Flag => {
                    laws.push(format!("a device is either {} or not", group.noun));
                }
                _ => laws.push(format!("a device has one {noun}")),
            }
        } else if let Some(group) = about.group().filter(|_| about.count() == Some(values.len())) {
            laws.push(match group.values {
                Values::Flag => format!("every device is either {} or not", group.noun),
                _ => format!("every device has a {}", group.noun),
            });
        }
    }
    laws.extend(platforms(&said, &sure));
    let sdk = |about: &&About, values: &BTreeSet<&Value>| {
        about.is_sdk() && values.iter().any(|value| tells_location(value).is_some())
    };
    if said.keys().any(|about| about.is_location()) && said.iter().any(|(about, values)| sdk(about, values)) {
        laws.push("devices report whether location is enabled since SDK 6.0".to_owned());
    }
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for about in said.keys() {
        if let About::Place { id, .. } = about {
            *places.entry(id).or_default() += 1;
        }
    }
    if places.values().any(|periods| *periods > 1) {
        laws.push("a longer period includes the shorter ones".to_owned());
    }
    laws
}

/// Returns what ties facts to kinds of device, if two kinds are needed.
fn platforms(said: &BTreeMap<&About, BTreeSet<&Value>>, sure: &BTreeMap<&About, usize>) -> Vec<String> {
    let mut needs: BTreeMap<String, String> = BTreeMap::new();
    let mut other = false;
    for (about, values) in said.iter().filter(|(about, _)| sure[**about] > 0) {
        let (kind, what) = match about {
            About::Property(_) => (about.kind(), phrases::noun(about).map(|noun| format!("have an {noun}"))),
            About::Kind => {
                other = true;
                (None, None)
            }
            About::Address => {
                needs.insert("open channels".to_owned(), "have an address".to_owned());
                continue;
            }
            About::Channel => {
                let mut kinds = values.iter().filter_map(|value| match value {
                    Value::Channel(_, line) => line.kind(),
                    _ => None,
                });
                (kinds.next().filter(|_| values.len() == 1), Some("have such a channel".to_owned()))
            }
            _ => (None, None),
        };
        if let (Some(kind), Some(what)) = (kind, what) {
            let kind: DeviceType = kind;
            needs.entry(format!("{} devices", phrases::kind(&Value::Kind(kind)))).or_insert(what);
        }
    }
    if needs.len() + usize::from(other) < 2 {
        return vec![];
    }
    needs.into_iter().map(|(who, what)| format!("only {who} {what}")).collect()
}
