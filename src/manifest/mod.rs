//! From files to what they declare: reading, overlays, variables, types.
//!
//! [`read`] does all that is the same for every target and keeps the trees; [`Manifests::resolve`] makes of them what one
//! target gets, the [`Desired`] state.

mod bodies;
mod collect;
mod desired;
pub mod files;
mod growth;
mod lifecycle;
mod merge;
mod parse;
mod project;
mod seen;
mod toml;
mod variables;

use std::path::{Path, PathBuf};

use rayon::prelude::*;

pub use collect::{Declaration, TOP_LEVEL};
pub use desired::{Declared, Desired};
pub use lifecycle::Lifecycle;
pub use parse::{FILE_LIMIT, Parsed, parse, to_text};
pub use project::{Level, PROJECT_FILE, Project, ProjectFile, QuietHours, Target};

use crate::codes;
use crate::finding::{Finding, Findings};
use crate::source::{FileId, Source, Sources, Span};
use collect::Collected;

/// The largest project file that is read.
const PROJECT_FILE_LIMIT: u64 = 1024 * 1024;

/// Everything that was read, before a target is chosen.
#[derive(Debug)]
pub struct Manifests {
    pub project: Project,
    pub sources: Sources,
    /// What is wrong whatever the target.
    pub findings: Vec<Finding>,
    /// Whether every file could be read to its end. If not, what is missing proves nothing.
    pub complete: bool,
    collected: Collected,
    /// Whether any text may hold a variable. Where none does, nobody looks for them.
    has_variables: bool,
    /// Whether any body may stand in a file.
    has_bodies: bool,
}

/// A text to be read, and what people call it.
#[derive(Debug)]
pub struct Input {
    pub name: String,
    pub from: From,
}

#[derive(Debug)]
pub enum From {
    File(PathBuf),
    Bytes(Vec<u8>),
}

/// A project from its folder: its file, its manifests. `replaced` stands in for the file of the same name.
pub fn read_project(root: &Path, replaced: Option<Input>) -> Manifests {
    let mut sources = Sources::default();
    let mut findings = Findings::default();
    let project = match files::read(&root.join(PROJECT_FILE), PROJECT_FILE_LIMIT) {
        Err(why) => {
            let id = sources.add(Source::new(PROJECT_FILE, ""));
            findings.push(cannot_read(id, PROJECT_FILE, &why));
            Project::bare(root)
        }
        Ok(bytes) => {
            let (text, wrong) = to_text(bytes);
            let end = text.len();
            let project = Project::read(root, text, &mut sources, &mut findings);
            if let Some(wrong) = wrong {
                findings.push(not_text(sources.iter().next().map(|(id, _)| id), end, wrong));
            }
            project
        }
    };
    let about = project.file.project.as_ref();
    let places: Vec<PathBuf> = match about.and_then(|about| about.manifests.as_ref()) {
        Some(names) => names.iter().map(|name| root.join(name.as_str())).collect(),
        None => vec![root.to_owned()],
    };
    let (paths, unreadable) = files::manifests(root, &places);
    let mut inputs: Vec<Input> =
        paths.into_iter().map(|path| Input { name: shown(root, &path), from: From::File(path) }).collect();
    if let Some(replaced) = replaced {
        inputs.retain(|input| input.name != replaced.name);
        inputs.push(replaced);
        inputs.sort_by(|a, b| a.name.cmp(&b.name));
    }
    for file in unreadable {
        let name = shown(root, &file.path);
        let id = sources.add(Source::new(&name, ""));
        findings.push(cannot_read(id, &name, &file.why));
    }
    read(project, inputs, sources, findings)
}

/// Reads the given texts as the manifests of a project.
pub fn read(project: Project, inputs: Vec<Input>, mut sources: Sources, mut findings: Findings) -> Manifests {
    let texts: Vec<_> = inputs
        .into_par_iter()
        .map(|Input { name, from }| match from {
            From::Bytes(bytes) => (name, Ok(to_text(bytes))),
            From::File(path) => (name, files::read(&path, FILE_LIMIT).map(to_text)),
        })
        .collect();
    let mut complete = true;
    let mut ids = Vec::with_capacity(texts.len());
    for (name, text) in texts {
        match text {
            Err(why) => {
                complete = false;
                let id = sources.add(Source::new(&name, ""));
                findings.push(cannot_read(id, &name, &why));
            }
            Ok((text, wrong)) => {
                let end = text.len();
                let id = sources.add(Source::new(name, text));
                match wrong {
                    None => ids.push(id),
                    Some(wrong) => {
                        complete = false;
                        findings.push(not_text(Some(id), end, wrong));
                    }
                }
            }
        }
    }
    let parsed: Vec<(Parsed, Findings)> = ids
        .par_iter()
        .map(|id| {
            let mut found = Findings::default();
            (parse(*id, sources.get(*id), &mut found), found)
        })
        .collect();
    let mut documents = Vec::new();
    let (mut has_variables, mut has_bodies) = (false, false);
    for (file, found) in parsed {
        complete &= file.complete;
        has_variables |= file.has_variables;
        has_bodies |= file.has_bodies;
        documents.extend(file.documents);
        found.into_vec().into_iter().for_each(|finding| findings.push(finding));
    }
    let collected = collect::collect(documents, &project, &mut findings);
    Manifests { project, sources, findings: findings.into_vec(), complete, collected, has_variables, has_bodies }
}

/// A path as people write it: relative to the project, with forward slashes.
fn shown(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/")
}

fn cannot_read(file: FileId, name: &str, why: &str) -> Finding {
    let code = if why.contains("larger than") { &codes::YM106 } else { &codes::YM302 };
    Finding::new(code, Span::new(file, 0..0), format!("`{name}` cannot be read: {why}"))
}

fn not_text(file: Option<FileId>, end: usize, wrong: &str) -> Finding {
    let at = file.map_or(Span::NONE, |file| Span::new(file, end..end));
    Finding::new(&codes::YM107, at, wrong).label("the first byte that is not text").help("save the file as UTF-8")
}
