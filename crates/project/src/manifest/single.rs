//! Manifests for callers that resolve them once.
//!
//! A tree is far larger than its content. In a project without defaults and overlays, each resource is typed as soon as
//! its file, or its part of a large one, was parsed, and its tree is dropped. A resource with variables, or with a body
//! or texts in other files, is typed when the target is known.

use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use pushplan_model::address::{Address, is_key, is_own};
use pushplan_model::cores;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds;
use pushplan_model::node::MapEntry;
use pushplan_model::source::{FileId, Source, Sources, Span};

use super::catalogues::Catalogues;
use super::collect::{Declaration, LAYERS, listed, twice};
use super::desired::{EarlyResource, PROBLEM_LIMIT, Readable, Typed, decoded};
use super::parse::{Parsed, Piece, VALUE_LIMIT, whole};
use super::{Desired, Input, Manifests, Project, Texts, from_trees, read_whole, split};

/// The content of a project, for one target.
#[derive(Debug)]
pub struct SingleTarget {
    manifests: Manifests,
    /// The declarations, by file or part; `None` if their trees are in the manifests.
    early: Option<Vec<Vec<EarlyResource>>>,
}

/// Manifests in the form that the caller needs.
#[derive(Debug)]
pub enum ManifestsHandle {
    Once(SingleTarget),
    Often(Manifests),
}

/// Reads a project from its folder, for one target.
pub fn read_once(root: &Path) -> SingleTarget {
    read_whole(root, None, Vec::new(), &[], SingleTarget::read)
}

/// Reads a project like [`super::read_project_with`]. If `once` returns true, the result is for one target only.
pub fn read_as(
    root: &Path,
    given: Vec<Input>,
    beside: &[PathBuf],
    once: impl FnOnce(&Project) -> bool,
) -> ManifestsHandle {
    read_whole(root, None, given, beside, |project, texts, sources, findings| match once(&project) {
        true => ManifestsHandle::Once(SingleTarget::read(project, texts, sources, findings)),
        false => ManifestsHandle::Often(from_trees(project, texts, sources, findings)),
    })
}

impl SingleTarget {
    pub fn project(&self) -> &Project {
        &self.manifests.project
    }

    /// The findings that do not depend on the target.
    pub fn findings(&self) -> &[Finding] {
        &self.manifests.findings
    }

    /// Resolves the desired state of a target, and returns the manifests without resources.
    pub fn resolve(self, target: Option<&str>) -> (Manifests, Desired, Vec<Finding>) {
        let Self { manifests, early } = self;
        let (desired, findings) = match early {
            Some(early) => manifests.resolve_early(early, target),
            None => manifests.resolve(target),
        };
        (manifests, desired, findings)
    }

    fn read(project: Project, texts: Texts, sources: Sources, mut findings: Findings) -> Self {
        let problems = AtomicUsize::new(0);
        let is_layered = |file: &FileId| LAYERS.iter().any(|key| sources.get(*file).text.contains(key));
        // Most files with layers contain these words, so that few are parsed in vain.
        let early = match cores::each(&texts.ids, is_layered).contains(&true) {
            true => None,
            false => {
                let read = |file| read(file, sources.get(file), &problems);
                cores::each_if(texts.is_much(&sources), texts.ids.clone(), read).into_iter().collect()
            }
        };
        let Some(early): Option<Vec<Read>> = early else {
            return Self { manifests: from_trees(project, texts, sources, findings), early: None };
        };
        let (catalogues, facts) = Catalogues::read(&texts.catalogues, &sources, &mut findings);
        let mut all = Parsed { complete: texts.complete, ..Parsed::default() };
        all.add_facts(&facts);
        let (mut declared, mut found) = (Vec::with_capacity(early.len()), Vec::new());
        for file in early {
            all.add_facts(&file.parsed);
            findings.extend(file.slips);
            found.extend(file.findings);
            declared.extend(file.declared);
        }
        findings.extend(found);
        each_once(&mut declared, &mut findings);
        let let_go: Vec<FileId> = declared.iter().flatten().filter_map(|it| it.key().span.file()).collect();
        let manifests = Manifests {
            resource_count: let_go.len(),
            let_go,
            project_file: texts.project_file,
            ..Manifests::new(project, sources, findings, &all, catalogues)
        };
        Self { manifests, early: Some(declared) }
    }
}

/// The content of one file.
struct Read {
    declared: Vec<Vec<EarlyResource>>,
    /// Facts about it, without its trees.
    parsed: Parsed,
    /// The problems of its text, and those of its declarations.
    slips: Vec<Finding>,
    findings: Vec<Finding>,
}

/// Reads a file and types its declarations. `None` if it has layers.
fn read(file: FileId, source: &Source, problems: &AtomicUsize) -> Option<Read> {
    if let Some(parts) = parts(file, source, problems) {
        return Some(parts);
    }
    let (mut slips, mut findings) = (Findings::default(), Findings::default());
    let mut parsed = whole(file, source, &mut slips);
    let is_plain = parsed.complete && !parsed.has_variables && !parsed.has_files;
    let declared = listed(std::mem::take(&mut parsed.documents), &mut findings)?;
    let declared = declared.into_iter().map(|it| early(it, is_plain, problems)).collect();
    Some(Read { declared: vec![declared], parsed, slips: slips.into_vec(), findings: findings.into_vec() })
}

