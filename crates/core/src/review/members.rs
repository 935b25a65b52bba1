//! Tags and channels that a plan adds or removes. They change the members of an audience whose text is the same.
//!
//! A device that gets the tag `gold` because it belongs to the named user `ann` is, before the plan, a device of `ann`. So the
//! audience after the plan is the written one in which `gold` means "has gold, or belongs to ann", and both are compared as
//! conditions on devices as they are before the plan.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::address::Address;
use pushplan_model::kinds::{self, Belonging, Tagging};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{Having, Selector, Tag};
use pushplan_model::source::Span;

use super::{end, start};
use crate::plan::{Action, Change, Plan};

/// The number of members with the same change that represent all of them.
const ALIKE: usize = 2;
/// The number of changes that are evaluated for one condition.
const MOST: usize = 40;

/// The meaning of a condition after the plan.
#[derive(Debug)]
pub(super) struct Regrouping<'p> {
    condition: Condition,
    /// The people concerned, and a description of them.
    whose: Selector,
    who: String,
    /// Whether `whose` describes devices after the plan.
    is_after: bool,
    /// Whether they meet the condition after the plan; otherwise they no longer do.
    gains: bool,
    /// If they no longer do: those who still meet it for another reason.
    still: Option<Selector>,
    pub change: &'p Change,
    /// Whether it describes exactly these people: nobody else is affected, and none of them can have the tag for
    /// another reason.
    pub is_exact: bool,
    /// The effect of the change: `gives named user ann the tag gold`.
    pub words: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Condition {
    Tag { group: String, tag: String },
    User(String),
}

impl Condition {
    fn of(selector: &Selector) -> Option<Self> {
        match selector {
            Selector::Tag(Tag { tag, group }) => {
                let group = group.as_ref().map(|group| group.value.clone()).unwrap_or_default();
                Some(Self::Tag { group, tag: tag.value.clone() })
            }
            Selector::NamedUser(user) => Some(Self::User(user.value.clone())),
            _ => None,
        }
    }

    /// Those who meet it for this reason. Only a tag of a group can come from a named user as well.
    fn having(&self, reason: Having) -> Option<Selector> {
        match self {
            Self::Tag { group, tag } if !group.is_empty() => Some(Selector::Tag(reason.tag(group, tag))),
            Self::Tag { .. } | Self::User(_) => None,
        }
    }
}

impl Regrouping<'_> {
    /// The effect of several of them; `is_one` if they are about one member.
    pub fn several(&self, is_one: bool) -> String {
        match (self.is_after, is_one) {
            (true, true) => format!("changes the tags of {}", self.who),
            (true, false) => "changes the tags of several members".to_owned(),
            (false, _) => "adds or removes several channels".to_owned(),
        }
    }
}

/// The changes of a plan to tags and channels of people.
#[derive(Debug, Default)]
pub(super) struct Regroupings<'p> {
    all: Vec<Regrouping<'p>>,
    /// The changes for each condition.
    of: BTreeMap<Condition, Vec<usize>>,
    /// The changes that move a channel to a named user: every other user loses it.
    come: Vec<usize>,
}

