//! Removals from a text, including comments.

use pushplan_model::node::{Node, Tree};

use super::page::{EditedPage, TextChange};

impl EditedPage<'_> {
    /// Removes an entry from a map; `goes`: which entries are removed at the same time.
    pub(crate) fn no_entry(&self, map: &Node, number: usize, goes: &dyn Fn(usize) -> bool) -> Option<TextChange> {
        let entries = map.entries()?;
        let entry = entries.get(number)?;
        let start = entry.key.span.range().start;
        if self.is_flow(map) {
            return Some(self.out_of_flow(number, entries.len(), goes, |n| {
                (entries[n].key.span.range().start, self.entry_end(&entries[n]))
            }));
        }
        if self.begins_a_line(start) {
            let column = self.column(start);
            let from = self.remarks_above(self.line_start(start), column);
            return Some((from..self.with_deeper(self.next_line(self.entry_end(entry)), column), String::new()));
        }
        // After a dash, the next entry takes its position.
        let next = entries.get(number + 1)?.key.span.range().start;
        (!goes(number + 1) && self.text[self.entry_end(entry)..next].trim().is_empty())
            .then(|| (start..next, String::new()))
    }

    /// Removes an item from a list; `goes`: which items are removed at the same time.
    pub(crate) fn no_item(&self, list: &Node, number: usize, goes: &dyn Fn(usize) -> bool) -> Option<TextChange> {
        let Tree::List(items) = &list.tree else { return None };
        if self.is_flow(list) {
            let place = |n: usize| (items[n].span.range().start, items[n].span.range().end);
            return (number < items.len()).then(|| self.out_of_flow(number, items.len(), goes, place));
        }
        let item = items.get(number)?;
        let dash = self.dash_above(item)?;
        let column = self.column(dash);
        let from = self.remarks_above(self.line_start(dash), column);
        self.begins_a_line(dash).then(|| (from..self.item_till(item, column), String::new()))
    }

    /// Moves an item of a block with its comments, unchanged: after another one, or to the beginning.
    pub(crate) fn moved_item(&self, list: &Node, number: usize, after: Option<usize>) -> Option<[TextChange; 2]> {
        let Tree::List(items) = &list.tree else { return None };
        let item = items.get(number)?;
        let dash = self.dash_above(item).filter(|dash| self.begins_a_line(*dash))?;
        let column = self.column(dash);
        let lines = self.remarks_above(self.line_start(dash), column)..self.item_till(item, column);
        let mut written = self.text[lines.clone()].replace("\r\n", "\n");
        if !written.ends_with('\n') {
            written.push('\n');
        }
        let there = match after {
            Some(after) => self.line_at(self.item_till(items.get(after)?, column), &written),
            None => self.before_all(items).map(|at| (at..at, written))?,
        };
        Some([(lines, String::new()), there])
    }

    /// The end of the lines of an item, including the comments below it that are indented more than its dash.
    pub(crate) fn item_till(&self, item: &Node, column: usize) -> usize {
        self.with_deeper(self.next_line(self.end(item)), column)
    }

    /// The end of the comments at a line and below it that are indented more than a column.
    fn with_deeper(&self, line: usize, column: usize) -> usize {
        let mut till = line;
        while till < self.text.len() {
            let next = self.next_line(till);
            let text = &self.text[till..next];
            let indent = text.len() - text.trim_start_matches(' ').len();
            if indent <= column || !text[indent..].starts_with('#') {
                break;
            }
            till = next;
        }
        till
    }

    /// The start of the comments directly above a line with the same indentation.
    pub(crate) fn remarks_above(&self, line: usize, column: usize) -> usize {
        let mut from = line;
        while from > 0 {
            let above = self.line_start(from - 1);
            let text = &self.text[above..from];
            let indent = text.len() - text.trim_start_matches(' ').len();
            if indent != column || !text[indent..].starts_with('#') {
                break;
            }
            from = above;
        }
        from
    }

    /// Whether an item of a list has a comment of its own: after it, or directly above it.
    pub(crate) fn has_remark(&self, item: &Node) -> bool {
        let from = self.dash_above(item).unwrap_or(item.span.range().start);
        let line = self.line_start(from);
        let above = self.begins_a_line(from) && self.remarks_above(line, self.column(from)) < line;
        self.has_remark_behind(item) || above
    }

    pub(crate) fn has_remark_behind(&self, item: &Node) -> bool {
        let end = self.end(item);
        self.text[end..self.line_end(end)].trim_start_matches([' ', ',']).starts_with('#')
    }

    /// Removes an item from brackets, with its comments and one comma: the one before it, or the one after it if
    /// nothing is left before it.
    fn out_of_flow(
        &self,
        number: usize,
        count: usize,
        goes: &dyn Fn(usize) -> bool,
        place: impl Fn(usize) -> (usize, usize),
    ) -> TextChange {
        let (start, end) = place(number);
        let begins = self.begins_a_line(start);
        let from = if begins { self.remarks_above(self.line_start(start), self.column(start)) } else { start };
        let behind = self.text[end..self.line_end(end)].trim_start();
        let behind = behind.strip_prefix(',').unwrap_or(behind).trim_start();
        let ends_line = behind.is_empty() || behind.starts_with('#');
        let is_first = (0..number).all(goes);
        // The text between the previous item and this one, without the comma.
        let kept = |before: usize| {
            let between = &self.text[before..from];
            let comma = between.find(',').filter(|at| between[..*at].trim().is_empty());
            comma.map_or_else(|| between.to_owned(), |at| format!("{}{}", &between[..at], &between[at + 1..]))
        };
        if begins && ends_line {
            let till = self.next_line(end);
            let needs_comma = (number + 1..count).any(|n| !goes(n));
            if is_first || needs_comma || goes(number - 1) {
                return (from..till, String::new());
            }
            let before = place(number - 1).1;
            return (before..till, kept(before));
        }
        match is_first {
            true if number + 1 < count => {
                let next = place(number + 1).0;
                // The comments above the next item belong to that one.
                let till = if self.text[end..next].contains('#') && ends_line { self.line_end(end) } else { next };
                (start..till, String::new())
            }
            true => (start..end, String::new()),
            false => {
                let before = place(number - 1).1;
                let between = kept(before);
                (before..end, if between.contains('#') { between } else { String::new() })
            }
        }
    }
}