/// A part of a large file.
struct Part {
    declared: Vec<EarlyResource>,
    parsed: Parsed,
    values: usize,
}

/// Parses a large file in parts and types their resources. `None` if the file is small, or something in it is wrong or
/// unusual.
fn parts(file: FileId, source: &Source, problems: &AtomicUsize) -> Option<Read> {
    let part = |key: &str, piece: Piece| {
        let kind = kinds::kind(key)?;
        let Piece { entries, values, has_variables, has_files, .. } = piece;
        let parsed = Parsed { complete: true, has_variables, has_files, ..Parsed::default() };
        let own = |MapEntry { key, value }: MapEntry| {
            let is_resource = is_key(&key) && !is_own(&key);
            let it = Declaration { kind, key, node: value };
            is_resource.then(|| early(it, !has_variables && !has_files, problems))
        };
        Some(Part { declared: entries.into_iter().map(own).collect::<Option<_>>()?, parsed, values })
    };
    let sections = split::made(file, source, part).filter(|sections| !sections.is_empty())?;
    let parts = || sections.iter().flat_map(|(_, parts)| parts);
    let mut keys = HashSet::new();
    let is_whole = sections.iter().all(|(key, _)| keys.insert((*key, "")))
        && parts().flat_map(|part| &part.declared).all(|it| keys.insert((it.kind().key, it.key())));
    if !is_whole || parts().map(|part| part.values).sum::<usize>() >= VALUE_LIMIT {
        return None;
    }
    let mut read = Read {
        declared: Vec::new(),
        parsed: Parsed { complete: true, ..Parsed::default() },
        slips: Vec::new(),
        findings: Vec::new(),
    };
    for part in sections.into_iter().flat_map(|(_, parts)| parts) {
        read.parsed.has_variables |= part.parsed.has_variables;
        read.parsed.has_files |= part.parsed.has_files;
        read.declared.push(part.declared);
    }
    Some(read)
}

/// Types a resource that needs no resolution, unless there are already more problems than are ever reported.
fn early(it: Declaration, is_plain: bool, problems: &AtomicUsize) -> EarlyResource {
    if !is_plain || problems.load(Ordering::Relaxed) > PROBLEM_LIMIT {
        return EarlyResource::Tree(it);
    }
    let Declaration { kind, key, node } = it;
    let address = Address::new(kind.key, key.value.clone());
    let (spec, lifecycle, findings) = decoded(kind, &key, &node, Findings::about(&address));
    let is_unread = spec.is_none() || lifecycle.is_none();
    let readable = is_unread.then(|| Readable::of(kind, &key, &node, findings.since(0))).flatten();
    problems.fetch_add(findings.len(), Ordering::Relaxed);
    EarlyResource::Typed(
        kind,
        Box::new(Typed {
            address,
            key,
            spec,
            lifecycle,
            readable,
            taken: Vec::new(),
            provenance: Vec::new(),
            findings,
        }),
    )
}

