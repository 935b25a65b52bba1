//! Writing what is meant as YAML: in one plain way, and in any of the others.

use pushplan_testing::Dice;

use super::meaning::{Field, Meant, Tree};

/// A sequence of choices that a seed decides.
pub struct Choices {
    dice: Dice,
    /// Always the first possibility: the plain way of writing.
    plain: bool,
    /// What has an anchor in this document, with its name; `None`: nothing gets one.
    anchors: Option<Vec<(String, String)>>,
}

/// What is written in the place of a value, or before it.
enum Mark {
    None,
    Anchor(String),
    Alias(String),
}

impl Choices {
    pub fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), plain: false, anchors: None }
    }

    /// Choices with anchors: a value that appears twice in a document may be written once.
    pub fn with_anchors(seed: u64) -> Self {
        Self { anchors: Some(Vec::new()), ..Self::new(seed) }
    }

    fn mark(&mut self, settled: &Tree) -> Mark {
        let Some(anchors) = &self.anchors else { return Mark::None };
        let (said, number) = (format!("{settled:?}"), anchors.len());
        let known = anchors.iter().find(|(other, _)| *other == said).map(|(_, name)| name.clone());
        match known {
            Some(name) if self.one_in(2) => Mark::Alias(name),
            None if self.one_in(3) => {
                let name = format!("a{number}");
                self.anchors.iter_mut().for_each(|all| all.push((said.clone(), name.clone())));
                Mark::Anchor(name)
            }
            _ => Mark::None,
        }
    }

    pub fn below(&mut self, limit: usize) -> usize {
        if self.plain {
            return 0;
        }
        self.dice.below(limit)
    }

    fn one_in(&mut self, many: usize) -> bool {
        !self.plain && self.below(many) == 0
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        if !self.plain {
            for last in (1..items.len()).rev() {
                items.swap(last, self.below(last + 1));
            }
        }
    }
}

/// One file, every key in its place, everything in blocks.
pub fn plainly(project: &[Meant]) -> String {
    let choices = &mut Choices { dice: Dice::new(1), plain: true, anchors: None };
    document(project.iter().collect(), choices)
}

/// Some number of files, each with some number of documents, written in any way.
pub fn somehow(project: &[Meant], choices: &mut Choices) -> Vec<String> {
    let mut resources: Vec<&Meant> = project.iter().collect();
    choices.shuffle(&mut resources);
    let count = 1 + choices.below(3);
    let mut files = vec![String::new(); count];
    for part in resources.chunks(1 + choices.below(project.len())) {
        let file = &mut files[choices.below(count)];
        if !file.is_empty() {
            file.push_str("---\n");
        }
        file.push_str(&document(part.to_vec(), choices));
    }
    files
}

