//! The origin of a value that cannot be edited, as shown to users.

use std::ops::Range;

use pushplan_model::kinds::{Resource, Template};
use pushplan_model::node::{MapEntry, Node, Tree};
use pushplan_model::source::{FileId, Span};

use super::super::{PROJECT_FILE, layout};
use super::walk::{Refusal, Spot, Walk};
use super::{A_CATALOGUE, AN_ANCHOR};

impl Walk<'_> {
    /// The value in the resource itself, if it is defined there and nowhere else.
    pub fn own<'n>(&self, at: Spot<'n>) -> Result<&'n Node, Refusal> {
        match self.editor.origin(self.subject, at.node.span) {
            Some((_, why)) if why == A_CATALOGUE && at.own.is_some() => Ok(at.own.unwrap_or(at.node)),
            Some((span, why)) if why == AN_ANCHOR => Err(self.anchored(at, span)),
            Some(origin) => Err(vec![(at.used.unwrap_or(self.subject.own.key.span), "used here"), origin]),
            None => at.own.ok_or_else(|| vec![(self.subject.own.key.span, "used here")]),
        }
    }

    /// The nearest key above the value of an entry, within the resource itself.
    pub fn used(&self, at: Spot, entry: &MapEntry) -> Option<Span> {
        let is_here = self.subject.own.node.span.contains(entry.key.span);
        if is_here { Some(entry.key.span) } else { at.used }
    }

    /// Refuses a value with an anchor: where this resource uses it, where it is defined, and where else it is used.
    pub(crate) fn anchored(&self, at: Spot, span: Span) -> Refusal {
        let used = at.used.unwrap_or(self.subject.own.key.span);
        let used = self.alias_behind(used).unwrap_or(used);
        let mut places = vec![(used, "used here"), (span, AN_ANCHOR)];
        let Some(file) = span.file() else { return places };
        let text = self.editor.text(file);
        for alias in layout::aliases(text) {
            let Some(anchored) = anchored_by(text, &alias) else { continue };
            let user = Span::new(file, alias);
            if user != used && is_within(&self.subject.own.node, file, anchored, span) {
                places.push((user, "used here as well"));
            }
        }
        places
    }

    /// The alias that is the value of a key.
    fn alias_behind(&self, key: Span) -> Option<Span> {
        let (file, end) = (key.file()?, key.range().end);
        let text = self.editor.text(file);
        let behind = text[end..].strip_prefix(['"', '\'']).unwrap_or(&text[end..]).trim_start_matches(' ');
        let alias = behind.strip_prefix(':')?.trim_start_matches(' ');
        let name = alias.find([' ', ',', ']', '}', '\r', '\n']).unwrap_or(alias.len());
        let from = text.len() - alias.len();
        alias.starts_with('*').then(|| Span::new(file, from..from + name))
    }

    /// Where to set the first variable of a text, if nothing sets it.
    pub(crate) fn settable(&self, text: &str) -> Option<String> {
        let text = text.replace("$${", "");
        let (_, rest) = text.split_once("${var.")?;
        let name = rest.split(['}', ':']).next()?;
        let target = self.editor.target?;
        Some(format!("{PROJECT_FILE}: `{name}` can be set under [targets.{target}.variables]"))
    }

    /// Refuses a value that is not written in the manifest, with its origin.
    pub fn elsewhere(&self, at: Spot) -> Refusal {
        let mut places = vec![(self.subject.own.key.span, "used here")];
        if let Some(Node { span, tree: Tree::Scalar(name) }) = at.node.get("template") {
            places = vec![(*span, "filled in from this template")];
            let template = self.editor.manifests.collected.base.get(Template::KEY, &name.text);
            places.extend(template.map(|it| (it.key.span, "the template")));
        }
        places
    }

    /// The position of the value of a text's first variable; `None` if nothing sets it and its default is used.
    pub fn variable(&self, text: &str) -> Option<Span> {
        let text = text.replace("$${", "");
        let (_, rest) = text.split_once("${var.")?;
        let name = rest.split(['}', ':']).next().unwrap_or_default();
        let target = self.editor.target.and_then(|name| self.editor.manifests.project.target(name));
        if rest[name.len()..].starts_with(":-") && !target.is_some_and(|target| target.values().contains_key(name)) {
            return None;
        }
        let Some(file) = self.editor.manifests.project_file() else { return Some(Span::NONE) };
        let text = self.editor.text(file);
        let section =
            self.editor.target.and_then(|target| text.find(&format!("[targets.{target}.variables]"))).unwrap_or(0);
        let line = format!("\n{name} ");
        Some(match text[section..].find(&line).or_else(|| text[section..].find(&format!("\n{name}="))) {
            Some(at) => Span::new(file, section + at + 1..section + at + 1 + name.len()),
            None => Span::new(file, section..section),
        })
    }
}

/// The start of the value to which an alias refers.
fn anchored_by(text: &str, alias: &Range<usize>) -> Option<usize> {
    let anchor = format!("&{}", text[alias.clone()].strip_prefix('*')?);
    let is_whole = |at: &(usize, &str)| text[at.0 + anchor.len()..].starts_with([' ', '\r', '\n']);
    let (at, _) = text[..alias.start].rmatch_indices(&anchor).find(is_whole)?;
    let behind = &text[at + anchor.len()..];
    Some(text.len() - behind.trim_start().len())
}

/// Whether a span is in the node that begins at a position.
fn is_within(node: &Node, file: FileId, begin: usize, inner: Span) -> bool {
    let is_it =
        node.span.file() == Some(file) && node.span.range().start == begin && super::begins_in(node.span, inner);
    is_it
        || match &node.tree {
            Tree::Scalar(_) => false,
            Tree::List(items) => items.iter().any(|item| is_within(item, file, begin, inner)),
            Tree::Map(entries) => entries.iter().any(|entry| is_within(&entry.value, file, begin, inner)),
        }
}
