//! Edits of one text: the positions of values, their style, and their replacements.

use std::ops::Range;

use pushplan_model::node::{MapEntry, Node, Plain, Scalar, Style, Tree};

use super::super::write;

/// A text that is edited.
#[derive(Clone, Copy, Debug)]
pub struct EditedPage<'t> {
    pub text: &'t str,
}

/// A range of a text, and its replacement.
pub type TextChange = (Range<usize>, String);

/// A replaced value, before its comments are handled.
#[derive(Debug)]
pub struct Rewritten {
    pub range: Range<usize>,
    pub text: String,
    /// The comment after the key, which is kept there.
    pub kept: Option<Range<usize>>,
}

impl Rewritten {
    pub fn all((range, text): TextChange) -> Self {
        Self { range, text, kept: None }
    }
}

/// The beginning of a block of text: its indicator, and the position of that.
struct Block<'t> {
    sign: &'t str,
    at: usize,
}

impl<'t> EditedPage<'t> {
    pub fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |end| end + 1)
    }

    /// The end of a line, without its break.
    pub fn line_end(&self, at: usize) -> usize {
        let end = self.text[at..].find('\n').map_or(self.text.len(), |end| at + end);
        if self.text[at..end].ends_with('\r') { end - 1 } else { end }
    }

    /// The start of the next line.
    pub(crate) fn next_line(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |end| at + end + 1)
    }

    pub fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    pub(crate) fn begins_a_line(&self, at: usize) -> bool {
        self.text[self.line_start(at)..at].bytes().all(|byte| byte == b' ')
    }

    /// Whether a map or a list is in brackets.
    pub(crate) fn is_flow(&self, node: &Node) -> bool {
        let start = node.span.range().start;
        match &node.tree {
            Tree::Scalar(_) => false,
            Tree::Map(entries) => entries.first().is_none_or(|first| first.key.span.range().start > start),
            Tree::List(items) => match items.first() {
                Some(first) => self.text[start..].starts_with('[') && first.span.range().start > start,
                None => true,
            },
        }
    }

    /// The indicator of a block of text.
    fn block(&self, node: &Node) -> Option<Block<'t>> {
        let start = node.span.range().start;
        if !matches!(&node.tree, Tree::Scalar(scalar) if scalar.style != Style::Plain) || !self.begins_a_line(start) {
            return None;
        }
        let before = self.text[..self.line_start(start)].trim_end();
        let from = self.line_start(before.len());
        let line = &self.text[from..before.len()];
        let line = &line[..remark(line).unwrap_or(line.len())];
        let signs = line.match_indices(['|', '>']).filter_map(|(at, _)| {
            let rest = &line[at..];
            let sign = rest.split([' ', '\t']).next().unwrap_or(rest);
            let apart = line[..at].ends_with([' ', '\t']);
            let is_sign = sign[1..].bytes().all(|byte| b"+-123456789".contains(&byte)) && sign.len() <= 3;
            let is_last = rest[sign.len()..].trim().is_empty();
            (apart && is_sign && is_last).then_some(Block { sign, at: from + at })
        });
        signs.into_iter().next()
    }

    /// The end of a node's content: the last line of a block of text, or the last value of a map.
    pub fn end(&self, node: &Node) -> usize {
        let range = node.span.range();
        match &node.tree {
            Tree::Scalar(_) if self.block(node).is_some() => {
                let written = self.text[range.clone()].trim_end();
                self.line_end(range.start + written.len())
            }
            Tree::Scalar(_) => range.end,
            _ if self.is_flow(node) => range.end,
            Tree::List(items) => match items.last() {
                Some(item) if item.span.range().start >= range.start => self.end(item),
                _ => self.text[..range.end].trim_end().len(),
            },
            Tree::Map(entries) => entries.last().map_or(range.end, |entry| self.entry_end(entry)),
        }
    }

    pub(crate) fn entry_end(&self, entry: &MapEntry) -> usize {
        let key = entry.key.span.range().end;
        let colon = self.text[key..].find(':').map_or(key, |at| key + at + 1);
        // The value of an alias is written further up.
        let behind = self.text[colon..].trim_start_matches(' ');
        if behind.starts_with('*') && entry.value.span.range().start < key {
            let name = behind.find([' ', ',', ']', '}', '\r', '\n']).unwrap_or(behind.len());
            return self.text.len() - behind.len() + name;
        }
        self.end(&entry.value).max(colon)
    }

    /// Replaces a scalar, in the same style if possible.
    pub fn scalar(&self, node: &Node, new: &Scalar, flow: bool) -> TextChange {
        let range = node.span.range();
        if new.style == Style::Plain && new.plain() != Some(Plain::Text) {
            return match self.block(node) {
                Some(block) => (block.at..self.end(node), new.text.clone()),
                None => (range, new.text.clone()),
            };
        }
        if let Some(block) = self.block(node) {
            return self.block_text(node, &block, &new.text);
        }
        let written = &self.text[range.clone()];
        let single = written.starts_with('\'') && write::can_be_single(&new.text);
        let double = written.starts_with('"') || (written.starts_with('\'') && !single);
        let text = match () {
            () if single => format!("'{}'", new.text.replace('\'', "''")),
            () if double => write::quoted(&new.text),
            () => write::line(&Scalar { style: Style::Quoted, ..new.clone() }, flow),
        };
        (range, text)
    }

    fn block_text(&self, node: &Node, block: &Block, new: &str) -> TextChange {
        let start = node.span.range().start;
        let (end, indent) = (self.end(node), self.column(start));
        let folded = block.sign.starts_with('>') && is_foldable(new);
        let Some(written) = write::block(new, indent) else {
            return (block.at..end, write::quoted(new));
        };
        let (sign, lines) = written.split_once('\n').unwrap_or((&written, ""));
        let lines = lines.strip_suffix('\n').unwrap_or(lines);
        let (sign, lines) = match folded {
            true => (sign.replace('|', ">"), lines.replace('\n', "\n\n")),
            false => (sign.to_owned(), lines.to_owned()),
        };
        if sign == block.sign {
            return (self.line_start(start)..end, lines);
        }
        let behind = &self.text[block.at + block.sign.len()..self.line_end(block.at)];
        (block.at..end, format!("{sign}{behind}\n{lines}"))
    }

    /// Replaces the value of a key.
    pub fn value(&self, entry: &MapEntry, new: &Node, flow: bool) -> Option<Rewritten> {
        let (old, end) = (entry.value.span.range(), self.end(&entry.value));
        if flow {
            return Some(Rewritten::all((old, write::flow(new))));
        }
        let key = entry.key.span.range();
        let colon = key.end + self.text[key.end..].find(':')? + 1;
        let is_block = self.block(&entry.value);
        let from = is_block.map_or(old.start, |block| block.at).max(colon);
        // An anchor between the two belongs to the current value.
        let between = self.text[colon..from].trim_end();
        if between.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
            return None;
        }
        let column = self.column(key.start);
        let written = write::behind(new, column, column + key.len() + 2);
        let written = written.strip_suffix('\n').unwrap_or(&written);
        // The comment after the key is kept there.
        let beside = between.lines().next().unwrap_or_default();
        let text = match written.starts_with('\n') {
            true => format!("{beside}{written}"),
            false => format!("{written}{beside}"),
        };
        let kept = beside.find('#').map(|at| colon + at..colon + beside.len());
        Some(Rewritten { range: colon..end.max(colon), text, kept })
    }

    /// Replaces an item of a list.
    pub fn item(&self, item: &Node, new: &Node, flow: bool) -> Option<TextChange> {
        if flow {
            return Some((item.span.range(), write::flow(new)));
        }
        let Some(dash) = self.dash(item) else { return self.item_below(item, new) };
        let written = write::behind_dash(new, self.column(dash));
        Some((dash + 1..self.end(item), written.strip_suffix('\n').unwrap_or(&written).to_owned()))
    }

    /// Replaces an item that is below its dash, after a comment on the line of the dash.
    fn item_below(&self, item: &Node, new: &Node) -> Option<TextChange> {
        let start = item.span.range().start;
        let column = self.column(start);
        if self.dash_above(item).is_none() || !self.begins_a_line(start) {
            return None;
        }
        let mut written = String::new();
        match new.entries() {
            Some(entries) if !entries.is_empty() => write::map(entries, column, &mut written),
            _ => written = format!("{:column$}{}", "", write::flow(new)),
        }
        Some((start..self.end(item), written[column..].trim_end_matches('\n').to_owned()))
    }

    /// The dash of an item, if nothing is between the two.
    fn dash(&self, item: &Node) -> Option<usize> {
        let from = self.block(item).map_or(item.span.range().start, |block| block.at);
        let before = self.text[..from].trim_end_matches([' ', '\n', '\r']);
        before.ends_with('-').then(|| before.len() - 1)
    }

    /// The dash of an item, even if there are comments between the two.
    pub(crate) fn dash_above(&self, item: &Node) -> Option<usize> {
        let mut before = &self.text[..self.block(item).map_or(item.span.range().start, |block| block.at)];
        loop {
            before = before.trim_end_matches([' ', '\n', '\r']);
            let line = &before[self.line_start(before.len())..];
            let said = line.split('#').next().unwrap_or(line);
            if said.len() == line.len() || !said.trim().is_empty() {
                let dash = before.len() - line.len() + said.trim_end().len();
                let alone = said.bytes().all(|byte| b" -".contains(&byte)) || said.len() == line.len();
                return (alone && said.trim_end().ends_with('-')).then(|| dash - 1);
            }
            before = &before[..before.len() - line.len()];
        }
    }

    /// Inserts a line after the line in which something ends.
    pub(crate) fn line_behind(&self, end: usize, written: &str) -> TextChange {
        self.line_at(self.next_line(end), written)
    }

    /// Inserts a line at the start of another one, or at the end of the text.
    pub(crate) fn line_at(&self, at: usize, written: &str) -> TextChange {
        match self.text[..at].ends_with('\n') {
            true => (at..at, written.to_owned()),
            false => (at..at, format!("\n{}", written.strip_suffix('\n').unwrap_or(written))),
        }
    }

    /// Inserts a new entry of a map, after the entry with that number or at the beginning.
    pub(crate) fn new_entry(&self, map: &Node, after: Option<usize>, new: &MapEntry) -> Option<TextChange> {
        let entries = map.entries()?;
        if self.is_flow(map) {
            let written = format!("{}: {}", write::key(&new.key), write::flow(&new.value));
            return Some(match (entries.first(), after) {
                (None, _) => (map.span.range().start + 1..map.span.range().start + 1, written),
                (Some(first), None) => {
                    let at = first.key.span.range().start;
                    (at..at, format!("{written}, "))
                }
                (_, Some(after)) => {
                    let at = self.entry_end(entries.get(after)?);
                    (at..at, format!(", {written}"))
                }
            });
        }
        let first = entries.first()?.key.span.range().start;
        let indent = self.column(first);
        let mut written = String::new();
        write::map(std::slice::from_ref(new), indent, &mut written);
        match after {
            Some(after) => Some(self.line_behind(self.entry_end(entries.get(after)?), &written)),
            // A comment above the first entry belongs to that entry.
            None if self.begins_a_line(first) => {
                let at = self.remarks_above(self.line_start(first), indent);
                Some((at..at, written))
            }
            // After a dash, the first line begins at the position of the first entry.
            None => Some((first..first, format!("{}{:indent$}", &written[indent..], ""))),
        }
    }

    /// Inserts `{}` after a key whose lines are all removed.
    pub fn emptied(&self, key: Range<usize>) -> Option<TextChange> {
        let colon = key.end + self.text[key.end..].find(':')? + 1;
        let behind = self.text[colon..self.line_end(colon)].trim_start();
        // An anchor or a tag belongs to the removed value.
        (behind.is_empty() || behind.starts_with('#')).then(|| (colon..colon, " {}".to_owned()))
    }

    pub(crate) fn new_item(&self, list: &Node, after: Option<usize>, new: &Node) -> Option<TextChange> {
        let Tree::List(items) = &list.tree else { return None };
        if self.is_flow(list) {
            let written = write::flow(new);
            return Some(match (items.first(), after) {
                (None, _) => (list.span.range().start + 1..list.span.range().start + 1, written),
                (Some(first), None) => {
                    let at = first.span.range().start;
                    (at..at, format!("{written}, "))
                }
                (_, Some(after)) => {
                    let at = items.get(after)?.span.range().end;
                    (at..at, format!(", {written}"))
                }
            });
        }
        let dash = self.dash_above(items.first()?)?;
        let indent = self.column(dash);
        let written = format!("{:indent$}-{}", "", write::behind_dash(new, indent));
        match after {
            Some(after) => Some(self.line_at(self.item_till(items.get(after)?, indent), &written)),
            None => self.before_all(items).map(|at| (at..at, written)),
        }
    }

    /// The start of the first item, with the comments above it.
    pub(crate) fn before_all(&self, items: &[Node]) -> Option<usize> {
        let dash = self.dash_above(items.first()?)?;
        self.begins_a_line(dash).then(|| self.remarks_above(self.line_start(dash), self.column(dash)))
    }
}

/// The start of the comment in a line that has only a key and indicators.
fn remark(line: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = ' ';
    for (at, sign) in line.char_indices() {
        match (quote, sign) {
            (None, '#') if before.is_whitespace() => return Some(at),
            // A quote within a word is an ordinary character.
            (None, '"' | '\'') if before.is_whitespace() || "[{,".contains(before) => quote = Some(sign),
            (Some(open), _) if open == sign && (sign == '\'' || before != '\\') => quote = None,
            _ => {}
        }
        before = sign;
    }
    None
}

/// Whether each line of a text can be a paragraph of a folded block.
fn is_foldable(text: &str) -> bool {
    let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    lines.into_iter().all(|line| !line.is_empty() && !line.starts_with([' ', '\t']))
}
