//! Lists: added, removed, moved and changed items.

use pushplan_model::node::{Node, Tree};
use pushplan_model::source::Span;
use serde_json::Value;

use super::align::{AlignStep, align, align_set, is_same_set};
use super::walk::{Holder, Refusal, Spot, Walk, read_of, written};

impl Walk<'_> {
    pub fn list(&mut self, at: Spot, old: &[Value], new: &[Value], authored: &[Node]) -> Result<(), Refusal> {
        let (Tree::List(nodes), own) = (&at.node.tree, self.own(at)?) else { return Ok(()) };
        let read: Vec<Value> = nodes.iter().map(read_of).collect();
        // All lists of texts are sets, in any order; other lists are sets if they are read in another order than
        // written.
        let is_set = read.iter().all(Value::is_string) || (read != old && is_same_set(&read, old));
        let made = |n: usize| authored.get(n).cloned().unwrap_or_else(|| written(&new[n]));
        if (!is_set && nodes.len() != old.len()) || new.is_empty() {
            let all = (0..new.len()).map(made).collect();
            return self.replace(at, &Node { span: Span::NONE, tree: Tree::List(all) });
        }
        let bare = if is_set { self.bare_behind(own) } else { self.bare(own) };
        let is_bare = |n: usize| bare.get(n) == Some(&true);
        let steps = if is_set { align_set(&read, new, &is_bare) } else { align(old, new, &is_bare) };
        let old = if is_set { &read } else { old };
        self.steps(
            at,
            own,
            steps,
            |walk, spot, was, is| {
                walk.value(spot, &old[was], &new[is], authored.get(is), None);
                Ok(())
            },
            made,
        )
    }

    /// Which items of a list have no comment.
    pub fn bare(&self, list: &Node) -> Vec<bool> {
        let page = self.page(list);
        let Tree::List(items) = &list.tree else { return Vec::new() };
        items.iter().map(|item| !page.has_remark(item)).collect()
    }

    /// Which items of a list have no comment on the same line. In a set, positions have no meaning: only such a comment
    /// belongs to the item.
    fn bare_behind(&self, list: &Node) -> Vec<bool> {
        let page = self.page(list);
        let Tree::List(items) = &list.tree else { return Vec::new() };
        items.iter().map(|item| !page.has_remark_behind(item)).collect()
    }

    /// Executes the steps from the items of a list to the new ones.
    pub fn steps(
        &mut self,
        at: Spot,
        own: &Node,
        steps: Vec<AlignStep>,
        mut change: impl FnMut(&mut Self, Spot, usize, usize) -> Result<(), Refusal>,
        made: impl Fn(usize) -> Node,
    ) -> Result<(), Refusal> {
        let (Tree::List(nodes), Tree::List(owns)) = (&at.node.tree, &own.tree) else { return Ok(()) };
        let page = self.page(own);
        let flow = at.flow || page.is_flow(own);
        let going: Vec<usize> = steps.iter().filter_map(AlignStep::removed).collect();
        let goes = |n: usize| going.contains(&n);
        let all_go = going.len() == owns.len();
        let comes = |step: &AlignStep| matches!(step, AlignStep::Add { .. } | AlignStep::Move { .. });
        if all_go && !steps.iter().any(comes) {
            return Err(vec![(own.span, "nothing would be left of this")]);
        }
        let start = own.span.range().start;
        let alias = owns.iter().find(|item| item.span.file() != own.span.file() || item.span.range().start < start);
        let moves = |step: &AlignStep| {
            matches!(step, AlignStep::Remove { .. } | AlignStep::Add { .. } | AlignStep::Move { .. })
        };
        if let Some(alias) = alias.filter(|_| steps.iter().any(moves)) {
            return Err(self.anchored(at, alias.span));
        }
        if all_go && page.is_flow(own) {
            let new = steps.iter().filter_map(|step| match step {
                AlignStep::Add { new, .. } | AlignStep::Move { new, .. } => Some(made(*new)),
                _ => None,
            });
            return self.replace(at, &Node { span: Span::NONE, tree: Tree::List(new.collect()) });
        }
        for step in steps {
            match step {
                AlignStep::Keep => {}
                AlignStep::Change { old, new } => {
                    let spot =
                        Spot { node: &nodes[old], own: owns.get(old), holder: Holder::Item, flow, used: at.used };
                    change(self, spot, old, new)?;
                }
                AlignStep::Remove { old } => self.edit(own, page.no_item(own, old, &goes))?,
                AlignStep::Move { old, new, after } if page.is_flow(own) => {
                    self.edit(own, page.no_item(own, old, &goes))?;
                    self.edit(own, page.new_item(own, after, &made(new)))?;
                }
                AlignStep::Move { old, after, .. } => match page.moved_item(own, old, after) {
                    Some(changes) => changes.into_iter().try_for_each(|change| self.edit(own, Some(change)))?,
                    None => self.edit(own, None)?,
                },
                AlignStep::Add { after, new } => self.edit(own, page.new_item(own, after, &made(new)))?,
            }
        }
        Ok(())
    }
}
