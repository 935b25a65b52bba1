//! Writing nodes as YAML, in the layout of `pushplan fmt`: `layout` does not change the result.

mod scalar;

pub use scalar::{block, can_be_single, key, line, quoted};

use pushplan_model::node::{MapEntry, Node, Plain, Scalar, Style, Tree};

/// Spaces for each level.
const INDENT: usize = 2;
/// The largest width of a map or a list on one line, in bytes as the layout counts.
const WIDTH: usize = 88;
/// A map with more entries has a line for each.
const FEW: usize = 4;

/// A document.
pub fn text(node: &Node) -> String {
    let mut out = String::new();
    match &node.tree {
        Tree::Map(entries) if !entries.is_empty() => map(entries, 0, &mut out),
        Tree::List(items) if !items.is_empty() => list(items, 0, &mut out),
        _ => out = behind(node, 0, 0).trim_start_matches(' ').to_owned(),
    }
    out
}

/// A manifest: for each kind its resources by key, in the given order.
pub fn manifest<'n>(sections: impl IntoIterator<Item = (&'n str, Vec<(&'n str, &'n Node)>)>) -> String {
    let mut out = String::new();
    for (kind, resources) in sections {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&format!("{}:\n", key(kind)));
        // Long resources are separated by blank lines.
        let mut apart = None;
        for (name, node) in resources {
            let mut written = String::new();
            resource(name, node, INDENT, &mut written);
            let is_long = written.lines().count() > 3;
            if apart.is_some_and(|before| before || is_long) {
                out.push('\n');
            }
            apart = Some(is_long);
            out.push_str(&written);
        }
    }
    out
}

/// One resource with its key, on separate lines.
pub fn resource(name: &str, node: &Node, indent: usize, out: &mut String) {
    out.push_str(&format!("{:indent$}{}:", "", key(name)));
    match &node.tree {
        Tree::Map(entries) if !entries.is_empty() => {
            out.push('\n');
            map(entries, indent + INDENT, out);
        }
        _ => out.push_str(&behind(node, indent, 0)),
    }
}

/// The entries of a map, each on a separate line with this indentation.
pub fn map(entries: &[MapEntry], indent: usize, out: &mut String) {
    for MapEntry { key, value } in entries {
        let key = self::key(key);
        out.push_str(&format!("{:indent$}{key}:", ""));
        out.push_str(&behind(value, indent, indent + key.len() + 2));
    }
}

/// The items of a list, each with its dash on a separate line with this indentation.
pub fn list(items: &[Node], indent: usize, out: &mut String) {
    for item in items {
        out.push_str(&format!("{:indent$}-", ""));
        out.push_str(&behind_dash(item, indent));
    }
}

/// The text after `key:`, with the blank before it and the end of its last line. The key's line is indented by
/// `indent`, and a value on the same line begins at `column`.
pub fn behind(node: &Node, indent: usize, column: usize) -> String {
    if let Some(line) = on_line(node, column, false) {
        return format!(" {line}\n");
    }
    let mut out = String::new();
    match &node.tree {
        Tree::Map(entries) => {
            out.push('\n');
            map(entries, indent + INDENT, &mut out);
        }
        Tree::List(items) => {
            out.push('\n');
            list(items, indent + INDENT, &mut out);
        }
        Tree::Scalar(scalar) => out = format!(" {}", block(&scalar.text, indent + INDENT).unwrap_or_default()),
    }
    out
}

/// Returns the text after the dash of a list item, with the space before it and the end of its last line. The dash is indented
/// by `indent`.
pub(crate) fn behind_dash(node: &Node, indent: usize) -> String {
    let inner = indent + INDENT;
    if let Some(line) = on_line(node, inner, true) {
        return format!(" {line}\n");
    }
    let mut out = String::new();
    match &node.tree {
        Tree::Map(entries) => map(entries, inner, &mut out),
        Tree::List(items) => list(items, inner, &mut out),
        Tree::Scalar(scalar) => return format!(" {}", block(&scalar.text, inner).unwrap_or_default()),
    }
    // Its first line begins after the dash.
    format!(" {}", &out[inner..])
}

/// A value on the line of its key or its dash, if it is short enough.
fn on_line(node: &Node, column: usize, item: bool) -> Option<String> {
    let written = match &node.tree {
        Tree::Scalar(scalar) => return (!is_block(scalar)).then(|| line(scalar, false)),
        Tree::Map(entries) if entries.is_empty() => return Some(flow(node)),
        Tree::List(items) if items.is_empty() => return Some(flow(node)),
        Tree::List(items) => items.iter().all(is_word).then(|| flow(node))?,
        // `- country: US` needs no braces.
        Tree::Map(entries) if item && entries.len() == 1 => return None,
        Tree::Map(entries) => {
            let fits = |entry: &MapEntry| match &entry.value.tree {
                Tree::Scalar(scalar) => !is_block(scalar) && (item || is_word(&entry.value)),
                Tree::List(items) => items.iter().all(is_word),
                Tree::Map(inner) => item && inner.iter().all(|entry| is_word(&entry.value)),
            };
            (entries.len() <= FEW && entries.iter().all(fits)).then(|| flow(node))?
        }
    };
    (column + written.len() <= WIDTH).then_some(written)
}

/// Whether a scalar is written as a block of lines.
fn is_block(scalar: &Scalar) -> bool {
    is_text(scalar) && scalar.text.contains('\n') && block(&scalar.text, 0).is_some()
}

/// Whether a scalar is one word, or no text.
fn is_word(node: &Node) -> bool {
    matches!(&node.tree, Tree::Scalar(scalar) if !scalar.text.contains([' ', '\n']))
}

/// Whether a scalar is a text, not a number, a boolean or null.
fn is_text(scalar: &Scalar) -> bool {
    scalar.style != Style::Plain || scalar.plain() == Some(Plain::Text)
}

/// A value in brackets, on one line.
pub fn flow(node: &Node) -> String {
    match &node.tree {
        Tree::Scalar(scalar) => line(scalar, true),
        Tree::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Tree::Map(entries) => {
            let fields: Vec<String> =
                entries.iter().map(|entry| format!("{}: {}", key(&entry.key), flow(&entry.value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}
