//! The names of resources in device tests, with their positions.

use std::path::PathBuf;

use pushplan_io::files;
use pushplan_model::finding::{Finding, Findings, Signs};
use pushplan_model::kinds::{Resource, Segment};
use pushplan_model::node::{At, Decode, Node, Reader};
use pushplan_model::source::{Source, Sources};

use super::language::{Case, CaseFile, Expect, WrittenStep};
use crate::manifest::{self, Input, InputSource, Manifests};

/// The names in files of device tests.
#[derive(Debug, Default)]
pub struct Names {
    /// The names, with their kind if they are keys; `None` if they are addresses.
    pub names: Vec<(Option<&'static str>, At<String>)>,
    pub findings: Vec<Finding>,
    pub sources: Sources,
    /// The target whose variables were filled in.
    pub target: Option<String>,
}

/// The names in the device tests of a project.
pub fn names(manifests: &Manifests, target: Option<&str>) -> Names {
    let root = &manifests.project.root;
    let (paths, unreadable) = files::cases(root, std::slice::from_ref(root));
    let input = |path: PathBuf| Input { name: manifest::shown(root, &path), from: InputSource::File(path) };
    let mut read = of(paths.into_iter().map(input).collect(), manifests, target);
    for file in unreadable {
        let shown = manifest::shown(root, &file.path);
        let id = read.sources.add(Source::new(shown.as_str(), ""));
        read.findings.push(manifest::cannot_read(id, &shown, &file.why));
    }
    read
}

/// Returns the resources that the given device tests name.
pub fn of(inputs: Vec<Input>, manifests: &Manifests, target: Option<&str>) -> Names {
    let (mut sources, mut findings) = (Sources::default(), Findings::default());
    let parsed = manifest::trees(inputs, &mut sources, &mut findings);
    let mut names = Vec::new();
    for mut document in parsed.documents {
        let (file, found) = written(&mut document, parsed.has_variables, manifests, target, &sources, findings);
        findings = found;
        for case in file.iter().flat_map(|file| file.cases.values()) {
            in_case(case, &mut names);
        }
    }
    let mut findings = findings.into_vec();
    let mut signs = Signs::new(&sources);
    findings.iter_mut().for_each(|finding| finding.narrow(&mut signs));
    Names { names, findings, sources, target: target.map(str::to_owned) }
}

/// A file as written, with its variables filled in. `None` if it is empty or could not be read.
pub fn written(
    document: &mut Node,
    has_variables: bool,
    manifests: &Manifests,
    target: Option<&str>,
    sources: &Sources,
    mut findings: Findings,
) -> (Option<CaseFile>, Findings) {
    if document.is_null() || document.is_unread() {
        return (None, findings);
    }
    if has_variables {
        manifests.fill(document, sources, target, &mut findings);
    }
    let mut reader = Reader::new(findings);
    let file = CaseFile::decode(document, &mut reader);
    (file, reader.findings)
}

fn in_case(case: &Case, names: &mut Vec<(Option<&'static str>, At<String>)>) {
    let steps = case.steps.as_deref().unwrap_or_default();
    for WrittenStep { tap, expect, .. } in steps.iter().map(|step| &step.value) {
        names.extend(tap.iter().map(|tap| (None, tap.from.clone())));
        expect.iter().for_each(|expect| in_expect(expect, names));
    }
    case.expect.iter().for_each(|expect| in_expect(expect, names));
}

fn in_expect(expect: &Expect, names: &mut Vec<(Option<&'static str>, At<String>)>) {
    let Expect { r#in, not_in, receives } = expect;
    let segments = r#in.iter().flatten().chain(not_in.iter().flatten());
    names.extend(segments.map(|key| (Some(Segment::KEY), key.clone())));
    names.extend(receives.iter().flatten().filter_map(|message| message.from.clone()).map(|from| (None, from)));
}
