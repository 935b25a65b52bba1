//! Audiences: conditions are compared member by member, so that one difference is one line.

use pushplan_model::node::{MapEntry, Node, Scalar, Style, Tree};
use pushplan_model::source::Span;
use serde_json::Value;

use super::super::author;
use super::align::{align, is_alike};
use super::walk::{Going, Holder, Refusal, Spot, Walk};

/// The members of a compound in canonical form, and its operator.
fn compound(value: &Value) -> Option<(&str, &[Value])> {
    let (key, members) = value.as_object().filter(|map| map.len() == 1)?.iter().next()?;
    matches!(key.as_str(), "AND" | "OR").then_some((key.as_str(), members.as_array()?.as_slice()))
}

/// Whether some members are equal, or all have the same shapes: then it is the same list with another operator.
fn has_same_members(olds: &[Value], news: &[Value]) -> bool {
    let alike = olds.len() == news.len() && olds.iter().zip(news).all(|(old, new)| is_alike(old, new));
    alike || olds.iter().any(|old| news.contains(old))
}

/// The condition as a person would write it.
fn authored(ordered: &Node) -> Node {
    let mut node = author::condition(ordered);
    author::escape(&mut node);
    node
}

impl Walk<'_> {
    /// Edits a different condition. `ordered` is the live one, in canonical form and order.
    pub fn condition(&mut self, at: Spot, old: &Value, new: &Value, ordered: &Node) -> Result<(), Refusal> {
        if old == new {
            return Ok(());
        }
        let head = head(at.node);
        let is = |word: &str| head.is_some_and(|head| head.key.eq_ignore_ascii_case(word));
        if let (Some(head), Some((word, olds)), Some((other, news))) = (head, compound(old), compound(new))
            && is(word)
            && (word == other || has_same_members(olds, news))
            && let Some(Node { tree: Tree::List(members), .. }) = ordered.get(other)
        {
            let spot = self.beneath(at, head);
            match &head.value.tree {
                Tree::List(nodes) if nodes.len() == olds.len() => {
                    let own = self.own(spot)?;
                    let change = |walk: &mut Self, spot: Spot, was: usize, is: usize| {
                        walk.condition(spot, &olds[was], &news[is], &members[is])
                    };
                    let bare = self.bare(own);
                    let steps = align(olds, news, &|n| bare.get(n) == Some(&true));
                    if word != other {
                        let is_upper = head.key.chars().all(char::is_uppercase);
                        let other = if is_upper { other.to_owned() } else { other.to_lowercase() };
                        self.rename(at, &head.key, &other)?;
                    }
                    return self.steps(spot, own, steps, change, |n| authored(&members[n]));
                }
                // A single member needs no list.
                Tree::Map(_) if word == other && olds.len() == 1 && news.len() == 1 => {
                    return self.condition(spot, &olds[0], &news[0], &members[0]);
                }
                _ => {}
            }
        }
        if let (Some(head), Some(was), Some(now), Some(member)) =
            (head, old.get("NOT"), new.get("NOT"), ordered.get("NOT"))
            && is("NOT")
        {
            return self.condition(self.beneath(at, head), was, now, member);
        }
        let mut long = author::long_condition(ordered);
        author::escape(&mut long);
        // A tag with an explicit group keeps that form.
        let group = |node: &Node| node.get("group").map(Node::to_json);
        let is_long = begin_alike(at.node, &long) && group(at.node) == group(&long);
        let new = if is_long { long } else { authored(ordered) };
        self.like(at, &new, true)
    }

    fn beneath<'n>(&self, at: Spot<'n>, entry: &'n MapEntry) -> Spot<'n> {
        let find = |node: &'n Node| node.entries()?.iter().find(|own| own.key == entry.key);
        let own = at.own.and_then(find);
        let flow = at.flow || at.own.is_some_and(|own| self.page(own).is_flow(own));
        Spot {
            node: &entry.value,
            own: own.map(|own| &own.value),
            holder: Holder::Entry(own.unwrap_or(entry)),
            flow,
            used: self.used(at, entry),
        }
    }

    /// Edits one condition to be like another in the form that people write: if both begin with the same key, only the
    /// differences are edited. `whole`: it is a condition, not a part of one.
    fn like(&mut self, at: Spot, new: &Node, whole: bool) -> Result<(), Refusal> {
        match (&at.node.tree, &new.tree) {
            (Tree::Scalar(old), Tree::Scalar(new)) => {
                if said(&old.text, old.style) == said(&new.text.replace("$${", "${"), new.style) {
                    return Ok(());
                }
                self.scalar(at, new)
            }
            (Tree::Map(_), Tree::Map(_)) if other_word(at.node, new).is_some() => {
                let (was, is) = other_word(at.node, new).unwrap_or_default();
                self.rename(at, was, is)
            }
            (Tree::Map(_), Tree::Map(entries)) if !whole || begin_alike(at.node, new) => {
                let own = |entry: &&MapEntry| !entry.is_own();
                let all = at.node.entries().unwrap_or_default().iter().filter(own).map(|entry| entry.key.as_str());
                let going = Going {
                    keys: all.filter(|key| new.get(key).is_none()).collect(),
                    others_come: entries.iter().any(|entry| at.node.get(&entry.key).is_none()),
                };
                for entry in at.node.entries().unwrap_or_default().iter().filter(own) {
                    let spot = self.beneath(at, entry);
                    match new.get(&entry.key) {
                        Some(new) => self.like(spot, new, false)?,
                        None => self.remove(at, spot, &entry.key, &going)?,
                    }
                }
                let names: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
                for (n, entry) in entries.iter().enumerate().filter(|(_, entry)| at.node.get(&entry.key).is_none()) {
                    self.insert(at, &entry.key, entry.value.clone(), &names[..n])?;
                }
                Ok(())
            }
            (Tree::List(nodes), _) => {
                let news = match &new.tree {
                    Tree::List(items) => items.as_slice(),
                    _ => std::slice::from_ref(new),
                };
                let read: Vec<Value> = nodes.iter().map(Node::to_json).collect();
                let wanted: Vec<Value> = news.iter().map(Node::to_json).collect();
                let own = self.own(at)?;
                let bare = self.bare(own);
                let steps = align(&read, &wanted, &|n| bare.get(n) == Some(&true));
                self.steps(at, own, steps, |walk, spot, _, is| walk.like(spot, &news[is], false), |n| news[n].clone())
            }
            _ => self.replace(at, new),
        }
    }
}

