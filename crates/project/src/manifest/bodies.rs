//! `body: {file: bodies/sale.html}`: long texts in separate files.

use std::collections::BTreeMap;

use pushplan_io::files::{self, Refused};
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::{MapEntry, Node, Scalar, Style, Tree};
use pushplan_model::source::Span;

use super::project::Project;
use super::provenance::BodyVariables;
use super::refused::refused;
use super::variables::{self, Filling};

/// The largest body: as much as the service accepts in one request.
const BODY_LIMIT: u64 = 5 * 1024 * 1024;

/// Whether any body of the node is in a file.
pub(crate) fn has_files(node: &Node) -> bool {
    match &node.tree {
        Tree::Scalar(_) => false,
        Tree::List(items) => items.iter().any(has_files),
        Tree::Map(entries) => entries
            .iter()
            .filter(|entry| !entry.is_own())
            .any(|entry| (*entry.key == "body" && entry.value.entries().is_some()) || has_files(&entry.value)),
    }
}

/// Reads files on behalf of one resource.
pub struct Bodies<'a> {
    pub project: &'a Project,
    /// Texts that replace the files with these names.
    pub given: &'a BTreeMap<String, String>,
    pub with: &'a Filling<'a>,
    pub findings: &'a mut Findings,
    /// The names of the variables in each file that was read.
    pub variables: &'a mut BodyVariables,
}

impl Bodies<'_> {
    /// Replaces the name of each file by its content, with the target's variables filled in. Unreadable files are
    /// reported. Returns whether all could be read.
    pub fn read(&mut self, node: &mut Node) -> bool {
        match &mut node.tree {
            Tree::Scalar(_) => true,
            // Every file is read, also after an unreadable one.
            Tree::List(items) => items.iter_mut().map(|item| self.read(item)).filter(|read| !read).count() == 0,
            Tree::Map(entries) => {
                entries
                    .iter_mut()
                    .filter(|entry| !entry.is_own())
                    .map(|entry| self.entry(entry))
                    .filter(|read| !read)
                    .count()
                    == 0
            }
        }
    }

    fn entry(&mut self, entry: &mut MapEntry) -> bool {
        if let ("body", Some([file])) = (entry.key.as_str(), entry.value.entries())
            && *file.key == "file"
            && let Tree::Scalar(name) = &file.value.tree
        {
            let (span, name) = (file.value.span, name.text.clone());
            let text = self.content(&name, span);
            let read = text.is_some();
            let scalar = Scalar { text: text.unwrap_or_default(), style: Style::Quoted };
            entry.value = Node { span, tree: Tree::Scalar(scalar) };
            return read;
        }
        self.read(&mut entry.value)
    }

    fn content(&mut self, name: &str, at: Span) -> Option<String> {
        let growth = self.with.growth;
        if growth.is_exceeded() {
            return None;
        }
        let read = self.project.beneath(name).and_then(|path| match self.given.get(&files::plain(name)) {
            Some(text) => Ok(text.clone().into_bytes()),
            None => self.project.content(&path, BODY_LIMIT).map_err(Refused::Unreadable),
        });
        match read.map(String::from_utf8) {
            Ok(Ok(text)) if growth.allows(text.len()) => {
                let names: Vec<String> = variables::variables_in(&text).map(str::to_owned).collect();
                if !names.is_empty() {
                    self.variables.insert(name.to_owned(), names);
                }
                return Some(variables::fill_file(text, name, at, self.with, self.findings));
            }
            Ok(Ok(_)) => {}
            Ok(Err(_)) => self.findings.push(
                Finding::new(&codes::RF108, at, format!("`{name}` is not UTF-8 text"))
                    .label("this file")
                    .help("open the file in an editor and save it as UTF-8"),
            ),
            Err(why) => self.findings.push(refused(&self.project.root, name, at, why)),
        }
        None
    }
}