impl<'p> Regroupings<'p> {
    pub fn of(plan: &'p Plan) -> Self {
        let mut channels = Vec::new();
        let mut members: BTreeMap<String, Vec<(&'p Change, Tagging)>> = BTreeMap::new();
        for change in &plan.changes {
            if matches!(change.action, Action::Keep | Action::Past | Action::Forget | Action::Adopt) {
                continue;
            }
            let api = kinds::api(&change.address);
            let (was, is) = (start(change), end(change));
            // A new channel had no other user before.
            let installs = change.action == Action::Create && api.departing(is, None).is_some();
            for tagging in api.taggings(was, is).into_iter().filter(|_| !installs) {
                members.entry(tagging.whose.who.clone()).or_default().push((change, tagging));
            }
            channels.extend(api.belonging(was, is).map(|belonging| (change, belonging)));
        }
        let tags = if channels.is_empty() { BTreeMap::new() } else { user_tags(plan) };
        let mut all: Vec<Regrouping<'p>> = Vec::new();
        for (number, (change, Belonging { user, channel, gains })) in channels.into_iter().enumerate() {
            let words = match (*change.address.resource().key == *user, gains) {
                (true, true) => format!("gets the channel {}", channel.id),
                (true, false) => format!("loses the channel {}, which loses this user's tags", channel.id),
                (false, true) => format!("adds the channel {} to the named user {user}", channel.id),
                (false, false) => format!("removes the channel {} from the named user {user}", channel.id),
            };
            let whose = Selector::Channel(channel.key, at(channel.id));
            let mut add = |condition: Condition, whose: Selector, gains: bool| {
                all.push(Regrouping {
                    is_exact: false,
                    gains,
                    still: if gains { None } else { condition.having(Having::Itself) },
                    condition,
                    whose,
                    who: user.clone(),
                    is_after: false,
                    change,
                    words: words.clone(),
                });
            };
            // A channel has the tags of its named user, and loses those of its previous user.
            let own: BTreeSet<&Condition> = tags.get(&user).into_iter().flatten().collect();
            own.iter().for_each(|condition| add((*condition).clone(), whose.clone(), gains));
            for (other, conditions) in tags.iter().filter(|(other, _)| gains && number < MOST && **other != user) {
                let had = || Selector::And(vec![at(whose.clone()), at(Selector::NamedUser(at(other.clone())))]);
                let lost = conditions.iter().filter(|condition| !own.contains(condition));
                lost.for_each(|condition| add(condition.clone(), had(), false));
            }
            add(Condition::User(user.clone()), whose, gains);
        }
        // Of many members with the same change, a few represent all.
        let mut alike: BTreeMap<Vec<(bool, String, Option<String>)>, usize> = BTreeMap::new();
        let mut is_part = false;
        for taggings in members.into_values() {
            let change = |(_, it): &(&Change, Tagging)| (it.removed, it.tag.clone(), it.group.clone());
            let number = alike.entry(taggings.iter().map(change).collect()).or_default();
            *number += 1;
            if *number > ALIKE {
                is_part = true;
                continue;
            }
            for (change, Tagging { removed, tag, group, whose }) in taggings {
                let words = match removed {
                    false => format!("adds the tag {tag} to {}", whose.who),
                    true => format!("removes the tag {tag} from {}", whose.who),
                };
                let condition = Condition::Tag { group: group.unwrap_or_default(), tag };
                // A user's device may have the tag itself, and a channel through its user.
                let other = if whose.user.is_some() { Having::Itself } else { Having::ThroughUser };
                let still = condition.having(other).filter(|_| removed);
                let (whose, who, gains) = (whose.selector, whose.who, !removed);
                let (is_after, is_exact) = (true, gains);
                all.push(Regrouping { condition, whose, who, is_after, is_exact, gains, still, change, words });
            }
        }
        let mut of: BTreeMap<Condition, Vec<usize>> = BTreeMap::new();
        for (at, one) in all.iter().enumerate() {
            of.entry(one.condition.clone()).or_default().push(at);
        }
        is_part |= of.values().any(|own| own.len() > MOST);
        all.iter_mut().filter(|_| is_part).for_each(|one| one.is_exact = false);
        let comes = |at: &usize| all[*at].gains && matches!(all[*at].condition, Condition::User(_));
        let come = (0..all.len()).filter(comes).collect();
        Self { all, of, come }
    }

    /// The changes for a condition, and whether each lets people meet it.
    fn concerning(&self, condition: &Condition) -> impl Iterator<Item = (&Regrouping<'p>, bool)> {
        let own = self.of.get(condition).into_iter().flatten().take(MOST).map(|at| &self.all[*at]);
        let is_user = matches!(condition, Condition::User(_));
        let come = self.come.iter().filter(move |_| is_user).map(|at| &self.all[*at]);
        let others = come.filter(move |one| one.condition != *condition).take(MOST);
        own.map(|one| (one, one.gains)).chain(others.map(|one| (one, false)))
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether each of them describes exactly the people that it names.
    pub fn is_exact(&self) -> bool {
        self.all.iter().all(|one| one.is_exact)
    }

    /// The changes for the conditions in an audience.
    pub fn within(&self, selector: &At<Selector>) -> Vec<&Regrouping<'p>> {
        let mut named = BTreeSet::new();
        selector.walk(&mut |one| named.extend(Condition::of(&one.value)));
        let mut found: Vec<&Regrouping<'p>> = Vec::new();
        for (one, _) in named.iter().flat_map(|condition| self.concerning(condition)) {
            if !found.iter().any(|other| std::ptr::eq(*other, one)) {
                found.push(one);
            }
        }
        found
    }

    /// The meaning of an audience after the plan; `None` if it is that of its text.
    pub fn rewritten(&self, selector: &Selector) -> Option<Selector> {
        self.rewritten_without(selector, None)
    }

    /// The meaning of an audience without the changes of one resource.
    pub fn rewritten_without(&self, selector: &Selector, without: Option<&Address>) -> Option<Selector> {
        let all = |members: &[At<Selector>]| -> Option<Vec<At<Selector>>> {
            let new: Vec<Option<Selector>> =
                members.iter().map(|member| self.rewritten_without(&member.value, without)).collect();
            let is_any = new.iter().any(Option::is_some);
            let filled = members.iter().zip(new).map(|(old, new)| new.map_or_else(|| old.clone(), at));
            is_any.then(|| filled.collect())
        };
        match selector {
            Selector::And(members) => all(members).map(Selector::And),
            Selector::Or(members) => all(members).map(Selector::Or),
            Selector::Not(inner) => self.rewritten_without(&inner.value, without).map(not),
            _ => {
                let condition = Condition::of(selector)?;
                let mut meant = None;
                let is_left = |one: &Regrouping| without.is_none_or(|other| one.change.address.resource() != *other);
                for (one, gains) in self.concerning(&condition).filter(|(one, _)| is_left(one)) {
                    let was = meant.unwrap_or_else(|| selector.clone());
                    let after = if one.is_after { self.rewritten_without(&one.whose, without) } else { None };
                    let whose = after.unwrap_or_else(|| one.whose.clone());
                    meant = Some(match gains {
                        true => Selector::Or(vec![at(was), at(whose)]),
                        false => {
                            let others = std::iter::once(not(whose)).chain(one.still.clone()).map(at).collect();
                            Selector::And(vec![at(was), at(Selector::Or(others))])
                        }
                    });
                }
                meant
            }
        }
    }
}

/// The tags that the plan's tag groups assign to named users.
fn user_tags(plan: &Plan) -> BTreeMap<String, Vec<Condition>> {
    let mut tags: BTreeMap<String, Vec<Condition>> = BTreeMap::new();
    for change in &plan.changes {
        for Tagging { tag, group, whose, .. } in kinds::api(&change.address).taggings(None, end(change)) {
            let condition = Condition::Tag { group: group.unwrap_or_default(), tag };
            // A member that is a channel has no named user.
            let Some(user) = whose.user else { continue };
            tags.entry(user).or_default().push(condition);
        }
    }
    tags
}

fn at<T>(value: T) -> At<T> {
    At::new(value, Span::NONE)
}

fn not(selector: Selector) -> Selector {
    Selector::Not(Box::new(at(selector)))
}
