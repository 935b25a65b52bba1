//! The reference: one page for each kind, code and group of commands, and one for each table of the program.

mod codes;
mod commands;
mod fields;
mod tables;

use std::fmt::Write;

use super::{BookPage, CommandTables};

/// A page with its place in the summary.
#[derive(Debug)]
pub(super) struct Chapter {
    pub depth: usize,
    pub title: String,
    pub page: BookPage,
}

impl Chapter {
    fn new(depth: usize, title: impl Into<String>, path: impl Into<String>, text: String) -> Self {
        Self { depth, title: title.into(), page: BookPage { path: path.into(), text } }
    }

    /// Its line in the summary.
    pub fn line(&self) -> String {
        format!("{}- [{}]({})\n", "  ".repeat(self.depth), self.title, self.page.path)
    }
}

/// All pages, in the order of the summary.
pub(super) fn chapters(commands: &CommandTables) -> Vec<Chapter> {
    let mut all = fields::kinds(commands.example);
    all.extend(fields::files());
    all.extend(commands::chapters(commands));
    all.extend(codes::chapters());
    all.extend(tables::chapters(&commands.forms));
    all.extend(tables::samples(&commands.samples));
    all
}

/// The first lines of a page: its title, and a note that it is generated.
fn titled(title: &str) -> String {
    format!("# {title}\n\n<!-- Generated: PUSHPLAN_BLESS=1 cargo test --test commands book -->\n\n")
}

/// Starts a table.
fn head(out: &mut String, columns: &[&str]) {
    let _ = writeln!(out, "| {} |", columns.join(" | "));
    let _ = writeln!(out, "|{}", "---|".repeat(columns.len()));
}

/// Adds a row to a table. Each cell is Markdown.
fn line<S: AsRef<str>>(out: &mut String, cells: &[S]) {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

/// Text of the program as Markdown on one line: text between backticks is code, and everything else is escaped.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for (number, part) in text.split('`').enumerate() {
        let is_code = number % 2 == 1;
        if number > 0 {
            out.push('`');
        }
        for word in part.split_inclusive(char::is_whitespace) {
            for c in word.chars() {
                match c {
                    '\n' => out.push(' '),
                    '|' => out.push_str("\\|"),
                    '<' | '>' | '*' | '\\' if !is_code => out.extend(['\\', c]),
                    _ => out.push(c),
                }
            }
        }
    }
    out.trim().to_owned()
}

/// A word as code in a table.
fn code(word: &str) -> String {
    format!("`{}`", word.replace('|', "\\|"))
}

/// A name as part of a file's name.
fn file_name(name: &str) -> String {
    name.trim_start_matches("*.").trim_end_matches("::<name>").to_lowercase().replace([' ', '.', '_'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_program_are_no_markdown() {
        assert_eq!(prose("a <b> *c* `d|<e>*`\nf"), "a \\<b\\> \\*c\\* `d\\|<e>*` f");
        assert_eq!(code("A|B"), "`A\\|B`");
    }
}
