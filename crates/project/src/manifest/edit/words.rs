//! Current and new values in the form of manifests.

use jiff::tz::TimeZone;
use pushplan_model::address::Address;
use pushplan_model::kinds;
use pushplan_model::node::{At, MapEntry, Node, Scalar, Style, Tree};
use pushplan_model::source::Span;
use serde_json::Value;

use super::super::collect::Declaration;
use super::super::layers::Stack;
use super::super::{author, write};
use super::Editor;
use super::special::in_zone;
use super::walk::{entry_of, put};

impl Editor<'_> {
    /// A value of a field in the form of a manifest; `spec`: the resource with the field. `None` if it is one word or
    /// does not exist, or is no separate field.
    pub fn words(&self, address: &Address, path: &str, spec: &Value, value: Option<&Value>) -> Option<String> {
        let (kind, value) = (kinds::of(address), value?);
        let mut whole = spec.clone();
        let way: Vec<String> = path.split('.').map(str::to_owned).collect();
        put(&mut whole, &way, Some(value.clone()));
        let is_there = way.iter().try_fold(&whole, |it, key| it.get(key)) == Some(value);
        let authored = is_there.then(|| author::authored(kind, &address.key, &whole))?;
        self.words_at(address, &authored, path)
    }

    /// The current value of a field in the files. `None` if it is one word, or is not written there.
    pub fn said(&self, address: &Address, path: &str) -> Option<String> {
        self.layers(address).into_iter().find_map(|own| shown(at(&own.node, path)?))
    }

    /// The new value of a field, in the time zone of the file.
    pub(super) fn words_at(&self, address: &Address, authored: &Node, path: &str) -> Option<String> {
        let mut node = at(authored, path)?.clone();
        let zone_of = |path: &str| {
            let own = self.layers(address).into_iter().find_map(|own| at(&own.node, path))?;
            match &own.get("time_zone")?.tree {
                Tree::Scalar(name) => Some((name.text.clone(), TimeZone::get(&name.text).ok()?)),
                _ => None,
            }
        };
        let (owner, last) = path.rsplit_once('.').unwrap_or(("", path));
        if let ("scheduled_time", Tree::Scalar(time)) = (last, &node.tree) {
            let (name, zone) = zone_of(owner)?;
            return Some(format!("\"{}\" in {name}", local(&time.text, &zone)?));
        }
        if let (Some((name, zone)), Tree::Map(entries)) = (zone_of(path), &mut node.tree)
            && let Some(entry) = entries.iter_mut().find(|entry| *entry.key == "scheduled_time")
            && let Tree::Scalar(time) = &mut entry.value.tree
            && let Some(local) = local(&time.text, &zone)
        {
            time.text = local;
            let tree = Tree::Scalar(Scalar { text: name, style: Style::Quoted });
            let zone = Node { span: Span::NONE, tree };
            entries.push(MapEntry { key: At::new("time_zone".to_owned(), Span::NONE), value: zone });
        }
        shown(&node)
    }

    /// The declarations of a resource, the one with the highest priority first.
    fn layers(&self, address: &Address) -> Vec<&Declaration> {
        let kind = kinds::of(address);
        let Some(Stack { own, over, .. }) = self.manifests.stack(self.target, kind, &address.key) else {
            return Vec::new();
        };
        over.into_iter().rev().chain([own]).collect()
    }
}

/// A time of the service in local time of a zone.
fn local(time: &str, zone: &TimeZone) -> Option<String> {
    let time = in_zone(time, zone).or_else(|| in_zone(&time.replacen(':', "", 1), zone))?;
    let form = if time.second() == 0 { "%Y-%m-%dT%H:%M" } else { "%Y-%m-%dT%H:%M:%S" };
    Some(time.strftime(form).to_string())
}

/// The node at a path. A list with one item may be written without the list.
fn at<'n>(node: &'n Node, path: &str) -> Option<&'n Node> {
    path.split('.').filter(|step| !step.is_empty()).try_fold(node, |node, step| {
        let (key, number) = step.strip_suffix(']').and_then(|step| step.split_once('[')).unwrap_or((step, ""));
        let node = &entry_of(node, key)?.value;
        match (&node.tree, number.parse::<usize>()) {
            (_, Err(_)) => Some(node),
            (Tree::List(items), Ok(number)) => items.get(number),
            (_, Ok(number)) => (number == 0).then_some(node),
        }
    })
}

/// The form of a value that is more than words, because a list of words has the same form on the service.
fn shown(node: &Node) -> Option<String> {
    let is_word = |node: &Node| matches!(node.tree, Tree::Scalar(_));
    match &node.tree {
        Tree::Scalar(_) => None,
        Tree::List(items) if items.iter().all(is_word) => None,
        _ => Some(write::flow(node)),
    }
}
