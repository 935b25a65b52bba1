//! `body: {file: bodies/sale.html}`: long texts that stand in files of their own.

use std::path::Path;

use super::files::{self, Refused};
use super::growth::Growth;
use crate::codes;
use crate::finding::{Finding, Findings};
use crate::node::{Node, Scalar, Style, Tree};

/// The largest body: as much as the service takes in one request.
const BODY_LIMIT: u64 = 5 * 1024 * 1024;

/// Whether any body of the node stands in a file.
pub fn has_files(node: &Node) -> bool {
    match &node.tree {
        Tree::Scalar(_) => false,
        Tree::List(items) => items.iter().any(has_files),
        Tree::Map(entries) => entries
            .iter()
            .any(|entry| (*entry.key == "body" && entry.value.entries().is_some()) || has_files(&entry.value)),
    }
}

/// Puts the content of each file in the place of its name. A file that cannot be had is reported.
pub fn read(node: &mut Node, root: &Path, growth: &Growth, findings: &mut Findings) {
    match &mut node.tree {
        Tree::Scalar(_) => {}
        Tree::List(items) => items.iter_mut().for_each(|item| read(item, root, growth, findings)),
        Tree::Map(entries) => {
            for entry in entries {
                match (entry.key.as_str(), entry.value.entries()) {
                    ("body", Some([file])) if *file.key == "file" => {
                        if let Tree::Scalar(name) = &file.value.tree {
                            let text = content(root, name, &file.value, growth, findings);
                            entry.value = Node {
                                span: file.value.span,
                                tree: Tree::Scalar(Scalar { text, style: Style::Quoted }),
                            };
                        }
                    }
                    _ => read(&mut entry.value, root, growth, findings),
                }
            }
        }
    }
}

fn content(root: &Path, name: &Scalar, at: &Node, growth: &Growth, findings: &mut Findings) -> String {
    if growth.is_exceeded() {
        return String::new();
    }
    let read =
        files::beneath(root, &name.text).and_then(|path| files::read(&path, BODY_LIMIT).map_err(Refused::Unreadable));
    let name = &name.text;
    let finding = match read.map(String::from_utf8) {
        Ok(Ok(text)) if growth.allows(text.len()) => return text,
        Ok(Ok(_)) => return String::new(),
        Ok(Err(_)) => Finding::new(&codes::RF108, at.span, format!("`{name}` is not UTF-8 text")).label("this file"),
        Err(Refused::Outside) => Finding::new(&codes::RF106, at.span, format!("`{name}` lies outside the project"))
            .label("must be beneath the folder of pushplan.toml")
            .note("a pull request must not be able to read other files of the machine that checks it")
            .help("move the file into the project and name it relative to pushplan.toml"),
        Err(Refused::Link(path)) => {
            let link = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            Finding::new(&codes::RF107, at.span, format!("`{link}` is a symbolic link, which is not followed"))
                .label("reached through a link")
                .help("put the file itself into the project")
        }
        Err(Refused::Unreadable(why)) => {
            Finding::new(&codes::RF108, at.span, format!("`{name}` cannot be read: {why}"))
                .label("this file")
                .note("paths are relative to the folder of pushplan.toml")
        }
    };
    findings.push(finding);
    String::new()
}