fn document(resources: Vec<&Meant>, choices: &mut Choices) -> String {
    let mut sections: Vec<(&str, Vec<Field>)> = Vec::new();
    for Meant { kind, key, tree } in resources {
        let field = Field::new(key, tree.clone());
        match sections.iter_mut().find(|(known, _)| known == kind) {
            Some((_, fields)) => fields.push(field),
            None => sections.push((kind, vec![field])),
        }
    }
    let fields = sections.into_iter().map(|(kind, fields)| Field::new(kind, Tree::Free(fields))).collect();
    let mut out = String::new();
    choices.anchors.iter_mut().for_each(Vec::clear);
    block(&Tree::Free(fields), 0, &mut out, choices);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// Settles what the tree leaves open: one of several ways, a list of one as its item, an order.
fn settle(tree: &Tree, choices: &mut Choices) -> Tree {
    match tree {
        Tree::Either(ways) => {
            let way = ways[choices.below(ways.len())].clone();
            settle(&way, choices)
        }
        Tree::Many(items) if items.len() == 1 && choices.one_in(2) => settle(&items[0], choices),
        Tree::Many(items) => Tree::List(items.clone()),
        Tree::Set(items) => {
            let mut items = items.clone();
            choices.shuffle(&mut items);
            Tree::List(items)
        }
        Tree::Map(fields) | Tree::Free(fields) => {
            let mut fields: Vec<Field> =
                fields.iter().filter(|field| !field.optional || !choices.one_in(2)).cloned().collect();
            if matches!(tree, Tree::Map(_)) && choices.one_in(6) {
                fields.push(Field::new("x-note", Tree::List(vec![Tree::text("anything"), Tree::Bare("1".into())])));
            }
            choices.shuffle(&mut fields);
            Tree::Free(fields)
        }
        other => other.clone(),
    }
}

fn comment(indent: usize, out: &mut String, choices: &mut Choices) {
    if choices.one_in(8) {
        out.push_str(["\n", "# a note: [not, a, list]\n"][choices.below(2)]);
    }
    if choices.one_in(8) {
        out.push_str(&" ".repeat(indent));
        out.push_str("# another\n");
    }
}

/// Writes a tree on lines of its own, at an indentation, and ends the last of them.
fn block(tree: &Tree, indent: usize, out: &mut String, choices: &mut Choices) {
    let pad = " ".repeat(indent);
    match settle(tree, choices) {
        Tree::Free(fields) if !fields.is_empty() => {
            for field in fields {
                comment(indent, out, choices);
                out.push_str(&pad);
                out.push_str(&key(&field, choices));
                out.push(':');
                behind(&field.value, indent, out, choices);
            }
        }
        Tree::List(items) if !items.is_empty() => {
            for item in items {
                comment(indent, out, choices);
                out.push_str(&pad);
                out.push('-');
                behind(&item, indent, out, choices);
            }
        }
        settled => {
            out.push_str(&pad);
            flow(&settled, out, choices);
            out.push('\n');
        }
    }
}

/// Writes a tree behind a `key:` or a `-`: on the same line, or below and further in.
fn behind(tree: &Tree, indent: usize, out: &mut String, choices: &mut Choices) {
    let settled = settle(tree, choices);
    match choices.mark(&settled) {
        Mark::None => {}
        Mark::Anchor(name) => out.push_str(&format!(" &{name}")),
        Mark::Alias(name) => return out.push_str(&format!(" *{name}\n")),
    }
    let nested = matches!(&settled, Tree::Free(fields) if !fields.is_empty())
        || matches!(&settled, Tree::List(items) if !items.is_empty());
    if nested && !choices.one_in(3) {
        out.push_str(if choices.one_in(6) { " # below\n" } else { "\n" });
        return block(&settled, indent + 2 + choices.below(3), out, choices);
    }
    if let Tree::Text(text) = &settled
        && text.chars().all(|c| c == '\n' || !c.is_control())
        && !text.starts_with([' ', '\n'])
        && !text.ends_with('\n')
        && !text.is_empty()
        && choices.one_in(5)
    {
        out.push_str(" |-\n");
        for line in text.split('\n') {
            out.push_str(&" ".repeat(indent + 2));
            out.push_str(line);
            out.push('\n');
        }
        return;
    }
    out.push(' ');
    flow(&settled, out, choices);
    out.push_str(if choices.one_in(8) { "   # why\n" } else { "\n" });
}

/// Writes a tree on one line.
fn flow(tree: &Tree, out: &mut String, choices: &mut Choices) {
    match settle(tree, choices) {
        Tree::Free(fields) => {
            out.push('{');
            for (n, field) in fields.iter().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                out.push_str(&key(field, choices));
                out.push_str(": ");
                let settled = settle(&field.value, choices);
                match choices.mark(&settled) {
                    Mark::None => {}
                    Mark::Anchor(name) => out.push_str(&format!("&{name} ")),
                    Mark::Alias(name) => {
                        out.push_str(&format!("*{name}"));
                        continue;
                    }
                }
                flow(&settled, out, choices);
            }
            out.push('}');
        }
        Tree::List(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                flow(item, out, choices);
            }
            out.push(']');
        }
        Tree::Text(text) => out.push_str(&scalar(&text, choices)),
        Tree::Bare(text) => out.push_str(&text),
        Tree::Either(_) | Tree::Many(_) | Tree::Set(_) | Tree::Map(_) => unreachable!("settled"),
    }
}

fn key(field: &Field, choices: &mut Choices) -> String {
    let spelling = &field.keys[choices.below(field.keys.len())];
    scalar(spelling, choices)
}

/// A text in some quotes, or without where nothing can mistake it.
fn scalar(text: &str, choices: &mut Choices) -> String {
    let bare = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '/')
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text.to_lowercase().as_str());
    match choices.below(3) {
        0 if bare => text.to_owned(),
        1 if !text.contains(|c: char| c.is_control()) => format!("'{}'", text.replace('\'', "''")),
        _ => serde_json::to_string(text).expect("a text"),
    }
}
