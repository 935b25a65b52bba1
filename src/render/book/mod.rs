//! The book of this version: manual pages, and a reference generated from the tables of the program.
//!
//! The sources are in `docs/`, in the format of mdBook. The pages of the reference are committed there as well, for
//! readers of the repository; a test compares them with [`Book::new`].

pub mod html;
mod reference;

use clap::Command;

use super::help::Forms;

/// The list of the pages, in the format of mdBook.
pub const SUMMARY: &str = include_str!("../../../docs/src/SUMMARY.md");

/// The line of the summary after which everything is generated.
pub const GENERATED: &str = "# Reference";

macro_rules! written {
    ($($path:literal,)*) => {
        /// The pages that are not generated.
        const WRITTEN: &[(&str, &str)] =
            &[$(($path, include_str!(concat!("../../../docs/src/", $path)))),*];
    };
}

written! {
    "introduction.md",
    "tutorial/first-project.md",
    "tutorial/pull-request.md",
    "how-to/manifests.md",
    "how-to/platforms.md",
    "how-to/localizations.md",
    "how-to/translate.md",
    "how-to/targets.md",
    "how-to/ledgers.md",
    "how-to/adopt.md",
    "how-to/unmanaged.md",
    "how-to/device-tests.md",
    "how-to/send-tests.md",
    "how-to/reach.md",
    "how-to/experiments.md",
    "how-to/triggered-messages.md",
    "how-to/guards.md",
    "how-to/github.md",
    "how-to/gitlab.md",
    "how-to/other-ci.md",
    "how-to/approvals.md",
    "how-to/many-brands.md",
    "how-to/drift.md",
    "how-to/reconcile.md",
    "how-to/rename.md",
    "how-to/rollback.md",
    "how-to/disaster-recovery.md",
    "how-to/ask-the-service.md",
    "how-to/built-in-service.md",
    "how-to/shell-and-editor.md",
    "concepts/words.md",
    "concepts/plans.md",
    "concepts/ledger.md",
    "concepts/three-way.md",
    "concepts/audiences.md",
    "concepts/time.md",
    "concepts/safety.md",
    "service-limits.md",
    "coming-from.md",
}

/// A page in Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookPage {
    /// Its path, relative to the folder of the summary.
    pub path: String,
    pub text: String,
}

/// The inputs of the reference from the command line.
#[derive(Debug)]
pub struct CommandTables<'a> {
    /// All commands, with their examples.
    pub line: &'a Command,
    /// The groups of the help, with the names of their commands.
    pub groups: &'a [(&'a str, &'a [&'a str])],
    pub forms: Vec<Forms>,
    /// Files that `serve` reads, with a sample of each.
    pub samples: Vec<SampleFile>,
    /// The resources of a kind in the sample project.
    pub example: fn(&str) -> Option<String>,
}

/// A file with a sample.
#[derive(Debug)]
pub struct SampleFile {
    pub name: &'static str,
    pub about: &'static str,
    pub text: &'static str,
}

/// All pages.
#[derive(Debug)]
pub struct Book {
    pub pages: Vec<BookPage>,
    /// The generated part of the summary.
    pub contents: String,
}

impl Book {
    pub fn new(commands: &CommandTables) -> Self {
        let written = WRITTEN.iter().map(|(path, text)| BookPage { path: (*path).into(), text: (*text).into() });
        let chapters = reference::chapters(commands);
        let contents = chapters.iter().map(reference::Chapter::line).collect();
        let generated = chapters.into_iter().map(|chapter| chapter.page);
        Self { pages: written.chain(generated).collect(), contents }
    }
}

/// An entry of the summary: a heading of a part, or a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryEntry<'s> {
    /// How deep a page is nested, or `None` for a heading.
    pub depth: Option<usize>,
    pub title: &'s str,
    pub path: &'s str,
}

/// The entries of a summary. A page is `- [Title](path.md)`; two more spaces before it nest it under the previous one.
pub fn entries(summary: &str) -> Vec<SummaryEntry<'_>> {
    let entry = |line| page_entry(line).or_else(|| heading_entry(line));
    summary.lines().skip(1).filter_map(entry).collect()
}

fn heading_entry(line: &str) -> Option<SummaryEntry<'_>> {
    Some(SummaryEntry { depth: None, title: line.strip_prefix("# ")?, path: "" })
}

fn page_entry(line: &str) -> Option<SummaryEntry<'_>> {
    let item = line.trim_start();
    let (title, path) = item.trim_start_matches("- ").strip_prefix('[')?.strip_suffix(')')?.split_once("](")?;
    Some(SummaryEntry { depth: Some((line.len() - item.len()) / 2), title, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_headings_and_nested_pages() {
        let found = entries("# Summary\n\n[Start](a.md)\n\n# Part\n\n- [B](b.md)\n  - [`c`](b/c.md)\n");
        let found: Vec<_> = found.iter().map(|entry| (entry.depth, entry.title, entry.path)).collect();
        assert_eq!(
            found,
            [(Some(0), "Start", "a.md"), (None, "Part", ""), (Some(0), "B", "b.md"), (Some(1), "`c`", "b/c.md")]
        );
    }
}