/// The entry with the type of a condition.
fn head(node: &Node) -> Option<&MapEntry> {
    node.entries()?
        .iter()
        .find(|entry| !entry.is_own() && !matches!(entry.key.as_str(), "group" | "operator" | "value"))
}

/// The first keys of two conditions, if nothing else differs.
fn other_word<'n>(old: &'n Node, new: &'n Node) -> Option<(&'n str, &'n str)> {
    let said: Vec<&MapEntry> = old.entries()?.iter().filter(|entry| !entry.is_own()).collect();
    let (was, is) = (head(old)?, head(new)?);
    let like = |(one, other): (&&MapEntry, &MapEntry)| {
        (one.key == other.key || std::ptr::eq(*one, was)) && one.value.to_json() == other.value.to_json()
    };
    let rest = new.entries()?;
    let same = was.key != is.key && said.len() == rest.len() && said.iter().zip(rest).all(like);
    same.then_some((was.key.as_str(), is.key.as_str()))
}

fn begin_alike(old: &Node, new: &Node) -> bool {
    head(old).map(|head| &head.key) == head(new).map(|head| &head.key)
}

/// The value of a scalar: `true` and `"true"` of a flag are equal.
fn said(text: &str, style: Style) -> String {
    let node = Node { span: Span::NONE, tree: Tree::Scalar(Scalar { text: text.to_owned(), style }) };
    match node.to_json() {
        Value::String(text) => text,
        other => other.to_string(),
    }
}