/// Removes and reports duplicate declarations.
fn each_once(declared: &mut [Vec<EarlyResource>], findings: &mut Findings) {
    let mut first: HashMap<(&str, &str), Span> = HashMap::with_capacity(declared.len());
    let mut again = HashSet::new();
    for (number, it) in declared.iter().flatten().enumerate() {
        match first.entry((it.kind().key, it.key())) {
            Vacant(entry) => drop(entry.insert(it.key().span)),
            Occupied(entry) => {
                findings.push(twice(it.kind(), it.key(), *entry.get()));
                again.insert(number);
            }
        }
    }
    if !again.is_empty() {
        // By index, because copies of an alias have the same position.
        let mut numbers = 0..;
        declared.iter_mut().for_each(|some| some.retain(|_| numbers.next().is_none_or(|it| !again.contains(&it))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{self, InputSource, texts};

    fn inputs(files: &[&str]) -> Vec<Input> {
        let input = |(number, text): (usize, &&str)| Input {
            name: format!("{number}.yaml"),
            from: InputSource::Bytes(text.as_bytes().to_vec()),
        };
        files.iter().enumerate().map(input).collect()
    }

    fn once(files: &[&str]) -> SingleTarget {
        let (mut sources, mut findings) = (Sources::default(), Findings::default());
        let texts = texts(inputs(files), &mut sources, &mut findings);
        SingleTarget::read(Project::bare(Path::new(".")), texts, sources, findings)
    }

    /// The result as text: the desired state, its findings, and those of the files.
    fn words(manifests: &Manifests, desired: &Desired, found: &[Finding]) -> String {
        let mut general: Vec<String> = manifests.findings.iter().map(|finding| format!("{finding:?}")).collect();
        general.sort();
        let Manifests { complete, resource_count, has_variables, has_files, .. } = manifests;
        format!("{desired:?} {found:?} {general:?} {complete} {resource_count} {has_variables} {has_files}")
    }

    /// The results for a single target and for several. Also returns whether everything was typed early.
    fn both(files: &[&str]) -> ([String; 2], bool) {
        let usual =
            manifest::read(Project::bare(Path::new(".")), inputs(files), Sources::default(), Findings::default());
        let (desired, found) = usual.resolve(None);
        let usual = words(&usual, &desired, &found);
        let once = once(files);
        let early = once.early.as_ref();
        let is_early = early.is_some_and(|all| all.iter().flatten().all(|it| matches!(it, EarlyResource::Typed(..))));
        let (manifests, desired, found) = once.resolve(None);
        ([words(&manifests, &desired, &found), usual], is_early)
    }

    const TEMPLATE: &str = "templates:\n  t:\n    variables: [{key: A, name: A, default_value: b}]\n    push: {notification: {alert: \"{{A}}\"}}\n";
    const PUSH: &str = "scheduled_pushes:\n  p:\n    name: P\n    schedule: {scheduled_time: 2036-01-01T08:00}\n    push: {audience: all, device_types: all, template: t}\n";
    const WRONG: &str = "segments:\n  good: {display_name: G, criteria: {tag: a}}\n  bad: {criteria: {tagg: a}, lifecycle: {allow: [AU101]}}\n";

    #[test]
    fn who_asks_once_learns_the_same() {
        let variable = "segments:\n  v: {display_name: \"${name}\", criteria: {tag: v}}\n";
        let body =
            "templates:\n  b:\n    push: {notification: {alert: b}, message: {title: T, body: {file: none.html}}}\n";
        let odd = "segments:\n  x-note: {a: 1}\n  \"wrong key\": {}\n  good: {display_name: H, criteria: {tagg: b}}\nsegmnts: {}\n";
        let broken = "segments:\n  one: {display_name: 1, criteria: {tag: [}\n";
        let several = "segments:\n  a: {display_name: A, criteria: {tag: a}}\n---\nsegments:\n  a: {display_name: B, criteria: {tag: b}}\n";
        let alias = "named_users: &g {vip: {channels: []}}\ntag_groups: *g\n---\ntag_groups: &h {two: {}}\n---\ntag_groups: &h {two: {}}\n";
        let blank = format!("{}\u{a0}\n", "# nothing\n".repeat(20_000));
        let unread = "segments:\n  u: {display_name: U, criteria: {tag: a}, lifecycle: {allow: *nope}}\n  w: {display_name: *nope, criteria: {tag: a}}\n";
        for (files, early) in [
            (&[TEMPLATE][..], true),
            (&[TEMPLATE, PUSH, WRONG], true),
            (&[WRONG, WRONG, "", "# nothing\n", odd], true),
            (&[several, "- list\n", "null"], true),
            (&["tag_groups: {vip: {}}\n", alias], true),
            (&[&blank], true),
            (&[unread, TEMPLATE], false),
            (&[TEMPLATE, variable, body, PUSH], false),
            (&[broken, TEMPLATE, PUSH, WRONG], true),
            (&["\"default\\x73\": {segments: {display_name: x}}\n", "segments:\n  a: {criteria: {tag: a}}\n"], false),
            (&["defaults:\n  segments: {display_name: x}\nsegments:\n  a: {criteria: {tag: a}}\n", WRONG], false),
            (&["overlays:\n  there:\n    segments:\n      a: {display_name: A, criteria: {tag: a}}\n"], false),
        ] {
            let ([once, usual], is_early) = both(files);
            assert_eq!(once, usual, "{files:?}");
            assert_eq!(is_early, early, "{files:?}");
        }
        assert!(both(&[WRONG, WRONG]).0[0].contains("tagg"));
        assert!(both(&[WRONG, WRONG]).0[0].contains("declared twice"));
    }

    #[test]
    fn parts_of_a_large_file_are_typed_as_they_come() {
        let large = |odd: &str| {
            let mut text = String::from("segments:\n");
            for n in 0..4_000 {
                text += &format!("  s{n}:\n    display_name: The name of number {n}\n    criteria: {{tag: t{n}}}\n");
            }
            text + odd + "\n" + PUSH + TEMPLATE
        };
        for (odd, early) in [
            ("", true),
            ("  s7: {criteria: {tagg: a}}", false),
            ("  last: {criteria: {tagg: a}}", true),
            ("  last: {display_name: \"${x}\", criteria: {tag: a}}", false),
            ("  last: &a {display_name: A, criteria: {tag: a}}\n  more: *a", true),
            ("  x-own: {a: 1}", true),
            ("tag_groups:\n  s1: {}", true),
            ("defaults:\n  segments: {lifecycle: {protect: true}}", false),
        ] {
            let ([once, usual], is_early) = both(&[&large(odd)]);
            assert!(once == usual, "{odd}");
            assert_eq!(is_early, early, "{odd}");
        }
    }

    #[test]
    fn many_problems_end_it_at_the_same_place() {
        let mut text = String::from("segments:\n");
        (0..17_000)
            .for_each(|n| text += &format!("  s{n}: {{{}}}\n", "a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1"));
        let ([once, usual], is_early) = both(&[&text]);
        assert!(once == usual && !is_early);
        assert!(once.contains("more than 100000 problems"));
    }
}
